//! The seam between a simulator and its transports.
//!
//! - [`endpoint`]: one end of a connection, with the packets and deadlines that it exchanges with its host.
//! - [`stream`]: the byte streams of a connection, as an application uses them.
//! - [`account`]: counters, limits, failures and the state of a sender at one moment.
//! - [`standing`]: the account of a sender between two events.

pub mod account;
pub mod endpoint;
mod integral;
pub mod standing;
pub mod stream;

pub use account::{Failure, Limit, Limited, Snapshot, Statistics};
pub use endpoint::{Endpoint, Inspect, Status};
pub use integral::Integral;
pub use standing::Standing;
pub use stream::Stream;
