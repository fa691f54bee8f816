//! Routers of constellations in Python: what they inherit, the record of a look, and a class whose method the interpreter runs.

use super::class::{Class, Given, call};
use super::{Algorithm, Made};
use lightlag_core::own::{Facts, Outside};
use lightlag_orbit::own_ways::{Look, Maker, Next, Router};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use std::sync::Arc;

/// Next hops that are no satellites: down to the station, and no way.
const GROUND: i64 = -1;
const NOWHERE: i64 = -2;

/// A router of a user for a constellation: a class that inherits from this one and says to which neighbour each satellite sends.
///
/// One instance serves one run.
#[pyclass(subclass, name = "SkyRouter", module = "lightlag._engine")]
pub(crate) struct SkyRouter {
    /// The state of the random numbers of this run, which `lightlag.own.uniform` moves on.
    #[pyo3(get, set)]
    random: u64,
}

#[pymethods]
impl SkyRouter {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self { random: 0 }
    }
}

/// The sky at a look, on the way to a station.
#[pyclass(frozen, get_all, module = "lightlag._engine")]
pub(crate) struct SkyLook {
    /// The time in nanoseconds since the start of the run.
    now_ns: u64,
    /// The number of the station at which packets leave the sky.
    station: u32,
    /// The satellites in metres, in a frame that turns with the Earth: n rows of three.
    positions: Py<PyAny>,
    /// The links between satellites by their ends: m rows of two.
    links: Py<PyAny>,
    /// Their lengths in metres; infinite while they are down: m.
    lengths: Py<PyAny>,
    /// The part of the time since the last look in which each was busy, in its busier direction: m.
    loads: Py<PyAny>,
    /// The satellites that may send to the station.
    entries: Py<PyAny>,
    /// Their distances from it in metres.
    entry_lengths: Py<PyAny>,
}

/// An array of numpy with this many columns; one with a single one has no columns.
fn array(py: Python<'_>, bytes: &[u8], kind: &str, columns: usize) -> PyResult<Py<PyAny>> {
    let flat = py.import("numpy")?.call_method1("frombuffer", (PyBytes::new(py, bytes), kind))?;
    Ok(if columns == 1 { flat } else { flat.call_method1("reshape", ((-1, columns),))? }.unbind())
}

fn numbers(py: Python<'_>, numbers: impl Iterator<Item = f64>, columns: usize) -> PyResult<Py<PyAny>> {
    array(py, &numbers.flat_map(f64::to_ne_bytes).collect::<Vec<u8>>(), "f8", columns)
}

fn places(py: Python<'_>, places: impl Iterator<Item = u32>, columns: usize) -> PyResult<Py<PyAny>> {
    array(py, &places.flat_map(|place| i64::from(place).to_ne_bytes()).collect::<Vec<u8>>(), "i8", columns)
}

impl SkyLook {
    fn of(py: Python<'_>, look: &Look) -> PyResult<Self> {
        Ok(Self {
            now_ns: look.now.as_nanos(),
            station: look.station,
            positions: numbers(py, look.positions.iter().flat_map(|at| [at.x, at.y, at.z]), 3)?,
            links: places(py, look.links.iter().flatten().copied(), 2)?,
            lengths: numbers(py, look.lengths.iter().copied(), 1)?,
            loads: numbers(py, look.loads.iter().copied(), 1)?,
            entries: places(py, look.entries.iter().map(|(satellite, _)| *satellite), 1)?,
            entry_lengths: numbers(py, look.entries.iter().map(|(_, length)| *length), 1)?,
        })
    }
}

struct Plain(Class);

/// A router of constellations whose method the interpreter runs.
#[pyfunction]
pub(crate) fn plain_sky_router(
    name: String,
    file: Option<String>,
    code: String,
    class_: Py<PyAny>,
    given: Vec<Given>,
) -> Made {
    Made(Algorithm::SkyRouter(Arc::new(Plain(Class::new(name, file, code, class_, given)))))
}

impl Outside for Plain {
    fn facts(&self) -> &Facts {
        &self.0.facts
    }
}

impl Maker for Plain {
    fn build(self: Arc<Self>, seed: u64, values: &[f64]) -> Box<dyn Router> {
        let object: Result<Py<SkyRouter>, String> = self.0.instance(values);
        if let Ok(object) = &object {
            Python::attach(|py| object.borrow_mut(py).random = seed);
        }
        Box::new(Object(object))
    }
}

/// The router of a run: its object, or the reason why there is none.
struct Object(Result<Py<SkyRouter>, String>);

impl Router for Object {
    fn next_hops(&mut self, look: &Look) -> Result<Vec<Next>, String> {
        let object = self.0.as_ref().map_err(Clone::clone)?;
        let record = Python::attach(|py| SkyLook::of(py, look).map_err(|error| error.to_string()))?;
        call(object, "next_hops", record, |answer| {
            // Arrays of numpy give their numbers much faster as a list.
            let list = match answer.getattr("tolist") {
                Ok(tolist) => tolist.call0()?,
                Err(_) => answer.clone(),
            };
            let Ok(numbers) = list.extract::<Vec<i64>>() else {
                let kind = answer.get_type().name()?;
                return Ok(Err(format!("returned {kind}; return a whole number for each satellite")));
            };
            let next = |(satellite, number): (usize, i64)| match number {
                GROUND => Ok(Next::Ground),
                NOWHERE => Ok(Next::Nowhere),
                number => u32::try_from(number).map(Next::Satellite).map_err(|_| {
                    format!("returned {number} for satellite {satellite}; return a number, ll.GROUND or ll.NOWHERE")
                }),
            };
            Ok(numbers.into_iter().enumerate().map(next).collect())
        })?
    }
}
