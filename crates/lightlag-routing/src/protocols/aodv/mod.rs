//! Ad hoc On-Demand Distance Vector routing: RFC 3561, with options that reproduce ns-3.
//!
//! A node that has packets but no route floods a request with an increasing time to live. Each node that receives the
//! request learns a route back to its origin. The destination, or a node with a route that is fresh enough, replies
//! along them. Routes expire unless they are used. A node that loses a neighbour reports the routes through it to the
//! other neighbours that use these routes.
//!
//! A route to a destination D is loop-free because the next hop of each node has a newer sequence number for D, or the
//! same number with fewer hops. A node that loses its route increments the sequence number, so no user of that route
//! can reply to its next request.
//!
//! The model deviates from RFC 3561 in five rules. When a message arrives from a neighbour, the neighbour's known
//! sequence number is retained (§6.2 would forget it). A reply is forwarded if the node then has a valid route, whether
//! or not the reply improved it (§6.7 drops replies that do not, so a second request could remain without a reply). A
//! data packet extends the lifetime of the route to its origin only if it arrived from the next hop of that route
//! (§6.2): an unused route whose lifetime is extended would outlive the newer routes along the path, and cause a loop.
//! An error without a newer number increments the stored one (§6.11 copies it). Only replies whose acknowledgement is
//! missing put a neighbour on the blacklist (§6.8), not those that the link layer dropped.

mod agent;
mod config;
mod errors;
mod known;
mod replies;
mod table;
#[cfg(test)]
mod tests;

pub use crate::messages::Sequence;
pub use crate::messages::aodv::{AodvMessage, Error, Reply, Request};
pub use agent::Aodv;
pub use config::{Config, Errors, HelloPolicy, LinkBreakOn, Proof, ReleaseOn};
