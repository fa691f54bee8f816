//! A scenario that has been read: its properties, and runs that start from it.

use crate::scenario_error;
use crate::sky::SkyOf;
use lightlag_net::NodeId;
use lightlag_scenario::{Network, Rerouted, Scenario, ScenarioError};
use lightlag_sim::{Parallel, Simulation, estimate};
use pyo3::prelude::*;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// A path of a flow: start time in seconds, name of the flow, and nodes.
type WayOfFlow = (f64, String, Option<Vec<String>>);

/// A scenario in which each value is valid. Errors in the combination of values are only found by the first query about
/// the network.
#[pyclass(frozen, name = "Scenario", module = "lightlag._engine")]
pub(crate) struct Read {
    pub(crate) scenario: Scenario,
    /// The network of the scenario, from the first query until a run takes it.
    network: Mutex<Option<Network>>,
    /// The constellation of the scenario, computed at the first request.
    sky: OnceLock<Option<SkyOf>>,
}

impl Read {
    pub(crate) fn new(scenario: Scenario) -> Self {
        Self { scenario, network: Mutex::new(None), sky: OnceLock::new() }
    }

    /// Returns a run that has not started.
    pub(crate) fn simulation(&self, how: Parallel) -> Result<Simulation, Vec<ScenarioError>> {
        let network = match self.kept().take() {
            Some(network) => network,
            None => self.scenario.expand()?,
        };
        Ok(Simulation::of(&self.scenario, network, how))
    }

    /// Returns true if an algorithm of the scenario is run by the Python interpreter.
    pub(crate) fn holds_interpreter(&self, py: Python<'_>) -> PyResult<bool> {
        self.about(py, |_, network| network.holds_interpreter())
    }

    /// Evaluates a function of the network, which is created first if necessary.
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

/// Adds all texts in a JSON tree to the set.
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
    /// Returns the name of the scenario.
    #[getter]
    fn name(&self) -> &str {
        &self.scenario.name
    }

    /// Returns the duration of the scenario, as text with a unit.
    #[getter]
    fn duration(&self) -> String {
        self.scenario.duration.to_string()
    }

    /// Returns true if the scenario requests captures.
    #[getter]
    fn is_captured(&self) -> bool {
        self.scenario.record.pcap.is_some()
    }

    /// Returns the complete scenario, including all defaults, as JSON.
    fn json(&self) -> String {
        serde_json::to_string(&self.scenario.written()).expect("a scenario is plain data")
    }

    /// Returns the set of all texts in the scenario.
    fn texts(&self) -> BTreeSet<String> {
        let mut texts = BTreeSet::new();
        add_texts(self.scenario.head().to_json(), &mut texts);
        self.scenario.links.iter().for_each(|link| add_texts(link.to_json(), &mut texts));
        self.scenario.flows.iter().for_each(|flow| add_texts(flow.to_json(), &mut texts));
        texts
    }

    /// Returns the number of links, the number of flows, and the minimum memory that they take in bytes.
    fn counts(&self) -> (u64, u64, u64) {
        (self.scenario.link_count(), self.scenario.flow_count(), estimate::least_memory(&self.scenario).0)
    }

    /// Returns the minimum and the maximum memory for the recorded tables, in bytes.
    fn table_memory(&self, py: Python<'_>) -> PyResult<(f64, f64)> {
        let tables = self.about(py, estimate::table_memory)?;
        Ok((tables.least.0 as f64, tables.most.0 as f64))
    }

    /// Returns the estimated maximum size of the results on disk in bytes, including captures.
    fn results_size(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.about(py, estimate::results_size)?.0 as f64)
    }

    /// Returns true if the scenario has anything random. If not, all seeds give the same results.
    fn is_random(&self, py: Python<'_>) -> PyResult<bool> {
        self.about(py, Scenario::is_random)
    }

    /// Returns the names of the flows with this congestion control, in the order of the flows.
    fn flows_with(&self, py: Python<'_>, congestion: &str) -> PyResult<Vec<String>> {
        self.about(py, |_, network| network.flows_with(congestion).into_iter().map(str::to_owned).collect())
    }

    /// Returns the first `most` paths of flows, at the start and after each routing change: time in seconds, name of
    /// the flow, and nodes of the path, or None in case of a routing loop. The second value is the number of further
    /// paths. The list is empty if routes never change.
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

    /// Returns the constellation of the scenario; None if it has none.
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

    /// Returns the warnings, each as a key and a message.
    fn warnings(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        let warnings = self.about(py, Scenario::warnings)?;
        Ok(warnings.into_iter().map(|warning| (warning.path, warning.message)).collect())
    }

    /// Returns the warnings, each as the name of its kind, a key and a message.
    fn named_warnings(&self, py: Python<'_>) -> PyResult<Vec<(&'static str, String, String)>> {
        let warnings = self.about(py, Scenario::warnings)?;
        Ok(warnings.into_iter().map(|warning| (warning.kind.name(), warning.path, warning.message)).collect())
    }

    /// Returns the name of each link direction with rain, and the fraction of time in which rain stops it. Adaptive
    /// terminals of a beam have one entry, with their mean.
    fn rain_outages(&self, py: Python<'_>) -> PyResult<Vec<(String, f64)>> {
        self.about(py, |_, network| {
            let links = network.links.iter();
            let rainy = links.filter_map(|link| Some((link.name.clone(), link.fade.as_ref()?.link.outage_fraction())));
            let beams = network.media.iter().filter_map(|medium| {
                Some((format!("terminals of {}", medium.name), medium.plan.rcs2()?.outage_fraction()?))
            });
            rainy.chain(beams).collect()
        })
    }
}
