//! Causes of a slow transfer, each measured by runs of the scenario without it.
//!
//! The runs are made by the caller, in four steps:
//!
//! 1. [`subject`] chooses the flow by the results of a first run.
//! 2. The caller runs the scenario with several seeds, and [`variants`] returns the scenarios without each cause.
//! 3. The caller runs these with the same seeds, and [`diagnose`] returns the effects of the causes, in their order.
//! 4. [`Diagnosis::sentences`] and [`Diagnosis::table`] are the diagnosis as text.
//!
//! A scenario is JSON with every default, as a run stores it. A result is the flow's entry in the summary of a run.

mod case;
mod causes;
mod effects;
mod removal;
mod sentences;

pub use causes::{CAUSES, Cause};
pub use effects::diagnose;

use crate::summary::Flow;
use case::Case;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Maximum number of flows that an error lists.
const LISTED: usize = 10;

/// The flow to examine.
#[derive(Clone, Debug, Serialize)]
pub struct Subject {
    /// Name of the flow.
    pub flow: String,
    /// The key `record` of the scenarios of the runs, whose flows alone are read.
    pub record: Value,
}

/// A scenario without a cause.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Variant {
    /// Name of the cause.
    pub cause: &'static str,
    /// Whether a setting of the scenario is the cause, not a default or the path.
    pub is_set: bool,
    /// The scenario without it.
    pub scenario: Value,
}

/// The scenarios of the runs that a diagnosis needs.
#[derive(Clone, Debug, Serialize)]
pub struct Variants {
    /// Scenarios without each cause that the scenario can have.
    pub causes: Vec<Variant>,
    /// Scenario with FQ-CoDel at the bottleneck, if the flow's packets wait long in queues.
    pub short_queue: Option<Value>,
}

/// The results of the flow without a cause.
#[derive(Clone, Debug, Deserialize)]
pub struct Tried {
    /// Name of the cause.
    pub cause: String,
    /// Whether a setting of the scenario is the cause.
    #[serde(default)]
    pub is_set: bool,
    /// Results of the flow, one for each seed.
    #[serde(default)]
    pub rows: Vec<Flow>,
    /// Error of a scenario that is invalid without the cause.
    pub error: Option<String>,
}

/// The causes of the speed of a flow.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Diagnosis {
    /// Name of the flow.
    pub flow: String,
    /// Mean goodput over the seeds, in bit/s.
    pub goodput_bps: f64,
    /// Mean completion time in seconds; `None` unless the transfer finishes with every seed.
    pub completion_s: Option<f64>,
    /// Number of seeds.
    pub seeds: usize,
    /// All causes that the scenario can have, the most important first.
    pub effects: Vec<Effect>,
    /// The queueing delay, if it is long.
    pub latency: Option<Latency>,
    /// Causes that were not examined.
    pub skipped: Vec<Skipped>,
}

impl Diagnosis {
    /// Returns the most important cause; `None` if no effect is large.
    pub fn cause(&self) -> Option<&Effect> {
        self.effects.iter().find(|effect| effect.is_large)
    }
}

/// The effect of a cause: the speed of the flow without it, relative to the speed with it.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Effect {
    /// Name of the cause.
    pub cause: String,
    /// Geometric mean of the ratio of the speeds over the seeds, minus 1.
    pub gain: f64,
    /// Lower end of the 95 % interval of the gain; `None` with one seed.
    pub gain_low: Option<f64>,
    /// Upper end of the 95 % interval of the gain; `None` with one seed.
    pub gain_high: Option<f64>,
    /// Whether the gain is at least 10 %, and its interval above 0.
    pub is_large: bool,
    /// Whether a setting of the scenario is the cause.
    pub is_set: bool,
    /// The cause in a sentence, without a full stop.
    pub statement: String,
    /// The fix in a sentence, without a full stop.
    pub fix: String,
}

/// The queueing delay at the bottleneck, which also delays other flows.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Latency {
    /// Mean round-trip time minus the minimum, in seconds.
    pub queueing_s: f64,
    /// Minimum round-trip time in seconds.
    pub min_rtt_s: f64,
    /// Mean queueing delay in seconds with FQ-CoDel at the bottleneck.
    pub shortened_s: f64,
    /// Change of the speed by FQ-CoDel, as in [`Effect`].
    pub gain: f64,
}

/// A cause that was not examined, because the scenario without it is invalid.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Skipped {
    /// Name of the cause.
    pub cause: String,
    /// Error of the scenario without it.
    pub reason: String,
}

/// Returns the flow to examine: the one with a name, or the slowest TCP or QUIC flow of a run. `rows` has the results of
/// all flows.
///
/// # Errors
/// If the run has no such flow.
pub fn subject(scenario: &Value, rows: &[Flow], name: Option<&str>) -> Result<Subject, String> {
    let transports = case::transports(scenario, rows);
    let own = rows.iter().zip(transports).filter(|(_, transport)| matches!(*transport, "tcp" | "quic"));
    let flows: Vec<&Flow> = own.map(|(row, _)| row).collect();
    let slowness = |row: &Flow| match effects::speed(row) {
        speed if speed > 0.0 => speed,
        _ => f64::INFINITY,
    };
    let slowest = flows.iter().min_by(|a, b| slowness(a).total_cmp(&slowness(b)));
    let Some(slowest) = slowest else {
        return Err("the scenario has no TCP or QUIC flow, whose speed could have a cause".to_owned());
    };
    let flow = match name {
        None => slowest.name.clone(),
        Some(name) if flows.iter().any(|row| row.name == name) => name.to_owned(),
        Some(name) => {
            let names: Vec<&str> = flows.iter().take(LISTED).map(|row| row.name.as_str()).collect();
            let more = if flows.len() > LISTED { ", ..." } else { "" };
            return Err(format!("there is no flow '{name}'; the flows are {}{more}", names.join(", ")));
        }
    };
    Ok(Subject { flow, record: json!({ "trace": "off", "queue": "off", "drops": false }) })
}

/// Returns the scenarios without each cause. `base` has the results of the flow, one for each seed, beginning with the
/// seed `first_seed`.
///
/// # Errors
/// If the flow transfers nothing with a seed.
pub fn variants(scenario: &Value, base: &[Flow], first_seed: u64) -> Result<Variants, String> {
    let first = base.first().ok_or("there is no run to diagnose")?;
    if let Some((seed, row)) = (first_seed..).zip(base).find(|(_, row)| effects::speed(row) <= 0.0) {
        let flow = &row.name;
        return Err(format!("flow '{flow}' transfers nothing with seed {seed}: there is no speed to compare"));
    }
    let whole = Case::of(scenario, first);
    let variant = |cause: &Cause| {
        let scenario = without_cause(scenario, first, cause.remove)?;
        Some(Variant { cause: cause.name, is_set: cause.is_set(&whole), scenario })
    };
    let causes = CAUSES.iter().filter_map(variant).collect();
    Ok(Variants { causes, short_queue: effects::with_short_queue(scenario, base) })
}

/// Returns the scenario without a cause; `None` if it cannot have the cause.
fn without_cause(scenario: &Value, row: &Flow, remove: fn(&mut Case<'_>) -> bool) -> Option<Value> {
    let mut case = Case::of(scenario, row);
    (remove(&mut case) && case.scenario != *scenario).then_some(case.scenario)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, goodput_bps: f64) -> Flow {
        Flow { name: name.to_owned(), from: "a".to_owned(), to: "c".to_owned(), goodput_bps, ..Flow::default() }
    }

    #[test]
    fn the_slowest_connection_with_data_is_the_subject() {
        let scenario = json!({ "flows": [{ "name": "u", "transport": "udp" }] });
        let rows = [row("u", 1.0), row("x", 9.0), row("idle", 0.0), row("y", 5.0)];
        assert_eq!(subject(&scenario, &rows, None).unwrap().flow, "y");
        assert_eq!(subject(&scenario, &rows, Some("x")).unwrap().flow, "x");
        let error = subject(&scenario, &rows, Some("u")).unwrap_err();
        assert_eq!(error, "there is no flow 'u'; the flows are x, idle, y");
        assert!(subject(&scenario, &rows[..1], None).unwrap_err().starts_with("the scenario has no TCP or QUIC flow"));
    }

    #[test]
    fn variants_are_the_causes_that_the_scenario_can_have() {
        let scenario = json!({
            "links": [{ "between": ["a", "c"], "rate": "10 Mbit/s", "queue": "500 packets", "loss": 0.01 }],
            "flows": [{ "from": "a", "to": "c", "tcp": { "receive_buffer": "64 kB" } }],
        });
        let slow = Flow { bottleneck: Some("a->c".to_owned()), min_rtt_s: Some(0.1), ..row("a->c", 1.0) };
        let found = variants(&scenario, std::slice::from_ref(&slow), 1).unwrap();
        let names: Vec<(&str, bool)> = found.causes.iter().map(|one| (one.cause, one.is_set)).collect();
        let expected = [
            ("receive window", true),
            ("no SACK", false),
            ("delayed ACKs", false),
            ("losses of data", false),
            ("losses of ACKs", false),
            ("short queue", false),
            ("capacity", false),
        ];
        assert_eq!(names, expected);
        assert_eq!(found.causes[6].scenario["links"][0]["rate"]["forward"], "20000000 bit/s");
        assert_eq!(found.short_queue, None);
        let waits = Flow { mean_rtt_s: Some(0.2), ..slow.clone() };
        let found = variants(&scenario, &[waits], 1).unwrap();
        assert_eq!(found.short_queue.unwrap()["links"][0]["queue"]["forward"], "fq_codel");
        let error = variants(&scenario, &[slow, row("a->c", 0.0)], 7).unwrap_err();
        assert_eq!(error, "flow 'a->c' transfers nothing with seed 8: there is no speed to compare");
    }

    #[test]
    fn a_diagnosis_is_told_in_sentences_and_a_table() {
        let diagnosis: Diagnosis = serde_json::from_value(json!({
            "flow": "a->c", "goodput_bps": 3.154e6, "completion_s": 50.74, "seeds": 2, "effects": [
                {
                    "cause": "receive window", "gain": 2.48, "gain_low": 2.01, "gain_high": 3.02, "is_large": true,
                    "is_set": true, "statement": "the receive window is small", "fix": "allow more",
                },
                {
                    "cause": "policer", "gain": 0.009, "gain_low": null, "gain_high": null, "is_large": false,
                    "is_set": false, "statement": "", "fix": "",
                },
            ],
            "latency": { "queueing_s": 0.2, "min_rtt_s": 0.1, "shortened_s": 0.01, "gain": -0.026 },
            "skipped": [{ "cause": "handovers", "reason": "links[1].ramp: needs slots" }],
        }))
        .unwrap();
        let sentences = [
            "a->c: 3.154 Mbit/s, 50.74 s",
            "Cause: receive window: the receive window is small.",
            "Without it: 3.48 times as fast (95 %: 3.01 to 4.02).",
            "Fix: allow more.",
            "Latency: packets wait 200 ms in queues, on a path of 100 ms; with FQ-CoDel at the bottleneck 10 ms, and the \
             speed changes by -3 %.",
            "Not examined: handovers: links[1].ramp: needs slots",
        ];
        assert_eq!(diagnosis.sentences(), sentences);
        assert_eq!(diagnosis.headline(), "a->c: 3.154 Mbit/s, 50.74 s, mean of 2 seeds");
        let table = diagnosis.table();
        assert_eq!(table.columns, ["without", "speed", "95 % interval"]);
        assert_eq!(table.rows, [["receive window", "3.48 ×", "3.01 to 4.02"]]);
        let none = Diagnosis { effects: vec![], latency: None, skipped: vec![], completion_s: None, ..diagnosis };
        assert_eq!(none.sentences(), ["a->c: 3.154 Mbit/s", "No cause has an effect of 10 % or more."]);
    }
}
