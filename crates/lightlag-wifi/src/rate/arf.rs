//! Automatic rate fallback (Kamerman and Monteban, Bell Labs Technical Journal, 1997).

use super::{Choice, Controller, PpduOutcome};
use crate::phy::PhyMode;
use lightlag_core::Instant;
use lightlag_core::params::{Described, Setting};

/// Settings of ARF. The defaults are from the paper and ns-3.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Arf {
    /// Number of consecutive successes before a faster rate is tried.
    pub successes: u32,
    /// Maximum number of transmissions before a faster rate is tried.
    pub timer: u32,
    /// Number of consecutive failures before a slower rate is used.
    pub failures: u32,
}

impl Default for Arf {
    fn default() -> Self {
        Self { successes: 10, timer: 15, failures: 2 }
    }
}

impl Described for Arf {
    const ABOUT: &'static str = "The rate rises after 10 successes in a row, or 15 transmissions, and falls after 2 \
         failures in a row, or immediately if the first frame after a rise fails (ARF, Kamerman and Monteban 1997).";

    fn settings() -> Vec<Setting<Self>> {
        let count = |key, at| Setting::count(key, at, 1000, "a number of frames", "");
        vec![
            count("successes", |c: &mut Self| &mut c.successes)
                .about("Number of successes in a row before a faster rate is tried."),
            count("timer", |c: &mut Self| &mut c.timer)
                .about("Maximum number of transmissions before a faster rate is tried."),
            count("failures", |c: &mut Self| &mut c.failures)
                .about("Number of failures in a row before a slower rate is used."),
        ]
    }
}

#[derive(Debug)]
pub(super) struct State {
    config: Arf,
    modes: Vec<PhyMode>,
    at: usize,
    successes: u32,
    failures: u32,
    sent: u32,
    /// Whether the rate was raised just before the current frame.
    rose: bool,
}

impl State {
    pub(super) fn new(config: Arf, modes: &[PhyMode]) -> Self {
        Self { config, modes: modes.to_vec(), at: 0, successes: 0, failures: 0, sent: 0, rose: false }
    }
}

impl Controller for State {
    fn choose(&mut self, _: Instant) -> Choice {
        Choice { mode: self.modes[self.at], is_probe: false }
    }

    fn learn(&mut self, PpduOutcome { sent, arrived, .. }: PpduOutcome) {
        self.sent += 1;
        // An A-MPDU succeeds if half of its frames arrive.
        if 2 * arrived >= sent {
            self.successes += 1;
            self.failures = 0;
            self.rose = false;
            let is_due = self.successes >= self.config.successes || self.sent >= self.config.timer;
            if is_due && self.at + 1 < self.modes.len() {
                self.at += 1;
                (self.successes, self.sent, self.rose) = (0, 0, true);
            }
        } else {
            self.successes = 0;
            self.failures += 1;
            if self.rose || self.failures >= self.config.failures {
                self.at = self.at.saturating_sub(1);
                (self.failures, self.sent, self.rose) = (0, 0, false);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::Band;

    #[test]
    fn the_rate_rises_after_ten_successes_and_falls_after_two_failures() {
        let modes = [6, 9, 12].map(|mbps| PhyMode::legacy(mbps, Band::Ghz5).unwrap());
        let mut arf = State::new(Arf::default(), &modes);
        let mut run = |arrived, frames| {
            for _ in 0..frames {
                let mode = arf.choose(Instant::ZERO).mode;
                arf.learn(PpduOutcome { mode, sent: 1, arrived, snr: None });
            }
            modes.iter().position(|mode| *mode == arf.choose(Instant::ZERO).mode).unwrap()
        };
        assert_eq!(run(1, 9), 0);
        assert_eq!(run(1, 1), 1);
        // The first frame after a rise.
        assert_eq!(run(0, 1), 0);
        assert_eq!(run(1, 10), 1);
        assert_eq!(run(1, 1), 1);
        assert_eq!(run(0, 1), 1);
        assert_eq!(run(0, 1), 0);
        assert_eq!(run(1, 100), 2);
    }
}
