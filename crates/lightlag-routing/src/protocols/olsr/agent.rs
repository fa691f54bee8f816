//! OLSR on a node.

use super::config::{Config, NEVER};
use super::state::{Changed, Link, State, Topology};
use super::{
    LinkCode, LinkType, NeighbourType, OlsrBody, OlsrHello, OlsrMessage, OlsrPacket, TopologyControl, Validity,
};
use crate::agent::earliest;
use crate::model::Model;
use crate::outbox::Outbox;
use crate::{
    Agent, Break, FailedPacketFate, Identity, NodeAction, PacketInfo, Receiver, Route, RoutingHeader, Surroundings,
    Traffic, Verdict,
};
use lightlag_core::{Duration, Instant, RandomStream};
use lightlag_net::NodeId;
use std::collections::BTreeMap;

/// Maximum number of messages in a packet, as in ns-3.
const MOST_MESSAGES: usize = 64;
/// Maximum number of hops of a message (RFC 3626 §9.3).
const TTL: u8 = 255;

/// First hop and number of hops, indexed by destination.
type Ways = Vec<Option<(NodeId, u32)>>;

/// OLSR on a node.
#[derive(Clone, Debug)]
struct Olsr {
    node: NodeId,
    config: Config,
    state: State,
    changed: Changed,
    /// First hop and number of hops, indexed by destination.
    routes: Ways,
    /// Buffer in which the next routes are computed.
    spare: Ways,
    changes: u64,
    /// Whether the neighbours have changed since the relays were chosen.
    relays_are_old: bool,
    /// Messages for the next packet, and the transmission time of that packet.
    queued: Vec<OlsrMessage>,
    packet_at: Option<Instant>,
    next_hello: Option<Instant>,
    next_tc: Option<Instant>,
    /// The sequence number of the advertised set of selectors: ANSN.
    set: u16,
    /// End of the period in which an empty set of selectors is still advertised.
    report_empty: Option<Instant>,
    message_sequence: u16,
    packet_sequence: u16,
    random: RandomStream,
    outbox: Outbox,
}

impl Model for Config {
    fn build(&self, identity: &Identity) -> Box<dyn Agent> {
        Box::new(Olsr {
            node: identity.node,
            config: *self,
            state: State::default(),
            changed: Changed::default(),
            routes: Ways::new(),
            spare: Ways::new(),
            relays_are_old: false,
            changes: 0,
            queued: Vec::new(),
            packet_at: None,
            next_hello: None,
            next_tc: None,
            set: 0,
            report_empty: None,
            message_sequence: 0,
            packet_sequence: 0,
            random: identity.stream("jitter"),
            outbox: Outbox::default(),
        })
    }
}

/// Returns true if sequence number `a` is newer than `b` (RFC 3626 §19).
fn is_newer(a: u16, b: u16) -> bool {
    (a.wrapping_sub(b) as i16) > 0
}

impl Olsr {
    /// Queues a message that this node creates.
    fn originate(&mut self, now: Instant, validity: Duration, ttl: u8, body: OlsrBody) {
        self.message_sequence = self.message_sequence.wrapping_add(1);
        let message = OlsrMessage {
            validity: Validity::new(validity),
            originator: self.node,
            ttl,
            hop_count: 0,
            sequence: self.message_sequence,
            body,
        };
        self.queue(now, message);
    }

    /// Queues a message for a random time, or until the packet that is already waiting is sent.
    fn queue(&mut self, now: Instant, message: OlsrMessage) {
        self.queued.push(message);
        if self.packet_at.is_none() {
            let delay = self.random.uniform() * self.config.jitter.as_secs_f64();
            self.packet_at = Some(now + Duration::from_secs_f64(delay));
        }
    }

    fn send_packets(&mut self) {
        self.packet_at = None;
        let queued = std::mem::take(&mut self.queued);
        for messages in queued.chunks(MOST_MESSAGES) {
            self.packet_sequence = self.packet_sequence.wrapping_add(1);
            let packet = OlsrPacket { sequence: self.packet_sequence, messages: messages.to_vec() };
            self.outbox.send(Receiver::All, crate::Message::Olsr(packet), 1);
        }
    }

    /// Sends a HELLO (RFC 3626 §6.2).
    fn send_hello(&mut self, now: Instant) {
        if std::mem::take(&mut self.relays_are_old) {
            self.state.choose_relays(now, self.node);
        }
        let mut links: BTreeMap<LinkCode, Vec<NodeId>> = BTreeMap::new();
        for (node, entry) in &self.state.links {
            let is_symmetric = entry.is_symmetric(now);
            let link = match is_symmetric {
                true => LinkType::Symmetric,
                false if entry.asymmetric > now => LinkType::Asymmetric,
                false => LinkType::Lost,
            };
            let neighbour = match is_symmetric {
                true if self.state.relays.contains(node) => NeighbourType::Relay,
                true => NeighbourType::Symmetric,
                false => NeighbourType::Not,
            };
            links.entry(LinkCode { link, neighbour }).or_default().push(*node);
        }
        let hello = OlsrHello {
            interval: Validity::new(self.config.hello_interval),
            willingness: self.config.willingness,
            links: links.into_iter().collect(),
        };
        self.originate(now, self.config.neighbour_hold(), 1, OlsrBody::Hello(hello));
        self.next_hello = Some(now + self.config.hello_interval);
    }

    /// Sends a TC (RFC 3626 §9.3): a relay advertises its selectors and, for some time after it lost the last selector,
    /// the empty set.
    fn send_tc(&mut self, now: Instant) {
        let neighbours: Vec<NodeId> = self.state.selectors.keys().copied().collect();
        if !neighbours.is_empty() {
            self.report_empty = Some(now + self.config.topology_hold());
        }
        if !neighbours.is_empty() || self.report_empty.is_some_and(|end| now < end) {
            let body = OlsrBody::TopologyControl(TopologyControl { sequence: self.set, neighbours });
            self.originate(now, self.config.topology_hold(), TTL, body);
        }
        self.next_tc = Some(now + self.config.tc_interval);
    }

    /// Handles a HELLO (RFC 3626 §7.1.1, §8.2.1 and §8.4.1).
    fn hear_hello(&mut self, now: Instant, from: NodeId, validity: Duration, hello: &OlsrHello) {
        let end = now + validity;
        let own = hello.links.iter().find(|(_, nodes)| nodes.contains(&self.node)).map(|(code, _)| *code);
        let was_symmetric = self.state.is_symmetric(now, from);
        let link = self.state.links.entry(from).or_insert(Link {
            symmetric: None,
            asymmetric: end,
            expires: end,
            willingness: hello.willingness,
        });
        link.asymmetric = end;
        match own.map(|code| code.link) {
            Some(LinkType::Lost) => link.symmetric = None,
            Some(LinkType::Symmetric | LinkType::Asymmetric) => {
                link.symmetric = Some(end);
                link.expires = end + self.config.neighbour_hold();
            }
            Some(LinkType::Unspecified) | None => {}
        }
        link.expires = link.expires.max(end);
        let is_symmetric = link.is_symmetric(now);
        self.changed.neighbours |= is_symmetric != was_symmetric || link.willingness != hello.willingness;
        link.willingness = hello.willingness;
        self.state.note(end);
        if is_symmetric {
            self.learn_neighbours(from, end, hello);
            if own.is_some_and(|code| code.neighbour == NeighbourType::Relay) {
                self.changed.selectors |= self.state.selectors.insert(from, end).is_none();
            }
        } else if was_symmetric {
            self.state.lose(from, &mut self.changed);
        }
    }

    fn learn_neighbours(&mut self, from: NodeId, end: Instant, hello: &OlsrHello) {
        for (code, nodes) in &hello.links {
            let is_near = code.neighbour != NeighbourType::Not;
            for &node in nodes.iter().filter(|node| **node != self.node) {
                let known = if is_near {
                    self.state.two_hop.insert((from, node), end).is_some()
                } else {
                    self.state.two_hop.remove(&(from, node)).is_none()
                };
                self.changed.neighbours |= !known;
            }
        }
    }

    /// Handles a TC (RFC 3626 §9.5).
    fn hear_tc(&mut self, now: Instant, originator: NodeId, validity: Duration, report: &TopologyControl) {
        let expires = now + validity;
        let known = self.state.topology.get(&originator);
        if known.is_some_and(|known| is_newer(known.sequence, report.sequence)) {
            return;
        }
        self.changed.topology |= known.is_none_or(|known| known.neighbours != report.neighbours);
        let topology = Topology { sequence: report.sequence, neighbours: report.neighbours.clone(), expires };
        self.state.topology.insert(originator, topology);
        self.state.note(expires);
    }

    /// Handles or forwards a message (RFC 3626 §3.4 and §3.4.1).
    fn hear_message(&mut self, now: Instant, from: NodeId, message: &OlsrMessage) {
        if message.originator == self.node || message.ttl == 0 {
            return;
        }
        let validity = message.validity.time();
        match &message.body {
            OlsrBody::Hello(hello) => self.hear_hello(now, from, validity, hello),
            OlsrBody::TopologyControl(report) => {
                let key = (message.originator, message.sequence);
                if self.state.duplicates.contains_key(&key) || !self.state.is_symmetric(now, from) {
                    return;
                }
                self.hear_tc(now, message.originator, validity, report);
                let end = now + self.config.duplicate_hold;
                self.state.duplicates.insert(key, end);
                self.state.note(end);
                if message.ttl > 1 && self.state.selectors.contains_key(&from) {
                    let relayed = OlsrMessage {
                        ttl: message.ttl - 1,
                        hop_count: message.hop_count.saturating_add(1),
                        ..message.clone()
                    };
                    self.queue(now, relayed);
                }
            }
        }
    }

    /// Applies the changes of the sets: marks the relays as outdated, increments the ANSN and recomputes the routes.
    fn settle(&mut self, now: Instant) {
        self.state.expire(now, &mut self.changed);
        let changed = std::mem::take(&mut self.changed);
        // Nothing but a HELLO needs the relays.
        self.relays_are_old |= changed.neighbours;
        if changed.selectors {
            self.set = self.set.wrapping_add(1);
        }
        if changed.neighbours || changed.topology {
            self.find_routes(now);
        }
    }

    /// Computes the routes (RFC 3626 §10): shortest paths in hops over the neighbours, their neighbours, and the
    /// topology set.
    fn find_routes(&mut self, now: Instant) {
        let mut routes = std::mem::take(&mut self.spare);
        routes.clear();
        self.state.symmetric(now).for_each(|(node, _)| enter(&mut routes, node, (node, 1)));
        let carries = |via: NodeId| {
            let link = self.state.links.get(&via);
            link.is_some_and(|link| link.is_symmetric(now) && link.willingness != NEVER)
        };
        let is_new = |routes: &Ways, target: NodeId| {
            target != self.node && routes.get(target.0 as usize).is_none_or(Option::is_none)
        };
        let mut ring = Vec::new();
        // The pairs of a neighbour are adjacent.
        let (mut neighbour, mut is_way) = (None, false);
        for &(via, target) in self.state.two_hop.keys() {
            if neighbour != Some(via) {
                (neighbour, is_way) = (Some(via), carries(via));
            }
            if is_way && is_new(&routes, target) {
                enter(&mut routes, target, (via, 2));
                ring.push((target, via));
            }
        }
        let mut hops = 2;
        while !ring.is_empty() {
            hops += 1;
            for (last, first) in std::mem::take(&mut ring) {
                for &target in self.state.topology.get(&last).into_iter().flat_map(|report| &report.neighbours) {
                    if is_new(&routes, target) {
                        enter(&mut routes, target, (first, hops));
                        ring.push((target, first));
                    }
                }
            }
        }
        self.changes += differences(&self.routes, &routes);
        self.spare = std::mem::replace(&mut self.routes, routes);
    }
}

fn enter(ways: &mut Ways, destination: NodeId, way: (NodeId, u32)) {
    let index = destination.0 as usize;
    if ways.len() <= index {
        ways.resize(index + 1, None);
    }
    ways[index] = Some(way);
}

/// Returns the number of destinations whose routes differ.
fn differences(a: &Ways, b: &Ways) -> u64 {
    let both = a.len().min(b.len());
    let differing = a[..both].iter().zip(&b[..both]).filter(|(a, b)| a != b).count();
    let others = a[both..].iter().chain(&b[both..]).flatten().count();
    (differing + others) as u64
}

impl Agent for Olsr {
    fn start(&mut self, now: Instant) {
        (self.next_hello, self.next_tc) = (Some(now), Some(now));
    }

    fn route(
        &mut self,
        now: Instant,
        heading: &PacketInfo,
        _from: Option<NodeId>,
        _extra: &mut RoutingHeader,
        _world: &mut dyn Surroundings,
    ) -> Verdict {
        self.settle(now);
        let way = self.routes.get(heading.destination.0 as usize).copied().flatten();
        way.map_or(Verdict::Unreachable, |(first, _)| Verdict::Via(first))
    }

    fn hear(
        &mut self,
        now: Instant,
        from: NodeId,
        _to: Receiver,
        message: &crate::Message,
        snr_db: f32,
        _world: &mut dyn Surroundings,
    ) {
        let crate::Message::Olsr(packet) = message else { return };
        if f64::from(snr_db) < self.config.min_snr {
            return;
        }
        self.state.expire(now, &mut self.changed);
        for message in &packet.messages {
            self.hear_message(now, from, message);
        }
        self.settle(now);
    }

    fn broken(&mut self, now: Instant, to: NodeId, cause: Break, _heading: Option<&PacketInfo>) -> FailedPacketFate {
        if self.config.link_feedback
            && cause == Break::Retry
            && let Some(link) = self.state.links.get_mut(&to)
        {
            link.asymmetric = now;
            self.state.lose(to, &mut self.changed);
            self.settle(now);
        }
        FailedPacketFate::Lost
    }

    fn poll_timeout(&self) -> Option<Instant> {
        earliest([self.next_hello, self.next_tc, self.packet_at, self.state.next()])
    }

    fn handle_timeout(&mut self, now: Instant, _world: &mut dyn Surroundings) {
        self.settle(now);
        if self.next_hello.is_some_and(|at| at <= now) {
            self.send_hello(now);
        }
        if self.next_tc.is_some_and(|at| at <= now) {
            self.send_tc(now);
        }
        if self.packet_at.is_some_and(|at| at <= now) {
            self.send_packets();
        }
    }

    fn poll_action(&mut self) -> Option<NodeAction> {
        self.outbox.take()
    }

    fn routes(&self, _now: Instant) -> Vec<Route> {
        let route = |(destination, way): (u32, &Option<(NodeId, u32)>)| {
            let (next_hop, hops) = (*way)?;
            Some(Route { destination: NodeId(destination), next_hop, hops, lifetime: None })
        };
        (0..).zip(&self.routes).filter_map(route).collect()
    }

    fn changes(&self) -> u64 {
        self.changes
    }

    fn traffic(&self) -> &Traffic {
        self.outbox.traffic()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_that_appear_vanish_or_bend_are_changes() {
        let ways = |list: &[(u32, u32, u32)]| {
            let mut ways = Ways::new();
            list.iter().for_each(|(to, via, hops)| enter(&mut ways, NodeId(*to), (NodeId(*via), *hops)));
            ways
        };
        let before = ways(&[(1, 1, 1), (2, 1, 2), (5, 1, 2), (9, 1, 3)]);
        assert_eq!(differences(&before, &before), 0);
        // 2 is nearer, 4 appears, 5 has another first hop, 9 vanishes.
        let now = ways(&[(1, 1, 1), (2, 2, 1), (4, 2, 2), (5, 2, 2)]);
        assert_eq!([differences(&before, &now), differences(&now, &before)], [4, 4]);
    }
}
