//! Counts of segments by their state, made on request.

use super::{LOST, RETRANSMITTED, Scoreboard};

/// Outstanding segments, as counted in the fields of TCP_INFO on Linux.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Sent and not acknowledged cumulatively.
    pub unacked: u32,
    /// Of these, reported by SACK.
    pub sacked: u32,
    /// Of these, taken as lost.
    pub lost: u32,
    /// Of these, sent again and not taken as lost once more.
    pub retransmitted: u32,
}

impl Scoreboard {
    /// Counts the outstanding segments by looking at each of them.
    pub fn counts(&self) -> Counts {
        let count = |flag| self.records.iter().filter(|record| record.has(flag)).count() as u32;
        Counts {
            unacked: self.records.len() as u32,
            sacked: self.sacked,
            lost: count(LOST),
            retransmitted: count(RETRANSMITTED),
        }
    }
}
