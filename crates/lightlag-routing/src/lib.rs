//! Routing agents of ad hoc networks, and the resolution of addresses on the link.
//!
//! An agent runs on one node. It knows neither a clock nor a medium: its node tells it the time, the messages that
//! arrive and the links that break, and takes from it what is to be sent and the instant at which it wants to be called
//! next.
//!
//! - [`agent`]: the calls between an agent and its node.
//! - [`messages`]: the control messages of all protocols, with their sizes.
//! - [`traffic`]: counters of control messages.
//! - [`registry`]: the protocols by name, with their parameters.
//! - [`aodv`]: Ad hoc On-Demand Distance Vector (RFC 3561), and as ns-3 does it.
//! - [`olsr`]: Optimized Link State Routing (RFC 3626).
//! - [`dsdv`]: Destination-Sequenced Distance Vector.
//! - [`gpsr`]: Greedy Perimeter Stateless Routing.
//! - [`fixed`]: static routes, by hops at the start.
//! - [`oracle`]: shortest paths on the true graph.
//! - [`own`]: routers of users.
//! - [`arp`]: which neighbours have told their address on the link.

pub mod agent;
pub mod aodv;
pub mod arp;
mod by_node;
pub mod dsdv;
pub mod fixed;
pub mod gpsr;
pub mod messages;
pub mod model;
pub mod olsr;
pub mod oracle;
mod outbox;
pub mod own;
mod paths;
pub mod registry;
#[cfg(test)]
mod testbed;
pub mod traffic;

pub use agent::{Action, Agent, Break, Extra, Fate, Heading, Identity, Receiver, Route, Step, Surroundings, Verdict};
pub use messages::{Kind, Message, OWN_PORT};
pub use registry::{Protocol, Router, register};
pub use traffic::Traffic;
