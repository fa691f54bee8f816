//! The trace of a frame at a station.

use lightlag_core::Instant;

/// A frame as a station hears it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    /// The number of the frame.
    pub(super) frame: u64,
    pub(super) arrival: Instant,
    pub(super) end: Instant,
    /// In milliwatts.
    pub(super) power: f64,
}
