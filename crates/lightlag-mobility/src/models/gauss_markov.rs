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

use crate::motion::{Model, Start};
use crate::registry::Rules;
use crate::{Area, Piece, Vector};
use lightlag_core::{Duration, Instant, RandomStream, Unit};
use lightlag_net::setting::{Described, Setting};
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
            Setting::quantity("alpha", |c: &mut Self| &mut c.alpha, Unit::Plain, 0.0, 1.0),
            Setting::time("time_step", |c: &mut Self| &mut c.time_step),
            speed("speed_least", |c: &mut Self| &mut c.speed_least),
            speed("speed_most", |c: &mut Self| &mut c.speed_most)
                .checked(|c| (c.speed_most < c.speed_least).then_some("is below speed_least")),
            angle("direction_least", |c: &mut Self| &mut c.direction_least),
            angle("direction_most", |c: &mut Self| &mut c.direction_most)
                .checked(|c| (c.direction_most < c.direction_least).then_some("is below direction_least")),
            pitch("pitch_least", |c: &mut Self| &mut c.pitch_least),
            pitch("pitch_most", |c: &mut Self| &mut c.pitch_most)
                .checked(|c| (c.pitch_most < c.pitch_least).then_some("is below pitch_least")),
            variance("speed_variance", |c: &mut Self| &mut c.speed_variance),
            variance("direction_variance", |c: &mut Self| &mut c.direction_variance),
            variance("pitch_variance", |c: &mut Self| &mut c.pitch_variance),
            Setting::quantity("bound", |c: &mut Self| &mut c.bound, Unit::Plain, 1.0, 10_000.0),
        ]
    }
}

impl Rules for GaussMarkov {}

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
pub struct Walk {
    config: GaussMarkov,
    area: Area,
    random: RandomStream,
    mean: State,
    state: State,
}

impl Walk {
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
        let velocity = self.mirrored(place);
        Piece::straight(from, from + self.config.time_step, place, velocity).within(self.area)
    }
}

impl Model for Walk {
    type Config = GaussMarkov;

    fn start(config: &GaussMarkov, mut start: Start<'_>) -> (Self, Piece) {
        let place = start.place();
        let (mean, state) = (State::default(), State::default());
        let mut walk = Self { config: *config, area: *start.area, random: start.random, mean, state };
        let piece = walk.step(Instant::ZERO, place);
        (walk, piece)
    }

    fn next(&mut self, last: &Piece) -> Piece {
        let place = last.position(last.until);
        self.step(last.until, place)
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
