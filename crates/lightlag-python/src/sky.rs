//! The sky of a scenario: positions, looks, passes and ways, without a run.

use lightlag_core::own::Fault;
use lightlag_core::{Duration, Instant};
use lightlag_orbit::course::{all_pairs, courses};
use lightlag_orbit::grid::derived::FoundShell;
use lightlag_orbit::own_ways::Own;
use lightlag_orbit::sky::light_time;
use lightlag_orbit::{Rules, Sky};
use lightlag_scenario::Space;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::sync::Arc;

/// A place in the sky of a station: satellite, azimuth, elevation, range in metres.
type Sight = (u32, f64, f64, f64);

/// A pair of stations: their numbers, shortest and longest way, changes, samples without a way.
type PairOf = (u32, u32, Option<(f64, f64)>, u32, u32);

/// The sky that a scenario describes.
#[pyclass(frozen, name = "Sky", module = "lightlag._engine")]
#[derive(Clone)]
pub(crate) struct SkyOf {
    sky: Arc<Sky>,
    rules: Rules,
    routing: Option<Own>,
    stations: Vec<String>,
    /// The shells that were found in a file of elements.
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

/// A time of the run; what is no time is its start.
fn instant(seconds: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(if seconds.is_finite() { seconds.max(0.0) } else { 0.0 })
}

/// The failure of a router from outside.
fn failed(fault: Fault) -> PyErr {
    PyRuntimeError::new_err(format!(
        "router of the constellation, at {:.6} s: {}",
        fault.at.as_secs_f64(),
        fault.message
    ))
}

#[pymethods]
impl SkyOf {
    /// The time in UTC at which runs start.
    #[getter]
    fn start(&self) -> String {
        self.sky.start().to_string()
    }

    /// The number of links between satellites.
    #[getter]
    fn link_count(&self) -> usize {
        self.sky.isls().len()
    }

    /// The shells that were found in a file of elements, the largest first: inclination in degrees, revolutions a day, planes,
    /// satellites with links, and these links.
    #[getter]
    fn found_shells(&self) -> Vec<(f64, f64, usize, usize, usize)> {
        let shell = |of: &FoundShell| (of.inclination, of.revolutions, of.planes, of.satellites, of.links);
        self.found.iter().map(shell).collect()
    }

    /// The names of the satellites.
    #[getter]
    fn satellites(&self) -> Vec<String> {
        self.sky.satellites().iter().map(|satellite| satellite.name.clone()).collect()
    }

    /// The names of the stations.
    #[getter]
    fn stations(&self) -> Vec<String> {
        self.stations.clone()
    }

    /// The places of the stations after so many seconds: degrees to the north and to the east, metres of height.
    fn places(&self, seconds: f64) -> Vec<(f64, f64, f64)> {
        let sites = self.sky.stations().iter().map(|station| station.site(instant(seconds)));
        sites.map(|at| (at.latitude, at.longitude, at.height)).collect()
    }

    /// The links between satellites that are up after so many seconds.
    fn isls(&self, seconds: f64) -> Vec<[u32; 2]> {
        let mut positions = Vec::new();
        self.sky.positions(instant(seconds), &mut positions);
        let up = self.sky.isls().iter().filter(|isl| {
            let [a, b] = isl.ends.map(|end| positions[end as usize]);
            self.sky.isl_is_up(isl, a, b)
        });
        up.map(|isl| isl.ends).collect()
    }

    /// The positions of all satellites after so many seconds, metres in the frame that turns with the Earth.
    fn positions(&self, seconds: f64) -> Vec<[f64; 3]> {
        let mut positions = Vec::new();
        self.sky.positions(instant(seconds), &mut positions);
        positions.into_iter().map(|at| [at.x, at.y, at.z]).collect()
    }

    /// The satellites that a station may use after so many seconds: number, azimuth and elevation in degrees, range in metres.
    fn looks(&self, station: usize, seconds: f64) -> PyResult<Vec<Sight>> {
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

    /// The passes over a station up to a time: satellite, rise and set in seconds, highest elevation in degrees.
    fn passes(&self, py: Python<'_>, station: usize, until: f64) -> PyResult<Vec<(u32, f64, f64, f64)>> {
        let station = self.station(station)?;
        let passes = py.detach(|| self.sky.passes(station, until));
        Ok(passes.into_iter().map(|pass| (pass.satellite, pass.rise, pass.set, pass.elevation)).collect())
    }

    /// The ways between two stations up to a time: since when, in seconds, and the nodes, satellites first and stations behind
    /// them; no nodes while there is no way.
    fn courses(&self, py: Python<'_>, start: usize, end: usize, until: f64) -> PyResult<Vec<(f64, Vec<u32>)>> {
        let (start, end) = (self.station(start)?, self.station(end)?);
        let ways = py.detach(|| courses(&self.sky, start as u32, end as u32, self.rules, self.routing.as_ref(), until));
        Ok(ways.map_err(failed)?.into_iter().map(|course| (course.from, course.nodes)).collect())
    }

    /// All pairs of stations, sampled at each look up to a time that is not sampled itself: the stations, the shortest and the
    /// longest way in metres, if there ever was one, the number of changes, and the number of samples without a way.
    fn pairs(&self, py: Python<'_>, until: f64) -> PyResult<Vec<PairOf>> {
        let pairs = py.detach(|| all_pairs(&self.sky, self.rules, self.routing.as_ref(), until)).map_err(failed)?;
        let pairs = pairs.into_iter().map(|of| (of.ends[0], of.ends[1], of.lengths, of.changes, of.outages));
        Ok(pairs.collect())
    }

    /// The time between two looks, in seconds.
    #[getter]
    fn interval(&self) -> f64 {
        self.rules.interval.as_secs_f64()
    }

    /// The time of light along a way of these nodes at each of these times, in seconds.
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
