//! Bursts of losses: a channel that alternates between a good and a bad state.
//!
//! E. N. Gilbert, *Capacity of a burst-noise channel*, Bell System Technical Journal 39, 1960; E. O. Elliott,
//! *Estimates of error rates for codes on burst-noise channels*, the same journal, vol. 42, 1963. The model is a Markov
//! chain with two states, each with a loss probability. The state changes either
//!
//! - with time: the sojourn times are exponential, whether packets are sent or not; or
//! - with packets: before each packet, from good to bad with p and from bad to good with r. The fraction of packets in
//!   the bad state is p / (p + r), in runs of 1 / r packets on average.
//!
//! The chain starts in its stationary distribution. The states have a separate random stream, so that a channel that
//! changes with time has its fades at the same moments, whatever traffic is sent over it.

use super::registry::{Draw, Process};
use lightlag_core::{Duration, Instant, Probability, RandomStream};

/// A channel with a good and a bad state.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GilbertElliott {
    /// Rule for changes of the state.
    pub dwell: Dwell,
    /// Probability that a packet is lost in the good state.
    pub good_loss: Probability,
    /// Probability that a packet is lost in the bad state.
    pub bad_loss: Probability,
}

/// Rule for changes of the state of a channel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Dwell {
    /// The state changes with time.
    Time {
        /// Mean sojourn time in the good state, above zero.
        good: Duration,
        /// Mean sojourn time in the bad state, above zero.
        bad: Duration,
    },
    /// The state may change before each packet.
    Packets {
        /// Probability of a change from good to bad, before each packet.
        worsens: Probability,
        /// Probability of a change from bad to good, before each packet; above zero.
        recovers: Probability,
    },
}

impl GilbertElliott {
    /// Returns the channel that loses the fraction `mean` of all packets, in runs of `burst` packets on average: it
    /// loses all packets in the bad state, and none in the good state. With r = 1 / burst and p = mean / (burst · (1 −
    /// mean)), the fraction is p / (p + r).
    ///
    /// `None` if there is no such channel: a run has at least one packet, and at least one packet gets through between
    /// two runs, so `burst` cannot be below 1 or below mean / (1 − mean).
    pub fn from_bursts(mean: Probability, burst: f64) -> Option<Self> {
        let reachable = burst >= 1.0 && burst.is_finite() && mean.value() < 1.0;
        let worsens = mean.value() / (burst * (1.0 - mean.value()));
        // 0.9 and 9 are exactly possible, and 0.9 is not exactly a double.
        let rounding = if worsens > 1.0 && worsens < 1.0 + 1e-9 { worsens - 1.0 } else { 0.0 };
        let worsens = Probability::new(worsens - rounding).filter(|_| reachable)?;
        let recovers = Probability::new(1.0 / burst)?;
        let dwell = Dwell::Packets { worsens, recovers };
        Some(Self { dwell, good_loss: Probability::ZERO, bad_loss: Probability::new(1.0)? })
    }

    /// Returns the fraction of time, or of packets, in the bad state.
    fn bad_share(&self) -> f64 {
        let (to_bad, to_good) = match self.dwell {
            Dwell::Time { good, bad } => (bad.as_secs_f64(), good.as_secs_f64()),
            Dwell::Packets { worsens, recovers } => (worsens.value(), recovers.value()),
        };
        to_bad / (to_bad + to_good)
    }
}

/// Number of mean cycles without a packet that make the channel forget its state. The state is then drawn from the
/// stationary distribution, since simulating all changes would take longer than the run.
const FORGOTTEN: f64 = 100_000.0;

/// State of a channel.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    model: GilbertElliott,
    states: RandomStream,
    is_bad: bool,
    /// End of the current state, if the state changes with time.
    until: Instant,
}

impl Channel {
    /// Returns a channel that starts at `start`; its states are drawn from `states`.
    fn new(model: GilbertElliott, start: Instant, states: RandomStream) -> Self {
        let mut channel = Self { model, states, is_bad: false, until: Instant::MAX };
        channel.begin(start);
        channel
    }

    /// Draws the state from the stationary distribution. The remaining part of an exponential sojourn time is
    /// exponential as well.
    fn begin(&mut self, now: Instant) {
        self.is_bad = self.states.uniform() < self.model.bad_share();
        if let Dwell::Time { good, bad } = self.model.dwell {
            self.until = now + self.states.exponential(if self.is_bad { bad } else { good });
        }
    }

    /// Returns true if the packet whose transmission starts at `now` is lost. Must be called in the order of time.
    /// Draws one number from `losses`.
    fn loses(&mut self, now: Instant, losses: &mut RandomStream) -> bool {
        match self.model.dwell {
            Dwell::Time { good, bad } => {
                if now.since(self.until) / (good + bad) > FORGOTTEN {
                    self.begin(now);
                }
                while self.until <= now {
                    self.is_bad = !self.is_bad;
                    self.until += self.states.exponential(if self.is_bad { bad } else { good });
                }
            }
            Dwell::Packets { worsens, recovers } => {
                let turns = self.states.chance(if self.is_bad { recovers } else { worsens });
                self.is_bad ^= turns;
            }
        }
        losses.chance(if self.is_bad { self.model.bad_loss } else { self.model.good_loss })
    }
}

impl Process<GilbertElliott> for Box<Channel> {
    const DRAWS: bool = true;

    fn new(model: &GilbertElliott, from: Instant, states: RandomStream) -> Self {
        Self::new(Channel::new(*model, from, states))
    }

    fn loses(&mut self, packet: Draw, random: &mut RandomStream) -> bool {
        Channel::loses(self, packet.start, random)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKETS: u64 = 1_000_000;

    fn probability(value: f64) -> Probability {
        Probability::new(value).unwrap()
    }

    fn streams() -> (RandomStream, RandomStream) {
        (RandomStream::new(1, "states"), RandomStream::new(1, "losses"))
    }

    /// Returns, for each of a million packets at intervals of `gap`, whether it is lost.
    fn lost(model: GilbertElliott, gap: Duration) -> Vec<bool> {
        let (states, mut losses) = streams();
        let mut channel = Channel::new(model, Instant::ZERO, states);
        (0..PACKETS).map(|n| channel.loses(Instant::ZERO + gap * n, &mut losses)).collect()
    }

    /// Returns the lengths of the runs of lost packets.
    fn runs(lost: &[bool]) -> Vec<f64> {
        lost.split(|lost| !lost).map(|run| run.len() as f64).filter(|run| *run > 0.0).collect()
    }

    /// Asserts that the fraction of lost packets and their mean run length are within their 99 % intervals, for a
    /// channel that loses all packets in the bad state and none in the good one. `p` and `r` are its transition
    /// probabilities between two packets.
    fn check(lost: &[bool], p: f64, r: f64) {
        let (n, share) = (lost.len() as f64, p / (p + r));
        let observed = lost.iter().filter(|lost| **lost).count() as f64 / n;
        // Neighbours are alike with 1 − p − r: the variance of a mean of n is π(1 − π)/n · (2 − p − r)/(p + r).
        let deviation = (share * (1.0 - share) / n * (2.0 - p - r) / (p + r)).sqrt();
        assert!((observed - share).abs() <= 2.576 * deviation, "lost {observed} of {share} ± {deviation}");
        let runs = runs(lost);
        let mean = runs.iter().sum::<f64>() / runs.len() as f64;
        // Runs are geometric: variance (1 − r)/r².
        let deviation = ((1.0 - r) / (r * r) / runs.len() as f64).sqrt();
        assert!((mean - 1.0 / r).abs() <= 2.576 * deviation, "runs of {mean} for {} ± {deviation}", 1.0 / r);
    }

    #[test]
    fn bursts_have_the_requested_fraction_and_length() {
        for (mean, burst) in [(0.01, 5.0), (0.001, 20.0), (0.3, 1.5), (0.5, 1.0)] {
            let model = GilbertElliott::from_bursts(probability(mean), burst).unwrap();
            check(&lost(model, Duration::ZERO), mean / (burst * (1.0 - mean)), 1.0 / burst);
        }
    }

    #[test]
    fn the_worked_example_has_the_transitions_of_its_equations() {
        // L = 0.01, b = 5: r = 1/5, p = 0.01/(5 · 0.99).
        let model = GilbertElliott::from_bursts(probability(0.01), 5.0).unwrap();
        let Dwell::Packets { worsens, recovers } = model.dwell else { panic!("{model:?}") };
        assert!((recovers.value() - 0.2).abs() < 1e-12 && (worsens.value() - 0.002_020_202).abs() < 1e-9);
    }

    #[test]
    fn runs_too_short_for_the_fraction_do_not_exist() {
        for (mean, burst) in [(0.01, 0.5), (0.9, 2.0), (1.0, 1e9), (0.1, f64::NAN), (0.1, f64::INFINITY)] {
            assert_eq!(GilbertElliott::from_bursts(probability(mean), burst), None, "{mean}, {burst}");
        }
        // Every other packet: the shortest runs that lose half of all.
        assert!(GilbertElliott::from_bursts(probability(0.5), 1.0).is_some());
        assert!(GilbertElliott::from_bursts(probability(0.9), 9.0).is_some());
    }

    #[test]
    fn sojourns_have_the_requested_fraction_and_length() {
        let (good, bad, gap) = (Duration::from_secs(1), Duration::from_millis(50), Duration::from_millis(2));
        let dwell = Dwell::Time { good, bad };
        let model = GilbertElliott { dwell, good_loss: Probability::ZERO, bad_loss: probability(1.0) };
        // Seen each 2 ms: the state is forgotten with rate 1/1 s + 1/50 ms = 21 /s, e^(−21 · 0.002) is left.
        let turned = -libm::expm1(-21.0 * 0.002);
        check(&lost(model, gap), turned / 21.0, turned * 20.0 / 21.0);
    }

    #[test]
    fn each_state_loses_with_its_own_probability() {
        let dwell = Dwell::Packets { worsens: probability(0.1), recovers: probability(0.3) };
        let model = GilbertElliott { dwell, good_loss: probability(0.02), bad_loss: probability(0.5) };
        let lost = lost(model, Duration::ZERO);
        // π_B = 0.1/0.4: 0.75 · 0.02 + 0.25 · 0.5 = 0.14. States are alike with 0.6: variance of the mean
        // (m(1 − m) + 2 · (0.48)² · π(1 − π) · 0.6/0.4)/n.
        let mean = lost.iter().filter(|lost| **lost).count() as f64 / PACKETS as f64;
        let deviation = ((0.14 * 0.86 + 2.0 * 0.48 * 0.48 * 0.1875 * 1.5) / PACKETS as f64).sqrt();
        assert!((mean - 0.14).abs() < 2.576 * deviation, "{mean} ± {deviation}");
    }

    #[test]
    fn fades_come_at_the_same_moments_whatever_is_sent() {
        let dwell = Dwell::Time { good: Duration::from_millis(80), bad: Duration::from_millis(20) };
        let model = GilbertElliott { dwell, good_loss: Probability::ZERO, bad_loss: probability(1.0) };
        let sampled = |step: usize| {
            let (states, mut losses) = streams();
            let mut channel = Channel::new(model, Instant::ZERO, states);
            let time = |ms: usize| Instant::ZERO + Duration::from_millis(ms as u64);
            (0..10_000).step_by(step).map(|ms| channel.loses(time(ms), &mut losses)).collect::<Vec<_>>()
        };
        let (often, seldom) = (sampled(1), sampled(10));
        assert!(often.iter().step_by(10).eq(&seldom));
        assert!(seldom.iter().any(|lost| *lost) && seldom.iter().any(|lost| !*lost));
    }

    #[test]
    fn a_long_silence_costs_no_time() {
        let shortest = Duration::from_nanos(1);
        let dwell = Dwell::Time { good: shortest, bad: shortest };
        let model = GilbertElliott { dwell, good_loss: Probability::ZERO, bad_loss: probability(1.0) };
        let lost = lost(model, Duration::from_secs(1));
        check(&lost, 0.5, 0.5);
    }
}
