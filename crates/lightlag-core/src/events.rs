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
//! The structure is an implicit 4-ary heap of 16-byte keys with the position of each entity
//! beside it. `docs/performance.md` has the figures of the structures that it was chosen from.

use crate::time::Instant;

/// Whoever has a next event. Numbers are given out by the builder of a run, from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Entity(pub u32);

const ARITY: usize = 4;
const ABSENT: u32 = u32::MAX;

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
    /// `time << 64 | entity`, as an implicit heap.
    heap: Vec<u128>,
    /// Where each entity stands in `heap`, or `ABSENT`.
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
        assert!(entities < ABSENT as usize, "at most 2^32 - 2 entities");
        Self { heap: Vec::with_capacity(entities), position: vec![ABSENT; entities] }
    }

    /// How many entities have a pending entry.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// When the entity wakes next, if at all.
    pub fn armed(&self, entity: Entity) -> Option<Instant> {
        let at = self.position[entity.0 as usize];
        (at != ABSENT).then(|| parts(self.heap[at as usize]).0)
    }

    /// Wakes the entity at `time` or earlier: an entry that stands earlier stays, since an entity
    /// that wakes early just settles on its true deadline.
    #[inline]
    pub fn arm(&mut self, entity: Entity, time: Instant) {
        let key = key(time, entity);
        let at = self.position[entity.0 as usize];
        if at == ABSENT {
            self.heap.push(key);
            self.sift_up(self.heap.len() - 1, key);
        } else if key < self.heap[at as usize] {
            self.sift_up(at as usize, key);
        }
    }

    /// The earliest entry, if it is not after `end`. It stays pending until [`settle`](Self::settle).
    #[inline]
    pub fn next_until(&self, end: Instant) -> Option<(Instant, Entity)> {
        let first = parts(*self.heap.first()?);
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
                let last = self.heap.pop().expect("the entity stands in the heap");
                if at < self.heap.len() {
                    self.replace(at, last);
                }
            }
        }
    }

    /// Puts `key` in place of whatever stands at `at`.
    #[inline]
    fn replace(&mut self, at: usize, key: u128) {
        if at > 0 && key < self.heap[(at - 1) / ARITY] {
            self.sift_up(at, key);
        } else {
            self.sift_down(at, key);
        }
    }

    #[inline]
    fn put(&mut self, at: usize, key: u128) {
        self.heap[at] = key;
        self.position[key as u32 as usize] = at as u32;
    }

    #[inline]
    fn sift_up(&mut self, mut at: usize, key: u128) {
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if self.heap[parent] <= key {
                break;
            }
            self.put(at, self.heap[parent]);
            at = parent;
        }
        self.put(at, key);
    }

    #[inline]
    fn sift_down(&mut self, mut at: usize, key: u128) {
        loop {
            let first = at * ARITY + 1;
            let Some(children) = self.heap.get(first..(first + ARITY).min(self.heap.len())) else { break };
            let Some((offset, least)) = least(children) else { break };
            if key <= least {
                break;
            }
            self.put(at, least);
            at = first + offset;
        }
        self.put(at, key);
    }
}

/// The smallest of up to four keys and where it stands.
#[inline]
fn least(keys: &[u128]) -> Option<(usize, u128)> {
    let (mut at, mut least) = (0, *keys.first()?);
    for (i, key) in keys.iter().enumerate().skip(1) {
        if *key < least {
            (at, least) = (i, *key);
        }
    }
    Some((at, least))
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
