//! The events of records, for delivery rates, which most algorithms do not need.

/// Running numbers of records, and bytes.
#[derive(Debug, Default)]
pub struct Log {
    /// Acknowledged or SACKed for the first time.
    pub delivered: Vec<(u64, u64)>,
    /// Marked as lost.
    pub lost: Vec<(u64, u64)>,
    /// Bytes of segments delivered without knowing which.
    pub guessed: u64,
    /// Bytes in `delivered` that had been guessed before.
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
