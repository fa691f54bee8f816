//! Python routers of constellations: their base class, the record of a routing update, and a class whose method is run
//! by the interpreter.

use super::class::{Class, ParameterTuple, call};
use super::{Algorithm, Made};
use lightlag_core::custom::{Description, Factory};
use lightlag_orbit::satellite_routing::{ConstellationView, Next, PathChooser, SatelliteRouterFactory};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use std::sync::Arc;

/// Next hops that are not satellites: down to the station, and no path.
const GROUND: i64 = -1;
const UNREACHABLE: i64 = -2;

/// Base class of custom routers of a constellation: a subclass chooses the next hop of each satellite.
///
/// One instance serves one run.
#[pyclass(subclass, name = "SatelliteRouter", module = "lightlag._engine")]
pub(crate) struct SatelliteRouter {
    /// The state of this run's random numbers, which `lightlag.custom.uniform` advances.
    #[pyo3(get, set)]
    random: u64,
}

#[pymethods]
impl SatelliteRouter {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self { random: 0 }
    }
}

/// The constellation at a routing update, for the paths to one station.
#[pyclass(frozen, get_all, module = "lightlag._engine")]
pub(crate) struct SkyLook {
    /// The time in nanoseconds since the start of the run.
    now_ns: u64,
    /// The index of the destination where the paths end.
    station: u32,
    /// Positions of the satellites in metres, in the Earth-fixed frame: an array of n rows and three columns.
    positions: Py<PyAny>,
    /// The endpoints of the links between satellites: an array of m rows and two columns.
    links: Py<PyAny>,
    /// Lengths of the links in metres; infinite while a link is down: an array of m values.
    lengths: Py<PyAny>,
    /// Fraction of the time since the last update for which each link was busy, in its busier direction: an array of m
    /// values.
    loads: Py<PyAny>,
    /// The satellites that may send to the station.
    entries: Py<PyAny>,
    /// Distances of these satellites from the station, in metres.
    entry_lengths: Py<PyAny>,
}

/// Returns a NumPy array with this number of columns; with one column the array is one-dimensional.
fn array(py: Python<'_>, bytes: &[u8], kind: &str, columns: usize) -> PyResult<Py<PyAny>> {
    let flat = py.import("numpy")?.call_method1("frombuffer", (PyBytes::new(py, bytes), kind))?;
    Ok(if columns == 1 { flat } else { flat.call_method1("reshape", ((-1, columns),))? }.unbind())
}

fn numbers(py: Python<'_>, numbers: impl Iterator<Item = f64>, columns: usize) -> PyResult<Py<PyAny>> {
    array(py, &numbers.flat_map(f64::to_ne_bytes).collect::<Vec<u8>>(), "f8", columns)
}

fn places(py: Python<'_>, indices: impl Iterator<Item = u32>, columns: usize) -> PyResult<Py<PyAny>> {
    array(py, &indices.flat_map(|place| i64::from(place).to_ne_bytes()).collect::<Vec<u8>>(), "i8", columns)
}

impl SkyLook {
    fn of(py: Python<'_>, look: &ConstellationView) -> PyResult<Self> {
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

struct PlainSatelliteRouter(Class);

/// Returns a router of constellations whose method is run by the interpreter.
#[pyfunction]
pub(crate) fn plain_sky_router(
    name: String,
    file: Option<String>,
    code: String,
    class_: Py<PyAny>,
    given: Vec<ParameterTuple>,
) -> Made {
    Made(Algorithm::SatelliteRouter(Arc::new(PlainSatelliteRouter(Class::new(name, file, code, class_, given)))))
}

impl Factory for PlainSatelliteRouter {
    fn facts(&self) -> &Description {
        &self.0.facts
    }
}

impl SatelliteRouterFactory for PlainSatelliteRouter {
    fn build(self: Arc<Self>, seed: u64, values: &[f64]) -> Box<dyn PathChooser> {
        let object: Result<Py<SatelliteRouter>, String> = self.0.instance(values);
        if let Ok(object) = &object {
            Python::attach(|py| object.borrow_mut(py).random = seed);
        }
        Box::new(SatelliteRouterObject(object))
    }
}

/// The object of a run's router, or the reason why it could not be created.
struct SatelliteRouterObject(Result<Py<SatelliteRouter>, String>);

impl PathChooser for SatelliteRouterObject {
    fn next_hops(&mut self, look: &ConstellationView) -> Result<Vec<Next>, String> {
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
                return Ok(Err(format!("returned {kind}; return an integer for each satellite")));
            };
            let next = |(satellite, number): (usize, i64)| match number {
                GROUND => Ok(Next::Ground),
                UNREACHABLE => Ok(Next::Nowhere),
                number => u32::try_from(number).map(Next::Satellite).map_err(|_| {
                    format!("returned {number} for satellite {satellite}; return a number, ll.GROUND or ll.UNREACHABLE")
                }),
            };
            Ok(numbers.into_iter().enumerate().map(next).collect())
        })?
    }
}
