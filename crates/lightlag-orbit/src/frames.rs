//! Transformation from the frame of SGP4 (true equator, mean equinox) to the Earth-fixed frame.
//!
//! The rotation angle of the Earth is the Greenwich mean sidereal time of 1982 (Vallado, Crawford, Hujsak and Kelso,
//! *Revisiting Spacetrack Report #3*, AIAA 2006-6753, appendix C), with UTC used as UT1. Two effects are neglected:
//! polar motion, up to 15 m, and the difference between UT1 and UTC, up to 0.9 s or 420 m at the equator.

use crate::Utc;
use std::f64::consts::TAU;

/// Returns the Greenwich sidereal time in radians, from 0 to 2π.
pub fn sidereal(time: Utc) -> f64 {
    let (days, part) = time.julian();
    let t = ((days - 2_451_545.0) + part) / 36_525.0;
    // The hours of the day separately, because they are known to more digits: 876,600 h · 3600 s per century.
    let turns = 36_525.0 * t;
    let seconds = 67_310.548_41
        + 86_400.0 * (turns - libm::floor(turns))
        + t * (8_640_184.812_866 + t * (0.093_104 - t * 6.2e-6));
    let angle = TAU * (seconds / 86_400.0);
    angle - TAU * libm::floor(angle / TAU)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sidereal_time_matches_the_almanac() {
        let degrees = |text: &str| sidereal(text.parse().unwrap()).to_degrees();
        assert!((degrees("2000-01-01") - 99.967_794_692).abs() < 1e-7, "{}", degrees("2000-01-01"));
        assert!((degrees("2026-01-01") - 100.660_858_537).abs() < 1e-7, "{}", degrees("2026-01-01"));
    }

    #[test]
    fn a_day_of_stars_is_shorter() {
        let at = |text: &str| sidereal(text.parse().unwrap());
        let turned = at("2026-01-02T00:00:00") - at("2026-01-01T00:00:00");
        assert!((turned.to_degrees() - 0.985_647_36).abs() < 1e-6);
    }
}
