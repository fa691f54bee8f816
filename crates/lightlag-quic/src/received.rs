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
    /// Whether duplicates and gaps are recognised among the last 129 numbers only (quinn).
    pub window: bool,
}

/// The received packets of a space.
#[derive(Debug)]
pub struct Received {
    numbers: RangeSet,
    /// Packets below this number count as received: their ranges were dropped.
    floor: u64,
    /// The last numbers that arrived, with [`AckRules::window`].
    last: Option<Box<NumberWindow>>,
    /// The maximum packet number that arrived.
    largest: Option<u64>,
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
    /// Time of the timer of acknowledgements. If they wait for permission to send, it stays at the end of the delay when
    /// the acknowledgement becomes urgent.
    timer: Instant,
    waits: bool,
    /// Whether the timer was started since the last ACK frame, and whether one is due without delay.
    armed: bool,
    urgent: bool,
    counts: EcnCounts,
    /// Bytes of the gaps and lengths of all ranges but the highest in an ACK frame; `None` after a change of these.
    pairs: Option<u64>,
}

impl Default for Received {
    fn default() -> Self {
        Self {
            numbers: RangeSet::default(),
            floor: 0,
            last: None,
            largest: None,
            largest_at: Instant::ZERO,
            largest_eliciting: None,
            largest_acked: None,
            eliciting: 0,
            others: 0,
            was_marked: false,
            due: Instant::MAX,
            timer: Instant::MAX,
            waits: false,
            armed: false,
            urgent: false,
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

    /// Does the same with [`AckRules::window`].
    pub fn is_known(&self, number: u64) -> bool {
        self.last.as_ref().is_some_and(|last| last.contains(number))
    }

    /// Notes a number that was dropped before it could be acknowledged: its packet will not be handled either.
    #[cold]
    pub fn dropped(&mut self, number: u64) {
        self.last.get_or_insert_default().insert(number);
    }

    /// Forgets the numbers that reveal duplicates, but not those to acknowledge.
    #[cold]
    pub fn forget_duplicates(&mut self) {
        self.last = None;
    }

    /// Returns the largest received number.
    #[inline(always)]
    pub fn largest(&self) -> Option<u64> {
        self.largest
    }

    /// Returns the counts of ECN codepoints.
    pub fn counts(&self) -> EcnCounts {
        self.counts
    }

    /// Notes a packet that is not a duplicate.
    #[inline]
    pub fn arrived(&mut self, now: Instant, number: u64, eliciting: bool, ecn: Codepoint, rules: &AckRules) {
        if rules.window {
            self.last.get_or_insert_default().insert(number);
        }
        self.insert(now, number, rules.max_ranges);
        self.count(now, number, eliciting, ecn, rules);
    }

    /// Adds the number after the largest one. Returns false, without an effect, for any other number.
    #[inline(always)]
    pub(crate) fn extend(&mut self, now: Instant, number: u64) -> bool {
        let is_next = self.numbers.extend(number);
        if is_next {
            (self.largest, self.largest_at) = (Some(number), now);
        }
        is_next
    }

    /// Adds a number.
    pub(crate) fn insert(&mut self, now: Instant, number: u64, max_ranges: usize) {
        if self.largest().is_none_or(|largest| number > largest) {
            (self.largest, self.largest_at) = (Some(number), now);
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
            if rules.window && ecn == Codepoint::Ce {
                self.hasten(now);
            }
            return;
        }
        self.eliciting += 1;
        let old = self.largest_eliciting.replace(self.largest_eliciting.map_or(number, |old| old.max(number)));
        let is_urgent =
            self.eliciting > rules.threshold || alerts || rules.reordering > 0 && self.is_reordered(number, old, rules);
        if is_urgent {
            self.hasten(now);
        } else if self.due == Instant::MAX && !self.armed {
            self.armed = true;
            self.due = now + rules.max_delay;
            self.timer = self.due;
        }
    }

    /// Returns true if an eliciting packet requires an immediate acknowledgement because of its order.
    #[inline(always)]
    fn is_reordered(&self, number: u64, old: Option<u64>, rules: &AckRules) -> bool {
        // The common case: the next number, above a range that was reported as a whole.
        let is_next = old.map_or(!rules.window, |old| number == old + 1);
        if self.numbers.as_slice().len() == 1 && is_next && self.floor == 0 {
            return false;
        }
        self.needs_report(number, old, rules)
    }

    fn needs_report(&self, number: u64, old: Option<u64>, rules: &AckRules) -> bool {
        let threshold = rules.reordering;
        if rules.window && threshold == 1 {
            let old = old.unwrap_or(0);
            return number < old || self.last.as_ref().is_some_and(|last| last.misses_between(old, number));
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
        self.urgent = true;
        if !self.waits {
            self.timer = now;
        }
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

    /// Makes acknowledgements wait for permission to send: the timer runs only for their delay.
    pub fn wait(&mut self) {
        self.waits = true;
    }

    /// Returns when the timer of acknowledgements expires; [`Instant::MAX`] if it does not run.
    #[inline(always)]
    pub fn timer(&self) -> Instant {
        self.timer
    }

    /// Notes that the timer has expired, if acknowledgements wait for permission to send.
    pub fn timer_expired(&mut self) {
        if self.waits {
            self.timer = Instant::MAX;
            self.urgent |= self.due != Instant::MAX;
        }
    }

    /// Stops the timer of a delayed acknowledgement, which then waits for another packet.
    pub fn stop_timer(&mut self, now: Instant) {
        self.timer = Instant::MAX;
        if !self.urgent && self.due > now {
            self.due = Instant::MAX;
        }
    }

    /// Returns true if an acknowledgement is due without delay, or the timer of its delay was handled.
    pub fn is_urgent(&self) -> bool {
        self.urgent
    }

    /// Returns true if an eliciting packet has not been acknowledged, or enough others have not been, so that a packet
    /// that is sent anyway carries an ACK frame.
    #[inline(always)]
    pub fn has_news(&self, rules: &AckRules) -> bool {
        self.eliciting > 0 || rules.lazy.is_some_and(|lazy| self.others > lazy)
    }

    /// Returns true if more packets without an eliciting frame arrived than may stay unacknowledged by a packet.
    pub fn is_overdue(&self, rules: &AckRules) -> bool {
        !self.numbers.as_slice().is_empty() && rules.lazy.is_some_and(|lazy| self.others > lazy)
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
        (self.eliciting, self.others) = (0, 0);
        (self.due, self.timer) = (Instant::MAX, Instant::MAX);
        (self.armed, self.urgent) = (false, false);
    }

    /// Notes that an ACK frame is sent. Returns one more than the maximum that it reports, in 32 bits.
    #[inline(always)]
    pub(crate) fn report(&mut self) -> u32 {
        self.acknowledged();
        self.largest_acked.map_or(0, |largest| largest as u32 + 1)
    }

    /// Drops the ranges below `reported`: the peer has acknowledged an ACK frame that reported all numbers below
    /// (RFC 9000 §13.2.4). The maximum packet number stays, so that an ACK frame can be made.
    #[inline]
    pub fn peer_knows(&mut self, reported: u64) {
        if reported > self.floor && self.numbers.first().is_some_and(|first| first.start < reported) {
            self.pairs = None;
            let below = reported.min(self.largest().unwrap_or(0));
            self.floor = below;
            self.numbers.remove_below(below);
        }
    }

    /// Does the same with [`AckRules::window`]: no range may be left.
    pub fn drop_reported(&mut self, reported: u64) {
        self.pairs = None;
        self.numbers.remove_below(reported);
    }
}

/// The maximum packet number that arrived, and which of the 128 numbers below it did. Lower numbers count as arrived.
#[derive(Clone, Copy, Debug, Default)]
struct NumberWindow {
    /// Bit i stands for the number i + 1 below the largest.
    bits: u128,
    /// One more than the maximum packet number.
    next: u64,
}

impl NumberWindow {
    fn contains(&self, number: u64) -> bool {
        if number >= self.next {
            return false;
        }
        match self.next - 1 - number {
            0 => true,
            distance @ 1..=128 => self.bits >> (distance - 1) & 1 == 1,
            _ => true,
        }
    }

    fn insert(&mut self, number: u64) {
        if number >= self.next {
            let step = number - self.next;
            let with_old = if self.next == 0 { self.bits } else { self.bits << 1 | 1 };
            self.bits = if step < 128 { with_old << step } else { 0 };
            // Numbers before the first count as missing, down to 0.
            self.next = number + 1;
        } else if let distance @ 1..=128 = self.next - 1 - number {
            self.bits |= 1 << (distance - 1);
        }
    }

    /// Returns true if a number between `low` and `high`, without both, has not arrived.
    fn misses_between(&self, low: u64, high: u64) -> bool {
        (low + 1..high).rev().take(129).any(|number| !self.contains(number))
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
            window: false,
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
        received.peer_knows(5);
        assert_eq!(received.ranges(), [Range { start: 6, end: 7 }]);
        assert!(received.is_duplicate(3));
        received.peer_knows(100);
        assert_eq!(received.largest(), Some(6));
    }

    proptest! {
        #[test]
        fn the_window_knows_the_last_129_numbers(steps in prop::collection::vec((0u64..2, 0u64..200), 1..200)) {
            let (mut window, mut all, mut top) = (NumberWindow::default(), std::collections::BTreeSet::new(), 0u64);
            for (direction, distance) in steps {
                let number = if direction == 0 { top + distance } else { top.saturating_sub(distance) };
                let is_old = top > number + 128;
                prop_assert_eq!(window.contains(number), is_old || all.contains(&number), "{}", number);
                window.insert(number);
                all.insert(number);
                top = top.max(number);
                let low = top.saturating_sub(distance);
                let misses = (low + 1..top).any(|number| top <= number + 128 && !all.contains(&number));
                prop_assert_eq!(window.misses_between(low, top), misses);
            }
        }

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
