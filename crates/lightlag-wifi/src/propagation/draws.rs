//! Random numbers by counter: each depends only on its purpose and a counter, not on numbers drawn before.
//!
//! Adding a station that stays silent, or a frame with no receivers, therefore changes no random number of any other
//! frame.

use lightlag_core::RandomStream;
use lightlag_core::random::mix;
use lightlag_net::StationId;

/// A named family of draws in a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Draws(u64);

/// The generator of one draw, which can return several numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Draw(u64);

impl Draws {
    /// Returns the family of draws called `name` in a run with this `seed`.
    pub fn new(seed: u64, name: &str) -> Self {
        Self(RandomStream::new(seed, name).bits())
    }

    /// Returns the draw for an entity with this number and a counter, such as the index of a frame or an epoch.
    pub fn at(self, number: u32, counter: u64) -> Draw {
        Draw(mix(mix(self.0 ^ u64::from(number)) ^ counter))
    }

    /// Returns the draw for a pair of stations, in either order, and a counter.
    pub fn between(self, a: StationId, b: StationId, counter: u64) -> Draw {
        let pair = u64::from(a.0.min(b.0)) << 32 | u64::from(a.0.max(b.0));
        Draw(mix(mix(self.0 ^ pair) ^ counter))
    }
}

impl Draw {
    /// Returns the next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// Returns a number that is uniformly distributed in (0, 1), from 53 random bits.
    pub fn uniform(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) * (1.0 / (1u64 << 53) as f64)
    }

    /// Returns two independent numbers with the standard normal distribution (Box and Muller 1958).
    pub fn normals(&mut self) -> [f64; 2] {
        let radius = libm::sqrt(-2.0 * libm::log(self.uniform()));
        let angle = 2.0 * std::f64::consts::PI * self.uniform();
        [radius * libm::cos(angle), radius * libm::sin(angle)]
    }

    /// Returns an exponentially distributed number with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -libm::log(self.uniform())
    }

    /// Returns a gamma distributed number with this shape and mean 1 (Marsaglia and Tsang 2000).
    pub fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            // Γ(m) = Γ(m + 1)·U^(1/m); m + 1 and m are their means.
            let boost = libm::pow(self.uniform(), 1.0 / shape);
            return self.gamma(shape + 1.0) * (shape + 1.0) / shape * boost;
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / libm::sqrt(9.0 * d);
        loop {
            let [x, _] = self.normals();
            let t = 1.0 + c * x;
            let v = t * t * t;
            if t > 0.0 && libm::log(self.uniform()) < 0.5 * x * x + d - d * v + d * libm::log(v) {
                return d * v / shape;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(draw: impl Fn(Draw) -> f64) -> (f64, f64) {
        let (draws, n) = (Draws::new(5, "moments"), 200_000);
        let values: Vec<f64> = (0..n).map(|i| draw(draws.at(1, i))).collect();
        let mean = values.iter().sum::<f64>() / n as f64;
        (mean, values.iter().map(|of| (of - mean) * (of - mean)).sum::<f64>() / n as f64)
    }

    #[test]
    fn a_draw_depends_on_its_purpose_alone() {
        let draws = Draws::new(5, "air");
        assert_eq!(draws.at(3, 9).bits(), draws.at(3, 9).bits());
        assert_ne!(draws.at(3, 9).bits(), draws.at(3, 10).bits());
        assert_ne!(draws.at(3, 9).bits(), draws.at(4, 9).bits());
        assert_ne!(draws.at(3, 9).bits(), Draws::new(6, "air").at(3, 9).bits());
        assert_eq!(draws.between(StationId(3), StationId(4), 9), draws.between(StationId(4), StationId(3), 9));
        assert_ne!(draws.between(StationId(3), StationId(4), 9), draws.between(StationId(3), StationId(5), 9));
    }

    #[test]
    fn draws_have_the_moments_of_their_distribution() {
        // 200,000 draws: the standard error of a mean is 0.0022 σ, five of them 0.011 σ.
        let (mean, variance) = moments(|mut draw| draw.uniform());
        assert!((mean - 0.5).abs() < 0.004 && (variance - 1.0 / 12.0).abs() < 0.001, "{mean} {variance}");
        let (mean, variance) = moments(|mut draw| draw.normals()[0]);
        assert!(mean.abs() < 0.011 && (variance - 1.0).abs() < 0.02, "{mean} {variance}");
        let (mean, variance) = moments(|mut draw| draw.exponential());
        assert!((mean - 1.0).abs() < 0.011 && (variance - 1.0).abs() < 0.04, "{mean} {variance}");
        for shape in [0.75, 1.0, 1.5, 6.0] {
            let (mean, variance) = moments(|mut draw| draw.gamma(shape));
            assert!((mean - 1.0).abs() < 0.013, "{shape}: {mean}");
            assert!((variance * shape - 1.0).abs() < 0.05, "{shape}: {variance}");
        }
    }
}
