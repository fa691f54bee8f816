//! Waiting times of data packets before their transmission.

use crate::PacketFlags;
use lightlag_core::{Duration, Histogram};

/// Waiting times of the packets with payload that a link direction has transmitted: the exact mean, and a histogram of
/// at most 1,920 bins, with 32 bins per octave. A quantile is the middle of its bin, so it is at most 1.6 % (1/64) off.
///
/// A waiting time is the time from a packet's arrival at the queue to the first bit of its transmission. It is recorded
/// as soon as it is determined: on a link that computes its departures when the packet arrives, and on a link with a
/// queue discipline when the packet leaves the queue. Packets dropped by the queue do not count; packets lost on the
/// link do.
///
/// ```
/// use lightlag_core::Duration;
/// use lightlag_net::{PacketFlags, Waits};
/// let mut waits = Waits::default();
/// for ms in 1..=100 {
///     waits.note(PacketFlags::new(true), Duration::from_millis(ms));
/// }
/// assert_eq!(waits.mean(), Some(Duration::from_micros(50_500)));
/// let p95 = waits.quantile(0.95).unwrap().as_secs_f64();
/// assert!((p95 / 0.095 - 1.0).abs() < 1.0 / 64.0);
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Waits {
    /// Sum of the waiting times in nanoseconds.
    total: u128,
    /// Histogram of the waiting times in nanoseconds. It is short for links without a queue, which are the majority.
    histogram: Histogram<5>,
}

impl Waits {
    /// Records the waiting time of a packet with these flags, if the packet carries payload.
    #[cold]
    #[inline(never)]
    pub fn note(&mut self, flags: PacketFlags, wait: Duration) {
        if !flags.carries_payload() {
            return;
        }
        self.total += u128::from(wait.as_nanos());
        self.histogram.add(wait.as_nanos(), wait.as_nanos());
    }

    /// Returns the number of packets recorded.
    pub fn count(&self) -> u64 {
        self.histogram.total()
    }

    /// Returns the exact mean; `None` if no packet was recorded.
    pub fn mean(&self) -> Option<Duration> {
        let mean = self.total.checked_div(u128::from(self.count()))?;
        Some(Duration::from_nanos(mean as u64))
    }

    /// Returns the exact maximum; `None` if no packet was recorded.
    pub fn longest(&self) -> Option<Duration> {
        (self.count() > 0).then(|| Duration::from_nanos(self.histogram.max()))
    }

    /// Returns the quantile `share` of the waiting times (nearest rank); `None` if no packet was recorded.
    ///
    /// # Panics
    /// If the share is not in [0, 1].
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        assert!((0.0..=1.0).contains(&share), "{share} is not a fraction from 0 to 1");
        let (first, width) = self.histogram.quantile(share)?.range();
        Some(Duration::from_nanos((first + width / 2).min(self.histogram.max())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ComputedLink, EndpointId, LinkConfig, Loss, LossProcess, NodeId, Packet, QueueLimit};
    use lightlag_core::{Instant, RandomStream, Rate};
    use proptest::prelude::*;

    fn data(waits: &[u64]) -> Waits {
        let mut all = Waits::default();
        waits.iter().for_each(|nanos| all.note(PacketFlags::new(true), Duration::from_nanos(*nanos)));
        all
    }

    #[test]
    fn nothing_has_no_mean_and_no_quantile() {
        let mut waits = Waits::default();
        waits.note(PacketFlags::new(false), Duration::from_millis(5));
        assert_eq!((waits.count(), waits.mean(), waits.quantile(0.95), waits.longest()), (0, None, None, None));
    }

    #[test]
    fn the_maximum_time_has_a_bin() {
        assert_eq!(data(&[u64::MAX]).longest(), Some(Duration::from_nanos(u64::MAX)));
    }

    #[test]
    fn quantiles_are_nearest_ranks() {
        let waits = data(&[0, 0, 10, 20]);
        let quantile = |share| waits.quantile(share).map(|wait| wait.as_nanos());
        assert_eq!([0.0, 0.5, 0.51, 0.75, 0.76, 1.0].map(quantile), [0, 0, 10, 10, 20, 20].map(Some));
    }

    /// Returns the fraction of packets in an M/D/1 queue that wait no longer than `wait` seconds (Erlang 1909). Packets
    /// arrive at `rate` per second, and the service time is one second. (1−ρ) Σ_k (λ(k−t))^k / k! · e^(−λ(k−t)), k from
    /// 0 to ⌊t⌋.
    fn erlang(rate: f64, wait: f64) -> f64 {
        let term = |k: u32| {
            let x = rate * (f64::from(k) - wait);
            (1..=k).fold(libm::exp(-x), |product, n| product * x / f64::from(n))
        };
        (1.0 - rate) * (0..=wait as u32).map(term).sum::<f64>()
    }

    #[test]
    fn poisson_arrivals_wait_as_in_an_m_d_1_queue() {
        // 1000 B on 8 Mbit/s: 1 ms each, ρ = 0.7.
        let (load, service) = (0.7, 1e-3);
        let rate = Rate::from_mbps(8);
        let config = LinkConfig { rate, delay: Duration::ZERO, queue: QueueLimit::Packets(100_000), header: 0 };
        let mut link = ComputedLink::new(config, LossProcess::new(&Loss::None, RandomStream::new(1, "loss")));
        link.measure_waits();
        let mut gaps = RandomStream::new(1, "gaps");
        let (flags, mut now) = (PacketFlags::new(true), Instant::ZERO);
        for _ in 0..1_000_000 {
            now += gaps.exponential(Duration::from_secs_f64(service / load));
            while link.next_arrival().is_some_and(|arrival| arrival <= now) {
                link.receive();
            }
            let packet = Packet::new(NodeId(1), EndpointId(0), 1000, flags, ());
            link.send(now, &packet).unwrap();
        }
        let waits = link.waits().unwrap();
        assert_eq!(waits.count(), 1_000_000);
        // Pollaczek and Khinchin: ρ s / (2 (1 − ρ)) = 1.167 ms.
        let (mean, exact) = (waits.mean().unwrap().as_secs_f64(), load * service / (2.0 * (1.0 - load)));
        assert!((mean / exact - 1.0).abs() < 0.02, "{mean} s for {exact} s");
        for share in [0.5, 0.9, 0.95, 0.99] {
            let wait = waits.quantile(share).unwrap().as_secs_f64();
            // A quantile that is 1.6 % off moves less than 1 % of all packets.
            let below = erlang(load, wait / service);
            assert!((below - share).abs() < 0.01, "{share}: {wait} s is the quantile of {below}");
        }
    }

    proptest! {
        #[test]
        fn quantiles_are_within_a_64th_of_the_sorted_waits(
            mut waits in prop::collection::vec(0_u64..10_000_000_000, 1..300),
            share in 0.0..=1.0_f64,
        ) {
            let all = data(&waits);
            waits.sort_unstable();
            let rank = ((share * waits.len() as f64).ceil() as usize).max(1);
            let (exact, found) = (waits[rank - 1], all.quantile(share).unwrap().as_nanos());
            prop_assert!(found.abs_diff(exact) <= exact / 64, "{found} for {exact}");
            let mean = waits.iter().sum::<u64>() / waits.len() as u64;
            prop_assert_eq!(all.mean().unwrap().as_nanos(), mean);
        }
    }
}
