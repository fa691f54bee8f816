//! What TCP alone has: token buckets and cookies that connections share, ids of compressed headers, notifications of
//! stations (SCPS-TP) and of routes, and windows that somebody steers.

use super::ends::{End, Role};
use super::relay::Relay;
use super::transport::{Enclosed, Sockets, Transport};
use super::{Hosts, Outcome};
use crate::body::{Body, Signal};
use crate::ids::FlowIndex;
use lightlag_control::bucket::Bucket;
use lightlag_control::congestion::Report;
use lightlag_core::{Instant, RandomStream, Rate};
use lightlag_net::{EndpointId, NodeId, PacketFlags};
use lightlag_scenario::Network;
use lightlag_tcp::config::FastOpen;
use lightlag_tcp::fast_open::Jar;
use lightlag_tcp::segment::{Cookie, SeqNumber};
use lightlag_tcp::{Config, Connection, Segment, State};
use lightlag_transport::Snapshot;
use lightlag_wire::signal::News;
use std::collections::{BTreeMap, BTreeSet};

/// An endpoint of TCP.
pub(crate) type Tcp = Connection;

/// A flow whose congestion control is steered.
#[derive(Clone, Copy, Debug)]
pub struct Observed {
    /// The sum of what its ACKs told since the last observation.
    pub report: Report,
    /// Its sender.
    pub sender: Snapshot,
    /// Segments that it sent again so far.
    pub retransmitted: u64,
    /// Whether its transfer has arrived, or has failed.
    pub is_over: bool,
}

impl Transport for Tcp {
    const IS_FIRST: bool = true;

    #[inline(always)]
    fn sockets(hosts: &Hosts) -> &Sockets<Self> {
        &hosts.tcp
    }

    #[inline(always)]
    fn parts(hosts: &mut Hosts) -> (&mut Sockets<Self>, &mut [Relay]) {
        (&mut hosts.tcp, &mut hosts.relays)
    }

    #[inline]
    fn poll(hosts: &mut Hosts, now: Instant, at: EndpointId) -> Option<Segment> {
        if hosts.shared.of_endpoint.is_empty() {
            hosts.tcp[at].connection.poll_segment(now)
        } else {
            hosts.next_shared(now, at)
        }
    }

    #[inline(always)]
    fn enclose(&self, segment: Segment) -> Enclosed {
        Enclosed {
            size: segment.header_len() + u32::from(segment.len),
            flags: PacketFlags::new(segment.len > 0)
                .with_low_priority(segment.is_low_priority())
                .with_superseding(segment.len == 0 && self.supersedes())
                .with_ecn(self.codepoint()),
            body: Body::Segment(segment),
        }
    }
}

impl Hosts {
    /// A flow that is steered; None for others, and before its connection starts to send.
    pub(crate) fn observe(&mut self, flow: FlowIndex) -> Option<Observed> {
        if self.numbers.datagrams(flow).is_some() {
            return None;
        }
        let at = self.numbers.sender(flow);
        let connection = &mut self.tcp[at].connection;
        let report = connection.take_told()?;
        let retransmitted = connection.statistics().retransmitted_segments;
        let is_over = self.outcomes.of(flow) != Outcome::Unfinished;
        Some(Observed { report, sender: connection.snapshot(), retransmitted, is_over })
    }

    #[cold]
    fn next_shared(&mut self, now: Instant, at: EndpointId) -> Option<Segment> {
        let connection = &mut self.tcp[at].connection;
        let share = self.shared.of(at);
        if let Some(number) = share.jar {
            let jar = &mut self.shared.jars[number as usize];
            if let Some(lesson) = connection.take_lesson() {
                jar.take(lesson);
            }
            connection.remember(jar);
        }
        match share.bucket {
            Some(number) => connection.poll_limited(now, &mut self.shared.buckets[number as usize]),
            None => connection.poll_segment(now),
        }
    }

    /// Takes a connection that has ended from its bucket: it sends nothing any more that would let the others see that.
    pub(crate) fn vacate(&mut self, at: EndpointId) {
        if let Some(number) = self.shared.of(at).bucket {
            self.tcp[at].connection.vacate(&mut self.shared.buckets[number as usize]);
        }
    }

    /// Sets the window and the pacing rate of a sender that is steered. Returns false if it is not.
    pub(crate) fn steer(&mut self, now: Instant, at: EndpointId, window: u64, pacing_rate: Option<Rate>) -> bool {
        self.tcp[at].connection.steer(now, window, pacing_rate)
    }

    /// Tells an endpoint that its own interface saw a damaged packet to it, if it reports corruption.
    pub(crate) fn sees_damage(&mut self, now: Instant, at: EndpointId) {
        let connection = &mut self.tcp[at].connection;
        if connection.config().scps.is_some_and(|scps| scps.report_corruption) {
            connection.corruption_experienced(now);
        }
    }

    /// Passes a notification to an endpoint: of a route always, of a link if it agreed on SCPS-TP with its peer. Returns false if
    /// it did not.
    pub(crate) fn heed(&mut self, now: Instant, at: EndpointId, signal: Signal) -> bool {
        let connection = &mut self.tcp[at].connection;
        let is_route = matches!(signal.news, News::RouteLost | News::RouteFound);
        if !is_route && connection.common_capabilities().is_none() {
            return false;
        }
        match signal.news {
            News::RouteLost => connection.route_lost(now),
            News::LinkOut => connection.link_lost(now),
            News::LinkRestored | News::RouteFound => connection.link_restored(now),
            News::Corruption if signal.to_sender => connection.corruption_told(now),
            News::Corruption => connection.corruption_experienced(now),
        }
        true
    }
}

/// Returns true if connections with this configuration share a cookie with others between the same hosts.
pub(crate) fn has_cookie(config: &Config) -> bool {
    config.fast_open != FastOpen::Off
}

/// Returns true if a receiver with this configuration may do without missing data: it waits for the end of the flow.
pub(crate) fn skips_holes(config: &Config) -> bool {
    config.scps.is_some_and(|scps| scps.bets.is_some())
}

/// The buckets and jars that several connections of a node share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// Token buckets, each for the connections that leave a node on one link at one rate.
    buckets: Vec<Bucket>,
    /// Cookies, each for the connections that one node opens to another.
    jars: Vec<Jar>,
    /// The share of each endpoint up to the last that has one.
    of_endpoint: Vec<Share>,
}

impl Shared {
    /// What the connections of a network share, before anything is sent.
    pub(crate) fn new(sockets: &mut Sockets<Tcp>, network: &Network, seed: u64) -> Self {
        let mut shared = Self::default();
        share_buckets(&mut shared, sockets, network.ip.header());
        give_ids(sockets);
        share_cookies(&mut shared, sockets, network, seed);
        shared
    }

    /// Takes what these endpoints share from another partition, to which they belong.
    pub(crate) fn take_from(&mut self, other: &mut Self, endpoints: impl Iterator<Item = EndpointId>) {
        let shares: Vec<Share> = endpoints.map(|at| self.of(at)).collect();
        // Several endpoints may share one.
        for bucket in shares.iter().filter_map(|share| share.bucket).collect::<BTreeSet<u32>>() {
            let bucket = bucket as usize;
            std::mem::swap(&mut self.buckets[bucket], &mut other.buckets[bucket]);
        }
        for jar in shares.iter().filter_map(|share| share.jar).map(|jar| jar as usize) {
            self.jars[jar] = other.jars[jar];
        }
    }

    /// The share of an endpoint.
    fn of(&self, at: EndpointId) -> Share {
        self.of_endpoint.get(at.index()).copied().unwrap_or_default()
    }

    /// The same, to be changed.
    fn of_mut(&mut self, at: EndpointId) -> &mut Share {
        if self.of_endpoint.len() <= at.index() {
            self.of_endpoint.resize(at.index() + 1, Share::default());
        }
        &mut self.of_endpoint[at.index()]
    }
}

/// The numbers of the bucket and of the jar of an endpoint, if it has any.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    bucket: Option<u32>,
    jar: Option<u32>,
}

/// Connections that leave a node on the same link at the same rate share one bucket.
fn share_buckets(shared: &mut Shared, sockets: &mut Sockets<Tcp>, ip_header: u32) {
    let mut routes = BTreeMap::new();
    for (at, socket) in sockets.enumerated_mut() {
        if let Some((rate, size)) = socket.connection.bucket() {
            let number = *routes.entry((socket.port.out, rate, size)).or_insert_with(|| {
                shared.buckets.push(Bucket::new(rate, size));
                shared.buckets.len() - 1
            });
            shared.of_mut(at).bucket = Some(number as u32);
            socket.connection.share(&mut shared.buckets[number], ip_header);
        }
    }
}

/// Connections whose headers are to be compressed get ids, at each node those from 1 on for every other node. Those for
/// which none is left have none.
fn give_ids(sockets: &mut Sockets<Tcp>) {
    let mut given: BTreeMap<(NodeId, NodeId), u8> = BTreeMap::new();
    for (_, socket) in sockets.enumerated_mut() {
        if socket.connection.config().scps.is_some_and(|scps| scps.compression) {
            let last = given.entry((socket.port.node, socket.port.peer_node)).or_default();
            if let Some(id) = last.checked_add(1) {
                *last = id;
                socket.connection.set_connection_id(id);
            }
        }
    }
}

/// Connections that one host opens to another share the cookie of the server, and whether the client knows it.
fn share_cookies(shared: &mut Shared, sockets: &mut Sockets<Tcp>, network: &Network, seed: u64) {
    let mut jars: BTreeMap<(NodeId, NodeId), usize> = BTreeMap::new();
    for (at, socket) in sockets.enumerated_mut() {
        if socket.connection.config().fast_open == FastOpen::Off {
            continue;
        }
        let listens = socket.connection.state() == State::Listen;
        let (client, server) =
            if listens { (socket.port.peer_node, socket.port.node) } else { (socket.port.node, socket.port.peer_node) };
        let number = *jars.entry((client, server)).or_insert_with(|| {
            let [client, server] = [client, server].map(|node| &network.nodes[node.0 as usize]);
            let mut random = RandomStream::new(seed, &format!("cookie of {server} for {client}"));
            shared.jars.push(Jar::new(Cookie::new(&random.bits().to_be_bytes()).expect("eight bytes are a cookie")));
            shared.jars.len() - 1
        });
        shared.of_mut(at).jar = Some(number as u32);
        socket.connection.share_cookies(&mut shared.jars[number]);
    }
}

/// The initial sequence number of an endpoint.
pub(crate) fn initial_number(end: End, network: &Network, seed: u64) -> SeqNumber {
    let flow = &network.flows[end.flow.index()].name;
    let purpose = match end.role {
        Role::Sender | Role::Receiver => format!("flow {flow} initial sequence numbers"),
        Role::Entry | Role::Exit => {
            format!("proxy {} flow {flow} initial sequence numbers", network.nodes[end.node.0 as usize])
        }
    };
    let mut random = RandomStream::new(seed, &purpose);
    let [first, second] = [random.bits(), random.bits()];
    SeqNumber(if matches!(end.role, Role::Sender | Role::Entry) { first } else { second } as u32)
}
