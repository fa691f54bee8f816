//! The limit of a queue on its link.

use lightlag_core::params::Limit;
use lightlag_core::{Bytes, Duration, Rate};

/// A full packet, the smallest limit given in BDP.
pub(crate) const FULL_PACKET: Bytes = Bytes(1500);
/// The largest queue, 1000 TB: exact when printed and read again.
pub(crate) const LARGEST: Bytes = Bytes(1_000_000_000_000_000);

/// The limit of waiting data. The packet in transmission does not count, as in the device queues of ns-3 and INET.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueueLimit {
    /// Packets. With 0, only an idle link accepts one.
    Packets(u64),
    /// Bytes at the network layer. An idle link accepts a packet of any size.
    Bytes(u64),
}

/// The waiting data at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Backlog {
    /// Packets, without the one in transmission.
    pub packets: u64,
    /// Their bytes at the network layer.
    pub bytes: u64,
}

impl QueueLimit {
    /// A requested limit in packets or bytes, on a link of this rate, with the longest round trip of the flows that cross it.
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

    /// Whether a packet of `size` bytes may join the waiting data. An empty queue accepts a packet of any size.
    pub fn admits(self, backlog: Backlog, size: u16) -> bool {
        match self {
            _ if backlog.packets == 0 => true,
            Self::Packets(limit) => backlog.packets < limit,
            Self::Bytes(limit) => backlog.bytes + u64::from(size) <= limit,
        }
    }
}
