//! Writes a capture with every kind of frame and message that this crate has, as `tests/test_air.py` reads it with
//! tshark: `cargo run -p lightlag-wire --example on_the_air -- FILE`.

use lightlag_core::{Duration, Instant, Rate};
use lightlag_net::NodeId;
use lightlag_routing::{Message, Receiver, aodv, dsdv, gpsr, olsr};
use lightlag_tcp::Segment;
use lightlag_tcp::segment::{Flags, SeqNumber, SynOptions};
use lightlag_wire::arp::{Arp, Operation};
use lightlag_wire::capture::{Direction, InterfaceId, LinkType, Writer};
use lightlag_wire::dot11::radiotap::{self, Aggregate, Coding, Guard, Modulation, Radiotap, Width};
use lightlag_wire::dot11::{AckPolicy, Action, Address, Agreement, Body, EtherType, Frame, Header, Qos, Sequence, Tid};
use lightlag_wire::routing::{self, Datagram};
use lightlag_wire::{Addresses, IpFields, encode, encode_udp};
use std::fs::File;
use std::io::{self, BufWriter};

const HERE: Address = Address::of_node(0);
const THERE: Address = Address::of_node(1);
const BEST_EFFORT: Qos = Qos { tid: tid(0), ack: AckPolicy::Normal };
const SLOW: Modulation = Modulation::Legacy(Rate::from_mbps(6));
const FAST: Modulation = Modulation::Legacy(Rate::from_mbps(24));
const HT: Modulation = Modulation::Ht { mcs: 7, width: Width::Mhz20, guard: Guard::Long, coding: Coding::Bcc };
const VHT: Modulation =
    Modulation::Vht { mcs: 8, streams: 1, width: Width::Mhz20, guard: Guard::Short, coding: Coding::Ldpc };

const fn tid(number: u8) -> Tid {
    match Tid::new(number) {
        Some(tid) => tid,
        None => panic!("above 15"),
    }
}

fn main() -> io::Result<()> {
    let path = std::env::args().nth(1).ok_or_else(|| io::Error::other("usage: on_the_air FILE"))?;
    let mut writer = Writer::new(BufWriter::new(File::create(path)?), "lightlag")?;
    let air = writer.interface_of("here", LinkType::IEEE802_11_RADIOTAP)?;
    let mut stage = Stage { writer, air, at: Instant::from_nanos(1_000_000), sequences: [0; 2], bytes: Vec::new() };
    stage.arp()?;
    stage.aodv()?;
    stage.olsr()?;
    stage.dsdv()?;
    stage.gpsr()?;
    stage.handshake()?;
    stage.aggregates()?;
    stage.writer.finish().map(drop)
}

struct Stage {
    writer: Writer<BufWriter<File>>,
    air: InterfaceId,
    at: Instant,
    /// The next sequence numbers of the two stations.
    sequences: [u64; 2],
    bytes: Vec<u8>,
}

impl Stage {
    /// Puts a frame on the air.
    fn frame(&mut self, frame: &Frame<'_>, modulation: Modulation, aggregate: Option<Aggregate>) -> io::Result<()> {
        self.at += Duration::from_micros(100);
        let header = Radiotap {
            at: Some(self.at),
            frequency_mhz: Some(5180),
            modulation: Some(modulation),
            signal_dbm: Some(-62),
            noise_dbm: Some(-94),
            aggregate,
            ..Radiotap::default()
        };
        radiotap::record(&mut self.bytes, &header, frame);
        self.writer.packet(self.air, self.at, Direction::Inbound, &self.bytes, "")
    }

    /// A control frame.
    fn control(&mut self, receiver: Address, micros: u64, body: Body<'_>) -> io::Result<()> {
        self.frame(&Frame { duration: Duration::from_micros(micros), receiver, body }, FAST, None)
    }

    /// The header of the next data or management frame of a station.
    fn header(&mut self, station: usize) -> Header {
        let sequence = Sequence::new(self.sequences[station]);
        self.sequences[station] += 1;
        let transmitter = [HERE, THERE][station];
        Header { transmitter, bssid: Address::of_network(0), sequence, is_retry: false }
    }

    /// A data frame from a station, with its ACK unless it is for all. With `retries`, as often again.
    fn data(
        &mut self,
        station: usize,
        to: Receiver,
        ethertype: EtherType,
        payload: &[u8],
        retries: u32,
    ) -> io::Result<()> {
        let header = self.header(station);
        let (receiver, micros, modulation) = match to {
            Receiver::All => (Address::BROADCAST, 0, SLOW),
            Receiver::One(node) => (Address::of_node(node.0), 44, FAST),
        };
        for copy in 0..=retries {
            let header = Header { is_retry: copy > 0, ..header };
            let body = Body::Data { header, qos: None, ethertype, payload };
            self.frame(&Frame { duration: Duration::from_micros(micros), receiver, body }, modulation, None)?;
        }
        if to == Receiver::All { Ok(()) } else { self.control(header.transmitter, 0, Body::Ack) }
    }

    fn message(&mut self, from: u32, to: Receiver, message: Message) -> io::Result<()> {
        let mut packet = Vec::new();
        routing::encode(&mut packet, &Datagram { from: NodeId(from), to, ttl: 3, message });
        self.data(from as usize, to, EtherType::IPV4, &packet, 0)
    }

    fn arp(&mut self) -> io::Result<()> {
        let [here, there] = [0, 1].map(|node| routing::address(NodeId(node)));
        let target = (Address([0; 6]), there);
        let request = Arp { operation: Operation::Request, sender: (HERE, here), target };
        self.data(0, Receiver::All, EtherType::ARP, &request.encode(), 0)?;
        let reply = Arp { operation: Operation::Reply, sender: (THERE, there), target: (HERE, here) };
        self.data(1, Receiver::One(NodeId(0)), EtherType::ARP, &reply.encode(), 0)
    }

    fn aodv(&mut self) -> io::Result<()> {
        let sequence = aodv::Sequence;
        let request = aodv::Request {
            gratuitous: true,
            destination_only: false,
            unknown_sequence: true,
            hop_count: 0,
            id: 1,
            destination: NodeId(8),
            destination_sequence: sequence(0),
            origin: NodeId(0),
            origin_sequence: sequence(1),
            ttl: 3,
        };
        self.message(0, Receiver::All, Message::Aodv(aodv::Message::Request(request)))?;
        let reply = aodv::Reply {
            ack_required: true,
            hop_count: 1,
            destination: NodeId(8),
            destination_sequence: sequence(4),
            origin: NodeId(0),
            lifetime: Duration::from_millis(6_000),
            ttl: 3,
        };
        self.message(1, Receiver::One(NodeId(0)), Message::Aodv(aodv::Message::Reply(reply)))?;
        self.message(0, Receiver::One(NodeId(1)), Message::Aodv(aodv::Message::ReplyAck))?;
        let hello = aodv::Reply { ack_required: false, hop_count: 0, destination: NodeId(0), ..reply };
        self.message(0, Receiver::All, Message::Aodv(aodv::Message::Reply(hello)))?;
        let unreachable = vec![(NodeId(8), sequence(5)), (NodeId(9), sequence(6))];
        let error = aodv::Error { no_delete: false, unreachable };
        self.message(1, Receiver::All, Message::Aodv(aodv::Message::Error(error)))
    }

    fn olsr(&mut self) -> io::Result<()> {
        let code = |neighbour, link| olsr::LinkCode { link, neighbour };
        let links = vec![
            (code(olsr::NeighbourType::Symmetric, olsr::LinkType::Symmetric), vec![NodeId(1), NodeId(2)]),
            (code(olsr::NeighbourType::Relay, olsr::LinkType::Symmetric), vec![NodeId(3)]),
            (code(olsr::NeighbourType::Not, olsr::LinkType::Asymmetric), vec![NodeId(4)]),
        ];
        let interval = olsr::Validity::new(Duration::from_secs(2));
        let hello = olsr::Message {
            validity: olsr::Validity::new(Duration::from_secs(6)),
            originator: NodeId(0),
            ttl: 1,
            hop_count: 0,
            sequence: 1,
            body: olsr::Body::Hello(olsr::Hello { interval, willingness: 3, links }),
        };
        let neighbours = vec![NodeId(0), NodeId(5)];
        let topology = olsr::Message {
            validity: olsr::Validity::new(Duration::from_secs(15)),
            originator: NodeId(3),
            ttl: 254,
            hop_count: 1,
            sequence: 2,
            body: olsr::Body::TopologyControl(olsr::TopologyControl { sequence: 1, neighbours }),
        };
        let packet = olsr::Packet { sequence: 1, messages: vec![hello, topology] };
        self.message(0, Receiver::All, Message::Olsr(packet))
    }

    fn dsdv(&mut self) -> io::Result<()> {
        let entries = vec![
            dsdv::Entry { destination: NodeId(0), hops: 0, sequence: 2 },
            dsdv::Entry { destination: NodeId(1), hops: 1, sequence: 4 },
        ];
        self.message(0, Receiver::All, Message::Dsdv(dsdv::Update { is_full: true, entries }))
    }

    /// A beacon, and a datagram with the header for data.
    fn gpsr(&mut self) -> io::Result<()> {
        let place = gpsr::Place { x: 10_000, y: -2_000, z: 5_000 };
        self.message(0, Receiver::All, Message::Gpsr(gpsr::Beacon { position: place }))?;
        let mut packet = Vec::new();
        let header = gpsr::Header { mode: gpsr::Mode::Greedy, destination: place, sender: gpsr::Place::default() };
        routing::gpsr::encode(&mut packet, &header);
        let mut datagram = Vec::new();
        encode_udp(&mut datagram, &ends(false), &IpFields::default(), &[7; 100]);
        packet.extend_from_slice(&datagram);
        self.data(0, Receiver::One(NodeId(1)), routing::gpsr::ETHERTYPE, &packet, 0)
    }

    /// TCP opens a connection over IPv4. The SYN is sent twice, after RTS and CTS.
    fn handshake(&mut self) -> io::Result<()> {
        self.control(THERE, 172, Body::Rts { transmitter: HERE })?;
        self.control(HERE, 128, Body::Cts)?;
        let [first, second] = [SeqNumber(1_000), SeqNumber(9_000)];
        let options = SynOptions { mss: Some(1448), window_scale: Some(7), sack_permitted: true };
        let syn = Segment::new(first, SeqNumber(0), 65_535, Flags::SYN).with_syn_options(options);
        self.segment(0, &syn, 1)?;
        let both = Flags::SYN.with(Flags::ACK);
        let answer = Segment::new(second, first.plus(1), 65_535, both).with_syn_options(options);
        self.segment(1, &answer, 0)?;
        self.segment(0, &Segment::new(first.plus(1), second.plus(1), 512, Flags::ACK), 0)
    }

    fn segment(&mut self, station: usize, segment: &Segment, retries: u32) -> io::Result<()> {
        let addresses = if station == 0 { ends(false) } else { ends(false).reversed() };
        let mut packet = Vec::new();
        encode(&mut packet, &addresses, &IpFields::default(), segment, &vec![7; usize::from(segment.len)]);
        self.data(station, Receiver::One(NodeId(1 - station as u32)), EtherType::IPV4, &packet, retries)
    }

    /// Agreement, two A-MPDUs with their block acknowledgements, and a request for one. TCP over IPv4, UDP over IPv6.
    fn aggregates(&mut self) -> io::Result<()> {
        let (tid, agreement) = (tid(0), Agreement { tid: tid(0), buffer: 64, timeout: 0 });
        let start = Sequence::new(0);
        for (station, action) in [
            (0, Action::Request { token: 1, agreement, start }),
            (1, Action::Response { token: 1, status: 0, agreement }),
        ] {
            let header = self.header(station);
            let receiver = [THERE, HERE][station];
            let body = Body::Action { header, action };
            self.frame(&Frame { duration: Duration::from_micros(60), receiver, body }, SLOW, None)?;
            self.control(header.transmitter, 0, Body::Ack)?;
        }
        let packets: Vec<(EtherType, Vec<u8>)> = (0..3).map(tcp_data).map(|packet| (EtherType::IPV4, packet)).collect();
        self.aggregate(1, HT, &packets)?;
        self.control(HERE, 0, Body::BlockAck { transmitter: THERE, tid, start, bitmap: 0b111 })?;
        let mut datagram = Vec::new();
        encode_udp(&mut datagram, &ends(true), &IpFields::default(), &[7; 64]);
        self.aggregate(2, VHT, &[(EtherType::IPV6, datagram)])?;
        let start = Sequence::new(3);
        self.control(THERE, 48, Body::BlockAckRequest { transmitter: HERE, tid, start })?;
        self.control(HERE, 0, Body::BlockAck { transmitter: THERE, tid, start, bitmap: 1 })
    }

    /// QoS frames in one A-MPDU, numbered from 0 within their traffic.
    fn aggregate(&mut self, number: u32, modulation: Modulation, packets: &[(EtherType, Vec<u8>)]) -> io::Result<()> {
        for (index, (ethertype, packet)) in packets.iter().enumerate() {
            let sequence = Sequence::new(index as u64 + 3 * u64::from(number - 1));
            let header = Header { transmitter: HERE, bssid: Address::of_network(0), sequence, is_retry: false };
            let body = Body::Data { header, qos: Some(BEST_EFFORT), ethertype: *ethertype, payload: packet };
            let frame = Frame { duration: Duration::from_micros(48), receiver: THERE, body };
            self.frame(&frame, modulation, Some(Aggregate { number, is_last: index + 1 == packets.len() }))?;
        }
        Ok(())
    }
}

/// A full segment of the connection of [`Stage::handshake`], by its number.
fn tcp_data(number: u32) -> Vec<u8> {
    let mut segment = Segment::new(SeqNumber(1_001 + 1_448 * number), SeqNumber(9_001), 512, Flags::ACK);
    segment.len = 1_448;
    let mut packet = Vec::new();
    encode(&mut packet, &ends(false), &IpFields::default(), &segment, &[7; 1_448]);
    packet
}

fn ends(v6: bool) -> Addresses {
    let end = |node: u16, port: u16| {
        if v6 {
            ([0xfd00, 0, 0, 0, 0, 0, 0, node + 1], port).into()
        } else {
            (routing::address(NodeId(u32::from(node))), port).into()
        }
    };
    Addresses { source: end(0, 49_152), destination: end(1, 9) }
}
