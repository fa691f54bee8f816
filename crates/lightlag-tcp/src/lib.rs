//! TCP without a network: what to send, and when.
//!
//! A [`Connection`] is given segments and the time, and answers with segments and a deadline. It never learns
//! whether the clock is simulated. Payload is counted, not carried.
//!
//! - [`segment`]: a segment and its options, with sizes as on the wire.
//! - [`connection`]: the state machine, which joins the sending half and the [`receiver`].
//! - [`scoreboard`]: what the sender knows about its segments.
//! - [`recovery`]: what is lost, and when an episode of repair begins and ends.
//! - [`ecn`]: congestion marks and how they travel back.
//! - [`fast_open`]: data with the SYN.
//! - [`config`]: what an endpoint does, by its own settings or by those of a profile.
//!
//! How much may be in flight, and what is measured of the path, comes from [`lightlag_control`].

pub mod account;
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
mod timer;
mod timestamps;

/// MSS of a peer that names none (RFC 9293 §3.7.1).
const DEFAULT_MSS: u16 = 536;

pub use account::{Failure, Limited, Snapshot, Standing, Statistics};
pub use config::{Config, OptionError, Options, Profile, Scheme};
pub use connection::{Connection, State};
pub use holes::{Hole, HoleTotals};
pub use segment::Segment;
