//! Bursts and their trains of ACKs, for algorithms that send a burst each time a timer fires.
//!
//! A burst is a number of segments, new or retransmitted, that leave together. Sent bytes, copies included, less the
//! bytes in flight have been delivered or lost. A burst's train starts with the first ACK that takes this count into
//! the burst, and ends with the one that takes it to the end of the burst. Losses, retransmissions and lost ACKs
//! therefore shift bursts and trains against each other only until the sender detects the loss.

use super::{Ack, Release, Sent};
use lightlag_core::{Duration, Instant};
use std::collections::VecDeque;

/// The measurements from the ACKs of one burst.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Train {
    /// Segments of the burst.
    pub segments: f64,
    /// The round-trip time given by its first ACK.
    pub rtt: Option<Duration>,
    /// Time from its first ACK to its last. If the last also acknowledges the next burst, it is extrapolated from the
    /// ACKs before.
    pub span: Duration,
    /// Seconds per segment, between the first ACK and that of the last segment but one: the peer may delay the ACK of
    /// the last.
    pub per_segment: Option<f64>,
}

/// A burst that was sent.
#[derive(Clone, Copy, Debug)]
struct Burst {
    /// Time at which it started to leave.
    left: Instant,
    /// Its end, in bytes sent.
    end: u64,
}

/// A train whose end has not come.
#[derive(Clone, Copy, Debug)]
struct Open {
    first: Instant,
    at_first: u64,
    rtt: Option<Duration>,
    /// The newest ACK of only this burst, and the bytes that it reached.
    last: (Instant, u64),
    /// The same, up to the ACK of the last segment but one.
    prompt: (Instant, u64),
}

/// The bursts of one connection.
#[derive(Debug)]
pub(super) struct Trains {
    segment_size: u64,
    /// Time at which the next burst may leave.
    due: Instant,
    /// Segments of this burst that may still leave.
    left: u32,
    /// Bytes sent, copies included, and the part of them that was delivered or lost.
    sent: u64,
    settled: u64,
    inflight: u64,
    /// The bursts whose trains are incomplete, and the start of the first of them, in bytes sent.
    bursts: VecDeque<Burst>,
    begin: u64,
    open: Option<Open>,
    complete: VecDeque<Train>,
}

impl Trains {
    /// The state before the first burst, which may leave at once.
    pub fn new(segment_size: u64) -> Self {
        Self {
            segment_size,
            due: Instant::ZERO,
            left: 0,
            sent: 0,
            settled: 0,
            inflight: 0,
            bursts: VecDeque::new(),
            begin: 0,
            open: None,
            complete: VecDeque::new(),
        }
    }

    /// Time at which the next burst may leave.
    pub fn due(&self) -> Instant {
        self.due
    }

    /// The segments that may leave now, in bursts of this size.
    pub fn release(&self, now: Instant, burst: u32) -> Release {
        let segments = if now >= self.due { burst } else { self.left };
        Release { segments, next: self.due }
    }

    /// Notes that a segment left. The first one of a burst of this many segments sets the timer to `interval`.
    pub fn on_sent(&mut self, sent: &Sent, burst: u32, interval: Duration) {
        let begins = sent.now >= self.due;
        if begins {
            self.left = burst;
            self.due = sent.now + interval;
        }
        if begins || self.bursts.is_empty() {
            self.bursts.push_back(Burst { left: sent.now, end: self.sent });
        }
        self.left = self.left.saturating_sub(1);
        self.sent += sent.bytes;
        self.inflight = sent.prior_inflight + sent.bytes;
        if let Some(burst) = self.bursts.back_mut() {
            burst.end = self.sent;
        }
    }

    /// Takes in an ACK. [`Self::next`] returns the trains that it completes.
    pub fn on_ack(&mut self, ack: &Ack) {
        self.inflight = ack.inflight;
        let from = self.settled;
        self.settled = from.max(self.sent.saturating_sub(ack.inflight));
        if ack.newly_delivered == 0 || self.settled == from {
            return;
        }
        while let Some(Burst { end, .. }) = self.bursts.front().copied() {
            // More segments may leave in this burst.
            let grows = self.bursts.len() == 1 && self.left > 0;
            if end > from && self.settled > self.begin {
                self.follow(ack, end);
            }
            if self.settled < end || grows {
                break;
            }
            self.finish(end);
        }
    }

    /// The ACK belongs to the train of the first burst, which ends at `end`.
    fn follow(&mut self, ack: &Ack, end: u64) {
        let (now, reached) = (ack.now, self.settled.min(end));
        let begin = Open { first: now, at_first: reached, rtt: ack.rtt, last: (now, reached), prompt: (now, reached) };
        let open = self.open.get_or_insert(begin);
        // Its data belongs to the next burst, by the time at which it left or by the count, or the data that takes the
        // count to the end was lost. Then the ACK does not show when the end arrived.
        let next = self.bursts.get(1).map_or(Instant::MAX, |burst| burst.left);
        let of_the_next = ack.rtt.is_some_and(|rtt| Instant::ZERO + now.since(Instant::ZERO + rtt) >= next);
        if of_the_next || self.settled > end || reached == end && ack.newly_lost > 0 {
            return;
        }
        open.last = (now, reached);
        if open.prompt.1 + self.segment_size < end {
            open.prompt = (now, reached);
        }
    }

    fn finish(&mut self, end: u64) {
        let size = self.segment_size as f64;
        let segments = (end - self.begin) as f64 / size;
        let train = match self.open.take() {
            None => Train { segments, rtt: None, span: Duration::ZERO, per_segment: None },
            Some(open) => {
                let spacing = |(time, reached): (Instant, u64)| {
                    let (time, count) = (time.since(open.first), (reached - open.at_first) as f64 / size);
                    (count > 0.0 && !time.is_zero()).then(|| time.as_secs_f64() / count)
                };
                let rest = (end - open.at_first) as f64 / size;
                let span = Duration::from_secs_f64(spacing(open.last).unwrap_or(0.0) * rest);
                Train { segments, rtt: open.rtt, span, per_segment: spacing(open.prompt) }
            }
        };
        self.complete.push_back(train);
        self.begin = end;
        self.bursts.pop_front();
    }

    /// The next complete train.
    pub fn next(&mut self) -> Option<Train> {
        self.complete.pop_front()
    }

    /// All outstanding data is lost: a burst may leave at once.
    pub fn forget(&mut self) {
        self.due = Instant::ZERO;
        self.left = 0;
        self.settled = self.sent;
        self.begin = self.sent;
        self.bursts.clear();
        self.open = None;
    }

    /// The flight plus the segments that may leave before any ACK, for the record.
    pub fn window(&self, burst: u32) -> u64 {
        self.inflight + u64::from(burst) * self.segment_size
    }
}

#[cfg(test)]
mod tests;
