//! Losses in bursts: a channel that is good for a while, then bad for a while.
//!
//! E. N. Gilbert, *Capacity of a burst-noise channel*, Bell System Technical Journal 39, 1960; E. O. Elliott, *Estimates
//! of error rates for codes on burst-noise channels*, the same 42, 1963. A chain of two states, and a loss probability in
//! each. The chain moves either
//!
//! - with time: the sojourns in a state are exponential, whether packets pass or not; or
//! - with packets: before each packet, from good to bad with p and from bad to good with r. The share of bad packets is
//!   p / (p + r), the mean run of them 1 / r.
//!
//! It begins in its stationary distribution. Its states have a random stream of their own: a channel that moves with time
//! has its fades at the same moments, whatever is sent over it.

use super::registry::{Draw, Process};
use lightlag_core::{Duration, Instant, Probability, RandomStream};

/// A channel with a good and a bad state.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GilbertElliott {
    /// Changes of the state.
    pub dwell: Dwell,
    /// Probability that a packet is lost in the good state.
    pub good_loss: Probability,
    /// Probability that a packet is lost in the bad state.
    pub bad_loss: Probability,
}

/// Changes of the state of a channel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Dwell {
    /// With time.
    Time {
        /// The mean sojourn in the good state, above zero.
        good: Duration,
        /// The mean sojourn in the bad state, above zero.
        bad: Duration,
    },
    /// With packets.
    Packets {
        /// From good to bad, before each packet.
        worsens: Probability,
        /// From bad to good, before each packet; above zero.
        recovers: Probability,
    },
}

impl GilbertElliott {
    /// The channel that loses the share `mean` of all packets in runs of `burst` packets on average: all packets of the bad
    /// state, none of the good one. With r = 1 / burst and p = mean / (burst · (1 − mean)), the share is p / (p + r).
    ///
    /// `None` if there is none: a run has at least one packet, and at least one packet passes between two runs, so the
    /// mean run is not below mean / (1 − mean).
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

    /// The share of time, or of packets, in the bad state.
    fn bad_share(&self) -> f64 {
        let (to_bad, to_good) = match self.dwell {
            Dwell::Time { good, bad } => (bad.as_secs_f64(), good.as_secs_f64()),
            Dwell::Packets { worsens, recovers } => (worsens.value(), recovers.value()),
        };
        to_bad / (to_bad + to_good)
    }
}

/// After so many mean cycles without a packet the state is drawn anew: of where it began nothing is left, and following
/// it would take longer than the run.
const FORGOTTEN: f64 = 100_000.0;

/// A channel at work.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    model: GilbertElliott,
    states: RandomStream,
    is_bad: bool,
    /// When the present state ends, of a channel that moves with time.
    until: Instant,
}

impl Channel {
    /// A channel from `start` on; its states are drawn from `states`.
    fn new(model: GilbertElliott, start: Instant, states: RandomStream) -> Self {
        let mut channel = Self { model, states, is_bad: false, until: Instant::MAX };
        channel.begin(start);
        channel
    }

    /// Draws the state from the stationary distribution. What is left of an exponential sojourn is exponential, too.
    fn begin(&mut self, now: Instant) {
        self.is_bad = self.states.uniform() < self.model.bad_share();
        if let Dwell::Time { good, bad } = self.model.dwell {
            self.until = now + self.states.exponential(if self.is_bad { bad } else { good });
        }
    }

    /// Whether the packet that starts at `now`, not before the one before, is lost. One number is drawn of `losses`.
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

    /// The lost ones of a million packets, `gap` apart.
    fn lost(model: GilbertElliott, gap: Duration) -> Vec<bool> {
        let (states, mut losses) = streams();
        let mut channel = Channel::new(model, Instant::ZERO, states);
        (0..PACKETS).map(|n| channel.loses(Instant::ZERO + gap * n, &mut losses)).collect()
    }

    /// The lengths of the runs of lost packets.
    fn runs(lost: &[bool]) -> Vec<f64> {
        lost.split(|lost| !lost).map(|run| run.len() as f64).filter(|run| *run > 0.0).collect()
    }

    /// Asserts the share of lost packets and the mean run of them, each within its 99 % interval, of a channel that loses
    /// everything in the bad state and nothing in the good one, with these probabilities between two packets.
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
    fn bursts_have_the_share_and_the_length_that_were_asked_for() {
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
    fn runs_too_short_for_the_share_do_not_exist() {
        for (mean, burst) in [(0.01, 0.5), (0.9, 2.0), (1.0, 1e9), (0.1, f64::NAN), (0.1, f64::INFINITY)] {
            assert_eq!(GilbertElliott::from_bursts(probability(mean), burst), None, "{mean}, {burst}");
        }
        // Every other packet: the shortest runs that lose half of all.
        assert!(GilbertElliott::from_bursts(probability(0.5), 1.0).is_some());
        assert!(GilbertElliott::from_bursts(probability(0.9), 9.0).is_some());
    }

    #[test]
    fn sojourns_have_the_share_and_the_length_that_were_asked_for() {
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
