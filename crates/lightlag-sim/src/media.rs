//! Media on radio media: the media, and at each node on one its interface with a routing agent.
//!
//! Routes and endpoints name a link or an interface as the exit of a packet. A packet that is given to an interface waits in
//! its outbox for its turn. Then its agent says where the packet goes, and the medium takes it.
//!
//! - [`parcel`]: packets on media, and what happens to them.
//! - [`any`]: the kinds of media.
//! - [`air`]: a medium, and the nodes on it.
//! - [`capture`]: frames of a medium, as captures write them.
//! - [`interface`]: a node's interface to a medium.
//! - [`agents`]: routing agents: where they send packets, and what they ask for.
//! - [`arp`]: addresses of neighbours.
//! - [`frames`]: frames that interfaces give to a medium, and what a medium reports of them.
//! - [`code_points`]: code points of packets.
//! - [`waiting`]: packets that wait for a route.
//! - [`trail`]: the nodes that a packet has crossed.
//! - [`journey`]: the crossings of a flow's data.
//! - [`ways`]: the ways of flows, as a table.

mod agents;
mod air;
mod any;
mod arp;
mod capture;
mod code_points;
mod frames;
mod interface;
mod journey;
mod parcel;
mod trail;
mod waiting;
mod ways;

use air::{Air, interface};
pub(crate) use any::AnyMedium;
pub(crate) use interface::Interface;
pub(crate) use journey::{Crossed, Journey};
pub(crate) use parcel::{Load, Outcome, Parcel, Way};
pub(crate) use trail::Trail;
pub use ways::Paths;

use crate::body::{Packet, UDP_HEADER};
use crate::ids::FlowIndex;
use interface::earlier;
use lightlag_core::own::Fault;
use lightlag_core::{Dscp, Instant};
use lightlag_net::{InterfaceId, NodeId, RouteTable, StationId};
use lightlag_routing::{Extra, Identity};
use lightlag_scenario::Network;
use std::collections::VecDeque;
use waiting::Waiting;

/// All media, and the interfaces of nodes on them.
#[derive(Debug)]
pub(crate) struct Media {
    pub(crate) shared: Vec<Air>,
    pub(crate) interfaces: Vec<Interface>,
    /// Bytes of an IP header.
    ip_header: u32,
    /// The code point of packets by the number of the endpoint to which they go, where their flow has a code point. Empty
    /// if no flow has one.
    code_points: Vec<Option<Dscp>>,
    /// Packets that interfaces and media dropped, for conservation.
    pub(crate) dropped: u64,
    /// Hops of packets over media.
    pub(crate) hops: u64,
    /// Happenings of packets that are still to be passed on.
    outcomes: VecDeque<Outcome>,
    /// Interfaces whose agents were told something since they were last armed: they may have a new deadline.
    told: Vec<InterfaceId>,
    /// Ways of flows, and what is known of each.
    pub(crate) paths: Paths,
    pub(crate) journeys: Vec<Journey>,
}

impl Media {
    /// The interfaces of a network, if it has any.
    pub(crate) fn new(network: &Network, seed: u64) -> Option<Self> {
        if network.media.is_empty() {
            return None;
        }
        let (mut shared, mut interfaces) = (Vec::new(), Vec::new());
        for (number, plan) in network.media.iter().enumerate() {
            let first = InterfaceId::at(interfaces.len());
            let mut stations = vec![None; network.nodes.len()];
            for (at, member) in plan.members.iter().enumerate() {
                let station = StationId(at as u32);
                stations[member.node.0 as usize] = Some(station);
                let name = format!("{}@{}", network.nodes[member.node.0 as usize], plan.name);
                let identity = Identity { node: member.node, name: &name, seed };
                interfaces.push(Interface {
                    node: member.node,
                    medium: number,
                    station,
                    agent: plan.routing.build(&identity),
                    resolver: lightlag_routing::arp::Resolver::new(plan.arp, &identity),
                    unaddressed: Vec::new(),
                    outbox: VecDeque::new(),
                    waiting: Waiting::default(),
                    deadline: None,
                    no_route: 0,
                    broken: 0,
                });
            }
            shared.push(Air {
                medium: AnyMedium::new(plan, seed),
                hub: network.hub(number),
                first,
                stations,
                nodes: plan.members.iter().map(|member| member.node).collect(),
                neighbours: Vec::new(),
                elfn: plan.elfn,
            });
        }
        Some(Self {
            shared,
            interfaces,
            ip_header: network.ip.header(),
            code_points: code_points::code_points(network),
            dropped: 0,
            hops: 0,
            outcomes: VecDeque::new(),
            told: Vec::new(),
            paths: Paths::default(),
            journeys: Journey::all(network),
        })
    }

    /// Whether a node is on the medium of an interface.
    fn is_on(&self, interface: InterfaceId, node: NodeId) -> bool {
        self.shared[self.interfaces[interface.index()].medium].stations[node.0 as usize].is_some()
    }

    /// The node that stands for the medium of an interface in route tables.
    fn hub(&self, interface: InterfaceId) -> NodeId {
        self.shared[self.interfaces[interface.index()].medium].hub
    }

    /// The node at which a packet that comes to an interface leaves the medium.
    pub(crate) fn exit(&self, interface: InterfaceId, destination: NodeId, routes: &RouteTable) -> NodeId {
        if self.is_on(interface, destination) {
            return destination;
        }
        routes.neighbour(self.hub(interface), destination).unwrap_or(destination)
    }

    /// Bytes of the headers of a routing message.
    pub(crate) fn message_header(&self) -> u32 {
        self.ip_header + UDP_HEADER
    }

    /// Starts all agents.
    pub(crate) fn start(&mut self) {
        for interface in (0..self.interfaces.len()).map(InterfaceId::at) {
            self.interfaces[interface.index()].agent.start(Instant::ZERO);
            self.act(Instant::ZERO, interface);
        }
        self.interfaces.iter_mut().for_each(Interface::look_ahead);
    }

    /// A packet comes to an interface from an endpoint or a link; it leaves the medium at the node `toward`.
    pub(crate) fn take_up(&mut self, interface: InterfaceId, toward: NodeId, packet: &Packet) {
        let origin = self.interfaces[interface.index()].node;
        let (extra, trail) = (Extra::None, Trail::default());
        let parcel = Parcel { packet: *packet, origin, toward, from: None, extra, trail };
        self.interfaces[interface.index()].outbox.push_back(Box::new(parcel));
    }

    /// A packet came out of the air at its destination.
    pub(crate) fn delivered(&mut self, now: Instant, interface: InterfaceId, parcel: &Parcel) {
        if let Some(from) = parcel.from {
            self.interfaces[interface.index()].agent.delivered(now, &parcel.heading(), from, &parcel.extra);
            self.note_told(interface);
        }
    }

    /// A packet with data of a flow has left the medium of an interface. Returns whether the one before it had crossed the
    /// medium elsewhere.
    pub(crate) fn left(&mut self, interface: InterfaceId, parcel: &Parcel, flow: FlowIndex) -> bool {
        let Interface { medium, node: exit, .. } = self.interfaces[interface.index()];
        let air = &self.shared[medium];
        let Some(origin) = air.stations[parcel.origin.0 as usize] else { return false };
        let way = Way { interface: air.interface(origin), toward: parcel.toward };
        self.journeys[flow.index()].cross(Crossed { way, trail: parcel.trail, exit })
    }

    /// The turn of a medium.
    pub(crate) fn medium_wakes(&mut self, now: Instant, medium: usize) {
        self.shared[medium].medium.handle_wake(now);
        self.listen(now, medium);
    }

    /// When a medium has its next turn.
    pub(crate) fn medium_wake(&self, medium: usize) -> Option<Instant> {
        self.shared[medium].medium.next_wake()
    }

    /// The turn of an interface.
    pub(crate) fn interface_wakes(&mut self, now: Instant, interface: InterfaceId) {
        let Interface { medium, station, .. } = self.interfaces[interface.index()];
        if self.shared[medium].medium.next_station_wake(station).is_some_and(|wake| wake <= now) {
            self.shared[medium].medium.handle_station_wake(now, station);
            self.listen(now, medium);
        }
        let Self { interfaces, shared, .. } = self;
        let of = &mut interfaces[interface.index()];
        if of.agent.poll_timeout().is_some_and(|deadline| deadline <= now) {
            of.agent.handle_timeout(now, &mut shared[medium]);
        }
        if of.resolver.poll_timeout().is_some_and(|deadline| deadline <= now) {
            of.resolver.handle_timeout(now);
        }
        while let Some(parcel) = self.interfaces[interface.index()].outbox.pop_front() {
            self.route(now, interface, parcel);
        }
        while let Some(parcel) = self.interfaces[interface.index()].waiting.expired(now) {
            self.drop_unrouted(interface, &parcel);
        }
        self.act(now, interface);
    }

    /// When an interface has its next turn.
    pub(crate) fn wake(&self, interface: InterfaceId) -> Option<Instant> {
        let Interface { medium, station, deadline, .. } = self.interfaces[interface.index()];
        earlier(self.shared[medium].medium.next_station_wake(station), deadline)
    }

    /// Whether an interface has something to do.
    ///
    /// # Errors
    /// Its next turn, if it was called too early, as when its medium has become busy.
    pub(crate) fn due(&self, now: Instant, interface: InterfaceId) -> Result<(), Option<Instant>> {
        let wake = self.wake(interface);
        let is_due = wake.is_some_and(|wake| wake <= now) || !self.interfaces[interface.index()].outbox.is_empty();
        if is_due { Ok(()) } else { Err(wake) }
    }

    /// Tells of the media and interfaces whose next turn may be earlier than was known.
    pub(crate) fn rearm(&mut self, mut arm: impl FnMut(Turn, Instant)) {
        for medium in 0..self.shared.len() {
            let air = &mut self.shared[medium];
            if let Some(wake) = air.medium.next_wake() {
                arm(Turn::Medium(medium), wake);
            }
            let first = air.first;
            air.medium.rearmed(&mut |station, wake| arm(Turn::Interface(interface(first, station)), wake));
        }
        while let Some(interface) = self.told.pop() {
            if let Some(wake) = self.wake(interface) {
                arm(Turn::Interface(interface), wake);
            }
        }
    }

    /// The interface whose router failed first, and the failure.
    pub(crate) fn fault(&self) -> Option<(InterfaceId, &Fault)> {
        let faults = self.interfaces.iter().enumerate();
        let faults = faults.filter_map(|(at, of)| Some((InterfaceId::at(at), of.agent.fault()?)));
        faults.min_by_key(|(at, fault)| (fault.at, *at))
    }

    /// The next thing that happened to a packet.
    pub(crate) fn next_outcome(&mut self) -> Option<Outcome> {
        self.outcomes.pop_front()
    }

    /// Packets that are in the air, or wait for it or for a route.
    pub(crate) fn in_flight(&self) -> u64 {
        let unaddressed = |of: &Interface| of.unaddressed.iter().filter(|of| of.load.is_packet()).count();
        let waiting = |of: &Interface| of.outbox.len() + of.waiting.len() + unaddressed(of);
        let waiting = self.interfaces.iter().map(waiting).sum::<usize>();
        let mut on_air = 0;
        for air in &self.shared {
            air.medium.pending(&mut |load| on_air += u64::from(load.is_packet()));
        }
        waiting as u64 + on_air
    }

    /// Brings the counters of all media up to the end.
    pub(crate) fn settle(&mut self, end: Instant) {
        self.shared.iter_mut().for_each(|air| air.medium.settle(end));
    }

    /// Checks that every packet which was given to an interface was acknowledged, dropped with a cause, or is still there.
    ///
    /// # Panics
    /// If one is not: then the simulator is wrong.
    pub(crate) fn check(&self) {
        for of in &self.interfaces {
            let c = self.shared[of.medium].medium.counters(of.station);
            assert_eq!(c.offered, c.settled + c.dropped + c.waiting, "an interface lost count: {c:?}");
        }
    }
}

/// A part that has turns.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Turn {
    Medium(usize),
    Interface(InterfaceId),
}
