//! PIE: drops at random, with a probability that a controller adjusts until the waiting time of packets equals the
//! target.
//!
//! RFC 8033 §4. In each update period, where d is the expected waiting time of a packet that arrives now:
//!
//! `p ← p + α (d − target) + β (d − d_old)`, the change scaled down while p is small (§4.2), and p reduced by 2 % per
//! update while no packet waits. No packet is dropped during the burst allowance (§4.4), while d_old is below half the
//! target and p below 0.2, nor from a queue of two packets of typical size (§4.1).
//!
//! The rate of the link is known, so d is the backlog over the rate, by Little's law (§4.3 a). The only enhancement of
//! §5 is ECN: marks replace drops while p is below 10 % (§5.1).

use super::registry::{Config, DisciplineKind};
use super::{Backlog, Discipline, Fifo, QueueLimit, QueuedPacket, Verdicts};
use crate::{LinkConfig, Packet};
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Bytes, Duration, Instant, RandomStream, Rate};

/// MEAN_PKTSIZE in bytes. A queue of at most twice this size drops no packets.
const MEAN_PACKET: u64 = 1000;
/// Maximum probability for marks: above it, packets are dropped instead of marked (RFC 8033 §5.1: mark_ecnth).
const MARK_BELOW: f64 = 0.1;
/// α and β in 1/s (RFC 8033 §4.2).
const ALPHA: f64 = 0.125;
const BETA: f64 = 1.25;
/// Factor by which an update reduces the probability while no packet waits (RFC 8033 §4.2).
const DECAY: f64 = 0.98;

/// Parameters of PIE.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PieConfig {
    /// QDELAY_REF: target delay of packets.
    pub target: Duration,
    /// T_UPDATE: time between two updates, above zero.
    pub update: Duration,
    /// MAX_BURST: maximum duration of a burst that is let through after an idle period.
    pub burst: Duration,
    /// Whether packets that support ECN are marked instead of dropped.
    pub ecn: bool,
}

impl Default for PieConfig {
    /// The defaults of RFC 8033 §4: 15 ms for both the target and the update period, and bursts of 150 ms.
    fn default() -> Self {
        Self {
            target: Duration::from_millis(15),
            update: Duration::from_millis(15),
            burst: Duration::from_millis(150),
            ecn: false,
        }
    }
}

impl Described for PieConfig {
    const ABOUT: &'static str = "Drops at random, controlled by the waiting time of packets. Each update changes the \
                                 probability by the deviation of the waiting time from target and by its trend; the \
                                 first burst passes; with ecn it marks instead (RFC 8033).";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::time("target", |config: &mut Self| &mut config.target)
                .about("QDELAY_REF: target delay of packets."),
            Setting::time("update", |config: &mut Self| &mut config.update).about("T_UPDATE, above zero."),
            Setting::time_or_zero("burst", |config: &mut Self| &mut config.burst)
                .about("MAX_BURST: duration of a burst that is allowed after idle periods."),
            Setting::flag("ecn", |config: &mut Self| &mut config.ecn)
                .about("Whether packets are marked, if possible, instead of dropped."),
        ]
    }
}

impl DisciplineKind for PieConfig {
    type Config = Self;

    fn on_link(self, _: Rate, _: Duration) -> Self {
        self
    }
}

impl Config for PieConfig {
    fn build<B: Clone + Send + 'static>(self, link: &LinkConfig, random: RandomStream) -> Box<dyn Discipline<B>> {
        Box::new(Pie::new(self, link.queue, link.rate, random))
    }

    fn draws(self, _several: bool) -> bool {
        true
    }

    fn marks(self) -> bool {
        self.ecn
    }
}

/// A PIE queue.
#[derive(Clone, Debug)]
pub struct Pie<B> {
    config: PieConfig,
    limit: QueueLimit,
    rate: Rate,
    fifo: Fifo<B>,
    random: RandomStream,
    probability: f64,
    /// Waiting time d at the last update.
    last_delay: Duration,
    burst_allowance: Duration,
    next_update: Instant,
}

/// Returns the factor that scales a change down while the probability is small (RFC 8033 §4.2).
fn scale(probability: f64) -> f64 {
    const STEPS: [(f64, f64); 6] = [
        (0.000_001, 1.0 / 2048.0),
        (0.000_01, 1.0 / 512.0),
        (0.000_1, 1.0 / 128.0),
        (0.001, 1.0 / 32.0),
        (0.01, 1.0 / 8.0),
        (0.1, 1.0 / 2.0),
    ];
    STEPS.iter().find(|(below, _)| probability < *below).map_or(1.0, |(_, factor)| *factor)
}

impl<B: Clone> Pie<B> {
    /// Returns an empty queue of a link with this rate.
    pub fn new(config: PieConfig, limit: QueueLimit, rate: Rate, random: RandomStream) -> Self {
        Self {
            config,
            limit,
            rate,
            fifo: Fifo::default(),
            random,
            probability: 0.0,
            last_delay: Duration::ZERO,
            burst_allowance: config.burst,
            next_update: Instant::ZERO + config.update,
        }
    }

    /// Makes the updates that are due by now. The queue must not have changed since the last call.
    fn catch_up(&mut self, now: Instant) {
        while self.next_update <= now {
            if self.is_at_rest() {
                // All later updates have no effect either.
                let periods = now.since(self.next_update).as_nanos() / self.config.update.as_nanos() + 1;
                self.next_update += self.config.update * periods;
                return;
            }
            self.next_update += self.config.update;
            self.update();
        }
    }

    fn is_at_rest(&self) -> bool {
        self.probability == 0.0
            && self.last_delay.is_zero()
            && self.fifo.is_empty()
            && self.burst_allowance == self.config.burst
    }

    fn update(&mut self) {
        let delay = self.rate.time_to_send(Bytes(self.fifo.backlog().bytes));
        let (now, last, target) =
            (delay.as_secs_f64(), self.last_delay.as_secs_f64(), self.config.target.as_secs_f64());
        let change = ALPHA * (now - target) + BETA * (now - last);
        let mut probability = self.probability + change * scale(self.probability);
        if delay.is_zero() && self.last_delay.is_zero() {
            probability *= DECAY;
        }
        self.probability = probability.clamp(0.0, 1.0);
        let was_low = self.last_delay * 2 < self.config.target;
        self.last_delay = delay;
        self.burst_allowance = self.burst_allowance.saturating_sub(self.config.update);
        if self.probability == 0.0 && delay * 2 < self.config.target && was_low {
            self.burst_allowance = self.config.burst;
        }
    }

    /// Returns true if a packet that arrives now is to be marked or dropped.
    fn hits(&mut self) -> bool {
        let quiet = self.last_delay * 2 < self.config.target && self.probability < 0.2;
        let short = self.fifo.backlog().bytes <= 2 * MEAN_PACKET;
        self.burst_allowance.is_zero() && !quiet && !short && self.random.uniform() < self.probability
    }
}

impl<B: Clone + Send> Discipline<B> for Pie<B> {
    fn enqueue(&mut self, now: Instant, mut packet: Packet<B>, verdicts: &mut Verdicts<B>) {
        self.catch_up(now);
        if !self.limit.admits(self.fifo.backlog(), packet.size) {
            return verdicts.full(now, packet);
        }
        if self.hits() {
            if !self.config.ecn || !packet.ecn().is_capable() || self.probability >= MARK_BELOW {
                return verdicts.drop_early(now, packet);
            }
            verdicts.mark(&mut packet);
        }
        self.fifo.push(now, packet);
    }

    fn dequeue(&mut self, now: Instant, _: &mut Verdicts<B>) -> Option<QueuedPacket<B>> {
        self.catch_up(now);
        self.fifo.pop()
    }

    fn backlog(&self) -> Backlog {
        self.fifo.backlog()
    }

    fn withdraw(&mut self, leave: &mut dyn FnMut(&Packet<B>) -> bool) -> Vec<Packet<B>> {
        self.fifo.withdraw(leave)
    }

    fn rate_changes(&mut self, time: Instant, rate: Rate) {
        self.catch_up(time);
        self.rate = rate;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::packet;
    use super::*;
    use lightlag_core::Codepoint;

    /// Returns a queue on a link of 8 Mbit/s, which sends 1000 B in 1 ms.
    fn pie(config: PieConfig) -> Pie<u32> {
        Pie::new(config, QueueLimit::Packets(100_000), Rate::from_mbps(8), RandomStream::new(1, "queue"))
    }

    fn ms(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    /// Adds `packets` packets of 1000 B to the queue.
    fn fill(pie: &mut Pie<u32>, packets: u64) {
        while pie.fifo.backlog().packets > packets {
            pie.fifo.pop();
        }
        while pie.fifo.backlog().packets < packets {
            pie.fifo.push(Instant::ZERO, packet(0, 1000, Codepoint::NotEct));
        }
    }

    #[test]
    fn the_probability_moves_by_the_controller_with_the_scale_of_the_table() {
        let mut pie = pie(PieConfig::default());
        fill(&mut pie, 40);
        // (p before, its scale): α (40 − 15) ms + β (40 − 0) ms = 0.003125 + 0.05, and without the trend after that.
        let table = [(0.0, 2048.0), (5e-6, 512.0), (5e-5, 128.0), (5e-4, 32.0), (5e-3, 8.0), (0.05, 2.0), (0.5, 1.0)];
        for (before, divisor) in table {
            for (last, change) in [(Duration::ZERO, 0.053_125), (Duration::from_millis(40), 0.003_125)] {
                (pie.probability, pie.last_delay) = (before, last);
                pie.update();
                assert!((pie.probability - before - change / divisor).abs() < 1e-12, "{before} {}", pie.probability);
            }
        }
        // At the edges the larger scale applies: 0.1 is not below 0.1.
        assert_eq!([scale(0.1), scale(0.099), scale(0.01), scale(1e-6)], [1.0, 0.5, 0.5, 1.0 / 512.0]);
    }

    #[test]
    fn an_empty_queue_lets_the_probability_decay() {
        let mut pie = pie(PieConfig::default());
        (pie.probability, pie.last_delay) = (0.5, Duration::ZERO);
        pie.update();
        // (0.5 − 0.125 · 15 ms) · 0.98
        assert!((pie.probability - (0.5 - 0.001_875) * 0.98).abs() < 1e-12, "{}", pie.probability);
    }

    #[test]
    fn a_burst_passes_for_the_burst_allowance() {
        let (mut pie, mut verdicts) = (pie(PieConfig::default()), Verdicts::default());
        fill(&mut pie, 2_000);
        pie.probability = 1.0;
        let mut first = None;
        for t in 0..400 {
            pie.probability = 1.0;
            pie.enqueue(ms(t), packet(0, 1000, Codepoint::NotEct), &mut verdicts);
            if verdicts.early > 0 && first.is_none() {
                first = Some(t);
            }
        }
        // 150 ms are used up at the tenth update of 15 ms.
        assert_eq!((first, verdicts.early), (Some(150), 250));
        // When p is zero and the delay below half the target twice, a burst may pass again.
        fill(&mut pie, 7);
        (pie.probability, pie.last_delay) = (0.0, Duration::from_millis(7));
        pie.update();
        assert_eq!(pie.burst_allowance, Duration::from_millis(150));
    }

    #[test]
    fn nothing_is_dropped_while_the_delay_is_small() {
        let mut pie = pie(PieConfig { burst: Duration::ZERO, ..PieConfig::default() });
        let mut hits = |waiting, last_ms, probability| {
            fill(&mut pie, waiting);
            (pie.probability, pie.last_delay) = (probability, Duration::from_millis(last_ms));
            (0..10_000).filter(|_| pie.hits()).count()
        };
        assert_eq!(hits(100, 7, 0.19), 0, "below half the target with a small probability");
        assert_eq!(hits(2, 100, 0.5), 0, "two packets of typical size");
        // 1900 ± 5 · √(10,000 · 0.19 · 0.81)
        assert!(hits(100, 8, 0.19).abs_diff(1_900) < 197);
        assert!(hits(100, 7, 0.2).abs_diff(2_000) < 200);
    }

    #[test]
    fn marks_replace_drops_below_ten_per_cent() {
        let (mut pie, mut verdicts) =
            (pie(PieConfig { burst: Duration::ZERO, ecn: true, ..PieConfig::default() }), Verdicts::default());
        fill(&mut pie, 100);
        pie.last_delay = Duration::from_millis(100);
        let mut offer = |probability, ecn| {
            let before = (verdicts.marked, verdicts.early);
            for _ in 0..1_000 {
                pie.probability = probability;
                pie.enqueue(Instant::ZERO, packet(0, 1000, ecn), &mut verdicts);
            }
            (verdicts.marked > before.0, verdicts.early > before.1)
        };
        assert_eq!(offer(0.09, Codepoint::Ect0), (true, false));
        assert_eq!(offer(0.11, Codepoint::Ect0), (false, true));
        assert_eq!(offer(0.09, Codepoint::NotEct), (false, true));
    }

    #[test]
    fn rest_can_be_skipped() {
        let mut pie = pie(PieConfig::default());
        pie.catch_up(Instant::from_nanos(u64::MAX / 4));
        assert!(pie.next_update > Instant::from_nanos(u64::MAX / 4));
        let late = pie.next_update.as_nanos() - u64::MAX / 4;
        assert!(late <= 15_000_000 && pie.next_update.as_nanos().is_multiple_of(15_000_000));
    }
}
