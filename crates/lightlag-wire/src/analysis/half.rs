//! One direction of a connection: the data of its sender, and the other end's answers.

use super::counters::Told;
use super::flight::{Flight, Smoothed};
use super::ranges::{Holes, Missing, Since};
use super::report::{Counts, Direction, Handshake, Measure, Rtt};
use super::spread::Spread;
use lightlag_core::{Duration, Instant};
use std::collections::VecDeque;

/// The state of one direction. Its size is bounded.
#[derive(Clone, Debug, Default)]
pub(super) struct Half {
    /// The sequence number at offset 0, which is that of the SYN.
    pub initial: Option<u32>,
    pub handshake: Option<Handshake>,
    /// A SYN was seen, perhaps without its options.
    pub opened: bool,
    /// The SYN was sent more than once.
    pub repeated_syn: bool,
    pub finished: bool,
    /// The offset after the highest data seen, and the time at which that was seen.
    pub next: Option<i64>,
    /// The highest cumulative ACK of this direction's data, and the time at which it came.
    pub acked: Option<i64>,
    pub acked_at: u64,
    /// The time at which the other end last reported a hole, or a range above the ACK.
    pub reported_at: u64,
    /// Whether its last ACK reported a hole in a SNACK option.
    pub lacks: bool,
    /// Header fields of the last packet of this direction.
    pub last: Option<Last>,
    /// Duplicates of the current ACK that this direction sent.
    pub duplicates: u64,
    /// The end of a series of retransmissions, and the cause of the first.
    pub recovery: Option<(i64, Cause)>,
    /// The offset of a probe's byte that the receiver accepted, until the sender continues after it.
    pub taken: Option<i64>,
    pub holes: Holes,
    pub flight: Flight,
    pub rtt: Spread,
    pub smoothed: Smoothed,
    /// The TSvals that this direction sent and that were not echoed, with the time of the first packet with each.
    stamps: VecDeque<(u32, u64)>,
    /// This direction's data so far.
    pub stream: Stream,
    pub echo: Spread,
    /// The round trip that the other end's current packet completes.
    pub completed: Option<Duration>,
    in_flight: TimeMean,
    pub counts: Counts,
    /// The latest AccECN counters of this direction.
    pub told: Told,
    pub first_data: Option<u64>,
    pub last_data: u64,
}

/// Acknowledged segments give the better samples, unless timestamps give more than so many times as many.
const FEW: u64 = 4;

/// The most timestamps that wait for their echo. Later ones are not timed.
const MOST_STAMPS: usize = 4096;

/// Whether the application behind a direction has more to send, as far as its segments show.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stream {
    /// A segment had PSH, so that its absence means something.
    pushes: bool,
    /// The last segment with data had no PSH: there was more to send.
    continues: bool,
}

impl Stream {
    /// A segment with data.
    pub fn sent(&mut self, is_pushed: bool) {
        self.pushes |= is_pushed;
        self.continues = !is_pushed;
    }

    /// Whether a sender had more to send than it sent.
    pub fn continues(self) -> bool {
        self.pushes && self.continues
    }
}

/// The header fields of the last packet of a direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Last {
    pub ack: u32,
    /// As in the header.
    pub window: u16,
    /// The window in bytes, if the scale is known.
    pub window_bytes: Option<u64>,
    pub kept_alive: bool,
    pub probed: bool,
}

/// The reason for a retransmission, as far as a capture shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Duplicate ACKs or SACK blocks reported the data lost.
    Fast,
    /// No ACK came during a whole retransmission timeout.
    Timeout,
    /// The last segment, earlier than by timeout: a tail loss probe (RFC 8985 §7).
    TailProbe,
    /// The capture does not show the reason.
    Unknown,
}

impl Half {
    /// The offset of a sequence number: of all candidates, the one nearest to the data in flight.
    pub fn offset(&self, number: u32) -> i64 {
        let reference = self.next.or(self.acked).unwrap_or(0);
        let initial = self.initial.unwrap_or(number);
        reference + i64::from(number.wrapping_sub(initial).wrapping_sub(reference as u32) as i32)
    }

    /// Notes sequence space from `start` to `end`. Returns how much of it is new, and since when the oldest hole that
    /// it falls into was known.
    pub fn see(&mut self, start: i64, end: i64, since: Since) -> (u64, Option<Since>) {
        let next = self.next.unwrap_or(start);
        if next < start {
            self.holes.open(next, start, since);
        }
        self.next = Some(next.max(end));
        let below = self.holes.fill(start, end.min(next));
        let above = (end - next.max(start)).max(0) as u64;
        (below.map_or(0, |(filled, _)| filled) + above, below.map(|(_, since)| since))
    }

    /// The byte of a probe turns out to be real data. It was counted as repeated.
    pub fn count_taken(&mut self) {
        let taken = self.taken.take();
        if let Some(next) = self.next.filter(|next| Some(*next) == taken) {
            self.next = Some(next + 1);
            self.counts.unique_bytes += 1;
            self.counts.repeated_bytes -= 1;
        }
    }

    /// The other end acknowledges up to `offset`. Returns whether that is news.
    pub fn acknowledge(&mut self, offset: i64, at: u64, late: bool) -> bool {
        self.in_flight.until(at, self.in_flight());
        let news = self.acked.is_none_or(|acked| offset > acked);
        if news {
            (self.acked, self.acked_at) = (Some(offset), at);
            if let Some(sample) = self.flight.acknowledge(offset, at, late) {
                self.sample(sample);
            }
            if self.recovery.is_some_and(|(end, _)| offset >= end) {
                self.recovery = None;
            }
        }
        news
    }

    /// The other end reports a range above the cumulative ACK.
    pub fn report(&mut self, start: i64, end: i64, at: u64) {
        self.in_flight.until(at, self.in_flight());
        self.reported_at = at;
        // A receiver cannot hold data that was never sent, unless the capture lacks it.
        let end = end.min(self.next.unwrap_or(end));
        if let Some(sample) = self.flight.report(start, end, at) {
            self.sample(sample);
        }
    }

    fn sample(&mut self, rtt: Duration) {
        self.completed = Some(rtt);
        self.rtt.add(rtt);
        self.smoothed.add(rtt);
    }

    /// Closes the accounting of the bytes in flight before a data segment changes them.
    pub fn before_sending(&mut self, at: u64) {
        self.in_flight.until(at, self.in_flight());
    }

    /// Bytes in flight: sent, not acknowledged, not reported by SACK.
    pub fn in_flight(&self) -> u64 {
        let (Some(next), Some(acked)) = (self.next, self.acked) else { return 0 };
        ((next - acked).max(0) as u64).saturating_sub(self.flight.sacked().bytes())
    }

    /// This direction sent a TSval.
    pub fn stamp(&mut self, value: u32, at: u64) {
        let is_new = self.stamps.back().is_none_or(|(last, _)| value.wrapping_sub(*last) as i32 > 0);
        if is_new && self.stamps.len() < MOST_STAMPS {
            self.stamps.push_back((value, at));
        }
    }

    /// The other direction echoed a TSval. It may have been idle before, with the last value that it got: only an echo
    /// of an earlier one, or from a sender that `continues`, came without delay.
    pub fn echoed(&mut self, echo: u32, at: u64, continues: bool) {
        while let Some((value, sent)) = self.stamps.front().copied() {
            let ahead = echo.wrapping_sub(value) as i32;
            if ahead < 0 {
                break;
            }
            self.stamps.pop_front();
            if ahead == 0 && (continues || !self.stamps.is_empty()) {
                let rtt = Duration::from_nanos(at.saturating_sub(sent));
                self.completed.get_or_insert(rtt);
                self.echo.add(rtt);
            }
        }
    }

    /// Data that was acknowledged but never seen.
    pub fn missing(&self) -> Missing {
        let Some(acked) = self.acked else { return Missing::default() };
        let holes = self.holes.missing_below(acked);
        let seen = self.next.map(|next| next + i64::from(self.taken == self.next));
        let beyond = seen.map_or(0, |seen| (acked - seen).max(0) as u64);
        Missing { gaps: holes.gaps + u64::from(beyond > 0), bytes: holes.bytes + beyond }
    }

    /// Time from the first data to its last ACK, or to the last data if no ACK came after it.
    pub fn data_time(&self) -> Option<Duration> {
        let first = self.first_data?;
        let last = if self.acked.is_some() { self.acked_at.max(self.last_data) } else { self.last_data };
        Some(Instant::from_nanos(last.max(first)).since(Instant::from_nanos(first)))
    }

    /// The findings of this direction; without times unless the capture `has_times`.
    pub fn findings(&self, has_times: bool) -> Direction {
        let missing = self.missing();
        let time = self.data_time().filter(|_| has_times).map(Duration::as_secs_f64);
        // A side that sends a request, or only a FIN, has few ACKs but many timestamps.
        let rtt = match FEW * self.rtt.count() >= self.echo.count() {
            true => Rtt::new(Measure::Ack, &self.rtt),
            false => Rtt::new(Measure::Timestamp, &self.echo),
        };
        let bits = 8.0 * self.counts.unique_bytes as f64;
        Direction {
            handshake: self.handshake,
            counts: self.counts,
            goodput_bps: time.filter(|time| *time > 0.0).map(|time| bits / time),
            data_s: time,
            mean_in_flight_bytes: self.in_flight.mean().filter(|_| has_times),
            gaps: missing.gaps,
            gap_bytes: missing.bytes,
            rtt: rtt.filter(|_| has_times),
        }
    }
}

/// A mean over the time in which a quantity is not zero.
#[derive(Clone, Copy, Debug, Default)]
struct TimeMean {
    since: Option<u64>,
    area: f64,
    time: u64,
}

impl TimeMean {
    /// The quantity had this value from the last call until now.
    fn until(&mut self, at: u64, value: u64) {
        if let Some(since) = self.since.filter(|since| value > 0 && *since < at) {
            self.area += value as f64 * (at - since) as f64;
            self.time += at - since;
        }
        self.since = Some(self.since.map_or(at, |since| since.max(at)));
    }

    fn mean(&self) -> Option<f64> {
        (self.time > 0).then(|| self.area / self.time as f64)
    }
}
