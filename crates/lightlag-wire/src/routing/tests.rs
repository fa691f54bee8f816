use super::*;
use lightlag_core::Duration;
use lightlag_routing::aodv::{AodvMessage as Aodv, Error, Reply, Request, Sequence};
use lightlag_routing::dsdv::{DsdvEntry, Update};
use lightlag_routing::gpsr::{Beacon, ForwardingMode, GpsrHeader, GpsrPosition};
use lightlag_routing::olsr::{
    LinkCode, OlsrBody, OlsrHello, OlsrMessage as Olsr, OlsrPacket, TopologyControl, Validity,
};
use proptest::prelude::*;

const ALL: Receiver = Receiver::All;

fn packet(message: Message, to: Receiver, ttl: u8) -> Vec<u8> {
    let mut out = vec![1, 2, 3];
    encode(&mut out, &Datagram { from: NodeId(0), to, ttl, message });
    out
}

/// Returns the bytes of a message after the IPv4 and UDP headers.
fn payload(message: Message) -> Vec<u8> {
    packet(message, ALL, 1)[28..].to_vec()
}

fn request() -> Request {
    Request {
        gratuitous: true,
        destination_only: false,
        unknown_sequence: true,
        hop_count: 2,
        id: 0x0102_0304,
        destination: NodeId(8),
        destination_sequence: Sequence(5),
        origin: NodeId(0),
        origin_sequence: Sequence(6),
        ttl: 3,
    }
}

fn hello() -> Olsr {
    let links = [(0x06, vec![NodeId(1), NodeId(2)]), (0x0a, vec![NodeId(3)])];
    let links = links.map(|(code, nodes)| (LinkCode::from_byte(code).unwrap(), nodes)).to_vec();
    let body = OlsrBody::Hello(OlsrHello { interval: Validity(0x05), willingness: 3, links });
    Olsr { validity: Validity(0x86), originator: NodeId(0), ttl: 1, hop_count: 0, sequence: 7, body }
}

fn topology() -> Olsr {
    let body = OlsrBody::TopologyControl(TopologyControl { sequence: 9, neighbours: vec![NodeId(255)] });
    Olsr { validity: Validity(0xe7), originator: NodeId(4), ttl: 254, hop_count: 1, sequence: 8, body }
}

#[test]
fn a_broadcast_goes_to_every_node_and_a_reply_to_one() {
    let broadcast = packet(Message::Aodv(Aodv::Request(request())), ALL, 3);
    assert_eq!((broadcast.len(), broadcast[8]), (20 + 8 + 24, 3));
    assert_eq!(broadcast[12..24], [10, 0, 0, 1, 255, 255, 255, 255, 2, 142, 2, 142]);
    let answer = packet(Message::Aodv(Aodv::ReplyAck), Receiver::One(NodeId(300)), 1);
    assert_eq!((answer.len(), &answer[12..20]), (30, &[10, 0, 0, 1, 10, 0, 1, 45][..]));
}

#[test]
fn messages_of_aodv_have_the_form_of_section_5() {
    let bytes = payload(Message::Aodv(Aodv::Request(request())));
    let right = [[1, 0x28, 0, 2], [1, 2, 3, 4], [10, 0, 0, 9], [0, 0, 0, 5], [10, 0, 0, 1], [0, 0, 0, 6]];
    assert_eq!(bytes, right.concat());
    let reply = Reply {
        ack_required: true,
        hop_count: 1,
        destination: NodeId(8),
        destination_sequence: Sequence(5),
        origin: NodeId(0),
        lifetime: Duration::from_nanos(11_200_999_999),
        ttl: 3,
    };
    // 11,200 ms = 0x2bc0.
    let right = [[2, 0x40, 0, 1], [10, 0, 0, 9], [0, 0, 0, 5], [10, 0, 0, 1], [0, 0, 0x2b, 0xc0]];
    assert_eq!(payload(Message::Aodv(Aodv::Reply(reply))), right.concat());
    let unreachable = vec![(NodeId(1), Sequence(7)), (NodeId(2), Sequence(u32::MAX))];
    let error = Error { no_delete: true, unreachable };
    let right = [[3, 0x80, 0, 2], [10, 0, 0, 2], [0, 0, 0, 7], [10, 0, 0, 3], [255; 4]];
    assert_eq!(payload(Message::Aodv(Aodv::Error(error))), right.concat());
    assert_eq!(payload(Message::Aodv(Aodv::ReplyAck)), [4, 0]);
}

#[test]
fn packets_of_olsr_have_the_form_of_section_3() {
    let bytes = payload(Message::Olsr(OlsrPacket { sequence: 0x1234, messages: vec![hello(), topology()] }));
    let right = [
        [0, 60, 0x12, 0x34],
        [1, 0x86, 0, 36],
        [10, 0, 0, 1],
        [1, 0, 0, 7],
        [0, 0, 0x05, 3],
        [0x06, 0, 0, 12],
        [10, 0, 0, 2],
        [10, 0, 0, 3],
        [0x0a, 0, 0, 8],
        [10, 0, 0, 4],
        [2, 0xe7, 0, 20],
        [10, 0, 0, 5],
        [254, 1, 0, 8],
        [0, 9, 0, 0],
        [10, 0, 1, 0],
    ];
    assert_eq!(bytes, right.concat());
}

#[test]
fn updates_and_beacons_have_their_form() {
    let entries = vec![DsdvEntry { destination: NodeId(1), hops: 2, sequence: 0x0304 }];
    let update = payload(Message::Dsdv(Update { is_full: true, entries }));
    assert_eq!(update, [10, 0, 0, 2, 0, 0, 0, 2, 0, 0, 3, 4]);
    let beacon = payload(Message::Gpsr(Beacon { position: GpsrPosition { x: 1, y: -2, z: 256 } }));
    assert_eq!(beacon, [0, 0, 0, 1, 255, 255, 255, 254, 0, 0, 1, 0]);
}

#[test]
fn the_header_of_gpsr_has_49_bytes_in_both_modes() {
    let position = |x: i32| GpsrPosition { x, y: 2, z: 3 };
    let greedy = GpsrHeader { mode: ForwardingMode::Greedy, destination: position(1), sender: position(4) };
    let mut out = Vec::new();
    gpsr::encode(&mut out, &greedy);
    let right = [&[0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 2, 0, 0, 0, 3][..], &[0; 24]].concat();
    assert_eq!((out.len(), out), (49, right));
    let (entered, face, first_edge) = (position(5), position(6), (NodeId(0), NodeId(1)));
    let mut out = vec![0xff];
    gpsr::encode(&mut out, &GpsrHeader { mode: ForwardingMode::Perimeter { entered, face, first_edge }, ..greedy });
    let right = [0, 0, 0, 5, 0, 0, 0, 2, 0, 0, 0, 6, 0, 0, 0, 2, 10, 0, 0, 1, 10, 0, 0, 2];
    assert_eq!((out[1], &out[26..]), (1, &right[..]));
    let flat = |place| GpsrPosition { z: 0, ..place };
    let mode = ForwardingMode::Perimeter { entered: flat(entered), face: flat(face), first_edge };
    assert_eq!(gpsr::decode(&out[1..]), Ok((GpsrHeader { mode, ..greedy }, &[][..])));
}

/// Returns the error for a packet whose payload `change` has modified. Lengths and checksums are correct.
fn refused(message: Message, change: impl FnOnce(&mut Vec<u8>)) -> String {
    let port = message.port();
    let mut payload = payload(message);
    change(&mut payload);
    let end = |node: u32| (address(NodeId(node)), port).into();
    let mut out = Vec::new();
    encode_udp(&mut out, &Addresses { source: end(0), destination: end(1) }, &IpFields::default(), &payload);
    decode(&out).unwrap_err().to_string()
}

#[test]
fn bad_messages_are_named() {
    let aodv = || Message::Aodv(Aodv::Request(request()));
    let olsr = || Message::Olsr(OlsrPacket { sequence: 1, messages: vec![hello(), topology()] });
    let short = "the AODV message is cut: 24 bytes are needed, but only 23 are present";
    assert_eq!(refused(aodv(), |bytes| bytes.truncate(bytes.len() - 1)), short);
    assert_eq!(refused(aodv(), Vec::clear), "the AODV message is cut: 2 bytes are needed, but only 0 are present");
    assert_eq!(refused(aodv(), |bytes| bytes.push(0)), "the AODV message has 1 bytes after its end");
    assert_eq!(refused(aodv(), |bytes| bytes[0] = 5), "a message of AODV has the type 5, which is not supported");
    assert_eq!(
        refused(aodv(), |bytes| bytes[1] = 0x80),
        "a message of AODV has the flags J and R 128, which is not supported"
    );
    assert_eq!(refused(aodv(), |bytes| bytes[8] = 11), "11.0.0.9 is not a valid node address (10.0.0.1 or above)");
    assert_eq!(refused(aodv(), |bytes| bytes[11] = 0), "10.0.0.0 is not a valid node address (10.0.0.1 or above)");
    let cut = "the OLSR message is cut: 60 bytes are needed, but only 59 are present";
    assert_eq!(refused(olsr(), |bytes| bytes.truncate(bytes.len() - 1)), cut);
    assert_eq!(refused(olsr(), |bytes| bytes.push(0)), "the OLSR message has 1 bytes after its end");
    let wrong = |at: usize, value: u8| refused(olsr(), |bytes| bytes[at] = value);
    assert_eq!(wrong(1, 3), "a message of OLSR has the packet length 3, which is not supported");
    assert_eq!(wrong(4, 3), "a message of OLSR has the message type 3, which is not supported");
    assert_eq!(wrong(7, 11), "a message of OLSR has the message size 11, which is not supported");
    assert_eq!(wrong(20, 0x0f), "a message of OLSR has the link code 15, which is not supported");
    assert_eq!(wrong(23, 3), "a message of OLSR has the link message size 3, which is not supported");
    assert_eq!(wrong(23, 13), "the OLSR message is cut: 12 bytes are needed, but only 9 are present");
    let beacon = Message::Gpsr(Beacon { position: GpsrPosition::default() });
    assert_eq!(refused(beacon, |bytes| bytes.push(0)), "the GPSR message has 1 bytes after its end");
    let update = Message::Dsdv(Update { is_full: false, entries: vec![] });
    assert_eq!(
        refused(update, |bytes| bytes.push(0)),
        "the DSDV message is cut: 4 bytes are needed, but only 1 are present"
    );
    assert_eq!(gpsr::decode(&[2; 49]), Err(FormError::Value { protocol: "GPSR", field: "mode", value: 2 }));
}

#[test]
fn bad_packets_are_named() {
    let right = packet(Message::Aodv(Aodv::Request(request())), ALL, 3);
    let message = |packet: &[u8]| decode(packet).unwrap_err().to_string();
    assert_eq!(message(&right[..51]), "the packet is cut: 52 bytes are needed, but only 51 are present");
    let changed = |at: usize, value: u8| {
        let mut packet = right.clone();
        packet[at] ^= value;
        decode(&packet).unwrap_err()
    };
    assert_eq!(changed(9, 1), RoutingError::NotUdp);
    assert_eq!(changed(8, 1), RoutingError::Packet(PacketError::BadHeaderChecksum));
    assert_eq!(changed(25, 1), RoutingError::BadUdp);
    assert_eq!(changed(40, 1), RoutingError::BadUdp);
    let mut other = Vec::new();
    let end = ([10, 0, 0, 1], 655).into();
    encode_udp(&mut other, &Addresses { source: end, destination: end }, &IpFields::default(), &[]);
    assert_eq!(decode(&other), Err(RoutingError::Port(655)));
}

#[test]
fn a_port_without_a_protocol_is_rejected_with_all_valid_ports() {
    let message = "port 655 is not the port of AODV (654), OLSR (698), DSDV (269) or GPSR (666)";
    assert_eq!(RoutingError::Port(655).to_string(), message);
}

/// Generates the nodes with the addresses 10.0.0.1 to 10.255.255.254.
fn nodes() -> impl Strategy<Value = NodeId> {
    (0..=16_777_213_u32).prop_map(NodeId)
}

fn lists() -> impl Strategy<Value = Vec<NodeId>> {
    prop::collection::vec(nodes(), 0..5)
}

fn places() -> impl Strategy<Value = GpsrPosition> {
    any::<[i32; 3]>().prop_map(|[x, y, z]| GpsrPosition { x, y, z })
}

prop_compose! {
    fn requests(ttl: u8)(flags: [bool; 3], hop_count: u8, id: u32, ends in [nodes(), nodes()], sequences: [u32; 2])
        -> Request {
        let [gratuitous, destination_only, unknown_sequence] = flags;
        let [destination, origin] = ends;
        let [destination_sequence, origin_sequence] = sequences.map(Sequence);
        Request { gratuitous, destination_only, unknown_sequence, hop_count, id, destination, destination_sequence,
                  origin, origin_sequence, ttl }
    }
}

prop_compose! {
    fn replies(ttl: u8)(ack_required: bool, hop_count: u8, ends in [nodes(), nodes()], sequence: u32, lifetime: u32) -> Reply {
        let [destination, origin] = ends;
        let lifetime = Duration::from_millis(u64::from(lifetime));
        Reply { ack_required, hop_count, destination, destination_sequence: Sequence(sequence), origin, lifetime, ttl }
    }
}

fn of_aodv(ttl: u8) -> impl Strategy<Value = Aodv> {
    let lost = prop::collection::vec((nodes(), any::<u32>().prop_map(Sequence)), 0..=255);
    prop_oneof![
        requests(ttl).prop_map(Aodv::Request),
        replies(ttl).prop_map(Aodv::Reply),
        (any::<bool>(), lost).prop_map(|(no_delete, unreachable)| Aodv::Error(Error { no_delete, unreachable })),
        Just(Aodv::ReplyAck),
    ]
}

fn bodies() -> impl Strategy<Value = OlsrBody> {
    let code = (0..12_u8).prop_map(|byte| LinkCode::from_byte(byte).unwrap());
    let links = prop::collection::vec((code, lists()), 0..5);
    prop_oneof![
        (any::<u8>(), any::<u8>(), links).prop_map(|(interval, willingness, links)| {
            OlsrBody::Hello(OlsrHello { interval: Validity(interval), willingness, links })
        }),
        (any::<u16>(), lists())
            .prop_map(|(sequence, neighbours)| { OlsrBody::TopologyControl(TopologyControl { sequence, neighbours }) }),
    ]
}

prop_compose! {
    fn of_olsr()(validity: u8, originator in nodes(), ttl: u8, hop_count: u8, sequence: u16, body in bodies()) -> Olsr {
        Olsr { validity: Validity(validity), originator, ttl, hop_count, sequence, body }
    }
}

fn entries() -> impl Strategy<Value = Vec<DsdvEntry>> {
    let entry = (nodes(), any::<u32>(), any::<u32>());
    let entry = entry.prop_map(|(destination, hops, sequence)| DsdvEntry { destination, hops, sequence });
    prop::collection::vec(entry, 0..20)
}

fn messages(ttl: u8) -> impl Strategy<Value = Message> {
    let packets = (any::<u16>(), prop::collection::vec(of_olsr(), 0..4));
    prop_oneof![
        of_aodv(ttl).prop_map(Message::Aodv),
        packets.prop_map(|(sequence, messages)| Message::Olsr(OlsrPacket { sequence, messages })),
        entries().prop_map(|entries| Message::Dsdv(Update { is_full: false, entries })),
        places().prop_map(|position| Message::Gpsr(Beacon { position })),
    ]
}

fn datagrams() -> impl Strategy<Value = Datagram> {
    any::<u8>().prop_flat_map(|ttl| {
        let to = prop::option::of(nodes()).prop_map(|node| node.map_or(ALL, Receiver::One));
        (nodes(), to, messages(ttl)).prop_map(move |(from, to, message)| Datagram { from, to, ttl, message })
    })
}

fn headers() -> impl Strategy<Value = GpsrHeader> {
    let flat = || places().prop_map(|place| GpsrPosition { z: 0, ..place });
    let perimeter = (flat(), flat(), nodes(), nodes()).prop_map(|(entered, face, a, b)| ForwardingMode::Perimeter {
        entered,
        face,
        first_edge: (a, b),
    });
    let mode = prop_oneof![Just(ForwardingMode::Greedy), perimeter];
    (mode, places(), places()).prop_map(|(mode, destination, sender)| GpsrHeader { mode, destination, sender })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_message_survives(datagram in datagrams()) {
        let mut out = Vec::new();
        encode(&mut out, &datagram);
        prop_assert_eq!(out.len() as u32, 28 + datagram.message.size());
        prop_assert_eq!(decode(&out), Ok(datagram));
    }

    #[test]
    fn one_bit_wrong_is_found(datagram in datagrams(), bit in any::<prop::sample::Index>()) {
        let mut out = Vec::new();
        encode(&mut out, &datagram);
        let bit = bit.index(8 * out.len());
        out[bit / 8] ^= 1 << (bit % 8);
        // RFC 768: a checksum of 0 is none.
        prop_assume!(out[26..28] != [0, 0]);
        prop_assert!(decode(&out).is_err(), "bit {}", bit);
    }

    #[test]
    fn any_payload_is_a_message_or_an_error(
        port in prop::sample::select(Message::PROTOCOLS).prop_map(|(_, port)| port),
        mut payload in prop::collection::vec(any::<u8>(), 0..120),
        near: bool,
    ) {
        if near {
            // Nearly right addresses, lengths and types are reached by chance only.
            for word in payload.chunks_exact_mut(4).skip(2) {
                (word[0], word[1]) = (if word[0] & 1 == 0 { 10 } else { 0 }, 0);
            }
            if let [_, len, _, _, kind, _, high, size, ..] = payload[..] {
                let all = payload.len() as u8;
                (payload[0], payload[1]) = (kind % 5 * u8::from(port == 654), if len < 200 { all } else { len });
                (payload[4], payload[6], payload[7]) = (kind % 4, high % 2, size % all);
            }
        }
        let ends = Addresses { source: ([10, 0, 0, 1], port).into(), destination: ([10, 0, 0, 2], port).into() };
        let mut out = Vec::new();
        encode_udp(&mut out, &ends, &IpFields::default(), &payload);
        if let Ok(datagram) = decode(&out) {
            prop_assert_eq!(datagram.message.size() as usize, payload.len());
            encode(&mut out, &datagram);
            prop_assert_eq!(decode(&out), Ok(datagram));
        }
    }

    #[test]
    fn any_bytes_are_a_datagram_or_an_error(bytes: Vec<u8>) {
        let _ = decode(&bytes);
    }

    #[test]
    fn a_header_of_gpsr_survives(header in headers(), packet: Vec<u8>) {
        let mut out = Vec::new();
        gpsr::encode(&mut out, &header);
        prop_assert_eq!(out.len() as u32, GpsrHeader::SIZE);
        out.extend_from_slice(&packet);
        prop_assert_eq!(gpsr::decode(&out), Ok((header, &packet[..])));
    }

    #[test]
    fn any_bytes_are_a_header_of_gpsr_or_an_error(mut bytes in prop::collection::vec(any::<u8>(), 0..60), mode in 0..3_u8) {
        if let Some(first) = bytes.first_mut() {
            *first = mode;
        }
        let _ = gpsr::decode(&bytes);
    }
}
