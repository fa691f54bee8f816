//! A scenario that was read once: its facts, and the runs that start from it.

use crate::scenario_error;
use crate::sky::SkyOf;
use lightlag_net::NodeId;
use lightlag_scenario::{Network, Rerouted, Scenario, ScenarioError};
use lightlag_sim::{Parallel, Simulation, estimate};
use pyo3::prelude::*;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Since when, the name of the flow, and its nodes.
type WayOfFlow = (f64, String, Option<Vec<String>>);

/// A scenario without mistakes of its own. Only what it describes together may still be wrong, which the first question
/// about the network finds.
#[pyclass(frozen, name = "Scenario", module = "lightlag._engine")]
pub(crate) struct Read {
    pub(crate) scenario: Scenario,
    /// The network that it describes, from the first question on until a run takes it.
    network: Mutex<Option<Network>>,
    /// Its sky, from the first question on.
    sky: OnceLock<Option<SkyOf>>,
}

impl Read {
    pub(crate) fn new(scenario: Scenario) -> Self {
        Self { scenario, network: Mutex::new(None), sky: OnceLock::new() }
    }

    /// A run that has not started.
    pub(crate) fn simulation(&self, how: Parallel) -> Result<Simulation, Vec<ScenarioError>> {
        let network = match self.kept().take() {
            Some(network) => network,
            None => self.scenario.expand()?,
        };
        Ok(Simulation::of(&self.scenario, network, how))
    }

    /// Whether an algorithm of it runs in the interpreter.
    pub(crate) fn holds_interpreter(&self, py: Python<'_>) -> PyResult<bool> {
        self.about(py, |_, network| network.holds_interpreter())
    }

    /// Answers a question about the network.
    fn about<T>(&self, py: Python<'_>, ask: impl FnOnce(&Scenario, &Network) -> T + Send) -> PyResult<T>
    where
        T: Send,
    {
        py.detach(|| {
            let mut kept = self.kept();
            let network = match kept.take() {
                Some(network) => network,
                None => self.scenario.expand()?,
            };
            Ok(ask(&self.scenario, kept.insert(network)))
        })
        .map_err(|errors: Vec<ScenarioError>| scenario_error(py, &errors))
    }

    fn kept(&self) -> MutexGuard<'_, Option<Network>> {
        self.network.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds the texts in a tree.
fn add_texts(tree: Value, texts: &mut BTreeSet<String>) {
    match tree {
        Value::String(text) => {
            texts.insert(text);
        }
        Value::Array(items) => items.into_iter().for_each(|item| add_texts(item, texts)),
        Value::Object(entries) => entries.into_iter().for_each(|(_, value)| add_texts(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[pymethods]
impl Read {
    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.scenario.name
    }

    /// How long it lasts, as text with a unit.
    #[getter]
    fn duration(&self) -> String {
        self.scenario.duration.to_string()
    }

    /// Whether it asks for captures.
    #[getter]
    fn is_captured(&self) -> bool {
        self.scenario.record.pcap.is_some()
    }

    /// Its complete form, with every default, as JSON.
    fn json(&self) -> String {
        serde_json::to_string(&self.scenario.written()).expect("a scenario is plain data")
    }

    /// The texts in it, each once.
    fn texts(&self) -> BTreeSet<String> {
        let mut texts = BTreeSet::new();
        add_texts(self.scenario.head().to_json(), &mut texts);
        self.scenario.links.iter().for_each(|link| add_texts(link.to_json(), &mut texts));
        self.scenario.flows.iter().for_each(|flow| add_texts(flow.to_json(), &mut texts));
        texts
    }

    /// The number of its links, the number of its flows, and the bytes of memory that they take at least.
    fn counts(&self) -> (u64, u64, u64) {
        (self.scenario.link_count(), self.scenario.flow_count(), estimate::least_memory(&self.scenario).0)
    }

    /// Bytes of memory that its recorded tables take at least, and at most.
    fn table_memory(&self, py: Python<'_>) -> PyResult<(f64, f64)> {
        let tables = self.about(py, estimate::table_memory)?;
        Ok((tables.least.0 as f64, tables.most.0 as f64))
    }

    /// Bytes that its results may take on the disk, captures included.
    fn results_size(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.about(py, estimate::results_size)?.0 as f64)
    }

    /// Whether anything in it is drawn at random: where nothing is, every seed gives the same.
    fn is_random(&self, py: Python<'_>) -> PyResult<bool> {
        self.about(py, Scenario::is_random)
    }

    /// Names of the flows with this congestion control, in their order.
    fn flows_with(&self, py: Python<'_>, congestion: &str) -> PyResult<Vec<String>> {
        self.about(py, |_, network| network.flows_with(congestion).into_iter().map(str::to_owned).collect())
    }

    /// The first `most` ways of flows at the start and whenever routes change: when, in seconds, the name of the flow, and
    /// the nodes of the way, or None for a loop. Then how many more there are. Empty if routes never change.
    fn ways(&self, py: Python<'_>, most: usize) -> PyResult<(Vec<WayOfFlow>, usize)> {
        self.about(py, |_, network| {
            let mut rerouted = network.rerouted();
            let name = |node: NodeId| network.nodes[node.0 as usize].clone();
            let way = |Rerouted { from, flow, nodes }: Rerouted| {
                let nodes = nodes.map(|nodes| nodes.into_iter().map(name).collect());
                (from.as_secs_f64(), network.flows[flow as usize].name.clone(), nodes)
            };
            let first = rerouted.by_ref().take(most).map(way).collect();
            (first, rerouted.count())
        })
    }

    /// Its sky; None without a constellation.
    pub(crate) fn sky(&self, py: Python<'_>) -> PyResult<Option<SkyOf>> {
        if let Some(sky) = self.sky.get() {
            return Ok(sky.clone());
        }
        if self.scenario.constellation.is_none() {
            return Ok(None);
        }
        let sky = self.about(py, |_, network| network.space.as_ref().map(|space| SkyOf::new(space, &network.nodes)))?;
        Ok(self.sky.get_or_init(|| sky).clone())
    }

    /// Warnings, each a place and a message.
    fn warnings(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        let warnings = self.about(py, Scenario::warnings)?;
        Ok(warnings.into_iter().map(|warning| (warning.path, warning.message)).collect())
    }

    /// Warnings, each the name of its kind, a place and a message.
    fn named_warnings(&self, py: Python<'_>) -> PyResult<Vec<(&'static str, String, String)>> {
        let warnings = self.about(py, Scenario::warnings)?;
        Ok(warnings.into_iter().map(|warning| (warning.kind.name(), warning.path, warning.message)).collect())
    }
}
