//! Scenario in, results out. The only crate that knows every model.
//!
//! ```text
//! scenario ─► build ─► run ─► record ─► results
//! ```
//!
//! - [`scenario`]: what was asked; data that cannot hold nonsense.
//! - `builder`: from the scenario to a world.
//! - `ends`: who the endpoints are.
//! - `estimate`: what a run takes of memory and disk.
//! - `agenda`: which part of the world is due next.
//! - `application`, `source`, `datagrams`, `dialogue`: what applications do; when they have something to send; by UDP;
//!   who asks for what.
//! - `body`, `delays`: what packets carry; times summed up.
//! - `fabric`: links and routes; packets are offered to links and taken from them.
//! - `world`: the fabric, endpoints and the queue of their next events.
//! - [`run`]: the event loop.
//! - [`path`]: the links of a scenario for packets from outside.
//! - `record`: samples as columns, while it runs.
//! - `relay`: a flow at a proxy.
//! - `collector`: a sink of messages.
//! - `stations`: who tells the ends of flows what happens to links.
//! - `tap`: who watches packets.
//! - `capture`: a tap that writes packets to files for other tools.
//! - [`trace`]: files that say how a link changes.
//! - [`results`]: what a run leaves: summary, columns, hash.

mod agenda;
mod application;
mod body;
mod builder;
mod capture;
mod collector;
mod datagrams;
mod delays;
mod dialogue;
mod ends;
mod estimate;
mod fabric;
pub mod path;
mod record;
mod relay;
pub mod results;
pub mod run;
pub mod scenario;
mod source;
mod stations;
mod tap;
pub mod trace;
mod world;

pub use capture::Output;
pub use path::Path;
pub use results::RunResult;
pub use run::{Control, Progress, Simulation};
pub use scenario::{Scenario, ScenarioError};
