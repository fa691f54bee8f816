//! Shadowing: a deviation of the loss that stays for a while.
//!
//! Normal in dB around zero, drawn for each pair of stations and each epoch. Neighbouring epochs and pairs are independent.

use lightlag_core::params::{Described, Setting};
use lightlag_core::{Duration, Instant, Unit};

/// Parameters of shadowing.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Shadowing {
    /// The standard deviation of the loss in dB; 0 means none.
    pub deviation: f64,
    /// The time for which a draw holds; that of a line of sight, too.
    pub epoch: Duration,
}

impl Default for Shadowing {
    fn default() -> Self {
        Self { deviation: 0.0, epoch: Duration::from_secs(1) }
    }
}

impl Described for Shadowing {
    const ABOUT: &'static str = "Losses that differ from pair to pair. A normal deviation in dB, drawn for each pair of stations and \
         each epoch; a drawn line of sight holds for an epoch, too (Rappaport 1996).";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::quantity("deviation", |of: &mut Self| &mut of.deviation, Unit::Decibel, 0.0, 30.0)
                .about("The standard deviation of the loss in dB; 0 means none."),
            Setting::time("epoch", |of: &mut Self| &mut of.epoch)
                .about("The time for which a draw holds; that of a line of sight, too."),
        ]
    }
}

impl Shadowing {
    /// The number of the epoch at a time.
    pub(super) fn epoch_at(&self, now: Instant) -> u64 {
        now.as_nanos() / self.epoch.as_nanos().max(1)
    }
}
