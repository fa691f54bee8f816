//! Counters of a station.

use lightlag_core::Duration;
use lightlag_net::medium::Counters;

/// Counters of a station of a satellite beam.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct StationCounters {
    /// Packets offered, received by the other end, dropped, and still at the station or in flight.
    pub packets: Counters,
    /// Packets received from the other end.
    pub received: u64,
    /// Bursts sent in assigned slots; on the forward carrier, packets sent.
    pub bursts: u64,
    /// Slots assigned, excluding slots that are still in the future.
    pub granted: u64,
    /// Assigned slots that carried a burst.
    pub used: u64,
    /// Assigned slots that the station left empty.
    pub idle: u64,
    /// Capacity requests sent.
    pub requests: u64,
    /// Transmissions by random access, where the replicas of one transmission count once.
    pub contentions: u64,
    /// Transmissions by random access that were lost.
    pub collisions: u64,
    /// Transmissions by random access that were decoded without cancellation of interference.
    pub decoded_first: u64,
    /// Transmissions by random access that were decoded after other bursts had been cancelled.
    pub decoded_later: u64,
    /// Highest iteration in which one of them was decoded.
    pub max_iteration: u32,
    /// Bursts that were not decoded, because the weather changed faster than the waveform.
    pub lost_bursts: u64,
    /// Number of times that the station changed its waveform.
    pub waveform_changes: u64,
    /// Packets with a fragment in such a burst.
    pub dropped_error: u64,
    /// Packets dropped because the queue was full.
    pub dropped_queue: u64,
    /// Packets dropped after the last attempt.
    pub dropped_retry: u64,
    /// Packets that a collision destroyed, where nothing is retransmitted.
    pub dropped_collision: u64,
    /// Sum over all packets sent of the time from their arrival to the start of the burst that carries their last byte.
    pub queueing: Duration,
    /// Maximum of this time.
    pub max_queueing: Duration,
    /// Number of packets in these statistics.
    pub sent: u64,
    /// Maximum number of waiting packets.
    pub max_queue: u64,
    /// Total time of transmission, including replicas.
    pub airtime: Duration,
}

impl StationCounters {
    /// Adds a packet that was sent after this time in the queue.
    pub(crate) fn note_sent(&mut self, waited: Duration) {
        self.queueing += waited;
        self.max_queueing = self.max_queueing.max(waited);
        self.sent += 1;
    }

    /// Adds the outcome of a transmission by random access: the iteration in which it was decoded, starting at 1, or 0
    /// if it was lost.
    pub(crate) fn note_decoded(&mut self, iteration: u32) {
        match iteration {
            0 => self.collisions += 1,
            1 => self.decoded_first += 1,
            _ => self.decoded_later += 1,
        }
        self.max_iteration = self.max_iteration.max(iteration);
    }
}
