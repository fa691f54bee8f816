//! From the frame of SGP4 (true equator, mean equinox) to the frame that turns with the Earth.
//!
//! The Earth turns by the mean sidereal time of Greenwich of 1982 (Vallado, Crawford, Hujsak and Kelso, *Revisiting
//! Spacetrack Report #3*, AIAA 2006-6753, appendix C), with UT1 taken as UTC. The motion of the poles, up to 15 m, and the
//! difference of UT1 from UTC, up to 0.9 s or 420 m at the equator, are left out.

use crate::Utc;
use std::f64::consts::TAU;

/// The sidereal time of Greenwich, radians from 0 to 2π.
pub fn sidereal(time: Utc) -> f64 {
    let (days, part) = time.julian();
    let t = ((days - 2_451_545.0) + part) / 36_525.0;
    // The hours of the day apart, because they are known to more digits: 876,600 h · 3600 s a century.
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
    fn the_sidereal_time_is_that_of_the_almanac() {
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
