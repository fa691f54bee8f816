//! Captured packets whose fate is still unknown, in the order in which they were captured.
//!
//! When the fate of a packet is decided, the packet is found in an index instead of by a search, because links hold
//! tens of thousands of packets.

use super::CapturedPacket;
use crate::body::Packet;
use lightlag_net::{EndpointId, LinkId};
use std::collections::{BTreeMap, VecDeque};

/// Captured packets that wait, and an index of them.
#[derive(Default)]
pub(super) struct Pending {
    seen: VecDeque<CapturedPacket>,
    /// Number of the first waiting packet. Captured packets are numbered consecutively.
    first: u64,
    /// Numbers of the waiting packets by link and identity. Nearly always there is only one for each identity.
    alike: BTreeMap<(LinkId, PacketIdentity), VecDeque<u64>>,
    /// Number of packets that were compared with another one.
    #[cfg(test)]
    pub(super) compared: u64,
}

/// Identity of a packet: the endpoint that it is sent to, and numbers from its headers. It distinguishes nearly all
/// packets on a link.
type PacketIdentity = (EndpointId, [u64; 3]);

fn look(packet: &Packet) -> PacketIdentity {
    (packet.to, packet.body.look())
}

impl Pending {
    /// Appends a captured packet.
    pub(super) fn add(&mut self, seen: CapturedPacket) {
        if let (Some(link), Some((packet, _))) = (seen.awaits, seen.record.packet()) {
            let number = self.first + self.seen.len() as u64;
            self.alike.entry((link, look(packet))).or_default().push_back(number);
        }
        self.seen.push_back(seen);
    }

    /// Returns the waiting packet whose fate on a link has been decided. Among equal packets it is the one that has
    /// waited longest, or the latest one if the link dropped the `newest`. Returns `None` for a duplicate made by the
    /// link.
    pub(super) fn settle(&mut self, link: LinkId, packet: &Packet, newest: bool) -> Option<&mut CapturedPacket> {
        let key = (link, look(packet));
        let alike = self.alike.get_mut(&key)?;
        let count = alike.len();
        for step in 0..count {
            let index = if newest { count - 1 - step } else { step };
            #[cfg(test)]
            {
                self.compared += 1;
            }
            let position = (alike[index] - self.first) as usize;
            if self.seen[position].record.packet().is_some_and(|(seen, _)| seen.body == packet.body) {
                alike.remove(index);
                if alike.is_empty() {
                    self.alike.remove(&key);
                }
                let seen = &mut self.seen[position];
                seen.awaits = None;
                return Some(seen);
            }
        }
        None
    }

    /// Removes and returns the first packet, if its fate is known.
    pub(super) fn take_known(&mut self) -> Option<CapturedPacket> {
        if self.seen.front()?.awaits.is_some() {
            return None;
        }
        self.first += 1;
        self.seen.pop_front()
    }

    /// Marks the fate of all packets as known, because no further information will follow.
    pub(super) fn release(&mut self) {
        self.alike.clear();
        for seen in &mut self.seen {
            seen.awaits = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::CaptureRecord;
    use super::*;
    use crate::body::{Datagram, Other, PacketBody};
    use lightlag_core::Instant;
    use lightlag_net::{NodeId, PacketFlags};
    use lightlag_tcp::Segment;
    use lightlag_tcp::segment::{Flags, SeqNumber};
    use lightlag_wire::capture::Direction;

    const LINK: LinkId = LinkId(3);

    fn packet(body: PacketBody) -> Packet {
        Packet::new(NodeId(1), EndpointId(0), 100, PacketFlags::new(true), body)
    }

    fn datagram(number: u64) -> Packet {
        packet(PacketBody::Other(Other::Datagram(Datagram::new(number, Instant::ZERO, 72))))
    }

    fn ack() -> Packet {
        packet(PacketBody::Segment(Segment::new(SeqNumber(7), SeqNumber(9), 100, Flags::ACK)))
    }

    fn seen(packet: Packet, nanos: u64) -> CapturedPacket {
        let time = Instant::from_nanos(nanos);
        let record = CaptureRecord::Packet(packet);
        CapturedPacket { at: time, direction: Direction::Outbound, record, comment: String::new(), awaits: Some(LINK) }
    }

    /// A full queue drops one packet after each of 100,000 packets. A search from the front would need 5·10⁹
    /// comparisons.
    #[test]
    fn each_packet_is_compared_once() {
        const MANY: u64 = 100_000;
        let mut pending = Pending::default();
        for number in 0..MANY {
            pending.add(seen(datagram(number), number));
        }
        for number in MANY..2 * MANY {
            pending.add(seen(datagram(number), number));
            assert!(pending.settle(LINK, &datagram(number), true).is_some());
        }
        for number in 0..MANY {
            assert!(pending.settle(LINK, &datagram(number), false).is_some());
        }
        assert_eq!(pending.compared, 2 * MANY);
        let written = std::iter::from_fn(|| pending.take_known()).count();
        assert_eq!((written as u64, pending.alike.len()), (2 * MANY, 0));
    }

    #[test]
    fn the_first_of_equal_packets_arrives_and_the_last_overflows_the_queue() {
        let mut pending = Pending::default();
        for nanos in 0..3 {
            pending.add(seen(ack(), nanos));
        }
        assert_eq!(pending.settle(LINK, &ack(), true).unwrap().at, Instant::from_nanos(2));
        assert_eq!(pending.settle(LINK, &ack(), false).unwrap().at, Instant::from_nanos(0));
        assert_eq!(pending.take_known().unwrap().at, Instant::from_nanos(0));
        assert!(pending.take_known().is_none(), "the second is in transit");
        assert_eq!(pending.settle(LINK, &ack(), false).unwrap().at, Instant::from_nanos(1));
        assert!(pending.settle(LINK, &ack(), false).is_none(), "a copy");
        assert_eq!(pending.compared, 3);
    }
}
