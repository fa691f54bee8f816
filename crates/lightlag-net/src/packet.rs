//! The envelope of what travels.

/// A node of the network, numbered from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

/// What a link is told of a packet beside its size, and what it does to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PacketFlags(u8);

use lightlag_core::Codepoint;
impl PacketFlags {
    const PAYLOAD: u8 = 1;
    const CORRUPTED: u8 = 2;
    const LOW_PRIORITY: u8 = 4;
    const SUPERSEDES: u8 = 8;
    const UNHEARD: u8 = 16;

    /// Of an intact packet that carries payload of its transport, or none.
    #[inline]
    pub fn new(carries_payload: bool) -> Self {
        Self(u8::from(carries_payload) * Self::PAYLOAD)
    }

    /// Whether it carries payload: an ACK or a SYN alone does not.
    #[inline]
    pub fn carries_payload(self) -> bool {
        self.0 & Self::PAYLOAD != 0
    }

    /// The same, of a packet that may go first when something must.
    #[inline]
    #[must_use]
    pub fn with_low_priority(self, low: bool) -> Self {
        Self(self.0 | (u8::from(low) * Self::LOW_PRIORITY))
    }

    /// Whether it is worth less than others: a queue with [priorities](crate::queue::priority) drops it first.
    #[inline]
    pub fn is_low_priority(self) -> bool {
        self.0 & Self::LOW_PRIORITY != 0
    }

    /// The same, of a packet that says all that the one before it of its flow did, if that one is such a packet, too.
    #[inline]
    #[must_use]
    pub fn with_superseding(self, supersedes: bool) -> Self {
        Self(self.0 | (u8::from(supersedes) * Self::SUPERSEDES))
    }

    /// Whether a [filter](crate::queue::ack_filter) may let it take the place of another: a cumulative ACK and nothing else.
    #[inline]
    pub fn supersedes(self) -> bool {
        self.0 & Self::SUPERSEDES != 0
    }

    /// Whether it was damaged on the way; the interface that receives it drops it.
    #[inline]
    pub fn is_corrupted(self) -> bool {
        self.0 & Self::CORRUPTED != 0
    }

    /// Damages the packet.
    #[inline]
    pub fn corrupt(&mut self) {
        self.0 |= Self::CORRUPTED;
    }

    /// Loses the packet in an outage.
    #[inline]
    pub fn lose_in_outage(&mut self) {
        self.0 |= Self::CORRUPTED | Self::UNHEARD;
    }

    /// Whether an outage took it: it is corrupted, and no interface saw that.
    #[inline]
    pub fn was_unheard(self) -> bool {
        self.0 & Self::UNHEARD != 0
    }
}

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
    /// Whether it carries payload, its priority, and whether it was damaged on the way.
    pub flags: PacketFlags,
    /// What the transport can be told by marks, and whether a queue has marked the packet.
    pub ecn: Codepoint,
    /// What it carries.
    pub body: B,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_envelope_has_twelve_bytes() {
        assert_eq!(size_of::<Packet<()>>(), 12);
        assert_eq!(size_of::<Packet<[u32; 13]>>(), 64);
    }
}
