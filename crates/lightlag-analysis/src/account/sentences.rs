//! Sentences about a flow.

use super::{AccountFacts, SenderRecords, Trace};
use crate::limits::Limits;
use crate::numbers::{UNLIMITED_SEGMENTS, count, grouped, milliseconds, number, percent, rate, size};
use crate::summary::{Flow, retransmitted_share};
use crate::words::listed;

/// Minimum fraction of a sender's time for a limit to be reported.
const LITTLE: f64 = 0.05;
/// Minimum window relative to the BDP; a smaller one is reported as too small.
const ENOUGH: f64 = 0.9;
/// Maximum number of causes of drops in a sentence.
const DROPS: usize = 3;

/// Returns the clause that describes how a cause limited a sender.
pub(super) fn held(limit: &str) -> &'static str {
    match limit {
        "cwnd" => "the congestion window limited it",
        "rwnd" => "the receive window limited it",
        "application" => "its application had nothing to send, or the connection opened and closed",
        "pacing" => "pacing limited it",
        "recovery" => "it repaired losses",
        "handshake" => "the handshake was not complete",
        "amplification" => "the anti-amplification limit of the handshake limited it",
        "stream limit" => "the limit of open streams delayed requests",
        "connection credit" => "the credit of the connection (MAX_DATA) limited it",
        "stream credit" => "the credit of its streams (MAX_STREAM_DATA) limited it",
        "send buffer" => "the send buffer limited it",
        "idle" => "it was idle",
        _ => "it waited for timeouts, or repaired after them",
    }
}

/// Returns the explanation of a cause of drops, for a sentence.
fn why(cause: &str) -> &str {
    match cause {
        "queue" => "the queue was full",
        "aqm" => "by the queue discipline",
        "error" => "errors on the link",
        "outage" => "an outage of the link",
        "retry" => "no acknowledgement on the radio link",
        "lifetime" => "waited too long in the radio queue",
        "no_route" => "no route",
        "route" => "no path over the constellation",
        "scheduled" => "losses that the scenario lists",
        other => other,
    }
}

pub(super) fn of_flow(flow: &Flow, recorded: &SenderRecords, facts: &AccountFacts) -> Vec<String> {
    let sender = facts.sender(flow);
    let ended = ended(flow);
    let mut sentences = vec![if facts.flows.len() == 1 {
        format!("{}{}.", ended[..1].to_uppercase(), &ended[1..])
    } else {
        format!("It reached {}; {ended}.", of_its_path(flow, facts))
    }];
    if facts.is_split(flow) {
        sentences.push(format!("The following refers to its longest leg, {}.", sender.ends()));
    }
    sentences.extend(limits(&sender.limits()));
    sentences.extend(window(flow, sender, recorded.trace.as_ref(), facts));
    sentences.extend(losses(sender, recorded));
    sentences.extend(queues(flow, sender, facts));
    sentences.extend(sharing(flow, facts));
    sentences
}

/// Returns the goodput in words, relative to the rate of the slowest link on the path.
pub(super) fn of_its_path(flow: &Flow, facts: &AccountFacts) -> String {
    let goodput = rate(flow.goodput_bps);
    match (facts.capacity_bps(flow), &flow.bottleneck) {
        (Some(capacity), Some(link)) => {
            let share = short_percent(flow.goodput_bps / capacity);
            format!("{goodput}, {share} of the {} of its slowest link, {link}", rate(capacity))
        }
        _ => goodput,
    }
}

/// Returns a fraction in percent: more digits for small ones.
fn short_percent(share: f64) -> String {
    if share >= 0.095 { percent(share, 0) } else { crate::numbers::share(share, 1.0) }
}

fn ended(flow: &Flow) -> String {
    let delivered = size(flow.delivered_bytes as f64);
    match (flow.failure(), flow.finish_s) {
        (Some(failure), _) => format!("it was aborted: {failure}"),
        (None, None) => format!("it had delivered {delivered} when the run ended"),
        (None, Some(finish_s)) => format!("its {delivered} took {} s", number(finish_s - flow.start(), 4)),
    }
}

/// Returns the sentence about the causes that limited the sender, with their fractions of its time.
fn limits(limited: &Limits) -> Option<String> {
    let total = limited.total();
    if total <= 0.0 {
        return None;
    }
    let long = limited.longest_first().into_iter().filter(|(_, seconds)| seconds / total >= LITTLE);
    let part = |(name, seconds): (&str, f64)| format!("for {} {}", percent(seconds / total, 0), held(name));
    let parts: Vec<String> = long.map(part).collect();
    Some(format!("Its time, {} s: {}.", number(total, 4), parts.join("; ")))
}

/// Returns the approximate payload of a full segment in bytes.
fn payload(sender: &Flow, trace: Option<&Trace>) -> Option<f64> {
    let first = sender.sent_segments as f64 - sender.retransmitted_segments as f64;
    let sent = trace.map_or(sender.delivered_bytes as f64, |trace| trace.sent_bytes);
    (first > 0.0 && sent > 0.0).then(|| sent / first)
}

/// Returns the sentences about the mean window relative to the BDP, and the time to reach it.
fn window(flow: &Flow, sender: &Flow, trace: Option<&Trace>, facts: &AccountFacts) -> Vec<String> {
    let mean = sender.mean_cwnd_segments;
    let limited = &sender.limited_s;
    let total = limited.total();
    let waits = limited.application > 0.5 * total;
    let (Some(capacity), Some(rtt), Some(payload)) =
        (facts.capacity_bps(flow), sender.min_rtt(), payload(sender, trace))
    else {
        return Vec::new();
    };
    if mean == 0.0 || waits || mean > UNLIMITED_SEGMENTS {
        return Vec::new();
    }
    let bdp = capacity * rtt / 8.0;
    let share = mean * payload / bdp;
    let is_full = facts.is_full(flow);
    let too_little = if share < ENOUGH && !is_full { ", too little to fill the path" } else { "" };
    let mut sentences = vec![format!(
        "The BDP is {} ({} × {}), about {} segments; its mean window, {} segments, is {} of that{too_little}.",
        size(bdp),
        rate(capacity),
        milliseconds(Some(rtt)),
        grouped(bdp / payload, 0),
        grouped(mean, 0),
        short_percent(share),
    )];
    if LITTLE * total > 0.0 && limited.rwnd >= LITTLE * total {
        let limit = if sender.quic_limited_s.is_some() { "Credit" } else { "A receive buffer" };
        sentences.push(format!("{limit} of at least the BDP plus the queued data would not limit it."));
    }
    let by_receiver = limited.rwnd > 0.5 * total;
    if let Some(trace) = trace.filter(|_| !is_full && !by_receiver) {
        let start_s = sender.start_s.unwrap_or_else(|| flow.start());
        sentences.extend(growth(trace, bdp / payload, start_s, rtt, capacity));
    }
    sentences
}

/// Returns the sentence about the time until the window reached the BDP, and the payload that this delay cost.
fn growth(trace: &Trace, bdp_segments: f64, start_s: f64, rtt_s: f64, capacity_bps: f64) -> Option<String> {
    let Some((time_s, arrived_bytes, _)) = trace.highest.iter().find(|(.., segments)| *segments >= bdp_segments) else {
        let (.., most) = trace.highest.last()?;
        return Some(format!("The window never reached the BDP; its maximum was {} segments.", grouped(*most, 0)));
    };
    let took_s = time_s - start_s;
    (took_s > 2.0 * rtt_s).then(|| {
        format!(
            "The window took {} s, {} minimum round trips, to reach the BDP; until then {} had arrived of the {} that \
             the link could have carried.",
            number(took_s, 3),
            number(took_s / rtt_s, 3),
            size(*arrived_bytes),
            size(capacity_bps * took_s / 8.0),
        )
    })
}

fn losses(sender: &Flow, recorded: &SenderRecords) -> Vec<String> {
    let again = sender.retransmitted_segments;
    let mut sentences = Vec::new();
    match recorded.drops.as_deref() {
        Some([]) if again == 0 => {
            return vec!["No packet was dropped on the path to the receiver, and none was retransmitted.".to_owned()];
        }
        Some([]) | None => {}
        Some(drops) => {
            let part = |(link, cause, packets): &(String, String, u64)| {
                format!("{} at {link} ({})", count(*packets), why(cause))
            };
            let parts: Vec<String> = drops.iter().take(DROPS).map(part).collect();
            sentences.push(format!("Packets to the receiver were dropped: {}.", listed(&parts)));
        }
    }
    let mut repairs = Vec::new();
    if sender.recoveries > 0 {
        let end = if sender.recoveries == 1 { "y" } else { "ies" };
        repairs.push(format!("{} fast recover{end}", count(sender.recoveries)));
    }
    if sender.timeouts > 0 {
        repairs.push(format!("{} timeout{}", count(sender.timeouts), if sender.timeouts == 1 { "" } else { "s" }));
    }
    if let Some(share) = retransmitted_share([sender]) {
        let within = if repairs.is_empty() { String::new() } else { format!(", in {}", listed(&repairs)) };
        let sent = count(sender.sent_segments);
        sentences.push(format!(
            "It retransmitted {} of {sent} segments ({}){within}.",
            count(again),
            percent(share, 2)
        ));
    }
    sentences
}

fn queues(flow: &Flow, sender: &Flow, facts: &AccountFacts) -> Option<String> {
    let (min_rtt, mean) = (sender.min_rtt()?, sender.mean_rtt_s.filter(|mean| *mean != 0.0)?);
    let link = facts.link(flow)?;
    let more = mean - min_rtt;
    more.is_finite().then(|| {
        format!(
            "Its mean round trip, {}, is {} above the minimum, {}; the queue of {} held {} packets on average, with a \
             maximum of {}.",
            milliseconds(Some(mean)),
            milliseconds(Some(more)),
            milliseconds(Some(min_rtt)),
            link.name,
            number(link.mean_queue_packets, 3),
            count(link.max_queue_packets),
        )
    })
}

/// Returns the sentence about the number of flows that shared the link for at least half of this flow's time.
fn sharing(flow: &Flow, facts: &AccountFacts) -> Option<String> {
    let capacity = facts.capacity_bps(flow)?;
    let end_s = facts.run.simulated_s;
    let until = |flow: &Flow| flow.finish_s.unwrap_or(end_s);
    let (first, last) = (flow.start(), until(flow));
    let is_beside = |other: &&Flow| {
        let limited = &other.limited_s;
        let together = until(other).min(last) - other.start().max(first);
        limited.application <= 0.5 * limited.total() && together >= 0.5 * (last - first)
    };
    let same = facts.run.flows.iter().filter(|other| other.bottleneck == flow.bottleneck).filter(is_beside).count();
    (same >= 2).then(|| {
        format!(
            "{} flows share {} most of that time: an equal share of its rate is {}.",
            count(same as u64),
            flow.bottleneck.as_deref().unwrap_or_default(),
            rate(capacity / same as f64),
        )
    })
}
