//! Adapters between custom algorithms and the engine.
//!
//! - [`bound`]: a custom algorithm as a congestion control. It translates records, validates return values and stores
//!   the data for error messages.
//! - [`records`]: conversion of the engine's data to the records of the C interface.
//! - [`native`]: algorithms that implement the C interface of `lightlag-plugin`.
//! - [`library`]: loading of such algorithms from shared libraries.
//! - [`elf`]: check of a library file before it is loaded.
//! - [`queue`]: a custom queue discipline as a packet policy of the engine's queues.
//! - [`response`]: a custom loss response as a loss response of the engine.
//! - [`traffic`]: custom traffic as an application of the engine.
//! - [`steered`]: an algorithm whose window is set by code outside the run.

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
