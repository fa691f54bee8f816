//! Smooth turns: arcs at a constant speed, for aircraft that cannot turn on the spot.
//!
//! Wan, Namuduri, Zhou and Fu, *A smooth-turn mobility model for airborne networks*, IEEE TVT 62(7), 2013. At exponential
//! times a node draws a curvature κ ~ N(0, σ²) and circles about the centre at the distance 1/κ to its left, so that its
//! heading changes by v κ a second. At a wall its path is mirrored.

use crate::model::Model;
use crate::walk::{Start, Walk};
use crate::{Area, Piece, Vector};
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Duration, Instant, RandomStream, Unit};
use std::f64::consts::PI;

/// The parameters of smooth turns.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SmoothTurn {
    /// The lowest speed, in metres per second.
    pub speed_least: f64,
    /// The highest speed, in metres per second.
    pub speed_most: f64,
    /// The mean time between two changes of the curvature.
    pub turn_time: Duration,
    /// The standard deviation of the curvature, in 1/m.
    pub curvature: f64,
}

impl Default for SmoothTurn {
    fn default() -> Self {
        Self { speed_least: 20.0, speed_most: 20.0, turn_time: Duration::from_secs(20), curvature: 0.01 }
    }
}

impl Described for SmoothTurn {
    const ABOUT: &'static str = "A node flies on arcs at a constant speed and height. After exponential times of this mean it \
        draws another curvature, normally distributed around straight on with this standard deviation in 1/m. Walls mirror its \
        path. (Wan et al., IEEE TVT 2013)";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::quantity("speed_least", |c: &mut Self| &mut c.speed_least, Unit::MetrePerSecond, 0.001, 10_000.0)
                .about("The lowest speed, in metres per second."),
            Setting::quantity("speed_most", |c: &mut Self| &mut c.speed_most, Unit::MetrePerSecond, 0.001, 10_000.0)
                .about("The highest speed, in metres per second.")
                .checked(|c| (c.speed_most < c.speed_least).then_some("is below speed_least")),
            Setting::time("turn_time", |c: &mut Self| &mut c.turn_time)
                .about("The mean time between two changes of the curvature."),
            Setting::quantity("curvature", |c: &mut Self| &mut c.curvature, Unit::Plain, 0.0, 10.0)
                .about("The standard deviation of the curvature, in 1/m."),
        ]
    }
}

/// A place so near to a wall is on it, in metres.
const AT_WALL: f64 = 1e-6;
/// A flight along a wall to within this angle, in radians, counts as parallel to it.
const PARALLEL: f64 = 1e-6;
/// Curvatures below this are straight, in 1/m: such a circle is larger than the Earth.
const STRAIGHT: f64 = 1e-8;

/// A node at work.
#[derive(Clone, Debug)]
pub struct SmoothTurnWalk {
    config: SmoothTurn,
    area: Area,
    random: RandomStream,
    speed: f64,
    /// In 1/m, positive to the left.
    curvature: f64,
    /// When it draws another curvature.
    change: Instant,
}

impl SmoothTurnWalk {
    fn turn(&mut self, from: Instant) {
        self.curvature = self.config.curvature * self.random.normal();
        self.change = from + self.random.exponential(self.config.turn_time).max(Duration::from_micros(1));
    }

    /// Mirrors the path at the walls on which the node is, if it would pass them.
    fn mirror(&mut self, place: Vector, heading: &mut Vector) {
        let (least, most) = (self.area.least(), self.area.most());
        // The centre of the circle is to the left of the heading.
        let inward = Vector::new(-heading.y * self.curvature, heading.x * self.curvature, 0.0);
        let passes = |place: f64, least: f64, most: f64, heading: f64, bend: f64| {
            let out = |outward: f64, bend: f64| outward > PARALLEL || (outward > -PARALLEL && bend > 0.0);
            (most - place < AT_WALL && out(heading, bend)) || (place - least < AT_WALL && out(-heading, -bend))
        };
        let at_x = passes(place.x, least.x, most.x, heading.x, inward.x);
        let at_y = passes(place.y, least.y, most.y, heading.y, inward.y);
        if at_x {
            heading.x = -heading.x;
        }
        if at_y {
            heading.y = -heading.y;
        }
        if at_x != at_y {
            self.curvature = -self.curvature;
        }
    }

    /// The next part of the path, with the node at `place` and a heading of length 1.
    fn arc(&mut self, from: Instant, place: Vector, mut heading: Vector) -> Piece {
        if from >= self.change {
            self.turn(from);
        }
        self.mirror(place, &mut heading);
        let (met, piece) = if self.curvature.abs() < STRAIGHT {
            let velocity = heading * self.speed;
            (self.met_straight(place, velocity), Piece::straight(from, self.change, place, velocity))
        } else {
            let radius = 1.0 / self.curvature;
            let centre = Vector::new(place.x - heading.y * radius, place.y + heading.x * radius, place.z);
            let rate = self.speed * self.curvature;
            (self.met_turning(place, centre, rate), Piece::arc(from, self.change, place, centre, rate))
        };
        let met = from + Duration::from_secs_f64(met).max(Duration::from_nanos(1));
        piece.ending(met)
    }

    /// Seconds to the next wall on a line.
    fn met_straight(&self, place: Vector, velocity: Vector) -> f64 {
        let (least, most) = (self.area.least(), self.area.most());
        let axis = |place: f64, speed: f64, least: f64, most: f64| match speed {
            speed if speed > 0.0 => (most - place) / speed,
            speed if speed < 0.0 => (least - place) / speed,
            _ => f64::INFINITY,
        };
        axis(place.x, velocity.x, least.x, most.x).min(axis(place.y, velocity.y, least.y, most.y))
    }

    /// Seconds to the next wall on a circle, infinite if it meets none. At the angle φ from the centre c, x = cₓ + r cos φ
    /// and y = c_y + r sin φ, and each wall is passed outwards at one angle.
    fn met_turning(&self, place: Vector, centre: Vector, rate: f64) -> f64 {
        let (least, most) = (self.area.least(), self.area.most());
        let (x, y) = (place.x - centre.x, place.y - centre.y);
        let (radius, now) = (libm::hypot(x, y), libm::atan2(y, x));
        let left = rate > 0.0;
        let east = meets((most.x - centre.x) / radius).map(|c| if left { -libm::acos(c) } else { libm::acos(c) });
        let west = meets((least.x - centre.x) / radius).map(|c| if left { libm::acos(c) } else { -libm::acos(c) });
        let north = meets((most.y - centre.y) / radius).map(|s| if left { libm::asin(s) } else { PI - libm::asin(s) });
        let south = meets((least.y - centre.y) / radius).map(|s| if left { PI - libm::asin(s) } else { libm::asin(s) });
        let turn = |angle: f64| {
            let turn = libm::fmod((angle - now) * rate.signum(), 2.0 * PI);
            let turn = if turn < 0.0 { turn + 2.0 * PI } else { turn };
            // Rounding may put an angle that is met now a full turn ahead.
            if turn > 2.0 * PI - 1e-9 { 0.0 } else { turn }
        };
        let turns = [east, west, north, south].into_iter().flatten().map(turn);
        turns.fold(f64::INFINITY, f64::min) / rate.abs()
    }
}

/// The cosine or sine at which a circle meets a wall, if it does.
fn meets(ratio: f64) -> Option<f64> {
    (ratio.abs() < 1.0).then_some(ratio)
}

impl Model for SmoothTurn {
    type Walk = SmoothTurnWalk;

    fn start(&self, mut start: Start<'_>) -> (SmoothTurnWalk, Piece) {
        let place = start.place();
        let mut random = start.random;
        let speed = self.speed_least + (self.speed_most - self.speed_least) * random.uniform();
        let (sin, cos) = libm::sincos(2.0 * PI * random.uniform());
        let area = *start.area;
        let mut walk = SmoothTurnWalk { config: *self, area, random, speed, curvature: 0.0, change: Instant::ZERO };
        let piece = walk.arc(Instant::ZERO, place, Vector::new(cos, sin, 0.0));
        (walk, piece)
    }
}

impl Walk for SmoothTurnWalk {
    fn next(&mut self, last: &Piece) -> Piece {
        let place = self.area.clamp(last.position(last.until));
        let velocity = last.velocity(last.until);
        self.arc(last.until, place, velocity * (1.0 / velocity.length()))
    }

    fn max_speed(&self) -> f64 {
        self.speed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mobility, Motion};

    #[test]
    fn curvatures_are_normal_and_their_times_exponential() {
        let vast = Vector::new(1e9, 1e9, 1e9);
        let area = Area::new(-vast, vast).unwrap();
        let mobility = Mobility::SmoothTurn(SmoothTurn::default());
        let mut motion = Motion::new(&mobility, &area, Some(Vector::ZERO), 1, "a");
        let (mut from, count) = (Instant::ZERO, 10_000);
        let (mut times, mut squares) = (0.0, 0.0);
        for _ in 0..count {
            let piece = *motion.piece(from);
            let seconds = piece.until.since(from).as_secs_f64();
            // Over a tenth of a second at 20 m/s a heading turns by 2 m times the curvature.
            let short = Duration::from_millis(100);
            let (a, b) = (piece.velocity(from), piece.velocity(from + short));
            let curvature = libm::asin((a.x * b.y - a.y * b.x) / 400.0) / 2.0;
            times += seconds;
            squares += curvature * curvature;
            from = piece.until;
        }
        let n = f64::from(count);
        // Four standard deviations: 4 %, and 2.8 % for a standard deviation.
        assert!((times / n / 20.0 - 1.0).abs() < 0.04, "{} s", times / n);
        let deviation = libm::sqrt(squares / n);
        assert!((deviation / 0.01 - 1.0).abs() < 0.028, "{deviation}");
    }

    #[test]
    fn a_circle_into_a_wall_is_mirrored() {
        let area = Area::new(Vector::ZERO, Vector::new(100.0, 100.0, 0.0)).unwrap();
        let mut walk = SmoothTurnWalk {
            config: SmoothTurn::default(),
            area,
            random: RandomStream::new(1, "a"),
            speed: 10.0,
            curvature: 0.05,
            change: Instant::MAX,
        };
        // A circle of radius 20 about (90, 50), to the left: the wall is met at x = 100, where cos φ = 1/2.
        let free = walk.arc(Instant::ZERO, Vector::new(90.0, 30.0, 0.0), Vector::new(1.0, 0.0, 0.0));
        let met = free.position(free.until);
        assert!(met.distance(Vector::new(100.0, 50.0 - 20.0 * libm::sin(PI / 3.0), 0.0)) < 1e-6, "{met:?}");
        let mirrored = walk.next(&free);
        let (before, after) = (free.velocity(free.until), mirrored.velocity(free.until));
        assert!((after.x + before.x).abs() < 1e-6 && (after.y - before.y).abs() < 1e-6, "{before:?} {after:?}");
        assert_eq!(walk.curvature, -0.05);
        // The mirrored circle is about (110, 50): it comes back to the wall as high above the middle as it left below it.
        let back = mirrored.position(mirrored.until);
        assert!(back.distance(Vector::new(100.0, 50.0 + 20.0 * libm::sin(PI / 3.0), 0.0)) < 1e-6, "{back:?}");
    }
}
