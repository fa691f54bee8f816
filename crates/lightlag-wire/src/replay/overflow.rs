//! Losses by a full queue. What a queue drops depends on what a sender does, so a replay must reproduce the queue and
//! not the numbers of the lost packets.
//!
//! A full queue drops the excess and continues to deliver at the rate of its link. This shows as a burst of losses:
//! many within one round trip, among a similar number of packets that arrived, while the round-trip time is close to
//! its maximum. A burst with no packets in between is an outage, and single losses may be errors. If there is no such
//! burst, no loss is attributed to the queue.

use super::{Path, Transmission};
use lightlag_core::Instant;

/// Minimum number of losses in a burst.
const BURST: usize = 10;
/// Maximum fraction of the packets in a burst that are lost.
const MOST_LOST: f64 = 0.8;
/// Minimum queueing delay of a full queue, as a fraction of the maximum queueing delay.
const FULL: f64 = 0.75;
/// Minimum length of a queue in packets for which losses are attributed to it.
const SHORTEST: u64 = 4;

/// Returns the numbers, from 1, of the packets that a full queue dropped. `round_trips` must be sorted by time.
pub(super) fn numbers(sent: &[Transmission], round_trips: &[(Instant, f64)], path: &Path) -> Vec<u64> {
    let delay = path.max_rtt_s - path.base_rtt_s;
    if path.queue_packets.is_none_or(|packets| packets < SHORTEST) || delay <= 0.0 {
        return Vec::new();
    }
    let is_full = |at: Instant| {
        let queued = longest_near(round_trips, at).map(|rtt| rtt - path.base_rtt_s);
        queued.is_some_and(|queued| queued >= FULL * delay)
    };
    let dropped: Vec<usize> = (0..sent.len()).filter(|index| sent[*index].lost && is_full(sent[*index].at)).collect();
    let is_burst = |burst: &[usize]| {
        let (first, last) = (burst[0], burst[burst.len() - 1]);
        let span = sent[last].at.since(sent[first].at).as_secs_f64();
        span <= path.max_rtt_s && (burst.len() as f64) < MOST_LOST * (last - first + 1) as f64
    };
    if dropped.windows(BURST).any(is_burst) {
        dropped.into_iter().map(|index| index as u64 + 1).collect()
    } else {
        Vec::new()
    }
}

/// Returns the longer of the two round-trip times just before and just after a time.
fn longest_near(round_trips: &[(Instant, f64)], when: Instant) -> Option<f64> {
    let after = round_trips.partition_point(|(time, _)| *time < when);
    let before = after.checked_sub(1).and_then(|before| round_trips.get(before));
    let near = before.into_iter().chain(round_trips.get(after));
    near.map(|(_, rtt)| *rtt).reduce(f64::max)
}
