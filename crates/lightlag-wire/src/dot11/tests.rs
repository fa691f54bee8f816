use super::radiotap::{Aggregate, Coding, Flags, Guard, Modulation, Radiotap, Width};
use super::*;
use lightlag_core::{Instant, Rate};
use proptest::prelude::*;

const ALICE: Address = Address::of_node(0);
const BOB: Address = Address::of_node(1);
const NETWORK: Address = Address::of_network(0);

fn header(sequence: u64) -> FrameHeader {
    FrameHeader { transmitter: ALICE, bssid: NETWORK, sequence: Sequence::new(sequence), is_retry: false }
}

fn data(sequence: u64, qos: Option<Qos>, payload: &[u8]) -> Frame<'_> {
    let body = FrameBody::Data { header: header(sequence), qos, ethertype: EtherType::IPV4, payload };
    Frame { duration: Duration::from_micros(44), receiver: BOB, body }
}

fn bytes(frame: &Frame<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    encode(&mut out, frame);
    out
}

/// Returns the bytes of a frame without its frame check sequence.
fn bare(frame: &Frame<'_>) -> Vec<u8> {
    let mut out = bytes(frame);
    out.truncate(out.len() - FCS_LEN);
    out
}

fn tid(number: u8) -> Tid {
    Tid::new(number).unwrap()
}

const BEST_EFFORT: Option<Qos> = Some(Qos { tid: Tid(0), ack: AckPolicy::Normal });

#[test]
fn the_check_sequence_matches_ethernet() {
    // The check value of CRC-32/ISO-HDLC.
    assert_eq!(fcs(b"123456789"), 0xcbf4_3926);
}

#[test]
fn addresses_of_nodes_and_networks_differ() {
    assert_eq!(Address::of_node(0).to_string(), "02:00:00:00:00:01");
    assert_eq!(Address::of_node(0x1234).to_string(), "02:00:00:00:12:35");
    assert_eq!(Address::of_network(3).to_string(), "06:00:00:00:00:03");
    assert!(Address::BROADCAST.is_group() && !ALICE.is_group() && !NETWORK.is_group());
}

#[test]
fn frames_have_the_sizes_of_the_standard() {
    let size = |body| bytes(&Frame { duration: Duration::ZERO, receiver: BOB, body }).len();
    let (transmitter, tid, start) = (ALICE, tid(0), Sequence::new(0));
    let agreement = Agreement { tid, buffer: 64, timeout: 0 };
    assert_eq!(size(FrameBody::Rts { transmitter }), 20);
    assert_eq!((size(FrameBody::Cts), size(FrameBody::Ack)), (14, 14));
    assert_eq!(size(FrameBody::BlockAckRequest { transmitter, tid, start }), 24);
    assert_eq!(size(FrameBody::BlockAck { transmitter, tid, start, bitmap: 1 }), 32);
    assert_eq!(
        size(FrameBody::Action { header: header(0), action: ActionFrame::Request { token: 1, agreement, start } }),
        37
    );
    assert_eq!(
        size(FrameBody::Action { header: header(0), action: ActionFrame::Response { token: 1, status: 0, agreement } }),
        37
    );
    // 24 (QoS 26) for the header, 8 for LLC and SNAP, 4 for the check sequence.
    assert_eq!(bytes(&data(0, None, &[0; 1500])).len(), 1536);
    assert_eq!(bytes(&data(0, BEST_EFFORT, &[0; 1500])).len(), 1538);
}

#[test]
fn a_data_frame_has_its_fields_at_their_offsets() {
    let mut frame = data(0x123, Some(Qos { tid: tid(5), ack: AckPolicy::Block }), &[0x45]);
    let FrameBody::Data { header, .. } = &mut frame.body else { unreachable!() };
    header.is_retry = true;
    frame.duration = Duration::from_nanos(43_001);
    let right = [
        &[0x88, 0x08, 44, 0][..],
        &[2, 0, 0, 0, 0, 2],
        &[2, 0, 0, 0, 0, 1],
        &[6, 0, 0, 0, 0, 0],
        &[0x30, 0x12, 0x65, 0],
        &[0xaa, 0xaa, 3, 0, 0, 0, 8, 0, 0x45],
    ]
    .concat();
    assert_eq!(bare(&frame), right);
}

#[test]
fn agreements_name_their_terms() {
    let agreement = Agreement { tid: tid(5), buffer: 64, timeout: 7 };
    let action = ActionFrame::Request { token: 9, agreement, start: Sequence::new(0xabc) };
    let request = bare(&Frame { body: FrameBody::Action { header: header(1), action }, ..data(0, None, &[]) });
    // Immediate acknowledgement is bit 1, the identifier starts at bit 2, the buffer at bit 6.
    assert_eq!(request[24..], [3, 0, 9, 0x16, 0x10, 7, 0, 0xc0, 0xab]);
    let action = ActionFrame::Response { token: 9, status: 37, agreement };
    let response = bare(&Frame { body: FrameBody::Action { header: header(1), action }, ..data(0, None, &[]) });
    assert_eq!(response[24..], [3, 1, 9, 37, 0, 0x16, 0x10, 7, 0]);
}

#[test]
#[should_panic(expected = "longer than the 32.767 ms that a frame may reserve")]
fn a_reservation_beyond_its_field_is_rejected() {
    bytes(&Frame { duration: Duration::from_nanos(32_767_001), receiver: BOB, body: FrameBody::Cts });
}

#[test]
fn frames_of_other_kinds_are_named() {
    let sealed = |mut frame: Vec<u8>| {
        frame.extend(fcs(&frame).to_le_bytes());
        decode(&frame).map(|_| ())
    };
    let beacon = [&[0x80, 0][..], &[0; 34]].concat();
    assert_eq!(sealed(beacon), Err(FrameError::Unknown { kind: 0, subtype: 8 }));
    assert_eq!(sealed(vec![1; 30]), Err(FrameError::Version(1)));
    assert_eq!(sealed(vec![0xd4; 3]), Err(FrameError::Truncated { needed: 14, present: 7 }));
    let longer = "the frame is longer than its type allows, which is not supported";
    let message = |result: Result<(), FrameError>| result.unwrap_err().to_string();
    assert_eq!(message(sealed(vec![0xd4, 0, 0, 0, 2, 0, 0, 0, 0, 1, 9])), longer);
    let frame = bare(&data(0, None, &[]));
    let with = |at: usize, value: u8| {
        let mut frame = frame.clone();
        frame[at] = value;
        sealed(frame)
    };
    assert_eq!(message(with(22, 1)), "the frame is a fragment, which is not supported");
    assert!(message(with(1, 1)).contains("ad hoc network"));
    assert!(message(with(3, 0xc0)).contains("duration"));
    assert!(message(with(24, 0)).contains("LLC and SNAP"));
    // The form of RFC 1042 has no other organisation, such as 00:00:f8 of bridge tunnels.
    assert!(message(with(29, 0xf8)).contains("LLC and SNAP"));
    let mut wrong = bytes(&data(0, None, &[]));
    wrong[30] ^= 1;
    assert!(matches!(decode(&wrong), Err(FrameError::BadFcs { .. })));
    assert_eq!(decode(&[]), Err(FrameError::Truncated { needed: 14, present: 0 }));
}

/// Returns a data frame of any kind of network: `kind` and `flags` are its first two bytes, and `between` are the bytes
/// between the third address and the EtherType of the payload.
fn foreign(kind: u8, flags: u8, between: &[u8]) -> Vec<u8> {
    let mut frame = bare(&data(7, None, &[]));
    frame.truncate(24);
    (frame[0], frame[1]) = (kind, flags);
    frame.extend_from_slice(between);
    frame.extend_from_slice(&[0xaa, 0xaa, 3, 0, 0, 0, 0x86, 0xdd, 0x60]);
    frame
}

#[test]
fn packets_are_found_in_frames_of_all_networks() {
    let decoded = |kind, flags, between: &[u8], is_padded| {
        let frame = foreign(kind, flags, between);
        Msdu::find(&frame, is_padded).map(|msdu| (msdu.ethertype, msdu.payload.to_vec(), msdu.tid))
    };
    let right = |tid: Option<u8>| Ok((EtherType::IPV6, vec![0x60], tid.map(Tid)));
    // To an access point, from one, and from one to another, with a fourth address.
    assert_eq!(decoded(0x08, 1, &[], false), right(None));
    assert_eq!(decoded(0x08, 2, &[], false), right(None));
    assert_eq!(decoded(0x08, 3, &[9; 6], false), right(None));
    assert_eq!(decoded(0x88, 1, &[6, 0], false), right(Some(6)));
    assert_eq!(decoded(0x88, 3, &[1, 2, 3, 4, 5, 6, 6, 0], false), right(Some(6)));
    // With the HT control field, and with two bytes of padding after a header of 26.
    assert_eq!(decoded(0x88, 0x81, &[6, 0, 1, 2, 3, 4], false), right(Some(6)));
    assert_eq!(decoded(0x88, 1, &[6, 0, 0, 0], true), right(Some(6)));
    // CF-ACK next to data.
    assert_eq!(decoded(0x18, 2, &[], false), right(None));
    assert_eq!(decoded(0x08, 0x41, &[], false), Err(FrameError::Unread("encrypted")));
    assert_eq!(decoded(0x08, 0x05, &[], false), Err(FrameError::Unread("a fragment")));
    assert_eq!(decoded(0x88, 1, &[0x86, 0], false), Err(FrameError::Unread("an A-MSDU")));
    assert_eq!(decoded(0x48, 1, &[], false), Err(FrameError::Unknown { kind: 2, subtype: 4 }));
    let frame = foreign(0x08, 1, &[]);
    assert_eq!(Msdu::find(&frame[..31], false), Err(FrameError::Truncated { needed: 32, present: 31 }));
    assert_eq!(Msdu::find(&frame[..23], false), Err(FrameError::Truncated { needed: 24, present: 23 }));
}

#[test]
fn copies_are_frames_with_the_retry_bit_and_a_number_seen_lately() {
    let mut duplicates = Duplicates::default();
    let mut is_copy = |interface: u32, sequence: u64, is_retry: bool| {
        let frame = bare(&data(sequence, BEST_EFFORT, &[]));
        let msdu = Msdu { is_retry, ..Msdu::find(&frame, false).unwrap() };
        duplicates.is_copy(interface, &msdu)
    };
    assert!(!is_copy(0, 4094, false));
    assert!(is_copy(0, 4094, true) && is_copy(0, 4094, true));
    // The frame 4095 was not received the first time; 0 and 1 follow it.
    assert!(!is_copy(0, 4096, false) && !is_copy(0, 4097, false));
    assert!(!is_copy(0, 4095, true) && is_copy(0, 4095, true) && is_copy(0, 4096, true));
    assert!(!is_copy(1, 4096, true), "another interface");
    assert!(!is_copy(0, 4096, false), "a frame without the retry bit is new");
    assert!(
        !is_copy(0, 4096 + 64, false) && !is_copy(0, 4096, true),
        "a frame 64 before the newest is no longer stored"
    );
    assert!(is_copy(0, 4097, true));
}

#[test]
fn a_header_of_radiotap_aligns_its_fields() {
    let header = Radiotap {
        at: Some(Instant::from_nanos(0x0102_0304 * 1_000 + 999)),
        flags: Flags::FCS,
        frequency_mhz: Some(5180),
        modulation: Some(Modulation::Legacy(Rate::from_mbps(24))),
        signal_dbm: Some(-60),
        noise_dbm: Some(-94),
        aggregate: Some(Aggregate { number: 5, is_last: true }),
    };
    let mut out = Vec::new();
    radiotap::encode(&mut out, &header);
    let right = [
        &[0, 0, 32, 0, 0b0110_1111, 0, 0x10, 0][..],
        &[4, 3, 2, 1, 0, 0, 0, 0, 0x10, 48],
        &[0x3c, 0x14, 0x40, 0x01, 196, 162],
        &[5, 0, 0, 0, 0x0c, 0, 0, 0],
    ]
    .concat();
    assert_eq!(out, right);
}

#[test]
fn headers_of_drivers_are_read() {
    // The example of the kernel's documentation (networking/radiotap-headers): rate, power and antenna of a sender.
    let injected = [0, 0, 11, 0, 0x04, 0x0c, 0, 0, 0x6c, 0x0c, 1, 0xd4];
    let (header, frame) = radiotap::decode(&injected).unwrap();
    let modulation = Some(Modulation::Legacy(Rate::from_mbps(54)));
    assert_eq!((header, frame), (Radiotap { modulation, ..Radiotap::default() }, &[0xd4][..]));
    // Two more words of bits, for antennas of their own; the fields of the first word follow.
    let mut several = vec![0, 0, 0, 0, 0x2f, 0x40, 0, 0xa0, 0x20, 8, 0, 0xa0, 0x20, 8, 0, 0];
    several.extend([1, 0, 0, 0, 0, 0, 0, 0, 0x10, 12, 0x6c, 9, 0xa0, 0, 196, 0, 0, 0, 190, 0, 191, 1]);
    several[2] = several.len() as u8;
    let (header, frame) = radiotap::decode(&several).unwrap();
    let right = Radiotap {
        at: Some(Instant::from_nanos(1_000)),
        flags: Flags::FCS,
        frequency_mhz: Some(2412),
        modulation: Some(Modulation::Legacy(Rate::from_mbps(6))),
        signal_dbm: Some(-60),
        ..Radiotap::default()
    };
    assert_eq!((header, frame.len()), (right, 0));
}

#[test]
fn impossible_headers_of_radiotap_are_named() {
    let message = |bytes: &[u8]| radiotap::decode(bytes).unwrap_err().to_string();
    assert_eq!(message(&[0, 0, 8, 0, 0, 0, 0]), "the frame is cut: 8 bytes are needed, but only 7 are present");
    assert_eq!(message(&[1, 0, 8, 0, 0, 0, 0, 0]), "the radiotap header is in a version other than 0");
    assert_eq!(message(&[0, 0, 7, 0, 0, 0, 0, 0]), "the radiotap header is shorter than its first 8 bytes");
    assert_eq!(message(&[0, 0, 8, 0, 2, 0, 0, 0]), "the radiotap header is shorter than its fields");
    assert_eq!(message(&[0, 0, 8, 0, 0, 0, 0, 0x80]), "the radiotap header is shorter than its fields");
    assert_eq!(message(&[0, 0, 9, 0, 0, 0, 0, 0]), "the frame is cut: 9 bytes are needed, but only 8 are present");
}

fn addresses() -> impl Strategy<Value = Address> {
    any::<[u8; 6]>().prop_map(Address)
}

fn tids() -> impl Strategy<Value = Tid> {
    (0..16_u8).prop_map(Tid)
}

fn sequences() -> impl Strategy<Value = Sequence> {
    any::<u64>().prop_map(Sequence::new)
}

prop_compose! {
    fn headers()(transmitter in addresses(), bssid in addresses(), sequence in sequences(), is_retry: bool) -> FrameHeader {
        FrameHeader { transmitter, bssid, sequence, is_retry }
    }
}

fn qos() -> impl Strategy<Value = Option<Qos>> {
    let policies = vec![AckPolicy::Normal, AckPolicy::No, AckPolicy::Other, AckPolicy::Block];
    prop::option::of((tids(), prop::sample::select(policies)).prop_map(|(tid, ack)| Qos { tid, ack }))
}

fn actions() -> impl Strategy<Value = ActionFrame> {
    let terms = (tids(), 0..1024_u16, any::<u16>());
    (terms, any::<u8>(), prop_oneof![sequences().prop_map(Ok), any::<u16>().prop_map(Err)]).prop_map(
        |((tid, buffer, timeout), token, rest)| {
            let agreement = Agreement { tid, buffer, timeout };
            match rest {
                Ok(start) => ActionFrame::Request { token, agreement, start },
                Err(status) => ActionFrame::Response { token, status, agreement },
            }
        },
    )
}

fn bodies(payload: &[u8]) -> impl Strategy<Value = FrameBody<'_>> {
    prop_oneof![
        (headers(), qos(), any::<u16>()).prop_map(move |(header, qos, ethertype)| FrameBody::Data {
            header,
            qos,
            ethertype: EtherType(ethertype),
            payload
        }),
        (headers(), actions()).prop_map(|(header, action)| FrameBody::Action { header, action }),
        addresses().prop_map(|transmitter| FrameBody::Rts { transmitter }),
        Just(FrameBody::Cts),
        Just(FrameBody::Ack),
        (addresses(), tids(), sequences()).prop_map(|(transmitter, tid, start)| FrameBody::BlockAckRequest {
            transmitter,
            tid,
            start
        }),
        (addresses(), tids(), sequences(), any::<u64>())
            .prop_map(|(transmitter, tid, start, bitmap)| { FrameBody::BlockAck { transmitter, tid, start, bitmap } }),
    ]
}

fn modulations() -> impl Strategy<Value = Modulation> {
    let guard = || prop::sample::select(vec![Guard::Long, Guard::Short]);
    let coding = || prop::sample::select(vec![Coding::Bcc, Coding::Ldpc]);
    let narrow = prop::sample::select(vec![Width::Mhz20, Width::Mhz40]);
    let any_width = prop::sample::select(vec![Width::Mhz20, Width::Mhz40, Width::Mhz80, Width::Mhz160]);
    prop_oneof![
        (1..=255_u64).prop_map(|halves| Modulation::Legacy(Rate::from_bps(500_000 * halves).unwrap())),
        (0..=76_u8, narrow, guard(), coding()).prop_map(|(mcs, width, guard, coding)| Modulation::Ht {
            mcs,
            width,
            guard,
            coding
        }),
        (0..16_u8, 1..16_u8, any_width, guard(), coding())
            .prop_map(|(mcs, streams, width, guard, coding)| Modulation::Vht { mcs, streams, width, guard, coding }),
    ]
}

prop_compose! {
    fn radiotaps()(
        at in prop::option::of(0..u64::MAX / 1_000),
        flags: u8,
        frequency_mhz: Option<u16>,
        modulation in prop::option::of(modulations()),
        signal_dbm: Option<i8>,
        noise_dbm: Option<i8>,
        aggregate: Option<(u32, bool)>,
    ) -> Radiotap {
        let time = at.map(|micros| Instant::from_nanos(1_000 * micros));
        let aggregate = aggregate.map(|(number, is_last)| Aggregate { number, is_last });
        Radiotap { at: time, flags: Flags(flags), frequency_mhz, modulation, signal_dbm, noise_dbm, aggregate }
    }
}

const PAYLOAD: &[u8] = b"forty bytes of a packet, or perhaps less";

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_frame_survives(micros in 0..=32_767_u64, receiver in addresses(), body in bodies(PAYLOAD)) {
        let frame = Frame { duration: Duration::from_micros(micros), receiver, body };
        let bytes = bytes(&frame);
        prop_assert_eq!(decode(&bytes), Ok(frame));
        if let FrameBody::Data { header, qos, ethertype, payload } = body {
            let msdu = Msdu::find(&bytes[..bytes.len() - FCS_LEN], false).unwrap();
            let FrameHeader { transmitter, sequence, is_retry, .. } = header;
            let tid = qos.map(|qos| qos.tid);
            prop_assert_eq!(msdu, Msdu { transmitter, receiver, tid, sequence, is_retry, ethertype, payload });
        }
    }

    #[test]
    fn one_bit_wrong_is_found(body in bodies(PAYLOAD), bit in any::<prop::sample::Index>()) {
        let mut bytes = bytes(&Frame { duration: Duration::ZERO, receiver: BOB, body });
        let bit = bit.index(8 * bytes.len());
        bytes[bit / 8] ^= 1 << (bit % 8);
        let found = matches!(decode(&bytes), Err(FrameError::BadFcs { .. }));
        prop_assert!(found, "bit {}", bit);
    }

    #[test]
    fn any_bytes_with_a_right_sum_are_written_as_they_were_read(
        first in prop::sample::select(vec![0xd0_u8, 0x84, 0x94, 0xb4, 0xc4, 0xd4, 0x08, 0x88]),
        mut frame in prop::collection::vec(any::<u8>(), 0..60),
        plain: bool,
    ) {
        frame.insert(0, first);
        if plain && frame.len() > 34 {
            // The maximum that may be right by chance.
            (frame[1], frame[3]) = (frame[1] & 8, frame[3] & 0x7f);
            (frame[22], frame[25]) = (frame[22] & 0xf0, 0);
            let snap = if first == 0x88 { 26 } else { 24 };
            if first & 0xf == 8 {
                frame[snap..snap + 6].copy_from_slice(&[0xaa, 0xaa, 3, 0, 0, 0]);
            }
        }
        frame.extend(fcs(&frame).to_le_bytes());
        if let Ok(read) = decode(&frame) {
            let again = bytes(&read);
            prop_assert_eq!(again, frame);
        }
    }

    #[test]
    fn any_bytes_are_a_packet_or_an_error(mut frame: Vec<u8>, is_data: bool, is_padded: bool) {
        if let (true, Some(first)) = (is_data, frame.first_mut()) {
            *first = *first & 0xb0 | 8;
        }
        let _ = Msdu::find(&frame, is_padded);
        let _ = decode(&frame);
    }

    #[test]
    fn a_header_of_radiotap_survives(header in radiotaps(), frame: Vec<u8>) {
        let mut out = Vec::new();
        radiotap::encode(&mut out, &header);
        out.extend_from_slice(&frame);
        prop_assert_eq!(radiotap::decode(&out), Ok((header, &frame[..])));
    }

    #[test]
    fn any_bytes_are_a_header_of_radiotap_or_an_error(mut bytes: Vec<u8>, len in 0..40_u8) {
        if let Some(start) = bytes.get_mut(..4) {
            start.copy_from_slice(&[0, 0, len, 0]);
        }
        if let Ok((header, _)) = radiotap::decode(&bytes) {
            let mut out = Vec::new();
            radiotap::encode(&mut out, &header);
            prop_assert_eq!(radiotap::decode(&out), Ok((header, &[][..])));
        }
    }
}
