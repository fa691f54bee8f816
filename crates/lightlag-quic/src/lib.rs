//! A sans-IO implementation of QUIC (RFC 9000, RFC 9001, RFC 9002, RFC 9221). Payload and handshake messages are
//! counted, not carried, so there is no cryptography; all packets have their exact sizes.
//!
//! - [`Connection`]: one end of a connection, with its [`streams`]; [`Config`] and [`Profile`]: its behaviour;
//!   [`options`]: the keys of a scenario that change it.
//! - [`Packet`]: a datagram as a value of 48 bytes; [`Arena`]: the contents of those that need more.
//! - [`contents`], [`frame`], [`number`], [`varint`]: packets and frames with their sizes; [`codec`]: their bytes.
//! - [`sent`], [`received`], [`rtt`], [`control`], [`pacing`], [`ecn`]: recovery and congestion control (RFC 9002).
//! - [`credit`]: flow control of the receiver.

mod aioquic;
pub mod arena;
pub mod codec;
pub mod config;
pub mod connection;
pub mod contents;
pub mod control;
pub mod credit;
mod crypto;
pub mod details;
pub mod ecn;
mod flight;
pub mod frame;
mod handle;
pub mod kind;
pub mod number;
pub mod options;
pub mod pacing;
pub mod packet;
mod packet_window;
mod picoquic;
pub mod profile;
mod quinn;
pub mod ranges;
pub mod received;
pub mod rtt;
pub mod sent;
pub mod streams;
mod tables;
pub mod varint;

pub use arena::Arena;
pub use config::Config;
pub use connection::{Connection, Counters, Parameters, State};
pub use details::Details;
pub use handle::Handle;
pub use kind::{Kind, SpaceId};
pub use options::{Ends, OptionError, Options};
pub use packet::Packet;
pub use profile::Profile;
