//! The segments that a sender has in flight, with their departure times, so that an ACK gives a round-trip time.

use super::ranges::Ranges;
use lightlag_core::Duration;
use std::collections::VecDeque;

/// The most segments whose times are kept. Later segments are counted, but not timed.
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
    /// Nanoseconds.
    last_at: u64,
    again: bool,
    sacked: bool,
}

impl Flight {
    /// Notes data above everything sent so far.
    pub fn send(&mut self, start: i64, end: i64, at: u64) {
        if self.sent.len() < MOST_TIMED && self.sent.back().is_none_or(|last| last.end <= start) {
            self.sent.push_back(Sent { start, end, last_at: at, again: false, sacked: false });
        }
    }

    /// Notes data that was sent before. Returns the time of its last departure, if known.
    pub fn send_again(&mut self, start: i64, end: i64, at: u64) -> Option<u64> {
        let first = self.sent.partition_point(|sent| sent.end <= start);
        let mut before = None;
        for sent in self.sent.range_mut(first..).take_while(|sent| sent.start < end) {
            before = before.max(Some(sent.last_at));
            (sent.last_at, sent.again) = (at, true);
        }
        before
    }

    /// Whether data was sent more than once.
    pub fn was_sent_again(&self, start: i64) -> bool {
        let first = self.sent.partition_point(|sent| sent.end <= start);
        self.sent.get(first).is_some_and(|sent| sent.start <= start && sent.again)
    }

    /// The cumulative ACK reached `acked`. Returns a sample, unless a part of this data was sent twice (Karn) or the
    /// ACK is `late`: an ACK after duplicates covers data that waited for a hole to be filled.
    pub fn acknowledge(&mut self, acked: i64, at: u64, late: bool) -> Option<Duration> {
        let (mut newest, mut ambiguous) = (None, late);
        while let Some(sent) = self.sent.front().copied().filter(|sent| sent.end <= acked) {
            self.sent.pop_front();
            ambiguous |= sent.again;
            if !sent.sacked {
                newest = Some(sent.last_at);
            }
        }
        self.sacked.forget_below(acked);
        newest.filter(|_| !ambiguous).map(|left| Duration::from_nanos(at.saturating_sub(left)))
    }

    /// The receiver reports that it holds `start..end`. Returns a sample from the newest segment reported here for the
    /// first time.
    pub fn report(&mut self, start: i64, end: i64, at: u64) -> Option<Duration> {
        let (sent, mut newest) = (&mut self.sent, None);
        self.sacked.insert(start, end, |left, right| {
            let first = sent.partition_point(|sent| sent.start < left);
            for sent in sent.range_mut(first..).take_while(|sent| sent.end <= right) {
                sent.sacked = true;
                newest = if sent.again { newest } else { Some(sent.last_at) };
            }
        });
        newest.map(|left| Duration::from_nanos(at.saturating_sub(left)))
    }

    /// The ranges that the receiver holds above the cumulative ACK.
    pub fn sacked(&self) -> &Ranges {
        &self.sacked
    }
}

/// The smoothed round-trip time and its deviation (RFC 6298 §2), used to judge how long a sender waited.
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

    /// The shortest timeout that a sender on this path may have. Linux adds max(200 ms, 4·RTTVAR) to SRTT, and others
    /// wait longer. The result is a tenth less, since the capture is not the sender.
    pub fn least_timeout(&self) -> u64 {
        let variation = self.variation.saturating_mul(4).max(200_000_000);
        self.srtt.unwrap_or(0).saturating_add(variation) / 10 * 9
    }
}
