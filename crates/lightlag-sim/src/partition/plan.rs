//! Plans the partitions of a network.
//!
//! Nodes whose parts of the world share state stay in one partition. So do the two nodes of a link that is short or
//! lets packets overtake each other. The planner tries several link delays as the minimum delay to cut. For each it
//! packs the connected components that remain ([`Pieces`]) into partitions, one for each lane. It selects the cut with
//! the shortest expected run time, which depends on the work of the busiest lane, the packets that cross its border,
//! and the synchronisation after each round. Then lanes with less work take components from the partitions of other
//! lanes, along shorter links, if that shortens the expected run time.

use crate::border::partitioning::{FOREVER, Partitioning};
use crate::fabric::Fabric;
use crate::hosts::{Hosts, tcp};
use crate::ids::FlowIndex;
use crate::partition::pack::Pieces;
use lightlag_core::{Duration, Instant};
use lightlag_net::{Link, LinkId, NodeId};
use lightlag_scenario::{Network, Transport};
use lightlag_traffic::Traffic;
use std::collections::{BTreeMap, BTreeSet};

/// The use of a machine's cores by a run. The results do not depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parallel {
    /// Maximum number of lanes. A lane is a group of partitions that one thread runs in turn.
    pub lanes: usize,
    /// Number of threads that run the lanes.
    pub threads: usize,
    /// Whether to partition the network even if no speed-up is expected.
    pub always: bool,
}

impl Parallel {
    /// One thread, without partitioning.
    pub const ALONE: Self = Self { lanes: 1, threads: 1, always: false };

    /// Returns the setting for `threads` threads, with one lane for each. The network is partitioned only if that is
    /// expected to shorten the run.
    pub fn on(threads: usize) -> Self {
        Self { lanes: threads, threads, always: false }
    }
}

/// Seconds to handle an event. The value lies between the measurements of `dumbbell-8` and `many-1000` in
/// `docs/performance.md`.
const EVENT: f64 = 60e-9;
/// Seconds that a packet costs on each side of a border, in addition to its events: it is posted, and is then read from
/// the cache of another core.
const CROSSING: f64 = 20e-9;
/// Seconds to wait for other threads after a round, roughly the time that a blocked thread takes to start again.
const ROUND: f64 = 20e-6;
/// Seconds that each partition takes per window of a round to check the other partitions and to post packets.
const WINDOW: f64 = 0.5e-6;
/// Seconds per window that a lane waits for each other lane that sends to it in every window. On 16 cores of a Xeon,
/// `dumbbell-8` in four lanes, of which three wait for the fourth, took 2 µs per window in addition to its work, and
/// `multi-dumbbell-64` in sixteen lanes took 3 to 5 µs.
const WAIT: f64 = 1e-6;

/// Maximum number of delays to try. Without this limit, the time to find the cut would grow with the number of delays
/// times the size of the network.
const DELAYS: usize = 16;

/// Minimum expected speed-up over one thread for which the network is partitioned.
const WORTH: f64 = 1.1;

/// Work at the sender of a flow, and then at its receiver, per data packet with its ACK. The unit is packet-hops, and
/// the hops of these packets are not included. `many-1000` in two partitions took 330 ns per pair at the senders and
/// 240 ns at the receivers.
const SENDING: f64 = 2.5;
const RECEIVING: f64 = 1.3;

/// Reason why a network is not partitioned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NotPartitioned {
    /// One lane was configured.
    Asked,
    /// Packets are captured.
    Captured,
    /// Stations notify endpoints about links (SCPS-TP).
    Stations,
    /// A proxy crashes during the run.
    Crashes,
    /// Nodes share a radio medium.
    Radio,
    /// Satellites forward packets of all nodes.
    Sky,
    /// Packets pass through a tunnel.
    Tunnels,
    /// A custom algorithm is used.
    Custom,
    /// No link can be cut.
    Connected,
    /// No cut shortens the expected run time.
    NotWorth,
}

impl NotPartitioned {
    /// Returns the reason as text.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Asked => "one partition was requested",
            Self::Captured => "its packets are captured in the order of the entire network",
            Self::Stations => "stations notify the endpoints of its flows about links",
            Self::Crashes => "one of its proxies crashes",
            Self::Radio => "its nodes share a radio medium, which reaches them all within a microsecond",
            Self::Sky => "its nodes share a constellation, whose links change their endpoints",
            Self::Tunnels => "packets pass through a tunnel, whose two ends share them",
            Self::Custom => "it uses a custom algorithm, which may end the run for all partitions",
            Self::Connected => {
                "no link that has a delay and preserves packet order separates flows that share nothing else"
            }
            Self::NotWorth => {
                "no cut is expected to shorten the run: the delays are too short for the work between exchanges"
            }
        }
    }
}

/// Cuts a network into at most `parallel.lanes` partitions.
pub(crate) fn cut<B: Clone + Default + Send + 'static>(
    network: &Network,
    fabric: &Fabric<B>,
    hosts: &Hosts,
    parallel: Parallel,
) -> Result<Partitioning, NotPartitioned> {
    if let Some(reason) = obstacle(network, parallel) {
        return Err(reason);
    }
    let together = together(network);
    let crossings = crossings(network, fabric);
    let thresholds = thresholds(crossings.iter().flatten().copied().filter(|delay| !delay.is_zero()).collect());
    let work = work(network);
    let all: f64 = work.nodes.iter().sum::<f64>() * EVENT;
    let pieces_at = |threshold: Duration| {
        let names = pieces(network, together.clone(), &crossings, threshold);
        let links = network.links.iter().zip(&work.links);
        let links = links.map(|(link, packets)| (link.from.0 as usize, link.to.0 as usize, *packets));
        Pieces::new(&names, &work.nodes, links)
    };
    let computed: Vec<bool> = fabric.hops.iter().map(|hop| matches!(hop.link, Link::Computed(_))).collect();
    let new =
        |homes: &[u16], lanes: &[u16]| Partitioning::new(network, hosts, homes, lanes, (&computed, &crossings), &work);
    let mut best: Option<(f64, Partitioning)> = None;
    for threshold in thresholds.iter().rev() {
        let pieces = pieces_at(*threshold);
        for lanes in 2..=parallel.lanes {
            let is_used = |nodes: &Vec<u16>| (0..lanes).all(|lane| nodes.contains(&(lane as u16)));
            let cuts = pieces.packed(lanes).into_iter().filter(is_used).map(|nodes| new(&nodes, &nodes));
            let Some(cut) = cuts.min_by(|one, other| one.seconds().total_cmp(&other.seconds())) else { break };
            // If forced, take the maximum number of partitions, over the longest links.
            let rank = if parallel.always { lanes as f64 } else { all / cut.seconds() };
            if best.as_ref().is_none_or(|(before, _)| rank > *before) {
                best = Some((rank, cut));
            }
        }
    }
    let Some((_, coarse)) = best else { return Err(NotPartitioned::Connected) };
    // Lanes with less work take over components of other lanes' partitions.
    let finer = thresholds.into_iter().filter(|threshold| *threshold < coarse.window()).map(|threshold| {
        let lanes = pieces_at(threshold).shared_out(&coarse.nodes, parallel.lanes, EVENT, CROSSING);
        new(&coarse.nodes, &lanes)
    });
    let rank = |cut: &Partitioning| if parallel.always { -(cut.partitions() as f64) } else { cut.seconds() };
    let cut = finer.fold(coarse.clone(), |best, cut| if rank(&cut) < rank(&best) { cut } else { best });
    if !parallel.always && all / cut.seconds() < WORTH { Err(NotPartitioned::NotWorth) } else { Ok(cut) }
}

/// Returns up to [`DELAYS`] delays to try as the minimum delay to cut, in ascending order. Selects the delays with the
/// largest ratio to the next shorter one.
fn thresholds(mut delays: Vec<Duration>) -> Vec<Duration> {
    delays.sort_unstable();
    delays.dedup();
    let shorter = std::iter::once(Duration::ZERO).chain(delays.iter().copied());
    let mut gaps: Vec<(f64, Duration)> = delays
        .iter()
        .zip(shorter)
        .map(|(delay, shorter)| (delay.as_secs_f64() / shorter.as_secs_f64(), *delay))
        .collect();
    gaps.sort_by(|one, other| other.0.total_cmp(&one.0).then(other.1.cmp(&one.1)));
    gaps.truncate(DELAYS);
    let mut longest: Vec<Duration> = gaps.into_iter().map(|(_, delay)| delay).collect();
    longest.sort_unstable();
    longest
}

/// Returns the reason that excludes partitioning regardless of the links, if there is one.
fn obstacle(network: &Network, parallel: Parallel) -> Option<NotPartitioned> {
    let obstacles = [
        (parallel.lanes < 2, NotPartitioned::Asked),
        (network.captures.is_some(), NotPartitioned::Captured),
        (network.links.iter().any(|link| link.signals.is_some()), NotPartitioned::Stations),
        (network.proxies.iter().any(|proxy| proxy.crash.is_some()), NotPartitioned::Crashes),
        (!network.media.is_empty(), NotPartitioned::Radio),
        (network.space.is_some(), NotPartitioned::Sky),
        (!network.tunnels.is_empty(), NotPartitioned::Tunnels),
        (network.has_custom_algorithms(), NotPartitioned::Custom),
    ];
    obstacles.into_iter().find_map(|(is_there, reason)| is_there.then_some(reason))
}

impl Partitioning {
    /// Returns the partitioning that places nodes in the same partition if they have the same home and the same lane.
    fn new(
        network: &Network,
        hosts: &Hosts,
        homes: &[u16],
        lanes: &[u16],
        (computed, crossings): (&[bool], &[Option<Duration>]),
        work: &ExpectedWork,
    ) -> Self {
        let (nodes, lanes) = numbered(network, homes, lanes, crossings);
        let part_of = |node: NodeId| nodes[node.0 as usize];
        let links: Vec<[u16; 2]> = network.links.iter().map(|link| [part_of(link.from), part_of(link.to)]).collect();
        let stands = links.iter().zip(computed).map(|([from, to], is_computed)| if *is_computed { *to } else { *from });
        let stands = stands.collect();
        let is_cut = |link: &usize| links[*link][0] != links[*link][1];
        let mut sources: Vec<BTreeMap<u16, Duration>> = vec![BTreeMap::new(); lanes.len()];
        for link in (0..links.len()).filter(is_cut) {
            let ([from, to], least) = (links[link], crossings[link].unwrap_or_default());
            sources[usize::from(to)].entry(from).and_modify(|known| *known = (*known).min(least)).or_insert(least);
        }
        let window = sources.iter().flat_map(BTreeMap::values).copied().fold(FOREVER, Duration::min);
        let endpoints: Vec<u16> = hosts.ports().map(|(_, port)| part_of(port.node)).collect();
        let ends_elsewhere = hosts.ports().map(|(_, port)| port).zip(&endpoints);
        let ends_elsewhere =
            ends_elsewhere.map(|(end, here)| end.role.sends() && endpoints[end.peer.index()] != *here).collect();
        let mut is_followed = vec![false; endpoints.len()];
        for (endpoint, end) in hosts.ports().filter(|(_, end)| end.role.sends()) {
            let receiver = hosts.numbers.receiver(end.flow).index();
            is_followed[receiver] |= endpoints[receiver] != endpoints[endpoint.index()];
        }
        let of_udp = network.flows.iter().filter(|flow| flow.transport == Transport::Udp);
        let datagrams = of_udp.map(|flow| [part_of(flow.from), part_of(flow.to)]).collect();
        let (mut sums, mut crossing) = (vec![0.0; lanes.len()], vec![0.0; lanes.len()]);
        nodes.iter().zip(&work.nodes).for_each(|(partition, work)| sums[usize::from(*partition)] += work);
        for link in (0..links.len()).filter(is_cut) {
            links[link].iter().for_each(|partition| crossing[usize::from(*partition)] += work.links[link]);
        }
        let (work, sources) = (sums, sources.into_iter().map(|of| of.into_iter().collect()).collect());
        Self {
            links,
            stands,
            endpoints,
            datagrams,
            ends_elsewhere,
            is_followed,
            lanes,
            sources,
            window,
            work,
            crossing,
            nodes,
        }
    }

    /// Returns the expected run time, in seconds per simulated second.
    fn seconds(&self) -> f64 {
        let (window, round) = (self.window().as_secs_f64(), self.round());
        let mut busy = vec![0.0; self.lanes()];
        let mut near = BTreeSet::new();
        for (partition, (work, crossing)) in self.work.iter().zip(&self.crossing).enumerate() {
            let lane = self.lane(partition);
            busy[lane] += work * EVENT + crossing * CROSSING;
            if window < round.as_secs_f64() {
                busy[lane] += WINDOW / window;
                let sources = self.sources(partition as u16).filter(|(_, least)| *least < round);
                near.extend(sources.map(|(from, _)| (lane, self.lane(usize::from(from)))));
            }
        }
        near.into_iter().filter(|(lane, other)| lane != other).for_each(|(lane, _)| busy[lane] += WAIT / window);
        busy.into_iter().fold(0.0, f64::max) + ROUND / round.as_secs_f64()
    }
}

/// Returns the partition of each node, and the lane of each partition. The partitions of a lane have adjacent indices,
/// starting with the one whose packets reach other lanes soonest.
fn numbered(network: &Network, homes: &[u16], lanes: &[u16], crossings: &[Option<Duration>]) -> (Vec<u16>, Vec<u16>) {
    let assignments: Vec<(u16, u16)> = lanes.iter().copied().zip(homes.iter().copied()).collect();
    let mut soonest: BTreeMap<(u16, u16), Duration> = assignments.iter().map(|place| (*place, FOREVER)).collect();
    for (link, crossing) in network.links.iter().zip(crossings) {
        let [from, to] = [link.from, link.to].map(|node| assignments[node.0 as usize]);
        if from != to {
            soonest.entry(from).and_modify(|soonest| *soonest = (*soonest).min(crossing.unwrap_or_default()));
        }
    }
    let mut order: Vec<(u16, Duration, u16)> =
        soonest.into_iter().map(|((lane, home), soonest)| (lane, soonest, home)).collect();
    order.sort_unstable();
    let numbers: BTreeMap<(u16, u16), u16> =
        (0..).zip(&order).map(|(number, (lane, _, home))| ((*lane, *home), number)).collect();
    let nodes = assignments.iter().map(|place| numbers[place]).collect();
    (nodes, order.into_iter().map(|(lane, ..)| lane).collect())
}

/// Disjoint sets of nodes, each identified by one of its members.
#[derive(Clone)]
struct Sets(Vec<u32>);

impl Sets {
    fn find(&mut self, NodeId(node): NodeId) -> u32 {
        let mut root = node;
        while self.0[root as usize] != root {
            root = self.0[root as usize];
        }
        let mut current = node;
        while self.0[current as usize] != root {
            current = std::mem::replace(&mut self.0[current as usize], root);
        }
        root
    }

    /// Merges two sets. The member with the minimum ID identifies the set.
    fn unite(&mut self, one: NodeId, other: NodeId) {
        let (one, other) = (self.find(one), self.find(other));
        self.0[one.max(other) as usize] = one.min(other);
    }
}

/// Returns the sets of nodes that share state, because part of one node reads the state of another node.
fn together(network: &Network) -> Sets {
    let mut sets = Sets((0..network.nodes.len() as u32).collect());
    for flow in &network.flows {
        let is_tcp = flow.transport == Transport::Tcp;
        // Both endpoints of a dialogue hold the requests; a sink reads how much arrived at the other endpoint; a
        // receiver that skips holes waits for the end of the flow; both hosts hold a cookie.
        let collects = flow.traffic.collects().is_some();
        let skips = flow.configs().any(|config| tcp::skips_holes(config));
        let has_cookie = is_tcp && flow.configs().any(|config| tcp::has_cookie(config));
        if collects || skips || has_cookie || flow.traffic.is_dialogue() {
            sets.unite(flow.from, flow.to);
        }
    }
    for split in &network.splits {
        let (flow, proxy) = (&network.flows[split.flow as usize], &network.proxies[split.proxy as usize]);
        let has_cookie = [&proxy.client, &proxy.server].iter().any(|config| tcp::has_cookie(config));
        // A failure at the proxy ends a dialogue immediately.
        if has_cookie || flow.traffic.is_dialogue() {
            sets.unite(flow.from, proxy.node);
            sets.unite(flow.to, proxy.node);
        }
    }
    sets
}

/// Returns the minimum time that packets spend on each link, in either direction; `None` for a link that cannot be cut.
fn crossings<B: Clone + Default + Send + 'static>(network: &Network, fabric: &Fabric<B>) -> Vec<Option<Duration>> {
    let least = |at: usize| fabric.hops[at].link.least_crossing().filter(|delay| !delay.is_zero());
    let pair = |at: usize| Some(least(at & !1)?.min(least(at | 1)?));
    (0..network.links.len()).map(pair).collect()
}

/// Returns, for each node, the node that identifies its component if all links with a delay of at least `threshold` are
/// cut.
fn pieces(network: &Network, mut sets: Sets, crossings: &[Option<Duration>], threshold: Duration) -> Vec<u32> {
    for (link, crossing) in network.links.iter().zip(crossings) {
        if crossing.is_none_or(|delay| delay < threshold) {
            sets.unite(link.from, link.to);
        }
    }
    (0..network.nodes.len() as u32).map(|node| sets.find(NodeId(node))).collect()
}

/// The expected work of a network.
struct ExpectedWork {
    /// Work at each node, in packet-hops per second.
    nodes: Vec<f64>,
    /// Load of each link direction, in packets per second.
    links: Vec<f64>,
}

/// Returns the expected work, assuming that the flows on each link have equal rates.
fn work(network: &Network) -> ExpectedWork {
    let mut ways = Ways::new(network);
    let mut crowd = vec![0.0_f64; network.links.len()];
    for flow in &network.flows {
        ways.of(flow.from, flow.to).iter().for_each(|link| crowd[link.0 as usize] += 1.0);
    }
    let mut work = ExpectedWork { nodes: vec![1e-3; network.nodes.len()], links: vec![0.0; network.links.len()] };
    for flow in &network.flows {
        let there = ways.of(flow.from, flow.to);
        let share = |link: &LinkId| network.links[link.0 as usize].rate.as_bps() as f64 / crowd[link.0 as usize];
        let rate = there.iter().map(share).fold(f64::INFINITY, f64::min);
        let offered = match flow.traffic.stream() {
            Some(stream) => stream.rate.as_bps() as f64,
            None if matches!(*flow.traffic, Traffic::Custom(_)) => f64::INFINITY,
            None if flow.traffic.has_messages() => 1e4,
            None => f64::INFINITY,
        };
        let segment = flow.quic.as_ref().map_or(flow.tcp.mss, |ends| ends.sender.datagram);
        let packets = rate.min(offered) / 8.0 / f64::from(segment.max(1));
        work.nodes[flow.from.0 as usize] += SENDING * packets;
        work.nodes[flow.to.0 as usize] += RECEIVING * packets;
        let back = if flow.transport.has_connections() { ways.of(flow.to, flow.from) } else { Vec::new() };
        for link in there.iter().chain(&back) {
            work.nodes[network.links[link.0 as usize].to.0 as usize] += packets;
            work.links[link.0 as usize] += packets;
        }
    }
    work
}

/// Cache of the paths through a network.
pub(crate) struct Ways<'a> {
    network: &'a Network,
    known: BTreeMap<(u32, u32), Vec<LinkId>>,
}

impl<'a> Ways<'a> {
    pub(crate) fn new(network: &'a Network) -> Self {
        Self { network, known: BTreeMap::new() }
    }

    pub(crate) fn of(&mut self, from: NodeId, to: NodeId) -> Vec<LinkId> {
        let find = || self.network.routes.at_start().path(from, to).unwrap_or_default();
        self.known.entry((from.0, to.0)).or_insert_with(find).clone()
    }
}

/// A flow that shows that a run continues, because the run cannot end before the flow's transfer is complete.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Witness {
    pub(crate) flow: FlowIndex,
    pub(crate) start: Instant,
    /// Bytes of payload; `None` if unknown before the run.
    pub(crate) transfer: Option<u64>,
    /// One-way delay from the flow's sender to its receiver.
    pub(crate) delay: Duration,
    /// Rate of the slowest link on the flow's path in bit/s; `None` if a link changes its rate.
    pub(crate) rate: Option<u64>,
}

/// Returns the flows that the run waits for.
pub(crate) fn guards<B: Clone + Default>(network: &Network, fabric: &Fabric<B>) -> Vec<Witness> {
    let mut ways = Ways::new(network);
    let finite = (0..).map(FlowIndex).zip(&network.flows).filter(|(_, flow)| flow.is_finite());
    let guard = |(flow, spec): (FlowIndex, &lightlag_scenario::Flow)| {
        let way = ways.of(spec.from, spec.to);
        let crossing = |link: &LinkId| fabric.hops[link.0 as usize].link.least_crossing().unwrap_or_default();
        let steady = |link: &LinkId| {
            let link = &network.links[link.0 as usize];
            link.is_steady(Instant::MAX).then_some(link.rate.as_bps())
        };
        let rates: Option<Vec<u64>> = way.iter().map(steady).collect();
        Witness {
            flow,
            start: spec.start,
            transfer: spec.transfer.map(|bytes| bytes.0),
            delay: way.iter().map(crossing).fold(Duration::ZERO, |sum, delay| sum + delay),
            rate: rates.and_then(|rates| rates.into_iter().min()),
        }
    };
    finite.map(guard).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_after_the_longest_gaps_are_tried() {
        let micros = |list: &[u64]| list.iter().map(|micros| Duration::from_micros(*micros)).collect::<Vec<_>>();
        assert_eq!(thresholds(micros(&[48_000, 1_000, 1_000, 48_000])), micros(&[1_000, 48_000]));
        assert!(thresholds(Vec::new()).is_empty());
        let many: Vec<u64> = (1_000..1_500).chain(40_000..40_500).collect();
        let tried = thresholds(micros(&many));
        assert_eq!(tried.len(), DELAYS);
        assert!(tried.is_sorted() && tried.contains(&Duration::from_micros(40_000)), "{tried:?}");
        assert_eq!(tried[0], Duration::from_micros(1_000));
    }
}
