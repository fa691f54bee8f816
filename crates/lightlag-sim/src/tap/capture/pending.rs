//! Packets that were seen and whose fate is still unknown, in the order in which they were seen.
//!
//! The fate of a packet is found by its identity, not by a search: links hold tens of thousands of packets.

use super::{Record, Seen};
use crate::body::Packet;
use lightlag_net::{EndpointId, LinkId};
use std::collections::{BTreeMap, VecDeque};

/// Packets that wait, and an index of them.
#[derive(Default)]
pub(super) struct Pending {
    seen: VecDeque<Seen>,
    /// The number of the first of them; every packet seen has one.
    first: u64,
    /// Numbers of the packets on each link that look alike. Nearly always there is one.
    alike: BTreeMap<(LinkId, Look), VecDeque<u64>>,
    /// Number of packets that were compared.
    #[cfg(test)]
    pub(super) compared: u64,
}

/// The identity of a packet: its endpoint, and numbers in it. It tells nearly all packets of a link apart.
type Look = (EndpointId, [u64; 3]);

fn look(packet: &Packet) -> Look {
    (packet.to, packet.body.look())
}

impl Pending {
    /// Adds a packet behind the others.
    pub(super) fn add(&mut self, seen: Seen) {
        if let (Some(link), Record::Packet(packet)) = (seen.awaits, &seen.record) {
            let number = self.first + self.seen.len() as u64;
            self.alike.entry((link, look(packet))).or_default().push_back(number);
        }
        self.seen.push_back(seen);
    }

    /// The packet whose fate on a link is known now. Of several equal ones it is the one that has waited longest, or
    /// the one that came last if the link refused the `newest`. `None` for a copy that the link made.
    pub(super) fn settle(&mut self, link: LinkId, packet: &Packet, newest: bool) -> Option<&mut Seen> {
        let key = (link, look(packet));
        let alike = self.alike.get_mut(&key)?;
        let count = alike.len();
        for step in 0..count {
            let at = if newest { count - 1 - step } else { step };
            #[cfg(test)]
            {
                self.compared += 1;
            }
            let place = (alike[at] - self.first) as usize;
            if matches!(&self.seen[place].record, Record::Packet(seen) if seen.body == packet.body) {
                alike.remove(at);
                if alike.is_empty() {
                    self.alike.remove(&key);
                }
                let seen = &mut self.seen[place];
                seen.awaits = None;
                return Some(seen);
            }
        }
        None
    }

    /// Takes the first packet, if its fate is known.
    pub(super) fn take_known(&mut self) -> Option<Seen> {
        if self.seen.front()?.awaits.is_some() {
            return None;
        }
        self.first += 1;
        self.seen.pop_front()
    }

    /// Nothing more will be known of any packet.
    pub(super) fn release(&mut self) {
        self.alike.clear();
        for seen in &mut self.seen {
            seen.awaits = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::{Body, Datagram, Other};
    use lightlag_core::Instant;
    use lightlag_net::{NodeId, PacketFlags};
    use lightlag_tcp::Segment;
    use lightlag_tcp::segment::{Flags, SeqNumber};
    use lightlag_wire::capture::Direction;

    const LINK: LinkId = LinkId(3);

    fn packet(body: Body) -> Packet {
        Packet::new(NodeId(1), EndpointId(0), 100, PacketFlags::new(true), body)
    }

    fn datagram(number: u64) -> Packet {
        packet(Body::Other(Other::Datagram(Datagram::new(number, Instant::ZERO, 72))))
    }

    fn ack() -> Packet {
        packet(Body::Segment(Segment::new(SeqNumber(7), SeqNumber(9), 100, Flags::ACK)))
    }

    fn seen(packet: Packet, nanos: u64) -> Seen {
        let at = Instant::from_nanos(nanos);
        let record = Record::Packet(packet);
        Seen { at, direction: Direction::Outbound, record, comment: String::new(), awaits: Some(LINK) }
    }

    /// A full queue of 100,000 packets drops one behind each of them: a search from the front would compare 5·10⁹.
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
    fn of_equal_packets_the_first_arrives_and_the_last_finds_no_room() {
        let mut pending = Pending::default();
        for nanos in 0..3 {
            pending.add(seen(ack(), nanos));
        }
        assert_eq!(pending.settle(LINK, &ack(), true).unwrap().at, Instant::from_nanos(2));
        assert_eq!(pending.settle(LINK, &ack(), false).unwrap().at, Instant::from_nanos(0));
        assert_eq!(pending.take_known().unwrap().at, Instant::from_nanos(0));
        assert!(pending.take_known().is_none(), "the second is on its way");
        assert_eq!(pending.settle(LINK, &ack(), false).unwrap().at, Instant::from_nanos(1));
        assert!(pending.settle(LINK, &ack(), false).is_none(), "a copy");
        assert_eq!(pending.compared, 3);
    }
}
