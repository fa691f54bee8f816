//! Input of an analysis: the runs of a comparison.

use crate::measures::Measure;
use crate::outcome::FlowOutcome;
use crate::ranking::{Ranking, Rival};
use crate::statistics::{CONFIDENCE, Interval, interval, mean};
use crate::summary::UDP;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The finished runs of a comparison.
#[derive(Clone, Debug, Deserialize)]
pub struct Comparison {
    /// Names of the algorithms, or of other variants.
    pub(crate) algorithms: Vec<String>,
    /// Variables in which the points differ.
    #[serde(default)]
    pub(crate) variables: Vec<Variable>,
    /// Values of the variables at each point.
    pub(crate) points: Vec<Vec<String>>,
    /// Columns of the metrics for which the runs have values.
    pub(crate) measures: Vec<String>,
    /// Confidence levels of intervals, by metric; 0.95 for all others.
    #[serde(default)]
    confidences: BTreeMap<String, f64>,
    /// Runs of each algorithm at each point, ordered by point.
    pub(crate) cells: Vec<Cell>,
    /// Description of the seed whose runs have windows.
    #[serde(default)]
    pub(crate) seed: String,
}

/// A variable of a comparison.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Variable {
    /// Label of the variable in texts and charts.
    pub(crate) label: String,
    /// Its values, in order.
    pub(crate) values: Vec<String>,
    /// Whether its values are names that need no label, such as names of scenarios.
    is_name: bool,
    /// Positions of the values on an axis.
    #[serde(default)]
    pub(crate) axis: VariableAxis,
}

/// Values of a variable as positions on an axis.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct VariableAxis {
    /// Position of each value.
    pub(crate) places: Vec<f64>,
    pub(crate) unit: String,
    /// Scale of the axis: `linear`, `log`, or `equal` (equal distances, labelled with the values).
    pub(crate) scale: String,
    /// Whether the values are quantities, so that intermediate values exist.
    pub(crate) is_ordered: bool,
}

/// The runs of an algorithm at a point.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Cell {
    /// Index of the algorithm.
    pub(crate) algorithm: usize,
    /// Index of the point.
    pub(crate) point: usize,
    /// Whether nothing in the runs is random.
    pub(crate) is_fixed: bool,
    /// Values of each metric, as pairs of seed and value.
    pub(crate) values: BTreeMap<String, Vec<(u64, f64)>>,
    /// Minimum round-trip time in seconds of the flows of all runs; the flows in `runs` also count.
    #[serde(default)]
    min_rtt_s: Option<f64>,
    /// Runs of the cell. The conclusion requires them if flows of several algorithms compete in a run.
    #[serde(default)]
    pub(crate) runs: Vec<ComparedRun>,
}

/// A run. The conclusion of a comparison requires only its flows.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ComparedRun {
    pub(crate) seed: u64,
    pub(crate) flows: Vec<FlowOutcome>,
    #[serde(default)]
    pub(crate) simulated_s: f64,
    /// Rate of the slowest link direction on the common path of all flows.
    pub(crate) capacity_bps: Option<f64>,
    /// Total payload in bytes that had arrived, at equal steps from 0 to the end of the run. Empty if no chart shows
    /// it; `None` if there is no trace.
    pub(crate) arrived: Option<Vec<f64>>,
    /// Congestion windows of the first flows.
    #[serde(default)]
    pub(crate) windows: Vec<Window>,
}

/// The candidates that one ranking compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Candidates {
    /// The algorithms at a point.
    Algorithms(usize),
    /// The points of the only algorithm.
    Points,
}

/// The goodput that one flow of an algorithm gets when it competes with other algorithms in a run.
#[derive(Clone, Debug, Serialize)]
pub struct Share {
    /// Index of the mix of algorithms that share the run.
    pub algorithm: usize,
    /// Index of the point.
    pub point: usize,
    /// Name of the algorithm.
    pub name: String,
    /// Mean goodput over the runs, with its interval.
    pub interval: Interval,
}

/// Congestion window of a flow: its name, times in seconds, and the window in segments where it is known.
pub(crate) type Window = (String, Vec<f64>, Vec<Option<f64>>);

impl Comparison {
    /// # Errors
    /// If an algorithm or a point has an invalid index.
    pub(crate) fn check(&self) -> Result<(), String> {
        for (index, cell) in self.cells.iter().enumerate() {
            if cell.algorithm >= self.algorithms.len() || cell.point >= self.points.len() {
                return Err(format!(
                    "cells[{index}]: there is no algorithm {} or no point {}",
                    cell.algorithm, cell.point
                ));
            }
        }
        Ok(())
    }

    /// Returns the goodput of one flow of each algorithm, for the runs where several algorithms compete.
    pub fn shares(&self) -> Vec<Share> {
        let mut shares = Vec::new();
        for cell in &self.cells {
            let algorithms = cell.runs.first().map_or_else(Vec::new, ComparedRun::algorithms);
            for name in algorithms.iter().filter(|_| algorithms.len() > 1) {
                let goodputs = cell.runs.iter().map(|run| run.goodputs(name)).filter(|own| !own.is_empty());
                let interval = cell.judged(interval(&goodputs.map(|own| mean(&own)).collect::<Vec<_>>()));
                shares.push(Share { algorithm: cell.algorithm, point: cell.point, name: (*name).to_owned(), interval });
            }
        }
        shares
    }

    pub(crate) fn confidence(&self, measure: &Measure) -> f64 {
        self.confidences.get(measure.column).copied().unwrap_or(CONFIDENCE)
    }

    /// Returns the candidates of each ranking: the algorithms at each point, or the points of a single algorithm.
    pub(crate) fn candidates(&self) -> Vec<Candidates> {
        if self.algorithms.len() == 1 && self.points.len() > 1 {
            vec![Candidates::Points]
        } else {
            (0..self.points.len()).map(Candidates::Algorithms).collect()
        }
    }

    /// Returns candidates with their values of a metric.
    pub(crate) fn rivals(&self, candidates: Candidates, measure: &Measure) -> Vec<Rival> {
        match candidates {
            Candidates::Algorithms(point) => {
                let name = |algorithm: usize| self.algorithms[algorithm].clone();
                (0..self.algorithms.len()).map(|at| self.rival(at, point, measure, name(at))).collect()
            }
            Candidates::Points => {
                (0..self.points.len()).map(|at| self.rival(0, at, measure, self.described(at))).collect()
            }
        }
    }

    fn rival(&self, algorithm: usize, point: usize, measure: &Measure, name: String) -> Rival {
        let cell = self.cells.iter().find(|cell| cell.algorithm == algorithm && cell.point == point);
        let values = cell.and_then(|cell| cell.values.get(measure.column)).cloned().unwrap_or_default();
        Rival { name, values, is_fixed: cell.is_some_and(|cell| cell.is_fixed) }
    }

    /// Returns the confidence with which the intervals of a metric hold jointly for all pairs of candidates. A study
    /// with a target has a higher one, so that they also hold at each interim analysis.
    pub(crate) fn joint_confidence(&self, measure: &Measure) -> f64 {
        self.confidence(measure).max(CONFIDENCE)
    }

    pub(crate) fn ranking(&self, candidates: Candidates, measure: &Measure) -> Result<Option<Ranking>, String> {
        let rivals = self.rivals(candidates, measure);
        Ranking::of(rivals, measure.more_is_better, self.joint_confidence(measure))
    }

    /// Returns the minimum round-trip time in seconds of any flow at the point of a candidate. It belongs to the path,
    /// not to the algorithm.
    pub(crate) fn min_rtt_s(&self, candidates: Candidates, candidate: usize) -> Option<f64> {
        let point = if let Candidates::Algorithms(point) = candidates { point } else { candidate };
        self.cells.iter().filter(|cell| cell.point == point).filter_map(Cell::min_rtt_s).reduce(f64::min)
    }

    /// Returns the names of the variables with their values at a point, in words.
    pub(crate) fn described(&self, point: usize) -> String {
        described(self.variables.iter().zip(&self.points[point]))
    }
}

/// Returns names of variables with their values, in words.
pub(crate) fn described<'a>(values: impl Iterator<Item = (&'a Variable, &'a String)>) -> String {
    let text = |(variable, value): (&Variable, &String)| {
        if variable.is_name { value.clone() } else { format!("{} {value}", variable.label) }
    };
    values.map(text).collect::<Vec<_>>().join(", ")
}

impl Cell {
    /// Returns the values of a metric, one per seed.
    pub(crate) fn values(&self, measure: &Measure) -> Vec<f64> {
        self.values.get(measure.column).into_iter().flatten().map(|(_, value)| *value).collect()
    }

    /// Returns the minimum round-trip time of the flows in seconds.
    fn min_rtt_s(&self) -> Option<f64> {
        let flows = self.runs.iter().flat_map(|run| &run.flows);
        flows.filter_map(|flow| flow.min_rtt_s).chain(self.min_rtt_s).reduce(f64::min)
    }

    /// Returns `interval` as it applies to the runs of this cell: without a half-width if nothing in them is random.
    pub(crate) fn judged(&self, interval: Interval) -> Interval {
        if self.is_fixed { Interval { half_width: f64::NAN, ..interval } } else { interval }
    }
}

impl ComparedRun {
    /// Returns the distinct congestion controls of the run's flows, without UDP.
    pub(crate) fn algorithms(&self) -> Vec<&str> {
        unique(self.flows.iter().map(|flow| flow.congestion.as_str()).filter(|name| *name != UDP))
    }

    /// Returns the goodputs of the flows of an algorithm.
    pub(crate) fn goodputs(&self, algorithm: &str) -> Vec<f64> {
        self.flows.iter().filter(|flow| flow.congestion == algorithm).map(|flow| flow.goodput_bps).collect()
    }
}

/// Returns the distinct items, in order of first appearance.
pub(crate) fn unique<T: Ord + Clone>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut seen = BTreeSet::new();
    items.into_iter().filter(|item| seen.insert(item.clone())).collect()
}
