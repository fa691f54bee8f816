//! Clerks: they act on the world from outside, and stand in no packet's way.

use lightlag_core::Instant;

pub(crate) mod epochs;
pub(crate) mod sources;
pub(crate) mod stations;

use epochs::Departures;
use sources::Sources;
use stations::Stations;

/// All clerks of a run. The sampler is not among them: it keeps nothing.
pub(crate) struct Clerks {
    /// Crashes to come, the next one last.
    pub(crate) crashes: Vec<Crash>,
    /// The stations that tell the ends of flows about links, if there are any.
    pub(crate) stations: Option<Box<Stations>>,
    /// Senders that routing tells of broken routes, if it tells any. Then there are stations, which count.
    pub(crate) sources: Option<Box<Sources>>,
    /// Endpoints that are told of other routes, if routes change.
    pub(crate) departures: Option<Box<Departures>>,
}

/// Instant at which a proxy crashes, and its index.
pub(crate) type Crash = (Instant, u32);
