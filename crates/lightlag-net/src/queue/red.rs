//! RED: drops at random, more often the longer the average queue.
//!
//! Floyd and Jacobson, *Random Early Detection Gateways for Congestion Avoidance*, IEEE/ACM ToN 1(4), 1993, figure 2.
//! Let q be the waiting data when a packet arrives, and s the time to transmit a packet of typical size:
//!
//! - `avg ← (1 − w) avg + w q`, and after idle time t `avg ← (1 − w)^(t/s) avg`;
//! - between the thresholds `p_b = max_p (avg − min) / (max − min)`, for limits in bytes multiplied by `size / 1500 B`;
//! - a packet is marked or dropped (*hit*) with `p_a = p_b / (1 − count · p_b)`, where `count` is the number of packets
//!   since the last hit. The gaps are then uniform on 1 … 1/p_b, as the paper derives. (Its figure 2 also counts the
//!   packet that was hit, which makes gaps one shorter.)
//!
//! Gentle (Floyd, *Recommendation on using the "gentle_" variant of RED*, 2000): from max to 2 max, p_b grows from
//! max_p to 1; without it, every packet is hit above max. Where every packet is hit, packets are dropped even if their
//! transport supports ECN, since marks have not helped.

use super::registry::{Config, DisciplineKind};
use super::{Backlog, Discipline, Fifo, Limit, QueueLimit, QueuedPacket, Verdicts};
use crate::{LinkConfig, Packet};
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Bytes, Duration, Instant, Probability, RandomStream, Rate};

/// MaximumPacketSize in the paper, in bytes.
const MAXIMUM_PACKET: f64 = 1500.0;

/// Parameters of RED. The thresholds `L` are as configured, or in the units of the link.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RedConfig<L = QueueLimit> {
    /// Minimum average queue length for hits: packets are hit only above it. In the unit of `max_threshold`.
    pub min_threshold: L,
    /// Average queue length that results in `max_probability`; above `min_threshold`.
    pub max_threshold: L,
    /// Probability max_p, which is reached at `max_threshold`.
    pub max_probability: Probability,
    /// w, the weight of a new sample in the average.
    pub weight: Probability,
    /// Whether the probability grows to 1 between max and 2 max.
    pub gentle: bool,
    /// Whether packets that support ECN are marked instead of dropped.
    pub ecn: bool,
    /// Typical size of a packet, for the average after idle times.
    pub mean_packet: Bytes,
}

impl Default for RedConfig<Limit> {
    /// Floyd, *RED: Discussions of Setting Parameters*, 1997: thresholds of 5 and 15 packets, a probability of 0.1, a
    /// weight of 0.002.
    fn default() -> Self {
        let chance = |value| Probability::new(value).unwrap_or_default();
        Self {
            min_threshold: Limit::Packets(5),
            max_threshold: Limit::Packets(15),
            max_probability: chance(0.1),
            weight: chance(0.002),
            gentle: true,
            ecn: false,
            mean_packet: Bytes(500),
        }
    }
}

impl Described for RedConfig<Limit> {
    const ABOUT: &'static str = "Drops at random by the average length of the queue. The probability is 0 below \
                                 min_threshold, grows to max_probability at max_threshold and is 1 above it, or with \
                                 gentle grows to 1 at twice max_threshold; with ecn it marks instead (Floyd, Jacobson \
                                 1993).";

    fn settings() -> Vec<Setting<Self>> {
        let order = |config: &Self| match config.min_threshold.is_below(config.max_threshold) {
            Some(true) => None,
            Some(false) => Some("it is not above min_threshold; a typical value is three times min_threshold"),
            None => Some("it is not in the unit of min_threshold; give both in packets, bytes or bdp"),
        };
        vec![
            Setting::limit("min_threshold", |config: &mut Self| &mut config.min_threshold)
                .about("Average queue where the probability starts to grow from 0, in the unit of max_threshold."),
            Setting::limit("max_threshold", |config: &mut Self| &mut config.max_threshold)
                .about("Average queue where the probability reaches max_probability; above min_threshold.")
                .checked(order),
            Setting::chance("max_probability", |config: &mut Self| &mut config.max_probability).about("max_p."),
            Setting::chance("weight", |config: &mut Self| &mut config.weight)
                .about("w, the weight of a new sample in the average."),
            Setting::flag("gentle", |config: &mut Self| &mut config.gentle)
                .about("Whether the probability grows to 1 between max and 2 max."),
            Setting::flag("ecn", |config: &mut Self| &mut config.ecn)
                .about("Whether packets are marked, if possible, instead of dropped."),
            Setting::size("mean_packet", |config: &mut Self| &mut config.mean_packet)
                .about("Typical size of a packet, for the average after idle periods."),
        ]
    }
}

impl DisciplineKind for RedConfig<Limit> {
    type Config = RedConfig;

    fn on_link(self, rate: Rate, round_trip: Duration) -> RedConfig {
        let Self { min_threshold, max_threshold, max_probability, weight, gentle, ecn, mean_packet } = self;
        RedConfig {
            min_threshold: QueueLimit::on_link(min_threshold, rate, round_trip),
            max_threshold: QueueLimit::on_link(max_threshold, rate, round_trip),
            max_probability,
            weight,
            gentle,
            ecn,
            mean_packet,
        }
    }
}

impl Config for RedConfig {
    fn build<B: Clone + Send + 'static>(self, link: &LinkConfig, random: RandomStream) -> Box<dyn Discipline<B>> {
        Box::new(Red::new(self, link.queue, link.rate, random))
    }

    fn draws(self, _several: bool) -> bool {
        true
    }

    fn marks(self) -> bool {
        self.ecn
    }
}

/// A RED queue.
#[derive(Clone, Debug)]
pub struct Red<B> {
    config: RedConfig,
    limit: QueueLimit,
    fifo: Fifo<B>,
    random: RandomStream,
    average: f64,
    /// Number of packets since the last hit, or since the average reached the minimum threshold.
    count: u64,
    /// Start of the link's idle time, if it is idle.
    idle_since: Option<Instant>,
    /// Transmission time s of a packet of typical size.
    usual_time: Duration,
}

/// Decision about a packet.
#[derive(Clone, Copy, PartialEq, Debug)]
enum RedDecision {
    Kept,
    Hit,
    /// Every packet is hit, so that the packet is dropped, not marked.
    Dropped,
}

impl<B: Clone> Red<B> {
    /// Returns an empty queue of a link with this rate.
    pub fn new(config: RedConfig, limit: QueueLimit, rate: Rate, random: RandomStream) -> Self {
        let usual_time = rate.time_to_send(config.mean_packet);
        let idle_since = Some(Instant::ZERO);
        Self { config, limit, fifo: Fifo::default(), random, average: 0.0, count: 0, idle_since, usual_time }
    }

    /// Updates the average for a packet that arrives now.
    fn average(&mut self, now: Instant) {
        let weight = self.config.weight.value();
        match self.idle_since.take() {
            Some(since) => self.decay(now.since(since)),
            None => {
                let Backlog { packets, bytes } = self.fifo.backlog();
                let queue = if self.in_bytes() { bytes } else { packets };
                self.average += weight * (queue as f64 - self.average);
            }
        }
    }

    /// Reduces the average as if packets of typical size had found an empty queue for this time.
    fn decay(&mut self, idle: Duration) {
        let missed = idle / self.usual_time.max(Duration::from_nanos(1));
        self.average *= libm::pow(1.0 - self.config.weight.value(), missed);
    }

    fn in_bytes(&self) -> bool {
        matches!(self.config.max_threshold, QueueLimit::Bytes(_))
    }

    /// Returns p_b for the current average; `None` if the average is below the minimum threshold.
    fn base_probability(&self) -> Option<f64> {
        let (min, max) = (level(self.config.min_threshold), level(self.config.max_threshold));
        let max_p = self.config.max_probability.value();
        let average = self.average;
        if average < min {
            None
        } else if average < max {
            Some(max_p * (average - min) / (max - min))
        } else if self.config.gentle && average < 2.0 * max {
            Some(max_p + (1.0 - max_p) * (average - max) / max)
        } else {
            Some(1.0)
        }
    }

    fn fate(&mut self, size: u16) -> RedDecision {
        let Some(base) = self.base_probability() else {
            self.count = 0;
            return RedDecision::Kept;
        };
        if base >= 1.0 {
            self.count = 0;
            return RedDecision::Dropped;
        }
        let base = if self.in_bytes() { base * (f64::from(size) / MAXIMUM_PACKET) } else { base };
        let left = 1.0 - self.count as f64 * base;
        let hit = left <= base || self.random.uniform() < base / left;
        self.count = if hit { 0 } else { self.count + 1 };
        if hit { RedDecision::Hit } else { RedDecision::Kept }
    }
}

/// Returns a threshold as a number.
fn level(threshold: QueueLimit) -> f64 {
    match threshold {
        QueueLimit::Packets(number) | QueueLimit::Bytes(number) => number as f64,
    }
}

impl<B: Clone + Send> Discipline<B> for Red<B> {
    fn enqueue(&mut self, now: Instant, mut packet: Packet<B>, verdicts: &mut Verdicts<B>) {
        self.average(now);
        let fate = self.fate(packet.size);
        let marked = fate == RedDecision::Hit && self.config.ecn && packet.ecn().is_capable();
        if fate != RedDecision::Kept && !marked {
            verdicts.drop_early(now, packet);
        } else if !self.limit.admits(self.fifo.backlog(), packet.size) {
            verdicts.full(now, packet);
        } else {
            if marked {
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
        self.usual_time = rate.time_to_send(self.config.mean_packet);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::packet;
    use super::*;
    use lightlag_core::Codepoint;

    fn config() -> RedConfig {
        RedConfig {
            min_threshold: QueueLimit::Packets(5),
            max_threshold: QueueLimit::Packets(15),
            max_probability: Probability::new(0.1).unwrap(),
            weight: Probability::new(0.002).unwrap(),
            gentle: true,
            ecn: false,
            mean_packet: Bytes(500),
        }
    }

    fn red(config: RedConfig) -> Red<u32> {
        Red::new(config, QueueLimit::Packets(1_000), Rate::from_mbps(4), RandomStream::new(1, "queue"))
    }

    /// Returns the gaps between `hits` hits while the average remains at `average`.
    fn gaps(red: &mut Red<u32>, average: f64, hits: usize) -> Vec<u64> {
        red.average = average;
        let mut gaps = Vec::new();
        let mut gap = 0;
        while gaps.len() < hits {
            gap += 1;
            if red.fate(1500) == RedDecision::Hit {
                gaps.push(gap);
                gap = 0;
            }
        }
        gaps
    }

    #[test]
    fn gaps_between_hits_are_uniform() {
        // Half-way between the thresholds: p_b = 0.1 · 5/10 = 0.05, so the gaps are uniform on 1 … 20.
        let gaps = gaps(&mut red(config()), 10.0, 100_000);
        let count = |gap| gaps.iter().filter(|other| **other == gap).count() as f64;
        assert!(gaps.iter().all(|gap| (1..=20).contains(gap)));
        // 5000 of each expected; χ² with 19 degrees of freedom is below 43.8 with probability 0.999.
        let chi2: f64 = (1..=20).map(|gap| libm::pow(count(gap) - 5_000.0, 2.0) / 5_000.0).sum();
        assert!(chi2 < 43.8, "{chi2}");
        // (1/p_b + 1)/2 = 10.5
        let mean = gaps.iter().sum::<u64>() as f64 / 100_000.0;
        assert!((mean - 10.5).abs() < 0.06, "{mean}");
    }

    #[test]
    fn the_probability_has_the_corners_of_the_paper() {
        let mut red = red(config());
        let mut probability = |average| {
            red.average = average;
            red.base_probability()
        };
        assert_eq!([probability(4.99), probability(5.0), probability(10.0)], [None, Some(0.0), Some(0.05)]);
        // Gentle: 0.1 at 15, half-way to 1 at 22.5, 1 above 30.
        assert_eq!([probability(15.0), probability(22.5), probability(30.0)], [Some(0.1), Some(0.55), Some(1.0)]);
        red.config.gentle = false;
        red.average = 15.0;
        assert_eq!(red.base_probability(), Some(1.0));
    }

    #[test]
    fn small_packets_are_hit_less_when_thresholds_are_bytes() {
        let config =
            RedConfig { min_threshold: QueueLimit::Bytes(5_000), max_threshold: QueueLimit::Bytes(15_000), ..config() };
        let mut red = red(config);
        red.average = 10_000.0;
        let n = 200_000;
        let hits = (0..n).filter(|_| red.fate(300) == RedDecision::Hit).count() as f64;
        // p_b = 0.05 · 300/1500 = 0.01: gaps of 50.5 packets on average.
        assert!((f64::from(n) / hits - 50.5).abs() < 1.5, "{hits}");
    }

    #[test]
    fn the_average_follows_the_queue_and_decays_while_idle() {
        let (mut red, mut verdicts) = (red(config()), Verdicts::default());
        for _ in 0..10 {
            red.enqueue(Instant::ZERO, packet(0, 500, Codepoint::NotEct), &mut verdicts);
        }
        // Samples 0 (idle), 1, 2, …, 9 with w = 0.002: Σ 0.002 · n · 0.998^(9 − n) = 0.0895…
        let expected: f64 = (0..10).fold(0.0, |average, n| average + 0.002 * (f64::from(n) - average));
        assert!((red.average - expected).abs() < 1e-12, "{} {expected}", red.average);
        while red.dequeue(Instant::ZERO, &mut verdicts).is_some() {}
        // 500 B at 4 Mbit/s take 1 ms: 346 of them halve the average, 0.998^346 = 0.5003.
        red.enqueue(Instant::from_nanos(346_000_000), packet(0, 500, Codepoint::NotEct), &mut verdicts);
        assert!((red.average / expected - 0.5003).abs() < 1e-4, "{}", red.average / expected);
    }

    #[test]
    fn marks_replace_drops_until_everything_is_hit() {
        let (mut red, mut verdicts) = (red(RedConfig { ecn: true, ..config() }), Verdicts::default());
        for _ in 0..200 {
            red.average = 12.0;
            red.enqueue(Instant::ZERO, packet(0, 500, Codepoint::Ect0), &mut verdicts);
        }
        assert_eq!(verdicts.early, 0);
        assert!(verdicts.marked > 5, "{}", verdicts.marked);
        red.average = 60.0;
        red.enqueue(Instant::ZERO, packet(0, 500, Codepoint::Ect0), &mut verdicts);
        assert_eq!(verdicts.early, 1);
    }
}
