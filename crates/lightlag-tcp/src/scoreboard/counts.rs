//! Counts of segments by their state, computed on request.

use super::{LOST, RETRANSMITTED, Scoreboard};

/// Numbers of outstanding segments by state, as in the fields of TCP_INFO on Linux.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SegmentCounts {
    /// Segments sent and not acknowledged cumulatively.
    pub unacked: u32,
    /// Outstanding segments reported by SACK.
    pub sacked: u32,
    /// Outstanding segments that count as lost.
    pub lost: u32,
    /// Outstanding segments that were retransmitted, and whose retransmission does not count as lost.
    pub retransmitted: u32,
}

impl Scoreboard {
    /// Counts the outstanding segments. Scans all records.
    pub fn counts(&self) -> SegmentCounts {
        let count = |flag| self.records.iter().filter(|record| record.has(flag)).count() as u32;
        SegmentCounts {
            unacked: self.records.len() as u32,
            sacked: self.sacked,
            lost: count(LOST),
            retransmitted: count(RETRANSMITTED),
        }
    }
}
