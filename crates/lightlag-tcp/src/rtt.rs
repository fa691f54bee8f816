//! The round-trip time and the retransmission timeout (RFC 6298).
//!
//! The first sample R gives SRTT = R, RTTVAR = R/2. Each further sample R' gives, in this order,
//! RTTVAR = (1 - b) RTTVAR + b |SRTT - R'| and SRTT = 7/8 SRTT + 1/8 R', with b = 1/4 (INET: 1/8), and
//! RTO = SRTT + max(floor, 4 RTTVAR), inside [min, max]. A timeout doubles the RTO until the next valid sample.

use crate::config::Rto;
use lightlag_core::Duration;

/// The estimate of one path.
#[derive(Clone, Copy, Debug)]
pub struct RttEstimator {
    srtt: Duration,
    variance: Duration,
    latest: Duration,
    min: Duration,
    /// The RTO without back-off.
    base: Duration,
    backoff: u8,
}

impl RttEstimator {
    /// No sample yet: the RTO is `initial`.
    pub fn new(initial: Duration) -> Self {
        Self {
            srtt: Duration::ZERO,
            variance: Duration::ZERO,
            latest: Duration::ZERO,
            min: Duration::MAX,
            base: initial,
            backoff: 0,
        }
    }

    /// A valid sample (Karn): updates SRTT, RTTVAR and RTO, and ends a back-off.
    pub fn sample(&mut self, rtt: Duration, config: &Rto) {
        if self.srtt.is_zero() {
            self.srtt = rtt;
            self.variance = rtt / 2;
        } else {
            // RFC 6298 §2.3: the variance first, with the old SRTT.
            self.variance = config.variance_gain.smooth(self.variance, self.srtt.abs_diff(rtt));
            self.srtt = (self.srtt * 7 + rtt) / 8;
        }
        self.backoff = 0;
        let variance = (self.variance * 4).max(config.variance_floor);
        self.base = (self.srtt + variance).max(config.min).min(config.max);
    }

    /// Notes a round-trip time for the minimum and for the last value, without touching the RTO.
    pub fn observe(&mut self, rtt: Duration) {
        self.latest = rtt;
        self.min = self.min.min(rtt);
    }

    /// Starts data with this RTO: the SYN timed out and gave no sample (RFC 6298 §5.7).
    pub fn restart(&mut self, rto: Duration) {
        self.base = rto;
        self.backoff = 0;
    }

    /// Doubles the RTO (RFC 6298 §5.5).
    pub fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(32);
    }

    /// Ends a back-off without a sample: what was backed off were probes, not data.
    pub fn end_back_off(&mut self) {
        self.backoff = 0;
    }

    /// The timeout now, with its back-off, at most `config.max`.
    pub fn rto(&self, config: &Rto) -> Duration {
        (self.base * (1 << self.backoff)).min(config.max)
    }

    /// The timeout without its back-off.
    pub fn plain_rto(&self, config: &Rto) -> Duration {
        self.base.min(config.max)
    }

    /// SRTT; zero before the first sample.
    pub fn srtt(&self) -> Duration {
        self.srtt
    }

    /// RTTVAR.
    pub fn variance(&self) -> Duration {
        self.variance
    }

    /// The last round-trip time seen; zero before the first.
    pub fn latest(&self) -> Duration {
        self.latest
    }

    /// The smallest round-trip time seen; [`Duration::MAX`] before the first.
    pub fn min(&self) -> Duration {
        self.min
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::VarianceGain;

    const NO_FLOOR: Rto = Rto {
        initial: Duration::from_secs(1),
        syn: Duration::from_secs(1),
        min: Duration::ZERO,
        max: Duration::from_secs(60),
        variance_floor: Duration::ZERO,
        variance_gain: VarianceGain::Quarter,
    };

    fn after(samples_ms: &[u64], config: &Rto) -> RttEstimator {
        let mut estimator = RttEstimator::new(config.initial);
        for ms in samples_ms {
            estimator.sample(Duration::from_millis(*ms), config);
        }
        estimator
    }

    #[test]
    fn three_samples_give_the_worked_numbers() {
        // 100, 140, 90 ms.
        let vectors = [(100_000, 50_000, 300_000), (105_000, 47_500, 295_000), (103_125, 39_375, 260_625)];
        for (n, (srtt, variance, rto)) in vectors.into_iter().enumerate() {
            let estimator = after(&[100, 140, 90][..=n], &NO_FLOOR);
            assert_eq!(estimator.srtt(), Duration::from_micros(srtt));
            assert_eq!(estimator.variance(), Duration::from_micros(variance));
            assert_eq!(estimator.rto(&NO_FLOOR), Duration::from_micros(rto));
        }
    }

    #[test]
    fn the_rto_of_a_constant_path_falls_to_the_minimum() {
        let rfc = Rto { min: Duration::from_secs(1), ..NO_FLOOR };
        // 0.6 + 4 · 0.3 · 0.75ⁿ: 1.8, 1.5, 1.275, 1.10625, 0.9797 → 1.0.
        for (n, micros) in [1_800_000, 1_500_000, 1_275_000, 1_106_250, 1_000_000].into_iter().enumerate() {
            assert_eq!(after(&vec![600; n + 1], &rfc).rto(&rfc), Duration::from_micros(micros));
        }
    }

    #[test]
    fn linux_keeps_two_hundred_milliseconds_above_srtt() {
        let linux = Rto { variance_floor: Duration::from_millis(200), min: Duration::from_millis(200), ..NO_FLOOR };
        assert_eq!(after(&[600; 40], &linux).rto(&linux), Duration::from_millis(800));
    }

    #[test]
    fn inet_moves_its_variance_by_an_eighth() {
        let inet = Rto { variance_gain: VarianceGain::Eighth, ..NO_FLOOR };
        // 7/8 · 50 ms + 1/8 · 40 ms
        assert_eq!(after(&[100, 140], &inet).variance(), Duration::from_micros(48_750));
    }

    #[test]
    fn backing_off_doubles_up_to_the_maximum_and_a_sample_ends_it() {
        let mut estimator = after(&[100, 140, 90], &NO_FLOOR);
        for times in [2, 4, 8] {
            estimator.back_off();
            assert_eq!(estimator.rto(&NO_FLOOR), Duration::from_micros(260_625 * times));
        }
        (0..100).for_each(|_| estimator.back_off());
        assert_eq!(estimator.rto(&NO_FLOOR), Duration::from_secs(60));
        estimator.sample(Duration::from_millis(100), &NO_FLOOR);
        assert!(estimator.rto(&NO_FLOOR) < Duration::from_millis(300));
    }

    #[test]
    fn observing_moves_only_minimum_and_last() {
        let mut estimator = after(&[100], &NO_FLOOR);
        let before = estimator.rto(&NO_FLOOR);
        estimator.observe(Duration::from_millis(70));
        estimator.observe(Duration::from_millis(90));
        assert_eq!(estimator.min(), Duration::from_millis(70));
        assert_eq!(estimator.latest(), Duration::from_millis(90));
        assert_eq!(estimator.rto(&NO_FLOOR), before);
    }
}
