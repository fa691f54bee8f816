//! The noise power of a receiver.

use super::mode::Width;
use crate::propagation::decibels::ratio;

const BOLTZMANN: f64 = 1.380_649e-23;

/// Noise temperature in kelvin, as in ns-3.
const TEMPERATURE: f64 = 290.0;

/// Returns the noise power k·T·B·F in milliwatts; `noise_figure` is F in dB.
pub fn noise_floor(width: Width, noise_figure: f64) -> f64 {
    BOLTZMANN * TEMPERATURE * width.hertz() * 1e3 * ratio(noise_figure)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::propagation::decibels::decibels;

    #[test]
    fn the_noise_floor_matches_ns_3() {
        let noise = noise_floor(Width::Mhz20, 7.0);
        assert!((decibels(noise) + 93.97).abs() < 0.01);
        assert!((noise_floor(Width::Mhz40, 7.0) / noise - 2.0).abs() < 1e-12);
        // 44 m at the exponent 3: 16.0206 − 95.9813 + 93.97 = 14.01 dB
        assert!((16.0206 - 95.9813 - decibels(noise) - 14.0).abs() < 0.02);
    }
}
