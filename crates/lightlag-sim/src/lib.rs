//! The simulation of a network: builds a world from the network that [`lightlag_scenario`] describes, runs its event
//! loop, and returns the results.
//!
//! ```text
//! network ─► build ─► run ─► record ─► results
//! ```
//!
//! - [`estimate`]: estimates of the memory and disk space of a run.
//! - `builder`: construction of the world of a network.
//! - [`run`]: the event loop, which lets each part of the world handle its events.
//! - `world`: all parts combined, and the effects of packets and timers.
//!   - `scheduler`: the schedule of the parts' events.
//!   - `fabric`: links and routes; packets are offered to links and taken from them.
//!   - `hosts`: the endpoints of flows and their applications.
//!   - `media`: nodes on radio media, with their interfaces and routing agents.
//!   - `housekeeping`: crashes of proxies, stations that notify endpoints of outages, and changes of routes.
//!   - `tap`: recording of a run, and observers of its packets.
//! - `border`: a partition's data for other partitions, and the assignment of the network to partitions.
//! - [`partition`]: one run on several cores.
//! - [`emulator`]: the fabric for packets of external programs.
//! - `body`: bodies of packets.
//! - `ids`: indices of flows and senders as types.
//! - [`table`]: tables, declared by descriptions of their columns.
//! - [`results`]: results of a run: summary, columns, hash.

mod body;
mod border;
mod builder;
pub mod emulator;
pub mod estimate;
mod fabric;
mod hosts;
mod housekeeping;
mod ids;
mod media;
pub mod partition;
pub mod results;
pub mod run;
mod scheduler;
pub mod table;
mod tap;
mod world;

pub use emulator::Emulator;
pub use hosts::tcp::Observed;
pub use ids::FlowIndex;
pub use partition::Parallel;
pub use results::RunResult;
pub use run::{Control, Progress, Simulation};
pub use tap::capture::Output;
pub use tap::passages::{PassageFilter, Passages};
