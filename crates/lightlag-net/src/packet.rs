//! Packets: the header that the network reads, around a body.

use lightlag_core::Codepoint;

/// A node of the network, with an index starting at 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct NodeId(pub u32);

/// An endpoint of a transport, with an index starting at 0. Disciplines with one queue per flow treat packets to the
/// same endpoint as one flow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct EndpointId(pub u32);

impl EndpointId {
    /// Returns the index in a list of all endpoints.
    #[inline(always)]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Properties of a packet that links read, in addition to its size: payload, priority, burst, damage and ECN field.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PacketFlags(u8);

impl PacketFlags {
    const PAYLOAD: u8 = 1;
    const CORRUPTED: u8 = 2;
    const LOW_PRIORITY: u8 = 4;
    /// Relation to the previous packet of the flow: a packet without payload supersedes it, and a packet with payload
    /// continues its burst.
    const FOLLOWS: u8 = 8;
    const UNHEARD: u8 = 16;
    const REPAIR: u8 = 32;
    /// Position of the two bits of the ECN field.
    const ECN: u32 = 6;

    /// Returns the flags of an intact packet, with or without transport payload.
    #[inline]
    pub fn new(carries_payload: bool) -> Self {
        Self(u8::from(carries_payload) * Self::PAYLOAD)
    }

    /// Returns true if the packet carries payload: an ACK or a SYN alone does not.
    #[inline]
    pub fn carries_payload(self) -> bool {
        self.0 & Self::PAYLOAD != 0
    }

    /// Sets whether a priority queue drops this packet before others.
    #[inline]
    #[must_use]
    pub fn with_low_priority(self, low: bool) -> Self {
        Self(self.0 | (u8::from(low) * Self::LOW_PRIORITY))
    }

    /// Returns true if a queue with [priorities](crate::queue::priority) drops the packet first.
    #[inline]
    pub fn is_low_priority(self) -> bool {
        self.0 & Self::LOW_PRIORITY != 0
    }

    /// Sets whether the packet belongs to the previous packet of its flow. Without payload it then
    /// [supersedes](Self::supersedes) that packet, and with payload it [continues its burst](Self::continues_burst).
    #[inline]
    #[must_use]
    pub fn with_following(self, follows: bool) -> Self {
        Self(self.0 | (u8::from(follows) * Self::FOLLOWS))
    }

    /// Returns true if the packet is only a cumulative ACK, which repeats all information of the previous one, so that
    /// a [filter](crate::queue::ack_filter) may replace that one by it.
    #[inline]
    pub fn supersedes(self) -> bool {
        self.0 & (Self::FOLLOWS | Self::PAYLOAD) == Self::FOLLOWS
    }

    /// Returns true if the sender handed the packet over in one burst with the previous packet of its flow (GSO), and
    /// after it.
    #[inline]
    pub fn continues_burst(self) -> bool {
        self.0 & (Self::FOLLOWS | Self::PAYLOAD) == Self::FOLLOWS | Self::PAYLOAD
    }

    /// Sets the ECN field.
    #[inline]
    #[must_use]
    pub fn with_ecn(self, codepoint: Codepoint) -> Self {
        Self(self.0 & !(0b11 << Self::ECN) | (codepoint as u8) << Self::ECN)
    }

    /// Returns the ECN field.
    #[inline]
    pub fn ecn(self) -> Codepoint {
        match self.0 >> Self::ECN {
            0b00 => Codepoint::NotEct,
            0b01 => Codepoint::Ect1,
            0b10 => Codepoint::Ect0,
            _ => Codepoint::Ce,
        }
    }

    /// Marks the packet as a repair packet of a link's block code, which ends at the far end of that link.
    #[inline]
    #[must_use]
    pub fn with_repair(self) -> Self {
        Self(self.0 | Self::REPAIR)
    }

    /// Returns true for a repair packet.
    #[inline]
    pub fn is_repair(self) -> bool {
        self.0 & Self::REPAIR != 0
    }

    /// Clears all damage, because the link's block code has recovered the packet.
    #[inline]
    pub fn repair(&mut self) {
        self.0 &= !(Self::CORRUPTED | Self::UNHEARD);
    }

    /// Returns true if the packet was damaged in transit. The receiving interface drops it.
    #[inline]
    pub fn is_corrupted(self) -> bool {
        self.0 & Self::CORRUPTED != 0
    }

    /// Marks the packet as damaged.
    #[inline]
    pub fn corrupt(&mut self) {
        self.0 |= Self::CORRUPTED;
    }

    /// Marks the packet as lost in an outage.
    #[inline]
    pub fn lose_in_outage(&mut self) {
        self.0 |= Self::CORRUPTED | Self::UNHEARD;
    }

    /// Returns true if an outage dropped the packet: it is damaged, and no interface received it.
    #[inline]
    pub fn was_unheard(self) -> bool {
        self.0 & Self::UNHEARD != 0
    }
}

/// A packet: a header of 12 bytes and a body that the network never reads.
///
/// Packets are copied from ring to ring, so header and body should not exceed 64 bytes in total.
#[derive(Clone, Copy, Debug, Default)]
pub struct Packet<B> {
    /// Destination node.
    pub destination: NodeId,
    /// Destination endpoint at that node. For a packet of an external host, a hash of its flow.
    pub to: EndpointId,
    /// Size at the network layer in bytes: headers of IP and transport, and payload. Links add their own header.
    pub size: u16,
    /// Payload, priority, ECN field, and damage in transit.
    pub flags: PacketFlags,
    /// Number of links that the packet may still cross. A link decrements it when it takes the packet. The TTL in the
    /// IP header of a packet that leaves a link is therefore greater by one: the node decrements it when it forwards
    /// the packet (RFC 1812 §5.3.1).
    pub ttl: u8,
    /// Contents of the packet.
    pub body: B,
}

/// Initial time to live of a packet (RFC 1700; `IPDEFTTL` in Linux).
pub const TTL: u8 = 64;

impl<B> Packet<B> {
    /// Returns a packet as sent by its host, with a time to live of [`TTL`].
    pub fn new(destination: NodeId, to: EndpointId, size: u16, flags: PacketFlags, body: B) -> Self {
        Self { destination, to, size, flags, ttl: TTL, body }
    }

    /// Decrements the time to live when a link or a medium takes the packet.
    #[inline(always)]
    pub fn cross(&mut self) {
        self.ttl = self.ttl.wrapping_sub(1);
    }

    /// Returns the ECN field.
    #[inline]
    pub fn ecn(&self) -> Codepoint {
        self.flags.ecn()
    }

    /// Sets the ECN congestion mark (CE): a queue is about to grow too long (RFC 3168 §5).
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
                let mut flags = PacketFlags::new(true).with_low_priority(true).with_following(true).with_ecn(first);
                flags.lose_in_outage();
                let flags = flags.with_ecn(codepoint);
                assert_eq!(flags.ecn(), codepoint);
                assert!(flags.carries_payload() && flags.is_low_priority() && flags.continues_burst());
                assert!(flags.is_corrupted() && flags.was_unheard() && !flags.is_repair());
                let mut flags = flags.with_repair();
                flags.repair();
                assert!(flags.is_repair() && !flags.is_corrupted() && !flags.was_unheard() && flags.continues_burst());
                assert_eq!(flags.ecn(), codepoint);
            }
            assert!(!PacketFlags::default().with_ecn(first).is_corrupted());
        }
    }

    #[test]
    fn a_packet_that_follows_supersedes_without_payload_and_continues_a_burst_with_payload() {
        let (ack, data) = (PacketFlags::new(false).with_following(true), PacketFlags::new(true).with_following(true));
        assert!(ack.supersedes() && !ack.continues_burst());
        assert!(!data.supersedes() && data.continues_burst());
        let first = PacketFlags::new(true).with_following(false);
        assert!(!first.supersedes() && !first.continues_burst());
    }
}
