//! The clock of the timestamps option (RFC 7323 §5.4): 1 ms a tick.

use lightlag_core::{Duration, Instant};

/// The value that a segment carries.
pub(crate) fn timestamp(now: Instant) -> u32 {
    (now.as_nanos() / 1_000_000) as u32
}

/// The time since a local timestamp, in ticks of 1 ms, at least one tick.
pub(crate) fn ticks_since(now: Instant, echo: u32) -> Duration {
    Duration::from_millis(u64::from(timestamp(now).wrapping_sub(echo)).max(1))
}

/// End of the tick whose timestamp is echoed: segments that left at or after it carried a later one. `None` for an echo
/// of a timestamp that was never sent.
pub(crate) fn end_of_tick(now: Instant, echo: u32) -> Option<Instant> {
    let ago = Duration::from_millis(u64::from(timestamp(now).wrapping_sub(echo)));
    let tick = Duration::from_millis(now.as_nanos() / 1_000_000 + 1);
    (ago < tick).then(|| Instant::ZERO + tick.saturating_sub(ago))
}
