//! Gains that need no logarithms.

use super::places::Places;
use super::power_law::PowerLaw;
use super::rays::Rays;
use lightlag_mobility::Vector;

/// A gain without logarithms.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Formula {
    Power(PowerLaw),
    TwoRays(Rays),
}

impl Formula {
    pub(super) fn gain(self, from: Vector, to: Vector) -> f64 {
        match self {
            Self::Power(law) => law.gain((to - from).square()),
            Self::TwoRays(rays) => rays.gain(from, to),
        }
    }

    /// The power at each place of a sender of that power, whose squared distance is known.
    pub(super) fn powers(self, from: Vector, to: (Places<'_>, &[f64]), power: f64, out: &mut [f64]) {
        match self {
            Self::Power(law) => law.powers(to.1, power, out),
            Self::TwoRays(rays) => rays.powers(from, to, power, out),
        }
    }
}
