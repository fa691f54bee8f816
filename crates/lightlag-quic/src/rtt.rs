//! The round-trip time of a path, and the probe timeout (RFC 9002 §5, §6.2).
//!
//! The first sample R gives srtt = R, rttvar = R/2. Each further sample, less the acknowledgement delay unless that
//! would make it smaller than min_rtt, gives in this order rttvar = 3/4 rttvar + 1/4 |srtt − R|,
//! srtt = 7/8 srtt + 1/8 R (appendix A.7; the order of RFC 6298).

use lightlag_core::{Duration, Instant};

/// Granularity of timers (kGranularity).
pub const GRANULARITY: Duration = Duration::from_millis(1);

/// Rule for RTTVAR.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Variance {
    /// From |srtt − R|, with the old srtt (RFC 9002 A.7).
    #[default]
    Smoothed,
    /// From |min_rtt − latest| (aioquic).
    Minimum,
}

/// Round-trip estimate of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rtt {
    initial: Duration,
    latest: Duration,
    smoothed: Duration,
    variance: Duration,
    min: Duration,
    first_sample: Option<Instant>,
    rule: Variance,
}

impl Rtt {
    /// Creates an estimate without samples.
    pub fn new(initial: Duration, rule: Variance) -> Self {
        Self {
            initial,
            latest: Duration::ZERO,
            smoothed: initial,
            variance: initial / 2,
            min: Duration::MAX,
            first_sample: None,
            rule,
        }
    }

    /// Adds a sample. `ack_delay` is the delay that the peer reports, limited by the caller.
    #[inline]
    pub fn sample(&mut self, now: Instant, rtt: Duration, ack_delay: Duration) {
        self.latest = rtt;
        if self.first_sample.is_none() {
            self.first_sample = Some(now);
            (self.min, self.smoothed, self.variance) = (rtt, rtt, rtt / 2);
            return;
        }
        self.min = self.min.min(rtt);
        let adjusted = if rtt >= self.min + ack_delay { rtt - ack_delay } else { rtt };
        let deviation = match self.rule {
            Variance::Smoothed => self.smoothed.abs_diff(adjusted),
            Variance::Minimum => self.min.abs_diff(adjusted),
        };
        let mean = |old: Duration, weight: u64, new: Duration| {
            Duration::from_nanos((old.as_nanos() * weight + new.as_nanos()) / (weight + 1))
        };
        self.variance = mean(self.variance, 3, deviation);
        self.smoothed = mean(self.smoothed, 7, adjusted);
    }

    /// Takes over an estimate in seconds: the latest sample, SRTT, RTTVAR and the minimum.
    pub(crate) fn copy(&mut self, now: Instant, values: [f64; 4]) {
        [self.latest, self.smoothed, self.variance, self.min] = values.map(Duration::from_secs_f64);
        self.first_sample = self.first_sample.or(Some(now));
    }

    /// Restarts min_rtt with the next sample, after persistent congestion (RFC 9002 §5.2).
    pub fn forget_min(&mut self) {
        self.min = self.latest;
    }

    /// Returns the latest sample; zero before the first.
    pub fn latest(&self) -> Duration {
        self.latest
    }

    /// Returns the smoothed round-trip time; the initial one before the first sample.
    #[inline(always)]
    pub fn smoothed(&self) -> Duration {
        self.smoothed
    }

    /// Returns RTTVAR.
    pub fn variance(&self) -> Duration {
        self.variance
    }

    /// Returns the minimum sample; [`Duration::MAX`] before the first.
    #[inline(always)]
    pub fn min(&self) -> Duration {
        self.min
    }

    /// Returns the time of the first sample.
    pub fn first_sample(&self) -> Option<Instant> {
        self.first_sample
    }

    /// Returns SRTT for congestion control: zero before the first sample.
    pub fn measured(&self) -> Duration {
        if self.first_sample.is_some() { self.smoothed } else { Duration::ZERO }
    }

    /// Returns the probe timeout without the peer's max_ack_delay and without back-off.
    #[inline]
    pub fn pto(&self) -> Duration {
        let margin = (self.variance.as_nanos() * 4).max(GRANULARITY.as_nanos());
        Duration::from_nanos(self.smoothed.as_nanos() + margin)
    }

    /// Returns the probe timeout of a path without samples: twice the initial time for aioquic, otherwise
    /// srtt + 4 rttvar.
    pub fn initial(&self) -> Duration {
        self.initial
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn the_first_probe_timeout_is_999_ms() {
        assert_eq!(Rtt::new(ms(333), Variance::Smoothed).pto(), ms(999));
    }

    #[test]
    fn samples_follow_appendix_a_7() {
        let mut rtt = Rtt::new(ms(333), Variance::Smoothed);
        rtt.sample(Instant::ZERO, ms(100), ms(25));
        assert_eq!((rtt.smoothed(), rtt.variance(), rtt.min()), (ms(100), ms(50), ms(100)));
        // 140 − 25 = 115: variance 3/4 · 50 + 15/4, srtt 7/8 · 100 + 115/8.
        rtt.sample(Instant::ZERO, ms(140), ms(25));
        assert_eq!(rtt.variance(), Duration::from_micros(41_250));
        assert_eq!(rtt.smoothed(), Duration::from_micros(101_875));
        // A delay that would give less than min_rtt is ignored: 110 − 25 < 100.
        rtt.sample(Instant::ZERO, ms(110), ms(25));
        assert_eq!(rtt.smoothed(), Duration::from_nanos((101_875_000 * 7 + 110_000_000) / 8));
    }

    #[test]
    fn aioquic_measures_the_deviation_from_the_minimum() {
        let mut rtt = Rtt::new(ms(100), Variance::Minimum);
        rtt.sample(Instant::ZERO, ms(100), ms(0));
        rtt.sample(Instant::ZERO, ms(140), ms(0));
        // 3/4 · 50 + 40/4.
        assert_eq!(rtt.variance(), Duration::from_micros(47_500));
    }
}
