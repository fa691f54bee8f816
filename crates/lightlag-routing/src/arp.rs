//! Address resolution on the link (ARP, RFC 826), as in ns-3.
//!
//! The first packet for a neighbour starts a request, which is sent after a random delay of at most 10 ms. It is
//! repeated each second. If the fourth request also stays without a reply, the packets that wait are dropped, and so is
//! every packet to that neighbour in the next 100 s. An address is valid for 120 s. A node learns addresses only from
//! replies, not from requests.

use crate::{Identity, Receiver};
use lightlag_core::{Duration, Instant, RandomStream};
use lightlag_net::NodeId;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Address resolution mode of a medium.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ResolutionMode {
    /// No resolution: every node has all addresses from the start.
    #[default]
    Off,
    /// Resolution as in ns-3.
    Ns3,
}

impl ResolutionMode {
    /// The names of the modes in a scenario.
    pub const NAMES: &[&str] = &["off", "ns3"];

    /// Returns the mode with this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Off, Self::Ns3].into_iter().zip(Self::NAMES).find(|(_, known)| **known == name).map(|(mode, _)| mode)
    }

    /// Returns the name of the mode.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// Maximum random delay of a request: `RequestJitter` in ns-3.
const JITTER: Duration = Duration::from_millis(10);
/// Time to wait for a reply: `WaitReplyTimeout` in ns-3.
const WAIT: Duration = Duration::from_secs(1);
/// Maximum number of times that a request is repeated: `MaxRetries` in ns-3.
const RETRIES: u32 = 3;
/// Maximum number of packets that wait for one address: `PendingQueueSize` in ns-3.
const PENDING: u32 = 3;
/// Lifetime of an address: `AliveTimeout` in ns-3.
const ALIVE: Duration = Duration::from_secs(120);
/// Time for which packets are dropped after a failure: `DeadTimeout` in ns-3.
const DEAD: Duration = Duration::from_secs(100);

/// An ARP packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ArpPacket {
    /// Request or reply.
    pub operation: Operation,
    /// The node that sent it.
    pub sender: NodeId,
    /// The node whose address is requested, or the receiver of the reply.
    pub target: NodeId,
}

impl ArpPacket {
    /// Size of the packet in bytes, with Ethernet and IPv4 addresses.
    pub const SIZE: u32 = 28;
}

/// The operation of an ARP packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// A request, broadcast.
    Request = 1,
    /// A reply, unicast.
    Reply = 2,
}

/// The decision on a packet for a neighbour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resolution {
    /// Send the packet: the address is known.
    Known,
    /// Hold the packet until the resolver releases or discards the packets for that neighbour.
    Wait,
    /// Drop the packet.
    Drop,
}

/// A request of a resolver to its node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArpAction {
    /// Send a packet.
    Send {
        /// The addressee of the packet.
        to: Receiver,
        /// ARP packet to send.
        packet: ArpPacket,
    },
    /// Send the packets that wait for this neighbour.
    Release {
        /// The neighbour.
        neighbour: NodeId,
    },
    /// Drop the packets that wait for this neighbour.
    Discard {
        /// The neighbour.
        neighbour: NodeId,
    },
}

#[derive(Clone, Copy, Debug)]
enum ArpEntry {
    Alive { until: Instant },
    Dead { until: Instant },
    Waiting { pending: u32, retries: u32, next: Instant },
}

/// The resolver of a node.
#[derive(Clone, Debug)]
pub struct Resolver {
    node: NodeId,
    mode: ResolutionMode,
    entries: BTreeMap<NodeId, ArpEntry>,
    /// Requests that are not sent yet, by transmission time.
    delayed: BTreeSet<(Instant, NodeId)>,
    /// Neighbours that have not replied yet, by the time when the wait for the reply ends.
    missed: BTreeSet<(Instant, NodeId)>,
    actions: VecDeque<ArpAction>,
    random: RandomStream,
    sent: u64,
}

impl Resolver {
    /// Returns the resolver of a node.
    pub fn new(mode: ResolutionMode, identity: &Identity) -> Self {
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

    /// Decides what the node does with a packet for a neighbour. Requests the address if it is unknown.
    pub fn ask(&mut self, now: Instant, neighbour: NodeId) -> Resolution {
        if self.mode == ResolutionMode::Off {
            return Resolution::Known;
        }
        match self.entries.get_mut(&neighbour) {
            Some(ArpEntry::Alive { until }) if now < *until => return Resolution::Known,
            Some(ArpEntry::Dead { until }) if now < *until => return Resolution::Drop,
            Some(ArpEntry::Waiting { pending, .. }) if *pending == PENDING => return Resolution::Drop,
            Some(ArpEntry::Waiting { pending, .. }) => *pending += 1,
            _ => {
                self.entries.insert(neighbour, ArpEntry::Waiting { pending: 1, retries: 0, next: now + WAIT });
                self.missed.insert((now + WAIT, neighbour));
                self.request(now, neighbour);
            }
        }
        Resolution::Wait
    }

    fn request(&mut self, now: Instant, neighbour: NodeId) {
        let delay = Duration::from_secs_f64(self.random.uniform() * JITTER.as_secs_f64());
        self.delayed.insert((now + delay, neighbour));
    }

    fn send(&mut self, to: Receiver, operation: Operation, target: NodeId) {
        self.sent += 1;
        self.actions.push_back(ArpAction::Send { to, packet: ArpPacket { operation, sender: self.node, target } });
    }

    /// Handles an ARP packet.
    pub fn hear(&mut self, now: Instant, packet: &ArpPacket) {
        if packet.target != self.node {
            return;
        }
        match packet.operation {
            Operation::Request => self.send(Receiver::One(packet.sender), Operation::Reply, packet.sender),
            Operation::Reply => {
                if let Some(ArpEntry::Waiting { next, .. }) = self.entries.get(&packet.sender) {
                    self.missed.remove(&(*next, packet.sender));
                    self.entries.insert(packet.sender, ArpEntry::Alive { until: now + ALIVE });
                    self.actions.push_back(ArpAction::Release { neighbour: packet.sender });
                }
            }
        }
    }

    /// Returns the time of the next timeout, unless another call changes it before.
    #[inline]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.missed.first().into_iter().chain(self.delayed.first()).map(|(at, _)| *at).min()
    }

    /// Handles the timeouts that are due.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some(&(deadline, neighbour)) = self.missed.first()
            && deadline <= now
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
            ArpEntry::Waiting { retries, next, .. } if *retries < RETRIES => {
                *retries += 1;
                *next = now + WAIT;
                self.missed.insert((now + WAIT, neighbour));
                self.request(now, neighbour);
            }
            _ => {
                *entry = ArpEntry::Dead { until: now + DEAD };
                self.actions.push_back(ArpAction::Discard { neighbour });
            }
        }
    }

    /// Returns the next action.
    #[inline]
    pub fn poll_action(&mut self) -> Option<ArpAction> {
        self.actions.pop_front()
    }

    /// Returns the number of requests and replies that the resolver sent.
    pub fn sent(&self) -> u64 {
        self.sent
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testbed::at;

    fn resolver(mode: ResolutionMode, node: u32) -> Resolver {
        Resolver::new(mode, &Identity { node: NodeId(node), name: "a", seed: 1 })
    }

    fn actions(resolver: &mut Resolver) -> Vec<ArpAction> {
        std::iter::from_fn(|| resolver.poll_action()).collect()
    }

    #[test]
    fn a_reply_releases_waiting_packets_and_holds_for_two_minutes() {
        let (mut a, mut b) = (resolver(ResolutionMode::Ns3, 0), resolver(ResolutionMode::Ns3, 1));
        let answers: Vec<_> = (0..4).map(|_| a.ask(at(1.0), NodeId(1))).collect();
        assert_eq!(answers, [Resolution::Wait, Resolution::Wait, Resolution::Wait, Resolution::Drop]);
        let leaves = a.poll_timeout().unwrap();
        assert!(leaves >= at(1.0) && leaves <= at(1.01));
        a.handle_timeout(leaves);
        let [ArpAction::Send { to: Receiver::All, packet }] = actions(&mut a)[..] else { panic!() };
        assert_eq!(packet, ArpPacket { operation: Operation::Request, sender: NodeId(0), target: NodeId(1) });
        b.hear(leaves, &packet);
        let [ArpAction::Send { to: Receiver::One(NodeId(0)), packet }] = actions(&mut b)[..] else { panic!() };
        // The request taught node 1 nothing.
        assert_eq!(b.ask(leaves, NodeId(0)), Resolution::Wait);
        a.hear(at(2.0), &packet);
        assert_eq!(actions(&mut a), [ArpAction::Release { neighbour: NodeId(1) }]);
        assert_eq!(a.poll_timeout(), None);
        assert_eq!(a.ask(at(121.999), NodeId(1)), Resolution::Known);
        assert_eq!(a.ask(at(122.0), NodeId(1)), Resolution::Wait);
        assert_eq!((a.sent(), b.sent()), (1, 1));
    }

    #[test]
    fn four_requests_without_a_reply_make_a_neighbour_dead() {
        let mut a = resolver(ResolutionMode::Ns3, 0);
        a.ask(at(0.0), NodeId(1));
        let mut timeline = Vec::new();
        while let Some(next) = a.poll_timeout() {
            a.handle_timeout(next);
            timeline.extend(actions(&mut a).into_iter().map(|action| (next.as_secs_f64(), action)));
        }
        let requests = timeline.iter().filter(|(_, action)| matches!(action, ArpAction::Send { .. })).count();
        assert_eq!(requests, 4);
        assert_eq!(timeline.last(), Some(&(4.0, ArpAction::Discard { neighbour: NodeId(1) })));
        assert_eq!(a.ask(at(103.9), NodeId(1)), Resolution::Drop);
        assert_eq!(a.ask(at(104.0), NodeId(1)), Resolution::Wait);
    }

    #[test]
    fn every_address_is_available_without_resolution() {
        let mut a = resolver(ResolutionMode::Off, 0);
        assert_eq!((a.ask(at(0.0), NodeId(1)), a.poll_timeout(), a.poll_action()), (Resolution::Known, None, None));
        assert!(
            ResolutionMode::NAMES
                .iter()
                .all(|name| ResolutionMode::named(name).is_some_and(|mode| mode.name() == *name))
        );
        assert_eq!(ResolutionMode::named("on"), None);
    }
}
