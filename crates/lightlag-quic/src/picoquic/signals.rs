//! The signals that picoquic's algorithms share: peak bandwidth, rising delay and loss rate.

use lightlag_core::{Duration, Instant};

/// Minimum interval of a measurement of the bandwidth (PICOQUIC_MAX_BANDWIDTH_TIME_INTERVAL_MIN), and of samples of the
/// round-trip time.
const INTERVAL: Duration = Duration::from_millis(1);
/// Samples that are compared, and rises that end slow start (PICOQUIC_MIN_MAX_RTT_SCOPE).
const SAMPLES: usize = 7;
/// Weight of a packet in the loss rate (PICOQUIC_SMOOTHED_LOSS_FACTOR).
const WEIGHT: f64 = 1.0 / 16.0;
/// Maximum number of packets between two losses that lower the rate (PICOQUIC_SMOOTHED_LOSS_SCOPE).
const SCOPE: u32 = 32;

/// Start of a measurement of the bandwidth.
#[derive(Clone, Copy, Debug)]
struct Mark {
    delivered: u64,
    /// Arrival of the acknowledgement, and transmission of the packet that it acknowledged.
    arrived: Instant,
    sent: Instant,
}

/// The highest bandwidth so far (`picoquic_estimate_max_path_bandwidth`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Peak {
    delivered: u64,
    mark: Option<Mark>,
    /// In bytes per second.
    rate: f64,
}

impl Peak {
    /// Adds an acknowledgement of `bytes`, whose largest packet was sent at `sent`.
    pub(super) fn acknowledged(&mut self, now: Instant, sent: Instant, bytes: u64) {
        self.delivered += bytes;
        let next = Mark { delivered: self.delivered, arrived: now, sent };
        let Some(mark) = self.mark else {
            self.mark = Some(next);
            return;
        };
        if sent < mark.sent || now.since(mark.arrived) <= INTERVAL {
            return;
        }
        let interval = now.since(mark.arrived).max(sent.since(mark.sent));
        self.rate = self.rate.max((self.delivered - mark.delivered) as f64 / interval.as_secs_f64());
        self.mark = Some(next);
    }

    /// Returns half of the bytes that the path holds at this bandwidth.
    pub(super) fn half_product(&self, rtt: Duration) -> u64 {
        (self.rate * rtt.as_secs_f64()) as u64 / 2
    }
}

/// Detection of a rising round-trip time (`picoquic_cc_hystart_test`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rise {
    samples: [Duration; SAMPLES],
    count: usize,
    time: Instant,
    /// The smallest maximum of seven samples.
    filtered: Option<Duration>,
    rises: usize,
}

impl Rise {
    /// Adds a sample. Returns true if slow start has to end. `packet_time` is the time between two packets.
    pub(super) fn rises(&mut self, now: Instant, rtt: Duration, packet_time: Duration) -> bool {
        if now <= self.time + INTERVAL {
            return false;
        }
        self.samples[self.count % SAMPLES] = rtt;
        self.count += 1;
        self.time = now;
        if self.count < SAMPLES {
            return false;
        }
        let fold = |pick: fn(Duration, Duration) -> Duration| self.samples.into_iter().reduce(pick).unwrap_or(rtt);
        let (least, most) = (fold(Duration::min), fold(Duration::max));
        let filtered = self.filtered.map_or(most, |filtered| filtered.min(most));
        self.filtered = Some(filtered);
        if least <= filtered {
            self.rises = 0;
        } else if least > filtered + (filtered / 4).max(packet_time) {
            self.rises += 1;
        }
        self.rises >= SAMPLES
    }

    /// Returns the round-trip time with which samples are compared; zero before seven samples.
    pub(super) fn base(&self) -> Duration {
        self.filtered.unwrap_or(Duration::ZERO)
    }
}

/// The smoothed rate of lost packets (`picoquic_cc_hystart_loss_test`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LossRate {
    rate: f64,
    last: u32,
}

impl LossRate {
    /// Adds a lost packet. Returns true if the rate exceeds `max`. A number below the last one does not count.
    pub(super) fn exceeds(&mut self, number: u32, max: f64) -> bool {
        let distance = number.wrapping_sub(self.last);
        if distance as i32 <= 0 {
            return false;
        }
        for _ in 0..distance.min(SCOPE) {
            self.rate *= 1.0 - WEIGHT;
        }
        self.rate += (1.0 - self.rate) * WEIGHT;
        self.last = number;
        self.rate > max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Instant {
        Instant::from_nanos(us * 1_000)
    }

    #[test]
    fn the_bandwidth_is_that_of_the_fastest_interval_above_a_millisecond() {
        let mut peak = Peak::default();
        // A handshake packet, then a burst of 22 packets of 1440 B at 250 Mbit/s, one acknowledgement for ten packets.
        peak.acknowledged(at(600_000), at(0), 1_200);
        peak.acknowledged(at(1_200_000), at(600_000), 14_400);
        // (14,400 B)/(600 ms) = 24 kB/s, and half of that in 600 ms.
        assert_eq!(peak.half_product(Duration::from_millis(600)), 7_200);
        // 0.4608 ms later: too early.
        peak.acknowledged(at(1_200_461), at(600_000), 14_400);
        assert_eq!(peak.half_product(Duration::from_millis(600)), 7_200);
        // Ten paced packets later, 1 ms are over, but they were sent in 7 ms: 28,800/7 ms = 4.114 MB/s.
        peak.acknowledged(at(1_204_000), at(607_000), 14_400);
        assert_eq!(peak.half_product(Duration::from_millis(600)), 1_234_285);
        // Acknowledgements that bunch up on the return path do not count: 14,400 B sent in 7 ms.
        peak.acknowledged(at(1_205_001), at(614_000), 14_400);
        assert_eq!(peak.half_product(Duration::from_millis(600)), 1_234_285);
    }

    #[test]
    fn slow_start_ends_after_seven_rises_by_a_quarter() {
        let (mut rise, short) = (Rise::default(), Duration::from_millis(600));
        for index in 1..=7 {
            assert!(!rise.rises(at(2_000 * index), short, INTERVAL));
        }
        assert_eq!(rise.base(), short);
        // A sample within 1 ms does not count. The minimum of seven rises with the seventh sample, seven times with the
        // thirteenth.
        assert!(!rise.rises(at(14_500), Duration::from_secs(9), INTERVAL));
        let long = Duration::from_millis(751);
        let ended = (1..=20).find(|index| rise.rises(at(14_000 + 2_000 * index), long, INTERVAL));
        assert_eq!(ended, Some(13));
        // 750 ms are a quarter more, not more than that.
        let mut rise = Rise { filtered: Some(short), rises: 0, ..rise };
        let long = Duration::from_millis(750);
        assert!(!(1..=40).any(|index| rise.rises(at(100_000 + 2_000 * index), long, INTERVAL)));
    }

    #[test]
    fn a_loss_in_64_packets_is_below_the_threshold_and_three_in_a_row_are_not() {
        let mut rate = LossRate::default();
        // Fixed point r = x + 1/16 (1 − x) with x = r (15/16)³² = 0.1268 r: r = 0.0625/(1 − 0.1189) = 0.0709.
        assert!(!(1..200).any(|count| rate.exceeds(64 * count, 0.15)));
        assert!((rate.rate - 0.0709).abs() < 1e-4, "{}", rate.rate);
        // 0.0709 · 15/16 · 15/16 + 1/16 = 0.1248, then 0.1722.
        assert!(!rate.exceeds(64 * 199 + 1, 0.15) && rate.exceeds(64 * 199 + 2, 0.15));
        assert!(!rate.exceeds(64 * 199, 0.15), "an earlier packet");
    }
}
