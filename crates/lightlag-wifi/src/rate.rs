//! Rate control: the mode in which a station sends to another one.
//!
//! Each model is a file. A [`RateControl`] names one; a `Controller` is its state for one pair of stations.

mod arf;
mod fixed;
mod ideal;
mod minstrel_ht;

pub use arf::Arf;
pub use fixed::Fixed;
pub use ideal::Ideal;
pub use minstrel_ht::MinstrelHt;

use crate::phy::{Capabilities, ErrorCurves, Mode};
use lightlag_core::{Instant, RandomStream};
use std::fmt::Debug;

lightlag_core::registry! {
    /// A model of rate control.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub enum RateControl {
        Fixed, "fixed", Fixed;
        Arf, "arf", Arf;
        Ideal, "ideal", Ideal;
        MinstrelHt, "minstrel-ht", MinstrelHt;
    }
}

impl Default for RateControl {
    fn default() -> Self {
        Self::Fixed(Fixed {})
    }
}

impl RateControl {
    /// The modes between which it chooses, the slowest first.
    pub(crate) fn modes(&self, capabilities: Capabilities) -> Vec<Mode> {
        let mut modes = capabilities.data_modes();
        modes.sort_by_key(|mode| (mode.rate(), mode.streams()));
        modes
    }

    /// The state for one pair of stations that have these modes, the slowest first; none where the rate is fixed.
    pub(crate) fn start(
        &self,
        modes: &[Mode],
        curves: &ErrorCurves,
        random: RandomStream,
    ) -> Option<Box<dyn Controller>> {
        match self {
            Self::Fixed(_) => None,
            Self::Arf(arf) => Some(Box::new(arf::State::new(*arf, modes))),
            Self::Ideal(ideal) => Some(Box::new(ideal::State::new(*ideal, modes, curves))),
            Self::MinstrelHt(minstrel) => Some(Box::new(minstrel_ht::State::new(*minstrel, modes, random))),
        }
    }
}

/// The mode of the next frames.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Choice {
    pub(crate) mode: Mode,
    /// Whether it is being tried out, with one frame alone.
    pub(crate) is_probe: bool,
}

/// The outcome of some frames that left together.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Outcome {
    pub(crate) mode: Mode,
    pub(crate) sent: u32,
    pub(crate) arrived: u32,
    /// The ratio of signal to noise at the receiver, if it answered.
    pub(crate) snr: Option<f64>,
}

/// A station's knowledge of its way to another one.
pub(crate) trait Controller: Debug + Send {
    /// Chooses the mode of the next frames.
    fn choose(&mut self, now: Instant) -> Choice;

    /// Learns from the last ones.
    fn learn(&mut self, outcome: Outcome);
}
