//! The sent packets of a packet number space, from the oldest that may still be acknowledged.
//!
//! Acknowledgements repeat old ranges, so each one is compared with the *holes*: the intervals of unacknowledged
//! numbers. The work per acknowledgement then grows with the number of holes, not with the window.

use crate::frame::Frame;
use crate::ranges::Range;
use lightlag_core::{Instant, Ring};

/// State and properties of a sent packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SentFlags(u16);

impl SentFlags {
    /// Counts towards bytes in flight when sent.
    pub const IN_FLIGHT: Self = Self(0x01);
    /// Elicits an acknowledgement.
    pub const ELICITING: Self = Self(0x02);
    /// Acknowledged.
    pub const ACKED: Self = Self(0x04);
    /// Declared lost.
    pub const LOST: Self = Self(0x08);
    /// Sent with ECT(0) or ECT(1).
    pub const ECT: Self = Self(0x10);
    /// The number was skipped on purpose.
    pub const SKIPPED: Self = Self(0x20);
    /// Carries stream data in [`SentPacket::stream`].
    pub const STREAM: Self = Self(0x40);
    /// The stream data ends the stream.
    pub const FIN: Self = Self(0x80);
    /// Sent as 0-RTT.
    pub const EARLY: Self = Self(0x100);
    /// Sent on a path that the connection has left: no longer counts towards bytes in flight.
    pub const OLD_PATH: Self = Self(0x200);
    /// Probes the path MTU.
    pub const MTU_PROBE: Self = Self(0x400);
    /// Any of these keeps a packet from being acknowledged together with the oldest ones.
    const ODD: Self = Self(Self::LOST.0 | Self::OLD_PATH.0 | Self::MTU_PROBE.0);

    /// Returns true if all bits of `other` are set.
    #[inline(always)]
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns true if any bit of `other` is set.
    #[inline(always)]
    pub fn any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the union.
    #[inline(always)]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Sets the bits of `other`.
    #[inline(always)]
    pub fn set(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// No entry in the list of control frames.
pub const NO_FRAMES: u32 = u32::MAX;

/// A sent packet, with the data that its loss makes missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SentPacket {
    /// Time of transmission.
    pub time: Instant,
    /// Offset of the stream data.
    pub offset: u64,
    /// Stream ID of the stream data; larger IDs are stored with the frames.
    pub stream: u32,
    /// Low 32 bits of the in-flight bytes that the connection has sent, including this packet.
    pub end: u32,
    /// Index among all in-flight packets of the connection.
    pub serial: u32,
    /// One more than the maximum that its ACK frame reports; 0 without an ACK frame.
    pub reported: u32,
    /// Index of its other frames; [`NO_FRAMES`] if there are none.
    pub frames: u32,
    /// Bytes of stream data.
    pub len: u16,
    /// Bytes of the packet, including padding.
    pub size: u16,
    /// State and properties.
    pub flags: SentFlags,
}

impl SentPacket {
    /// Stores the first STREAM frame, and sets the flags of all frames. Returns true if others must be listed to be
    /// handled when the packet is acknowledged or lost.
    pub(crate) fn hold(&mut self, frames: &[Frame]) -> bool {
        let mut rest = false;
        for frame in frames {
            self.flags.set(SentFlags::IN_FLIGHT);
            if frame.is_eliciting() {
                self.flags.set(SentFlags::ELICITING);
            }
            match *frame {
                Frame::Stream { stream, offset, len, fin, .. }
                    if !self.flags.has(SentFlags::STREAM) && stream >> 32 == 0 =>
                {
                    (self.stream, self.offset, self.len) = (stream as u32, offset, len);
                    self.flags.set(if fin { SentFlags::STREAM.with(SentFlags::FIN) } else { SentFlags::STREAM });
                }
                _ => rest |= frame.is_repaired() || matches!(frame, Frame::Datagram { .. }),
            }
        }
        rest
    }
}

/// Maximum number of packets with which an endpoint that sends flights keeps old acknowledgements.
const MAX_KEPT: usize = 4_096;

/// The sent packets of a space.
#[derive(Debug, Default)]
pub struct Sent {
    ring: Ring<SentPacket>,
    /// Number of the first packet in the ring.
    first: u64,
    /// Unacknowledged intervals, in ascending order. The last one ends at the next number.
    holes: Vec<Range>,
    /// All packets below this number are acknowledged, lost, or were never in flight.
    resolved: u64,
    largest_acked: Option<u64>,
    /// Number of eliciting packets in flight.
    eliciting: u32,
    /// Time of the last eliciting packet.
    last_eliciting: Option<Instant>,
    /// Bytes in flight.
    in_flight: u64,
    /// Number of packets in the ring that are lost, skipped, of another path, probes of the MTU, or were never in
    /// flight.
    odd: u32,
}

/// Error: an acknowledgement covers a number that was not sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NeverSent;

impl Sent {
    /// Returns the number of the next packet.
    #[inline(always)]
    pub fn next(&self) -> u64 {
        self.first + self.ring.len() as u64
    }

    /// Returns the number of the oldest packet in the ring.
    #[inline(always)]
    pub fn first(&self) -> u64 {
        self.first
    }

    /// Returns the largest acknowledged number.
    #[inline(always)]
    pub fn largest_acked(&self) -> Option<u64> {
        self.largest_acked
    }

    /// Returns the minimum packet number that may be in flight.
    #[inline(always)]
    pub fn resolved(&self) -> u64 {
        self.resolved
    }

    /// Advances [`Self::resolved`] by one.
    #[inline(always)]
    pub fn resolve(&mut self) {
        self.resolved += 1;
    }

    /// Returns true if an eliciting packet is in flight.
    #[inline(always)]
    pub fn is_eliciting(&self) -> bool {
        self.eliciting > 0
    }

    /// Returns the time of the last eliciting packet.
    #[inline(always)]
    pub fn last_eliciting(&self) -> Option<Instant> {
        self.last_eliciting
    }

    /// Returns the bytes in flight.
    #[inline(always)]
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Returns the packet with this number, if it is still in the ring.
    #[inline(always)]
    pub fn get(&self, number: u64) -> Option<&SentPacket> {
        self.ring.get(number.checked_sub(self.first)? as usize)
    }

    /// Returns the packet with this number.
    ///
    /// # Panics
    /// If it is not in the ring.
    #[inline(always)]
    pub fn get_mut(&mut self, number: u64) -> &mut SentPacket {
        &mut self.ring[(number - self.first) as usize]
    }

    /// Returns the oldest packet in the ring.
    pub fn front(&self) -> Option<&SentPacket> {
        self.ring.front()
    }

    /// Sets the number of the first packet, before any is sent.
    pub fn start_at(&mut self, number: u64) {
        assert!(self.ring.is_empty() && self.holes.is_empty(), "no packet was sent");
        (self.first, self.resolved) = (number, number);
    }

    /// Returns the packets that an acknowledgement whose highest range is `top` covers, if these are the oldest ones in
    /// the ring, and all packets in the ring are in flight and unacknowledged.
    #[inline(always)]
    pub(crate) fn oldest(&self, top: Range) -> Option<u64> {
        let [hole] = self.holes[..] else { return None };
        let is_plain =
            self.odd == 0 && hole == Range { start: self.first, end: self.next() } && self.resolved == self.first;
        (is_plain && top.start <= self.first && top.end > self.first && top.end <= hole.end)
            .then(|| top.end - self.first)
    }

    /// Removes the oldest packet, which was acknowledged. [`Self::oldest_acked`] follows.
    #[inline(always)]
    pub(crate) fn pass(&mut self) -> Option<&SentPacket> {
        self.ring.pass()
    }

    /// Notes that the `count` oldest packets were acknowledged and removed, `eliciting` of them eliciting, with
    /// `bytes`.
    #[inline(always)]
    pub(crate) fn oldest_acked(&mut self, count: u64, eliciting: u32, bytes: u64) {
        self.first += count;
        self.resolved = self.first;
        self.largest_acked = Some(self.first - 1);
        self.eliciting -= eliciting;
        self.in_flight -= bytes;
        if self.ring.is_empty() {
            self.holes.clear();
        } else {
            self.holes[0].start = self.first;
        }
    }

    /// Marks all packets in flight, and those that may only be late, as sent on another path. They no longer count as
    /// bytes in flight.
    pub(crate) fn leave_path(&mut self) {
        let settled = SentFlags::ACKED.with(SentFlags::OLD_PATH);
        for packet in self.ring.iter_mut() {
            if packet.flags.has(SentFlags::IN_FLIGHT) && !packet.flags.any(settled) {
                self.odd += u32::from(!packet.flags.any(SentFlags::ODD));
                packet.flags.set(SentFlags::OLD_PATH);
            }
        }
        self.in_flight = 0;
    }

    /// Marks the last packet as a probe of the path MTU.
    pub(crate) fn mark_probe(&mut self) {
        if let Some(packet) = self.ring.back_mut() {
            packet.flags.set(SentFlags::MTU_PROBE);
            self.odd += 1;
        }
    }

    /// Declares a packet lost. It leaves flight.
    pub fn lose(&mut self, number: u64) {
        let packet = self.get_mut(number);
        let is_new = !packet.flags.any(SentFlags::ODD);
        packet.flags.set(SentFlags::LOST);
        let (size, flags) = (packet.size, packet.flags);
        self.odd += u32::from(is_new);
        self.leaves_flight(size, flags);
    }

    /// Appends a packet with the next number.
    #[inline(always)]
    pub fn push(&mut self, packet: SentPacket) {
        let number = self.next();
        if packet.flags.has(SentFlags::IN_FLIGHT) {
            self.in_flight += u64::from(packet.size);
        } else {
            self.odd += 1;
        }
        if packet.flags.has(SentFlags::IN_FLIGHT.with(SentFlags::ELICITING)) {
            self.eliciting += 1;
            self.last_eliciting = Some(packet.time);
        }
        *self.ring.push() = packet;
        match self.holes.last_mut() {
            Some(last) if last.end == number => last.end = number + 1,
            _ => self.holes.push(Range { start: number, end: number + 1 }),
        }
    }

    /// Finds the packets that an acknowledgement of `ranges`, in descending order, covers for the first time. Appends
    /// their intervals to `newly` in descending order.
    ///
    /// # Errors
    /// If a number was not sent.
    #[inline]
    pub fn acknowledge(&mut self, ranges: &[Range], newly: &mut Vec<Range>) -> Result<(), NeverSent> {
        let Some(top) = ranges.first() else { return Ok(()) };
        if top.end > self.next() {
            return Err(NeverSent);
        }
        self.largest_acked = self.largest_acked.max(Some(top.end - 1));
        let mut index = self.holes.len();
        for range in ranges {
            if index == 0 {
                // The other ranges lie below everything unacknowledged.
                break;
            }
            while index > 0 {
                let hole = self.holes[index - 1];
                if hole.start >= range.end {
                    index -= 1;
                    continue;
                }
                let (start, end) = (hole.start.max(range.start), hole.end.min(range.end));
                if start >= end {
                    break;
                }
                newly.push(Range { start, end });
                let low = Range { start: hole.start, end: start };
                let high = Range { start: end, end: hole.end };
                match (low.is_empty(), high.is_empty()) {
                    (true, true) => {
                        self.holes.remove(index - 1);
                        index -= 1;
                    }
                    (true, false) => {
                        self.holes[index - 1] = high;
                        index -= 1;
                    }
                    (false, true) => self.holes[index - 1] = low,
                    (false, false) => {
                        self.holes[index - 1] = low;
                        self.holes.insert(index, high);
                    }
                }
                if hole.start < range.start {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Takes a packet out of flight, because it was acknowledged or lost.
    #[inline(always)]
    pub fn leaves_flight(&mut self, size: u16, flags: SentFlags) {
        if !flags.has(SentFlags::OLD_PATH) {
            self.in_flight -= u64::from(size);
        }
        if flags.has(SentFlags::ELICITING) {
            self.eliciting -= 1;
        }
    }

    /// Removes acknowledged packets from the front, and others that are settled: lost ones sent before `forget`, and
    /// those that were never in flight. Calls `each` for every removed packet.
    #[inline]
    pub fn trim(&mut self, forget: Instant, each: impl FnMut(&SentPacket)) {
        let is_settled = |packet: &SentPacket, _| {
            let flags = packet.flags;
            flags.has(SentFlags::ACKED)
                || (flags.has(SentFlags::LOST) || !flags.has(SentFlags::IN_FLIGHT)) && packet.time < forget
        };
        self.trim_while(is_settled, each);
    }

    /// Removes packets from the front that are acknowledged, lost or skipped, and beyond [`MAX_KEPT`] also those that
    /// were never in flight. Calls `each` for every removed packet.
    pub(crate) fn trim_settled(&mut self, each: impl FnMut(&SentPacket)) {
        let settled = SentFlags::ACKED.with(SentFlags::LOST).with(SentFlags::SKIPPED);
        let is_settled = |packet: &SentPacket, count| {
            packet.flags.any(settled) || count > MAX_KEPT && !packet.flags.has(SentFlags::IN_FLIGHT)
        };
        self.trim_while(is_settled, each);
    }

    /// Removes packets from the front while `is_settled` returns true for the packet and the number of packets.
    #[inline(always)]
    fn trim_while(&mut self, is_settled: impl Fn(&SentPacket, usize) -> bool, mut each: impl FnMut(&SentPacket)) {
        let first = self.first;
        while let Some(front) = self.ring.front() {
            if !is_settled(front, self.ring.len()) {
                break;
            }
            let flags = front.flags;
            self.odd -= u32::from(flags.any(SentFlags::ODD) || !flags.has(SentFlags::IN_FLIGHT));
            each(front);
            self.ring.pass();
            self.first += 1;
        }
        if self.first != first {
            self.resolved = self.resolved.max(self.first);
            while let Some(hole) = self.holes.first_mut().filter(|hole| hole.start < self.first) {
                if hole.end > self.first {
                    hole.start = self.first;
                    break;
                }
                self.holes.remove(0);
            }
        }
    }

    /// Returns the numbers in the ring.
    pub fn numbers(&self) -> std::ops::Range<u64> {
        self.first..self.next()
    }

    /// Removes all packets of a space whose keys are discarded. Returns the bytes that leave flight. Later packets keep
    /// their numbers.
    pub fn discard(&mut self) -> u64 {
        let (next, bytes) = (self.next(), self.in_flight);
        *self = Self { first: next, resolved: next, largest_acked: self.largest_acked, ..Self::default() };
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_packet_holds_one_stream_with_a_short_id() {
        let frame = |stream| Frame::Stream { stream, offset: 7, len: 5, fin: true, to_end: true };
        let mut packet = SentPacket::default();
        assert!(!packet.hold(&[frame(4)]));
        assert_eq!((packet.stream, packet.offset, packet.len), (4, 7, 5));
        assert!(packet.hold(&[frame(8)]), "the second stream is listed");
        let mut long = SentPacket::default();
        assert!(long.hold(&[frame(1 << 32)]) && !long.flags.has(SentFlags::STREAM));
        assert!(long.flags.has(SentFlags::ELICITING.with(SentFlags::IN_FLIGHT)));
    }

    proptest! {
        #[test]
        fn every_packet_is_newly_acknowledged_once(
            steps in prop::collection::vec(
                (0u64..12, prop::collection::vec((0u64..4, 0u64..6), 1..6), 0u64..40), 1..60,
            ),
        ) {
            let (mut sent, mut unacked) = (Sent::default(), BTreeSet::new());
            for (count, pairs, above) in steps {
                for _ in 0..count {
                    unacked.insert(sent.next());
                    let flags = SentFlags::IN_FLIGHT.with(SentFlags::ELICITING);
                    sent.push(SentPacket { size: 100, flags, ..SentPacket::default() });
                }
                let (mut ranges, mut top) = (Vec::new(), sent.next().saturating_sub(above % (sent.next() + 1)));
                for (gap, len) in pairs {
                    let start = top.saturating_sub(len + 1);
                    if start < top {
                        ranges.push(Range { start, end: top });
                    }
                    top = start.saturating_sub(gap + 1);
                }
                let mut newly = Vec::new();
                prop_assert_eq!(sent.acknowledge(&ranges, &mut newly), Ok(()));
                let mut expected = BTreeSet::new();
                for number in ranges.iter().flat_map(|range| range.start..range.end) {
                    if unacked.remove(&number) {
                        expected.insert(number);
                    }
                }
                let all: Vec<u64> = newly.iter().flat_map(|range| range.start..range.end).collect();
                prop_assert_eq!(all.len(), expected.len());
                prop_assert_eq!(all.iter().copied().collect::<BTreeSet<_>>(), expected);
                for number in all {
                    let packet = *sent.get_mut(number);
                    sent.leaves_flight(packet.size, packet.flags);
                    sent.get_mut(number).flags.set(SentFlags::ACKED);
                }
                sent.trim(Instant::ZERO, |_| {});
                prop_assert_eq!(sent.in_flight(), 100 * unacked.len() as u64);
                prop_assert_eq!(sent.first(), unacked.first().copied().unwrap_or(sent.next()));
            }
        }
    }

    #[test]
    fn an_acknowledgement_of_an_unsent_packet_is_an_error() {
        let mut sent = Sent::default();
        sent.push(SentPacket::default());
        assert_eq!(sent.acknowledge(&[Range { start: 0, end: 2 }], &mut Vec::new()), Err(NeverSent));
    }
}
