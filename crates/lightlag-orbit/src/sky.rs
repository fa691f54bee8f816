//! A constellation: satellites, ground stations, and their visibility.

use crate::frames::sidereal;
use crate::grid::{Isl, sees_above_the_air, sine_of_latitude};
use crate::satellite::Satellite;
use crate::site::{LookAngle, Site};
use crate::time::Utc;
use lightlag_core::{Duration, Instant};
use lightlag_mobility::Vector;
use lightlag_net::Flight;
use std::f64::consts::TAU;

/// The speed of light in metres per second.
pub const LIGHT: f64 = 299_792_458.0;

/// Rotation rate of the Earth in radians per second (rate of the sidereal time of 1982 at J2000).
const TURN: f64 = TAU * 1.002_737_909_350_795 / 86_400.0;

/// The condition for a station to use a satellite.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Visibility {
    /// Minimum elevation in degrees.
    Elevation(f64),
    /// Maximum slant range in metres, as in Hypatia: √(h² + (h/tan ε)²) on a flat Earth, for a height h and an
    /// elevation ε.
    Slant(f64),
}

/// A station, fixed on the ground or moving over it.
#[derive(Clone, Debug)]
pub struct Station {
    visibility: Visibility,
    /// Whether the station relays packets from one satellite to another.
    is_relay: bool,
    /// The position of the station, or its first position if it moves.
    first: Stand,
    /// The waypoints of a moving station; empty if it is fixed.
    course: Vec<Waypoint>,
}

/// A waypoint of a moving station.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Waypoint {
    /// Time when the station is there.
    pub at: Instant,
    /// Position of the waypoint.
    pub site: Site,
}

/// A station at a given time.
#[derive(Clone, Copy, Debug)]
pub struct Stand {
    site: Site,
    position: Vector,
    up: Vector,
    visibility: Visibility,
    /// Sine of the minimum elevation, or the square of the maximum slant range.
    limit: f64,
}

impl Stand {
    fn new(site: Site, visibility: Visibility) -> Self {
        let limit = match visibility {
            Visibility::Elevation(degrees) => libm::sin(degrees.to_radians()),
            Visibility::Slant(metres) => metres * metres,
        };
        Self { site, position: site.position(), up: site.up(), visibility, limit }
    }

    /// Returns the position in metres from the centre of the Earth.
    pub fn position(&self) -> Vector {
        self.position
    }

    /// Returns true if the station may use a satellite at this position.
    pub fn sees(&self, point: Vector) -> bool {
        let d = point - self.position;
        match self.visibility {
            Visibility::Elevation(_) => {
                let up = d.dot(self.up);
                let limit = self.limit;
                // The square root is left out: both sides keep their signs.
                if limit >= 0.0 { up >= 0.0 && up * up >= limit * limit * d.square() } else { up >= limit * d.length() }
            }
            Visibility::Slant(_) => d.square() <= self.limit,
        }
    }

    /// Returns the sine of the elevation of a position.
    fn elevation(&self, point: Vector) -> f64 {
        let d = point - self.position;
        d.dot(self.up) / d.length()
    }
}

impl Station {
    /// Creates a station that stays at a site.
    pub fn new(site: Site, visibility: Visibility) -> Self {
        Self::moving(vec![Waypoint { at: Instant::ZERO, site }], visibility)
    }

    /// Creates a station that moves along great circles between waypoints. It stays at the first waypoint before its
    /// time, and at the last one after its time.
    ///
    /// # Panics
    /// If there is no waypoint, or the waypoints are not ordered by time.
    pub fn moving(course: Vec<Waypoint>, visibility: Visibility) -> Self {
        assert!(course.is_sorted_by(|a, b| a.at < b.at), "the times of the waypoints increase");
        let first = Stand::new(course[0].site, visibility);
        let course = if course.len() == 1 { Vec::new() } else { course };
        Self { visibility, is_relay: false, first, course }
    }

    /// Sets whether the station relays packets from one satellite to another.
    #[must_use]
    pub fn relaying(mut self, relays: bool) -> Self {
        self.is_relay = relays;
        self
    }

    /// Returns true if the station relays packets from one satellite to another.
    pub fn is_relay(&self) -> bool {
        self.is_relay
    }

    /// Returns the station's site at a time.
    pub fn site(&self, time: Instant) -> Site {
        let next = self.course.partition_point(|point| point.at <= time);
        match (next.checked_sub(1).and_then(|last| self.course.get(last)), self.course.get(next)) {
            (Some(last), Some(next)) => {
                let part = time.since(last.at).as_secs_f64() / next.at.since(last.at).as_secs_f64();
                last.site.towards(next.site, part)
            }
            (Some(only), None) | (None, Some(only)) => only.site,
            (None, None) => self.first.site,
        }
    }

    /// Returns the station's state at a time, for visibility checks.
    pub fn stand(&self, time: Instant) -> Stand {
        if self.course.is_empty() { self.first } else { Stand::new(self.site(time), self.visibility) }
    }

    /// Returns true if, at this time, the station may use a satellite at this position.
    pub fn sees(&self, satellite: Vector, time: Instant) -> bool {
        self.stand(time).sees(satellite)
    }
}

/// Satellites and ground stations.
#[derive(Clone, Debug)]
pub struct Sky {
    start: Utc,
    /// The sidereal time at the start of the run, in radians.
    sidereal: f64,
    satellites: Vec<Satellite>,
    stations: Vec<Station>,
    isls: Vec<Isl>,
    /// Sine of the maximum latitude of active links between planes.
    polar: f64,
}

impl Sky {
    /// Creates a constellation for runs that start at `start`. A link between planes is off while one of its satellites
    /// is beyond a latitude of `polar` degrees.
    pub fn new(start: Utc, satellites: Vec<Satellite>, isls: Vec<Isl>, polar: f64, stations: Vec<Station>) -> Self {
        let polar = if polar >= 90.0 { f64::INFINITY } else { libm::sin(polar.to_radians()) };
        Self { start, sidereal: sidereal(start), satellites, stations, isls, polar }
    }

    /// Returns the time when runs start.
    pub fn start(&self) -> Utc {
        self.start
    }

    /// Returns the satellites.
    pub fn satellites(&self) -> &[Satellite] {
        &self.satellites
    }

    /// Returns the stations.
    pub fn stations(&self) -> &[Station] {
        &self.stations
    }

    /// Returns the links between satellites.
    pub fn isls(&self) -> &[Isl] {
        &self.isls
    }

    /// Returns the node index of a station.
    pub fn node_of_station(&self, station: usize) -> u32 {
        (self.satellites.len() + station) as u32
    }

    /// Returns the station index of a node, if it is a station.
    pub fn station(&self, node: u32) -> Option<usize> {
        (node as usize).checked_sub(self.satellites.len())
    }

    /// Returns the rotation angle of the Earth relative to the equinox in radians, `seconds` after the start.
    fn turned(&self, seconds: f64) -> f64 {
        self.sidereal + TURN * seconds
    }

    /// Returns the position of a node in the Earth-fixed frame, in metres from the centre of the Earth; `None` for a
    /// satellite that has decayed.
    pub fn position(&self, node: u32, time: Instant) -> Option<Vector> {
        if let Some(station) = self.station(node) {
            return Some(self.stations[station].stand(time).position);
        }
        let seconds = time.as_secs_f64();
        self.satellites[node as usize].orbit.position_turned(seconds, self.turned(seconds))
    }

    /// Computes the positions of all satellites. A decayed satellite is at the centre of the Earth, where it is never
    /// visible.
    pub fn positions(&self, time: Instant, positions: &mut Vec<Vector>) {
        let seconds = time.as_secs_f64();
        let turned = self.turned(seconds);
        positions.clear();
        let position = |satellite: &Satellite| satellite.orbit.position_turned(seconds, turned).unwrap_or(Vector::ZERO);
        positions.extend(self.satellites.iter().map(position));
    }

    /// Returns true if a link between satellites at these positions is up.
    pub fn isl_is_up(&self, isl: &Isl, a: Vector, b: Vector) -> bool {
        let in_polar_zone = |at: Vector| libm::fabs(sine_of_latitude(at)) > self.polar;
        if isl.crosses && self.has_polar_zones() && (in_polar_zone(a) || in_polar_zone(b)) {
            return false;
        }
        sees_above_the_air(a, b)
    }

    /// Returns true if links between planes are off at some latitudes.
    pub fn has_polar_zones(&self) -> bool {
        self.polar < 1.0
    }

    /// Returns the maximum distance of a satellite from the centre of the Earth on its orbit at the start, in metres.
    pub fn apogee(&self) -> f64 {
        self.satellites.iter().filter_map(|satellite| satellite.orbit.apogee()).fold(0.0, f64::max)
    }

    /// Returns the direction and distance of a satellite from a station.
    pub fn look(&self, station: usize, satellite: u32, time: Instant) -> Option<LookAngle> {
        Some(self.stations[station].site(time).look(self.position(satellite, time)?))
    }

    /// Returns the distance between two nodes in metres.
    pub fn distance(&self, a: u32, b: u32, time: Instant) -> Option<f64> {
        Some(self.position(a, time)?.distance(self.position(b, time)?))
    }
}

/// Returns the propagation time of light over a distance in metres.
pub fn light_time(metres: f64) -> Duration {
    Duration::from_secs_f64(metres / LIGHT)
}

impl Flight for Sky {
    fn light_time(&self, from: u32, to: u32, when: Instant) -> Duration {
        // A decayed satellite has no links any more; packets that are still in transit to it take no time.
        self.distance(from, to, when).map_or(Duration::ZERO, light_time)
    }

    fn elevation(&self, from: u32, to: u32, time: Instant) -> f64 {
        let (station, satellite) = match (self.station(from), self.station(to)) {
            (Some(station), _) => (station, to),
            (_, Some(station)) => (station, from),
            _ => return 1.0,
        };
        let above = self.position(satellite, time);
        above.map_or(0.0, |above| self.stations[station].stand(time).elevation(above))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tle;

    #[test]
    fn the_chain_from_elements_to_look_angles_matches_references() {
        // Python's sgp4 2.27 and skyfield 1.55 with WGS 72 and UT1 = UTC; the station on WGS 84.
        let text = "1 00185U 00000ABC 00001.00000000  .00000000  00000-0  00000+0 0    07\n\
                    2 00185  51.9000  52.9412 0000001   0.0000 153.5294 14.80000000    07\n";
        let start = Utc::Y2000;
        let satellites = tle::read(text).unwrap().into_iter().map(|set| set.satellite(start).unwrap()).collect();
        let manila = Site { latitude: 14.6042, longitude: 120.9822, height: 0.0 };
        let station = Station::new(manila, Visibility::Elevation(25.0));
        let sky = Sky::new(start, satellites, Vec::new(), 90.0, vec![station]);
        let time = Instant::ZERO + Duration::from_secs(100);
        let position = sky.position(0, time).unwrap();
        let expected = Vector::new(-3_345_192.588, 5_853_759.297, 1_904_343.174);
        assert!(position.distance(expected) < 0.01, "{position:?}");
        let look = sky.look(0, 0, time).unwrap();
        assert!((look.range - 660_969.796).abs() < 0.01, "{look:?}");
        assert!((look.elevation - 71.332_118).abs() < 1e-6 && (look.azimuth - 316.576_962).abs() < 1e-6, "{look:?}");
        assert!(sky.stations()[0].sees(position, time));
        assert_eq!(sky.light_time(0, 1, time), Duration::from_nanos(2_204_758));
    }

    #[test]
    fn a_mask_below_the_horizon_is_a_mask() {
        let site = Site { latitude: 0.0, longitude: 0.0, height: 0.0 };
        let below = Vector::new(6_300e3, 2_000e3, 0.0);
        let elevation = site.look(below).elevation;
        assert!(elevation < -2.0);
        let sees = |mask| Station::new(site, Visibility::Elevation(mask)).sees(below, Instant::ZERO);
        assert!(sees(elevation - 0.1) && !sees(elevation + 0.1) && !sees(0.0));
    }

    #[test]
    fn a_station_moves_along_great_circles() {
        let site_at = |latitude, longitude, height| Site { latitude, longitude, height };
        let time = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        let course = vec![
            Waypoint { at: time(10), site: site_at(50.0, -10.0, 0.0) },
            Waypoint { at: time(110), site: site_at(50.0, 170.0, 10e3) },
        ];
        let station = Station::moving(course, Visibility::Elevation(25.0));
        assert_eq!(station.site(time(0)), site_at(50.0, -10.0, 0.0));
        assert_eq!(station.site(time(200)), site_at(50.0, 170.0, 10e3));
        // Half way over the pole.
        let middle = station.site(time(60));
        assert!((middle.latitude - 90.0).abs() < 1e-6 && (middle.height - 5e3).abs() < 1e-6, "{middle:?}");
        let quarter = station.site(time(35));
        assert!((quarter.latitude - 70.0).abs() < 1e-9 && (quarter.longitude + 10.0).abs() < 1e-9, "{quarter:?}");
        assert_eq!(station.stand(time(35)).position(), quarter.position());
        let fixed = Station::new(site_at(1.0, 2.0, 3.0), Visibility::Elevation(25.0));
        assert_eq!(fixed.site(time(5)), site_at(1.0, 2.0, 3.0));
    }
}
