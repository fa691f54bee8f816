//! Greedy Perimeter Stateless Routing.

mod message;

pub use message::{Beacon, Header, Mode, Place};

/// The UDP port of our beacons: GPSR has none of its own.
pub const PORT: u16 = 666;
