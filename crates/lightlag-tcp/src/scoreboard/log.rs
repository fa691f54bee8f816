//! A log of deliveries and losses, for delivery rates. Most algorithms do not need it.

/// Deliveries and losses. A record is given by its running number and its size in bytes.
#[derive(Debug, Default)]
pub struct Log {
    /// Records acknowledged or SACKed for the first time.
    pub delivered: Vec<(u64, u64)>,
    /// Records marked as lost.
    pub lost: Vec<(u64, u64)>,
    /// Number of bytes of segments that count as delivered although they are not identified.
    pub guessed: u64,
    /// Number of bytes in `delivered` that had already been counted in `guessed`.
    pub known: u64,
}

#[inline]
pub(super) fn delivered(log: &mut Option<Box<Log>>, number: u64, bytes: u32) {
    if let Some(log) = log {
        log.delivered.push((number, u64::from(bytes)));
    }
}

#[inline]
pub(super) fn lost(log: &mut Option<Box<Log>>, number: u64, bytes: u64) {
    if let Some(log) = log
        && bytes > 0
    {
        log.lost.push((number, bytes));
    }
}
