use super::*;
use lightlag_tcp::segment::{Capabilities, SackBlock, SeqNumber, Snack, SynOptions, Timestamps};

mod malformed;
mod round_trip;

/// SYN, SYN-ACK and six bytes of data between two Linux 6.18 hosts, with checksums computed by the kernel.
const LINUX_V4: [&str; 3] = [
    "4500003c2b7240004006fb470a0000010a000002cf761389e67d7ddc00000000a002faf064940000020405b40402080aaaa3e2770000000001\
     03030a",
    "4500003c00004000400626ba0a0000020a0000011389cf7604be0fe0e67d7ddda012fe8846200000020405b40402080a1819ee13aaa3e27701\
     03030a",
    "4500003a2b7440004006fb470a0000010a000002cf761389e67d7ddd04be0fe18018003f2f4f00000101080aaaa3e2771819ee1368656c6c6f\
     0a",
];
const LINUX_V6: [&str; 3] = [
    "600cc19900280640fd000000000000000000000000000001fd000000000000000000000000000002e81613897222245c00000000a002fd202d\
     080000020405a00402080a449f4d26000000000103030a",
    "60056cb100280640fd000000000000000000000000000002fd0000000000000000000000000000011389e8167a3df4257222245da012fb0435\
     310000020405a00402080a10067b78449f4d260103030a",
    "600cc19900260640fd000000000000000000000000000001fd000000000000000000000000000002e81613897222245d7a3df4268018004\
     01ac700000101080a449f4d2610067b7868656c6c6f0a",
];

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

fn addresses() -> Addresses {
    Addresses { source: "10.0.0.1:40000".parse().unwrap(), destination: "10.0.0.2:80".parse().unwrap() }
}

fn addresses_v6() -> Addresses {
    Addresses { source: "[fd00::1]:40000".parse().unwrap(), destination: "[fd00::2]:80".parse().unwrap() }
}

fn packet(segment: &Segment, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    encode(&mut out, &addresses(), &IpFields::default(), segment, payload);
    out
}

fn of_len(len: u16) -> Segment {
    let mut segment = Segment::default();
    segment.len = len;
    segment
}

#[test]
fn a_syn_of_linux_is_read() {
    let packet = bytes(LINUX_V4[0]);
    let tcp = decode(&packet).unwrap();
    assert_eq!(tcp.addresses.source, "10.0.0.1:53110".parse().unwrap());
    assert_eq!(tcp.addresses.destination, "10.0.0.2:5001".parse().unwrap());
    assert_eq!(tcp.ip, IpFields { identification: 0x2b72, ..IpFields::default() });
    let options = SynOptions { mss: Some(1460), window_scale: Some(10), sack_permitted: true };
    let expected = Segment::new(SeqNumber(0xe67d_7ddc), SeqNumber(0), 64_240, Flags::SYN)
        .with_syn_options(options)
        .with_timestamps(Timestamps { value: 0xaaa3_e277, echo: 0 });
    assert_eq!(tcp.segment, expected);
    assert_eq!((tcp.payload, tcp.urgent, tcp.unknown_options, tcp.malformed_options), (&[][..], None, 0, 0));
    assert_eq!(tcp.wire_len, 60);
}

#[test]
fn packets_of_linux_are_written_as_they_were_read() {
    for hex in LINUX_V4.iter().chain(&LINUX_V6) {
        let mut packet = bytes(hex);
        let tcp = decode(&packet).unwrap();
        let mut out = vec![1, 2, 3];
        encode(&mut out, &tcp.addresses, &tcp.ip, &tcp.segment, tcp.payload);
        if packet[0] == 0x60 {
            // Linux chooses a flow label; ours is 0.
            packet[1..4].fill(0);
        }
        assert_eq!(out, packet);
    }
    let last = bytes(LINUX_V4[2]);
    assert_eq!(decode(&last).unwrap().payload, b"hello\n");
    assert!(decode(&last).unwrap().segment.flags.has(Flags::PSH));
}

#[test]
fn the_ecn_field_and_all_flags_travel() {
    for addresses in [addresses(), addresses_v6()] {
        for ecn in [Codepoint::NotEct, Codepoint::Ect0, Codepoint::Ect1, Codepoint::Ce] {
            for flags in 0..0x400 {
                let segment = Segment::new(SeqNumber(1), SeqNumber(2), 3, Flags(flags & FLAGS));
                let ip = IpFields { ecn, ttl: 9, ..IpFields::default() };
                let mut out = Vec::new();
                encode(&mut out, &addresses, &ip, &segment, &[]);
                let tcp = decode(&out).unwrap();
                assert_eq!((tcp.segment, tcp.ip, tcp.addresses), (segment, ip, addresses));
            }
        }
    }
}

#[test]
fn the_ae_bit_is_the_last_before_cwr() {
    // RFC 9768 §3.1: bit 7 of bytes 13 and 14 of the header, where RFC 3540 had NS.
    let segment = Segment::new(SeqNumber(0), SeqNumber(0), 0, Flags::AE.with(Flags::ACK));
    assert_eq!(packet(&segment, &[])[20 + 12..20 + 14], [0x51, 0x10]);
}

#[test]
fn low_priority_is_the_last_reserved_bit() {
    // RFC 9293 §3.1: bits 4 to 7 of bytes 13 and 14 are reserved; RFC 9768 has the last of them.
    let segment = Segment::new(SeqNumber(0), SeqNumber(0), 0, Flags::LOW.with(Flags::ACK));
    assert_eq!(packet(&segment, &[])[20 + 12..20 + 14], [0x52, 0x10]);
}

#[test]
fn padding_of_ethernet_is_not_data() {
    let mut packet = packet(&of_len(3), b"abc");
    packet.resize(64, 0);
    assert_eq!(decode(&packet).unwrap().payload, b"abc");
}

#[test]
fn options_that_do_not_fit_with_the_others_lose_sack_blocks() {
    // MSS 4, SACK-permitted with timestamps 12, window scale 4: 20 of 40 bytes are left, for two blocks with NOPs.
    let syn = SynOptions { mss: Some(1460), window_scale: Some(7), sack_permitted: true };
    let blocks = [SackBlock { start: SeqNumber(5), end: SeqNumber(6) }; 3];
    let segment = Segment::default().with_syn_options(syn).with_timestamps(Timestamps::default());
    let packet = packet(&segment.with_sack(&blocks), &[]);
    let tcp = decode(&packet).unwrap();
    assert_eq!(tcp.segment, segment.with_sack(&blocks[..2]));
    assert_eq!(packet.len(), 20 + 60);
}

#[test]
fn a_cut_packet_of_a_capture_keeps_its_length() {
    let whole = packet(&of_len(1_000), &[7; 1_000]);
    let tcp = decode_captured(&whole[..96]).unwrap();
    assert_eq!((tcp.segment.len, tcp.payload.len(), tcp.wire_len, tcp.checksum), (1_000, 56, 1_040, Checksum::Unknown));
    assert_eq!(decode(&whole[..96]), Err(PacketError::Truncated { needed: 1_040, present: 96 }));
}

#[test]
fn a_capture_before_the_network_card_has_other_checksums() {
    let mut packet = packet(&Segment::default(), &[]);
    assert_eq!(decode_captured(&packet).unwrap().checksum, Checksum::Valid);
    packet[20 + 16] ^= 0xff;
    assert_eq!(decode_captured(&packet).unwrap().checksum, Checksum::Invalid);
    assert_eq!(decode(&packet), Err(PacketError::BadTcpChecksum));
    packet[20 + 16] ^= 0xff;
    packet[10] ^= 1;
    assert_eq!(decode_captured(&packet).unwrap().checksum, Checksum::Invalid);
    assert_eq!(decode(&packet), Err(PacketError::BadHeaderChecksum));
}

#[test]
fn a_datagram_has_the_checksum_of_its_bytes() {
    let mut out = Vec::new();
    encode_udp(&mut out, &addresses(), &IpFields::default(), b"hello\n");
    assert_eq!(out.len(), 20 + 8 + 6);
    assert_eq!((out[9], &out[20..26]), (17, &[0x9c, 0x40, 0, 80, 0, 14][..]));
    let words = |bytes: &[u8]| bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum::<u32>();
    let sum = words(&out[12..20]) + 17 + 14 + words(&out[20..]);
    assert_eq!((sum & 0xffff) + (sum >> 16), 0xffff, "the packet with its checksum sums to minus zero");
    assert_eq!(decode(&out), Err(PacketError::NotTcp(17)));
}

#[test]
fn a_checksum_of_zero_is_sent_as_its_other_form() {
    // The two bytes of payload make the sum a negative zero.
    let mut out = Vec::new();
    encode_udp(&mut out, &addresses_v6(), &IpFields::default(), &[0, 0]);
    let missing = [out[46], out[47]];
    encode_udp(&mut out, &addresses_v6(), &IpFields::default(), &missing);
    assert_eq!(&out[46..], [0xff, 0xff, missing[0], missing[1]]);
}
