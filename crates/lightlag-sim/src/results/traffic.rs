//! Results of flows that are not just one transfer: datagrams, responses and pages.

use super::origin::FlowIdentity;
use super::{FlowSummary, LimitedSeconds};
use crate::hosts::session::{LoadedPage, Session};
use crate::ids::FlowIndex;
use crate::table::{NameTable, recorded, rows};
use crate::tap::Tap;
use crate::world::World;
use lightlag_core::{Duration, Instant};

rows! {
    /// Counts of the datagrams of a flow. A duplicate made by a link counts as sent.
    #[derive(Copy)]
    pub struct DatagramSummary {
        /// Datagrams that arrived.
        received: u64 [""],
        /// Datagrams dropped in transit.
        lost: u64 [""],
        /// Mean time from sending to arrival; null if none arrived.
        mean_delay_s: Option<f64> ["s"],
        /// 95th percentile of these times, with an error of up to 0.2 %; null if none arrived.
        p95_delay_s: Option<f64> ["s"],
    }
}

rows! {
    /// Responses or pages that a client received.
    #[derive(Copy)]
    pub struct PageSummary, hashed by count, request_bytes {
        /// Responses or pages that arrived completely.
        count: u64 [""],
        /// Mean time from the request to the arrival of the last byte; null if none arrived.
        mean_s: Option<f64> ["s"],
        /// Mean time from the request to the arrival of the first byte; null if none arrived.
        mean_first_byte_s: Option<f64> ["s", unhashed],
        /// Mean ByteIndex: the integral over time of the fraction of the bytes that has not arrived; null if none
        /// arrived.
        mean_byte_index_s: Option<f64> ["s", unhashed],
        /// 95th percentile of these times (nearest rank); null if none arrived.
        p95_s: Option<f64> ["s"],
        /// Total size of the requests.
        request_bytes: u64 ["B"],
    }
}

recorded! {
    /// Responses and pages, ordered by flow and then by arrival.
    pub struct Responses, hashed by time_s, duration_s {
        /// Time of the request since the start of the run.
        time_s: Vec<f64> ["s"],
        /// Flow that the response or page belongs to.
        flow: Vec<u32> ["", named(NameTable::Flows)],
        /// Time from the request to the arrival of the last byte.
        duration_s: Vec<f64> ["s"],
        /// Time from the request to the arrival of the first byte.
        first_byte_s: Vec<f64> ["s", unhashed],
        /// ByteIndex: the integral over time, from the request, of the fraction of the bytes that has not arrived.
        byte_index_s: Vec<f64> ["s", unhashed],
        /// Size of the response, or of all objects of the page.
        bytes: Vec<u64> ["B"],
    }
}

/// Returns the mean of a value over the pages that have arrived; `None` if there are none.
fn mean(dialogue: &Session, value: impl Fn(&LoadedPage) -> f64) -> Option<f64> {
    let pages = dialogue.pages();
    (!pages.is_empty()).then(|| pages.iter().map(value).sum::<f64>() / pages.len() as f64)
}

/// Returns the summary of the responses or pages that a client received.
pub(super) fn page_summary(dialogue: &Session) -> PageSummary {
    let mut times: Vec<Duration> = dialogue.pages().iter().map(|page| page.took).collect();
    times.sort_unstable();
    let count = times.len();
    let sum: u128 = times.iter().map(|time| u128::from(time.as_nanos())).sum();
    // The smallest that 95 of 100 do not exceed.
    let rank = (95 * count).div_ceil(100);
    PageSummary {
        count: count as u64,
        mean_s: (count > 0).then(|| sum as f64 / count as f64 / 1e9),
        mean_first_byte_s: mean(dialogue, |page| page.first_byte.as_secs_f64()),
        mean_byte_index_s: mean(dialogue, |page| page.byte_index),
        p95_s: rank.checked_sub(1).map(|at| times[at].as_secs_f64()),
        request_bytes: dialogue.request_bytes(),
    }
}

impl Responses {
    pub(super) fn add(&mut self, dialogue: &Session) {
        for page in dialogue.pages() {
            self.time_s.push(page.began.as_secs_f64());
            self.flow.push(dialogue.flow().0);
            self.duration_s.push(page.took.as_secs_f64());
            self.first_byte_s.push(page.first_byte.as_secs_f64());
            self.byte_index_s.push(page.byte_index);
            self.bytes.push(page.bytes);
        }
    }
}

/// Returns the results of a UDP flow.
///
/// # Errors
/// The `identity`, if the flow is not a UDP flow.
pub(super) fn datagrams_of(
    world: &World<impl Tap>,
    flow: FlowIndex,
    identity: FlowIdentity,
    end: Instant,
) -> Result<FlowSummary, Box<FlowIdentity>> {
    let Some(of_udp) = world.hosts.numbers.datagrams(flow) else { return Err(Box::new(identity)) };
    let (sender, receiver) =
        (&world.hosts.datagrams.senders[of_udp.index()], &world.hosts.datagrams.receivers[of_udp.index()]);
    let elapsed = end.since(identity.start.min(end)).as_secs_f64();
    let delays = receiver.delays();
    Ok(FlowSummary {
        name: identity.name,
        from: identity.from,
        to: identity.to,
        congestion: identity.congestion,
        bottleneck: None,
        start_s: identity.start.as_secs_f64(),
        finish_s: None,
        failure: None,
        delivered_bytes: receiver.bytes(),
        goodput_bps: if elapsed > 0.0 { receiver.bytes() as f64 * 8.0 / elapsed } else { 0.0 },
        sent_segments: sender.sent(),
        retransmitted_segments: 0,
        timeouts: 0,
        recoveries: 0,
        acks_received: 0,
        min_rtt_s: None,
        mean_rtt_s: None,
        mean_cwnd_segments: 0.0,
        // Nothing but its application holds a sender of datagrams back.
        limited_s: LimitedSeconds { application: elapsed, ..LimitedSeconds::default() },
        quic_limited_s: None,
        datagrams: Some(Box::new(DatagramSummary {
            received: delays.count(),
            lost: world.recorder.lost_datagrams[of_udp.index()],
            mean_delay_s: delays.mean(),
            p95_delay_s: delays.quantile(0.95),
        })),
        responses: None,
        pages: None,
        messages: None,
        store: None,
        signals: None,
        holes: None,
    })
}
