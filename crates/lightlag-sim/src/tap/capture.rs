//! Packets of a run as captures: a pcapng file for each place, written while the run goes on.
//!
//! A node sees what its endpoints send at the moment they send it, and what it receives or forwards when that arrives
//! undamaged. A link direction sees what is given to its queue. So a packet that a link drops is seen at the sending
//! side alone, as where `tcpdump` runs on real hosts.
//!
//! Why a packet was dropped is known only later. With comments a packet is therefore written when its fate on the next
//! link is known, and those behind it wait: never more than are on that link. Without, everything is written at once.

use crate::body::{Body, Other, Packet, Signal};
use crate::hosts::ends::{self, End, Numbers};
use crate::ids::FlowIndex;
use lightlag_control::congestion::Phase;
use lightlag_core::{Dscp, Instant};
use lightlag_net::queue::{DropCause, Dropped};
use lightlag_net::{EndpointId, Exit, LinkId, NodeId};
use lightlag_scenario::{CapturePlace, CapturePlan, IpVersion, Medium, Network};
use lightlag_tcp::segment::Flags;
use lightlag_transport::Snapshot;
use lightlag_wire::capture::{Direction, InterfaceId, LinkType, Writer};
use lightlag_wire::signal::{self, News};
use lightlag_wire::{Addresses, IpFields, encode, encode_udp};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

pub(crate) mod air;
mod pending;

use pending::Pending;

/// The file of a capture.
pub type Output = Box<dyn Write + Send>;

/// Ports of senders: those for temporary use (RFC 6335 §6).
const SENDER_PORTS: std::ops::RangeInclusive<u16> = 49_152..=65_535;

/// The port of receivers: they discard (RFC 863). Where senders have no port left, receivers go on from another.
const DISCARD: u16 = 9;
const MORE_RECEIVERS: u32 = 41_000;

/// Needs of captures beside the running world.
pub(crate) struct Setup {
    plan: CapturePlan,
    ip: IpVersion,
    endpoints: Vec<End>,
    /// The first and the last node of each flow.
    hosts: Vec<[NodeId; 2]>,
    /// The code point of each flow.
    dscp: Vec<Dscp>,
    /// Names of places, in the order of the plan.
    names: Vec<String>,
    /// Nodes whose addresses packets show, with their names.
    hosts_named: Vec<(NodeId, String)>,
    /// Start and name of every link direction, and of every radio behind them.
    links: Vec<(NodeId, String)>,
    /// Number of interfaces to media.
    interfaces: usize,
    nodes: usize,
}

impl Setup {
    /// The captures that a network asks for, if it asks for any.
    pub(crate) fn new(network: &Network) -> Option<Self> {
        let plan = network.captures.clone()?;
        let numbers = Numbers::new(network);
        let of_links = network.links.iter().map(|link| (link.from, link.name.clone()));
        let links: Vec<(NodeId, String)> = of_links.collect();
        let of_interfaces: Vec<String> = network.media.iter().flat_map(|medium| interfaces(network, medium)).collect();
        let name = |place: &CapturePlace| match place {
            CapturePlace::Node(node) => network.nodes[node.0 as usize].clone(),
            CapturePlace::Link(link) => links[link.0 as usize].1.clone(),
            CapturePlace::Interface(interface) => of_interfaces[interface.index()].clone(),
        };
        Some(Self {
            ip: network.ip,
            endpoints: ends::of_connections(network, &numbers).chain(ends::of_datagrams(network, &numbers)).collect(),
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

    /// Opens the files.
    pub(crate) fn open(self, open: &mut dyn FnMut(&str) -> io::Result<Output>) -> io::Result<Captures> {
        let mut taken = BTreeSet::new();
        let (mut at_node, mut at_link) = (vec![None; self.nodes], vec![None; self.links.len()]);
        let mut on_air = vec![None; self.interfaces];
        let mut files = Vec::with_capacity(self.names.len());
        for (index, (place, name)) in self.plan.places.iter().zip(&self.names).enumerate() {
            match *place {
                CapturePlace::Node(node) => at_node[node.0 as usize] = Some(index),
                CapturePlace::Link(link) => at_link[link.0 as usize] = Some(index),
                CapturePlace::Interface(interface) => on_air[interface.index()] = Some(index),
            }
            let file = file_name(name, &mut taken);
            let application = concat!("lightlag ", env!("CARGO_PKG_VERSION"));
            let mut writer = Writer::new(open(&file)?, application)?;
            let link = match place {
                CapturePlace::Node(_) | CapturePlace::Link(_) => LinkType::RAW,
                CapturePlace::Interface(_) => LinkType::IEEE802_11_RADIOTAP,
            };
            let interface = writer.interface_of(name, link)?;
            writer.names(self.hosts_named.iter().map(|(node, name)| (address(self.ip, *node), name.as_str())))?;
            files.push(File { name: file, writer, interface, pending: Pending::default() });
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
            hosts: self.hosts,
            dscp: self.dscp,
            links: self.links,
            // Any length from any place of the pattern.
            payload: (0..u32::from(u16::MAX) + 256).map(|at| at as u8).collect(),
            bytes: Vec::new(),
            error: None,
        })
    }
}

/// Names of the interfaces of nodes to a medium.
fn interfaces<'a>(network: &'a Network, medium: &'a Medium) -> impl Iterator<Item = String> + 'a {
    medium.members.iter().map(|member| format!("{}@{}", network.nodes[member.node.0 as usize], medium.name))
}

/// The nodes whose addresses packets of captured flows show: their ends, and stations that tell them something.
fn shown_nodes(network: &Network, plan: &CapturePlan) -> Vec<(NodeId, String)> {
    let captured = network.flows.iter().zip(&plan.flows).filter(|(_, is_captured)| **is_captured);
    let ends = captured.flat_map(|(flow, _)| [flow.from, flow.to]);
    let telling = network.links.iter().filter(|link| link.signals.is_some());
    let nodes: BTreeSet<NodeId> = ends.chain(telling.flat_map(|link| [link.from, link.to])).collect();
    nodes.into_iter().map(|node| (node, network.nodes[node.0 as usize].clone())).collect()
}

/// The contents of a record.
enum Record {
    Packet(Packet),
    /// A frame of 802.11, in bytes.
    Frame(Vec<u8>),
}

/// The captures of a run.
pub(crate) struct Captures {
    files: Vec<File>,
    /// The file of each node and link direction.
    at_node: Vec<Option<usize>>,
    at_link: Vec<Option<usize>>,
    /// The file of each interface.
    on_air: Vec<Option<usize>>,
    flows: Vec<bool>,
    comments: bool,
    ip: IpVersion,
    endpoints: Vec<End>,
    hosts: Vec<[NodeId; 2]>,
    dscp: Vec<Dscp>,
    links: Vec<(NodeId, String)>,
    /// Bytes that count, from which every payload is cut.
    payload: Vec<u8>,
    bytes: Vec<u8>,
    /// The file that could not be written, and why. Nothing is written after that.
    error: Option<(String, io::Error)>,
}

struct File {
    name: String,
    writer: Writer<Output>,
    interface: InterfaceId,
    /// Packets that wait for the fate of the first one.
    pending: Pending,
}

/// The fate of a packet on a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Arrived,
    Dropped(DropCause),
    Withdrawn,
}

/// A packet or a frame that was seen.
struct Seen {
    at: Instant,
    direction: Direction,
    record: Record,
    comment: String,
    /// The link on which it went on, until it is known what became of it there.
    awaits: Option<LinkId>,
}

impl Captures {
    pub(crate) fn aired(&mut self, on: lightlag_net::InterfaceId, frame: &air::AirFrame<'_>) {
        self.on_air(on, frame);
    }

    #[cold]
    pub(crate) fn sent(&mut self, now: Instant, on: Exit, packet: &Packet, state: impl FnOnce() -> Option<Snapshot>) {
        let (node, comment) = (self.origin(packet), self.comment(packet, state));
        let seen = Seen {
            at: now,
            direction: Direction::Outbound,
            record: Record::Packet(*packet),
            comment,
            awaits: self.link(on),
        };
        self.see(self.at_node[node.0 as usize], packet.to, seen);
    }

    #[cold]
    pub(crate) fn forwarded(&mut self, now: Instant, node: NodeId, on: Exit, packet: &Packet) {
        let comment = String::new();
        let seen = Seen {
            at: now,
            direction: Direction::Inbound,
            record: Record::Packet(*packet),
            comment,
            awaits: self.link(on),
        };
        self.see(self.at_node[node.0 as usize], packet.to, seen);
    }

    #[cold]
    pub(crate) fn expired(&mut self, now: Instant, node: NodeId, packet: &Packet) {
        let comment = if self.comments { format!("dropped: {}", explain(DropCause::Ttl)) } else { String::new() };
        let seen =
            Seen { at: now, direction: Direction::Inbound, record: Record::Packet(*packet), comment, awaits: None };
        self.see(self.at_node[node.0 as usize], packet.to, seen);
    }

    #[cold]
    pub(crate) fn offered(&mut self, now: Instant, on: Exit, packet: &Packet) {
        let Exit::Link(link) = on else { return };
        let file = self.at_link[link.0 as usize];
        let comment = String::new();
        let seen = Seen {
            at: now,
            direction: Direction::Outbound,
            record: Record::Packet(*packet),
            comment,
            awaits: self.link(on),
        };
        self.see(file, packet.to, seen);
    }

    #[cold]
    pub(crate) fn arrived(&mut self, on: LinkId, packet: &Packet) {
        if self.comments {
            self.settle(on, packet, Fate::Arrived);
        }
    }

    #[cold]
    pub(crate) fn received(&mut self, now: Instant, packet: &Packet, state: impl FnOnce() -> Option<Snapshot>) {
        let comment = self.comment(packet, state);
        let seen =
            Seen { at: now, direction: Direction::Inbound, record: Record::Packet(*packet), comment, awaits: None };
        self.see(self.at_node[packet.destination.0 as usize], packet.to, seen);
    }

    #[cold]
    pub(crate) fn dropped(&mut self, on: Exit, dropped: &Dropped<Body>) {
        if let Some(link) = self.link(on) {
            self.settle(link, &dropped.packet, Fate::Dropped(dropped.cause));
        }
    }

    #[cold]
    pub(crate) fn withdrawn(&mut self, on: LinkId, packet: &Packet) {
        if self.comments {
            self.settle(on, packet, Fate::Withdrawn);
        }
    }
}

impl Captures {
    /// From now on only packets of these flows are seen.
    pub(crate) fn keep_to(&mut self, of: impl Fn(FlowIndex) -> bool) {
        for (flow, is_captured) in (0..).map(FlowIndex).zip(&mut self.flows) {
            *is_captured &= of(flow);
        }
    }

    /// Writes what still waits, and gives the names of the files, and which of them could not be written and why.
    pub(crate) fn finish(mut self) -> (Vec<String>, Option<(String, io::Error)>) {
        for file in 0..self.files.len() {
            self.files[file].pending.release();
            self.write_known(file);
        }
        let mut names = Vec::with_capacity(self.files.len());
        for File { name, writer, .. } in self.files {
            if let Err(error) = writer.finish() {
                self.error.get_or_insert((name.clone(), error));
            }
            names.push(name);
        }
        (names, self.error)
    }

    /// The link over which a packet leaves, if comments tell what becomes of it there. No medium reports when a packet arrives.
    fn link(&self, on: Exit) -> Option<LinkId> {
        match on {
            Exit::Link(link) if self.comments => Some(link),
            _ => None,
        }
    }

    /// Origin of a packet.
    fn origin(&self, packet: &Packet) -> NodeId {
        match packet.body {
            Body::Other(Other::Signal(Signal { station, .. })) => station,
            _ => self.endpoints[packet.to.index()].peer_node,
        }
    }

    fn comment(&self, packet: &Packet, state: impl FnOnce() -> Option<Snapshot>) -> String {
        if !self.comments {
            return String::new();
        }
        match (state(), packet.body) {
            (Some(state), _) => describe(&state),
            (None, Body::Other(Other::Signal(signal))) => told(signal.news).to_owned(),
            (None, _) => String::new(),
        }
    }

    /// Whether packets with this number of an endpoint are captured.
    fn wants(&self, endpoint: EndpointId) -> bool {
        self.flows[self.endpoints[endpoint.index()].flow.index()]
    }

    fn see(&mut self, file: Option<usize>, endpoint: EndpointId, seen: Seen) {
        let Some(file) = file.filter(|_| self.wants(endpoint) && self.error.is_none()) else { return };
        self.files[file].pending.add(seen);
        self.write_known(file);
    }

    /// It is known what became of a packet on a link.
    fn settle(&mut self, on: LinkId, packet: &Packet, fate: Fate) {
        let at = on.0 as usize;
        let from = self.links[at].0;
        // For want of room the packet that comes is dropped, and not one that waits.
        let newest = fate == Fate::Dropped(DropCause::Queue);
        for file in [self.at_link[at], self.at_node[from.0 as usize]].into_iter().flatten() {
            let Some(seen) = self.files[file].pending.settle(on, packet, newest) else { continue };
            let name = &self.links[at].1;
            let separator = if seen.comment.is_empty() { "" } else { "; " };
            let _ = match fate {
                Fate::Arrived => Ok(()),
                Fate::Dropped(cause) => write!(seen.comment, "{separator}dropped on {name}: {}", explain(cause)),
                Fate::Withdrawn => write!(seen.comment, "{separator}left {name} to go another way"),
            };
            self.write_known(file);
        }
    }

    /// Writes from the front on what nothing more is to be known of.
    fn write_known(&mut self, file: usize) {
        while let Some(seen) = self.files[file].pending.take_known() {
            if self.error.is_none()
                && let Err(error) = self.write(file, &seen)
            {
                self.error = Some((self.files[file].name.clone(), error));
            }
        }
    }

    fn write(&mut self, file: usize, seen: &Seen) -> io::Result<()> {
        let Seen { at, direction, record, comment, .. } = seen;
        if let Record::Packet(packet) = record {
            let ttl = match direction {
                Direction::Inbound => packet.ttl.saturating_add(1),
                _ => packet.ttl,
            };
            self.put(packet, ttl);
        }
        let File { writer, interface, .. } = &mut self.files[file];
        let bytes = match record {
            Record::Packet(_) => &self.bytes,
            Record::Frame(bytes) => bytes,
        };
        writer.packet(*interface, *at, *direction, bytes, comment)
    }

    /// Puts the bytes of a packet in `bytes`.
    fn put(&mut self, packet: &Packet, ttl: u8) {
        let End { flow, role, .. } = self.endpoints[packet.to.index()];
        let dscp = if packet.body.is_signal() { Dscp::default() } else { self.dscp[flow.index()] };
        let fields = IpFields { dscp, ecn: packet.ecn(), ttl, ..IpFields::default() };
        let forward = addresses(self.ip, self.hosts[flow.index()], flow);
        let addresses = if role.sends() { forward.reversed() } else { forward };
        match &packet.body {
            Body::Segment(segment) => {
                // The byte with the number n of the stream is n modulo 256, so what is sent again is the same.
                // That of a SYN begins behind it.
                let begin = segment.seq.0.wrapping_add(u32::from(segment.flags.has(Flags::SYN)));
                let start = begin as usize % 256;
                let payload = &self.payload[start..start + usize::from(segment.len)];
                encode(&mut self.bytes, &addresses, &fields, segment, payload);
            }
            Body::Other(Other::Datagram(datagram)) => {
                // A datagram begins with its number modulo 256.
                let start = datagram.number() as usize % 256;
                let payload = &self.payload[start..start + usize::from(datagram.len)];
                encode_udp(&mut self.bytes, &addresses, &fields, payload);
            }
            Body::Other(Other::Signal(Signal { news, to_sender, station, seq })) => {
                // Of the packet that it is about: one of those that the addressee sends, or gets.
                let about = if *to_sender { addresses.reversed() } else { addresses };
                let station = address(self.ip, *station);
                let signal = signal::Signal { station, news: *news, about, seq: *seq, to_sender: *to_sender };
                signal::encode(&mut self.bytes, &fields, &signal);
            }
        }
        debug_assert_eq!(self.bytes.len(), usize::from(packet.size), "a packet is as long as the network counted");
    }
}

/// The addresses of a packet with data of a flow from the first of its nodes to the last.
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

/// 10.0.0.1 and fd00::1 for the first node, and on from there.
fn address(ip: IpVersion, node: NodeId) -> IpAddr {
    let number = node.0 + 1;
    match ip {
        IpVersion::V4 => Ipv4Addr::from_bits(10 << 24 | number).into(),
        IpVersion::V6 => Ipv6Addr::from_bits(0xfd00 << 112 | u128::from(number)).into(),
    }
}

/// A name that every file system takes: letters, digits, "-", "_", "." and "@" as they are, "->" as "-to-".
fn file_name(place: &str, taken: &mut BTreeSet<String>) -> String {
    let plain = |letter: char| if letter.is_alphanumeric() || "-_.@".contains(letter) { letter } else { '_' };
    let mut stem: String = place.replace("->", "-to-").chars().map(plain).collect();
    if stem.starts_with('.') {
        stem.insert(0, '_');
    }
    let numbered = (2..).map(|number| format!("{stem}-{number}"));
    // Some file systems do not tell a letter's case.
    let free = std::iter::once(stem.clone()).chain(numbered).find(|name| taken.insert(name.to_lowercase()));
    free.expect("numbers do not end") + ".pcapng"
}

fn describe(state: &Snapshot) -> String {
    let mut text = format!("cwnd {} B, ssthresh ", state.cwnd);
    let _ = match state.ssthresh {
        u64::MAX => write!(text, "unlimited"),
        bytes => write!(text, "{bytes} B"),
    };
    let _ = write!(text, ", in flight {} B", state.inflight);
    if !state.srtt.is_zero() {
        let _ = write!(text, ", SRTT {:.3} ms", state.srtt.as_secs_f64() * 1e3);
    }
    let _ = write!(text, ", {}", phase(state.phase));
    text
}

fn told(news: News) -> &'static str {
    match news {
        News::Corruption => "corruption experienced",
        News::LinkOut => "link out",
        News::LinkRestored => "link restored",
        News::RouteLost => "route lost",
        News::RouteFound => "route found",
    }
}

fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Open => "open",
        Phase::Recovery => "recovery",
        Phase::Loss => "loss",
    }
}

fn explain(cause: DropCause) -> &'static str {
    match cause {
        DropCause::Queue => "the queue was full",
        DropCause::Error => "corrupted",
        DropCause::Aqm => "by the queue discipline",
        DropCause::AckFilter => "a later ACK says more",
        DropCause::Ttl => "its TTL has run out",
        DropCause::Retry => "the last retry of the MAC failed",
        DropCause::Lifetime => "it waited too long for the medium",
        DropCause::NoRoute => "no route was found",
        DropCause::Outage => "an outage of the link",
    }
}

#[cfg(test)]
mod tests;
