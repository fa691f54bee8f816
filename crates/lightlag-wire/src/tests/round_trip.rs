//! Any segment survives encoding and decoding, and any bytes give a packet or an error.

use super::*;
use lightlag_tcp::segment::{Cookie, EcnBytes, FieldOrder};
use proptest::prelude::*;

fn seq() -> impl Strategy<Value = SeqNumber> {
    any::<u32>().prop_map(SeqNumber)
}

prop_compose! {
    /// Generates all segments whose options fit in a header.
    fn segments()(
        numbers in (seq(), seq(), any::<u16>(), 0_u16..0x400),
        mss in prop::option::of(any::<u16>()),
        window_scale in prop::option::of(0_u8..=14),
        sack_permitted in any::<bool>(),
        stamps in prop::option::of((any::<u32>(), any::<u32>())),
        blocks in prop::collection::vec((seq(), seq()), 0..=4),
        offer in prop::option::of((any::<u8>(), any::<u8>())),
        holes in prop::collection::vec((any::<u16>(), 1..=u16::MAX), 0..=6),
        vector in prop::collection::vec(any::<u8>(), 0..=34),
        marks in any::<(bool, bool)>(),
        counters in prop::option::of((any::<bool>(), prop::collection::vec(0..1_u32 << 24, 0..=3))),
        cookie in prop::option::of(prop::collection::vec(any::<u8>(), 0..=16)),
        len in 0_u16..2_000,
    ) -> Segment {
        let (seq, ack, window, flags) = numbers;
        let mut segment = Segment::new(seq, ack, window, Flags(flags & FLAGS));
        segment.len = len;
        segment = segment.with_syn_options(SynOptions { mss, window_scale, sack_permitted });
        if let Some((value, echo)) = stamps {
            segment = segment.with_timestamps(Timestamps { value, echo });
        }
        if segment.flags.has(Flags::SYN) {
            if let Some((bitmap, connection_id)) = offer {
                segment = segment.with_capabilities(Capabilities { bitmap, connection_id });
            }
        } else {
            if marks.0 && segment.options_len() < 40 {
                segment = segment.with_corruption();
            }
            if marks.1 && segment.options_len() < 40 {
                segment = segment.with_record_boundary();
            }
            let holes: Vec<_> = holes.into_iter().map(|(offset, size)| Snack { offset, size }).collect();
            match holes[..] {
                [] => {}
                [hole] => return segment.with_snack_vector(hole, &vector),
                _ => return segment.with_snacks(&holes),
            }
        }
        let cookie = cookie.and_then(|bytes| Cookie::new(&bytes)).filter(|_| segment.has_place_for_cookie());
        if let Some(cookie) = cookie.filter(|cookie| segment.with_cookie(*cookie).options_len() <= 40) {
            return segment.with_cookie(cookie);
        }
        let room = (40 - segment.options_len()).saturating_sub(4) / 8;
        let blocks: Vec<_> = blocks.into_iter().map(|(start, end)| SackBlock { start, end }).collect();
        let segment = segment.with_sack(&blocks[..blocks.len().min(room as usize)]);
        let Some((ect0_first, fields)) = counters else { return segment };
        let order = if ect0_first { FieldOrder::Ect0First } else { FieldOrder::Ect1First };
        let bytes = EcnBytes::new(order, &fields);
        if !segment.has_place_for(&bytes) || segment.with_ecn_bytes(bytes).options_len() > 40 {
            return segment;
        }
        segment.with_ecn_bytes(bytes)
    }
}

prop_compose! {
    fn ip_fields()(
        dscp in 0..64_u8, ecn in 0..4_usize, ttl in any::<u8>(), identification in any::<u16>(), dont_fragment in any::<bool>()
    ) -> IpFields {
        let dscp = Dscp::new(dscp).unwrap();
        let ecn = [Codepoint::NotEct, Codepoint::Ect1, Codepoint::Ect0, Codepoint::Ce][ecn];
        IpFields { dscp, ecn, ttl, identification, dont_fragment }
    }
}

fn ends() -> impl Strategy<Value = Addresses> {
    let v4 = any::<[([u8; 4], u16); 2]>().prop_map(|ends| ends.map(SocketAddr::from));
    let v6 = any::<[([u16; 8], u16); 2]>().prop_map(|ends| ends.map(SocketAddr::from));
    prop_oneof![v4, v6].prop_map(|[source, destination]| Addresses { source, destination })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_segment_survives_its_packet(segment in segments(), ip in ip_fields(), addresses in ends()) {
        let payload: Vec<u8> = (0..segment.len).map(|n| n as u8).collect();
        let mut out = Vec::new();
        encode(&mut out, &addresses, &ip, &segment, &payload);
        let v6 = addresses.source.is_ipv6();
        let header = if v6 { 40 } else { 20 };
        prop_assert_eq!(out.len() as u32, header + segment.header_len() + u32::from(segment.len));
        let tcp = decode(&out).unwrap();
        prop_assert_eq!(tcp, decode_captured(&out).unwrap());
        prop_assert_eq!(tcp.segment, segment);
        prop_assert_eq!(tcp.payload, &payload[..]);
        prop_assert_eq!(tcp.addresses, addresses);
        let expected = if v6 { IpFields { identification: 0, dont_fragment: true, ..ip } } else { ip };
        prop_assert_eq!(tcp.ip, expected);
        prop_assert_eq!((tcp.unknown_options, tcp.malformed_options), (0, 0));
    }

    #[test]
    fn one_bit_wrong_is_found(segment in segments(), addresses in ends(), bit in any::<prop::sample::Index>()) {
        let payload = vec![0; usize::from(segment.len)];
        let mut out = Vec::new();
        encode(&mut out, &addresses, &IpFields::default(), &segment, &payload);
        let bit = bit.index(8 * out.len());
        out[bit / 8] ^= 0x80 >> (bit % 8);
        // The checksum of TCP protects addresses and length of IPv6, but not traffic class, label and hop limit.
        let unprotected = addresses.source.is_ipv6() && (4..32).contains(&bit) || (56..64).contains(&bit);
        if !unprotected || addresses.source.is_ipv4() {
            prop_assert!(decode(&out).is_err(), "bit {}", bit);
        }
    }

    #[test]
    fn any_bytes_are_a_packet_or_an_error(first in prop::sample::select(vec![0x45_u8, 0x4f, 0x60, 0]),
                                          rest in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut bytes = vec![first];
        bytes.extend(rest);
        let _ = decode(&bytes);
        let _ = decode_captured(&bytes);
        let _ = icmp::decode(&bytes);
    }
}
