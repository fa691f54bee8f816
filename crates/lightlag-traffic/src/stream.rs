//! Equal messages at equal intervals.

use lightlag_core::params::Setting;
use lightlag_core::{Bytes, Duration, Rate};

/// Rate and size of equal messages at equal intervals.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stream {
    /// Payload per second.
    pub rate: Rate,
    /// Payload of each message in bytes.
    pub size: Bytes,
}

impl Default for Stream {
    fn default() -> Self {
        Self { rate: Rate::from_mbps(1), size: Bytes(1000) }
    }
}

impl Stream {
    /// Returns the time from the first message to the one with the index `messages`. It is not computed as a sum of
    /// intervals, so that rounding errors do not accumulate.
    pub(crate) fn time_of(&self, messages: u64) -> Duration {
        let bits = u128::from(messages) * u128::from(self.size.0) * 8;
        let due = bits * 1_000_000_000 / u128::from(self.rate.as_bps());
        Duration::from_nanos(u64::try_from(due).unwrap_or(u64::MAX >> 1))
    }

    /// Returns the settings `rate` and `size` of a kind.
    pub(crate) fn settings<C: Clone + 'static>(
        rate: fn(&mut C) -> &mut Rate,
        size: fn(&mut C) -> &mut Bytes,
    ) -> [Setting<C>; 2] {
        [
            Setting::rate("rate", rate)
                .about("Payload rate.")
                .required("specify the payload rate, such as \"1 Mbit/s\""),
            Setting::size("size", size).about("Size of each message."),
        ]
    }
}
