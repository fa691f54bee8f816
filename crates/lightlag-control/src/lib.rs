//! The control of a transport that knows no packet format: how much may be in flight, how fast it leaves, and the
//! measurements behind both. Any transport that can name its bytes sent, acknowledged and lost can use it.
//!
//! - [`congestion`]: the algorithms, and the registry by which a scenario names them.
//! - [`rtt`]: the round-trip time and the retransmission timeout.
//! - [`delivery_rate`]: how fast the network delivers.
//! - [`pacing`]: when the next segment may leave.
//! - [`bucket`]: a token bucket for all connections of a route.

pub mod bucket;
pub mod congestion;
pub mod delivery_rate;
pub mod pacing;
pub mod rtt;
