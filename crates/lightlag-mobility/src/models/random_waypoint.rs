//! Random waypoint, started in its stationary distribution.
//!
//! Johnson and Maltz, *Dynamic source routing in ad hoc wireless networks*, 1996; the stationary distribution by Navidi
//! and Camp, *Stationary distributions for the random waypoint mobility model*, IEEE TMC 3(1), 2004. A node flies to a
//! uniformly distributed position at a speed uniformly distributed from v₀ to v₁, pauses, and continues. With P the
//! duration of a pause and L the length of a leg, a node observed at an arbitrary time
//!
//! - pauses with probability E\[P\] / (E\[P\] + E\[L\] ln(v₁/v₀) / (v₁ − v₀)), and its remaining pause has the density
//!   P(pause > p) / E\[P\];
//! - otherwise is on a leg whose probability density is proportional to its length, uniformly distributed along the
//!   leg, at the speed v₀^(1−u) v₁^u with u uniform from 0 to 1.

use crate::model::Model;
use crate::walk::{Walk, WalkStart};
use crate::{Area, Piece, Vector};
use lightlag_core::{Duration, Instant, RandomStream, Unit, settings};
use std::f64::consts::PI;

settings! {
    /// Parameters of random waypoint.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct RandomWaypoint {
        about "A node flies straight to a position drawn uniformly in the area, at a speed drawn uniformly, pauses and \
               continues with the next position. Nodes without a given position start from the stationary \
               distribution, so there is no transient; with `steady = false`, or from a given position, a node starts \
               with a leg from its initial position. With `level`, a node keeps its height. A minimum speed of zero is \
               rejected: the mean speed would decay to zero. (Johnson and Maltz 1996; Navidi and Camp, IEEE TMC 2004)";

        /// Minimum speed, in metres per second.
        speed_min: f64 = 5.0 => quantity(Unit::MetrePerSecond, 0.001, 10_000.0);
        /// Maximum speed, in metres per second.
        speed_max: f64 = 20.0 => quantity(Unit::MetrePerSecond, 0.001, 10_000.0)
            .checked(|c| (c.speed_max < c.speed_min).then_some("is below speed_min"));
        /// Minimum pause.
        pause_min: Duration = Duration::ZERO => time_or_zero();
        /// Maximum pause.
        pause_max: Duration = Duration::ZERO => time_or_zero()
            .checked(|c| (c.pause_max < c.pause_min).then_some("is below pause_min"));
        /// Whether a node stays at its initial height.
        level: bool = false => flag();
        /// Whether nodes without a given position start in the stationary distribution, instead of at a uniformly
        /// distributed position.
        steady: bool = true => flag();
    }
}

impl RandomWaypoint {
    /// Returns the mean time of a leg, in seconds: E\[L\] E\[1/v\].
    fn mean_travel(&self, size: Vector) -> f64 {
        let (least, most) = (self.speed_min, self.speed_max);
        let slowness = if least == most { 1.0 / least } else { libm::log(most / least) / (most - least) };
        mean_distance(size) * slowness
    }

    /// Returns the probability that a node is pausing at an arbitrary time.
    fn paused(&self, size: Vector) -> f64 {
        let pause = (self.pause_min.as_secs_f64() + self.pause_max.as_secs_f64()) / 2.0;
        if pause == 0.0 { 0.0 } else { pause / (pause + self.mean_travel(size)) }
    }

    /// Returns the remaining duration of a pause observed at an arbitrary time, by inverting its distribution at `u`,
    /// from 0 to 1.
    fn residual_pause(&self, u: f64) -> Duration {
        let (min, max) = (self.pause_min.as_secs_f64(), self.pause_max.as_secs_f64());
        let sum = min + max;
        Duration::from_secs_f64(if u * sum < 2.0 * min {
            u * sum / 2.0
        } else {
            max - libm::sqrt((1.0 - u) * (max * max - min * min))
        })
    }
}

/// Returns the mean distance between two uniformly distributed positions in a box of this size, in metres:
/// ∫∫∫ 8 (1 − u)(1 − v)(1 − w) √(a²u² + b²v² + c²w²) du dv dw over the unit cube.
///
/// Gauss-Legendre quadrature with 24 points per axis. The substitution u = s² smooths the kink at the origin.
fn mean_distance(size: Vector) -> f64 {
    const POINTS: usize = 24;
    let mut nodes = [(0.0, 0.0); POINTS];
    for (index, node) in nodes.iter_mut().enumerate() {
        let (root, weight) = legendre(index, POINTS);
        let s = (1.0 + root) / 2.0;
        *node = (s * s, weight * s * 2.0 * (1.0 - s * s));
    }
    let mut sum = 0.0;
    for (u, x) in nodes {
        for (v, y) in nodes {
            for (w, z) in nodes {
                sum += x * y * z * Vector::new(size.x * u, size.y * v, size.z * w).length();
            }
        }
    }
    sum
}

/// Returns a root of the Legendre polynomial of this degree and its weight, by Newton's method (Abramowitz and Stegun
/// 25.4.29).
fn legendre(index: usize, degree: usize) -> (f64, f64) {
    let mut x = libm::cos(PI * (index as f64 + 0.75) / (degree as f64 + 0.5));
    let mut slope = 1.0;
    for _ in 0..8 {
        let (mut last, mut value) = (1.0, x);
        for n in 2..=degree {
            let n = n as f64;
            (last, value) = (value, ((2.0 * n - 1.0) * x * value - (n - 1.0) * last) / n);
        }
        slope = degree as f64 * (x * value - last) / (x * x - 1.0);
        x -= value / slope;
    }
    (x, 2.0 / ((1.0 - x * x) * slope * slope))
}

/// The state of a node that follows the model.
#[derive(Clone, Debug)]
pub struct RandomWaypointWalk {
    config: RandomWaypoint,
    area: Area,
    random: RandomStream,
    goal: Vector,
    arrives: bool,
}

/// Minimum distance of the next goal in metres; nearer goals are drawn again.
const NEAR: f64 = 1e-6;

impl RandomWaypointWalk {
    fn leg_to(&mut self, from: Instant, position: Vector, goal: Vector, speed: f64) -> Piece {
        (self.goal, self.arrives) = (goal, true);
        Piece::flight(from, position, goal, speed)
    }

    fn leg(&mut self, from: Instant, position: Vector) -> Piece {
        let goal = loop {
            let goal = self.area.draw(&mut self.random);
            if goal.distance(position) >= NEAR {
                break goal;
            }
        };
        let RandomWaypoint { speed_min, speed_max, .. } = self.config;
        let speed = speed_min + (speed_max - speed_min) * self.random.uniform();
        self.leg_to(from, position, goal, speed)
    }

    fn pause(&mut self, from: Instant, position: Vector, time: Duration) -> Piece {
        (self.goal, self.arrives) = (position, false);
        Piece::rest(from, from + time, position)
    }

    fn steady_start(&mut self) -> Piece {
        if self.random.uniform() < self.config.paused(self.area.size()) {
            let position = self.area.draw(&mut self.random);
            let rest = self.config.residual_pause(self.random.uniform());
            return self.pause(Instant::ZERO, position, rest.max(Duration::from_nanos(1)));
        }
        let diagonal = self.area.size().length();
        let (from, goal) = loop {
            let (from, goal) = (self.area.draw(&mut self.random), self.area.draw(&mut self.random));
            if self.random.uniform() * diagonal < from.distance(goal) {
                break (from, goal);
            }
        };
        let position = self.area.clamp(from + (goal - from) * self.random.uniform());
        let RandomWaypoint { speed_min, speed_max, .. } = self.config;
        let speed = speed_min * libm::pow(speed_max / speed_min, self.random.uniform());
        self.leg_to(Instant::ZERO, position, goal, speed)
    }
}

impl Model for RandomWaypoint {
    type Walk = RandomWaypointWalk;

    fn start(&self, mut start: WalkStart<'_>) -> (RandomWaypointWalk, Piece) {
        let mut area = *start.area;
        if self.level {
            area = area.at_height(start.place().z);
        }
        let position = start.place.or_else(|| (!self.steady).then(|| area.draw(&mut start.random)));
        let mut walk =
            RandomWaypointWalk { config: *self, area, random: start.random, goal: Vector::ZERO, arrives: false };
        let piece = match position {
            Some(place) => walk.leg(Instant::ZERO, place),
            None => walk.steady_start(),
        };
        (walk, piece)
    }
}

impl Walk for RandomWaypointWalk {
    fn next(&mut self, last: &Piece) -> Piece {
        let RandomWaypoint { pause_min, pause_max, .. } = self.config;
        if self.arrives && pause_max > Duration::ZERO {
            let spread = (pause_max - pause_min).as_secs_f64() * self.random.uniform();
            let time = pause_min + Duration::from_secs_f64(spread);
            if time > Duration::ZERO {
                return self.pause(last.until, self.goal, time);
            }
        }
        self.leg(last.until, self.goal)
    }

    fn max_speed(&self) -> f64 {
        self.config.speed_max
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mobility, Motion};

    fn area(x: f64, y: f64, z: f64) -> Area {
        Area::new(Vector::ZERO, Vector::new(x, y, z)).unwrap()
    }

    #[test]
    fn mean_distances_match_closed_forms() {
        let mean = |x, y, z| mean_distance(Vector::new(x, y, z));
        // (2 + √2 + 5 asinh 1) / 15, and the constant of Robbins.
        assert!((mean(1.0, 1.0, 0.0) - 0.521_405_433_164_720_7).abs() < 1e-6);
        assert!((mean(1.0, 1.0, 1.0) - 0.661_707_182_267_176_2).abs() < 1e-6);
        // Ghosh, Bull. Calcutta Math. Soc. 43, 1951.
        let (a, b) = (400.0, 50.0);
        let d = libm::hypot(a, b);
        let expected = (a * a * a / (b * b) + b * b * b / (a * a) + d * (3.0 - a * a / (b * b) - b * b / (a * a)))
            / 15.0
            + (b * b / a * libm::log((a + d) / b) + a * a / b * libm::log((b + d) / a)) / 6.0;
        assert!((mean(a, b, 0.0) / expected - 1.0).abs() < 1e-5, "{} against {expected}", mean(a, b, 0.0));
    }

    #[test]
    fn legs_have_the_mean_length_of_the_area() {
        for (area, expected) in [(area(100.0, 100.0, 0.0), 52.14), (area(100.0, 100.0, 100.0), 66.17)] {
            let mobility = Mobility::RandomWaypoint(RandomWaypoint { steady: false, ..RandomWaypoint::default() });
            let mut motion = Motion::new(&mobility, &area, None, 1, "a");
            let (mut from, mut sum, legs) = (Instant::ZERO, 0.0, 20_000);
            for _ in 0..legs {
                let piece = motion.piece(from);
                sum += piece.position(piece.until).distance(piece.position(from));
                from = piece.until;
            }
            // The standard deviation of a leg is half of its mean: 0.35 % for the mean of 20 000.
            let mean = sum / f64::from(legs);
            assert!((mean / expected - 1.0).abs() < 0.015, "{mean} against {expected}");
        }
    }

    /// Returns the speed of many nodes at a time, and their distances from the centre.
    fn population(config: RandomWaypoint, area: &Area, nodes: u64, time: Instant) -> Vec<(f64, f64)> {
        let mobility = Mobility::RandomWaypoint(config);
        let mut nodes: Vec<Motion> = (0..nodes).map(|seed| Motion::new(&mobility, area, None, seed, "a")).collect();
        nodes
            .iter_mut()
            .map(|node| (node.velocity(time).length(), node.position(time).distance(area.centre())))
            .collect()
    }

    /// Returns the maximum distance between an empirical distribution and the expected one (Kolmogorov-Smirnov
    /// statistic).
    fn farthest(mut values: Vec<f64>, law: impl Fn(f64) -> f64) -> f64 {
        values.sort_by(f64::total_cmp);
        let n = values.len() as f64;
        let gap = |(index, value): (usize, &f64)| (law(*value) - (index as f64 + 0.5) / n).abs();
        values.iter().enumerate().map(gap).fold(0.0, f64::max)
    }

    #[test]
    fn speeds_are_stationary_from_the_start() {
        let config = RandomWaypoint { speed_min: 1.0, speed_max: 20.0, ..RandomWaypoint::default() };
        let area = area(400.0, 400.0, 100.0);
        for seconds in [0, 20, 300] {
            let at = Instant::ZERO + Duration::from_secs(seconds);
            let population = population(config, &area, 10_000, at);
            let speeds: Vec<f64> = population.iter().map(|(speed, _)| *speed).collect();
            // P(V < v) = ln(v/v₀) / ln(v₁/v₀); the distance exceeds 0.02 for one seed in 1500.
            let gap = farthest(speeds.clone(), |v| libm::log(v) / libm::log(20.0));
            assert!(gap < 0.02, "{gap} after {seconds} s");
            let mean = speeds.iter().sum::<f64>() / 10_000.0;
            // E[V] = (v₁ − v₀) / ln(v₁/v₀) = 6.342 m/s.
            assert!((mean / 6.342 - 1.0).abs() < 0.03, "{mean} m/s after {seconds} s");
        }
    }

    #[test]
    fn places_are_stationary_from_the_start() {
        let area = area(400.0, 400.0, 100.0);
        let spread = |seconds| {
            let at = Instant::ZERO + Duration::from_secs(seconds);
            let population = population(RandomWaypoint::default(), &area, 10_000, at);
            population.iter().map(|(_, distance)| distance * distance).sum::<f64>() / 10_000.0
        };
        let (first, last) = (spread(0), spread(200));
        assert!((first / last - 1.0).abs() < 0.04, "{first} m² and {last} m²");
        // A uniform node: (400² + 400² + 100²) / 12 = 27 500 m²; the stationary one is nearer to the middle.
        assert!(first < 0.85 * 27_500.0, "{first} m²");
    }

    #[test]
    fn pauses_are_stationary_from_the_start() {
        let (pause_min, pause_max) = (Duration::from_secs(5), Duration::from_secs(35));
        let config = RandomWaypoint { pause_min, pause_max, ..RandomWaypoint::default() };
        let area = area(400.0, 300.0, 0.0);
        // 20 s of pause; E[L] = 183.6 m by Ghosh's formula, E[1/v] = ln 4 / 15 s/m: 16.97 s of travel.
        let expected = 20.0 / (20.0 + 16.97);
        for seconds in [0, 15, 200] {
            let at = Instant::ZERO + Duration::from_secs(seconds);
            let population = population(config, &area, 4_000, at);
            let paused = population.iter().filter(|(speed, _)| *speed == 0.0).count() as f64 / 4_000.0;
            // Four standard deviations: 4 √(0.25 / 4000) = 0.03.
            assert!((paused - expected).abs() < 0.03, "{paused} against {expected} after {seconds} s");
        }
    }

    #[test]
    fn a_residual_pause_is_drawn_by_inversion() {
        let (pause_min, pause_max) = (Duration::from_secs(10), Duration::from_secs(30));
        let config = RandomWaypoint { pause_min, pause_max, ..RandomWaypoint::default() };
        // E[P] = 20 s: uniform up to 10 s with density 1/20, then falling to zero at 30 s.
        assert_eq!(config.residual_pause(0.25), Duration::from_secs(5));
        assert_eq!(config.residual_pause(0.5), Duration::from_secs(10));
        assert_eq!(config.residual_pause(0.875), Duration::from_secs(20));
        assert_eq!(config.residual_pause(1.0), Duration::from_secs(30));
    }

    #[test]
    fn a_level_flight_keeps_its_height() {
        let config = RandomWaypoint { level: true, ..RandomWaypoint::default() };
        let mut motion = Motion::new(&Mobility::RandomWaypoint(config), &area(400.0, 400.0, 100.0), None, 1, "a");
        let height = motion.position(Instant::ZERO).z;
        assert!((0..1_000).all(|n| motion.position(Instant::ZERO + Duration::from_secs(n)).z == height));
    }
}
