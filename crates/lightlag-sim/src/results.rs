//! Results of a run: a summary, columns, and a hash over every recorded number.

mod holes;
mod interfaces;
mod legs;
mod limits;
mod messages;
mod objects;
mod origin;
pub mod pairs;
mod proxies;
mod signals;
mod traffic;
mod tunnels;

use crate::hosts::FlowOutcome;
use crate::hosts::session::Session;
use crate::ids::FlowIndex;
pub use crate::media::Paths;
use crate::scheduler::Agenda;
use crate::table::{ColumnHash, rows, tables};
use crate::tap::Tap;
use crate::tap::capture::logs::LogTitles;
pub use crate::tap::record::{Acks, Drops, QueueSamples, Trace};
use crate::world::World;
pub use holes::HoleSummary;
pub use interfaces::{AccessSummary, ClassSummary, InterfaceSummary, Positions};
use interfaces::{InterfaceIdentity, interface_summaries, positions};
pub use legs::LegSummary;
use legs::{LegIdentity, leg_summaries};
use lightlag_control::congestion::custom::Fault;
use lightlag_core::{Duration, Instant};
use lightlag_net::link::LinkCounters;
pub use lightlag_net::queue::DropCause;
use lightlag_net::{Link, Waits};
use lightlag_scenario::{Network, Scenario};
pub use limits::{LimitedSeconds, QuicLimitedSeconds};
pub use messages::{MessageSummary, StoreSummary};
use objects::ObjectNames;
pub use objects::Objects;
use origin::{FlowIdentity, FlowNames, FlowOrigin, LinkOrigins, PackedNames};
pub use pairs::SummaryRows;
pub use proxies::{PrefetchSummary, ProxySummary};
use proxies::{ProxyIdentity, proxy_summaries};
use serde::{Serialize, Serializer};
pub use signals::SignalSummary;
pub use traffic::{DatagramSummary, PageSummary, Responses};
use traffic::{datagrams_of, page_summary};
pub use tunnels::TunnelSummary;
use tunnels::{TunnelIdentity, tunnel_summaries};

/// The results of one run.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// Totals of the run, its flows and its links.
    pub summary: Summary,
    /// Table of the state of senders over time.
    pub trace: Trace,
    /// Table of the packets that waited at links over time.
    pub queue: QueueSamples,
    /// Table of all dropped packets.
    pub drops: Drops,
    /// Table of the ACKs that senders received, if the scenario records them.
    pub acks: Acks,
    /// Table of requests and their responses, if there are any.
    pub responses: Responses,
    /// Table of the objects of pages from files, if there are any.
    pub objects: Objects,
    /// Table of the paths of flows over media or constellations.
    pub paths: Paths,
    /// Table of the positions of nodes on media.
    pub positions: Positions,
    /// Names of the nodes, in the order of their indices in these tables.
    nodes: Vec<String>,
    /// Names of the connections of tunnels, whose indices in tables follow the indices of flows.
    tunnel_names: Vec<String>,
    /// Ids of the objects of pages, in the order of their indices in tables.
    object_names: Vec<String>,
    /// Names of all link directions. `None` if the summary lists all of them.
    all_links: Option<Vec<String>>,
    /// Names of the captures that were written.
    pub captures: Vec<String>,
    /// Name and error of the capture that could not be written completely. The other captures end at the same time.
    pub capture_failure: Option<String>,
    /// Whether the run was stopped before its end.
    pub interrupted: bool,
    /// Custom algorithm that failed and thereby ended the run.
    pub failed: Option<Failed>,
}

/// A custom algorithm that failed, with its failure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failed {
    /// The flow or link that used the algorithm, such as "flow a->b" or "link a->b".
    pub part: String,
    /// Failure of the algorithm.
    pub fault: Fault,
}

/// The object that `lightlag run --json` prints, without the wall-clock time.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The scenario with the values that were used.
    #[serde(serialize_with = "written")]
    pub scenario: Scenario,
    /// The seed of the run.
    pub seed: u64,
    /// The version of lightlag.
    pub version: &'static str,
    /// Simulated seconds until the run ended.
    pub simulated_s: f64,
    /// Number of events handled.
    pub events: u64,
    /// Number of packets offered to links, including dropped ones, plus the number of hops over media.
    pub packet_hops: u64,
    /// Packets that a node dropped because their TTL had expired or, in a constellation, because they had no route;
    /// omitted if 0.
    #[serde(skip_serializing_if = "is_zero")]
    pub expired_packets: u64,
    /// Hash of every recorded number. It is equal for the same scenario, seed and version on any machine.
    pub result_hash: String,
    /// One object per flow.
    pub flows: SummaryRows<FlowSummary>,
    /// One object per link direction. Unused links of a constellation are omitted.
    pub links: SummaryRows<LinkSummary>,
    /// One object for each flow at each proxy; omitted if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub proxies: Vec<ProxySummary>,
    /// One object for each connection on the path of each flow through proxies; omitted if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub legs: Vec<LegSummary>,
    /// One object for each direction of each tunnel; omitted if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tunnels: Vec<TunnelSummary>,
    /// One object for each interface of a node to a medium; omitted if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub interfaces: Vec<InterfaceSummary>,
}

impl Summary {
    /// Returns the summary without its flows and links, and without the flows and links of the scenario.
    #[must_use]
    pub fn head(&self) -> Self {
        Self {
            scenario: self.scenario.head(),
            flows: SummaryRows::default(),
            links: SummaryRows::default(),
            result_hash: self.result_hash.clone(),
            proxies: self.proxies.clone(),
            legs: self.legs.clone(),
            tunnels: self.tunnels.clone(),
            interfaces: self.interfaces.clone(),
            ..*self
        }
    }
}

fn written<S: Serializer>(scenario: &Scenario, serializer: S) -> Result<S::Ok, S::Error> {
    scenario.written().serialize(serializer)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

// Groups that few rows have are boxed: a network may have millions of rows.
rows! {
    /// The result of one flow. If proxies split the flow, the segment counters, round-trip times, window and limits
    /// describe its first sender; [`LegSummary`] describes each sender.
    pub struct FlowSummary, hashed by
        name, start_s, finish_s, delivered_bytes, sent_segments, retransmitted_segments, timeouts, recoveries,
        min_rtt_s, mean_rtt_s, mean_cwnd_segments, goodput_bps, limited_s, datagrams, messages, signals, holes
    {
        /// Name of the flow.
        name: String [""],
        /// Sending node.
        from: String ["", label],
        /// Receiving node.
        to: String ["", label],
        /// Congestion-control algorithm; `udp` for UDP flows.
        congestion: String ["", label],
        /// Name of the slowest link direction on the flow's path, by the rates at the start; null for datagrams.
        bottleneck: Option<String> ["", label],
        /// Time when the connection was opened.
        start_s: f64 ["s"],
        /// Arrival time of the last byte; null if it did not arrive.
        finish_s: Option<f64> ["s"],
        /// Reason why the connection was aborted before the transfer was complete; omitted otherwise.
        #[serde(skip_serializing_if = "Option::is_none")]
        failure: Option<&'static str> ["", label],
        /// Payload delivered in order to the receiving application, excluding holes.
        delivered_bytes: u64 ["B"],
        /// Delivered payload in bits, divided by the time from start to finish, or to the end of the run.
        goodput_bps: f64 ["bit/s"],
        /// Segments sent with payload, including retransmissions; for UDP, datagrams sent.
        sent_segments: u64 ["segments"],
        /// Retransmitted segments with payload.
        retransmitted_segments: u64 ["segments"],
        /// Expirations of the retransmission timer.
        timeouts: u64 [""],
        /// Number of times that fast recovery was entered.
        recoveries: u64 [""],
        /// ACKs that the sender received while data was outstanding, including duplicates.
        acks_received: u64 ["ACKs", unhashed],
        /// Smallest round-trip sample; null without a sample.
        min_rtt_s: Option<f64> ["s"],
        /// Mean of the round-trip samples; null without a sample.
        mean_rtt_s: Option<f64> ["s"],
        /// Mean congestion window in segments, from the establishment of the connection until the finish.
        mean_cwnd_segments: f64 ["segments"],
        /// The sender's time by limiting factor.
        limited_s: LimitedSeconds ["limited_*_s"],
        /// Parts of these times; only for QUIC flows.
        #[serde(skip_serializing_if = "Option::is_none")]
        quic_limited_s: Option<Box<QuicLimitedSeconds>> ["quic_limited_*_s"],
        /// Counts of delivered and lost datagrams; omitted for TCP flows.
        #[serde(skip_serializing_if = "Option::is_none")]
        datagrams: Option<Box<DatagramSummary>> ["datagrams_*"],
        /// Responses to requests; only for flows with requests.
        #[serde(skip_serializing_if = "Option::is_none")]
        responses: Option<Box<PageSummary>> ["responses_*"],
        /// Pages of a browser; only for flows with pages, in the row of the first connection.
        #[serde(skip_serializing_if = "Option::is_none")]
        pages: Option<Box<PageSummary>> ["pages_*"],
        /// Counts of delivered and lost messages; only for flows that collect them.
        #[serde(skip_serializing_if = "Option::is_none")]
        messages: Option<Box<MessageSummary>> ["messages_*"],
        /// Memory and delays of a sink that stores messages.
        #[serde(skip_serializing_if = "Option::is_none")]
        store: Option<Box<StoreSummary>> ["store_*"],
        /// Counts of notifications from stations and from media with `elfn`; only for TCP flows with notifications.
        #[serde(skip_serializing_if = "Option::is_none")]
        signals: Option<Box<SignalSummary>> ["signals_*"],
        /// Holes that the receiver skipped; only for flows whose endpoints negotiated partial reliability.
        #[serde(skip_serializing_if = "Option::is_none")]
        holes: Option<Box<HoleSummary>> ["holes_*"],
    }
}

rows! {
    /// Load and losses of a link direction.
    pub struct LinkSummary, hashed by
        name, carried_bytes, dropped_queue, dropped_error, max_queue_packets, utilisation, mean_queue_packets,
        dropped_aqm, marked, duplicated, reordered, queueing
    {
        /// Name of the direction: `from->to`.
        name: String [""],
        /// Node at the start of the direction.
        from: String ["", label],
        /// Node at the end of the direction.
        to: String ["", label],
        /// Transmission rate; null if it changes during a run.
        rate_bps: Option<f64> ["bit/s", label],
        /// Bytes transmitted, including link-layer headers.
        carried_bytes: u64 ["B"],
        /// Fraction of the run during which the link transmitted; a detected outage counts as idle. With a trace of
        /// delivery opportunities (mahimahi): fraction of the offered bytes that the link carried.
        utilisation: f64 [""],
        /// Packets dropped because the queue was full.
        dropped_queue: u64 ["packets"],
        /// Packets that the queue discipline dropped although the queue was not full.
        dropped_aqm: u64 ["packets", rare 1],
        /// Packets that the policer dropped because they exceeded its rate and its burst.
        dropped_police: u64 ["packets", rare 6],
        /// Packets dropped because they were larger than the MTU of the link.
        dropped_mtu: u64 ["packets", rare 8],
        /// Packets dropped because they were corrupted.
        dropped_error: u64 ["packets"],
        /// Packets that were cut off or discarded by an outage of the link.
        dropped_outage: u64 ["packets", rare 4],
        /// ACKs that the ACK filter of the queue dropped.
        dropped_acks: u64 ["packets", rare 2],
        /// Packets dropped because a transmitter of a constellation had no receiver, or lost its receiver while they
        /// waited.
        dropped_route: u64 ["packets", rare 3],
        /// Waiting packets that were rerouted because a transmitter of a constellation pointed elsewhere.
        withdrawn: u64 ["packets", rare 3],
        /// Packets that the queue discipline marked (ECN).
        marked: u64 ["packets", rare 1],
        /// Packets that the link duplicated.
        duplicated: u64 ["packets", rare 1],
        /// Packets that the link delayed, so that later packets overtook them.
        reordered: u64 ["packets", rare 1],
        /// Repair packets sent by the forward error correction of the link.
        repair_packets: u64 ["packets", rare 5],
        /// Lost packets that forward error correction recovered; they are not in `dropped_error` or `dropped_outage`.
        repaired: u64 ["packets", rare 5],
        /// Fraction of the sent packets that were lost despite forward error correction, or dropped in outages; null
        /// without forward error correction.
        residual_loss: Option<f64> ["", label],
        /// Baseband frames with packets.
        baseband_frames: u64 ["frames", rare 7],
        /// Dummy baseband frames, which are sent while no packet waits.
        dummy_frames: u64 ["frames", rare 7],
        /// Bytes of headers and trailers that encapsulate packets in baseband frames.
        encapsulation_bytes: u64 ["B", rare 7],
        /// Unused bytes of baseband frames with packets.
        padding_bytes: u64 ["B", rare 7],
        /// Mean number of waiting packets over time, not counting the packet in transmission.
        mean_queue_packets: f64 ["packets"],
        /// Maximum number of waiting packets.
        max_queue_packets: u64 ["packets"],
        /// Waiting times of data packets, if the scenario records them.
        #[serde(flatten)]
        queueing: Option<Box<Queueing>> ["*"],
    }
}

rows! {
    /// Waiting time of packets with payload at a link direction before their transmission, excluding dropped packets.
    /// Times are null if there were no packets; the error of quantiles is at most 1.6 % ([`Waits`]).
    #[derive(Copy, PartialEq)]
    pub struct Queueing {
        /// Number of packets with payload whose waiting time was measured.
        data_packets: u64 ["packets"],
        /// Mean waiting time.
        mean_wait_s: Option<f64> ["s"],
        /// Median waiting time.
        median_wait_s: Option<f64> ["s"],
        /// 95th percentile of the waiting time.
        p95_wait_s: Option<f64> ["s"],
        /// 99th percentile of the waiting time.
        p99_wait_s: Option<f64> ["s"],
        /// Maximum waiting time.
        max_wait_s: Option<f64> ["s"],
    }
}

impl Queueing {
    fn new(waits: &Waits) -> Self {
        let seconds = |wait: Option<Duration>| wait.map(Duration::as_secs_f64);
        Self {
            data_packets: waits.count(),
            mean_wait_s: seconds(waits.mean()),
            median_wait_s: seconds(waits.quantile(0.5)),
            p95_wait_s: seconds(waits.quantile(0.95)),
            p99_wait_s: seconds(waits.quantile(0.99)),
            max_wait_s: seconds(waits.longest()),
        }
    }
}

/// Scenario, seed, and names of the parts that a result refers to.
pub(crate) struct Provenance {
    scenario: Scenario,
    seed: u64,
    flows: Vec<FlowOrigin>,
    flow_names: FlowNames,
    links: LinkOrigins,
    proxies: Vec<ProxyIdentity>,
    legs: Vec<LegIdentity>,
    tunnels: Vec<TunnelIdentity>,
    interfaces: Vec<InterfaceIdentity>,
    nodes: PackedNames,
    /// Whether tables refer to nodes by index.
    names_nodes: bool,
    /// Interval of position samples, if there are any.
    positions: Option<Duration>,
}

impl Provenance {
    pub(crate) fn records_acks(&self) -> bool {
        self.scenario.record.acks
    }

    pub(crate) fn flow_names(&self) -> Vec<String> {
        let name = |(at, flow)| self.flow_names.get(FlowIndex(at), flow, &self.nodes);
        (0..).zip(&self.flows).map(name).collect()
    }

    /// Returns the texts of logs.
    pub(crate) fn log_titles(&self) -> LogTitles {
        LogTitles {
            run: self.scenario.name.clone(),
            description: format!("made by lightlag {}, seed {}", env!("CARGO_PKG_VERSION"), self.seed),
            flows: self.flow_names(),
        }
    }

    pub(crate) fn link_names(&self) -> Vec<String> {
        let interfaces = self.interfaces.iter().map(|interface| interface.name.clone());
        self.links.names(&self.nodes).chain(interfaces).collect()
    }

    pub(crate) fn node_names(&self) -> Vec<String> {
        if self.names_nodes { self.nodes.iter().map(str::to_owned).collect() } else { Vec::new() }
    }

    pub(crate) fn new(scenario: &Scenario, network: &Network, seed: u64) -> Self {
        let nodes = PackedNames::of(network.nodes.iter().map(String::as_str));
        let end = Instant::ZERO + scenario.duration;
        let links = LinkOrigins::of(network, &nodes, end);
        Self {
            scenario: scenario.clone(),
            seed,
            flows: FlowOrigin::all(network),
            flow_names: FlowNames::of(network, &nodes),
            links,
            proxies: ProxyIdentity::all(network),
            legs: LegIdentity::all(network),
            tunnels: TunnelIdentity::all(network),
            interfaces: InterfaceIdentity::all(network),
            positions: scenario.record.positions,
            names_nodes: !network.media.is_empty() || network.space.is_some(),
            nodes,
        }
    }
}

impl RunResult {
    /// Returns the names of the link directions and of the interfaces to media, in the order of their indices in
    /// tables.
    pub fn link_names(&self) -> Vec<&str> {
        let interfaces = self.summary.interfaces.iter().map(|interface| interface.name.as_str());
        match &self.all_links {
            Some(all) => all.iter().map(String::as_str).collect(),
            None => self.summary.links.iter().map(|link| link.name.as_str()).chain(interfaces).collect(),
        }
    }

    /// Returns the names of the flows and of the connections of tunnels, in the order of their indices in tables.
    pub fn flow_names(&self) -> Vec<&str> {
        let flows = self.summary.flows.iter().map(|flow| flow.name.as_str());
        flows.chain(self.tunnel_names.iter().map(String::as_str)).collect()
    }

    /// Returns the names of the nodes, in the order of their indices in tables. Empty if there are neither media nor
    /// constellations.
    pub fn node_names(&self) -> Vec<&str> {
        self.nodes.iter().map(String::as_str).collect()
    }

    /// Returns the ids of the objects of pages, in the order of their indices in tables.
    pub fn object_names(&self) -> Vec<&str> {
        self.object_names.iter().map(String::as_str).collect()
    }

    /// Moves the tables out of the world into the results. The captures stay in the world; `parts` determines whether
    /// its links and connections also stay.
    pub(crate) fn new(
        world: &mut World<impl Tap>,
        provenance: Provenance,
        end: Instant,
        events: u64,
        interrupted: bool,
        parts: WorldEnd,
    ) -> Self {
        let node_names = provenance.node_names();
        let all_links = world.fabric.overhead.as_ref().map(|_| provenance.link_names());
        let over_links: u64 = world.fabric.hops.iter().map(|hop| hop.link.counters().offered).sum();
        let packet_hops = over_links + world.media.as_deref().map_or(0, |media| media.hops);
        let proxies = proxy_summaries(world, provenance.proxies, end);
        let legs = leg_summaries(world, provenance.legs, end);
        let tunnels = tunnel_summaries(world, provenance.tunnels, end);
        let tunnel_names = tunnels.iter().step_by(2).map(|way| way.tunnel.clone()).collect();
        let positions = positions(&provenance.interfaces, provenance.positions, end);
        let interfaces = interface_summaries(world.media.as_deref(), provenance.interfaces, end);
        // With media, paths over a constellation are among theirs.
        let over_media = world.media.as_deref_mut().map(|media| std::mem::take(&mut media.paths));
        let through_sky = world.fabric.overhead.as_deref_mut().map(|overhead| std::mem::take(&mut overhead.paths));
        let paths = over_media.or(through_sky).unwrap_or_default();
        let mut responses = Responses::default();
        let (mut objects, mut object_names) = (Objects::default(), ObjectNames::default());
        for dialogue in &world.hosts.dialogues {
            responses.add(dialogue);
            objects.add(dialogue, &mut object_names);
        }
        if !world.hosts.dialogues.iter().any(Session::prefetches) {
            objects.prefetched.clear();
        }
        if parts == WorldEnd::Go {
            world.agenda = Agenda::empty();
        }
        let Provenance { nodes, links, flows, flow_names, .. } = provenance;
        let flows = flow_summaries(world, (&flows, &flow_names), (&nodes, &links), end, parts);
        let links = link_summaries(world, &links, &nodes, end, parts);
        let recorder = &mut world.recorder;
        let mut result = Self {
            summary: Summary {
                scenario: provenance.scenario,
                seed: provenance.seed,
                version: env!("CARGO_PKG_VERSION"),
                simulated_s: end.as_secs_f64(),
                events,
                packet_hops,
                expired_packets: world.expired,
                result_hash: String::new(),
                flows,
                links,
                proxies,
                legs,
                tunnels,
                interfaces,
            },
            trace: std::mem::take(&mut recorder.trace),
            queue: std::mem::take(&mut recorder.queue),
            drops: std::mem::take(&mut recorder.drops),
            acks: std::mem::take(&mut recorder.acks),
            responses,
            objects,
            paths,
            positions,
            nodes: node_names,
            tunnel_names,
            object_names: object_names.into_names(),
            all_links,
            captures: Vec::new(),
            capture_failure: None,
            interrupted,
            failed: None,
        };
        result.summary.result_hash = result.hash();
        result
    }

    /// Returns the XXH3-128 hash of the numbers of the summary and of every column, in a fixed order and in
    /// little-endian format.
    fn hash(&self) -> String {
        let mut hash = ColumnHash::default();
        let s = &self.summary;
        hash.text(s.version);
        hash.numbers([s.seed, s.events, s.packet_hops, s.simulated_s.to_bits()]);
        if s.expired_packets > 0 {
            hash.numbers([s.expired_packets]);
        }
        self.hash_tables(&mut hash);
        hash.finish()
    }
}

/// Determines whether a world keeps its scheduler, links and connections when its results are built.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorldEnd {
    /// The scheduler, links and connections remain in the world, because they are still needed.
    Stay,
    /// They are freed as their summaries are built, so that memory never holds all of both.
    Go,
}

/// Returns the summaries of the flows. They are built starting with the last flow, so that sockets are freed from the
/// end of their list. The list itself is freed in one step, because shrinking it would copy it.
fn flow_summaries(
    world: &mut World<impl Tap>,
    (origins, names): (&[FlowOrigin], &FlowNames),
    (nodes, links): (&PackedNames, &LinkOrigins),
    end: Instant,
    parts: WorldEnd,
) -> SummaryRows<FlowSummary> {
    // The connections of tunnels have a table of their own.
    let own = origins.len() - world.hosts.tunnels.as_ref().map_or(0, |tunnels| tunnels.len());
    let mut summaries = SummaryRows::with_capacity(own);
    for (index, origin) in origins.iter().enumerate().rev() {
        let flow = FlowIndex(index as u32);
        if index < own {
            let name = names.get(flow, origin, nodes);
            let identity = origin.identity(name, world.hosts.congestion(flow), (nodes, links));
            summaries.push_front(flow_summary(world, flow, identity, end));
        }
        if parts == WorldEnd::Go && world.hosts.numbers.datagrams(flow).is_none() {
            world.hosts.truncate(world.hosts.numbers.sender(flow));
        }
    }
    if parts == WorldEnd::Go {
        world.hosts.clear();
    }
    summaries
}

/// Returns the summaries of the link directions, built like [`flow_summaries`].
fn link_summaries(
    world: &mut World<impl Tap>,
    origins: &LinkOrigins,
    nodes: &PackedNames,
    end: Instant,
    parts: WorldEnd,
) -> SummaryRows<LinkSummary> {
    let mut summaries = SummaryRows::with_capacity(origins.len());
    let sky = world.fabric.overhead.as_ref().map_or(0..0, |overhead| overhead.links());
    for index in (0..origins.len()).rev() {
        let link = &world.fabric.hops[index].link;
        if !sky.contains(&index) || link.counters().offered > 0 {
            summaries.push_front(link_summary(link, (origins, index), nodes, end));
        }
        if parts == WorldEnd::Go {
            world.fabric.hops.truncate(index);
        }
    }
    if parts == WorldEnd::Go {
        world.fabric.hops = Vec::new();
    }
    summaries
}

fn link_summary<B: Clone + Default>(
    link: &Link<B>,
    (origins, index): (&LinkOrigins, usize),
    nodes: &PackedNames,
    end: Instant,
) -> LinkSummary {
    let (totals, counters) = (link.totals(end), link.counters());
    let frames = totals.frames.unwrap_or_default();
    let elapsed = end.as_nanos().max(1) as f64;
    let [from, to] = origins.ends(index).map(|node| nodes.of_node(node).to_owned());
    LinkSummary {
        name: origins.name(index, nodes),
        from,
        to,
        rate_bps: origins.is_steady(index).then(|| link.config().rate.as_bps() as f64),
        carried_bytes: totals.carried_bytes,
        utilisation: totals.busy as f64 / elapsed,
        dropped_queue: counters.dropped_queue,
        dropped_aqm: counters.dropped_aqm,
        dropped_police: counters.dropped_police,
        dropped_mtu: counters.dropped_mtu,
        dropped_error: counters.dropped_error,
        dropped_outage: counters.dropped_outage,
        dropped_acks: counters.dropped_acks,
        dropped_route: counters.dropped_route,
        withdrawn: counters.withdrawn,
        marked: counters.marked,
        duplicated: counters.duplicated,
        reordered: counters.reordered,
        repair_packets: counters.repair_packets,
        repaired: counters.repaired,
        residual_loss: link.is_coded().then(|| residual_loss(&counters)),
        baseband_frames: frames.frames,
        dummy_frames: frames.dummies,
        encapsulation_bytes: frames.overhead_bytes,
        padding_bytes: frames.padding_bytes,
        mean_queue_packets: totals.queued as f64 / elapsed,
        max_queue_packets: counters.max_queue,
        queueing: link.waits().map(|waits| Box::new(Queueing::new(waits))),
    }
}

/// Returns the fraction of the packets at the far end of a link that were lost and not recovered.
fn residual_loss(counters: &LinkCounters) -> f64 {
    let lost = counters.dropped_error + counters.dropped_outage;
    lost as f64 / (lost + counters.delivered).max(1) as f64
}

fn flow_summary(world: &World<impl Tap>, flow: FlowIndex, identity: FlowIdentity, end: Instant) -> FlowSummary {
    let identity = match datagrams_of(world, flow, identity, end) {
        Ok(summary) => return summary,
        Err(identity) => *identity,
    };
    let [sender, receiver] =
        [world.hosts.numbers.sender(flow), world.hosts.numbers.receiver(flow)].map(|end| world.hosts.socket(end));
    let finish = match world.hosts.outcomes.of(flow) {
        FlowOutcome::Finished(at) => Some(at),
        FlowOutcome::Unfinished | FlowOutcome::Failed(_) => None,
    };
    let statistics = sender.inspect().statistics();
    let failure = match world.hosts.outcomes.of(flow) {
        FlowOutcome::Failed(failure) => Some(failure.reason()),
        FlowOutcome::Unfinished | FlowOutcome::Finished(_) => None,
    };
    let dialogue = world.hosts.dialogues.binary_search_by_key(&flow, |dialogue| dialogue.flow());
    let pages = dialogue.ok().map(|at| page_summary(&world.hosts.dialogues[at]));
    let elapsed = finish.unwrap_or(end).since(identity.start).as_secs_f64();
    let delivered = receiver.stream().delivered();
    let seconds = Duration::as_secs_f64;
    let account = world.hosts.account(world.hosts.numbers.sender(flow), end);
    FlowSummary {
        name: identity.name,
        from: identity.from,
        to: identity.to,
        congestion: identity.congestion,
        bottleneck: identity.bottleneck,
        start_s: identity.start.as_secs_f64(),
        finish_s: finish.map(Instant::as_secs_f64),
        failure,
        delivered_bytes: delivered,
        goodput_bps: if elapsed > 0.0 { delivered as f64 * 8.0 / elapsed } else { 0.0 },
        sent_segments: statistics.sent_segments,
        retransmitted_segments: statistics.retransmitted_segments,
        timeouts: statistics.timeouts,
        recoveries: statistics.recoveries,
        acks_received: statistics.acks_received,
        min_rtt_s: sender.inspect().min_rtt().map(seconds),
        mean_rtt_s: statistics.mean_rtt().map(seconds),
        mean_cwnd_segments: account.mean_cwnd_segments,
        limited_s: account.limited.into(),
        quic_limited_s: account.quic_limited.map(|limited| Box::new((*limited).into())),
        datagrams: None,
        responses: pages.filter(|_| !identity.is_web).map(Box::new),
        pages: pages.filter(|_| identity.is_web).map(Box::new),
        messages: MessageSummary::of(world, flow).map(Box::new),
        store: StoreSummary::of(world, flow).map(Box::new),
        signals: SignalSummary::of(world, flow).map(Box::new),
        holes: HoleSummary::of(world, flow).map(Box::new),
    }
}

tables! { |result|
    "flows", "one row per flow": rows FlowSummary = result.summary.flows, if true;
    "links", "one row per link direction": rows LinkSummary = result.summary.links, if true;
    "trace", "the state of senders over time": columns Trace = result.trace, if true;
    "queue", "waiting packets at links over time": packed QueueSamples = result.queue, if true;
    "drops", "every dropped packet": columns Drops = result.drops, if true;
    "acks", "every ACK that a sender processed": columns Acks = result.acks, if result.summary.scenario.record.acks;
    "responses", "responses and pages": columns Responses = result.responses,
        if result.summary.flows.iter().any(|flow| flow.responses.is_some() || flow.pages.is_some());
    "objects", "objects of pages from files": columns Objects = result.objects,
        if !result.object_names.is_empty();
    "proxies", "one row per flow at a proxy": rows ProxySummary = result.summary.proxies,
        if !result.summary.proxies.is_empty();
    "legs", "one row per connection of a flow that proxies split": rows LegSummary = result.summary.legs,
        if !result.summary.legs.is_empty();
    "tunnels", "one row per direction of a tunnel": rows TunnelSummary = result.summary.tunnels,
        if !result.summary.tunnels.is_empty();
    "interfaces", "one row per interface to a medium": rows InterfaceSummary = result.summary.interfaces,
        if !result.summary.interfaces.is_empty();
    "paths", "the paths of flows, at every change": columns Paths = result.paths,
        if !result.summary.interfaces.is_empty() || result.paths.rows() > 0;
    "positions", "the positions of nodes over time": columns Positions = result.positions,
        if !result.summary.interfaces.is_empty();
}
