//! The charts of a comparison.

mod flows;
mod measures;
mod time;

use super::{Chart, Drawn, LineSeries, Lines, Panel};
use crate::comparison::{Cell, ComparedRun, Comparison};
use crate::measures::{Measure, shown};
use crate::statistics::{Interval, mean_interval};
use std::collections::BTreeMap;

/// Maximum number of points that a chart shows, each in its own panel.
const PANELS: usize = 6;

/// Returns the charts of a comparison: its metrics as bars or against the variables, curves over time, and
/// distributions over flows.
///
/// # Errors
/// If an algorithm or a point has an invalid index, or the confidence is not between 0 and 1.
pub fn charts(comparison: &Comparison) -> Result<Vec<Chart>, String> {
    comparison.check()?;
    let cells = comparison.cells.iter().map(|cell| ((cell.algorithm, cell.point), cell)).collect();
    let view = View { comparison, cells };
    let mut charts = measures::charts(&view)?;
    charts.extend(measures::competing(&view));
    charts.extend(time::charts(&view));
    charts.extend([flows::completion(&view), flows::by_round_trip(&view)].into_iter().flatten());
    Ok(charts)
}

/// A comparison, with its cells indexed by algorithm and point.
struct View<'a> {
    comparison: &'a Comparison,
    cells: BTreeMap<(usize, usize), &'a Cell>,
}

impl View<'_> {
    /// Returns the indices and names of the algorithms.
    fn algorithms(&self) -> impl Iterator<Item = (usize, &str)> {
        self.comparison.algorithms.iter().map(String::as_str).enumerate()
    }

    /// Returns the runs of an algorithm at a point.
    fn runs(&self, algorithm: usize, point: usize) -> &[ComparedRun] {
        self.cells.get(&(algorithm, point)).map_or(&[], |cell| &cell.runs)
    }

    /// Returns the runs of all algorithms at a point.
    fn all_runs(&self, point: usize) -> impl Iterator<Item = &ComparedRun> {
        self.algorithms().flat_map(move |(algorithm, _)| self.runs(algorithm, point))
    }

    /// Returns the indices of the points that a chart shows: at most `max`, evenly spaced.
    fn points(&self, max: usize) -> Vec<usize> {
        chosen(&(0..self.comparison.points.len()).collect::<Vec<_>>(), max)
    }

    /// Returns the mean of a metric, with its interval, over the runs of an algorithm at a point.
    fn interval(&self, algorithm: usize, point: Option<usize>, measure: &Measure) -> Result<Interval, String> {
        let cell = point.and_then(|point| self.cells.get(&(algorithm, point)));
        let values = cell.map_or_else(Vec::new, |cell| cell.values(measure));
        let interval = mean_interval(&values, self.comparison.confidence(measure))?;
        Ok(cell.map_or(interval, |cell| cell.judged(interval)))
    }

    /// Returns the description of a panel: its title, the point if there are several, and the text `said`.
    fn says(&self, point: usize, title: &str, said: &str) -> String {
        let said = if said.is_empty() { "none" } else { said };
        format!("{title}{}: {said}.", before(" at ", &self.comparison.described(point)))
    }

    /// Returns the values of the variables at a point, or `title` if the comparison has only one point.
    fn place_or(&self, point: usize, title: &str) -> String {
        Some(self.comparison.described(point)).filter(|place| !place.is_empty()).unwrap_or_else(|| title.to_owned())
    }
}

impl Panel {
    fn of(says: String, lines: Lines) -> Self {
        Self { says, drawn: Drawn::Line(lines) }
    }
}

fn chart(name: &str, title: &str, caption: &str, panels: Vec<Panel>) -> Chart {
    let (name, title, caption) = (name.to_owned(), title.to_owned(), caption.to_owned());
    Chart { name, title, caption, group: "", panel_width: 26, panels }
}

/// Returns a name followed by its mean as text.
fn named(name: &str, measure: &Measure, interval: Interval) -> String {
    format!("{name} {}", shown(measure.unit, interval, interval.mean))
}

/// Returns `start` followed by `text`; empty if `text` is empty.
fn before(start: &str, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{start}{text}") }
}

/// Returns up to `max` items, evenly spaced, including the first and the last.
fn chosen<T: Clone>(items: &[T], max: usize) -> Vec<T> {
    let (count, steps) = (items.len().min(max), max - 1);
    let last = if items.len() > max { items.len() - 1 } else { steps };
    (0..count).map(|at| items[(2 * at * last + steps) / (2 * steps)].clone()).collect()
}

/// Returns the maximum of non-negative numbers; 0 if there are none.
fn most_of(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(0.0, f64::max)
}

/// Returns a line through means, with their intervals as a band.
fn line_of_means(
    (algorithm, name): (usize, &str),
    x: Vec<f64>,
    means: &[Interval],
    factor: f64,
    looks: &'static [&'static str],
) -> LineSeries {
    let end = |sign: f64| {
        let half = |one: &Interval| if one.half_width.is_nan() { 0.0 } else { sign * one.half_width };
        means.iter().map(|one| (one.mean + half(one)) / factor).collect()
    };
    let y = means.iter().map(|one| one.mean / factor).collect();
    LineSeries { ends: Some((end(-1.0), end(1.0))), ..LineSeries::new(name, algorithm, x, y, looks) }
}
