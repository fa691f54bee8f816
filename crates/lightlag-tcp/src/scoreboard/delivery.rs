//! The data that one ACK newly acknowledged, cumulatively or by SACK.

use super::{AMBIGUOUS, SegmentRecord};
use lightlag_core::Instant;

/// The data that one ACK newly acknowledged, cumulatively or by SACK (delivered data).
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    /// Number of bytes acknowledged or SACKed for the first time.
    pub bytes: u64,
    /// Transmission times of the first and the last sent of the delivered segments that were never retransmitted.
    pub sent: Option<(Instant, Instant)>,
    /// Whether any of the delivered segments had been retransmitted.
    pub retransmitted: bool,
    /// Transmission time and end offset of the most recently sent of the delivered segments (RFC 8985 §6.2 step 2).
    pub newest: (Instant, u64),
    /// Transmission time of the segment with the highest offset among those that this ACK acknowledged cumulatively or,
    /// if there are none, SACKed.
    pub last: Option<Instant>,
    /// Minimum and maximum end offset of the delivered segments. The minimum considers only segments that were sent
    /// once (RFC 8985 §6.2 step 3).
    pub ends: (u64, u64),
    /// Whether a segment was delivered that the last timeout had marked as lost and that was not retransmitted (RFC
    /// 5682 §3.1).
    pub original: bool,
    /// A retransmission sent at or after this time cannot have been acknowledged yet: the ACK is for an earlier copy.
    pub(super) fresh: Instant,
    pub(super) timed_out: (u64, Instant),
    /// End offset of the segment of [`Self::last`]; [`Self::cumulative`] is true if it was acknowledged cumulatively.
    last_end: u64,
    cumulative: bool,
}

impl Delivery {
    /// Returns an empty delivery. Retransmissions sent at or after `fresh` are too recent to be acknowledged by it;
    /// `timed_out` bounds the segments that the last timeout marked as lost.
    pub fn new(fresh: Instant, timed_out: (u64, Instant)) -> Self {
        Self {
            bytes: 0,
            sent: None,
            retransmitted: false,
            newest: (Instant::ZERO, 0),
            last: None,
            last_end: 0,
            cumulative: false,
            ends: (u64::MAX, 0),
            original: false,
            fresh,
            timed_out,
        }
    }

    /// Starts the SACKed segments, with a new limit `fresh`. The timestamp echo of an ACK with SACK belongs to the left
    /// edge (RFC 7323 §4.3), and does not show which copy arrived; only a retransmission sent at or after `fresh` is
    /// too recent.
    #[inline]
    pub fn begin_reports(&mut self, fresh: Instant) {
        self.fresh = fresh;
    }

    /// Adds a delivered segment. Before the ACK, no outstanding offset was below `una`.
    #[inline]
    pub(super) fn add(&mut self, record: &SegmentRecord, una: u64) {
        self.bytes += u64::from(record.len());
        if record.has(AMBIGUOUS) {
            self.retransmitted = true;
            let end = record.end(una);
            self.ends.1 = self.ends.1.max(end);
            if record.sent < self.fresh {
                self.newest = self.newest.max((record.sent, end));
                self.note_last(record.sent, end);
            }
        } else {
            let copy = (record.sent, record.end(una));
            self.note_run(copy, copy);
        }
    }

    /// Forgets the order and times of the delivered data, because a copy that the scoreboard does not know of may have
    /// delivered it.
    #[cold]
    pub fn forget_origin(&mut self) {
        *self = Self { bytes: self.bytes, fresh: self.fresh, timed_out: self.timed_out, ..Self::default() };
    }

    /// Adds consecutive segments that were sent once each: transmission time and end offset of the first and of the
    /// last.
    #[inline]
    pub(super) fn note_run(&mut self, first: (Instant, u64), last: (Instant, u64)) {
        if self.sent.is_none() && !self.retransmitted && last.1 > 0 {
            return self.note_only_run(first, last);
        }
        let (oldest, newest) = self.sent.unwrap_or((first.0, last.0));
        self.sent = Some((oldest.min(first.0), newest.max(last.0)));
        self.ends = (self.ends.0.min(first.1), self.ends.1.max(last.1));
        self.original |= first.1 <= self.timed_out.0 && first.0 <= self.timed_out.1;
        if last > self.newest {
            self.newest = last;
        }
        self.note_last(last.0, last.1);
    }

    /// Adds consecutive segments that were sent once each, if nothing else was added before. Most ACKs deliver nothing
    /// else.
    #[inline(always)]
    fn note_only_run(&mut self, first: (Instant, u64), last: (Instant, u64)) {
        self.sent = Some((first.0, last.0));
        self.ends = (first.1, last.1);
        self.original = first.1 <= self.timed_out.0 && first.0 <= self.timed_out.1;
        self.newest = last;
        (self.last, self.last_end) = (Some(last.0), last.1);
    }

    #[inline]
    fn note_last(&mut self, sent: Instant, end: u64) {
        if end > self.last_end && !self.cumulative {
            (self.last, self.last_end) = (Some(sent), end);
        }
    }

    /// Marks the end of the cumulatively acknowledged segments.
    #[inline]
    pub(super) fn end_cumulative(&mut self) {
        self.cumulative = self.last.is_some();
    }
}

impl Default for Delivery {
    fn default() -> Self {
        Self::new(Instant::MAX, (0, Instant::ZERO))
    }
}
