//! Conversion of WGS 84 positions to local coordinates.
//!
//! A point with latitude φ, longitude λ and height h above the ellipsoid has geocentric coordinates
//!
//! ```text
//! X = (N + h) cos φ cos λ,  Y = (N + h) cos φ sin λ,  Z = ((1 − e²) N + h) sin φ,  N = a / √(1 − e² sin² φ)
//! ```
//!
//! and its difference from the origin is rotated into the directions east, north and up at the origin
//! (Hofmann-Wellenhof, Lichtenegger and Wasle, *GNSS*, 2008, §8.2). Up is the direction at the origin: a point 10 km
//! away at the same height is 8 m below it.

use crate::Vector;
use std::f64::consts::PI;

/// Semi-major axis, metres (WGS 84).
const SEMI_MAJOR: f64 = 6_378_137.0;
/// Flattening (WGS 84).
const FLATTENING: f64 = 1.0 / 298.257_223_563;
/// The square of the eccentricity.
const ECCENTRICITY: f64 = FLATTENING * (2.0 - FLATTENING);

/// A position on the Earth.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Geodetic {
    /// Latitude in degrees, from −90 to 90, positive to the north.
    pub latitude: f64,
    /// Longitude in degrees, from −180 to 180, positive to the east.
    pub longitude: f64,
    /// Height above the ellipsoid, in metres.
    pub height: f64,
}

impl Geodetic {
    /// Returns geocentric coordinates: z points to the north pole, x to the equator on the Greenwich meridian.
    fn centred(self) -> Vector {
        let (sin, cos) = libm::sincos(self.latitude * (PI / 180.0));
        let (east, greenwich) = libm::sincos(self.longitude * (PI / 180.0));
        let normal = SEMI_MAJOR / libm::sqrt(1.0 - ECCENTRICITY * sin * sin);
        let across = (normal + self.height) * cos;
        Vector::new(across * greenwich, across * east, ((1.0 - ECCENTRICITY) * normal + self.height) * sin)
    }
}

/// Local coordinates on a plane that touches the Earth: x to the east, y to the north, z up.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Local {
    origin: Vector,
    east: Vector,
    north: Vector,
    up: Vector,
}

impl Local {
    /// Returns local coordinates with the origin at this position.
    pub fn at(origin: Geodetic) -> Self {
        let (sin, cos) = libm::sincos(origin.latitude * (PI / 180.0));
        let (east, greenwich) = libm::sincos(origin.longitude * (PI / 180.0));
        Self {
            origin: origin.centred(),
            east: Vector::new(-east, greenwich, 0.0),
            north: Vector::new(-sin * greenwich, -sin * east, cos),
            up: Vector::new(cos * greenwich, cos * east, sin),
        }
    }

    /// Converts a position to local coordinates, in metres.
    pub fn place(&self, geodetic: Geodetic) -> Vector {
        let offset = geodetic.centred() - self.origin;
        Vector::new(self.east.dot(offset), self.north.dot(offset), self.up.dot(offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(latitude: f64, longitude: f64, height: f64) -> Geodetic {
        Geodetic { latitude, longitude, height }
    }

    #[test]
    fn the_poles_and_the_equator_are_where_the_ellipsoid_has_them() {
        assert!(at(0.0, 0.0, 0.0).centred().distance(Vector::new(6_378_137.0, 0.0, 0.0)) < 1e-6);
        assert!(at(0.0, 90.0, 10.0).centred().distance(Vector::new(0.0, 6_378_147.0, 0.0)) < 1e-6);
        // The semi-minor axis, 6 356 752.3142 m.
        assert!(at(90.0, 0.0, 0.0).centred().distance(Vector::new(0.0, 0.0, 6_356_752.314_2)) < 1e-4);
    }

    #[test]
    fn short_distances_follow_the_radii_of_curvature() {
        let local = Local::at(at(45.0, 9.0, 100.0));
        let e = ECCENTRICITY;
        let normal = SEMI_MAJOR / libm::sqrt(1.0 - e / 2.0);
        let meridian = SEMI_MAJOR * (1.0 - e) / libm::pow(1.0 - e / 2.0, 1.5);
        let step = 0.001 * PI / 180.0;
        let north = local.place(at(45.001, 9.0, 100.0));
        assert!((north.y - (meridian + 100.0) * step).abs() < 1e-3 && north.x.abs() < 1e-6, "{north:?}");
        let east = local.place(at(45.0, 9.001, 100.0));
        assert!((east.x - (normal + 100.0) * libm::cos(PI / 4.0) * step).abs() < 1e-3, "{east:?}");
        assert!(local.place(at(45.0, 9.0, 160.0)).distance(Vector::new(0.0, 0.0, 60.0)) < 1e-6);
    }

    #[test]
    fn distances_are_unchanged() {
        let (a, b) = (at(48.8, 2.3, 35.0), at(48.9, 2.5, 300.0));
        let local = Local::at(at(48.85, 2.35, 50.0));
        let (across, chord) = (local.place(a).distance(local.place(b)), a.centred().distance(b.centred()));
        assert!((across - chord).abs() < 1e-6, "{across} and {chord}");
    }
}
