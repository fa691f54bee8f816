//! Friis: free-space path loss.
//!
//! Friis, Proceedings of the IRE, 1946: `L = 20·lg(4πd/λ)`.

use super::decibels::{decibels, ratio};
use super::formula::Formula;
use super::power_law::PowerLaw;
use super::{LIGHT, Model, NEAREST};
use lightlag_core::params::{Described, Setting};
use lightlag_mobility::Vector;

/// The free-space model, which has no parameters.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Friis {}

/// Returns the free-space loss at one metre in dB.
pub(super) fn at_one_metre(frequency: f64) -> f64 {
    2.0 * decibels(4.0 * std::f64::consts::PI * frequency / LIGHT)
}

/// Returns the free-space loss in dB at a distance in metres, which counts as at least one.
pub(super) fn free_space(distance: f64, frequency: f64) -> f64 {
    at_one_metre(frequency) + 2.0 * decibels(distance.max(NEAREST))
}

impl Described for Friis {
    const ABOUT: &'static str = "Free-space loss. 20·lg(4πd/λ) dB at the frequency of the channel (Friis 1946); \
         distances below 1 m count as 1 m.";

    fn settings() -> Vec<Setting<Self>> {
        Vec::new()
    }
}

impl Model for Friis {
    fn decibels(&self, from: Vector, to: Vector, frequency: f64) -> f64 {
        free_space(from.distance(to), frequency)
    }

    fn reach(&self, decibels: f64, frequency: f64) -> f64 {
        let over = decibels - at_one_metre(frequency);
        if over < 0.0 { 0.0 } else { ratio(over / 2.0) }
    }

    fn formula(&self, frequency: f64) -> Option<Formula> {
        Some(Formula::Power(PowerLaw::new(ratio(-at_one_metre(frequency)), 2.0, NEAREST)))
    }
}
