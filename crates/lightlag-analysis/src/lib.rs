//! Analysis of results: numbers as text, the rows of tables, and explanations of a run.
//!
//! Python and the web page call the same functions with the same plain data, so every row and every number format is
//! defined only here. The input is JSON, in the form of a summary (`lightlag run --json`); see [`Request`].
//!
//! - [`numbers`]: numbers, quantities and fractions as text.
//! - [`summary`]: flows, links and radios as input of an analysis.
//! - [`rows`]: parts of a summary as tables of text.
//! - [`account`]: explanations of a run's speed, in sentences.
//! - [`outcome`]: stored outcome of a run in a comparison.
//! - [`measures`]: metrics of a comparison, and their values as text.
//! - [`statistics`]: sums, means and their intervals.
//! - [`ranking`]: the best of several candidates, and the gaps to the others.
//! - [`answer`](mod@answer): the conclusion of a comparison, in sentences.
//! - [`differences`]: the differences between candidates, for tables.
//! - [`comparison`]: the runs of a comparison as input of an analysis.
//! - [`table`](mod@table): recorded tables as input of an analysis.
//! - [`curves`]: curves over time.
//! - [`charts`]: charts as data.
//! - [`diagnosis`]: causes of a slow transfer, measured by runs without them.
//! - [`timeline`](mod@timeline): the charts of a run over time.

pub mod account;
pub mod answer;
pub mod charts;
pub mod comparison;
pub mod curves;
pub mod diagnosis;
pub mod differences;
pub mod limits;
pub mod measures;
pub mod numbers;
pub mod outcome;
pub mod ranking;
mod request;
pub mod rows;
pub mod statistics;
pub mod summary;
pub mod table;
pub mod timeline;
mod words;

pub use request::{Request, answer};
