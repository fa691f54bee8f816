//! Scenario in, results out. The only crate that knows every model.
//!
//! ```text
//! scenario ─► build ─► run ─► record ─► results
//! ```
//!
//! - [`scenario`]: what was asked; data that cannot hold nonsense.
//! - `estimate`: how much memory and disk a run takes.
//! - `builder`: makes the world of a scenario.
//! - [`run`]: the event loop, which gives each part of the world its turn.
//! - `world`: all parts together, and what a packet or a timer makes them do.
//!   - `agenda`: which part is due next.
//!   - `fabric`: links and routes; packets are offered to links and taken from them.
//!   - `hosts`: the ends of flows and their applications.
//!   - `clerks`: crashes of proxies, and stations that tell of outages.
//!   - `tap`: what is written down of a run, and who watches its packets.
//! - [`path`]: the fabric for packets from outside.
//! - `body`: what packets carry.
//! - [`trace`]: files that say how a link changes.
//! - [`results`]: what a run leaves: summary, columns, hash.

mod agenda;
mod body;
mod builder;
mod clerks;
mod estimate;
mod fabric;
mod hosts;
pub mod path;
pub mod results;
pub mod run;
pub mod scenario;
mod tap;
pub mod trace;
mod world;

pub use path::Path;
pub use results::RunResult;
pub use run::{Control, Progress, Simulation};
pub use scenario::{Scenario, ScenarioError};
pub use tap::capture::Output;
