//! Ad hoc On-Demand Distance Vector routing.

mod message;
mod sequence;

pub use message::{Error, Message, Reply, Request};
pub use sequence::Sequence;

/// The UDP port of AODV (RFC 3561 §12).
pub const PORT: u16 = 654;
