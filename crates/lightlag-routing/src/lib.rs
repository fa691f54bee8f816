//! Routing agents of ad hoc networks, and address resolution on the link.
//!
//! An agent runs on one node. It has neither a clock nor a medium: its node gives it the time, the messages that arrive
//! and the links that break, and takes from it the messages to send and the time of the next call.
//!
//! - [`agent`]: the calls between an agent and its node.
//! - [`messages`]: the control messages of all protocols, their sizes and their encoding.
//! - [`traffic`]: counters of control messages.
//! - [`protocols`]: the protocols, each with its parameters and its agent.
//! - `star`: forwarding over a hub, without a protocol.
//! - [`custom`]: custom routers.
//! - [`arp`]: resolution of the link addresses of neighbours.

pub mod agent;
pub mod arp;
mod by_node;
pub mod custom;
pub mod messages;
pub mod model;
mod outbox;
mod paths;
pub mod protocols;
mod star;
#[cfg(test)]
mod testbed;
pub mod traffic;

pub use agent::{
    Agent, Break, FailedPacketFate, Identity, NodeAction, PacketInfo, PrefetchStep, Receiver, Route, RoutingHeader,
    Surroundings, Verdict,
};
pub use messages::{Kind, Message, OWN_PORT, Payload};
pub use protocols::*;
pub use traffic::Traffic;
