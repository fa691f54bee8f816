//! The columns of an interface to an 802.11 channel.

use super::InterfaceSummary;
use crate::media::FramePayload;
use crate::table::rows;
use lightlag_core::Instant;
use lightlag_net::StationId;
use lightlag_wifi::{Class, ClassCounters, Wifi};

rows! {
    /// Frames of one access class at a radio.
    #[derive(Copy, PartialEq)]
    pub struct ClassSummary {
        /// Frames of this class sent, counting every attempt.
        sent_frames: u64 ["frames"],
        /// Mean number of frames in the queue of this class over the run.
        mean_queue_packets: f64 ["frames"],
        /// Maximum number of frames in the queue of this class.
        max_queue_packets: u64 ["frames"],
    }
}

impl ClassSummary {
    fn new(counters: ClassCounters, elapsed: f64) -> Self {
        Self {
            sent_frames: counters.sent,
            mean_queue_packets: counters.waited.as_secs_f64() / elapsed,
            max_queue_packets: counters.max_queue,
        }
    }
}

/// Returns the columns that the channel provides about a station.
pub(super) fn of_station(wifi: &Wifi<FramePayload>, station: StationId, end: Instant) -> InterfaceSummary {
    let elapsed = end.as_secs_f64().max(1e-9);
    let counters = wifi.station_counters(station, end);
    let classes = Class::ALL.map(|class| wifi.class_counters(station, class, end));
    let waited = classes.iter().flatten().map(|of| of.waited.as_secs_f64()).sum::<f64>();
    let is_one = classes[1..].iter().all(Option::is_none);
    let [best_effort, background, video, voice] =
        classes.map(|of| of.filter(|_| !is_one).map(|of| Box::new(ClassSummary::new(of, elapsed))));
    InterfaceSummary {
        sent_frames: counters.sent,
        received_frames: counters.received,
        retries: counters.retries,
        collisions: counters.collisions,
        errors: counters.errors,
        utilisation: counters.airtime().as_secs_f64() / elapsed,
        busy: counters.busy.as_secs_f64() / elapsed,
        unicast_airtime_s: counters.unicast_airtime.as_secs_f64(),
        broadcast_airtime_s: counters.broadcast_airtime.as_secs_f64(),
        control_airtime_s: counters.control_airtime.as_secs_f64(),
        dropped_queue: counters.dropped_queue,
        dropped_retry: counters.dropped_retry,
        dropped_lifetime: counters.dropped_lifetime,
        mean_queue_packets: waited / elapsed,
        max_queue_packets: counters.max_queue,
        aggregates: counters.aggregates,
        mpdus_per_aggregate: (counters.aggregates > 0).then(|| counters.aggregated as f64 / counters.aggregates as f64),
        best_effort,
        background,
        video,
        voice,
        ..InterfaceSummary::default()
    }
}
