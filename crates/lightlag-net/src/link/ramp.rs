//! Capacity that follows demand: a link whose rate rises while packets wait.
//!
//! At rest the link has the rate `idle`. While at least one packet waits, the rate rises linearly, to the full rate
//! after `time`. It stays where it is while nothing waits, and returns to `idle` once nothing has waited for `rest`, or
//! at the edges of the link's slots if `reset` is set. A packet keeps the rate of the start of its transmission.
//!
//! Starlink assigns capacity in this way: measurements found 100 Mbit/s down and 30 Mbit/s up at rest, and 3.4 and 2
//! times as much after 400 ms with a queue (doi 10.1145/3789240.3829162, 2026). The linear rise is ours.
//!
//! With the rate r at rest and R after T, a queue that stays is served with r t + (R − r) t² / 2T bits by the time
//! t ≤ T, and with R (t − T) + (R + r) T / 2 afterwards.

use super::Slots;
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Duration, Instant, Rate};

/// Maximum ratio of the full rate to the rate at rest.
const MAX_RATIO: u64 = 1_000;

/// Capacity of a link direction that follows demand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ramp {
    /// Rate at rest.
    pub idle: Rate,
    /// Time with waiting packets until the link has its full rate.
    pub time: Duration,
    /// Time without waiting packets until the rate is at rest.
    pub rest: Duration,
    /// Whether the rate is at rest at the start of each slot.
    pub reset: bool,
}

impl Default for Ramp {
    fn default() -> Self {
        Self { idle: Rate::from_mbps(1), time: Duration::ZERO, rest: Duration::from_secs(1), reset: false }
    }
}

impl Described for Ramp {
    const ABOUT: &'static str = "Capacity that follows demand: the rate rises from `idle` to the rate of the link while \
                                 packets wait, and returns when none has waited for a time.";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::rate("idle", |ramp: &mut Self| &mut ramp.idle)
                .about("Rate at rest, not above the rate of the link.")
                .required("specify the rate at rest, such as \"100 Mbit/s\""),
            Setting::time("time", |ramp: &mut Self| &mut ramp.time)
                .about("Time with waiting packets until the link has its full rate.")
                .required("specify the time of the rise, such as \"400 ms\""),
            Setting::time_or_zero("rest", |ramp: &mut Self| &mut ramp.rest)
                .about("Time without waiting packets until the rate is at rest."),
            Setting::flag("reset", |ramp: &mut Self| &mut ramp.reset)
                .about("Whether the rate is also at rest at the start of each slot of the link."),
        ]
    }
}

impl Ramp {
    /// Returns the reason why a link of this rate cannot have the ramp; `None` if it can.
    pub fn refuses(&self, rate: Rate) -> Option<String> {
        let idle = self.idle;
        if idle > rate {
            return Some(format!("{idle} is above the rate of the link, {rate}; reduce it"));
        }
        let is_steep = idle.as_bps().saturating_mul(MAX_RATIO) < rate.as_bps();
        is_steep.then(|| format!("{idle} is below a thousandth of the rate of the link, {rate}; increase it"))
    }
}

/// State of a ramp.
#[derive(Clone, Copy, Debug)]
pub(super) struct Growth {
    ramp: Ramp,
    /// Full rate.
    rate: Rate,
    /// Start and duration of the slots that reset the rate, if any do.
    slots: Option<(Duration, Duration)>,
    /// Time with waiting packets that counts, up to the time of the ramp.
    grown: Duration,
    /// Whether packets wait.
    is_waiting: bool,
    /// Time of the last update.
    updated: Instant,
    /// Time since which no packet has waited, if none waits.
    emptied: Instant,
}

impl Growth {
    /// Returns the state of a link at rest, whose full rate is `rate`. `slots` are the slots of the link.
    pub(super) fn new(ramp: Ramp, rate: Rate, slots: Option<&Slots>) -> Self {
        let slots = slots.filter(|_| ramp.reset).map(|slots| (slots.phase, slots.period));
        let start = Instant::ZERO;
        Self { ramp, rate, slots, grown: Duration::ZERO, is_waiting: false, updated: start, emptied: start }
    }

    /// Advances to `now`, which never decreases. `is_waiting` is true if a packet waits now.
    pub(super) fn update(&mut self, now: Instant, is_waiting: bool) {
        let mut since = self.updated;
        if let Some(edge) = self.last_edge(now).filter(|edge| *edge > self.updated) {
            self.grown = Duration::ZERO;
            since = edge;
        }
        if self.is_waiting {
            self.grown = (self.grown + now.since(since)).min(self.ramp.time);
        } else if now.since(self.emptied) >= self.ramp.rest {
            self.grown = Duration::ZERO;
        }
        if self.is_waiting && !is_waiting {
            self.emptied = now;
        }
        (self.updated, self.is_waiting) = (now, is_waiting);
    }

    /// Advances to `now` if packets start or stop waiting.
    #[inline]
    pub(super) fn notice(&mut self, now: Instant, is_waiting: bool) {
        if self.is_waiting != is_waiting {
            self.update(now, is_waiting);
        }
    }

    /// Returns the last start of a slot up to `now` that resets the rate.
    fn last_edge(&self, now: Instant) -> Option<Instant> {
        let (phase, period) = self.slots?;
        let since = now.as_nanos().checked_sub(phase.as_nanos())?;
        Some(Instant::from_nanos(now.as_nanos() - since % period.as_nanos()))
    }

    /// Returns the work of a frame at the full rate that takes as long as `work` at the current rate.
    #[inline]
    pub(super) fn stretched(&self, work: u64) -> u64 {
        if self.grown == self.ramp.time {
            return work;
        }
        let (idle, full) = (u128::from(self.ramp.idle.as_bps()), u128::from(self.rate.as_bps()));
        let (grown, time) = (u128::from(self.grown.as_nanos()), u128::from(self.ramp.time.as_nanos()));
        let rate = idle + (full - idle) * grown / time;
        // A thousand times the work of a frame fits into 64 bits.
        (u128::from(work) * full / rate) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Disturbance, LinkConfig, LinkModel, QueuedLink};
    use super::*;
    use crate::queue::DisciplineConfig;
    use crate::{EndpointId, Loss, LossProcess, NodeId, Packet, PacketFlags, QueueLimit};
    use lightlag_core::RandomStream;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn ramp() -> Ramp {
        Ramp { idle: Rate::from_mbps(10), time: ms(400), rest: ms(200), reset: false }
    }

    /// A link of 34 Mbit/s with 10 Mbit/s at rest.
    fn link(ramp: Ramp, slots: Option<&Slots>) -> QueuedLink<()> {
        let (rate, queue) = (Rate::from_mbps(34), QueueLimit::Packets(100_000));
        let config = LinkConfig { rate, delay: ms(5), queue, header: 0 };
        let discipline = DisciplineConfig::DropTail.build(&config, RandomStream::new(1, "queue"));
        let loss = LossProcess::new(&Loss::None, RandomStream::new(1, "loss"));
        QueuedLink::new(config, discipline, loss, Disturbance::none()).ramping(ramp, slots)
    }

    fn packet() -> Packet<()> {
        Packet::new(NodeId(1), EndpointId(0), 1250, PacketFlags::new(true), ())
    }

    /// Offers packets at a time, and returns the arrivals in milliseconds after it, without the propagation delay.
    fn arrivals(link: &mut QueuedLink<()>, start: Duration, packets: u32) -> Vec<f64> {
        let now = Instant::ZERO + start;
        (0..packets).for_each(|_| link.send(now, packet()));
        let mut arrivals = Vec::new();
        while let Some(wake) = link.next_wake() {
            if link.receive(wake).is_some() {
                arrivals.push((wake.since(now).as_secs_f64() - 5e-3) * 1e3);
            }
        }
        arrivals
    }

    #[test]
    fn a_queue_is_served_faster_until_the_full_rate() {
        let arrivals = arrivals(&mut link(ramp(), None), Duration::ZERO, 2_000);
        // A packet has 10 kbit. At rest it takes 1 ms.
        assert!((arrivals[0] - 1.0).abs() < 1e-6, "{}", arrivals[0]);
        // By 400 ms: 10 · 0.4 + 24 · 0.4 / 2 = 8.8 Mbit, 880 packets; each keeps the rate of its start, so one or two
        // packets fewer.
        let served = arrivals.partition_point(|time| *time <= 400.0);
        assert!((877..=880).contains(&served), "{served}");
        // By 200 ms: 10 · 0.2 + 24 · 0.2² / 0.8 = 3.2 Mbit, 320 packets.
        let half = arrivals.partition_point(|time| *time <= 200.0);
        assert!((317..=320).contains(&half), "{half}");
        // Then 34 Mbit/s: 10 kbit take 0.294118 ms.
        let full = arrivals[1_999] - arrivals[1_998];
        assert!((full - 0.294_118).abs() < 1e-5, "{full}");
    }

    #[test]
    fn the_rate_stays_for_the_time_of_rest_and_returns() {
        for (pause, expected) in [(100, 0.294_118), (199, 0.294_118), (201, 1.0)] {
            let mut link = link(ramp(), None);
            let busy = arrivals(&mut link, Duration::ZERO, 2_000);
            // The queue is empty from the start of the last packet on.
            let start = Duration::from_secs_f64(busy[1_998] / 1e3) + ms(pause);
            let later = arrivals(&mut link, start, 1);
            assert!((later[0] - expected).abs() < 1e-4, "{pause} ms: {later:?}");
        }
    }

    #[test]
    fn single_packets_never_raise_the_rate() {
        let mut link = link(ramp(), None);
        for number in 0..1_000 {
            let times = arrivals(&mut link, ms(2 * number), 1);
            assert!((times[0] - 1.0).abs() < 1e-6, "{number}: {times:?}");
        }
    }

    #[test]
    fn a_slot_resets_the_rate() {
        let slots = Slots { period: ms(500), phase: ms(450), ..Slots::default() };
        let arrivals = arrivals(&mut link(Ramp { reset: true, ..ramp() }, Some(&slots)), Duration::ZERO, 5_000);
        let rate = |from: f64| {
            let first = arrivals.partition_point(|time| *time < from);
            10.0 / (arrivals[first + 1] - arrivals[first])
        };
        assert!((rate(440.0) - 34.0).abs() < 0.01, "{}", rate(440.0));
        // 1 ms after the edge at 450 ms: 10 + 24 · 1/400 = 10.06 Mbit/s, and up to a packet's time more.
        assert!((10.0..10.3).contains(&rate(451.0)), "{}", rate(451.0));
        assert!((rate(900.0) - 34.0).abs() < 0.01 && (10.0..10.3).contains(&rate(951.0)));
        // A period carries 8.8 + 34 · 0.1 = 12.2 Mbit, 1220 packets: the mean rate is 24.4 Mbit/s.
        let served = arrivals.partition_point(|time| *time < 1_450.0) - arrivals.partition_point(|time| *time < 950.0);
        assert!(served.abs_diff(1_220) <= 4, "{served}");
    }

    #[test]
    fn a_ramp_lies_within_the_rate_of_its_link() {
        assert_eq!(ramp().refuses(Rate::from_mbps(34)), None);
        assert!(ramp().refuses(Rate::from_mbps(9)).unwrap().contains("above the rate"));
        assert!(ramp().refuses(Rate::from_mbps(10_001)).unwrap().contains("thousandth"));
    }
}
