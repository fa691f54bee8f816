//! Pacing with a token bucket (RFC 9002 §7.7): packets are sent at gain · cwnd / srtt, in bursts of limited size.

use lightlag_core::{Duration, Instant};

/// Size of the bucket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Burst {
    /// This many datagrams.
    Datagrams(u16),
    /// The bytes of 2 ms at cwnd / srtt, 10 to 256 datagrams (quinn-proto 0.11).
    Quinn,
    /// The bytes of 10 ms at cwnd / srtt, but no more than the larger of 10 datagrams and the bytes of 2 ms; 1 to 256
    /// datagrams (quinn's development version of 2026, a1931ab).
    QuinnNext,
    /// A quarter of the window, 2 to 16 datagrams (aioquic).
    Quarter,
    /// A quarter of the window, 2 to 16 datagrams; in slow start above 60 ms, at least 32 KiB and without a maximum. No
    /// pacing below eight datagrams (picoquic: `picoquic_update_pacing_window`).
    Picoquic,
    /// The bytes of 1 ms at the pacing rate, at least one datagram (msquic).
    Millisecond,
}

/// Rules for pacing by the window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PacingRules {
    /// Factor of cwnd / srtt.
    pub gain: f64,
    /// Factor of cwnd / srtt in slow start.
    pub slow_start_gain: f64,
    /// Size of the bucket.
    pub burst: Burst,
    /// Whether an empty bucket is filled completely before the next packet leaves (quinn).
    pub refill: bool,
}

/// The values that determine the pacing rate.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Pacing rate in bytes per nanosecond.
    pub rate: f64,
    /// Size of the bucket in bytes.
    pub capacity: f64,
    /// Whether an empty bucket is filled completely.
    pub refill: bool,
}

impl PacingRules {
    /// Returns the pace for a window and a datagram size in bytes.
    pub fn pace(&self, window: u64, srtt: Duration, datagram: u64, slow_start: bool) -> Pace {
        let plain = window as f64 / srtt.as_nanos().max(1) as f64;
        let gain = if slow_start { self.slow_start_gain } else { self.gain };
        if self.burst == Burst::Picoquic {
            let is_long = slow_start && srtt > PICOQUIC_LONG_RTT;
            return Pace { refill: self.refill, ..picoquic_pace(plain * gain, window, datagram, is_long) };
        }
        Pace { rate: plain * gain, capacity: self.burst.bytes(plain, gain, window, datagram), refill: self.refill }
    }
}

/// Maximum round-trip time with short bursts in slow start (picoquic).
const PICOQUIC_LONG_RTT: Duration = Duration::from_millis(60);
/// Minimum size of these bursts in bytes.
const PICOQUIC_LONG_BURST: u64 = 0x8000;

/// Returns the pace of picoquic for a rate in bytes per nanosecond. Its third size in slow start, the bytes of 15 ms,
/// is below a quarter of the window for every round-trip time above 60 ms.
fn picoquic_pace(rate: f64, window: u64, datagram: u64, is_long: bool) -> Pace {
    let (size, quarter) = (datagram as f64, window / 4);
    if window < 8 * datagram {
        return Pace { rate: size, capacity: window as f64, refill: false };
    }
    let capacity = if is_long { quarter.max(PICOQUIC_LONG_BURST) } else { quarter.min(16 * datagram) };
    Pace { rate, capacity: capacity as f64, refill: false }
}

impl Burst {
    /// Returns the size of the bucket in bytes; `rate` is cwnd / srtt in bytes per nanosecond.
    fn bytes(self, rate: f64, gain: f64, window: u64, datagram: u64) -> f64 {
        let size = datagram as f64;
        match self {
            Self::Datagrams(count) => size * f64::from(count),
            Self::Quinn => (rate * 2e6).clamp(10.0 * size, 256.0 * size),
            Self::QuinnNext => (rate * 1e7).min((rate * 2e6).max(10.0 * size)).clamp(size, 256.0 * size),
            Self::Quarter | Self::Picoquic => (window as f64 / 4.0).clamp(2.0 * size, 16.0 * size),
            Self::Millisecond => (rate * gain * 1e6).max(size),
        }
    }
}

/// The token bucket of a path.
#[derive(Clone, Copy, Debug)]
pub struct Bucket {
    tokens: f64,
    /// Time of the last update; `None` before the first packet, when the bucket is full.
    updated: Option<Instant>,
}

impl Bucket {
    /// Creates a full bucket.
    pub fn new() -> Self {
        Self { tokens: 0.0, updated: None }
    }

    /// Returns the time when a packet of `bytes` may leave; `now` or earlier: immediately.
    #[inline(always)]
    pub fn departure(&mut self, now: Instant, bytes: u64, pace: &Pace) -> Instant {
        if self.updated != Some(now) {
            let elapsed = self.updated.map_or(f64::INFINITY, |updated| now.since(updated).as_nanos() as f64);
            self.tokens = (self.tokens + elapsed * pace.rate).min(pace.capacity.max(bytes as f64));
            self.updated = Some(now);
        }
        // Sums of rounded products may fall short of an integer number of bytes.
        if self.tokens + 0.5 >= bytes as f64 {
            return now;
        }
        let target = if pace.refill { pace.capacity.max(bytes as f64) } else { bytes as f64 };
        now + Duration::from_nanos(((target - self.tokens) / pace.rate) as u64 + 1)
    }

    /// Takes the tokens of a packet that was sent.
    #[inline(always)]
    pub fn sent(&mut self, bytes: u64) {
        self.tokens -= bytes as f64;
    }
}

/// Returns a duration in seconds with the rounding of the standard library, which quinn uses.
pub(crate) fn seconds(duration: Duration) -> f64 {
    let nanos = duration.as_nanos();
    (nanos / 1_000_000_000) as f64 + (nanos % 1_000_000_000) as f64 / 1e9
}

/// The token bucket of quinn: in whole bytes, filled only when it is short of a datagram, and of a size that follows
/// window and datagram but not the round-trip time. Its rate is 5/4 of the window per round trip.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuinnBucket {
    tokens: u64,
    capacity: u64,
    window: u64,
    datagram: u64,
    updated: Instant,
}

impl QuinnBucket {
    fn size(rules: &PacingRules, window: u64, srtt: Duration, datagram: u64) -> u64 {
        match rules.burst {
            Burst::Quinn => {
                let bytes = u128::from(window) * 2_000_000 / u128::from(srtt.as_nanos().max(1));
                (bytes as u64).clamp(10 * datagram, 256 * datagram)
            }
            _ => rules.pace(window, srtt, datagram, false).capacity as u64,
        }
    }

    /// Creates a full bucket.
    pub(crate) fn new(now: Instant, rules: &PacingRules, window: u64, srtt: Duration, datagram: u64) -> Self {
        let capacity = Self::size(rules, window, srtt, datagram);
        Self { tokens: capacity, capacity, window, datagram, updated: now }
    }

    /// Returns the time when a full datagram of `bytes` may leave.
    pub(crate) fn departure(
        &mut self,
        now: Instant,
        bytes: u64,
        rules: &PacingRules,
        window: u64,
        srtt: Duration,
    ) -> Instant {
        if (window, bytes) != (self.window, self.datagram) {
            self.capacity = Self::size(rules, window, srtt, bytes);
            self.tokens = self.tokens.min(self.capacity);
            (self.window, self.datagram) = (window, bytes);
        }
        if self.tokens >= bytes || srtt.is_zero() {
            return now;
        }
        let rounds = seconds(now.since(self.updated)) / seconds(srtt);
        self.tokens = (self.tokens + (window as f64 * rules.gain * rounds) as u64).min(self.capacity);
        self.updated = now;
        if self.tokens >= bytes {
            return now;
        }
        let missing = u128::from(bytes.max(self.capacity) - self.tokens) * u128::from(srtt.as_nanos());
        let wait = (missing / u128::from(window)) as u64 / 5 * 4;
        now + Duration::from_nanos(wait.max(1))
    }

    /// Takes the tokens of a packet that was sent.
    pub(crate) fn sent(&mut self, bytes: u64) {
        self.tokens = self.tokens.saturating_sub(bytes);
    }
}

impl Default for Bucket {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUINN: PacingRules = PacingRules { gain: 1.25, slow_start_gain: 1.25, burst: Burst::QuinnNext, refill: true };

    #[test]
    fn quinns_bucket_has_the_sizes_of_the_worked_example() {
        let capacity = |window, ms| QUINN.pace(window, Duration::from_millis(ms), 1_200, false).capacity;
        let examples = [(12_000, 600, 1_200.0), (1_500_000, 600, 12_000.0), (18_750_000, 600, 62_500.0)];
        for (window, ms, bytes) in examples {
            assert!((capacity(window, ms) - bytes).abs() < 1e-6, "{window}");
        }
        assert!((capacity(12_000, 40) - 3_000.0).abs() < 1e-6);
    }

    #[test]
    fn quinns_bucket_is_filled_before_the_next_burst() {
        let rules = PacingRules { burst: Burst::Quinn, ..QUINN };
        let (srtt, start) = (Duration::from_millis(100), Instant::from_nanos(1_000_000_000));
        let mut bucket = QuinnBucket::new(start, &rules, 120_000, srtt, 1_200);
        for _ in 0..10 {
            assert_eq!(bucket.departure(start, 1_200, &rules, 120_000, srtt), start);
            bucket.sent(1_200);
        }
        // 12,000 B at 1.5 B per µs.
        assert_eq!(bucket.departure(start, 1_200, &rules, 120_000, srtt), start + Duration::from_millis(8));
        // An earlier call finds space for one datagram.
        let now = start + Duration::from_micros(801);
        assert_eq!(bucket.departure(now, 1_200, &rules, 120_000, srtt), now);
    }

    #[test]
    fn picoquics_bursts_are_large_in_slow_start_on_a_long_path() {
        let rules = PacingRules { gain: 1.0, slow_start_gain: 1.25, burst: Burst::Picoquic, refill: false };
        let pace = |window, ms, slow_start| rules.pace(window, Duration::from_millis(ms), 1_440, slow_start);
        assert_eq!(pace(92_160, 600, true).capacity, 32_768.0);
        assert_eq!(pace(1_000_000, 600, true).capacity, 250_000.0);
        assert_eq!([pace(1_000_000, 60, true), pace(1_000_000, 600, false)].map(|pace| pace.capacity), [23_040.0; 2]);
        // 1.25 · 92,160 B in 600 ms, and 11,000 B immediately.
        assert!((pace(92_160, 600, true).rate - 1.92e-4).abs() < 1e-9);
        assert!(pace(11_000, 600, true).rate > 1_000.0);
    }

    #[test]
    fn packets_leave_at_the_rate_after_the_burst() {
        let rules = PacingRules { gain: 1.25, slow_start_gain: 2.0, burst: Burst::Datagrams(2), refill: false };
        let pace = rules.pace(120_000, Duration::from_millis(100), 1_200, false);
        let mut bucket = Bucket::new();
        let mut now = Instant::from_nanos(1_000_000_000);
        let mut departures = Vec::new();
        for _ in 0..4 {
            now = bucket.departure(now, 1_200, &pace).max(now);
            // At the returned time the packet may leave.
            assert_eq!(bucket.departure(now, 1_200, &pace), now);
            bucket.sent(1_200);
            departures.push(now.as_nanos() - 1_000_000_000);
        }
        // 1.5 B per µs: one packet in 800 µs.
        assert_eq!(departures[..2], [0, 0]);
        assert!(departures[2].abs_diff(800_000) < 1_000 && departures[3].abs_diff(1_600_000) < 1_000);
    }
}
