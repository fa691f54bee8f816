//! The resolution of addresses on the link, as ns-3 does it (RFC 826).
//!
//! The first packet for a neighbour starts a request, which leaves after a random delay of at most 10 ms. It is repeated
//! each second. If the fourth one stays without a reply, too, the packets that wait are dropped, and so is every packet in
//! the next 100 s. An address is good for 120 s. A node learns an address from a reply alone, not from a request.

use crate::{Identity, Receiver};
use lightlag_core::{Duration, Instant, RandomStream};
use lightlag_net::NodeId;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Whether addresses have to be resolved.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// Every node knows all addresses.
    #[default]
    Off,
    /// As ns-3 resolves them.
    Ns3,
}

impl Mode {
    /// Its names in a scenario.
    pub const NAMES: &[&str] = &["off", "ns3"];

    /// The mode with this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Off, Self::Ns3].into_iter().zip(Self::NAMES).find(|(_, known)| **known == name).map(|(mode, _)| mode)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// The longest delay of a request: `RequestJitter` of ns-3.
const JITTER: Duration = Duration::from_millis(10);
/// The wait for a reply: `WaitReplyTimeout`.
const WAIT: Duration = Duration::from_secs(1);
/// The repetitions of a request: `MaxRetries`.
const RETRIES: u32 = 3;
/// The packets that wait for one address: `PendingQueueSize`.
const PENDING: u32 = 3;
/// How long an address is good: `AliveTimeout`.
const ALIVE: Duration = Duration::from_secs(120);
/// How long packets are dropped after a failure: `DeadTimeout`.
const DEAD: Duration = Duration::from_secs(100);

/// A packet of ARP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    /// Whether it asks or replies.
    pub operation: Operation,
    /// The node that sent it.
    pub sender: NodeId,
    /// The node whose address is asked for, or to which the reply goes.
    pub target: NodeId,
}

impl Packet {
    /// Its size in bytes, over Ethernet addresses and IPv4.
    pub const SIZE: u32 = 28;
}

/// The operation of a packet of ARP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// A request, broadcast.
    Request = 1,
    /// A reply, unicast.
    Reply = 2,
}

/// The answer to the question whether a packet for a neighbour may leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// It may leave.
    Known,
    /// The node keeps it until the resolver releases or discards the packets for that neighbour.
    Wait,
    /// The node drops it.
    Drop,
}

/// Something that a resolver asks its node to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Send a packet.
    Send {
        /// Its addressee.
        to: Receiver,
        /// The packet.
        packet: Packet,
    },
    /// The packets that wait for this neighbour may leave.
    Release {
        /// The neighbour.
        neighbour: NodeId,
    },
    /// The packets that wait for this neighbour are dropped.
    Discard {
        /// The neighbour.
        neighbour: NodeId,
    },
}

#[derive(Clone, Copy, Debug)]
enum Entry {
    Alive { until: Instant },
    Dead { until: Instant },
    Waiting { pending: u32, retries: u32, next: Instant },
}

/// The resolver of a node.
#[derive(Clone, Debug)]
pub struct Resolver {
    node: NodeId,
    mode: Mode,
    entries: BTreeMap<NodeId, Entry>,
    /// Requests by the time at which they leave.
    delayed: BTreeSet<(Instant, NodeId)>,
    /// Neighbours that wait, by the time at which a reply is missed.
    missed: BTreeSet<(Instant, NodeId)>,
    actions: VecDeque<Action>,
    random: RandomStream,
    sent: u64,
}

impl Resolver {
    /// The resolver of a node.
    pub fn new(mode: Mode, identity: &Identity) -> Self {
        Self {
            node: identity.node,
            mode,
            entries: BTreeMap::new(),
            delayed: BTreeSet::new(),
            missed: BTreeSet::new(),
            actions: VecDeque::new(),
            random: identity.stream("arp"),
            sent: 0,
        }
    }

    /// Whether a packet for a neighbour may leave.
    pub fn ask(&mut self, now: Instant, neighbour: NodeId) -> Answer {
        if self.mode == Mode::Off {
            return Answer::Known;
        }
        match self.entries.get_mut(&neighbour) {
            Some(Entry::Alive { until }) if now < *until => return Answer::Known,
            Some(Entry::Dead { until }) if now < *until => return Answer::Drop,
            Some(Entry::Waiting { pending, .. }) if *pending == PENDING => return Answer::Drop,
            Some(Entry::Waiting { pending, .. }) => *pending += 1,
            _ => {
                self.entries.insert(neighbour, Entry::Waiting { pending: 1, retries: 0, next: now + WAIT });
                self.missed.insert((now + WAIT, neighbour));
                self.request(now, neighbour);
            }
        }
        Answer::Wait
    }

    fn request(&mut self, now: Instant, neighbour: NodeId) {
        let delay = Duration::from_secs_f64(self.random.uniform() * JITTER.as_secs_f64());
        self.delayed.insert((now + delay, neighbour));
    }

    fn send(&mut self, to: Receiver, operation: Operation, target: NodeId) {
        self.sent += 1;
        self.actions.push_back(Action::Send { to, packet: Packet { operation, sender: self.node, target } });
    }

    /// A packet of ARP arrived.
    pub fn hear(&mut self, now: Instant, packet: &Packet) {
        if packet.target != self.node {
            return;
        }
        match packet.operation {
            Operation::Request => self.send(Receiver::One(packet.sender), Operation::Reply, packet.sender),
            Operation::Reply => {
                if let Some(Entry::Waiting { next, .. }) = self.entries.get(&packet.sender) {
                    self.missed.remove(&(*next, packet.sender));
                    self.entries.insert(packet.sender, Entry::Alive { until: now + ALIVE });
                    self.actions.push_back(Action::Release { neighbour: packet.sender });
                }
            }
        }
    }

    /// The instant at which it wants to be called, if nothing happens before.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.missed.first().into_iter().chain(self.delayed.first()).map(|(at, _)| *at).min()
    }

    /// The instant has come.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some(&(at, neighbour)) = self.missed.first()
            && at <= now
        {
            self.missed.pop_first();
            self.repeat(now, neighbour);
        }
        while let Some(&(at, neighbour)) = self.delayed.first()
            && at <= now
        {
            self.delayed.pop_first();
            self.send(Receiver::All, Operation::Request, neighbour);
        }
    }

    fn repeat(&mut self, now: Instant, neighbour: NodeId) {
        let Some(entry) = self.entries.get_mut(&neighbour) else { return };
        match entry {
            Entry::Waiting { retries, next, .. } if *retries < RETRIES => {
                *retries += 1;
                *next = now + WAIT;
                self.missed.insert((now + WAIT, neighbour));
                self.request(now, neighbour);
            }
            _ => {
                *entry = Entry::Dead { until: now + DEAD };
                self.actions.push_back(Action::Discard { neighbour });
            }
        }
    }

    /// The next thing to do.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// The requests and replies that it sent.
    pub fn sent(&self) -> u64 {
        self.sent
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testbed::at;

    fn resolver(mode: Mode, node: u32) -> Resolver {
        Resolver::new(mode, &Identity { node: NodeId(node), name: "a", seed: 1 })
    }

    fn actions(resolver: &mut Resolver) -> Vec<Action> {
        std::iter::from_fn(|| resolver.poll_action()).collect()
    }

    #[test]
    fn a_reply_releases_what_waits_and_holds_for_two_minutes() {
        let (mut a, mut b) = (resolver(Mode::Ns3, 0), resolver(Mode::Ns3, 1));
        let answers: Vec<_> = (0..4).map(|_| a.ask(at(1.0), NodeId(1))).collect();
        assert_eq!(answers, [Answer::Wait, Answer::Wait, Answer::Wait, Answer::Drop]);
        let leaves = a.poll_timeout().unwrap();
        assert!(leaves >= at(1.0) && leaves <= at(1.01));
        a.handle_timeout(leaves);
        let [Action::Send { to: Receiver::All, packet }] = actions(&mut a)[..] else { panic!() };
        assert_eq!(packet, Packet { operation: Operation::Request, sender: NodeId(0), target: NodeId(1) });
        b.hear(leaves, &packet);
        let [Action::Send { to: Receiver::One(NodeId(0)), packet }] = actions(&mut b)[..] else { panic!() };
        // The request taught node 1 nothing.
        assert_eq!(b.ask(leaves, NodeId(0)), Answer::Wait);
        a.hear(at(2.0), &packet);
        assert_eq!(actions(&mut a), [Action::Release { neighbour: NodeId(1) }]);
        assert_eq!(a.poll_timeout(), None);
        assert_eq!(a.ask(at(121.999), NodeId(1)), Answer::Known);
        assert_eq!(a.ask(at(122.0), NodeId(1)), Answer::Wait);
        assert_eq!((a.sent(), b.sent()), (1, 1));
    }

    #[test]
    fn four_requests_without_a_reply_make_a_neighbour_dead() {
        let mut a = resolver(Mode::Ns3, 0);
        a.ask(at(0.0), NodeId(1));
        let mut found = Vec::new();
        while let Some(next) = a.poll_timeout() {
            a.handle_timeout(next);
            found.extend(actions(&mut a).into_iter().map(|action| (next.as_secs_f64(), action)));
        }
        let requests = found.iter().filter(|(_, action)| matches!(action, Action::Send { .. })).count();
        assert_eq!(requests, 4);
        assert_eq!(found.last(), Some(&(4.0, Action::Discard { neighbour: NodeId(1) })));
        assert_eq!(a.ask(at(103.9), NodeId(1)), Answer::Drop);
        assert_eq!(a.ask(at(104.0), NodeId(1)), Answer::Wait);
    }

    #[test]
    fn every_address_is_known_where_nothing_is_resolved() {
        let mut a = resolver(Mode::Off, 0);
        assert_eq!((a.ask(at(0.0), NodeId(1)), a.poll_timeout(), a.poll_action()), (Answer::Known, None, None));
        assert!(Mode::NAMES.iter().all(|name| Mode::named(name).is_some_and(|mode| mode.name() == *name)));
        assert_eq!(Mode::named("on"), None);
    }
}
