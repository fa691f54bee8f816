//! CoDel: drops at the head of the queue once packets have waited longer than a target for an interval.
//!
//! RFC 8289 §5. The queue is good if the packet at the head has waited less than the target, or if no more than one
//! packet of the maximum size remains in the queue. When the queue has not been good for an interval, a packet is
//! dropped, and thereafter one every `interval / sqrt(count)` until it is good again. A new dropping state that starts
//! within 16 intervals after the last one continues with the last drop rate: `count − lastcount` (RFC 8289 §5.6; older
//! texts have `count − 2`).

use super::registry::{Config, DisciplineKind};
use super::{Backlog, Discipline, Fifo, QueueLimit, QueuedPacket, Verdicts};
use crate::{LinkConfig, Packet};
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Duration, Instant, RandomStream, Rate};

/// Parameters of CoDel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CoDelConfig {
    /// Acceptable persistent waiting time of packets.
    pub target: Duration,
    /// Time for which packets may wait longer than the target: about the maximum round-trip time of the flows.
    pub interval: Duration,
    /// Whether packets that support ECN are marked instead of dropped.
    pub ecn: bool,
}

impl Default for CoDelConfig {
    /// RFC 8289 §4.2 and §4.3: a target of 5 ms and an interval of 100 ms.
    fn default() -> Self {
        Self { target: Duration::from_millis(5), interval: Duration::from_millis(100), ecn: false }
    }
}

impl Described for CoDelConfig {
    const ABOUT: &'static str = "Drops packets that wait too long. After the waiting time has exceeded target for an \
                                 entire interval, it drops at decreasing intervals; with ecn it marks instead (RFC \
                                 8289).";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::time("target", |config: &mut Self| &mut config.target)
                .about("Acceptable persistent waiting time of packets."),
            Setting::time("interval", |config: &mut Self| &mut config.interval)
                .about("Time for which they may wait longer: about the maximum round trip of the flows."),
            Setting::flag("ecn", |config: &mut Self| &mut config.ecn)
                .about("Whether packets are marked, if possible, instead of dropped."),
        ]
    }
}

impl DisciplineKind for CoDelConfig {
    type Config = Self;

    fn on_link(self, _: Rate, _: Duration) -> Self {
        self
    }
}

impl Config for CoDelConfig {
    fn build<B: Clone + Send + 'static>(self, link: &LinkConfig, _: RandomStream) -> Box<dyn Discipline<B>> {
        Box::new(CoDel::new(self, link.queue))
    }

    fn marks(self) -> bool {
        self.ecn
    }
}

/// State of CoDel, separate from its queue.
#[derive(Clone, Debug)]
pub struct CodelState {
    config: CoDelConfig,
    /// End of the current interval: packets will then have waited too long for an entire interval. `None` while the
    /// queue is good.
    first_above: Option<Instant>,
    dropping: bool,
    /// Time of the next drop.
    drop_next: Instant,
    /// Number of packets dropped in this dropping state.
    count: u64,
    /// Value of `count` at the start of this dropping state.
    last_count: u64,
    /// Size of the largest packet so far in bytes.
    largest: u16,
}

impl CodelState {
    /// Returns the state of an empty queue.
    pub fn new(config: CoDelConfig) -> Self {
        Self {
            config,
            first_above: None,
            dropping: false,
            drop_next: Instant::ZERO,
            count: 0,
            last_count: 0,
            largest: 0,
        }
    }

    /// Records the size of a packet that arrives.
    pub fn see(&mut self, size: u16) {
        self.largest = self.largest.max(size);
    }

    /// Returns the time of the drop that follows a drop at `from`.
    fn control_law(&self, from: Instant) -> Instant {
        let interval = self.config.interval.as_secs_f64();
        from + Duration::from_secs_f64(interval / (self.count as f64).sqrt())
    }

    /// Returns the next packet of `fifo`, and whether it may be dropped.
    fn next<B: Clone>(&mut self, now: Instant, fifo: &mut Fifo<B>) -> Option<(QueuedPacket<B>, bool)> {
        let Some(first) = fifo.pop() else {
            self.first_above = None;
            return None;
        };
        let good = now.since(first.since) < self.config.target || fifo.backlog().bytes <= u64::from(self.largest);
        let may_drop = if good {
            self.first_above = None;
            false
        } else {
            let until = *self.first_above.get_or_insert(now + self.config.interval);
            now >= until
        };
        Some((first, may_drop))
    }

    /// Marks a packet if it supports ECN, and otherwise drops it. Returns the packet if it was not dropped.
    fn hit<B: Clone>(
        &self,
        now: Instant,
        mut first: QueuedPacket<B>,
        verdicts: &mut Verdicts<B>,
    ) -> Option<QueuedPacket<B>> {
        if self.config.ecn && first.packet.ecn().is_capable() {
            verdicts.mark(&mut first.packet);
            return Some(first);
        }
        verdicts.drop_early(now, first.packet);
        None
    }

    /// Returns the packet to transmit now (RFC 8289 §5.6).
    pub fn dequeue<B: Clone>(
        &mut self,
        now: Instant,
        fifo: &mut Fifo<B>,
        verdicts: &mut Verdicts<B>,
    ) -> Option<QueuedPacket<B>> {
        let next = self.next(now, fifo);
        let may_drop = next.as_ref().is_some_and(|(_, may_drop)| *may_drop);
        if self.dropping {
            self.go_on(now, next, fifo, verdicts)
        } else if may_drop {
            self.begin(now, next, fifo, verdicts)
        } else {
            next.map(|(first, _)| first)
        }
    }

    /// Continues the dropping state: drops the packets that are due.
    fn go_on<B: Clone>(
        &mut self,
        now: Instant,
        mut next: Option<(QueuedPacket<B>, bool)>,
        fifo: &mut Fifo<B>,
        verdicts: &mut Verdicts<B>,
    ) -> Option<QueuedPacket<B>> {
        loop {
            let first = match next {
                Some((first, true)) => first,
                other => {
                    self.dropping = false;
                    return other.map(|(first, _)| first);
                }
            };
            if now < self.drop_next {
                return Some(first);
            }
            self.count += 1;
            if let Some(marked) = self.hit(now, first, verdicts) {
                self.drop_next = self.control_law(self.drop_next);
                return Some(marked);
            }
            next = self.next(now, fifo);
            if next.as_ref().is_some_and(|(_, may_drop)| *may_drop) {
                self.drop_next = self.control_law(self.drop_next);
            }
        }
    }

    /// Enters the dropping state with one drop.
    fn begin<B: Clone>(
        &mut self,
        now: Instant,
        next: Option<(QueuedPacket<B>, bool)>,
        fifo: &mut Fifo<B>,
        verdicts: &mut Verdicts<B>,
    ) -> Option<QueuedPacket<B>> {
        let (first, _) = next?;
        let marked = self.hit(now, first, verdicts);
        let left = marked.or_else(|| self.next(now, fifo).map(|(first, _)| first));
        self.dropping = true;
        let dropped_last_time = self.count - self.last_count;
        let recently = now.since(self.drop_next) < self.config.interval * 16;
        self.count = if dropped_last_time > 1 && recently { dropped_last_time } else { 1 };
        self.last_count = self.count;
        self.drop_next = self.control_law(now);
        left
    }
}

/// A CoDel queue.
#[derive(Clone, Debug)]
pub struct CoDel<B> {
    limit: QueueLimit,
    fifo: Fifo<B>,
    control: CodelState,
}

impl<B: Clone> CoDel<B> {
    /// Returns an empty queue.
    pub fn new(config: CoDelConfig, limit: QueueLimit) -> Self {
        Self { limit, fifo: Fifo::default(), control: CodelState::new(config) }
    }
}

impl<B: Clone + Send> Discipline<B> for CoDel<B> {
    fn enqueue(&mut self, now: Instant, packet: Packet<B>, verdicts: &mut Verdicts<B>) {
        if self.limit.admits(self.fifo.backlog(), packet.size) {
            self.control.see(packet.size);
            self.fifo.push(now, packet);
        } else {
            verdicts.full(now, packet);
        }
    }

    fn dequeue(&mut self, now: Instant, verdicts: &mut Verdicts<B>) -> Option<QueuedPacket<B>> {
        self.control.dequeue(now, &mut self.fifo, verdicts)
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
    use super::super::tests::packet;
    use super::*;
    use lightlag_core::Codepoint;

    fn at(micros: u64) -> Instant {
        Instant::from_nanos(micros * 1_000)
    }

    /// Returns the verdicts of a queue that sends a packet of 1000 B every millisecond, and never empties.
    fn overload(config: CoDelConfig, ecn: Codepoint, millis: u64) -> Verdicts<u32> {
        let (mut codel, mut verdicts) = (CoDel::new(config, QueueLimit::Packets(100_000)), Verdicts::default());
        for _ in 0..50_000 {
            codel.enqueue(at(0), packet(0, 1000, ecn), &mut verdicts);
        }
        for ms in 0..millis {
            codel.dequeue(at(ms * 1_000), &mut verdicts);
        }
        verdicts
    }

    #[test]
    fn drops_follow_the_control_law() {
        let verdicts = overload(CoDelConfig::default(), Codepoint::NotEct, 4_000);
        // Packets have waited 5 ms at 5 ms, and an interval longer at 105 ms. From there Σ 100 ms/√n, seen at the next
        // dequeue: 105, 205, 275.7, 333.4, 383.4, …
        let mut due = 105e3;
        for (n, dropped) in (1_u32..).zip(&verdicts.dropped) {
            let seen = (due / 1e3_f64).ceil() * 1e3;
            assert_eq!(dropped.at.as_nanos() / 1_000, seen as u64, "drop {n}");
            due += 100e3 / f64::from(n).sqrt();
        }
        // 3895 ms = 100 ms · Σ 1/√n ≈ 100 ms · (2 √n − 1.46): n = 410.
        assert!((405..=415).contains(&verdicts.early), "{}", verdicts.early);
    }

    #[test]
    fn marks_come_when_drops_would() {
        let drops = overload(CoDelConfig::default(), Codepoint::NotEct, 2_000);
        let config = CoDelConfig { ecn: true, ..CoDelConfig::default() };
        let marks = overload(config, Codepoint::Ect0, 2_000);
        assert_eq!((marks.marked, marks.early), (drops.early, 0));
        assert_eq!(overload(config, Codepoint::NotEct, 2_000).early, drops.early);
    }

    #[test]
    fn a_queue_below_the_target_or_of_one_packet_is_good() {
        let (mut codel, mut verdicts) =
            (CoDel::new(CoDelConfig::default(), QueueLimit::Packets(100)), Verdicts::default());
        // One packet waits at any time, for a second each.
        for second in 0..100 {
            codel.enqueue(at(second * 1_000_000), packet(0, 1000, Codepoint::NotEct), &mut verdicts);
            if second > 0 {
                assert!(codel.dequeue(at(second * 1_000_000), &mut verdicts).is_some());
            }
        }
        // Twenty wait for 4.9 ms each.
        let (start, step) = (200_000_000, 245);
        for n in 0..10_000 {
            codel.enqueue(at(start + n * step), packet(0, 1000, Codepoint::NotEct), &mut verdicts);
            if n >= 19 {
                codel.dequeue(at(start + n * step), &mut verdicts);
            }
        }
        assert_eq!(verdicts.early, 0);
    }

    #[test]
    fn a_second_dropping_state_soon_after_continues_at_the_last_rate() {
        let mut control = CodelState::new(CoDelConfig::default());
        let (mut fifo, mut verdicts) = (Fifo::default(), Verdicts::default());
        control.see(1000);
        let fill = |fifo: &mut Fifo<u32>, now: Instant| {
            while fifo.backlog().packets < 5_000 {
                fifo.push(now, packet(0, 1000, Codepoint::NotEct));
            }
        };
        fill(&mut fifo, at(0));
        let mut ms = 5;
        while verdicts.early < 30 {
            control.dequeue(at(ms * 1_000), &mut fifo, &mut verdicts);
            ms += 1;
        }
        assert_eq!((control.count, control.last_count), (30, 1));
        // The queue empties, which ends the dropping state, and is immediately filled again.
        while fifo.pop().is_some() {}
        assert!(control.dequeue(at(ms * 1_000), &mut fifo, &mut verdicts).is_none());
        assert!(!control.dropping);
        fill(&mut fifo, at(ms * 1_000));
        while !control.dropping {
            ms += 1;
            control.dequeue(at(ms * 1_000), &mut fifo, &mut verdicts);
        }
        // 30 − 1: not the older rule of 30 − 2, nor 1.
        assert_eq!(control.count, 29);
        // Much later it starts at 1 again.
        while fifo.pop().is_some() {}
        control.dequeue(at(ms * 1_000), &mut fifo, &mut verdicts);
        ms += 5_000;
        fill(&mut fifo, at(ms * 1_000));
        while !control.dropping {
            ms += 1;
            control.dequeue(at(ms * 1_000), &mut fifo, &mut verdicts);
        }
        assert_eq!(control.count, 1);
    }
}
