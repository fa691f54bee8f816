//! Custom algorithms, from a library or in Python.
//!
//! This crate builds such an algorithm through [`AlgorithmFactory`]. `lightlag-core` defines its name in a scenario.

use super::{CongestionControl, ConnectionStart, Needs};
use lightlag_core::custom::Registry;
pub use lightlag_core::custom::{Description, Factory, Fault, Origin};
use std::sync::Arc;

/// A custom algorithm: builds an instance for each connection.
pub trait AlgorithmFactory: Factory {
    /// Returns what the algorithm needs besides ACKs.
    fn needs(&self) -> Needs;

    /// Builds an instance for a connection, with a value for each parameter.
    fn build(self: Arc<Self>, start: &ConnectionStart, values: &[f64]) -> Box<dyn CongestionControl>;
}

/// A custom algorithm, with the values of its parameters.
pub type CustomAlgorithm = lightlag_core::custom::Custom<dyn AlgorithmFactory>;

/// The registered custom algorithms.
pub static CUSTOM: Registry<dyn AlgorithmFactory> = Registry::new();

#[cfg(test)]
mod tests;
