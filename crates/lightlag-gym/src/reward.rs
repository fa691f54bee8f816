//! Reward functions of published learning algorithms, for comparison.

use crate::interval::Interval;

/// A reward function for monitor intervals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reward {
    /// 10 × throughput − 1000 × latency − 2000 × loss rate, with the throughput in packets per second and the latency
    /// in seconds (Jay et al., "A Deep Reinforcement Learning Perspective on Internet Congestion Control", ICML 2019,
    /// section 4.1).
    Aurora,
    /// (throughput − ζ × lost data per second) / delay, divided by maximum throughput / minimum delay of the episode. A
    /// delay up to β times the minimum counts as the minimum. ζ = 5, β = 1.25 (Abbasloo, Yen, Chao, "Classic Meets
    /// Modern", SIGCOMM 2020, section 4.2).
    Orca,
    /// x^0.9 − 900 x max(0, dRTT/dt) − 11.35 x L, where x is the send rate in Mbit/s and L the loss rate (Dong et al.,
    /// "PCC Vivace", NSDI 2018, section 4.1).
    Utility,
}

impl Reward {
    /// All reward functions, with their names.
    pub const ALL: [(&'static str, Self); 3] =
        [("aurora", Self::Aurora), ("orca", Self::Orca), ("utility", Self::Utility)];

    /// Returns the reward function with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(other, _)| *other == name).map(|(_, reward)| *reward)
    }

    /// Returns the reward for an interval.
    pub fn of(self, it: &Interval) -> f64 {
        match self {
            Self::Aurora => {
                let packets = if it.segment > 0.0 { it.delivery_rate() / it.segment } else { 0.0 };
                10.0 * packets - 1000.0 * it.rtt - 2000.0 * it.loss()
            }
            Self::Orca => {
                if it.peak <= 0.0 || it.rtt <= 0.0 || it.length <= 0.0 {
                    return 0.0;
                }
                let delay = if it.rtt <= 1.25 * it.min_rtt { it.min_rtt } else { it.rtt };
                (it.delivery_rate() - 5.0 * it.lost / it.length) / delay * (it.min_rtt / it.peak)
            }
            Self::Utility => {
                let x = 8e-6 * it.send_rate();
                libm::pow(x, 0.9) - 900.0 * x * it.rtt_gradient.max(0.0) - 11.35 * x * it.loss()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value of 10^0.9.
    const TEN: f64 = 7.943_282_347_242_816;

    fn interval() -> Interval {
        Interval {
            length: 1.0,
            sent: 1_250_000.0,
            delivered: 1_000_000.0,
            lost: 0.0,
            rtt: 0.05,
            min_rtt: 0.05,
            peak: 1_000_000.0,
            segment: 1000.0,
            ..Interval::default()
        }
    }

    #[test]
    fn each_is_its_formula() {
        let clean = interval();
        assert!((Reward::Aurora.of(&clean) - (10_000.0 - 50.0)).abs() < 1e-9);
        assert!((Reward::Orca.of(&clean) - 1.0).abs() < 1e-12);
        assert!((Reward::Utility.of(&clean) - TEN).abs() < 1e-9);
        let lossy = Interval { lost: 1_000_000.0 / 9.0, rtt: 0.1, rtt_gradient: 0.001, ..clean };
        assert!((Reward::Aurora.of(&lossy) - (10_000.0 - 100.0 - 200.0)).abs() < 1e-9);
        assert!((Reward::Orca.of(&lossy) - (1.0 - 5.0 / 9.0) / 2.0).abs() < 1e-9);
        assert!((Reward::Utility.of(&lossy) - (TEN - 9.0 - 11.35)).abs() < 1e-9);
    }

    #[test]
    fn a_queue_up_to_a_quarter_costs_orca_nothing() {
        let queue = Interval { rtt: 0.0625, ..interval() };
        assert!((Reward::Orca.of(&queue) - 1.0).abs() < 1e-12);
        // A draining queue does not increase Vivace's utility.
        let drains = Interval { rtt_gradient: -0.5, ..interval() };
        assert_eq!(Reward::Utility.of(&drains), Reward::Utility.of(&interval()));
    }

    #[test]
    fn silence_is_worth_nothing() {
        for (name, reward) in Reward::ALL {
            assert_eq!(reward.of(&Interval::default()), 0.0, "{name}");
            assert_eq!(Reward::named(name), Some(reward));
        }
    }
}
