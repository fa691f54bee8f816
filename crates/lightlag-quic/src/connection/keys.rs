//! Key updates (RFC 9001 §6): the key phase of 1-RTT packets.
//!
//! An end updates its keys after a number of packets, when a packet with the current keys is acknowledged and the peer
//! has updated its own. A peer that receives the other phase in a packet with the highest number follows. There is no
//! cryptography, so an update changes one bit of the header.

use super::Connection;
use crate::kind::{Kind, SpaceId};

/// Key phases of both directions.
#[derive(Debug, Default)]
pub(super) struct KeyPhases {
    own: bool,
    peer: bool,
    /// Number of the first packet with the current keys.
    since: u64,
}

impl Connection {
    /// Returns the key phase of the packet `number` to send, after an update if one is due.
    #[inline]
    pub(super) fn next_key_phase(&mut self, kind: Kind, number: u64) -> bool {
        let Some(interval) = self.config.key_update else { return false };
        kind == Kind::OneRtt && self.phase_at(number, interval)
    }

    #[cold]
    fn phase_at(&mut self, number: u64, interval: u64) -> bool {
        let acked = self.spaces[SpaceId::Application as usize].sent.largest_acked();
        let keys = &mut self.keys;
        let may_update = self.is_confirmed && keys.own == keys.peer && acked.is_some_and(|acked| acked >= keys.since);
        if may_update && number - keys.since >= interval {
            (keys.own, keys.since) = (!keys.own, number);
            self.counters.key_updates += 1;
        }
        keys.own
    }

    /// Notes the key phase of a 1-RTT packet with the highest number so far.
    #[inline]
    pub(super) fn key_phase_arrived(&mut self, phase: bool) {
        if self.config.key_update.is_some() && phase != self.keys.peer {
            self.keys.peer = phase;
            if self.keys.own != phase {
                // §6.2: the answer has the new keys as well.
                (self.keys.own, self.keys.since) = (phase, self.spaces[SpaceId::Application as usize].sent.next());
            }
        }
    }
}
