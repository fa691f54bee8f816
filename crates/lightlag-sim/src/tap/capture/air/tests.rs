use super::*;
use crate::body::{Datagram as Udp, Other, PacketBody};
use crate::tap::capture::address;
use crate::tap::capture::{Output, Setup};
use lightlag_core::Rate;
use lightlag_net::{EndpointId, PacketFlags};
use lightlag_routing::{aodv, gpsr};
use lightlag_scenario::parse_toml;
use lightlag_tcp::Segment;
use lightlag_tcp::segment::{Flags, SeqNumber};
use lightlag_wire::capture::{LinkType, Reader};
use lightlag_wire::decode;
use lightlag_wire::dot11::{AckPolicy, FCS_LEN, Msdu, Tid};
use std::io;
use std::sync::{Arc, Mutex};

/// Two nodes with a link and radios, each with a capture. There are a connection and a flow of datagrams; only the
/// connection is captured.
const PAIR: &str = r#"
duration = "1 s"
record = { pcap = { at = ["a", "b"], flows = ["tcp"] } }
[[media]]
standard = "802.11a"
[[nodes]]
name = "a"
at = ["0 m", "0 m", "0 m"]
[[nodes]]
name = "b"
at = ["9 m", "0 m", "0 m"]
[[links]]
between = ["a", "b"]
rate = "10 Mbit/s"
delay = "5 ms"
[[flows]]
name = "tcp"
from = "a"
to = "b"
transfer = "10 kB"
[[flows]]
name = "udp"
from = "a"
to = "b"
transport = "udp"
traffic = { kind = "constant", rate = "100 kbit/s" }
"#;

const A: NodeId = NodeId(0);
const B: NodeId = NodeId(1);

/// Interface of each node to the medium.
const A_AIR: InterfaceId = InterfaceId(0);
const B_AIR: InterfaceId = InterfaceId(1);

#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl io::Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the captures of the scenario, and the file of the first radio.
fn captures(text: &str) -> (Captures, Memory) {
    let (captures, [_, _, radio, _]) = all_captures(text);
    (captures, radio)
}

/// Returns the captures of the scenario, and the files of the nodes and radios.
fn all_captures(text: &str) -> (Captures, [Memory; 4]) {
    let scenario = parse_toml(text, &[]).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let network = scenario.expand().unwrap_or_else(|errors| panic!("{errors:#?}"));
    let files: [Memory; 4] = Default::default();
    let mut names = Vec::new();
    let captures = Setup::new(&network).unwrap().open(&mut |name| {
        let output: Output = Box::new(files[names.len()].clone());
        names.push(name.to_owned());
        Ok(output)
    });
    assert_eq!(names, ["a.pcapng", "b.pcapng", "a@air.pcapng", "b@air.pcapng"]);
    (captures.unwrap(), files)
}

/// A packet that was read from a capture file.
#[derive(Debug)]
struct Read {
    link: LinkType,
    name: String,
    nanos: u64,
    direction: Direction,
    frame: Vec<u8>,
    ip: Option<Vec<u8>>,
}

fn read(captures: Captures, file: &Memory) -> Vec<Read> {
    assert!(captures.finish().1.is_none());
    contents(file)
}

fn contents(file: &Memory) -> Vec<Read> {
    let bytes = file.0.lock().unwrap().clone();
    let mut reader = Reader::open(&bytes[..]).unwrap();
    let mut read = Vec::new();
    while let Some(packet) = reader.next_packet().unwrap() {
        let (nanos, direction, frame) = (packet.at.as_nanos(), packet.direction, packet.frame.to_vec());
        let ip = packet.ip.map(<[u8]>::to_vec);
        let interface = packet.interface.0 as usize;
        let interface = &reader.interfaces()[interface];
        let (link, name) = (interface.link, interface.name.clone());
        read.push(Read { link, name, nanos, direction, frame, ip });
    }
    read
}

/// Returns a frame that A sends to B after 1 ms, with an airtime of 500 µs.
fn frame(form: FrameContents<'_>) -> AirFrame<'_> {
    AirFrame {
        start: Instant::from_nanos(1_000_000),
        length: Duration::from_micros(500),
        direction: Direction::Outbound,
        network: 2,
        from: A,
        to: Receiver::One(B),
        reserves: Duration::from_micros(44),
        radio: Radio {
            frequency_mhz: 5180,
            modulation: Modulation::Legacy(Rate::from_mbps(24)),
            signal_dbm: None,
            noise_dbm: -93.97,
            aggregate: None,
        },
        form,
    }
}

fn data(content: Content<'_>) -> AirFrame<'_> {
    frame(FrameContents::Data { sequence: Sequence::new(7), is_retry: false, qos: None, content })
}

/// Returns a segment of the connection, from A to B.
fn segment() -> Packet {
    let mut segment = Segment::new(SeqNumber(1), SeqNumber(2), 100, Flags::ACK);
    segment.len = 200;
    Packet { ttl: 61, ..Packet::new(B, EndpointId(1), 240, PacketFlags::new(true), PacketBody::Segment(segment)) }
}

#[test]
fn a_packet_of_a_flow_is_a_data_frame() {
    let (mut captures, file) = captures(PAIR);
    let packet = segment();
    let sent = data(Content::Packet(&packet, RoutingHeader::None));
    captures.on_air(A_AIR, &sent);
    let heard = Radio { signal_dbm: Some(-61.6), ..sent.radio };
    let heard = AirFrame { direction: Direction::Inbound, from: B, to: Receiver::One(A), radio: heard, ..sent };
    captures.on_air(A_AIR, &heard);
    captures.on_air(B_AIR, &sent);
    let read = read(captures, &file);
    assert_eq!(read.len(), 2);
    assert!(read.iter().all(|read| (read.link, &read.name[..]) == (LinkType::IEEE802_11_RADIOTAP, "a@air")));
    assert_eq!((read[0].nanos, read[0].direction), (1_000_000, Direction::Outbound));
    assert_eq!((read[1].nanos, read[1].direction), (1_500_000, Direction::Inbound));
    let (header, _) = radiotap::decode(&read[0].frame).unwrap();
    assert_eq!((header.signal_dbm, header.noise_dbm, header.at), (None, Some(-94), Some(sent.start)));
    let (header, bytes) = radiotap::decode(&read[1].frame).unwrap();
    assert_eq!((header.signal_dbm, header.frequency_mhz), (Some(-62), Some(5180)));
    // 24 bytes of 802.11, 8 of LLC and SNAP, the packet, 4 of the check sequence.
    assert_eq!(bytes.len(), 24 + 8 + 240 + 4);
    let msdu = Msdu::find(&bytes[..bytes.len() - FCS_LEN], false).unwrap();
    let ends = (Address::of_node(1), Address::of_node(0), 7);
    assert_eq!((msdu.transmitter, msdu.receiver, msdu.sequence.value()), ends);
    let tcp = decode(read[0].ip.as_deref().unwrap()).unwrap();
    assert_eq!((tcp.addresses.source, tcp.ip.ttl), ("10.0.0.1:49152".parse().unwrap(), 61));
    assert_eq!((tcp.segment.seq, tcp.segment.len), (SeqNumber(1), 200));
}

#[test]
fn packets_and_frames_of_a_node_have_files_of_their_own() {
    let (mut captures, [node, _, radio, _]) = all_captures(PAIR);
    let packet = segment();
    captures.sent(Instant::from_nanos(500_000), A_AIR.into(), &packet, || None);
    captures.offered(Instant::from_nanos(500_000), A_AIR.into(), &packet);
    captures.on_air(A_AIR, &data(Content::Packet(&packet, RoutingHeader::None)));
    assert!(captures.finish().1.is_none());
    let seen: [Vec<_>; 2] =
        [node, radio].map(|file| contents(&file).into_iter().map(|read| (read.link, read.nanos)).collect());
    assert_eq!(seen, [vec![(LinkType::RAW, 500_000)], vec![(LinkType::IEEE802_11_RADIOTAP, 1_000_000)]]);
}

#[test]
fn packets_of_flows_that_are_not_captured_are_left_out() {
    let (mut captures, file) = captures(PAIR);
    let datagram = PacketBody::Other(Other::Datagram(Udp::new(0, Instant::ZERO, 100)));
    let packet = Packet::new(B, EndpointId(2), 128, PacketFlags::new(true), datagram);
    captures.on_air(A_AIR, &data(Content::Packet(&packet, RoutingHeader::None)));
    captures.on_air(A_AIR, &frame(FrameContents::Ack));
    assert_eq!(read(captures, &file).len(), 1);
}

#[test]
fn the_header_of_gpsr_precedes_the_packet() {
    let (mut captures, file) = captures(PAIR);
    let packet = segment();
    let place = gpsr::GpsrPosition { x: 1, y: 2, z: 3 };
    let header = gpsr::GpsrHeader { mode: gpsr::ForwardingMode::Greedy, destination: place, sender: place };
    captures.on_air(A_AIR, &data(Content::Packet(&packet, RoutingHeader::Gpsr(header))));
    let read = read(captures, &file);
    let (_, bytes) = radiotap::decode(&read[0].frame).unwrap();
    let msdu = Msdu::find(&bytes[..bytes.len() - FCS_LEN], false).unwrap();
    assert_eq!(msdu.payload.len() as u32, 240 + RoutingHeader::Gpsr(header).size());
    assert_eq!(routing::gpsr::decode(msdu.payload).unwrap().0, header);
    assert_eq!(read[0].ip.as_deref().map(<[u8]>::len), Some(240));
}

#[test]
fn messages_and_arp_are_data_frames_of_their_node() {
    let (mut captures, file) = captures(PAIR);
    let message = Message::Aodv(aodv::AodvMessage::ReplyAck);
    captures.on_air(A_AIR, &data(Content::Message(&message, 1)));
    captures.on_air(A_AIR, &data(Content::Arp(Operation::Reply, B)));
    let request = AirFrame { to: Receiver::All, ..data(Content::Arp(Operation::Request, B)) };
    captures.on_air(A_AIR, &request);
    let read = read(captures, &file);
    let datagram = routing::decode(read[0].ip.as_deref().unwrap()).unwrap();
    assert_eq!(datagram, Datagram { from: A, to: Receiver::One(B), ttl: 1, message });
    let arps: Vec<Arp> = read[1..]
        .iter()
        .map(|read| {
            let (_, bytes) = radiotap::decode(&read.frame).unwrap();
            let msdu = Msdu::find(&bytes[..bytes.len() - FCS_LEN], false).unwrap();
            assert_eq!(msdu.ethertype, EtherType::ARP);
            Arp::decode(msdu.payload).unwrap()
        })
        .collect();
    let [a, b] = [A, B].map(|node| (Address::of_node(node.0), routing::address(node)));
    assert_eq!(arps[0], Arp { operation: Operation::Reply, sender: a, target: b });
    assert_eq!(arps[1], Arp { operation: Operation::Request, sender: a, target: (Address([0; 6]), b.1) });
}

#[test]
fn frames_of_the_mac_have_their_kind() {
    let (mut captures, file) = captures(PAIR);
    let (tid, start) = (Tid::new(0).unwrap(), Sequence::new(5));
    for form in [FrameContents::Rts, FrameContents::Cts, FrameContents::Ack] {
        captures.on_air(A_AIR, &frame(form));
    }
    let packet = segment();
    let qos = Some(Qos { tid, ack: AckPolicy::Normal });
    let aggregate = Some(Aggregate { number: 9, is_last: true });
    let form = FrameContents::Data {
        sequence: start,
        is_retry: false,
        qos,
        content: Content::Packet(&packet, RoutingHeader::None),
    };
    let part = frame(form);
    captures.on_air(A_AIR, &AirFrame { radio: Radio { aggregate, ..part.radio }, ..part });
    let read = read(captures, &file);
    let frames = read.iter().map(|read| {
        let (header, bytes) = radiotap::decode(&read.frame).unwrap();
        (header.aggregate, lightlag_wire::dot11::decode(bytes).unwrap())
    });
    let (parts, frames): (Vec<_>, Vec<_>) = frames.unzip();
    assert_eq!(parts, [None, None, None, aggregate]);
    let transmitter = Address::of_node(0);
    let right = [FrameBody::Rts { transmitter }, FrameBody::Cts, FrameBody::Ack];
    assert!(frames.iter().all(|frame| frame.receiver == Address::of_node(1)));
    assert!(frames.iter().map(|frame| frame.body).zip(right).all(|(body, right)| body == right));
    assert!(matches!(frames[3].body, FrameBody::Data { qos: found, .. } if found == qos));
}

#[test]
fn every_version_of_ip_has_the_same_addresses_for_routing() {
    for node in [A, NodeId(299)] {
        assert_eq!(address(IpVersion::V4, node), routing::address(node));
    }
}

#[test]
fn power_is_rounded_and_kept_within_its_field() {
    assert_eq!([-61.5, -61.4, 500.0, -500.0, f64::NEG_INFINITY].map(whole_dbm), [-62, -61, 127, -128, -128]);
}
