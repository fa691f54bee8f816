//! The envelope of what travels.

/// A node of the network, numbered from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

/// A packet: an envelope of 12 bytes and a body that the network never opens.
///
/// Packets are copied from ring to ring, so a body should leave the whole at no more than 64 bytes.
#[derive(Clone, Copy, Debug)]
pub struct Packet<B> {
    /// Where it goes.
    pub destination: NodeId,
    /// Whom it is for at the destination, and whose it is in records: a number that the sender chose.
    pub flow: u32,
    /// Bytes at the network layer: headers of IP and transport, and payload. Links add their own header.
    pub size: u16,
    /// Damaged on the way; the interface that receives it drops it.
    pub corrupted: bool,
    /// What it carries.
    pub body: B,
}
