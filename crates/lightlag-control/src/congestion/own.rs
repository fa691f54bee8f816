//! Algorithms that are not part of lightlag: those of a user, from a library or in Python.
//!
//! This crate knows such an algorithm as a [`Maker`]. `lightlag-core` says how a scenario names it.

use super::{CongestionControl, Needs, Start};
use lightlag_core::own::Registry;
pub use lightlag_core::own::{Facts, Fault, Origin, Outside};
use std::sync::Arc;

/// An algorithm from outside, which builds its connections.
pub trait Maker: Outside {
    /// Its needs beyond its ACKs.
    fn needs(&self) -> Needs;

    /// Builds it for a connection, with a value for each parameter.
    fn build(self: Arc<Self>, start: &Start, values: &[f64]) -> Box<dyn CongestionControl>;
}

/// An algorithm from outside with the values of its parameters.
pub type Own = lightlag_core::own::Own<dyn Maker>;

/// The algorithms from outside.
pub static OUTSIDE: Registry<dyn Maker> = Registry::new();

#[cfg(test)]
mod tests;
