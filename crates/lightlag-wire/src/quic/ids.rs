//! Connection IDs, reset tokens and random values, which follow from the index of a connection.

use lightlag_quic::streams::Side;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// Maximum length of a connection ID (RFC 9000 §17.2).
const MAX_ID: usize = 20;

/// The endpoint that chose a connection ID, and its purpose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// Destination of the client's first Initial packets, which the client makes up.
    Original = 0,
    /// Chosen by the client for itself.
    Client = 1,
    /// Chosen by the server for itself.
    Server = 2,
    /// Chosen by the server in a Retry packet.
    Retry = 3,
}

impl Role {
    /// Returns the role of the IDs that an endpoint chooses for itself.
    pub(super) fn of(side: Side) -> Self {
        match side {
            Side::Client => Self::Client,
            Side::Server => Self::Server,
        }
    }
}

/// A connection ID of up to 20 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ConnectionId {
    bytes: [u8; MAX_ID],
    len: u8,
}

impl ConnectionId {
    /// Returns the ID with this sequence number. Its bytes are the role and the low six bits of the sequence number,
    /// the index of the connection in little-endian order, the rest of the sequence number, and zeros. IDs of 8 bytes are
    /// therefore unique for 2⁴⁸ connections with 2¹⁴ IDs each.
    pub(super) fn new(connection: u64, role: Role, sequence: u64, len: u8) -> Self {
        let mut bytes = [0; MAX_ID];
        bytes[0] = (role as u8) << 6 | sequence as u8 & 0x3f;
        bytes[1..7].copy_from_slice(&connection.to_le_bytes()[..6]);
        bytes[7..15].copy_from_slice(&(sequence >> 6).to_le_bytes());
        Self { bytes, len: len.min(MAX_ID as u8) }
    }

    /// Returns the bytes.
    pub(super) fn as_slice(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

/// Returns 32 bytes that follow from a label and numbers.
pub(super) fn derived(label: &str, numbers: [u64; 2]) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(label);
    numbers.into_iter().for_each(|number| hash.update(number.to_be_bytes()));
    hash.finalize().into()
}

/// Returns the stateless reset token of an ID (RFC 9000 §10.3).
pub(super) fn reset_token(connection: u64, role: Role, sequence: u64) -> [u8; 16] {
    let bytes = derived("stateless reset token", [connection, (role as u64) << 56 | sequence]);
    bytes[..16].try_into().expect("16 bytes")
}

/// Fills `out` with bytes that follow from a label and numbers.
pub(super) fn fill(out: &mut [u8], label: &str, numbers: [u64; 2]) {
    for (index, chunk) in (0..).zip(out.chunks_mut(32)) {
        chunk.copy_from_slice(&derived(label, [numbers[0], numbers[1] << 16 | index])[..chunk.len()]);
    }
}

/// Returns bytes as hexadecimal digits.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
