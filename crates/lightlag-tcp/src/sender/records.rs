//! Records of the application (SCPS-TP): a segment ends at the end of each record and is marked, even when the data is
//! retransmitted. Other senders end a segment when the application requests it (MSG_EOR of Linux).

use super::Sender;

/// Size of the record boundary option with its padding, in bytes.
const BOUNDARY: u64 = 4;

impl Sender {
    /// Sets the size of the application's records. In a `compressed` header the mark is a bit, and takes no space.
    pub(crate) fn set_record_size(&mut self, bytes: u64, compressed: bool) {
        let extra = self.special.extra_mut();
        (extra.record_size, extra.mark_len) = (bytes, if compressed { 0 } else { BOUNDARY });
    }

    #[inline]
    pub(crate) fn marks_records(&self) -> bool {
        self.special.extra().is_some_and(|extra| extra.record_size > 0)
    }

    /// Returns the size of a record in bytes; without records, a size that is never reached.
    fn record_size(&self) -> u64 {
        self.special.extra().map(|extra| extra.record_size).filter(|size| *size > 0).unwrap_or(u64::MAX)
    }

    /// Returns true if a record ends at `end`: a record of the configured size, or the last one.
    pub(crate) fn ends_record(&self, end: u64) -> bool {
        self.marks_records() && (end.is_multiple_of(self.record_size()) || self.closing && end == self.written)
    }

    /// Makes a segment end after the last byte that is written so far.
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

    /// Returns true if segments may have to end before they are full, at the end of a record or a requested cut.
    #[inline]
    pub(super) fn cuts_segments(&self) -> bool {
        self.special.extra().is_some_and(|extra| extra.record_size > 0 || !extra.cuts.is_empty())
    }

    /// Returns the length of the next segment, which starts at `start` and could have `len` bytes, but must end with
    /// the record. The mark takes space of the payload.
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
