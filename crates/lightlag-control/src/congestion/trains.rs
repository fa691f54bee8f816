//! Bursts and their trains of ACKs, for algorithms that send a burst each time a timer expires.
//!
//! A burst is a number of segments, new or retransmitted, that are sent together. Sent bytes, copies included, less the
//! bytes in flight have been delivered or lost. A burst's train starts with the first ACK that takes this count into
//! the burst, and ends with the one that takes it to the end of the burst. Losses, retransmissions and lost ACKs
//! therefore shift bursts and trains against each other only until the sender detects the loss.

use super::{Ack, Release, Sent};
use lightlag_core::{Duration, Instant};
use std::collections::VecDeque;

/// The measurements from the ACKs of one burst.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Train {
    /// Number of segments in the burst.
    pub segments: f64,
    /// Round-trip time given by the first ACK of the burst.
    pub rtt: Option<Duration>,
    /// Time from the first ACK of the burst to the last. If the last one also acknowledges the next burst, the time is
    /// extrapolated from the ACKs before.
    pub span: Duration,
    /// Seconds per segment, from the first ACK to the ACK of the second-to-last segment, because the peer may delay the
    /// ACK of the last.
    pub per_segment: Option<f64>,
}

/// A burst that was sent.
#[derive(Clone, Copy, Debug)]
struct Burst {
    /// Time when the first segment of the burst was sent.
    left: Instant,
    /// Bytes sent up to the end of the burst, counted from the start of the connection.
    end: u64,
}

/// A train of ACKs that is not complete.
#[derive(Clone, Copy, Debug)]
struct Open {
    first: Instant,
    at_first: u64,
    rtt: Option<Duration>,
    /// Time of the newest ACK that covers only this burst, and the byte count that it reached.
    last: (Instant, u64),
    /// Time and byte count of the last ACK that does not cover the last segment of the burst.
    prompt: (Instant, u64),
}

/// The bursts of one connection.
#[derive(Debug)]
pub(super) struct Trains {
    segment_size: u64,
    /// Time when the next burst may leave.
    due: Instant,
    /// Segments of the current burst that may still leave.
    left: u32,
    /// Bytes sent, retransmissions included; and how many of them were delivered or lost.
    sent: u64,
    settled: u64,
    inflight: u64,
    /// The bursts whose trains are incomplete, and the byte count at the start of the first of them.
    bursts: VecDeque<Burst>,
    begin: u64,
    open: Option<Open>,
    complete: VecDeque<Train>,
}

impl Trains {
    /// Creates the state before the first burst, which may be sent immediately.
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

    /// Returns the time when the next burst may leave.
    pub fn due(&self) -> Instant {
        self.due
    }

    /// Returns how many segments may leave now, in bursts of this size, and when the next burst may.
    pub fn release(&self, now: Instant, burst: u32) -> Release {
        let segments = if now >= self.due { burst } else { self.left };
        Release { segments, next: self.due }
    }

    /// Notes a sent segment. The first segment of a burst of `burst` segments sets the timer to `interval`.
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

    /// Adds an ACK. [`Self::next`] returns the trains that it completes.
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

    /// Adds the ACK to the train of the first burst, which ends at the byte count `end`.
    fn follow(&mut self, ack: &Ack, end: u64) {
        let (now, reached) = (ack.now, self.settled.min(end));
        let begin = Open { first: now, at_first: reached, rtt: ack.rtt, last: (now, reached), prompt: (now, reached) };
        let open = self.open.get_or_insert(begin);
        // Its data belongs to the next burst, by its time of transmission or by the count, or the data that takes the
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

    /// Returns the next complete train, and removes it.
    pub fn next(&mut self) -> Option<Train> {
        self.complete.pop_front()
    }

    /// Forgets all bursts, because all outstanding data is lost; a burst may be sent immediately.
    pub fn forget(&mut self) {
        self.due = Instant::ZERO;
        self.left = 0;
        self.settled = self.sent;
        self.begin = self.sent;
        self.bursts.clear();
        self.open = None;
    }

    /// Returns a window for traces: the flight plus the segments that may leave before any ACK.
    pub fn window(&self, burst: u32) -> u64 {
        self.inflight + u64::from(burst) * self.segment_size
    }
}

#[cfg(test)]
mod tests;
