//! The updates of DSDV in the format of ns-3: entries of 12 bytes.

use super::{Fields, FormError, Kind, Payload, put_node};
use lightlag_net::NodeId;

/// An update: entries of the sender's routing table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Update {
    /// Whether the update contains the entire table; not a field of the message.
    pub is_full: bool,
    /// The entries of the update.
    pub entries: Vec<DsdvEntry>,
}

/// An entry: destination, hops and sequence number, each of 4 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DsdvEntry {
    /// The destination.
    pub destination: NodeId,
    /// Number of hops from the sender to the destination. If the sequence number is odd, the destination is
    /// unreachable.
    pub hops: u32,
    /// The sequence number: even if it was set by the destination, odd if it was set by a node that lost its route
    /// there.
    pub sequence: u32,
}

impl Payload for Update {
    const PROTOCOL: &'static str = "DSDV";
    /// The UDP port of DSDV in ns-3.
    const PORT: u16 = 269;

    fn size(&self) -> u32 {
        12 * self.entries.len() as u32
    }

    fn kinds(&self, mut each: impl FnMut(Kind, u32)) {
        each(if self.is_full { Kind::FullDump } else { Kind::Update }, self.size());
    }

    fn encode(&self, out: &mut Vec<u8>) {
        for entry in &self.entries {
            put_node(out, entry.destination);
            out.extend_from_slice(&entry.hops.to_be_bytes());
            out.extend_from_slice(&entry.sequence.to_be_bytes());
        }
    }

    fn decode(mut fields: Fields<'_>, _ttl: u8) -> Result<Self, FormError> {
        let mut entries = Vec::with_capacity(fields.left() / 12);
        while fields.left() > 0 {
            entries.push(DsdvEntry { destination: fields.node()?, hops: fields.u32()?, sequence: fields.u32()? });
        }
        Ok(Self { is_full: false, entries })
    }
}
