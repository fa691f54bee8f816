//! The events of a medium, ordered by time.

use lightlag_core::Instant;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Events ordered by time. Events at one time keep the order of their insertion.
#[derive(Clone, Debug)]
pub(crate) struct Agenda<E> {
    heap: BinaryHeap<Entry<E>>,
    inserted: u64,
}

#[derive(Clone, Debug)]
struct Entry<E> {
    time: Instant,
    number: u64,
    event: E,
}

impl<E> Entry<E> {
    fn key(&self) -> (Instant, u64) {
        (self.time, self.number)
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Entry<E> {
    /// Orders the earliest event last, because the heap returns its maximum first.
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl<E> Default for Agenda<E> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), inserted: 0 }
    }
}

impl<E> Agenda<E> {
    /// Adds an event.
    pub(crate) fn add(&mut self, time: Instant, event: E) {
        self.inserted += 1;
        self.heap.push(Entry { time, number: self.inserted, event });
    }

    /// Returns the time of the next event.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.heap.peek().map(|entry| entry.time)
    }

    /// Removes and returns the next event, if its time is not after `now`.
    pub(crate) fn take(&mut self, now: Instant) -> Option<(Instant, E)> {
        if self.next()? > now {
            return None;
        }
        self.heap.pop().map(|entry| (entry.time, entry.event))
    }

    /// Returns all events, in no particular order.
    pub(crate) fn events(&self) -> impl Iterator<Item = &E> {
        self.heap.iter().map(|entry| &entry.event)
    }
}
