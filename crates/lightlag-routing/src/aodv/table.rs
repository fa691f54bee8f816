//! The routing table of AODV, RFC 3561 §2 and §6.2.
//!
//! Entries expire by themselves: a look at an entry finds what became of it. A valid entry is invalid from its lifetime on,
//! and forgotten DELETE_PERIOD later.

use super::{Config, Sequence};
use crate::by_node::ByNode;
use crate::{Route, Step};
use lightlag_core::{Duration, Instant};
use lightlag_net::NodeId;
use std::collections::BTreeSet;

/// The state of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    Valid,
    Invalid,
    /// The node looks for another way itself (RFC 3561 §6.12).
    Repairing,
}

/// A route.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    /// The sequence number of the destination, if one is known.
    pub sequence: Option<Sequence>,
    pub state: State,
    pub next_hop: NodeId,
    /// The hops to the destination; of an invalid entry the last number known.
    pub hops: u8,
    /// The end of its lifetime, or the time at which an invalid one is forgotten.
    pub expires: Instant,
    /// The neighbours that use this route.
    pub precursors: BTreeSet<NodeId>,
}

impl Entry {
    pub(super) fn is_valid(&self) -> bool {
        self.state == State::Valid
    }
}

/// A route that a message offers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    pub sequence: Sequence,
    pub next_hop: NodeId,
    pub hops: u8,
    pub expires: Instant,
}

/// The routes of a node.
#[derive(Clone, Debug)]
pub(super) struct Table {
    entries: ByNode<Entry>,
    delete_period: Duration,
    increment_on_expiry: bool,
    increment_on_break: bool,
    changes: u64,
}

impl Table {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            entries: ByNode::default(),
            delete_period: config.delete_period,
            increment_on_expiry: config.increment_on_expiry,
            increment_on_break: config.increment_on_break,
            changes: 0,
        }
    }

    /// Fetches an entry from memory.
    pub(super) fn prefetch(&self, destination: NodeId, step: Step) {
        self.entries.prefetch(destination, step);
    }

    /// How often a route appeared, vanished or changed.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// The entry for a destination as it is now, valid or not.
    pub(super) fn entry(&mut self, now: Instant, destination: NodeId) -> Option<&mut Entry> {
        let entry = self.entries.get_mut(destination)?;
        if entry.is_valid() && entry.expires <= now {
            entry.state = State::Invalid;
            entry.expires += self.delete_period;
            // RFC 3561 §6.1: the number may change when a path expires or breaks.
            entry.sequence = entry.sequence.map(|last| if self.increment_on_expiry { last.next() } else { last });
            self.changes += 1;
        }
        if entry.state == State::Invalid && entry.expires <= now {
            self.entries.remove(destination);
            return None;
        }
        self.entries.get_mut(destination)
    }

    /// The entry for a destination if it is valid.
    pub(super) fn valid(&mut self, now: Instant, destination: NodeId) -> Option<&mut Entry> {
        self.entry(now, destination).filter(|entry| entry.is_valid())
    }

    /// Takes a route that is fresher than the one known, or as fresh and better (RFC 3561 §6.2). Returns whether it was.
    pub(super) fn offer(&mut self, now: Instant, destination: NodeId, offer: Offer) -> bool {
        let Offer { sequence, next_hop, hops, expires } = offer;
        let Some(entry) = self.entry(now, destination) else {
            self.entries.get_or_insert_with(destination, || Entry {
                sequence: Some(sequence),
                state: State::Valid,
                next_hop,
                hops,
                expires,
                precursors: BTreeSet::new(),
            });
            self.changes += 1;
            return true;
        };
        let is_better = entry.sequence.is_none_or(|known| {
            sequence.is_newer_than(known) || sequence == known && (hops < entry.hops || !entry.is_valid())
        });
        if !is_better {
            return false;
        }
        let changed = !entry.is_valid() || (entry.next_hop, entry.hops) != (next_hop, hops);
        entry.expires = if entry.is_valid() { entry.expires.max(expires) } else { expires };
        entry.sequence = Some(sequence);
        entry.state = State::Valid;
        (entry.next_hop, entry.hops) = (next_hop, hops);
        self.changes += u64::from(changed);
        true
    }

    /// Takes a route back to the origin of a request without making it valid, as ns-3 does. Returns whether an invalid one is
    /// known.
    pub(super) fn lead_back(&mut self, now: Instant, origin: NodeId, offer: Offer) -> bool {
        let Some(entry) = self.entry(now, origin).filter(|entry| !entry.is_valid()) else { return false };
        entry.sequence = Some(entry.sequence.map_or(offer.sequence, |known| known.newer(offer.sequence)));
        (entry.next_hop, entry.hops) = (offer.next_hop, offer.hops);
        entry.expires = entry.expires.max(offer.expires);
        true
    }

    /// A neighbour was heard: the route to it is direct. A number that is known stays known, because no loop leads
    /// through a destination.
    pub(super) fn meet(&mut self, now: Instant, node: NodeId, sequence: Option<Sequence>, expires: Instant) {
        let known = self.entry(now, node).and_then(|entry| entry.sequence);
        let entry = self.entries.get_or_insert_with(node, || Entry {
            sequence,
            state: State::Invalid,
            next_hop: node,
            hops: 1,
            expires,
            precursors: BTreeSet::new(),
        });
        let changed = !entry.is_valid() || entry.next_hop != node;
        entry.expires = if entry.is_valid() { entry.expires.max(expires) } else { expires };
        entry.sequence = match (known, sequence) {
            (Some(known), Some(told)) => Some(known.newer(told)),
            (known, told) => known.or(told),
        };
        entry.state = State::Valid;
        (entry.next_hop, entry.hops) = (node, 1);
        self.changes += u64::from(changed);
    }

    /// A message of a neighbour came that is no HELLO. As in ns-3, a route of one hop whose number is known stays as it is, and
    /// others become a new one.
    pub(super) fn meet_anew(&mut self, now: Instant, node: NodeId, expires: Instant) {
        if self.entry(now, node).is_some_and(|entry| entry.hops == 1 && entry.sequence.is_some()) {
            return;
        }
        self.forget_sequence(now, node);
        self.meet(now, node, None, expires);
        if let Some(entry) = self.valid(now, node) {
            entry.precursors.clear();
        }
    }

    /// The number of a destination is not known any more.
    pub(super) fn forget_sequence(&mut self, now: Instant, node: NodeId) {
        if let Some(entry) = self.entry(now, node) {
            entry.sequence = None;
        }
    }

    /// A valid route lives at least until then.
    pub(super) fn extend(&mut self, now: Instant, destination: NodeId, expires: Instant) {
        if let Some(entry) = self.valid(now, destination) {
            entry.expires = entry.expires.max(expires);
        }
    }

    /// A valid route broke. Its number becomes `told` where that is newer than the one known, and is incremented otherwise
    /// (RFC 3561 §6.11).
    pub(super) fn invalidate(&mut self, now: Instant, destination: NodeId, told: Option<Sequence>) {
        let expires = now + self.delete_period;
        let increment = self.increment_on_break;
        if let Some(entry) = self.valid(now, destination) {
            entry.state = State::Invalid;
            entry.expires = expires;
            entry.sequence = match (entry.sequence, told) {
                (known, _) if !increment => known,
                (Some(known), Some(told)) if told.is_newer_than(known) => Some(told),
                (Some(known), _) => Some(known.next()),
                (None, told) => told,
            };
            self.changes += 1;
        }
    }

    /// The destinations of the valid routes over a neighbour.
    pub(super) fn over(&mut self, now: Instant, next_hop: NodeId) -> Vec<NodeId> {
        let uses = |(node, entry): (NodeId, &Entry)| {
            (entry.next_hop == next_hop && entry.is_valid() && entry.expires > now).then_some(node)
        };
        let mut over: Vec<NodeId> = self.entries.unordered().filter_map(uses).collect();
        over.sort_unstable();
        over
    }

    /// The valid routes.
    pub(super) fn routes(&self, now: Instant) -> Vec<Route> {
        let usable = self.entries.iter().filter(|(_, entry)| entry.is_valid() && entry.expires > now);
        let route = |(destination, entry): (NodeId, &Entry)| Route {
            destination,
            next_hop: entry.next_hop,
            hops: u32::from(entry.hops),
            lifetime: Some(entry.expires.since(now)),
        };
        usable.map(route).collect()
    }
}
