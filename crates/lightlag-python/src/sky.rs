//! The constellation of a scenario: positions, visible satellites, passes and paths, without a run.

use lightlag_core::custom::Fault;
use lightlag_core::{Duration, Instant};
use lightlag_orbit::grid::derived::FoundShell;
use lightlag_orbit::path_changes::{all_pairs, courses};
use lightlag_orbit::satellite_routing::CustomSatelliteRouter;
use lightlag_orbit::sky::light_time;
use lightlag_orbit::{PathRules, Sky};
use lightlag_scenario::Space;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::sync::Arc;

/// A satellite visible from a station: index, azimuth and elevation in degrees, range in metres.
type Sight = (u32, f64, f64, f64);

/// The statistics of a pair of stations: their indices, minimum and maximum path length, number of changes, and number
/// of samples without a path.
type PairOf = (u32, u32, Option<(f64, f64)>, u32, u32);

/// The constellation of a scenario.
#[pyclass(frozen, name = "Sky", module = "lightlag._engine")]
#[derive(Clone)]
pub(crate) struct SkyOf {
    sky: Arc<Sky>,
    rules: PathRules,
    routing: Option<CustomSatelliteRouter>,
    stations: Vec<String>,
    /// The shells that were found in a file of orbital elements.
    found: Vec<FoundShell>,
}

impl SkyOf {
    pub(crate) fn new(space: &Space, names: &[String]) -> Self {
        let stations = space.stations.iter().map(|station| names[station.0 as usize].clone()).collect();
        let found = space.filed.grid.as_ref().map(|grid| grid.shells.clone()).unwrap_or_default();
        Self { sky: space.sky.clone(), rules: space.rules, routing: space.routing.clone(), stations, found }
    }

    fn station(&self, number: usize) -> PyResult<usize> {
        (number < self.stations.len())
            .then_some(number)
            .ok_or_else(|| PyValueError::new_err(format!("there is no station {number}")))
    }
}

/// Converts seconds to a time in the run; invalid values become the start of the run.
fn instant(seconds: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(if seconds.is_finite() { seconds.max(0.0) } else { 0.0 })
}

/// Converts the failure of a custom router to a Python exception.
fn failed(fault: Fault) -> PyErr {
    PyRuntimeError::new_err(format!(
        "router of the constellation, at {:.6} s: {}",
        fault.at.as_secs_f64(),
        fault.message
    ))
}

#[pymethods]
impl SkyOf {
    /// Returns the start time of runs in UTC.
    #[getter]
    fn start(&self) -> String {
        self.sky.start().to_string()
    }

    /// Returns the number of links between satellites.
    #[getter]
    fn link_count(&self) -> usize {
        self.sky.isls().len()
    }

    /// Returns the shells that were found in a file of orbital elements, largest first: inclination in degrees,
    /// revolutions per day, number of planes, number of satellites with links, and number of these links.
    #[getter]
    fn found_shells(&self) -> Vec<(f64, f64, usize, usize, usize)> {
        let shell = |of: &FoundShell| (of.inclination, of.revolutions, of.planes, of.satellites, of.links);
        self.found.iter().map(shell).collect()
    }

    /// Returns the names of the satellites.
    #[getter]
    fn satellites(&self) -> Vec<String> {
        self.sky.satellites().iter().map(|satellite| satellite.name.clone()).collect()
    }

    /// Returns the names of the stations.
    #[getter]
    fn stations(&self) -> Vec<String> {
        self.stations.clone()
    }

    /// Returns the latitude and longitude in degrees and the height in metres of each station, at a time in the run.
    fn station_coordinates(&self, seconds: f64) -> Vec<(f64, f64, f64)> {
        let sites = self.sky.stations().iter().map(|station| station.site(instant(seconds)));
        sites.map(|at| (at.latitude, at.longitude, at.height)).collect()
    }

    /// Returns the links between satellites that are up after the given number of seconds.
    fn isls(&self, seconds: f64) -> Vec<[u32; 2]> {
        let mut positions = Vec::new();
        self.sky.positions(instant(seconds), &mut positions);
        let up = self.sky.isls().iter().filter(|isl| {
            let [a, b] = isl.ends.map(|end| positions[end as usize]);
            self.sky.isl_is_up(isl, a, b)
        });
        up.map(|isl| isl.ends).collect()
    }

    /// Returns the positions of all satellites after the given number of seconds, in metres in the Earth-fixed frame.
    fn positions(&self, seconds: f64) -> Vec<[f64; 3]> {
        let mut positions = Vec::new();
        self.sky.positions(instant(seconds), &mut positions);
        positions.into_iter().map(|at| [at.x, at.y, at.z]).collect()
    }

    /// Returns the satellites that a station can use at a time in the run: index, azimuth and elevation in degrees,
    /// range in metres.
    fn visible(&self, station: usize, seconds: f64) -> PyResult<Vec<Sight>> {
        let station = self.station(station)?;
        let mut positions = Vec::new();
        self.sky.positions(instant(seconds), &mut positions);
        let ground = &self.sky.stations()[station];
        let (stand, site) = (ground.stand(instant(seconds)), ground.site(instant(seconds)));
        let seen = (0..).zip(positions).filter(|(_, at)| stand.sees(*at));
        Ok(seen
            .map(|(satellite, at)| {
                let look = site.look(at);
                (satellite, look.azimuth, look.elevation, look.range)
            })
            .collect())
    }

    /// Returns the passes over a station up to a time: index of the satellite, rise and set in seconds, and maximum
    /// elevation in degrees.
    fn passes(&self, py: Python<'_>, station: usize, until: f64) -> PyResult<Vec<(u32, f64, f64, f64)>> {
        let station = self.station(station)?;
        let passes = py.detach(|| self.sky.passes(station, until));
        Ok(passes.into_iter().map(|pass| (pass.satellite, pass.rise, pass.set, pass.elevation)).collect())
    }

    /// Returns the successive paths between two stations up to a time: start time in seconds, and nodes. Station nodes
    /// are numbered after the satellites. The list of nodes is empty while there is no path.
    fn path_changes(&self, py: Python<'_>, start: usize, end: usize, until: f64) -> PyResult<Vec<(f64, Vec<u32>)>> {
        let (start, end) = (self.station(start)?, self.station(end)?);
        let ways = py.detach(|| courses(&self.sky, start as u32, end as u32, self.rules, self.routing.as_ref(), until));
        Ok(ways.map_err(failed)?.into_iter().map(|course| (course.from, course.nodes)).collect())
    }

    /// Returns the statistics of all pairs of stations, sampled at each routing update before a given time: the two
    /// stations, the minimum and maximum path length in metres if there ever was a path, the number of changes, and the
    /// number of samples without a path.
    fn pairs(&self, py: Python<'_>, until: f64) -> PyResult<Vec<PairOf>> {
        let pairs = py.detach(|| all_pairs(&self.sky, self.rules, self.routing.as_ref(), until)).map_err(failed)?;
        let pairs = pairs.into_iter().map(|of| (of.ends[0], of.ends[1], of.lengths, of.changes, of.outages));
        Ok(pairs.collect())
    }

    /// Returns the interval between two routing updates, in seconds.
    #[getter]
    fn interval(&self) -> f64 {
        self.rules.interval.as_secs_f64()
    }

    /// Returns the propagation time along a path with these nodes at each of these times, in seconds.
    fn light_times(&self, nodes: Vec<u32>, times: Vec<f64>) -> PyResult<Vec<f64>> {
        let all = self.sky.satellites().len() + self.sky.stations().len();
        if let Some(node) = nodes.iter().find(|node| **node as usize >= all) {
            return Err(PyValueError::new_err(format!("there is no node {node}")));
        }
        let length = |seconds: f64| -> f64 {
            nodes.windows(2).filter_map(|hop| self.sky.distance(hop[0], hop[1], instant(seconds))).sum()
        };
        Ok(times.into_iter().map(|seconds| light_time(length(seconds)).as_secs_f64()).collect())
    }
}
