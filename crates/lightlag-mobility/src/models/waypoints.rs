//! Paths given in the scenario: positions with times, or positions with the speed of the flight to each.

use crate::model::{Model, Refusal, extent, in_area, shown};
use crate::piece::flight_time;
use crate::track::{Fix, Follower, Track};
use crate::walk::WalkStart;
use crate::{Area, Piece, Vector};
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Duration, Instant};

/// Positions with times, or positions with the speed of the flight to each.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Waypoints {
    /// Rows of time in seconds, and x, y and z in metres.
    pub times: Vec<Vec<f64>>,
    /// Rows of x, y and z in metres, and the speed of the flight to that position in metres per second.
    pub places: Vec<Vec<f64>>,
    /// Whether the path starts again after its end.
    pub repeats: bool,
}

/// Maximum duration of a path: 20 days.
const LONGEST: f64 = 20.0 * 24.0 * 3600.0;
/// Maximum distance between positions that count as equal, in metres.
const SAME: f64 = 1e-6;

impl Described for Waypoints {
    const ABOUT: &'static str = "A node flies through given positions, straight from each to the next. `times` gives \
                                 each position with its time: the node stays at the first until its time and at the \
                                 last after it. `places` gives each position with the speed to it: the node starts at \
                                 time 0 from its own position, or at the first one. `repeat` returns to the start and \
                                 repeats the path: a path of times must end at its start, and a path of places flies \
                                 back at its last speed.";

    fn settings() -> Vec<Setting<Self>> {
        const TIMES: &[&str] = &["time_s", "x_m", "y_m", "z_m"];
        const PLACES: &[&str] = &["x_m", "y_m", "z_m", "speed_m_per_s"];
        vec![
            Setting::rows("times", |c: &mut Self| &mut c.times, TIMES, "[[0, 0, 0, 20], [10, 100, 0, 20]]")
                .about("Rows of time in seconds, x, y and z in metres.")
                .quiet()
                .checked(|c| refused_times(&c.times)),
            Setting::rows("places", |c: &mut Self| &mut c.places, PLACES, "[[0, 0, 20, 10], [100, 0, 20, 10]]")
                .about("Rows of x, y and z in metres, and the speed to that position in metres per second.")
                .quiet()
                .checked(|c| refused_places(c)),
            Setting::flag("repeat", |c: &mut Self| &mut c.repeats)
                .about("Whether the path starts again at its end.")
                .quiet()
                .checked(|c| {
                    let closes = |rows: &[Vec<f64>]| rows.len() > 1 && rows[0][1..] == rows[rows.len() - 1][1..];
                    (c.repeats && !c.times.is_empty() && !closes(&c.times)).then_some(
                        "needs a path that ends where it starts; add the first position with a time at its end",
                    )
                }),
        ]
    }
}

fn refused_times(rows: &[Vec<f64>]) -> Option<&'static str> {
    if rows.iter().any(|row| row[0] < 0.0 || row[0] > LONGEST) {
        return Some("has a time that is not from 0 to 1728000 s (20 days)");
    }
    let at = |row: &Vec<f64>| Duration::from_secs_f64(row[0]);
    (!rows.is_sorted_by(|a, b| at(a) < at(b))).then_some("has a time that is not after the previous one")
}

fn refused_places(config: &Waypoints) -> Option<&'static str> {
    if !config.times.is_empty() && !config.places.is_empty() {
        return Some("cannot be combined with times; remove one of them");
    }
    if config.places.iter().any(|row| !(0.001..=10_000.0).contains(&row[3])) {
        return Some("has a speed that is not from 0.001 to 10000 m/s");
    }
    None
}

impl Model for Waypoints {
    type Walk = Follower;

    fn check(&self, area: &Area, start: Option<Vector>) -> Result<(), Refusal> {
        let (key, rows, skip) = match self.times.as_slice() {
            [] => ("places", &self.places, 0),
            _ => ("times", &self.times, 1),
        };
        if rows.is_empty() && start.is_none() {
            return Err(Refusal::of(
                "times",
                "neither times nor places are given; write times = [[0, 0, 0, 20], [10, 100, 0, 20]]".to_owned(),
            ));
        }
        if skip == 1 && start.is_some() {
            return Err(Refusal::place("a path of times defines its own start; remove the position".to_owned()));
        }
        for position in rows.iter().map(|row| Vector::new(row[skip], row[skip + 1], row[skip + 2])) {
            if !area.contains(position) {
                return Err(Refusal::of(key, format!("{} is outside {}", shown(position), extent(area))));
            }
        }
        in_area(area, start)
    }

    fn start(&self, start: WalkStart<'_>) -> (Follower, Piece) {
        let track = if self.times.is_empty() { self.flown(start.place) } else { self.timed() };
        Follower::new(track, self.repeats)
    }
}

impl Waypoints {
    fn timed(&self) -> Track {
        let fix = |row: &Vec<f64>| Fix {
            at: Instant::ZERO + Duration::from_secs_f64(row[0]),
            place: Vector::new(row[1], row[2], row[3]),
        };
        Track::new(self.times.iter().map(fix).collect()).expect("checked settings")
    }

    /// Returns the track through the positions at the given speeds. A position where the node already is adds nothing.
    fn flown(&self, initial: Option<Vector>) -> Track {
        let stops = self.places.iter().map(|row| (Vector::new(row[0], row[1], row[2]), row[3]));
        let mut fixes: Vec<Fix> = initial.map(|place| Fix { at: Instant::ZERO, place }).into_iter().collect();
        let back = self.repeats.then(|| {
            let start = fixes.first().map_or_else(|| stops.clone().next().map(|stop| stop.0), |fix| Some(fix.place));
            start.zip(self.places.last().map(|row| row[3]))
        });
        for (position, speed) in stops.chain(back.flatten()) {
            match fixes.last() {
                None => fixes.push(Fix { at: Instant::ZERO, place: position }),
                Some(last) if last.place.distance(position) < SAME => {}
                Some(last) => {
                    let at = last.at + flight_time(last.place.distance(position), speed);
                    fixes.push(Fix { at, place: position });
                }
            }
        }
        Track::new(fixes).expect("checked settings")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mobility, Motion};

    fn area() -> Area {
        Area::new(Vector::ZERO, Vector::new(100.0, 100.0, 50.0)).unwrap()
    }

    fn at(seconds: f64) -> Instant {
        Instant::ZERO + Duration::from_secs_f64(seconds)
    }

    fn motion(config: Waypoints, position: Option<Vector>) -> Motion {
        Motion::new(&Mobility::Waypoints(config), &area(), position, 1, "a")
    }

    #[test]
    fn places_are_reached_at_their_times() {
        let times = vec![vec![2.0, 0.0, 0.0, 20.0], vec![12.0, 100.0, 0.0, 20.0], vec![14.0, 100.0, 10.0, 20.0]];
        let mut motion = motion(Waypoints { times, ..Waypoints::default() }, None);
        assert_eq!(motion.max_speed(), 10.0);
        assert_eq!(motion.position(at(1.0)), Vector::new(0.0, 0.0, 20.0));
        assert_eq!(motion.position(at(7.0)), Vector::new(50.0, 0.0, 20.0));
        assert_eq!(motion.velocity(at(13.0)), Vector::new(0.0, 5.0, 0.0));
        assert_eq!(motion.position(at(99.0)), Vector::new(100.0, 10.0, 20.0));
        assert_eq!(motion.velocity(at(99.0)), Vector::ZERO);
    }

    #[test]
    fn places_are_flown_to_at_their_speeds() {
        let places = vec![vec![30.0, 0.0, 0.0, 10.0], vec![30.0, 40.0, 0.0, 5.0]];
        let config = Waypoints { places, repeats: true, ..Waypoints::default() };
        let mut from_place = motion(config.clone(), Some(Vector::ZERO));
        // 30 m at 10 m/s, 40 m at 5 m/s, 50 m back at 5 m/s: 3 + 8 + 10 s, and again.
        assert_eq!(from_place.position(at(3.0)), Vector::new(30.0, 0.0, 0.0));
        assert_eq!(from_place.position(at(11.0)), Vector::new(30.0, 40.0, 0.0));
        assert!(from_place.position(at(16.0)).distance(Vector::new(15.0, 20.0, 0.0)) < 1e-9);
        assert_eq!(from_place.position(at(21.0 * 5.0 + 3.0)), Vector::new(30.0, 0.0, 0.0));
        // Without a place the first row is the start: 8 s there, 8 s back.
        let mut from_first = motion(config, None);
        assert_eq!(from_first.position(at(8.0)), Vector::new(30.0, 40.0, 0.0));
        assert_eq!(from_first.position(at(16.0 * 3.0 + 4.0)), Vector::new(30.0, 20.0, 0.0));
    }

    #[test]
    fn wrong_paths_are_rejected() {
        let refused = |key: &str, config: &Waypoints| {
            let settings = Waypoints::settings();
            let setting = settings.iter().find(|setting| setting.key == key).unwrap();
            (setting.check)(config).map(str::to_owned)
        };
        let row = |time| vec![time, 0.0, 0.0, 0.0];
        let timed = |times| Waypoints { times, ..Waypoints::default() };
        assert!(refused("times", &timed(vec![row(1.0), row(1.0)])).unwrap().contains("not after"));
        assert!(refused("times", &timed(vec![row(-1.0)])).unwrap().contains("from 0 to"));
        let both = Waypoints { times: vec![row(1.0)], places: vec![row(1.0)], repeats: false };
        assert!(refused("places", &both).unwrap().contains("remove one of them"));
        let still = Waypoints { places: vec![row(1.0)], ..Waypoints::default() };
        assert!(refused("places", &still).unwrap().contains("speed"));
        let open = Waypoints { times: vec![row(1.0), vec![2.0, 5.0, 0.0, 0.0]], repeats: true, ..Waypoints::default() };
        assert!(refused("repeat", &open).unwrap().contains("ends where it starts"));

        let check = |config: Waypoints, place| config.check(&area(), place).unwrap_err().to_string();
        let outside = timed(vec![vec![0.0, 0.0, 0.0, 60.0]]);
        assert_eq!(
            check(outside, None),
            "times: (0, 0, 60) m is outside the area from (0, 0, 0) m to (100, 100, 50) m"
        );
        assert!(check(Waypoints::default(), None).contains("neither"));
        assert!(check(timed(vec![row(0.0)]), Some(Vector::ZERO)).contains("its own start"));
        assert!(check(Waypoints::default(), Some(Vector::new(-1.0, 0.0, 0.0))).contains("outside"));
    }
}
