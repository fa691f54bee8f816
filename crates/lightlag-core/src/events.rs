//! The event queue: one pending entry per entity, earliest first, ties in the order of entities.
//!
//! An entity is a link direction, a connection, a traffic source: whatever has one next thing to
//! do. It keeps its own future (a link its ring of packets, a connection its deadline) and only
//! its next instant stands here, so the queue stays as short as the network has parts, and
//! nothing is ever cancelled: an entry is moved.
//!
//! The order is total and local, (time, entity): it depends on neither the history of insertions
//! nor threads.
//!
//! The structure is an implicit 4-ary heap of 16-byte keys, laid out so that four siblings share a
//! cache line, with the position of each entity beside it. `docs/performance.md` has the figures of
//! the structures that it was chosen from.

use crate::time::Instant;

/// Whoever has a next event. Numbers are given out by the builder of a run, from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Entity(pub u32);

const ABSENT: u32 = u32::MAX;

/// Four siblings in one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Siblings([u128; 4]);

/// Where the root stands, so that the children of the entry at `i` fill the line at `4 (i - 2)`.
const ROOT: usize = 3;

/// Larger than every key: what stands at free places.
const FREE: u128 = u128::MAX;

/// The pending entries of all entities.
///
/// ```
/// use lightlag_core::{Duration, Entity, EventQueue, Instant};
/// let mut queue = EventQueue::new(2);
/// queue.arm(Entity(1), Instant::from_nanos(10));
/// queue.arm(Entity(0), Instant::from_nanos(20));
/// let mut order = Vec::new();
/// while let Some((now, entity)) = queue.next_until(Instant::from_nanos(30)) {
///     order.push((now.as_nanos(), entity.0));
///     // Entity 0 wakes again after 5 ns, entity 1 never.
///     queue.settle(entity, (entity.0 == 0).then(|| now + Duration::from_nanos(5)));
/// }
/// assert_eq!(order, [(10, 1), (20, 0), (25, 0), (30, 0)]);
/// ```
#[derive(Clone, Debug)]
pub struct EventQueue {
    /// `time << 64 | entity`, as an implicit heap from [`ROOT`] on.
    lines: Vec<Siblings>,
    /// The first free place.
    end: usize,
    /// Where each entity stands in `lines`, or `ABSENT`.
    position: Vec<u32>,
}

fn key(time: Instant, entity: Entity) -> u128 {
    u128::from(time.as_nanos()) << 64 | u128::from(entity.0)
}

fn parts(key: u128) -> (Instant, Entity) {
    (Instant::from_nanos((key >> 64) as u64), Entity(key as u32))
}

impl EventQueue {
    /// An empty queue for entities 0 to `entities - 1`.
    pub fn new(entities: usize) -> Self {
        assert!(entities < ABSENT as usize - ROOT, "at most 2^32 - 5 entities");
        let lines = vec![Siblings([FREE; 4]); (entities + ROOT).div_ceil(4)];
        Self { lines, end: ROOT, position: vec![ABSENT; entities] }
    }

    /// How many entities have a pending entry.
    pub fn len(&self) -> usize {
        self.end - ROOT
    }

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.end == ROOT
    }

    /// When the entity wakes next, if at all.
    pub fn armed(&self, entity: Entity) -> Option<Instant> {
        let at = self.position[entity.0 as usize];
        (at != ABSENT).then(|| parts(self.at(at as usize)).0)
    }

    /// Wakes the entity at `time` or earlier: an entry that stands earlier stays, since an entity
    /// that wakes early just settles on its true deadline.
    #[inline]
    pub fn arm(&mut self, entity: Entity, time: Instant) {
        let key = key(time, entity);
        let at = self.position[entity.0 as usize];
        if at == ABSENT {
            self.end += 1;
            self.sift_up(self.end - 1, key);
        } else if key < self.at(at as usize) {
            self.sift_up(at as usize, key);
        }
    }

    /// The earliest entry, if it is not after `end`. It stays pending until [`settle`](Self::settle).
    #[inline]
    pub fn next_until(&self, end: Instant) -> Option<(Instant, Entity)> {
        if self.is_empty() {
            return None;
        }
        let first = parts(self.at(ROOT));
        (first.0 <= end).then_some(first)
    }

    /// Ends the turn of `entity`: it wakes next at `time`, or not at all.
    #[inline]
    pub fn settle(&mut self, entity: Entity, time: Option<Instant>) {
        let at = self.position[entity.0 as usize];
        if at == ABSENT {
            if let Some(time) = time {
                self.arm(entity, time);
            }
            return;
        }
        let at = at as usize;
        match time {
            Some(time) => self.replace(at, key(time, entity)),
            None => {
                self.position[entity.0 as usize] = ABSENT;
                self.end -= 1;
                let last = self.at(self.end);
                self.lines[self.end / 4].0[self.end % 4] = FREE;
                if at < self.end {
                    self.replace(at, last);
                }
            }
        }
    }

    /// Ends the turn of the entity that [`Self::next_until`] gave, if nothing was armed since: as [`Self::settle`], and
    /// cheaper, because it stands first.
    #[inline]
    pub fn settle_first(&mut self, entity: Entity, time: Option<Instant>) {
        debug_assert_eq!(self.position[entity.0 as usize] as usize, ROOT, "this entity is the next one");
        match time {
            Some(time) => self.sift_down(ROOT, key(time, entity)),
            None => self.settle(entity, None),
        }
    }

    /// Puts `key` in place of whatever stands at `at`.
    #[inline]
    fn replace(&mut self, at: usize, key: u128) {
        if at > ROOT && key < self.at(parent(at)) {
            self.sift_up(at, key);
        } else {
            self.sift_down(at, key);
        }
    }

    #[inline]
    fn at(&self, at: usize) -> u128 {
        self.lines[at / 4].0[at % 4]
    }

    #[inline]
    fn put(&mut self, at: usize, key: u128) {
        self.lines[at / 4].0[at % 4] = key;
        self.position[key as u32 as usize] = at as u32;
    }

    #[inline]
    fn sift_up(&mut self, mut at: usize, key: u128) {
        while at > ROOT {
            let above = self.at(parent(at));
            if above <= key {
                break;
            }
            self.put(at, above);
            at = parent(at);
        }
        self.put(at, key);
    }

    #[inline]
    fn sift_down(&mut self, mut at: usize, key: u128) {
        while let Some(Siblings([a, b, c, d])) = self.lines.get(at - 2) {
            let (left, left_at) = if b < a { (b, 1) } else { (a, 0) };
            let (right, right_at) = if d < c { (d, 3) } else { (c, 2) };
            let (least, offset) = if right < left { (*right, right_at) } else { (*left, left_at) };
            // The line past the end holds nothing but FREE.
            if key <= least {
                break;
            }
            self.put(at, least);
            at = 4 * (at - 2) + offset;
        }
        self.put(at, key);
    }
}

fn parent(at: usize) -> usize {
    at / 4 + 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn equal_times_come_in_the_order_of_entities() {
        let mut queue = EventQueue::new(5);
        for entity in [3, 1, 4, 0, 2] {
            queue.arm(Entity(entity), Instant::from_nanos(7));
        }
        let mut order = Vec::new();
        while let Some((_, entity)) = queue.next_until(Instant::MAX) {
            order.push(entity.0);
            queue.settle(entity, None);
        }
        assert_eq!(order, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn arming_keeps_the_earlier_entry() {
        let mut queue = EventQueue::new(1);
        queue.arm(Entity(0), Instant::from_nanos(5));
        queue.arm(Entity(0), Instant::from_nanos(9));
        assert_eq!(queue.armed(Entity(0)), Some(Instant::from_nanos(5)));
        queue.arm(Entity(0), Instant::from_nanos(2));
        assert_eq!(queue.armed(Entity(0)), Some(Instant::from_nanos(2)));
        assert_eq!(queue.len(), 1);
    }

    proptest! {
        /// Against a sorted map as the oracle, over random histories.
        #[test]
        fn agrees_with_a_sorted_map(operations in prop::collection::vec((0u8..3, 0u32..40, 0u64..1000), 1..400)) {
            let mut queue = EventQueue::new(40);
            let mut oracle: BTreeMap<u32, u64> = BTreeMap::new();
            for (operation, entity, time) in operations {
                match operation {
                    0 => {
                        queue.arm(Entity(entity), Instant::from_nanos(time));
                        oracle.entry(entity).and_modify(|t| *t = (*t).min(time)).or_insert(time);
                    }
                    1 => {
                        queue.settle(Entity(entity), Some(Instant::from_nanos(time)));
                        oracle.insert(entity, time);
                    }
                    _ => {
                        queue.settle(Entity(entity), None);
                        oracle.remove(&entity);
                    }
                }
                let first = oracle.iter().map(|(e, t)| (*t, *e)).min();
                let seen = queue.next_until(Instant::MAX).map(|(t, e)| (t.as_nanos(), e.0));
                prop_assert_eq!(seen, first);
                prop_assert_eq!(queue.len(), oracle.len());
            }
        }
    }
}
