//! Episodes for policies that learn. Numbers are passed in arrays of the caller, with one row per agent.

use crate::run::Run;
use crate::scenario::Read;
use crate::scenario_error;
use lightlag_core::Duration;

use lightlag_gym::{Action, Agent, Batch, Episode, FEATURES, Feature, Interval, IntervalLength, Reward, Task};
use lightlag_sim::Parallel;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard};

/// Slots for episodes that are stepped together, each with the same number of agents. `interval` is in round-trip
/// times, or in seconds if `seconds` is true. `reward` is the name of a reward, or None.
#[pyclass(frozen, module = "lightlag._engine")]
pub(crate) struct Episodes(Mutex<Batch>);

#[pymethods]
impl Episodes {
    #[new]
    #[allow(clippy::too_many_arguments, reason = "a record in Python's terms")]
    fn new(
        places: usize,
        agents: usize,
        threads: usize,
        rate: bool,
        interval: f64,
        seconds: bool,
        reward: Option<String>,
        steps: u32,
        features: Vec<String>,
        history: usize,
    ) -> PyResult<Self> {
        let feature = |name: &String| Feature::named(name).ok_or_else(|| PyValueError::new_err(name.clone()));
        let named = |name: String| Reward::named(&name).ok_or_else(|| PyValueError::new_err(name));
        let task = Task {
            action: if rate { Action::Rate } else { Action::Window },
            length: if seconds {
                IntervalLength::Time(Duration::from_secs_f64(interval))
            } else {
                IntervalLength::Rtts(interval)
            },
            reward: reward.map(named).transpose()?,
            steps,
            features: features.iter().map(feature).collect::<PyResult<_>>()?,
            history,
        };
        Ok(Self(Mutex::new(Batch::new(task, places, agents, threads))))
    }

    /// Starts an episode in a slot: a run of the scenario in which the agents control these flows. Writes the first
    /// observations, one row per agent.
    fn start(
        &self,
        py: Python<'_>,
        place: usize,
        scenario: &Read,
        flows: Vec<String>,
        observations: PyBuffer<f32>,
    ) -> PyResult<()> {
        let mut batch = self.batch()?;
        let (slots, agents) = batch.shape();
        if place >= slots || flows.len() != agents {
            return Err(PyValueError::new_err(format!("{slots} places of {agents} agents")));
        }
        let simulation =
            py.detach(|| scenario.simulation(Parallel::ALONE)).map_err(|errors| scenario_error(py, &errors))?;
        let task = batch.task();
        let episode = py.detach(|| Episode::start(task, simulation, &flows)).map_err(PyValueError::new_err)?;
        let first: Vec<f32> = episode.agents().iter().flat_map(|agent| agent.observation.iter().copied()).collect();
        observations.copy_from_slice(py, &first)?;
        batch.put(place, Some(episode));
        Ok(())
    }

    /// Multiplies windows or rates by the factors, simulates an interval in each slot, and writes the results. An
    /// agent's flag is 1 if its transfer has ended, and 2 if its episode has ended. Episodes that have already ended
    /// are not stepped.
    fn step(
        &self,
        py: Python<'_>,
        factors: PyBuffer<f64>,
        observations: PyBuffer<f32>,
        rewards: PyBuffer<f64>,
        flags: PyBuffer<u8>,
    ) -> PyResult<()> {
        let mut guard = self.batch()?;
        let batch = &mut *guard;
        let given = factors.to_vec(py)?;
        py.detach(|| batch.step(&given)).map_err(PyValueError::new_err)?;
        let zeros = vec![0.0; batch.task().width()];
        let rows = batch.agents().map(|agent| agent.map_or(&zeros, |agent| &agent.observation));
        let rows: Vec<f32> = rows.flatten().copied().collect();
        let (values, ends): (Vec<f64>, Vec<u8>) = batch.outcomes().map(|(reward, end)| (reward, end as u8)).unzip();
        observations.copy_from_slice(py, &rows)?;
        rewards.copy_from_slice(py, &values)?;
        flags.copy_from_slice(py, &ends)
    }

    /// Writes all features of the last interval, one row per agent.
    fn intervals(&self, py: Python<'_>, rows: PyBuffer<f64>) -> PyResult<()> {
        let batch = self.batch()?;
        let none = Interval::default();
        let of = |agent: Option<&Agent>| agent.map_or(none, |agent| agent.interval);
        let values = batch.agents().flat_map(|agent| FEATURES.iter().map(move |feature| feature.of(&of(agent))));
        rows.copy_from_slice(py, &values.collect::<Vec<f64>>())
    }

    /// Ends the episode in a slot and returns its results so far; None if the slot is empty.
    fn finish(&self, py: Python<'_>, place: usize) -> PyResult<Option<Run>> {
        let Some(episode) = self.batch()?.put(place, None) else { return Ok(None) };
        let result = episode.finish();
        let sky = Read::new(result.summary.scenario.clone()).sky(py)?;
        Ok(Some(Run::of(result, 0.0).under(sky)))
    }
}

impl Episodes {
    /// Returns the episodes, or an error if another thread uses them. It does not wait, because a thread that waits
    /// with the GIL would block the other one.
    fn batch(&self) -> PyResult<MutexGuard<'_, Batch>> {
        self.0.try_lock().map_err(|_| PyRuntimeError::new_err("the environments are in use by another thread"))
    }
}

/// Returns the features that agents can observe: name, unit, minimum and maximum value, and meaning.
#[pyfunction]
pub(crate) fn gym_features() -> Vec<(&'static str, &'static str, f64, f64, &'static str)> {
    FEATURES.iter().map(|it| (it.name, it.unit, it.range.0, it.range.1, it.meaning)).collect()
}

/// Returns the names of the rewards.
#[pyfunction]
pub(crate) fn gym_rewards() -> Vec<&'static str> {
    Reward::ALL.iter().map(|(name, _)| *name).collect()
}

/// Registers the congestion control through which agents act, and returns its name.
#[pyfunction]
pub(crate) fn let_flows_be_steered() -> PyResult<&'static str> {
    lightlag_custom::steered::register().map_err(PyValueError::new_err)?;
    Ok(lightlag_custom::steered::NAME)
}
