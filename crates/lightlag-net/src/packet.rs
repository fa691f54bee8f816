//! The envelope of what travels.

use lightlag_core::Codepoint;

/// A node of the network, numbered from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct NodeId(pub u32);

/// An endpoint of a transport, numbered from 0. Queues that serve flows apart treat packets to the same endpoint as one flow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct EndpointId(pub u32);

impl EndpointId {
    /// Its position in a list of all endpoints.
    #[inline(always)]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The properties of a packet beside its size that links read, the damage that they do to it, and its ECN field.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PacketFlags(u8);

impl PacketFlags {
    const PAYLOAD: u8 = 1;
    const CORRUPTED: u8 = 2;
    const LOW_PRIORITY: u8 = 4;
    const SUPERSEDES: u8 = 8;
    const UNHEARD: u8 = 16;
    const REPAIR: u8 = 32;
    /// Position of the two bits of the ECN field.
    const ECN: u32 = 6;

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

    /// The same, of a packet with this ECN field.
    #[inline]
    #[must_use]
    pub fn with_ecn(self, codepoint: Codepoint) -> Self {
        Self(self.0 & !(0b11 << Self::ECN) | (codepoint as u8) << Self::ECN)
    }

    /// Its ECN field.
    #[inline]
    pub fn ecn(self) -> Codepoint {
        match self.0 >> Self::ECN {
            0b00 => Codepoint::NotEct,
            0b01 => Codepoint::Ect1,
            0b10 => Codepoint::Ect0,
            _ => Codepoint::Ce,
        }
    }

    /// Sets that it is a repair packet of the code of a link, which ends at the far end of that link.
    #[inline]
    #[must_use]
    pub fn with_repair(self) -> Self {
        Self(self.0 | Self::REPAIR)
    }

    /// Whether it is a repair packet.
    #[inline]
    pub fn is_repair(self) -> bool {
        self.0 & Self::REPAIR != 0
    }

    /// Undoes all damage: the code of a link has given the packet back.
    #[inline]
    pub fn repair(&mut self) {
        self.0 &= !(Self::CORRUPTED | Self::UNHEARD);
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
#[derive(Clone, Copy, Debug, Default)]
pub struct Packet<B> {
    /// Its destination.
    pub destination: NodeId,
    /// The endpoint at the destination that receives it. Of a packet from outside the simulation: a hash of its flow.
    pub to: EndpointId,
    /// Bytes at the network layer: headers of IP and transport, and payload. Links add their own header.
    pub size: u16,
    /// Whether it carries payload, its priority, its ECN field, and whether it was damaged on the way.
    pub flags: PacketFlags,
    /// Number of links that it may still cross. A link takes one of them with the packet, so the IP header of a packet that comes
    /// out of a link says one more than this: its node takes it off as it passes the packet on (RFC 1812 §5.3.1).
    pub ttl: u8,
    /// Its contents.
    pub body: B,
}

/// The time to live of a packet as it leaves its host (RFC 1700; `IPDEFTTL` in Linux).
pub const TTL: u8 = 64;

impl<B> Packet<B> {
    /// A packet that leaves its host now, with a time to live of [`TTL`].
    pub fn new(destination: NodeId, to: EndpointId, size: u16, flags: PacketFlags, body: B) -> Self {
        Self { destination, to, size, flags, ttl: TTL, body }
    }

    /// It crosses a link or a medium.
    #[inline(always)]
    pub fn cross(&mut self) {
        self.ttl = self.ttl.wrapping_sub(1);
    }

    /// Its ECN field.
    #[inline]
    pub fn ecn(&self) -> Codepoint {
        self.flags.ecn()
    }

    /// Marks it: a queue is about to grow too long (RFC 3168 §5).
    #[inline]
    pub fn mark(&mut self) {
        self.flags = self.flags.with_ecn(Codepoint::Ce);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_envelope_has_twelve_bytes() {
        assert_eq!(size_of::<Packet<()>>(), 12);
        assert_eq!(size_of::<Packet<[u32; 13]>>(), 64);
    }

    #[test]
    fn the_ecn_field_and_the_other_flags_do_not_touch_each_other() {
        use Codepoint::{Ce, Ect0, Ect1, NotEct};
        for first in [NotEct, Ect1, Ect0, Ce] {
            for codepoint in [NotEct, Ect1, Ect0, Ce] {
                let mut flags = PacketFlags::new(true).with_low_priority(true).with_superseding(true).with_ecn(first);
                flags.lose_in_outage();
                let flags = flags.with_ecn(codepoint);
                assert_eq!(flags.ecn(), codepoint);
                assert!(flags.carries_payload() && flags.is_low_priority() && flags.supersedes());
                assert!(flags.is_corrupted() && flags.was_unheard() && !flags.is_repair());
                let mut flags = flags.with_repair();
                flags.repair();
                assert!(flags.is_repair() && !flags.is_corrupted() && !flags.was_unheard() && flags.supersedes());
                assert_eq!(flags.ecn(), codepoint);
            }
            assert!(!PacketFlags::default().with_ecn(first).is_corrupted());
        }
    }
}
