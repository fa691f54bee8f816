//! The clock of the timestamps option (RFC 7323 §5.4), with ticks of 1 ms.

use lightlag_core::{Duration, Instant};

/// Returns the TSval of a segment that is sent now.
pub(crate) fn timestamp(now: Instant) -> u32 {
    (now.as_nanos() / 1_000_000) as u32
}

/// Returns the time since a local timestamp, in ticks of 1 ms, at least one tick.
pub(crate) fn ticks_since(now: Instant, echo: u32) -> Duration {
    Duration::from_millis(u64::from(timestamp(now).wrapping_sub(echo)).max(1))
}

/// Returns the end of the clock tick whose timestamp is echoed. Segments sent at this time or later carry a later
/// timestamp. `None` if this timestamp was never sent.
pub(crate) fn end_of_tick(now: Instant, echo: u32) -> Option<Instant> {
    let ago = Duration::from_millis(u64::from(timestamp(now).wrapping_sub(echo)));
    let tick = Duration::from_millis(now.as_nanos() / 1_000_000 + 1);
    (ago < tick).then(|| Instant::ZERO + tick.saturating_sub(ago))
}
