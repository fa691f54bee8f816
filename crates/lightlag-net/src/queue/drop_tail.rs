//! First in, first out, up to a limit; what comes to a full queue is dropped.

use super::{Backlog, Discipline, Fifo, QueueLimit, Verdicts, Waiting};
use crate::Packet;
use lightlag_core::Instant;

/// A drop-tail queue. Where nothing overtakes on the link, [`ComputedLink`](crate::link::ComputedLink) does the same
/// in less time.
#[derive(Clone, Debug)]
pub struct DropTail<B> {
    limit: QueueLimit,
    fifo: Fifo<B>,
}

impl<B: Clone> DropTail<B> {
    /// An empty queue.
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

    fn dequeue(&mut self, _: Instant, _: &mut Verdicts<B>) -> Option<Waiting<B>> {
        self.fifo.pop()
    }

    fn backlog(&self) -> Backlog {
        self.fifo.backlog()
    }
}
