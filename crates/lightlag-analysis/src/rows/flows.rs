//! The table of flows and of their legs.

use super::{FLOWS, TextTable};
use crate::limits::Limits;
use crate::numbers::{NONE, count, milliseconds, number, percent, rate_like, share, window};
use crate::summary::{Flow, legs_of};

/// Minimum fraction of a sender's time for a limiting cause to be listed.
const LITTLE: f64 = 0.005;

/// Returns the indices of the flows in the table: all if there are at most 20, otherwise the first 20 that delivered
/// data, or the first 20 if none did.
pub fn shown_flows(delivered_bytes: &[u64]) -> Vec<usize> {
    if delivered_bytes.len() <= FLOWS {
        return (0..delivered_bytes.len()).collect();
    }
    let served = delivered_bytes.iter().enumerate().filter(|(_, bytes)| **bytes > 0);
    let shown: Vec<usize> = served.map(|(at, _)| at).take(FLOWS).collect();
    if shown.is_empty() { (0..FLOWS).collect() } else { shown }
}

/// Returns a line about the flows that [`shown_flows`] omits; empty if it omits none.
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

/// Returns the table of the flows that [`shown_flows`] selects, with one row for each leg of a split flow.
pub fn flow_table(flows: &[Flow], legs: &[Flow]) -> TextTable {
    let delivered: Vec<u64> = flows.iter().map(|flow| flow.delivered_bytes).collect();
    let legs_of = legs_of(legs);
    let mut shown: Vec<(&Flow, bool)> = Vec::new();
    for index in shown_flows(&delivered) {
        let own = legs_of.get(flows[index].name.as_str());
        shown.push((&flows[index], own.is_some()));
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
    TextTable::of("Flows", shown.iter().map(row).collect())
}

type CellText = (&'static str, String);

fn blank(cell: &mut CellText) {
    NONE.clone_into(&mut cell.1);
}

/// Returns the cells of a flow or leg. UDP flows have no retransmissions and no acknowledgements. All rates of the
/// column have the decimal prefix of the maximum.
fn flow_cells(flow: &Flow, largest_bps: f64) -> Vec<CellText> {
    let of_connection = |text: String| if flow.is_datagrams() { NONE.to_owned() } else { text };
    let retransmitted = share(flow.retransmitted_segments as f64, flow.sent_segments as f64);
    vec![
        ("flow", if flow.leg.is_some() { format!("  {}", flow.ends()) } else { flow.name.clone() }),
        ("congestion", flow.congestion.clone()),
        ("goodput", rate_like(flow.goodput_bps, largest_bps)),
        ("finished", flow.finish_s.map_or(NONE.to_owned(), |time| format!("{} s", number(time, 4)))),
        ("retransmitted", of_connection(retransmitted)),
        ("timeouts", of_connection(flow.timeouts.to_string())),
        ("mean RTT", milliseconds(flow.mean_rtt_s)),
        ("mean cwnd", of_connection(window(flow.mean_cwnd_segments))),
        ("limited by", of_connection(limited_by(&flow.limits()))),
    ]
}

/// Returns the cells about losses and delays of a flow's datagrams or a sink's messages, empty if it has none.
fn datagram_cells(flow: &Flow) -> [CellText; 3] {
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

/// Returns the cells about the completion times of a flow's responses or pages, empty if it has none.
fn page_cells(flow: &Flow) -> [CellText; 3] {
    let (count, mean, p95) = match flow.responses.or(flow.pages) {
        Some(pages) => (pages.count.to_string(), milliseconds(pages.mean_s), milliseconds(pages.p95_s)),
        None => (NONE.to_owned(), NONE.to_owned(), NONE.to_owned()),
    };
    [("responses", count), ("mean time", mean), ("95 % time", p95)]
}

/// Returns the number of notifications sent to the endpoints of a flow, through the network or by their own node, and
/// the number that were acted on.
fn signal_cell(flow: &Flow) -> CellText {
    let text = flow.signals.map_or(NONE.to_owned(), |signals| {
        format!("{} of {} acted on", signals.received + signals.local, signals.sent + signals.local)
    });
    ("signals", text)
}

/// Returns the two causes that limited a sender longest, with their fractions of its time.
fn limited_by(limited: &Limits) -> String {
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
        let limited = |text| limited_by(&Limits::new(&serde_json::from_str(text).unwrap(), None));
        assert_eq!(limited(r#"{"cwnd": 6.0, "rwnd": 3.0, "timeout": 1.0}"#), "cwnd 60%, rwnd 30%");
        assert_eq!(limited(r#"{"cwnd": 0.0}"#), "–");
        assert_eq!(limited(r#"{"rwnd": 2.0, "cwnd": 2.0}"#), "cwnd 50%, rwnd 50%");
        assert_eq!(limited(r#"{"cwnd": 1000.0, "rwnd": 1.0}"#), "cwnd 100%");
    }

    #[test]
    fn shows_the_flows_that_delivered_and_counts_the_rest() {
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
