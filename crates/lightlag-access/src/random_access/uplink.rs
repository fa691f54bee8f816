//! The carriers for data of NB-IoT.

use super::nb_iot::NbIotConfig;
use lightlag_core::{Duration, Instant};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The tones of the data carriers, each with the end of its last grant.
#[derive(Clone, Debug, Default)]
pub(super) struct Uplink {
    free: BinaryHeap<Reverse<Instant>>,
}

impl Uplink {
    /// Returns the tones of these settings.
    pub(super) fn new(config: &NbIotConfig) -> Self {
        Self { free: (0..config.parallel()).map(|_| Reverse(Instant::ZERO)).collect() }
    }

    /// Grants `time` on the tone that is free first, at `earliest` or later. Returns the end.
    pub(super) fn grant(&mut self, earliest: Instant, time: Duration) -> Instant {
        let Reverse(free) = self.free.pop().expect("a carrier has tones");
        let end = free.max(earliest) + time;
        self.free.push(Reverse(end));
        end
    }
}
