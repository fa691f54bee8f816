//! The updates of DSDV, in the form of ns-3: entries of 12 bytes.

use super::Kind;
use lightlag_net::NodeId;

/// The UDP port of DSDV in ns-3.
pub const PORT: u16 = 269;

/// An update: entries of a routing table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Update {
    /// Whether it holds the whole table; not a field of the message.
    pub is_full: bool,
    /// Its entries.
    pub entries: Vec<Entry>,
}

/// An entry: destination, hops and sequence number, each of 4 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The destination.
    pub destination: NodeId,
    /// The hops from the sender to the destination. A sequence number that is odd says that it cannot be reached.
    pub hops: u32,
    /// The sequence number: even if the destination set it, odd if a node lost its way there.
    pub sequence: u32,
}

impl Update {
    /// Its size in bytes.
    pub fn size(&self) -> u32 {
        12 * self.entries.len() as u32
    }

    pub(crate) fn kind(&self) -> Kind {
        if self.is_full { Kind::FullDump } else { Kind::Update }
    }
}
