//! Nodes on radio media: the media, and at each node on one its interface with a routing agent.
//!
//! An interface has the number of a link behind those of all links, so routes and endpoints name it like a link. A packet
//! that is given to it waits in its outbox for its turn. Then its agent says where the packet goes, and the medium takes it.
//!
//! - [`waiting`]: packets that wait for a route.
//! - [`trail`]: the nodes that a packet has crossed.
//! - [`journey`]: the crossings of a flow's data.
//! - [`ways`]: the ways of flows, as a table.

mod journey;
mod trail;
mod waiting;
mod ways;

pub(crate) use journey::{Crossed, Journey};
pub(crate) use trail::Trail;
use waiting::Waiting;
pub use ways::Paths;

use crate::body::{Packet, UDP_HEADER};
use crate::hosts::ends::{self, Numbers};
use crate::ids::FlowIndex;
use lightlag_core::own::Fault;
use lightlag_core::{Instant, Probability, prefetch, prefetch_value};
use lightlag_mobility::Vector;
use lightlag_net::queue::DropCause;
use lightlag_net::{LinkId, NodeId, RouteTable};
use lightlag_routing::{
    Action, Agent, Break, Extra, Fate, Heading, Identity, Message, Receiver, Step, Surroundings, Verdict, arp,
};
use lightlag_scenario::Network;
use lightlag_wifi::{AirDrop, Aired, Class, Happening, Medium, Msdu, Station, To};
use std::collections::VecDeque;
use std::sync::Arc;

/// Interfaces whose agents any cache holds.
const CACHED: usize = 64;

/// A packet on a medium, or on its way there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parcel {
    pub(crate) packet: Packet,
    /// The node at which it came to the medium, and the one at which it leaves it.
    pub(crate) origin: NodeId,
    pub(crate) toward: NodeId,
    /// The neighbour from which it came; none at its origin.
    pub(crate) from: Option<NodeId>,
    /// The header that the agents add to it.
    pub(crate) extra: Extra,
    pub(crate) trail: Trail,
}

impl Parcel {
    /// The parts of it that agents read.
    fn heading(&self) -> Heading {
        let Self { packet, origin, toward, .. } = self;
        Heading { origin: *origin, destination: *toward, ttl: packet.ttl, size: u32::from(packet.size) }
    }
}

/// The payload of frames.
#[derive(Clone, Debug)]
pub(crate) enum Load {
    Packet(Box<Parcel>),
    /// A message between agents, and its time to live.
    Routing(Arc<Message>, u8),
    /// A question for an address on the medium, or its answer.
    Address(arp::Packet),
}

impl Load {
    /// Whether it is the packet of an endpoint.
    fn is_packet(&self) -> bool {
        matches!(self, Self::Packet(_))
    }
}

/// A frame for a neighbour whose address is not known yet.
#[derive(Clone, Debug)]
struct Unaddressed {
    next: NodeId,
    size: u32,
    load: Load,
}

/// All media, and the interfaces of nodes on them.
#[derive(Debug)]
pub(crate) struct Nodes {
    /// The number of the first interface, as a link.
    first: u32,
    pub(crate) media: Vec<Air>,
    pub(crate) interfaces: Vec<Interface>,
    /// Bytes of an IP header.
    ip_header: u32,
    /// The access class of packets by the number of the endpoint to which they go, where their flow has a code point. Empty
    /// if no flow has one.
    classes: Vec<Option<Class>>,
    /// Packets that interfaces and media dropped, for conservation.
    pub(crate) dropped: u64,
    /// Hops of packets over media.
    pub(crate) hops: u64,
    /// Happenings of packets that are still to be passed on.
    outcomes: VecDeque<Outcome>,
    /// Interfaces whose agents were told something since they were last armed: they may have a new deadline.
    told: Vec<usize>,
    /// Ways of flows, and what is known of each.
    pub(crate) paths: Paths,
    pub(crate) journeys: Vec<Journey>,
}

/// A medium, and the interfaces on it.
#[derive(Debug)]
pub(crate) struct Air {
    pub(crate) medium: Medium<Load>,
    /// The node that stands for it in route tables.
    hub: NodeId,
    /// The interface of its first station.
    first: usize,
    /// The station of each node of the network that is on it.
    stations: Vec<Option<Station>>,
    /// The node of each station.
    nodes: Vec<NodeId>,
    /// Room for the neighbours of a node.
    neighbours: Vec<NodeId>,
    /// Whether sources are told of their routes.
    elfn: bool,
}

/// A node's interface to a medium.
#[derive(Debug)]
pub(crate) struct Interface {
    pub(crate) node: NodeId,
    pub(crate) medium: usize,
    pub(crate) station: Station,
    pub(crate) agent: Box<dyn Agent>,
    resolver: arp::Resolver,
    unaddressed: Vec<Unaddressed>,
    outbox: VecDeque<Box<Parcel>>,
    waiting: Waiting,
    /// When its agent, its resolver or a packet that waits is due. It holds until they are told something.
    deadline: Option<Instant>,
    /// Packets that it dropped because there was no route.
    pub(crate) no_route: u64,
    /// Links of which the agent was told that they broke.
    pub(crate) broken: u64,
}

/// Something that happened to a packet or a route.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It came out of the air at an interface.
    Arrived { interface: usize, parcel: Box<Parcel> },
    /// An interface dropped it.
    Dropped { interface: usize, packet: Packet, cause: DropCause },
    /// Not of a packet: the route of a way broke, or there is one again.
    Route { way: Way, is_there: bool },
}

/// A way over a medium: the interface at which packets come to it, and the node at which they leave it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Way {
    pub(crate) interface: u32,
    pub(crate) toward: NodeId,
}

impl Nodes {
    /// The interfaces of a network, if it has any.
    pub(crate) fn new(network: &Network, seed: u64) -> Option<Self> {
        if network.media.is_empty() {
            return None;
        }
        let (mut media, mut interfaces) = (Vec::new(), Vec::new());
        for (number, plan) in network.media.iter().enumerate() {
            let first = interfaces.len();
            let mut stations = vec![None; network.nodes.len()];
            for (at, member) in plan.members.iter().enumerate() {
                let station = Station(at as u32);
                stations[member.node.0 as usize] = Some(station);
                let name = format!("{}@{}", network.nodes[member.node.0 as usize], plan.name);
                let identity = Identity { node: member.node, name: &name, seed };
                interfaces.push(Interface {
                    node: member.node,
                    medium: number,
                    station,
                    agent: plan.routing.build(&identity),
                    resolver: arp::Resolver::new(plan.arp, &identity),
                    unaddressed: Vec::new(),
                    outbox: VecDeque::new(),
                    waiting: Waiting::default(),
                    deadline: None,
                    no_route: 0,
                    broken: 0,
                });
            }
            let stations_of = plan.members.iter().map(|member| member.station.clone()).collect();
            media.push(Air {
                medium: Medium::new(&plan.config, stations_of, seed, &plan.name),
                hub: network.hub(number),
                first,
                stations,
                nodes: plan.members.iter().map(|member| member.node).collect(),
                neighbours: Vec::new(),
                elfn: plan.elfn,
            });
        }
        Some(Self {
            first: network.links.len() as u32,
            media,
            interfaces,
            ip_header: network.ip.header(),
            classes: classes(network),
            dropped: 0,
            hops: 0,
            outcomes: VecDeque::new(),
            told: Vec::new(),
            paths: Paths::default(),
            journeys: Journey::all(network),
        })
    }

    /// The number of an interface as that of a link.
    pub(crate) fn link(&self, interface: usize) -> LinkId {
        LinkId(self.first + interface as u32)
    }

    /// The interface whose number as that of a link this is.
    pub(crate) fn of_link(&self, on: LinkId) -> usize {
        (on.0 - self.first) as usize
    }

    /// Whether a node is on the medium of an interface.
    fn is_on(&self, interface: usize, node: NodeId) -> bool {
        self.media[self.interfaces[interface].medium].stations[node.0 as usize].is_some()
    }

    /// The node that stands for the medium of an interface in route tables.
    fn hub(&self, interface: usize) -> NodeId {
        self.media[self.interfaces[interface].medium].hub
    }

    /// The node at which a packet that comes to an interface leaves the medium.
    pub(crate) fn exit(&self, interface: usize, destination: NodeId, routes: &RouteTable) -> NodeId {
        if self.is_on(interface, destination) {
            return destination;
        }
        routes.neighbour(self.hub(interface), destination).unwrap_or(destination)
    }

    /// Bytes of the headers of a routing message.
    pub(crate) fn message_header(&self) -> u32 {
        self.ip_header + UDP_HEADER
    }

    /// Lets the media tell of the frames of these interfaces.
    pub(crate) fn watch(&mut self, interfaces: &[usize]) {
        for (number, air) in self.media.iter_mut().enumerate() {
            let here = interfaces.iter().map(|interface| &self.interfaces[*interface]);
            air.medium.watch(here.filter(|interface| interface.medium == number).map(|interface| interface.station));
        }
    }

    /// The number of a station's interface as that of a link.
    pub(crate) fn link_of(&self, medium: usize, station: Station) -> LinkId {
        self.link(self.media[medium].first + station.0 as usize)
    }

    /// The next frame of a node that is watched: the medium on which it is, and the frame.
    pub(crate) fn next_aired(&mut self) -> Option<(usize, Aired<Load>)> {
        let next = |(number, air): (usize, &mut Air)| Some((number, air.medium.next_aired()?));
        self.media.iter_mut().enumerate().find_map(next)
    }

    /// Whether frames of data on a medium name a class.
    pub(crate) fn has_qos(&self, medium: usize) -> bool {
        self.media[medium].medium.has_classes()
    }

    /// The node of a station.
    pub(crate) fn node(&self, medium: usize, station: Station) -> NodeId {
        self.media[medium].nodes[station.0 as usize]
    }

    /// Starts all agents.
    pub(crate) fn start(&mut self) {
        for interface in 0..self.interfaces.len() {
            self.interfaces[interface].agent.start(Instant::ZERO);
            self.act(Instant::ZERO, interface);
        }
        self.interfaces.iter_mut().for_each(Interface::look_ahead);
    }

    /// A packet comes to an interface from an endpoint or a link; it leaves the medium at the node `toward`.
    pub(crate) fn take_up(&mut self, interface: usize, toward: NodeId, packet: &Packet) {
        let origin = self.interfaces[interface].node;
        let (extra, trail) = (Extra::None, Trail::default());
        let parcel = Parcel { packet: *packet, origin, toward, from: None, extra, trail };
        self.interfaces[interface].outbox.push_back(Box::new(parcel));
    }

    /// A packet came out of the air, and goes on over the same interface.
    pub(crate) fn forward(&mut self, now: Instant, interface: usize, parcel: Box<Parcel>) {
        self.route(now, interface, parcel);
        self.act(now, interface);
    }

    /// A packet came out of the air at its destination.
    pub(crate) fn delivered(&mut self, now: Instant, interface: usize, parcel: &Parcel) {
        if let Some(from) = parcel.from {
            self.interfaces[interface].agent.delivered(now, &parcel.heading(), from, &parcel.extra);
            self.note_told(interface);
        }
    }

    /// A packet with data of a flow has left the medium of an interface. Returns whether the one before it had crossed the
    /// medium elsewhere.
    pub(crate) fn left(&mut self, interface: usize, parcel: &Parcel, flow: FlowIndex) -> bool {
        let Interface { medium, node: exit, .. } = self.interfaces[interface];
        let air = &self.media[medium];
        let Some(origin) = air.stations[parcel.origin.0 as usize] else { return false };
        let way = Way { interface: air.first as u32 + origin.0, toward: parcel.toward };
        self.journeys[flow.index()].cross(Crossed { way, trail: parcel.trail, exit })
    }

    /// The turn of a medium.
    pub(crate) fn medium_wakes(&mut self, now: Instant, medium: usize) {
        self.media[medium].medium.medium_wakes(now);
        self.listen(now, medium);
    }

    /// When a medium has its next turn.
    pub(crate) fn medium_wake(&self, medium: usize) -> Option<Instant> {
        self.media[medium].medium.next_wake()
    }

    /// The turn of an interface.
    pub(crate) fn interface_wakes(&mut self, now: Instant, interface: usize) {
        let Interface { medium, station, .. } = self.interfaces[interface];
        if self.media[medium].medium.station_wake(station).is_some_and(|wake| wake <= now) {
            self.media[medium].medium.station_wakes(now, station);
            self.listen(now, medium);
        }
        let Self { interfaces, media, .. } = self;
        let of = &mut interfaces[interface];
        if of.agent.poll_timeout().is_some_and(|deadline| deadline <= now) {
            of.agent.handle_timeout(now, &mut media[medium]);
        }
        if of.resolver.poll_timeout().is_some_and(|deadline| deadline <= now) {
            of.resolver.handle_timeout(now);
        }
        while let Some(parcel) = self.interfaces[interface].outbox.pop_front() {
            self.route(now, interface, parcel);
        }
        while let Some(parcel) = self.interfaces[interface].waiting.expired(now) {
            self.drop_unrouted(interface, &parcel);
        }
        self.act(now, interface);
    }

    /// When an interface has its next turn.
    pub(crate) fn wake(&self, interface: usize) -> Option<Instant> {
        let Interface { medium, station, deadline, .. } = self.interfaces[interface];
        earlier(self.media[medium].medium.station_wake(station), deadline)
    }

    /// Whether an interface has something to do.
    ///
    /// # Errors
    /// Its next turn, if it was called too early, as when its medium has become busy.
    pub(crate) fn due(&self, now: Instant, interface: usize) -> Result<(), Option<Instant>> {
        let wake = self.wake(interface);
        let is_due = wake.is_some_and(|wake| wake <= now) || !self.interfaces[interface].outbox.is_empty();
        if is_due { Ok(()) } else { Err(wake) }
    }

    /// Tells of the media and interfaces whose next turn may be earlier than was known.
    pub(crate) fn rearm(&mut self, mut arm: impl FnMut(Turn, Instant)) {
        for medium in 0..self.media.len() {
            let air = &mut self.media[medium];
            if let Some(wake) = air.medium.next_wake() {
                arm(Turn::Medium(medium), wake);
            }
            let first = air.first;
            let Air { medium, .. } = air;
            medium.rearmed(|station, wake| arm(Turn::Interface(first + station.0 as usize), wake));
        }
        while let Some(interface) = self.told.pop() {
            if let Some(wake) = self.wake(interface) {
                arm(Turn::Interface(interface), wake);
            }
        }
    }

    /// The interface whose router failed first, and the failure.
    pub(crate) fn fault(&self) -> Option<(usize, &Fault)> {
        let faults = self.interfaces.iter().enumerate().filter_map(|(at, of)| Some((at, of.agent.fault()?)));
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
        for air in &self.media {
            air.medium.pending(|load| on_air += u64::from(load.is_packet()));
        }
        waiting as u64 + on_air
    }

    /// Lets all radios notice what was on the air until the end.
    pub(crate) fn settle(&mut self, end: Instant) {
        self.media.iter_mut().for_each(|air| air.medium.settle(end));
    }

    /// Checks that every packet which was given to a radio was acknowledged, dropped with a cause, or is still there.
    ///
    /// # Panics
    /// If one is not: then the simulator is wrong.
    pub(crate) fn check(&self, end: Instant) {
        for of in &self.interfaces {
            let medium = &self.media[of.medium].medium;
            let c = medium.counters(of.station, end);
            let known = c.settled + c.dropped() + medium.waiting(of.station);
            assert_eq!(c.offered, known, "a radio lost count: {c:?}");
        }
    }

    /// Asks the agent of an interface where a packet goes.
    fn route(&mut self, now: Instant, interface: usize, mut parcel: Box<Parcel>) {
        let Self { interfaces, media, .. } = self;
        let of = &mut interfaces[interface];
        let heading = parcel.heading();
        match of.agent.route(now, &heading, parcel.from, &mut parcel.extra, &mut media[of.medium]) {
            Verdict::Via(next) => self.send(now, interface, next, parcel),
            Verdict::Wait => self.keep(now, interface, parcel),
            Verdict::Unreachable => self.drop_unrouted(interface, &parcel),
        }
    }

    /// Keeps a packet until there is a route.
    fn keep(&mut self, now: Instant, interface: usize, parcel: Box<Parcel>) {
        if let Some(oldest) = self.interfaces[interface].waiting.keep(now, parcel) {
            self.drop_unrouted(interface, &oldest);
        }
    }

    fn drop_unrouted(&mut self, interface: usize, parcel: &Parcel) {
        self.interfaces[interface].no_route += 1;
        self.outcomes.push_back(Outcome::Dropped { interface, packet: parcel.packet, cause: DropCause::NoRoute });
    }

    /// Sends a packet to a neighbour.
    fn send(&mut self, now: Instant, interface: usize, next: NodeId, mut parcel: Box<Parcel>) {
        parcel.trail.add(self.interfaces[interface].node);
        let size = u32::from(parcel.packet.size) + parcel.extra.size();
        self.address(now, interface, Unaddressed { next, size, load: Load::Packet(parcel) });
    }

    /// Sends a frame to a neighbour as soon as its address is known.
    fn address(&mut self, now: Instant, interface: usize, frame: Unaddressed) {
        let of = &mut self.interfaces[interface];
        match of.resolver.ask(now, frame.next) {
            arp::Answer::Known => self.offer(now, interface, frame),
            arp::Answer::Wait => of.unaddressed.push(frame),
            arp::Answer::Drop => self.drop_unaddressed(interface, frame),
        }
    }

    fn drop_unaddressed(&mut self, interface: usize, frame: Unaddressed) {
        if let Load::Packet(parcel) = frame.load {
            self.drop_unrouted(interface, &parcel);
        }
    }

    /// Gives a frame for a neighbour to the medium.
    fn offer(&mut self, now: Instant, interface: usize, frame: Unaddressed) {
        let Interface { medium, station, .. } = self.interfaces[interface];
        let air = &mut self.media[medium];
        let Some(to) = air.stations[frame.next.0 as usize] else { return self.drop_unaddressed(interface, frame) };
        let Unaddressed { size, load: payload, .. } = frame;
        let class = match &payload {
            Load::Packet(parcel) => class(&self.classes, &parcel.packet).unwrap_or(air.medium.class(station)),
            _ => Class::BestEffort,
        };
        air.medium.offer(now, station, Msdu { to: To::One(to), size, class, payload });
        self.listen(now, medium);
    }

    /// Gives a frame for all to the medium.
    fn broadcast(&mut self, now: Instant, interface: usize, size: u32, payload: Load) {
        let Interface { medium, station, .. } = self.interfaces[interface];
        let msdu = Msdu { to: To::All, size, class: Class::BestEffort, payload };
        self.media[medium].medium.offer(now, station, msdu);
        self.listen(now, medium);
    }

    /// The agent of an interface was told something: it may have a new deadline.
    fn note_told(&mut self, interface: usize) {
        self.interfaces[interface].look_ahead();
        self.told.push(interface);
    }

    /// Does what the agent and the resolver of an interface ask for, until they ask for nothing.
    fn act(&mut self, now: Instant, interface: usize) {
        loop {
            if let Some(action) = self.interfaces[interface].agent.poll_action() {
                self.route_as_asked(now, interface, action);
            } else if let Some(action) = self.interfaces[interface].resolver.poll_action() {
                self.resolve_as_asked(now, interface, action);
            } else {
                return self.note_told(interface);
            }
        }
    }

    fn route_as_asked(&mut self, now: Instant, interface: usize, action: Action) {
        match action {
            Action::Send { to, message, ttl } => {
                let size = self.message_header() + message.size();
                let load = Load::Routing(Arc::new(message), ttl);
                match to {
                    Receiver::All => self.broadcast(now, interface, size, load),
                    Receiver::One(next) => self.address(now, interface, Unaddressed { next, size, load }),
                }
            }
            Action::Release { destination } => {
                for parcel in self.interfaces[interface].waiting.take(destination) {
                    self.route(now, interface, parcel);
                }
                self.tell_of_route(interface, destination, true);
            }
            Action::Broken { destination } => self.tell_of_route(interface, destination, false),
            Action::Discard { destination } => {
                for parcel in self.interfaces[interface].waiting.take(destination) {
                    self.drop_unrouted(interface, &parcel);
                }
            }
        }
    }

    /// Whether sources at an interface are told of their routes.
    pub(crate) fn tells_of_routes(&self, interface: usize) -> bool {
        self.media[self.interfaces[interface].medium].elfn
    }

    fn tell_of_route(&mut self, interface: usize, toward: NodeId, is_there: bool) {
        if self.tells_of_routes(interface) {
            let way = Way { interface: interface as u32, toward };
            self.outcomes.push_back(Outcome::Route { way, is_there });
        }
    }

    fn resolve_as_asked(&mut self, now: Instant, interface: usize, action: arp::Action) {
        let of = &mut self.interfaces[interface];
        let for_neighbour = |of: &mut Interface, next: NodeId| -> Vec<Unaddressed> {
            of.unaddressed.extract_if(.., |frame| frame.next == next).collect()
        };
        match action {
            arp::Action::Send { to, packet } => {
                let (size, load) = (arp::Packet::SIZE, Load::Address(packet));
                match to {
                    Receiver::All => self.broadcast(now, interface, size, load),
                    Receiver::One(next) => self.offer(now, interface, Unaddressed { next, size, load }),
                }
            }
            arp::Action::Release { neighbour } => {
                for frame in for_neighbour(of, neighbour) {
                    self.offer(now, interface, frame);
                }
            }
            arp::Action::Discard { neighbour } => {
                for frame in for_neighbour(of, neighbour) {
                    self.drop_unaddressed(interface, frame);
                }
            }
        }
    }

    /// Takes what happened on a medium: packets wait to be passed on, agents hear at once.
    fn listen(&mut self, now: Instant, medium: usize) {
        while let Some(happening) = self.media[medium].medium.next_happening() {
            if self.interfaces.len() > CACHED {
                self.fetch_next(medium);
            }
            match happening {
                Happening::Received { at, from, to, payload, snr_db } => {
                    let air = &self.media[medium];
                    let (interface, from) = (air.first + at.0 as usize, air.nodes[from.0 as usize]);
                    match payload {
                        Load::Packet(mut parcel) => {
                            parcel.from = Some(from);
                            self.hops += 1;
                            self.outcomes.push_back(Outcome::Arrived { interface, parcel });
                        }
                        Load::Routing(message, _) => {
                            let to = if to == To::All {
                                Receiver::All
                            } else {
                                Receiver::One(self.interfaces[interface].node)
                            };
                            let Self { interfaces, media, .. } = self;
                            interfaces[interface].agent.hear(now, from, to, &message, snr_db, &mut media[medium]);
                            self.act(now, interface);
                        }
                        Load::Address(packet) => {
                            self.interfaces[interface].resolver.hear(now, &packet);
                            self.act(now, interface);
                        }
                    }
                }
                Happening::Acknowledged { at, to, .. } => {
                    let air = &self.media[medium];
                    let (interface, to) = (air.first + at.0 as usize, air.nodes[to.0 as usize]);
                    self.interfaces[interface].agent.sent(now, to);
                    self.act(now, interface);
                }
                Happening::Dropped { at, to, payload, cause, arrived } => {
                    let interface = self.media[medium].first + at.0 as usize;
                    self.gave_up(now, interface, to, payload, cause, arrived);
                }
                Happening::Unreachable { at, to, cause } => {
                    let interface = self.media[medium].first + at.0 as usize;
                    self.lose_link(now, interface, to, cause, None);
                    self.act(now, interface);
                }
            }
        }
    }

    /// Fetches the next agents that hear a message from memory: where an agent is, the agent, and what it needs.
    fn fetch_next(&self, medium: usize) {
        let Air { medium, first, nodes, .. } = &self.media[medium];
        let agent = |place| match medium.happening_after(place)? {
            Happening::Received { at, from, payload: Load::Routing(message, _), .. } => {
                let interface = &self.interfaces[first + at.0 as usize];
                Some((&interface.agent, nodes[from.0 as usize], message))
            }
            _ => None,
        };
        if let Some((agent, ..)) = agent(3) {
            prefetch(std::ptr::from_ref(agent));
        }
        if let Some((agent, ..)) = agent(2) {
            prefetch_value(agent.as_ref());
        }
        if let Some((agent, from, message)) = agent(1) {
            agent.prefetch(from, message, Step::Place);
        }
        if let Some((agent, from, message)) = agent(0) {
            agent.prefetch(from, message, Step::Value);
        }
    }

    /// The MAC of an interface dropped a frame; `arrived`: only its acknowledgement was lost.
    fn gave_up(&mut self, now: Instant, interface: usize, to: To, load: Load, cause: AirDrop, arrived: bool) {
        let parcel = match load {
            Load::Packet(parcel) => Some(parcel),
            Load::Routing(..) | Load::Address(_) => None,
        };
        let fate = match to {
            To::All => Fate::Lost,
            To::One(to) => self.lose_link(now, interface, to, cause, parcel.as_ref().map(|parcel| parcel.heading())),
        };
        if let Some(parcel) = parcel.filter(|_| !arrived) {
            match fate {
                Fate::Wait => self.keep(now, interface, parcel),
                Fate::Again => self.route(now, interface, parcel),
                Fate::Lost => {
                    let cause = match cause {
                        AirDrop::Retry => DropCause::Retry,
                        AirDrop::Queue => DropCause::Queue,
                        AirDrop::Lifetime => DropCause::Lifetime,
                    };
                    self.outcomes.push_back(Outcome::Dropped { interface, packet: parcel.packet, cause });
                }
            }
        }
        self.act(now, interface);
    }

    /// Tells the agent of an interface that a frame to a station was dropped.
    fn lose_link(
        &mut self,
        now: Instant,
        interface: usize,
        to: Station,
        cause: AirDrop,
        heading: Option<Heading>,
    ) -> Fate {
        let reason = match cause {
            AirDrop::Retry => Break::Retry,
            AirDrop::Queue => Break::Queue,
            AirDrop::Lifetime => Break::Lifetime,
        };
        let to = self.media[self.interfaces[interface].medium].nodes[to.0 as usize];
        let of = &mut self.interfaces[interface];
        of.broken += u64::from(reason == Break::Retry);
        of.agent.broken(now, to, reason, heading.as_ref())
    }
}

impl Interface {
    /// Finds its deadline anew.
    fn look_ahead(&mut self) {
        let routing = earlier(self.agent.poll_timeout(), self.resolver.poll_timeout());
        self.deadline = earlier(routing, self.waiting.expiry());
    }
}

/// The earlier one of two instants, if there are any.
fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        _ => one.or(other),
    }
}

/// The access classes of packets by the number of the endpoint to which they go.
fn classes(network: &Network) -> Vec<Option<Class>> {
    if network.flows.iter().all(|flow| flow.dscp.is_none()) {
        return Vec::new();
    }
    let numbers = Numbers::new(network);
    let ends = ends::of_connections(network, &numbers).chain(ends::of_datagrams(network, &numbers));
    ends.map(|end| network.flows[end.flow.index()].dscp.map(Class::of_dscp)).collect()
}

/// The access class of a packet, if its flow has a code point.
fn class(classes: &[Option<Class>], packet: &Packet) -> Option<Class> {
    if packet.body.is_signal() { None } else { *classes.get(packet.to.index())? }
}

/// A part that has turns.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Turn {
    Medium(usize),
    Interface(usize),
}

impl Surroundings for Air {
    fn has(&self, node: NodeId) -> bool {
        self.stations.get(node.0 as usize).is_some_and(Option::is_some)
    }

    fn position(&mut self, node: NodeId, now: Instant) -> Vector {
        match self.stations[node.0 as usize] {
            Some(station) => self.medium.position(station, now),
            None => Vector::ZERO,
        }
    }

    fn neighbours(&mut self, node: NodeId, now: Instant, min_delivery: Probability) -> &[NodeId] {
        self.neighbours.clear();
        let Self { medium, stations, nodes, neighbours, .. } = self;
        if let Some(station) = stations[node.0 as usize] {
            medium.in_range(station, now, min_delivery, |other| neighbours.push(nodes[other.0 as usize]));
            neighbours.sort_unstable();
        }
        neighbours
    }
}
