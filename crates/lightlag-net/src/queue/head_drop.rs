//! A first-in, first-out queue that drops the oldest packets when it is full, to accept a new one.
//!
//! Linux's `pfifo_head_drop` (`net/sched/sch_fifo.c`, described in our own words) drops the packet at the head and
//! appends the new one. The sender notices the loss one queueing delay earlier than with drop-tail, because the hole is
//! at the front of the queue (Lakshman, Neidhardt, Ott, *The drop from front strategy in TCP and in TCP over ATM*, IEEE
//! INFOCOM 1996). Starlink's queues are reported to drop at the head (doi 10.1145/3789240.3829162). A limit in bytes,
//! which Linux does not have, drops as many packets as the new one needs.

use super::registry::{Config, DisciplineKind};
use super::{Backlog, Discipline, Fifo, QueueLimit, QueuedPacket, Verdicts};
use crate::{LinkConfig, Packet};
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Duration, Instant, RandomStream, Rate};

/// Settings of a queue that drops at its head: there are none besides the limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HeadDropConfig;

impl Described for HeadDropConfig {
    const ABOUT: &'static str = "First in, first out. A packet that arrives at a full queue replaces the packet that has \
                                 waited longest, so that the sender notices the loss earlier (pfifo_head_drop of Linux). \
                                 Default limit: 1000 packets.";

    fn settings() -> Vec<Setting<Self>> {
        Vec::new()
    }
}

impl DisciplineKind for HeadDropConfig {
    type Config = Self;

    fn on_link(self, _: Rate, _: Duration) -> Self {
        self
    }
}

impl Config for HeadDropConfig {
    fn build<B: Clone + Send + 'static>(self, link: &LinkConfig, _: RandomStream) -> Box<dyn Discipline<B>> {
        Box::new(HeadDrop { limit: link.queue, fifo: Fifo::default() })
    }
}

/// A queue that drops the packets that have waited longest.
#[derive(Clone, Debug)]
pub struct HeadDrop<B> {
    limit: QueueLimit,
    fifo: Fifo<B>,
}

impl<B: Clone + Send> Discipline<B> for HeadDrop<B> {
    fn enqueue(&mut self, now: Instant, packet: Packet<B>, verdicts: &mut Verdicts<B>) {
        while !self.limit.admits(self.fifo.backlog(), packet.size)
            && let Some(oldest) = self.fifo.pop()
        {
            verdicts.full(now, oldest.packet);
        }
        self.fifo.push(now, packet);
    }

    fn dequeue(&mut self, _: Instant, _: &mut Verdicts<B>) -> Option<QueuedPacket<B>> {
        self.fifo.pop()
    }

    fn backlog(&self) -> Backlog {
        self.fifo.backlog()
    }

    fn withdraw(&mut self, leave: &mut dyn FnMut(&Packet<B>) -> bool) -> Vec<Packet<B>> {
        self.fifo.withdraw(leave)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::tests::packet;
    use lightlag_core::Codepoint;

    /// Offers packets of these sizes, numbered from 0, to a queue. Returns the dropped and the waiting packets.
    fn play(limit: QueueLimit, sizes: &[u16]) -> (Vec<u32>, Vec<u32>) {
        let mut queue = HeadDrop { limit, fifo: Fifo::default() };
        let mut verdicts = Verdicts::default();
        for (number, size) in sizes.iter().enumerate() {
            let packet = Packet { body: number as u32, ..packet(1, *size, Codepoint::NotEct) };
            queue.enqueue(Instant::ZERO, packet, &mut verdicts);
        }
        assert_eq!(verdicts.full, verdicts.dropped.len() as u64);
        let dropped = verdicts.dropped.iter().map(|dropped| dropped.packet.body).collect();
        let waiting = std::iter::from_fn(|| queue.dequeue(Instant::ZERO, &mut verdicts));
        (dropped, waiting.map(|waiting| waiting.packet.body).collect())
    }

    #[test]
    fn the_oldest_packet_yields_to_the_new_one() {
        let (dropped, waiting) = play(QueueLimit::Packets(3), &[1500; 5]);
        assert_eq!((dropped, waiting), (vec![0, 1], vec![2, 3, 4]));
    }

    #[test]
    fn a_limit_in_bytes_drops_as_many_as_the_new_packet_needs() {
        // 500 + 400 + 300 = 1200 of 1500 B. 1000 B more: without the first 1700, without the second 1300.
        let (dropped, waiting) = play(QueueLimit::Bytes(1500), &[500, 400, 300, 1000]);
        assert_eq!((dropped, waiting), (vec![0, 1], vec![2, 3]));
        // An empty queue accepts a packet of any size.
        let (dropped, waiting) = play(QueueLimit::Bytes(100), &[500, 500]);
        assert_eq!((dropped, waiting), (vec![0], vec![1]));
    }
}
