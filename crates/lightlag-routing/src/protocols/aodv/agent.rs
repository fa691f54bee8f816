//! AODV on a node: data, timers and HELLOs.

mod requests;

use super::known::{RateLimit, SeenRequests, Terms};
use super::table::AodvTable;
use super::{AodvMessage, Config, HelloPolicy, LinkBreakOn, Proof, ReleaseOn, Reply, Sequence};
use crate::agent::earliest;
use crate::model::Model;
use crate::outbox::{Outbox, whole_milliseconds};
use crate::{
    Agent, Break, FailedPacketFate, Identity, NodeAction, PacketInfo, PrefetchStep, Receiver, Route, RoutingHeader,
    Surroundings, Traffic, Verdict,
};
use lightlag_core::{Duration, Instant, RandomStream};
use lightlag_net::NodeId;
use requests::Search;
use std::collections::BTreeMap;

/// Maximum delay of the first HELLO, as in ns-3.
const FIRST_HELLO: Duration = Duration::from_millis(100);

/// AODV on a node.
#[derive(Clone, Debug)]
pub struct Aodv {
    pub(super) node: NodeId,
    pub(super) config: Config,
    /// The node's own sequence number.
    pub(super) sequence: Sequence,
    /// The ID of the node's last request.
    pub(super) request: u32,
    pub(super) table: AodvTable,
    pub(super) seen: SeenRequests,
    /// Neighbours that send HELLOs, each until the time when it counts as lost.
    pub(super) neighbours: Terms,
    /// Neighbours that have not yet acknowledged a route reply.
    pub(super) debtors: Terms,
    /// Neighbours whose requests are ignored.
    pub(super) blacklist: Terms,
    pub(super) searches: BTreeMap<NodeId, Search>,
    pub(super) requests: RateLimit,
    pub(super) errors: RateLimit,
    pub(super) outbox: Outbox,
    /// Messages that wait for a route to a neighbour.
    waiting: Vec<(NodeId, crate::Message, u8)>,
    random: RandomStream,
    next_hello: Option<Instant>,
    /// Time of the last broadcast, if there was one since the previous HELLO was due.
    pub(super) last_broadcast: Option<Instant>,
    last_data: Option<Instant>,
}

impl Aodv {
    /// Creates the AODV agent of a node.
    pub fn new(config: Config, identity: &Identity) -> Self {
        Self {
            node: identity.node,
            sequence: Sequence(0),
            request: 0,
            table: AodvTable::new(&config),
            seen: SeenRequests::default(),
            neighbours: Terms::default(),
            debtors: Terms::default(),
            blacklist: Terms::default(),
            searches: BTreeMap::new(),
            requests: RateLimit::new(config.rreq_rate_limit),
            errors: RateLimit::new(config.rerr_rate_limit),
            outbox: Outbox::default(),
            waiting: Vec::new(),
            random: identity.stream("jitter"),
            next_hello: None,
            last_broadcast: None,
            last_data: None,
            config,
        }
    }

    /// Returns the current time plus a random delay of up to `jitter`.
    pub(super) fn jittered(&mut self, now: Instant) -> Instant {
        now + whole_milliseconds(&mut self.random, self.config.jitter)
    }

    /// Returns when a route expires that is used now.
    pub(super) fn lifetime(&self, now: Instant) -> Instant {
        now + self.config.active_route_timeout
    }

    /// Records that a HELLO, or an equivalent sign of life, arrived from a neighbour.
    pub(super) fn watch(&mut self, now: Instant, neighbour: NodeId) {
        if self.config.hello != HelloPolicy::Off || self.config.proof == Proof::Forwarded {
            self.neighbours.extend(neighbour, now + self.config.hello_timeout());
        }
    }

    /// Extends the lifetimes of the routes to `origin` and to the neighbour `from` after data from `origin` arrived
    /// through `from` (RFC 3561 §6.2, for symmetric routes).
    fn prolong_way_back(&mut self, now: Instant, origin: NodeId, from: NodeId) {
        let lifetime = self.lifetime(now);
        if let Some(back) = self.table.valid(now, origin)
            && back.next_hop == from
        {
            back.expires = back.expires.max(lifetime);
        }
        self.table.extend(now, from, lifetime);
        match self.config.proof {
            Proof::Acknowledged => self.neighbours.extend_known(from, now + self.config.hello_timeout()),
            Proof::Forwarded => self.neighbours.extend(from, lifetime),
        }
    }

    /// Extends the lifetime of the route to a neighbour that sent a message by unicast. ns-3 treats such a message like
    /// data.
    fn prolong_way_to(&mut self, now: Instant, from: NodeId) {
        let lifetime = self.lifetime(now);
        if let Some(entry) = self.table.valid(now, from) {
            entry.expires = entry.expires.max(lifetime);
            let next_hop = entry.next_hop;
            self.neighbours.extend(next_hop, lifetime);
        }
    }

    /// Sends a message to a neighbour, or queues it until there is a route to the neighbour.
    pub(super) fn send_to(&mut self, now: Instant, neighbour: NodeId, message: AodvMessage, ttl: u8) {
        let message = crate::Message::Aodv(message);
        if self.config.route_messages && self.table.valid(now, neighbour).is_none() {
            self.waiting.push((neighbour, message, ttl));
            self.search(now, neighbour);
        } else {
            self.outbox.send(Receiver::One(neighbour), message, ttl);
        }
    }

    /// Sends the messages that wait for a route to a neighbour.
    pub(super) fn send_waiting(&mut self, neighbour: NodeId) {
        for (to, message, ttl) in self.waiting.extract_if(.., |(to, ..)| *to == neighbour) {
            self.outbox.send(Receiver::One(to), message, ttl);
        }
    }

    /// Discards the messages that wait for a route to a neighbour.
    pub(super) fn discard_waiting(&mut self, neighbour: NodeId) {
        self.waiting.retain(|(to, ..)| *to != neighbour);
    }

    fn send_hello(&mut self, now: Instant) {
        let hello = Reply {
            ack_required: false,
            hop_count: 0,
            destination: self.node,
            destination_sequence: self.sequence,
            origin: self.node,
            lifetime: self.config.hello_timeout(),
            ttl: 1,
        };
        let at = self.jittered(now);
        self.outbox.send_at(at, Receiver::All, crate::Message::Aodv(AodvMessage::Reply(hello)), 1);
    }

    /// Sends the HELLO that is due, unless another broadcast has replaced it.
    fn greet(&mut self, now: Instant) {
        let interval = self.config.hello_interval;
        if let Some(last) = self.last_broadcast.take() {
            self.next_hello = Some((last + interval).max(now));
            return;
        }
        let carries_data = self.last_data.is_some_and(|last| now < self.lifetime(last));
        if self.config.hello == HelloPolicy::Always || carries_data {
            self.send_hello(now);
        }
        self.next_hello = Some(now + interval);
    }

    fn handle_acks(&mut self, now: Instant) {
        for silent in self.debtors.expire(now) {
            self.blacklist.extend(silent, now + self.config.blacklist_timeout);
        }
    }
}

impl Model for Config {
    fn build(&self, identity: &Identity) -> Box<dyn Agent> {
        Box::new(Aodv::new(*self, identity))
    }
}

impl Agent for Aodv {
    fn start(&mut self, now: Instant) {
        self.requests.start(now);
        self.errors.start(now);
        if self.config.hello != HelloPolicy::Off {
            self.next_hello = Some(now + whole_milliseconds(&mut self.random, FIRST_HELLO));
        }
    }

    fn route(
        &mut self,
        now: Instant,
        heading: &PacketInfo,
        from: Option<NodeId>,
        _extra: &mut RoutingHeader,
        _world: &mut dyn Surroundings,
    ) -> Verdict {
        let lifetime = self.lifetime(now);
        self.last_data = Some(now);
        let Some(entry) = self.table.valid(now, heading.destination) else {
            return match from {
                None => self.search(now, heading.destination),
                Some(_) if self.is_repairing(heading.destination) => Verdict::Wait,
                Some(from) => self.refuse(now, heading, from),
            };
        };
        let next_hop = entry.next_hop;
        entry.expires = entry.expires.max(lifetime);
        self.table.extend(now, next_hop, lifetime);
        if let Some(from) = from {
            self.prolong_way_back(now, heading.origin, from);
            if self.config.proof == Proof::Forwarded {
                self.neighbours.extend(next_hop, lifetime);
            }
        }
        Verdict::Via(next_hop)
    }

    fn hear(
        &mut self,
        now: Instant,
        from: NodeId,
        to: Receiver,
        message: &crate::Message,
        snr_db: f32,
        _world: &mut dyn Surroundings,
    ) {
        let crate::Message::Aodv(message) = message else { return };
        if to == Receiver::All && f64::from(snr_db) < self.config.min_snr {
            return;
        }
        if self.config.proof == Proof::Forwarded && to != Receiver::All {
            self.prolong_way_to(now, from);
        }
        if self.config.route_messages && !self.searches.contains_key(&from) {
            self.table.meet_anew(now, from, self.lifetime(now));
        } else {
            self.table.meet(now, from, None, self.lifetime(now));
        }
        match message {
            AodvMessage::Request(request) => self.hear_request(now, from, request),
            AodvMessage::Reply(reply) if reply.is_hello() => self.hear_hello(now, from, reply),
            AodvMessage::Reply(reply) => self.hear_reply(now, from, reply),
            AodvMessage::Error(error) => self.hear_error(now, from, error),
            AodvMessage::ReplyAck => {
                self.debtors.remove(from);
                self.blacklist.remove(from);
            }
        }
        match (self.config.release_on, message) {
            (ReleaseOn::Route, _) => self.finish_searches(now),
            (ReleaseOn::Reply, AodvMessage::Reply(reply)) if !reply.is_hello() && reply.origin == self.node => {
                self.finish_search(now, reply.destination);
            }
            (ReleaseOn::Reply, _) => {}
        }
    }

    fn prefetch(&self, from: NodeId, message: &crate::Message, step: PrefetchStep) {
        self.table.prefetch(from, step);
        if let crate::Message::Aodv(AodvMessage::Request(request)) = message {
            self.seen.prefetch(request.origin, step);
            self.table.prefetch(request.origin, step);
        }
    }

    fn delivered(&mut self, now: Instant, heading: &PacketInfo, from: NodeId, _extra: &RoutingHeader) {
        self.last_data = Some(now);
        self.prolong_way_back(now, heading.origin, from);
    }

    fn sent(&mut self, now: Instant, to: NodeId) {
        if self.config.proof == Proof::Acknowledged {
            self.neighbours.extend_known(to, now + self.config.hello_timeout());
        }
    }

    fn broken(&mut self, now: Instant, to: NodeId, cause: Break, heading: Option<&PacketInfo>) -> FailedPacketFate {
        let is_break = match cause {
            Break::Retry => true,
            Break::Lifetime => self.config.link_break_on == LinkBreakOn::Any,
            Break::Queue => false,
        };
        if !is_break {
            return FailedPacketFate::Lost;
        }
        if self.config.proof == Proof::Forwarded && !self.neighbours.contains(now, to) {
            return FailedPacketFate::Lost;
        }
        let relayed = heading.filter(|heading| heading.origin != self.node).copied();
        let repair = relayed.filter(|heading| self.may_repair(now, heading.destination, to));
        self.lose_link(now, to, repair.map(|heading| heading.destination));
        repair.map_or(FailedPacketFate::Lost, |heading| {
            self.repair(now, heading);
            FailedPacketFate::Wait
        })
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let searches = self.searches.values().map(|search| search.deadline).min();
        earliest([self.outbox.next(), self.next_hello, self.neighbours.next(), self.debtors.next(), searches])
    }

    fn handle_timeout(&mut self, now: Instant, _world: &mut dyn Surroundings) {
        if self.next_hello.is_some_and(|at| at <= now) {
            self.greet(now);
        }
        for lost in self.neighbours.expire(now) {
            self.lose_link(now, lost, None);
        }
        self.handle_acks(now);
        self.advance_searches(now);
        self.outbox.advance(now);
    }

    fn poll_action(&mut self) -> Option<NodeAction> {
        self.outbox.take()
    }

    fn routes(&self, now: Instant) -> Vec<Route> {
        self.table.routes(now)
    }

    fn changes(&self) -> u64 {
        self.table.changes()
    }

    fn traffic(&self) -> &Traffic {
        self.outbox.traffic()
    }
}
