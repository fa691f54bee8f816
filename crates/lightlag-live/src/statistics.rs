//! The counters of an emulation.

use lightlag_core::{Duration, Histogram, Instant};
use serde::Serialize;

/// Maximum lateness of a delivery that is not counted as late. Scheduling on an idle machine causes less.
pub const LATE: Duration = Duration::from_millis(1);

/// Lower bound of the last class of the histogram, in microseconds.
const LONGEST: u64 = 1 << 27;

/// Histogram of durations in microseconds: exact below 16 µs, then eight classes per power of two, up to 134 s.
#[derive(Clone, Debug, Default)]
pub struct Spans(Histogram<3>);

impl Spans {
    /// Counts a duration.
    pub fn add(&mut self, span: Duration) {
        self.0.add(span.as_nanos(), (span.as_nanos() / 1000).min(LONGEST));
    }

    /// Returns a quantile: the smallest class bound that the fraction `share` of the durations does not exceed, but not
    /// more than the maximum.
    pub fn quantile(&self, share: f64) -> Duration {
        // The class holds every nanosecond of its last microsecond.
        let upper = self.0.quantile(share).map_or(0, |class| class.last() * 1000 + 999);
        Duration::from_nanos(upper.min(self.0.max()))
    }

    fn json(&self) -> Lateness {
        let micros = |span: Duration| span.as_nanos() as f64 / 1000.0;
        let counts = self.0.bins().filter(|(_, count)| *count > 0);
        Lateness {
            packets: self.0.total(),
            p50_us: micros(self.quantile(0.5)),
            p99_us: micros(self.quantile(0.99)),
            max_us: micros(Duration::from_nanos(self.0.max())),
            histogram: counts.map(|(class, count)| (class.last(), count)).collect(),
        }
    }
}

/// Lateness of deliveries.
#[derive(Clone, Debug, Serialize)]
pub struct Lateness {
    /// Number of deliveries.
    pub packets: u64,
    /// Median, in microseconds.
    pub p50_us: f64,
    /// 99th percentile, in microseconds.
    pub p99_us: f64,
    /// Maximum, in microseconds.
    pub max_us: f64,
    /// Classes that are not empty: upper bound in integer microseconds, and count.
    pub histogram: Vec<(u64, u64)>,
}

/// Counters of the packets from one device or host.
#[derive(Clone, Debug, Default)]
pub struct PacketCounters {
    /// Packets and bytes taken from the device or host.
    pub taken: (u64, u64),
    /// Packets and bytes written to a device or passed to a host.
    pub delivered: (u64, u64),
    /// Packets that are not IP.
    pub not_ip: u64,
    /// Incomplete IP packets.
    pub truncated: u64,
    /// Packets for an address that belongs to no device and no host.
    pub unroutable: u64,
    /// Packets that the kernel rejected.
    pub refused: u64,
    /// Deliveries that were late by more than [`LATE`].
    pub late: u64,
    /// Lateness of all deliveries.
    pub lateness: Spans,
}

impl PacketCounters {
    /// Counts a delivery.
    pub fn deliver(&mut self, size: usize, lateness: Duration) {
        self.delivered.0 += 1;
        self.delivered.1 += size as u64;
        self.late += u64::from(lateness > LATE);
        self.lateness.add(lateness);
    }
}

/// A snapshot of an emulation's statistics.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Snapshot {
    /// Seconds since the start.
    pub elapsed_s: f64,
    /// Counters by source: one entry per device, then one per host.
    pub directions: Vec<DirectionSnapshot>,
    /// Counters of the link directions on the paths between the devices, in path order, followed by those that only
    /// hosts use.
    pub links: Vec<LinkSnapshot>,
    /// Sum of the counters of all hosts; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_counters: Option<HostCounters>,
    /// Number of times that the loop was held up for more than 1 ms. Meanwhile, packets may have waited in the devices.
    pub stalls: u64,
    /// The longest such stall, in microseconds.
    pub longest_stall_us: f64,
}

/// Counters of all simulated hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct HostCounters {
    /// Packets that hosts received.
    pub packets_in: u64,
    /// Packets that hosts sent.
    pub packets_out: u64,
    /// Packets that hosts dropped because they were cut, malformed, a fragment, or had a wrong checksum.
    pub bad_packets: u64,
    /// Packets that hosts dropped because they were neither TCP nor an ICMP error about TCP.
    pub other_protocols: u64,
    /// Packets that hosts dropped because they were for another address.
    pub not_for_us: u64,
    /// SYNs that hosts dropped because the listener's queue was full or the limit on connections was reached.
    pub refused_syns: u64,
    /// Connections that were reset because of a limit.
    pub evicted: u64,
    /// Resets that hosts sent in reply to segments that belong to no connection.
    pub resets: u64,
    /// Packets that a device rejected.
    pub refused_by_device: u64,
    /// Packets that the simulated network lost.
    pub lost_on_path: u64,
    /// Packets that queues of the simulated network dropped.
    pub dropped_by_queue: u64,
    /// Packets that queues of the simulated network marked.
    pub marked_by_queue: u64,
    /// Connections that ended.
    pub connections: u64,
}

/// Counters of the packets from one device or host.
#[derive(Clone, Debug, Serialize)]
pub struct DirectionSnapshot {
    /// Packets taken from the device or host.
    pub taken_packets: u64,
    /// Bytes of the packets taken.
    pub taken_bytes: u64,
    /// Packets written to a device or passed to a host.
    pub delivered_packets: u64,
    /// Bytes of the packets delivered.
    pub delivered_bytes: u64,
    /// Packets dropped because they are not IP.
    pub dropped_not_ip: u64,
    /// Packets dropped because they are incomplete.
    pub dropped_truncated: u64,
    /// Packets dropped because no device or host has their destination address.
    pub dropped_unroutable: u64,
    /// Packets dropped because the kernel rejected them.
    pub dropped_refused: u64,
    /// Deliveries that were late by more than 1 ms.
    pub late_packets: u64,
    /// Lateness of all deliveries.
    pub lateness: Lateness,
}

impl From<&PacketCounters> for DirectionSnapshot {
    fn from(direction: &PacketCounters) -> Self {
        Self {
            taken_packets: direction.taken.0,
            taken_bytes: direction.taken.1,
            delivered_packets: direction.delivered.0,
            delivered_bytes: direction.delivered.1,
            dropped_not_ip: direction.not_ip,
            dropped_truncated: direction.truncated,
            dropped_unroutable: direction.unroutable,
            dropped_refused: direction.refused,
            late_packets: direction.late,
            lateness: direction.lateness.json(),
        }
    }
}

/// Counters of one direction of a link.
#[derive(Clone, Debug, Serialize)]
pub struct LinkSnapshot {
    /// Name of the direction, as `from->to`.
    pub name: String,
    /// 0 if packets from the first device to the second cross it, 1 if packets from the second to the first do, null if
    /// only hosts use it.
    pub direction: Option<usize>,
    /// Packets that arrived at the queue.
    pub offered: u64,
    /// Packets delivered intact.
    pub delivered: u64,
    /// Packets dropped because the queue was full.
    pub dropped_queue: u64,
    /// Packets dropped early by the queue discipline.
    pub dropped_aqm: u64,
    /// Packets that the policer dropped.
    pub dropped_police: u64,
    /// Packets above the MTU.
    pub dropped_mtu: u64,
    /// Packets lost to errors on the link.
    pub dropped_error: u64,
    /// Packets marked by the queue discipline.
    pub marked: u64,
    /// Duplicates that the link created.
    pub duplicated: u64,
    /// Packets that the link delayed so that later ones overtook them.
    pub reordered: u64,
    /// Packets in the queue now.
    pub queue_packets: u64,
    /// Maximum number of packets in the queue.
    pub max_queue_packets: u64,
}

/// Returns a time in seconds since the start.
pub(crate) fn seconds(now: Instant) -> f64 {
    now.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_match_the_classes() {
        let mut histogram = Spans::default();
        assert_eq!(histogram.quantile(0.5), Duration::ZERO);
        for micros in 1..=100 {
            histogram.add(Duration::from_micros(micros));
        }
        // 50 lies in 48..=51, 99 in 96..=103; the largest was 100.
        assert_eq!(histogram.quantile(0.5).as_nanos(), 51_999);
        assert_eq!(histogram.quantile(0.99).as_nanos(), 100_000);
        assert_eq!(histogram.quantile(1.0).as_nanos(), 100_000);
    }

    #[test]
    fn late_is_more_than_a_millisecond() {
        let mut direction = PacketCounters::default();
        direction.deliver(1500, LATE);
        direction.deliver(1500, LATE + Duration::from_nanos(1));
        assert_eq!((direction.late, direction.delivered), (1, (2, 3000)));
    }
}
