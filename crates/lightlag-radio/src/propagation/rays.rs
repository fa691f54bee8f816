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
