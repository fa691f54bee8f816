//! The fastest rate that the last SNR at the receiver allows, as in `IdealWifiManager` of ns-3.

use super::{Choice, Controller, PpduOutcome};
use crate::phy::{ErrorCurves, PhyMode};
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Instant, Unit};

/// Settings of ideal rate control.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ideal {
    /// Maximum bit error ratio.
    pub bit_errors: f64,
}

impl Default for Ideal {
    fn default() -> Self {
        Self { bit_errors: 1e-6 }
    }
}

impl Described for Ideal {
    const ABOUT: &'static str = "The fastest rate with a bit error ratio of at most one in a million, for the SNR of \
         the last acknowledged frame. The sender learns the SNR at no cost, as in ns-3; until then it uses the \
         slowest rate.";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::quantity("bit_errors", |c: &mut Self| &mut c.bit_errors, Unit::Plain, 1e-9, 0.5)
                .about("Maximum bit error ratio."),
        ]
    }
}

#[derive(Debug)]
pub(super) struct State {
    /// Modes with the minimum SNR of each, slowest first.
    modes: Vec<(PhyMode, f64)>,
    snr: f64,
}

impl State {
    pub(super) fn new(config: Ideal, modes: &[PhyMode], curves: &ErrorCurves) -> Self {
        let needed = |mode: &PhyMode| (*mode, curves.needed_sinr(*mode, 1, 1.0 - config.bit_errors));
        Self { modes: modes.iter().map(needed).collect(), snr: 0.0 }
    }
}

impl Controller for State {
    fn choose(&mut self, _: Instant) -> Choice {
        let fits = self.modes.iter().rev().find(|(_, needed)| *needed <= self.snr);
        Choice { mode: fits.unwrap_or(&self.modes[0]).0, is_probe: false }
    }

    fn learn(&mut self, outcome: PpduOutcome) {
        self.snr = outcome.snr.unwrap_or(self.snr);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::{Band, ErrorModel};
    use crate::propagation::decibels::ratio;

    #[test]
    fn the_rate_follows_the_last_snr() {
        let modes = [6, 12, 24, 54].map(|mbps| PhyMode::legacy(mbps, Band::Ghz5).unwrap());
        let mut ideal = State::new(Ideal::default(), &modes, &ErrorCurves::new(ErrorModel::Nist));
        let mut chosen = |db| {
            ideal.learn(PpduOutcome { mode: modes[0], sent: 1, arrived: 1, snr: Some(ratio(db)) });
            ideal.learn(PpduOutcome { mode: modes[0], sent: 1, arrived: 0, snr: None });
            ideal.choose(Instant::ZERO).mode
        };
        // 10 % of 1536 B are lost at 3.97, 6.98, 13.51 and 22.63 dB; one bit in 10⁶ is wrong a little above.
        assert_eq!([1.0, 5.0, 8.5, 15.0, 24.5].map(&mut chosen), [modes[0], modes[0], modes[1], modes[2], modes[3]]);
        assert_eq!(chosen(13.0), modes[1]);
    }
}
