//! Logs of QUIC connections in qlog, as JSON text sequences (RFC 7464): each record is a line that starts with the byte
//! 0x1e.
//!
//! [`Log::header`] writes the first record and [`Log::record`] one event; both append to a string. Times are relative
//! to the start of the run. Events have to be written in the order of their times.

mod events;
mod frames;
mod json;
mod log;
mod schema;

pub use events::{
    ConnectionState, EcnState, Event, LossTrigger, Metrics, Owner, SendTrigger, TimerChange, TimerKind, UpdatedTimer,
};
pub use log::{Log, Titles};
pub use schema::Schema;

#[cfg(test)]
mod tests;
