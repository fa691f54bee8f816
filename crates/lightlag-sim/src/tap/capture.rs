//! Captures of the packets of a run: one pcapng file per capture point, written during the run.
//!
//! A node captures the packets that its own endpoints send, and the undamaged packets that it receives or forwards. A
//! link direction captures the packets offered to its queue. A packet that a link drops is therefore captured only at
//! the sending side, as by `tcpdump` on real hosts.
//!
//! The reason for a drop is determined only later. With comments, a packet is therefore written only when its fate on
//! the next link is decided, and later packets wait for it. The number of waiting packets is limited by those on that
//! link. Without comments, every packet is written immediately.

use crate::body::{Other, Packet, PacketBody, Signal};
use crate::hosts::endpoints::{self, EndpointIds, EndpointSpec};
use crate::ids::FlowIndex;
use lightlag_core::{Dscp, Instant};
use lightlag_net::queue::{DropCause, Dropped};
use lightlag_net::{EndpointId, Exit, LinkId, NodeId};
use lightlag_quic::contents::Contents;
use lightlag_quic::streams::Side;
use lightlag_scenario::{CapturePlace, CapturePlan, IpVersion, Medium, Network, QlogSchema};
use lightlag_tcp::segment::Flags;
use lightlag_transport::Snapshot;
use lightlag_wire::capture::{Direction, InterfaceId, LinkType, Writer};
use lightlag_wire::quic::{Datagram, SERVER_PORT, WrittenSecrets};
use lightlag_wire::signal;
use lightlag_wire::{Addresses, IpFields, encode, encode_udp};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

pub(crate) mod air;
mod comments;
pub(crate) mod logs;
mod pending;
mod quic;

use comments::{describe, explain, told};
use logs::{ConnectionLogs, LogSpec};
use pending::Pending;
use quic::QuicConnections;

/// Destination of a capture file.
pub type Output = Box<dyn Write + Send>;

/// Port numbers of senders: the dynamic ports (RFC 6335 §6).
const SENDER_PORTS: std::ops::RangeInclusive<u16> = 49_152..=65_535;

/// Port number of receivers: the discard service (RFC 863). When the port numbers of senders are exhausted, receivers
/// use port numbers above `MORE_RECEIVERS`.
const DISCARD: u16 = 9;
const MORE_RECEIVERS: u32 = 41_000;

/// Data of the network that captures need in addition to the running world.
pub(crate) struct Setup {
    plan: CapturePlan,
    ip: IpVersion,
    endpoints: Vec<EndpointSpec>,
    quic: Option<QuicConnections>,
    log_specs: Vec<LogSpec>,
    /// Sending node and receiving node of each flow.
    hosts: Vec<[NodeId; 2]>,
    /// DSCP of each flow.
    dscp: Vec<Dscp>,
    /// Names of the capture points, in the order of the plan.
    names: Vec<String>,
    /// Nodes whose addresses appear in captured packets, with their names.
    hosts_named: Vec<(NodeId, String)>,
    /// Start node and name of every link direction.
    links: Vec<(NodeId, String)>,
    /// Number of interfaces to media.
    interfaces: usize,
    nodes: usize,
}

impl Setup {
    /// Returns the captures that a network configures; `None` if it configures none.
    pub(crate) fn new(network: &Network) -> Option<Self> {
        let plan = network.captures.clone()?;
        let numbers = EndpointIds::new(network);
        let of_links = network.links.iter().map(|link| (link.from, link.name.clone()));
        let links: Vec<(NodeId, String)> = of_links.collect();
        let of_interfaces: Vec<String> = network.media.iter().flat_map(|medium| interfaces(network, medium)).collect();
        let name = |place: &CapturePlace| match place {
            CapturePlace::Node(node) => network.nodes[node.0 as usize].clone(),
            CapturePlace::Link(link) => links[link.0 as usize].1.clone(),
            CapturePlace::Interface(interface) => of_interfaces[interface.index()].clone(),
        };
        let ends = endpoints::of_connections(network, &numbers).chain(endpoints::of_datagrams(network, &numbers));
        let endpoints: Vec<EndpointSpec> = ends.collect();
        Some(Self {
            ip: network.ip,
            quic: QuicConnections::new(network, &numbers, &endpoints),
            log_specs: LogSpec::all(network, &plan, &numbers, &endpoints),
            endpoints,
            hosts: network.flows.iter().map(|flow| [flow.from, flow.to]).collect(),
            dscp: network.flows.iter().map(|flow| flow.dscp.unwrap_or_default()).collect(),
            names: plan.places.iter().map(name).collect(),
            hosts_named: shown_nodes(network, &plan),
            links,
            interfaces: of_interfaces.len(),
            nodes: network.nodes.len(),
            plan,
        })
    }

    /// Opens the capture files. `open` receives the name of each file.
    pub(crate) fn open(self, open: &mut dyn FnMut(&str) -> io::Result<Output>) -> io::Result<Captures> {
        let mut taken = BTreeSet::new();
        let (mut at_node, mut at_link) = (vec![None; self.nodes], vec![None; self.links.len()]);
        let mut on_air = vec![None; self.interfaces];
        let mut files = Vec::with_capacity(self.names.len());
        for (index, (point, name)) in self.plan.places.iter().zip(&self.names).enumerate() {
            match *point {
                CapturePlace::Node(node) => at_node[node.0 as usize] = Some(index),
                CapturePlace::Link(link) => at_link[link.0 as usize] = Some(index),
                CapturePlace::Interface(interface) => on_air[interface.index()] = Some(index),
            }
            let file = file_name(name, &mut taken);
            let application = concat!("lightlag ", env!("CARGO_PKG_VERSION"));
            let mut writer = Writer::new(open(&file)?, application)?;
            let link = match point {
                CapturePlace::Node(_) | CapturePlace::Link(_) => LinkType::RAW,
                CapturePlace::Interface(_) => LinkType::IEEE802_11_RADIOTAP,
            };
            let interface = writer.interface_of(name, link)?;
            writer.names(self.hosts_named.iter().map(|(node, name)| (address(self.ip, *node), name.as_str())))?;
            let secrets = WrittenSecrets::default();
            files.push(File { name: file, writer, interface, pending: Pending::default(), secrets });
        }
        Ok(Captures {
            files,
            at_node,
            at_link,
            on_air,
            flows: self.plan.flows,
            comments: self.plan.comments,
            ip: self.ip,
            endpoints: self.endpoints,
            quic: self.quic,
            log_specs: self.log_specs,
            log_schema: self.plan.qlog,
            logs: None,
            hosts: self.hosts,
            dscp: self.dscp,
            links: self.links,
            // Any length from any offset of the pattern.
            payload: (0..u32::from(u16::MAX) + 256).map(|at| at as u8).collect(),
            bytes: Vec::new(),
            error: None,
        })
    }
}

/// Returns the names of the interfaces to a medium.
fn interfaces<'a>(network: &'a Network, medium: &'a Medium) -> impl Iterator<Item = String> + 'a {
    medium.members.iter().map(|member| format!("{}@{}", network.nodes[member.node.0 as usize], medium.name))
}

/// Returns the nodes whose addresses appear in packets of captured flows: the flows' end nodes, and stations that
/// notify them.
fn shown_nodes(network: &Network, plan: &CapturePlan) -> Vec<(NodeId, String)> {
    let captured = network.flows.iter().zip(&plan.flows).filter(|(_, is_captured)| **is_captured);
    let ends = captured.flat_map(|(flow, _)| [flow.from, flow.to]);
    let telling = network.links.iter().filter(|link| link.signals.is_some());
    let nodes: BTreeSet<NodeId> = ends.chain(telling.flat_map(|link| [link.from, link.to])).collect();
    nodes.into_iter().map(|node| (node, network.nodes[node.0 as usize].clone())).collect()
}

/// The contents of a captured record.
enum CaptureRecord {
    Packet(Packet),
    /// A QUIC packet with its contents.
    Quic(Packet, Box<Contents>),
    /// The bytes of an 802.11 frame.
    Frame(Vec<u8>),
}

impl CaptureRecord {
    /// Returns the packet, with the contents of a QUIC packet; `None` for a frame.
    fn packet(&self) -> Option<(&Packet, Option<&Contents>)> {
        match self {
            Self::Packet(packet) => Some((packet, None)),
            Self::Quic(packet, contents) => Some((packet, Some(contents))),
            Self::Frame(_) => None,
        }
    }
}

/// The captures of a run.
pub(crate) struct Captures {
    files: Vec<File>,
    /// Index of the file of each node; then of each link direction.
    at_node: Vec<Option<usize>>,
    at_link: Vec<Option<usize>>,
    /// Index of the file of each interface.
    on_air: Vec<Option<usize>>,
    flows: Vec<bool>,
    comments: bool,
    ip: IpVersion,
    endpoints: Vec<EndpointSpec>,
    /// QUIC connections, if there are any.
    quic: Option<QuicConnections>,
    /// Endpoints that may have logs, and the form of these; then the logs.
    log_specs: Vec<LogSpec>,
    log_schema: QlogSchema,
    logs: Option<ConnectionLogs>,
    hosts: Vec<[NodeId; 2]>,
    dscp: Vec<Dscp>,
    links: Vec<(NodeId, String)>,
    /// The bytes 0 to 255, repeated; every payload is a slice of this pattern.
    payload: Vec<u8>,
    bytes: Vec<u8>,
    /// Name and error of the file that could not be written. Nothing is written after that.
    error: Option<(String, io::Error)>,
}

struct File {
    name: String,
    writer: Writer<Output>,
    interface: InterfaceId,
    /// Packets that are not written yet, because the fate of the first one is unknown.
    pending: Pending,
    /// QUIC connections whose secrets the file contains.
    secrets: WrittenSecrets,
}

/// The fate of a packet on a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum CaptureFate {
    Arrived,
    Dropped(DropCause),
    Withdrawn,
}

/// A captured packet or frame.
struct CapturedPacket {
    at: Instant,
    direction: Direction,
    record: CaptureRecord,
    comment: String,
    /// The next link of the packet, until the fate of the packet there is decided.
    awaits: Option<LinkId>,
}

impl Captures {
    pub(crate) fn aired(&mut self, on: lightlag_net::InterfaceId, frame: &air::AirFrame<'_>) {
        self.on_air(on, frame);
    }

    #[cold]
    pub(crate) fn stored(&mut self, packet: &lightlag_quic::Packet, arena: &lightlag_quic::Arena) {
        if let Some(quic) = &mut self.quic {
            quic.stored(packet, arena);
        }
    }

    #[cold]
    pub(crate) fn sent(&mut self, now: Instant, on: Exit, packet: &Packet, state: impl FnOnce() -> Option<Snapshot>) {
        let (node, comment) = (self.origin(packet), self.comment(packet, state));
        if let Some(quic) = &mut self.quic {
            quic.sent(packet, &self.endpoints[packet.to.index()]);
        }
        let seen = CapturedPacket {
            at: now,
            direction: Direction::Outbound,
            record: self.record_of(packet),
            comment,
            awaits: self.link(on),
        };
        self.see(self.at_node[node.0 as usize], packet.to, seen);
        self.log_sent(now, packet);
    }

    #[cold]
    pub(crate) fn forwarded(&mut self, now: Instant, node: NodeId, on: Exit, packet: &Packet) {
        let comment = String::new();
        let seen = CapturedPacket {
            at: now,
            direction: Direction::Inbound,
            record: self.record_of(packet),
            comment,
            awaits: self.link(on),
        };
        self.see(self.at_node[node.0 as usize], packet.to, seen);
    }

    #[cold]
    pub(crate) fn expired(&mut self, now: Instant, node: NodeId, packet: &Packet) {
        let comment = if self.comments { format!("dropped: {}", explain(DropCause::Ttl)) } else { String::new() };
        let seen = CapturedPacket {
            at: now,
            direction: Direction::Inbound,
            record: self.record_of(packet),
            comment,
            awaits: None,
        };
        self.see(self.at_node[node.0 as usize], packet.to, seen);
    }

    #[cold]
    pub(crate) fn offered(&mut self, now: Instant, on: Exit, packet: &Packet) {
        let Exit::Link(link) = on else { return };
        let file = self.at_link[link.0 as usize];
        let comment = String::new();
        let seen = CapturedPacket {
            at: now,
            direction: Direction::Outbound,
            record: self.record_of(packet),
            comment,
            awaits: self.link(on),
        };
        self.see(file, packet.to, seen);
    }

    #[cold]
    pub(crate) fn arrived(&mut self, on: LinkId, packet: &Packet) {
        if self.comments {
            self.settle(on, packet, CaptureFate::Arrived);
        }
    }

    #[cold]
    pub(crate) fn received(&mut self, now: Instant, packet: &Packet, state: impl FnOnce() -> Option<Snapshot>) {
        let comment = self.comment(packet, state);
        let seen = CapturedPacket {
            at: now,
            direction: Direction::Inbound,
            record: self.record_of(packet),
            comment,
            awaits: None,
        };
        self.see(self.at_node[packet.destination.0 as usize], packet.to, seen);
    }

    #[cold]
    pub(crate) fn dropped(&mut self, on: Exit, dropped: &Dropped<PacketBody>) {
        if let Some(link) = self.link(on) {
            self.settle(link, &dropped.packet, CaptureFate::Dropped(dropped.cause));
        }
    }

    #[cold]
    pub(crate) fn withdrawn(&mut self, on: LinkId, packet: &Packet) {
        if self.comments {
            self.settle(on, packet, CaptureFate::Withdrawn);
        }
    }
}

impl Captures {
    /// Restricts capturing to the flows for which `is_selected` returns true.
    pub(crate) fn keep_to(&mut self, is_selected: impl Fn(FlowIndex) -> bool) {
        for (flow, is_captured) in (0..).map(FlowIndex).zip(&mut self.flows) {
            *is_captured &= is_selected(flow);
        }
    }

    /// Writes the pending packets. Returns the names of all files, and the name and error of a file that could not be
    /// written.
    pub(crate) fn finish(mut self) -> (Vec<String>, Option<(String, io::Error)>) {
        for file in 0..self.files.len() {
            self.files[file].pending.release();
            self.write_known(file);
        }
        let logs = self.finish_logs();
        let mut names = Vec::with_capacity(self.files.len());
        for File { name, writer, .. } in self.files {
            if let Err(error) = writer.finish() {
                self.error.get_or_insert((name.clone(), error));
            }
            names.push(name);
        }
        names.extend(logs);
        (names, self.error)
    }

    /// Returns the link over which a packet is sent, if comments report its fate there. `None` for media, which do not
    /// report arrivals.
    fn link(&self, on: Exit) -> Option<LinkId> {
        match on {
            Exit::Link(link) if self.comments => Some(link),
            _ => None,
        }
    }

    /// Returns the node that sent a packet.
    fn origin(&self, packet: &Packet) -> NodeId {
        match packet.body {
            PacketBody::Other(Other::Signal(Signal { station, .. })) => station,
            _ => self.endpoints[packet.to.index()].peer_node,
        }
    }

    fn comment(&self, packet: &Packet, state: impl FnOnce() -> Option<Snapshot>) -> String {
        if !self.comments {
            return String::new();
        }
        match (state(), packet.body) {
            (Some(state), _) => describe(&state),
            (None, PacketBody::Other(Other::Signal(signal))) => told(signal.news).to_owned(),
            (None, _) => String::new(),
        }
    }

    /// Returns true if the flow of this endpoint is captured.
    fn wants(&self, endpoint: EndpointId) -> bool {
        self.flows[self.endpoints[endpoint.index()].flow.index()]
    }

    fn see(&mut self, file: Option<usize>, endpoint: EndpointId, seen: CapturedPacket) {
        let Some(file) = file.filter(|_| self.wants(endpoint) && self.error.is_none()) else { return };
        self.files[file].pending.add(seen);
        self.write_known(file);
    }

    /// Records the fate of a packet on a link in its comment.
    fn settle(&mut self, on: LinkId, packet: &Packet, fate: CaptureFate) {
        let index = on.0 as usize;
        let from = self.links[index].0;
        // If the buffer is full, the arriving packet is dropped, not one that waits.
        let newest = fate == CaptureFate::Dropped(DropCause::Queue);
        for file in [self.at_link[index], self.at_node[from.0 as usize]].into_iter().flatten() {
            let Some(seen) = self.files[file].pending.settle(on, packet, newest) else { continue };
            let name = &self.links[index].1;
            let separator = if seen.comment.is_empty() { "" } else { "; " };
            let _ = match fate {
                CaptureFate::Arrived => Ok(()),
                CaptureFate::Dropped(cause) => write!(seen.comment, "{separator}dropped on {name}: {}", explain(cause)),
                CaptureFate::Withdrawn => write!(seen.comment, "{separator}rerouted away from {name}"),
            };
            self.write_known(file);
        }
    }

    /// Writes the packets at the front whose fate is known.
    fn write_known(&mut self, file: usize) {
        while let Some(seen) = self.files[file].pending.take_known() {
            if self.error.is_none()
                && let Err(error) = self.write(file, &seen)
            {
                self.error = Some((self.files[file].name.clone(), error));
            }
        }
    }

    fn write(&mut self, file: usize, seen: &CapturedPacket) -> io::Result<()> {
        let CapturedPacket { at: time, direction, record, comment, .. } = seen;
        if let Some((packet, contents)) = record.packet() {
            let ttl = match direction {
                Direction::Inbound => packet.ttl.saturating_add(1),
                _ => packet.ttl,
            };
            self.put(packet, contents, ttl);
            self.write_secrets(file, packet)?;
        }
        let File { writer, interface, .. } = &mut self.files[file];
        let bytes = match record {
            CaptureRecord::Packet(_) | CaptureRecord::Quic(..) => &self.bytes,
            CaptureRecord::Frame(bytes) => bytes,
        };
        writer.packet(*interface, *time, *direction, bytes, comment)
    }

    /// Writes the secrets of the connection of a QUIC packet, once per file.
    fn write_secrets(&mut self, file: usize, packet: &Packet) -> io::Result<()> {
        if let (Some(quic), PacketBody::Other(Other::Quic(_))) = (&self.quic, &packet.body) {
            let File { writer, secrets, .. } = &mut self.files[file];
            let connection = quic::connection(packet.to, &self.endpoints[packet.to.index()]);
            secrets.write(writer, &quic.sessions, connection)?;
        }
        Ok(())
    }

    /// Returns the record of a packet.
    fn record_of(&self, packet: &Packet) -> CaptureRecord {
        match self.quic.as_ref().and_then(|quic| quic.contents(packet)) {
            Some(contents) => CaptureRecord::Quic(*packet, Box::new(contents)),
            None => CaptureRecord::Packet(*packet),
        }
    }

    /// Encodes a packet into `bytes`. QUIC packets have `contents`.
    fn put(&mut self, packet: &Packet, contents: Option<&Contents>, ttl: u8) {
        let EndpointSpec { flow, role, .. } = self.endpoints[packet.to.index()];
        let dscp = if packet.body.is_signal() { Dscp::default() } else { self.dscp[flow.index()] };
        let fields = IpFields { dscp, ecn: packet.ecn(), ttl, ..IpFields::default() };
        let forward = addresses(self.ip, self.hosts[flow.index()], flow);
        let addresses = if role.sends() { forward.reversed() } else { forward };
        match &packet.body {
            PacketBody::Segment(segment) => {
                // Byte n of the stream has the value n modulo 256, so retransmissions are equal. The payload of a SYN
                // starts after its sequence number.
                let begin = segment.seq.0.wrapping_add(u32::from(segment.flags.has(Flags::SYN)));
                let start = begin as usize % 256;
                let payload = &self.payload[start..start + usize::from(segment.len)];
                encode(&mut self.bytes, &addresses, &fields, segment, payload);
            }
            PacketBody::Other(Other::Quic(body)) => {
                let quic = self.quic.as_mut().expect("a QUIC packet has a connection");
                let (connection, sender) = quic.sender(packet.to, &self.endpoints[packet.to.index()]);
                let (address, port) = body.client_address();
                let addresses = moved(quic_addresses(addresses, sender), sender, address, port);
                // Each migration uses the next connection ID of both ends (RFC 9000 §9.5).
                let datagram = Datagram { connection, sender, sequence: address.into(), addresses, ip: &fields };
                quic.sessions.encode(&mut self.bytes, &datagram, contents.expect("a QUIC packet has contents"));
            }
            PacketBody::Other(Other::Datagram(datagram)) => {
                // A datagram starts with its index modulo 256.
                let start = datagram.number() as usize % 256;
                let payload = &self.payload[start..start + usize::from(datagram.len)];
                encode_udp(&mut self.bytes, &addresses, &fields, payload);
            }
            PacketBody::Other(Other::Signal(Signal { news, to_sender, station, seq })) => {
                // The packet that the signal is about: one that the addressee sends or receives.
                let about = if *to_sender { addresses.reversed() } else { addresses };
                let station = address(self.ip, *station);
                let signal = signal::Signal { station, news: *news, about, seq: *seq, to_sender: *to_sender };
                signal::encode(&mut self.bytes, &fields, &signal);
            }
        }
        debug_assert_eq!(self.bytes.len(), usize::from(packet.size), "a packet is as long as the network counted");
    }
}

/// Returns the addresses of the data packets of a flow, which travel from the first of the `nodes` to the second.
fn addresses(ip: IpVersion, nodes: [NodeId; 2], flow: FlowIndex) -> Addresses {
    let ports = u32::from(SENDER_PORTS.end() - SENDER_PORTS.start()) + 1;
    let client = SENDER_PORTS.start() + (flow.0 % ports) as u16;
    let server = match flow.0 / ports {
        0 => DISCARD,
        more => (MORE_RECEIVERS + more) as u16,
    };
    let ports = [client, server];
    let [source, destination] = [0, 1].map(|end| SocketAddr::new(address(ip, nodes[end]), ports[end]));
    Addresses { source, destination }
}

/// Returns the addresses of a QUIC packet: the port of the server is 443 instead of the discard service, and the client
/// has a dynamic port, even if it receives the data.
fn quic_addresses(addresses: Addresses, sender: Side) -> Addresses {
    let Addresses { source, destination } = addresses;
    let ports = [source.port(), destination.port()];
    let (client, server) = (ports[0].max(ports[1]), ports[0].min(ports[1]));
    let server = if server == DISCARD { SERVER_PORT } else { server };
    let ports = if sender == Side::Client { [client, server] } else { [server, client] };
    Addresses {
        source: SocketAddr::new(source.ip(), ports[0]),
        destination: SocketAddr::new(destination.ip(), ports[1]),
    }
}

/// Returns the addresses with another address or port of the client. The address 10.0.0.1 becomes 10.32.0.1 and fd00::1
/// becomes fd00::1:0:0:0:1; ports below the dynamic ones replace these.
fn moved(addresses: Addresses, sender: Side, address: u8, port: u8) -> Addresses {
    let mut addresses = addresses;
    let client = if sender == Side::Client { &mut addresses.source } else { &mut addresses.destination };
    if address > 0 {
        client.set_ip(match client.ip() {
            IpAddr::V4(ip) => Ipv4Addr::from_bits(ip.to_bits() | u32::from(address) << 21).into(),
            IpAddr::V6(ip) => Ipv6Addr::from_bits(ip.to_bits() | u128::from(address) << 64).into(),
        });
    }
    if port > 0 {
        let range = SENDER_PORTS.end() - SENDER_PORTS.start() + 1;
        let place = (client.port() - SENDER_PORTS.start()) % range;
        let base = if port % 2 == 1 { SENDER_PORTS.start() - range } else { SENDER_PORTS.start() - 2 * range };
        client.set_port(base + (place + 997 * u16::from(port)) % range);
    }
    addresses
}

/// Returns the address of a node: the first node has 10.0.0.1 or fd00::1, the second 10.0.0.2 or fd00::2, and so on.
fn address(ip: IpVersion, node: NodeId) -> IpAddr {
    let number = node.0 + 1;
    match ip {
        IpVersion::V4 => Ipv4Addr::from_bits(10 << 24 | number).into(),
        IpVersion::V6 => Ipv6Addr::from_bits(0xfd00 << 112 | u128::from(number)).into(),
    }
}

/// Returns a file name that is valid on every file system. Letters, digits, "-", "_", "." and "@" are unchanged; "->"
/// becomes "-to-".
fn file_name(location: &str, taken: &mut BTreeSet<String>) -> String {
    let plain = |letter: char| if letter.is_alphanumeric() || "-_.@".contains(letter) { letter } else { '_' };
    let mut stem: String = location.replace("->", "-to-").chars().map(plain).collect();
    if stem.starts_with('.') {
        stem.insert(0, '_');
    }
    let numbered = (2..).map(|number| format!("{stem}-{number}"));
    // Some file systems ignore case.
    let free = std::iter::once(stem.clone()).chain(numbered).find(|name| taken.insert(name.to_lowercase()));
    free.expect("the iterator is infinite") + ".pcapng"
}

#[cfg(test)]
mod tests;
