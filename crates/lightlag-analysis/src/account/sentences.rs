//! The sentences about a flow.

use super::{Facts, Recorded, Trace};
use crate::numbers::{UNLIMITED_SEGMENTS, count, grouped, milliseconds, number, percent, rate, size};
use crate::summary::{Flow, Limited, retransmitted_share};
use crate::words::listed;

/// Share of a sender's time below which a limit is left out.
const LITTLE: f64 = 0.05;
/// Share of the BDP below which a window is called too small.
const ENOUGH: f64 = 0.9;
/// Kinds of drops that are told.
const DROPS: usize = 3;

/// What a limit did to a sender.
pub(super) fn held(limit: &str) -> &'static str {
    match limit {
        "cwnd" => "the congestion window held it back",
        "rwnd" => "the receiver's window held it back",
        "application" => "its application had nothing to send, or the connection opened and closed",
        "pacing" => "pacing held it back",
        "recovery" => "it repaired losses",
        _ => "it waited for timeouts, or repaired after them",
    }
}

/// Why a packet was dropped.
fn why(cause: &str) -> &str {
    match cause {
        "queue" => "the queue was full",
        "aqm" => "by the queue discipline",
        "error" => "errors on the link",
        "outage" => "an outage of the link",
        "retry" => "no answer on the air",
        "lifetime" => "waited too long on the air",
        "no_route" => "no route",
        "route" => "no way through the sky",
        "scheduled" => "losses that the scenario lists",
        other => other,
    }
}

pub(super) fn of_flow(flow: &Flow, recorded: &Recorded, facts: &Facts) -> Vec<String> {
    let sender = facts.sender(flow);
    let ended = ended(flow);
    let mut told = vec![if facts.flows.len() == 1 {
        format!("{}{}.", ended[..1].to_uppercase(), &ended[1..])
    } else {
        format!("It reached {}; {ended}.", of_its_path(flow, facts))
    }];
    if facts.is_split(flow) {
        told.push(format!("What follows is about its longest leg, {}.", sender.ends()));
    }
    told.extend(limits(&sender.limited_s));
    told.extend(window(flow, sender, recorded.trace.as_ref(), facts));
    told.extend(losses(sender, recorded));
    told.extend(queues(flow, sender, facts));
    told.extend(sharing(flow, facts));
    told
}

/// Its goodput, beside the rate of the slowest link on its way.
pub(super) fn of_its_path(flow: &Flow, facts: &Facts) -> String {
    let goodput = rate(flow.goodput_bps);
    match (facts.capacity_bps(flow), &flow.bottleneck) {
        (Some(capacity), Some(link)) => {
            let share = short_percent(flow.goodput_bps / capacity);
            format!("{goodput}, {share} of the {} of its slowest link, {link}", rate(capacity))
        }
        _ => goodput,
    }
}

/// A share in percent, with two digits for small ones.
fn short_percent(share: f64) -> String {
    if share >= 0.095 { percent(share, 0) } else { crate::numbers::share(share, 1.0) }
}

fn ended(flow: &Flow) -> String {
    let delivered = size(flow.delivered_bytes as f64);
    match (flow.failure(), flow.finish_s) {
        (Some(failure), _) => format!("it was given up: {failure}"),
        (None, None) => format!("it had delivered {delivered} when the run ended"),
        (None, Some(finish_s)) => format!("its {delivered} took {} s", number(finish_s - flow.start(), 4)),
    }
}

/// Where its time went.
fn limits(limited: &Limited) -> Option<String> {
    let total = limited.total();
    if total <= 0.0 {
        return None;
    }
    let long = limited.longest_first().into_iter().filter(|(_, seconds)| seconds / total >= LITTLE);
    let part = |(name, seconds): (&str, f64)| format!("for {} {}", percent(seconds / total, 0), held(name));
    let parts: Vec<String> = long.map(part).collect();
    Some(format!("Its time, {} s: {}.", number(total, 4), parts.join("; ")))
}

/// Bytes of a full segment, about.
fn payload(sender: &Flow, trace: Option<&Trace>) -> Option<f64> {
    let first = sender.sent_segments as f64 - sender.retransmitted_segments as f64;
    let sent = trace.map_or(sender.delivered_bytes as f64, |trace| trace.sent_bytes);
    (first > 0.0 && sent > 0.0).then(|| sent / first)
}

/// The mean window beside the BDP, and how long it took to get there.
fn window(flow: &Flow, sender: &Flow, trace: Option<&Trace>, facts: &Facts) -> Vec<String> {
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
    let mut told = vec![format!(
        "The BDP is {} ({} × {}), about {} segments; its mean window, {} segments, is {} of that{too_little}.",
        size(bdp),
        rate(capacity),
        milliseconds(Some(rtt)),
        grouped(bdp / payload, 0),
        grouped(mean, 0),
        short_percent(share),
    )];
    if LITTLE * total > 0.0 && limited.rwnd >= LITTLE * total {
        told.push(
            "A receive buffer that holds at least the BDP, and what queues hold, would not hold it back.".to_owned(),
        );
    }
    let by_receiver = limited.rwnd > 0.5 * total;
    if let Some(trace) = trace.filter(|_| !is_full && !by_receiver) {
        let start_s = sender.start_s.unwrap_or_else(|| flow.start());
        told.extend(growth(trace, bdp / payload, start_s, rtt, capacity));
    }
    told
}

/// How long the window took to reach the BDP, and what that cost.
fn growth(trace: &Trace, bdp_segments: f64, start_s: f64, rtt_s: f64, capacity_bps: f64) -> Option<String> {
    let Some((time_s, arrived_bytes, _)) = trace.highest.iter().find(|(.., segments)| *segments >= bdp_segments) else {
        let (.., most) = trace.highest.last()?;
        return Some(format!("The window never reached the BDP; it was {} segments at most.", grouped(*most, 0)));
    };
    let took_s = time_s - start_s;
    (took_s > 2.0 * rtt_s).then(|| {
        format!(
            "The window took {} s, {} of the least round trips, to reach the BDP; until then {} had arrived of the {} that \
             the link could have carried.",
            number(took_s, 3),
            number(took_s / rtt_s, 3),
            size(*arrived_bytes),
            size(capacity_bps * took_s / 8.0),
        )
    })
}

fn losses(sender: &Flow, recorded: &Recorded) -> Vec<String> {
    let again = sender.retransmitted_segments;
    let mut told = Vec::new();
    match recorded.drops.as_deref() {
        Some([]) if again == 0 => {
            return vec!["No packet was dropped on its way to the receiver, and none was sent again.".to_owned()];
        }
        Some([]) | None => {}
        Some(drops) => {
            let part = |(link, cause, packets): &(String, String, u64)| {
                format!("{} at {link} ({})", count(*packets), why(cause))
            };
            let parts: Vec<String> = drops.iter().take(DROPS).map(part).collect();
            told.push(format!("Packets on their way to the receiver were dropped: {}.", listed(&parts)));
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
        told.push(format!("It sent {} of {sent} segments again ({}){within}.", count(again), percent(share, 2)));
    }
    told
}

fn queues(flow: &Flow, sender: &Flow, facts: &Facts) -> Option<String> {
    let (least, mean) = (sender.min_rtt()?, sender.mean_rtt_s.filter(|mean| *mean != 0.0)?);
    let link = facts.link(flow)?;
    let more = mean - least;
    more.is_finite().then(|| {
        format!(
            "Its mean round trip, {}, is {} above the least, {}; the queue of {} held {} packets on average, {} at most.",
            milliseconds(Some(mean)),
            milliseconds(Some(more)),
            milliseconds(Some(least)),
            link.name,
            number(link.mean_queue_packets, 3),
            count(link.max_queue_packets),
        )
    })
}

/// How many flows want the same link for at least half of the flow's time.
fn sharing(flow: &Flow, facts: &Facts) -> Option<String> {
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
