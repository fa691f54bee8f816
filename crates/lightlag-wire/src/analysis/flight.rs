//! The segments that a sender has in flight. Their transmission times and ACKs give round-trip times.

use super::ranges::Ranges;
use lightlag_core::Duration;
use std::collections::VecDeque;

/// Maximum number of segments whose times are stored. Further segments are counted but not timed.
const MOST_TIMED: usize = 4096;

/// Segments in flight, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Flight {
    sent: VecDeque<Sent>,
    sacked: Ranges,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    start: i64,
    end: i64,
    /// Time of the last transmission, in nanoseconds.
    last_at: u64,
    again: bool,
    sacked: bool,
}

impl Flight {
    /// Records data above everything sent so far.
    pub fn send(&mut self, start: i64, end: i64, time_ns: u64) {
        if self.sent.len() < MOST_TIMED && self.sent.back().is_none_or(|last| last.end <= start) {
            self.sent.push_back(Sent { start, end, last_at: time_ns, again: false, sacked: false });
        }
    }

    /// Records data that was sent before. Returns the time of its previous transmission, if known.
    pub fn send_again(&mut self, start: i64, end: i64, time_ns: u64) -> Option<u64> {
        let first = self.sent.partition_point(|sent| sent.end <= start);
        let mut before = None;
        for sent in self.sent.range_mut(first..).take_while(|sent| sent.start < end) {
            before = before.max(Some(sent.last_at));
            (sent.last_at, sent.again) = (time_ns, true);
        }
        before
    }

    /// Returns true if the data at `start` was sent more than once.
    pub fn was_sent_again(&self, start: i64) -> bool {
        let first = self.sent.partition_point(|sent| sent.end <= start);
        self.sent.get(first).is_some_and(|sent| sent.start <= start && sent.again)
    }

    /// Records that the cumulative ACK has reached `acked`. Returns a round-trip sample, unless part of the newly
    /// acknowledged data was sent twice (Karn), or the ACK is `late`: it follows duplicate ACKs, so that its data
    /// waited for a hole to be filled.
    pub fn acknowledge(&mut self, acked: i64, time_ns: u64, late: bool) -> Option<Duration> {
        let (mut newest, mut ambiguous) = (None, late);
        while let Some(sent) = self.sent.front().copied().filter(|sent| sent.end <= acked) {
            self.sent.pop_front();
            ambiguous |= sent.again;
            if !sent.sacked {
                newest = Some(sent.last_at);
            }
        }
        self.sacked.forget_below(acked);
        newest.filter(|_| !ambiguous).map(|left| Duration::from_nanos(time_ns.saturating_sub(left)))
    }

    /// Records that the receiver holds the range from `start` to `end`. Returns a round-trip sample from the newest
    /// segment that is reported for the first time.
    pub fn report(&mut self, start: i64, end: i64, time_ns: u64) -> Option<Duration> {
        let (sent, mut newest) = (&mut self.sent, None);
        self.sacked.insert(start, end, |left, right| {
            let first = sent.partition_point(|sent| sent.start < left);
            for sent in sent.range_mut(first..).take_while(|sent| sent.end <= right) {
                sent.sacked = true;
                newest = if sent.again { newest } else { Some(sent.last_at) };
            }
        });
        newest.map(|left| Duration::from_nanos(time_ns.saturating_sub(left)))
    }

    /// Returns the ranges that the receiver holds above the cumulative ACK.
    pub fn sacked(&self) -> &Ranges {
        &self.sacked
    }
}

/// The smoothed round-trip time and its variation (RFC 6298 §2), with which the waiting time of a sender is classified.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Smoothed {
    srtt: Option<u64>,
    variation: u64,
}

impl Smoothed {
    pub fn add(&mut self, sample: Duration) {
        let sample = sample.as_nanos();
        match &mut self.srtt {
            None => (self.srtt, self.variation) = (Some(sample), sample / 2),
            Some(srtt) => {
                self.variation = self.variation - self.variation / 4 + srtt.abs_diff(sample) / 4;
                *srtt = *srtt - *srtt / 8 + sample / 8;
            }
        }
    }

    pub fn srtt(&self) -> Option<u64> {
        self.srtt
    }

    /// Returns the minimum retransmission timeout of a sender on this path, in nanoseconds. Linux adds max(200 ms,
    /// 4·RTTVAR) to SRTT, and other senders wait longer. The result is reduced by a tenth, because times at the capture
    /// differ from times at the sender.
    pub fn least_timeout(&self) -> u64 {
        let variation = self.variation.saturating_mul(4).max(200_000_000);
        self.srtt.unwrap_or(0).saturating_add(variation) / 10 * 9
    }
}
