//! The received packets of a packet number space, and the time of their acknowledgement (RFC 9000 §13.2,
//! draft-ietf-quic-ack-frequency-14).
//!
//! With the reordering threshold n > 0 a packet is acknowledged immediately if the gap from the smallest unreported
//! missing packet to the largest received is n or more, or if it is n or more below the largest acknowledged one. For
//! n = 1 these are the rules of RFC 9000.

use crate::frame::{AckHeader, EcnCounts, ack_size_with};
use crate::ranges::{Range, RangeSet};
use crate::varint;
use lightlag_core::{Codepoint, Duration, Instant};

/// Addition of a PING to acknowledgements, so that the peer acknowledges them and ranges can be dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PingRule {
    /// Never.
    Never,
    /// Once per round trip while there are several ranges (RFC 9000 §13.2.4).
    PerRoundTrip,
    /// In packets whose number is a multiple of 8, while there are several ranges (aioquic).
    EveryEighth,
}

/// Rules for acknowledgements in the application space.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AckRules {
    /// An acknowledgement is sent with the packet that exceeds this number of unacknowledged eliciting packets.
    pub threshold: u32,
    /// Maximum delay of an acknowledgement.
    pub max_delay: Duration,
    /// Reordering threshold in packets; 0 turns immediate acknowledgements of reordered packets off.
    pub reordering: u64,
    /// Maximum number of ranges; the lowest ones are dropped.
    pub max_ranges: usize,
    /// Number of packets without an eliciting frame that may arrive before the next packet also carries an ACK frame;
    /// `None` for never (quinn: 10).
    pub lazy: Option<u32>,
    /// PING in packets that otherwise contain only an acknowledgement.
    pub ping: PingRule,
    /// Whether the threshold follows the number of packets in a round-trip time: a quarter of them, 2 to 32, and at
    /// least 10 above 16 Mbit/s and 100 ms (picoquic).
    pub adapts: bool,
    /// Whether a packet marked with CE is acknowledged immediately only if the one before was not marked.
    pub marks_once: bool,
}

/// The received packets of a space.
#[derive(Debug)]
pub struct Received {
    numbers: RangeSet,
    /// Packets below this number count as received: their ranges were dropped.
    floor: u64,
    /// Arrival time of the packet with the maximum number.
    largest_at: Instant,
    largest_eliciting: Option<u64>,
    /// Largest number in the last ACK frame that was sent.
    largest_acked: Option<u64>,
    /// Numbers of eliciting and of other packets since the last ACK frame.
    eliciting: u32,
    others: u32,
    /// Whether the last packet was marked with CE.
    was_marked: bool,
    /// Time when an acknowledgement is due; [`Instant::MAX`] if none is.
    due: Instant,
    counts: EcnCounts,
    /// Bytes of the gaps and lengths of all ranges but the highest in an ACK frame; `None` after a change of these.
    pairs: Option<u64>,
}

impl Default for Received {
    fn default() -> Self {
        Self {
            numbers: RangeSet::default(),
            floor: 0,
            largest_at: Instant::ZERO,
            largest_eliciting: None,
            largest_acked: None,
            eliciting: 0,
            others: 0,
            was_marked: false,
            due: Instant::MAX,
            counts: EcnCounts::default(),
            pairs: None,
        }
    }
}

impl Received {
    /// Returns true if the packet arrived before, or is too old to be distinguished from a duplicate.
    #[inline]
    pub fn is_duplicate(&self, number: u64) -> bool {
        number < self.floor || self.numbers.contains(number)
    }

    /// Returns the largest received number.
    #[inline(always)]
    pub fn largest(&self) -> Option<u64> {
        self.numbers.last().map(|range| range.end - 1)
    }

    /// Returns the counts of ECN codepoints.
    pub fn counts(&self) -> EcnCounts {
        self.counts
    }

    /// Notes a packet that is not a duplicate.
    #[inline]
    pub fn arrived(&mut self, now: Instant, number: u64, eliciting: bool, ecn: Codepoint, rules: &AckRules) {
        self.insert(now, number, rules.max_ranges);
        self.count(now, number, eliciting, ecn, rules);
    }

    /// Adds the number after the largest one. Returns false, without an effect, for any other number.
    #[inline(always)]
    pub(crate) fn extend(&mut self, now: Instant, number: u64) -> bool {
        let is_next = self.numbers.extend(number);
        if is_next {
            self.largest_at = now;
        }
        is_next
    }

    /// Adds a number.
    pub(crate) fn insert(&mut self, now: Instant, number: u64, max_ranges: usize) {
        if self.largest().is_none_or(|largest| number > largest) {
            self.largest_at = now;
        }
        self.pairs = None;
        self.numbers.insert(number, number + 1);
        if self.numbers.as_slice().len() > max_ranges {
            self.floor = self.numbers.first().map_or(0, |range| range.end);
            self.numbers.remove_first();
        }
    }

    /// Counts a packet whose number was added, and determines when it is acknowledged.
    #[inline(always)]
    pub(crate) fn count(&mut self, now: Instant, number: u64, eliciting: bool, ecn: Codepoint, rules: &AckRules) {
        match ecn {
            Codepoint::NotEct => {}
            Codepoint::Ect0 => self.counts.ect0 += 1,
            Codepoint::Ect1 => self.counts.ect1 += 1,
            Codepoint::Ce => self.counts.ce += 1,
        }
        let is_marked = ecn == Codepoint::Ce;
        let alerts = is_marked && !(rules.marks_once && self.was_marked);
        self.was_marked = is_marked;
        if !eliciting {
            self.others += 1;
            return;
        }
        self.eliciting += 1;
        let old = self.largest_eliciting.replace(self.largest_eliciting.map_or(number, |old| old.max(number)));
        let is_urgent = self.eliciting > rules.threshold
            || alerts
            || rules.reordering > 0 && self.is_reordered(number, old, rules.reordering);
        if is_urgent {
            self.due = now;
        } else if self.due == Instant::MAX {
            self.due = now + rules.max_delay;
        }
    }

    /// Returns true if an eliciting packet requires an immediate acknowledgement because of its order.
    #[inline]
    fn is_reordered(&self, number: u64, old: Option<u64>, threshold: u64) -> bool {
        // The common case: the next number, above a range that was reported as a whole.
        if self.numbers.as_slice().len() == 1 && old.is_none_or(|old| number == old + 1) && self.floor == 0 {
            return false;
        }
        if threshold == 1 && old.is_some_and(|old| number < old) {
            return true;
        }
        if self.largest_acked.is_some_and(|acked| number + threshold <= acked) {
            return true;
        }
        let largest = self.largest_eliciting.unwrap_or(0);
        // The first packet that the last ACK frame cannot have shown as lost.
        let unreported = self.largest_acked.map_or(0, |acked| (acked + 1).saturating_sub(threshold)).max(self.floor);
        self.first_missing(unreported).is_some_and(|missing| missing + threshold <= largest)
    }

    /// Returns the smallest missing number from `from` up to the largest received one.
    fn first_missing(&self, from: u64) -> Option<u64> {
        let ranges = self.numbers.as_slice();
        let index = ranges.iter().rposition(|range| range.start <= from);
        let missing = match index {
            Some(index) if ranges[index].end > from => ranges[index].end,
            _ => from,
        };
        (Some(missing) < self.largest()).then_some(missing)
    }

    /// Makes an acknowledgement due now.
    pub fn hasten(&mut self, now: Instant) {
        self.due = now;
    }

    /// Returns the time when an acknowledgement is due.
    #[inline(always)]
    pub fn due(&self) -> Option<Instant> {
        Some(self.due).filter(|due| *due != Instant::MAX)
    }

    /// Returns the time when an acknowledgement is due; [`Instant::MAX`] if none is.
    #[inline(always)]
    pub fn deadline(&self) -> Instant {
        self.due
    }

    /// Returns true if an eliciting packet has not been acknowledged, or enough others have not been, so that a packet
    /// that is sent anyway carries an ACK frame.
    #[inline(always)]
    pub fn has_news(&self, rules: &AckRules) -> bool {
        self.eliciting > 0 || rules.lazy.is_some_and(|lazy| self.others > lazy)
    }

    /// Returns the received ranges in ascending order.
    #[inline(always)]
    pub fn ranges(&self) -> &[Range] {
        self.numbers.as_slice()
    }

    /// Returns the size of an ACK frame of all ranges.
    #[inline]
    pub(crate) fn ack_size(&mut self, header: &AckHeader) -> u64 {
        let ranges = self.numbers.as_slice();
        let Some(highest) = ranges.last() else { return 0 };
        let pairs = *self.pairs.get_or_insert_with(|| {
            let pairs = ranges.windows(2);
            pairs.map(|pair| varint::size(pair[1].start - pair[0].end - 1) + varint::size(pair[0].len() - 1)).sum()
        });
        ack_size_with(header, *highest, ranges.len(), pairs)
    }

    /// Returns the time since the largest packet arrived.
    pub fn delay(&self, now: Instant) -> Duration {
        now.since(self.largest_at)
    }

    /// Notes that an ACK frame is sent.
    #[inline]
    pub fn acknowledged(&mut self) {
        self.largest_acked = self.largest();
        (self.eliciting, self.others, self.due) = (0, 0, Instant::MAX);
    }

    /// Notes that an ACK frame is sent. Returns one more than the maximum that it reports, in 32 bits.
    #[inline(always)]
    pub(crate) fn report(&mut self) -> u32 {
        self.acknowledged();
        self.largest_acked.map_or(0, |largest| largest as u32 + 1)
    }

    /// Drops the ranges below `reported`: the peer has acknowledged an ACK frame that reported all numbers below
    /// (RFC 9000 §13.2.4). The largest range stays, so that an ACK frame can be made.
    #[inline]
    pub fn peer_knows(&mut self, reported: u64) {
        if reported > self.floor && self.numbers.first().is_some_and(|first| first.start < reported) {
            self.pairs = None;
            let below = reported.min(self.largest().unwrap_or(0));
            self.floor = below;
            self.numbers.remove_below(below);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rules(reordering: u64) -> AckRules {
        AckRules {
            threshold: 1_000,
            max_delay: Duration::from_millis(25),
            reordering,
            max_ranges: 64,
            lazy: None,
            ping: PingRule::Never,
            adapts: false,
            marks_once: false,
        }
    }

    /// Returns the packets that are acknowledged immediately.
    fn immediate(numbers: &[u64], rules: &AckRules) -> Vec<u64> {
        let mut received = Received::default();
        let mut all = Vec::new();
        for number in numbers {
            received.arrived(Instant::ZERO, *number, true, Codepoint::NotEct, rules);
            if received.due() == Some(Instant::ZERO) {
                all.push(*number);
                received.acknowledged();
            }
        }
        all
    }

    #[test]
    fn the_examples_of_the_ack_frequency_draft() {
        assert_eq!(immediate(&[0, 1, 3, 4, 5, 8, 9, 10], &rules(3)), [5, 9, 10]);
        assert_eq!(immediate(&[0, 1, 3, 5, 6, 7, 8, 9], &rules(5)), [7, 9]);
    }

    #[test]
    fn a_gap_and_a_late_packet_are_acknowledged_at_once_but_not_the_packets_behind_a_reported_gap() {
        assert_eq!(immediate(&[0, 1, 3, 4, 5, 2, 6, 9, 10], &rules(1)), [3, 2, 9]);
        assert!(immediate(&[0, 1, 3, 4, 5, 2, 6, 9], &rules(0)).is_empty());
    }

    #[test]
    fn every_second_packet_is_acknowledged_at_once_and_others_after_the_delay() {
        let rules = AckRules { threshold: 1, ..rules(1) };
        let mut received = Received::default();
        received.arrived(Instant::ZERO, 0, true, Codepoint::NotEct, &rules);
        assert_eq!(received.due(), Some(Instant::from_nanos(25_000_000)));
        let now = Instant::from_nanos(5_000_000);
        received.arrived(now, 1, true, Codepoint::NotEct, &rules);
        assert_eq!(received.due(), Some(now));
        received.acknowledged();
        received.arrived(now, 2, false, Codepoint::NotEct, &rules);
        assert_eq!((received.due(), received.has_news(&rules)), (None, false));
        received.arrived(now, 3, true, Codepoint::Ce, &rules);
        assert_eq!((received.due(), received.counts().ce), (Some(now), 1));
    }

    #[test]
    fn ranges_are_dropped_by_the_cap_and_by_an_acknowledged_acknowledgement() {
        let rules = AckRules { max_ranges: 3, ..rules(1) };
        let mut received = Received::default();
        for number in [0, 2, 4, 6] {
            received.arrived(Instant::ZERO, number, true, Codepoint::NotEct, &rules);
        }
        assert_eq!(received.ranges().len(), 3);
        assert!(received.is_duplicate(0) && !received.is_duplicate(1) && !received.is_duplicate(3));
        let header = AckHeader::default();
        let descending: Vec<Range> = received.ranges().iter().rev().copied().collect();
        assert_eq!(received.ack_size(&header), crate::frame::ack_size(&header, &descending));
        received.peer_knows(5);
        assert_eq!(received.ranges(), [Range { start: 6, end: 7 }]);
        assert_eq!(received.ack_size(&header), crate::frame::ack_size(&header, received.ranges()));
        assert!(received.is_duplicate(3));
        received.peer_knows(100);
        assert_eq!(received.largest(), Some(6));
    }

    proptest! {
        #[test]
        fn an_eliciting_packet_is_acknowledged_within_the_delay(
            numbers in prop::collection::vec((0u64..50, any::<bool>()), 1..80),
            threshold in 0u32..5,
            reordering in 0u64..5,
        ) {
            let rules = AckRules { threshold, reordering, ..rules(1) };
            let mut received = Received::default();
            let mut waiting = 0;
            for (at, (number, eliciting)) in numbers.into_iter().enumerate() {
                let now = Instant::from_nanos(at as u64 * 1_000_000);
                if received.due().is_some_and(|due| due <= now) {
                    received.acknowledged();
                    waiting = 0;
                }
                if received.is_duplicate(number) {
                    continue;
                }
                received.arrived(now, number, eliciting, Codepoint::NotEct, &rules);
                waiting += u32::from(eliciting);
                prop_assert_eq!(received.due().is_some(), waiting > 0);
                prop_assert!(waiting <= threshold || received.due() == Some(now));
                prop_assert!(received.due().is_none_or(|due| due <= now + rules.max_delay));
            }
        }
    }
}
