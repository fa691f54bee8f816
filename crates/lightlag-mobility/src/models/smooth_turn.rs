//! Smooth turns: arcs at a constant speed, for aircraft that cannot turn on the spot.
//!
//! Wan, Namuduri, Zhou and Fu, *A smooth-turn mobility model for airborne networks*, IEEE TVT 62(7), 2013. At
//! exponentially distributed intervals a node draws a curvature κ ~ N(0, σ²) and circles around the centre at the
//! distance 1/κ to its left, so that its heading changes by v κ per second. Its path is reflected at walls.

use crate::model::Model;
use crate::walk::{Walk, WalkStart};
use crate::{Area, Piece, Vector};
use lightlag_core::{Duration, Instant, RandomStream, Unit, settings};
use std::f64::consts::PI;

settings! {
    /// Parameters of smooth turns.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct SmoothTurn {
        about "A node flies on arcs at a constant speed and height. After exponential times with the given mean it \
               draws another curvature, normally distributed around zero with the given standard deviation in 1/m. \
               Walls mirror its path. (Wan et al., IEEE TVT 2013)";

        /// Minimum speed, in metres per second.
        speed_min: f64 = 20.0 => quantity(Unit::MetrePerSecond, 0.001, 10_000.0);
        /// Maximum speed, in metres per second.
        speed_max: f64 = 20.0 => quantity(Unit::MetrePerSecond, 0.001, 10_000.0)
            .checked(|c| (c.speed_max < c.speed_min).then_some("is below speed_min"));
        /// Mean time between two changes of the curvature.
        turn_time: Duration = Duration::from_secs(20) => time();
        /// Standard deviation of the curvature, in 1/m.
        curvature: f64 = 0.01 => quantity(Unit::Plain, 0.0, 10.0);
    }
}

/// Maximum distance from a wall of a position that counts as on the wall, in metres.
const AT_WALL: f64 = 1e-6;
/// Maximum angle to a wall of a flight that counts as parallel to the wall, in radians.
const PARALLEL: f64 = 1e-6;
/// Minimum curvature of an arc in 1/m; a smaller one counts as straight, because such a circle is larger than the
/// Earth.
const STRAIGHT: f64 = 1e-8;

/// The state of a node that follows the model.
#[derive(Clone, Debug)]
pub struct SmoothTurnWalk {
    config: SmoothTurn,
    area: Area,
    random: RandomStream,
    speed: f64,
    /// Current curvature in 1/m, positive to the left.
    curvature: f64,
    /// Time when the next curvature is drawn.
    change: Instant,
}

impl SmoothTurnWalk {
    fn turn(&mut self, from: Instant) {
        self.curvature = self.config.curvature * self.random.normal();
        self.change = from + self.random.exponential(self.config.turn_time).max(Duration::from_micros(1));
    }

    /// Reflects the path at the walls that the node touches and would cross.
    fn mirror(&mut self, position: Vector, heading: &mut Vector) {
        let (min, max) = (self.area.least(), self.area.most());
        // The centre of the circle is to the left of the heading.
        let inward = Vector::new(-heading.y * self.curvature, heading.x * self.curvature, 0.0);
        let passes = |coordinate: f64, low: f64, high: f64, heading: f64, bend: f64| {
            let out = |outward: f64, bend: f64| outward > PARALLEL || (outward > -PARALLEL && bend > 0.0);
            (high - coordinate < AT_WALL && out(heading, bend)) || (coordinate - low < AT_WALL && out(-heading, -bend))
        };
        let at_x = passes(position.x, min.x, max.x, heading.x, inward.x);
        let at_y = passes(position.y, min.y, max.y, heading.y, inward.y);
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

    /// Returns the next segment of the path, for a node at `position` whose heading is a unit vector.
    fn arc(&mut self, from: Instant, position: Vector, mut heading: Vector) -> Piece {
        if from >= self.change {
            self.turn(from);
        }
        self.mirror(position, &mut heading);
        let (met, piece) = if self.curvature.abs() < STRAIGHT {
            let velocity = heading * self.speed;
            (self.met_straight(position, velocity), Piece::straight(from, self.change, position, velocity))
        } else {
            let radius = 1.0 / self.curvature;
            let centre = Vector::new(position.x - heading.y * radius, position.y + heading.x * radius, position.z);
            let rate = self.speed * self.curvature;
            (self.met_turning(position, centre, rate), Piece::arc(from, self.change, position, centre, rate))
        };
        let met = from + Duration::from_secs_f64(met).max(Duration::from_nanos(1));
        piece.ending(met)
    }

    /// Returns the time to the next wall on a straight line, in seconds.
    fn met_straight(&self, position: Vector, velocity: Vector) -> f64 {
        let (min, max) = (self.area.least(), self.area.most());
        let axis = |coordinate: f64, speed: f64, low: f64, high: f64| match speed {
            speed if speed > 0.0 => (high - coordinate) / speed,
            speed if speed < 0.0 => (low - coordinate) / speed,
            _ => f64::INFINITY,
        };
        axis(position.x, velocity.x, min.x, max.x).min(axis(position.y, velocity.y, min.y, max.y))
    }

    /// Returns the time to the next wall on a circle in seconds, infinite if the circle meets no wall. At the angle φ
    /// seen from the centre c, x = cₓ + r cos φ and y = c_y + r sin φ; the node crosses each wall outwards at one
    /// angle.
    fn met_turning(&self, position: Vector, centre: Vector, rate: f64) -> f64 {
        let (min, max) = (self.area.least(), self.area.most());
        let (x, y) = (position.x - centre.x, position.y - centre.y);
        let (radius, now) = (libm::hypot(x, y), libm::atan2(y, x));
        let left = rate > 0.0;
        let east = meets((max.x - centre.x) / radius).map(|c| if left { -libm::acos(c) } else { libm::acos(c) });
        let west = meets((min.x - centre.x) / radius).map(|c| if left { libm::acos(c) } else { -libm::acos(c) });
        let north = meets((max.y - centre.y) / radius).map(|s| if left { libm::asin(s) } else { PI - libm::asin(s) });
        let south = meets((min.y - centre.y) / radius).map(|s| if left { PI - libm::asin(s) } else { libm::asin(s) });
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

/// Returns the cosine or sine of the angle where a circle meets a wall, if it does.
fn meets(ratio: f64) -> Option<f64> {
    (ratio.abs() < 1.0).then_some(ratio)
}

impl Model for SmoothTurn {
    type Walk = SmoothTurnWalk;

    fn start(&self, mut start: WalkStart<'_>) -> (SmoothTurnWalk, Piece) {
        let position = start.place();
        let mut random = start.random;
        let speed = self.speed_min + (self.speed_max - self.speed_min) * random.uniform();
        let (sin, cos) = libm::sincos(2.0 * PI * random.uniform());
        let area = *start.area;
        let mut walk = SmoothTurnWalk { config: *self, area, random, speed, curvature: 0.0, change: Instant::ZERO };
        let piece = walk.arc(Instant::ZERO, position, Vector::new(cos, sin, 0.0));
        (walk, piece)
    }
}

impl Walk for SmoothTurnWalk {
    fn next(&mut self, last: &Piece) -> Piece {
        let position = self.area.clamp(last.position(last.until));
        let velocity = last.velocity(last.until);
        self.arc(last.until, position, velocity * (1.0 / velocity.length()))
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
