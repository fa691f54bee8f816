//! Custom routers of constellations.
//!
//! At each sample, a router sets the next hop of each satellite for each exit. A [`SatelliteRouterFactory`] builds the
//! router of a run. The planner checks that the router's paths follow links and end on the ground.

use super::tree::{GROUND, NONE, NodeIndex};
use lightlag_core::Instant;
use lightlag_core::custom::Registry;
pub use lightlag_core::custom::{Factory, Fault};
use lightlag_mobility::Vector;
use std::fmt;
use std::sync::Arc;

/// A custom router: a factory that builds the router of each run.
pub trait SatelliteRouterFactory: Factory {
    /// Builds the router of a run. `seed` is the seed of its random numbers; `values` has a value for each parameter.
    fn build(self: Arc<Self>, seed: u64, values: &[f64]) -> Box<dyn PathChooser>;
}

/// A custom router and the values of its parameters.
pub type CustomSatelliteRouter = lightlag_core::custom::Custom<dyn SatelliteRouterFactory>;

/// The registered custom routers.
pub static CUSTOM: Registry<dyn SatelliteRouterFactory> = Registry::new();

/// Returns the router for a run.
pub fn build(custom: &CustomSatelliteRouter, seed: u64) -> Box<dyn PathChooser> {
    let (maker, values) = custom.parts();
    Arc::clone(maker).build(seed, values)
}

/// The constellation at a sample, as seen by a custom router that computes the paths to an exit.
#[derive(Clone, Copy, Debug)]
pub struct ConstellationView<'a> {
    /// The time of the sample.
    pub now: Instant,
    /// Index of the exit station.
    pub station: u32,
    /// Positions of the satellites in metres, in the Earth-fixed frame.
    pub positions: &'a [Vector],
    /// The endpoints of the links between satellites.
    pub links: &'a [[u32; 2]],
    /// Lengths of the links in metres; infinite while a link is down.
    pub lengths: &'a [f64],
    /// Fraction of the time since the last sample for which each link was busy, in its busier direction.
    pub loads: &'a [f64],
    /// The satellites that may send to the exit station, with their distances from it in metres.
    pub entries: &'a [(u32, f64)],
}

/// The next hop of a satellite.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// Another satellite.
    Satellite(u32),
    /// The exit station.
    Ground,
    /// None, because there is no path.
    Nowhere,
}

impl fmt::Display for Next {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Satellite(number) => write!(f, "satellite {number}"),
            Self::Ground => f.write_str("the ground"),
            Self::Nowhere => f.write_str("nowhere"),
        }
    }
}

impl Next {
    /// Returns the index of the next hop in tables; `None` if there is no such satellite.
    pub(super) fn number(self, satellites: usize) -> Option<NodeIndex> {
        match self {
            Self::Satellite(next) => ((next as usize) < satellites).then_some(next as NodeIndex),
            Self::Ground => Some(GROUND),
            Self::Nowhere => Some(NONE),
        }
    }
}

/// A custom router, which chooses the paths through a constellation.
pub trait PathChooser: Send {
    /// Returns the next hop of each satellite, in the order of the satellites.
    ///
    /// # Errors
    /// A text that describes the failure.
    fn next_hops(&mut self, look: &ConstellationView) -> Result<Vec<Next>, String>;
}

/// The custom router of a planner, and its state.
pub(super) struct Choosing {
    pub(super) router: Box<dyn PathChooser>,
    pub(super) name: &'static str,
    pub(super) fault: Option<Box<Fault>>,
}

impl fmt::Debug for Choosing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Choosing").field("name", &self.name).field("fault", &self.fault).finish_non_exhaustive()
    }
}
