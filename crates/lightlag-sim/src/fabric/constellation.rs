//! Routing over a constellation: applies the changes of the planner to route tables and beams.

use super::Hop;
use crate::ids::FlowIndex;
use crate::results::Paths;
use lightlag_core::custom::Fault;
use lightlag_core::{Duration, Instant, Probability, RandomStream};
use lightlag_net::{FarEnd, LinkId, NodeId, Packet, QueuedLink, RouteTable, Unrest};
use lightlag_orbit::{Planner, WaitingPackets, satellite_routing};
use lightlag_scenario::{Network, Space};
use std::collections::BTreeSet;
use std::ops::Range;

/// The constellation of a run.
pub(crate) struct Constellation {
    space: Space,
    planner: Planner,
    /// Paths over the constellation from a station to an exit, each with its flows and its current nodes.
    ways: Vec<SatellitePath>,
    /// Number of bytes that each link between satellites had carried at the last check. Used only if routes depend on
    /// the load.
    carried: Vec<u64>,
    seed: u64,
    /// Table of the paths of all flows over time.
    pub(crate) paths: Paths,
}

struct SatellitePath {
    from: u32,
    exit: usize,
    flows: Vec<u32>,
    nodes: Vec<u32>,
}

/// Links and packets that need work after an update of the route tables.
#[derive(Debug)]
pub(crate) struct Turned<B> {
    /// Links whose next arrival may have changed.
    pub(crate) links: BTreeSet<LinkId>,
    /// Packets to reroute, each with the link that it waited for and its current node.
    pub(crate) astray: Vec<(LinkId, NodeId, Packet<B>)>,
}

impl Constellation {
    /// Returns the constellation at the start of a run, and sets its route tables and beams.
    pub(super) fn new<B: Clone + Default>(
        space: Space,
        network: &Network,
        hops: &mut [Hop<B>],
        routes: &mut RouteTable,
        seed: u64,
    ) -> Self {
        let router = space.routing.as_ref().map(|custom| {
            let seed = RandomStream::new(seed, "sky routing own").bits();
            (custom.name(), satellite_routing::build(custom, seed))
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
        let mut ways: Vec<SatellitePath> = Vec::new();
        for (number, flow) in (0..).zip(&network.flows) {
            let Some((from, exit)) = crossing(&space, network, flow.from, flow.to) else { continue };
            match ways.iter_mut().find(|way| (way.from, way.exit) == (from, exit)) {
                Some(way) => way.flows.push(number),
                None => ways.push(SatellitePath { from, exit, flows: vec![number], nodes: Vec::new() }),
            }
        }
        let mut overhead = Self { space, planner, ways, carried: Vec::new(), seed, paths: Paths::default() };
        overhead.note_ways(Instant::ZERO);
        overhead
    }

    /// Returns the links of the constellation. There are thousands, and most of them are unused.
    pub(crate) fn links(&self) -> Range<usize> {
        self.space.dishes.0 as usize..self.space.isls.0 as usize + 2 * self.space.sky.isls().len()
    }

    /// Returns true if a link is the transmitter of a station.
    pub(crate) fn is_dish(&self, link: LinkId) -> bool {
        (self.space.dishes.0..self.space.antennas.0).contains(&link.0)
    }

    /// Returns the nodes on the current path from a station through the constellation to a destination, without the
    /// station.
    pub(crate) fn way(&self, from: NodeId, destination: NodeId) -> Option<impl Iterator<Item = NodeId>> {
        let station = self.space.stations.iter().position(|station| *station == from)?;
        let nodes = self.planner.way(station as u32, self.space.exit(destination)?)?;
        Some(nodes.into_iter().skip(1).map(|node| self.space.node(node)))
    }

    /// Returns the failure of the router, if it is custom and has failed.
    pub(super) fn fault(&self) -> Option<&Fault> {
        self.planner.fault()
    }

    /// Returns the time of the next change of routes.
    pub(super) fn next_change(&mut self) -> Option<Instant> {
        self.planner.next_change()
    }

    /// Applies the changes of the planner to route tables and beams. Returns the links and packets that need work.
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
                if space.handover.waiting == WaitingPackets::Drop {
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
                // The station of the exit, or one that relays: one random decision covers all changes of this update.
                let effects = Effects::of(space, *seed, now, GroundStation(self.planner.station(exit) as usize));
                if effects.lose_flight {
                    link.lose_in_flight(now, &mut |packet| leaves(packet));
                }
                match space.handover.waiting {
                    WaitingPackets::Requeue => {
                        let withdrawn = link.withdraw(now, &mut |packet| leaves(packet));
                        turned.astray.extend(withdrawn.into_iter().map(|packet| (before, space.node(node), packet)));
                    }
                    WaitingPackets::Drop => link.drop_waiting(now, &mut |packet| leaves(packet)),
                    WaitingPackets::Keep => {}
                }
                if space.handover.waiting != WaitingPackets::Keep {
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

    /// Reports the load of the links between satellites since the last check to the planner, if routes depend on the
    /// load.
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
                // A link updates its departures only when it is queried.
                link.backlog(now);
                let bytes = link.totals(now).carried_bytes;
                let sent = bytes.saturating_sub(std::mem::replace(before, bytes));
                (sent as f64 * 8.0 / (link.config().rate.as_bps() as f64 * seconds)).min(1.0)
            })
            .collect();
        planner.load(busy.chunks_exact(2).map(|both| both[0].max(both[1])));
    }

    /// Records the paths that have changed since the last call.
    fn note_ways(&mut self, now: Instant) {
        let Self { space, planner, ways, paths, .. } = self;
        for way in ways {
            let station = space.sky.node_of_station(way.from as usize);
            // A flow without a path has a row with the station alone.
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

/// A ground station, by its index among the stations of the constellation.
#[derive(Clone, Copy)]
struct GroundStation(usize);

/// The effects of a handover on the packets of a station.
struct Effects {
    unrest: Unrest,
    lose_flight: bool,
}

impl Effects {
    /// Returns the effects of a handover of a station at this time. Both directions of the station's link have the same
    /// effects.
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
        Self { unrest, lose_flight: handover.lose_in_flight }
    }
}

/// Returns the station where the data of a flow enters the constellation, and its exit. Returns `None` if the flow also
/// crosses a medium: its path is then recorded when its data leaves the medium.
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

/// A station or a satellite, by its index in the planner.
#[derive(Clone, Copy)]
struct Vertex(u32);

/// Sets the next hop of a station or satellite towards an exit. Returns the link that was used before.
fn turn(space: &Space, routes: &mut RouteTable, from: Vertex, exit: usize, next: Option<u32>) -> Option<LinkId> {
    let link = next.and_then(|next| space.link(from.0, next));
    routes.turn(space.node(from.0), exit, link)
}

/// Points the transmitter of a link at its next node: the dish of a station, or the antenna of a satellite towards the
/// ground.
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

fn queued<B: Clone + Default>(hops: &mut [Hop<B>], link: LinkId) -> Option<&mut QueuedLink<B>> {
    hops[link.0 as usize].link.queued_mut()
}
