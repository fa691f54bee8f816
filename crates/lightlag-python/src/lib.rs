//! The interface to Python: JSON as input, JSON and columns as output.
//!
//! - `scenario`: a scenario that has been read.
//! - `run`: a run, its progress and Ctrl-C.
//! - `steps`: a run that is executed step by step.
//! - `answers`: the replies of a receiver to individual segments.
//! - `sky`: a scenario's satellites and stations without a run.
//! - `columns`: a run's tables as Arrow columns.
//! - `door`: the engine with the interface for the web page.
//! - `emulate`: emulations, which forward real packets between devices and simulated hosts; on Linux only.
//! - `folder`: a results directory on disk.
//! - `gym`: episodes for policies that learn.
//! - `custom`: custom algorithms; `libm` has mathematical functions for them.
//! - `replay`: the behaviour of a sender in a capture.
//! - `inspect`: captures.
//! - `partitions`: how the network is partitioned for a run on several threads.
//! - `rain`: MODCODs, and attenuations without a run.
//! - `memory`: the message if memory runs out.

mod analysis;
mod answers;
mod charts;
mod columns;
mod custom;
mod door;
#[cfg(target_os = "linux")]
mod emulate;
mod folder;
mod gym;
mod input;
mod inspect;
mod libm;
mod memory;
mod movements;
mod partitions;
mod rain;
mod replay;
mod run;
mod scenario;
mod sky;
mod steps;

use crate::scenario::Read;
use lightlag_control::congestion;
use lightlag_core::{Duration, UnitError};
use lightlag_scenario::{ScenarioError as Fault, WarningKind};
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

/// Minimum size in bytes for a scenario text to count as large: its syntax tree then takes tens of megabytes.
const LARGE_TEXT: usize = 1 << 20;

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

/// Reads a scenario ("toml" or "json") and applies the changes in `sets`. Paths of trace files are relative to
/// `folder`.
#[pyfunction]
#[pyo3(signature = (text, format="toml", sets=Vec::new(), folder=""))]
fn parse(py: Python<'_>, text: &str, format: &str, sets: Sets, folder: &str) -> PyResult<Read> {
    let read = py.detach(|| match format {
        "json" => lightlag_scenario::parse_json_in(folder, text, &sets),
        _ => lightlag_scenario::parse_toml_in(folder, text, &sets),
    });
    if text.len() > LARGE_TEXT {
        memory::return_freed();
    }
    read.map(Read::new).map_err(|errors| scenario_error(py, &errors))
}

/// Returns the changes (key, value) by which every flow gets the round-trip time `rtt`, such as "300 ms". The scenario
/// is JSON.
#[pyfunction]
fn changes_for_rtt(py: Python<'_>, scenario: &str, rtt: &str) -> PyResult<Sets> {
    let rtt: Duration = rtt.parse().map_err(|error: UnitError| PyValueError::new_err(error.to_string()))?;
    let scenario = lightlag_scenario::parse_json(scenario, &[]).map_err(|errors| scenario_error(py, &errors))?;
    scenario.changes_for_rtt(rtt).map_err(|errors| scenario_error(py, &errors))
}

/// Converts a time such as "300 ms" to seconds.
#[pyfunction]
fn seconds(text: &str) -> PyResult<f64> {
    let time: Duration = text.parse().map_err(|error: UnitError| PyValueError::new_err(error.to_string()))?;
    Ok(time.as_secs_f64())
}

/// Returns the JSON Schema of a scenario.
#[pyfunction]
fn schema() -> String {
    lightlag_scenario::schema().to_string()
}

/// Returns everything that is chosen by name, as JSON: congestion controls with their equations and parameters,
/// profiles, and kinds of warnings.
#[pyfunction]
fn catalog() -> String {
    let profiles: Vec<_> = Profile::ALL.iter().map(|profile| (profile.name(), profile.config())).collect();
    let warnings: Vec<_> = WarningKind::ALL.iter().map(|kind| (kind.name(), kind.about())).collect();
    json!({ "congestion": congestion::catalog(), "profiles": profiles, "warnings": warnings }).to_string()
}

/// Returns the tables of results and their columns, as JSON: name, key in the summary, type, unit and meaning of each
/// column.
#[pyfunction]
fn dictionary() -> String {
    serde_json::to_string(&lightlag_sim::results::dictionary()).expect("a dictionary is plain data")
}

/// Returns the name in scenarios of the congestion control that is called `name` in the literature; None if it is
/// unknown.
#[pyfunction]
fn congestion_name(name: &str) -> Option<&'static str> {
    congestion::canonical(name)
}

/// The engine of lightlag.
#[pymodule]
mod _engine {
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::custom::let_files_be_named();
        Ok(())
    }

    #[pymodule_export]
    use super::{ScenarioError, catalog, changes_for_rtt, congestion_name, dictionary, parse, schema, seconds};
    #[pymodule_export]
    use crate::analysis::{
        aggregate_goodput, analysis, decimals, factor_of, jain, mean_interval, milliseconds, number, rate,
        retransmitted_share, scaled, share, shown, size, student_t, window,
    };
    #[pymodule_export]
    use crate::answers::answers;
    #[pymodule_export]
    use crate::charts::{outcome, timeline};
    #[pymodule_export]
    use crate::custom::base::{Ack, Congestion, CongestionControl, Idle, Loss, Moment, Packet, Sent, Start};
    #[pymodule_export]
    use crate::custom::compiled::{compiled_algorithm, compiled_discipline, compiled_response, compiled_traffic};
    #[pymodule_export]
    use crate::custom::plain::plain_algorithm;
    #[pymodule_export]
    use crate::custom::queue::{QueueDiscipline, plain_discipline};
    #[pymodule_export]
    use crate::custom::response::{LossResponse, plain_response};
    #[pymodule_export]
    use crate::custom::router::{Break, Message, Parcel, Router, plain_router};
    #[pymodule_export]
    use crate::custom::sky_router::{SatelliteRouter, SkyLook, plain_sky_router};
    #[pymodule_export]
    use crate::custom::traffic::{Traffic, plain_traffic};
    #[pymodule_export]
    use crate::custom::{Made, plugin_sources};
    #[pymodule_export]
    use crate::door::Door;
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use crate::emulate::{Emulation, emulate};
    #[pymodule_export]
    use crate::gym::{Episodes, gym_features, gym_rewards, let_flows_be_steered};
    #[pymodule_export]
    use crate::input::read_file;
    #[pymodule_export]
    use crate::inspect::{Capture, inspect};
    #[pymodule_export]
    use crate::libm::libm_addresses;
    #[pymodule_export]
    use crate::movements::movements;
    #[pymodule_export]
    use crate::partitions::partitions;
    #[pymodule_export]
    use crate::rain::{attenuations, modcods};
    #[pymodule_export]
    use crate::replay::sending;
    #[pymodule_export]
    use crate::run::{Run, Table, run};
    #[pymodule_export]
    use crate::scenario::Read;
    #[pymodule_export]
    use crate::sky::SkyOf;
    #[pymodule_export]
    use crate::steps::Steps;

    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "a Python name")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// The version, and a hash of the sources that determine results. Builds with equal values produce equal results.
    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "a Python name")]
    const __build__: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("LIGHTLAG_SOURCES"));

    /// The commit of the git clone in which this engine was built, with "+modified" if files differed from it;
    /// otherwise empty.
    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "a Python name")]
    const __commit__: &str = env!("LIGHTLAG_COMMIT");
}
