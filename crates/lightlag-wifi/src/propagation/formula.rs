//! Gains that can be computed without logarithms.

use super::power_law::PowerLaw;
use super::rays::Rays;
use super::station_positions::StationPositions;
use lightlag_mobility::Vector;

/// A formula for the gain that needs no logarithms.
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

    /// Computes the power received at each position from a sender of this power. `to` has the positions and their
    /// squared distances.
    pub(super) fn powers(self, from: Vector, to: (StationPositions<'_>, &[f64]), power: f64, out: &mut [f64]) {
        match self {
            Self::Power(law) => law.powers(to.1, power, out),
            Self::TwoRays(rays) => rays.powers(from, to, power, out),
        }
    }
}
