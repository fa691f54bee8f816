//! The bytes of QUIC packets in captures, protected so that other programs show their frames.
//!
//! A simulation counts handshake messages and payload, but has no keys. A [`Session`] turns the contents of a datagram
//! into bytes as on the wire, in the sizes that the simulation counts: packets are protected with AES-128-GCM (RFC 9001
//! §5), and CRYPTO frames carry handshake messages of TLS 1.3.
//!
//! - Initial packets have the keys that follow from the client's first destination ID, as in every implementation.
//! - All other keys follow from traffic secrets that are all zero. [`Session::key_log`] returns these secrets for a
//!   Decryption Secrets Block ([`capture::Writer::secrets`](crate::capture::Writer::secrets)), so that a reader can
//!   decrypt the packets.
//! - Stream data, tokens, signatures and reasons are zeros.
//!
//! [`Sessions`] holds the connections of a run, and [`WrittenSecrets`] writes the secrets of each to a file once.
//! [`qlog`] writes logs instead of captures.

mod certificate;
mod hello;
mod ids;
mod keys;
mod protect;
pub mod qlog;
mod session;
mod sessions;
mod spec;
mod tls;

pub use lightlag_quic::codec::Version;
pub use lightlag_quic::streams::Side;
pub use session::Session;
pub use sessions::{Datagram, SERVER_PORT, Sessions, WrittenSecrets};
pub use spec::SessionSpec;

#[cfg(test)]
mod tests;
