//! The routing table of AODV, RFC 3561 §2 and §6.2.
//!
//! Entries expire without a timer: reading an entry yields its current state. A valid entry becomes invalid at the end
//! of its lifetime, and is forgotten DELETE_PERIOD later.

use super::{Config, Sequence};
use crate::by_node::ByNode;
use crate::{PrefetchStep, Route};
use lightlag_core::{Duration, Instant};
use lightlag_net::NodeId;
use std::collections::BTreeSet;

/// The state of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    Valid,
    Invalid,
    /// The node is repairing the route itself (RFC 3561 §6.12).
    Repairing,
}

/// A route in the table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct RouteEntry {
    /// The sequence number of the destination, if one is known.
    pub sequence: Option<Sequence>,
    pub state: State,
    pub next_hop: NodeId,
    /// Number of hops to the destination; for an invalid entry the last known number.
    pub hops: u8,
    /// Time when a valid entry becomes invalid, or when an invalid entry is forgotten.
    pub expires: Instant,
    /// The neighbours that use this route.
    pub precursors: BTreeSet<NodeId>,
}

impl RouteEntry {
    pub(super) fn is_valid(&self) -> bool {
        self.state == State::Valid
    }
}

/// A route that is offered by a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct RouteOffer {
    pub sequence: Sequence,
    pub next_hop: NodeId,
    pub hops: u8,
    pub expires: Instant,
}

/// The routes of a node.
#[derive(Clone, Debug)]
pub(super) struct AodvTable {
    entries: ByNode<RouteEntry>,
    delete_period: Duration,
    increment_on_expiry: bool,
    increment_on_break: bool,
    changes: u64,
}

impl AodvTable {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            entries: ByNode::default(),
            delete_period: config.delete_period,
            increment_on_expiry: config.increment_on_expiry,
            increment_on_break: config.increment_on_break,
            changes: 0,
        }
    }

    /// Prefetches an entry from memory.
    pub(super) fn prefetch(&self, destination: NodeId, step: PrefetchStep) {
        self.entries.prefetch(destination, step);
    }

    /// Returns the number of times that a route appeared, vanished or changed.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// Returns the current entry for a destination, valid or not.
    pub(super) fn entry(&mut self, now: Instant, destination: NodeId) -> Option<&mut RouteEntry> {
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

    /// Returns the entry for a destination if it is valid.
    pub(super) fn valid(&mut self, now: Instant, destination: NodeId) -> Option<&mut RouteEntry> {
        self.entry(now, destination).filter(|entry| entry.is_valid())
    }

    /// Accepts an offered route if it is newer than the known one, or equally new and better (RFC 3561 §6.2). Returns
    /// true if the route was accepted.
    pub(super) fn offer(&mut self, now: Instant, destination: NodeId, offer: RouteOffer) -> bool {
        let RouteOffer { sequence, next_hop, hops, expires } = offer;
        let Some(entry) = self.entry(now, destination) else {
            self.entries.get_or_insert_with(destination, || RouteEntry {
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

    /// Updates an invalid route back to the origin of a request without making it valid, as ns-3 does. Returns false if
    /// there is no invalid route.
    pub(super) fn lead_back(&mut self, now: Instant, origin: NodeId, offer: RouteOffer) -> bool {
        let Some(entry) = self.entry(now, origin).filter(|entry| !entry.is_valid()) else { return false };
        entry.sequence = Some(entry.sequence.map_or(offer.sequence, |known| known.newer(offer.sequence)));
        (entry.next_hop, entry.hops) = (offer.next_hop, offer.hops);
        entry.expires = entry.expires.max(offer.expires);
        true
    }

    /// Records that a message arrived from a neighbour, so that there is a direct route to it. A known sequence number
    /// is retained, because no loop can lead through the destination itself.
    pub(super) fn meet(&mut self, now: Instant, node: NodeId, sequence: Option<Sequence>, expires: Instant) {
        let known = self.entry(now, node).and_then(|entry| entry.sequence);
        let entry = self.entries.get_or_insert_with(node, || RouteEntry {
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

    /// Records a message other than a HELLO from a neighbour. As in ns-3, a one-hop route with a known sequence number
    /// stays unchanged, and any other route is replaced by a new one.
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

    /// Forgets the sequence number of a destination.
    pub(super) fn forget_sequence(&mut self, now: Instant, node: NodeId) {
        if let Some(entry) = self.entry(now, node) {
            entry.sequence = None;
        }
    }

    /// Extends the lifetime of a valid route until at least this time.
    pub(super) fn extend(&mut self, now: Instant, destination: NodeId, expires: Instant) {
        if let Some(entry) = self.valid(now, destination) {
            entry.expires = entry.expires.max(expires);
        }
    }

    /// Invalidates a valid route. Its sequence number becomes `reported` if that is newer than the known number;
    /// otherwise it is incremented (RFC 3561 §6.11).
    pub(super) fn invalidate(&mut self, now: Instant, destination: NodeId, reported: Option<Sequence>) {
        let expires = now + self.delete_period;
        let increment = self.increment_on_break;
        if let Some(entry) = self.valid(now, destination) {
            entry.state = State::Invalid;
            entry.expires = expires;
            entry.sequence = match (entry.sequence, reported) {
                (known, _) if !increment => known,
                (Some(known), Some(sequence)) if sequence.is_newer_than(known) => Some(sequence),
                (Some(known), _) => Some(known.next()),
                (None, sequence) => sequence,
            };
            self.changes += 1;
        }
    }

    /// Returns the destinations of the valid routes through a neighbour.
    pub(super) fn over(&mut self, now: Instant, next_hop: NodeId) -> Vec<NodeId> {
        let uses = |(node, entry): (NodeId, &RouteEntry)| {
            (entry.next_hop == next_hop && entry.is_valid() && entry.expires > now).then_some(node)
        };
        let mut over: Vec<NodeId> = self.entries.unordered().filter_map(uses).collect();
        over.sort_unstable();
        over
    }

    /// Returns the valid routes.
    pub(super) fn routes(&self, now: Instant) -> Vec<Route> {
        let usable = self.entries.iter().filter(|(_, entry)| entry.is_valid() && entry.expires > now);
        let route = |(destination, entry): (NodeId, &RouteEntry)| Route {
            destination,
            next_hop: entry.next_hop,
            hops: u32::from(entry.hops),
            lifetime: Some(entry.expires.since(now)),
        };
        usable.map(route).collect()
    }
}
