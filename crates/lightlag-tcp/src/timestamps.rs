//! The clock of the timestamps option (RFC 7323 §5.4): 1 ms a tick.

use lightlag_core::{Duration, Instant};

/// The value that a segment carries.
pub(crate) fn timestamp(now: Instant) -> u32 {
    (now.as_nanos() / 1_000_000) as u32
}

/// The time since a timestamp of ours, in ticks of 1 ms, at least one tick.
pub(crate) fn ticks_since(now: Instant, echo: u32) -> Duration {
    Duration::from_millis(u64::from(timestamp(now).wrapping_sub(echo)).max(1))
}

/// When the tick ended whose timestamp is echoed: what left at or after that moment carried a later one. `None` for
/// an echo of something that was never sent.
pub(crate) fn end_of_tick(now: Instant, echo: u32) -> Option<Instant> {
    let ago = Duration::from_millis(u64::from(timestamp(now).wrapping_sub(echo)));
    let tick = Duration::from_millis(now.as_nanos() / 1_000_000 + 1);
    (ago < tick).then(|| Instant::ZERO + tick.saturating_sub(ago))
}
