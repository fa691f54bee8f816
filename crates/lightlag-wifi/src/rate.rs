//! Rate control: how a station chooses the mode for frames to another station.
//!
//! Each algorithm has its own file. [`RateControl`] has the settings of one; a `Controller` is its state for one pair
//! of stations.

mod arf;
mod fixed;
mod ideal;
mod minstrel_ht;

pub use arf::Arf;
pub use fixed::Fixed;
pub use ideal::Ideal;
pub use minstrel_ht::MinstrelHt;

use crate::phy::{Capabilities, ErrorCurves, PhyMode};
use lightlag_core::{Instant, RandomStream};
use std::fmt::Debug;

lightlag_core::registry! {
    /// A rate control algorithm with its settings.
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
    /// Returns the modes that the algorithm may choose, slowest first.
    pub(crate) fn modes(&self, capabilities: Capabilities) -> Vec<PhyMode> {
        let mut modes = capabilities.data_modes();
        modes.sort_by_key(|mode| (mode.rate(), mode.streams()));
        modes
    }

    /// Returns the controller for a pair of stations; `None` if the rate is fixed. `modes` are sorted by rate, slowest
    /// first.
    pub(crate) fn start(
        &self,
        modes: &[PhyMode],
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

/// The mode chosen for the next frames.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Choice {
    pub(crate) mode: PhyMode,
    /// Whether the mode is a probe, which sends a single frame.
    pub(crate) is_probe: bool,
}

/// The outcome of the frames of one PPDU.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct PpduOutcome {
    pub(crate) mode: PhyMode,
    pub(crate) sent: u32,
    pub(crate) arrived: u32,
    /// Signal-to-noise ratio at the receiver, if it replied.
    pub(crate) snr: Option<f64>,
}

/// The rate control state of a station for one receiver.
pub(crate) trait Controller: Debug + Send {
    /// Chooses the mode of the next frames.
    fn choose(&mut self, now: Instant) -> Choice;

    /// Processes the outcome of the last frames.
    fn learn(&mut self, outcome: PpduOutcome);
}
