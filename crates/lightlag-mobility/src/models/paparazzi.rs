//! The movements of Paparazzi, an autopilot: circle, oval, scan, eight and waypoint.
//!
//! Bouachir, Abrassart, Garcia and Larrieu, *A mobility model for UAV ad hoc network*, ICUAS 2014: an aircraft draws a speed
//! and a height once, then one movement after another with these probabilities: stay-at (a circle) 30 %, oval 30 %, scan
//! 30 %, eight 5 %, waypoint 5 %. Sizes, places and times of the movements are ours: see `docs/models/mobility.md`.

use crate::model::Model;
use crate::piece::flight_time;
use crate::walk::{Start, Walk};
use crate::{Area, Piece, Vector};
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Duration, Instant, RandomStream, Unit};
use std::f64::consts::{PI, SQRT_2};

/// The parameters of the movements of Paparazzi.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Paparazzi {
    /// The lowest speed, in metres per second.
    pub speed_least: f64,
    /// The highest speed, in metres per second.
    pub speed_most: f64,
    /// The smallest radius of a turn, in metres.
    pub radius_least: f64,
    /// The largest radius of a turn, in metres.
    pub radius_most: f64,
    /// The shortest time for which a circle, an oval or an eight goes on.
    pub stay_least: Duration,
    /// The longest time.
    pub stay_most: Duration,
    /// The weights of the movements.
    pub weights: Weights,
}

/// How often each movement is chosen, relative to their sum.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Weights {
    /// Circles about a place.
    pub stay_at: f64,
    /// Two half circles joined by straight lines.
    pub oval: f64,
    /// Parallel lines joined by half circles.
    pub scan: f64,
    /// Two circles joined by lines that cross.
    pub eight: f64,
    /// A straight flight.
    pub waypoint: f64,
}

impl Weights {
    fn all(&self) -> [f64; 5] {
        [self.stay_at, self.oval, self.scan, self.eight, self.waypoint]
    }
}

impl Default for Paparazzi {
    fn default() -> Self {
        Self {
            speed_least: 15.0,
            speed_most: 25.0,
            radius_least: 20.0,
            radius_most: 60.0,
            stay_least: Duration::from_secs(30),
            stay_most: Duration::from_secs(120),
            weights: Weights { stay_at: 0.3, oval: 0.3, scan: 0.3, eight: 0.05, waypoint: 0.05 },
        }
    }
}

impl Described for Paparazzi {
    const ABOUT: &'static str = "An aircraft draws a speed and a height once, and then one movement after another: circles \
        about a place (stay_at), ovals, scans of a rectangle, eights, and straight flights (waypoint). Circles, ovals and \
        eights go on in whole laps for a time from stay_least to stay_most. Radii are drawn from radius_least to radius_most, \
        and are at most a sixth of the shorter side of the area. (Bouachir et al., ICUAS 2014, for the movements and their \
        weights; the sizes are ours)";

    fn settings() -> Vec<Setting<Self>> {
        let speed = |key, at| Setting::quantity(key, at, Unit::MetrePerSecond, 0.001, 10_000.0);
        let radius = |key, at| Setting::quantity(key, at, Unit::Metre, 0.1, 100_000.0);
        let weight = |key, at| Setting::quantity(key, at, Unit::Plain, 0.0, 1e6);
        vec![
            speed("speed_least", |c: &mut Self| &mut c.speed_least).about("The lowest speed, in metres per second."),
            speed("speed_most", |c: &mut Self| &mut c.speed_most)
                .about("The highest speed, in metres per second.")
                .checked(|c| (c.speed_most < c.speed_least).then_some("is below speed_least")),
            radius("radius_least", |c: &mut Self| &mut c.radius_least)
                .about("The smallest radius of a turn, in metres."),
            radius("radius_most", |c: &mut Self| &mut c.radius_most)
                .about("The largest radius of a turn, in metres.")
                .checked(|c| (c.radius_most < c.radius_least).then_some("is below radius_least")),
            Setting::time("stay_least", |c: &mut Self| &mut c.stay_least)
                .about("The shortest time for which a circle, an oval or an eight goes on."),
            Setting::time("stay_most", |c: &mut Self| &mut c.stay_most)
                .about("The longest time for which they go on.")
                .checked(|c| (c.stay_most < c.stay_least).then_some("is below stay_least")),
            weight("stay_at", |c: &mut Self| &mut c.weights.stay_at).about("Circles about a place."),
            weight("oval", |c: &mut Self| &mut c.weights.oval).about("Two half circles joined by straight lines."),
            weight("scan", |c: &mut Self| &mut c.weights.scan).about("Parallel lines joined by half circles."),
            weight("eight", |c: &mut Self| &mut c.weights.eight).about("Two circles joined by lines that cross."),
            weight("waypoint", |c: &mut Self| &mut c.weights.waypoint).about("A straight flight.").checked(|c| {
                (c.weights.all().iter().sum::<f64>() == 0.0).then_some("leaves no movement: all five weights are 0")
            }),
        ]
    }
}

/// A part of a movement.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Leg {
    /// Straight to a place.
    To(Vector),
    /// About a centre by an angle in radians, counterclockwise if it is positive.
    About(Vector, f64),
}

/// The most parts of a movement: a scan of eight lines, and the flight to it.
const MOST_LEGS: usize = 16;
/// The most lines of a scan.
const MOST_LINES: u64 = 8;
/// Legs shorter than this are left out, in metres.
const NEAR: f64 = 1e-6;

/// A node at work.
#[derive(Clone, Debug)]
pub struct PaparazziWalk {
    config: Paparazzi,
    area: Area,
    random: RandomStream,
    speed: f64,
    /// Legs of this movement.
    legs: Vec<Leg>,
    /// The next leg.
    next: usize,
    /// Laps left after this one; a lap starts behind the first leg.
    laps: u64,
}

/// Axes of a movement: one along it, one to its left.
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
    fn between(&mut self, least: f64, most: f64) -> f64 {
        least + (most - least).max(0.0) * self.random.uniform()
    }

    fn sign(&mut self) -> f64 {
        if self.random.uniform() < 0.5 { -1.0 } else { 1.0 }
    }

    fn push(&mut self, leg: Leg) {
        self.legs.push(leg);
    }

    /// A centre such that everything within these distances of it, in x and in y, is in the area.
    fn centre(&mut self, x: f64, y: f64) -> Vector {
        let (least, most) = (self.area.least(), self.area.most());
        let centre_x = self.between(least.x + x, most.x - x);
        let centre_y = self.between(least.y + y, most.y - y);
        Vector::new(centre_x, centre_y, least.z)
    }

    /// A radius that leaves room for every movement.
    fn radius(&mut self) -> f64 {
        let size = self.area.size();
        let most = size.x.min(size.y) / 6.0;
        self.between(self.config.radius_least, self.config.radius_most).min(most)
    }

    /// Draws the next movement of a node at `place`.
    fn choose(&mut self, place: Vector) {
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
            0 => self.stay_at(place),
            1 => self.oval(),
            2 => self.scan(),
            3 => self.eight(),
            _ => {
                let goal = self.area.draw(&mut self.random);
                self.push(Leg::To(goal));
            }
        }
    }

    /// Goes on in whole laps for a drawn time.
    fn repeat(&mut self, length: f64) {
        let (least, most) = (self.config.stay_least.as_secs_f64(), self.config.stay_most.as_secs_f64());
        let laps = libm::ceil(self.between(least, most) * self.speed / length);
        self.laps = (laps as u64).saturating_sub(1);
    }

    fn stay_at(&mut self, place: Vector) {
        let radius = self.radius();
        let centre = self.centre(radius, radius);
        let (x, y) = (place.x - centre.x, place.y - centre.y);
        let distance = libm::hypot(x, y);
        let out = if distance < NEAR { Vector::new(1.0, 0.0, 0.0) } else { Vector::new(x, y, 0.0) * (1.0 / distance) };
        let turn = self.sign() * 2.0 * PI;
        self.push(Leg::To(centre + out * radius));
        self.push(Leg::About(centre, turn));
        self.repeat(2.0 * PI * radius);
    }

    /// A frame in a drawn direction, and half the length of a movement with ends of this radius, from `least` to `most`.
    fn stretched(&mut self, radius: f64, least: f64, most: f64) -> (Frame, f64) {
        let (sin, cos) = libm::sincos(2.0 * PI * self.random.uniform());
        let size = self.area.size();
        let room = |side: f64, share: f64| (side / 2.0 - radius) / share.abs().max(1e-9);
        let most = most.min(room(size.x, cos)).min(room(size.y, sin));
        let half = self.between(least, most);
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

    /// The lines cross in the middle at the angle β to the axis, sin β = r / h with h half the distance of the centres,
    /// and touch the circles; each circle is followed for π + 2β.
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

    /// Lines along x or y, two radii apart.
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

    fn piece(&mut self, from: Instant, place: Vector) -> Piece {
        loop {
            while let Some(leg) = self.legs.get(self.next).copied() {
                self.next += 1;
                if let Some(piece) = self.fly(from, place, leg) {
                    return piece;
                }
            }
            if self.laps > 0 {
                self.laps -= 1;
                self.next = 1;
            } else {
                self.choose(place);
            }
        }
    }

    fn fly(&self, from: Instant, place: Vector, leg: Leg) -> Option<Piece> {
        match leg {
            Leg::To(goal) => (place.distance(goal) >= NEAR).then(|| Piece::flight(from, place, goal, self.speed)),
            Leg::About(centre, angle) => {
                let radius = libm::hypot(place.x - centre.x, place.y - centre.y);
                let time = flight_time(radius * angle.abs(), self.speed);
                Some(Piece::arc(from, from + time, place, centre, angle / time.as_secs_f64()))
            }
        }
    }
}

impl Frame {
    /// 1 where `left` is to the left of `along` seen from above, else -1.
    fn sense(self) -> f64 {
        (self.along.x * self.left.y - self.along.y * self.left.x).signum()
    }
}

impl Model for Paparazzi {
    type Walk = PaparazziWalk;

    fn start(&self, mut start: Start<'_>) -> (PaparazziWalk, Piece) {
        let place = start.place();
        let mut walk = PaparazziWalk {
            config: *self,
            area: start.area.at_height(place.z),
            random: start.random,
            speed: 0.0,
            legs: Vec::with_capacity(MOST_LEGS),
            next: 0,
            laps: 0,
        };
        walk.speed = walk.between(self.speed_least, self.speed_most);
        let piece = walk.piece(Instant::ZERO, place);
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
        config.start(Start { area: &area, place: None, random, seed })
    }

    /// Asserts that the lap behind the flight to a movement has no corner and, but for a scan, ends where it started.
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
        let place = first.position(first.from);
        let mut counts = [0.0_f64; 5];
        for _ in 0..20_000 {
            walk.choose(place);
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
    fn a_circle_goes_on_for_the_time_drawn() {
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
