//! GPSR on a node.

use super::plane::{cut, next_counter_clockwise, planar, square, square_in_space};
use super::{Beacon, Config, Header, Mode, Place, Void};
use crate::model::Model;
use crate::outbox::Outbox;
use crate::{
    Action, Agent, Break, Extra, Fate, Heading, Identity, Message, Receiver, Route, Surroundings, Traffic, Verdict,
};
use lightlag_core::{Duration, Instant, RandomStream};
use lightlag_mobility::Vector;
use lightlag_net::NodeId;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
struct Gpsr {
    node: NodeId,
    config: Config,
    /// Where each neighbour was, and until when that counts.
    neighbours: BTreeMap<NodeId, (Place, Instant)>,
    /// Where destinations are, and when that was asked.
    locations: BTreeMap<NodeId, (Place, Instant)>,
    next_beacon: Option<Instant>,
    /// A packet that a neighbour did not get, and that is about to be routed again.
    returned: Option<(Instant, Heading)>,
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
    fn beacon_after(&mut self, now: Instant, least: f64) -> Instant {
        let share = least + self.beacons.uniform();
        now + Duration::from_secs_f64(self.config.beacon_interval.as_secs_f64() * share)
    }

    fn meet(&mut self, now: Instant, node: NodeId, place: Place) {
        let until = now + self.config.neighbour_timeout;
        self.changes += u64::from(self.neighbours.insert(node, (place, until)).is_none());
    }

    fn forget_silent(&mut self, now: Instant) {
        let before = self.neighbours.len();
        self.neighbours.retain(|_, (_, until)| *until > now);
        self.changes += (before - self.neighbours.len()) as u64;
    }

    /// The position of a destination as the oracle tells it.
    fn locate(&mut self, now: Instant, destination: NodeId, world: &mut dyn Surroundings) -> Place {
        if let Some((place, asked)) = self.locations.get(&destination)
            && now.since(*asked) < self.config.location_age
        {
            return *place;
        }
        let mut position = world.position(destination, now);
        if self.config.location_error > 0.0 {
            let mut error = || self.errors.normal() * self.config.location_error;
            position += Vector::new(error(), error(), error());
        }
        let place = Place::new(position);
        self.locations.insert(destination, (place, now));
        place
    }

    /// The header of a packet at this node, and the place of the neighbour from which it came. A header that this node wrote
    /// itself says nothing about that neighbour, and its first edge may be the one that is lost.
    fn header(
        &mut self,
        now: Instant,
        heading: &Heading,
        from: Option<NodeId>,
        extra: &Extra,
        world: &mut dyn Surroundings,
    ) -> (Header, Option<Place>) {
        let sender = Place::new(world.position(self.node, now));
        let is_returned = self.returned.take() == Some((now, *heading));
        let (Extra::Gpsr(header), Some(from)) = (extra, from) else {
            let destination = self.locate(now, heading.destination, world);
            return (Header { mode: Mode::Greedy, destination, sender }, None);
        };
        let mut header = *header;
        if is_returned {
            if matches!(header.mode, Mode::Perimeter { first_edge, .. } if first_edge.0 == self.node) {
                header.mode = Mode::Greedy;
            }
        } else {
            self.meet(now, from, header.sender);
        }
        let came_from = self.neighbours.get(&from).map(|(place, _)| *place);
        (Header { sender, ..header }, came_from)
    }

    /// The neighbour that brings a packet nearest to its destination, if it brings it nearer.
    fn greedy(&self, header: &Header) -> Option<NodeId> {
        let to = header.destination;
        let square = match self.config.void {
            Void::Perimeter => square,
            Void::Drop => square_in_space,
        };
        let (node, (place, _)) = self.neighbours.iter().min_by_key(|(_, (place, _))| square(*place, to))?;
        (square(*place, to) < square(header.sender, to)).then_some(*node)
    }

    fn planar_neighbours(&self, me: Place) -> Vec<(NodeId, Place)> {
        let neighbours: Vec<(NodeId, Place)> =
            self.neighbours.iter().map(|(node, (place, _))| (*node, *place)).collect();
        planar(self.config.planar, me, &neighbours)
    }

    /// A packet enters perimeter mode.
    fn enter(&self, header: &mut Header) -> Option<NodeId> {
        let me = header.sender;
        let planar = self.planar_neighbours(me);
        let (next, _) = next_counter_clockwise(me, header.destination, &planar)?;
        let ground = Place { z: 0, ..me };
        header.mode = Mode::Perimeter { entered: ground, face: ground, first_edge: (self.node, next) };
        Some(next)
    }

    /// A packet goes on in perimeter mode, or has gone around its face.
    fn around(&self, header: &mut Header, came_from: Place) -> Option<NodeId> {
        let Mode::Perimeter { entered, mut face, mut first_edge } = header.mode else { return None };
        let (me, to) = (header.sender, header.destination);
        let planar = self.planar_neighbours(me);
        let (mut next, mut place) = next_counter_clockwise(me, came_from, &planar)?;
        if (self.node, next) == first_edge {
            return None;
        }
        // Each cut lies nearer to the destination than the last; a node has finitely many edges.
        for _ in 0..planar.len() {
            let Some(cut) = cut(me, place, entered, to).filter(|cut| square(*cut, to) < square(face, to)) else {
                break;
            };
            face = cut;
            (next, place) = next_counter_clockwise(me, place, &planar)?;
            first_edge = (self.node, next);
        }
        header.mode = Mode::Perimeter { entered, face, first_edge };
        Some(next)
    }

    fn choose(&self, header: &mut Header, came_from: Option<Place>) -> Option<NodeId> {
        if let Mode::Perimeter { entered, .. } = header.mode {
            let to = header.destination;
            match came_from {
                Some(came_from) if square(header.sender, to) >= square(entered, to) => {
                    return self.around(header, came_from);
                }
                _ => header.mode = Mode::Greedy,
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
        heading: &Heading,
        from: Option<NodeId>,
        extra: &mut Extra,
        world: &mut dyn Surroundings,
    ) -> Verdict {
        self.forget_silent(now);
        let (mut header, came_from) = self.header(now, heading, from, extra, world);
        let next = if self.neighbours.contains_key(&heading.destination) {
            Some(heading.destination)
        } else {
            self.choose(&mut header, came_from)
        };
        *extra = Extra::Gpsr(header);
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

    fn delivered(&mut self, now: Instant, _heading: &Heading, from: NodeId, extra: &Extra) {
        if let Extra::Gpsr(header) = extra {
            self.meet(now, from, header.sender);
        }
    }

    fn broken(&mut self, now: Instant, to: NodeId, cause: Break, heading: Option<&Heading>) -> Fate {
        if !self.config.link_feedback || cause != Break::Retry {
            return Fate::Lost;
        }
        self.changes += u64::from(self.neighbours.remove(&to).is_some());
        self.returned = heading.map(|heading| (now, *heading));
        Fate::Again
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.next_beacon
    }

    fn handle_timeout(&mut self, now: Instant, world: &mut dyn Surroundings) {
        if self.next_beacon.is_some_and(|at| at <= now) {
            self.forget_silent(now);
            let position = Place::new(world.position(self.node, now));
            self.outbox.send(Receiver::All, Message::Gpsr(Beacon { position }), 1);
            self.next_beacon = Some(self.beacon_after(now, 0.5));
        }
    }

    fn poll_action(&mut self) -> Option<Action> {
        self.outbox.take()
    }

    fn routes(&self, now: Instant) -> Vec<Route> {
        let heard = self.neighbours.iter().filter(|(_, (_, until))| *until > now);
        let route = |(node, (_, until)): (&NodeId, &(Place, Instant))| Route {
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
