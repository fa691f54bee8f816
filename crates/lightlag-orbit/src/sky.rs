//! A sky: satellites, ground stations, and who sees whom.

use crate::frames::sidereal;
use crate::grid::{Isl, sees_above_the_air, sine_of_latitude};
use crate::propagate::Propagator;
use crate::site::{Look, Site};
use crate::time::Utc;
use lightlag_core::{Duration, Instant};
use lightlag_mobility::Vector;
use lightlag_net::Flight;
use std::f64::consts::TAU;

/// The speed of light, metres a second.
pub const LIGHT: f64 = 299_792_458.0;

/// Radians a second by which the Earth turns (the rate of the sidereal time of 1982 at J2000).
const TURN: f64 = TAU * 1.002_737_909_350_795 / 86_400.0;

/// A satellite.
#[derive(Clone, Debug)]
pub struct Satellite {
    /// Its name.
    pub name: String,
    /// Its orbit.
    pub orbit: Propagator,
}

/// Which satellites a station may use.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Visibility {
    /// Those at least so many degrees above the horizon.
    Elevation(f64),
    /// Those no further than so many metres, as Hypatia has it: on a flat Earth √(h² + (h/tan ε)²).
    Slant(f64),
}

/// A station on the ground.
#[derive(Clone, Copy, Debug)]
pub struct Station {
    site: Site,
    position: Vector,
    up: Vector,
    visibility: Visibility,
    /// Sine of the least elevation, and the square of the longest slant.
    limit: f64,
}

impl Station {
    /// A station at a site.
    pub fn new(site: Site, visibility: Visibility) -> Self {
        let limit = match visibility {
            Visibility::Elevation(degrees) => libm::sin(degrees.to_radians()),
            Visibility::Slant(metres) => metres * metres,
        };
        Self { site, position: site.position(), up: site.up(), visibility, limit }
    }

    /// Its place.
    pub fn site(&self) -> Site {
        self.site
    }

    /// Whether it may use a satellite at this position.
    pub fn sees(&self, at: Vector) -> bool {
        let d = at - self.position;
        match self.visibility {
            Visibility::Elevation(_) => {
                let up = d.dot(self.up);
                let least = self.limit;
                // The square root is left out: both sides keep their signs.
                if least >= 0.0 { up >= 0.0 && up * up >= least * least * d.square() } else { up >= least * d.length() }
            }
            Visibility::Slant(_) => d.square() <= self.limit,
        }
    }
}

/// Satellites and ground stations.
#[derive(Clone, Debug)]
pub struct Sky {
    start: Utc,
    /// The sidereal time at the start.
    sidereal: f64,
    satellites: Vec<Satellite>,
    stations: Vec<Station>,
    isls: Vec<Isl>,
    /// The sine of the latitude above which links between planes are off.
    polar: f64,
}

impl Sky {
    /// A sky from `start` on. Links between planes are off where one of their satellites is beyond `polar` degrees.
    pub fn new(start: Utc, satellites: Vec<Satellite>, isls: Vec<Isl>, polar: f64, stations: Vec<Station>) -> Self {
        let polar = if polar >= 90.0 { f64::INFINITY } else { libm::sin(polar.to_radians()) };
        Self { start, sidereal: sidereal(start), satellites, stations, isls, polar }
    }

    /// The time at which runs start.
    pub fn start(&self) -> Utc {
        self.start
    }

    /// The satellites.
    pub fn satellites(&self) -> &[Satellite] {
        &self.satellites
    }

    /// The stations.
    pub fn stations(&self) -> &[Station] {
        &self.stations
    }

    /// The links between satellites.
    pub fn isls(&self) -> &[Isl] {
        &self.isls
    }

    /// The number of a station among the nodes.
    pub fn node_of_station(&self, station: usize) -> u32 {
        (self.satellites.len() + station) as u32
    }

    /// The number of a node among the stations, if it is one.
    pub fn station(&self, node: u32) -> Option<usize> {
        (node as usize).checked_sub(self.satellites.len())
    }

    /// The angle by which the Earth has turned since the equinox.
    fn turned(&self, seconds: f64) -> f64 {
        self.sidereal + TURN * seconds
    }

    /// The position of a node, metres from the centre of the Earth, in the frame that turns with it; `None` for a satellite that
    /// has decayed.
    pub fn position(&self, node: u32, at: Instant) -> Option<Vector> {
        if let Some(station) = self.station(node) {
            return Some(self.stations[station].position);
        }
        let seconds = at.as_secs_f64();
        self.satellites[node as usize].orbit.position_turned(seconds, self.turned(seconds))
    }

    /// The positions of all satellites. One that has decayed is at the centre of the Earth, where nobody sees it.
    pub fn positions(&self, at: Instant, positions: &mut Vec<Vector>) {
        let seconds = at.as_secs_f64();
        let turned = self.turned(seconds);
        positions.clear();
        let position = |satellite: &Satellite| satellite.orbit.position_turned(seconds, turned).unwrap_or(Vector::ZERO);
        positions.extend(self.satellites.iter().map(position));
    }

    /// Whether a link between satellites at these positions is up.
    pub fn isl_is_up(&self, isl: &Isl, a: Vector, b: Vector) -> bool {
        let in_polar_zone = |at: Vector| libm::fabs(sine_of_latitude(at)) > self.polar;
        if isl.crosses && (in_polar_zone(a) || in_polar_zone(b)) {
            return false;
        }
        sees_above_the_air(a, b)
    }

    /// Where a satellite stands in the sky of a station.
    pub fn look(&self, station: usize, satellite: u32, at: Instant) -> Option<Look> {
        Some(self.stations[station].site.look(self.position(satellite, at)?))
    }

    /// The distance between two nodes, metres.
    pub fn distance(&self, a: u32, b: u32, at: Instant) -> Option<f64> {
        Some(self.position(a, at)?.distance(self.position(b, at)?))
    }
}

/// The time of light over a distance in metres.
pub fn light_time(metres: f64) -> Duration {
    Duration::from_secs_f64(metres / LIGHT)
}

impl Flight for Sky {
    fn light_time(&self, from: u32, to: u32, at: Instant) -> Duration {
        // A decayed satellite has no links any more; packets that are still on their way to it take no time.
        self.distance(from, to, at).map_or(Duration::ZERO, light_time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tle;

    #[test]
    fn the_chain_from_elements_to_a_look_is_that_of_others() {
        // Python's sgp4 2.27 and skyfield 1.55 with WGS 72 and UT1 = UTC; the station on WGS 84.
        let text = "1 00185U 00000ABC 00001.00000000  .00000000  00000-0  00000+0 0    07\n\
                    2 00185  51.9000  52.9412 0000001   0.0000 153.5294 14.80000000    07\n";
        let start = Utc::Y2000;
        let satellites = tle::read(text).unwrap().into_iter().map(|set| set.satellite(start).unwrap()).collect();
        let manila = Site { latitude: 14.6042, longitude: 120.9822, height: 0.0 };
        let station = Station::new(manila, Visibility::Elevation(25.0));
        let sky = Sky::new(start, satellites, Vec::new(), 90.0, vec![station]);
        let at = Instant::ZERO + Duration::from_secs(100);
        let position = sky.position(0, at).unwrap();
        let expected = Vector::new(-3_345_192.588, 5_853_759.297, 1_904_343.174);
        assert!(position.distance(expected) < 0.01, "{position:?}");
        let look = sky.look(0, 0, at).unwrap();
        assert!((look.range - 660_969.796).abs() < 0.01, "{look:?}");
        assert!((look.elevation - 71.332_118).abs() < 1e-6 && (look.azimuth - 316.576_962).abs() < 1e-6, "{look:?}");
        assert!(sky.stations()[0].sees(position));
        assert_eq!(sky.light_time(0, 1, at), Duration::from_nanos(2_204_758));
    }

    #[test]
    fn a_mask_below_the_horizon_is_a_mask() {
        let site = Site { latitude: 0.0, longitude: 0.0, height: 0.0 };
        let below = Vector::new(6_300e3, 2_000e3, 0.0);
        let elevation = site.look(below).elevation;
        assert!(elevation < -2.0);
        assert!(Station::new(site, Visibility::Elevation(elevation - 0.1)).sees(below));
        assert!(!Station::new(site, Visibility::Elevation(elevation + 0.1)).sees(below));
        assert!(!Station::new(site, Visibility::Elevation(0.0)).sees(below));
    }
}
