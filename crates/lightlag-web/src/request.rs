//! The requests.

use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A scenario with what belongs to it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    /// Its text.
    pub(crate) toml: String,
    /// The files that it names, in base 64.
    #[serde(default)]
    pub(crate) files: BTreeMap<String, String>,
    /// Changes, dotted path and new value, as of `--set`.
    #[serde(default)]
    pub(crate) sets: Vec<(String, String)>,
}

/// The packets that a run tells.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Packets {
    #[serde(default)]
    pub(crate) from_s: f64,
    pub(crate) to_s: Option<f64>,
    pub(crate) flow: Option<u32>,
    /// The most rows of a step.
    pub(crate) most: usize,
}

/// A request.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub(crate) enum Request {
    /// Everything that is chosen by name, and what tables hold.
    About,
    /// The schema of scenarios, for a module that cannot make it.
    Schema { schema: Value },
    /// The mistakes of a scenario, its warnings, and its complete form.
    Check(Asked),
    /// A text with another value at a place.
    Edit {
        toml: String,
        path: String,
        #[serde(default)]
        value: Value,
    },
    /// A scenario as text.
    Write { scenario: Value },
    /// The findings about a capture, in base 64.
    Inspect { data: String },
    /// The network that a scenario describes.
    Network(Asked),
    /// A run from its start.
    Start {
        #[serde(flatten)]
        asked: AskedOf,
        seed: Option<u64>,
        packets: Option<Packets>,
        #[serde(default)]
        captures: bool,
    },
    /// A run goes on to a time, with at most so many events.
    Step { run: usize, until_s: f64, events: Option<u64> },
    /// The results of a run that ends here.
    Finish {
        run: usize,
        #[serde(default)]
        whole: bool,
    },
    /// A run without results.
    Close { run: usize },
    /// The satellites of a scenario.
    Sky(Asked),
    /// The nodes of a scenario that have radios.
    Flight(Asked),
    /// Where satellites or nodes are.
    PlacesAt { place: usize, time_s: f64 },
    /// The ways between two stations over time.
    Courses { place: usize, from: usize, to: usize, until_s: f64 },
    /// Tables, sentences and numbers about results.
    Analyse { request: lightlag_analysis::Request },
    /// A sky or a flight that nobody needs any more.
    Leave { place: usize },
}

/// The same scenario among other keys, of which none is unknown to it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct AskedOf {
    toml: String,
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    sets: Vec<(String, String)>,
}

impl AskedOf {
    pub(crate) fn scenario(self) -> Asked {
        let Self { toml, files, sets } = self;
        Asked { toml, files, sets }
    }
}
