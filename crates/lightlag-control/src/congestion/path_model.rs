//! Measurements of BBR in both versions: rounds counted by delivered data, maxima over several rounds, and the excess
//! of aggregated ACKs.
//!
//! A round ends when a segment is acknowledged that was sent after the start of the round (draft-ietf-ccwg-bbr §5.5.1):
//! a round is a round trip of packets, however long that takes.

use super::RateSample;
use lightlag_core::Instant;
use std::collections::VecDeque;

/// The rounds of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounds {
    /// Delivered bytes: the round ends when a segment is acknowledged that was sent after this many had been delivered.
    end: u64,
    /// Number of completed rounds.
    pub count: u64,
    /// Whether the last ACK started a round.
    pub started: bool,
}

impl Rounds {
    /// Adds the sample of an ACK. Returns true if it starts a round.
    pub fn advance(&mut self, sample: &RateSample) -> bool {
        self.started = sample.prior_delivered >= self.end;
        if self.started {
            self.restart(sample.total_delivered);
            self.count += 1;
        }
        self.started
    }

    /// Restarts the round at this number of delivered bytes.
    pub fn restart(&mut self, delivered: u64) {
        self.end = delivered;
    }
}

/// The maximum of the values of the last rounds, or over a window of any other counter that only grows.
#[derive(Clone, Debug, Default)]
pub(super) struct MaxFilter {
    /// Pairs of time and value, in descending order of values.
    values: VecDeque<(u64, f64)>,
}

impl MaxFilter {
    /// Adds a value at `time`, and drops values that are at least `length` old.
    pub fn update(&mut self, time: u64, value: f64, length: u64) {
        while self.values.back().is_some_and(|(_, smaller)| *smaller <= value) {
            self.values.pop_back();
        }
        self.values.push_back((time, value));
        while self.values.front().is_some_and(|(old, _)| old + length <= time) {
            self.values.pop_front();
        }
    }

    /// Returns the maximum; zero before the first value.
    pub fn max(&self) -> f64 {
        self.values.front().map_or(0.0, |(_, value)| *value)
    }
}

/// Excess of aggregated ACKs: the bytes by which ACKs in the last rounds exceeded the bandwidth, because links or
/// receivers collect packets or ACKs (draft-ietf-ccwg-bbr §5.5.9; Linux's tcp_bbr.c has the same for version 1).
#[derive(Clone, Debug, Default)]
pub(super) struct Aggregation {
    since: Option<Instant>,
    acked: f64,
    filter: MaxFilter,
    /// Unit in bytes for rounding down the expected bytes; zero for no rounding.
    unit: f64,
}

impl Aggregation {
    /// Creates a measurement in which expected bytes are rounded down to whole segments, as in Linux.
    pub fn of_whole(segment: f64) -> Self {
        Self { unit: segment, ..Self::default() }
    }

    /// Restarts the measurement.
    pub fn restart(&mut self, now: Instant) {
        self.since = Some(now);
        self.acked = 0.0;
    }

    /// Adds an ACK of `acked` bytes in round `round`. `bandwidth`: expected bandwidth in bytes per second. `window`:
    /// upper bound of the excess. `rounds`: number of rounds over which the maximum is taken.
    pub fn note(&mut self, now: Instant, acked: f64, bandwidth: f64, window: f64, round: u64, rounds: u64) {
        let since = self.since.unwrap_or(now);
        let mut expected = whole(bandwidth * now.since(since).as_secs_f64(), self.unit);
        if self.acked <= expected {
            self.restart(now);
            expected = 0.0;
        }
        self.acked += acked;
        self.filter.update(round, (self.acked - expected).min(window), rounds);
    }

    /// Returns the excess in bytes.
    pub fn excess(&self) -> f64 {
        self.filter.max()
    }
}

/// Rounds a number of bytes down to a multiple of `unit`; returns it unchanged if `unit` is zero.
pub(super) fn whole(bytes: f64, unit: f64) -> f64 {
    if unit > 0.0 { libm::floor(bytes / unit) * unit } else { bytes }
}

/// Segments that were sent while the algorithm kept the flight small to measure the round-trip time. Their samples
/// count as application-limited (MarkConnectionAppLimited in the draft).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shallow {
    from: u64,
    until: u64,
}

impl Shallow {
    /// Notes that the flight is kept small now. `delivered` and `inflight`: bytes delivered so far and in flight.
    pub fn mark(&mut self, delivered: u64, inflight: u64) {
        if delivered > self.until {
            self.from = delivered;
        }
        self.until = delivered + inflight;
    }

    /// Returns true if a segment that is sent when `delivered` bytes have been delivered belongs to them.
    pub fn lasts(&self, delivered: u64) -> bool {
        self.until > 0 && delivered <= self.until
    }

    /// Returns true if the segment of this sample belongs to them.
    pub fn covers(&self, sample: &RateSample) -> bool {
        self.until > 0 && (self.from..=self.until).contains(&sample.prior_delivered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightlag_core::Duration;

    #[test]
    fn the_maximum_covers_the_last_rounds() {
        let mut filter = MaxFilter::default();
        assert_eq!(filter.max(), 0.0);
        for (time, value, max) in
            [(0, 5.0, 5.0), (1, 3.0, 5.0), (2, 4.0, 5.0), (3, 1.0, 4.0), (4, 1.0, 4.0), (5, 0.5, 1.0)]
        {
            filter.update(time, value, 3);
            assert_eq!(filter.max(), max, "at {time}");
        }
        // A shorter memory applies immediately.
        filter.update(6, 0.1, 1);
        assert_eq!(filter.max(), 0.1);
    }

    #[test]
    fn an_ack_of_many_segments_is_an_excess() {
        // 100 kB/s, but the ACKs arrive every 100 ms, for 10 kB each.
        let mut aggregation = Aggregation::default();
        for n in 0..20 {
            let now = Instant::ZERO + Duration::from_millis(100 * n);
            aggregation.note(now, 10_000.0, 100_000.0, 1e9, n, 10);
        }
        assert_eq!(aggregation.excess(), 10_000.0);
        // Steady ACKs have no excess.
        let mut steady = Aggregation::default();
        for n in 0..200 {
            steady.note(Instant::ZERO + Duration::from_millis(10 * n), 1000.0, 100_000.0, 1e9, n, 10);
        }
        assert_eq!(steady.excess(), 1000.0);
    }

    #[test]
    fn linux_expects_whole_segments_only() {
        let excess = |mut aggregation: Aggregation| {
            for (millis, acked) in [(0, 5000.0), (19, 2000.0)] {
                aggregation.note(Instant::ZERO + Duration::from_millis(millis), acked, 100_000.0, 1e9, 1, 2);
            }
            aggregation.excess()
        };
        // 1900 bytes are expected in 19 ms, which are one segment of 1000.
        assert_eq!(excess(Aggregation::default()), 5100.0);
        assert_eq!(excess(Aggregation::of_whole(1000.0)), 6000.0);
    }
}
