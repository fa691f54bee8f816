//! Losses with and without a line of sight.

use lightlag_mobility::Vector;

/// Use of the losses with and without a line of sight.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LineOfSight {
    /// The mean of the two losses in dB, weighted by their probabilities.
    #[default]
    Mean,
    /// One of the two losses, picked at random for each pair of stations and each epoch.
    Drawn,
}

impl LineOfSight {
    /// Names in scenarios, in the order of [`LineOfSight::ALL`].
    pub const NAMES: &'static [&'static str] = &["mean", "drawn"];
    /// All options.
    pub const ALL: [Self; 2] = [Self::Mean, Self::Drawn];
}

/// The losses of a path with and without a line of sight.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sighted {
    /// Probability of a line of sight.
    pub probability: f64,
    /// Loss in dB with a line of sight.
    pub clear: f64,
    /// Loss in dB without a line of sight.
    pub blocked: f64,
    /// Standard deviations of shadowing in dB, with and without a line of sight.
    pub deviations: [f64; 2],
    /// Use of the two losses: their mean, or one of them picked at random.
    pub sight: LineOfSight,
}

impl Sighted {
    /// Returns the mean loss in dB.
    pub fn mean(self) -> f64 {
        self.probability * self.clear + (1.0 - self.probability) * self.blocked
    }

    /// Returns the loss and the standard deviation of shadowing, both in dB. `uniform` is a random number in (0, 1)
    /// that decides about the line of sight.
    pub(super) fn choose(self, uniform: f64) -> (f64, f64) {
        let [clear, blocked] = self.deviations;
        match self.sight {
            LineOfSight::Mean => {
                let variance = self.probability * clear * clear + (1.0 - self.probability) * blocked * blocked;
                (self.mean(), libm::sqrt(variance))
            }
            LineOfSight::Drawn if uniform < self.probability => (self.clear, clear),
            LineOfSight::Drawn => (self.blocked, blocked),
        }
    }
}

/// Returns the horizontal distance between two positions, in metres.
pub(super) fn along_ground(from: Vector, to: Vector) -> f64 {
    libm::hypot(to.x - from.x, to.y - from.y)
}
