//! Destination-Sequenced Distance Vector routing: Perkins and Bhagwat, SIGCOMM 1994, with the figures and messages of ns-3.
//!
//! Every node broadcasts its table from time to time, with a sequence number of its own that grows by two each time. A route
//! is taken if its number is newer, or the same at fewer hops, so next hops never form a cycle. A node that loses its way to a
//! destination makes the number odd and the distance infinite, and says so at once. Other changes are said once they have
//! settled, for a better route with the same number often follows: the wait is the mean time from the first route with a
//! number to the best, .875 of the mean before and .125 of the last.
//!
//! Three rules differ from the paper. A report that a destination cannot be reached counts only from the next hop to it;
//! others are answered by the route that this node has, when it is said next. Forwarding and advertised table are one, so a
//! full dump says routes that have not settled. The wait is the mean once, as in ns-3, not twice.
//!
//! ns-3 floods each newer number through the network at once, with or without a change of the route; [`Advertise::Newer`]
//! does that, too.

mod agent;
mod config;
#[cfg(test)]
mod tests;

pub use crate::messages::dsdv::{Entry, PORT, Update};
pub use config::{Advertise, Config};
