//! Packets from one sender that wait at their receiver for earlier ones (IEEE 802.11-2020 §10.25.6.6).

use super::aggregate::WINDOW;
use lightlag_core::{Duration, Instant};
use std::collections::BTreeMap;

/// Maximum time that a packet waits for earlier ones (Linux, `HT_RX_REORDER_BUF_TIMEOUT`).
const LONGEST: Duration = Duration::from_millis(100);

/// The packets from one sender, in a receiver's reordering buffer.
#[derive(Debug)]
pub(super) struct Reorder<H> {
    /// Sequence number of the first packet that has not been released.
    next: u64,
    held: BTreeMap<u64, (Instant, H)>,
    /// Whether packets wait for earlier ones without a time limit, as in ns-3.
    is_patient: bool,
}

impl<H> Default for Reorder<H> {
    fn default() -> Self {
        Self { next: 1, held: BTreeMap::new(), is_patient: false }
    }
}

impl<H> Reorder<H> {
    /// Creates a buffer whose first packet is `first`. Packets wait for earlier ones without a time limit.
    pub(super) fn patient(first: u64) -> Self {
        Self { next: first, is_patient: true, ..Self::default() }
    }

    /// Handles a packet that has arrived before the agreement and now again: later packets no longer wait for it.
    pub(super) fn repeat(&mut self, sequence: u64, release: impl FnMut(H)) {
        if sequence == self.next {
            self.skip(sequence + 1, release);
        }
    }

    /// Handles a packet that has arrived for the first time. `release` is called with the packets that are now in
    /// order.
    pub(super) fn arrive(&mut self, now: Instant, sequence: u64, packet: H, mut release: impl FnMut(H)) {
        if sequence < self.next {
            // Its sender had dropped it.
            return release(packet);
        }
        if sequence == self.next && self.held.is_empty() {
            self.next += 1;
            return release(packet);
        }
        self.held.insert(sequence, (now, packet));
        self.skip((sequence + 1).saturating_sub(WINDOW), release);
    }

    /// Stops waiting for packets before `start`, because none of them will arrive.
    pub(super) fn skip(&mut self, start: u64, mut release: impl FnMut(H)) {
        self.next = self.next.max(start);
        while let Some(first) = self.held.first_entry().filter(|first| *first.key() <= self.next) {
            self.next = self.next.max(first.key() + 1);
            release(first.remove().1);
        }
    }

    /// Releases packets that have waited too long, and the packets that follow them in order.
    pub(super) fn release_late(&mut self, now: Instant, mut release: impl FnMut(H)) {
        while let Some((first, _)) = self.held.first_key_value()
            && self.late().is_some_and(|late| late <= now)
        {
            self.skip(*first, &mut release);
        }
    }

    /// Returns when the first waiting packet will have waited too long.
    pub(super) fn late(&self) -> Option<Instant> {
        self.held.first_key_value().filter(|_| !self.is_patient).map(|(_, (since, _))| *since + LONGEST)
    }

    /// Returns a bitmap in which bit n is set if the packet n after `start` has arrived.
    pub(super) fn bitmap(&self, start: u64) -> u64 {
        let arrived = |n: &u64| start + n < self.next || self.held.contains_key(&(start + n));
        (0..WINDOW).filter(arrived).fold(0, |bits, n| bits | 1 << n)
    }

    /// Returns the waiting packets, in order.
    pub(super) fn into_held(self) -> impl Iterator<Item = H> {
        self.held.into_values().map(|(_, packet)| packet)
    }

    pub(super) fn held(&self) -> impl Iterator<Item = &H> {
        self.held.values().map(|(_, packet)| packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrive(reorder: &mut Reorder<u64>, sequence: u64) -> Vec<u64> {
        let mut released = Vec::new();
        reorder.arrive(Instant::ZERO, sequence, sequence, |packet| released.push(packet));
        released
    }

    #[test]
    fn packets_leave_in_order() {
        let mut reorder = Reorder::default();
        assert_eq!(arrive(&mut reorder, 1), [1]);
        assert!(arrive(&mut reorder, 3).is_empty());
        assert_eq!(reorder.bitmap(2), 0b10);
        assert!(arrive(&mut reorder, 4).is_empty());
        assert_eq!(arrive(&mut reorder, 2), [2, 3, 4]);
        assert_eq!(reorder.bitmap(1), 0b1111);
        assert_eq!(reorder.late(), None);
    }

    #[test]
    fn a_packet_far_ahead_moves_the_window() {
        let mut reorder = Reorder::default();
        assert!(arrive(&mut reorder, 2).is_empty());
        assert!(arrive(&mut reorder, 64).is_empty());
        // The window now starts at 2.
        assert_eq!(arrive(&mut reorder, 65), [2]);
        assert_eq!(arrive(&mut reorder, 3), [3]);
    }

    #[test]
    fn a_request_and_a_long_wait_release() {
        let mut reorder = Reorder::default();
        for sequence in [2, 4] {
            assert!(arrive(&mut reorder, sequence).is_empty());
        }
        let mut released = Vec::new();
        reorder.skip(2, |packet| released.push(packet));
        assert_eq!(released, [2]);
        reorder.release_late(Instant::ZERO + LONGEST.saturating_sub(Duration::from_nanos(1)), |packet| {
            released.push(packet)
        });
        assert_eq!(released, [2]);
        reorder.release_late(Instant::ZERO + LONGEST, |packet| released.push(packet));
        assert_eq!(released, [2, 4]);
    }
}
