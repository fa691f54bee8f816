//! The interface between a simulator and its transports.
//!
//! - [`endpoint`]: one end of a connection, with the packets and deadlines that it exchanges with its host.
//! - [`stream`]: the byte streams of a connection, as an application uses them.
//! - [`multiplexed`]: the streams of a connection that carries several.
//! - [`account`]: counters, limits, reasons for failures and snapshots of a sender.
//! - [`standing`]: time averages of a sender, evaluated at any time between two events.

pub mod account;
pub mod endpoint;
mod integral;
pub mod multiplexed;
pub mod standing;
pub mod stream;

pub use account::{Failure, Limit, Limited, QuicLimited, Snapshot, Statistics};
pub use endpoint::{Endpoint, Inspect, Status};
pub use integral::Integral;
pub use multiplexed::{Multiplexed, Priority, StreamArrival};
pub use standing::Standing;
pub use stream::Stream;
