//! Optimized Link State Routing.

mod message;

pub use message::{Body, Hello, LinkCode, LinkType, Message, NeighbourType, Packet, TopologyControl, Validity};

/// The UDP port of OLSR (RFC 3626 §3.1).
pub const PORT: u16 = 698;
