//! The charts of a run over a common time axis: windows, round-trip times, goodput, queues, losses, states.

mod states;

use crate::account::AccountInput;
use crate::charts::{Axis, Chart, Drawn, Limit, LineSeries, Lines, Panel, XValues, unit_of};
use crate::curves::{bin_width, decimate_rows, goodput, usual_top};
use crate::numbers::{count, general, grouped, number};
use crate::summary::{Link, UDP, legs_of, longest_leg};
use crate::table::RecordedColumns;
use crate::words::listed;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Maximum number of flows or links with separate lines.
const FLOWS: usize = 8;
const LINKS: usize = 4;
/// Approximate total number of points of all lines on a page.
const POINTS: usize = 24_000;
/// Number of time intervals in which losses are counted.
const BUCKETS: f64 = 400.0;
/// If the rate of the slowest link exceeds the maximum goodput by more than this factor, its line is omitted.
const FAR: f64 = 2.5;
const HINT: &str = "Lines show the minimum and maximum value of each short interval; the tables have every row.";
const CURVE: &[&str] = &["step", "solid"];
const TRACE: &[&str] =
    &["time_s", "flow", "leg", "cwnd_segments", "ssthresh_segments", "rtt_s", "srtt_s", "arrived_bytes", "phase"];

/// Returns the charts of the recorded tables of a run. `read` returns columns of a recorded table, restricted to rows
/// whose second column has one of the given names, or to all rows if no names are given.
///
/// # Errors
/// The errors of `read`.
pub fn timeline<E>(
    run: &AccountInput,
    mut read: impl FnMut(&str, &[&str], &[&str]) -> Result<RecordedColumns, E>,
) -> Result<Vec<Chart>, E> {
    let axis = Axis::time(run.simulated_s);
    let connections = run.flows.iter().filter(|flow| flow.congestion != UDP);
    let names: Vec<&str> = connections.take(FLOWS).map(|flow| flow.name.as_str()).collect();
    let trace = if names.is_empty() { RecordedColumns::default() } else { read("trace", TRACE, &names)? };
    let legs = legs_of(&run.legs);
    let longest = |name: &str| legs.get(name).and_then(|legs| longest_leg(legs)?.leg).unwrap_or(1);
    let flows = rows(&trace, "flow", longest);
    let max_points = (POINTS / (4 * flows.len().max(1))).clamp(120, 1200);
    let mut charts = Vec::new();
    if !flows.is_empty() {
        let goodput = goodputs(run, &flows, &rows(&trace, "flow", |_| 1), &axis);
        charts.extend([windows(&flows, &axis, max_points), round_trips(&flows, &axis, max_points), goodput]);
    }
    let mut links: Vec<&Link> = run.links.iter().filter(|link| link.max_queue_packets > 0).collect();
    links.sort_by_key(|link| Reverse(link.max_queue_packets));
    links.truncate(LINKS);
    if !links.is_empty() {
        let names: Vec<&str> = links.iter().map(|link| link.name.as_str()).collect();
        let queue = read("queue", &["time_s", "link", "packets"], &names)?;
        charts.extend(queues(&links, &rows(&queue, "link", |_| 1), &axis));
    }
    charts.extend(losses(&read("drops", &["time_s", "link", "cause"], &[])?, &axis, run.simulated_s));
    if !flows.is_empty() {
        let about = "Repair state of a sender: none (open), reported losses (recovery), losses after a timeout (loss).";
        let (says, drawn) = states::drawn(&flows, &axis, run.simulated_s);
        charts.push(chart("states", "States", about, says, drawn));
    }
    Ok(charts)
}

/// The rows of a table that belong to one flow or link.
struct Rows<'a> {
    name: &'a str,
    table: &'a RecordedColumns,
    at: Vec<usize>,
}

/// Groups the rows of a table by flow or link, ordered by their first row. If proxies split a flow, only the rows of
/// one of its legs are used.
fn rows<'a>(table: &'a RecordedColumns, key: &str, leg_of: impl Fn(&str) -> u32) -> Vec<Rows<'a>> {
    let legs = table.numbers.get("leg");
    let parts = table.texts.get(key).map_or_else(Vec::new, |texts| texts.parts());
    let own = |(name, mut indices): (&'a str, Vec<usize>)| {
        let leg = f64::from(leg_of(name));
        indices.retain(|row| legs.is_none_or(|legs| legs[*row] == leg));
        Rows { name, table, at: indices }
    };
    let mut found: Vec<Rows> = parts.into_iter().map(own).filter(|rows| !rows.at.is_empty()).collect();
    found.sort_by_key(|rows| rows.at[0]);
    found
}

impl Rows<'_> {
    fn values(&self, column: &str) -> Vec<f64> {
        self.table.values(column, &self.at)
    }

    /// Returns the values of a column that are not missing.
    fn known(&self, column: &str) -> Vec<f64> {
        self.values(column).into_iter().filter(|value| !value.is_nan()).collect()
    }

    /// Returns a column as a line with at most about `max` points.
    fn line(&self, (name, index): (&str, usize), column: &str, factor: f64, max: usize) -> LineSeries {
        let (times, values) = (self.values("time_s"), self.values(column));
        let kept = decimate_rows(&times, &values, max);
        let x = kept.iter().map(|row| times[*row]).collect();
        LineSeries::new(name, index, x, kept.iter().map(|row| values[*row] * factor).collect(), CURVE)
    }
}

fn most_of(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

fn chart(name: &str, title: &str, caption: impl Into<String>, says: String, drawn: Drawn) -> Chart {
    let panels = vec![Panel { says, drawn }];
    let (name, title, caption) = (name.to_owned(), title.to_owned(), caption.into());
    Chart { name, title, caption, group: "time", panel_width: 60, panels }
}

fn windows(flows: &[Rows], axis: &Axis, limit: usize) -> Chart {
    let is_alone = flows.len() == 1;
    let named = |(index, rows): (usize, &Rows)| {
        rows.line((if is_alone { "cwnd" } else { rows.name }, index), "cwnd_segments", 1.0, limit)
    };
    let mut series: Vec<LineSeries> = flows.iter().enumerate().map(named).collect();
    let highest = series.iter().map(|line| most_of(&line.y)).fold(0.0, f64::max);
    let mut top = usual_top(series.iter().map(LineSeries::points));
    if is_alone && !flows[0].known("ssthresh_segments").is_empty() {
        let threshold = flows[0].line(("ssthresh", 1), "ssthresh_segments", 1.0, limit);
        if most_of(&threshold.y) > 1.5 * highest {
            top = top.or(Some(1.1 * highest));
        }
        series.push(LineSeries { looks: &["step"], ..threshold });
    }
    let said = flows.iter().map(|rows| {
        let known = rows.known("cwnd_segments");
        let last = grouped(known.last().copied().unwrap_or(0.0), 0);
        format!("{} up to {}, {last} at the end", rows.name, grouped(most_of(&known), 0))
    });
    let says = format!("Congestion windows in segments: {}.", listed(&said.collect::<Vec<_>>()));
    let y = Axis { max: top, ..Axis::default() };
    let drawn = Drawn::Line(Lines { y, ..Lines::new("segments", axis, series) });
    let about = if is_alone { "and slow-start threshold" } else { "for the first flows" };
    chart("cwnd", "Congestion window", format!("Congestion window {about}. {HINT}"), says, drawn)
}

fn round_trips(flows: &[Rows], axis: &Axis, max: usize) -> Chart {
    let line = |rows: &Rows, named: (&str, usize), column: &str| rows.line(named, column, 1e3, max);
    let is_alone = flows.len() == 1;
    let series = if let [rows] = flows {
        vec![line(rows, ("RTT", 5), "rtt_s"), line(rows, ("SRTT", 0), "srtt_s")]
    } else {
        flows.iter().enumerate().map(|(at, rows)| line(rows, (rows.name, at), "srtt_s")).collect()
    };
    let said = flows.iter().filter_map(|rows| {
        let known = rows.known("rtt_s");
        let least = known.iter().copied().reduce(f64::min)?;
        Some(format!("{} {} to {} ms", rows.name, number(1e3 * least, 4), number(1e3 * most_of(&known), 4)))
    });
    let said: Vec<String> = said.collect();
    let says = if said.is_empty() {
        "No round trip was measured.".to_owned()
    } else {
        format!("Round trips: {}.", listed(&said))
    };
    let drawn = Drawn::Line(Lines { empty: "no round trip was measured", ..Lines::new("ms", axis, series) });
    let about = if is_alone { "Samples and SRTT" } else { "SRTT of the first flows" };
    chart("rtt", "Round trip", format!("{about}, as the sender measured them."), says, drawn)
}

/// Returns the chart of the flows' goodput; `receivers` are the rows of their receivers.
fn goodputs(run: &AccountInput, flows: &[Rows], receivers: &[Rows], axis: &Axis) -> Chart {
    let width = bin_width(run.simulated_s);
    let rates = |rows: &Rows| goodput(&rows.values("time_s"), &rows.values("arrived_bytes"), width, run.simulated_s);
    let receiver = |flow: &Rows| receivers.iter().find(|rows| rows.name == flow.name).map(rates);
    let rates: Vec<Vec<f64>> = flows.iter().map(|flow| receiver(flow).unwrap_or_default()).collect();
    let highest = most_of(&rates.concat());
    let (factor, unit) = unit_of(highest, "bit/s");
    let (mut series, mut said) = (Vec::new(), Vec::new());
    for (index, (flow, rates)) in flows.iter().zip(rates).enumerate().filter(|(_, (_, rates))| !rates.is_empty()) {
        let name = if flows.len() == 1 { "goodput" } else { flow.name };
        let y: Vec<f64> = rates.iter().map(|rate| rate / factor).collect();
        said.push(format!("{} up to {} {unit}", flow.name, number(most_of(&y), 3)));
        let x = XValues::Steps { from: width / 2.0, by: width };
        series.push(LineSeries { x, ..LineSeries::new(name, index, Vec::new(), y, &[]) });
    }
    let says = if said.is_empty() {
        "The run is shorter than an interval.".to_owned()
    } else {
        format!("Goodput over time: {}.", listed(&said))
    };
    let rate = slowest_rate(run, flows).filter(|rate| *rate != 0.0 && *rate <= FAR * highest);
    let limits = rate.map(|rate| Limit { name: "slowest link", y: rate / factor }).into_iter().collect();
    let empty = "the run is shorter than an interval";
    let drawn = Drawn::Line(Lines { limits, empty, ..Lines::new(&unit, axis, series) });
    let about = format!("Payload on arrival, each byte counted once, in intervals of {} s.", general(width, 6));
    chart("goodput", "Goodput", about, says, drawn)
}

/// Returns the rate of the slowest link on the flows' paths, if it is the same for all of them.
fn slowest_rate(run: &AccountInput, flows: &[Rows]) -> Option<f64> {
    let is_shown = |name: &str| flows.iter().any(|rows| rows.name == name);
    let of_shown = run.flows.iter().filter(|flow| is_shown(&flow.name));
    let slowest: Vec<&str> = of_shown.filter_map(|flow| flow.bottleneck.as_deref()).collect();
    let mut rates = run.links.iter().filter(|link| slowest.contains(&link.name.as_str())).map(|link| link.rate_bps);
    let first = rates.next()?;
    first.filter(|_| rates.all(|rate| rate == first))
}

fn queues(links: &[&Link], queue_rows: &[Rows], axis: &Axis) -> Option<Chart> {
    let max_points = (POINTS / (4 * links.len())).clamp(200, 1200);
    let line = |(index, link): (usize, &&Link)| {
        queue_rows
            .iter()
            .find(|rows| rows.name == link.name)
            .map(|rows| rows.line((rows.name, index), "packets", 1.0, max_points))
    };
    let series: Vec<LineSeries> = links.iter().enumerate().filter_map(line).collect();
    let said = links.iter().map(|link| {
        let (mean, max) = (number(link.mean_queue_packets, 3), count(link.max_queue_packets));
        format!("{} {mean} on average, maximum {max}", link.name)
    });
    let says = format!("Queued packets: {}.", listed(&said.collect::<Vec<_>>()));
    let about = "Queued packets at the links with the longest queues, without the packet in transmission.";
    let is_there = !series.is_empty();
    is_there.then(|| chart("queue", "Queues", about, says, Drawn::Line(Lines::new("packets", axis, series))))
}

fn losses(drops: &RecordedColumns, axis: &Axis, end_s: f64) -> Option<Chart> {
    let (times, links, causes) = (drops.numbers.get("time_s")?, drops.texts.get("link")?, drops.texts.get("cause")?);
    let width = end_s / BUCKETS;
    let mut counts: BTreeMap<String, BTreeMap<i64, u64>> = BTreeMap::new();
    for (row, time) in times.iter().enumerate() {
        let buckets = counts.entry(format!("{}, {}", links.at(row), causes.at(row))).or_default();
        *buckets.entry((time / width).floor() as i64).or_default() += 1;
    }
    let mut order: Vec<_> = counts.into_iter().map(|(name, own)| (own.values().sum::<u64>(), name, own)).collect();
    order.sort_by_key(|(total, ..)| Reverse(*total));
    order.truncate(FLOWS);
    let said: Vec<String> = order.iter().map(|(total, name, _)| format!("{} at {name}", count(*total))).collect();
    let line = |(index, (_, name, own)): (usize, (u64, String, BTreeMap<i64, u64>))| {
        let x = own.keys().map(|bucket| (*bucket as f64 + 0.5) * width).collect();
        LineSeries::new(&name, index, x, own.into_values().map(|packets| packets as f64).collect(), &["stem", "solid"])
    };
    let series: Vec<LineSeries> = order.into_iter().enumerate().map(line).collect();
    let title = format!("packets in {} s", general(width, 2));
    let drawn = Drawn::Line(Lines { height: 150, ..Lines::new(&title, axis, series) });
    let about = "Packets that were dropped, including ACKs, by link and cause.";
    let says = format!("Dropped packets: {}.", listed(&said));
    (!said.is_empty()).then(|| chart("losses", "Losses", about, says, drawn))
}
