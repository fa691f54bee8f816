//! Step marking: marks every packet that arrives while the queue is longer than a threshold.
//!
//! Switches do this for DCTCP (Alizadeh and others, *Data Center TCP (DCTCP)*, SIGCOMM 2010, §3.1; RFC 8257 §3.1). The
//! instantaneous queue length decides, not an average.
//!
//! With a weight w below 1, the average `avg ← (1 − w) avg + w q` decides, where q includes the arriving packet. After
//! idle time t it is `avg ← (1 − w)^(t/s) avg`, with s the time to transmit 500 B (as in [`red`](super::red)). All
//! packets are marked while the average exceeds the threshold, and none otherwise, as in the routers of TCP-Jersey (Xu,
//! Tian, Ansari, IEEE JSAC 22(4), 2004).

use super::registry::{Config, DisciplineKind};
use super::{Backlog, Discipline, Fifo, Limit, QueueLimit, QueuedPacket, Verdicts};
use crate::{LinkConfig, Packet};
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Bytes, Duration, Instant, Probability, RandomStream, Rate};

/// Size of a typical packet, for the average after idle times.
const USUAL_PACKET: Bytes = Bytes(500);

/// Parameters of step marking. The threshold `L` is as requested, or in the units of the link.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StepConfig<L = QueueLimit> {
    /// Threshold K: a packet is marked if the queue, including the packet, is longer than this.
    pub threshold: L,
    /// Whether packets that cannot be marked are dropped above the threshold, as in switches that implement step
    /// marking as RED with equal thresholds.
    pub drop_not_ect: bool,
    /// Weight w of a new sample in the average. With 1, the threshold applies to the current queue length.
    pub weight: Probability,
}

impl Default for StepConfig<Limit> {
    fn default() -> Self {
        Self { threshold: Limit::Packets(1), drop_not_ect: false, weight: Probability::ONE }
    }
}

impl Described for StepConfig<Limit> {
    const ABOUT: &'static str = "Marks every packet above a threshold. DCTCP requires it (Alizadeh et al. 2010, RFC \
                                 8257); packets that cannot be marked are dropped there or accepted. With a weight \
                                 below 1, the threshold applies to the average queue, as in the routers of TCP-Jersey.";

    fn settings() -> Vec<Setting<Self>> {
        let remedy = "specify the queue length that triggers marking, such as \"65 packets\"";
        vec![
            Setting::limit("threshold", |config: &mut Self| &mut config.threshold)
                .about("K: a packet is marked if the queue, including the packet, is longer than this.")
                .required(remedy),
            Setting::flag("drop_not_ect", |config: &mut Self| &mut config.drop_not_ect).about(
                "Whether packets that cannot be marked are dropped above the threshold, as in switches that implement \
                 the step as a RED with equal thresholds.",
            ),
            Setting::chance("weight", |config: &mut Self| &mut config.weight)
                .about(
                    "w, the weight of a new sample in the average. With 1 the threshold applies to the current queue.",
                )
                .quiet(),
        ]
    }
}

impl DisciplineKind for StepConfig<Limit> {
    type Config = StepConfig;

    fn on_link(self, rate: Rate, round_trip: Duration) -> StepConfig {
        let Self { threshold, drop_not_ect, weight } = self;
        StepConfig { threshold: QueueLimit::on_link(threshold, rate, round_trip), drop_not_ect, weight }
    }
}

impl Config for StepConfig {
    fn build<B: Clone + Send + 'static>(self, link: &LinkConfig, _: RandomStream) -> Box<dyn Discipline<B>> {
        Box::new(StepMarking::new(self, link.queue, link.rate))
    }

    fn marks(self) -> bool {
        true
    }
}

/// A queue with step marking.
#[derive(Clone, Debug)]
pub struct StepMarking<B> {
    config: StepConfig,
    limit: QueueLimit,
    fifo: Fifo<B>,
    average: f64,
    /// Time since when the link has been idle; `None` if it is not idle.
    idle_since: Option<Instant>,
    usual_time: Duration,
}

impl<B: Clone> StepMarking<B> {
    /// Returns an empty queue of a link with this rate.
    pub fn new(config: StepConfig, limit: QueueLimit, rate: Rate) -> Self {
        let usual_time = rate.time_to_send(USUAL_PACKET);
        let idle_since = Some(Instant::ZERO);
        Self { config, limit, fifo: Fifo::default(), average: 0.0, idle_since, usual_time }
    }

    /// Returns true if the queue length, including a packet of this size, or its average exceeds the threshold.
    fn is_beyond(&mut self, now: Instant, size: u16) -> bool {
        let Backlog { packets, bytes } = self.fifo.backlog();
        let (queue, threshold) = match self.config.threshold {
            QueueLimit::Packets(threshold) => (packets + 1, threshold),
            QueueLimit::Bytes(threshold) => (bytes + u64::from(size), threshold),
        };
        let weight = self.config.weight.value();
        if weight >= 1.0 {
            return queue > threshold;
        }
        if let Some(since) = self.idle_since.take() {
            self.decay(now.since(since));
        }
        self.average += weight * (queue as f64 - self.average);
        self.average > threshold as f64
    }

    /// Reduces the average as if packets of typical size had found an empty queue for this time.
    fn decay(&mut self, idle: Duration) {
        let missed = idle / self.usual_time.max(Duration::from_nanos(1));
        self.average *= libm::pow(1.0 - self.config.weight.value(), missed);
    }
}

impl<B: Clone + Send> Discipline<B> for StepMarking<B> {
    fn enqueue(&mut self, now: Instant, mut packet: Packet<B>, verdicts: &mut Verdicts<B>) {
        let beyond = self.is_beyond(now, packet.size);
        if beyond && self.config.drop_not_ect && !packet.ecn().is_capable() {
            verdicts.drop_early(now, packet);
        } else if !self.limit.admits(self.fifo.backlog(), packet.size) {
            verdicts.full(now, packet);
        } else {
            if beyond && packet.ecn().is_capable() {
                verdicts.mark(&mut packet);
            }
            self.fifo.push(now, packet);
        }
    }

    fn dequeue(&mut self, now: Instant, _: &mut Verdicts<B>) -> Option<QueuedPacket<B>> {
        let first = self.fifo.pop();
        if first.is_none() {
            self.idle_since = Some(now);
        }
        first
    }

    fn backlog(&self) -> Backlog {
        self.fifo.backlog()
    }

    fn withdraw(&mut self, leave: &mut dyn FnMut(&Packet<B>) -> bool) -> Vec<Packet<B>> {
        self.fifo.withdraw(leave)
    }

    fn rate_changes(&mut self, time: Instant, rate: Rate) {
        if let Some(since) = self.idle_since {
            self.decay(time.since(since));
            self.idle_since = Some(time);
        }
        self.usual_time = rate.time_to_send(USUAL_PACKET);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::packet;
    use super::*;
    use lightlag_core::Codepoint;

    fn marks(threshold: QueueLimit, ecn: Codepoint, drop_not_ect: bool) -> (Vec<bool>, u64) {
        let config = StepConfig { threshold, drop_not_ect, weight: Probability::ONE };
        let queue = StepMarking::new(config, QueueLimit::Packets(100), Rate::from_mbps(4));
        let (mut queue, mut verdicts) = (queue, Verdicts::default());
        for _ in 0..6 {
            queue.enqueue(Instant::ZERO, packet(0, 500, ecn), &mut verdicts);
        }
        let mut marks = Vec::new();
        while let Some(first) = queue.dequeue(Instant::ZERO, &mut verdicts) {
            marks.push(first.packet.ecn() == Codepoint::Ce);
        }
        (marks, verdicts.early)
    }

    #[test]
    fn exactly_the_packets_beyond_the_threshold_are_marked() {
        let expected = vec![false, false, false, false, true, true];
        assert_eq!(marks(QueueLimit::Packets(4), Codepoint::Ect0, false), (expected.clone(), 0));
        assert_eq!(marks(QueueLimit::Packets(4), Codepoint::Ect1, true), (expected.clone(), 0));
        assert_eq!(marks(QueueLimit::Bytes(2_000), Codepoint::Ect0, false), (expected, 0));
    }

    #[test]
    fn packets_without_ect_pass_or_are_dropped() {
        assert_eq!(marks(QueueLimit::Packets(4), Codepoint::NotEct, false), (vec![false; 6], 0));
        assert_eq!(marks(QueueLimit::Packets(4), Codepoint::NotEct, true), (vec![false; 4], 2));
    }

    #[test]
    fn with_a_weight_all_packets_are_marked_while_the_average_is_long() {
        let weight = Probability::new(0.25).unwrap();
        let config = StepConfig { threshold: QueueLimit::Packets(2), drop_not_ect: false, weight };
        let queue = StepMarking::new(config, QueueLimit::Packets(100), Rate::from_mbps(4));
        let (mut queue, mut verdicts) = (queue, Verdicts::default());
        // 1, 2, 3, …: 0.25, 0.6875, 1.266, 1.949, 2.712.
        let mut marks = Vec::new();
        for _ in 0..5 {
            queue.enqueue(Instant::ZERO, packet(0, 500, Codepoint::Ect0), &mut verdicts);
        }
        for _ in 0..5 {
            marks.push(queue.dequeue(Instant::ZERO, &mut verdicts).unwrap().packet.ecn() == Codepoint::Ce);
        }
        assert_eq!(marks, [false, false, false, false, true]);
        // The queue is empty, the average still above: with a packet, 2.712 + 0.25 (1 − 2.712) = 2.284.
        let mut meets = |time: Instant| {
            queue.enqueue(time, packet(0, 500, Codepoint::Ect0), &mut verdicts);
            queue.dequeue(time, &mut verdicts).unwrap().packet.ecn() == Codepoint::Ce
        };
        assert!(meets(Instant::ZERO));
        assert!(!meets(Instant::ZERO));
        // Idle for four packets of 500 B, 1 ms each: 0.75⁴ of it.
        assert!(queue.dequeue(Instant::ZERO, &mut verdicts).is_none());
        let before = queue.average;
        queue.enqueue(Instant::from_nanos(4_000_000), packet(0, 500, Codepoint::Ect0), &mut verdicts);
        let expected = before * libm::pow(0.75, 4.0) * 0.75 + 0.25;
        assert!((queue.average - expected).abs() < 1e-12, "{} {expected}", queue.average);
    }
}
