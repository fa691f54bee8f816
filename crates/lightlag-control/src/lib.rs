//! The control of a transport, without a packet format: the amount of data in flight, the sending rate, and the
//! underlying measurements. Any transport that reports the bytes sent, acknowledged and lost can use this crate.
//!
//! - [`congestion`]: the algorithms, and the registry of their names in a scenario.
//! - [`rtt`]: the round-trip time and the retransmission timeout.
//! - [`delivery_rate`]: the delivery rate of the network.
//! - [`pacing`]: the departure time of the next segment.
//! - [`bucket`]: a token bucket for all connections of a route.

pub mod bucket;
pub mod congestion;
pub mod delivery_rate;
pub mod pacing;
pub mod rtt;
