//! Air-to-ground path loss: free-space loss plus an excess loss, which depends on the line of sight.
//!
//! Al-Hourani, Kandeepan and Lardner, IEEE Wireless Communications Letters, 2014. With the elevation θ in degrees,
//! `P_LoS = 1/(1 + a·exp(−b·(θ − a)))`; the excess is η_LoS or η_NLoS.

use super::Model;
use super::friis::{Friis, free_space};
use super::sight::{LineOfSight, Sighted, along_ground};
use lightlag_core::params::{Described, Setting};
use lightlag_mobility::Vector;

/// The kind of buildings on the ground.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Environment {
    /// Suburban.
    Suburban,
    /// Urban.
    #[default]
    Urban,
    /// Dense urban.
    DenseUrban,
    /// High-rise buildings.
    HighRise,
}

impl Environment {
    const NAMES: &'static [&'static str] = &["suburban", "urban", "dense-urban", "high-rise"];
    /// All environments.
    pub const ALL: [Self; 4] = [Self::Suburban, Self::Urban, Self::DenseUrban, Self::HighRise];

    /// Returns the paper's values of a, b, η_LoS and η_NLoS at 2 GHz.
    const fn parameters(self) -> [f64; 4] {
        match self {
            Self::Suburban => [4.88, 0.43, 0.1, 21.0],
            Self::Urban => [9.61, 0.16, 1.0, 20.0],
            Self::DenseUrban => [12.08, 0.11, 1.6, 23.0],
            Self::HighRise => [27.23, 0.08, 2.3, 34.0],
        }
    }

    /// Returns the probability of a line of sight at an elevation in degrees.
    pub fn line_of_sight(self, elevation: f64) -> f64 {
        let [a, b, ..] = self.parameters();
        1.0 / (1.0 + a * libm::exp(-b * (elevation - a)))
    }
}

/// Parameters of the air-to-ground path loss.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct AirToGround {
    /// The kind of buildings on the ground.
    pub environment: Environment,
    /// Use of the losses with and without a line of sight.
    pub line_of_sight: LineOfSight,
}

impl Described for AirToGround {
    const ABOUT: &'static str = "Free-space loss plus an excess loss from buildings. A higher elevation makes a line \
         of sight more likely; line_of_sight selects the mean loss, or one case drawn for each pair and epoch \
         (Al-Hourani et al. 2014).";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::word(
                "environment",
                "an environment",
                Environment::NAMES,
                |of: &Self| of.environment as usize,
                |of, index| of.environment = Environment::ALL[index],
            )
            .about("Type of buildings on the ground."),
            Setting::word(
                "line_of_sight",
                "a use of the line of sight",
                LineOfSight::NAMES,
                |of: &Self| of.line_of_sight as usize,
                |of, index| of.line_of_sight = LineOfSight::ALL[index],
            )
            .about("Treatment of the line of sight."),
        ]
    }
}

impl Model for AirToGround {
    fn decibels(&self, from: Vector, to: Vector, frequency: f64) -> f64 {
        self.sighted(from, to, frequency).mean()
    }

    fn reach(&self, decibels: f64, frequency: f64) -> f64 {
        let [.., excess, _] = self.environment.parameters();
        Friis {}.reach(decibels - excess, frequency)
    }

    fn sight(&self, from: Vector, to: Vector, frequency: f64) -> Option<Sighted> {
        Some(self.sighted(from, to, frequency))
    }
}

impl AirToGround {
    fn sighted(&self, from: Vector, to: Vector, frequency: f64) -> Sighted {
        let elevation = libm::atan2((to.z - from.z).abs(), along_ground(from, to)).to_degrees();
        let [.., clear, blocked] = self.environment.parameters();
        let free = free_space(from.distance(to), frequency);
        Sighted {
            probability: self.environment.line_of_sight(elevation),
            clear: free + clear,
            blocked: free + blocked,
            deviations: [0.0; 2],
            sight: self.line_of_sight,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_town_is_seen_at_the_probabilities_of_the_paper() {
        for (elevation, probability) in [(10.0, 0.100), (20.0, 0.354), (45.0, 0.968)] {
            let found = Environment::Urban.line_of_sight(elevation);
            assert!((found - probability).abs() < 0.0006, "{elevation}°: {found}");
        }
    }

    #[test]
    fn the_mean_loss_lies_between_the_two_cases() {
        // 100 m up at 100 m: 45°, 141.4 m. P = 0.968; free space at 2 GHz 81.48 dB, 1 dB with sight and 20 dB without.
        let model = AirToGround::default();
        let decibels = model.decibels(Vector::ZERO, Vector::new(100.0, 0.0, 100.0), 2e9);
        let p = Environment::Urban.line_of_sight(45.0);
        let free = free_space(libm::sqrt(20_000.0), 2e9);
        assert!((free - 81.48).abs() < 0.01, "{free}");
        assert!((decibels - (free + p + (1.0 - p) * 20.0)).abs() < 1e-9, "{decibels}");
        assert_eq!(decibels, model.decibels(Vector::new(100.0, 0.0, 100.0), Vector::ZERO, 2e9));
    }
}
