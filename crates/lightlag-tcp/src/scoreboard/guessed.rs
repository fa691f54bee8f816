//! Without SACK a duplicate ACK shows that a segment was delivered, but not which: one counts as SACKed although no
//! record is (Linux, `sacked_out` of a connection without SACK).

use super::Scoreboard;

impl Scoreboard {
    /// Segments outstanding.
    pub fn segments(&self) -> u32 {
        self.records.len() as u32
    }

    /// Bytes of this many full segments.
    pub fn full_segments(&self, count: u32) -> u64 {
        u64::from(count) * u64::from(self.segment_size)
    }

    /// The most segments that may count as delivered without knowing which: the first one is missing, and so are the
    /// lost ones.
    pub fn most_guessed(&self) -> u32 {
        let lost = (self.lost_edge - self.first) as u32;
        self.segments().saturating_sub(lost.max(1))
    }

    /// Counts this many segments as delivered, at most [`Self::most_guessed`]; none did before.
    pub fn guess(&mut self, segments: u32) {
        debug_assert!(self.sacked == 0 && segments <= self.most_guessed());
        // The first segment continues to count by its own state.
        let head = self.records.front().map_or(0, |head| head.in_pipe());
        self.sacked = segments;
        self.sacked_bytes = self.full_segments(segments).min(self.pipe.saturating_sub(head).into()) as u32;
        self.pipe -= self.sacked_bytes;
    }

    /// Ends the guesses. Returns their number.
    pub fn forget_guesses(&mut self) -> u32 {
        self.pipe += std::mem::take(&mut self.sacked_bytes);
        std::mem::take(&mut self.sacked)
    }

    /// Notes that this many more segments were delivered without knowing which.
    pub fn note_guess(&mut self, segments: u32) {
        let bytes = self.full_segments(segments);
        if let Some(log) = &mut self.log {
            log.guessed += bytes;
        }
    }

    /// Notes that this many of the bytes acknowledged now had been guessed before.
    pub fn note_known(&mut self, bytes: u64) {
        if let Some(log) = &mut self.log {
            log.known += bytes;
        }
    }
}
