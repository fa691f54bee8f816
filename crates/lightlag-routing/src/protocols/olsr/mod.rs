//! Optimized Link State Routing: RFC 3626, for nodes with one interface.
//!
//! A node learns from the HELLOs of its neighbours which nodes they receive. A link is symmetric once the neighbour
//! lists this node. It chooses relays (MPRs) among its neighbours that together reach all nodes two hops away. The
//! relays report their selectors in TCs, and forward a message if it came from one of their selectors. Routes are the
//! shortest paths in hops over all known links.
//!
//! A message waits for a random time, and messages due in the meantime travel in the same packet, as in ns-3. Hosts and
//! networks attached to a node (HNA), several interfaces (MID) and the hysteresis of links (§14) are left out.

mod agent;
mod config;
mod state;
#[cfg(test)]
mod tests;

pub use crate::messages::olsr::{
    LinkCode, LinkType, NeighbourType, OlsrBody, OlsrHello, OlsrMessage, OlsrPacket, TopologyControl, Validity,
};
pub use config::Config;
