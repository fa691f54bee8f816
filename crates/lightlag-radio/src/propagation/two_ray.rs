//! Two rays: the direct one, and one that the ground reflects.
//!
//! Rappaport, "Wireless Communications", 1996, §3.6: free space up to the crossover at 4π·h_t·h_r/λ, and
//! `L = 40·lg d − 20·lg(h_t·h_r)` beyond it, where both are equal.

use super::decibels::decibels;
use super::friis::{Friis, free_space};
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

impl Model for TwoRay {
    fn decibels(&self, from: Vector, to: Vector, frequency: f64) -> f64 {
        let distance = from.distance(to).max(NEAREST);
        let height = |place: Vector| (place.z + self.antenna_height).max(LOWEST);
        let reflected = 4.0 * decibels(distance) - 2.0 * decibels(height(from) * height(to));
        free_space(distance, frequency).max(reflected)
    }

    fn reach(&self, decibels: f64, frequency: f64) -> f64 {
        Friis {}.reach(decibels, frequency)
    }
}
