//! Bursts, by the share of packets that are lost and the mean length of a run: a channel of Gilbert's.

use super::{GilbertElliott, Law, Loss};
use lightlag_core::Probability;
use lightlag_core::params::{Described, Setting};

/// Runs of lost packets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bursts {
    /// The share of packets that are lost.
    pub mean: Probability,
    /// Mean number of packets lost in a row.
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
    const ABOUT: &'static str =
        "in bursts (a Gilbert channel): the share of packets that is lost, and how many are lost in a row on average";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::probability("mean", |law: &mut Self| &mut law.mean)
                .about("The share of packets that are lost.")
                .required("say which share of packets is lost, such as 0.01"),
            Setting::at_least("burst", |law: &mut Self| &mut law.burst, 1, "a number of packets")
                .about("Mean number of packets lost in a row.")
                .required("say how many packets are lost in a row on average, such as 5"),
        ]
    }
}

impl Law for Bursts {
    fn refuses(&self, shown: &dyn Fn(&str) -> String) -> Option<(&'static str, String)> {
        let mean = self.mean.value();
        if mean == 1.0 {
            return Some(("mean", "1 leaves nothing between bursts; write a share below 1, or loss = 1".to_owned()));
        }
        if self.channel().is_some() {
            return None;
        }
        let least = libm::ceil(mean / (1.0 - mean) * 1e4) / 1e4;
        let message = format!(
            "{} packets in a row cannot make {mean} of all, because one packet passes between two bursts; write a burst of \
             at least {least}, or a smaller mean",
            shown("burst")
        );
        Some(("burst", message))
    }

    fn loss(&self) -> Loss {
        if self.mean == Probability::ZERO { Loss::None } else { self.channel().map_or(Loss::None, Loss::Bursts) }
    }
}
