//! The ways through a sky at work: route tables and beams follow the planner.

use super::Hop;
use crate::ids::FlowIndex;
use crate::results::Paths;
use lightlag_core::own::Fault;
use lightlag_core::{Duration, Instant, Probability, RandomStream};
use lightlag_net::{FarEnd, Link, LinkId, NodeId, Packet, QueuedLink, RouteTable, Unrest};
use lightlag_orbit::{Planner, Waiting, own_ways};
use lightlag_scenario::{Network, Space};
use std::collections::BTreeSet;
use std::ops::Range;

/// The sky of a run.
pub(crate) struct Overhead {
    space: Space,
    planner: Planner,
    /// The ways of flows that cross the sky, from station to exit, with the flows and the nodes of the way now.
    ways: Vec<Way>,
    /// Bytes that each link between satellites had carried at the last look, if their load matters.
    carried: Vec<u64>,
    seed: u64,
    /// The ways of all flows over time.
    pub(crate) paths: Paths,
}

struct Way {
    from: u32,
    exit: usize,
    flows: Vec<u32>,
    nodes: Vec<u32>,
}

/// The work at links after the tables have turned.
#[derive(Debug)]
pub(crate) struct Turned<B> {
    /// Links whose next arrival may have changed.
    pub(crate) links: BTreeSet<LinkId>,
    /// Packets that have to find another way, each with the link that it leaves and the node at which it is.
    pub(crate) astray: Vec<(LinkId, NodeId, Packet<B>)>,
}

impl Overhead {
    /// The sky at the start of a run: tables and beams are set.
    pub(super) fn new<B: Clone + Default>(
        space: Space,
        network: &Network,
        hops: &mut [Hop<B>],
        routes: &mut RouteTable,
        seed: u64,
    ) -> Self {
        let router = space.routing.as_ref().map(|own| {
            let seed = RandomStream::new(seed, "sky routing own").bits();
            (own.name(), own_ways::build(own, seed))
        });
        let planner = Planner::with(space.sky.clone(), &space.pairs, space.rules, space.until, router);
        let nodes = space.sky.satellites().len() + space.sky.stations().len();
        for node in 0..nodes as u32 {
            for exit in 0..planner.exits() {
                if let Some(next) = planner.next(node, exit) {
                    turn(&space, routes, Vertex(node), exit, Some(next));
                    aim(&space, hops, Instant::ZERO, Vertex(node), exit, Some(next), Unrest::default());
                }
            }
        }
        let mut ways: Vec<Way> = Vec::new();
        for (number, flow) in (0..).zip(&network.flows) {
            let Some((from, exit)) = crossing(&space, network, flow.from, flow.to) else { continue };
            match ways.iter_mut().find(|way| (way.from, way.exit) == (from, exit)) {
                Some(way) => way.flows.push(number),
                None => ways.push(Way { from, exit, flows: vec![number], nodes: Vec::new() }),
            }
        }
        let mut overhead = Self { space, planner, ways, carried: Vec::new(), seed, paths: Paths::default() };
        overhead.note_ways(Instant::ZERO);
        overhead
    }

    /// The links of the sky: there are thousands of these, and few carry something.
    pub(crate) fn links(&self) -> Range<usize> {
        self.space.dishes.0 as usize..self.space.isls.0 as usize + 2 * self.space.sky.isls().len()
    }

    /// Whether a link is the transmitter of a station.
    pub(crate) fn is_dish(&self, link: LinkId) -> bool {
        (self.space.dishes.0..self.space.antennas.0).contains(&link.0)
    }

    /// The nodes behind a station on the way through the sky that packets for a destination take now.
    pub(crate) fn way(&self, from: NodeId, destination: NodeId) -> Option<impl Iterator<Item = NodeId>> {
        let station = self.space.stations.iter().position(|station| *station == from)?;
        let nodes = self.planner.way(station as u32, self.space.exit(destination)?)?;
        Some(nodes.into_iter().skip(1).map(|node| self.space.node(node)))
    }

    /// The failure of a router from outside.
    pub(super) fn fault(&self) -> Option<&Fault> {
        self.planner.fault()
    }

    /// The time of the next change.
    pub(super) fn next_change(&mut self) -> Option<Instant> {
        self.planner.next_change()
    }

    /// The tables turn. Returns what is to be done with links and packets.
    pub(crate) fn turn<B: Clone + Default>(
        &mut self,
        now: Instant,
        hops: &mut [Hop<B>],
        routes: &mut RouteTable,
    ) -> Turned<B> {
        self.note_loads(now, hops);
        let changes = self.planner.advance().to_vec();
        let Self { space, seed, .. } = self;
        let mut turned = Turned { links: BTreeSet::new(), astray: Vec::new() };
        for change in &changes {
            let (node, exit) = (change.node, change.exit);
            let leaves = |packet: &Packet<B>| space.exit(packet.destination) == Some(exit);
            if let Some(station) = space.sky.station(node) {
                let dish = LinkId(space.dishes.0 + station as u32);
                let Some(link) = queued(hops, dish) else { continue };
                let effects = Effects::of(space, *seed, now, GroundStation(station));
                if effects.lose_flight {
                    link.lose_in_flight(now, &mut |packet| leaves(packet));
                }
                if space.handover.waiting == Waiting::Drop {
                    link.drop_waiting(now, &mut |packet| leaves(packet));
                }
                link.aim(now, exit, change.next.map(|next| space.far_end(next)), effects.unrest);
                turned.links.insert(dish);
                continue;
            }
            let before = turn(space, routes, Vertex(node), exit, change.next).filter(|link| space.is_antenna(*link));
            let after = change.next.and_then(|next| space.link(node, next)).filter(|link| space.is_antenna(*link));
            let to_station = change.next.and_then(|next| space.sky.station(next));
            if let Some(before) = before.filter(|before| after != Some(*before)) {
                let Some(link) = queued(hops, before) else { continue };
                // The station is that of the exit, or one that relays: chance decides for all that change now alike.
                let effects = Effects::of(space, *seed, now, GroundStation(self.planner.station(exit) as usize));
                if effects.lose_flight {
                    link.lose_in_flight(now, &mut |packet| leaves(packet));
                }
                match space.handover.waiting {
                    Waiting::Requeue => {
                        let withdrawn = link.withdraw(now, &mut |packet| leaves(packet));
                        turned.astray.extend(withdrawn.into_iter().map(|packet| (before, space.node(node), packet)));
                    }
                    Waiting::Drop => link.drop_waiting(now, &mut |packet| leaves(packet)),
                    Waiting::Keep => {}
                }
                if space.handover.waiting != Waiting::Keep {
                    link.aim(now, exit, None, Unrest::default());
                }
                turned.links.insert(before);
            }
            if let (Some(after), Some(station)) = (after, to_station) {
                let effects = Effects::of(space, *seed, now, GroundStation(station));
                aim(space, hops, now, Vertex(node), exit, change.next, effects.unrest);
                turned.links.insert(after);
            }
        }
        self.note_ways(now);
        turned
    }

    /// Tells the planner how busy links between satellites were since the last look, if that matters.
    fn note_loads<B: Clone + Default>(&mut self, now: Instant, hops: &mut [Hop<B>]) {
        let Self { space, planner, carried, .. } = self;
        if !planner.weighs_load() {
            return;
        }
        let seconds = space.rules.interval.as_secs_f64();
        let links = 2 * space.sky.isls().len();
        carried.resize(links, 0);
        let busy: Vec<f64> = (space.isls.0..)
            .zip(&mut *carried)
            .map(|(link, before)| {
                let link = &mut hops[link as usize].link;
                // A link decides what leaves when it is asked something.
                link.backlog(now);
                let bytes = link.totals(now).carried_bytes;
                let sent = bytes.saturating_sub(std::mem::replace(before, bytes));
                (sent as f64 * 8.0 / (link.config().rate.as_bps() as f64 * seconds)).min(1.0)
            })
            .collect();
        planner.load(busy.chunks_exact(2).map(|both| both[0].max(both[1])));
    }

    /// Notes the ways that are others than before.
    fn note_ways(&mut self, now: Instant) {
        let Self { space, planner, ways, paths, .. } = self;
        for way in ways {
            let station = space.sky.node_of_station(way.from as usize);
            // A way that leads nowhere is a row with its start alone.
            let nodes = planner.way(way.from, way.exit).unwrap_or_else(|| vec![station]);
            if nodes == way.nodes {
                continue;
            }
            for flow in &way.flows {
                let hops = nodes.len() as u32 - 1;
                paths.note(now, FlowIndex(*flow), nodes.iter().map(|node| space.node(*node)), hops);
            }
            way.nodes = nodes;
        }
    }
}

/// A station on the ground, by its place among those of the sky.
#[derive(Clone, Copy)]
struct GroundStation(usize);

/// The effects of a handover on the packets of a station.
struct Effects {
    unrest: Unrest,
    lose_flight: bool,
}

impl Effects {
    /// The effects of a handover of a station at a time. Both directions have the same.
    fn of(space: &Space, seed: u64, now: Instant, station: GroundStation) -> Self {
        let GroundStation(station) = station;
        let handover = space.handover;
        let happens = !handover.draws() || {
            let name = format!("handover/{station}/{}", now.as_nanos());
            RandomStream::new(seed, &name).chance(handover.probability)
        };
        if !happens || handover.probability == Probability::ZERO {
            return Self { unrest: Unrest::default(), lose_flight: false };
        }
        let until = |time: Duration| if time.is_zero() { Instant::ZERO } else { now + time };
        let unrest = Unrest { held_until: until(handover.pause), lost_until: until(handover.burst) };
        Self { unrest, lose_flight: handover.loses_flight }
    }
}

/// The station and the exit between which data of a flow crosses the sky. None for a flow that crosses a medium, too: its way is
/// told when its data leaves the medium.
fn crossing(space: &Space, network: &Network, from: NodeId, to: NodeId) -> Option<(u32, usize)> {
    let way = network.way(from, to)?;
    if way.iter().any(|hop| matches!(hop, lightlag_scenario::Hop::Air(_))) {
        return None;
    }
    let [entry, _] = way.into_iter().find_map(|hop| match hop {
        lightlag_scenario::Hop::Sky(stations) => Some(stations),
        _ => None,
    })?;
    Some((entry as u32, space.exit(to)?))
}

/// A station or a satellite, as the planner numbers them.
#[derive(Clone, Copy)]
struct Vertex(u32);

/// Lets a satellite send another way. Returns the link until now.
fn turn(space: &Space, routes: &mut RouteTable, from: Vertex, exit: usize, next: Option<u32>) -> Option<LinkId> {
    let link = next.and_then(|next| space.link(from.0, next));
    routes.turn(space.node(from.0), exit, link)
}

/// Points the dish of a station, or the antenna of a satellite that sends to the ground.
fn aim<B: Clone + Default>(
    space: &Space,
    hops: &mut [Hop<B>],
    now: Instant,
    from: Vertex,
    exit: usize,
    next: Option<u32>,
    unrest: Unrest,
) {
    let is_beam = |next: &u32| space.sky.station(from.0).is_some() || space.sky.station(*next).is_some();
    let Some(next) = next.filter(is_beam) else { return };
    let end: FarEnd = space.far_end(next);
    if let Some(link) = space.link(from.0, next).and_then(|link| queued(hops, link)) {
        link.aim(now, exit, Some(end), unrest);
    }
}

fn queued<B>(hops: &mut [Hop<B>], link: LinkId) -> Option<&mut QueuedLink<B>> {
    match &mut hops[link.0 as usize].link {
        Link::Queued(link) => Some(link),
        Link::Computed(_) => None,
    }
}
