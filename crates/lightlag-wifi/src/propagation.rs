//! Propagation: the share of a sender's power that reaches a receiver, and the time that it takes.
//!
//! - [`Loss`]: the loss over a distance, one of several models.
//! - [`Fading`], [`Shadowing`]: the power of one frame around its mean, and the mean of one pair around the loss.
//! - [`Channel`]: a loss at a frequency, ready to be asked for one receiver or for all of them at once.
//! - [`delay`]: the time at the speed of light.
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
mod places;
mod power_law;
mod rays;
mod shadowing;
mod sight;
mod tr36777;
mod two_ray;

pub use air_to_ground::{AirToGround, Environment};
pub use channel::{Channel, Propagation};
pub use draws::{Draw, Draws};
pub use fading::{Fading, Nakagami, Rician, Steady};
pub use friis::Friis;
pub use log_distance::LogDistance;
pub use places::{Place, Places};
pub use shadowing::Shadowing;
pub use sight::{Sight, Sighted};
pub use tr36777::{Area, Tr36777};
pub use two_ray::TwoRay;

use formula::Formula;
use lightlag_core::Duration;
use lightlag_mobility::Vector;

/// The speed of light in metres per second.
pub const LIGHT: f64 = 299_792_458.0;

/// Receivers that are nearer count as being at this distance, in metres: the models hold only far from an antenna.
pub const NEAREST: f64 = 1.0;

lightlag_core::registry! {
    /// A model of the loss between two places.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub enum Loss {
        LogDistance, "log-distance", LogDistance;
        Friis, "friis", Friis;
        TwoRay, "two-ray", TwoRay;
        AirToGround, "air-to-ground", AirToGround;
        Tr36777, "tr36777", Tr36777;
    }
}

impl Default for Loss {
    fn default() -> Self {
        Self::LogDistance(LogDistance::default())
    }
}

/// The time that a signal takes over so many metres, at most 10^18.
#[inline]
pub fn delay(distance: f64) -> Duration {
    const NANOS_PER_METRE: f64 = 1e9 / LIGHT;
    // A signed number is what the processor converts to.
    Duration::from_nanos((distance * NANOS_PER_METRE + 0.5) as i64 as u64)
}

/// A model of loss.
trait Model {
    /// The loss in dB at a frequency in hertz. Where it depends on the line of sight, the mean of both cases.
    fn decibels(&self, from: Vector, to: Vector, frequency: f64) -> f64;

    /// A distance in metres beyond which the loss is never below so many dB.
    fn reach(&self, decibels: f64, frequency: f64) -> f64;

    /// The model as a gain without logarithms, if it is one.
    fn formula(&self, _frequency: f64) -> Option<Formula> {
        None
    }

    /// Its losses with and without a line of sight, if it tells them apart.
    fn sight(&self, _from: Vector, _to: Vector, _frequency: f64) -> Option<Sighted> {
        None
    }

    /// The largest deviation in dB of a shadowing of its own.
    fn deviation(&self) -> f64 {
        0.0
    }
}

impl Loss {
    fn model(&self) -> &dyn Model {
        match self {
            Self::LogDistance(of) => of,
            Self::Friis(of) => of,
            Self::TwoRay(of) => of,
            Self::AirToGround(of) => of,
            Self::Tr36777(of) => of,
        }
    }

    /// The loss in dB at a frequency in hertz. Where it depends on the line of sight, the mean of both cases.
    pub fn decibels(&self, from: Vector, to: Vector, frequency: f64) -> f64 {
        self.model().decibels(from, to, frequency)
    }

    /// Its losses with and without a line of sight, if it tells them apart.
    pub fn sight(&self, from: Vector, to: Vector, frequency: f64) -> Option<Sighted> {
        self.model().sight(from, to, frequency)
    }

    /// A distance in metres beyond which the loss is never below so many dB.
    pub fn reach(&self, decibels: f64, frequency: f64) -> f64 {
        self.model().reach(decibels, frequency)
    }
}

#[cfg(test)]
mod tests;
