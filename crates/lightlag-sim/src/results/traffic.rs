//! What flows achieved that are more than a transfer: datagrams, responses, pages.

use super::{FlowIdentity, FlowSummary, LimitedSeconds};
use crate::hosts::dialogue::Dialogue;
use crate::tap::Tap;
use crate::world::World;
use lightlag_core::{Duration, Instant};
use serde::Serialize;

/// What became of the datagrams of a flow. A copy that a link made counts like one that was sent.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct DatagramSummary {
    /// Those that arrived.
    pub received: u64,
    /// Those that were dropped on the way.
    pub lost: u64,
    /// From leaving to arriving, on average, in seconds; null if none arrived.
    pub mean_delay_s: Option<f64>,
    /// What 95 % of these times do not exceed, to 0.2 %, in seconds; null if none arrived.
    pub p95_delay_s: Option<f64>,
}

/// What a client asked for and got.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PageSummary {
    /// Responses or pages that arrived as a whole.
    pub count: u64,
    /// From the request to the last byte, on average, in seconds; null if none arrived.
    pub mean_s: Option<f64>,
    /// What 95 % of these times do not exceed (nearest rank), in seconds; null if none arrived.
    pub p95_s: Option<f64>,
    /// Bytes of the requests.
    pub request_bytes: u64,
}

/// Responses and pages, in the order of the flows and of their arrival.
#[derive(Clone, Debug, Default)]
pub struct Responses {
    /// When each was asked for, in seconds since the start of the run.
    pub time_s: Vec<f64>,
    /// Index of the flow.
    pub flow: Vec<u32>,
    /// Until its last byte was there, in seconds.
    pub duration_s: Vec<f64>,
    /// Bytes of its objects.
    pub bytes: Vec<u64>,
}

/// What a client got.
pub(super) fn page_summary(dialogue: &Dialogue) -> PageSummary {
    let mut times: Vec<Duration> = dialogue.pages().iter().map(|page| page.took).collect();
    times.sort_unstable();
    let count = times.len();
    let sum: u128 = times.iter().map(|time| u128::from(time.as_nanos())).sum();
    // The smallest that 95 of 100 do not exceed.
    let rank = (95 * count).div_ceil(100);
    PageSummary {
        count: count as u64,
        mean_s: (count > 0).then(|| sum as f64 / count as f64 / 1e9),
        p95_s: rank.checked_sub(1).map(|at| times[at].as_secs_f64()),
        request_bytes: dialogue.request_bytes(),
    }
}

impl Responses {
    pub(super) fn add(&mut self, dialogue: &Dialogue) {
        for page in dialogue.pages() {
            self.time_s.push(page.began.as_secs_f64());
            self.flow.push(dialogue.flow() as u32);
            self.duration_s.push(page.took.as_secs_f64());
            self.bytes.push(page.bytes);
        }
    }
}

/// What a flow of UDP achieved, if it is one.
pub(super) fn datagrams_of(
    world: &World<impl Tap>,
    flow: usize,
    identity: FlowIdentity,
    end: Instant,
) -> Result<FlowSummary, Box<FlowIdentity>> {
    let Some(place) = world.hosts.numbers.datagrams(flow) else { return Err(Box::new(identity)) };
    let (sender, receiver) = (&world.hosts.datagrams.senders[place], &world.hosts.datagrams.receivers[place]);
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
        min_rtt_s: None,
        mean_rtt_s: None,
        mean_cwnd_segments: 0.0,
        // Nothing but its application holds a sender of datagrams back.
        limited_s: LimitedSeconds { application: elapsed, ..LimitedSeconds::default() },
        datagrams: Some(DatagramSummary {
            received: delays.count(),
            lost: world.recorder.lost_datagrams[place],
            mean_delay_s: delays.mean(),
            p95_delay_s: delays.quantile(0.95),
        }),
        responses: None,
        pages: None,
        messages: None,
        signals: None,
        holes: None,
    })
}
