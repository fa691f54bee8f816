//! Two-ray path loss: a direct ray, and a ray reflected by the ground.
//!
//! Rappaport, "Wireless Communications", 1996, §3.6: free space up to the crossover at 4π·h_t·h_r/λ, and `L = 40·lg d −
//! 20·lg(h_t·h_r)` beyond it. Both formulas give the same loss at the crossover.

use super::Model;
use super::decibels::{decibels, ratio};
use super::formula::Formula;
use super::friis::{Friis, at_one_metre};
use super::rays::Rays;
use lightlag_core::Unit;
use lightlag_core::params::{Described, Setting};
use lightlag_mobility::Vector;

/// Parameters of the two-ray path loss.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TwoRay {
    /// Height of an antenna above the z coordinate of its station, in metres. The ground is at z = 0.
    pub antenna_height: f64,
}

impl Default for TwoRay {
    /// Returns the parameters for a hand-held station.
    fn default() -> Self {
        Self { antenna_height: 1.5 }
    }
}

impl Described for TwoRay {
    const ABOUT: &'static str = "Free-space loss, and a ray reflected by the ground. Beyond 4π·h·h'/λ the loss grows \
         by 40 dB with each tenfold distance; antennas are antenna-height above the z of their stations (Rappaport \
         1996).";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::quantity("antenna_height", |of: &mut Self| &mut of.antenna_height, Unit::Metre, 0.0, 1e4)
                .about("Height of an antenna above the z of its station, in metres. The ground is at z = 0."),
        ]
    }
}

impl Model for TwoRay {
    fn decibels(&self, from: Vector, to: Vector, frequency: f64) -> f64 {
        -decibels(self.rays(frequency).gain(from, to))
    }

    fn reach(&self, decibels: f64, frequency: f64) -> f64 {
        Friis {}.reach(decibels, frequency)
    }

    fn formula(&self, frequency: f64) -> Option<Formula> {
        Some(Formula::TwoRays(self.rays(frequency)))
    }
}

impl TwoRay {
    fn rays(&self, frequency: f64) -> Rays {
        Rays { direct: ratio(-at_one_metre(frequency)), antenna_height: self.antenna_height }
    }
}
