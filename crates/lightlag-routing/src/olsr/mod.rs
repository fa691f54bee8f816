//! Optimized Link State Routing: RFC 3626, for nodes with one interface.
//!
//! A node hears from the HELLOs of its neighbours whom they hear: a link carries both ways once a neighbour lists this
//! node. Among its neighbours it chooses relays (MPRs) through which it reaches all nodes two hops away. The chosen report
//! in TCs who chose them, and pass a report on if it came from a node that chose them. Routes are the shortest by hops over
//! all links known.
//!
//! A message waits for a random time, and those that are due in the meantime travel in the same packet, as in ns-3. Hosts and
//! networks behind a node (HNA), several interfaces (MID) and the hysteresis of links (§14) are left out.

mod agent;
mod config;
mod state;
#[cfg(test)]
mod tests;

pub use crate::messages::olsr::{
    Body, Hello, LinkCode, LinkType, Message, NeighbourType, PORT, Packet, TopologyControl, Validity,
};
pub use config::Config;
