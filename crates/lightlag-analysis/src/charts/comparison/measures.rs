//! The metrics of a comparison: as bars, against its variables, and for algorithms that compete.

use super::{PANELS, View, before, chart, chosen, line_of_means, most_of, named};
use crate::charts::{Axis, Bar, BarAxis, Bars, Chart, Drawn, Lines, Panel, Scale, unit_of};
use crate::comparison::{self, Variable, described, unique};
use crate::measures::{MEASURES, Measure, shown};
use crate::numbers::general;
use crate::statistics::Interval;
use std::collections::BTreeMap;

/// Maximum number of lines whose bands can still be distinguished.
const BANDS: usize = 5;
/// Maximum number of points on an axis for which each gets its own tick label.
const TICKS: usize = 8;
/// Charts against a variable, each with the columns of the metrics that it shows.
const AGAINST: [(&str, &[&str]); 5] = [
    ("goodput", &["goodput_bps"]),
    ("completion", &["completion_s"]),
    ("fairness", &["jain"]),
    ("retransmitted", &["retransmitted_share"]),
    ("queueing", &["queueing_mean_s", "queueing_p95_s"]),
];

/// Returns bars if only the algorithm varies, and otherwise lines against each variable.
pub(super) fn charts(view: &View) -> Result<Vec<Chart>, String> {
    let is_there = |column: &str| view.comparison.measures.iter().any(|own| own == column);
    let mut several = view.comparison.variables.iter().enumerate().filter(|(_, one)| one.values.len() > 1).peekable();
    if several.peek().is_none() {
        let there = MEASURES.iter().filter(|measure| is_there(measure.column));
        let panels = there.map(|measure| bars(view, measure)).collect::<Result<_, _>>()?;
        let about = "Means with 95 % intervals (Student t); a dot is one run.";
        return Ok(vec![Chart { panel_width: 18, ..chart("bars", "All metrics", about, panels) }]);
    }
    let kinds = |variable| AGAINST.iter().filter(|(_, columns)| is_there(columns[0])).map(move |kind| (variable, kind));
    several.flat_map(kinds).map(|(variable, kind)| against(view, variable, kind)).collect()
}

fn bars(view: &View, measure: &Measure) -> Result<Panel, String> {
    let values = |algorithm| view.cells.get(&(algorithm, 0)).map_or_else(Vec::new, |cell| cell.values(measure));
    let (factor, label) = unit_of(most_of(view.algorithms().flat_map(|(at, _)| values(at))), measure.unit);
    let (mut rows, mut said) = (Vec::new(), Vec::new());
    for (algorithm, name) in view.algorithms() {
        let interval = view.interval(algorithm, Some(0), measure)?;
        said.push(named(name, measure, interval));
        let runs = if interval.count == 1 { Vec::new() } else { values(algorithm) };
        let values = runs.iter().map(|value| value / factor).collect();
        rows.extend((interval.count > 0).then(|| Bar { values, ..bar((algorithm, name), interval, factor) }));
    }
    let x = BarAxis { label, max: (measure.column == "jain").then_some(1) };
    let drawn = Drawn::Bars(Bars { title: measure.title.to_owned(), x, rows });
    Ok(Panel { says: format!("{}: {}.", measure.title, said.join(", ")), drawn })
}

fn bar((algorithm, name): (usize, &str), interval: Interval, factor: f64) -> Bar {
    let (mean, half_width) = (interval.mean / factor, interval.half_width / factor);
    Bar { name: name.to_owned(), at: algorithm, mean, half_width, values: Vec::new() }
}

fn against(view: &View, numbered: (usize, &Variable), (name, columns): &(&str, &[&str])) -> Result<Chart, String> {
    let ((number, variable), comparison) = (numbered, view.comparison);
    let positions = &variable.axis.places;
    if positions.len() != variable.values.len() || comparison.points.iter().any(|point| point.len() <= number) {
        return Err(format!(
            "variables[{number}]: does not have a position for each value, or a point has no value of it"
        ));
    }
    let points: BTreeMap<&[String], usize> = comparison.points.iter().map(Vec::as_slice).zip(0..).collect();
    let without = |point: &Vec<String>| [&point[..number], &point[number + 1..]].concat();
    let mut order: Vec<usize> = (0..positions.len()).collect();
    order.sort_by(|a, b| positions[*a].total_cmp(&positions[*b]));
    let measures = || MEASURES.iter().filter(|measure| columns.contains(&measure.column));
    let mut panels = Vec::new();
    for other in chosen(&unique(comparison.points.iter().map(without)), PANELS) {
        let others = comparison.variables[..number].iter().chain(&comparison.variables[number + 1..]);
        let suffix = before(", ", &described(others.zip(&other)));
        let point = |at: &usize| {
            let point = [&other[..number], &variable.values[*at..=*at], &other[number..]].concat();
            points.get(point.as_slice()).copied()
        };
        let own: Vec<Option<usize>> = order.iter().map(point).collect();
        for measure in measures() {
            panels.push(panel_against(view, (variable, &order), measure, &own, &suffix)?);
        }
    }
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_');
    let mut label: Vec<char> =
        variable.label.chars().map(|letter| if is_plain(&letter) { letter } else { '-' }).collect();
    label.dedup_by(|a, b| *a == '-' && *b == '-');
    let about = "Means with 95 % intervals (Student t), as bands or, for names, as bars.";
    let title = format!("{} against {}", measures().next().map_or("", |measure| measure.title), variable.label);
    Ok(Chart { panel_width: 22, ..chart(&format!("{name}-vs-{}", String::from_iter(label)), &title, about, panels) })
}

/// Returns the panel of a metric at these points, which are sorted by the value of the variable.
fn panel_against(
    view: &View,
    (variable, order): (&Variable, &[usize]),
    measure: &Measure,
    points: &[Option<usize>],
    location: &str,
) -> Result<Panel, String> {
    let means = |(at, _)| points.iter().map(|point| view.interval(at, *point, measure)).collect::<Result<Vec<_>, _>>();
    let means: Vec<Vec<Interval>> = view.algorithms().map(means).collect::<Result<_, _>>()?;
    let (factor, unit) = unit_of(most_of(means.iter().flatten().map(|one| one.mean)), measure.unit);
    // Bands on top of each other have no colours, and nothing lies between two names.
    let looks: &[&str] = match variable.axis.is_ordered {
        false => &["dots", "bars", "unjoined"],
        true if means.len() > BANDS => &["dots", "bars"],
        true => &["dots"],
    };
    let (last, mut series, mut said) = (order.len() - 1, Vec::new(), Vec::new());
    for ((algorithm, name), own) in view.algorithms().zip(&means) {
        let x = order.iter().map(|at| variable.axis.places[*at]).collect();
        series.push(line_of_means((algorithm, name), x, own, factor, looks));
        said.push(format!("{} to {}", named(name, measure, own[0]), shown(measure.unit, own[last], own[last].mean)));
    }
    let unit = if unit.is_empty() { unit } else { format!(" ({unit})") };
    let y = Axis { max: (measure.column == "jain").then_some(1.02), ..Axis::default() };
    let title = format!("{}{unit}{location}", measure.title);
    let lines = Lines { y, ..Lines::new(&title, &axis_of(variable, order), series) };
    // The first and the last value of each line in words.
    let ends = [order[0], order[last]].map(|at| variable.values[at].as_str()).join(" to ");
    let says = format!("{} from {} {ends}{location}: {}.", measure.title, variable.label, said.join("; "));
    Ok(Panel::of(says, lines))
}

fn axis_of(variable: &Variable, order: &[usize]) -> Axis {
    let comparison::VariableAxis { places: positions, unit, scale, .. } = &variable.axis;
    let label = if unit.is_empty() { variable.label.clone() } else { format!("{} ({unit})", variable.label) };
    let ticks = |text: &dyn Fn(usize) -> String| order.iter().map(|at| (positions[*at], text(*at))).collect();
    let scale = if scale == "equal" {
        Scale::Equal { scale: "equal", ticks: ticks(&|at| variable.values[at].clone()) }
    } else {
        let few = (order.len() <= TICKS).then(|| ticks(&|at| general(positions[at], 6)));
        Scale::Numbers { ticks: few, scale: scale.clone() }
    };
    Axis { min: None, scale: Some(scale), ..Axis::new(&label, unit) }
}

/// Returns the chart of [`shares`](comparison::Comparison::shares).
pub(super) fn competing(view: &View) -> Option<Chart> {
    let shares = view.comparison.shares();
    let (factor, unit) = unit_of(most_of(shares.iter().map(|share| share.interval.mean)), "bit/s");
    let panel = |point: usize| {
        let (mut rows, mut said) = (Vec::new(), Vec::new());
        for share in shares.iter().filter(|share| share.point == point) {
            let name = format!("{} in {}", share.name, view.comparison.algorithms[share.algorithm]);
            rows.push(bar((rows.len(), &name), share.interval, factor));
            said.push(named(&name, &MEASURES[0], share.interval));
        }
        let (title, x) = (view.place_or(point, "Goodput of a flow"), BarAxis { label: unit.clone(), max: None });
        let says = view.says(point, "Goodput of a flow", &said.join(", "));
        Panel { says, drawn: Drawn::Bars(Bars { title, x, rows }) }
    };
    let points = unique(shares.iter().map(|share| share.point));
    let panels: Vec<Panel> = chosen(&points, PANELS).into_iter().map(panel).collect();
    let about = "Goodput of a flow of each algorithm where several compete in one run; means with 95 % intervals.";
    (!panels.is_empty()).then(|| chart("shares", "Competing algorithms", about, panels))
}
