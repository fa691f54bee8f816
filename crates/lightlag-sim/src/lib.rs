//! A network in, results out: the world of the network that [`lightlag_scenario`] describes, and its event loop.
//!
//! ```text
//! network ─► build ─► run ─► record ─► results
//! ```
//!
//! - [`estimate`]: how much memory and disk a run takes.
//! - `builder`: makes the world of a network.
//! - [`run`]: the event loop, which gives each part of the world its turn.
//! - `world`: all parts together, and what a packet or a timer makes them do.
//!   - `agenda`: which part is due next.
//!   - `fabric`: links and routes; packets are offered to links and taken from them.
//!   - `hosts`: the ends of flows and their applications.
//!   - `media`: nodes on radio media, with their interfaces and routing agents.
//!   - `clerks`: crashes of proxies, and stations that tell of outages.
//!   - `tap`: what is written down of a run, and who watches its packets.
//! - `border`: what a partition keeps for the others, and which part of the network is where.
//! - [`partition`]: one run on several cores.
//! - [`emulator`]: the fabric for packets from outside.
//! - `body`: what packets carry.
//! - `ids`: numbers of flows and senders as types.
//! - [`table`]: tables as descriptions of their columns.
//! - [`results`]: what a run leaves: summary, columns, hash.

mod agenda;
mod body;
mod border;
mod builder;
mod clerks;
pub mod emulator;
pub mod estimate;
mod fabric;
mod hosts;
mod ids;
mod media;
pub mod partition;
pub mod results;
pub mod run;
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
pub use tap::passages::{Passages, Watch};
