//! The round-trip time and the retransmission timeout (RFC 6298).
//!
//! The first sample R gives SRTT = R, RTTVAR = R/2. Each further sample R' gives, in this order,
//! RTTVAR = (1 - b) RTTVAR + b |SRTT - R'| and SRTT = 7/8 SRTT + 1/8 R', with b = 1/4 (INET: 1/8), and
//! RTO = SRTT + max(floor, 4 RTTVAR), inside [min, max]. A timeout doubles the RTO until the next valid sample.
//!
//! RFC 6298 assumes one sample per round trip. With timestamps, or recorded departure times, each ACK gives a sample,
//! so that the averages cover only the last few ACKs. RFC 7323 §4.2 requires a longer history. Its appendix G divides
//! both gains by the expected number of samples in a round trip: ⌈FlightSize / (2 SMSS)⌉, one for two segments.
//!
//! Linux (`tcp_rtt_estimator`) keeps 4 D, four times the mean deviation, which falls with an eighth of the gain. Its
//! largest value in a round trip, but at least the floor, is used as 4 RTTVAR: an increase applies immediately, a
//! decrease at the end of the round and only by a quarter of the difference. Thanks to the floor, a single late ACK
//! does not cause a timeout on a path whose samples hardly differ.

use lightlag_core::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of the retransmission timeout (RFC 6298).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Rto {
    /// RTO before the first sample.
    pub initial: Duration,
    /// RTO of the SYN.
    pub syn: Duration,
    /// Lower bound of the RTO.
    pub min: Duration,
    /// Upper bound of the RTO, including back-off.
    pub max: Duration,
    /// Lower bound of the variance term: the granularity of the clock (RFC 6298 §2), or 200 ms as in Linux.
    pub variance_floor: Duration,
    /// Weight of a new sample in RTTVAR.
    pub variance_gain: VarianceGain,
    /// Rule for computing RTTVAR from the samples.
    pub variance: Variance,
    /// Whether both gains are divided by the expected number of samples in a round trip (RFC 7323 appendix G).
    pub scaled_gains: bool,
    /// Whether any ACK restarts the timer, even one that acknowledges nothing new (ns-2,
    /// `LinuxTcpAgent::time_processing`).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub every_ack: bool,
}

/// Rule for computing RTTVAR from the samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Variance {
    /// A moving mean of the deviations (RFC 6298 §2.3).
    Mean,
    /// The largest mean within a round trip. An increase applies immediately, a decrease only by a quarter of the
    /// difference per round trip (Linux).
    Peak,
}

/// Weight of a new sample in RTTVAR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum VarianceGain {
    /// 1/4 (RFC 6298 §2.3).
    #[serde(rename = "1/4")]
    Quarter,
    /// 1/8, as in INET.
    #[serde(rename = "1/8")]
    Eighth,
}

impl VarianceGain {
    /// Moves `old` towards `sample` by the gain.
    // A division by a variable takes as long as the rest of a round-trip sample.
    #[inline]
    pub fn smooth(self, old: Duration, sample: Duration) -> Duration {
        match self {
            Self::Quarter => (old * 3 + sample) / 4,
            Self::Eighth => (old * 7 + sample) / 8,
        }
    }

    /// Returns the inverse of the gain.
    #[inline]
    pub fn divisor(self) -> u64 {
        match self {
            Self::Quarter => 4,
            Self::Eighth => 8,
        }
    }
}

/// RTO of data after a SYN that timed out and gave no sample, unless the initial RTO is longer (RFC 6298 §5.7).
const AFTER_SYN_LOSS: Duration = Duration::from_secs(3);

/// Basis of the RTO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// The initial RTO of the configuration.
    Initial,
    /// The initial RTO after a lost SYN, at least [`AFTER_SYN_LOSS`].
    SynLoss,
    /// SRTT and RTTVAR.
    Samples,
}

/// Round-trip estimate of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RttEstimator {
    srtt: Duration,
    variance: Duration,
    latest: Duration,
    min: Duration,
    /// Four times the mean deviation; and its largest value in the current round, which ends with the ACK of
    /// `round_end`.
    deviation: Duration,
    peak: Duration,
    round_end: u64,
    /// Basis of the RTO, and the number of times it was doubled.
    origin: Origin,
    backoff: u8,
}

/// Acknowledged and sent offsets at the time of a sample.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// First unacknowledged offset.
    pub una: u64,
    /// Offset of the next new data.
    pub nxt: u64,
    /// Expected number of samples in this round trip; zero if it is not used.
    pub expected: u64,
}

impl RttEstimator {
    /// Creates an estimator without samples, whose RTO is the initial one.
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

    /// Creates an estimator whose first sample is the known round-trip time of a route. The RTO is still
    /// `config.initial`.
    #[inline]
    pub fn of_route(rtt: Option<Duration>, config: &Rto) -> Self {
        let mut estimator = Self::new();
        if let Some(rtt) = rtt {
            estimator.sample_at(rtt, config, Progress::default());
            estimator.origin = Origin::Initial;
        }
        estimator
    }

    /// Adds a valid sample by the configured rule, as [`Self::sample`] does by RFC 6298.
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

    /// Adds one of several samples in a round trip (RFC 7323 appendix G).
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

    #[inline]
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

    /// Adds a valid sample (Karn's algorithm): updates SRTT, RTTVAR and RTO, and ends a back-off.
    #[inline]
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

    /// Bases the RTO on SRTT and RTTVAR, and ends a back-off.
    #[inline(always)]
    fn follow_samples(&mut self) {
        self.backoff = 0;
        self.origin = Origin::Samples;
    }

    /// Notes a round-trip time for the minimum and the latest value, without changing the RTO.
    #[inline]
    pub fn observe(&mut self, rtt: Duration) {
        self.latest = rtt;
        self.min = self.min.min(rtt);
    }

    /// Sets the RTO for the first data after a SYN that timed out and gave no sample (RFC 6298 §5.7).
    pub fn restart(&mut self) {
        self.origin = Origin::SynLoss;
        self.backoff = 0;
    }

    /// Doubles the RTO (RFC 6298 §5.5).
    #[inline]
    pub fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(32);
    }

    /// Ends a back-off without a sample. Used if probes, not data, caused the back-off.
    #[inline]
    pub fn end_back_off(&mut self) {
        self.backoff = 0;
    }

    /// Returns the current RTO, including back-off, at most `config.max`.
    #[inline]
    pub fn rto(&self, config: &Rto) -> Duration {
        let base = self.plain_rto(config);
        if self.backoff == 0 { base } else { (base * (1 << self.backoff)).min(config.max) }
    }

    /// Returns the RTO without back-off.
    #[inline]
    pub fn plain_rto(&self, config: &Rto) -> Duration {
        let base = match self.origin {
            Origin::Samples => (self.srtt + self.margin(config)).max(config.min),
            Origin::Initial => config.initial,
            Origin::SynLoss => config.initial.max(AFTER_SYN_LOSS),
        };
        base.min(config.max)
    }

    /// Returns the difference of RTO and SRTT, before the lower bound of the RTO.
    #[inline(always)]
    fn margin(&self, config: &Rto) -> Duration {
        match config.variance {
            Variance::Mean => (self.variance * 4).max(config.variance_floor),
            Variance::Peak => self.variance,
        }
    }

    /// Returns SRTT; zero before the first sample.
    #[inline]
    pub fn srtt(&self) -> Duration {
        self.srtt
    }

    /// Returns RTTVAR; with [`Variance::Peak`] four times RTTVAR.
    #[inline]
    pub fn variance(&self) -> Duration {
        self.variance
    }

    /// Returns the latest round-trip time; zero before the first.
    #[inline]
    pub fn latest(&self) -> Duration {
        self.latest
    }

    /// Returns the minimum round-trip time; [`Duration::MAX`] before the first.
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

/// Moves `old` towards `sample` by one part in `parts`.
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

    /// Adds one sample per round: each one acknowledges the data that was sent at the previous one.
    fn rounds(samples_ms: &[u64]) -> RttEstimator {
        let mut estimator = RttEstimator::new();
        for (n, ms) in samples_ms.iter().enumerate() {
            let progress = Progress { una: n as u64 * 10, nxt: n as u64 * 10 + 9, expected: 0 };
            estimator.sample_at(Duration::from_millis(*ms), &PEAK, progress);
        }
        estimator
    }

    #[test]
    fn the_peak_of_a_round_rises_immediately_and_falls_by_quarters() {
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
