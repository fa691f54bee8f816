//! Goodput and congestion windows over time.

use super::{PANELS, View, before, chart, most_of};
use crate::charts::{Axis, Chart, Limit, LineSeries, Lines, Panel, XValues, unit_of};
use crate::comparison::{ComparedRun, Window, unique};
use crate::curves::{bin_width, decimate_rows, usual_top};
use crate::numbers::{grouped, number};
use crate::statistics::{Interval, interval};
use std::collections::BTreeMap;

/// Maximum number of points for which a chart shows windows, each in its own panel.
const WINDOW_PANELS: usize = 4;
/// Total number of plotted points of all windows, and the minimum per window.
const POINTS: usize = 24_000;
const FEWEST: usize = 40;
const GOODPUT: &str = "Goodput of all flows over time, payload counted as it arrives: the mean of the runs still \
                       going, its 95 % interval as a band, which ends at zero and at the rate of the slowest link on \
                       their path, headers included: the dotted line.";

/// Returns the charts over time, if runs have traces.
pub(super) fn charts(view: &View) -> Vec<Chart> {
    let runs = view.comparison.cells.iter().flat_map(|cell| &cell.runs);
    let ends: Vec<f64> = runs.filter(|run| run.arrived.is_some()).map(|run| run.simulated_s).collect();
    if ends.is_empty() {
        return Vec::new();
    }
    let about = format!("Congestion windows over time with {}.", view.comparison.seed);
    let charts = [
        // A mean and a band need fewer points than a run.
        chart("goodput", "Goodput over time", GOODPUT, goodput(view, bin_width(2.0 * most_of(ends)))),
        chart("cwnd", "Congestion windows over time", &about, windows(view)),
    ];
    charts.map(|chart| Chart { group: "time", ..chart }).into()
}

/// Returns the panels of the mean goodput over the runs that are still in progress. A line ends when less than half of
/// an algorithm's runs are left.
fn goodput(view: &View, width: f64) -> Vec<Panel> {
    let mut curves: BTreeMap<usize, Vec<Vec<Interval>>> = BTreeMap::new();
    let highest = |curve: &Vec<Interval>| most_of(curve.iter().map(|one| one.mean));
    for point in view.points(PANELS) {
        curves.insert(point, view.algorithms().map(|(at, _)| over_time(view.runs(at, point), width)).collect());
    }
    let (factor, unit) = unit_of(most_of(curves.values().flatten().map(highest)), "bit/s");
    let panel = |(point, curves): (usize, Vec<Vec<Interval>>)| {
        let mut rates = view.all_runs(point).map(|run| run.capacity_bps);
        let rate = rates.next().flatten().filter(|first| rates.all(|rate| rate == Some(*first)));
        let max = rate.map_or(f64::INFINITY, |rate| rate / factor);
        let (mut series, mut said) = (Vec::new(), Vec::new());
        for ((at, name), curve) in view.algorithms().zip(&curves) {
            series.push(line_over_time((at, name), curve, width, factor, max));
            let peak = number(highest(curve) / factor, 3);
            said.extend((!curve.is_empty()).then(|| format!("{name} up to {peak} {unit}")));
        }
        let end_s = curves.iter().map(Vec::len).max().unwrap_or(0) as f64 * width;
        let title = format!("{} ({unit})", view.place_or(point, "Goodput"));
        let limits = rate.map(|_| Limit { name: "link", y: max }).into_iter().collect();
        let lines = Lines { limits, ..Lines::new(&title, &Axis::time(end_s), series) };
        Panel::of(view.says(point, "Goodput over time", &said.join(", ")), lines)
    };
    curves.into_iter().map(panel).collect()
}

/// Returns the mean goodput in each interval, over the runs that last to the end of the interval.
fn over_time(runs: &[ComparedRun], width: f64) -> Vec<Interval> {
    let traced = runs.iter().filter_map(|run| Some((run.arrived.as_deref()?, run.simulated_s)));
    let curve = |(levels, seconds): (&[f64], f64)| {
        let steps = (seconds / width + 1e-9).floor() as usize;
        let levels: Vec<f64> = (0..=steps).map(|step| level(levels, seconds, step as f64 * width)).collect();
        levels.windows(2).map(|pair| (pair[1] - pair[0]) * 8.0 / width).collect()
    };
    let curves: Vec<Vec<f64>> = traced.filter(|(levels, _)| levels.len() > 1).map(curve).collect();
    let mut means = Vec::new();
    loop {
        let going: Vec<f64> = curves.iter().filter_map(|curve| curve.get(means.len()).copied()).collect();
        if going.is_empty() || 2 * going.len() < curves.len() {
            return means;
        }
        means.push(interval(&going));
    }
}

/// Returns the value of a curve with equal steps at `time`, linearly interpolated.
fn level(levels: &[f64], seconds: f64, time: f64) -> f64 {
    let last = levels.len() - 1;
    let position = (time / seconds * last as f64).min(last as f64);
    let index = (position as usize).min(last - 1);
    levels[index] + (position - index as f64) * (levels[index + 1] - levels[index])
}

/// Returns the line of a mean goodput with its interval, which is clipped at zero and at the rate of the link.
fn line_over_time(
    (algorithm, name): (usize, &str),
    curve: &[Interval],
    width: f64,
    factor: f64,
    max: f64,
) -> LineSeries {
    let half = |one: &Interval| if one.half_width.is_nan() { 0.0 } else { one.half_width / factor };
    let low = |one: &Interval| (one.mean / factor - half(one)).max(0.0);
    let high = |one: &Interval| (one.mean / factor + half(one)).min(max).max(one.mean / factor);
    let has_ends = curve.iter().any(|one| half(one) != 0.0);
    let ends = has_ends.then(|| (curve.iter().map(low).collect(), curve.iter().map(high).collect()));
    let y = curve.iter().map(|one| one.mean / factor).collect();
    let x = XValues::Steps { from: width / 2.0, by: width };
    LineSeries { x, ends, ..LineSeries::new(name, algorithm, Vec::new(), y, &[]) }
}

/// Returns the panels of the congestion windows, from one run of each algorithm at each point.
fn windows(view: &View) -> Vec<Panel> {
    let first = |at, point| view.runs(at, point).iter().find(|run| !run.windows.is_empty());
    let cell = |point| view.algorithms().map(move |(at, name)| (point, at, name, first(at, point)));
    let cells: Vec<_> = view.points(WINDOW_PANELS).into_iter().flat_map(cell).collect();
    let count: usize = cells.iter().filter_map(|(.., run)| Some(run.as_ref()?.windows.len())).sum();
    let panel = |(point, algorithm, name, run): (usize, usize, &str, Option<&ComparedRun>)| {
        let series = run.map_or_else(Vec::new, |run| lines(run, algorithm, FEWEST.max(POINTS / count.max(1))));
        let highest = most_of(series.iter().flat_map(|line| line.y.iter().copied()));
        let top = usual_top(series.iter().map(LineSeries::points));
        let seed = run.map_or_else(String::new, |run| format!(", seed {}", run.seed));
        let above = top.map_or_else(String::new, |_| format!(", up to {}", grouped(highest, 0)));
        let condition = view.comparison.described(point);
        let title = format!("{name}{} (segments{seed}{above})", before(", ", &condition));
        let end_s = most_of(view.runs(algorithm, point).iter().map(|run| run.simulated_s));
        let (y, empty) = (Axis { max: top, ..Axis::default() }, "no windows were recorded");
        let lines = Lines { y, empty, height: 170, ..Lines::new(&title, &Axis::time(end_s), series) };
        let (place, peak) = (before(" at ", &condition), number(highest, 4));
        Panel::of(format!("Congestion window of {name}{place}{seed}: up to {peak} segments."), lines)
    };
    cells.into_iter().map(panel).collect()
}

fn lines(run: &ComparedRun, algorithm: usize, max: usize) -> Vec<LineSeries> {
    let rivals = unique(run.flows.iter().map(|flow| flow.congestion.as_str()));
    let looks: &[&str] = if run.flows.len() > 1 { &["step", "thin", "solid"] } else { &["step", "solid"] };
    let line = |(name, times, windows): &Window| {
        let windows: Vec<f64> = windows.iter().map(|window| window.unwrap_or(f64::NAN)).collect();
        let own = run.flows.iter().find(|flow| flow.name == *name).map_or("", |flow| &flow.congestion);
        let (name, colour_index) = match rivals.iter().position(|rival| *rival == own) {
            Some(colour) if rivals.len() > 1 => (format!("{name} ({own})"), colour),
            _ => (name.clone(), algorithm),
        };
        let kept = decimate_rows(times, &windows, max);
        let of = |values: &[f64]| kept.iter().map(|row| values[*row]).collect();
        LineSeries::new(&name, colour_index, of(times), of(&windows), looks)
    };
    run.windows.iter().filter(|(_, times, windows)| times.len() == windows.len()).map(line).collect()
}
