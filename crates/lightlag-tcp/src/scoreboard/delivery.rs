//! The data that one ACK removed from the network.

use super::{AMBIGUOUS, Record};
use lightlag_core::Instant;

/// The data that one ACK removed from the network.
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    /// Bytes acknowledged or SACKed for the first time.
    pub bytes: u64,
    /// Departure times of the oldest and the newest segment delivered now that were never retransmitted.
    pub sent: Option<(Instant, Instant)>,
    /// Whether a segment delivered now had been retransmitted.
    pub retransmitted: bool,
    /// The segment delivered now that left last: its time, and the offset after it (RFC 8985 §6.2 step 2).
    pub newest: (Instant, u64),
    /// Departure time of the segment that is last in the order of offsets among those acknowledged cumulatively now, or
    /// if there are none, among those SACKed now.
    pub last: Option<Instant>,
    /// The smallest and the largest offset after a segment delivered now, the smallest only of segments that were
    /// sent once (RFC 8985 §6.2 step 3).
    pub ends: (u64, u64),
    /// Whether a segment that a timeout took as lost was delivered without being sent again (RFC 5682 §3.1).
    pub original: bool,
    /// Retransmissions that left from here on cannot have been acknowledged already: the first copy was.
    pub(super) fresh: Instant,
    pub(super) timed_out: (u64, Instant),
    /// The offset after that last segment, and whether it was acknowledged cumulatively.
    last_end: u64,
    cumulative: bool,
}

impl Delivery {
    /// An empty delivery. A retransmission that left at or after `fresh` cannot be the acknowledged copy; `timed_out`
    /// bounds the segments that the last timeout took as lost.
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

    /// The following segments are SACKed. The echo of such an ACK follows the left edge (RFC 7323 §4.3), and does not
    /// tell which copy arrived. Only one that left at or after `fresh` would have been too fast.
    #[inline]
    pub fn begin_reports(&mut self, fresh: Instant) {
        self.fresh = fresh;
    }

    /// Adds a delivered segment; none that was outstanding lay below `una`.
    #[inline]
    pub(super) fn add(&mut self, record: &Record, una: u64) {
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

    /// The delivered data may have come with a copy unknown to the scoreboard: it tells nothing about the path's time
    /// or order.
    #[cold]
    pub fn forget_origin(&mut self) {
        *self = Self { bytes: self.bytes, fresh: self.fresh, timed_out: self.timed_out, ..Self::default() };
    }

    /// Adds segments that were sent once each: departure times of the first and the last, and the offsets after them.
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

    /// The same if nothing was noted before: most ACKs deliver nothing else.
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

    /// Ends the cumulatively acknowledged segments.
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
