//! The needs of a simulator towards any transport, and the reports that all transports have in common.
//!
//! - [`account`]: counters, limits, failures and the state of a sender at one moment.
//! - [`standing`]: the account of a sender between two events.

pub mod account;
mod integral;
pub mod standing;

pub use account::{Failure, Limit, Limited, Snapshot, Statistics};
pub use integral::Integral;
pub use standing::Standing;
