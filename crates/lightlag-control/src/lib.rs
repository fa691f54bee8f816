//! The control of a transport, without a packet format: the amount of data in flight, the rate at which it leaves, and
//! the measurements behind both. Any transport that can name its bytes sent, acknowledged and lost can use it.
//!
//! - [`congestion`]: the algorithms, and the registry by which a scenario names them.
//! - [`rtt`]: the round-trip time and the retransmission timeout.
//! - [`delivery_rate`]: the delivery rate of the network.
//! - [`pacing`]: the departure time of the next segment.
//! - [`bucket`]: a token bucket for all connections of a route.

pub mod bucket;
pub mod congestion;
pub mod delivery_rate;
pub mod pacing;
pub mod rtt;
