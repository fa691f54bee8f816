//! The handshake messages of a packet number space: two byte streams without flow control (RFC 9000 §7.5).

use crate::ranges::{Range, RangeSet};
use crate::varint;
use std::collections::VecDeque;

/// Upper limit for the size of a CRYPTO frame's header: type, offset and length.
const MAX_HEADER: u64 = 17;

/// The handshake messages that are sent and received in a space.
#[derive(Debug, Default)]
pub(crate) struct Crypto {
    /// Bytes to send in total, and the first one that was never sent.
    total: u64,
    next: u64,
    missing: RangeSet,
    /// Lost frames, in the order of their retransmission, if they are not merged.
    frames: VecDeque<(u64, u64)>,
    acked: RangeSet,
    received: RangeSet,
}

impl Crypto {
    /// Appends a message of `bytes`.
    pub(crate) fn write(&mut self, bytes: u64) {
        self.total += bytes;
    }

    /// Returns true if handshake data waits to be sent.
    #[inline(always)]
    pub(crate) fn has_pending(&self) -> bool {
        self.next < self.total || !self.missing.is_empty() || !self.frames.is_empty()
    }

    /// Takes offset and length of a CRYPTO frame that fits in `space` bytes. `roomy` reserves the maximum size of
    /// its header, with a length of two bytes.
    pub(crate) fn take(&mut self, space: u64, roomy: bool) -> Option<(u64, u16)> {
        if roomy && space <= MAX_HEADER {
            return None;
        }
        let repeated = self.frames.pop_front();
        let (offset, pending) = match self.missing.first() {
            _ if repeated.is_some() => repeated.unwrap_or_default(),
            Some(range) => (range.start, range.len()),
            None if self.next < self.total => (self.next, self.total - self.next),
            None => return None,
        };
        let room = space.saturating_sub(1 + varint::size(offset));
        let length = if roomy { 2 } else { varint::size(room.min(pending)) };
        let len = pending.min(room.saturating_sub(length));
        if repeated.is_some() && len < pending {
            self.frames.push_front((offset + len, pending - len));
        }
        if len == 0 {
            return None;
        }
        self.missing.remove(offset, offset + len);
        self.next = self.next.max(offset + len);
        Some((offset, len as u16))
    }

    /// Returns the first bytes that wait, lost ones and new ones after them in one range; the end of all if none wait.
    pub(crate) fn waiting(&self) -> Range {
        let new = Range { start: self.next, end: self.total };
        match self.missing.first() {
            Some(first) if first.end == new.start => Range { start: first.start, end: new.end },
            Some(first) => first,
            None => new,
        }
    }

    /// Takes up to `max` of the bytes of [`Self::waiting`].
    pub(crate) fn take_waiting(&mut self, max: u64) -> Option<(u64, u16)> {
        let Range { start, end } = self.waiting();
        let end = end.min(start + max);
        if start >= end {
            return None;
        }
        self.missing.remove(start, end);
        self.next = self.next.max(end);
        Some((start, (end - start) as u16))
    }

    pub(crate) fn acknowledged(&mut self, offset: u64, len: u16) {
        self.acked.insert(offset, offset + u64::from(len));
        self.missing.remove(offset, offset + u64::from(len));
    }

    pub(crate) fn lost(&mut self, offset: u64, len: u16) {
        let missing = &mut self.missing;
        self.acked.for_each_missing(offset, offset + u64::from(len), |start, end| _ = missing.insert(start, end));
    }

    /// Queues a lost frame before all others, as it was.
    pub(crate) fn lost_frame(&mut self, offset: u64, len: u16) {
        self.frames.push_front((offset, len.into()));
    }

    pub(crate) fn arrived(&mut self, offset: u64, len: u16) {
        self.received.insert(offset, offset + u64::from(len));
    }

    /// Returns the number of bytes received in order.
    pub(crate) fn in_order(&self) -> u64 {
        self.received.first().filter(|first| first.start == 0).map_or(0, |first| first.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_cut_to_the_space_and_its_lost_part_is_sent_again() {
        let mut crypto = Crypto::default();
        crypto.write(2_000);
        assert_eq!(crypto.take(1_004, false), Some((0, 1_000)));
        // Type 1, offset 2, length 1.
        assert_eq!(crypto.take(4, false), None);
        assert_eq!(crypto.take(2_000, false), Some((1_000, 1_000)));
        assert!(!crypto.has_pending());
        crypto.acknowledged(400, 100);
        crypto.lost(0, 1_000);
        assert_eq!(crypto.take(2_000, false), Some((0, 400)));
        assert_eq!(crypto.take(2_000, false), Some((500, 500)));
        crypto.acknowledged(0, 2_000);
        assert!(!crypto.has_pending());
    }

    #[test]
    fn lost_bytes_and_new_ones_behind_them_are_one_range() {
        let mut crypto = Crypto::default();
        crypto.write(2_000);
        assert_eq!((crypto.take_waiting(600), crypto.take_waiting(600)), (Some((0, 600)), Some((600, 600))));
        crypto.lost(600, 600);
        assert_eq!(crypto.take_waiting(1_000), Some((600, 1_000)));
        crypto.lost(0, 600);
        assert_eq!(crypto.take_waiting(1_000), Some((0, 600)));
        assert_eq!((crypto.take_waiting(1_000), crypto.take_waiting(1)), (Some((1_600, 400)), None));
    }
}
