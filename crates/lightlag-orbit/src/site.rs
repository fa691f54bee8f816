//! Places on the ground, on the ellipsoid of WGS 84, and where a satellite stands in their sky.

use lightlag_mobility::Vector;

/// The equatorial radius, metres, and the flattening of WGS 84.
const RADIUS: f64 = 6_378_137.0;
const FLATTENING: f64 = 1.0 / 298.257_223_563;

/// A place on the ground, or at a height above it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Site {
    /// Geodetic latitude, degrees to the north.
    pub latitude: f64,
    /// Longitude, degrees to the east.
    pub longitude: f64,
    /// Height above the ellipsoid, metres.
    pub height: f64,
}

/// The place of a satellite in the sky of a site.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Look {
    /// Distance, metres.
    pub range: f64,
    /// Degrees above the horizon; below it the number is negative.
    pub elevation: f64,
    /// Degrees from the north to the east, from 0 to 360.
    pub azimuth: f64,
}

impl Site {
    /// Its position in the frame that turns with the Earth, metres.
    pub fn position(self) -> Vector {
        let (sin, cos) = libm::sincos(self.latitude.to_radians());
        let (east, north) = libm::sincos(self.longitude.to_radians());
        let e2 = FLATTENING * (2.0 - FLATTENING);
        let v = RADIUS / libm::sqrt(1.0 - e2 * sin * sin);
        let across = (v + self.height) * cos;
        Vector::new(across * north, across * east, (v * (1.0 - e2) + self.height) * sin)
    }

    /// The direction away from the Earth's surface, of length 1.
    pub fn up(self) -> Vector {
        let (sin, cos) = libm::sincos(self.latitude.to_radians());
        let (east, north) = libm::sincos(self.longitude.to_radians());
        Vector::new(cos * north, cos * east, sin)
    }

    /// Whether another place is so near to the opposite one on the Earth that no great circle is told from the others.
    pub fn is_opposite(self, other: Self) -> bool {
        self.up().dot(other.up()) < -0.999_999
    }

    /// The place after this part of the great circle to another; their heights are weighed alike. Between places that are
    /// opposite there is no such circle, and the first is stayed at.
    #[must_use]
    pub fn towards(self, other: Self, part: f64) -> Self {
        let (from, to) = (self.up(), other.up());
        let angle = libm::acos(from.dot(to).clamp(-1.0, 1.0));
        let sine = libm::sin(angle);
        if sine < 1e-9 {
            return Self { height: self.height + (other.height - self.height) * part, ..self };
        }
        let at = from * (libm::sin((1.0 - part) * angle) / sine) + to * (libm::sin(part * angle) / sine);
        Self {
            latitude: libm::asin(at.z.clamp(-1.0, 1.0)).to_degrees(),
            longitude: libm::atan2(at.y, at.x).to_degrees(),
            height: self.height + (other.height - self.height) * part,
        }
    }

    /// Where something at this position stands in its sky.
    pub fn look(self, at: Vector) -> Look {
        let (sin, cos) = libm::sincos(self.latitude.to_radians());
        let (east, north) = libm::sincos(self.longitude.to_radians());
        let d = at - self.position();
        let range = d.length();
        let up = d.dot(self.up());
        let to_east = d.y * north - d.x * east;
        let to_north = d.z * cos - (d.x * north + d.y * east) * sin;
        let azimuth = libm::atan2(to_east, to_north).to_degrees();
        let elevation = libm::asin((up / range).clamp(-1.0, 1.0)).to_degrees();
        Look { range, elevation, azimuth: (azimuth + 360.0) % 360.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_satellite_above_is_at_ninety_degrees() {
        let site = Site { latitude: 47.3, longitude: -8.5, height: 400.0 };
        let above = Site { height: 550_400.0, ..site };
        let look = site.look(above.position());
        assert!((look.elevation - 90.0).abs() < 1e-5 && (look.range - 550_000.0).abs() < 1e-3, "{look:?}");
    }

    #[test]
    fn azimuths_go_from_the_north_to_the_east() {
        let site = Site { latitude: 0.0, longitude: 10.0, height: 0.0 };
        let look = |latitude, longitude| site.look(Site { latitude, longitude, height: 1_000.0 }.position()).azimuth;
        assert!((look(1.0, 10.0) + 180.0) % 360.0 - 180.0 < 1e-9 && (look(0.0, 11.0) - 90.0).abs() < 1e-9);
        assert!((look(-1.0, 10.0) - 180.0).abs() < 1e-9 && (look(0.0, 9.0) - 270.0).abs() < 1e-9);
    }
}
