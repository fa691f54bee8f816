//! A run for Python, step by step: it advances on request, and the rows recorded since are read in between.

use crate::columns::{Dictionaries, recorded as columns};
use crate::run::{Run, Table, wall_clock};
use crate::scenario::Read;
use crate::scenario_error;
use crate::sky::SkyOf;
use arrow_array::StringArray;
use lightlag_core::{Duration, Instant};
use lightlag_sim::{Parallel, Simulation};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, MutexGuard};

/// Events between two looks for Ctrl-C.
const SLICE: u64 = 1 << 20;

/// A run in steps.
#[pyclass(frozen, module = "lightlag._engine")]
pub(crate) struct Steps(Mutex<Course>);

struct Course {
    /// The simulation, until it is finished.
    simulation: Option<Simulation>,
    records_acks: bool,
    sky: Option<SkyOf>,
    dictionaries: Dictionaries,
    /// Numbers of rows already read from the trace, the queues, the drops and the ACKs.
    rows: [usize; 4],
    wall: std::time::Duration,
}

#[pymethods]
impl Steps {
    /// Builds the world of a scenario, for up to so many threads. Captures that it asks for are not written.
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
        };
        let (records_acks, sky) = (scenario.scenario.record.acks, scenario.sky(py)?);
        let wall = start.elapsed();
        Ok(Self(Mutex::new(Course {
            simulation: Some(simulation),
            records_acks,
            sky,
            dictionaries,
            rows: [0; 4],
            wall,
        })))
    }

    /// Advances to a simulated time, and returns whether the run continues. Ctrl-C ends the step between two events.
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

    /// The simulated time reached, in seconds.
    #[getter]
    fn now_s(&self) -> PyResult<Option<f64>> {
        let seconds = |simulation: &Simulation| simulation.progress().now.since(Instant::ZERO).as_secs_f64();
        Ok(self.course()?.simulation.as_ref().map(seconds))
    }

    /// The rows recorded since the last call, by the name of their table.
    fn recorded(&self) -> PyResult<Vec<(&'static str, Table)>> {
        let mut course = self.course()?;
        let Course { simulation: Some(simulation), records_acks, dictionaries, rows, .. } = &mut *course else {
            return Ok(Vec::new());
        };
        let recorded = simulation.recorded();
        let [trace, queue, drops, acks] = *rows;
        let mut tables = vec![
            ("trace", columns(recorded.trace.tail(trace), dictionaries)),
            ("queue", columns(recorded.queue.tail(queue), dictionaries)),
            ("drops", columns(recorded.drops.tail(drops), dictionaries)),
        ];
        if *records_acks {
            tables.push(("acks", columns(recorded.acks.tail(acks), dictionaries)));
        }
        *rows = [recorded.trace.rows(), recorded.queue.rows(), recorded.drops.rows(), recorded.acks.rows()];
        Ok(tables.into_iter().map(|(name, batch)| (name, Table::new(batch))).collect())
    }

    /// Ends the run at the current time, and returns its results.
    fn finish(&self) -> PyResult<Run> {
        let mut course = self.course()?;
        let simulation = course.simulation.take();
        let simulation = simulation.ok_or_else(|| PyRuntimeError::new_err("the run is finished already"))?;
        Ok(Run::of(simulation.finish(), course.records_acks, course.wall.as_secs_f64()).under(course.sky.take()))
    }
}

impl Steps {
    /// Does not block: a thread that waits here with the GIL would hold up the one that works without it.
    fn course(&self) -> PyResult<MutexGuard<'_, Course>> {
        self.0.try_lock().map_err(|_| PyRuntimeError::new_err("the run is at work in another thread"))
    }
}
