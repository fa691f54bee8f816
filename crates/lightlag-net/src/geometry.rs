//! The position of a satellite seen from the ground: slant range, delay, period, passes.
//!
//! The Earth is a sphere of its equatorial radius and orbits are circles. With R that radius, h the height and ε the
//! elevation, the slant range is d = √((R + h)² − (R cos ε)²) − R sin ε; light takes d/c (Maral and Bousquet,
//! *Satellite Communications Systems*, §2.2). The Earth's rotation, its flattening (at most 21 km, 0.07 ms)
//! and refraction are left out.

use lightlag_core::{Angle, Distance, Duration};
use std::f64::consts::PI;

/// Equatorial radius of the Earth (WGS 84), metres.
const EARTH_RADIUS: f64 = 6_378_137.0;
/// Speed of light, metres per second.
const LIGHT: f64 = 299_792_458.0;
/// Gravitational parameter of the Earth (EGM 96), m³/s².
const EARTH_GRAVITY: f64 = 3.986_004_418e14;

/// Returns the propagation time of light over this distance in vacuum.
pub fn light_time(distance: Distance) -> Duration {
    Duration::from_secs_f64(distance.as_metres() / LIGHT)
}

/// Angle of a satellite above the horizon, up to the zenith.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Elevation(Angle);

impl Elevation {
    /// Returns an elevation; `None` below the horizon or beyond 90°.
    pub fn new(angle: Angle) -> Option<Self> {
        (0.0..=90.0).contains(&angle.as_degrees()).then_some(Self(angle))
    }

    /// Returns the angle above the horizon.
    pub const fn angle(self) -> Angle {
        self.0
    }
}

/// A circular orbit, given by its height above the Earth's equatorial radius.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Orbit {
    height: Distance,
}

impl Orbit {
    /// The geostationary orbit.
    pub const GEO: Self = Self { height: Distance::from_km(35_786) };
    /// The medium orbit of O3b.
    pub const MEO: Self = Self { height: Distance::from_km(8_062) };
    /// A low orbit at the upper end of the typical heights.
    pub const LEO_1200: Self = Self { height: Distance::from_km(1_200) };
    /// The orbit of Iridium.
    pub const LEO_780: Self = Self { height: Distance::from_km(780) };
    /// The orbit of Starlink's first shell.
    pub const LEO_550: Self = Self { height: Distance::from_km(550) };

    /// Returns an orbit; `None` below 100 km, where satellites decay quickly, and above a million kilometres, beyond
    /// the Earth's sphere of influence.
    pub fn new(height: Distance) -> Option<Self> {
        (Distance::from_km(100)..=Distance::from_km(1_000_000)).contains(&height).then_some(Self { height })
    }

    /// Returns the height above the ground.
    pub const fn height(self) -> Distance {
        self.height
    }

    fn radius(self) -> f64 {
        EARTH_RADIUS + self.height.as_metres()
    }

    /// Returns the distance from the ground to a satellite at this elevation, to the metre.
    pub fn slant_range(self, elevation: Elevation) -> Distance {
        Distance((self.slant_metres(elevation) + 0.5) as u64)
    }

    fn slant_metres(self, elevation: Elevation) -> f64 {
        let angle = elevation.0.as_radians();
        let across = EARTH_RADIUS * libm::cos(angle);
        libm::sqrt(self.radius() * self.radius() - across * across) - EARTH_RADIUS * libm::sin(angle)
    }

    /// Returns the propagation time of light from the ground to a satellite at this elevation.
    pub fn delay(self, elevation: Elevation) -> Duration {
        Duration::from_secs_f64(self.slant_metres(elevation) / LIGHT)
    }

    /// Returns the orbital period: T = 2π √((R + h)³ / μ).
    pub fn period(self) -> Duration {
        let radius = self.radius();
        Duration::from_secs_f64(2.0 * PI * libm::sqrt(radius * radius * radius / EARTH_GRAVITY))
    }

    /// Returns the angle at the centre of the Earth between the ground and a satellite at this elevation: λ = acos(R
    /// cos ε / (R + h)) − ε, in radians.
    fn central_angle(self, elevation: Elevation) -> f64 {
        let angle = elevation.0.as_radians();
        libm::acos(EARTH_RADIUS * libm::cos(angle) / self.radius()) - angle
    }

    /// Returns the time for which a satellite that passes through the zenith stays at or above this elevation, over an
    /// Earth without rotation: T λ/π.
    pub fn pass(self, elevation: Elevation) -> Duration {
        Duration::from_secs_f64(self.period().as_secs_f64() * self.central_angle(elevation) / PI)
    }

    /// Returns the distance between neighbours if `satellites` satellites are spread evenly over one orbital plane: 2
    /// (R + h) sin(π/n).
    ///
    /// # Panics
    /// With fewer than two satellites.
    pub fn spacing(self, satellites: u64) -> Distance {
        assert!(satellites >= 2, "one satellite has no neighbour");
        Distance((2.0 * self.radius() * libm::sin(PI / satellites as f64) + 0.5) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elevation(degrees: f64) -> Elevation {
        Elevation::new(Angle::from_degrees(degrees).unwrap()).unwrap()
    }

    const ORBITS: [Orbit; 5] = [Orbit::GEO, Orbit::MEO, Orbit::LEO_1200, Orbit::LEO_780, Orbit::LEO_550];

    #[test]
    fn delays_match_the_table() {
        let elevations = [90.0, 40.0, 25.0, 10.0, 0.0];
        let table = [
            [119.37, 126.02, 130.33, 135.38, 139.03],
            [26.89, 31.65, 35.15, 39.68, 43.21],
            [4.00, 5.65, 7.35, 10.45, 13.65],
            [2.60, 3.77, 5.09, 7.76, 10.84],
            [1.83, 2.71, 3.75, 6.06, 9.02],
        ];
        for (orbit, row) in ORBITS.into_iter().zip(table) {
            for (degrees, published) in elevations.into_iter().zip(row) {
                let ours = orbit.delay(elevation(degrees)).as_secs_f64() * 1e3;
                // The table is rounded to 0.01 ms.
                assert!((ours - published).abs() < 0.006, "{orbit:?} at {degrees}: {ours} ms against {published} ms");
            }
        }
    }

    #[test]
    fn overhead_the_slant_range_is_the_height() {
        for orbit in ORBITS {
            assert_eq!(orbit.slant_range(elevation(90.0)), orbit.height());
        }
    }

    #[test]
    fn delays_grow_towards_the_horizon() {
        for orbit in ORBITS {
            let delays: Vec<Duration> = (0..=90).map(|degrees| orbit.delay(elevation(f64::from(degrees)))).collect();
            assert!(delays.is_sorted_by(|low, high| low > high));
        }
    }

    #[test]
    fn periods_and_passes_are_the_published_ones() {
        let minutes = |orbit: Orbit| orbit.period().as_secs_f64() / 60.0;
        for (orbit, published) in [(Orbit::LEO_550, 95.65), (Orbit::LEO_780, 100.45), (Orbit::LEO_1200, 109.42)] {
            assert!((minutes(orbit) - published).abs() < 0.01, "{orbit:?}: {} min", minutes(orbit));
        }
        // A geostationary revolution is a sidereal day, 23 h 56 min 4 s.
        assert!((Orbit::GEO.period().as_secs_f64() - 86_164.0).abs() < 10.0);
        let table = [(Orbit::LEO_550, [477.0, 269.0, 164.0]), (Orbit::LEO_780, [625.0, 373.0, 233.0])];
        for (orbit, row) in table {
            for (degrees, published) in [10.0, 25.0, 40.0].into_iter().zip(row) {
                let ours = orbit.pass(elevation(degrees)).as_secs_f64();
                assert!((ours - published).abs() < 1.0, "{orbit:?} from {degrees}: {ours} s");
            }
        }
    }

    #[test]
    fn neighbours_in_a_plane_are_as_far_as_published() {
        let kilometres = |orbit: Orbit, satellites| orbit.spacing(satellites).as_metres() / 1e3;
        assert!((kilometres(Orbit::LEO_550, 22) - 1972.0).abs() < 1.0);
        assert!((kilometres(Orbit::LEO_780, 11) - 4033.0).abs() < 1.0);
        let ms = |orbit: Orbit, satellites| light_time(orbit.spacing(satellites)).as_secs_f64() * 1e3;
        assert!((ms(Orbit::LEO_550, 22) - 6.58).abs() < 0.01 && (ms(Orbit::LEO_780, 11) - 13.45).abs() < 0.01);
    }

    #[test]
    fn light_to_the_moon_takes_a_second_and_a_quarter() {
        let time = light_time(Distance::from_km(384_400)).as_secs_f64();
        assert!((time - 1.2822).abs() < 1e-4, "{time}");
    }

    #[test]
    fn nothing_is_seen_below_the_horizon() {
        for degrees in [-0.001, 90.001, -40.0] {
            assert_eq!(Elevation::new(Angle::from_degrees(degrees).unwrap()), None, "{degrees}");
        }
        assert_eq!(Orbit::new(Distance::from_km(35)), None, "an error in the units");
    }
}
