//! The limit of a queue, in the units that its link uses.

use lightlag_core::params::Limit;
use lightlag_core::{Bytes, Duration, Rate};

/// Size of a full packet: the minimum size of a queue whose limit is given in bandwidth-delay products.
pub(crate) const FULL_PACKET: Bytes = Bytes(1500);
/// Maximum size of a queue, 1000 TB, which is exact when printed and parsed again.
pub(crate) const LARGEST: Bytes = Bytes(1_000_000_000_000_000);

/// Limit of waiting data. The packet in transmission does not count, as in the device queues of ns-3 and INET.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueueLimit {
    /// Maximum number of packets. With 0, a packet is accepted only while the link is idle.
    Packets(u64),
    /// Maximum number of bytes at the network layer. An idle link accepts a packet of any size.
    Bytes(u64),
}

/// Waiting data at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Backlog {
    /// Packets, without the one in transmission.
    pub packets: u64,
    /// Total size of these packets at the network layer, in bytes.
    pub bytes: u64,
}

impl QueueLimit {
    /// Converts a requested limit to packets or bytes, for a link of this rate. `round_trip` is the longest round trip
    /// of the flows that cross the link.
    pub fn on_link(requested: Limit, rate: Rate, round_trip: Duration) -> Self {
        match requested {
            Limit::Packets(packets) => Self::Packets(packets),
            Limit::Bytes(bytes) => Self::Bytes(bytes.0),
            Limit::Bdp(factor) => {
                let bytes = (rate * round_trip).0 as f64 * factor;
                Self::Bytes((bytes as u64).clamp(FULL_PACKET.0, LARGEST.0))
            }
        }
    }

    /// Returns true if a packet of `size` bytes may join the waiting data. An empty queue accepts a packet of any size.
    pub fn admits(self, backlog: Backlog, size: u16) -> bool {
        match self {
            _ if backlog.packets == 0 => true,
            Self::Packets(limit) => backlog.packets < limit,
            Self::Bytes(limit) => backlog.bytes + u64::from(size) <= limit,
        }
    }
}
