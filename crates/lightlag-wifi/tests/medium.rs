//! Tests of the medium and its MAC alone, driven by a small event loop.

#[path = "medium/aggregation.rs"]
mod aggregation;
#[path = "medium/agreements.rs"]
mod agreements;
#[path = "medium/bench.rs"]
mod bench;
#[path = "medium/classes.rs"]
mod classes;
#[path = "medium/crowds.rs"]
mod crowds;
#[path = "medium/exchanges.rs"]
mod exchanges;
#[path = "medium/hidden.rs"]
mod hidden;
#[path = "medium/invariants.rs"]
mod invariants;
#[path = "medium/links.rs"]
mod links;
#[path = "medium/rates.rs"]
mod rates;
#[path = "medium/saturation.rs"]
mod saturation;
