//! TCP without a network: it determines which segments are sent and when.
//!
//! A [`Connection`] takes segments and the time, and returns segments and a deadline. It works the same with a
//! simulated clock and with a real one. Payload is counted, not carried.
//!
//! - [`segment`]: a segment and its options, with sizes as on the wire.
//! - [`connection`]: the state machine, which joins the sending half and the [`receiver`].
//! - [`scoreboard`]: the sender's record of its segments.
//! - [`recovery`]: detection of losses, and the start and end of each recovery episode.
//! - [`ecn`]: congestion marks, and their reports to the sender.
//! - [`fast_open`]: data in the SYN.
//! - [`config`]: the behaviour of an endpoint, set by a profile and individual options.
//!
//! The limits on data in flight, and the measurements of the path, come from [`lightlag_control`].

mod account;
pub mod config;
pub mod connection;
pub mod ecn;
pub mod fast_open;
mod holes;
mod profile;
pub mod receiver;
pub mod recovery;
pub mod scoreboard;
pub mod segment;
mod sender;
mod spans;
mod timer;
mod timestamps;

/// MSS that is assumed if the peer sends none, in bytes (RFC 9293 §3.7.1).
const DEFAULT_MSS: u16 = 536;

pub use config::{Config, OptionError, Options, Profile, Scheme};
pub use connection::{Connection, State};
pub use holes::{Hole, HoleTotals};
pub use lightlag_transport::{Failure, Limited, Snapshot, Standing, Statistics};
pub use segment::Segment;
