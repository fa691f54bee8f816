//! Destination-Sequenced Distance Vector routing.

mod message;

pub use message::{Entry, Update};

/// The UDP port of DSDV in ns-3.
pub const PORT: u16 = 269;
