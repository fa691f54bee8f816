//! Records of the application (SCPS-TP): the last segment of each is marked, and a cut at its end remains when the data
//! is sent again. Other senders end a segment on request of the application (MSG_EOR of Linux).

use super::Sender;

/// Bytes of the record boundary option with its padding.
const BOUNDARY: u64 = 4;

impl Sender {
    /// Sets the size of the application's records. In a `compressed` header the mark is a bit.
    pub(crate) fn set_record_size(&mut self, bytes: u64, compressed: bool) {
        let extra = self.special.extra_mut();
        (extra.record_size, extra.mark_len) = (bytes, if compressed { 0 } else { BOUNDARY });
    }

    #[inline]
    pub(crate) fn marks_records(&self) -> bool {
        self.special.extra().is_some_and(|extra| extra.record_size > 0)
    }

    /// Bytes of a record; without records, an unreachable size.
    fn record_size(&self) -> u64 {
        self.special.extra().map(|extra| extra.record_size).filter(|size| *size > 0).unwrap_or(u64::MAX)
    }

    /// Whether a record ends at `end`: one of the configured size, or the last.
    pub(crate) fn ends_record(&self, end: u64) -> bool {
        self.marks_records() && (end.is_multiple_of(self.record_size()) || self.closing && end == self.written)
    }

    /// Ends the segment with the last byte written so far at this byte.
    pub(crate) fn cut_here(&mut self) {
        let (nxt, end) = (self.board.nxt(), self.written);
        let cuts = &mut self.special.extra_mut().cuts;
        while cuts.front().is_some_and(|cut| *cut <= nxt) {
            cuts.pop_front();
        }
        if cuts.back().is_none_or(|last| *last < end) {
            cuts.push_back(end);
        }
    }

    /// Whether segments may end before their full size.
    #[inline]
    pub(super) fn cuts_segments(&self) -> bool {
        self.special.extra().is_some_and(|extra| extra.record_size > 0 || !extra.cuts.is_empty())
    }

    /// The part of `len` bytes from `start` on that leaves in one segment. The mark needs room.
    pub(super) fn within_record(&self, start: u64, len: u64) -> u64 {
        let cuts = self.special.extra().map(|extra| &extra.cuts);
        let cut = cuts.and_then(|cuts| cuts.get(cuts.partition_point(|cut| *cut <= start)));
        let len = cut.map_or(len, |cut| len.min(cut - start));
        let left = self.record_size() - start % self.record_size();
        let len = len.min(left);
        let mark = self.special.extra().map_or(0, |extra| extra.mark_len);
        if self.ends_record(start + len) { len.min((u64::from(self.segment_size) - mark).max(1)) } else { len }
    }
}
