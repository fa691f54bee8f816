//! Losses with and without a line of sight.

use lightlag_mobility::Vector;

/// The way in which the line of sight enters a loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Sight {
    /// The mean of both losses in dB, by their probability.
    #[default]
    Mean,
    /// One of both, drawn for each pair of stations and each epoch.
    Drawn,
}

impl Sight {
    /// The names that a scenario uses, in the order of [`Sight::ALL`].
    pub const NAMES: &'static [&'static str] = &["mean", "drawn"];
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Mean, Self::Drawn];
}

/// The two losses of a path.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sighted {
    /// The probability of a line of sight.
    pub probability: f64,
    /// The loss in dB with it.
    pub clear: f64,
    /// The loss in dB without it.
    pub blocked: f64,
    /// The deviation of shadowing in dB with a line of sight and without.
    pub deviations: [f64; 2],
    /// Whether one of both is drawn.
    pub sight: Sight,
}

impl Sighted {
    /// The mean loss in dB.
    pub fn mean(self) -> f64 {
        self.probability * self.clear + (1.0 - self.probability) * self.blocked
    }

    /// The loss in dB and the deviation of shadowing, by a number that is uniform in (0, 1).
    pub(super) fn choose(self, uniform: f64) -> (f64, f64) {
        let [clear, blocked] = self.deviations;
        match self.sight {
            Sight::Mean => {
                let variance = self.probability * clear * clear + (1.0 - self.probability) * blocked * blocked;
                (self.mean(), libm::sqrt(variance))
            }
            Sight::Drawn if uniform < self.probability => (self.clear, clear),
            Sight::Drawn => (self.blocked, blocked),
        }
    }
}

/// The part of a path along the ground, in metres.
pub(super) fn along_ground(from: Vector, to: Vector) -> f64 {
    libm::hypot(to.x - from.x, to.y - from.y)
}
