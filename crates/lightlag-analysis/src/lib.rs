//! The analysis of results: numbers as text, the rows of tables, and what both say about a run.
//!
//! Python and the web page call the same functions with the same plain data, so every row and every number format is
//! defined here alone. Data come in as JSON, in the form of a summary (`lightlag run --json`); see [`Request`].
//!
//! - [`numbers`]: numbers, quantities and shares as text.
//! - [`summary`]: flows, links and radios as an analysis reads them.
//! - [`rows`]: parts of a summary as tables of text.
//! - [`account`]: why a run was as fast as it was, in sentences.

pub mod account;
pub mod numbers;
mod request;
pub mod rows;
pub mod summary;
mod words;

pub use request::{Request, answer};
