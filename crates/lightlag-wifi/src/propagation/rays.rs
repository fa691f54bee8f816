//! The direct ray and the ray reflected by the ground, at one frequency.

use super::NEAREST;
use super::station_positions::StationPositions;
use lightlag_mobility::Vector;

/// Minimum height of an antenna in metres; lower antennas count as being at this height.
const LOWEST: f64 = 0.01;

/// The two-ray model at one frequency.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Rays {
    /// Gain of the direct ray at one metre.
    pub(super) direct: f64,
    /// Height of the antenna above its station, in metres.
    pub(super) antenna_height: f64,
}

impl Rays {
    #[inline(always)]
    fn height(self, z: f64) -> f64 {
        (z + self.antenna_height).max(LOWEST)
    }

    /// Returns the gain at a squared distance; `heights` is the product of the antenna heights. It is the smaller
    /// result of the formulas for short and for long distances.
    #[inline(always)]
    fn at(self, d2: f64, heights: f64) -> f64 {
        let inverse = 1.0 / d2.max(NEAREST * NEAREST);
        let reflected = heights * inverse;
        (self.direct * inverse).min(reflected * reflected)
    }

    pub(super) fn gain(self, from: Vector, to: Vector) -> f64 {
        self.at((to - from).square(), self.height(from.z) * self.height(to.z))
    }

    /// Computes the power received at each position from a sender of this power, from squared distances.
    pub(super) fn powers(
        self,
        from: Vector,
        (to, squares): (StationPositions<'_>, &[f64]),
        power: f64,
        out: &mut [f64],
    ) {
        let height = self.height(from.z);
        for ((out, d2), z) in out.iter_mut().zip(squares).zip(to.z) {
            *out = power * self.at(*d2, height * self.height(*z));
        }
    }
}
