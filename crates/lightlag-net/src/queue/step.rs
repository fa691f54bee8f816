//! Step marking: marks every packet that finds more than a threshold waiting.
//!
//! What a switch does for DCTCP (Alizadeh and others, *Data Center TCP (DCTCP)*, SIGCOMM 2010, §3.1; RFC 8257 §3.1). The
//! instantaneous queue decides, without an average.

use super::{Backlog, Discipline, Fifo, QueueLimit, Verdicts, Waiting};
use crate::Packet;
use lightlag_core::Instant;

/// Parameters of step marking.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StepConfig {
    /// K: a packet with which more than this waits is marked.
    pub threshold: QueueLimit,
    /// Whether packets that cannot be marked are dropped beyond the threshold. So do switches that make the step of a
    /// RED with equal thresholds.
    pub drop_not_ect: bool,
}

/// A queue with step marking.
#[derive(Clone, Debug)]
pub struct Step<B> {
    config: StepConfig,
    limit: QueueLimit,
    fifo: Fifo<B>,
}

impl<B: Clone> Step<B> {
    /// An empty queue.
    pub fn new(config: StepConfig, limit: QueueLimit) -> Self {
        Self { config, limit, fifo: Fifo::default() }
    }
}

impl<B: Clone + Send> Discipline<B> for Step<B> {
    fn enqueue(&mut self, now: Instant, mut packet: Packet<B>, verdicts: &mut Verdicts<B>) {
        let Backlog { packets, bytes } = self.fifo.backlog();
        let beyond = match self.config.threshold {
            QueueLimit::Packets(threshold) => packets + 1 > threshold,
            QueueLimit::Bytes(threshold) => bytes + u64::from(packet.size) > threshold,
        };
        if beyond && self.config.drop_not_ect && !packet.ecn.is_capable() {
            verdicts.drop_early(now, packet);
        } else if !self.limit.admits(self.fifo.backlog(), packet.size) {
            verdicts.full(now, packet);
        } else {
            if beyond && packet.ecn.is_capable() {
                verdicts.mark(&mut packet);
            }
            self.fifo.push(now, packet);
        }
    }

    fn dequeue(&mut self, _: Instant, _: &mut Verdicts<B>) -> Option<Waiting<B>> {
        self.fifo.pop()
    }

    fn backlog(&self) -> Backlog {
        self.fifo.backlog()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::packet;
    use super::*;
    use crate::Ecn;

    fn marks(threshold: QueueLimit, ecn: Ecn, drop_not_ect: bool) -> (Vec<bool>, u64) {
        let config = StepConfig { threshold, drop_not_ect };
        let (mut queue, mut verdicts) = (Step::new(config, QueueLimit::Packets(100)), Verdicts::default());
        for _ in 0..6 {
            queue.enqueue(Instant::ZERO, packet(0, 500, ecn), &mut verdicts);
        }
        let mut marks = Vec::new();
        while let Some(first) = queue.dequeue(Instant::ZERO, &mut verdicts) {
            marks.push(first.packet.ecn == Ecn::Ce);
        }
        (marks, verdicts.early)
    }

    #[test]
    fn exactly_the_packets_beyond_the_threshold_are_marked() {
        let expected = vec![false, false, false, false, true, true];
        assert_eq!(marks(QueueLimit::Packets(4), Ecn::Ect0, false), (expected.clone(), 0));
        assert_eq!(marks(QueueLimit::Packets(4), Ecn::Ect1, true), (expected.clone(), 0));
        assert_eq!(marks(QueueLimit::Bytes(2_000), Ecn::Ect0, false), (expected, 0));
    }

    #[test]
    fn packets_without_ect_pass_or_are_dropped() {
        assert_eq!(marks(QueueLimit::Packets(4), Ecn::NotEct, false), (vec![false; 6], 0));
        assert_eq!(marks(QueueLimit::Packets(4), Ecn::NotEct, true), (vec![false; 4], 2));
    }
}
