//! The requested limit of a queue, in the units of a scenario.

use crate::Bytes;

/// Limit of the waiting data as configured. The packet in transmission does not count.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Limit {
    /// Packets, at least 1.
    Packets(u64),
    /// Bytes at the network layer.
    Bytes(Bytes),
    /// Bandwidth-delay products, above 0: multiples of the link's rate times the longest round trip of the flows that
    /// cross it.
    Bdp(f64),
}

impl Limit {
    /// Returns true if both are in the same unit and this one is smaller; `None` if they cannot be compared.
    pub fn is_below(self, other: Self) -> Option<bool> {
        match (self, other) {
            (Self::Packets(a), Self::Packets(b)) => Some(a < b),
            (Self::Bytes(a), Self::Bytes(b)) => Some(a < b),
            (Self::Bdp(a), Self::Bdp(b)) => Some(a < b),
            _ => None,
        }
    }
}
