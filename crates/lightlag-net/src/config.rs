//! The constants of a link direction.

use crate::limit::QueueLimit;
use lightlag_core::{Duration, Rate};

/// The constants of a link direction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LinkConfig {
    /// How fast bits leave.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    /// How much may wait.
    pub queue: QueueLimit,
    /// Bytes of link-layer header and trailer on every packet: they take time and can be hit by bit errors.
    pub header: u64,
}
