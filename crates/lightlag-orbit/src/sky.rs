//! A sky: satellites, ground stations, and who sees whom.

use crate::frames::sidereal;
use crate::grid::{Isl, sees_above_the_air, sine_of_latitude};
use crate::satellite::Satellite;
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

/// The satellites that a station may use.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Visibility {
    /// Those at least so many degrees above the horizon.
    Elevation(f64),
    /// Those no further than so many metres, as Hypatia has it: on a flat Earth √(h² + (h/tan ε)²).
    Slant(f64),
}

/// A station, on the ground or on its way over it.
#[derive(Clone, Debug)]
pub struct Station {
    visibility: Visibility,
    /// Whether it passes on what satellites send to it.
    is_relay: bool,
    /// Where it stays, or where it starts.
    first: Stand,
    /// The places that it passes, if it moves.
    course: Vec<Waypoint>,
}

/// A place that a moving station passes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Waypoint {
    /// When.
    pub at: Instant,
    /// Where.
    pub site: Site,
}

/// A station at a moment.
#[derive(Clone, Copy, Debug)]
pub struct Stand {
    site: Site,
    position: Vector,
    up: Vector,
    visibility: Visibility,
    /// Sine of the least elevation, or the square of the longest slant.
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

    /// Its position, metres from the centre of the Earth.
    pub fn position(&self) -> Vector {
        self.position
    }

    /// Whether the station may use a satellite at this position.
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

    /// The sine of the elevation of something at this position.
    fn elevation(&self, at: Vector) -> f64 {
        let d = at - self.position;
        d.dot(self.up) / d.length()
    }
}

impl Station {
    /// A station that stays at a site.
    pub fn new(site: Site, visibility: Visibility) -> Self {
        Self::moving(vec![Waypoint { at: Instant::ZERO, site }], visibility)
    }

    /// A station that goes along great circles from place to place, and stays at the first before and at the last after it.
    ///
    /// # Panics
    /// If there is no place, or they are not in the order of time.
    pub fn moving(course: Vec<Waypoint>, visibility: Visibility) -> Self {
        assert!(course.is_sorted_by(|a, b| a.at < b.at), "each place is passed after the one before");
        let first = Stand::new(course[0].site, visibility);
        let course = if course.len() == 1 { Vec::new() } else { course };
        Self { visibility, is_relay: false, first, course }
    }

    /// The same, passing on what satellites send to it.
    #[must_use]
    pub fn relaying(mut self, relays: bool) -> Self {
        self.is_relay = relays;
        self
    }

    /// Whether it passes on what satellites send to it.
    pub fn is_relay(&self) -> bool {
        self.is_relay
    }

    /// Its place at a time.
    pub fn site(&self, at: Instant) -> Site {
        let next = self.course.partition_point(|point| point.at <= at);
        match (next.checked_sub(1).and_then(|last| self.course.get(last)), self.course.get(next)) {
            (Some(last), Some(next)) => {
                let part = at.since(last.at).as_secs_f64() / next.at.since(last.at).as_secs_f64();
                last.site.towards(next.site, part)
            }
            (Some(only), None) | (None, Some(only)) => only.site,
            (None, None) => self.first.site,
        }
    }

    /// How it stands at a time.
    pub fn stand(&self, at: Instant) -> Stand {
        if self.course.is_empty() { self.first } else { Stand::new(self.site(at), self.visibility) }
    }

    /// Whether it may use a satellite at this position at a time.
    pub fn sees(&self, satellite: Vector, at: Instant) -> bool {
        self.stand(at).sees(satellite)
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
            return Some(self.stations[station].stand(at).position);
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
        if isl.crosses && self.has_polar_zones() && (in_polar_zone(a) || in_polar_zone(b)) {
            return false;
        }
        sees_above_the_air(a, b)
    }

    /// Whether there are latitudes at which links between planes are off.
    pub fn has_polar_zones(&self) -> bool {
        self.polar < 1.0
    }

    /// The greatest distance of a satellite from the centre of the Earth on its orbit at the start, metres.
    pub fn apogee(&self) -> f64 {
        self.satellites.iter().filter_map(|satellite| satellite.orbit.apogee()).fold(0.0, f64::max)
    }

    /// Where a satellite stands in the sky of a station.
    pub fn look(&self, station: usize, satellite: u32, at: Instant) -> Option<Look> {
        Some(self.stations[station].site(at).look(self.position(satellite, at)?))
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

    fn elevation(&self, from: u32, to: u32, at: Instant) -> f64 {
        let (station, satellite) = match (self.station(from), self.station(to)) {
            (Some(station), _) => (station, to),
            (_, Some(station)) => (station, from),
            _ => return 1.0,
        };
        let above = self.position(satellite, at);
        above.map_or(0.0, |above| self.stations[station].stand(at).elevation(above))
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
        assert!(sky.stations()[0].sees(position, at));
        assert_eq!(sky.light_time(0, 1, at), Duration::from_nanos(2_204_758));
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
    fn a_station_goes_along_great_circles() {
        let place = |latitude, longitude, height| Site { latitude, longitude, height };
        let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        let course = vec![
            Waypoint { at: at(10), site: place(50.0, -10.0, 0.0) },
            Waypoint { at: at(110), site: place(50.0, 170.0, 10e3) },
        ];
        let station = Station::moving(course, Visibility::Elevation(25.0));
        assert_eq!(station.site(at(0)), place(50.0, -10.0, 0.0));
        assert_eq!(station.site(at(200)), place(50.0, 170.0, 10e3));
        // Half way over the pole.
        let middle = station.site(at(60));
        assert!((middle.latitude - 90.0).abs() < 1e-6 && (middle.height - 5e3).abs() < 1e-6, "{middle:?}");
        let quarter = station.site(at(35));
        assert!((quarter.latitude - 70.0).abs() < 1e-9 && (quarter.longitude + 10.0).abs() < 1e-9, "{quarter:?}");
        assert_eq!(station.stand(at(35)).position(), quarter.position());
        let fixed = Station::new(place(1.0, 2.0, 3.0), Visibility::Elevation(25.0));
        assert_eq!(fixed.site(at(5)), place(1.0, 2.0, 3.0));
    }
}
