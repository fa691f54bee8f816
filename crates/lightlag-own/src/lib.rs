//! Algorithms from outside, as the engine uses them.
//!
//! - [`bound`]: an algorithm from outside as a congestion control. It translates records, checks answers and keeps what an error
//!   message needs.
//! - [`records`]: the engine's facts in the records of the interface.
//! - [`native`]: algorithms behind the C interface of `lightlag-plugin`.
//! - [`library`]: such algorithms in shared libraries.
//! - [`elf`]: the check of such a file before it is loaded.
//! - [`queue`]: a queue discipline from outside as a judge of the engine's queues.
//! - [`response`]: a loss response from outside as one of the engine.
//! - [`traffic`]: traffic from outside as an application of the engine.
//! - [`steered`]: an algorithm whose window somebody sets from outside of the run.

pub mod bound;
mod copied;
pub mod elf;
pub mod library;
pub mod native;
pub mod queue;
mod recipe;
pub mod records;
pub mod response;
pub mod steered;
pub mod traffic;
