//! What a flow with partial reliability did without.

use super::ColumnHash;
use lightlag_tcp::Connection;
use lightlag_tcp::segment::Capabilities;
use serde::Serialize;

/// Holes in what arrived (BETS). Delivered bytes and bytes of holes make up the stream.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct HoleSummary {
    /// Holes that the receiver went on behind.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes that the sender gave up; some of them may have arrived.
    pub given_up_bytes: u64,
}

impl HoleSummary {
    /// Of a flow whose ends agreed on it.
    pub(super) fn of(sender: &Connection, receiver: &Connection) -> Option<Self> {
        receiver.common_capabilities().filter(|bits| bits & Capabilities::BETS != 0)?;
        let holes = receiver.holes();
        Some(Self { count: holes.count, bytes: holes.bytes, given_up_bytes: sender.given_up().bytes })
    }

    /// Adds its numbers.
    pub(super) fn hash(&self, hash: &mut ColumnHash) {
        hash.numbers([self.count, self.bytes, self.given_up_bytes]);
    }
}
