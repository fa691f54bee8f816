//! Recognises retransmitted frames of a station (§10.3.2.14).

use super::{Address, Msdu, Sequence, Tid};
use std::collections::BTreeMap;

/// Maximum number of entries, each for a pair of stations and a traffic identifier. When a capture has more, all
/// entries are discarded.
const MOST: usize = 4096;

/// The latest sequence numbers between stations.
#[derive(Clone, Debug, Default)]
pub struct Duplicates {
    seen: BTreeMap<(u32, [Address; 2], Option<Tid>), Window>,
}

/// The newest sequence number, and a bitmap of those before it: bit n stands for `newest - n`.
#[derive(Clone, Copy, Debug)]
struct Window {
    newest: Sequence,
    seen: u64,
}

impl Duplicates {
    /// Records a packet seen at an interface. Returns true if it is a copy: its frame has the retry bit, and the
    /// sequence number of one of the last 64 packets between the same stations, with the same traffic identifier, at
    /// the same interface.
    pub fn is_copy(&mut self, interface: u32, msdu: &Msdu<'_>) -> bool {
        let key = (interface, [msdu.transmitter, msdu.receiver], msdu.tid);
        let Some(window) = self.seen.get_mut(&key) else {
            if self.seen.len() == MOST {
                self.seen.clear();
            }
            self.seen.insert(key, Window { newest: msdu.sequence, seen: 1 });
            return false;
        };
        let known = window.take(msdu.sequence);
        known && msdu.is_retry
    }
}

impl Window {
    /// Records a sequence number. Returns true if it was seen before.
    fn take(&mut self, sequence: Sequence) -> bool {
        let ahead = u32::from(sequence.since(self.newest));
        if (1..2048).contains(&ahead) {
            self.newest = sequence;
            self.seen = self.seen.checked_shl(ahead).unwrap_or(0) | 1;
            return false;
        }
        let behind = self.newest.since(sequence);
        let Some(bit) = 1_u64.checked_shl(u32::from(behind)) else { return false };
        let known = self.seen & bit != 0;
        self.seen |= bit;
        known
    }
}
