//! Requests for an analysis, and their answers.

use crate::account::{self, Recorded, Run};
use crate::numbers;
use crate::rows::{self, Lists};
use crate::summary::Way;
use serde::Deserialize;
use serde_json::{Value, json};

/// What is to be analysed. In JSON an object with one key, such as `{"tables": {"flows": […], "links": […]}}`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// A number as text.
    Text(Number),
    /// The power of 1000 that makes a number short, and its prefix.
    Factor(f64),
    /// The flows of a summary that its table shows, and a line about the others. Takes the payload that each delivered.
    ShownFlows(Vec<u64>),
    /// The links of a summary that its table shows.
    ShownLinks {
        /// Packets that each link dropped: a list for each cause.
        dropped: Vec<Vec<Option<u64>>>,
        /// Share of the run in which each transmitted.
        utilisation: Vec<f64>,
    },
    /// The tables of a summary that have rows.
    Tables(Lists),
    /// The table of the ways of flows through a sky.
    Ways(Vec<Way>),
    /// The senders that the account of a run tells of.
    ToldSenders(Run),
    /// Why a run was as fast as it was.
    Account {
        /// The summary of the run.
        run: Run,
        /// What was recorded of each of the told senders.
        recorded: Vec<Recorded>,
    },
}

/// A number, and the text that it is to be.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Number {
    /// What the number is.
    #[serde(rename = "as")]
    kind: Kind,
    /// The number; `None` stands for NaN.
    value: Option<f64>,
    /// Digits after the point, or significant ones.
    #[serde(default)]
    digits: usize,
    /// The number whose unit it takes; its own by default.
    like: Option<f64>,
}

/// Kinds of numbers.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Fixed,
    Grouped,
    General,
    Number,
    Rate,
    Size,
}

impl Number {
    fn text(self) -> String {
        let value = self.value.unwrap_or(f64::NAN);
        let digits = self.digits.min(17);
        match self.kind {
            Kind::Fixed => numbers::fixed(value, digits),
            Kind::Grouped => numbers::grouped(value, digits),
            Kind::General => numbers::general(value, digits),
            Kind::Number => numbers::number(value, digits),
            Kind::Rate => numbers::rate_like(value, self.like.unwrap_or(value)),
            Kind::Size => numbers::size_like(value, self.like.unwrap_or(value)),
        }
    }
}

impl Request {
    /// Its answer.
    ///
    /// # Errors
    /// Lists that should be equally long and are not.
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
            Self::Account { run, recorded } => json!(account::account(run, recorded)),
        })
    }
}

/// Answers a request in JSON with JSON.
///
/// # Errors
/// What is no request, in words.
pub fn answer(request: &str) -> Result<String, String> {
    let request: Request =
        serde_json::from_str(request).map_err(|error| format!("not a request for an analysis: {error}"))?;
    request.answer().map(|answer| answer.to_string())
}
