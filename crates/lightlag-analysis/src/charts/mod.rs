//! Charts as data. A script renders them in a report.

pub mod comparison;

use crate::numbers::factor_of;
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

/// Largest magnitude of an integer that is written without a decimal point.
const LARGEST_WHOLE: f64 = 1e15;

/// A figure of one or more panels.
#[derive(Clone, Debug, Serialize)]
pub struct Chart {
    /// ID of the chart's element on the page.
    pub name: String,
    /// Title of the figure.
    pub title: String,
    /// Caption below the chart.
    pub caption: String,
    /// Charts of the same group zoom together.
    pub group: &'static str,
    /// Minimum width of a panel in rem; if less is available, the panels are stacked.
    pub panel_width: u32,
    /// Panels of the figure.
    pub panels: Vec<Panel>,
}

/// A panel of a chart.
#[derive(Clone, Debug, Serialize)]
pub struct Panel {
    /// Description of the panel in one sentence.
    pub says: String,
    /// Content of the panel.
    #[serde(flatten)]
    pub drawn: Drawn,
}

/// Content of a panel.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Drawn {
    /// Lines.
    Line(Lines),
    /// Bars.
    Bars(Bars),
    /// The states of flows over time.
    States(States),
}

/// Lines in a panel.
#[derive(Clone, Debug, Serialize)]
pub struct Lines {
    /// Title of the panel.
    pub title: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// Lines of the panel.
    pub series: Vec<LineSeries>,
    /// Horizontal lines that mark a bound.
    pub limits: Vec<Limit>,
    /// Message that is shown if there are no lines.
    pub empty: &'static str,
    /// Height of the panel in pixels.
    pub height: u32,
}

impl Lines {
    /// Creates a panel whose vertical axis starts at zero.
    pub fn new(title: &str, x: &Axis, series: Vec<LineSeries>) -> Self {
        let (title, x, y) = (title.to_owned(), x.clone(), Axis::default());
        Self { title, x, y, series, limits: Vec::new(), empty: "nothing to show", height: 220 }
    }
}

/// Bars in a panel.
#[derive(Clone, Debug, Serialize)]
pub struct Bars {
    /// Title of the panel.
    pub title: String,
    /// Horizontal axis.
    pub x: BarAxis,
    /// Bars of the panel.
    pub rows: Vec<Bar>,
}

/// The value axis of a bar chart, which starts at zero.
#[derive(Clone, Debug, Serialize)]
pub struct BarAxis {
    /// Unit of the values.
    pub label: String,
    /// Maximum of the axis; by default it follows from the values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<u32>,
}

/// A bar: a mean, its interval, and the individual values.
#[derive(Clone, Debug)]
pub struct Bar {
    /// Name of the bar.
    pub name: String,
    /// Index of its colour.
    pub at: usize,
    /// Mean of the values.
    pub mean: f64,
    /// Half-width of the confidence interval; NaN if there is none.
    pub half_width: f64,
    /// Values of individual runs.
    pub values: Vec<f64>,
}

impl Serialize for Bar {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bar = serializer.serialize_map(None)?;
        bar.serialize_entry("name", &self.name)?;
        bar.serialize_entry("at", &self.at)?;
        bar.serialize_entry("mean", &Short(self.mean, 5))?;
        if !self.half_width.is_nan() {
            bar.serialize_entry("lo", &Short(self.mean - self.half_width, 5))?;
            bar.serialize_entry("hi", &Short(self.mean + self.half_width, 5))?;
        }
        bar.serialize_entry("values", &Rounded(&self.values, 4))?;
        bar.end()
    }
}

/// States of flows over time in a panel, one row per flow.
#[derive(Clone, Debug, Serialize)]
pub struct States {
    /// Title of the panel.
    pub title: &'static str,
    /// Horizontal axis.
    pub x: Axis,
    /// Rows of the panel, one per flow.
    pub rows: Vec<StateRow>,
    /// Names of the states that occur.
    pub states: Vec<&'static str>,
}

/// An axis; by default one that starts at zero.
#[derive(Clone, Debug, Serialize)]
pub struct Axis {
    /// Label of the axis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Unit of the values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Minimum of the axis; by default it follows from the values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<u32>,
    /// Maximum of the axis; by default it follows from the values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// Scale and ticks; by default the axis is linear, with ticks at round numbers.
    #[serde(flatten)]
    pub scale: Option<Scale>,
}

/// Scale of an axis, and tick positions with their labels.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Scale {
    /// Categories at equal distances, each with a label.
    Equal {
        /// The keyword `equal`.
        scale: &'static str,
        /// Position and label of each category.
        ticks: Vec<(f64, String)>,
    },
    /// Numeric values.
    Numbers {
        /// Positions and labels of the ticks, if there are few values.
        #[serde(skip_serializing_if = "Option::is_none")]
        ticks: Option<Vec<(f64, String)>>,
        /// The keyword `linear` or `log`.
        scale: String,
    },
}

impl Default for Axis {
    fn default() -> Self {
        Self { label: None, unit: None, min: Some(0), max: None, scale: None }
    }
}

impl Axis {
    /// Returns a time axis from 0 to the end of a run, in seconds.
    pub fn time(end_s: f64) -> Self {
        let max = Some(if end_s == 0.0 { 1.0 } else { end_s });
        Self { max, ..Self::new("time (s)", "s") }
    }

    /// Returns an axis that starts at zero.
    pub fn new(label: &str, unit: &str) -> Self {
        Self { label: Some(label.to_owned()), unit: Some(unit.to_owned()), ..Self::default() }
    }
}

/// Horizontal coordinates of the points of a line.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum XValues {
    /// One coordinate per point, ascending.
    Each(#[serde(serialize_with = "of_six_digits")] Vec<f64>),
    /// Coordinates at equal distances.
    Steps {
        /// First coordinate.
        from: f64,
        /// Distance to the next coordinate.
        by: f64,
    },
}

/// A line of a chart. Missing values are NaN.
#[derive(Clone, Debug)]
pub struct LineSeries {
    /// Name of the line.
    pub name: String,
    /// Index of its colour and dash pattern.
    pub at: usize,
    /// Horizontal coordinates of its points.
    pub x: XValues,
    /// Values of its points.
    pub y: Vec<f64>,
    /// Lower and upper ends of the interval around each value.
    pub ends: Option<(Vec<f64>, Vec<f64>)>,
    /// Style: `step` (each value holds until the next), `dots`, `bars` (error bars instead of a band), `stem` (a
    /// vertical line for each value), `thin`, `solid` (without the dash pattern), `unjoined` (dots without a line).
    pub looks: &'static [&'static str],
}

impl LineSeries {
    /// Returns a line without intervals.
    pub fn new(name: &str, index: usize, x: Vec<f64>, y: Vec<f64>, looks: &'static [&'static str]) -> Self {
        Self { name: name.to_owned(), at: index, x: XValues::Each(x), y, ends: None, looks }
    }

    /// Returns the coordinates of the points. Both slices are empty if the points are at equal distances.
    pub(crate) fn points(&self) -> (&[f64], &[f64]) {
        match &self.x {
            XValues::Each(x) => (x, &self.y),
            XValues::Steps { .. } => (&[], &[]),
        }
    }
}

impl Serialize for LineSeries {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut line = serializer.serialize_map(None)?;
        line.serialize_entry("name", &self.name)?;
        line.serialize_entry("at", &self.at)?;
        line.serialize_entry("x", &self.x)?;
        line.serialize_entry("y", &Rounded(&self.y, 4))?;
        if let Some((low, high)) = &self.ends {
            line.serialize_entry("lo", &Rounded(low, 4))?;
            line.serialize_entry("hi", &Rounded(high, 4))?;
        }
        for look in self.looks {
            match *look {
                "unjoined" => line.serialize_entry("line", &0)?,
                look => line.serialize_entry(look, &1)?,
            }
        }
        line.end()
    }
}

/// A horizontal line that marks a bound.
#[derive(Clone, Debug, Serialize)]
pub struct Limit {
    /// Name of the bound.
    pub name: &'static str,
    /// Position on the vertical axis.
    #[serde(serialize_with = "of_five_digits")]
    pub y: f64,
}

/// The states of a flow.
#[derive(Clone, Debug)]
pub struct StateRow {
    /// Name of the flow.
    pub name: String,
    /// Start, end and name of each state.
    pub parts: Vec<(f64, f64, String)>,
}

impl Serialize for StateRow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let part = |(start, end, state): &(f64, f64, String)| (Short(*start, 6), Short(*end, 6), state.clone());
        let mut row = serializer.serialize_map(None)?;
        row.serialize_entry("name", &self.name)?;
        row.serialize_entry("parts", &self.parts.iter().map(part).collect::<Vec<_>>())?;
        row.end()
    }
}

fn of_six_digits<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    Rounded(values, 6).serialize(serializer)
}

fn of_five_digits<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    Short(*value, 5).serialize(serializer)
}

/// Numbers that are written with the given number of significant digits.
struct Rounded<'a>(&'a [f64], usize);

impl Serialize for Rounded<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut values = serializer.serialize_seq(Some(self.0.len()))?;
        self.0.iter().try_for_each(|value| values.serialize_element(&Short(*value, self.1)))?;
        values.end()
    }
}

/// Rounds a number to `digits` significant digits.
fn short(value: f64, digits: usize) -> f64 {
    format!("{:.*e}", digits - 1, value).parse().unwrap_or(f64::NAN)
}

/// A number and its significant digits. It is written as null if it is not finite.
struct Short(f64, usize);

impl Serialize for Short {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let short = short(self.0, self.1);
        if !short.is_finite() {
            serializer.serialize_none()
        } else if short.fract() == 0.0 && short.abs() < LARGEST_WHOLE {
            serializer.serialize_i64(short as i64)
        } else {
            serializer.serialize_f64(short)
        }
    }
}

/// Returns a divisor for values up to `largest`, and the unit after the division; bit/s and B take a decimal prefix.
pub fn unit_of(largest: f64, unit: &str) -> (f64, String) {
    match unit {
        "%" => (0.01, unit.to_owned()),
        "ms" => (1e-3, unit.to_owned()),
        "bit/s" | "B" => {
            let (factor, prefix) = factor_of(largest);
            (factor, format!("{prefix}{unit}"))
        }
        _ => (1.0, unit.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_as_many_digits_as_a_chart_shows() {
        let text = serde_json::to_string(&Rounded(&[1234.56, 0.123_456, 10.0, f64::NAN, 2e15], 4)).unwrap();
        assert_eq!(text, "[1235,0.1235,10,null,2000000000000000.0]");
    }

    #[test]
    fn units_have_the_prefix_of_the_largest_value() {
        assert_eq!(unit_of(9.4e6, "bit/s"), (1e6, "Mbit/s".to_owned()));
        assert_eq!(unit_of(0.012, "ms"), (1e-3, "ms".to_owned()));
    }
}
