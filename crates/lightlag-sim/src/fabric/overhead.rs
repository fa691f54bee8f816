//! The ways through a sky at work: route tables and beams follow the planner.

use super::Hop;
use crate::results::Paths;
use lightlag_core::Instant;
use lightlag_net::{FarEnd, Link, LinkId, NodeId, Packet, QueuedLink, RouteTable};
use lightlag_orbit::{Planner, Waiting};
use lightlag_scenario::{Network, Space};
use std::collections::BTreeSet;

/// The sky of a run.
pub(crate) struct Overhead {
    space: Space,
    planner: Planner,
    /// The ways of flows that cross the sky, from station to exit, with the flows and the nodes of the way now.
    ways: Vec<Way>,
    /// The ways of all flows over time.
    pub(crate) paths: Paths,
}

struct Way {
    from: u32,
    exit: usize,
    flows: Vec<u32>,
    nodes: Vec<u32>,
}

/// What is to be done at links after the tables have turned.
#[derive(Debug)]
pub(crate) struct Turned<B> {
    /// Links whose next arrival may have changed.
    pub(crate) links: BTreeSet<LinkId>,
    /// Packets that have to find another way, each with the node at which it is.
    pub(crate) astray: Vec<(NodeId, Packet<B>)>,
    /// Packets that are dropped, each with the link at which it waited.
    pub(crate) dropped: Vec<(LinkId, Packet<B>)>,
}

impl Overhead {
    /// The sky at the start of a run: tables and beams are set.
    pub(super) fn new<B: Clone>(space: Space, network: &Network, hops: &mut [Hop<B>], routes: &mut RouteTable) -> Self {
        let planner = Planner::new(space.sky.clone(), &space.pairs, space.rules, space.until);
        let nodes = space.sky.satellites().len() + space.sky.stations().len();
        for node in 0..nodes as u32 {
            for exit in 0..planner.exits().len() {
                if let Some(next) = planner.next(node, exit) {
                    turn(&space, routes, node, exit, Some(next));
                    aim(&space, hops, Instant::ZERO, node, exit, Some(next), Instant::ZERO);
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
        let mut overhead = Self { space, planner, ways, paths: Paths::default() };
        overhead.note_ways(Instant::ZERO);
        overhead
    }

    /// The transmitter of a satellite to the ground.
    pub(crate) fn antenna(&self, satellite: NodeId) -> LinkId {
        LinkId(self.space.antennas.0 + satellite.0 - self.space.first.0)
    }

    /// The time of the next change.
    pub(super) fn next_change(&mut self) -> Option<Instant> {
        self.planner.next_change()
    }

    /// The tables turn. Returns what is to be done with links and packets.
    pub(crate) fn turn<B: Clone>(&mut self, now: Instant, hops: &mut [Hop<B>], routes: &mut RouteTable) -> Turned<B> {
        let Self { space, planner, .. } = self;
        let handover = space.handover;
        let held_until = if handover.pause.is_zero() { Instant::ZERO } else { now + handover.pause };
        let mut turned = Turned { links: BTreeSet::new(), astray: Vec::new(), dropped: Vec::new() };
        let changes = planner.advance().to_vec();
        for change in &changes {
            let (node, exit) = (change.node, change.exit);
            if let Some(station) = space.sky.station(node) {
                let dish = LinkId(space.dishes.0 + station as u32);
                let Some(link) = queued(hops, dish) else { continue };
                let leaves = |packet: &Packet<B>| space.exit(packet.destination) == Some(exit);
                if handover.loses_flight {
                    link.lose_in_flight(now, &mut |packet| leaves(packet));
                }
                if handover.waiting == Waiting::Drop {
                    let dropped = link.withdraw(now, &mut |packet| leaves(packet));
                    turned.dropped.extend(dropped.into_iter().map(|packet| (dish, packet)));
                }
                link.aim(now, exit, change.next.map(|next| space.far_end(next)), held_until);
                turned.links.insert(dish);
                continue;
            }
            let antenna = LinkId(space.antennas.0 + node);
            let before = turn(space, routes, node, exit, change.next);
            let after = change.next.and_then(|next| space.link(node, next));
            if after == Some(antenna) {
                aim(space, hops, now, node, exit, change.next, held_until);
                turned.links.insert(antenna);
            } else if before == Some(antenna) {
                let Some(link) = queued(hops, antenna) else { continue };
                let leaves = |packet: &Packet<B>| space.exit(packet.destination) == Some(exit);
                if handover.loses_flight {
                    link.lose_in_flight(now, &mut |packet| leaves(packet));
                }
                if handover.waiting != Waiting::Keep {
                    let withdrawn = link.withdraw(now, &mut |packet| leaves(packet));
                    let at = space.node(node);
                    if handover.waiting == Waiting::Requeue {
                        turned.astray.extend(withdrawn.into_iter().map(|packet| (at, packet)));
                    } else {
                        turned.dropped.extend(withdrawn.into_iter().map(|packet| (antenna, packet)));
                    }
                    link.aim(now, exit, None, Instant::ZERO);
                }
                turned.links.insert(antenna);
            }
        }
        self.note_ways(now);
        turned
    }

    /// Notes the ways that are others than before.
    fn note_ways(&mut self, now: Instant) {
        let Self { space, planner, ways, paths } = self;
        for way in ways {
            let station = space.sky.node_of_station(way.from as usize);
            // A way that leads nowhere is a row with its start alone.
            let nodes = planner.way(way.from, way.exit).unwrap_or_else(|| vec![station]);
            if nodes == way.nodes {
                continue;
            }
            for flow in &way.flows {
                let hops = nodes.len() as u32 - 1;
                paths.note(now, *flow, nodes.iter().map(|node| space.node(*node)), hops);
            }
            way.nodes = nodes;
        }
    }
}

/// The station and the exit between which data of a flow crosses the sky.
fn crossing(space: &Space, network: &Network, from: NodeId, to: NodeId) -> Option<(u32, usize)> {
    let way = network.way(from, to)?;
    let [entry, _] = way.into_iter().find_map(|hop| match hop {
        lightlag_scenario::Hop::Sky(stations) => Some(stations),
        _ => None,
    })?;
    Some((entry as u32, space.exit(to)?))
}

/// Lets a satellite send another way. Returns the link until now.
fn turn(space: &Space, routes: &mut RouteTable, node: u32, exit: usize, next: Option<u32>) -> Option<LinkId> {
    let link = next.and_then(|next| space.link(node, next));
    routes.turn(space.node(node), exit, link)
}

/// Points the dish of a station, or the antenna of a satellite that sends to the ground.
fn aim<B: Clone>(
    space: &Space,
    hops: &mut [Hop<B>],
    now: Instant,
    node: u32,
    exit: usize,
    next: Option<u32>,
    held_until: Instant,
) {
    let is_beam = |next: &u32| space.sky.station(node).is_some() || space.sky.station(*next).is_some();
    let Some(next) = next.filter(is_beam) else { return };
    let end: FarEnd = space.far_end(next);
    if let Some(link) = space.link(node, next).and_then(|link| queued(hops, link)) {
        link.aim(now, exit, Some(end), held_until);
    }
}

fn queued<B>(hops: &mut [Hop<B>], link: LinkId) -> Option<&mut QueuedLink<B>> {
    match &mut hops[link.0 as usize].link {
        Link::Queued(link) => Some(link),
        Link::Computed(_) => None,
    }
}
