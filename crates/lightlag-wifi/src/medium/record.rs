//! The record of a frame at a receiver.

use lightlag_core::Instant;

/// A frame as a station receives it.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameReception {
    /// Index of the frame.
    pub(super) frame: u64,
    pub(super) arrival: Instant,
    pub(super) end: Instant,
    /// Received power in milliwatts.
    pub(super) power: f64,
}
