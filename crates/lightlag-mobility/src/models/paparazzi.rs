//! The movements of the Paparazzi autopilot: circle, oval, scan, figure of eight and waypoint.
//!
//! Bouachir, Abrassart, Garcia and Larrieu, *A mobility model for UAV ad hoc network*, ICUAS 2014: an aircraft chooses
//! a random speed and height once, and then one random movement after another, with these probabilities: stay-at (a
//! circle) 30 %, oval 30 %, scan 30 %, eight 5 %, waypoint 5 %. The paper does not give sizes, positions and durations
//! of the movements; those used here are in `docs/models/mobility.md`.

use crate::model::Model;
use crate::piece::flight_time;
use crate::walk::{Walk, WalkStart};
use crate::{Area, Piece, Vector};
use lightlag_core::params::Declared;
use lightlag_core::{Duration, Instant, RandomStream, Unit, settings};
use std::f64::consts::{PI, SQRT_2};

settings! {
    /// Parameters of the movements of Paparazzi.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Paparazzi {
        about "An aircraft draws a speed and a height once, and then one movement after another: circles around a \
               position (stay_at), ovals, scans of a rectangle, eights, and straight flights (waypoint). Circles, \
               ovals and eights are repeated in full laps for a time from stay_min to stay_max. Radii are drawn from \
               radius_min to radius_max, and do not exceed a sixth of the shorter side of the area. (Bouachir et al., \
               ICUAS 2014, for the movements and their weights; the sizes are ours)";

        /// Minimum speed, in metres per second.
        speed_min: f64 = 15.0 => quantity(Unit::MetrePerSecond, 0.001, 10_000.0);
        /// Maximum speed, in metres per second.
        speed_max: f64 = 25.0 => quantity(Unit::MetrePerSecond, 0.001, 10_000.0)
            .checked(|c| (c.speed_max < c.speed_min).then_some("is below speed_min"));
        /// Minimum radius of a turn, in metres.
        radius_min: f64 = 20.0 => quantity(Unit::Metre, 0.1, 100_000.0);
        /// Maximum radius of a turn, in metres.
        radius_max: f64 = 60.0 => quantity(Unit::Metre, 0.1, 100_000.0)
            .checked(|c| (c.radius_max < c.radius_min).then_some("is below radius_min"));
        /// Minimum duration of a circle, an oval or a figure of eight.
        stay_min: Duration = Duration::from_secs(30) => time();
        /// Maximum duration of a circle, an oval or a figure of eight.
        stay_max: Duration = Duration::from_secs(120) => time()
            .checked(|c| (c.stay_max < c.stay_min).then_some("is below stay_min"));
        + /// Weights of the movements.
        weights: Weights = Weights::default() => Weights::settings();
    }
}

settings! {
    /// Weight of each movement in the random choice, relative to their sum.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Weights {
        /// Circles around a position.
        stay_at: f64 = 0.3 => quantity(Unit::Plain, 0.0, 1e6);
        /// Two half circles joined by straight lines.
        oval: f64 = 0.3 => quantity(Unit::Plain, 0.0, 1e6);
        /// Parallel lines joined by half circles.
        scan: f64 = 0.3 => quantity(Unit::Plain, 0.0, 1e6);
        /// Two circles joined by lines that cross, as in the digit 8.
        eight: f64 = 0.05 => quantity(Unit::Plain, 0.0, 1e6);
        /// A straight flight to a random position.
        waypoint: f64 = 0.05 => quantity(Unit::Plain, 0.0, 1e6)
            .checked(|c| (c.all().iter().sum::<f64>() == 0.0).then_some("disables every movement: all five weights are \
                0"));
    }
}

impl Weights {
    fn all(&self) -> [f64; 5] {
        [self.stay_at, self.oval, self.scan, self.eight, self.waypoint]
    }
}

/// A leg of a movement.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Leg {
    /// Straight to a position.
    To(Vector),
    /// An arc around a centre by an angle in radians, counterclockwise if positive.
    About(Vector, f64),
}

/// Maximum number of legs of a movement: a scan of eight lines, and the flight to it.
const MOST_LEGS: usize = 16;
/// Maximum number of lines of a scan.
const MOST_LINES: u64 = 8;
/// Minimum length of a leg in metres; shorter legs are left out.
const NEAR: f64 = 1e-6;

/// The state of a node that follows the model.
#[derive(Clone, Debug)]
pub struct PaparazziWalk {
    config: Paparazzi,
    area: Area,
    random: RandomStream,
    speed: f64,
    /// The legs of the current movement.
    legs: Vec<Leg>,
    /// Index of the next leg.
    next: usize,
    /// Number of laps left after the current one. The first leg, the flight to the movement, is not part of a lap.
    laps: u64,
}

/// Coordinate system of a movement: its centre, and the axes along it and to its left.
#[derive(Clone, Copy)]
struct Frame {
    centre: Vector,
    along: Vector,
    left: Vector,
}

impl Frame {
    fn at(self, along: f64, left: f64) -> Vector {
        self.centre + self.along * along + self.left * left
    }
}

impl PaparazziWalk {
    fn between(&mut self, min: f64, max: f64) -> f64 {
        min + (max - min).max(0.0) * self.random.uniform()
    }

    fn sign(&mut self) -> f64 {
        if self.random.uniform() < 0.5 { -1.0 } else { 1.0 }
    }

    fn push(&mut self, leg: Leg) {
        self.legs.push(leg);
    }

    /// Returns a random centre whose distance from the area's walls is at least `x` along x and `y` along y.
    fn centre(&mut self, x: f64, y: f64) -> Vector {
        let (min, max) = (self.area.least(), self.area.most());
        let centre_x = self.between(min.x + x, max.x - x);
        let centre_y = self.between(min.y + y, max.y - y);
        Vector::new(centre_x, centre_y, min.z)
    }

    /// Returns a random radius with which every movement fits into the area.
    fn radius(&mut self) -> f64 {
        let size = self.area.size();
        let most = size.x.min(size.y) / 6.0;
        self.between(self.config.radius_min, self.config.radius_max).min(most)
    }

    /// Chooses the next movement of a node at `position` at random.
    fn choose(&mut self, position: Vector) {
        self.legs.clear();
        (self.next, self.laps) = (0, 0);
        let weights = self.config.weights.all();
        let mut left = self.random.uniform() * weights.iter().sum::<f64>();
        let chosen = weights.iter().position(|weight| {
            left -= weight;
            left < 0.0
        });
        // Rounding may leave a rest: the last movement with a weight takes it.
        let last = weights.iter().rposition(|weight| *weight > 0.0).expect("checked settings");
        match chosen.unwrap_or(last) {
            0 => self.stay_at(position),
            1 => self.oval(),
            2 => self.scan(),
            3 => self.eight(),
            _ => {
                let goal = self.area.draw(&mut self.random);
                self.push(Leg::To(goal));
            }
        }
    }

    /// Chooses for how many complete laps of this length the movement is repeated, from a random duration.
    fn repeat(&mut self, length: f64) {
        let (least, most) = (self.config.stay_min.as_secs_f64(), self.config.stay_max.as_secs_f64());
        let laps = libm::ceil(self.between(least, most) * self.speed / length);
        self.laps = (laps as u64).saturating_sub(1);
    }

    fn stay_at(&mut self, position: Vector) {
        let radius = self.radius();
        let centre = self.centre(radius, radius);
        let (x, y) = (position.x - centre.x, position.y - centre.y);
        let distance = libm::hypot(x, y);
        let out = if distance < NEAR { Vector::new(1.0, 0.0, 0.0) } else { Vector::new(x, y, 0.0) * (1.0 / distance) };
        let turn = self.sign() * 2.0 * PI;
        self.push(Leg::To(centre + out * radius));
        self.push(Leg::About(centre, turn));
        self.repeat(2.0 * PI * radius);
    }

    /// Returns a coordinate system with a random direction, and half the length of a movement, from `min` to `max`,
    /// such that ends with this radius fit into the area.
    fn stretched(&mut self, radius: f64, min: f64, max: f64) -> (Frame, f64) {
        let (sin, cos) = libm::sincos(2.0 * PI * self.random.uniform());
        let size = self.area.size();
        let room = |side: f64, share: f64| (side / 2.0 - radius) / share.abs().max(1e-9);
        let most = max.min(room(size.x, cos)).min(room(size.y, sin));
        let half = self.between(min, most);
        let centre = self.centre(half * cos.abs() + radius, half * sin.abs() + radius);
        let mirror = self.sign();
        let left = Vector::new(-sin, cos, 0.0) * mirror;
        (Frame { centre, along: Vector::new(cos, sin, 0.0), left }, half)
    }

    fn oval(&mut self) {
        let radius = self.radius();
        let (frame, half) = self.stretched(radius, radius, 5.0 * radius);
        let turn = -frame.sense() * PI;
        self.push(Leg::To(frame.at(-half, radius)));
        self.push(Leg::To(frame.at(half, radius)));
        self.push(Leg::About(frame.at(half, 0.0), turn));
        self.push(Leg::To(frame.at(-half, -radius)));
        self.push(Leg::About(frame.at(-half, 0.0), turn));
        self.repeat(4.0 * half + 2.0 * PI * radius);
    }

    /// Adds a figure of eight. The lines cross in the middle at the angle β to the axis, where sin β = r / h and h is
    /// half the distance between the centres. They are tangents of the circles; each circle is followed for π + 2β.
    fn eight(&mut self) {
        let radius = self.radius();
        let (frame, half) = self.stretched(radius, SQRT_2 * radius, 3.0 * radius);
        let beta = libm::asin(radius / half);
        let (sin, cos) = libm::sincos(beta);
        let (along, aside) = (half * cos * cos, half * cos * sin);
        let turn = frame.sense() * (PI + 2.0 * beta);
        self.push(Leg::To(frame.at(-along, -aside)));
        self.push(Leg::To(frame.at(along, aside)));
        self.push(Leg::About(frame.at(half, 0.0), -turn));
        self.push(Leg::To(frame.at(-along, aside)));
        self.push(Leg::About(frame.at(-half, 0.0), turn));
        self.repeat(4.0 * half * cos + 2.0 * (PI + 2.0 * beta) * radius);
    }

    /// Adds a scan: lines along x or y, two radii apart.
    fn scan(&mut self) {
        let radius = self.radius();
        let size = self.area.size();
        let along_x = self.sign() > 0.0;
        let (length, width) = if along_x { (size.x, size.y) } else { (size.y, size.x) };
        let half = self.between(radius, length / 2.0 - radius);
        let most = MOST_LINES.min(1 + (width / (2.0 * radius)) as u64);
        let lines = 2 + (self.random.uniform() * (most - 1) as f64) as u64;
        let aside = (lines - 1) as f64 * radius;
        let (x, y) = if along_x { (half + radius, aside) } else { (aside, half + radius) };
        let centre = self.centre(x, y);
        let (along, left) = if along_x { ((1.0, 0.0), (0.0, 1.0)) } else { ((0.0, 1.0), (1.0, 0.0)) };
        let (forth, side) = (self.sign(), self.sign());
        let frame = Frame {
            centre,
            along: Vector::new(along.0, along.1, 0.0) * forth,
            left: Vector::new(left.0, left.1, 0.0) * side,
        };
        self.push(Leg::To(frame.at(-half, -aside)));
        for line in 0..lines {
            let (end, across) = (if line % 2 == 0 { half } else { -half }, 2.0 * radius * line as f64 - aside);
            self.push(Leg::To(frame.at(end, across)));
            if line + 1 < lines {
                let turn = frame.sense() * PI * end.signum();
                self.push(Leg::About(frame.at(end, across + radius), turn));
            }
        }
    }

    fn piece(&mut self, from: Instant, position: Vector) -> Piece {
        loop {
            while let Some(leg) = self.legs.get(self.next).copied() {
                self.next += 1;
                if let Some(piece) = self.fly(from, position, leg) {
                    return piece;
                }
            }
            if self.laps > 0 {
                self.laps -= 1;
                self.next = 1;
            } else {
                self.choose(position);
            }
        }
    }

    fn fly(&self, from: Instant, position: Vector, leg: Leg) -> Option<Piece> {
        match leg {
            Leg::To(goal) => (position.distance(goal) >= NEAR).then(|| Piece::flight(from, position, goal, self.speed)),
            Leg::About(centre, angle) => {
                let radius = libm::hypot(position.x - centre.x, position.y - centre.y);
                let time = flight_time(radius * angle.abs(), self.speed);
                Some(Piece::arc(from, from + time, position, centre, angle / time.as_secs_f64()))
            }
        }
    }
}

impl Frame {
    /// Returns 1 if `left` is to the left of `along` seen from above, else −1.
    fn sense(self) -> f64 {
        (self.along.x * self.left.y - self.along.y * self.left.x).signum()
    }
}

impl Model for Paparazzi {
    type Walk = PaparazziWalk;

    fn start(&self, mut start: WalkStart<'_>) -> (PaparazziWalk, Piece) {
        let position = start.place();
        let mut walk = PaparazziWalk {
            config: *self,
            area: start.area.at_height(position.z),
            random: start.random,
            speed: 0.0,
            legs: Vec::with_capacity(MOST_LEGS),
            next: 0,
            laps: 0,
        };
        walk.speed = walk.between(self.speed_min, self.speed_max);
        let piece = walk.piece(Instant::ZERO, position);
        (walk, piece)
    }
}

impl Walk for PaparazziWalk {
    fn next(&mut self, last: &Piece) -> Piece {
        self.piece(last.until, last.position(last.until))
    }

    fn max_speed(&self) -> f64 {
        self.speed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Weights = Weights { stay_at: 0.0, oval: 0.0, scan: 0.0, eight: 0.0, waypoint: 0.0 };

    fn walk(weights: Weights, seed: u64) -> (PaparazziWalk, Piece) {
        let area = Area::new(Vector::ZERO, Vector::new(1000.0, 800.0, 100.0)).unwrap();
        let config = Paparazzi { weights, ..Paparazzi::default() };
        let random = RandomStream::new(seed, "node a mobility");
        config.start(WalkStart { area: &area, place: None, random, seed })
    }

    /// Asserts that a lap, without the flight to the movement, has no corner and, except for a scan, ends where it
    /// started.
    fn smooth(weights: Weights, pieces: usize, closes: bool) {
        for seed in 0..50 {
            let (mut walk, mut last) = walk(weights, seed);
            last = walk.next(&last);
            let start = last.position(last.from);
            for _ in 1..pieces {
                let next = walk.next(&last);
                let (before, after) = (last.velocity(last.until), next.velocity(next.from));
                let cosine = before.dot(after) / (before.length() * after.length());
                assert!(cosine > 1.0 - 1e-9, "a corner between {last:?} and {next:?}");
                last = next;
            }
            let end = last.position(last.until);
            assert!(!closes || end.distance(start) < 1e-4, "{start:?} {end:?}");
        }
    }

    #[test]
    fn laps_are_smooth_and_closed() {
        smooth(Weights { oval: 1.0, ..NONE }, 4, true);
        smooth(Weights { eight: 1.0, ..NONE }, 4, true);
        smooth(Weights { stay_at: 1.0, ..NONE }, 1, true);
        smooth(Weights { scan: 1.0, ..NONE }, 3, false);
    }

    #[test]
    fn movements_are_chosen_by_their_weights() {
        let (mut walk, first) = walk(Paparazzi::default().weights, 1);
        let position = first.position(first.from);
        let mut counts = [0.0_f64; 5];
        for _ in 0..20_000 {
            walk.choose(position);
            let turns = |sign: f64| walk.legs.iter().any(|leg| matches!(leg, Leg::About(_, a) if a * sign > 0.0));
            let kind = match walk.legs.len() {
                1 => 4,
                2 => 0,
                // An oval turns one way, an eight both ways; a scan has an even number of legs.
                5 if turns(1.0) != turns(-1.0) => 1,
                5 => 3,
                _ => 2,
            };
            counts[kind] += 1.0 / 20_000.0;
        }
        for (count, expected) in counts.iter().zip([0.3, 0.3, 0.3, 0.05, 0.05]) {
            // Four standard deviations: 4 √(0.21 / 20 000) = 0.013.
            assert!((count - expected).abs() < 0.013, "{counts:?}");
        }
    }

    #[test]
    fn a_circle_continues_for_the_drawn_time() {
        for seed in 0..20 {
            let (mut walk, mut last) = walk(Weights { stay_at: 1.0, ..NONE }, seed);
            let start = last.until;
            let mut laps = 0;
            loop {
                last = walk.next(&last);
                if last.line().is_some() {
                    break;
                }
                laps += 1;
            }
            let (time, lap) =
                (last.from.since(start).as_secs_f64(), last.from.since(start).as_secs_f64() / f64::from(laps));
            assert!(time >= 30.0 && time < 120.0 + lap + 1e-6, "{time} s in {laps} laps");
        }
    }
}
