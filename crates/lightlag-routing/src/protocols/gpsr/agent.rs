//! GPSR on a node.

use super::plane::{cut, next_counter_clockwise, planar, square, square_in_space};
use super::{Beacon, Config, ForwardingMode, GpsrHeader, GpsrPosition, Void};
use crate::model::Model;
use crate::outbox::Outbox;
use crate::{
    Agent, Break, FailedPacketFate, Identity, Message, NodeAction, PacketInfo, Receiver, Route, RoutingHeader,
    Surroundings, Traffic, Verdict,
};
use lightlag_core::{Duration, Instant, RandomStream};
use lightlag_mobility::Vector;
use lightlag_net::NodeId;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
struct Gpsr {
    node: NodeId,
    config: Config,
    /// Position of each neighbour, and the time when it expires.
    neighbours: BTreeMap<NodeId, (GpsrPosition, Instant)>,
    /// Positions of destinations, and the times when they were requested.
    locations: BTreeMap<NodeId, (GpsrPosition, Instant)>,
    next_beacon: Option<Instant>,
    /// A packet that could not be delivered to a neighbour and is about to be routed again.
    returned: Option<(Instant, PacketInfo)>,
    changes: u64,
    beacons: RandomStream,
    errors: RandomStream,
    outbox: Outbox,
}

impl Model for Config {
    fn build(&self, identity: &Identity) -> Box<dyn Agent> {
        Box::new(Gpsr {
            node: identity.node,
            config: *self,
            neighbours: BTreeMap::new(),
            locations: BTreeMap::new(),
            next_beacon: None,
            returned: None,
            changes: 0,
            beacons: identity.stream("jitter"),
            errors: identity.stream("location"),
            outbox: Outbox::default(),
        })
    }
}

impl Gpsr {
    fn beacon_after(&mut self, now: Instant, min: f64) -> Instant {
        let share = min + self.beacons.uniform();
        now + Duration::from_secs_f64(self.config.beacon_interval.as_secs_f64() * share)
    }

    fn meet(&mut self, now: Instant, node: NodeId, gpsr_position: GpsrPosition) {
        let until = now + self.config.neighbour_timeout;
        self.changes += u64::from(self.neighbours.insert(node, (gpsr_position, until)).is_none());
    }

    fn forget_silent(&mut self, now: Instant) {
        let before = self.neighbours.len();
        self.neighbours.retain(|_, (_, until)| *until > now);
        self.changes += (before - self.neighbours.len()) as u64;
    }

    /// Returns the position of a destination from the oracle, or from the cache if it is recent enough.
    fn locate(&mut self, now: Instant, destination: NodeId, world: &mut dyn Surroundings) -> GpsrPosition {
        if let Some((cached, asked)) = self.locations.get(&destination)
            && now.since(*asked) < self.config.location_age
        {
            return *cached;
        }
        let mut position = world.position(destination, now);
        if self.config.location_error > 0.0 {
            let mut error = || self.errors.normal() * self.config.location_error;
            position += Vector::new(error(), error(), error());
        }
        let location = GpsrPosition::new(position);
        self.locations.insert(destination, (location, now));
        location
    }

    /// Returns the header for a packet at this node, and the position of the previous hop. If this node wrote the
    /// header itself, the header contains no position of the previous hop, and its first edge may be the edge that was
    /// lost.
    fn header(
        &mut self,
        now: Instant,
        heading: &PacketInfo,
        from: Option<NodeId>,
        extra: &RoutingHeader,
        world: &mut dyn Surroundings,
    ) -> (GpsrHeader, Option<GpsrPosition>) {
        let sender = GpsrPosition::new(world.position(self.node, now));
        let is_returned = self.returned.take() == Some((now, *heading));
        let (RoutingHeader::Gpsr(header), Some(from)) = (extra, from) else {
            let destination = self.locate(now, heading.destination, world);
            return (GpsrHeader { mode: ForwardingMode::Greedy, destination, sender }, None);
        };
        let mut header = *header;
        if is_returned {
            if matches!(header.mode, ForwardingMode::Perimeter { first_edge, .. } if first_edge.0 == self.node) {
                header.mode = ForwardingMode::Greedy;
            }
        } else {
            self.meet(now, from, header.sender);
        }
        let came_from = self.neighbours.get(&from).map(|(place, _)| *place);
        (GpsrHeader { sender, ..header }, came_from)
    }

    /// Returns the neighbour nearest to the packet's destination, if it is nearer than this node.
    fn greedy(&self, header: &GpsrHeader) -> Option<NodeId> {
        let to = header.destination;
        let square = match self.config.void {
            Void::Perimeter => square,
            Void::Drop => square_in_space,
        };
        let (node, (place, _)) = self.neighbours.iter().min_by_key(|(_, (place, _))| square(*place, to))?;
        (square(*place, to) < square(header.sender, to)).then_some(*node)
    }

    fn planar_neighbours(&self, me: GpsrPosition) -> Vec<(NodeId, GpsrPosition)> {
        let neighbours: Vec<(NodeId, GpsrPosition)> =
            self.neighbours.iter().map(|(node, (place, _))| (*node, *place)).collect();
        planar(self.config.planar, me, &neighbours)
    }

    /// Switches a packet to perimeter mode, and returns its first hop.
    fn enter(&self, header: &mut GpsrHeader) -> Option<NodeId> {
        let me = header.sender;
        let planar = self.planar_neighbours(me);
        let (next, _) = next_counter_clockwise(me, header.destination, &planar)?;
        let ground = GpsrPosition { z: 0, ..me };
        header.mode = ForwardingMode::Perimeter { entered: ground, face: ground, first_edge: (self.node, next) };
        Some(next)
    }

    /// Returns the next hop of a packet in perimeter mode; `None` if the packet has gone around its face.
    fn around(&self, header: &mut GpsrHeader, came_from: GpsrPosition) -> Option<NodeId> {
        let ForwardingMode::Perimeter { entered, mut face, mut first_edge } = header.mode else { return None };
        let (me, to) = (header.sender, header.destination);
        let planar = self.planar_neighbours(me);
        let (mut next, mut position) = next_counter_clockwise(me, came_from, &planar)?;
        if (self.node, next) == first_edge {
            return None;
        }
        // Each cut lies nearer to the destination than the last; a node has finitely many edges.
        for _ in 0..planar.len() {
            let Some(cut) = cut(me, position, entered, to).filter(|cut| square(*cut, to) < square(face, to)) else {
                break;
            };
            face = cut;
            (next, position) = next_counter_clockwise(me, position, &planar)?;
            first_edge = (self.node, next);
        }
        header.mode = ForwardingMode::Perimeter { entered, face, first_edge };
        Some(next)
    }

    fn choose(&self, header: &mut GpsrHeader, came_from: Option<GpsrPosition>) -> Option<NodeId> {
        if let ForwardingMode::Perimeter { entered, .. } = header.mode {
            let to = header.destination;
            match came_from {
                Some(came_from) if square(header.sender, to) >= square(entered, to) => {
                    return self.around(header, came_from);
                }
                _ => header.mode = ForwardingMode::Greedy,
            }
        }
        self.greedy(header).or_else(|| match self.config.void {
            Void::Perimeter => self.enter(header),
            Void::Drop => None,
        })
    }
}

impl Agent for Gpsr {
    fn start(&mut self, now: Instant) {
        self.next_beacon = Some(self.beacon_after(now, 0.0));
    }

    fn route(
        &mut self,
        now: Instant,
        heading: &PacketInfo,
        from: Option<NodeId>,
        extra: &mut RoutingHeader,
        world: &mut dyn Surroundings,
    ) -> Verdict {
        self.forget_silent(now);
        let (mut header, came_from) = self.header(now, heading, from, extra, world);
        let next = if self.neighbours.contains_key(&heading.destination) {
            Some(heading.destination)
        } else {
            self.choose(&mut header, came_from)
        };
        *extra = RoutingHeader::Gpsr(header);
        next.map_or(Verdict::Unreachable, Verdict::Via)
    }

    fn hear(
        &mut self,
        now: Instant,
        from: NodeId,
        _to: Receiver,
        message: &Message,
        snr_db: f32,
        _world: &mut dyn Surroundings,
    ) {
        if let Message::Gpsr(beacon) = message
            && f64::from(snr_db) >= self.config.min_snr
        {
            self.meet(now, from, beacon.position);
        }
    }

    fn delivered(&mut self, now: Instant, _heading: &PacketInfo, from: NodeId, extra: &RoutingHeader) {
        if let RoutingHeader::Gpsr(header) = extra {
            self.meet(now, from, header.sender);
        }
    }

    fn broken(&mut self, now: Instant, to: NodeId, cause: Break, heading: Option<&PacketInfo>) -> FailedPacketFate {
        if !self.config.link_feedback || cause != Break::Retry {
            return FailedPacketFate::Lost;
        }
        self.changes += u64::from(self.neighbours.remove(&to).is_some());
        self.returned = heading.map(|heading| (now, *heading));
        FailedPacketFate::Again
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.next_beacon
    }

    fn handle_timeout(&mut self, now: Instant, world: &mut dyn Surroundings) {
        if self.next_beacon.is_some_and(|at| at <= now) {
            self.forget_silent(now);
            let position = GpsrPosition::new(world.position(self.node, now));
            self.outbox.send(Receiver::All, Message::Gpsr(Beacon { position }), 1);
            self.next_beacon = Some(self.beacon_after(now, 0.5));
        }
    }

    fn poll_action(&mut self) -> Option<NodeAction> {
        self.outbox.take()
    }

    fn routes(&self, now: Instant) -> Vec<Route> {
        let heard = self.neighbours.iter().filter(|(_, (_, until))| *until > now);
        let route = |(node, (_, until)): (&NodeId, &(GpsrPosition, Instant))| Route {
            destination: *node,
            next_hop: *node,
            hops: 1,
            lifetime: Some(until.since(now)),
        };
        heard.map(route).collect()
    }

    fn changes(&self) -> u64 {
        self.changes
    }

    fn traffic(&self) -> &Traffic {
        self.outbox.traffic()
    }
}
