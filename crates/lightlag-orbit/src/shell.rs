//! Walker shells: circular orbits with the same height and inclination, evenly distributed.
//!
//! A *delta* pattern i:T/P/F has P planes over 360° of right ascension, with T/P satellites in each, and each satellite
//! is F·360°/T ahead of its neighbour in the previous plane (Walker, *Satellite Constellations*, JBIS 37, 1984). A
//! *star* spreads its planes over 180°, so that the satellites of the first and the last plane move in opposite directions.

use crate::propagate::{Circular, ClosedForm, Elements, Propagator};
use std::f64::consts::TAU;

/// Maximum difference between the height of a shell and the height for its number of revolutions, in metres.
const MOST_APART: f64 = 5e3;

/// The method of calculating the orbit of a generated satellite.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Motion {
    /// SGP4 without drag, in closed form.
    #[default]
    Sgp4,
    /// A circle that precesses due to J2.
    Circular,
}

/// The offset of the satellites in a plane from the satellites in the previous plane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phasing {
    /// The parameter F of the Walker notation, less than the number of planes.
    Walker(u32),
    /// Satellites in odd planes are half a slot ahead, as in Hypatia.
    Alternating,
}

/// A shell of satellites.
#[derive(Clone, PartialEq, Debug)]
pub struct Shell {
    /// Name of the shell, which is the prefix of its satellites' names.
    pub name: String,
    /// Height above the equator in metres. The semi-major axis is the sum of the equatorial radius and this height.
    pub height: f64,
    /// Revolutions per day, if given instead of the height.
    pub revolutions: Option<f64>,
    /// Inclination in degrees.
    pub inclination: f64,
    /// Number of planes.
    pub planes: u32,
    /// Number of satellites per plane.
    pub slots: u32,
    /// Offset between neighbouring planes.
    pub phasing: Phasing,
    /// Range of right ascension over which the planes are distributed, in degrees: 360 for a delta pattern, 180 for a
    /// star.
    pub spread: f64,
    /// The method of calculating the orbits of the satellites.
    pub motion: Motion,
    /// Whether the shell is accepted although its satellites may collide, as in some published simulations.
    pub may_collide: bool,
}

impl Default for Shell {
    fn default() -> Self {
        Self {
            name: "shell".to_owned(),
            height: 550e3,
            revolutions: None,
            inclination: 53.0,
            planes: 1,
            slots: 1,
            phasing: Phasing::Walker(0),
            spread: 360.0,
            motion: Motion::Sgp4,
            may_collide: false,
        }
    }
}

/// The reason why a shell is invalid.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ShellError {
    /// A number is out of range.
    #[error("{0}")]
    Range(String),
    /// Satellites would collide.
    #[error(
        "two of its satellites come within {0:.0} m of each other, one plane crossing the other; use another phasing"
    )]
    Collision(f64),
}

impl Shell {
    /// Returns the number of satellites in the shell.
    pub fn len(&self) -> u32 {
        self.planes * self.slots
    }

    /// Returns true if the shell has no satellites.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the name of a satellite.
    pub fn satellite(&self, plane: u32, slot: u32) -> String {
        format!("{}-{}-{}", self.name, plane + 1, slot + 1)
    }

    /// Returns true if the planes are distributed over half a turn, so that the satellites of the first and the last
    /// plane move in opposite directions.
    pub fn is_star(&self) -> bool {
        self.spread < 360.0
    }

    /// Returns the right ascension of a satellite's ascending node, and its angle from the node along the orbit at the
    /// start, both in radians.
    pub fn place(&self, plane: u32, slot: u32) -> (f64, f64) {
        let node = self.spread.to_radians() * f64::from(plane) / f64::from(self.planes);
        let slot_angle = TAU / f64::from(self.slots);
        let ahead = match self.phasing {
            Phasing::Walker(f) => TAU * f64::from(f * plane) / f64::from(self.len()),
            Phasing::Alternating => slot_angle / 2.0 * f64::from(plane % 2),
        };
        let along = slot_angle * f64::from(slot) + ahead;
        (node, along - TAU * libm::floor(along / TAU))
    }

    /// Returns the orbits of the satellites, plane by plane.
    ///
    /// # Errors
    /// If a number is out of range, or satellites would collide.
    pub fn orbits(&self) -> Result<Vec<Propagator>, ShellError> {
        self.check()?;
        let slots = (0..self.planes).flat_map(|plane| (0..self.slots).map(move |slot| (plane, slot)));
        let elements = |(plane, slot)| {
            let (node, along) = self.place(plane, slot);
            Elements {
                motion: self.revolutions.map_or_else(
                    || crate::propagate::mean_motion(self.height),
                    |revolutions| revolutions * TAU / 86_400.0,
                ),
                eccentricity: 0.0,
                inclination: self.inclination.to_radians(),
                node,
                perigee: 0.0,
                anomaly: along,
            }
        };
        Ok(slots
            .map(elements)
            .map(|elements| match self.motion {
                Motion::Sgp4 => Propagator::Closed(ClosedForm::new(&elements)),
                Motion::Circular => Propagator::Circular(Circular::new(&elements)),
            })
            .collect())
    }

    /// Checks that the shell is valid.
    ///
    /// # Errors
    /// If a number is out of range, or satellites would collide.
    pub fn check(&self) -> Result<(), ShellError> {
        let range = |message: String| Err(ShellError::Range(message));
        if !(100e3..=50_000e3).contains(&self.height) {
            return range(format!("height {} km is not from 100 to 50000 km", self.height / 1e3));
        }
        if let Some(revolutions) = self.revolutions
            && !(0.05..=17.0).contains(&revolutions)
        {
            return range(format!("{revolutions} revolutions per day are not from 0.05 to 17"));
        }
        if let Some(revolutions) = self.revolutions {
            let height = crate::propagate::height(revolutions * TAU / 86_400.0);
            if libm::fabs(height - self.height) > MOST_APART {
                return range(format!(
                    "{revolutions} revolutions per day give a height of {:.1} km, and the given height is {} km: more \
                     than 5 km apart; remove one",
                    height / 1e3,
                    self.height / 1e3
                ));
            }
        }
        if self.motion == Motion::Sgp4 && self.period() >= 225.0 * 60.0 {
            return range(format!(
                "the closed form of SGP4 holds for periods below 225 min, this shell has {:.0} min; use the circular \
                 model",
                self.period() / 60.0
            ));
        }
        if let Phasing::Walker(f) = self.phasing
            && f >= self.planes
        {
            return range(format!("phasing {f} is not below the number of planes, {}", self.planes));
        }
        if self.may_collide {
            return Ok(());
        }
        let least = self.least_distance();
        if least < 1_000.0 { Err(ShellError::Collision(least)) } else { Ok(()) }
    }

    /// Returns the orbital period in seconds.
    pub fn period(&self) -> f64 {
        self.revolutions.map_or_else(|| TAU / crate::propagate::mean_motion(self.height), |per_day| 86_400.0 / per_day)
    }

    /// Returns the minimum distance between two satellites of the shell at any time in metres, assuming circular
    /// orbits.
    pub fn least_distance(&self) -> f64 {
        let radius = crate::propagate::semi_major_axis(TAU / self.period()) * 1e3;
        let (sin_i, cos_i) = libm::sincos(self.inclination.to_radians());
        let mut min_distance =
            if self.slots > 1 { 2.0 * radius * libm::sin(TAU / f64::from(self.slots) / 2.0) } else { f64::MAX };
        // Two circles of one radius, with Δ between the nodes and u between the phases: cos of the angle between the
        // satellites is A cos φ' + …; its maximum gives the minimum distance over time, in closed form for each pair of
        // planes.
        let (first_node, first_along) = self.place(0, 0);
        for plane in 1..self.planes {
            for slot in 0..self.slots {
                let (node, along) = self.place(plane, slot);
                let (sin_d, cos_d) = libm::sincos(node - first_node);
                let phase = along - first_along;
                // r₁·r₂ = a cos u₁ cos u₂ + b sin u₁ sin u₂ + c (sin u₁ cos u₂ - cos u₁ sin u₂), with u₂ = u₁ + phase.
                let (a, b, c) = (cos_d, cos_d * cos_i * cos_i + sin_i * sin_i, sin_d * cos_i);
                let (sin_p, cos_p) = libm::sincos(phase);
                let mean = (a + b) / 2.0 * cos_p - c * sin_p;
                let swing = libm::fabs(a - b) / 2.0;
                let cosine = (mean + swing).min(1.0);
                min_distance = min_distance.min(radius * libm::sqrt(2.0 * (1.0 - cosine)));
            }
        }
        min_distance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn shell(planes: u32, slots: u32, phasing: u32) -> Shell {
        Shell {
            name: "s".to_owned(),
            height: 550e3,
            revolutions: None,
            inclination: 53.0,
            planes,
            slots,
            phasing: Phasing::Walker(phasing),
            spread: 360.0,
            motion: Motion::Sgp4,
            may_collide: false,
        }
    }

    #[test]
    fn satellites_of_starlink_keep_their_distance_by_the_phasing() {
        let min_distance = |phasing| shell(72, 22, phasing).least_distance() / 1e3;
        assert!(min_distance(36) < 0.001, "an even half collides: {}", min_distance(36));
        assert!(
            (min_distance(39) - 50.0).abs() < 2.0 && (min_distance(65) - 72.0).abs() < 2.0,
            "{} {}",
            min_distance(39),
            min_distance(65)
        );
        assert!((min_distance(17) - 20.0).abs() < 2.0, "{}", min_distance(17));
        assert!(matches!(shell(72, 22, 36).orbits(), Err(ShellError::Collision(_))));
        assert_eq!(shell(72, 22, 39).orbits().unwrap().len(), 1584);
    }

    #[test]
    fn the_minimum_distance_matches_the_orbits() {
        let shell = Shell { motion: Motion::Circular, ..shell(5, 4, 2) };
        let orbits = shell.orbits().unwrap();
        let mut min_distance = f64::MAX;
        for step in 0..20_000 {
            let position_of = |orbit: &Propagator| orbit.position(f64::from(step) * shell.period() / 20_000.0).unwrap();
            for other in &orbits[1..] {
                min_distance = min_distance.min(position_of(&orbits[0]).distance(position_of(other)));
            }
        }
        assert!(
            (min_distance / shell.least_distance() - 1.0).abs() < 2e-3,
            "{min_distance} {}",
            shell.least_distance()
        );
    }

    #[test]
    fn numbers_out_of_range_are_named() {
        let refused = |shell: Shell| shell.orbits().unwrap_err().to_string();
        assert!(refused(Shell { height: 550.0, ..shell(5, 4, 2) }).contains("0.55 km"));
        assert!(refused(shell(5, 4, 5)).contains("phasing 5"));
        assert!(refused(Shell { height: 8_062e3, ..shell(1, 20, 0) }).contains("288 min"));
    }
}
