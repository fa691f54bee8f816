//! The columns of an interface to a satellite beam, or to random access.

use super::InterfaceSummary;
use crate::table::rows;
use lightlag_access::StationCounters;
use lightlag_core::Instant;

rows! {
    /// Access of a station to a satellite.
    #[derive(Copy, PartialEq)]
    pub struct AccessSummary {
        /// Slots assigned to the station, including its constant assignment.
        granted_slots: u64 ["slots"],
        /// Assigned slots in which the station sent a burst.
        used_slots: u64 ["slots"],
        /// Assigned slots that the station left empty.
        idle_slots: u64 ["slots"],
        /// Capacity requests sent.
        requests: u64 [""],
        /// Transmissions by random access; replicas are not counted.
        contentions: u64 [""],
        /// Transmissions by random access that were decoded without cancellation of interference.
        decoded_first: u64 [""],
        /// Transmissions by random access that were decoded after other bursts had been cancelled.
        decoded_later: u64 [""],
        /// Maximum number of iterations until one of them was decoded.
        max_iteration: u64 [""],
        /// Packets lost to bursts of other stations, without a retransmission.
        dropped_collision: u64 ["packets"],
        /// Bursts that were not decoded, because the weather changed faster than the waveform.
        lost_bursts: u64 ["", rare 1],
        /// Number of times that the terminal changed its waveform.
        waveform_changes: u64 ["", rare 1],
        /// Packets lost with such bursts.
        dropped_error: u64 ["packets", rare 1],
        /// Mean time from the arrival of a packet to the burst that carries its last byte; null if none was sent.
        queueing_mean_s: Option<f64> ["s"],
        /// Maximum of this time.
        queueing_max_s: f64 ["s"],
        /// Energy of the transmissions, at the transmit power of random access; null for a beam.
        energy_mj: Option<f64> ["mJ"],
    }
}

/// Returns the columns that the medium provides about a station.
pub(super) fn of_station(counters: StationCounters, energy_mj: Option<f64>, end: Instant) -> InterfaceSummary {
    let elapsed = end.as_secs_f64().max(1e-9);
    let mean = counters.queueing.as_secs_f64() / counters.sent as f64;
    let access = AccessSummary {
        granted_slots: counters.granted,
        used_slots: counters.used,
        idle_slots: counters.idle,
        requests: counters.requests,
        contentions: counters.contentions,
        decoded_first: counters.decoded_first,
        decoded_later: counters.decoded_later,
        max_iteration: u64::from(counters.max_iteration),
        dropped_collision: counters.dropped_collision,
        lost_bursts: counters.lost_bursts,
        waveform_changes: counters.waveform_changes,
        dropped_error: counters.dropped_error,
        queueing_mean_s: (counters.sent > 0).then_some(mean),
        queueing_max_s: counters.max_queueing.as_secs_f64(),
        energy_mj,
    };
    InterfaceSummary {
        sent_frames: counters.bursts + counters.contentions,
        received_frames: counters.received,
        collisions: counters.collisions,
        utilisation: counters.airtime.as_secs_f64() / elapsed,
        unicast_airtime_s: counters.airtime.as_secs_f64(),
        dropped_queue: counters.dropped_queue,
        dropped_retry: counters.dropped_retry,
        mean_queue_packets: counters.queueing.as_secs_f64() / elapsed,
        max_queue_packets: counters.max_queue,
        access: Some(Box::new(access)),
        ..InterfaceSummary::default()
    }
}
