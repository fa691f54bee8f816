use super::*;
use crate::{decode, encode};
use lightlag_tcp::segment::{Capabilities, MAX_SNACKS, SackBlock, Snack, SynOptions};
use proptest::prelude::*;

const ID: u8 = 200;

fn addresses() -> Addresses {
    Addresses { source: "10.0.0.1:4000".parse().unwrap(), destination: "10.0.0.2:9".parse().unwrap() }
}

/// Returns a SYN that offers a connection ID.
fn syn(addresses: Addresses, id: u8, seq: u32) -> Vec<u8> {
    let offer = Capabilities { bitmap: Capabilities::COMPRESSION, connection_id: id };
    let segment = Segment::new(SeqNumber(seq), SeqNumber(0), 1_000, Flags::SYN)
        .with_syn_options(SynOptions { mss: Some(512), window_scale: None, sack_permitted: false })
        .with_capabilities(offer);
    packet(addresses, segment)
}

fn packet(addresses: Addresses, segment: Segment) -> Vec<u8> {
    let mut out = vec![1, 2, 3];
    let payload: Vec<u8> = (0..segment.len).map(|n| n as u8).collect();
    encode(&mut out, &addresses, &IpFields::default(), &segment, &payload);
    out
}

/// Returns a decoder after the SYN of a connection from [`addresses`] with [`ID`]; the SYN had the sequence number 999.
fn decoder() -> Decoder {
    let mut decoder = Decoder::new(10);
    decoder.captured(&syn(addresses(), ID, 999)).unwrap();
    decoder
}

fn data(seq: u32, len: u16) -> Segment {
    let mut segment = Segment::new(SeqNumber(seq), SeqNumber(7), 7, Flags::ACK);
    segment.len = len;
    segment.compressed(ID, true)
}

fn ack(ack: u32) -> Segment {
    Segment::new(SeqNumber(1), SeqNumber(ack), 500, Flags::ACK).compressed(ID, false)
}

#[test]
fn a_packet_of_data_byte_by_byte() {
    let bytes = packet(addresses(), data(0x0102_0304, 3));
    // Total length 31, protocol 105; the checksum sums up with 10.0.0.1, 10.0.0.2, 105 and 11 bytes.
    assert_eq!((bytes.len(), bytes[3], bytes[9]), (31, 31, PROTOCOL));
    assert_eq!(bytes[20..26], [ID, 0x08, 1, 2, 3, 4]);
    let words = [0x0a00, 0x0001, 0x0a00, 0x0002, 105, 11, 0xc808, 0x0102, 0x0304, 0x0001, 0x0200];
    let sum = words.iter().sum::<u32>();
    let folded = !((sum & 0xffff) + (sum >> 16)) as u16;
    assert_eq!(bytes[26..28], folded.to_be_bytes());
    let mut decoder = decoder();
    let read = decoder.captured(&bytes).unwrap();
    assert_eq!((read.checksum, read.payload, read.wire_len), (Checksum::Valid, &[0, 1, 2][..], 31));
    assert_eq!(decode(&bytes), Err(PacketError::NotTcp(105)));
}

#[test]
fn a_checksum_with_the_number_of_tcp_is_also_right() {
    let mut bytes = packet(addresses(), data(5, 3));
    let sum = u32::from(u16::from_be_bytes([bytes[26], bytes[27]])) + 105 - 6;
    let folded = (sum & 0xffff) + (sum >> 16);
    bytes[26..28].copy_from_slice(&(folded as u16).to_be_bytes());
    assert_eq!(decoder().captured(&bytes).unwrap().checksum, Checksum::Valid);
    bytes[27] ^= 1;
    assert_eq!(decoder().captured(&bytes).unwrap().checksum, Checksum::Invalid);
}

#[test]
fn ids_are_learned_from_syns_of_their_direction() {
    let bytes = packet(addresses(), data(1_000, 10));
    assert_eq!(Decoder::new(10).captured(&bytes), Err(PacketError::UnknownConnection(ID)));
    let mut decoder = decoder();
    assert_eq!(decoder.captured(&bytes).unwrap().addresses, addresses());
    // The same id of the other end, or of another host, is a different id.
    let back = packet(addresses().reversed(), data(1_000, 10));
    assert_eq!(decoder.captured(&back), Err(PacketError::UnknownConnection(ID)));
    // A later connection with the id takes its place.
    let later = Addresses { source: "10.0.0.1:4001".parse().unwrap(), ..addresses() };
    decoder.captured(&syn(later, ID, 5)).unwrap();
    assert_eq!(decoder.captured(&bytes).unwrap().addresses, later);
    // A SYN without an id teaches nothing.
    decoder.captured(&syn(addresses(), 0, 5)).unwrap();
    assert_eq!(decoder.known.len(), 1);
}

#[test]
fn the_oldest_id_is_removed_when_the_table_is_full() {
    let mut decoder = Decoder::new(3);
    for id in 1..=5 {
        decoder.captured(&syn(addresses(), id, 5)).unwrap();
        decoder.captured(&syn(addresses(), id, 5)).unwrap();
    }
    assert_eq!(decoder.known.keys().map(|key| key.2).collect::<Vec<_>>(), [3, 4, 5]);
}

#[test]
fn a_number_that_is_not_there_is_the_next_one() {
    let mut decoder = decoder();
    let mut number = |segment| decoder.captured(&packet(addresses(), segment)).unwrap().segment.seq;
    assert_eq!(number(ack(9)), SeqNumber(1_000));
    assert_eq!(number(data(1_000, 10)), SeqNumber(1_000));
    assert_eq!(number(data(1_020, 10)), SeqNumber(1_020));
    assert_eq!(number(data(1_010, 10)), SeqNumber(1_010));
    assert_eq!(number(ack(9)), SeqNumber(1_030));
}

#[test]
fn headers_that_contradict_themselves_are_rejected() {
    let plain = packet(addresses(), data(1_000, 10));
    let with = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = plain.clone();
        change(&mut bytes);
        decoder().captured(&bytes).map(drop)
    };
    // Id 0; data without a number; a SYN; a header of odd length, of which then 9 of 18 bytes are data.
    assert_eq!(with(&|bytes| bytes[20] = 0), Err(PacketError::BadCompressedHeader));
    assert_eq!(with(&|bytes| bytes[21] = 0), Err(PacketError::BadCompressedHeader));
    assert_eq!(with(&|bytes| bytes[21..23].copy_from_slice(&[0x88, 0x24])), Err(PacketError::BadCompressedHeader));
    assert_eq!(with(&|bytes| bytes[21..23].copy_from_slice(&[0x88, 0])), Err(PacketError::BadCompressedHeader));
    // More options than there are bytes.
    let long = with(&|bytes| bytes[21..24].copy_from_slice(&[0x80, 0x40, 200]));
    assert_eq!(long, Err(PacketError::BadLength { header: NAME, length: 18 }));
    // A capture that ends within the header, and one that ends within the data.
    assert_eq!(decoder().captured(&plain[..24]).map(drop), Err(PacketError::Truncated { needed: 26, present: 24 }));
    let cut = plain[..30].to_vec();
    let read = decoder().captured(&cut).map(|read| (read.segment.len, read.payload.len(), read.checksum));
    assert_eq!(read, Ok((10, 2, Checksum::Unknown)));
}

#[test]
fn duplicate_fields_are_counted() {
    let stamps = Timestamps { value: 1, echo: 2 };
    let segment = Segment::new(SeqNumber(1), SeqNumber(2), 3, Flags::ACK).with_timestamps(stamps).with_corruption();
    let mut bytes = packet(addresses(), segment.compressed(ID, false));
    // id, 0xc4, 0x40, window and ACK, timestamps, 2, 23, 2: the option becomes a record boundary.
    assert_eq!(bytes[37..40], [2, 23, 2]);
    bytes[21] |= control::RECORD;
    bytes[38] = 22;
    let mut decoder = decoder();
    let read = decoder.captured(&bytes).unwrap();
    assert_eq!((read.segment.ends_record(), read.malformed_options, read.unknown_options), (true, 1, 0));
    bytes[38] = 4;
    assert_eq!(decoder.captured(&bytes).unwrap().unknown_options, 1, "SACK-permitted is a SYN's");
}

prop_compose! {
    /// Generates all segments that can have a compressed header.
    fn segments()(
        numbers in (any::<u32>(), any::<u32>(), any::<u16>()),
        bits in any::<[bool; 4]>(),
        stamps in prop::option::of((any::<u32>(), any::<u32>())),
        blocks in prop::collection::vec((any::<u32>(), any::<u32>()), 0..=4),
        holes in prop::collection::vec((any::<u16>(), 1..=u16::MAX), 0..=MAX_SNACKS),
        vector in prop::collection::vec(any::<u8>(), 0..=20),
        marks in any::<[bool; 2]>(),
        len in prop_oneof![Just(0_u16), 1_u16..2_000],
        id in 1_u8..,
        numbered in any::<bool>(),
    ) -> Segment {
        let flag = |is_there: bool, flag: Flags| if is_there { flag } else { Flags::default() };
        let flags = flag(bits[0], Flags::ACK).with(flag(bits[1], Flags::FIN)).with(flag(bits[2], Flags::RST))
            .with(flag(bits[3], Flags::PSH));
        let acks = flags.has(Flags::ACK);
        let (ack, window) = if acks { (SeqNumber(numbers.1), numbers.2) } else { (SeqNumber(0), 0) };
        let mut segment = Segment::new(SeqNumber(numbers.0), ack, window, flags);
        segment.len = len;
        if let Some((value, echo)) = stamps {
            segment = segment.with_timestamps(Timestamps { value, echo });
        }
        if marks[0] {
            segment = segment.with_corruption();
        }
        if marks[1] {
            segment = segment.with_record_boundary();
        }
        let holes: Vec<_> = holes.into_iter().map(|(offset, size)| Snack { offset, size }).collect();
        segment = match holes[..] {
            [] => {
                let blocks: Vec<_> =
                    blocks.iter().map(|(start, end)| SackBlock { start: SeqNumber(*start), end: SeqNumber(*end) }).collect();
                segment.with_sack(&blocks)
            }
            [hole] => segment.with_snack_vector(hole, &vector),
            _ => segment.with_snacks(&holes),
        };
        let numbered = numbered || segment.sequence_len() > 0 || segment.flags.has(Flags::RST);
        segment.with_compressed_header(id, numbered)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_segment_survives_its_packet(segment in segments(), v6 in any::<bool>()) {
        let addresses = match v6 {
            false => addresses(),
            true => Addresses { source: "[fd00::1]:4000".parse().unwrap(), destination: "[fd00::2]:9".parse().unwrap() },
        };
        let bytes = packet(addresses, segment);
        let header = if v6 { 40 } else { 20 };
        prop_assert_eq!(bytes.len() as u32, header + segment.header_len() + u32::from(segment.len));
        prop_assert_eq!(segment.header_len() % 2, 0);
        let mut decoder = Decoder::new(1);
        decoder.captured(&syn(addresses, segment.connection_id(), 0)).unwrap();
        let read = decoder.captured(&bytes).unwrap();
        let mut expected = segment;
        expected.seq = if segment.is_numbered() { segment.seq } else { SeqNumber(1) };
        prop_assert_eq!(read.segment, expected);
        prop_assert_eq!((read.addresses, read.checksum), (addresses, Checksum::Valid));
        prop_assert_eq!((read.unknown_options, read.malformed_options, read.urgent), (0, 0, None));
        prop_assert_eq!(read.payload.len(), usize::from(segment.len));
    }

    #[test]
    fn one_bit_wrong_is_found(segment in segments(), bit in any::<prop::sample::Index>()) {
        let mut bytes = packet(addresses(), segment);
        let mut decoder = Decoder::new(1);
        decoder.captured(&syn(addresses(), segment.connection_id(), 0)).unwrap();
        let bit = bit.index(8 * bytes.len());
        bytes[bit / 8] ^= 0x80 >> (bit % 8);
        prop_assert!(decoder.captured(&bytes).map_or(true, |read| read.checksum != Checksum::Valid), "bit {}", bit);
    }

    #[test]
    fn any_bytes_are_a_packet_or_an_error(header in prop::collection::vec(any::<u8>(), 0..120)) {
        let mut bytes = Vec::new();
        let Addresses { source, destination } = addresses();
        ip::write(&mut bytes, source.ip(), destination.ip(), &IpFields::default(), IpNumber(PROTOCOL), header.len());
        bytes.extend(&header);
        let mut decoder = Decoder::new(1);
        if let Some(id) = header.first() {
            decoder.captured(&syn(addresses(), *id, 0)).unwrap();
        }
        if let Ok(read) = decoder.captured(&bytes) {
            // The parsed segment survives being written.
            let mut out = Vec::new();
            encode(&mut out, &read.addresses, &read.ip, &read.segment, read.payload);
            let again = decoder.captured(&out).unwrap();
            prop_assert_eq!((again.payload, again.checksum), (read.payload, Checksum::Valid));
            prop_assert_eq!((again.segment, again.malformed_options), (read.segment, 0));
        }
    }
}
