//! Bursts of losses, given by the fraction of lost packets and the mean number of consecutive losses: a Gilbert
//! channel.

use super::{GilbertElliott, Law, Loss};
use lightlag_core::Probability;
use lightlag_core::params::{Described, Setting};

/// Bursts of consecutive lost packets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bursts {
    /// Fraction of packets that are lost.
    pub mean: Probability,
    /// Mean number of consecutive losses.
    pub burst: f64,
}

impl Default for Bursts {
    fn default() -> Self {
        Self { mean: Probability::ZERO, burst: 5.0 }
    }
}

impl Bursts {
    fn channel(&self) -> Option<GilbertElliott> {
        GilbertElliott::from_bursts(self.mean, self.burst)
    }
}

impl Described for Bursts {
    const ABOUT: &'static str = "bursts of losses (a Gilbert channel): the fraction of packets that are lost, and the \
                                 mean number of consecutive losses";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::probability("mean", |law: &mut Self| &mut law.mean)
                .about("Fraction of packets that are lost.")
                .required("specify the fraction of packets that are lost, such as 0.01"),
            Setting::at_least("burst", |law: &mut Self| &mut law.burst, 1, "a number of packets")
                .about("Mean number of consecutive losses.")
                .required("specify the mean number of consecutive losses, such as 5"),
        ]
    }
}

impl Law for Bursts {
    fn refuses(&self, shown: &dyn Fn(&str) -> String) -> Option<(&'static str, String)> {
        let mean = self.mean.value();
        if mean == 1.0 {
            return Some((
                "mean",
                "1 leaves no packet between bursts; write a fraction below 1, or loss = 1".to_owned(),
            ));
        }
        if self.channel().is_some() {
            return None;
        }
        let min_burst = libm::ceil(mean / (1.0 - mean) * 1e4) / 1e4;
        let message = format!(
            "bursts of {} packets cannot lose {mean} of all packets, because one packet passes between two bursts; \
             write a burst of at least {min_burst}, or a smaller mean",
            shown("burst")
        );
        Some(("burst", message))
    }

    fn loss(&self) -> Loss {
        if self.mean == Probability::ZERO { Loss::None } else { self.channel().map_or(Loss::None, Loss::Bursts) }
    }
}
