//! Flows, each with its legs, as a table.

use super::{FLOWS, Table};
use crate::numbers::{NONE, count, milliseconds, number, percent, rate_like, share, window};
use crate::summary::{Flow, Limited, legs_of};

/// A share of a sender's time below which a cause is left out.
const LITTLE: f64 = 0.005;

/// The flows that people see, by their places: all if there are at most 20, otherwise the first 20 that delivered data, or
/// the first 20 where none did.
pub fn shown_flows(delivered_bytes: &[u64]) -> Vec<usize> {
    if delivered_bytes.len() <= FLOWS {
        return (0..delivered_bytes.len()).collect();
    }
    let served = delivered_bytes.iter().enumerate().filter(|(_, bytes)| **bytes > 0);
    let shown: Vec<usize> = served.map(|(at, _)| at).take(FLOWS).collect();
    if shown.is_empty() { (0..FLOWS).collect() } else { shown }
}

/// A line about the flows that [`shown_flows`] leaves out, empty if it shows all.
pub fn hidden_flows(delivered_bytes: &[u64]) -> String {
    let shown = shown_flows(delivered_bytes);
    let more = delivered_bytes.len() - shown.len();
    if more == 0 {
        return String::new();
    }
    let text = format!("and {} more flow{}", count(more as u64), if more == 1 { "" } else { "s" });
    let is_silent = |bytes: &&u64| **bytes == 0;
    let silent = delivered_bytes.iter().filter(is_silent).count()
        - shown.iter().map(|at| &delivered_bytes[*at]).filter(is_silent).count();
    match silent {
        0 => text,
        _ if silent == more => format!("{text}, without delivered data"),
        _ => format!("{text}, {} of them without delivered data", count(silent as u64)),
    }
}

/// The flows that [`shown_flows`] chooses, each with a row for every leg if it has any.
pub fn flow_table(flows: &[Flow], legs: &[Flow]) -> Table {
    let delivered: Vec<u64> = flows.iter().map(|flow| flow.delivered_bytes).collect();
    let legs_of = legs_of(legs);
    let mut shown: Vec<(&Flow, bool)> = Vec::new();
    for at in shown_flows(&delivered) {
        let own = legs_of.get(flows[at].name.as_str());
        shown.push((&flows[at], own.is_some()));
        shown.extend(own.into_iter().flatten().map(|leg| (*leg, false)));
    }
    let largest = shown.iter().fold(0.0_f64, |most, (flow, _)| most.max(flow.goodput_bps));
    let has = |test: fn(&Flow) -> bool| shown.iter().any(|(flow, _)| test(flow));
    let has_datagrams = has(Flow::is_datagrams);
    let has_pages = has(|flow| flow.responses.is_some() || flow.pages.is_some());
    let has_signals = has(|flow| flow.signals.is_some());
    let row = |(flow, is_split): &(&Flow, bool)| {
        let mut row = flow_cells(flow, largest);
        if *is_split {
            // The rows of its legs describe its senders.
            row.iter_mut().filter(|cell| !["flow", "goodput", "finished"].contains(&cell.0)).for_each(blank);
        }
        row.extend(has_datagrams.then(|| datagram_cells(flow)).into_iter().flatten());
        row.extend(has_pages.then(|| page_cells(flow)).into_iter().flatten());
        row.extend(has_signals.then(|| signal_cell(flow)));
        row
    };
    Table::of("Flows", shown.iter().map(row).collect())
}

type Cell = (&'static str, String);

fn blank(cell: &mut Cell) {
    NONE.clone_into(&mut cell.1);
}

/// A flow or a leg. Flows of datagrams have no retransmissions and no acknowledgements. All rates of the column take the
/// unit of the largest.
fn flow_cells(flow: &Flow, largest_bps: f64) -> Vec<Cell> {
    let of_connection = |text: String| if flow.is_datagrams() { NONE.to_owned() } else { text };
    let resent = share(flow.retransmitted_segments as f64, flow.sent_segments as f64);
    vec![
        ("flow", if flow.leg.is_some() { format!("  {}", flow.ends()) } else { flow.name.clone() }),
        ("congestion", flow.congestion.clone()),
        ("goodput", rate_like(flow.goodput_bps, largest_bps)),
        ("finished", flow.finish_s.map_or(NONE.to_owned(), |time| format!("{} s", number(time, 4)))),
        ("resent", of_connection(resent)),
        ("timeouts", of_connection(flow.timeouts.to_string())),
        ("mean RTT", milliseconds(flow.mean_rtt_s)),
        ("mean cwnd", of_connection(window(flow.mean_cwnd_segments))),
        ("limited by", of_connection(limited_by(&flow.limited_s))),
    ]
}

/// Losses and delays of a flow's datagrams, or of a sink's messages, if it has some.
fn datagram_cells(flow: &Flow) -> [Cell; 3] {
    let (lost, mean, p95) = if let Some(messages) = flow.messages {
        let lost = share((messages.lost + messages.dropped) as f64, messages.sent as f64);
        (lost, milliseconds(messages.mean_delay_s), milliseconds(messages.p95_delay_s))
    } else if let Some(datagrams) = flow.datagrams {
        let lost = share(datagrams.lost as f64, flow.sent_segments as f64);
        (lost, milliseconds(datagrams.mean_delay_s), milliseconds(datagrams.p95_delay_s))
    } else {
        (NONE.to_owned(), NONE.to_owned(), NONE.to_owned())
    };
    [("lost", lost), ("mean delay", mean), ("95 % delay", p95)]
}

/// The responses or the pages of a flow, if it has some.
fn page_cells(flow: &Flow) -> [Cell; 3] {
    let (count, mean, p95) = match flow.responses.or(flow.pages) {
        Some(pages) => (pages.count.to_string(), milliseconds(pages.mean_s), milliseconds(pages.p95_s)),
        None => (NONE.to_owned(), NONE.to_owned(), NONE.to_owned()),
    };
    [("responses", count), ("mean time", mean), ("95 % time", p95)]
}

/// Signals to the ends of a flow, through the network or at their own node, and how many were heeded.
fn signal_cell(flow: &Flow) -> Cell {
    let text = flow.signals.map_or(NONE.to_owned(), |signals| {
        format!("{} of {} heeded", signals.received + signals.local, signals.sent + signals.local)
    });
    ("signals", text)
}

/// The two causes that held a sender back for longest, with their share of its time.
fn limited_by(limited: &Limited) -> String {
    let total = limited.total();
    if total <= 0.0 {
        return NONE.to_owned();
    }
    let first = limited.longest_first().into_iter().take(2).filter(|(_, seconds)| seconds / total >= LITTLE);
    first.map(|(name, seconds)| format!("{name} {}", percent(seconds / total, 0))).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_longest_limits_of_a_sender_are_shown() {
        let limited = |text| limited_by(&serde_json::from_str(text).unwrap());
        assert_eq!(limited(r#"{"cwnd": 6.0, "rwnd": 3.0, "timeout": 1.0}"#), "cwnd 60%, rwnd 30%");
        assert_eq!(limited(r#"{"cwnd": 0.0}"#), "–");
        assert_eq!(limited(r#"{"rwnd": 2.0, "cwnd": 2.0}"#), "cwnd 50%, rwnd 50%");
        assert_eq!(limited(r#"{"cwnd": 1000.0, "rwnd": 1.0}"#), "cwnd 100%");
    }

    #[test]
    fn of_many_flows_those_that_delivered_are_shown_and_the_rest_is_told() {
        let mut many = vec![0; 25];
        assert_eq!(shown_flows(&many), (0..20).collect::<Vec<_>>());
        assert_eq!(hidden_flows(&many), "and 5 more flows, without delivered data");
        (many[20], many[24]) = (1, 1);
        assert_eq!(shown_flows(&many), [20, 24]);
        assert_eq!(hidden_flows(&many), "and 23 more flows, without delivered data");
        assert_eq!(hidden_flows(&[9; 21]), "and 1 more flow");
        assert_eq!(hidden_flows(&[0; 20]), "");
    }
}
