//! Ad hoc On-Demand Distance Vector routing: RFC 3561, with the habits of ns-3 as switches.
//!
//! A node that has packets and no route floods a request in growing rings, and the request leaves routes back to its
//! origin. The destination, or a node with a route that is fresh enough, replies along them. Routes die unless they are
//! used. A node that loses a neighbour reports the routes that led over it to the neighbours that use them.
//!
//! A route to D is loop-free because of each node on it the next one knows a newer sequence number of D, or the same at
//! fewer hops. A node that loses its route increments the number that it knows, so nobody who used that route can answer
//! its next request.
//!
//! We leave RFC 3561 in five places. A neighbour that is heard keeps the sequence number known of it (§6.2 would forget
//! it). A reply is passed on if the node has a valid route afterwards, whether the reply improved it or not (§6.7 drops
//! the others, so a second request could stay without an answer). Data prolong the route back to their origin only if
//! they came from its next hop (§6.2): a route that is prolonged but unused outlives the routes behind it, and closes a
//! loop. An error that tells no newer number increments the one known (§6.11 copies it). Only replies whose
//! acknowledgement is missing put a neighbour on the blacklist (§6.8), not those that the link layer gave up.

mod agent;
mod config;
mod errors;
mod known;
mod replies;
mod table;
#[cfg(test)]
mod tests;

pub use crate::messages::Sequence;
pub use crate::messages::aodv::{Error, Message, PORT, Reply, Request};
pub use agent::Aodv;
pub use config::{Config, Errors, Hello, LinkBreakOn, Proof, ReleaseOn};
