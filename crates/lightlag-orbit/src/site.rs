//! Positions on the ground, on the WGS 84 ellipsoid, and the direction of a satellite seen from there.

use lightlag_mobility::Vector;

/// Equatorial radius in metres, and flattening, of WGS 84.
const RADIUS: f64 = 6_378_137.0;
const FLATTENING: f64 = 1.0 / 298.257_223_563;

/// A position on the ground, or at a height above it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Site {
    /// Geodetic latitude in degrees, positive to the north.
    pub latitude: f64,
    /// Longitude in degrees, positive to the east.
    pub longitude: f64,
    /// Height above the ellipsoid in metres.
    pub height: f64,
}

/// The direction and distance of a satellite seen from a site.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LookAngle {
    /// Distance in metres.
    pub range: f64,
    /// Elevation above the horizon in degrees; negative below the horizon.
    pub elevation: f64,
    /// Azimuth in degrees, from 0 to 360, clockwise from north.
    pub azimuth: f64,
}

impl Site {
    /// Returns the position of the site in the Earth-fixed frame, in metres.
    pub fn position(self) -> Vector {
        let (sin, cos) = libm::sincos(self.latitude.to_radians());
        let (east, north) = libm::sincos(self.longitude.to_radians());
        let e2 = FLATTENING * (2.0 - FLATTENING);
        let v = RADIUS / libm::sqrt(1.0 - e2 * sin * sin);
        let across = (v + self.height) * cos;
        Vector::new(across * north, across * east, (v * (1.0 - e2) + self.height) * sin)
    }

    /// Returns the unit vector that points vertically upwards from the ellipsoid.
    pub fn up(self) -> Vector {
        let (sin, cos) = libm::sincos(self.latitude.to_radians());
        let (east, north) = libm::sincos(self.longitude.to_radians());
        Vector::new(cos * north, cos * east, sin)
    }

    /// Returns true if another site is so near to the antipode that the great circle between the two sites is not well
    /// defined.
    pub fn is_opposite(self, other: Self) -> bool {
        self.up().dot(other.up()) < -0.999_999
    }

    /// Returns the position at a fraction of the great circle to another site, with linearly interpolated height. If
    /// the two sites are antipodes, there is no unique great circle, and the result stays at the first site.
    #[must_use]
    pub fn towards(self, other: Self, part: f64) -> Self {
        let (from, to) = (self.up(), other.up());
        let angle = libm::acos(from.dot(to).clamp(-1.0, 1.0));
        let sine = libm::sin(angle);
        if sine < 1e-9 {
            return Self { height: self.height + (other.height - self.height) * part, ..self };
        }
        let point = from * (libm::sin((1.0 - part) * angle) / sine) + to * (libm::sin(part * angle) / sine);
        Self {
            latitude: libm::asin(point.z.clamp(-1.0, 1.0)).to_degrees(),
            longitude: libm::atan2(point.y, point.x).to_degrees(),
            height: self.height + (other.height - self.height) * part,
        }
    }

    /// Returns the direction and distance of a position seen from the site.
    pub fn look(self, point: Vector) -> LookAngle {
        let (sin, cos) = libm::sincos(self.latitude.to_radians());
        let (east, north) = libm::sincos(self.longitude.to_radians());
        let d = point - self.position();
        let range = d.length();
        let up = d.dot(self.up());
        let to_east = d.y * north - d.x * east;
        let to_north = d.z * cos - (d.x * north + d.y * east) * sin;
        let azimuth = libm::atan2(to_east, to_north).to_degrees();
        let elevation = libm::asin((up / range).clamp(-1.0, 1.0)).to_degrees();
        LookAngle { range, elevation, azimuth: (azimuth + 360.0) % 360.0 }
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
