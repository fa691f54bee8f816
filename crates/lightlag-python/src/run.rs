//! Runs for Python: started from a scenario, observed by a callback, and read as columns.

use crate::columns::{Named, Rows, tables};
use crate::folder;
use crate::memory;
use crate::scenario::Read;
use crate::scenario_error;
use crate::sky::SkyOf;
use arrow_array::RecordBatch;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use lightlag_core::Instant;
use lightlag_scenario::{FlowSpec, LinkSpec, WrittenScenario};
use lightlag_sim::results::{self, Summary, dictionary};
use lightlag_sim::table::{Row, Value};
use lightlag_sim::{Control, Parallel, Progress, RunResult};
use pyo3::exceptions::{PyKeyError, PyKeyboardInterrupt, PyOSError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};
use serde::{Serialize, Serializer};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

/// Runs a scenario without the GIL. About every `interval_s` wall-clock seconds it checks for Ctrl-C and calls
/// `progress(simulated_s, duration_s, events)`. Ctrl-C, or False returned by `progress`, ends the run early; the run is
/// then marked as `interrupted`. Any other exception in `progress` is passed on. Captures requested by the scenario are
/// written to the directory `captures`, which must exist; without this argument none are written. The run uses up to
/// `threads` threads, if its network can be partitioned well.
#[pyfunction]
#[pyo3(signature = (scenario, progress=None, interval_s=0.1, captures=None, threads=1))]
pub(crate) fn run(
    py: Python<'_>,
    scenario: &Read,
    progress: Option<Py<PyAny>>,
    interval_s: f64,
    captures: Option<PathBuf>,
    threads: usize,
) -> PyResult<Run> {
    let sky = scenario.sky(py)?;
    let mut watch = RunMonitor::new(progress, interval_s);
    let run = || {
        let mut simulation = scenario.simulation(Parallel::on(threads)).map_err(NoRun::Refused)?;
        if let Some(folder) = captures {
            let mut open = |name: &str| open(&folder.join(name));
            let captured = simulation.capture_to(&mut open).and_then(|captured| captured.log_to(&mut open));
            simulation = captured.map_err(NoRun::Unwritable)?;
        }
        let result = simulation.run(&mut |progress| watch.look(progress));
        Ok((result, watch.start.elapsed().as_secs_f64()))
    };
    // An algorithm that needs the GIL for each ACK keeps it, and lends it out occasionally.
    let outcome = if scenario.holds_interpreter(py)? { run() } else { py.detach(run) };
    let (result, wall_s) = outcome.map_err(|error| match error {
        NoRun::Refused(errors) => scenario_error(py, &errors),
        NoRun::Unwritable(error) => PyOSError::new_err(error.to_string()),
    })?;
    if result.summary.flows.len() + result.summary.links.len() > LARGE_NETWORK {
        memory::return_freed();
    }
    let interrupted = result.interrupted || watch.stopped.is_some();
    if let Some(error) = watch.stopped.filter(|error| !error.is_instance_of::<PyKeyboardInterrupt>(py)) {
        return Err(error);
    }
    Ok(Run { interrupted, ..Run::of(result, wall_s).under(sky) })
}

/// Minimum number of flows and link directions for a large network. The state of a run with more takes tens of megabytes.
const LARGE_NETWORK: usize = 10_000;

impl Run {
    /// Creates the outcome of a run, with its tables as columns and without its constellation.
    pub(crate) fn of(mut result: RunResult, wall_s: f64) -> Self {
        let tables = tables(&mut result);
        let RunResult { summary, interrupted, captures, capture_failure, failed, .. } = result;
        let failed = failed.map(|failed| (failed.part, failed.fault.at.as_secs_f64(), failed.fault.message));
        Self { summary, wall_s, interrupted, tables, captures, capture_failure, failed, sky: None }
    }

    /// Returns the same outcome with the constellation of its scenario.
    pub(crate) fn under(self, sky: Option<SkyOf>) -> Self {
        Self { sky, ..self }
    }
}

/// The reason why a run failed.
enum NoRun {
    Refused(Vec<lightlag_scenario::ScenarioError>),
    Unwritable(io::Error),
}

/// Creates a file for a capture. Error messages name the file.
fn open(path: &Path) -> io::Result<lightlag_sim::Output> {
    let file =
        File::create(path).map_err(|error| io::Error::other(format!("{}: cannot write: {error}", path.display())))?;
    Ok(Box::new(BufWriter::new(file)))
}

/// Checks for Ctrl-C and reports progress at intervals, called from the event loop.
struct RunMonitor {
    progress: Option<Py<PyAny>>,
    interval: std::time::Duration,
    start: std::time::Instant,
    last: std::time::Instant,
    stopped: Option<PyErr>,
}

#[allow(clippy::disallowed_methods, reason = "durations are measured here; no result depends on them")]
pub(crate) fn wall_clock() -> std::time::Instant {
    std::time::Instant::now()
}

impl RunMonitor {
    fn new(progress: Option<Py<PyAny>>, interval_s: f64) -> Self {
        let now = wall_clock();
        let interval = std::time::Duration::try_from_secs_f64(interval_s).unwrap_or_default();
        Self { progress, interval, start: now, last: now, stopped: None }
    }

    fn look(&mut self, progress: Progress) -> Control {
        let now = wall_clock();
        if now.duration_since(self.last) < self.interval {
            return Control::Continue;
        }
        self.last = now;
        match Python::attach(|py| self.report(py, progress)) {
            Ok(true) => Control::Continue,
            Ok(false) => Control::Stop,
            Err(error) => {
                self.stopped = Some(error);
                Control::Stop
            }
        }
    }

    fn report(&self, py: Python<'_>, progress: Progress) -> PyResult<bool> {
        py.check_signals()?;
        // Other threads have a turn, if this one has kept the GIL.
        py.detach(std::thread::yield_now);
        let Some(call) = &self.progress else { return Ok(true) };
        let seconds = |time: Instant| time.since(Instant::ZERO).as_secs_f64();
        call.call1(py, (seconds(progress.now), seconds(progress.end), progress.events))?.extract(py)
    }
}

/// The outcome of one run.
#[pyclass(frozen, module = "lightlag._engine")]
pub(crate) struct Run {
    summary: Summary,
    wall_s: f64,
    interrupted: bool,
    tables: Vec<Named>,
    captures: Vec<String>,
    capture_failure: Option<String>,
    failed: Option<(String, f64, String)>,
    sky: Option<SkyOf>,
}

/// A list in the summary that is read in parts, because large networks have hundreds of thousands of entries.
#[derive(Clone, Copy)]
pub(crate) enum List {
    /// The key `flows` of the summary.
    Flows,
    /// The key `links` of the summary.
    Links,
    /// The key `scenario.flows` of the summary.
    AskedFlows,
    /// The key `scenario.links` of the summary.
    AskedLinks,
}

impl FromPyObject<'_, '_> for List {
    type Error = PyErr;

    fn extract(name: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        match name.extract::<&str>()? {
            "flows" => Ok(Self::Flows),
            "links" => Ok(Self::Links),
            "scenario.flows" => Ok(Self::AskedFlows),
            "scenario.links" => Ok(Self::AskedLinks),
            other => Err(PyKeyError::new_err(format!("no list {other:?}"))),
        }
    }
}

fn array(entries: impl Iterator<Item: Serialize>) -> String {
    let mut text = Vec::new();
    serde_json::Serializer::new(&mut text).collect_seq(entries).expect("an entry is plain data");
    String::from_utf8(text).expect("JSON is UTF-8")
}

fn column<'py, R: Row>(py: Python<'py>, rows: &results::SummaryRows<R>, name: &str) -> PyResult<Bound<'py, PyList>> {
    let column = R::columns().into_iter().find(|column| column.about.name == name);
    let column = column.ok_or_else(|| PyKeyError::new_err(format!("no column {name:?}")))?;
    let values = rows.iter().map(|row| match column.value(row) {
        Value::Text(text) => text.into_pyobject(py).map_err(PyErr::from),
        Value::Count(count) => Ok(count.into_pyobject(py)?),
        Value::Number(number) => Ok(number.into_pyobject(py)?),
    });
    PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)
}

/// The contents of `run.json`: the summary without flows and links, which are in separate tables.
#[derive(Serialize)]
struct RunJson<'a> {
    scenario: WrittenScenario<'a>,
    seed: u64,
    version: &'a str,
    simulated_s: f64,
    wall_s: f64,
    events: u64,
    packet_hops: u64,
    result_hash: &'a str,
    interrupted: bool,
}

#[pymethods]
impl Run {
    /// Returns true if the run was ended early.
    #[getter]
    fn interrupted(&self) -> bool {
        self.interrupted
    }

    /// Returns the wall-clock time for building and running, in seconds.
    #[getter]
    fn wall_s(&self) -> f64 {
        self.wall_s
    }

    /// Returns the names of the captures written.
    #[getter]
    fn captures(&self) -> Vec<String> {
        self.captures.clone()
    }

    /// Returns the name of the capture that could not be completed, and the reason.
    #[getter]
    fn capture_failure(&self) -> Option<String> {
        self.capture_failure.clone()
    }

    /// Returns the failure of the custom algorithm that ended the run: its flow, the simulated time in seconds, and the
    /// cause.
    #[getter]
    fn failed(&self) -> Option<(String, f64, String)> {
        self.failed.clone()
    }

    /// Returns the name of the run's scenario.
    #[getter]
    fn name(&self) -> &str {
        &self.summary.scenario.name
    }

    /// Returns the constellation of the run's scenario; None if it has none.
    fn sky(&self) -> Option<SkyOf> {
        self.sky.clone()
    }

    /// Returns the summary as a JSON object, with the keys of `lightlag run --json`. The lists in [`List`] are left
    /// empty.
    fn head(&self) -> String {
        #[derive(Serialize)]
        struct Timed {
            #[serde(flatten)]
            summary: Summary,
            wall_s: f64,
        }
        serde_json::to_string(&Timed { summary: self.summary.head(), wall_s: self.wall_s })
            .expect("a summary is plain data")
    }

    /// Returns the number of entries in a list.
    fn count(&self, list: List) -> usize {
        match list {
            List::Flows => self.summary.flows.len(),
            List::Links => self.summary.links.len(),
            List::AskedFlows => self.summary.scenario.flows.len(),
            List::AskedLinks => self.summary.scenario.links.len(),
        }
    }

    /// Returns up to `count` entries of a list, starting at index `first`, as a JSON array.
    fn entries(&self, list: List, first: usize, count: usize) -> String {
        let part = |len: usize| first.min(len)..first.saturating_add(count).min(len);
        let Summary { flows, links, scenario, .. } = &self.summary;
        match list {
            List::Flows => array(part(flows.len()).map(|at| &flows[at])),
            List::Links => array(part(links.len()).map(|at| &links[at])),
            List::AskedFlows => array(scenario.flows[part(scenario.flows.len())].iter().map(FlowSpec::to_json)),
            List::AskedLinks => array(scenario.links[part(scenario.links.len())].iter().map(LinkSpec::to_json)),
        }
    }

    /// Returns the values of a column of the table of flows or of links.
    fn column<'py>(&self, py: Python<'py>, list: List, name: &str) -> PyResult<Bound<'py, PyList>> {
        match list {
            List::Flows => column(py, &self.summary.flows, name),
            List::Links => column(py, &self.summary.links, name),
            List::AskedFlows | List::AskedLinks => Err(PyKeyError::new_err("the lists of a scenario have no columns")),
        }
    }

    /// Returns a table by name, as an object with the Arrow PyCapsule interface.
    fn table(&self, name: &str) -> PyResult<Table> {
        match self.tables.iter().find(|(table, _)| *table == name) {
            Some((_, rows)) => Ok(Table { rows: rows.clone() }),
            None => {
                let names: Vec<&str> = dictionary().iter().map(|table| table.name).collect();
                Err(PyKeyError::new_err(format!("no table {name:?}; there are {}", names.join(", "))))
            }
        }
    }

    /// Writes the files of a results directory to `partial` with at most `jobs` threads, including the captures in
    /// `captures`. Error messages name files by their final directory `folder`.
    #[pyo3(signature = (partial, folder, jobs=1, captures=None))]
    fn write(
        &self,
        py: Python<'_>,
        partial: PathBuf,
        folder: PathBuf,
        jobs: usize,
        captures: Option<PathBuf>,
    ) -> PyResult<()> {
        let s = &self.summary;
        let json = RunJson {
            scenario: s.scenario.written(),
            seed: s.seed,
            version: s.version,
            simulated_s: s.simulated_s,
            wall_s: self.wall_s,
            events: s.events,
            packet_hops: s.packet_hops,
            result_hash: &s.result_hash,
            interrupted: self.interrupted,
        };
        let captures: Vec<PathBuf> =
            captures.iter().flat_map(|from| self.captures.iter().map(|name| from.join(name))).collect();
        py.detach(|| folder::write(&partial, &folder, jobs, &json, &self.tables, &captures)).map_err(PyOSError::new_err)
    }
}

/// A table of a run.
#[pyclass(frozen, module = "lightlag._engine")]
pub(crate) struct Table {
    rows: Rows,
}

impl Table {
    pub(crate) fn new(batch: RecordBatch) -> Self {
        Self { rows: Rows::Whole(batch) }
    }
}

#[pymethods]
impl Table {
    /// Returns the table as an Arrow stream in a PyCapsule, without copying. The requested schema may be ignored.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(self.rows.batches()), c"arrow_array_stream")
    }
}
