//! Results of a run: a summary, columns, and a hash over every recorded number.

mod holes;
mod interfaces;
mod legs;
mod messages;
mod origin;
pub mod pairs;
mod proxies;
mod signals;
mod traffic;

use crate::agenda::Agenda;
use crate::hosts::Outcome;
use crate::ids::FlowIndex;
pub use crate::media::Paths;
use crate::table::{ColumnHash, HashedColumns, Recorded, Row, Table, hash_rows, rows};
use crate::tap::Tap;
pub use crate::tap::record::{Acks, Drops, QueueSamples, Trace};
use crate::world::World;
pub use holes::HoleSummary;
pub use interfaces::{ClassSummary, InterfaceSummary, Positions};
use interfaces::{InterfaceIdentity, interface_summaries, positions};
pub use legs::LegSummary;
use legs::{LegIdentity, leg_summaries};
use lightlag_control::congestion::own::Fault;
use lightlag_core::{Duration, Instant};
use lightlag_net::link::LinkCounters;
pub use lightlag_net::queue::DropCause;
use lightlag_net::{Link, Waits};
use lightlag_scenario::{Network, Scenario};
use lightlag_transport::Limited;
pub use messages::MessageSummary;
use origin::{FlowIdentity, FlowNames, FlowOrigin, LinkOrigins, Names};
pub use pairs::Rows;
pub use proxies::ProxySummary;
use proxies::{ProxyIdentity, proxy_summaries};
use serde::{Serialize, Serializer};
pub use signals::SignalSummary;
pub use traffic::{DatagramSummary, PageSummary, Responses};
use traffic::{datagrams_of, page_summary};

/// The outcome of one run.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// Totals of the run, its flows and its links.
    pub summary: Summary,
    /// The state of senders over time.
    pub trace: Trace,
    /// Packets that waited at links over time.
    pub queue: QueueSamples,
    /// Every dropped packet.
    pub drops: Drops,
    /// Each ACK that a sender took, if the scenario asks for them.
    pub acks: Acks,
    /// Requests of clients and their responses, if there are any.
    pub responses: Responses,
    /// The ways of flows over media or through the sky.
    pub paths: Paths,
    /// The positions of nodes on media.
    pub positions: Positions,
    /// Names of the nodes, to which these tables refer.
    nodes: Vec<String>,
    /// Names of all link directions, where the summary leaves some out.
    all_links: Option<Vec<String>>,
    /// Names of the captures that were written.
    pub captures: Vec<String>,
    /// The capture that could not be written to its end, and why. The others end there too.
    pub capture_failure: Option<String>,
    /// Whether the run was stopped before its end.
    pub interrupted: bool,
    /// The algorithm from outside that failed and so ended the run.
    pub failed: Option<Failed>,
}

/// An algorithm from outside that failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failed {
    /// The flow or the link that it served: "flow a->b", "link a->b".
    pub part: String,
    /// Its failure.
    pub fault: Fault,
}

/// The object that `lightlag run --json` prints, without the wall-clock time.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The scenario as run.
    #[serde(serialize_with = "written")]
    pub scenario: Scenario,
    /// The seed of the run.
    pub seed: u64,
    /// The version of lightlag.
    pub version: &'static str,
    /// Simulated seconds until the run ended.
    pub simulated_s: f64,
    /// Events handled.
    pub events: u64,
    /// Packets through links, dropped ones included, and hops over media.
    pub packet_hops: u64,
    /// Packets that a node dropped because their TTL had run out or, in a constellation, because no way led on; left out while
    /// there is none.
    #[serde(skip_serializing_if = "is_zero")]
    pub expired_packets: u64,
    /// Hash of every recorded number: equal for the same scenario, seed and version, on any machine.
    pub result_hash: String,
    /// One object a flow.
    pub flows: Rows<FlowSummary>,
    /// One object a link direction. Links of a constellation to which no packet came are left out.
    pub links: Rows<LinkSummary>,
    /// One object for each flow at each proxy; left out where there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub proxies: Vec<ProxySummary>,
    /// One object for each connection on the way of each flow through proxies; left out where there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub legs: Vec<LegSummary>,
    /// One object for each interface of a node to a medium; left out where there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub interfaces: Vec<InterfaceSummary>,
}

impl Summary {
    /// The summary without its flows and links, and without those of the scenario.
    #[must_use]
    pub fn head(&self) -> Self {
        Self {
            scenario: self.scenario.head(),
            flows: Rows::default(),
            links: Rows::default(),
            result_hash: self.result_hash.clone(),
            proxies: self.proxies.clone(),
            legs: self.legs.clone(),
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
    /// The result of one flow. Where proxies split it, the counters of segments and round trips, the window and the limits are
    /// those of its first sender; [`LegSummary`] has those of each.
    pub struct FlowSummary, hashed by
        name, start_s, finish_s, delivered_bytes, sent_segments, retransmitted_segments, timeouts, recoveries,
        min_rtt_s, mean_rtt_s, mean_cwnd_segments, goodput_bps, limited_s, datagrams, messages, signals, holes
    {
        /// Name of the flow.
        name: String [""],
        /// Node that sends.
        from: String ["", label],
        /// Node that receives.
        to: String ["", label],
        /// Congestion-control algorithm; `udp` where there is none.
        congestion: String ["", label],
        /// Name of the slowest link direction on its way, by the rates at the start; null for datagrams.
        bottleneck: Option<String> ["", label],
        /// Time at which the connection was opened.
        start_s: f64 ["s"],
        /// Time at which the last byte had arrived; null if that did not happen.
        finish_s: Option<f64> ["s"],
        /// Reason for giving up the connection before that; left out without one.
        #[serde(skip_serializing_if = "Option::is_none")]
        failure: Option<&'static str> ["", label],
        /// Payload in order at the receiving application, holes not counted.
        delivered_bytes: u64 ["B"],
        /// Delivered payload in bits over the time from start to finish, or to the end of the run.
        goodput_bps: f64 ["bit/s"],
        /// Segments with payload sent, retransmissions included; datagrams sent.
        sent_segments: u64 ["segments"],
        /// Segments with payload sent again.
        retransmitted_segments: u64 ["segments"],
        /// Expirations of the retransmission timer.
        timeouts: u64 [""],
        /// Fast recoveries begun.
        recoveries: u64 [""],
        /// ACKs that the sender received while data was outstanding, duplicates included.
        acks_received: u64 ["ACKs", unhashed],
        /// Smallest round-trip sample; null without a sample.
        min_rtt_s: Option<f64> ["s"],
        /// Mean of the round-trip samples; null without a sample.
        mean_rtt_s: Option<f64> ["s"],
        /// Congestion window in segments, averaged from when the connection was established to the finish.
        mean_cwnd_segments: f64 ["segments"],
        /// Time of the sender by the limit that held it back.
        limited_s: LimitedSeconds ["limited_*_s"],
        /// Fates of datagrams; left out of flows of TCP.
        #[serde(skip_serializing_if = "Option::is_none")]
        datagrams: Option<Box<DatagramSummary>> ["datagrams_*"],
        /// The responses to requests; only of flows with requests.
        #[serde(skip_serializing_if = "Option::is_none")]
        responses: Option<Box<PageSummary>> ["responses_*"],
        /// The pages of a browser; only of flows with pages, in the row of the first connection.
        #[serde(skip_serializing_if = "Option::is_none")]
        pages: Option<Box<PageSummary>> ["pages_*"],
        /// Fates of messages; only of flows that collect them.
        #[serde(skip_serializing_if = "Option::is_none")]
        messages: Option<Box<MessageSummary>> ["messages_*"],
        /// Fates of the messages of stations and of media with `elfn`; only of flows of TCP where there are some.
        #[serde(skip_serializing_if = "Option::is_none")]
        signals: Option<Box<SignalSummary>> ["signals_*"],
        /// Holes that the receiver accepted; only of flows whose ends agreed on partial reliability.
        #[serde(skip_serializing_if = "Option::is_none")]
        holes: Option<Box<HoleSummary>> ["holes_*"],
    }
}

rows! {
    /// Time of a sender by the limit that held it back. The parts add up to the time from its start to its finish, its failure or the
    /// end of the run.
    #[derive(Copy, PartialEq, Default)]
    pub struct LimitedSeconds {
        /// Time limited by the congestion window.
        cwnd: f64 ["s"],
        /// Time limited by the receiver's window.
        rwnd: f64 ["s"],
        /// Time limited by the application, which had nothing to send, and by opening and closing.
        application: f64 ["s"],
        /// Time limited by pacing.
        pacing: f64 ["s"],
        /// Time of repairs in fast recovery.
        recovery: f64 ["s"],
        /// Time of waiting for a timeout and of repairs after one.
        timeout: f64 ["s"],
    }
}

impl From<Limited> for LimitedSeconds {
    fn from(limited: Limited) -> Self {
        let Limited { cwnd, rwnd, application, pacing, recovery, timeout } = limited;
        let [cwnd, rwnd, application, pacing, recovery, timeout] =
            [cwnd, rwnd, application, pacing, recovery, timeout].map(Duration::as_secs_f64);
        Self { cwnd, rwnd, application, pacing, recovery, timeout }
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
        /// Node where it starts.
        from: String ["", label],
        /// Node where it ends.
        to: String ["", label],
        /// Rate at which bits leave; null where it changes during a run.
        rate_bps: Option<f64> ["bit/s", label],
        /// Bytes transmitted, link-layer headers included.
        carried_bytes: u64 ["B"],
        /// Fraction of the run in which it transmitted; an outage that it notices counts as idle. Of a trace of deliveries
        /// (mahimahi): fraction of the bytes of its opportunities that it carried.
        utilisation: f64 [""],
        /// Packets dropped by the full queue.
        dropped_queue: u64 ["packets"],
        /// Packets that the queue discipline dropped, although there was room.
        dropped_aqm: u64 ["packets", rare 1],
        /// Packets dropped because they were corrupted.
        dropped_error: u64 ["packets"],
        /// Packets that an outage of the link cut or discarded.
        dropped_outage: u64 ["packets", rare 4],
        /// ACKs that the queue thinned out.
        dropped_acks: u64 ["packets", rare 2],
        /// Packets for which a transmitter of a constellation had no far end, or no longer had one while they waited.
        dropped_route: u64 ["packets", rare 3],
        /// Packets that waited at a transmitter of a constellation when it turned away, and went another way.
        withdrawn: u64 ["packets", rare 3],
        /// Packets that the queue discipline marked (ECN).
        marked: u64 ["packets", rare 1],
        /// Copies that the link made of packets.
        duplicated: u64 ["packets", rare 1],
        /// Packets that the link held back, so that later ones could pass.
        reordered: u64 ["packets", rare 1],
        /// Repair packets that the code of the link sent (FEC).
        repair_packets: u64 ["packets", rare 5],
        /// Lost packets that the code of the link gave back; they arrived and are not in `dropped_error` or `dropped_outage`.
        repaired: u64 ["packets", rare 5],
        /// Fraction of the packets sent that were lost in spite of the code, or dropped in outages; null without a code.
        residual_loss: Option<f64> ["", label],
        /// Packets that waited, averaged over time, without the one in transmission.
        mean_queue_packets: f64 ["packets"],
        /// The most packets that waited at once.
        max_queue_packets: u64 ["packets"],
        /// Waiting times of data packets, if the scenario asks for them.
        #[serde(flatten)]
        queueing: Option<Box<Queueing>> ["*"],
    }
}

rows! {
    /// Time that packets with payload waited at a link direction before their transmission, without those that its queue
    /// dropped. Times are null without a packet; quantiles are at most 1.6 % off ([`Waits`]).
    #[derive(Copy, PartialEq)]
    pub struct Queueing {
        /// Packets with payload whose wait is known.
        data_packets: u64 ["packets"],
        /// Mean wait of a data packet.
        mean_wait_s: Option<f64> ["s"],
        /// Median of the waits.
        median_wait_s: Option<f64> ["s"],
        /// 95th percentile of the waits.
        p95_wait_s: Option<f64> ["s"],
        /// 99th percentile of the waits.
        p99_wait_s: Option<f64> ["s"],
        /// The longest wait.
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

/// Facts of a result about its origin.
pub(crate) struct Provenance {
    scenario: Scenario,
    seed: u64,
    flows: Vec<FlowOrigin>,
    flow_names: FlowNames,
    links: LinkOrigins,
    proxies: Vec<ProxyIdentity>,
    legs: Vec<LegIdentity>,
    interfaces: Vec<InterfaceIdentity>,
    nodes: Names,
    /// Whether tables refer to nodes.
    names_nodes: bool,
    /// The time between two samples of positions, if there are any.
    positions: Option<Duration>,
}

impl Provenance {
    pub(crate) fn flow_names(&self) -> Vec<String> {
        let name = |(at, flow)| self.flow_names.get(FlowIndex(at), flow, &self.nodes);
        (0..).zip(&self.flows).map(name).collect()
    }

    pub(crate) fn link_names(&self) -> Vec<String> {
        let interfaces = self.interfaces.iter().map(|interface| interface.name.clone());
        self.links.names(&self.nodes).chain(interfaces).collect()
    }

    pub(crate) fn node_names(&self) -> Vec<String> {
        if self.names_nodes { self.nodes.iter().map(str::to_owned).collect() } else { Vec::new() }
    }

    pub(crate) fn new(scenario: &Scenario, network: &Network, seed: u64) -> Self {
        let nodes = Names::of(network.nodes.iter().map(String::as_str));
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
            interfaces: InterfaceIdentity::all(network),
            positions: scenario.record.positions,
            names_nodes: !network.media.is_empty() || network.space.is_some(),
            nodes,
        }
    }
}

impl RunResult {
    /// Names of the link directions and of interfaces to media, in the order in which tables number them.
    pub fn link_names(&self) -> Vec<&str> {
        let interfaces = self.summary.interfaces.iter().map(|interface| interface.name.as_str());
        match &self.all_links {
            Some(all) => all.iter().map(String::as_str).collect(),
            None => self.summary.links.iter().map(|link| link.name.as_str()).chain(interfaces).collect(),
        }
    }

    /// Names of the nodes, in the order in which tables number them; none where there is neither a medium nor a constellation.
    pub fn node_names(&self) -> Vec<&str> {
        self.nodes.iter().map(String::as_str).collect()
    }

    /// The tables move out of the world; its captures stay there, and its links and connections as `parts` says.
    pub(crate) fn new(
        world: &mut World<impl Tap>,
        provenance: Provenance,
        end: Instant,
        events: u64,
        interrupted: bool,
        parts: Parts,
    ) -> Self {
        let node_names = provenance.node_names();
        let all_links = world.fabric.overhead.as_ref().map(|_| provenance.link_names());
        let over_links: u64 = world.fabric.hops.iter().map(|hop| hop.link.counters().offered).sum();
        let packet_hops = over_links + world.media.as_deref().map_or(0, |media| media.hops);
        let proxies = proxy_summaries(world, provenance.proxies, end);
        let legs = leg_summaries(world, provenance.legs, end);
        let positions = positions(&provenance.interfaces, provenance.positions, end);
        let interfaces = interface_summaries(world.media.as_deref(), provenance.interfaces, end);
        // Where there are media, the ways through a sky are among theirs.
        let over_media = world.media.as_deref_mut().map(|media| std::mem::take(&mut media.paths));
        let through_sky = world.fabric.overhead.as_deref_mut().map(|overhead| std::mem::take(&mut overhead.paths));
        let paths = over_media.or(through_sky).unwrap_or_default();
        let mut responses = Responses::default();
        world.hosts.dialogues.iter().for_each(|dialogue| responses.add(dialogue));
        if parts == Parts::Go {
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
                interfaces,
            },
            trace: std::mem::take(&mut recorder.trace),
            queue: std::mem::take(&mut recorder.queue),
            drops: std::mem::take(&mut recorder.drops),
            acks: std::mem::take(&mut recorder.acks),
            responses,
            paths,
            positions,
            nodes: node_names,
            all_links,
            captures: Vec::new(),
            capture_failure: None,
            interrupted,
            failed: None,
        };
        result.summary.result_hash = result.hash();
        result
    }

    /// XXH3-128 over the summary's numbers and every column, in a fixed order and little-endian.
    fn hash(&self) -> String {
        let mut hash = ColumnHash::default();
        let s = &self.summary;
        hash.text(s.version);
        hash.numbers([s.seed, s.events, s.packet_hops, s.simulated_s.to_bits()]);
        if s.expired_packets > 0 {
            hash.numbers([s.expired_packets]);
        }
        hash_rows(&s.flows, &mut hash);
        hash_rows(&s.links, &mut hash);
        hash_rows(&s.proxies, &mut hash);
        hash_rows(&s.legs, &mut hash);
        hash_rows(&s.interfaces, &mut hash);
        self.trace.hash_into(&mut hash);
        self.queue.hash_into(&mut hash);
        self.drops.hash_into(&mut hash);
        // Only of runs that recorded them: the others keep their hash.
        if self.acks.rows() > 0 {
            self.acks.hash_into(&mut hash);
        }
        if self.responses.rows() > 0 {
            self.responses.hash_into(&mut hash);
        }
        if !s.interfaces.is_empty() || self.paths.rows() > 0 {
            self.paths.hash_into(&mut hash);
            self.positions.hash_into(&mut hash);
        }
        hash.finish()
    }
}

/// The fate of the agenda, the links and the connections of a world whose results are made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parts {
    /// They are needed still.
    Stay,
    /// They go as their summaries come, so that both never stand in memory together.
    Go,
}

/// The last first, so that what they are made of goes from the end of its list. The list itself goes as a whole: to make it
/// shorter would copy it.
fn flow_summaries(
    world: &mut World<impl Tap>,
    (origins, names): (&[FlowOrigin], &FlowNames),
    (nodes, links): (&Names, &LinkOrigins),
    end: Instant,
    parts: Parts,
) -> Rows<FlowSummary> {
    let mut summaries = Rows::with_capacity(origins.len());
    for (index, origin) in origins.iter().enumerate().rev() {
        let flow = FlowIndex(index as u32);
        let name = names.get(flow, origin, nodes);
        let identity = origin.identity(name, world.hosts.congestion(flow), (nodes, links));
        summaries.push_front(flow_summary(world, flow, identity, end));
        if parts == Parts::Go && world.hosts.numbers.datagrams(flow).is_none() {
            world.hosts.truncate(world.hosts.numbers.sender(flow));
        }
    }
    if parts == Parts::Go {
        world.hosts.clear();
    }
    summaries
}

/// As [`flow_summaries`].
fn link_summaries(
    world: &mut World<impl Tap>,
    origins: &LinkOrigins,
    nodes: &Names,
    end: Instant,
    parts: Parts,
) -> Rows<LinkSummary> {
    let mut summaries = Rows::with_capacity(origins.len());
    let sky = world.fabric.overhead.as_ref().map_or(0..0, |overhead| overhead.links());
    for at in (0..origins.len()).rev() {
        let link = &world.fabric.hops[at].link;
        if !sky.contains(&at) || link.counters().offered > 0 {
            summaries.push_front(link_summary(link, (origins, at), nodes, end));
        }
        if parts == Parts::Go {
            world.fabric.hops.truncate(at);
        }
    }
    if parts == Parts::Go {
        world.fabric.hops = Vec::new();
    }
    summaries
}

fn link_summary<B: Clone + Default>(
    link: &Link<B>,
    (origins, at): (&LinkOrigins, usize),
    nodes: &Names,
    end: Instant,
) -> LinkSummary {
    let (totals, counters) = (link.totals(end), link.counters());
    let elapsed = end.as_nanos().max(1) as f64;
    let [from, to] = origins.ends(at).map(|node| nodes.of_node(node).to_owned());
    LinkSummary {
        name: origins.name(at, nodes),
        from,
        to,
        rate_bps: origins.is_steady(at).then(|| link.config().rate.as_bps() as f64),
        carried_bytes: totals.carried_bytes,
        utilisation: totals.busy as f64 / elapsed,
        dropped_queue: counters.dropped_queue,
        dropped_aqm: counters.dropped_aqm,
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
        mean_queue_packets: totals.queued as f64 / elapsed,
        max_queue_packets: counters.max_queue,
        queueing: link.waits().map(|waits| Box::new(Queueing::new(waits))),
    }
}

/// Fraction of the packets at the far end of a link that stayed lost.
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
        Outcome::Finished(at) => Some(at),
        Outcome::Unfinished | Outcome::Failed(_) => None,
    };
    let statistics = sender.inspect().statistics();
    let failure = match world.hosts.outcomes.of(flow) {
        Outcome::Failed(failure) => Some(failure.reason()),
        Outcome::Unfinished | Outcome::Finished(_) => None,
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
        datagrams: None,
        responses: pages.filter(|_| !identity.is_web).map(Box::new),
        pages: pages.filter(|_| identity.is_web).map(Box::new),
        messages: MessageSummary::of(world, flow).map(Box::new),
        signals: SignalSummary::of(world, flow).map(Box::new),
        holes: HoleSummary::of(world, flow).map(Box::new),
    }
}

/// Every table of a run, in the order of a results folder.
pub fn dictionary() -> Vec<Table> {
    fn rows<R: Row>(name: &'static str) -> Table {
        let columns = R::columns().into_iter().map(|column| column.about).collect();
        Table { name, meaning: R::meaning(), columns }
    }
    fn recorded<T: Recorded>(name: &'static str) -> Table {
        Table { name, meaning: T::meaning(), columns: T::columns() }
    }
    vec![
        rows::<FlowSummary>("flows"),
        rows::<LinkSummary>("links"),
        recorded::<Trace>("trace"),
        recorded::<QueueSamples>("queue"),
        recorded::<Drops>("drops"),
        recorded::<Acks>("acks"),
        recorded::<Responses>("responses"),
        rows::<ProxySummary>("proxies"),
        rows::<LegSummary>("legs"),
        rows::<InterfaceSummary>("interfaces"),
        recorded::<Paths>("paths"),
        recorded::<Positions>("positions"),
    ]
}
