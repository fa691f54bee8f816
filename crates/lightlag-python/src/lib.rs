//! The door to Python: JSON in, columns out, nothing else.
//!
//! - `run`: a run, its progress and Ctrl-C.
//! - `steps`: a run step by step.
//! - `answers`: what a receiver answers to single segments.
//! - `columns`: a run's tables as Arrow columns.
//! - `serve`: a host on a TUN device.
//! - `emulate`: real packets through a scenario's links.
//! - `folder`: a results folder on disk.
//! - `replay`: what a sender did, from a capture.
//! - `inspect`: captures.
//! - `memory`: the end of memory as a message.

mod answers;
mod columns;
mod emulate;
mod folder;
mod inspect;
mod memory;
mod replay;
mod run;
mod serve;
mod steps;

use lightlag_control::congestion;
use lightlag_core::{Duration, UnitError};
use lightlag_scenario::{Scenario, ScenarioError as Fault};
use lightlag_sim::estimate;
use lightlag_tcp::Profile;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::json;

pyo3::create_exception!(
    lightlag._engine,
    ScenarioError,
    PyValueError,
    "A scenario that cannot be run. `errors` lists every (path, message) in it."
);

type Sets = Vec<(String, String)>;

fn read(text: &str, format: &str, sets: &Sets, folder: &str) -> Result<Scenario, Vec<Fault>> {
    match format {
        "json" => lightlag_scenario::parse_json_in(folder, text, sets),
        _ => lightlag_scenario::parse_toml_in(folder, text, sets),
    }
}

fn pairs(errors: &[Fault]) -> Vec<(String, String)> {
    errors.iter().map(|error| (error.path.clone(), error.message.clone())).collect()
}

fn scenario_error(py: Python<'_>, errors: &[Fault]) -> PyErr {
    let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let error = ScenarioError::new_err(lines.join("\n"));
    match error.value(py).setattr("errors", pairs(errors)) {
        Ok(()) => error,
        Err(other) => other,
    }
}

/// Reads a scenario ("toml" or "json"), changes what `sets` says and gives it back as JSON with every default. The paths of
/// traces begin at `folder`.
#[pyfunction]
#[pyo3(signature = (text, format="toml", sets=Vec::new(), folder=""))]
fn parse(py: Python<'_>, text: &str, format: &str, sets: Sets, folder: &str) -> PyResult<String> {
    let scenario = read(text, format, &sets, folder).map_err(|errors| scenario_error(py, &errors))?;
    Ok(scenario.to_json().to_string())
}

/// All errors and warnings of a scenario, as JSON: {"errors": [[path, message], ...], "warnings": ...}.
#[pyfunction]
#[pyo3(signature = (text, format="toml", sets=Vec::new(), folder=""))]
fn check(text: &str, format: &str, sets: Sets, folder: &str) -> String {
    let checked = read(text, format, &sets, folder).and_then(|scenario| {
        let network = scenario.expand()?;
        Ok(scenario.warnings(&network))
    });
    let (errors, warnings) = match checked {
        Ok(warnings) => (Vec::new(), warnings.into_iter().map(|warning| (warning.path, warning.message)).collect()),
        Err(errors) => (pairs(&errors), Vec::new()),
    };
    json!({ "errors": errors, "warnings": warnings }).to_string()
}

/// How many links and flows a scenario, given as JSON, has when it is spread out, and how many bytes of memory they take at
/// least.
#[pyfunction]
fn counts(py: Python<'_>, scenario: &str) -> PyResult<(u64, u64, u64)> {
    let scenario = lightlag_scenario::parse_json(scenario, &[]).map_err(|errors| scenario_error(py, &errors))?;
    Ok((scenario.link_count(), scenario.flow_count(), estimate::least_memory(&scenario)))
}

/// How many bytes the results of a scenario, given as JSON, may take on the disk, captures included.
#[pyfunction]
fn results_size(py: Python<'_>, scenario: &str) -> PyResult<f64> {
    let scenario = lightlag_scenario::parse_json(scenario, &[]).map_err(|errors| scenario_error(py, &errors))?;
    estimate::results_size(&scenario).map_err(|errors| scenario_error(py, &errors))
}

/// Whether anything in a scenario, given as JSON, is drawn at random: where nothing is, every seed gives the same.
#[pyfunction]
fn is_random(py: Python<'_>, scenario: &str) -> PyResult<bool> {
    let scenario = lightlag_scenario::parse_json(scenario, &[]).map_err(|errors| scenario_error(py, &errors))?;
    let network = scenario.expand().map_err(|errors| scenario_error(py, &errors))?;
    Ok(scenario.is_random(&network))
}

/// The changes (key, value) that give every flow of a scenario, given as JSON, this round trip, such as "300 ms".
#[pyfunction]
fn changes_for_rtt(py: Python<'_>, scenario: &str, rtt: &str) -> PyResult<Sets> {
    let rtt: Duration = rtt.parse().map_err(|error: UnitError| PyValueError::new_err(error.to_string()))?;
    let scenario = lightlag_scenario::parse_json(scenario, &[]).map_err(|errors| scenario_error(py, &errors))?;
    scenario.changes_for_rtt(rtt).map_err(|errors| scenario_error(py, &errors))
}

/// A time such as "300 ms" in seconds.
#[pyfunction]
fn seconds(text: &str) -> PyResult<f64> {
    let time: Duration = text.parse().map_err(|error: UnitError| PyValueError::new_err(error.to_string()))?;
    Ok(time.as_secs_f64())
}

/// The JSON Schema of a scenario.
#[pyfunction]
fn schema() -> String {
    lightlag_scenario::schema().to_string()
}

/// What can be chosen by name, as JSON: congestion-control algorithms with their equations and parameters, profiles.
#[pyfunction]
fn catalog() -> String {
    let profiles: Vec<_> = Profile::ALL.iter().map(|profile| (profile.name(), profile.config())).collect();
    json!({ "congestion": congestion::catalog(), "profiles": profiles }).to_string()
}

/// The name in a scenario of the congestion control that the literature calls `name`; None if there is none.
#[pyfunction]
fn congestion_name(name: &str) -> Option<&'static str> {
    congestion::canonical(name)
}

/// The engine of lightlag.
#[pymodule]
mod _engine {
    #[pymodule_export]
    use super::{
        ScenarioError, catalog, changes_for_rtt, check, congestion_name, counts, is_random, parse, results_size,
        schema, seconds,
    };
    #[pymodule_export]
    use crate::answers::answers;
    #[pymodule_export]
    use crate::emulate::{Emulation, emulate};
    #[pymodule_export]
    use crate::inspect::{Capture, inspect};
    #[pymodule_export]
    use crate::replay::sending;
    #[pymodule_export]
    use crate::run::{Run, Table, run};
    #[pymodule_export]
    use crate::serve::serve_tcp;
    #[pymodule_export]
    use crate::steps::Steps;

    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "a Python name")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
