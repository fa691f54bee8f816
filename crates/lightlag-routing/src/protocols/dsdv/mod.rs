//! Destination-Sequenced Distance Vector routing: Perkins and Bhagwat, SIGCOMM 1994, with the values and messages of
//! ns-3.
//!
//! Every node periodically broadcasts its table, with its own sequence number, which increases by two each time. A
//! route is accepted if its sequence number is newer, or equal with fewer hops, so there are no routing loops. A node
//! that loses its route to a destination makes the number odd and the distance infinite, and advertises this
//! immediately. Other changes are advertised once they have settled, because a better route with the same number often
//! follows. The settling time is a weighted mean of the times from the first route with a number to the best one: 0.875
//! of the previous mean plus 0.125 of the last time.
//!
//! Three rules differ from the paper. A node believes a report that a destination is unreachable only if the report
//! comes from its next hop to that destination; it answers other senders with its own route, in its next advertisement.
//! The forwarding table is also the advertised table, so a full dump includes routes that have not settled. A change
//! waits for the mean settling time, as in ns-3, not for twice the mean.
//!
//! ns-3 immediately floods each newer number through the network, with or without a change of the route;
//! [`Advertise::Newer`] does the same.

mod agent;
mod config;
#[cfg(test)]
mod tests;

pub use crate::messages::dsdv::{DsdvEntry, Update};
pub use config::{Advertise, Config};
