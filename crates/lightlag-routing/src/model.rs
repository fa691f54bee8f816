//! The interface between a protocol's parameters and its agents.

use crate::{Agent, Identity};
use lightlag_core::params::Described;

/// The parameters of a protocol, from which agents are made.
pub trait Model: Described {
    /// The agent of a node.
    fn build(&self, identity: &Identity) -> Box<dyn Agent>;
}
