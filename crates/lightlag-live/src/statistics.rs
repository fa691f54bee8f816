//! The counters of an emulation.

use lightlag_core::{Duration, Instant};
use serde::Serialize;

/// The lateness above which a delivery counts as late: more than scheduling costs on an idle machine.
pub const LATE: Duration = Duration::from_millis(1);

/// Durations by size: exact below 16 µs, then eight classes for each power of two, up to 134 s.
#[derive(Clone, Debug)]
pub struct Histogram {
    counts: Vec<u64>,
    total: u64,
    most: Duration,
}

/// Classes of one power of two.
const CLASSES: u64 = 8;
/// Below this number of microseconds each value has a class of its own.
const EXACT: u64 = 2 * CLASSES;
/// The class of the longest durations.
const LAST: u64 = EXACT + (27 - 4) * CLASSES;

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: vec![0; LAST as usize + 1], total: 0, most: Duration::ZERO }
    }
}

/// The class of a duration of whole microseconds.
fn class(micros: u64) -> u64 {
    if micros < EXACT {
        return micros;
    }
    let power = u64::from(micros.ilog2());
    // The three bits after the leading one.
    let within = (micros >> (power - 3)) & (CLASSES - 1);
    (EXACT + (power - 4) * CLASSES + within).min(LAST)
}

/// The largest duration of a class, in microseconds.
fn upper(class: u64) -> u64 {
    if class < EXACT {
        return class;
    }
    let (power, within) = ((class - EXACT) / CLASSES + 4, (class - EXACT) % CLASSES);
    ((CLASSES + within + 1) << (power - 3)) - 1
}

impl Histogram {
    /// Counts a duration.
    pub fn add(&mut self, span: Duration) {
        self.counts[class(span.as_nanos() / 1000) as usize] += 1;
        self.total += 1;
        self.most = self.most.max(span);
    }

    /// Number of durations.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The duration that the given share does not exceed: the upper end of its class, and never more than the maximum.
    pub fn quantile(&self, share: f64) -> Duration {
        let wanted = ((self.total as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        for (class, count) in (0..).zip(&self.counts) {
            seen += count;
            if seen >= wanted {
                // The class holds every nanosecond of its last microsecond.
                return Duration::from_nanos(upper(class) * 1000 + 999).min(self.most);
            }
        }
        self.most
    }

    fn json(&self) -> Lateness {
        let micros = |span: Duration| span.as_nanos() as f64 / 1000.0;
        let counts = (0..).zip(&self.counts).filter(|(_, count)| **count > 0);
        Lateness {
            packets: self.total,
            p50_us: micros(self.quantile(0.5)),
            p99_us: micros(self.quantile(0.99)),
            max_us: micros(self.most),
            histogram: counts.map(|(class, count)| (upper(class), *count)).collect(),
        }
    }
}

/// The lateness of deliveries.
#[derive(Clone, Debug, Serialize)]
pub struct Lateness {
    /// Deliveries.
    pub packets: u64,
    /// The median, in microseconds.
    pub p50_us: f64,
    /// The 99th percentile.
    pub p99_us: f64,
    /// The maximum.
    pub max_us: f64,
    /// Classes that are not empty: the largest whole microseconds of each, and its count.
    pub histogram: Vec<(u64, u64)>,
}

/// Counters of the packets from one device or host.
#[derive(Clone, Debug, Default)]
pub struct Direction {
    /// Packets and bytes taken from the device or host.
    pub taken: (u64, u64),
    /// Packets and bytes written to a device or passed to a host.
    pub delivered: (u64, u64),
    /// Packets other than IP.
    pub not_ip: u64,
    /// Incomplete IP packets.
    pub truncated: u64,
    /// Packets for an address behind no device and of no host.
    pub unroutable: u64,
    /// Packets that the kernel refused.
    pub refused: u64,
    /// Deliveries late by more than [`LATE`].
    pub late: u64,
    /// The lateness of deliveries.
    pub lateness: Histogram,
}

impl Direction {
    /// Counts a delivery.
    pub fn deliver(&mut self, size: usize, lateness: Duration) {
        self.delivered.0 += 1;
        self.delivered.1 += size as u64;
        self.late += u64::from(lateness > LATE);
        self.lateness.add(lateness);
    }
}

/// A snapshot of an emulation.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Snapshot {
    /// Seconds since the start.
    pub elapsed_s: f64,
    /// Counters by source: each device, then each host.
    pub directions: Vec<DirectionSnapshot>,
    /// Every link direction between the devices, in the order in which packets cross it, then those that only hosts use.
    pub links: Vec<LinkSnapshot>,
    /// Sum of the counters of all hosts; absent without hosts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_counters: Option<HostCounters>,
    /// Number of times that the loop was held up for more than 1 ms. Packets may have waited in the devices meanwhile.
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
    /// Dropped: cut, malformed, a fragment, or with a wrong checksum.
    pub bad_packets: u64,
    /// Dropped: neither TCP nor an ICMP error about it.
    pub other_protocols: u64,
    /// Dropped: for another address.
    pub not_for_us: u64,
    /// Dropped: a SYN while the queue of the listener was full, or while the host was at its limit of connections.
    pub refused_syns: u64,
    /// Connections that were reset because of a limit.
    pub evicted: u64,
    /// Resets that answered segments without a connection.
    pub resets: u64,
    /// Packets that a device refused.
    pub refused_by_device: u64,
    /// Packets that the simulated network lost.
    pub lost_on_path: u64,
    /// Packets that its queues dropped.
    pub dropped_by_queue: u64,
    /// Packets that its queues marked.
    pub marked_by_queue: u64,
    /// Connections that ended.
    pub connections: u64,
}

/// Counters of the packets from one device or host.
#[derive(Clone, Debug, Serialize)]
pub struct DirectionSnapshot {
    /// Packets taken from the device or host.
    pub taken_packets: u64,
    /// Their bytes.
    pub taken_bytes: u64,
    /// Packets written to a device or passed to a host.
    pub delivered_packets: u64,
    /// Their bytes.
    pub delivered_bytes: u64,
    /// Packets other than IP.
    pub dropped_not_ip: u64,
    /// Incomplete IP packets.
    pub dropped_truncated: u64,
    /// Packets for an address behind no device and of no host.
    pub dropped_unroutable: u64,
    /// Packets that the kernel refused.
    pub dropped_refused: u64,
    /// Deliveries late by more than 1 ms.
    pub late_packets: u64,
    /// The lateness of deliveries.
    pub lateness: Lateness,
}

impl From<&Direction> for DirectionSnapshot {
    fn from(direction: &Direction) -> Self {
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

/// One direction of a link.
#[derive(Clone, Debug, Serialize)]
pub struct LinkSnapshot {
    /// `from->to`.
    pub name: String,
    /// 0 if packets from the first device to the second cross it, 1 on the return path, null if only hosts use it.
    pub direction: Option<usize>,
    /// Packets that arrived at the queue.
    pub offered: u64,
    /// Packets delivered intact.
    pub delivered: u64,
    /// Dropped because the queue was full.
    pub dropped_queue: u64,
    /// Dropped by the discipline.
    pub dropped_aqm: u64,
    /// Lost on the link.
    pub dropped_error: u64,
    /// Marked by the discipline.
    pub marked: u64,
    /// Duplicates made.
    pub duplicated: u64,
    /// Packets held back.
    pub reordered: u64,
    /// Packets in the queue now.
    pub queue_packets: u64,
    /// The most packets ever in the queue.
    pub max_queue_packets: u64,
}

/// Seconds since the start.
pub(crate) fn seconds(now: Instant) -> f64 {
    now.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_cover_every_span_once_and_in_order() {
        let mut last = 0;
        for micros in 0..200_000 {
            let class = class(micros);
            assert!(class == last || class == last + 1, "{micros}");
            assert!(micros <= upper(class) && (class == 0 || micros > upper(class - 1)), "{micros}");
            last = class;
        }
        assert_eq!(class(u64::MAX), LAST);
        // A class is at most an eighth of its value wide.
        assert!(upper(class(1000)) - 1000 <= 125);
    }

    #[test]
    fn quantiles_are_those_of_the_classes() {
        let mut histogram = Histogram::default();
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
        let mut direction = Direction::default();
        direction.deliver(1500, LATE);
        direction.deliver(1500, LATE + Duration::from_nanos(1));
        assert_eq!((direction.late, direction.delivered), (1, (2, 3000)));
    }
}
