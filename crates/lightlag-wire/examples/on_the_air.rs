//! Writes a capture with every kind of frame and message that this crate supports, which `tests/test_air.py` reads with
//! tshark: `cargo run -p lightlag-wire --example on_the_air -- FILE`.

use lightlag_core::{Duration, Instant, Rate};
use lightlag_net::NodeId;
use lightlag_routing::{Message, Receiver, aodv, dsdv, gpsr, olsr};
use lightlag_tcp::Segment;
use lightlag_tcp::segment::{Flags, SeqNumber, SynOptions};
use lightlag_wire::arp::{Arp, Operation};
use lightlag_wire::capture::{Direction, InterfaceId, LinkType, Writer};
use lightlag_wire::dot11::radiotap::{self, Aggregate, Coding, Guard, Modulation, Radiotap, Width};
use lightlag_wire::dot11::{
    AckPolicy, ActionFrame, Address, Agreement, EtherType, Frame, FrameBody, FrameHeader, Qos, Sequence, Tid,
};
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
    /// The next sequence number of each of the two stations.
    sequences: [u64; 2],
    bytes: Vec<u8>,
}

impl Stage {
    /// Writes a frame to the capture.
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

    /// Writes a control frame.
    fn control(&mut self, receiver: Address, micros: u64, body: FrameBody<'_>) -> io::Result<()> {
        self.frame(&Frame { duration: Duration::from_micros(micros), receiver, body }, FAST, None)
    }

    /// Returns the header of a station's next data or management frame.
    fn header(&mut self, station: usize) -> FrameHeader {
        let sequence = Sequence::new(self.sequences[station]);
        self.sequences[station] += 1;
        let transmitter = [HERE, THERE][station];
        FrameHeader { transmitter, bssid: Address::of_network(0), sequence, is_retry: false }
    }

    /// Writes a data frame of a station, the given number of retransmissions and, unless it is a broadcast, an ACK.
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
            let header = FrameHeader { is_retry: copy > 0, ..header };
            let body = FrameBody::Data { header, qos: None, ethertype, payload };
            self.frame(&Frame { duration: Duration::from_micros(micros), receiver, body }, modulation, None)?;
        }
        if to == Receiver::All { Ok(()) } else { self.control(header.transmitter, 0, FrameBody::Ack) }
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
        self.message(0, Receiver::All, Message::Aodv(aodv::AodvMessage::Request(request)))?;
        let reply = aodv::Reply {
            ack_required: true,
            hop_count: 1,
            destination: NodeId(8),
            destination_sequence: sequence(4),
            origin: NodeId(0),
            lifetime: Duration::from_millis(6_000),
            ttl: 3,
        };
        self.message(1, Receiver::One(NodeId(0)), Message::Aodv(aodv::AodvMessage::Reply(reply)))?;
        self.message(0, Receiver::One(NodeId(1)), Message::Aodv(aodv::AodvMessage::ReplyAck))?;
        let hello = aodv::Reply { ack_required: false, hop_count: 0, destination: NodeId(0), ..reply };
        self.message(0, Receiver::All, Message::Aodv(aodv::AodvMessage::Reply(hello)))?;
        let unreachable = vec![(NodeId(8), sequence(5)), (NodeId(9), sequence(6))];
        let error = aodv::Error { no_delete: false, unreachable };
        self.message(1, Receiver::All, Message::Aodv(aodv::AodvMessage::Error(error)))
    }

    fn olsr(&mut self) -> io::Result<()> {
        let code = |neighbour, link| olsr::LinkCode { link, neighbour };
        let links = vec![
            (code(olsr::NeighbourType::Symmetric, olsr::LinkType::Symmetric), vec![NodeId(1), NodeId(2)]),
            (code(olsr::NeighbourType::Relay, olsr::LinkType::Symmetric), vec![NodeId(3)]),
            (code(olsr::NeighbourType::Not, olsr::LinkType::Asymmetric), vec![NodeId(4)]),
        ];
        let interval = olsr::Validity::new(Duration::from_secs(2));
        let hello = olsr::OlsrMessage {
            validity: olsr::Validity::new(Duration::from_secs(6)),
            originator: NodeId(0),
            ttl: 1,
            hop_count: 0,
            sequence: 1,
            body: olsr::OlsrBody::Hello(olsr::OlsrHello { interval, willingness: 3, links }),
        };
        let neighbours = vec![NodeId(0), NodeId(5)];
        let topology = olsr::OlsrMessage {
            validity: olsr::Validity::new(Duration::from_secs(15)),
            originator: NodeId(3),
            ttl: 254,
            hop_count: 1,
            sequence: 2,
            body: olsr::OlsrBody::TopologyControl(olsr::TopologyControl { sequence: 1, neighbours }),
        };
        let packet = olsr::OlsrPacket { sequence: 1, messages: vec![hello, topology] };
        self.message(0, Receiver::All, Message::Olsr(packet))
    }

    fn dsdv(&mut self) -> io::Result<()> {
        let entries = vec![
            dsdv::DsdvEntry { destination: NodeId(0), hops: 0, sequence: 2 },
            dsdv::DsdvEntry { destination: NodeId(1), hops: 1, sequence: 4 },
        ];
        self.message(0, Receiver::All, Message::Dsdv(dsdv::Update { is_full: true, entries }))
    }

    /// Writes a beacon, and a datagram with the GPSR header for data.
    fn gpsr(&mut self) -> io::Result<()> {
        let position = gpsr::GpsrPosition { x: 10_000, y: -2_000, z: 5_000 };
        self.message(0, Receiver::All, Message::Gpsr(gpsr::Beacon { position }))?;
        let mut packet = Vec::new();
        let header = gpsr::GpsrHeader {
            mode: gpsr::ForwardingMode::Greedy,
            destination: position,
            sender: gpsr::GpsrPosition::default(),
        };
        routing::gpsr::encode(&mut packet, &header);
        let mut datagram = Vec::new();
        encode_udp(&mut datagram, &ends(false), &IpFields::default(), &[7; 100]);
        packet.extend_from_slice(&datagram);
        self.data(0, Receiver::One(NodeId(1)), routing::gpsr::ETHERTYPE, &packet, 0)
    }

    /// Writes a TCP handshake over IPv4. The SYN is sent twice, after RTS and CTS.
    fn handshake(&mut self) -> io::Result<()> {
        self.control(THERE, 172, FrameBody::Rts { transmitter: HERE })?;
        self.control(HERE, 128, FrameBody::Cts)?;
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

    /// Writes the negotiation of an agreement, two A-MPDUs with their block acknowledgements, and a block
    /// acknowledgement request. The packets are TCP over IPv4 and UDP over IPv6.
    fn aggregates(&mut self) -> io::Result<()> {
        let (tid, agreement) = (tid(0), Agreement { tid: tid(0), buffer: 64, timeout: 0 });
        let start = Sequence::new(0);
        for (station, action) in [
            (0, ActionFrame::Request { token: 1, agreement, start }),
            (1, ActionFrame::Response { token: 1, status: 0, agreement }),
        ] {
            let header = self.header(station);
            let receiver = [THERE, HERE][station];
            let body = FrameBody::Action { header, action };
            self.frame(&Frame { duration: Duration::from_micros(60), receiver, body }, SLOW, None)?;
            self.control(header.transmitter, 0, FrameBody::Ack)?;
        }
        let packets: Vec<(EtherType, Vec<u8>)> = (0..3).map(tcp_data).map(|packet| (EtherType::IPV4, packet)).collect();
        self.aggregate(1, HT, &packets)?;
        self.control(HERE, 0, FrameBody::BlockAck { transmitter: THERE, tid, start, bitmap: 0b111 })?;
        let mut datagram = Vec::new();
        encode_udp(&mut datagram, &ends(true), &IpFields::default(), &[7; 64]);
        self.aggregate(2, VHT, &[(EtherType::IPV6, datagram)])?;
        let start = Sequence::new(3);
        self.control(THERE, 48, FrameBody::BlockAckRequest { transmitter: HERE, tid, start })?;
        self.control(HERE, 0, FrameBody::BlockAck { transmitter: THERE, tid, start, bitmap: 1 })
    }

    /// Writes an A-MPDU of QoS frames, whose sequence numbers count from 0 in their traffic class.
    fn aggregate(&mut self, number: u32, modulation: Modulation, packets: &[(EtherType, Vec<u8>)]) -> io::Result<()> {
        for (index, (ethertype, packet)) in packets.iter().enumerate() {
            let sequence = Sequence::new(index as u64 + 3 * u64::from(number - 1));
            let header = FrameHeader { transmitter: HERE, bssid: Address::of_network(0), sequence, is_retry: false };
            let body = FrameBody::Data { header, qos: Some(BEST_EFFORT), ethertype: *ethertype, payload: packet };
            let frame = Frame { duration: Duration::from_micros(48), receiver: THERE, body };
            self.frame(&frame, modulation, Some(Aggregate { number, is_last: index + 1 == packets.len() }))?;
        }
        Ok(())
    }
}

/// Returns the full segment with index `number` on the connection of [`Stage::handshake`].
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
