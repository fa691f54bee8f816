//! A queue in a ring: what is put in at one end leaves at the other.
//!
//! All of its places hold a value: one is written over, not moved in, and one that has left can be read until its place is
//! needed again. An empty ring starts at its first place, which a cache may still have. A ring that is full gets a quarter
//! more places.

use std::ops::{Index, IndexMut};

/// A queue of values, which numbers them from its front.
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
    /// The place of the front.
    head: u32,
    len: u32,
}

/// Memory of rings that were empty, the last on top: a cache may still have it. To hand it on costs less than to free and
/// allocate it.
#[derive(Debug)]
pub struct Spares<T>(Vec<Box<[T]>>);

impl<T> Default for Spares<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// The most places that are kept in one piece.
const MOST_SPARE: usize = 16;

/// The most pieces that are kept. Those below the top wait for the moment at which more rings hold something than ever before.
const MOST_PIECES: usize = 256;

/// The places that a ring has at least once it has held something, and by which it grows at least.
const FEWEST: usize = 2;

impl<T> Ring<T> {
    /// How many values there are.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether there are none.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The place of a value, counted from the front, or where it would stand.
    #[inline(always)]
    fn place(&self, at: usize) -> usize {
        // Of both numbers, the smaller is a place: a difference below zero wraps.
        let place = self.head as usize + at;
        place.wrapping_sub(self.places.len()).min(place)
    }

    /// The value with this number.
    #[inline(always)]
    pub fn get(&self, at: usize) -> Option<&T> {
        if at < self.len() { self.places.get(self.place(at)) } else { None }
    }

    /// The same, to be changed.
    #[inline(always)]
    pub fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        if at < self.len() { self.places.get_mut(self.place(at)) } else { None }
    }

    /// The value that leaves next.
    #[inline(always)]
    pub fn front(&self) -> Option<&T> {
        if self.is_empty() { None } else { self.places.get(self.head as usize) }
    }

    /// The same, to be changed.
    #[inline(always)]
    pub fn front_mut(&mut self) -> Option<&mut T> {
        if self.is_empty() { None } else { self.places.get_mut(self.head as usize) }
    }

    /// The value that came last.
    #[inline]
    pub fn back(&self) -> Option<&T> {
        self.get(self.len().wrapping_sub(1))
    }

    /// The same, to be changed.
    #[inline]
    pub fn back_mut(&mut self) -> Option<&mut T> {
        self.get_mut(self.len().wrapping_sub(1))
    }

    /// Where the front stands.
    #[inline]
    pub fn front_place(&self) -> *const T {
        self.places.as_ptr().wrapping_add(self.head as usize)
    }

    /// All values, from the front.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + ExactSizeIterator {
        (0..self.len()).map(|at| &self.places[self.place(at)])
    }

    /// All values, from the front, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        let (start, end) = (self.head as usize, self.head as usize + self.len());
        let wrapped = end.saturating_sub(self.places.len());
        let (low, high) = self.places.split_at_mut(start);
        high[..end - wrapped - start].iter_mut().chain(&mut low[..wrapped])
    }

    /// The number of the first value for which `precedes` is false, where it is true for all before and false for all after.
    pub fn partition_point(&self, precedes: impl Fn(&T) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if precedes(&self[middle]) { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// The front leaves. It stays in its place, where it can be read until the next value is put in.
    #[inline(always)]
    pub fn pass(&mut self) -> Option<&T> {
        if self.len == 0 {
            return None;
        }
        let (place, next) = (self.head as usize, self.head + 1);
        self.len -= 1;
        self.head = if self.len == 0 || next as usize == self.places.len() { 0 } else { next };
        self.places.get(place)
    }

    /// Where the next value will stand, unless the ring grows before.
    #[inline]
    pub fn next_place(&self) -> *const T {
        self.places.as_ptr().wrapping_add(self.place(self.len()))
    }
}

impl<T: Default> Ring<T> {
    /// An empty ring, which needs no memory.
    pub fn new() -> Self {
        Self { places: Box::default(), head: 0, len: 0 }
    }

    /// Puts in a value, which is to be written over: it is one that has left, or the default.
    #[inline(always)]
    pub fn push(&mut self) -> &mut T {
        if self.len() == self.places.len() {
            self.grow();
        }
        let place = self.place(self.len());
        self.len += 1;
        &mut self.places[place]
    }

    /// Gives back the memory of an empty ring.
    #[inline]
    pub fn release(&mut self) {
        if self.is_empty() {
            *self = Self::new();
        }
    }

    /// The same, for other rings.
    #[inline]
    pub fn release_to(&mut self, spares: &mut Spares<T>) {
        if self.is_empty() {
            let Self { places, .. } = std::mem::take(self);
            if (1..=MOST_SPARE).contains(&places.len()) && spares.0.len() < MOST_PIECES {
                spares.0.push(places);
            }
        }
    }

    /// Gives a ring without memory some of the spares, if there are any.
    #[inline(always)]
    pub fn furnish(&mut self, spares: &mut Spares<T>) {
        if self.places.is_empty()
            && let Some(places) = spares.0.pop()
        {
            self.places = places;
        }
    }

    /// Gives back most of the memory, if no more than a quarter of the places is taken.
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

    /// The front leaves, and nothing of it stays.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let place = self.head as usize;
        self.pass()?;
        self.places.get_mut(place).map(std::mem::take)
    }

    /// Makes room for so many values at once.
    #[cold]
    pub fn reserve(&mut self, values: usize) {
        if values > self.places.len() {
            self.grow_to(values.max(FEWEST));
        }
    }

    #[cold]
    fn grow(&mut self) {
        self.grow_to(self.places.len() + (self.places.len() / 4).max(FEWEST));
    }

    fn grow_to(&mut self, places: usize) {
        assert!(u32::try_from(places).is_ok(), "a ring has fewer than 2^32 places");
        self.places.rotate_left(self.head as usize);
        self.head = 0;
        let mut grown = std::mem::take(&mut self.places).into_vec();
        grown.reserve_exact(places - grown.len());
        grown.resize_with(places, T::default);
        self.places = grown.into_boxed_slice();
    }
}

impl<T> Index<usize> for Ring<T> {
    type Output = T;

    #[inline]
    fn index(&self, at: usize) -> &T {
        self.get(at).expect("a ring is asked for what it holds")
    }
}

impl<T> IndexMut<usize> for Ring<T> {
    #[inline]
    fn index_mut(&mut self, at: usize) -> &mut T {
        self.get_mut(at).expect("a ring is asked for what it holds")
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
    fn what_has_passed_can_be_read_until_the_next_comes() {
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
    fn room_is_made_for_a_number_of_values_at_once() {
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
    fn a_full_ring_gets_a_quarter_more_places() {
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
    fn what_an_empty_ring_gives_back_furnishes_the_next() {
        let (mut spares, mut first, mut second) = (Spares::default(), Ring::new(), Ring::new());
        *first.push() = 7;
        first.release_to(&mut spares);
        second.furnish(&mut spares);
        assert_eq!((first.front(), second.places.len()), (Some(&7), 0));
        let place = first.front_place();
        first.pass();
        first.release_to(&mut spares);
        second.furnish(&mut spares);
        *second.push() = 8;
        assert_eq!((second.front(), second.front_place(), first.places.len()), (Some(&8), place, 0));
        first.furnish(&mut spares);
        *first.push() = 9;
        assert_eq!((first.front(), second.front()), (Some(&9), Some(&8)));
    }

    #[test]
    fn only_small_pieces_of_memory_are_kept() {
        let (mut spares, mut ring) = (Spares::default(), Ring::<u8>::new());
        (0..=MOST_SPARE).for_each(|_| _ = ring.push());
        while ring.pass().is_some() {}
        ring.release_to(&mut spares);
        assert_eq!((ring.places.len(), spares.0.len()), (0, 0));
    }

    #[test]
    fn only_so_many_pieces_of_memory_are_kept() {
        let mut spares = Spares::default();
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
    fn nothing_of_what_is_popped_stays() {
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
            let (mut oracle, mut spares) = (VecDeque::new(), Spares::default());
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
