//! Packets that no host should send.

use super::*;

/// Returns a packet whose TCP header has these option bytes, with correct checksums.
fn with_options(options: &[u8]) -> Vec<u8> {
    assert_eq!(options.len() % 4, 0);
    let mut packet = packet(&Segment::default(), &[]);
    packet.extend_from_slice(options);
    packet[20 + 12] = (5 + options.len() as u8 / 4) << 4;
    mend(&mut packet);
    packet
}

/// Corrects the length and the checksums of an IPv4 packet.
fn mend(packet: &mut [u8]) {
    let len = (packet.len() as u16).to_be_bytes();
    packet[2..4].copy_from_slice(&len);
    packet[10..12].fill(0);
    packet[36..38].fill(0);
    let sum = etherparse::checksum::Sum16BitWords::new().add_slice(&packet[..20]).ones_complement();
    packet[10..12].copy_from_slice(&sum.to_ne_bytes());
    let Addresses { source, destination } = addresses();
    let (protocol, len) = (etherparse::ip_number::TCP, packet.len() - 20);
    let sum = ip::pseudo_header(source.ip(), destination.ip(), protocol, len).add_slice(&packet[20..]);
    packet[36..38].copy_from_slice(&sum.ones_complement().to_ne_bytes());
}

fn options(bytes: &[u8]) -> (Segment, u8, u8) {
    read(&with_options(bytes))
}

/// Returns the segment parsed from a SYN with these option bytes, and the numbers of unknown and of malformed options.
fn syn_options(bytes: &[u8]) -> (Segment, u8, u8) {
    let mut packet = with_options(bytes);
    packet[20 + 13] |= 0x02;
    mend(&mut packet);
    read(&packet)
}

fn read(packet: &[u8]) -> (Segment, u8, u8) {
    let tcp = decode(packet).unwrap();
    (tcp.segment, tcp.unknown_options, tcp.malformed_options)
}

#[test]
fn unknown_options_are_skipped_and_counted() {
    // A cookie outside a SYN (RFC 7413), MSS, an experiment (RFC 6994).
    let (segment, unknown, malformed) = options(&[34, 2, 2, 4, 5, 0xb4, 254, 6, 1, 2, 3, 4]);
    assert_eq!((segment.syn_options().mss, unknown, malformed), (Some(1460), 2, 0));
}

#[test]
fn known_options_of_a_wrong_length_are_skipped_and_counted() {
    // MSS of 3 bytes, window scale of 4, then a good SACK-permitted.
    let (segment, unknown, malformed) = options(&[2, 3, 9, 3, 4, 1, 1, 4, 2, 1, 1, 1]);
    assert_eq!(
        (segment.syn_options(), unknown, malformed),
        (SynOptions { sack_permitted: true, ..SynOptions::default() }, 0, 2)
    );
}

#[test]
fn options_of_scps_with_wrong_lengths_are_skipped_and_counted() {
    // A SNACK of 5 bytes, a boundary of 3, corruption with a value, a hole of size zero; then good ones.
    let (segment, unknown, malformed) =
        options(&[21, 5, 0, 1, 0, 22, 3, 0, 23, 4, 0, 0, 21, 6, 0, 1, 0, 0, 22, 2, 23, 2, 1, 1]);
    assert_eq!((segment, unknown, malformed), (Segment::default().with_record_boundary().with_corruption(), 0, 4));
    // Capabilities of 3 bytes in a SYN, then longer ones, of which the first two bytes count.
    let (segment, unknown, malformed) = syn_options(&[20, 3, 0x40, 20, 6, 0x40, 7, 1, 2, 1, 1, 1]);
    let offer = Capabilities { bitmap: Capabilities::SNACK_SHORT, connection_id: 7 };
    assert_eq!((segment.capabilities(), unknown, malformed), (Some(offer), 0, 1));
}

#[test]
fn options_of_scps_in_the_wrong_segment_count_as_unknown() {
    let (segment, unknown, malformed) = options(&[20, 4, 0x40, 0]);
    assert_eq!((segment, unknown, malformed), (Segment::default(), 1, 0));
    let (segment, unknown, _) = syn_options(&[21, 6, 0, 1, 0, 1, 22, 2, 23, 2, 1, 1]);
    assert_eq!((segment.snack(), segment.ends_record(), segment.experienced_corruption()), (None, false, false));
    assert_eq!(unknown, 3);
}

#[test]
fn counters_of_accecn_are_read_as_far_as_they_are_complete() {
    // RFC 9768 §3.2.3: 12 bytes of fields are three fields and an unknown rest; 4 bytes are one field and a part of
    // another; of two options the first counts, whatever its order.
    let read = |bytes: &[u8]| {
        let (segment, unknown, malformed) = options(bytes);
        (segment.ecn_bytes().map(|bytes| (bytes.order().kind(), bytes.fields().to_vec())), unknown, malformed)
    };
    let three = [172, 14, 0, 0, 1, 0, 0, 2, 1, 0, 3, 9, 9, 9, 1, 1];
    assert_eq!(read(&three), (Some((172, vec![1, 2, 0x01_0003])), 0, 0));
    assert_eq!(read(&[174, 6, 0, 0, 1, 9, 1, 1]), (None, 0, 1));
    assert_eq!(read(&[174, 2, 172, 5, 0, 0, 1, 1]), (Some((174, vec![])), 0, 1));
    // Next to four blocks, or options of SCPS-TP, there is no space.
    let blocks = [[5, 34].as_slice(), &[0; 32], &[172, 5, 0, 0, 1, 1]].concat();
    assert_eq!(read(&blocks), (None, 1, 0));
    assert_eq!(read(&[22, 2, 174, 5, 0, 0, 1, 1]), (None, 1, 0));
}

#[test]
fn cookies_have_four_to_sixteen_bytes_in_a_syn() {
    // RFC 7413 §4.1.1: an even number of bytes; a request has none.
    let read = |bytes: &[u8]| {
        let (segment, unknown, malformed) = syn_options(bytes);
        (segment.cookie().map(|cookie| cookie.bytes().to_vec()), unknown, malformed)
    };
    assert_eq!(read(&[34, 2, 1, 1]), (Some(vec![]), 0, 0));
    assert_eq!(read(&[34, 6, 1, 2, 3, 4, 1, 1]), (Some(vec![1, 2, 3, 4]), 0, 0));
    assert_eq!(read(&[34, 5, 1, 2, 3, 1, 1, 1]), (None, 0, 1));
    assert_eq!(read(&[34, 4, 1, 2, 34, 2, 34, 2]), (Some(vec![]), 0, 2));
    // Next to an offer of SCPS-TP there is no space.
    assert_eq!(read(&[20, 4, 0x40, 7, 34, 2, 1, 1]), (None, 1, 0));
}

#[test]
fn sack_blocks_replace_snack_options() {
    let (segment, unknown, malformed) = options(&[21, 6, 0, 1, 0, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2, 1, 1, 1, 1]);
    assert_eq!((segment.sack().len(), segment.snack(), unknown, malformed), (1, None, 1, 0));
}

#[test]
fn the_first_bit_vector_stands_alone() {
    let (segment, unknown, malformed) = options(&[21, 8, 0, 1, 0, 2, 0xa0, 0, 21, 6, 0, 9, 0, 9, 1, 1]);
    assert_eq!((segment.snack(), segment.snack_vector()), (Some(Snack { offset: 1, size: 2 }), vec![0xa0]));
    assert_eq!((unknown, malformed), (1, 0));
}

#[test]
fn a_length_that_leads_nowhere_ends_the_options() {
    for options_bytes in [[4, 2, 8, 0], [4, 2, 8, 1], [4, 2, 8, 10], [4, 2, 1, 8]] {
        let (segment, unknown, malformed) = options(&options_bytes);
        assert!(segment.syn_options().sack_permitted);
        assert_eq!((segment.timestamps(), unknown, malformed), (None, 0, 1));
    }
}

#[test]
fn bytes_after_the_end_of_options_do_not_count() {
    assert_eq!(options(&[0, 2, 4, 5]), (Segment::default(), 0, 0));
}

#[test]
fn the_first_of_two_options_counts() {
    let (segment, _, malformed) = options(&[2, 4, 0, 100, 2, 4, 0, 200]);
    assert_eq!((segment.syn_options().mss, malformed), (Some(100), 1));
}

#[test]
fn a_window_scale_above_14_is_14() {
    let (segment, _, malformed) = options(&[3, 3, 200, 1]);
    assert_eq!((segment.syn_options().window_scale, malformed), (Some(14), 1));
}

#[test]
fn sack_blocks_are_complete() {
    let (segment, _, malformed) = options(&[5, 9, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1]);
    assert_eq!((segment.sack().len(), malformed), (0, 1));
    let (segment, _, malformed) = options(&[5, 2, 1, 1]);
    assert_eq!((segment.sack().len(), malformed), (0, 1));
}

#[test]
fn urgent_data_is_reported_but_not_as_a_flag_of_the_segment() {
    let mut packet = packet(&Segment::default(), &[]);
    packet[20 + 13] |= 0x20;
    packet[20 + 18..20 + 20].copy_from_slice(&[1, 2]);
    mend(&mut packet);
    let tcp = decode(&packet).unwrap();
    assert_eq!((tcp.segment.flags, tcp.urgent), (Flags::default(), Some(0x102)));
}

#[test]
fn every_prefix_of_a_packet_is_rejected() {
    for hex in LINUX_V4.iter().chain(&LINUX_V6) {
        let packet = bytes(hex);
        for len in 0..packet.len() {
            let cut = decode(&packet[..len]);
            assert!(matches!(cut, Err(PacketError::Truncated { present, .. }) if present == len), "{len}: {cut:?}");
        }
    }
}

#[test]
fn other_versions_and_protocols_are_named() {
    assert_eq!(decode(&[0x50; 40]), Err(PacketError::NotIp(5)));
    let mut packet = packet(&Segment::default(), &[]);
    packet[9] = 17;
    mend(&mut packet);
    assert_eq!(decode(&packet), Err(PacketError::NotTcp(17)));
}

#[test]
fn lengths_that_cannot_be() {
    let good = packet(&Segment::default(), &[]);
    let changed = |at: usize, value: u8| {
        let mut packet = good.clone();
        packet[at] = value;
        decode_captured(&packet).map(|_| ())
    };
    assert_eq!(changed(0, 0x44), Err(PacketError::BadLength { header: "IPv4", length: 16 }));
    assert_eq!(changed(3, 19), Err(PacketError::BadLength { header: "IPv4", length: 19 }));
    assert_eq!(changed(3, 39), Err(PacketError::BadLength { header: "TCP", length: 19 }));
    assert_eq!(changed(3, 0), Ok(()), "segmentation by the network card");
    assert_eq!(changed(32, 0x40), Err(PacketError::BadLength { header: "TCP", length: 16 }));
    assert_eq!(changed(32, 0x60), Err(PacketError::BadLength { header: "TCP", length: 24 }));
}

#[test]
fn fragments_are_not_reassembled() {
    let mut first = packet(&Segment::default(), &[]);
    first[6] = 0x20;
    assert_eq!(decode_captured(&first), Err(PacketError::Fragment));
    let mut later = packet(&Segment::default(), &[]);
    later[7] = 1;
    assert_eq!(decode_captured(&later), Err(PacketError::Fragment));
}

/// Returns an IPv6 packet with these extension headers before the TCP header.
fn extended(first: u8, extensions: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    encode(&mut plain, &addresses_v6(), &IpFields::default(), &Segment::default(), &[]);
    let mut packet = plain[..40].to_vec();
    packet[6] = first;
    packet[5] += extensions.len() as u8;
    packet.extend_from_slice(extensions);
    packet.extend_from_slice(&plain[40..]);
    packet
}

#[test]
fn extension_headers_are_walked_over() {
    // Hop by hop (0), then destination options (60) of 16 bytes, then TCP (6): padding options alone.
    let extensions = [&[60, 0, 1, 4, 0, 0, 0, 0][..], &[6, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]].concat();
    let packet = extended(0, &extensions);
    let tcp = decode(&packet).unwrap();
    assert_eq!((tcp.segment, tcp.wire_len), (Segment::default(), 40 + 24 + 20));
    for len in 0..packet.len() {
        assert!(matches!(decode(&packet[..len]), Err(PacketError::Truncated { .. })), "{len}");
    }
}

#[test]
fn an_atomic_fragment_of_ipv6_is_complete() {
    assert_eq!(decode(&extended(44, &[6, 0, 0, 0, 1, 2, 3, 4])).unwrap().segment, Segment::default());
    assert_eq!(decode(&extended(44, &[6, 0, 0, 1, 1, 2, 3, 4])), Err(PacketError::Fragment));
    assert_eq!(decode(&extended(44, &[6, 0, 1, 0, 1, 2, 3, 4])), Err(PacketError::Fragment));
}

#[test]
fn jumbograms_and_zero_lengths_are_named() {
    let mut jumbo = extended(0, &[6, 0, 0xc2, 4, 0, 1, 0, 0]);
    jumbo[4..6].fill(0);
    assert_eq!(decode(&jumbo), Err(PacketError::Jumbogram));
    let mut zero = extended(6, &[]);
    zero[4..6].fill(0);
    assert_eq!(decode(&zero), Err(PacketError::ZeroLength));
}

#[test]
fn a_length_of_zero_means_the_length_of_the_captured_frame() {
    let mut v4 = packet(&of_len(1_000), &[7; 1_000]);
    v4[2..4].fill(0);
    let mut v6 = Vec::new();
    encode(&mut v6, &addresses_v6(), &IpFields::default(), &of_len(1_000), &[7; 1_000]);
    v6[4..6].fill(0);
    for (packet, header) in [(v4, 40), (v6, 60)] {
        // 200,000 bytes of data; the capture holds few of them.
        let tcp = decode_captured(Captured { bytes: &packet[..96], wire_len: header + 200_000 }).unwrap();
        assert_eq!((tcp.payload_len, tcp.segment.len, tcp.wire_len), (200_000, u16::MAX, header as u32 + 200_000));
        assert_eq!(tcp.sequence_len(), 200_000);
        assert_eq!(decode_captured(&packet).unwrap().payload_len, 1_000);
    }
}

#[test]
fn a_captured_jumbogram_has_the_length_of_its_option() {
    let mut jumbo = extended(0, &[6, 0, 0xc2, 4, 0, 1, 0, 28]);
    jumbo[4..6].fill(0);
    let tcp = decode_captured(Captured { bytes: &jumbo, wire_len: 70_000 }).unwrap();
    assert_eq!((tcp.payload_len, tcp.wire_len), (65_536, 40 + 65_536 + 28));
    // A length beyond the frame is reduced to the frame's length.
    assert_eq!(decode_captured(&jumbo).unwrap().payload_len, 0);
}

#[test]
fn a_capture_that_cuts_the_options_keeps_numbers_flags_and_window() {
    let syn = SynOptions { mss: Some(1460), window_scale: Some(7), sack_permitted: true };
    let segment = Segment::new(SeqNumber(5), SeqNumber(9), 77, Flags::SYN.with(Flags::ACK)).with_syn_options(syn);
    let whole = packet(&segment.with_timestamps(Timestamps { value: 1, echo: 2 }), &[]);
    for len in 36..whole.len() {
        let tcp = decode_captured(Captured { bytes: &whole[..len], wire_len: whole.len() }).unwrap();
        let found = (tcp.segment.seq, tcp.segment.ack, tcp.segment.window, tcp.segment.flags);
        assert_eq!(found, (segment.seq, segment.ack, 77, segment.flags), "{len}");
        assert_eq!((tcp.options_cut, tcp.malformed_options, tcp.payload_len), (true, 0, 0), "{len}");
        assert_eq!(tcp.segment.syn_options().mss, (len >= 44).then_some(1460), "{len}");
        assert!(decode(&whole[..len]).is_err());
    }
    assert!(matches!(decode_captured(&whole[..35]), Err(PacketError::Truncated { .. })));
}

#[test]
fn an_authentication_header_is_passed_over_in_a_capture() {
    let header = [6, 4, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
    let plain = packet(&of_len(8), &[7; 8]);
    let mut v4 = [&plain[..20], &header, &plain[20..]].concat();
    (v4[3], v4[9]) = (v4.len() as u8, 51);
    for packet in [v4, extended(51, &header)] {
        let tcp = decode_captured(&packet).unwrap();
        assert_eq!(tcp.wire_len as usize, packet.len());
        assert!(decode(&packet).is_err());
    }
}
