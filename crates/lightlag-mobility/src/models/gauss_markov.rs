//! Gauss-Markov mobility in three dimensions, as ns-3 has it.
//!
//! Liang and Haas, *Predictive distance-based mobility management for PCS networks*, INFOCOM 1999, in three dimensions by
//! Broyles, Jabbar and Sterbenz, *Design and analysis of a 3-D Gauss-Markov mobility model for highly dynamic airborne
//! networks*, ITC 2010. Every Δt each x of speed, direction and pitch becomes
//!
//! ```text
//! x ← α x + (1 − α) x̄ + √(1 − α²) N(0, σ²)
//! ```
//!
//! and the velocity (v cos θ cos φ, v sin θ cos φ, v sin φ) lasts for Δt. The state starts at the means, and the first step
//! already has noise. The rules at the walls are those of ns-3's `GaussMarkovMobilityModel`.

use crate::model::Model;
use crate::walk::{Start, Walk};
use crate::{Area, Piece, Vector};
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Duration, Instant, RandomStream, Unit};
use std::f64::consts::PI;

/// The parameters of Gauss-Markov mobility, with the defaults of ns-3.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GaussMarkov {
    /// Memory: 0 forgets at every step, 1 flies straight.
    pub alpha: f64,
    /// The time between two changes.
    pub time_step: Duration,
    /// The least mean speed, in metres per second.
    pub speed_least: f64,
    /// The largest mean speed, in metres per second.
    pub speed_most: f64,
    /// The least mean direction, in degrees counterclockwise from the east.
    pub direction_least: f64,
    /// The largest mean direction, in degrees.
    pub direction_most: f64,
    /// The least mean pitch, in degrees above the horizon.
    pub pitch_least: f64,
    /// The largest mean pitch, in degrees.
    pub pitch_most: f64,
    /// The variance of the speed, in m²/s².
    pub speed_variance: f64,
    /// The variance of the direction, in rad².
    pub direction_variance: f64,
    /// The variance of the pitch, in rad².
    pub pitch_variance: f64,
    /// The largest draw of noise; a larger one is drawn again. In m/s or rad.
    pub bound: f64,
}

impl Default for GaussMarkov {
    fn default() -> Self {
        Self {
            alpha: 1.0,
            time_step: Duration::from_secs(1),
            speed_least: 0.0,
            speed_most: 1.0,
            direction_least: 0.0,
            direction_most: 360.0,
            pitch_least: 0.0,
            pitch_most: 0.0,
            speed_variance: 1.0,
            direction_variance: 1.0,
            pitch_variance: 1.0,
            bound: 10.0,
        }
    }
}

impl GaussMarkov {
    /// The parameters of common studies of swarms: a change every half second, a memory of 0.85, calm turns and a constant
    /// speed.
    pub fn calm(speed_least: f64, speed_most: f64) -> Self {
        Self {
            alpha: 0.85,
            time_step: Duration::from_millis(500),
            speed_least,
            speed_most,
            speed_variance: 0.0,
            direction_variance: 0.2,
            pitch_variance: 0.02,
            ..Self::default()
        }
    }
}

impl Described for GaussMarkov {
    const ABOUT: &'static str = "Speed, direction and pitch drift around means of the node's own, with noise at every time \
        step. The defaults are those of ns-3, where alpha = 1 flies straight; studies of swarms use alpha = 0.85, time_step = \
        \"500 ms\", speed_variance = 0, direction_variance = 0.2 and pitch_variance = 0.02. The means are drawn once for each \
        node between their least and their most. A step that would leave the area is mirrored, and direction and pitch go on \
        from the mirrored means. Variances are in m²/s² and rad². (Liang and Haas, INFOCOM 1999; Broyles et al., ITC 2010; \
        ns-3's GaussMarkovMobilityModel)";

    fn settings() -> Vec<Setting<Self>> {
        let speed = |key, at| Setting::quantity(key, at, Unit::MetrePerSecond, 0.0, 10_000.0);
        let angle = |key, at| Setting::quantity(key, at, Unit::Degree, -360.0, 360.0);
        let pitch = |key, at| Setting::quantity(key, at, Unit::Degree, -90.0, 90.0);
        let variance = |key, at| Setting::quantity(key, at, Unit::Plain, 0.0, 10_000.0);
        vec![
            Setting::quantity("alpha", |c: &mut Self| &mut c.alpha, Unit::Plain, 0.0, 1.0)
                .about("Memory: 0 forgets at every step, 1 flies straight."),
            Setting::time("time_step", |c: &mut Self| &mut c.time_step).about("The time between two changes."),
            speed("speed_least", |c: &mut Self| &mut c.speed_least)
                .about("The least mean speed, in metres per second."),
            speed("speed_most", |c: &mut Self| &mut c.speed_most)
                .about("The largest mean speed, in metres per second.")
                .checked(|c| (c.speed_most < c.speed_least).then_some("is below speed_least")),
            angle("direction_least", |c: &mut Self| &mut c.direction_least)
                .about("The least mean direction, in degrees counterclockwise from the east."),
            angle("direction_most", |c: &mut Self| &mut c.direction_most)
                .about("The largest mean direction, in degrees.")
                .checked(|c| (c.direction_most < c.direction_least).then_some("is below direction_least")),
            pitch("pitch_least", |c: &mut Self| &mut c.pitch_least)
                .about("The least mean pitch, in degrees above the horizon."),
            pitch("pitch_most", |c: &mut Self| &mut c.pitch_most)
                .about("The largest mean pitch, in degrees.")
                .checked(|c| (c.pitch_most < c.pitch_least).then_some("is below pitch_least")),
            variance("speed_variance", |c: &mut Self| &mut c.speed_variance)
                .about("The variance of the speed, in m²/s²."),
            variance("direction_variance", |c: &mut Self| &mut c.direction_variance)
                .about("The variance of the direction, in rad²."),
            variance("pitch_variance", |c: &mut Self| &mut c.pitch_variance)
                .about("The variance of the pitch, in rad²."),
            Setting::quantity("bound", |c: &mut Self| &mut c.bound, Unit::Plain, 1.0, 10_000.0)
                .about("The largest draw of noise; a larger one is drawn again. In m/s or rad."),
        ]
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

/// A node at work.
#[derive(Clone, Debug)]
pub struct GaussMarkovWalk {
    config: GaussMarkov,
    area: Area,
    random: RandomStream,
    mean: State,
    state: State,
    /// The velocity of this step, and its end.
    velocity: Vector,
    until: Instant,
}

/// A place so near to a wall is on it, in metres.
const AT_WALL: f64 = 1e-6;

impl GaussMarkovWalk {
    fn uniform(&mut self, least: f64, most: f64) -> f64 {
        least + (most - least) * self.random.uniform()
    }

    fn draw_means(&mut self) {
        let config = self.config;
        let speed = self.uniform(config.speed_least, config.speed_most);
        let direction = self.uniform(config.direction_least, config.direction_most) * (PI / 180.0);
        let pitch = self.uniform(config.pitch_least, config.pitch_most) * (PI / 180.0);
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

    /// The velocity of the step from `place`, mirrored at the walls that it would pass. ns-3, `DoWalk`: each wall has its
    /// own mirror, and direction and pitch start again from the mirrored means.
    fn mirrored(&mut self, place: Vector) -> Vector {
        let mut velocity = self.state.velocity();
        let goal = place + velocity * self.config.time_step.as_secs_f64();
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

    fn step(&mut self, from: Instant, place: Vector) -> Piece {
        // ns-3, `Start`: a mean speed of exactly zero counts as not yet drawn.
        if self.mean.speed == 0.0 {
            self.draw_means();
        }
        self.drift();
        self.velocity = self.mirrored(place);
        self.until = from + self.config.time_step;
        self.glide(from, place)
    }

    /// Goes on from `place` until the step ends or a wall is met, along the walls that are met already. Only a step longer
    /// than the area meets one after its mirror.
    fn glide(&mut self, from: Instant, place: Vector) -> Piece {
        let (least, most) = (self.area.least(), self.area.most());
        let mut velocity = self.velocity;
        let mut left = self.until.since(from).as_secs_f64();
        let axes = [
            (&mut velocity.x, place.x, least.x, most.x),
            (&mut velocity.y, place.y, least.y, most.y),
            (&mut velocity.z, place.z, least.z, most.z),
        ];
        for (speed, place, least, most) in axes {
            let room = if *speed > 0.0 { most - place } else { place - least };
            if room < AT_WALL {
                *speed = 0.0;
            } else if *speed != 0.0 {
                left = left.min(room / speed.abs());
            }
        }
        let met = from + Duration::from_secs_f64(left).max(Duration::from_nanos(1));
        Piece::straight(from, met.min(self.until), place, velocity)
    }
}

impl Model for GaussMarkov {
    type Walk = GaussMarkovWalk;

    fn start(&self, mut start: Start<'_>) -> (GaussMarkovWalk, Piece) {
        let place = start.place();
        let mut walk = GaussMarkovWalk {
            config: *self,
            area: *start.area,
            random: start.random,
            mean: State::default(),
            state: State::default(),
            velocity: Vector::ZERO,
            until: Instant::ZERO,
        };
        let piece = walk.step(Instant::ZERO, place);
        (walk, piece)
    }
}

impl Walk for GaussMarkovWalk {
    fn next(&mut self, last: &Piece) -> Piece {
        let place = self.area.clamp(last.position(last.until));
        if last.until < self.until { self.glide(last.until, place) } else { self.step(last.until, place) }
    }

    /// The sum of a geometric series of the largest noise: √(1 − α²) N / (1 − α) = N √((1 + α) / (1 − α)).
    fn max_speed(&self) -> f64 {
        let GaussMarkov { alpha, speed_most, speed_variance, bound, .. } = self.config;
        if alpha == 1.0 || speed_variance == 0.0 {
            return speed_most;
        }
        // The largest normal number of a stream with 53 bits: √(2 · 53 ln 2) = 8.57.
        let noise = bound.min(8.58 * libm::sqrt(speed_variance));
        speed_most + noise * libm::sqrt((1.0 + alpha) / (1.0 - alpha))
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

    /// The velocities of so many steps.
    fn velocities(config: GaussMarkov, steps: usize) -> Vec<Vector> {
        let start = Some(Vector::ZERO);
        let mut motion = Motion::new(&Mobility::GaussMarkov(config), &vast(), start, 1, "a");
        (0..steps).map(|step| motion.velocity(Instant::ZERO + config.time_step * step as u64)).collect()
    }

    /// Variance and lag-1 autocorrelation.
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
            speed_least: 50.0,
            speed_most: 50.0,
            direction_least: 40.0,
            direction_most: 40.0,
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
    fn without_noise_the_means_are_kept() {
        let config = GaussMarkov { speed_least: 10.0, speed_most: 20.0, ..GaussMarkov::default() };
        let velocities = velocities(config, 100);
        let speed = velocities[0].length();
        assert!((10.0..=20.0).contains(&speed));
        assert!(velocities.iter().all(|v| v.distance(velocities[0]) < 1e-9), "alpha = 1 flies straight");
    }

    #[test]
    fn walls_mirror_the_step_and_the_means() {
        let area = Area::new(Vector::ZERO, Vector::new(100.0, 100.0, 100.0)).unwrap();
        let towards = |direction: f64, pitch: f64, place| {
            let config = GaussMarkov {
                speed_least: 2.0,
                speed_most: 2.0,
                direction_least: direction,
                direction_most: direction,
                pitch_least: pitch,
                pitch_most: pitch,
                ..GaussMarkov::default()
            };
            let mut motion = Motion::new(&Mobility::GaussMarkov(config), &area, Some(place), 1, "a");
            let mut place = |seconds| motion.position(Instant::ZERO + Duration::from_secs(seconds));
            (place(1), place(2))
        };
        let near = |a: Vector, b: Vector| a.distance(b) < 1e-9;
        let (one, two) = towards(0.0, 0.0, Vector::new(99.0, 50.0, 50.0));
        assert!(near(one, Vector::new(97.0, 50.0, 50.0)) && near(two, Vector::new(95.0, 50.0, 50.0)));
        // Both walls of a corner at once; √2 m a second each way.
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
        let config = GaussMarkov { speed_least: 15.0, speed_most: 15.0, direction_most: 0.0, ..GaussMarkov::default() };
        let mobility = Mobility::GaussMarkov(config);
        let mut motion = Motion::new(&mobility, &area, Some(Vector::new(5.0, 5.0, 0.0)), 1, "a");
        let mut place = |millis| motion.position(Instant::ZERO + Duration::from_millis(millis));
        assert!(place(200).distance(Vector::new(2.0, 5.0, 0.0)) < 1e-6);
        assert!(place(900).distance(Vector::new(0.0, 5.0, 0.0)) < 1e-6);
    }
}
