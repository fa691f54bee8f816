//! DSDV on a node.

use super::{Advertise, Config, Entry, Update};
use crate::agent::earliest;
use crate::model::Model;
use crate::outbox::Outbox;
use crate::{Action, Agent, Break, Extra, Fate, Heading, Identity, Receiver, Route, Surroundings, Traffic, Verdict};
use lightlag_core::{Duration, Instant, RandomStream};
use lightlag_net::NodeId;
use std::collections::{BTreeMap, BTreeSet};

/// The most entries in a message: 1472 bytes of UDP payload in an IP packet of 1500.
const MOST_ENTRIES: usize = 1472 / 12;
/// The hops to a destination that cannot be reached, on the wire.
const INFINITE: u32 = u32::MAX;
/// The weight of the settling time so far against the last one, as in ns-3.
const OLD_WEIGHT: u64 = 7;
const WEIGHTS: u64 = 8;
/// The longest delay of news that need not settle, as in ns-3.
const AT_ONCE: Duration = Duration::from_millis(1);

#[derive(Clone, Copy, Debug)]
struct Known {
    next_hop: NodeId,
    /// Of a destination that cannot be reached [`INFINITE`].
    hops: u32,
    sequence: u32,
    /// The arrival of the first route with this number.
    first: Instant,
    /// The last word of the next hop about it, or the time at which it was lost.
    heard: Instant,
    settling: Duration,
    /// The time from which on a change is said, if there is one.
    due: Option<Instant>,
}

impl Known {
    fn is_reachable(&self) -> bool {
        self.hops != INFINITE
    }
}

#[derive(Clone, Debug)]
struct Dsdv {
    node: NodeId,
    config: Config,
    /// The node's own number, even.
    sequence: u32,
    table: BTreeMap<NodeId, Known>,
    /// Destinations for which packets wait.
    wanted: BTreeSet<NodeId>,
    next_dump: Option<Instant>,
    /// Not after the first change that is due.
    next_update: Option<Instant>,
    /// Not after the first route that is lost for want of news, or forgotten.
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

/// Whether a number is newer than another; both wrap.
fn is_newer(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

fn earlier(a: Option<Instant>, b: Instant) -> Option<Instant> {
    Some(a.map_or(b, |a| a.min(b)))
}

impl Dsdv {
    /// A random time of at most `most`.
    fn within(&mut self, most: Duration) -> Duration {
        Duration::from_secs_f64(self.random.uniform() * most.as_secs_f64())
    }

    fn jitter(&mut self) -> Duration {
        self.within(self.config.jitter)
    }

    fn entry(destination: NodeId, known: &Known) -> Entry {
        Entry { destination, hops: known.hops, sequence: known.sequence }
    }

    fn send(&mut self, is_full: bool, entries: &[Entry]) {
        for entries in entries.chunks(MOST_ENTRIES) {
            let update = Update { is_full, entries: entries.to_vec() };
            self.outbox.send(Receiver::All, crate::Message::Dsdv(update), 1);
        }
    }

    fn own_entry(&self) -> Entry {
        Entry { destination: self.node, hops: 0, sequence: self.sequence }
    }

    /// The whole table, with a new number.
    fn dump(&mut self, now: Instant) {
        self.sequence = self.sequence.wrapping_add(2);
        let known = self.table.iter().map(|(destination, known)| Self::entry(*destination, known));
        let entries: Vec<Entry> = std::iter::once(self.own_entry()).chain(known).collect();
        self.send(true, &entries);
        self.table.values_mut().for_each(|known| known.due = None);
        self.next_update = None;
        self.next_dump = Some(now + self.config.periodic_update + self.jitter());
    }

    /// The changes that are due.
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

    /// When a newer number is passed on, or a route that was not known, where neither has to settle.
    fn at_once(&mut self, now: Instant) -> Option<Instant> {
        (self.config.advertise == Advertise::Newer).then(|| now + self.within(AT_ONCE))
    }

    /// A neighbour's word about a destination. News that need not settle are passed on at `soon`.
    fn learn(&mut self, now: Instant, from: NodeId, told: &Entry, soon: Option<Instant>) {
        if told.destination == self.node {
            return self.hear_of_itself(now, told);
        }
        let is_reachable = told.sequence.is_multiple_of(2);
        let hops = if is_reachable { told.hops.saturating_add(1) } else { INFINITE };
        let Some(known) = self.table.get_mut(&told.destination) else {
            if is_reachable {
                self.add(now, from, told, hops, soon);
            }
            return;
        };
        if !is_reachable {
            if known.next_hop == from && known.is_reachable() && is_newer(told.sequence, known.sequence) {
                self.lose(now, told.destination, told.sequence);
            }
            return;
        }
        let is_new = is_newer(told.sequence, known.sequence);
        if !is_new && (told.sequence != known.sequence || hops >= known.hops) {
            if known.next_hop == from && told.sequence == known.sequence {
                known.heard = now;
            }
            return;
        }
        let has_changed = (known.next_hop, known.hops) != (from, hops);
        // Others hear of a longer or shorter way, not of a way over another neighbour.
        let is_news = known.hops != hops;
        if is_new {
            known.first = now;
        } else if self.config.weighted_settling {
            let last = now.since(known.first);
            known.settling = (known.settling * OLD_WEIGHT + last) / WEIGHTS;
        }
        let due = now + known.settling;
        (known.next_hop, known.hops, known.sequence, known.heard) = (from, hops, told.sequence, now);
        self.changes += u64::from(has_changed);
        if is_news {
            self.change(told.destination, due);
        } else if let Some(soon) = soon.filter(|_| is_new) {
            self.change(told.destination, soon);
        }
        self.release(told.destination);
        self.check = earlier(self.check, now + self.config.hold());
    }

    fn add(&mut self, now: Instant, from: NodeId, told: &Entry, hops: u32, soon: Option<Instant>) {
        let settling = self.config.settling;
        let known =
            Known { next_hop: from, hops, sequence: told.sequence, first: now, heard: now, settling, due: None };
        self.table.insert(told.destination, known);
        self.changes += 1;
        self.change(told.destination, soon.unwrap_or(now + settling));
        self.release(told.destination);
        self.check = earlier(self.check, now + self.config.hold());
    }

    /// Somebody says that this node cannot be reached: it answers with a newer number.
    fn hear_of_itself(&mut self, now: Instant, told: &Entry) {
        if !told.sequence.is_multiple_of(2) && is_newer(told.sequence, self.sequence) {
            self.sequence = told.sequence.wrapping_add(1);
            let entry = self.own_entry();
            let at = now + self.jitter();
            self.outbox.send_at(
                at,
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

    /// The way to a destination is lost: everybody shall know at once.
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
        let is_over = |known: &Known| known.next_hop == neighbour && known.is_reachable();
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

    /// Loses the routes of which nothing was heard for long, and forgets those lost long ago.
    fn expire(&mut self, now: Instant) {
        if self.check.is_none_or(|check| check > now) {
            return;
        }
        let hold = self.config.hold();
        self.table.retain(|_, known| known.is_reachable() || known.heard + hold > now);
        let is_silent = |known: &Known| known.is_reachable() && known.heard + hold <= now;
        let silent: Vec<(NodeId, u32)> = self
            .table
            .iter()
            .filter(|(_, known)| is_silent(known))
            .map(|(node, known)| (*node, known.sequence))
            .collect();
        for (destination, sequence) in silent {
            if self.table.get(&destination).is_some_and(Known::is_reachable) {
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
        heading: &Heading,
        from: Option<NodeId>,
        _extra: &mut Extra,
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

    fn broken(&mut self, now: Instant, to: NodeId, cause: Break, _heading: Option<&Heading>) -> Fate {
        if self.config.link_feedback && cause == Break::Retry {
            self.lose_neighbour(now, to);
        }
        Fate::Lost
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

    fn poll_action(&mut self) -> Option<Action> {
        self.outbox.take()
    }

    fn routes(&self, now: Instant) -> Vec<Route> {
        let hold = self.config.hold();
        let reachable = self.table.iter().filter(|(_, known)| known.is_reachable());
        let route = |(destination, known): (&NodeId, &Known)| Route {
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
