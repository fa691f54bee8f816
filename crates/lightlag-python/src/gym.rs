//! Episodes for policies that learn. Numbers pass in arrays of the caller, which have one row for each agent.

use crate::run::Run;
use crate::scenario::Read;
use crate::scenario_error;
use lightlag_core::Duration;

use lightlag_gym::{Action, Agent, Batch, Episode, FEATURES, Feature, Interval, Length, Reward, Task};
use lightlag_sim::Parallel;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard};

/// Places for episodes, each with so many agents, which step together. `interval` is a number of round trips, or of seconds
/// with `seconds`; `reward` is the name of one, or None.
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
            length: if seconds { Length::Time(Duration::from_secs_f64(interval)) } else { Length::Rtts(interval) },
            reward: reward.map(named).transpose()?,
            steps,
            features: features.iter().map(feature).collect::<PyResult<_>>()?,
            history,
        };
        Ok(Self(Mutex::new(Batch::new(task, places, agents, threads))))
    }

    /// Starts an episode in a place: a run of the scenario, in which the agents steer these flows. Writes their first
    /// observations, a row for each.
    fn start(
        &self,
        py: Python<'_>,
        place: usize,
        scenario: &Read,
        flows: Vec<String>,
        observations: PyBuffer<f32>,
    ) -> PyResult<()> {
        let mut batch = self.batch()?;
        let (places, agents) = batch.shape();
        if place >= places || flows.len() != agents {
            return Err(PyValueError::new_err(format!("{places} places of {agents} agents")));
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

    /// Multiplies windows or rates by the factors, lets an interval pass in each place, and writes what came of it. A flag
    /// is 1 if the transfer of the agent has ended, 2 if the episode has. An episode that had ended before rests.
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

    /// Writes all features of the last intervals, a row for each agent.
    fn intervals(&self, py: Python<'_>, rows: PyBuffer<f64>) -> PyResult<()> {
        let batch = self.batch()?;
        let none = Interval::default();
        let of = |agent: Option<&Agent>| agent.map_or(none, |agent| agent.interval);
        let values = batch.agents().flat_map(|agent| FEATURES.iter().map(move |feature| feature.of(&of(agent))));
        rows.copy_from_slice(py, &values.collect::<Vec<f64>>())
    }

    /// Ends the episode in a place, and returns its results so far; None if the place is empty.
    fn finish(&self, py: Python<'_>, place: usize) -> PyResult<Option<Run>> {
        let Some(episode) = self.batch()?.put(place, None) else { return Ok(None) };
        let result = episode.finish();
        let sky = Read::new(result.summary.scenario.clone()).sky(py)?;
        Ok(Some(Run::of(result, false, 0.0).under(sky)))
    }
}

impl Episodes {
    /// Does not block: a thread that waits here with the GIL would hold up the one that works without it.
    fn batch(&self) -> PyResult<MutexGuard<'_, Batch>> {
        self.0.try_lock().map_err(|_| PyRuntimeError::new_err("the environments step in another thread"))
    }
}

/// What agents can observe: name, unit, least and largest value, and meaning.
#[pyfunction]
pub(crate) fn gym_features() -> Vec<(&'static str, &'static str, f64, f64, &'static str)> {
    FEATURES.iter().map(|it| (it.name, it.unit, it.range.0, it.range.1, it.meaning)).collect()
}

/// The names of rewards.
#[pyfunction]
pub(crate) fn gym_rewards() -> Vec<&'static str> {
    Reward::ALL.iter().map(|(name, _)| *name).collect()
}

/// Makes the congestion control known that agents steer, and returns its name.
#[pyfunction]
pub(crate) fn let_flows_be_steered() -> PyResult<&'static str> {
    lightlag_own::steered::register().map_err(PyValueError::new_err)?;
    Ok(lightlag_own::steered::NAME)
}
