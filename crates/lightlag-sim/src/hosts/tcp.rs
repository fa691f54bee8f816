//! State specific to TCP: token buckets and cookies that connections share, IDs for header compression, notifications
//! of stations (SCPS-TP) and of routes, and congestion control that the caller steers.

use super::endpoints::{EndpointSpec, Role};
use super::relay::Relay;
use super::session::Session;
use super::transport::{Enclosed, Sockets, Transport};
use super::{FlowOutcome, Hosts};
use crate::body::{PacketBody, Signal};
use crate::ids::FlowIndex;
use lightlag_control::bucket::Bucket;
use lightlag_control::congestion::AckReport;
use lightlag_core::{Instant, RandomStream, Rate};
use lightlag_net::{EndpointId, NodeId, PacketFlags};
use lightlag_scenario::Network;
use lightlag_tcp::config::FastOpenUse;
use lightlag_tcp::fast_open::CookieCache;
use lightlag_tcp::segment::{Cookie, SeqNumber};
use lightlag_tcp::{Config, Connection, Segment, State};
use lightlag_transport::Snapshot;
use lightlag_wire::signal::NotificationKind;
use std::collections::{BTreeMap, BTreeSet};

/// A TCP endpoint.
pub(crate) type Tcp = Connection;

/// State of a flow whose congestion control is steered by the caller.
#[derive(Clone, Copy, Debug)]
pub struct Observed {
    /// Report on the ACKs, losses and timeouts since the last observation.
    pub report: AckReport,
    /// State of the flow's sender.
    pub sender: Snapshot,
    /// Number of segments retransmitted so far.
    pub retransmitted: u64,
    /// Whether the flow's transfer is complete, or has failed.
    pub is_over: bool,
}

impl Transport for Tcp {
    const IS_FIRST: bool = true;

    #[inline(always)]
    fn sockets(hosts: &Hosts) -> &Sockets<Self> {
        &hosts.tcp
    }

    #[inline(always)]
    fn parts(hosts: &mut Hosts) -> (&mut Sockets<Self>, &mut [Relay], &mut [Session]) {
        (&mut hosts.tcp, &mut hosts.relays, &mut hosts.dialogues)
    }

    #[inline]
    fn poll(hosts: &mut Hosts, now: Instant, endpoint: EndpointId) -> Option<Segment> {
        if hosts.shared.of_endpoint.is_empty() {
            hosts.tcp[endpoint].connection.poll_segment(now)
        } else {
            hosts.next_shared(now, endpoint)
        }
    }

    #[inline(always)]
    fn enclose(&self, segment: Segment) -> Enclosed {
        Enclosed {
            size: segment.header_len() + u32::from(segment.len),
            flags: PacketFlags::new(segment.len > 0)
                .with_low_priority(segment.is_low_priority())
                .with_following(self.follows())
                .with_ecn(self.codepoint()),
            body: PacketBody::Segment(segment),
        }
    }
}

impl Hosts {
    /// Returns the state of a steered flow; `None` for other flows, and before the connection starts to send.
    pub(crate) fn observe(&mut self, flow: FlowIndex) -> Option<Observed> {
        if self.numbers.datagrams(flow).is_some() {
            return None;
        }
        let at = self.numbers.sender(flow);
        let connection = &mut self.tcp[at].connection;
        let report = connection.take_told()?;
        let retransmitted = connection.statistics().retransmitted_segments;
        let is_over = self.outcomes.of(flow) != FlowOutcome::Unfinished;
        Some(Observed { report, sender: connection.snapshot(), retransmitted, is_over })
    }

    #[cold]
    fn next_shared(&mut self, now: Instant, endpoint: EndpointId) -> Option<Segment> {
        let connection = &mut self.tcp[endpoint].connection;
        let share = self.shared.of(endpoint);
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

    /// Detaches a closed connection from its shared token bucket, whose other users would not notice that it stopped
    /// sending.
    pub(crate) fn vacate(&mut self, endpoint: EndpointId) {
        if let Some(number) = self.shared.of(endpoint).bucket {
            self.tcp[endpoint].connection.vacate(&mut self.shared.buckets[number as usize]);
        }
    }

    /// Sets the window and the pacing rate of a steered sender. Returns false if it is not steered.
    pub(crate) fn steer(&mut self, now: Instant, endpoint: EndpointId, window: u64, pacing_rate: Option<Rate>) -> bool {
        self.tcp[endpoint].connection.steer(now, window, pacing_rate)
    }

    /// Notifies an endpoint that the interface of its node received a damaged packet for it. Only endpoints that report
    /// corruption act on it.
    pub(crate) fn sees_damage(&mut self, now: Instant, endpoint: EndpointId) {
        let connection = &mut self.tcp[endpoint].connection;
        if connection.config().scps.is_some_and(|scps| scps.report_corruption) {
            connection.corruption_experienced(now);
        }
    }

    /// Passes a notification to an endpoint. Notifications about routes always apply; those about links apply only if
    /// the endpoint negotiated SCPS-TP. Returns false if the notification does not apply.
    pub(crate) fn heed(&mut self, now: Instant, endpoint: EndpointId, signal: Signal) -> bool {
        let connection = &mut self.tcp[endpoint].connection;
        let is_route = matches!(signal.news, NotificationKind::RouteLost | NotificationKind::RouteFound);
        if !is_route && connection.common_capabilities().is_none() {
            return false;
        }
        match signal.news {
            NotificationKind::RouteLost => connection.route_lost(now),
            NotificationKind::LinkOut => connection.link_lost(now),
            NotificationKind::LinkRestored | NotificationKind::RouteFound => connection.link_restored(now),
            NotificationKind::Corruption if signal.to_sender => connection.corruption_told(now),
            NotificationKind::Corruption => connection.corruption_experienced(now),
        }
        true
    }
}

/// Returns true if connections with this configuration share a fast-open cookie with others between the same hosts.
pub(crate) fn has_cookie(config: &Config) -> bool {
    config.fast_open != FastOpenUse::Off
}

/// Returns true if a receiver with this configuration may skip missing data (BETS). Its host must then know when the
/// flow ends.
pub(crate) fn skips_holes(config: &Config) -> bool {
    config.scps.is_some_and(|scps| scps.bets.is_some())
}

/// Token buckets and fast-open cookies that several connections of a node share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// Token buckets. Each one serves the connections of a node that use the same link at the same rate.
    buckets: Vec<Bucket>,
    /// Fast-open cookies. Each one serves the connections that a node opens to another one.
    jars: Vec<CookieCache>,
    /// Bucket and cookie of each endpoint, up to the last endpoint that has one.
    of_endpoint: Vec<Share>,
}

impl Shared {
    /// Returns the shared state of the connections of a network at the start of a run.
    pub(crate) fn new(sockets: &mut Sockets<Tcp>, network: &Network, seed: u64) -> Self {
        let mut shared = Self::default();
        share_buckets(&mut shared, sockets, network.ip.header());
        give_ids(sockets);
        share_cookies(&mut shared, sockets, network, seed);
        shared
    }

    /// Takes the shared state of these endpoints from another partition.
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

    /// Returns the bucket and the cookie of an endpoint.
    fn of(&self, endpoint: EndpointId) -> Share {
        self.of_endpoint.get(endpoint.index()).copied().unwrap_or_default()
    }

    /// Returns a mutable reference to the bucket and the cookie of an endpoint.
    fn of_mut(&mut self, endpoint: EndpointId) -> &mut Share {
        if self.of_endpoint.len() <= endpoint.index() {
            self.of_endpoint.resize(endpoint.index() + 1, Share::default());
        }
        &mut self.of_endpoint[endpoint.index()]
    }
}

/// Index of the bucket and index of the cookie of an endpoint, if it has them.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    bucket: Option<u32>,
    jar: Option<u32>,
}

/// Assigns a shared bucket to the connections of a node that use the same link at the same rate.
fn share_buckets(shared: &mut Shared, sockets: &mut Sockets<Tcp>, ip_header: u32) {
    let mut routes = BTreeMap::new();
    for (endpoint, socket) in sockets.enumerated_mut() {
        if let Some((rate, size)) = socket.connection.bucket() {
            let number = *routes.entry((socket.port.out, rate, size)).or_insert_with(|| {
                shared.buckets.push(Bucket::new(rate, size));
                shared.buckets.len() - 1
            });
            shared.of_mut(endpoint).bucket = Some(number as u32);
            socket.connection.share(&mut shared.buckets[number], ip_header);
        }
    }
}

/// Assigns IDs for header compression to connections, starting at 1 for each pair of nodes. When the IDs are exhausted,
/// further connections have none.
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

/// Assigns a shared cookie cache to the connections that a host opens to another one.
fn share_cookies(shared: &mut Shared, sockets: &mut Sockets<Tcp>, network: &Network, seed: u64) {
    let mut jars: BTreeMap<(NodeId, NodeId), usize> = BTreeMap::new();
    for (endpoint, socket) in sockets.enumerated_mut() {
        if socket.connection.config().fast_open == FastOpenUse::Off {
            continue;
        }
        let listens = socket.connection.state() == State::Listen;
        let (client, server) =
            if listens { (socket.port.peer_node, socket.port.node) } else { (socket.port.node, socket.port.peer_node) };
        let number = *jars.entry((client, server)).or_insert_with(|| {
            let [client, server] = [client, server].map(|node| &network.nodes[node.0 as usize]);
            let mut random = RandomStream::new(seed, &format!("cookie of {server} for {client}"));
            shared
                .jars
                .push(CookieCache::new(Cookie::new(&random.bits().to_be_bytes()).expect("eight bytes are a cookie")));
            shared.jars.len() - 1
        });
        shared.of_mut(endpoint).jar = Some(number as u32);
        socket.connection.share_cookies(&mut shared.jars[number]);
    }
}

/// Returns the initial sequence number of an endpoint.
pub(crate) fn initial_number(end: EndpointSpec, network: &Network, seed: u64) -> SeqNumber {
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
