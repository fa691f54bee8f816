//! The carriers for data of NB-IoT.

use super::nb_iot::NbIotConfig;
use lightlag_core::{Duration, Instant};

/// The tones of the data carriers, each with the end of its last grant.
#[derive(Clone, Debug, Default)]
pub(super) struct Uplink {
    free: Vec<Instant>,
}

impl Uplink {
    /// Returns the tones of these settings.
    pub(super) fn new(config: &NbIotConfig) -> Self {
        Self { free: vec![Instant::ZERO; config.parallel() as usize] }
    }

    /// Grants `time` on the tone that is free first, at `earliest` or later. Returns the end.
    pub(super) fn grant(&mut self, earliest: Instant, time: Duration) -> Instant {
        let tone = self.free.iter_mut().min().expect("a carrier has tones");
        *tone = (*tone).max(earliest) + time;
        *tone
    }
}
