//! The cut of a network.
//!
//! Nodes whose parts of the world share a state stay together, and so do those at the two ends of a link on which packets may
//! overtake or that is short. Delays that links have are tried as the shortest one to be cut: what is then still in one
//! piece is packed into partitions ([`Pieces`]), one for each lane. Of all these the cut is taken that promises the shortest run: the
//! work of the busiest lane, the packets that cross its border, and the waiting for each other after each round. Then lanes that
//! have less to do than others take over pieces of their partitions, along shorter links, if that promises more.

use crate::border::cut::{Cut, FOREVER};
use crate::fabric::Fabric;
use crate::hosts::{Hosts, tcp};
use crate::ids::FlowIndex;
use crate::partition::pack::Pieces;
use lightlag_core::{Duration, Instant};
use lightlag_net::{Link, LinkId, NodeId};
use lightlag_scenario::{Network, Traffic, Transport};
use std::collections::{BTreeMap, BTreeSet};

/// Use of the cores of a machine by a run. Its results do not depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parallel {
    /// Lanes at most. A lane is one partition or several, which a thread runs in turns.
    pub lanes: usize,
    /// Threads that run them.
    pub threads: usize,
    /// Whether to cut even where that promises nothing.
    pub always: bool,
}

impl Parallel {
    /// The network whole, on one thread.
    pub const ALONE: Self = Self { lanes: 1, threads: 1, always: false };

    /// A lane for each of so many threads, if the network can be cut well.
    pub fn on(threads: usize) -> Self {
        Self { lanes: threads, threads, always: false }
    }
}

/// Seconds to handle an event: between those of `dumbbell-8` and `many-1000` in `docs/performance.md`.
const EVENT: f64 = 60e-9;
/// Seconds that a packet costs on each side of a border, beside its events: to be posted, and to be read in another core's cache.
const CROSSING: f64 = 20e-9;
/// Seconds to wait for other threads after a round: the order of magnitude of waking a thread.
const ROUND: f64 = 20e-6;
/// Seconds that each partition takes for a window of a round: to look at the others and to post.
const WINDOW: f64 = 0.5e-6;
/// Seconds that a lane waits after each such window for each other lane that sends to it in every window. On 16 cores of a Xeon,
/// `dumbbell-8` in four lanes, three of which wait for the fourth, took 2 µs more for a window than its work, and
/// `multi-dumbbell-64` in sixteen took 3 to 5.
const WAIT: f64 = 1e-6;

/// Delays that are tried at most: of a network with more, the time to find its cut would grow with their number times its size.
const DELAYS: usize = 16;

/// A cut promises less than this times the speed of one thread: then it is not worth it.
const WORTH: f64 = 1.1;

/// Work at the two ends of a flow for each packet with data and its ACK, in packet-hops beside their own: `many-1000` in two
/// partitions took 330 ns for each pair where its senders are, and 240 where its receivers are.
const SENDING: f64 = 2.5;
const RECEIVING: f64 = 1.3;

/// The reason for which a network stays whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Whole {
    /// One lane was asked for.
    Asked,
    /// Packets are captured.
    Captured,
    /// Stations tell the ends of flows about links.
    Stations,
    /// A proxy crashes.
    Crashes,
    /// Nodes share a radio medium.
    Radio,
    /// Satellites take packets of all nodes.
    Sky,
    /// An algorithm comes from outside.
    Own,
    /// No link can be cut.
    Connected,
    /// No cut promises a shorter run.
    NotWorth,
}

impl Whole {
    /// The reason, in words.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Asked => "one partition was asked for",
            Self::Captured => "its packets are captured, in the order of the whole network",
            Self::Stations => "stations tell the ends of its flows about links",
            Self::Crashes => "a proxy of it crashes",
            Self::Radio => "its nodes share a radio medium, which reaches them all within a microsecond",
            Self::Sky => "its nodes share a constellation, whose links change their ends",
            Self::Own => "an algorithm of it is not lightlag's, and may end the run for all of them",
            Self::Connected => {
                "no link with a delay, on which packets keep their order, divides it between flows that share nothing else"
            }
            Self::NotWorth => "no cut promises a shorter run: the delays are too short for the work between them",
        }
    }
}

/// Cuts a network into at most so many partitions.
pub(crate) fn cut<B: Clone + Default + Send + 'static>(
    network: &Network,
    fabric: &Fabric<B>,
    hosts: &Hosts,
    asked: Parallel,
) -> Result<Cut, Whole> {
    if let Some(reason) = obstacle(network, asked) {
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
    let new = |homes: &[u16], lanes: &[u16]| Cut::new(network, hosts, homes, lanes, (&computed, &crossings), &work);
    let mut best: Option<(f64, Cut)> = None;
    for threshold in thresholds.iter().rev() {
        let pieces = pieces_at(*threshold);
        for lanes in 2..=asked.lanes {
            let is_used = |nodes: &Vec<u16>| (0..lanes).all(|lane| nodes.contains(&(lane as u16)));
            let cuts = pieces.packed(lanes).into_iter().filter(is_used).map(|nodes| new(&nodes, &nodes));
            let Some(cut) = cuts.min_by(|one, other| one.seconds().total_cmp(&other.seconds())) else { break };
            // Forced: as many partitions as there can be, over the longest links.
            let rank = if asked.always { lanes as f64 } else { all / cut.seconds() };
            if best.as_ref().is_none_or(|(before, _)| rank > *before) {
                best = Some((rank, cut));
            }
        }
    }
    let Some((_, coarse)) = best else { return Err(Whole::Connected) };
    // Lanes that have less to do take over pieces of the partitions of others.
    let finer = thresholds.into_iter().filter(|threshold| *threshold < coarse.window()).map(|threshold| {
        let lanes = pieces_at(threshold).shared_out(&coarse.nodes, asked.lanes, EVENT, CROSSING);
        new(&coarse.nodes, &lanes)
    });
    let rank = |cut: &Cut| if asked.always { -(cut.partitions() as f64) } else { cut.seconds() };
    let cut = finer.fold(coarse.clone(), |best, cut| if rank(&cut) < rank(&best) { cut } else { best });
    if !asked.always && all / cut.seconds() < WORTH { Err(Whole::NotWorth) } else { Ok(cut) }
}

/// The delays that are tried as the shortest to be cut, in their order: at most [`DELAYS`], those that are longest beside the next
/// shorter one.
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

/// Why a network is not cut, whatever its links are like.
fn obstacle(network: &Network, asked: Parallel) -> Option<Whole> {
    let obstacles = [
        (asked.lanes < 2, Whole::Asked),
        (network.captures.is_some(), Whole::Captured),
        (network.links.iter().any(|link| link.signals.is_some()), Whole::Stations),
        (network.proxies.iter().any(|proxy| proxy.crash.is_some()), Whole::Crashes),
        (!network.media.is_empty(), Whole::Radio),
        (network.space.is_some(), Whole::Sky),
        (network.has_own_algorithms(), Whole::Own),
    ];
    obstacles.into_iter().find_map(|(is_there, reason)| is_there.then_some(reason))
}

impl Cut {
    /// The cut in which nodes are in one partition if they have the same home and the same lane.
    fn new(
        network: &Network,
        hosts: &Hosts,
        homes: &[u16],
        lanes: &[u16],
        (computed, crossings): (&[bool], &[Option<Duration>]),
        work: &Work,
    ) -> Self {
        let (nodes, lanes) = numbered(network, homes, lanes, crossings);
        let of = |node: NodeId| nodes[node.0 as usize];
        let links: Vec<[u16; 2]> = network.links.iter().map(|link| [of(link.from), of(link.to)]).collect();
        let stands = links.iter().zip(computed).map(|([from, to], is_computed)| if *is_computed { *to } else { *from });
        let stands = stands.collect();
        let is_cut = |link: &usize| links[*link][0] != links[*link][1];
        let mut sources: Vec<BTreeMap<u16, Duration>> = vec![BTreeMap::new(); lanes.len()];
        for link in (0..links.len()).filter(is_cut) {
            let ([from, to], least) = (links[link], crossings[link].unwrap_or_default());
            sources[usize::from(to)].entry(from).and_modify(|known| *known = (*known).min(least)).or_insert(least);
        }
        let window = sources.iter().flat_map(BTreeMap::values).copied().fold(FOREVER, Duration::min);
        let endpoints: Vec<u16> = hosts.ports().map(|(_, port)| of(port.node)).collect();
        let ends_elsewhere = hosts.ports().map(|(_, port)| port).zip(&endpoints);
        let ends_elsewhere =
            ends_elsewhere.map(|(end, here)| end.role.sends() && endpoints[end.peer.index()] != *here).collect();
        let mut is_followed = vec![false; endpoints.len()];
        for (at, end) in hosts.ports().filter(|(_, end)| end.role.sends()) {
            let receiver = hosts.numbers.receiver(end.flow).index();
            is_followed[receiver] |= endpoints[receiver] != endpoints[at.index()];
        }
        let of_udp = network.flows.iter().filter(|flow| flow.transport == Transport::Udp);
        let datagrams = of_udp.map(|flow| [of(flow.from), of(flow.to)]).collect();
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

    /// Seconds that a second of the network is expected to take.
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

/// The partition of each node, and the lane of each partition. Those of a lane are neighbours, and the one of which others hear
/// soonest is the first.
fn numbered(network: &Network, homes: &[u16], lanes: &[u16], crossings: &[Option<Duration>]) -> (Vec<u16>, Vec<u16>) {
    let places: Vec<(u16, u16)> = lanes.iter().copied().zip(homes.iter().copied()).collect();
    let mut soonest: BTreeMap<(u16, u16), Duration> = places.iter().map(|place| (*place, FOREVER)).collect();
    for (link, crossing) in network.links.iter().zip(crossings) {
        let [from, to] = [link.from, link.to].map(|node| places[node.0 as usize]);
        if from != to {
            soonest.entry(from).and_modify(|soonest| *soonest = (*soonest).min(crossing.unwrap_or_default()));
        }
    }
    let mut order: Vec<(u16, Duration, u16)> =
        soonest.into_iter().map(|((lane, home), soonest)| (lane, soonest, home)).collect();
    order.sort_unstable();
    let numbers: BTreeMap<(u16, u16), u16> =
        (0..).zip(&order).map(|(number, (lane, _, home))| ((*lane, *home), number)).collect();
    let nodes = places.iter().map(|place| numbers[place]).collect();
    (nodes, order.into_iter().map(|(lane, ..)| lane).collect())
}

/// Sets of nodes, each known by one of its members.
#[derive(Clone)]
struct Sets(Vec<u32>);

impl Sets {
    fn find(&mut self, NodeId(node): NodeId) -> u32 {
        let mut root = node;
        while self.0[root as usize] != root {
            root = self.0[root as usize];
        }
        let mut at = node;
        while self.0[at as usize] != root {
            at = std::mem::replace(&mut self.0[at as usize], root);
        }
        root
    }

    /// The least member stands for the set.
    fn unite(&mut self, one: NodeId, other: NodeId) {
        let (one, other) = (self.find(one), self.find(other));
        self.0[one.max(other) as usize] = one.min(other);
    }
}

/// Nodes that share a state, because something at one of them looks at the other.
fn together(network: &Network) -> Sets {
    let mut sets = Sets((0..network.nodes.len() as u32).collect());
    for flow in &network.flows {
        let is_tcp = flow.transport == Transport::Tcp;
        // Both ends of a dialogue know what was asked for; a sink reads what arrived at the other end; who does without what
        // is missing waits for the end of the flow; a cookie is known to both hosts.
        let collects = matches!(*flow.traffic, Traffic::Collect(_));
        let skips = flow.configs().any(|config| tcp::skips_holes(config));
        let has_cookie = is_tcp && flow.configs().any(|config| tcp::has_cookie(config));
        if collects || skips || has_cookie || flow.traffic.is_dialogue() {
            sets.unite(flow.from, flow.to);
        }
    }
    for split in &network.splits {
        let (flow, proxy) = (&network.flows[split.flow as usize], &network.proxies[split.proxy as usize]);
        if [&proxy.client, &proxy.server].iter().any(|config| tcp::has_cookie(config)) {
            sets.unite(flow.from, proxy.node);
            sets.unite(flow.to, proxy.node);
        }
    }
    sets
}

/// The least time that packets spend on each link, over both of its directions; `None` where it cannot be cut.
fn crossings<B: Clone + Default + Send + 'static>(network: &Network, fabric: &Fabric<B>) -> Vec<Option<Duration>> {
    let least = |at: usize| fabric.hops[at].link.least_crossing().filter(|delay| !delay.is_zero());
    let pair = |at: usize| Some(least(at & !1)?.min(least(at | 1)?));
    (0..network.links.len()).map(pair).collect()
}

/// The pieces that are left when all links of at least this delay are cut: of each node, the one that stands for its piece.
fn pieces(network: &Network, mut sets: Sets, crossings: &[Option<Duration>], threshold: Duration) -> Vec<u32> {
    for (link, crossing) in network.links.iter().zip(crossings) {
        if crossing.is_none_or(|delay| delay < threshold) {
            sets.unite(link.from, link.to);
        }
    }
    (0..network.nodes.len() as u32).map(|node| sets.find(NodeId(node))).collect()
}

/// Expected work.
struct Work {
    /// At each node, in packet-hops a second.
    nodes: Vec<f64>,
    /// On each link direction, in packets a second.
    links: Vec<f64>,
}

/// The work of a network in which each flow gets an equal share of the slowest link on its way.
fn work(network: &Network) -> Work {
    let mut ways = Ways::new(network);
    let mut crowd = vec![0.0_f64; network.links.len()];
    for flow in &network.flows {
        ways.of(flow.from, flow.to).iter().for_each(|link| crowd[link.0 as usize] += 1.0);
    }
    let mut work = Work { nodes: vec![1e-3; network.nodes.len()], links: vec![0.0; network.links.len()] };
    for flow in &network.flows {
        let there = ways.of(flow.from, flow.to);
        let share = |link: &LinkId| network.links[link.0 as usize].rate.as_bps() as f64 / crowd[link.0 as usize];
        let rate = there.iter().map(share).fold(f64::INFINITY, f64::min);
        let offered = match &*flow.traffic {
            Traffic::Constant(constant) => constant.rate.as_bps() as f64,
            Traffic::OnOff(traffic) => traffic.rate.as_bps() as f64,
            Traffic::Periodic(_) | Traffic::Poisson(_) | Traffic::Burst(_) => 1e4,
            _ => f64::INFINITY,
        };
        let packets = rate.min(offered) / 8.0 / f64::from(flow.tcp.mss.max(1));
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

/// Ways through a network, each found once.
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

/// A flow that shows that a run goes on: it cannot end before so much has happened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guard {
    pub(crate) flow: FlowIndex,
    pub(crate) start: Instant,
    /// Bytes of payload; `None`: not known before the run.
    pub(crate) transfer: Option<u64>,
    /// From its sender to its receiver.
    pub(crate) delay: Duration,
    /// The slowest link on its way, in bits a second, if none changes its rate.
    pub(crate) rate: Option<u64>,
}

/// The flows for which a run waits.
pub(crate) fn guards<B: Clone + Default>(network: &Network, fabric: &Fabric<B>) -> Vec<Guard> {
    let mut ways = Ways::new(network);
    let finite = (0..).map(FlowIndex).zip(&network.flows).filter(|(_, flow)| flow.is_finite());
    let guard = |(flow, of): (FlowIndex, &lightlag_scenario::Flow)| {
        let way = ways.of(of.from, of.to);
        let crossing = |link: &LinkId| fabric.hops[link.0 as usize].link.least_crossing().unwrap_or_default();
        let steady = |link: &LinkId| {
            let link = &network.links[link.0 as usize];
            link.is_steady(Instant::MAX).then_some(link.rate.as_bps())
        };
        let rates: Option<Vec<u64>> = way.iter().map(steady).collect();
        Guard {
            flow,
            start: of.start,
            transfer: of.transfer.map(|bytes| bytes.0),
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
    fn delays_behind_the_longest_gaps_are_tried() {
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
