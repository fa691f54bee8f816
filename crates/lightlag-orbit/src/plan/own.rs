//! Ways of a user's own.
//!
//! A router says at each look, for each exit, to which neighbour each satellite sends. The planner knows it as a [`Maker`], and
//! checks that its ways follow links and end on the ground.

use super::tree::{GROUND, NONE, Number};
use lightlag_core::Instant;
use lightlag_core::own::Registry;
pub use lightlag_core::own::{Fault, Outside};
use lightlag_mobility::Vector;
use std::fmt;
use std::sync::Arc;

/// A router from outside, which builds those of runs.
pub trait Maker: Outside {
    /// Builds the router of a run, with a seed for its random draws and a value for each parameter.
    fn build(self: Arc<Self>, seed: u64, values: &[f64]) -> Box<dyn Router>;
}

/// A router from outside with the values of its parameters.
pub type Own = lightlag_core::own::Own<dyn Maker>;

/// The routers from outside.
pub static OUTSIDE: Registry<dyn Maker> = Registry::new();

/// The router of a run.
pub fn build(own: &Own, seed: u64) -> Box<dyn Router> {
    let (maker, values) = own.parts();
    Arc::clone(maker).build(seed, values)
}

/// The sky at a look, on the way to an exit.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// The time.
    pub now: Instant,
    /// The number of the station at which packets leave the sky.
    pub station: u32,
    /// The satellites in metres, in a frame that turns with the Earth.
    pub positions: &'a [Vector],
    /// The links between satellites by their ends.
    pub links: &'a [[u32; 2]],
    /// Their lengths in metres; infinite while they are down.
    pub lengths: &'a [f64],
    /// The part of the time since the last look in which each was busy, in its busier direction.
    pub loads: &'a [f64],
    /// The satellites that may send to the station, with their distances in metres.
    pub entries: &'a [(u32, f64)],
}

/// The next node of a satellite.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// This satellite.
    Satellite(u32),
    /// The station.
    Ground,
    /// None: there is no way.
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
    /// Its number in tables; `None` if there is no such satellite.
    pub(super) fn number(self, satellites: usize) -> Option<Number> {
        match self {
            Self::Satellite(next) => ((next as usize) < satellites).then_some(next as Number),
            Self::Ground => Some(GROUND),
            Self::Nowhere => Some(NONE),
        }
    }
}

/// The ways through a sky, as somebody else chooses them.
pub trait Router: Send {
    /// The next node of each satellite, in their order.
    ///
    /// # Errors
    /// If it fails: what went wrong.
    fn next_hops(&mut self, look: &Look) -> Result<Vec<Next>, String>;
}

/// The router of a planner.
pub(super) struct Choosing {
    pub(super) router: Box<dyn Router>,
    pub(super) name: &'static str,
    pub(super) fault: Option<Box<Fault>>,
}

impl fmt::Debug for Choosing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Choosing").field("name", &self.name).field("fault", &self.fault).finish_non_exhaustive()
    }
}
