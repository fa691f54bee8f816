//! The round-trip time and the retransmission timeout (RFC 6298).
//!
//! The first sample R gives SRTT = R, RTTVAR = R/2. Each further sample R' gives, in this order,
//! RTTVAR = (1 - b) RTTVAR + b |SRTT - R'| and SRTT = 7/8 SRTT + 1/8 R', with b = 1/4 (INET: 1/8), and
//! RTO = SRTT + max(floor, 4 RTTVAR), inside [min, max]. A timeout doubles the RTO until the next valid sample.
//!
//! RFC 6298 assumes one sample per round trip. With timestamps, or recorded departure times, each ACK gives one, and
//! the history shrinks to a few of them. RFC 7323 §4.2 wants it kept. Its appendix G divides both gains by the expected
//! samples in a round trip: ⌈FlightSize / (2 SMSS)⌉, one for two segments.
//!
//! Linux (`tcp_rtt_estimator`) keeps four times the mean deviation D, lets it fall with an eighth of the gain, and uses
//! its largest value in a round trip, at least the floor, as 4 RTTVAR: upwards at once, downwards by a quarter of the
//! way at the end of the round. On a path whose samples hardly differ, one late ACK does not exceed the timeout.

use lightlag_core::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of the retransmission timeout (RFC 6298).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Rto {
    /// The RTO before the first sample.
    pub initial: Duration,
    /// The RTO of the SYN.
    pub syn: Duration,
    /// Lower bound of the RTO.
    pub min: Duration,
    /// Upper bound of the RTO, with back-off.
    pub max: Duration,
    /// Lower bound of the variance term: the clock's granularity (RFC 6298 §2), or 200 ms as in Linux.
    pub variance_floor: Duration,
    /// Gain of RTTVAR.
    pub variance_gain: VarianceGain,
    /// The rule by which RTTVAR follows the samples.
    pub variance: Variance,
    /// Both gains are divided by the expected samples in a round trip (RFC 7323 appendix G).
    pub scaled_gains: bool,
    /// Any ACK restarts the timer, even one that acknowledges nothing new (ns-2, `LinuxTcpAgent::time_processing`).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub every_ack: bool,
}

/// The rule by which RTTVAR follows the samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Variance {
    /// A moving mean of the deviations (RFC 6298 §2.3).
    Mean,
    /// The largest mean within a round trip. It rises at once and falls by a quarter of the way per round trip (Linux).
    Peak,
}

/// Gain of RTTVAR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum VarianceGain {
    /// 1/4 (RFC 6298 §2.3).
    #[serde(rename = "1/4")]
    Quarter,
    /// 1/8, as INET.
    #[serde(rename = "1/8")]
    Eighth,
}

impl VarianceGain {
    /// `old` moved towards `sample` by the gain.
    // A division by a variable takes as long as the rest of a round-trip sample.
    #[inline]
    pub fn smooth(self, old: Duration, sample: Duration) -> Duration {
        match self {
            Self::Quarter => (old * 3 + sample) / 4,
            Self::Eighth => (old * 7 + sample) / 8,
        }
    }

    /// One over the gain.
    #[inline]
    pub fn divisor(self) -> u64 {
        match self {
            Self::Quarter => 4,
            Self::Eighth => 8,
        }
    }
}

/// The RTO of data after a SYN that timed out and gave no sample, if it is not longer at first (RFC 6298 §5.7).
const AFTER_SYN_LOSS: Duration = Duration::from_secs(3);

/// The origin of the RTO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// The configuration.
    Initial,
    /// The configuration, and the loss of the SYN.
    SynLoss,
    /// SRTT and RTTVAR.
    Samples,
}

/// The estimate of one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RttEstimator {
    srtt: Duration,
    variance: Duration,
    latest: Duration,
    min: Duration,
    /// Four times the mean deviation, and its largest value in the current round, which ends with the ACK of
    /// `round_end`.
    deviation: Duration,
    peak: Duration,
    round_end: u64,
    /// The origin of the RTO, and how often it was doubled.
    origin: Origin,
    backoff: u8,
}

/// The acknowledged and sent offsets at a sample.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// First unacknowledged offset.
    pub una: u64,
    /// The offset of the next new data.
    pub nxt: u64,
    /// Expected samples in this round trip; zero if the rule does not use it.
    pub expected: u64,
}

impl RttEstimator {
    /// An estimator without samples: the RTO is the initial one.
    pub fn new() -> Self {
        Self {
            srtt: Duration::ZERO,
            variance: Duration::ZERO,
            latest: Duration::ZERO,
            min: Duration::MAX,
            deviation: Duration::ZERO,
            peak: Duration::ZERO,
            round_end: 0,
            origin: Origin::Initial,
            backoff: 0,
        }
    }

    /// An estimator with the known round trip of a route as its first sample; the RTO is still `config.initial`.
    pub fn of_route(rtt: Option<Duration>, config: &Rto) -> Self {
        let mut estimator = Self::new();
        if let Some(rtt) = rtt {
            estimator.sample_at(rtt, config, Progress::default());
            estimator.origin = Origin::Initial;
        }
        estimator
    }

    /// As [`Self::sample`], by the configured rule.
    #[inline(always)]
    pub fn sample_at(&mut self, rtt: Duration, config: &Rto, progress: Progress) {
        match config.variance {
            Variance::Mean if config.scaled_gains && progress.expected > 1 => {
                self.sample_scaled(rtt, config, progress.expected);
            }
            Variance::Mean => self.sample(rtt, config),
            Variance::Peak => self.sample_peak(rtt, config, progress),
        }
    }

    /// One of several samples of a round trip (RFC 7323 appendix G).
    #[inline(never)]
    fn sample_scaled(&mut self, rtt: Duration, config: &Rto, expected: u64) {
        if self.srtt.is_zero() {
            return self.sample(rtt, config);
        }
        let error = self.srtt.abs_diff(rtt);
        self.variance = towards(self.variance, error, config.variance_gain.divisor() * expected);
        self.srtt = towards(self.srtt, rtt, 8 * expected);
        self.follow_samples();
    }

    fn sample_peak(&mut self, rtt: Duration, config: &Rto, progress: Progress) {
        if self.srtt.is_zero() {
            self.srtt = rtt;
            self.deviation = rtt * 2;
            self.variance = self.deviation.max(config.variance_floor);
            self.peak = self.variance;
            self.round_end = progress.nxt;
        } else {
            let (error, mean) = (self.srtt.abs_diff(rtt), self.deviation / 4);
            // A faster path does not imply a more variable one, so the deviation rises with an eighth of the gain.
            let rise = if rtt < self.srtt { error.saturating_sub(mean) / 8 } else { error.saturating_sub(mean) };
            self.deviation = (self.deviation + rise).saturating_sub(mean.saturating_sub(error));
            self.srtt = (self.srtt * 7 + rtt) / 8;
            self.peak = self.peak.max(self.deviation);
            self.variance = self.variance.max(self.peak);
            if progress.una > self.round_end {
                self.variance = self.variance.saturating_sub(self.variance.saturating_sub(self.peak) / 4);
                self.round_end = progress.nxt;
                self.peak = config.variance_floor;
            }
        }
        self.follow_samples();
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
        self.follow_samples();
    }

    /// The timeout follows from SRTT and RTTVAR now.
    #[inline(always)]
    fn follow_samples(&mut self) {
        self.backoff = 0;
        self.origin = Origin::Samples;
    }

    /// Notes a round-trip time as the minimum and the last value, without touching the RTO.
    #[inline]
    pub fn observe(&mut self, rtt: Duration) {
        self.latest = rtt;
        self.min = self.min.min(rtt);
    }

    /// Sets the RTO at the start of data: the SYN timed out and gave no sample (RFC 6298 §5.7).
    pub fn restart(&mut self) {
        self.origin = Origin::SynLoss;
        self.backoff = 0;
    }

    /// Doubles the RTO (RFC 6298 §5.5).
    #[inline]
    pub fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(32);
    }

    /// Ends a back-off without a sample, because it was caused by probes, not by data.
    #[inline]
    pub fn end_back_off(&mut self) {
        self.backoff = 0;
    }

    /// The current timeout, with its back-off, at most `config.max`.
    #[inline]
    pub fn rto(&self, config: &Rto) -> Duration {
        let base = self.plain_rto(config);
        if self.backoff == 0 { base } else { (base * (1 << self.backoff)).min(config.max) }
    }

    /// The timeout without its back-off.
    #[inline]
    pub fn plain_rto(&self, config: &Rto) -> Duration {
        let base = match self.origin {
            Origin::Samples => (self.srtt + self.margin(config)).max(config.min),
            Origin::Initial => config.initial,
            Origin::SynLoss => config.initial.max(AFTER_SYN_LOSS),
        };
        base.min(config.max)
    }

    /// The part of the RTO that is added to SRTT.
    #[inline(always)]
    fn margin(&self, config: &Rto) -> Duration {
        match config.variance {
            Variance::Mean => (self.variance * 4).max(config.variance_floor),
            Variance::Peak => self.variance,
        }
    }

    /// SRTT; zero before the first sample.
    #[inline]
    pub fn srtt(&self) -> Duration {
        self.srtt
    }

    /// RTTVAR; four times that with [`Variance::Peak`].
    #[inline]
    pub fn variance(&self) -> Duration {
        self.variance
    }

    /// The last round-trip time seen; zero before the first.
    #[inline]
    pub fn latest(&self) -> Duration {
        self.latest
    }

    /// The smallest round-trip time seen; [`Duration::MAX`] before the first.
    #[inline]
    pub fn min(&self) -> Duration {
        self.min
    }
}

impl Default for RttEstimator {
    fn default() -> Self {
        Self::new()
    }
}

/// `old` moved towards `sample` by one part in `parts`.
fn towards(old: Duration, sample: Duration, parts: u64) -> Duration {
    let step = old.abs_diff(sample) / parts;
    if sample > old { old + step } else { old.saturating_sub(step) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_FLOOR: Rto = Rto {
        initial: Duration::from_secs(1),
        syn: Duration::from_secs(1),
        min: Duration::ZERO,
        max: Duration::from_secs(60),
        variance_floor: Duration::ZERO,
        variance_gain: VarianceGain::Quarter,
        variance: Variance::Mean,
        scaled_gains: false,
        every_ack: false,
    };

    fn after(samples_ms: &[u64], config: &Rto) -> RttEstimator {
        let mut estimator = RttEstimator::new();
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
    fn the_samples_of_a_round_count_together_as_much_as_one() {
        let scaled = Rto { scaled_gains: true, ..NO_FLOOR };
        let mut estimator = after(&[100], &scaled);
        let four = Progress { expected: 4, ..Progress::default() };
        // RTTVAR 50 + (40 - 50)/16 = 49.375, SRTT 100 + 40/32 = 101.25.
        estimator.sample_at(Duration::from_millis(140), &scaled, four);
        assert_eq!(estimator.variance(), Duration::from_micros(49_375));
        assert_eq!(estimator.srtt(), Duration::from_micros(101_250));
        // Three more: nearly the 105 and 47.5 that one full-weight sample gives.
        (0..3).for_each(|_| estimator.sample_at(Duration::from_millis(140), &scaled, four));
        assert_eq!(estimator.srtt().as_nanos() / 1_000, 104_770);
        assert_eq!(estimator.variance().as_nanos() / 1_000, 47_284);
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

    const PEAK: Rto = Rto { variance: Variance::Peak, variance_floor: Duration::from_millis(200), ..NO_FLOOR };

    /// One sample per round: each acknowledges the data sent at the last one.
    fn rounds(samples_ms: &[u64]) -> RttEstimator {
        let mut estimator = RttEstimator::new();
        for (n, ms) in samples_ms.iter().enumerate() {
            let progress = Progress { una: n as u64 * 10, nxt: n as u64 * 10 + 9, expected: 0 };
            estimator.sample_at(Duration::from_millis(*ms), &PEAK, progress);
        }
        estimator
    }

    #[test]
    fn the_peak_of_a_round_rises_at_once_and_falls_by_quarters() {
        // 4D: 200, then 200 + (80 - 50) = 230 with a late sample: SRTT 110, RTO 340.
        assert_eq!(rounds(&[100, 180]).rto(&PEAK), Duration::from_millis(340));
        // Then 4D = 230 - (57.5 - 10) = 182.5, the peak is the floor of 200: 230 - 30/4 = 222.5; SRTT 108.75.
        assert_eq!(rounds(&[100, 180, 100]).rto(&PEAK), Duration::from_micros(331_250));
    }

    #[test]
    fn a_faster_path_widens_the_deviation_by_an_eighth_of_the_gain() {
        // 4D: 1600, then 1600 + (600 - 400)/8 = 1625 with a sample 600 ms below SRTT.
        assert_eq!(rounds(&[800, 200]).variance(), Duration::from_millis(1_625));
    }

    #[test]
    fn within_a_round_the_peak_does_not_fall() {
        let mut estimator = RttEstimator::new();
        for ms in [600, 600, 600, 600] {
            estimator.sample_at(Duration::from_millis(ms), &PEAK, Progress { una: 0, nxt: 9, expected: 0 });
        }
        assert_eq!(estimator.rto(&PEAK), Duration::from_millis(1_800));
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
