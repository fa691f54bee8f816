//! Clerks: who acts on the world from outside, and stands in no packet's way.

use lightlag_core::Instant;

pub(crate) mod epochs;
pub(crate) mod stations;

use epochs::Departures;
use stations::Stations;

/// Whoever acts on the world from outside. The sampler keeps nothing.
pub(crate) struct Clerks {
    /// Crashes to come, the next one last.
    pub(crate) crashes: Vec<Crash>,
    /// The stations that tell the ends of flows about links, if there are any.
    pub(crate) stations: Option<Box<Stations>>,
    /// Who is told of other routes, if routes change.
    pub(crate) departures: Option<Box<Departures>>,
}

/// When a proxy crashes, and its index.
pub(crate) type Crash = (Instant, u32);
