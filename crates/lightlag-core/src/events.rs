//! The event queue: one pending entry per entity, earliest first, with ties broken by the index of the entity.
//!
//! An entity is a link direction, a connection or a traffic source: any part with one next event. It stores its own
//! future events (a link in its ring of packets, a connection as its deadline); the queue holds only the time of the
//! next one. The queue therefore has at most one entry per entity, and no event is ever cancelled: its entry is moved.
//!
//! The order is total and local, (time, entity). It depends on neither the order of insertions nor threads.
//!
//! The structure is a tournament: each entity has a slot, and the earliest of eight slots advances to a slot of the
//! next round, up to a last match of 64 slots. Entity and time form one number of 64 bits. The last match stores the
//! winners of its pairs, fours and so on, so a change costs few comparisons there; the other matches are a cache line
//! of keys. A change replays the matches on one path, whose slots are known in advance. `docs/performance.md` compares
//! the tournament with other structures.

use crate::prefetch;
use crate::time::Instant;
use std::ops::Range;

/// A part of a run that has a next event. The builder of the run assigns indices, starting at 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Entity(pub u32);

/// Number of low bits of a key that identify the entity; the others hold the time, in nanoseconds after
/// [`EventQueue::base`].
const ENTITY_BITS: u32 = 26;

/// Mask of these bits; also the entity of a key that belongs to no entity.
const ENTITY: u32 = (1 << ENTITY_BITS) - 1;

/// Time limit of keys, about 275 s after the base: beyond it, keys do not distinguish times, but [`EventQueue::far`]
/// does.
const REACH: u64 = u64::MAX >> ENTITY_BITS;

/// Minimum key of an entry beyond [`REACH`].
const FAR: u64 = REACH << ENTITY_BITS;

/// Key of free slots, larger than every other.
const FREE: u64 = u64::MAX;

/// Number of slots of a match.
const WIDTH: usize = 8;

/// Number of slots of the last match. The slots of the other matches follow: eight of the first match, eight of the
/// second and so on. The winner of a match is copied to the slot with the same index as the match.
const LAST: usize = 64;

/// The last match. The upper half of the array holds the keys of the slots. The lower half holds the winners of pairs,
/// of fours and so on, so that few comparisons update the winner: the winner of the elements 2n and 2n + 1 has the
/// index n.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Match([u64; 2 * LAST]);

impl Match {
    const EMPTY: Self = Self([FREE; 2 * LAST]);

    /// Returns the index in the array of a slot.
    #[inline(always)]
    fn number(index: usize) -> usize {
        LAST + index % LAST
    }

    fn key(&self, index: usize) -> u64 {
        self.0[Self::number(index)]
    }

    /// Stores a key in a slot, and returns the winner. It never reads a value that it has just written, so that no
    /// comparison waits for memory.
    #[inline(always)]
    fn put(&mut self, index: usize, mut key: u64) -> u64 {
        let mut slot = Self::number(index);
        for _ in 0..LAST.ilog2() {
            self.0[slot] = key;
            slot ^= 1;
            key = key.min(self.0[slot]);
            slot >>= 1;
        }
        key
    }

    /// Stores an earlier key in a slot; returns true if it may be the winner.
    #[inline(always)]
    fn advance(&mut self, index: usize, key: u64) -> bool {
        let mut slot = Self::number(index);
        for _ in 0..LAST.ilog2() {
            if self.0[slot] <= key {
                return false;
            }
            self.0[slot] = key;
            slot >>= 1;
        }
        true
    }
}

/// A match other than the last: only the keys of its slots, in one cache line. In a large queue, the memory that a
/// change touches costs more than the comparisons.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct KeyMatch([u64; WIDTH]);

impl KeyMatch {
    const EMPTY: Self = Self([FREE; WIDTH]);

    #[inline(always)]
    fn key(&self, index: usize) -> u64 {
        self.0[index % WIDTH]
    }

    /// Stores a key in a slot, and returns the winner. Like [`Match::put`], it never reads a value that it has just
    /// written.
    #[inline(always)]
    fn put(&mut self, index: usize, key: u64) -> u64 {
        let slot = index % WIDTH;
        self.0[slot] = key;
        let other = |distance: usize| self.0[slot ^ distance];
        let (near, far) = (key.min(other(1)).min(other(2).min(other(3))), other(4).min(other(5)));
        near.min(far.min(other(6).min(other(7))))
    }

    /// Stores an earlier key in a slot; returns true if the slot had a later key, so that the new one may be the
    /// winner.
    #[inline(always)]
    fn advance(&mut self, index: usize, key: u64) -> bool {
        let before = &mut self.0[index % WIDTH];
        let is_earlier = key < *before;
        if is_earlier {
            *before = key;
        }
        is_earlier
    }
}

/// Returns the index of the match that has this slot; `None` for the last match.
#[inline(always)]
fn match_of(index: usize) -> Option<usize> {
    index.checked_sub(LAST).map(|place| place / WIDTH)
}

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
    /// Winner of the last match.
    first: u64,
    /// Origin of the times in keys.
    base: Instant,
    last: Match,
    /// Matches other than the last, the later rounds first.
    matches: Vec<KeyMatch>,
    /// Slot of entity 0.
    places: usize,
    entities: usize,
    /// Times of the entities whose key is [`FAR`]; the values of other entities are meaningless. Empty until there is
    /// such a key.
    far: Vec<Instant>,
}

impl EventQueue {
    /// Returns an empty queue for entities 0 to `entities - 1`.
    pub fn new(entities: usize) -> Self {
        assert!(entities < 1 << ENTITY_BITS, "fewer than 2^26 entities");
        // A match reduces eight slots to one: as many matches as leave no more than the last can hold.
        let matches = entities.saturating_sub(LAST).div_ceil(WIDTH - 1);
        Self {
            first: FREE,
            base: Instant::ZERO,
            last: Match::EMPTY,
            matches: vec![KeyMatch::EMPTY; matches],
            places: matches,
            entities,
            far: Vec::new(),
        }
    }

    /// Returns the time of the entity's next event, if there is one.
    pub fn armed(&self, entity: Entity) -> Option<Instant> {
        let key = self.key_at(self.places + entity.0 as usize);
        if key < FAR { Some(self.time(key)) } else { (key != FREE).then(|| self.far[entity.0 as usize]) }
    }

    /// Schedules the entity at `time` or earlier: an earlier entry stays, since an entity whose event fires early then
    /// sets its true deadline.
    #[inline]
    pub fn arm(&mut self, entity: Entity, time: Instant) {
        let Some(key) = self.key(entity, time) else { return self.arm_far(entity, time) };
        let mut slot = self.places + entity.0 as usize;
        while let Some(before) = match_of(slot) {
            if !self.matches[before].advance(slot, key) {
                return;
            }
            slot = before;
        }
        if self.last.advance(slot, key) {
            self.first = self.first.min(key);
        }
    }

    /// Returns two entities near `entity` whose events are likely to be soon, so that their state can be prefetched:
    /// the one with the earliest event among the entities of the same slot of the last match, and the one with the
    /// earliest event in the nearest eighth of them. An index that is not an entity means that none has an event.
    /// Returns `None` if there are so few entities that any cache holds them.
    #[inline]
    pub fn soon_near(&self, entity: Entity) -> Option<(Entity, Entity)> {
        // Slots in the round before the last match, if all of them belong to matches.
        const BEFORE_LAST: Range<usize> = LAST..LAST + LAST * WIDTH;
        if self.places < BEFORE_LAST.end {
            return None;
        }
        let mut slot = self.places + entity.0 as usize;
        while slot >= BEFORE_LAST.end {
            slot = (slot - LAST) / WIDTH;
        }
        let winner = |place: usize| Entity(self.key_at(place) as u32 & ENTITY);
        Some((winner((slot - LAST) / WIDTH), winner(slot)))
    }

    /// Prefetches the entry of an entity.
    #[inline]
    pub fn prefetch(&self, entity: Entity) {
        if let Some(at) = match_of(self.places + entity.0 as usize) {
            prefetch(&self.matches[at]);
        }
    }

    /// Returns the earliest entry, if it is not after `end`. It stays pending until [`settle`](Self::settle).
    #[inline]
    pub fn next_until(&self, end: Instant) -> Option<(Instant, Entity)> {
        let first = if self.first < FAR {
            (self.time(self.first), Entity(self.first as u32 & ENTITY))
        } else {
            self.first_far()?
        };
        (first.0 <= end).then_some(first)
    }

    /// Completes the event of `entity`, and schedules the next one at `time`, if any.
    #[inline(always)]
    pub fn settle(&mut self, entity: Entity, time: Option<Instant>) {
        if self.first >= FAR {
            self.catch_up();
        }
        let key = match time {
            Some(time) => self.key(entity, time).unwrap_or_else(|| self.far_key(entity, time)),
            None => FREE,
        };
        self.put(entity, key);
    }

    /// Returns the key of an entry, unless its time is before the base or far after it.
    #[inline(always)]
    fn key(&self, entity: Entity, time: Instant) -> Option<u64> {
        let ahead = time.as_nanos().wrapping_sub(self.base.as_nanos());
        (ahead < REACH).then_some(ahead << ENTITY_BITS | u64::from(entity.0))
    }

    /// Returns the key in a slot.
    #[inline]
    fn key_at(&self, index: usize) -> u64 {
        match_of(index).map_or_else(|| self.last.key(index), |at| self.matches[at].key(index))
    }

    /// Returns the time of a key below [`FAR`].
    #[inline(always)]
    fn time(&self, key: u64) -> Instant {
        Instant::from_nanos(self.base.as_nanos().wrapping_add(key >> ENTITY_BITS))
    }

    /// Sets the key of the entity, and replays the matches that it affects.
    #[inline(always)]
    fn put(&mut self, entity: Entity, key: u64) {
        let (mut slot, mut key) = (self.places + entity.0 as usize, key);
        while let Some(before) = match_of(slot) {
            key = self.matches[before].put(slot, key);
            slot = before;
        }
        self.first = self.last.put(slot, key);
    }

    /// Returns the entities with an entry, and their times.
    fn pending(&self) -> impl Iterator<Item = (Instant, Entity)> + '_ {
        let entities = (0..self.entities as u32).map(Entity);
        entities.filter_map(|entity| self.armed(entity).map(|time| (time, entity)))
    }

    /// Returns the earliest entry if all entries are far after the base.
    #[cold]
    fn first_far(&self) -> Option<(Instant, Entity)> {
        if self.first == FREE { None } else { self.pending().min() }
    }

    #[cold]
    fn arm_far(&mut self, entity: Entity, time: Instant) {
        if self.armed(entity).is_none_or(|armed| time < armed) {
            let key = self.far_key(entity, time);
            self.put(entity, key);
        }
    }

    #[cold]
    fn far_key(&mut self, entity: Entity, time: Instant) -> u64 {
        if time < self.base {
            self.count_from(time);
            return u64::from(entity.0);
        }
        self.far.resize(self.entities, Instant::ZERO);
        self.far[entity.0 as usize] = time;
        FAR | u64::from(entity.0)
    }

    /// Moves the base to the first entry, because all entries are far after it.
    #[cold]
    fn catch_up(&mut self) {
        if let Some((time, _)) = self.first_far() {
            self.count_from(time);
        }
    }

    /// Moves the base to `base`.
    fn count_from(&mut self, base: Instant) {
        let pending: Vec<(Instant, Entity)> = self.pending().collect();
        self.base = base;
        for (time, entity) in pending {
            let key = self.key(entity, time).unwrap_or_else(|| self.far_key(entity, time));
            self.put(entity, key);
        }
    }
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
    fn soon_near_returns_the_earliest_neighbour() {
        assert!(EventQueue::new(512).soon_near(Entity(0)).is_none());
        // 4936 / 7 = 706 matches, so entity 0 has slot 706. Slots 1280 to 1343 share slot 11 of the last match, and
        // every eight of them one before it.
        let mut queue = EventQueue::new(5000);
        for (time, entity) in [(90, 574), (70, 600), (50, 601), (60, 637), (10, 573), (20, 638)] {
            queue.arm(Entity(entity), Instant::from_nanos(time));
        }
        assert_eq!(queue.soon_near(Entity(603)), Some((Entity(601), Entity(601))));
        assert_eq!(queue.soon_near(Entity(632)), Some((Entity(601), Entity(637))));
        let (first, nearest) = queue.soon_near(Entity(592)).unwrap();
        assert!(first == Entity(601) && nearest.0 >= 5000, "{first:?} {nearest:?}");
    }

    #[test]
    fn arming_keeps_the_earlier_entry() {
        let mut queue = EventQueue::new(1);
        queue.arm(Entity(0), Instant::from_nanos(5));
        queue.arm(Entity(0), Instant::from_nanos(9));
        assert_eq!(queue.armed(Entity(0)), Some(Instant::from_nanos(5)));
        queue.arm(Entity(0), Instant::from_nanos(2));
        assert_eq!(queue.armed(Entity(0)), Some(Instant::from_nanos(2)));
    }

    proptest! {
        /// Compares the queue with a sorted map over random histories.
        #[test]
        fn agrees_with_a_sorted_map(
            operations in prop::collection::vec((0u8..3, 0u32..5000, 0u64..1000, any::<bool>()), 1..400),
            unit in 0u32..40,
            // One round, two, three and four.
            entities in prop::sample::select(vec![3u32, 60, 64, 65, 71, 72, 500, 5000]),
        ) {
            let mut queue = EventQueue::new(entities as usize);
            let mut oracle: BTreeMap<u32, u64> = BTreeMap::new();
            for (operation, entity, time, late) in operations {
                // From nanoseconds to years: within the range of keys and far beyond it, in any order.
                let time = if late { time << unit } else { time };
                let entity = entity % entities;
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
                let armed = queue.armed(Entity(entity)).map(Instant::as_nanos);
                prop_assert_eq!(armed, oracle.get(&entity).copied());
            }
        }
    }
}
