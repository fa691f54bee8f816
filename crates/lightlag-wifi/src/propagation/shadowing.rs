//! Shadowing: a deviation of the path loss that lasts for some time.
//!
//! The deviation in dB is normally distributed around zero, and drawn for each pair of stations and each epoch.
//! Neighbouring epochs and pairs are independent.

use lightlag_core::params::{Described, Setting};
use lightlag_core::{Duration, Instant, Unit};

/// Parameters of shadowing.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Shadowing {
    /// Standard deviation of the loss in dB; 0 disables shadowing.
    pub deviation: f64,
    /// Duration of an epoch. Shadowing and the line of sight are drawn again for each epoch.
    pub epoch: Duration,
}

impl Default for Shadowing {
    fn default() -> Self {
        Self { deviation: 0.0, epoch: Duration::from_secs(1) }
    }
}

impl Described for Shadowing {
    const ABOUT: &'static str = "Losses that differ from pair to pair, `{ deviation = \"4 dB\", epoch = \"1 s\" }`: a normal deviation in dB, drawn for \
         each pair of stations and each epoch; a random line of sight also holds for one epoch (Rappaport 1996).";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::quantity("deviation", |of: &mut Self| &mut of.deviation, Unit::Decibel, 0.0, 30.0)
                .about("Standard deviation of the loss in dB; 0 means none."),
            Setting::time("epoch", |of: &mut Self| &mut of.epoch)
                .about("Validity period of a draw, also for a line of sight."),
        ]
    }
}

impl Shadowing {
    /// Returns the index of the epoch at a time.
    pub(super) fn epoch_at(&self, now: Instant) -> u64 {
        now.as_nanos() / self.epoch.as_nanos().max(1)
    }
}
