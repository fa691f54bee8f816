//! The chart of the senders' recovery states over time, one row per flow.

use super::Rows;
use crate::charts::{Axis, Drawn, StateRow, States};
use crate::numbers::number;
use crate::words::listed;

/// Maximum total number of state intervals of all flows.
const PARTS: usize = 1500;
/// Minimum number of state intervals per flow, even if the total is exceeded.
const FEWEST: usize = 50;
/// The state of a sender that is not recovering from a loss.
const OPEN: &str = "open";

type Part = (f64, f64, String);

/// Returns the panel of the flows' states, and a sentence that describes it.
pub(super) fn drawn(flows: &[Rows], axis: &Axis, end_s: f64) -> (String, Drawn) {
    let max_parts = (PARTS / flows.len()).max(FEWEST);
    let (mut said, mut rows) = (Vec::new(), Vec::new());
    for flow in flows {
        let parts = changes(flow, end_s);
        let away: Vec<f64> = parts.iter().filter(|part| part.2 != OPEN).map(|(start, end, _)| end - start).collect();
        let (times, seconds) = (away.len(), number(away.iter().fold(0.0, |sum, time| sum + time), 3));
        let end = if times == 1 { "" } else { "s" };
        said.push(format!("{} repaired losses {times} time{end}, for {seconds} s", flow.name));
        rows.push(StateRow { name: flow.name.to_owned(), parts: joined(parts, max_parts) });
    }
    let occurs = |state: &&str| rows.iter().any(|row: &StateRow| row.parts.iter().any(|part| part.2 == *state));
    let states = [OPEN, "recovery", "loss"].into_iter().filter(occurs).collect();
    let says = format!("States of senders: {}.", listed(&said));
    (says, Drawn::States(States { title: "", x: axis.clone(), rows, states }))
}

fn changes(flow: &Rows, end_s: f64) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let Some(phases) = flow.table.texts.get("phase") else { return parts };
    for (row, time) in flow.at.iter().zip(flow.values("time_s")) {
        let state = phases.at(*row);
        match parts.last_mut() {
            Some(last) if last.2 == state => continue,
            Some(last) => last.1 = time,
            None => {}
        }
        parts.push((time, end_s, state.to_owned()));
    }
    parts
}

/// Merges the shortest intervals into the ones before them until at most `max` are left.
fn joined(parts: Vec<Part>, max: usize) -> Vec<Part> {
    if parts.len() <= max {
        return parts;
    }
    let mut lengths: Vec<f64> = parts.iter().map(|(start, end, _)| end - start).collect();
    lengths.sort_by(f64::total_cmp);
    let shortest = lengths[parts.len() - max];
    let mut kept: Vec<Part> = Vec::new();
    for (start, end, state) in parts {
        match kept.last_mut() {
            Some(last) if last.2 == state || (end - start < shortest && state == OPEN) => last.1 = end,
            _ => kept.push((start, end, state)),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_returns_to_the_open_state_go_first() {
        let part = |start: f64, end: f64, state: &str| (start, end, state.to_owned());
        let parts = vec![
            part(0.0, 5.0, OPEN),
            part(5.0, 6.0, "loss"),
            part(6.0, 6.1, OPEN),
            part(6.1, 8.0, "loss"),
            part(8.0, 9.0, OPEN),
        ];
        assert_eq!(joined(parts.clone(), 5), parts);
        let fewer = [part(0.0, 5.0, OPEN), part(5.0, 8.0, "loss"), part(8.0, 9.0, OPEN)];
        assert_eq!(joined(parts, 4), fewer);
    }
}
