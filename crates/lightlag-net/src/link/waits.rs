//! Waiting times of data packets before their transmission.

use crate::PacketFlags;
use lightlag_core::Duration;

/// Bins of each octave.
const PER_OCTAVE: u64 = 1 << BITS;
const BITS: u32 = 5;

/// The waits of the packets with payload that a link direction has transmitted: their exact mean, and their
/// distribution as a histogram of at most 1,920 bins with 32 bins an octave. A quantile is the middle of its bin, so it
/// is at most 1.6 % (1/64) off.
///
/// A wait is the time from a packet's arrival at the queue to the first bit of its transmission. It counts once it is
/// known: when the packet comes, on a link that computes its departures, or when it leaves the queue, on one with a
/// discipline. Packets dropped by the queue do not count; packets lost on the link do.
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
    count: u64,
    /// Nanoseconds.
    total: u128,
    longest: Duration,
    /// Grows up to the longest wait: most links have no queue.
    bins: Vec<u32>,
}

impl Waits {
    /// Notes that a packet with these flags has waited this long.
    #[cold]
    #[inline(never)]
    pub fn note(&mut self, flags: PacketFlags, wait: Duration) {
        if !flags.carries_payload() {
            return;
        }
        self.count += 1;
        self.total += u128::from(wait.as_nanos());
        self.longest = self.longest.max(wait);
        let bin = bin_of(wait.as_nanos());
        if bin >= self.bins.len() {
            self.bins.resize(bin + 1, 0);
        }
        self.bins[bin] = self.bins[bin].saturating_add(1);
    }

    /// Number of packets counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The exact mean; `None` without a packet.
    pub fn mean(&self) -> Option<Duration> {
        let mean = self.total.checked_div(u128::from(self.count))?;
        Some(Duration::from_nanos(mean as u64))
    }

    /// The exact maximum; `None` without a packet.
    pub fn longest(&self) -> Option<Duration> {
        (self.count > 0).then_some(self.longest)
    }

    /// The wait that the share `share` of the packets does not exceed (nearest rank); `None` without a packet.
    ///
    /// # Panics
    /// If the share is not in [0, 1].
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        assert!((0.0..=1.0).contains(&share), "{share} is not a share");
        let rank = ((share * self.count as f64).ceil() as u64).max(1);
        let mut below = 0;
        let bin = self.bins.iter().position(|count| {
            below += u64::from(*count);
            below >= rank
        })?;
        Some(Duration::from_nanos(middle_of(bin)).min(self.longest))
    }
}

/// The bin of this many nanoseconds. Below 64 each number has its own.
fn bin_of(nanos: u64) -> usize {
    let shift = (u64::BITS - BITS - 1).saturating_sub(nanos.leading_zeros());
    (u64::from(shift) * PER_OCTAVE + (nanos >> shift)) as usize
}

/// The middle of a bin in nanoseconds.
fn middle_of(bin: usize) -> u64 {
    let bin = bin as u64;
    let shift = (bin / PER_OCTAVE).saturating_sub(1);
    ((bin - shift * PER_OCTAVE) << shift) + ((1 << shift) >> 1)
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
    fn the_largest_time_has_a_bin() {
        assert_eq!(bin_of(u64::MAX), 1_919);
        assert_eq!(data(&[u64::MAX]).longest(), Some(Duration::from_nanos(u64::MAX)));
    }

    #[test]
    fn quantiles_are_nearest_ranks() {
        let waits = data(&[0, 0, 10, 20]);
        let quantile = |share| waits.quantile(share).map(|wait| wait.as_nanos());
        assert_eq!([0.0, 0.5, 0.51, 0.75, 0.76, 1.0].map(quantile), [0, 0, 10, 10, 20, 20].map(Some));
    }

    /// The share of the packets of an M/D/1 queue that wait no longer than `wait` (Erlang 1909): packets come at
    /// `rate` a second, each takes a second. (1−ρ) Σ_k (λ(k−t))^k / k! · e^(−λ(k−t)), k from 0 to ⌊t⌋.
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
        fn bins_are_in_order_and_narrow(nanos in any::<u64>()) {
            let (middle, bin) = (middle_of(bin_of(nanos)), bin_of(nanos));
            prop_assert!(middle.abs_diff(nanos) <= nanos / 64, "{middle} for {nanos}");
            prop_assert_eq!(bin_of(middle), bin);
            prop_assert!(nanos == u64::MAX || bin_of(nanos + 1) - bin <= 1);
        }

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
