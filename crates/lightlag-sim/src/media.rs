//! Radio media, and the interfaces of nodes to them, each with a routing agent.
//!
//! Routes and endpoints refer to a link or an interface as the exit of a packet. A packet that is passed to an
//! interface waits in its outbox. Then the agent of the interface returns the next hop, and the medium transmits the
//! packet.
//!
//! - [`packet`]: packets on media, and their outcomes.
//! - [`any`]: the kinds of media.
//! - [`air`]: a medium, and the nodes on it.
//! - [`capture`]: frames of a medium, as written to captures.
//! - [`interface`]: a node's interface to a medium.
//! - [`agents`]: routing agents, with their forwarding decisions and requests.
//! - [`arp`]: addresses of neighbours.
//! - [`frames`]: frames that interfaces pass to a medium, and reports of the medium about them.
//! - [`code_points`]: code points of packets.
//! - [`waiting`]: packets that wait for a route.
//! - [`hop_record`]: the nodes that a packet has crossed.
//! - [`path_tracker`]: the paths of a flow's data over media.
//! - [`ways`]: the table of the paths of flows.

mod agents;
mod air;
mod any;
mod arp;
mod capture;
mod code_points;
mod frames;
mod hop_record;
mod interface;
mod packet;
mod path_tracker;
mod waiting;
mod ways;

use air::{Air, interface};
pub(crate) use any::AnyMedium;
pub(crate) use hop_record::HopRecord;
pub(crate) use interface::Interface;
pub(crate) use packet::{FramePayload, MediumPacket, MediumPath, PacketOutcome};
pub(crate) use path_tracker::{Crossed, PathTracker};
pub use ways::Paths;

use crate::body::{Packet, UDP_HEADER};
use crate::ids::FlowIndex;
use interface::earlier;
use lightlag_core::custom::Fault;
use lightlag_core::{Dscp, Instant};
use lightlag_net::{InterfaceId, NodeId, RouteTable, StationId};
use lightlag_routing::{Identity, RoutingHeader};
use lightlag_scenario::Network;
use std::collections::VecDeque;
use waiting::AwaitingRoute;

/// All media of a network, and the interfaces of nodes to them.
#[derive(Debug)]
pub(crate) struct Media {
    pub(crate) shared: Vec<Air>,
    pub(crate) interfaces: Vec<Interface>,
    /// Size of an IP header in bytes.
    ip_header: u32,
    /// DSCP of packets by the index of their destination endpoint; `None` if their flow sets none. The list is empty if
    /// no flow sets one.
    code_points: Vec<Option<Dscp>>,
    /// Number of packets that interfaces and media dropped, for the check that no packet is lost.
    pub(crate) dropped: u64,
    /// Number of hops of packets over media.
    pub(crate) hops: u64,
    /// Outcomes of packets that are not handled yet.
    outcomes: VecDeque<PacketOutcome>,
    /// Interfaces whose agents received input since the deadlines were last set, so that they may have a new deadline.
    told: Vec<InterfaceId>,
    /// Table of the paths of flows, and the current path of each flow.
    pub(crate) paths: Paths,
    pub(crate) journeys: Vec<PathTracker>,
}

impl Media {
    /// Returns the media and interfaces of a network; `None` if it has no media.
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
                    waiting: AwaitingRoute::default(),
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
            journeys: PathTracker::all(network),
        })
    }

    /// Returns true if a node is on the medium of an interface.
    fn is_on(&self, interface: InterfaceId, node: NodeId) -> bool {
        self.shared[self.interfaces[interface.index()].medium].stations[node.0 as usize].is_some()
    }

    /// Returns the node that stands for the medium of an interface in route tables.
    fn hub(&self, interface: InterfaceId) -> NodeId {
        self.shared[self.interfaces[interface.index()].medium].hub
    }

    /// Returns the node where a packet from an interface leaves the medium.
    pub(crate) fn exit(&self, interface: InterfaceId, destination: NodeId, routes: &RouteTable) -> NodeId {
        if self.is_on(interface, destination) {
            return destination;
        }
        routes.neighbour(self.hub(interface), destination).unwrap_or(destination)
    }

    /// Returns the size of the headers of a routing message in bytes.
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

    /// Passes a packet from an endpoint or a link to an interface. The packet leaves the medium at the node `toward`.
    pub(crate) fn take_up(&mut self, interface: InterfaceId, toward: NodeId, packet: &Packet) {
        let origin = self.interfaces[interface.index()].node;
        let (extra, trail) = (RoutingHeader::None, HopRecord::default());
        let parcel = MediumPacket { packet: *packet, origin, toward, from: None, extra, trail };
        self.interfaces[interface.index()].outbox.push_back(Box::new(parcel));
    }

    /// Records that a packet was received at its destination on the medium.
    pub(crate) fn delivered(&mut self, now: Instant, interface: InterfaceId, parcel: &MediumPacket) {
        if let Some(from) = parcel.from {
            self.interfaces[interface.index()].agent.delivered(now, &parcel.heading(), from, &parcel.extra);
            self.note_told(interface);
        }
    }

    /// Records that a packet with data of a flow has left the medium of an interface. Returns true if it is the first
    /// such packet, or the previous one crossed the medium on another path.
    pub(crate) fn left(&mut self, interface: InterfaceId, parcel: &MediumPacket, flow: FlowIndex) -> bool {
        let Interface { medium, node: exit, .. } = self.interfaces[interface.index()];
        let air = &self.shared[medium];
        let Some(origin) = air.stations[parcel.origin.0 as usize] else { return false };
        let way = MediumPath { interface: air.interface(origin), toward: parcel.toward };
        self.journeys[flow.index()].cross(Crossed { way, trail: parcel.trail, exit })
    }

    /// Handles the event of a medium.
    pub(crate) fn medium_wakes(&mut self, now: Instant, medium: usize) {
        self.shared[medium].medium.handle_wake(now);
        self.listen(now, medium);
    }

    /// Returns the time of a medium's next event.
    pub(crate) fn medium_wake(&self, medium: usize) -> Option<Instant> {
        self.shared[medium].medium.next_wake()
    }

    /// Handles the event of an interface.
    pub(crate) fn interface_wakes(&mut self, now: Instant, interface: InterfaceId) {
        let Interface { medium, station, .. } = self.interfaces[interface.index()];
        if self.shared[medium].medium.next_station_wake(station).is_some_and(|wake| wake <= now) {
            self.shared[medium].medium.handle_station_wake(now, station);
            self.listen(now, medium);
        }
        let Self { interfaces, shared, .. } = self;
        let state = &mut interfaces[interface.index()];
        if state.agent.poll_timeout().is_some_and(|deadline| deadline <= now) {
            state.agent.handle_timeout(now, &mut shared[medium]);
        }
        if state.resolver.poll_timeout().is_some_and(|deadline| deadline <= now) {
            state.resolver.handle_timeout(now);
        }
        while let Some(parcel) = self.interfaces[interface.index()].outbox.pop_front() {
            self.route(now, interface, parcel);
        }
        while let Some(parcel) = self.interfaces[interface.index()].waiting.expired(now) {
            self.drop_unrouted(interface, &parcel);
        }
        self.act(now, interface);
    }

    /// Returns the time of an interface's next event.
    pub(crate) fn wake(&self, interface: InterfaceId) -> Option<Instant> {
        let Interface { medium, station, deadline, .. } = self.interfaces[interface.index()];
        earlier(self.shared[medium].medium.next_station_wake(station), deadline)
    }

    /// Returns `Ok` if an interface has work at `now`.
    ///
    /// # Errors
    /// The time of the interface's next event, if the call was too early, for example because the medium has become
    /// busy.
    pub(crate) fn due(&self, now: Instant, interface: InterfaceId) -> Result<(), Option<Instant>> {
        let wake = self.wake(interface);
        let is_due = wake.is_some_and(|wake| wake <= now) || !self.interfaces[interface.index()].outbox.is_empty();
        if is_due { Ok(()) } else { Err(wake) }
    }

    /// Calls `arm` for the media and interfaces whose next event may be earlier than before.
    pub(crate) fn rearm(&mut self, mut arm: impl FnMut(MediaEvent, Instant)) {
        for medium in 0..self.shared.len() {
            let air = &mut self.shared[medium];
            if let Some(wake) = air.medium.next_wake() {
                arm(MediaEvent::Medium(medium), wake);
            }
            let first = air.first;
            air.medium.rearmed(&mut |station, wake| arm(MediaEvent::Interface(interface(first, station)), wake));
        }
        while let Some(interface) = self.told.pop() {
            if let Some(wake) = self.wake(interface) {
                arm(MediaEvent::Interface(interface), wake);
            }
        }
    }

    /// Returns the interface whose router failed first, and the failure; `None` if none failed.
    pub(crate) fn fault(&self) -> Option<(InterfaceId, &Fault)> {
        let faults = self.interfaces.iter().enumerate();
        let faults = faults.filter_map(|(at, of)| Some((InterfaceId::at(at), of.agent.fault()?)));
        faults.min_by_key(|(at, fault)| (fault.at, *at))
    }

    /// Removes and returns the next outcome of a packet.
    pub(crate) fn next_outcome(&mut self) -> Option<PacketOutcome> {
        self.outcomes.pop_front()
    }

    /// Returns the number of packets that are being transmitted, wait for the medium, or wait for a route.
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

    /// Updates the counters of all media to the time `end`.
    pub(crate) fn settle(&mut self, end: Instant) {
        self.shared.iter_mut().for_each(|air| air.medium.settle(end));
    }

    /// Checks that every packet that was passed to an interface was acknowledged, was dropped with a cause, or is still
    /// there.
    ///
    /// # Panics
    /// If a packet is missing, which is a defect of the simulator.
    pub(crate) fn check(&self) {
        for of in &self.interfaces {
            let c = self.shared[of.medium].medium.counters(of.station);
            assert_eq!(
                c.offered,
                c.settled + c.dropped + c.waiting,
                "the packet counters of an interface do not add up: {c:?}"
            );
        }
    }
}

/// A medium or an interface that has an event.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MediaEvent {
    Medium(usize),
    Interface(InterfaceId),
}
