//! Connection IDs (RFC 9000 §5.1): issued, used and retired by their sequence numbers.

use super::Connection;
use super::codes as code;
use crate::frame::Frame;
use crate::kind::SpaceId;
use crate::ranges::RangeSet;

/// Number of active connection IDs that every endpoint accepts (RFC 9000 §18.2).
const MIN_ACTIVE: u64 = 2;

/// Connection IDs of both ends. The handshake uses sequence number 0.
#[derive(Debug)]
pub(super) struct Ids {
    /// Sequence number of the next own ID.
    issued: u64,
    /// Own IDs that the peer has retired.
    retired: RangeSet,
    /// Sequence number of the peer's next ID, and of the one in use.
    known: u64,
    used: u64,
}

impl Default for Ids {
    fn default() -> Self {
        Self { issued: 1, retired: RangeSet::default(), known: 1, used: 0 }
    }
}

impl Connection {
    fn issue_id(&mut self) {
        let frame = Frame::NewConnectionId { sequence: self.ids.issued, retire_prior: 0, len: self.config.id_len };
        self.ids.issued += 1;
        self.spaces[SpaceId::Application as usize].frames.push(frame);
        self.is_extra_due = true;
    }

    /// Issues as many IDs as this end offers and the peer accepts.
    pub(super) fn issue_ids(&mut self) {
        if self.config.id_len > 0 {
            let count = u64::from(self.config.active_ids).min(u64::from(self.peer.active_ids).max(MIN_ACTIVE));
            (1..count).for_each(|_| self.issue_id());
        }
    }

    /// Returns the numbers of the peer's IDs: active ones, and the sequence number of the one in use.
    pub fn peer_ids(&self) -> (u64, u64) {
        (self.ids.known - self.ids.used, self.ids.used)
    }

    /// Replaces the peer's ID by the next one. Returns false if there is none; zero-length IDs need none.
    pub(super) fn use_fresh_id(&mut self) -> bool {
        if self.peer.id_len == 0 {
            return true;
        }
        if self.ids.used + 1 >= self.ids.known {
            return false;
        }
        self.spaces[SpaceId::Application as usize].frames.push(Frame::RetireConnectionId(self.ids.used));
        self.ids.used += 1;
        // RFC 9000 §17.4: the spin bit is 0 after a change of the ID.
        self.spin &= !self.spins;
        self.is_extra_due = true;
        true
    }

    /// Handles NEW_CONNECTION_ID.
    pub(super) fn handle_new_id(&mut self, sequence: u64, retire_prior: u64) -> Result<(), u64> {
        self.ids.known = self.ids.known.max(sequence + 1);
        while self.ids.used < retire_prior && self.use_fresh_id() {}
        let limit = u64::from(self.config.active_ids).max(MIN_ACTIVE);
        if self.ids.known - self.ids.used > limit { Err(code::CONNECTION_ID_LIMIT) } else { Ok(()) }
    }

    /// Handles RETIRE_CONNECTION_ID: another ID replaces the retired one.
    pub(super) fn handle_retired_id(&mut self, sequence: u64) -> Result<(), u64> {
        if sequence >= self.ids.issued {
            return Err(code::PROTOCOL_VIOLATION);
        }
        if self.ids.retired.insert(sequence, sequence + 1) > 0 {
            self.issue_id();
        }
        Ok(())
    }
}
