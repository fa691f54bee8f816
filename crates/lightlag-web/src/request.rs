//! The requests of the API.

use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A scenario, with its files and changes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScenarioRequest {
    /// Text of the scenario in TOML.
    pub(crate) toml: String,
    /// Files that the scenario refers to, in base64.
    #[serde(default)]
    pub(crate) files: BTreeMap<String, String>,
    /// Changes, each with a dotted path and a new value, as in `--set`.
    #[serde(default)]
    pub(crate) sets: Vec<(String, String)>,
}

/// Selection of the packets of a run that are reported.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Packets {
    #[serde(default)]
    pub(crate) from_s: f64,
    pub(crate) to_s: Option<f64>,
    pub(crate) flow: Option<u32>,
    /// Maximum number of rows per step.
    pub(crate) most: usize,
}

/// A request.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub(crate) enum Request {
    /// Returns the version, the congestion controls, the profiles, the warnings, and the columns of the result tables.
    About,
    /// Provides the schema of scenarios, for a module that cannot generate it.
    Schema { schema: Value },
    /// Returns the errors of a scenario or, if it has none, its warnings and its complete form.
    Check(ScenarioRequest),
    /// Returns a scenario text in which the value at a path is replaced.
    Edit {
        toml: String,
        path: String,
        #[serde(default)]
        value: Value,
    },
    /// Returns a scenario as TOML text.
    Write { scenario: Value },
    /// Returns the analysis of a capture; `data` is the capture in base64.
    Inspect { data: String },
    /// Returns the network that a scenario describes.
    Network(ScenarioRequest),
    /// Starts a run.
    Start {
        #[serde(flatten)]
        asked: AskedOf,
        seed: Option<u64>,
        packets: Option<Packets>,
        #[serde(default)]
        captures: bool,
    },
    /// Continues a run up to a time, but for at most `events` events.
    Step { run: usize, until_s: f64, events: Option<u64> },
    /// Ends a run and returns its results.
    Finish {
        run: usize,
        #[serde(default)]
        whole: bool,
        #[serde(default)]
        compared: bool,
    },
    /// Ends a run without results.
    Close { run: usize },
    /// Creates an object that computes the positions of the satellites and stations of a scenario.
    Sky(ScenarioRequest),
    /// Creates an object that computes the positions of the nodes with radios of a scenario.
    Flight(ScenarioRequest),
    /// Returns the positions of satellites and stations, or of nodes.
    PlacesAt { place: usize, time_s: f64 },
    /// Returns the paths between two stations over time.
    Courses { place: usize, from: usize, to: usize, until_s: f64 },
    /// Returns tables, texts and numbers about results.
    Analyse { request: lightlag_analysis::Request },
    /// Removes an object that `Sky` or `Flight` created.
    Leave { place: usize },
}

/// The keys of a [`ScenarioRequest`] in a request that also has other keys, so that unknown keys are accepted here.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct AskedOf {
    toml: String,
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    sets: Vec<(String, String)>,
}

impl AskedOf {
    pub(crate) fn scenario(self) -> ScenarioRequest {
        let Self { toml, files, sets } = self;
        ScenarioRequest { toml, files, sets }
    }
}
