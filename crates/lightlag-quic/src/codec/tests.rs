use super::*;
use crate::contents::HeaderLengths;
use proptest::prelude::*;

const IDS: Ids<'static> =
    Ids { destination: &[0x83, 0x94, 0xc8, 0xf0, 0x3e, 0x51, 0x57, 0x08], source: &[], version: Version::One };

/// Returns the contents of a datagram with one part, whose size covers its header, payload and tag.
fn single(kind: Kind, number: u64, number_len: u8, token: u16, frames: Vec<Frame>, ids: &Ids<'_>) -> Contents {
    let part = Part { kind, number, number_len, token, frames: frames.len() as u16, ..Part::default() };
    let mut contents = Contents { parts: vec![part], frames, ranges: vec![] };
    size(&mut contents, ids);
    contents
}

fn size(contents: &mut Contents, ids: &Ids<'_>) {
    let payloads: Vec<u64> = contents.iter().map(|view| view.payload()).collect();
    for (part, payload) in contents.parts.iter_mut().zip(payloads) {
        let lengths = HeaderLengths {
            destination: ids.destination.len() as u8,
            source: ids.source.len() as u8,
            token: part.token,
        };
        part.size = (lengths.header(part.kind, part.number_len) + payload + TAG) as u16;
    }
}

#[test]
fn the_initials_of_rfc_9001_a_2_and_a_3_have_their_bytes() {
    // A.2: CRYPTO with a ClientHello of 241 bytes, padded to 1162 bytes of frames.
    let frames = vec![Frame::Crypto { offset: 0, len: 241 }, Frame::Padding(1_162 - 245)];
    let client = single(Kind::Initial, 2, 4, 0, frames, &IDS);
    let mut out = Vec::new();
    encode(&mut out, &client, &IDS);
    assert_eq!(out.len(), 1_200);
    assert_eq!(out[..22], hex("c300000001088394c8f03e5157080000449e00000002"));
    assert_eq!(out[22..26], hex("060040f1"));
    // A.3: ACK of packet 0, and CRYPTO with a ServerHello of 90 bytes.
    let ids = Ids { destination: &[], source: &hex("f067a5502a4262b5"), version: Version::One };
    let mut server = single(Kind::Initial, 1, 2, 0, vec![Frame::Crypto { offset: 0, len: 90 }], &ids);
    server.parts[0].ack = Some(AckHeader::default());
    server.parts[0].ranges = 1;
    server.ranges.push(Range { start: 0, end: 1 });
    size(&mut server, &ids);
    out.clear();
    encode(&mut out, &server, &ids);
    assert_eq!(out.len(), 135);
    assert_eq!(out[..20], hex("c1000000010008f067a5502a4262b50040750001"));
    assert_eq!(out[20..29], hex("02000000000600405a"));
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("hexadecimal")).collect()
}

#[test]
fn an_ack_of_three_ranges_has_the_fields_of_the_worked_example() {
    // {1-3, 5, 7-10}: largest 10, count 2, first 3, (0, 0), (0, 2).
    let ranges = [Range { start: 7, end: 11 }, Range { start: 5, end: 6 }, Range { start: 1, end: 4 }];
    let mut out = Vec::new();
    write_ack(&mut out, &AckHeader::default(), &ranges);
    assert_eq!(out, [2, 10, 0, 2, 3, 0, 0, 0, 2]);
}

#[test]
fn version_2_changes_the_type_bits() {
    let ids = Ids { version: Version::Two, ..IDS };
    let mut out = Vec::new();
    for (kind, bits) in [(Kind::Initial, 1), (Kind::ZeroRtt, 2), (Kind::Handshake, 3)] {
        out.clear();
        let contents = single(kind, 7, 1, 0, vec![Frame::Ping, Frame::Padding(20)], &ids);
        encode(&mut out, &contents, &ids);
        assert_eq!((out[0] >> 4 & 3, &out[1..5]), (bits, &[0x6b, 0x33, 0x43, 0xcf][..]));
        assert_eq!(decode(&out, &Context::default()), Ok(contents));
    }
}

#[test]
fn a_retry_has_the_size_of_its_token() {
    let ids = Ids { source: &[7; 8], ..IDS };
    let part = Part { kind: Kind::Retry, token: 60, size: (1 + 4 + 1 + 8 + 1 + 8 + 60 + 16) as u16, ..Part::default() };
    let contents = Contents { parts: vec![part], ..Contents::default() };
    let mut out = Vec::new();
    encode(&mut out, &contents, &ids);
    assert_eq!(decode(&out, &Context::default()), Ok(contents));
}

#[test]
fn malformed_datagrams_give_the_position_and_the_reason() {
    let error = |bytes: &[u8]| decode(bytes, &Context::default()).unwrap_err().to_string();
    assert_eq!(error(&[0x00]), "byte 1 of the datagram: the fixed bit is zero");
    assert!(error(&[0xc0, 0, 0, 0, 9]).contains("byte 5 of the datagram: an unknown version"));
    let mut unknown = vec![0x40, 5, 0x20];
    unknown.extend([0; 16]);
    assert_eq!(error(&unknown), "byte 3 of the datagram: an unknown frame type");
    let mut below = vec![0x40, 5, 0x02, 3, 0, 0, 4];
    below.extend([0; 16]);
    assert!(error(&below).contains("an ACK range below zero"));
}

fn integers() -> impl Strategy<Value = u64> {
    (0..=varint::MAX, 0..62u32).prop_map(|(value, shift)| value >> shift)
}

fn directions() -> impl Strategy<Value = Direction> {
    prop::sample::select(&[Direction::Bidirectional, Direction::Unidirectional][..])
}

fn frames() -> impl Strategy<Value = Frame> {
    let (a, b, c, d) = (integers, integers, integers, integers);
    prop_oneof![
        Just(Frame::Ping),
        Just(Frame::HandshakeDone),
        Just(Frame::ImmediateAck),
        (a(), b(), c()).prop_map(|(stream, code, final_size)| Frame::ResetStream { stream, code, final_size }),
        (a(), b()).prop_map(|(stream, code)| Frame::StopSending { stream, code }),
        (a(), 0u16..900).prop_map(|(offset, len)| Frame::Crypto { offset, len }),
        (0u16..900).prop_map(Frame::NewToken),
        (a(), b(), 0u16..900, any::<bool>()).prop_map(|(stream, offset, len, fin)| Frame::Stream {
            stream,
            offset,
            len,
            fin,
            to_end: false
        }),
        a().prop_map(Frame::MaxData),
        (a(), b()).prop_map(|(stream, limit)| Frame::MaxStreamData { stream, limit }),
        (directions(), a()).prop_map(|(direction, count)| Frame::MaxStreams(direction, count)),
        a().prop_map(Frame::DataBlocked),
        (a(), b()).prop_map(|(stream, limit)| Frame::StreamDataBlocked { stream, limit }),
        (directions(), a()).prop_map(|(direction, count)| Frame::StreamsBlocked(direction, count)),
        (a(), b(), 1u8..=20).prop_map(|(sequence, retire_prior, len)| Frame::NewConnectionId {
            sequence,
            retire_prior,
            len
        }),
        a().prop_map(Frame::RetireConnectionId),
        any::<u64>().prop_map(Frame::PathChallenge),
        any::<u64>().prop_map(Frame::PathResponse),
        (a(), b(), 0u16..90).prop_map(|(code, frame_type, reason)| Frame::Close { code, frame_type, reason }),
        (a(), 0u16..90).prop_map(|(code, reason)| Frame::ApplicationClose { code, reason }),
        (0u16..900).prop_map(|len| Frame::Datagram { tag: 0, len, to_end: false }),
        (a(), b(), c(), d()).prop_map(|(sequence, threshold, max_delay_us, reordering)| Frame::AckFrequency {
            sequence,
            threshold,
            max_delay_us,
            reordering
        }),
    ]
}

/// A packet: its kind, number, length of the number, ACK and frames.
type Made = (Kind, u64, u8, Option<(AckHeader, Vec<Range>)>, Vec<Frame>);

fn packets() -> impl Strategy<Value = Made> {
    let kind = prop::sample::select(&[Kind::Initial, Kind::ZeroRtt, Kind::Handshake][..]);
    let counts = prop::option::of((integers(), integers(), integers()));
    let pairs = prop::collection::vec((0u64..90_000, 0u64..90_000), 1..70);
    let ack = prop::option::of((integers(), counts, pairs)).prop_map(|made| {
        made.map(|(delay, counts, pairs)| {
            let (mut ranges, mut start) = (Vec::new(), 0);
            for (gap, len) in pairs {
                ranges.push(Range { start, end: start + len + 1 });
                start += len + gap + 2;
            }
            ranges.reverse();
            let ecn = counts.map(|(ect0, ect1, ce)| EcnCounts { ect0, ect1, ce });
            (AckHeader { delay, ecn }, ranges)
        })
    });
    (kind, 0u64..100, 1u8..=4, ack, prop::collection::vec(frames(), 1..5))
}

proptest! {
    #[test]
    fn coalesced_packets_survive_the_round_trip(
        packets in prop::collection::vec(packets(), 1..4),
        short in prop::option::of((0u64..100, any::<bool>(), 0u16..900)),
        version in prop::sample::select(&[Version::One, Version::Two][..]),
        token in 0u16..100,
        source in prop::collection::vec(any::<u8>(), 0..=20),
    ) {
        let ids = Ids { source: &source, version, ..IDS };
        let mut contents = Contents::default();
        for (kind, number, number_len, ack, frames) in packets {
            let token = if kind == Kind::Initial { token } else { 0 };
            let mut part = Part { kind, number, number_len, token, frames: frames.len() as u16, ..Part::default() };
            if let Some((header, ranges)) = ack {
                part.ack = Some(header);
                part.ranges = ranges.len() as u16;
                contents.ranges.extend(ranges);
            }
            contents.parts.push(part);
            contents.frames.extend(frames);
        }
        if let Some((number, bit, len)) = short {
            let (kind, spin, key_phase) = (Kind::OneRtt, bit, !bit);
            contents.parts.push(Part { kind, number, number_len: 2, spin, key_phase, frames: 1, ..Part::default() });
            contents.frames.push(Frame::Stream { stream: 4, offset: 0, len, fin: bit, to_end: true });
        }
        size(&mut contents, &ids);
        let mut out = Vec::new();
        encode(&mut out, &contents, &ids);
        let context = Context { id_len: 8, largest: [None; 3] };
        prop_assert_eq!(decode(&out, &context), Ok(contents));
        // Any prefix gives an error or fewer packets, but no panic.
        for end in (0..out.len()).step_by(7) {
            let _ = decode(&out[..end], &context);
        }
    }

    #[test]
    fn random_bytes_are_parsed_or_rejected(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = decode(&bytes, &Context::default());
    }
}
