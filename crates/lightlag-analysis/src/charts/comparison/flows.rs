//! Completion times of flows, and their goodput by round-trip time.

use super::{PANELS, View, chart, line_of_means, most_of};
use crate::charts::{Axis, Chart, LineSeries, Lines, Panel, short, unit_of};
use crate::numbers::number;
use crate::statistics::{Interval, interval};
use crate::words::listed;
use std::collections::{BTreeMap, BTreeSet};
use std::iter::once;

/// Number of steps in the curve of a distribution.
const STEPS: usize = 400;
/// Maximum number of flows in a chart against the round-trip time whose dots are joined by a line.
const JOINED: usize = 30;
/// Minimum ratio of the longest to the shortest round-trip time for which goodput is plotted against the round-trip
/// time.
const APART: f64 = 1.2;

/// Returns the distribution of the flows' completion times over all runs; a curve that ends below 1 has unfinished
/// flows.
pub(super) fn completion(view: &View) -> Option<Chart> {
    let mut flows = view.comparison.cells.iter().flat_map(|cell| &cell.runs).flat_map(|run| &run.flows);
    let about = "Fraction of finished flows, over all runs, against the time since their start.";
    let is_there = flows.any(|flow| flow.completion_s.is_some());
    let panels = || view.points(PANELS).into_iter().map(|point| completion_at(view, point)).collect();
    is_there.then(|| chart("completion", "Completion times", about, panels()))
}

fn completion_at(view: &View, point: usize) -> Panel {
    let all = view.all_runs(point).flat_map(|run| &run.flows).filter(|flow| flow.completion_s.is_some());
    let finite: BTreeSet<&str> = all.map(|flow| flow.name.as_str()).collect();
    let (mut series, mut said, mut latest) = (Vec::new(), Vec::new(), 0.0_f64);
    for (algorithm, name) in view.algorithms() {
        let flows = view.runs(algorithm, point).iter().flat_map(|run| &run.flows);
        let flows: Vec<_> = flows.filter(|flow| finite.contains(flow.name.as_str())).collect();
        let mut times: Vec<f64> = flows.iter().filter_map(|flow| flow.completion_s).collect();
        times.sort_by(f64::total_cmp);
        if let Some(last) = times.last() {
            latest = latest.max(*last);
            let half = number(times[(times.len() - 1) / 2], 4);
            said.push(format!("{name} half by {half} s, {} of {} in total", times.len(), flows.len()));
        }
        let step = times.len().div_ceil(STEPS).max(1);
        let kept = || (step - 1..times.len()).step_by(step);
        let x = once(0.0).chain(kept().map(|row| times[row])).collect();
        let y = once(0.0).chain(kept().map(|row| (row + 1) as f64 / flows.len() as f64)).collect();
        series.push(LineSeries::new(name, algorithm, x, y, &["step"]));
    }
    let max = Some(if latest == 0.0 { 1.0 } else { 1.05 * latest });
    let x = Axis { max, ..Axis::new("completion time (s)", "s") };
    let y = Axis { max: Some(1.02), ..Axis::default() };
    let lines = Lines { y, ..Lines::new(&view.place_or(point, "Fraction of flows"), &x, series) };
    Panel::of(view.says(point, "Finished flows", &said.join("; ")), lines)
}

/// Returns the chart of each flow's goodput against its base round-trip time, if these times differ.
pub(super) fn by_round_trip(view: &View) -> Option<Chart> {
    let differ = |point| {
        let base = base_round_trips(view, point);
        let least = base.values().copied().fold(f64::INFINITY, f64::min);
        base.len() > 1 && most_of(base.into_values()) > APART * least
    };
    let about = "Goodput of each flow against its minimum round-trip time in any run; means with 95 % intervals.";
    let panels = || view.points(PANELS).into_iter().map(|point| round_trips_at(view, point)).collect();
    let is_there = (0..view.comparison.points.len()).any(differ);
    is_there.then(|| chart("rtt", "Goodput against round-trip time", about, panels()))
}

/// Returns the minimum round-trip sample of each flow over all runs, because not every run finds the queues empty.
fn base_round_trips<'a>(view: &'a View, point: usize) -> BTreeMap<&'a str, f64> {
    let mut base = BTreeMap::new();
    for flow in view.all_runs(point).flat_map(|run| &run.flows) {
        if let Some(rtt) = flow.min_rtt_s.filter(|rtt| *rtt != 0.0) {
            base.entry(flow.name.as_str()).and_modify(|least: &mut f64| *least = least.min(rtt)).or_insert(rtt);
        }
    }
    base
}

/// Returns the panel with the flows of each algorithm by round-trip time. Algorithms that compete in one run are shown
/// separately.
fn round_trips_at(view: &View, point: usize) -> Panel {
    let base = base_round_trips(view, point);
    let mut groups: Vec<(String, BTreeMap<_, Vec<f64>>)> = Vec::new();
    for (algorithm, name) in view.algorithms() {
        for run in view.runs(algorithm, point) {
            let compete = run.algorithms().len() > 1;
            for (index, flow) in run.flows.iter().enumerate() {
                let Some(rtt) = base.get(flow.name.as_str()) else { continue };
                let label = if compete { format!("{} in {name}", flow.congestion) } else { name.to_owned() };
                let own = groups.iter().position(|(known, _)| *known == label).unwrap_or_else(|| {
                    groups.push((label, BTreeMap::new()));
                    groups.len() - 1
                });
                // The bits of numbers that are not negative have their order.
                groups[own].1.entry((rtt.to_bits(), index)).or_default().push(flow.goodput_bps);
            }
        }
    }
    let means: Vec<Vec<Interval>> =
        groups.iter().map(|(_, own)| own.values().map(|goodputs| interval(goodputs)).collect()).collect();
    let (factor, unit) = unit_of(most_of(means.iter().flatten().map(|one| one.mean)), "bit/s");
    let (mut series, mut said) = (Vec::new(), Vec::new());
    for (index, ((name, rtts), own)) in groups.iter().zip(&means).enumerate() {
        let x: Vec<f64> = rtts.keys().map(|(rtt, _)| short(f64::from_bits(*rtt) * 1e3, 5)).collect();
        let end = |row: usize| format!("{} {unit} at {} ms", number(own[row].mean / factor, 3), x[row]);
        said.push(format!("{name} {}, {}", end(0), end(x.len() - 1)));
        let looks: &[&str] = if x.len() <= JOINED { &["dots", "bars"] } else { &["dots", "bars", "unjoined"] };
        series.push(line_of_means((index, name), x, own, factor, looks));
    }
    let title = format!("{} ({unit})", view.place_or(point, "Goodput of a flow"));
    let lines = Lines::new(&title, &Axis::new("base round-trip time of the flow (ms)", "ms"), series);
    Panel::of(view.says(point, "Goodput against base round trip", &listed(&said)), lines)
}
