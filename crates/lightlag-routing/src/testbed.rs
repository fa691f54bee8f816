//! An ideal medium for tests: each frame takes a given time, reaches exactly the neighbours in a graph, and never
//! collides.

use crate::{
    Agent, Break, FailedPacketFate, Message, NodeAction, PacketInfo, Receiver, RoutingHeader, Surroundings, Verdict,
};
use lightlag_core::{Duration, Instant, Probability, RandomStream};
use lightlag_mobility::Vector;
use lightlag_net::NodeId;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) fn at(seconds: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(seconds)
}

/// Undirected links between nodes, and their positions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    links: Vec<BTreeSet<NodeId>>,
    lists: Vec<Vec<NodeId>>,
    pub positions: Vec<Vector>,
}

impl Graph {
    pub(crate) fn new(nodes: usize) -> Self {
        Self {
            links: vec![BTreeSet::new(); nodes],
            lists: vec![Vec::new(); nodes],
            positions: vec![Vector::ZERO; nodes],
        }
    }

    pub(crate) fn chain(nodes: usize) -> Self {
        let mut graph = Self::new(nodes);
        (1..nodes as u32).for_each(|node| graph.join(node - 1, node));
        graph
    }

    pub(crate) fn grid(side: u32) -> Self {
        let mut graph = Self::new((side * side) as usize);
        for (x, y) in (0..side).flat_map(|x| (0..side).map(move |y| (x, y))) {
            let node = y * side + x;
            graph.positions[node as usize] = Vector::new(f64::from(x), f64::from(y), 0.0) * 10.0;
            if x + 1 < side {
                graph.join(node, node + 1);
            }
            if y + 1 < side {
                graph.join(node, node + side);
            }
        }
        graph
    }

    /// Returns nodes at random positions in a square of side 1, with links between nodes up to `range` apart.
    pub(crate) fn disc(nodes: usize, range: f64, random: &mut RandomStream) -> Self {
        let mut graph = Self::new(nodes);
        for position in &mut graph.positions {
            *position = Vector::new(random.uniform(), random.uniform(), 0.0) * 100.0;
        }
        graph.join_within(range * 100.0);
        graph
    }

    pub(crate) fn join_within(&mut self, range: f64) {
        let nodes = self.positions.len() as u32;
        for (a, b) in (0..nodes).flat_map(|a| (0..a).map(move |b| (a, b))) {
            if self.positions[a as usize].distance(self.positions[b as usize]) <= range {
                self.join(a, b);
            }
        }
    }

    pub(crate) fn nodes(&self) -> u32 {
        self.links.len() as u32
    }

    fn set(&mut self, a: u32, b: u32, joined: bool) {
        for (from, to) in [(a, b), (b, a)] {
            let links = &mut self.links[from as usize];
            if joined {
                links.insert(NodeId(to));
            } else {
                links.remove(&NodeId(to));
            }
            self.lists[from as usize] = links.iter().copied().collect();
        }
    }

    pub(crate) fn join(&mut self, a: u32, b: u32) {
        self.set(a, b, true);
    }

    pub(crate) fn cut(&mut self, a: u32, b: u32) {
        self.set(a, b, false);
    }

    pub(crate) fn has(&self, a: NodeId, b: NodeId) -> bool {
        self.links[a.0 as usize].contains(&b)
    }

    /// Returns the number of hops from a node to each other node; `None` if there is no path.
    pub(crate) fn hops(&self, from: u32) -> Vec<Option<u32>> {
        let mut hops = vec![None; self.links.len()];
        hops[from as usize] = Some(0);
        let mut ring = vec![NodeId(from)];
        let mut distance = 0;
        while !ring.is_empty() {
            distance += 1;
            let mut next = Vec::new();
            for neighbour in ring.iter().flat_map(|node| &self.links[node.0 as usize]) {
                if hops[neighbour.0 as usize].is_none() {
                    hops[neighbour.0 as usize] = Some(distance);
                    next.push(*neighbour);
                }
            }
            ring = next;
        }
        hops
    }
}

impl Surroundings for Graph {
    fn position(&mut self, node: NodeId, _now: Instant) -> Vector {
        self.positions[node.0 as usize]
    }

    fn has(&self, node: NodeId) -> bool {
        (node.0 as usize) < self.links.len()
    }

    fn neighbours(&mut self, node: NodeId, _now: Instant, _min_delivery: Probability) -> &[NodeId] {
        &self.lists[node.0 as usize]
    }
}

#[derive(Clone, Debug)]
struct TestPacket {
    id: usize,
    heading: PacketInfo,
    extra: RoutingHeader,
    path: Vec<NodeId>,
}

#[derive(Clone, Debug)]
enum Event {
    Heard { from: NodeId, to: Receiver, message: Message },
    Given { from: NodeId, to: NodeId, packet: TestPacket },
}

/// The fate of a packet.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum PacketEnd {
    Delivered { at: Instant, path: Vec<NodeId> },
    Unreachable { path: Vec<NodeId> },
    Broken { path: Vec<NodeId> },
    Looped { path: Vec<NodeId> },
    Discarded,
}

impl PacketEnd {
    pub(crate) fn is_delivery(&self) -> bool {
        matches!(self, Self::Delivered { .. })
    }
}

/// Nodes with agents on an ideal medium.
#[derive(Debug)]
pub(crate) struct Bed {
    pub now: Instant,
    pub graph: Graph,
    pub agents: Vec<Box<dyn Agent>>,
    /// Returns the duration of a frame with a payload of this size.
    frame: fn(Receiver, u32) -> Duration,
    events: BTreeMap<(Instant, u64), Event>,
    number: u64,
    waiting: Vec<Vec<TestPacket>>,
    /// The fate of each packet, indexed in the order of sending.
    pub ends: BTreeMap<usize, PacketEnd>,
    packets: usize,
    /// Initial time to live of packets.
    pub ttl: u8,
    /// The control messages sent, in order of time.
    pub sent: Vec<(Instant, NodeId, Receiver, Message)>,
    /// Notifications that the route to a destination broke, in order of time: time, node, destination.
    pub broken: Vec<(Instant, NodeId, NodeId)>,
    /// Fraction of control frames that are lost, and the random stream that selects them.
    pub loss: Option<(f64, RandomStream)>,
}

/// Size of the UDP and IP headers in bytes.
const HEADERS: u32 = 28;

impl Bed {
    pub(crate) fn new(graph: Graph, agents: Vec<Box<dyn Agent>>, frame: fn(Receiver, u32) -> Duration) -> Self {
        let waiting = vec![Vec::new(); agents.len()];
        let mut bed = Self {
            now: Instant::ZERO,
            graph,
            agents,
            frame,
            events: BTreeMap::new(),
            number: 0,
            waiting,
            ends: BTreeMap::new(),
            packets: 0,
            ttl: 64,
            sent: Vec::new(),
            broken: Vec::new(),
            loss: None,
        };
        for node in 0..bed.agents.len() {
            bed.agents[node].start(Instant::ZERO);
            bed.collect(node);
        }
        bed
    }

    /// Returns the nodes that were notified that their route to a destination broke, in order of time.
    pub(crate) fn told_of(&self, destination: u32) -> Vec<u32> {
        let is_it = |(.., of): &&(Instant, NodeId, NodeId)| of.0 == destination;
        self.broken.iter().filter(is_it).map(|(_, node, _)| node.0).collect()
    }

    fn schedule(&mut self, time: Instant, event: Event) {
        self.number += 1;
        self.events.insert((time, self.number), event);
    }

    /// Sends a packet of 100 bytes from its origin. Returns the packet's number.
    pub(crate) fn send(&mut self, origin: u32, destination: u32) -> usize {
        let heading = PacketInfo { origin: NodeId(origin), destination: NodeId(destination), ttl: self.ttl, size: 100 };
        let id = self.packets;
        self.packets += 1;
        self.forward(origin as usize, None, TestPacket { id, heading, extra: RoutingHeader::None, path: vec![] });
        self.collect(origin as usize);
        id
    }

    fn forward(&mut self, node: usize, from: Option<NodeId>, mut packet: TestPacket) {
        let agent = &mut self.agents[node];
        match agent.route(self.now, &packet.heading, from, &mut packet.extra, &mut self.graph) {
            Verdict::Via(next) => {
                let frame = (self.frame)(Receiver::One(next), packet.heading.size + packet.extra.size());
                self.schedule(self.now + frame, Event::Given { from: NodeId(node as u32), to: next, packet });
            }
            Verdict::Wait => self.waiting[node].push(packet),
            Verdict::Unreachable => {
                self.ends.insert(packet.id, PacketEnd::Unreachable { path: packet.path });
            }
        }
    }

    /// Carries out the actions of an agent.
    fn collect(&mut self, node: usize) {
        while let Some(action) = self.agents[node].poll_action() {
            match action {
                NodeAction::Send { to, message, .. } => {
                    self.sent.push((self.now, NodeId(node as u32), to, message.clone()));
                    let at = self.now + (self.frame)(to, message.size() + HEADERS);
                    self.schedule(at, Event::Heard { from: NodeId(node as u32), to, message });
                }
                NodeAction::Release { destination } => {
                    for packet in self.take_waiting(node, destination) {
                        self.forward(node, None, packet);
                    }
                }
                NodeAction::Discard { destination } => {
                    for packet in self.take_waiting(node, destination) {
                        self.ends.insert(packet.id, PacketEnd::Discarded);
                    }
                }
                NodeAction::Broken { destination } => self.broken.push((self.now, NodeId(node as u32), destination)),
            }
        }
    }

    fn take_waiting(&mut self, node: usize, destination: NodeId) -> Vec<TestPacket> {
        let (taken, kept) =
            self.waiting[node].drain(..).partition(|packet: &TestPacket| packet.heading.destination == destination);
        self.waiting[node] = kept;
        taken
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Heard { from, to, message } => {
                let hearers: Vec<NodeId> = match to {
                    Receiver::All => self.graph.neighbours(from, self.now, Probability::HALF).to_vec(),
                    Receiver::One(node) if self.graph.has(from, node) => vec![node],
                    Receiver::One(node) => {
                        self.agents[from.0 as usize].broken(self.now, node, Break::Retry, None);
                        return self.collect(from.0 as usize);
                    }
                };
                for hearer in hearers {
                    if let Some((share, random)) = &mut self.loss
                        && random.uniform() < *share
                    {
                        continue;
                    }
                    let node = hearer.0 as usize;
                    self.agents[node].hear(self.now, from, to, &message, 30.0, &mut self.graph);
                    self.collect(node);
                }
                if let Receiver::One(node) = to {
                    self.agents[from.0 as usize].sent(self.now, node);
                }
                self.collect(from.0 as usize);
            }
            Event::Given { from, to, packet } => self.give(from, to, packet),
        }
    }

    fn give(&mut self, from: NodeId, to: NodeId, mut packet: TestPacket) {
        let (sender, node) = (from.0 as usize, to.0 as usize);
        if !self.graph.has(from, to) {
            match self.agents[sender].broken(self.now, to, Break::Retry, Some(&packet.heading)) {
                FailedPacketFate::Lost => {
                    self.ends.insert(packet.id, PacketEnd::Broken { path: packet.path });
                }
                FailedPacketFate::Wait => self.waiting[sender].push(packet),
                FailedPacketFate::Again => {
                    let from = packet.path.last().copied();
                    self.forward(sender, from, packet);
                }
            }
            return self.collect(sender);
        }
        self.agents[sender].sent(self.now, to);
        self.collect(sender);
        packet.path.push(from);
        if packet.heading.destination == to {
            self.agents[node].delivered(self.now, &packet.heading, from, &packet.extra);
            self.ends.insert(packet.id, PacketEnd::Delivered { at: self.now, path: packet.path });
        } else if packet.heading.ttl == 1 {
            self.ends.insert(packet.id, PacketEnd::Looped { path: packet.path });
        } else {
            packet.heading.ttl -= 1;
            self.forward(node, Some(from), packet);
        }
        self.collect(node);
    }

    /// Runs until a time.
    pub(crate) fn run(&mut self, until: Instant) {
        loop {
            let wake =
                self.agents.iter().enumerate().filter_map(|(node, agent)| Some((agent.poll_timeout()?, node))).min();
            let next = self.events.first_key_value().map(|(&(at, _), _)| at);
            let due = next.into_iter().chain(wake.map(|(at, _)| at)).min();
            let Some(due) = due.filter(|due| *due <= until) else { break };
            assert!(due >= self.now, "an agent set a timer in the past");
            self.now = due;
            if next == Some(due) {
                let (_, event) = self.events.pop_first().expect("the event exists");
                self.happen(event);
            } else if let Some((_, node)) = wake {
                self.agents[node].handle_timeout(due, &mut self.graph);
                self.collect(node);
            }
        }
        self.now = until;
    }

    /// Returns the next hop of a node for a destination, and the number of hops.
    pub(crate) fn next_hop(&self, node: u32, destination: u32) -> Option<(u32, u32)> {
        let routes = self.agents[node as usize].routes(self.now);
        let route = routes.iter().find(|route| route.destination == NodeId(destination))?;
        Some((route.next_hop.0, route.hops))
    }

    /// Returns a routing loop towards some destination, if there is one.
    pub(crate) fn cycle(&self) -> Option<Vec<u32>> {
        let nodes = self.graph.nodes();
        let mut next = vec![vec![None; nodes as usize]; nodes as usize];
        for (node, agent) in self.agents.iter().enumerate() {
            for route in agent.routes(self.now) {
                next[route.destination.0 as usize][node] = Some(route.next_hop.0);
            }
        }
        for (destination, next) in next.iter().enumerate() {
            for start in 0..nodes {
                let (mut path, mut current) = (vec![start], start);
                while current != destination as u32
                    && let Some(hop) = next[current as usize]
                {
                    if path.contains(&hop) {
                        path.push(hop);
                        path.push(destination as u32);
                        return Some(path);
                    }
                    path.push(hop);
                    current = hop;
                }
            }
        }
        None
    }

    pub(crate) fn count(&self, kind: crate::Kind) -> u64 {
        self.agents.iter().map(|agent| agent.traffic().messages(kind)).sum()
    }
}

/// Returns the duration of an 802.11a frame on an idle medium: DIFS and the frame at 6 Mbit/s for broadcast; DIFS, the
/// frame at 24 Mbit/s, SIFS and ACK for unicast.
pub(crate) fn wifi(to: Receiver, bytes: u32) -> Duration {
    let bits = 16 + 8 * (bytes + 36) + 6;
    let ofdm = |bits_per_symbol: u32| 20 + 4 * u64::from(bits.div_ceil(bits_per_symbol));
    match to {
        Receiver::All => Duration::from_micros(34 + ofdm(24)),
        Receiver::One(_) => Duration::from_micros(34 + ofdm(96) + 16 + 28),
    }
}
