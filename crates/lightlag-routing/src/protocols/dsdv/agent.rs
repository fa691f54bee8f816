//! DSDV on a node.

use super::{Advertise, Config, DsdvEntry, Update};
use crate::agent::earliest;
use crate::model::Model;
use crate::outbox::Outbox;
use crate::{
    Agent, Break, FailedPacketFate, Identity, NodeAction, PacketInfo, Receiver, Route, RoutingHeader, Surroundings,
    Traffic, Verdict,
};
use lightlag_core::{Duration, Instant, RandomStream};
use lightlag_net::NodeId;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of entries in a message: 1472 bytes of UDP payload in an IP packet of 1500.
const MOST_ENTRIES: usize = 1472 / 12;
/// Number of hops of an unreachable destination in messages.
const INFINITE: u32 = u32::MAX;
/// Weight of the previous mean in the weighted settling time, of [`WEIGHTS`] in total, as in ns-3.
const OLD_WEIGHT: u64 = 7;
const WEIGHTS: u64 = 8;
/// Maximum delay of changes that need not settle, as in ns-3.
const AT_ONCE: Duration = Duration::from_millis(1);

#[derive(Clone, Copy, Debug)]
struct KnownRoute {
    next_hop: NodeId,
    /// Number of hops; [`INFINITE`] if the destination is unreachable.
    hops: u32,
    sequence: u32,
    /// Arrival time of the first route with this sequence number.
    first: Instant,
    /// Time of the next hop's last update about the destination, or the time when the route was lost.
    heard: Instant,
    settling: Duration,
    /// Earliest time to advertise the change, if a change is pending.
    due: Option<Instant>,
}

impl KnownRoute {
    fn is_reachable(&self) -> bool {
        self.hops != INFINITE
    }
}

#[derive(Clone, Debug)]
struct Dsdv {
    node: NodeId,
    config: Config,
    /// The node's own sequence number; always even.
    sequence: u32,
    table: BTreeMap<NodeId, KnownRoute>,
    /// Destinations for which packets wait.
    wanted: BTreeSet<NodeId>,
    next_dump: Option<Instant>,
    /// A time that is not later than the first change due.
    next_update: Option<Instant>,
    /// A time that is not later than the first expiry or removal of a route.
    check: Option<Instant>,
    changes: u64,
    random: RandomStream,
    outbox: Outbox,
}

impl Model for Config {
    fn build(&self, identity: &Identity) -> Box<dyn Agent> {
        Box::new(Dsdv {
            node: identity.node,
            config: *self,
            sequence: 0,
            table: BTreeMap::new(),
            wanted: BTreeSet::new(),
            next_dump: None,
            next_update: None,
            check: None,
            changes: 0,
            random: identity.stream("jitter"),
            outbox: Outbox::default(),
        })
    }
}

/// Returns true if sequence number `a` is newer than `b`; both wrap around.
fn is_newer(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

fn earlier(a: Option<Instant>, b: Instant) -> Option<Instant> {
    Some(a.map_or(b, |a| a.min(b)))
}

impl Dsdv {
    /// Returns a random duration of up to `max`.
    fn within(&mut self, max: Duration) -> Duration {
        Duration::from_secs_f64(self.random.uniform() * max.as_secs_f64())
    }

    fn jitter(&mut self) -> Duration {
        self.within(self.config.jitter)
    }

    fn entry(destination: NodeId, known: &KnownRoute) -> DsdvEntry {
        DsdvEntry { destination, hops: known.hops, sequence: known.sequence }
    }

    fn send(&mut self, is_full: bool, entries: &[DsdvEntry]) {
        for entries in entries.chunks(MOST_ENTRIES) {
            let update = Update { is_full, entries: entries.to_vec() };
            self.outbox.send(Receiver::All, crate::Message::Dsdv(update), 1);
        }
    }

    fn own_entry(&self) -> DsdvEntry {
        DsdvEntry { destination: self.node, hops: 0, sequence: self.sequence }
    }

    /// Sends the entire table, with a new sequence number.
    fn dump(&mut self, now: Instant) {
        self.sequence = self.sequence.wrapping_add(2);
        let known = self.table.iter().map(|(destination, known)| Self::entry(*destination, known));
        let entries: Vec<DsdvEntry> = std::iter::once(self.own_entry()).chain(known).collect();
        self.send(true, &entries);
        self.table.values_mut().for_each(|known| known.due = None);
        self.next_update = None;
        self.next_dump = Some(now + self.config.periodic_update + self.jitter());
    }

    /// Sends the changes that are due.
    fn update(&mut self, now: Instant) {
        let mut entries = vec![self.own_entry()];
        for (destination, known) in &mut self.table {
            if known.due.is_some_and(|due| due <= now) {
                known.due = None;
                entries.push(Self::entry(*destination, known));
            }
        }
        self.next_update = self.table.values().filter_map(|known| known.due).min();
        if entries.len() > 1 {
            self.send(false, &entries);
        }
    }

    fn change(&mut self, destination: NodeId, due: Instant) {
        if let Some(known) = self.table.get_mut(&destination) {
            known.due = earlier(known.due, due);
            self.next_update = earlier(self.next_update, due);
        }
    }

    /// Returns the time to pass on a newer sequence number or a new route that need not settle. `None` if the
    /// configuration requires settling.
    fn at_once(&mut self, now: Instant) -> Option<Instant> {
        (self.config.advertise == Advertise::Newer).then(|| now + self.within(AT_ONCE))
    }

    /// Processes a neighbour's entry for a destination. Changes that need not settle are passed on at the time `soon`.
    fn learn(&mut self, now: Instant, from: NodeId, dsdv_entry: &DsdvEntry, soon: Option<Instant>) {
        if dsdv_entry.destination == self.node {
            return self.hear_of_itself(now, dsdv_entry);
        }
        let is_reachable = dsdv_entry.sequence.is_multiple_of(2);
        let hops = if is_reachable { dsdv_entry.hops.saturating_add(1) } else { INFINITE };
        let Some(known) = self.table.get_mut(&dsdv_entry.destination) else {
            if is_reachable {
                self.add(now, from, dsdv_entry, hops, soon);
            }
            return;
        };
        if !is_reachable {
            if known.next_hop == from && known.is_reachable() && is_newer(dsdv_entry.sequence, known.sequence) {
                self.lose(now, dsdv_entry.destination, dsdv_entry.sequence);
            }
            return;
        }
        let is_new = is_newer(dsdv_entry.sequence, known.sequence);
        if !is_new && (dsdv_entry.sequence != known.sequence || hops >= known.hops) {
            if known.next_hop == from && dsdv_entry.sequence == known.sequence {
                known.heard = now;
            }
            return;
        }
        let has_changed = (known.next_hop, known.hops) != (from, hops);
        // Others are notified of a different length of the path, not of another next hop.
        let is_news = known.hops != hops;
        if is_new {
            known.first = now;
        } else if self.config.weighted_settling {
            let last = now.since(known.first);
            known.settling = (known.settling * OLD_WEIGHT + last) / WEIGHTS;
        }
        let due = now + known.settling;
        (known.next_hop, known.hops, known.sequence, known.heard) = (from, hops, dsdv_entry.sequence, now);
        self.changes += u64::from(has_changed);
        if is_news {
            self.change(dsdv_entry.destination, due);
        } else if let Some(soon) = soon.filter(|_| is_new) {
            self.change(dsdv_entry.destination, soon);
        }
        self.release(dsdv_entry.destination);
        self.check = earlier(self.check, now + self.config.hold());
    }

    fn add(&mut self, now: Instant, from: NodeId, dsdv_entry: &DsdvEntry, hops: u32, soon: Option<Instant>) {
        let settling = self.config.settling;
        let known = KnownRoute {
            next_hop: from,
            hops,
            sequence: dsdv_entry.sequence,
            first: now,
            heard: now,
            settling,
            due: None,
        };
        self.table.insert(dsdv_entry.destination, known);
        self.changes += 1;
        self.change(dsdv_entry.destination, soon.unwrap_or(now + settling));
        self.release(dsdv_entry.destination);
        self.check = earlier(self.check, now + self.config.hold());
    }

    /// Handles a report that this node is unreachable: the node advertises itself with a newer sequence number.
    fn hear_of_itself(&mut self, now: Instant, dsdv_entry: &DsdvEntry) {
        if !dsdv_entry.sequence.is_multiple_of(2) && is_newer(dsdv_entry.sequence, self.sequence) {
            self.sequence = dsdv_entry.sequence.wrapping_add(1);
            let entry = self.own_entry();
            let send_time = now + self.jitter();
            self.outbox.send_at(
                send_time,
                Receiver::All,
                crate::Message::Dsdv(Update { is_full: false, entries: vec![entry] }),
                1,
            );
        }
    }

    fn release(&mut self, destination: NodeId) {
        if self.wanted.remove(&destination) {
            self.outbox.release(destination);
        }
    }

    /// Handles the loss of the route to a destination: all neighbours are notified immediately.
    fn lose(&mut self, now: Instant, destination: NodeId, sequence: u32) {
        if let Some(known) = self.table.get_mut(&destination) {
            (known.hops, known.sequence, known.heard) = (INFINITE, sequence, now);
            self.changes += 1;
            self.check = earlier(self.check, now + self.config.hold());
        }
        let due = now + self.jitter();
        self.change(destination, due);
    }

    fn lose_neighbour(&mut self, now: Instant, neighbour: NodeId) {
        let is_over = |known: &KnownRoute| known.next_hop == neighbour && known.is_reachable();
        let lost: Vec<(NodeId, u32)> = self
            .table
            .iter()
            .filter(|(_, known)| is_over(known))
            .map(|(node, known)| (*node, known.sequence))
            .collect();
        for (destination, sequence) in lost {
            self.lose(now, destination, sequence.wrapping_add(1));
        }
    }

    /// Invalidates routes without recent updates, and removes routes that were lost long ago.
    fn expire(&mut self, now: Instant) {
        if self.check.is_none_or(|check| check > now) {
            return;
        }
        let hold = self.config.hold();
        self.table.retain(|_, known| known.is_reachable() || known.heard + hold > now);
        let is_silent = |known: &KnownRoute| known.is_reachable() && known.heard + hold <= now;
        let silent: Vec<(NodeId, u32)> = self
            .table
            .iter()
            .filter(|(_, known)| is_silent(known))
            .map(|(node, known)| (*node, known.sequence))
            .collect();
        for (destination, sequence) in silent {
            if self.table.get(&destination).is_some_and(KnownRoute::is_reachable) {
                self.lose(now, destination, sequence.wrapping_add(1));
                self.lose_neighbour(now, destination);
            }
        }
        self.check = self.table.values().map(|known| known.heard + hold).min();
    }
}

impl Agent for Dsdv {
    fn start(&mut self, now: Instant) {
        self.next_dump = Some(now + self.within(self.config.first_dump));
    }

    fn route(
        &mut self,
        now: Instant,
        heading: &PacketInfo,
        from: Option<NodeId>,
        _extra: &mut RoutingHeader,
        _world: &mut dyn Surroundings,
    ) -> Verdict {
        self.expire(now);
        match self.table.get(&heading.destination).filter(|known| known.is_reachable()) {
            Some(known) => Verdict::Via(known.next_hop),
            None if from.is_none() && self.config.buffering => {
                self.wanted.insert(heading.destination);
                Verdict::Wait
            }
            None => Verdict::Unreachable,
        }
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
        let crate::Message::Dsdv(update) = message else { return };
        if f64::from(snr_db) < self.config.min_snr {
            return;
        }
        self.expire(now);
        let soon = self.at_once(now);
        for entry in &update.entries {
            self.learn(now, from, entry, soon);
        }
    }

    fn broken(&mut self, now: Instant, to: NodeId, cause: Break, _heading: Option<&PacketInfo>) -> FailedPacketFate {
        if self.config.link_feedback && cause == Break::Retry {
            self.lose_neighbour(now, to);
        }
        FailedPacketFate::Lost
    }

    fn poll_timeout(&self) -> Option<Instant> {
        earliest([self.next_dump, self.next_update, self.check, self.outbox.next()])
    }

    fn handle_timeout(&mut self, now: Instant, _world: &mut dyn Surroundings) {
        self.expire(now);
        if self.next_dump.is_some_and(|at| at <= now) {
            self.dump(now);
        } else if self.next_update.is_some_and(|at| at <= now) {
            self.update(now);
        }
        self.outbox.advance(now);
    }

    fn poll_action(&mut self) -> Option<NodeAction> {
        self.outbox.take()
    }

    fn routes(&self, now: Instant) -> Vec<Route> {
        let hold = self.config.hold();
        let reachable = self.table.iter().filter(|(_, known)| known.is_reachable());
        let route = |(destination, known): (&NodeId, &KnownRoute)| Route {
            destination: *destination,
            next_hop: known.next_hop,
            hops: known.hops,
            lifetime: Some((known.heard + hold).since(now)),
        };
        reachable.map(route).collect()
    }

    fn changes(&self) -> u64 {
        self.changes
    }

    fn traffic(&self) -> &Traffic {
        self.outbox.traffic()
    }
}
