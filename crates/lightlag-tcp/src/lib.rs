//! TCP without a network: the segments to send, and their times.
//!
//! A [`Connection`] takes segments and the time, and returns segments and a deadline. It never learns whether the clock
//! is simulated. Payload is counted, not carried.
//!
//! - [`segment`]: a segment and its options, with sizes as on the wire.
//! - [`connection`]: the state machine, which joins the sending half and the [`receiver`].
//! - [`scoreboard`]: the sender's knowledge of its segments.
//! - [`recovery`]: the losses, and the start and end of each episode of repair.
//! - [`ecn`]: congestion marks and their way back.
//! - [`fast_open`]: data in the SYN.
//! - [`config`]: the behaviour of an endpoint, by its own settings or by those of a profile.
//!
//! The bounds of the flight, and the measurements of the path, come from [`lightlag_control`].

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

/// MSS of a peer that names none (RFC 9293 §3.7.1).
const DEFAULT_MSS: u16 = 536;

pub use config::{Config, OptionError, Options, Profile, Scheme};
pub use connection::{Connection, State};
pub use holes::{Hole, HoleTotals};
pub use lightlag_transport::{Failure, Limited, Snapshot, Standing, Statistics};
pub use segment::Segment;
