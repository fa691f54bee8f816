//! A first-in, first-out queue with a limit. A packet that finds the queue full is dropped.

use super::registry::{Config, DisciplineKind};
use super::{Backlog, Discipline, Fifo, Limit, QueueLimit, QueuedPacket, Verdicts};
use crate::{LinkConfig, Packet};
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Duration, Instant, RandomStream, Rate};

/// Settings of drop-tail.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DropTailChoice {
    /// Whether the packet in transmission counts towards a limit in packets.
    pub count_in_service: bool,
}

impl Described for DropTailChoice {
    const ABOUT: &'static str = "Drops packets that do not fit.";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::flag("count_in_service", |choice: &mut Self| &mut choice.count_in_service)
                .about("Whether the packet in transmission counts towards a limit in packets.")
                .quiet(),
        ]
    }
}

impl DisciplineKind for DropTailChoice {
    type Config = Self;

    fn on_link(self, _: Rate, _: Duration) -> Self {
        self
    }

    fn limit(self, configured: Option<Limit>, rate: Rate, round_trip: Duration) -> QueueLimit {
        match configured {
            // The packet in transmission occupies one of the places.
            Some(Limit::Packets(packets)) if self.count_in_service => QueueLimit::Packets(packets - 1),
            Some(limit) => QueueLimit::on_link(limit, rate, round_trip),
            None => QueueLimit::Packets(1000),
        }
    }

    fn refuses(self, limit: Option<Limit>) -> Option<(&'static str, &'static str)> {
        let in_packets = !matches!(limit, Some(Limit::Bytes(_) | Limit::Bdp(_)));
        (self.count_in_service && !in_packets)
            .then_some(("count_in_service", "needs a limit in packets, such as \"100 packets\""))
    }
}

impl Config for DropTailChoice {
    fn build<B: Clone + Send + 'static>(self, link: &LinkConfig, _: RandomStream) -> Box<dyn Discipline<B>> {
        Box::new(DropTail::new(link.queue))
    }
}

/// A drop-tail queue. If packets stay in order on the link, [`ComputedLink`](crate::link::ComputedLink) has the same
/// results and is faster.
#[derive(Clone, Debug)]
pub struct DropTail<B> {
    limit: QueueLimit,
    fifo: Fifo<B>,
}

impl<B: Clone> DropTail<B> {
    /// Returns an empty queue.
    pub fn new(limit: QueueLimit) -> Self {
        Self { limit, fifo: Fifo::default() }
    }
}

impl<B: Clone + Send> Discipline<B> for DropTail<B> {
    fn enqueue(&mut self, now: Instant, packet: Packet<B>, verdicts: &mut Verdicts<B>) {
        if self.limit.admits(self.fifo.backlog(), packet.size) {
            self.fifo.push(now, packet);
        } else {
            verdicts.full(now, packet);
        }
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
