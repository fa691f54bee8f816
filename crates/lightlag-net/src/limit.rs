//! The limit of a queue: as requested, when it may depend on the link, and as it is.

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
    /// Whether a packet of `size` bytes may join the waiting data. An empty queue accepts a packet of any size.
    pub fn admits(self, backlog: Backlog, size: u16) -> bool {
        match self {
            _ if backlog.packets == 0 => true,
            Self::Packets(limit) => backlog.packets < limit,
            Self::Bytes(limit) => backlog.bytes + u64::from(size) <= limit,
        }
    }
}

/// The requested limit of waiting data. The packet in transmission does not count.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Limit {
    /// Packets, at least 1.
    Packets(u64),
    /// Bytes at the network layer.
    Bytes(Bytes),
    /// Multiples of the link's rate × the longest round trip of the flows that cross it, above 0.
    Bdp(f64),
}

impl Limit {
    /// The limit in packets or bytes, on a link of this rate, with the longest round trip of the flows that cross it.
    pub fn on_link(self, rate: Rate, round_trip: Duration) -> QueueLimit {
        match self {
            Self::Packets(packets) => QueueLimit::Packets(packets),
            Self::Bytes(bytes) => QueueLimit::Bytes(bytes.0),
            Self::Bdp(factor) => {
                let bytes = (rate * round_trip).0 as f64 * factor;
                QueueLimit::Bytes((bytes as u64).clamp(FULL_PACKET.0, LARGEST.0))
            }
        }
    }

    /// Whether both are in the same unit and this one is smaller; `None` if they cannot be compared.
    pub fn is_below(self, other: Self) -> Option<bool> {
        match (self, other) {
            (Self::Packets(a), Self::Packets(b)) => Some(a < b),
            (Self::Bytes(a), Self::Bytes(b)) => Some(a < b),
            (Self::Bdp(a), Self::Bdp(b)) => Some(a < b),
            _ => None,
        }
    }
}
