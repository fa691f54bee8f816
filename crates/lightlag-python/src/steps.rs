//! A run for Python that is executed step by step: it advances on request, and the rows recorded since the last step
//! can be read.

use crate::columns::{Dictionaries, recorded as columns};
use crate::run::{Run, Table, wall_clock};
use crate::scenario::Read;
use crate::scenario_error;
use crate::sky::SkyOf;
use arrow_array::StringArray;
use lightlag_core::{Duration, Instant};
use lightlag_sim::run::SeenRows;
use lightlag_sim::{Parallel, Simulation};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, MutexGuard};

/// Number of events between two checks for Ctrl-C.
const SLICE: u64 = 1 << 20;

/// A run that is executed in steps.
#[pyclass(frozen, module = "lightlag._engine")]
pub(crate) struct Steps(Mutex<Course>);

struct Course {
    /// The simulation; `None` once it is finished.
    simulation: Option<Simulation>,
    sky: Option<SkyOf>,
    dictionaries: Dictionaries,
    /// The rows that have already been read.
    seen: SeenRows,
    wall: std::time::Duration,
}

#[pymethods]
impl Steps {
    /// Builds the run of a scenario, for up to `threads` threads. Captures that the scenario requests are not written.
    #[new]
    #[pyo3(signature = (scenario, threads=1))]
    fn new(py: Python<'_>, scenario: &Read, threads: usize) -> PyResult<Self> {
        let start = wall_clock();
        let simulation =
            py.detach(|| scenario.simulation(Parallel::on(threads))).map_err(|errors| scenario_error(py, &errors))?;
        let dictionaries = Dictionaries {
            flows: Arc::new(StringArray::from(simulation.flow_names())),
            links: Arc::new(StringArray::from(simulation.link_names())),
            nodes: Arc::new(StringArray::from(simulation.node_names())),
            objects: Arc::new(StringArray::from(Vec::<&str>::new())),
        };
        let sky = scenario.sky(py)?;
        let wall = start.elapsed();
        Ok(Self(Mutex::new(Course { simulation: Some(simulation), sky, dictionaries, seen: SeenRows::new(), wall })))
    }

    /// Advances to a simulated time. Returns true if the run has not ended. Ctrl-C ends the step between two events.
    fn step(&self, py: Python<'_>, time_s: f64) -> PyResult<bool> {
        let mut course = self.course()?;
        let Course { simulation: Some(simulation), wall, .. } = &mut *course else { return Ok(false) };
        let until = Instant::ZERO + Duration::from_secs_f64(time_s);
        loop {
            let start = wall_clock();
            let goes_on = py.detach(|| simulation.step(until, SLICE)) && simulation.failed().is_none();
            *wall += start.elapsed();
            if !goes_on || simulation.progress().now >= until {
                return Ok(goes_on);
            }
            py.check_signals()?;
        }
    }

    /// Returns the simulated time reached, in seconds.
    #[getter]
    fn now_s(&self) -> PyResult<Option<f64>> {
        let seconds = |simulation: &Simulation| simulation.progress().now.since(Instant::ZERO).as_secs_f64();
        Ok(self.course()?.simulation.as_ref().map(seconds))
    }

    /// Returns the rows recorded since the last call, by table name.
    fn recorded(&self) -> PyResult<Vec<(&'static str, Table)>> {
        let mut course = self.course()?;
        let Course { simulation: Some(simulation), dictionaries, seen, .. } = &mut *course else {
            return Ok(Vec::new());
        };
        let news = simulation.recorded().news(seen);
        Ok(news.map(|(name, filled)| (name, Table::new(columns(filled, dictionaries)))).collect())
    }

    /// Ends the run at the current time, and returns its results.
    fn finish(&self) -> PyResult<Run> {
        let mut course = self.course()?;
        let simulation = course.simulation.take();
        let simulation = simulation.ok_or_else(|| PyRuntimeError::new_err("the run is already finished"))?;
        Ok(Run::of(simulation.finish(), course.wall.as_secs_f64()).under(course.sky.take()))
    }
}

impl Steps {
    /// Returns the run, or an error if another thread uses it. It does not wait, because a thread that waits with the
    /// GIL would block the other one.
    fn course(&self) -> PyResult<MutexGuard<'_, Course>> {
        self.0.try_lock().map_err(|_| PyRuntimeError::new_err("the run is in use by another thread"))
    }
}
