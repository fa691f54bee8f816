//! Gauss-Markov mobility in three dimensions, as in ns-3.
//!
//! Liang and Haas, *Predictive distance-based mobility management for PCS networks*, INFOCOM 1999, in three dimensions
//! by Broyles, Jabbar and Sterbenz, *Design and analysis of a 3-D Gauss-Markov mobility model for highly dynamic
//! airborne networks*, ITC 2010. Every Δt, speed, direction and pitch are updated; each of them, x, becomes
//!
//! ```text
//! x ← α x + (1 − α) x̄ + √(1 − α²) N(0, σ²)
//! ```
//!
//! and the velocity (v cos θ cos φ, v sin θ cos φ, v sin φ) lasts for Δt. The state starts at the means, and noise is
//! already added for the first step. The rules at the walls follow ns-3's `GaussMarkovMobilityModel`.

use crate::model::Model;
use crate::walk::{Walk, WalkStart};
use crate::{Area, Piece, Vector};
use lightlag_core::{Duration, Instant, RandomStream, Unit, settings};
use std::f64::consts::PI;

settings! {
    /// Parameters of Gauss-Markov mobility, with the defaults of ns-3.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct GaussMarkov {
        about "Speed, direction and pitch drift around means that differ between nodes, with noise at every time step. \
               The defaults are the same as in ns-3, where alpha = 1 flies straight; studies of swarms use alpha = \
               0.85, time_step = \"500 ms\", speed_variance = 0, direction_variance = 0.2 and pitch_variance = 0.02. \
               The means are drawn once for each node between their minimum and maximum. A step that would leave the \
               area is mirrored, and direction and pitch continue from the mirrored means. Variances are in m²/s² and \
               rad². (Liang and Haas, INFOCOM 1999; Broyles et al., ITC 2010; ns-3's GaussMarkovMobilityModel)";

        /// Memory: 0 means that each step is independent of the previous one, 1 that the node flies straight on.
        alpha: f64 = 1.0 => quantity(Unit::Plain, 0.0, 1.0);
        /// Interval between two changes of the velocity.
        time_step: Duration = Duration::from_secs(1) => time();
        /// Minimum mean speed, in metres per second.
        speed_min: f64 = 0.0 => quantity(Unit::MetrePerSecond, 0.0, 10_000.0);
        /// Maximum mean speed, in metres per second.
        speed_max: f64 = 1.0 => quantity(Unit::MetrePerSecond, 0.0, 10_000.0)
            .checked(|c| (c.speed_max < c.speed_min).then_some("is below speed_min"));
        /// Minimum mean direction, in degrees counterclockwise from the east.
        direction_min: f64 = 0.0 => quantity(Unit::Degree, -360.0, 360.0);
        /// Maximum mean direction, in degrees.
        direction_max: f64 = 360.0 => quantity(Unit::Degree, -360.0, 360.0)
            .checked(|c| (c.direction_max < c.direction_min).then_some("is below direction_min"));
        /// Minimum mean pitch, in degrees above the horizon.
        pitch_min: f64 = 0.0 => quantity(Unit::Degree, -90.0, 90.0);
        /// Maximum mean pitch, in degrees.
        pitch_max: f64 = 0.0 => quantity(Unit::Degree, -90.0, 90.0)
            .checked(|c| (c.pitch_max < c.pitch_min).then_some("is below pitch_min"));
        /// Variance of the speed, in m²/s².
        speed_variance: f64 = 1.0 => quantity(Unit::Plain, 0.0, 10_000.0);
        /// Variance of the direction, in rad².
        direction_variance: f64 = 1.0 => quantity(Unit::Plain, 0.0, 10_000.0);
        /// Variance of the pitch, in rad².
        pitch_variance: f64 = 1.0 => quantity(Unit::Plain, 0.0, 10_000.0);
        /// Maximum absolute value of the noise, in m/s or rad; a larger value is drawn again.
        bound: f64 = 10.0 => quantity(Unit::Plain, 1.0, 10_000.0);
    }
}

impl GaussMarkov {
    /// Returns the parameters of many studies of swarms: a change every half second, a memory of 0.85, gentle turns and
    /// a constant speed.
    pub fn calm(speed_min: f64, speed_max: f64) -> Self {
        Self {
            alpha: 0.85,
            time_step: Duration::from_millis(500),
            speed_min,
            speed_max,
            speed_variance: 0.0,
            direction_variance: 0.2,
            pitch_variance: 0.02,
            ..Self::default()
        }
    }
}

/// Speed, direction and pitch, in metres per second and radians.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct State {
    speed: f64,
    direction: f64,
    pitch: f64,
}

impl State {
    fn velocity(self) -> Vector {
        let (sin, cos) = libm::sincos(self.direction);
        let (climb, level) = libm::sincos(self.pitch);
        Vector::new(self.speed * cos * level, self.speed * sin * level, self.speed * climb)
    }
}

/// The state of a node that follows the model.
#[derive(Clone, Debug)]
pub struct GaussMarkovWalk {
    config: GaussMarkov,
    area: Area,
    random: RandomStream,
    mean: State,
    state: State,
    /// Velocity during the current step.
    velocity: Vector,
    until: Instant,
}

/// Maximum distance from a wall of a position that counts as on the wall, in metres.
const AT_WALL: f64 = 1e-6;

impl GaussMarkovWalk {
    fn uniform(&mut self, min: f64, max: f64) -> f64 {
        min + (max - min) * self.random.uniform()
    }

    fn draw_means(&mut self) {
        let config = self.config;
        let speed = self.uniform(config.speed_min, config.speed_max);
        let direction = self.uniform(config.direction_min, config.direction_max) * (PI / 180.0);
        let pitch = self.uniform(config.pitch_min, config.pitch_max) * (PI / 180.0);
        self.mean = State { speed, direction, pitch };
        self.state = self.mean;
    }

    fn noise(&mut self, variance: f64) -> f64 {
        loop {
            let noise = self.random.normal() * libm::sqrt(variance);
            if noise.abs() <= self.config.bound {
                return noise;
            }
        }
    }

    fn drift(&mut self) {
        let GaussMarkov { alpha, speed_variance, direction_variance, pitch_variance, .. } = self.config;
        let scale = libm::sqrt(1.0 - alpha * alpha);
        let (mean, old) = (self.mean, self.state);
        let mut step =
            |old: f64, mean: f64, variance| alpha * old + (1.0 - alpha) * mean + scale * self.noise(variance);
        self.state = State {
            speed: step(old.speed, mean.speed, speed_variance),
            direction: step(old.direction, mean.direction, direction_variance),
            pitch: step(old.pitch, mean.pitch, pitch_variance),
        };
    }

    /// Returns the velocity for the next step from `position`, reflected at any wall that the step would cross. As in
    /// `DoWalk` of ns-3, each axis is reflected separately, and direction and pitch are reset to their reflected means.
    fn mirrored(&mut self, position: Vector) -> Vector {
        let mut velocity = self.state.velocity();
        let goal = position + velocity * self.config.time_step.as_secs_f64();
        let inside = self.area.clamp(goal);
        if inside == goal {
            return velocity;
        }
        if inside.x != goal.x {
            velocity.x = -velocity.x;
            self.mean.direction = PI - self.mean.direction;
        }
        if inside.y != goal.y {
            velocity.y = -velocity.y;
            self.mean.direction = -self.mean.direction;
        }
        if inside.z != goal.z {
            velocity.z = -velocity.z;
            self.mean.pitch = -self.mean.pitch;
        }
        (self.state.direction, self.state.pitch) = (self.mean.direction, self.mean.pitch);
        velocity
    }

    fn step(&mut self, from: Instant, position: Vector) -> Piece {
        // ns-3, `Start`: a mean speed of exactly zero counts as not yet drawn.
        if self.mean.speed == 0.0 {
            self.draw_means();
        }
        self.drift();
        self.velocity = self.mirrored(position);
        self.until = from + self.config.time_step;
        self.glide(from, position)
    }

    /// Returns a segment that continues from `position` until the step ends or the node meets a wall. At walls that it
    /// has already met it slides along them. Only a step longer than the area can meet a wall after a reflection.
    fn glide(&mut self, from: Instant, position: Vector) -> Piece {
        let (min, max) = (self.area.least(), self.area.most());
        let mut velocity = self.velocity;
        let mut left = self.until.since(from).as_secs_f64();
        let axes = [
            (&mut velocity.x, position.x, min.x, max.x),
            (&mut velocity.y, position.y, min.y, max.y),
            (&mut velocity.z, position.z, min.z, max.z),
        ];
        for (speed, coordinate, low, high) in axes {
            let room = if *speed > 0.0 { high - coordinate } else { coordinate - low };
            if room < AT_WALL {
                *speed = 0.0;
            } else if *speed != 0.0 {
                left = left.min(room / speed.abs());
            }
        }
        let met = from + Duration::from_secs_f64(left).max(Duration::from_nanos(1));
        Piece::straight(from, met.min(self.until), position, velocity)
    }
}

impl Model for GaussMarkov {
    type Walk = GaussMarkovWalk;

    fn start(&self, mut start: WalkStart<'_>) -> (GaussMarkovWalk, Piece) {
        let position = start.place();
        let mut walk = GaussMarkovWalk {
            config: *self,
            area: *start.area,
            random: start.random,
            mean: State::default(),
            state: State::default(),
            velocity: Vector::ZERO,
            until: Instant::ZERO,
        };
        let piece = walk.step(Instant::ZERO, position);
        (walk, piece)
    }
}

impl Walk for GaussMarkovWalk {
    fn next(&mut self, last: &Piece) -> Piece {
        let place = self.area.clamp(last.position(last.until));
        if last.until < self.until { self.glide(last.until, place) } else { self.step(last.until, place) }
    }

    /// Returns `speed_max` plus the limit of a geometric series of the largest noise N:
    /// √(1 − α²) N / (1 − α) = N √((1 + α) / (1 − α)).
    fn max_speed(&self) -> f64 {
        let GaussMarkov { alpha, speed_max, speed_variance, bound, .. } = self.config;
        if alpha == 1.0 || speed_variance == 0.0 {
            return speed_max;
        }
        // The largest normal number of a stream with 53 bits: √(2 · 53 ln 2) = 8.57.
        let noise = bound.min(8.58 * libm::sqrt(speed_variance));
        speed_max + noise * libm::sqrt((1.0 + alpha) / (1.0 - alpha))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mobility, Motion};

    fn vast() -> Area {
        let corner = Vector::new(1e8, 1e8, 1e8);
        Area::new(-corner, corner).unwrap()
    }

    /// Returns the velocities in the first `steps` steps.
    fn velocities(config: GaussMarkov, steps: usize) -> Vec<Vector> {
        let start = Some(Vector::ZERO);
        let mut motion = Motion::new(&Mobility::GaussMarkov(config), &vast(), start, 1, "a");
        (0..steps).map(|step| motion.velocity(Instant::ZERO + config.time_step * step as u64)).collect()
    }

    /// Returns the variance and the lag-1 autocorrelation of the values.
    fn moments(values: &[f64]) -> (f64, f64) {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
        let lagged = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum::<f64>() / n;
        (variance, lagged / variance)
    }

    #[test]
    fn states_have_the_variance_of_the_noise_and_the_memory_alpha() {
        let config = GaussMarkov {
            alpha: 0.85,
            speed_min: 50.0,
            speed_max: 50.0,
            direction_min: 40.0,
            direction_max: 40.0,
            speed_variance: 4.0,
            direction_variance: 0.01,
            pitch_variance: 0.02,
            ..GaussMarkov::default()
        };
        let velocities = &velocities(config, 200_100)[100..];
        let part = |of: fn(&Vector) -> f64| moments(&velocities.iter().map(of).collect::<Vec<f64>>());
        let speed = part(|v| v.length());
        let direction = part(|v| libm::atan2(v.y, v.x));
        let pitch = part(|v| libm::asin(v.z / v.length()));
        for ((variance, memory), expected) in [(speed, 4.0), (direction, 0.01), (pitch, 0.02)] {
            // 200 000 steps are worth 200 000 (1 − α²) / (1 + α²) = 32 000 independent ones: 0.8 % for a variance.
            assert!((variance / expected - 1.0).abs() < 0.03, "{variance} against {expected}");
            assert!((memory - 0.85).abs() < 0.005, "{memory}");
        }
    }

    #[test]
    fn without_noise_the_means_are_unchanged() {
        let config = GaussMarkov { speed_min: 10.0, speed_max: 20.0, ..GaussMarkov::default() };
        let velocities = velocities(config, 100);
        let speed = velocities[0].length();
        assert!((10.0..=20.0).contains(&speed));
        assert!(velocities.iter().all(|v| v.distance(velocities[0]) < 1e-9), "alpha = 1 flies straight");
    }

    #[test]
    fn walls_mirror_the_step_and_the_means() {
        let area = Area::new(Vector::ZERO, Vector::new(100.0, 100.0, 100.0)).unwrap();
        let towards = |direction: f64, pitch: f64, position| {
            let config = GaussMarkov {
                speed_min: 2.0,
                speed_max: 2.0,
                direction_min: direction,
                direction_max: direction,
                pitch_min: pitch,
                pitch_max: pitch,
                ..GaussMarkov::default()
            };
            let mut motion = Motion::new(&Mobility::GaussMarkov(config), &area, Some(position), 1, "a");
            let mut place = |seconds| motion.position(Instant::ZERO + Duration::from_secs(seconds));
            (place(1), place(2))
        };
        let near = |a: Vector, b: Vector| a.distance(b) < 1e-9;
        let (one, two) = towards(0.0, 0.0, Vector::new(99.0, 50.0, 50.0));
        assert!(near(one, Vector::new(97.0, 50.0, 50.0)) && near(two, Vector::new(95.0, 50.0, 50.0)));
        // Both walls of a corner at the same time; √2 m per second in each direction.
        let (one, two) = towards(45.0, 0.0, Vector::new(99.0, 99.0, 50.0));
        let step = libm::sqrt(2.0);
        assert!(near(one, Vector::new(99.0 - step, 99.0 - step, 50.0)), "{one:?}");
        assert!(near(two, Vector::new(99.0 - 2.0 * step, 99.0 - 2.0 * step, 50.0)), "{two:?}");
        let (one, two) = towards(90.0, 30.0, Vector::new(50.0, 50.0, 99.5));
        assert!(near(one, Vector::new(50.0, 50.0 + libm::sqrt(3.0), 98.5)), "{one:?}");
        assert!(near(two, Vector::new(50.0, 50.0 + 2.0 * libm::sqrt(3.0), 97.5)), "{two:?}");
    }

    #[test]
    fn a_step_longer_than_the_area_ends_at_its_wall() {
        let area = Area::new(Vector::ZERO, Vector::new(10.0, 100.0, 0.0)).unwrap();
        let config = GaussMarkov { speed_min: 15.0, speed_max: 15.0, direction_max: 0.0, ..GaussMarkov::default() };
        let mobility = Mobility::GaussMarkov(config);
        let mut motion = Motion::new(&mobility, &area, Some(Vector::new(5.0, 5.0, 0.0)), 1, "a");
        let mut position_at = |millis| motion.position(Instant::ZERO + Duration::from_millis(millis));
        assert!(position_at(200).distance(Vector::new(2.0, 5.0, 0.0)) < 1e-6);
        assert!(position_at(900).distance(Vector::new(0.0, 5.0, 0.0)) < 1e-6);
    }
}
