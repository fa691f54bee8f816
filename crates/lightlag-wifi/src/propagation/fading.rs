//! Fading: random variation of the power of each frame around its mean.
//!
//! A factor with mean one is drawn for each exchange of frames between two stations. A frame and its reply share one
//! draw, because a channel is the same in both directions.

use super::draws::Draw;
use lightlag_core::Unit;
use lightlag_core::params::{Described, Setting};

lightlag_core::registry! {
    /// A model of fading.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub enum Fading {
        None, "none", Steady;
        Rician, "rician", Rician;
        Nakagami, "nakagami", Nakagami;
    }
}

impl Default for Fading {
    fn default() -> Self {
        Self::None(Steady {})
    }
}

impl Fading {
    /// Returns the factor for the power of a frame over a distance in metres.
    pub fn factor(&self, distance: f64, draw: Draw) -> f64 {
        match self {
            Self::None(_) => 1.0,
            Self::Rician(of) => of.factor(draw),
            Self::Nakagami(of) => of.factor(distance, draw),
        }
    }

    /// Returns a factor in dB that is exceeded by fewer than one frame in 10^8.
    pub(super) fn margin(&self) -> f64 {
        match self {
            Self::None(_) => 0.0,
            // Without a direct path the power is exponential: e^−20 = 2e-9 exceed 20 times the mean, 13 dB. The
            // heaviest tail that Nakagami's m ≥ ½ allows has erfc(√16) = 1.5e-8 above 32 times the mean, 15 dB.
            Self::Rician(_) => 13.0,
            Self::Nakagami(_) => 15.0,
        }
    }
}

/// No fading: the factor is always one.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Steady {}

impl Described for Steady {
    const ABOUT: &'static str = "No fading. Every frame has the mean power.";

    fn settings() -> Vec<Setting<Self>> {
        Vec::new()
    }
}

/// Rician fading, for paths with a direct component.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rician {
    /// Rician K factor in dB: ratio of the power of the direct path to the total power of all others.
    pub k: f64,
}

impl Default for Rician {
    /// Returns the K factor between aircraft with a line of sight, typically 10 to 15 dB.
    fn default() -> Self {
        Self { k: 12.0 }
    }
}

impl Described for Rician {
    const ABOUT: &'static str = "A direct path and many others. k is the ratio of the direct path's power to the \
         power of the others; between aircraft 10 to 15 dB (Rice 1948).";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::quantity("k", |of: &mut Self| &mut of.k, Unit::Decibel, -40.0, 60.0)
                .about("Ratio of the direct path's power to the power of all others, in dB."),
        ]
    }
}

impl Rician {
    /// Returns |√(K/(K + 1)) + (N1 + j·N2)/√(2(K + 1))|².
    fn factor(self, mut draw: Draw) -> f64 {
        let k = super::decibels::ratio(self.k);
        let [along, across] = draw.normals();
        let along = libm::sqrt(k) + along * std::f64::consts::FRAC_1_SQRT_2;
        (along * along + 0.5 * across * across) / (k + 1.0)
    }
}

/// Nakagami fading, whose depth depends on the distance.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Nakagami {
    /// Shape parameter m up to the first distance.
    pub m0: f64,
    /// Shape parameter m between the two distances.
    pub m1: f64,
    /// Shape parameter m beyond the second distance.
    pub m2: f64,
    /// The first distance, in metres.
    pub distance1: f64,
    /// The second distance, in metres.
    pub distance2: f64,
}

impl Default for Nakagami {
    /// Returns the defaults of `NakagamiPropagationLossModel` in ns-3.
    fn default() -> Self {
        Self { m0: 1.5, m1: 0.75, m2: 0.75, distance1: 80.0, distance2: 200.0 }
    }
}

impl Described for Nakagami {
    const ABOUT: &'static str = "A gamma-distributed power. Its shape is m0 up to distance1, m1 up to distance2 and \
         m2 beyond: 1 is Rayleigh fading, larger values vary less (Nakagami 1960; defaults of ns-3).";

    fn settings() -> Vec<Setting<Self>> {
        let shape = |key, at| Setting::quantity(key, at, Unit::Plain, 0.5, 1e4);
        vec![
            shape("m0", |of: &mut Self| &mut of.m0).about("Shape m up to the first distance."),
            shape("m1", |of: &mut Self| &mut of.m1).about("Shape between the two distances."),
            shape("m2", |of: &mut Self| &mut of.m2).about("Shape beyond the second distance."),
            Setting::quantity("distance1", |of: &mut Self| &mut of.distance1, Unit::Metre, 0.0, 1e6)
                .about("First distance, in metres."),
            Setting::quantity("distance2", |of: &mut Self| &mut of.distance2, Unit::Metre, 0.0, 1e6)
                .about("Second distance, in metres.")
                .checked(|of| (of.distance2 < of.distance1).then_some("must not be below distance1")),
        ]
    }
}

impl Nakagami {
    fn factor(self, distance: f64, mut draw: Draw) -> f64 {
        let shape = if distance < self.distance1 {
            self.m0
        } else if distance < self.distance2 {
            self.m1
        } else {
            self.m2
        };
        draw.gamma(shape)
    }
}

#[cfg(test)]
mod tests {
    use super::super::draws::Draws;
    use super::*;

    fn moments(fading: Fading, distance: f64) -> (f64, f64) {
        let (draws, n) = (Draws::new(7, "fading"), 200_000);
        let values: Vec<f64> = (0..n)
            .map(|i| fading.factor(distance, draws.between(lightlag_net::StationId(1), lightlag_net::StationId(2), i)))
            .collect();
        let mean = values.iter().sum::<f64>() / n as f64;
        (mean, values.iter().map(|of| (of - mean) * (of - mean)).sum::<f64>() / n as f64)
    }

    #[test]
    fn a_rician_factor_has_mean_one_and_the_variance_of_its_k() {
        for decibels in [-10.0, 0.0, 6.0, 12.0] {
            let k = libm::pow(10.0, decibels / 10.0);
            let (mean, variance) = moments(Fading::Rician(Rician { k: decibels }), 10.0);
            let expected = (2.0 * k + 1.0) / ((k + 1.0) * (k + 1.0));
            assert!((mean - 1.0).abs() < 0.011, "{decibels}: {mean}");
            assert!((variance / expected - 1.0).abs() < 0.03, "{decibels}: {variance} {expected}");
        }
    }

    #[test]
    fn a_nakagami_factor_has_mean_one_and_variance_one_over_m() {
        for (distance, m) in [(79.0, 1.5), (81.0, 0.75), (250.0, 0.75)] {
            let (mean, variance) = moments(Fading::Nakagami(Nakagami::default()), distance);
            assert!((mean - 1.0).abs() < 0.013, "{distance}: {mean}");
            assert!((variance * m - 1.0).abs() < 0.05, "{distance}: {variance}");
        }
    }

    #[test]
    fn without_fading_every_frame_has_its_mean_power() {
        assert_eq!(Fading::default().factor(10.0, Draws::new(1, "").at(1, 1)), 1.0);
    }
}
