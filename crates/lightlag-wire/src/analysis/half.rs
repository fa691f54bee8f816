//! One direction of a connection: the data of its sender, and the other end's ACKs of it.

use super::counters::AccEcnFields;
use super::flight::{Flight, Smoothed};
use super::ranges::{Holes, Missing, Since};
use super::report::{DirectionCounts, DirectionReport, Handshake, Measure, Rtt};
use super::spread::Spread;
use lightlag_core::{Duration, Instant};
use std::collections::VecDeque;

/// The state of one direction. Its size is bounded.
#[derive(Clone, Debug, Default)]
pub(super) struct Half {
    /// Sequence number at offset 0, which is the SYN's.
    pub initial: Option<u32>,
    pub handshake: Option<Handshake>,
    /// Whether a SYN was seen, perhaps without its options.
    pub opened: bool,
    /// Whether the SYN was sent more than once.
    pub repeated_syn: bool,
    pub finished: bool,
    /// Offset after the highest data seen.
    pub next: Option<i64>,
    /// `acked` is the highest cumulative ACK of this direction's data, `acked_at` when it was seen, in nanoseconds.
    pub acked: Option<i64>,
    pub acked_at: u64,
    /// Time when the other end last reported a hole, or a range above the ACK, in nanoseconds.
    pub reported_at: u64,
    /// Whether the other end's last ACK reported a hole in a SNACK option.
    pub lacks: bool,
    /// Header fields of the last packet of this direction.
    pub last: Option<Last>,
    /// Number of duplicate ACKs that this direction has sent since its current ACK.
    pub duplicates: u64,
    /// Offset where the current series of retransmissions ends, and the cause of its first one.
    pub recovery: Option<(i64, Cause)>,
    /// Offset of a window probe's byte that the receiver has accepted, until the sender continues after it.
    pub taken: Option<i64>,
    pub holes: Holes,
    pub flight: Flight,
    pub rtt: Spread,
    pub smoothed: Smoothed,
    /// Timestamps (TSval) that this direction sent and that were not echoed yet, each with the time of its first
    /// packet.
    stamps: VecDeque<(u32, u64)>,
    /// Whether the application of this direction has more data to send.
    pub stream: Stream,
    pub echo: Spread,
    /// Round-trip time that the current packet of the other end completes.
    pub completed: Option<Duration>,
    in_flight: TimeMean,
    pub counts: DirectionCounts,
    /// Latest AccECN counters that this direction sent.
    pub told: AccEcnFields,
    pub first_data: Option<u64>,
    pub last_data: u64,
}

/// Round-trip samples from ACKs are preferred, unless timestamps give more than this many times as many samples.
const FEW: u64 = 4;

/// Maximum number of timestamps that are waiting for an echo. Further ones are not timed.
const MOST_STAMPS: usize = 4096;

/// Whether the application of a direction has more data to send, as far as its segments show.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stream {
    /// Whether any segment had PSH, so that the absence of PSH is meaningful.
    pushes: bool,
    /// Whether the last segment with data had no PSH, which means that the sender had more data.
    continues: bool,
}

impl Stream {
    /// Records a segment with data.
    pub fn sent(&mut self, is_pushed: bool) {
        self.pushes |= is_pushed;
        self.continues = !is_pushed;
    }

    /// Returns true if the sender had more data to send than it has sent.
    pub fn continues(self) -> bool {
        self.pushes && self.continues
    }
}

/// The header fields of the last packet of a direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Last {
    pub ack: u32,
    /// The window field, not scaled.
    pub window: u16,
    /// The window in bytes, if the scale is known.
    pub window_bytes: Option<u64>,
    pub kept_alive: bool,
    pub probed: bool,
}

/// The cause of a retransmission, as far as the capture shows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Duplicate ACKs or SACK blocks reported that the data was lost.
    Fast,
    /// No ACK arrived during an entire retransmission timeout.
    Timeout,
    /// The last segment was retransmitted before a timeout, as a tail loss probe (RFC 8985 §7).
    TailProbe,
    /// The capture does not show the reason.
    Unknown,
}

impl Half {
    /// Returns the offset of a sequence number: of all offsets with this number, the one nearest to the data in flight.
    pub fn offset(&self, number: u32) -> i64 {
        let reference = self.next.or(self.acked).unwrap_or(0);
        let initial = self.initial.unwrap_or(number);
        reference + i64::from(number.wrapping_sub(initial).wrapping_sub(reference as u32) as i32)
    }

    /// Records that sequence space from `start` to `end` was seen. Returns how many bytes of it are new and, if it
    /// falls into holes, when the oldest of these became known.
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

    /// Corrects the counts if the byte of a window probe turns out to be real data. It was counted as repeated.
    pub fn count_taken(&mut self) {
        let taken = self.taken.take();
        if let Some(next) = self.next.filter(|next| Some(*next) == taken) {
            self.next = Some(next + 1);
            self.counts.unique_bytes += 1;
            self.counts.repeated_bytes -= 1;
        }
    }

    /// Records that the other end acknowledges data up to `offset`. Returns true if the ACK is higher than all before.
    pub fn acknowledge(&mut self, offset: i64, time_ns: u64, late: bool) -> bool {
        self.in_flight.until(time_ns, self.in_flight());
        let news = self.acked.is_none_or(|acked| offset > acked);
        if news {
            (self.acked, self.acked_at) = (Some(offset), time_ns);
            if let Some(sample) = self.flight.acknowledge(offset, time_ns, late) {
                self.sample(sample);
            }
            if self.recovery.is_some_and(|(end, _)| offset >= end) {
                self.recovery = None;
            }
        }
        news
    }

    /// Records that the other end reports a range above the cumulative ACK.
    pub fn report(&mut self, start: i64, end: i64, time_ns: u64) {
        self.in_flight.until(time_ns, self.in_flight());
        self.reported_at = time_ns;
        // A receiver cannot hold data that was never sent, unless the capture lacks it.
        let end = end.min(self.next.unwrap_or(end));
        if let Some(sample) = self.flight.report(start, end, time_ns) {
            self.sample(sample);
        }
    }

    fn sample(&mut self, rtt: Duration) {
        self.completed = Some(rtt);
        self.rtt.add(rtt);
        self.smoothed.add(rtt);
    }

    /// Updates the mean of the bytes in flight before a data segment changes them.
    pub fn before_sending(&mut self, time_ns: u64) {
        self.in_flight.until(time_ns, self.in_flight());
    }

    /// Returns the bytes in flight: sent, neither acknowledged nor reported by SACK.
    pub fn in_flight(&self) -> u64 {
        let (Some(next), Some(acked)) = (self.next, self.acked) else { return 0 };
        ((next - acked).max(0) as u64).saturating_sub(self.flight.sacked().bytes())
    }

    /// Records a timestamp (TSval) that this direction sent.
    pub fn stamp(&mut self, value: u32, time_ns: u64) {
        let is_new = self.stamps.back().is_none_or(|(last, _)| value.wrapping_sub(*last) as i32 > 0);
        if is_new && self.stamps.len() < MOST_STAMPS {
            self.stamps.push_back((value, time_ns));
        }
    }

    /// Records that the other direction echoed a timestamp. The other direction may have been idle and only repeat the
    /// last value that it received, so an echo counts as immediate only if it is of an earlier value, or if its sender
    /// `continues` to send.
    pub fn echoed(&mut self, echo: u32, time_ns: u64, continues: bool) {
        while let Some((value, sent)) = self.stamps.front().copied() {
            let ahead = echo.wrapping_sub(value) as i32;
            if ahead < 0 {
                break;
            }
            self.stamps.pop_front();
            if ahead == 0 && (continues || !self.stamps.is_empty()) {
                let rtt = Duration::from_nanos(time_ns.saturating_sub(sent));
                self.completed.get_or_insert(rtt);
                self.echo.add(rtt);
            }
        }
    }

    /// Returns the data that was acknowledged but never seen.
    pub fn missing(&self) -> Missing {
        let Some(acked) = self.acked else { return Missing::default() };
        let holes = self.holes.missing_below(acked);
        let seen = self.next.map(|next| next + i64::from(self.taken == self.next));
        let beyond = seen.map_or(0, |seen| (acked - seen).max(0) as u64);
        Missing { gaps: holes.gaps + u64::from(beyond > 0), bytes: holes.bytes + beyond }
    }

    /// Returns the time from the first data to its last ACK, or to the last data if that came later.
    pub fn data_time(&self) -> Option<Duration> {
        let first = self.first_data?;
        let last = if self.acked.is_some() { self.acked_at.max(self.last_data) } else { self.last_data };
        Some(Instant::from_nanos(last.max(first)).since(Instant::from_nanos(first)))
    }

    /// Returns the report on this direction; it has no times unless the capture `has_times`.
    pub fn findings(&self, has_times: bool) -> DirectionReport {
        let missing = self.missing();
        let time = self.data_time().filter(|_| has_times).map(Duration::as_secs_f64);
        // A side that sends a request, or only a FIN, has few ACKs but many timestamps.
        let rtt = match FEW * self.rtt.count() >= self.echo.count() {
            true => Rtt::new(Measure::Ack, &self.rtt),
            false => Rtt::new(Measure::Timestamp, &self.echo),
        };
        let bits = 8.0 * self.counts.unique_bytes as f64;
        DirectionReport {
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

/// Mean of a quantity over the time during which it is not zero.
#[derive(Clone, Copy, Debug, Default)]
struct TimeMean {
    since: Option<u64>,
    area: f64,
    time: u64,
}

impl TimeMean {
    /// Records that the quantity had this value from the last call until `time_ns`.
    fn until(&mut self, time_ns: u64, value: u64) {
        if let Some(since) = self.since.filter(|since| value > 0 && *since < time_ns) {
            self.area += value as f64 * (time_ns - since) as f64;
            self.time += time_ns - since;
        }
        self.since = Some(self.since.map_or(time_ns, |since| since.max(time_ns)));
    }

    fn mean(&self) -> Option<f64> {
        (self.time > 0).then(|| self.area / self.time as f64)
    }
}
