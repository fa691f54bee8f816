//! Two rays: the direct one, and one that the ground reflects.
//!
//! Rappaport, "Wireless Communications", 1996, §3.6: free space up to the crossover at 4π·h_t·h_r/λ, and
//! `L = 40·lg d − 20·lg(h_t·h_r)` beyond it, where both are equal.

use super::channel::Places;
use super::decibels::{decibels, ratio};
use super::friis::{Friis, at_one_metre};
use super::power_law::Formula;
use super::{Model, NEAREST};
use lightlag_core::Unit;
use lightlag_mobility::Vector;
use lightlag_net::setting::{Described, Setting};

/// Antennas that are lower count as being at this height, in metres.
const LOWEST: f64 = 0.01;

/// Parameters of the two rays.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TwoRay {
    /// The height of an antenna above the z of its station, in metres. The ground is at z = 0.
    pub antenna_height: f64,
}

impl Default for TwoRay {
    /// A station in a hand.
    fn default() -> Self {
        Self { antenna_height: 1.5 }
    }
}

impl Described for TwoRay {
    const ABOUT: &'static str = "Free space, and a ray that the ground reflects. Beyond 4π·h·h'/λ the loss grows by 40 dB with each \
         tenfold distance; antennas stand antenna-height above the z of their stations (Rappaport 1996).";

    fn settings() -> Vec<Setting<Self>> {
        vec![Setting::quantity("antenna_height", |of| &mut of.antenna_height, Unit::Metre, 0.0, 1e4)]
    }
}

/// Two rays at a frequency.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Rays {
    /// The gain of the direct ray at one metre.
    direct: f64,
    antenna_height: f64,
}

impl Rays {
    #[inline(always)]
    fn height(self, z: f64) -> f64 {
        (z + self.antenna_height).max(LOWEST)
    }

    /// The gain at a squared distance, by the product of the heights: the smaller one of both formulas.
    #[inline(always)]
    fn at(self, d2: f64, heights: f64) -> f64 {
        let inverse = 1.0 / d2.max(NEAREST * NEAREST);
        let reflected = heights * inverse;
        (self.direct * inverse).min(reflected * reflected)
    }

    pub(super) fn gain(self, from: Vector, to: Vector) -> f64 {
        self.at((to - from).square(), self.height(from.z) * self.height(to.z))
    }

    /// The power at each place of a sender of that power.
    pub(super) fn powers(self, from: Vector, to: Places<'_>, power: f64, out: &mut [f64]) {
        let (count, height) = (out.len(), self.height(from.z));
        let (x, y, z) = (&to.x[..count], &to.y[..count], &to.z[..count]);
        for i in 0..count {
            let (dx, dy, dz) = (x[i] - from.x, y[i] - from.y, z[i] - from.z);
            out[i] = power * self.at(dx * dx + dy * dy + dz * dz, height * self.height(z[i]));
        }
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
