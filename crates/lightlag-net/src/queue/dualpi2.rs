//! DualPI2: a short queue for scalable senders in addition to the classic one, with coupled probabilities.
//!
//! RFC 9332 and its appendix A. Packets marked ECT(1) or CE go to the low-latency queue, all others to the classic one.
//! A PI controller adjusts a base probability by the delay of the classic queue:
//!
//! `p' ← p' + α (d − target) + β (d − d_old)`, α = 0.1 T / RTT_max², β = 0.3 / RTT_max, T = min(target, RTT_max / 3)
//!
//! Classic packets are marked or dropped (*hit*) with `p_C = p'²`. Low-latency ones are marked with the larger of `p_CL
//! = k p'` and a ramp of their waiting time, so that `p_C = (p_CL / k)²` (RFC 9332 §2.1). The window of Reno is
//! proportional to 1/√p, and the window of a scalable sender to 1/p, so flows in both queues get similar rates. Hits
//! are evenly spaced, not random (appendix A.1: recur).
//!
//! Overload (appendix A.2): when p_CL reaches 1, low-latency packets are also dropped with p_C. When p_C exceeds 1/k²,
//! classic packets are dropped even if they could be marked.
//!
//! The RFC leaves the scheduler open. Here the low-latency queue has precedence, but the classic queue gets at least a
//! configured fraction of the bytes while packets wait in both.

use super::registry::{Config, DisciplineKind};
use super::{Backlog, Discipline, Fifo, Limit, QueueLimit, QueuedPacket, Verdicts};
use crate::limit::{FULL_PACKET, LARGEST};
use crate::{LinkConfig, Packet};
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Duration, Instant, Probability, RandomStream, Rate};

/// Maximum coupling factor.
const LARGEST_COUPLING: f64 = 1_000.0;
/// Size of the buffer, as a time at the rate of the link (RFC 9332 appendix A.1).
const BUFFER: Duration = Duration::from_millis(250);

/// Parameters of DualPI2.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DualPi2Config {
    /// Target delay of classic packets.
    pub target: Duration,
    /// RTT_max, the maximum expected round-trip time; above zero.
    pub max_rtt: Duration,
    /// Coupling factor k, at least 1.
    pub coupling: f64,
    /// Maximum waiting time for which low-latency packets are never marked by the ramp. The probability of a mark grows
    /// from 0 above it.
    pub min_threshold: Duration,
    /// Additional waiting time above `min_threshold` until all low-latency packets are marked.
    pub range: Duration,
    /// Minimum fraction of the bytes sent from the classic queue while packets wait in both queues.
    pub classic_share: Probability,
}

impl Default for DualPi2Config {
    /// The defaults of RFC 9332 appendix A.1, with the classic fraction of Linux.
    fn default() -> Self {
        Self {
            target: Duration::from_millis(15),
            max_rtt: Duration::from_millis(100),
            coupling: 2.0,
            min_threshold: Duration::from_micros(800),
            range: Duration::from_micros(400),
            classic_share: Probability::new(0.1).unwrap_or(Probability::ZERO),
        }
    }
}

impl Described for DualPi2Config {
    const ABOUT: &'static str = "A short queue for senders with a proportional response to marks, coupled to a classic \
                                 one. A PI controller drops or marks packets of the classic queue; its probability, \
                                 times coupling, marks packets of the short queue, which holds ECT(1) packets (RFC \
                                 9332).";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::number("coupling", |config: &mut Self| &mut config.coupling, 1, LARGEST_COUPLING)
                .about("k, at least 1."),
            Setting::time("target", |config: &mut Self| &mut config.target).about("Target delay of classic packets."),
            Setting::time("max_rtt", |config: &mut Self| &mut config.max_rtt)
                .about("RTT_max, the maximum expected round trip; above zero."),
            Setting::time_or_zero("min_threshold", |config: &mut Self| &mut config.min_threshold)
                .about("Waiting time where the marking probability of low-latency packets starts to grow from 0."),
            Setting::time_or_zero("range", |config: &mut Self| &mut config.range)
                .about("Additional waiting time until all of them are marked."),
            Setting::probability("classic_share", |config: &mut Self| &mut config.classic_share)
                .about("Minimum share of the link for the classic queue while both queues hold packets."),
        ]
    }
}

impl DisciplineKind for DualPi2Config {
    type Config = Self;

    fn on_link(self, _: Rate, _: Duration) -> Self {
        self
    }

    fn limit(self, configured: Option<Limit>, rate: Rate, round_trip: Duration) -> QueueLimit {
        let usual = || QueueLimit::Bytes((rate * BUFFER).0.clamp(FULL_PACKET.0, LARGEST.0));
        configured.map_or_else(usual, |limit| QueueLimit::on_link(limit, rate, round_trip))
    }
}

impl Config for DualPi2Config {
    fn build<B: Clone + Send + 'static>(self, link: &LinkConfig, _: RandomStream) -> Box<dyn Discipline<B>> {
        Box::new(DualPi2::new(self, link.queue))
    }

    fn marks(self) -> bool {
        true
    }
}

/// Spaces hits evenly: there is a hit each time the sum of the probabilities has grown by 1.
#[derive(Clone, Copy, Debug, Default)]
struct Recurrence(f64);

impl Recurrence {
    fn hits(&mut self, probability: f64) -> bool {
        self.0 += probability;
        let hits = self.0 > 1.0;
        if hits {
            self.0 -= 1.0;
        }
        hits
    }
}

/// One of the two queues of DualPI2.
#[derive(Clone, Debug)]
struct Half<B> {
    fifo: Fifo<B>,
    /// Spacing of marks; in the classic queue also of drops.
    recurrence: Recurrence,
}

impl<B: Clone> Half<B> {
    fn new() -> Self {
        Self { fifo: Fifo::default(), recurrence: Recurrence::default() }
    }

    /// Returns the waiting time of the packet at the head of the queue; zero if it is empty.
    fn time(&self, now: Instant) -> Duration {
        self.fifo.first().map_or(Duration::ZERO, |first| now.since(first.since))
    }
}

/// A DualPI2 queue.
#[derive(Clone, Debug)]
pub struct DualPi2<B> {
    config: DualPi2Config,
    limit: QueueLimit,
    low: Half<B>,
    classic: Half<B>,
    /// Spacing of low-latency drops in overload.
    overload: Recurrence,
    /// Base probability p'.
    base: f64,
    last_delay: Duration,
    period: Duration,
    next_update: Instant,
    /// Number of bytes that the classic queue has yet to send to get its fraction. The classic queue is served while
    /// this is positive.
    classic_credit: f64,
}

impl<B: Clone> DualPi2<B> {
    /// Returns an empty queue.
    pub fn new(config: DualPi2Config, limit: QueueLimit) -> Self {
        let period = config.target.min(config.max_rtt / 3).max(Duration::from_nanos(1));
        Self {
            config,
            limit,
            low: Half::new(),
            classic: Half::new(),
            overload: Recurrence::default(),
            base: 0.0,
            last_delay: Duration::ZERO,
            period,
            next_update: Instant::ZERO + period,
            classic_credit: 0.0,
        }
    }

    /// Makes the updates that are due by now. The queue must not have changed since the last call.
    fn catch_up(&mut self, now: Instant) {
        while self.next_update <= now {
            if self.base == 0.0 && self.last_delay.is_zero() && self.backlog().packets == 0 {
                // All later updates have no effect either.
                let periods = now.since(self.next_update).as_nanos() / self.period.as_nanos() + 1;
                self.next_update += self.period * periods;
                return;
            }
            let due = self.next_update;
            self.next_update += self.period;
            self.update(due);
        }
    }

    fn update(&mut self, now: Instant) {
        let max_rtt = self.config.max_rtt.as_secs_f64();
        let alpha = 0.1 * self.period.as_secs_f64() / (max_rtt * max_rtt);
        let beta = 0.3 / max_rtt;
        // Appendix A.2: of both queues, so that low-latency traffic alone cannot hide an overload.
        let delay = self.classic.time(now).max(self.low.time(now));
        let (this, last) = (delay.as_secs_f64(), self.last_delay.as_secs_f64());
        let change = alpha * (this - self.config.target.as_secs_f64()) + beta * (this - last);
        self.base = (self.base + change).clamp(0.0, 1.0);
        self.last_delay = delay;
    }

    fn backlog(&self) -> Backlog {
        let (low, classic) = (self.low.fifo.backlog(), self.classic.fifo.backlog());
        Backlog { packets: low.packets + classic.packets, bytes: low.bytes + classic.bytes }
    }

    /// Returns the marking probability of the ramp for a low-latency packet that has waited this long.
    fn ramp(&self, waited: Duration) -> f64 {
        let over = waited.saturating_sub(self.config.min_threshold);
        if over.is_zero() {
            0.0
        } else if over >= self.config.range {
            1.0
        } else {
            over / self.config.range
        }
    }

    /// Removes the next low-latency packet, unless overload drops it.
    fn dequeue_low(&mut self, now: Instant, verdicts: &mut Verdicts<B>) -> Option<QueuedPacket<B>> {
        let mut first = self.low.fifo.pop()?;
        let coupled = self.config.coupling * self.base;
        let marks = if coupled < 1.0 {
            // Appendix A.1, Th_len: a queue of one packet has no ramp.
            let native = if self.low.fifo.is_empty() { 0.0 } else { self.ramp(now.since(first.since)) };
            self.low.recurrence.hits(native.max(coupled))
        } else {
            if self.overload.hits(self.base * self.base) {
                verdicts.drop_early(now, first.packet);
                return None;
            }
            self.low.recurrence.hits(coupled.min(1.0))
        };
        if marks {
            verdicts.mark(&mut first.packet);
        }
        Some(first)
    }

    /// Removes the next classic packet, unless it is dropped.
    fn dequeue_classic(&mut self, now: Instant, verdicts: &mut Verdicts<B>) -> Option<QueuedPacket<B>> {
        let mut first = self.classic.fifo.pop()?;
        let probability = self.base * self.base;
        if self.classic.recurrence.hits(probability) {
            let too_many = probability >= 1.0 / (self.config.coupling * self.config.coupling);
            if !first.packet.ecn().is_capable() || too_many {
                verdicts.drop_early(now, first.packet);
                return None;
            }
            verdicts.mark(&mut first.packet);
        }
        Some(first)
    }

    /// Returns true if the low-latency queue is served next, while packets wait in both queues.
    fn low_first(&mut self) -> bool {
        let share = self.config.classic_share.value();
        let low_first = self.classic_credit <= 0.0;
        if low_first {
            let size = self.low.fifo.first().map_or(0, |first| first.packet.size);
            self.classic_credit += share * f64::from(size);
        } else {
            let size = self.classic.fifo.first().map_or(0, |first| first.packet.size);
            self.classic_credit -= (1.0 - share) * f64::from(size);
        }
        low_first
    }
}

impl<B: Clone + Send> Discipline<B> for DualPi2<B> {
    fn enqueue(&mut self, now: Instant, packet: Packet<B>, verdicts: &mut Verdicts<B>) {
        self.catch_up(now);
        if !self.limit.admits(self.backlog(), packet.size) {
            verdicts.full(now, packet);
        } else if packet.ecn().is_low_latency() {
            self.low.fifo.push(now, packet);
        } else {
            self.classic.fifo.push(now, packet);
        }
    }

    fn dequeue(&mut self, now: Instant, verdicts: &mut Verdicts<B>) -> Option<QueuedPacket<B>> {
        self.catch_up(now);
        loop {
            let next = match (self.low.fifo.is_empty(), self.classic.fifo.is_empty()) {
                (true, true) => return None,
                (false, false) => {
                    if self.low_first() {
                        self.dequeue_low(now, verdicts)
                    } else {
                        self.dequeue_classic(now, verdicts)
                    }
                }
                (false, true) => self.dequeue_low(now, verdicts),
                (true, false) => self.dequeue_classic(now, verdicts),
            };
            if next.is_some() {
                return next;
            }
        }
    }

    fn backlog(&self) -> Backlog {
        DualPi2::backlog(self)
    }

    fn withdraw(&mut self, leave: &mut dyn FnMut(&Packet<B>) -> bool) -> Vec<Packet<B>> {
        let mut withdrawn = self.low.fifo.withdraw(leave);
        withdrawn.extend(self.classic.fifo.withdraw(leave));
        withdrawn
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::packet;
    use super::*;
    use lightlag_core::Codepoint;

    fn queue() -> DualPi2<u32> {
        DualPi2::new(DualPi2Config::default(), QueueLimit::Packets(1_000_000))
    }

    fn at(micros: u64) -> Instant {
        Instant::from_nanos(micros * 1_000)
    }

    /// Returns the fractions of packets that are marked and dropped at a base probability, while the delay is at the
    /// target.
    fn rates(base: f64, ecn: Codepoint) -> (f64, f64) {
        let (mut queue, mut verdicts) = (queue(), Verdicts::default());
        let n = 100_000;
        for _ in 0..n {
            queue.enqueue(at(0), packet(0, 1000, ecn), &mut verdicts);
        }
        queue.base = base;
        // No update is due, and no packet has waited long enough for the ramp.
        while queue.dequeue(at(0), &mut verdicts).is_some() {}
        (verdicts.marked as f64 / f64::from(n), verdicts.early as f64 / f64::from(n))
    }

    #[test]
    fn the_classic_probability_is_the_square_of_the_coupled_one_over_k() {
        for base in [0.01, 0.1, 0.2, 0.4] {
            let (p_cl, dropped) = rates(base, Codepoint::Ect1);
            assert!((p_cl - 2.0 * base).abs() < 1e-4 && dropped == 0.0, "{base}: {p_cl}");
            let (marked, p_c) = rates(base, Codepoint::NotEct);
            assert!((p_c - p_cl * p_cl / 4.0).abs() < 1e-4 && marked == 0.0, "{base}: {p_c}");
            let (marked, dropped) = rates(base, Codepoint::Ect0);
            assert!((marked - p_c).abs() < 1e-4 && dropped == 0.0, "{base}: {marked}");
        }
    }

    #[test]
    fn overload_drops_in_both_queues() {
        // p' = 0.6: p_CL = 1.2 marks everything, p_C = 0.36 > 1/k² drops.
        let (marked, dropped) = rates(0.6, Codepoint::Ect1);
        assert!((dropped - 0.36).abs() < 1e-4 && (marked - 0.64).abs() < 1e-4, "{marked} {dropped}");
        let (marked, dropped) = rates(0.6, Codepoint::Ect0);
        assert!((dropped - 0.36).abs() < 1e-4 && marked == 0.0, "{marked} {dropped}");
    }

    #[test]
    fn the_controller_has_the_gains_of_the_rfc() {
        let (mut queue, mut verdicts) = (queue(), Verdicts::default());
        queue.enqueue(at(0), packet(0, 1000, Codepoint::NotEct), &mut verdicts);
        // T = min(15 ms, 100/3 ms), α = 0.1 · 0.015/0.01 = 0.15/s, β = 0.3/0.1 = 3/s.
        assert_eq!(queue.period, Duration::from_millis(15));
        queue.update(at(40_000));
        assert!((queue.base - (0.15 * 0.025 + 3.0 * 0.040)).abs() < 1e-12, "{}", queue.base);
        queue.update(at(50_000));
        assert!((queue.base - (0.12375 + 0.15 * 0.035 + 3.0 * 0.010)).abs() < 1e-12, "{}", queue.base);
    }

    #[test]
    fn the_ramp_marks_between_800_and_1200_microseconds() {
        let queue = queue();
        let ramp = |micros| queue.ramp(Duration::from_micros(micros));
        assert_eq!([ramp(0), ramp(800), ramp(900), ramp(1_000), ramp(1_200)], [0.0, 0.0, 0.25, 0.5, 1.0]);
    }

    #[test]
    fn a_low_latency_queue_of_one_packet_has_no_ramp() {
        let (mut queue, mut verdicts) = (queue(), Verdicts::default());
        for _ in 0..3 {
            queue.enqueue(at(0), packet(0, 1000, Codepoint::Ect1), &mut verdicts);
        }
        let codepoints: Vec<Codepoint> =
            (0..3).map(|_| queue.dequeue(at(2_000), &mut verdicts).unwrap().packet.ecn()).collect();
        // The first sum of 1 reaches 1, but does not exceed it.
        assert_eq!(codepoints, [Codepoint::Ect1, Codepoint::Ce, Codepoint::Ect1]);
    }

    #[test]
    fn the_low_latency_queue_goes_first_and_leaves_the_classic_one_its_fraction() {
        let (mut queue, mut verdicts) = (queue(), Verdicts::default());
        for _ in 0..1_000 {
            queue.enqueue(at(0), packet(0, 1000, Codepoint::NotEct), &mut verdicts);
            queue.enqueue(at(0), packet(1, 1000, Codepoint::Ect1), &mut verdicts);
        }
        let flows: Vec<u32> = (0..1_000).map(|_| queue.dequeue(at(0), &mut verdicts).unwrap().packet.to.0).collect();
        assert_eq!(flows[0], 1);
        // One classic packet per nine others.
        assert_eq!(flows.iter().filter(|flow| **flow == 0).count(), 100);
    }

    #[test]
    fn marked_packets_go_to_the_low_latency_queue() {
        let (mut queue, mut verdicts) = (queue(), Verdicts::default());
        for ecn in [Codepoint::NotEct, Codepoint::Ect0, Codepoint::Ect1, Codepoint::Ce] {
            queue.enqueue(at(0), packet(0, 1000, ecn), &mut verdicts);
        }
        assert_eq!((queue.classic.fifo.backlog().packets, queue.low.fifo.backlog().packets), (2, 2));
    }
}
