//! A first-in, first-out queue in a ring buffer.
//!
//! All slots hold a value. A new value overwrites a slot instead of being moved in, and a removed value can be read
//! until its slot is needed again. An empty ring starts at its first slot, which may still be in a cache. A full ring
//! grows by a quarter, and a large one to twice its size: many rings are small, and few are large.

use std::ops::{Index, IndexMut};

/// A first-in, first-out queue, indexed from its front.
///
/// ```
/// let mut ring = lightlag_core::Ring::new();
/// for number in 1..=3 {
///     *ring.push() = number;
/// }
/// assert_eq!(ring.pass(), Some(&1));
/// assert_eq!(ring.iter().copied().collect::<Vec<i32>>(), [2, 3]);
/// ```
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Ring<T> {
    places: Box<[T]>,
    /// Index of the front slot.
    head: u32,
    len: u32,
}

/// Buffers of rings that became empty, for use by other rings. The most recent one is on top, as it may still be in a
/// cache. Reusing a buffer costs less than freeing and allocating it.
#[derive(Debug)]
pub struct FreeList<T>(Vec<Box<[T]>>);

impl<T> Default for FreeList<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// Maximum number of slots of a buffer that is retained.
const MOST_SPARE: usize = 16;

/// Maximum number of retained buffers. Those deep in the stack are used only when more rings hold values than ever
/// before.
const MOST_PIECES: usize = 256;

/// Minimum number of slots of a ring that doubles when it is full.
const LARGE: usize = 256;

/// Minimum number of slots of a ring that has held a value, and minimum growth.
const FEWEST: usize = 2;

impl<T> Ring<T> {
    /// Returns the number of values.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Returns true if there are no values.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the slot of the value at `index`, counted from the front, or the slot that such a value would have.
    #[inline(always)]
    fn place(&self, index: usize) -> usize {
        // The smaller of the two numbers is a slot: a difference below zero wraps.
        let place = self.head as usize + index;
        place.wrapping_sub(self.places.len()).min(place)
    }

    /// Returns the value at this index.
    #[inline(always)]
    pub fn get(&self, index: usize) -> Option<&T> {
        if index < self.len() { self.places.get(self.place(index)) } else { None }
    }

    /// Returns a mutable reference to the value at this index.
    #[inline(always)]
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        if index < self.len() { self.places.get_mut(self.place(index)) } else { None }
    }

    /// Returns the value that is removed next.
    #[inline(always)]
    pub fn front(&self) -> Option<&T> {
        if self.is_empty() { None } else { self.places.get(self.head as usize) }
    }

    /// Returns a mutable reference to the value that is removed next.
    #[inline(always)]
    pub fn front_mut(&mut self) -> Option<&mut T> {
        if self.is_empty() { None } else { self.places.get_mut(self.head as usize) }
    }

    /// Returns the value that was added last.
    #[inline]
    pub fn back(&self) -> Option<&T> {
        self.get(self.len().wrapping_sub(1))
    }

    /// Returns a mutable reference to the value that was added last.
    #[inline]
    pub fn back_mut(&mut self) -> Option<&mut T> {
        self.get_mut(self.len().wrapping_sub(1))
    }

    /// Returns the address of the front slot.
    #[inline]
    pub fn front_place(&self) -> *const T {
        self.places.as_ptr().wrapping_add(self.head as usize)
    }

    /// Returns an iterator over all values, from the front.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + ExactSizeIterator {
        (0..self.len()).map(|at| &self.places[self.place(at)])
    }

    /// Returns an iterator over mutable references to all values, from the front.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        let (start, end) = (self.head as usize, self.head as usize + self.len());
        let wrapped = end.saturating_sub(self.places.len());
        let (low, high) = self.places.split_at_mut(start);
        high[..end - wrapped - start].iter_mut().chain(&mut low[..wrapped])
    }

    /// Returns the index of the first value for which `precedes` is false; it is true for all earlier and false for all
    /// later values.
    pub fn partition_point(&self, precedes: impl Fn(&T) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if precedes(&self[middle]) { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// Removes the front value. It stays in its slot, where it can be read until the next `push`.
    #[inline(always)]
    pub fn pass(&mut self) -> Option<&T> {
        if self.len == 0 {
            return None;
        }
        let (slot, next) = (self.head as usize, self.head + 1);
        self.len -= 1;
        self.head = if self.len == 0 || next as usize == self.places.len() { 0 } else { next };
        self.places.get(slot)
    }

    /// Returns the address of the slot that the next value will have, unless the ring grows first.
    #[inline]
    pub fn next_place(&self) -> *const T {
        self.places.as_ptr().wrapping_add(self.place(self.len()))
    }
}

impl<T: Default> Ring<T> {
    /// Returns an empty ring, without memory.
    pub fn new() -> Self {
        Self { places: Box::default(), head: 0, len: 0 }
    }

    /// Appends a value and returns it, so that the caller can overwrite it. It is initially a removed value or the
    /// default.
    #[inline(always)]
    pub fn push(&mut self) -> &mut T {
        if self.len() == self.places.len() {
            self.grow();
        }
        let slot = self.place(self.len());
        self.len += 1;
        &mut self.places[slot]
    }

    /// Frees the memory of an empty ring.
    #[inline]
    pub fn release(&mut self) {
        if self.is_empty() {
            *self = Self::new();
        }
    }

    /// Moves the memory of an empty ring to `spares`.
    #[inline]
    pub fn release_to(&mut self, spares: &mut FreeList<T>) {
        if self.is_empty() {
            let Self { places, .. } = std::mem::take(self);
            if (1..=MOST_SPARE).contains(&places.len()) && spares.0.len() < MOST_PIECES {
                spares.0.push(places);
            }
        }
    }

    /// Gives a ring without memory one of the `spares`, if there is one.
    #[inline(always)]
    pub fn furnish(&mut self, spares: &mut FreeList<T>) {
        if self.places.is_empty()
            && let Some(places) = spares.0.pop()
        {
            self.places = places;
        }
    }

    /// Frees most of the memory, if no more than a quarter of the slots are in use.
    pub fn shrink(&mut self) {
        if self.is_empty() {
            return self.release();
        }
        let fewest = self.len().max(FEWEST);
        if 4 * fewest <= self.places.len() {
            self.places.rotate_left(self.head as usize);
            self.head = 0;
            let mut shrunk = std::mem::take(&mut self.places).into_vec();
            shrunk.truncate(fewest);
            self.places = shrunk.into_boxed_slice();
        }
    }

    /// Removes the front value and returns it.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let slot = self.head as usize;
        self.pass()?;
        self.places.get_mut(slot).map(std::mem::take)
    }

    /// Reserves memory for `values` values in total.
    #[cold]
    pub fn reserve(&mut self, values: usize) {
        if values > self.places.len() {
            self.grow_to(values.max(FEWEST));
        }
    }

    #[cold]
    fn grow(&mut self) {
        let slots = self.places.len();
        self.grow_to(slots + if slots < LARGE { (slots / 4).max(FEWEST) } else { slots });
    }

    fn grow_to(&mut self, slots: usize) {
        assert!(u32::try_from(slots).is_ok(), "a ring has fewer than 2^32 slots");
        let mut grown = std::mem::take(&mut self.places).into_vec();
        let (head, before) = (self.head as usize, grown.len());
        grown.reserve_exact(slots - before);
        grown.resize_with(slots, T::default);
        if head + self.len() > before {
            // The values before the head follow the ones at the end, where there is enough space now; else all move.
            if head <= slots - before {
                let (start, end) = grown.split_at_mut(before);
                start[..head].swap_with_slice(&mut end[..head]);
            } else {
                grown[..before].rotate_left(head);
                self.head = 0;
            }
        }
        self.places = grown.into_boxed_slice();
    }
}

impl<T> Index<usize> for Ring<T> {
    type Output = T;

    #[inline]
    fn index(&self, slot: usize) -> &T {
        self.get(slot).expect("the index is within the ring")
    }
}

impl<T> IndexMut<usize> for Ring<T> {
    #[inline]
    fn index_mut(&mut self, index: usize) -> &mut T {
        self.get_mut(index).expect("the index is within the ring")
    }
}

impl<T: Default> Default for Ring<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    #[test]
    fn a_passed_value_can_be_read_until_the_next_pass() {
        let mut ring = Ring::new();
        *ring.push() = 7;
        *ring.push() = 8;
        assert_eq!(ring.pass(), Some(&7));
        assert_eq!(ring.pass(), Some(&8));
        assert_eq!(ring.pass(), None);
        *ring.push() = 9;
        assert_eq!((ring.len(), ring.front(), ring.back()), (1, Some(&9), Some(&9)));
    }

    #[test]
    fn capacity_is_reserved_for_several_values_in_one_call() {
        let mut ring = Ring::new();
        ring.reserve(0);
        assert_eq!(ring.places.len(), 0);
        *ring.push() = 7;
        ring.reserve(5);
        assert_eq!((ring.front(), ring.len(), ring.places.len()), (Some(&7), 1, 5));
        ring.reserve(4);
        assert_eq!(ring.places.len(), 5);
    }

    #[test]
    fn a_full_ring_gets_a_quarter_more_capacity() {
        let mut ring = Ring::new();
        let mut sizes: Vec<usize> = (0..20)
            .map(|value| {
                *ring.push() = value;
                ring.places.len()
            })
            .collect();
        sizes.dedup();
        assert_eq!(sizes, [2, 4, 6, 8, 10, 12, 15, 18, 22]);
        assert!(ring.iter().copied().eq(0..20));
    }

    #[test]
    fn a_large_ring_doubles() {
        let mut ring = Ring::new();
        ring.reserve(LARGE - 1);
        for value in 0..2 * LARGE {
            *ring.push() = value;
        }
        assert_eq!(ring.places.len(), 2 * (LARGE - 1 + (LARGE - 1) / 4));
        assert!(ring.iter().copied().eq(0..2 * LARGE));
    }

    #[test]
    fn only_an_empty_ring_gives_its_memory_back() {
        let mut ring = Ring::new();
        *ring.push() = 7;
        ring.release();
        assert_eq!((ring.front(), ring.places.len()), (Some(&7), FEWEST));
        ring.pass();
        ring.release();
        assert_eq!(ring.places.len(), 0);
        *ring.push() = 8;
        assert_eq!(ring.front(), Some(&8));
    }

    #[test]
    fn memory_of_an_empty_ring_is_reused_by_the_next() {
        let (mut spares, mut first, mut second) = (FreeList::default(), Ring::new(), Ring::new());
        *first.push() = 7;
        first.release_to(&mut spares);
        second.furnish(&mut spares);
        assert_eq!((first.front(), second.places.len()), (Some(&7), 0));
        let slot = first.front_place();
        first.pass();
        first.release_to(&mut spares);
        second.furnish(&mut spares);
        *second.push() = 8;
        assert_eq!((second.front(), second.front_place(), first.places.len()), (Some(&8), slot, 0));
        first.furnish(&mut spares);
        *first.push() = 9;
        assert_eq!((first.front(), second.front()), (Some(&9), Some(&8)));
    }

    #[test]
    fn only_small_blocks_of_memory_are_cached() {
        let (mut spares, mut ring) = (FreeList::default(), Ring::<u8>::new());
        (0..=MOST_SPARE).for_each(|_| _ = ring.push());
        while ring.pass().is_some() {}
        ring.release_to(&mut spares);
        assert_eq!((ring.places.len(), spares.0.len()), (0, 0));
    }

    #[test]
    fn the_number_of_cached_blocks_is_limited() {
        let mut spares = FreeList::default();
        for _ in 0..=MOST_PIECES {
            let mut ring = Ring::<u8>::new();
            ring.reserve(1);
            ring.release_to(&mut spares);
            assert_eq!(ring.places.len(), 0);
        }
        assert_eq!(spares.0.len(), MOST_PIECES);
    }

    #[test]
    fn a_ring_with_few_values_shrinks_to_them() {
        let mut ring = Ring::new();
        ring.reserve(16);
        (0..16).for_each(|value| *ring.push() = value);
        (0..11).for_each(|_| _ = ring.pass());
        ring.shrink();
        assert_eq!((ring.len(), ring.places.len()), (5, 16));
        ring.pass();
        ring.shrink();
        assert_eq!((ring.len(), ring.places.len()), (4, 4));
        *ring.push() = 16;
        assert!(ring.iter().copied().eq(12..=16));
    }

    #[test]
    fn no_popped_value_stays() {
        let value = std::sync::Arc::new(());
        let mut ring = Ring::new();
        *ring.push() = Some(value.clone());
        drop(ring.pop());
        assert_eq!(std::sync::Arc::strong_count(&value), 1);
    }

    proptest! {
        #[test]
        fn agrees_with_the_queue_of_the_library(steps in prop::collection::vec(0u8..10, 0..300)) {
            let mut ring = Ring::new();
            let (mut oracle, mut spares) = (VecDeque::new(), FreeList::default());
            for (value, step) in steps.into_iter().enumerate() {
                match step {
                    0 => prop_assert_eq!(ring.pass().copied(), oracle.pop_front()),
                    1 => prop_assert_eq!(ring.pop(), oracle.pop_front()),
                    2 => ring.release(),
                    3 => ring.shrink(),
                    4 => ring.release_to(&mut spares),
                    5 => ring.furnish(&mut spares),
                    _ => {
                        *ring.push() = value;
                        oracle.push_back(value);
                    }
                }
                prop_assert_eq!(ring.len(), oracle.len());
                prop_assert!(ring.iter().eq(oracle.iter()));
                prop_assert!(ring.iter().rev().eq(oracle.iter().rev()));
                prop_assert!(ring.iter_mut().eq(oracle.iter_mut()));
                let half = |value: &usize| *value < 150;
                prop_assert_eq!(ring.partition_point(half), oracle.partition_point(half));
                prop_assert_eq!((ring.front(), ring.back()), (oracle.front(), oracle.back()));
                prop_assert_eq!(ring.get(oracle.len()), None);
            }
        }
    }
}
