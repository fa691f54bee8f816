//! Housekeeping of the world: parts that have events but handle no packets themselves.

use lightlag_core::Instant;

pub(crate) mod epochs;
pub(crate) mod sources;
pub(crate) mod stations;

use epochs::Departures;
use sources::Sources;
use stations::Stations;

/// The housekeeping parts of a run, except for the sampler, which has no state.
pub(crate) struct Clerks {
    /// Future crashes of proxies, in reverse order: the next one is last.
    pub(crate) crashes: Vec<Crash>,
    /// Stations that notify endpoints of outages and corruption of links, if there are any.
    pub(crate) stations: Option<Box<Stations>>,
    /// Senders that are notified of broken routes, if routing does so. In that case `stations` exists as well, for its
    /// counters.
    pub(crate) sources: Option<Box<Sources>>,
    /// Endpoints whose first link changes with the routes, if routes change.
    pub(crate) departures: Option<Box<Departures>>,
}

/// Time of a proxy's crash, and index of the proxy.
pub(crate) type Crash = (Instant, u32);
