//! Losses by a full queue: what a queue drops depends on what a sender does, so that a repetition must have the queue
//! and not the numbers of its losses.
//!
//! A queue that is full drops what is too much and goes on to deliver at the rate of its link. A burst of losses shows
//! that: many within one round trip, among as many packets that arrived, while the round trip is close to its longest. A
//! burst without packets between is an outage, and single losses may be errors; without such a burst no loss counts as
//! one of the queue.

use super::{Path, Transmission};
use lightlag_core::Instant;

/// The fewest losses of a burst.
const BURST: usize = 10;
/// The largest share of a burst that may be lost.
const MOST_LOST: f64 = 0.8;
/// The part of the longest delay of the queue from which on it counts as full.
const FULL: f64 = 0.75;
/// The fewest packets of a queue that is worth its own limit.
const SHORTEST: u64 = 4;

/// Numbers of the packets that a full queue dropped, from 1. `round_trips` are sorted by time.
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

/// The longer of the two round trips next to a time.
fn longest_near(round_trips: &[(Instant, f64)], at: Instant) -> Option<f64> {
    let after = round_trips.partition_point(|(time, _)| *time < at);
    let before = after.checked_sub(1).and_then(|before| round_trips.get(before));
    let near = before.into_iter().chain(round_trips.get(after));
    near.map(|(_, rtt)| *rtt).reduce(f64::max)
}
