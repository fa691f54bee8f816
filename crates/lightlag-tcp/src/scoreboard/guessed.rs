//! Without SACK, a duplicate ACK shows that some segment was delivered, but not which one. A segment then counts as
//! SACKed although no record is marked (Linux, `sacked_out` of a connection without SACK).

use super::Scoreboard;

impl Scoreboard {
    /// Returns the number of outstanding segments.
    pub fn segments(&self) -> u32 {
        self.records.len() as u32
    }

    /// Returns the number of bytes in `count` full segments.
    pub fn full_segments(&self, count: u32) -> u64 {
        u64::from(count) * u64::from(self.segment_size)
    }

    /// Returns the maximum number of segments that may count as delivered: all outstanding ones except the first, which
    /// is missing, and the lost ones.
    pub fn most_guessed(&self) -> u32 {
        let lost = (self.lost_edge - self.first) as u32;
        self.segments().saturating_sub(lost.max(1))
    }

    /// Counts `segments` as delivered, at most [`Self::most_guessed`]. Call it only while none is counted.
    pub fn guess(&mut self, segments: u32) {
        debug_assert!(self.sacked == 0 && segments <= self.most_guessed());
        // The first segment continues to count by its own state.
        let head = self.records.front().map_or(0, |head| head.in_pipe());
        self.sacked = segments;
        self.sacked_bytes = self.full_segments(segments).min(self.pipe.saturating_sub(head).into()) as u32;
        self.pipe -= self.sacked_bytes;
    }

    /// Resets the number of segments that count as delivered. Returns the number before.
    pub fn forget_guesses(&mut self) -> u32 {
        self.pipe += std::mem::take(&mut self.sacked_bytes);
        std::mem::take(&mut self.sacked)
    }

    /// Logs that `segments` more segments count as delivered although they are not identified.
    pub fn note_guess(&mut self, segments: u32) {
        let bytes = self.full_segments(segments);
        if let Some(log) = &mut self.log {
            log.guessed += bytes;
        }
    }

    /// Logs that `bytes` of the data acknowledged now had already been counted as delivered.
    pub fn note_known(&mut self, bytes: u64) {
        if let Some(log) = &mut self.log {
            log.known += bytes;
        }
    }
}
