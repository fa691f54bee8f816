//! The constants of a link direction.

use crate::limit::QueueLimit;
use lightlag_core::{Duration, Rate};

/// The constants of a link direction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LinkConfig {
    /// Transmission rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    /// Limit of the waiting packets.
    pub queue: QueueLimit,
    /// Bytes of link-layer header and trailer on every packet: they take time and can be hit by bit errors.
    pub header: u64,
}
