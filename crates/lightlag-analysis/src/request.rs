//! Requests for an analysis, and their replies.

use crate::account::{self, AccountInput, SenderRecords};
use crate::answer::answer as conclusion;
use crate::charts::comparison::charts;
use crate::comparison::Comparison;
use crate::curves::usual_top;
use crate::diagnosis::{self, Diagnosis, Tried};
use crate::differences::DifferencesInput;
use crate::measures::{self, MEASURES};
use crate::numbers;
use crate::outcome;
use crate::rows::{self, Lists};
use crate::statistics::{Interval, interval, sample_size};
use crate::summary::{Flow, SatellitePath};
use serde::Deserialize;
use serde_json::{Value, json};

/// Request for an analysis. In JSON it is an object with one key, such as `{"tables": {"flows": […], "links": […]}}`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Formats a number as text.
    Text(FormattedNumber),
    /// Returns the power of 1000 of a number's decimal prefix, and the prefix.
    Factor(f64),
    /// Returns the indices of the flows that the table shows, and a line about the others. The input is the delivered
    /// payload of each flow.
    ShownFlows(Vec<u64>),
    /// Returns the indices of the links that the table shows.
    ShownLinks {
        /// Number of packets that each link dropped, one list per cause.
        dropped: Vec<Vec<Option<u64>>>,
        /// Fraction of the run during which each link transmitted.
        utilisation: Vec<f64>,
    },
    /// Returns the tables of a summary that have rows.
    Tables(Lists),
    /// Returns the table of the flows' paths over a constellation.
    Ways(Vec<SatellitePath>),
    /// Returns the senders that the account of a run explains.
    ToldSenders(AccountInput),
    /// Returns the explanation of a run's speed.
    Account {
        /// The summary of the run.
        run: AccountInput,
        /// Recorded data of each of the senders from `ToldSenders`, in the same order.
        recorded: Vec<SenderRecords>,
    },
    /// Returns what limited the slowest flow of a run, in a sentence.
    Limit(AccountInput),
    /// Returns the metrics of a comparison.
    Measures,
    /// Returns the outcome of a run.
    Outcome(outcome::OutcomeInput),
    /// Returns the metrics of each flow of a run.
    FlowMeasures(outcome::OutcomeInput),
    /// Returns where to cut off a peak that would flatten the rest of the curves, given as times and values.
    UsualTop(Vec<(Vec<f64>, Vec<Option<f64>>)>),
    /// Returns the mean of values with its confidence interval.
    MeanInterval(Vec<f64>),
    /// Formats a mean with its interval as text.
    Shown {
        /// Unit of the metric.
        unit: String,
        /// Mean; `None` without values.
        mean: Option<f64>,
        /// Half-width of its interval, if it has one.
        half_width: Option<f64>,
        /// Number of values.
        count: usize,
        /// Value whose decimal prefix is used; by default the mean itself.
        like: Option<f64>,
    },
    /// Returns the number of values whose Student-t interval is narrow enough.
    SampleSize {
        /// Standard deviation of the values.
        deviation: f64,
        /// Maximum half-width of the interval, or the difference to be found.
        distance: f64,
        /// Confidence of the interval.
        confidence: f64,
        /// Probability of finding a difference of `distance`; 0.5 to ignore it.
        power: f64,
    },
    /// Returns the differences of the candidates of a comparison from one of them.
    Differences(DifferencesInput),
    /// Returns the conclusion of a comparison.
    Answer(Comparison),
    /// Returns the goodput of one flow of each algorithm, for the runs of a comparison where several algorithms
    /// compete.
    Shares(Comparison),
    /// Returns the charts of a comparison.
    Charts(Comparison),
    /// Returns the causes that a diagnosis examines.
    Causes {},
    /// Returns the flow whose speed is to be diagnosed.
    Subject {
        /// The scenario of a run, with every default.
        scenario: Value,
        /// Flows of its summary.
        flows: Vec<Flow>,
        /// Name of the flow; by default the slowest one.
        flow: Option<String>,
    },
    /// Returns the scenarios without each cause that a flow's speed can have.
    Variants {
        /// The scenario, with every default.
        scenario: Value,
        /// Results of the flow, one for each seed.
        base: Vec<Flow>,
        /// The first of the consecutive seeds.
        first_seed: u64,
    },
    /// Returns the causes of a flow's speed.
    Diagnose {
        /// Results of the flow, one for each seed.
        base: Vec<Flow>,
        /// Results without each cause.
        tried: Vec<Tried>,
        /// Results with FQ-CoDel at the bottleneck.
        short_queue: Option<Vec<Flow>>,
    },
    /// Returns a diagnosis as sentences and as a table.
    Told(Diagnosis),
}

/// A number with the format in which it is to be written.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct FormattedNumber {
    /// Kind of the number, which determines its format.
    #[serde(rename = "as")]
    kind: NumberKind,
    /// The number; `None` means NaN.
    value: Option<f64>,
    /// Digits after the decimal point, or significant digits, depending on the kind.
    #[serde(default)]
    digits: usize,
    /// Number whose decimal prefix is used; by default the number itself.
    like: Option<f64>,
}

/// Kinds of numbers that can be formatted.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum NumberKind {
    Fixed,
    Grouped,
    General,
    Number,
    Rate,
    Size,
}

impl FormattedNumber {
    fn text(self) -> String {
        let value = self.value.unwrap_or(f64::NAN);
        let digits = self.digits.min(17);
        match self.kind {
            NumberKind::Fixed => numbers::fixed(value, digits),
            NumberKind::Grouped => numbers::grouped(value, digits),
            NumberKind::General => numbers::general(value, digits),
            NumberKind::Number => numbers::number(value, digits),
            NumberKind::Rate => numbers::rate_like(value, self.like.unwrap_or(value)),
            NumberKind::Size => numbers::size_like(value, self.like.unwrap_or(value)),
        }
    }
}

impl Request {
    /// Returns the reply.
    ///
    /// # Errors
    /// If lists that should have the same length do not.
    pub fn answer(&self) -> Result<Value, String> {
        Ok(match self {
            Self::Text(number) => json!(number.text()),
            Self::Factor(value) => json!(numbers::factor_of(*value)),
            Self::ShownFlows(delivered) => {
                json!({ "shown": rows::shown_flows(delivered), "hidden": rows::hidden_flows(delivered) })
            }
            Self::ShownLinks { dropped, utilisation } => {
                let mut total = vec![0; utilisation.len()];
                for counts in dropped {
                    if counts.len() != total.len() {
                        return Err(format!("shown_links: {} counts for {} links", counts.len(), total.len()));
                    }
                    total.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count.unwrap_or(0));
                }
                json!(rows::heaviest_links(&total, utilisation))
            }
            Self::Tables(lists) => json!(rows::tables(lists)),
            Self::Ways(ways) => json!(rows::way_table(ways)),
            Self::ToldSenders(run) => json!(account::told_senders(run)),
            Self::Limit(run) => json!(account::limit(run)),
            Self::Measures => json!(MEASURES),
            Self::Outcome(run) => json!(run.outcome()),
            Self::FlowMeasures(run) => json!(run.measures_of_flows()),
            Self::UsualTop(curves) => {
                let known = |values: &[Option<f64>]| values.iter().map(|value| value.unwrap_or(f64::NAN)).collect();
                let values: Vec<Vec<f64>> = curves.iter().map(|(_, values)| known(values)).collect();
                json!(usual_top(curves.iter().zip(&values).map(|((times, _), values)| (&times[..], &values[..]))))
            }
            Self::MeanInterval(values) => json!(interval(values)),
            Self::Shown { unit, mean, half_width, count, like } => {
                let mean = mean.unwrap_or(f64::NAN);
                let interval = Interval { mean, half_width: half_width.unwrap_or(f64::NAN), count: *count };
                json!(measures::shown(unit, interval, like.unwrap_or(mean)))
            }
            Self::SampleSize { deviation, distance, confidence, power } => {
                json!(sample_size(*deviation, *distance, *confidence, *power)?)
            }
            Self::Differences(input) => json!(input.differences()?),
            Self::Answer(comparison) => json!(conclusion(comparison)?),
            Self::Shares(comparison) => json!(comparison.shares()),
            Self::Charts(comparison) => json!(charts(comparison)?),
            Self::Account { run, recorded } => json!(account::account(run, recorded)),
            Self::Causes {} => json!(diagnosis::CAUSES),
            Self::Subject { scenario, flows, flow } => json!(diagnosis::subject(scenario, flows, flow.as_deref())?),
            Self::Variants { scenario, base, first_seed } => json!(diagnosis::variants(scenario, base, *first_seed)?),
            Self::Diagnose { base, tried, short_queue } => {
                json!(diagnosis::diagnose(base, tried, short_queue.as_deref())?)
            }
            Self::Told(diagnosis) => {
                let (headline, sentences) = (diagnosis.headline(), diagnosis.sentences());
                json!({ "headline": headline, "sentences": sentences, "table": diagnosis.table() })
            }
        })
    }
}

/// Handles a request in JSON and returns the reply in JSON.
///
/// # Errors
/// A message if the request is invalid.
pub fn answer(request: &str) -> Result<String, String> {
    let request: Request =
        serde_json::from_str(request).map_err(|error| format!("not a request for an analysis: {error}"))?;
    if let Request::Charts(comparison) = &request {
        // A `Value` would sort the keys, which pages have in the order of their meaning.
        return serde_json::to_string(&charts(comparison)?).map_err(|error| error.to_string());
    }
    request.answer().map(|answer| answer.to_string())
}
