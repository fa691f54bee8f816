//! The interface between a protocol's parameters and its agents.

use crate::{Agent, Identity};
use lightlag_core::params::Described;

/// The parameters of a protocol; they build the agents of nodes.
pub trait Model: Described {
    /// Returns the agent of a node.
    fn build(&self, identity: &Identity) -> Box<dyn Agent>;
}
