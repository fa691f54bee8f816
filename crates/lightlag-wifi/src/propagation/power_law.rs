//! A gain that is a power of the distance, g · d^−n, computed from the squared distance.
//!
//! If n is a multiple of ½, roots and products suffice. Otherwise the power needs a logarithm and an exponential, for
//! which [`super::decibels`] has polynomials.

use super::decibels::{exp2, log2};

/// The gain g · max(d, d_min)^−n.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct PowerLaw {
    /// Gain at one metre.
    gain: f64,
    exponent: f64,
    least_squared: f64,
}

/// Returns the squared distance `d2` to the power of −QUARTERS/4.
#[inline(always)]
fn inverse_power<const QUARTERS: usize>(d2: f64) -> f64 {
    let mut product = if QUARTERS % 4 >= 2 || QUARTERS % 2 == 1 {
        let root = d2.sqrt();
        let half = if QUARTERS % 4 >= 2 { root } else { 1.0 };
        if QUARTERS % 2 == 1 { half * root.sqrt() } else { half }
    } else {
        1.0
    };
    for _ in 0..QUARTERS / 4 {
        product *= d2;
    }
    1.0 / product
}

/// Calls `$method::<QUARTERS>` for an exponent of QUARTERS/2, and `$otherwise` for all others.
macro_rules! by_quarters {
    ($exponent:expr, |$quarters:ident| $call:expr, $otherwise:expr; $($number:literal)*) => {
        match $exponent * 2.0 {
            $(of if of == $number as f64 => {
                const $quarters: usize = $number;
                $call
            })*
            _ => $otherwise,
        }
    };
}

impl PowerLaw {
    /// Creates a gain that is `gain` at one metre, falls with d^−n, and is constant below `min` metres.
    pub(super) fn new(gain: f64, exponent: f64, min: f64) -> Self {
        Self { gain, exponent, least_squared: min * min }
    }

    #[inline(always)]
    fn general(self, d2: f64) -> f64 {
        exp2(-0.5 * self.exponent * log2(d2))
    }

    /// Returns the gain at a squared distance.
    #[inline]
    pub(super) fn gain(self, d2: f64) -> f64 {
        let d2 = d2.max(self.least_squared);
        let share = by_quarters!(
            self.exponent, |QUARTERS| inverse_power::<QUARTERS>(d2), self.general(d2);
            2 3 4 5 6 7 8 9 10 11 12
        );
        self.gain * share
    }

    /// Computes the power at each squared distance from a sender of power `power`.
    pub(super) fn powers(self, squares: &[f64], power: f64, out: &mut [f64]) {
        let scale = power * self.gain;
        by_quarters!(
            self.exponent,
            |QUARTERS| self.fill(squares, out, |d2| scale * inverse_power::<QUARTERS>(d2)),
            self.fill(squares, out, |d2| scale * self.general(d2));
            2 3 4 5 6 7 8 9 10 11 12
        );
    }

    #[inline(always)]
    fn fill(self, squares: &[f64], out: &mut [f64], power: impl Fn(f64) -> f64) {
        for (out, d2) in out.iter_mut().zip(squares) {
            // A comparison takes one instruction, `f64::max` several.
            *out = power(if *d2 > self.least_squared { *d2 } else { self.least_squared });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::propagation::StationPositions;
    use lightlag_mobility::Vector;

    #[test]
    fn roots_and_polynomials_agree_with_libm() {
        for twice in 1..=16 {
            for exponent in [f64::from(twice) / 2.0, f64::from(twice) / 2.0 + 0.07] {
                let law = PowerLaw::new(0.25, exponent, 1.0);
                for d2 in [1.0, 1.7, 100.0, 3.3e4, 9e9] {
                    let exact = 0.25 * libm::pow(d2, -0.5 * exponent);
                    // 1e-6 dB is a ratio of 2.3e-7.
                    assert!((law.gain(d2) / exact - 1.0).abs() < 2.3e-8, "{exponent} {d2}");
                }
            }
        }
    }

    #[test]
    fn many_receivers_get_what_each_alone_would_get() {
        let coordinate = |scale: f64| (0..67).map(|i| libm::sin(f64::from(i) * scale) * 300.0).collect::<Vec<_>>();
        let (x, y, z) = (coordinate(1.0), coordinate(2.3), coordinate(3.1));
        let from = Vector::new(x[3], y[3], z[3]);
        let mut squares = vec![0.0; 67];
        StationPositions { x: &x, y: &y, z: &z, stations: None }.squares(from, &mut squares);
        for exponent in [2.0, 2.5, 3.0, 3.5, 4.0, 2.2] {
            let law = PowerLaw::new(1e-5, exponent, 1.0);
            let mut powers = vec![0.0; 67];
            law.powers(&squares, 40.0, &mut powers);
            for (i, power) in powers.iter().enumerate() {
                let alone = 40.0 * law.gain((Vector::new(x[i], y[i], z[i]) - from).square());
                assert!((power / alone - 1.0).abs() < 1e-15, "{exponent} {i}");
            }
            // The sender itself is at one metre.
            assert!((powers[3] / 40e-5 - 1.0).abs() < 1e-15);
        }
    }
}
