//! Log-distance path loss, which grows by 10·n dB with each tenfold distance.
//!
//! Rappaport, "Wireless Communications", 1996, §3.9: `L = L0 + 10·n·lg(d/d0)`, and L = L0 up to d0. The defaults are
//! from ns-3: L0 is the free-space loss (Friis) at 5.15 GHz, whatever the frequency of the channel.

use super::Model;
use super::decibels::{decibels, ratio};
use super::formula::Formula;
use super::power_law::PowerLaw;
use lightlag_core::Unit;
use lightlag_core::params::{Described, Setting};
use lightlag_mobility::Vector;

/// Parameters of the log-distance path loss.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LogDistance {
    /// Path loss exponent n.
    pub exponent: f64,
    /// Reference distance d0, in metres.
    pub reference_distance: f64,
    /// Loss L0 at the reference distance, in dB.
    pub reference_loss: f64,
}

impl Default for LogDistance {
    /// Returns the defaults of `LogDistancePropagationLossModel` in ns-3.
    fn default() -> Self {
        Self { exponent: 3.0, reference_distance: 1.0, reference_loss: 46.6777 }
    }
}

impl Described for LogDistance {
    const ABOUT: &'static str = "A loss that grows with a power of the distance. reference-loss up to \
         reference-distance, and 10·exponent dB more for each tenfold distance; independent of the frequency \
         (Rappaport 1996; defaults of ns-3).";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::quantity("exponent", |of: &mut Self| &mut of.exponent, Unit::Plain, 0.5, 10.0)
                .about("Exponent n of the distance."),
            Setting::quantity("reference_distance", |of: &mut Self| &mut of.reference_distance, Unit::Metre, 0.01, 1e5)
                .about("Reference distance d0, in metres."),
            Setting::quantity("reference_loss", |of: &mut Self| &mut of.reference_loss, Unit::Decibel, 0.0, 300.0)
                .about("Loss L0 at the reference distance, in dB."),
        ]
    }
}

impl Model for LogDistance {
    fn decibels(&self, from: Vector, to: Vector, _: f64) -> f64 {
        let distance = from.distance(to).max(self.reference_distance);
        self.reference_loss + self.exponent * decibels(distance / self.reference_distance)
    }

    fn reach(&self, decibels: f64, _: f64) -> f64 {
        let over = decibels - self.reference_loss;
        if over < 0.0 { 0.0 } else { self.reference_distance * ratio(over / self.exponent) }
    }

    fn formula(&self, _: f64) -> Option<Formula> {
        let at_one_metre = self.exponent * decibels(self.reference_distance) - self.reference_loss;
        Some(Formula::Power(PowerLaw::new(ratio(at_one_metre), self.exponent, self.reference_distance)))
    }
}
