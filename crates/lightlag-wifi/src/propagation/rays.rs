//! The direct ray and the one that the ground reflects, at a frequency.

use super::NEAREST;
use super::places::Places;
use lightlag_mobility::Vector;

/// Antennas that are lower count as being at this height, in metres.
const LOWEST: f64 = 0.01;

/// Two rays at a frequency.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Rays {
    /// The gain of the direct ray at one metre.
    pub(super) direct: f64,
    /// In metres.
    pub(super) antenna_height: f64,
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

    /// The power at each place of a sender of that power, whose squared distance is known.
    pub(super) fn powers(self, from: Vector, (to, squares): (Places<'_>, &[f64]), power: f64, out: &mut [f64]) {
        let height = self.height(from.z);
        for ((out, d2), z) in out.iter_mut().zip(squares).zip(to.z) {
            *out = power * self.at(*d2, height * self.height(*z));
        }
    }
}
