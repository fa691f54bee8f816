//! Propagation: the fraction of a sender's power that reaches a receiver, and the delay.
//!
//! - [`PathLoss`]: the path loss over a distance, by one of several models.
//! - [`Fading`], [`Shadowing`]: random variation of the power of each frame around its mean, and of the mean of each
//!   pair of stations around the path loss.
//! - [`Channel`]: the propagation at a frequency, to one receiver or to all of them in one call.
//! - [`delay`]: the propagation delay.
//!
//! Powers are in milliwatts and ratios of powers are plain numbers inside a run; decibels are for settings and people.

mod air_to_ground;
pub mod channel;
pub mod decibels;
pub mod draws;
mod fading;
mod formula;
mod friis;
mod log_distance;
mod power_law;
mod rays;
mod shadowing;
mod sight;
mod station_positions;
mod tr36777;
mod two_ray;

pub use air_to_ground::{AirToGround, Environment};
pub use channel::{Channel, Propagation};
pub use draws::{Draw, Draws};
pub use fading::{Fading, Nakagami, Rician, Steady};
pub use friis::Friis;
pub use log_distance::LogDistance;
pub use shadowing::Shadowing;
pub use sight::{LineOfSight, Sighted};
pub use station_positions::{StationPosition, StationPositions};
pub use tr36777::{Area, Tr36777};
pub use two_ray::TwoRay;

use formula::Formula;
use lightlag_core::Duration;
use lightlag_mobility::Vector;

/// Speed of light in metres per second.
pub const LIGHT: f64 = 299_792_458.0;

/// Minimum distance in metres; a nearer receiver counts as being at this distance, because the models hold only far
/// from an antenna.
pub const NEAREST: f64 = 1.0;

lightlag_core::registry! {
    /// A model of the path loss between two positions.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub enum PathLoss {
        LogDistance, "log-distance", LogDistance;
        Friis, "friis", Friis;
        TwoRay, "two-ray", TwoRay;
        AirToGround, "air-to-ground", AirToGround;
        Tr36777, "tr36777", Tr36777;
    }
}

impl Default for PathLoss {
    fn default() -> Self {
        Self::LogDistance(LogDistance::default())
    }
}

/// Returns the propagation delay over a distance in metres, at most 10^18.
#[inline]
pub fn delay(distance: f64) -> Duration {
    const NANOS_PER_METRE: f64 = 1e9 / LIGHT;
    // A signed number is what the processor converts to.
    Duration::from_nanos((distance * NANOS_PER_METRE + 0.5) as i64 as u64)
}

/// A path loss model.
trait Model {
    /// Returns the loss in dB at a frequency in hertz. If it depends on the line of sight, returns the mean of both
    /// cases.
    fn decibels(&self, from: Vector, to: Vector, frequency: f64) -> f64;

    /// Returns the smallest distance in metres with a loss of at least `decibels` at every greater distance.
    fn reach(&self, decibels: f64, frequency: f64) -> f64;

    /// Returns the model as a formula that needs no logarithms, if it can be written as one.
    fn formula(&self, _frequency: f64) -> Option<Formula> {
        None
    }

    /// Returns the losses with and without a line of sight, if the model distinguishes these cases.
    fn sight(&self, _from: Vector, _to: Vector, _frequency: f64) -> Option<Sighted> {
        None
    }

    /// Returns the maximum standard deviation in dB of the shadowing that is part of the model.
    fn deviation(&self) -> f64 {
        0.0
    }
}

impl PathLoss {
    fn model(&self) -> &dyn Model {
        match self {
            Self::LogDistance(model) => model,
            Self::Friis(model) => model,
            Self::TwoRay(model) => model,
            Self::AirToGround(model) => model,
            Self::Tr36777(model) => model,
        }
    }

    /// Returns the loss in dB at a frequency in hertz. If it depends on the line of sight, returns the mean of both
    /// cases.
    pub fn decibels(&self, from: Vector, to: Vector, frequency: f64) -> f64 {
        self.model().decibels(from, to, frequency)
    }

    /// Returns the losses with and without a line of sight, if the model distinguishes these cases.
    pub fn sight(&self, from: Vector, to: Vector, frequency: f64) -> Option<Sighted> {
        self.model().sight(from, to, frequency)
    }

    /// Returns the smallest distance in metres with a loss of at least `decibels` at every greater distance.
    pub fn reach(&self, decibels: f64, frequency: f64) -> f64 {
        self.model().reach(decibels, frequency)
    }
}

#[cfg(test)]
mod tests;
