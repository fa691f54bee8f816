//! Without SACK a duplicate ACK tells that a segment was delivered, but not which: it counts as SACKed although no
//! record is (Linux, `sacked_out` of a connection without SACK).

use super::Scoreboard;

impl Scoreboard {
    /// Segments outstanding.
    pub fn segments(&self) -> u32 {
        self.records.len() as u32
    }

    /// Bytes of so many full segments.
    pub fn full_segments(&self, count: u32) -> u64 {
        u64::from(count) * u64::from(self.segment_size)
    }

    /// Segments that count as delivered although it is not known which, at most: the first one is missing, and so is
    /// what is lost.
    pub fn most_guessed(&self) -> u32 {
        let lost = (self.lost_edge - self.first) as u32;
        self.segments().saturating_sub(lost.max(1))
    }

    /// So many segments count as delivered, at most [`Self::most_guessed`]; before, none did.
    pub fn guess(&mut self, segments: u32) {
        debug_assert!(self.sacked == 0 && segments <= self.most_guessed());
        // The first segment goes on to count as what it is.
        let head = self.records.front().map_or(0, |head| head.in_pipe());
        self.sacked = segments;
        self.sacked_bytes = self.full_segments(segments).min(self.pipe.saturating_sub(head));
        self.pipe -= self.sacked_bytes;
    }

    /// None counts as delivered any more. Gives how many did.
    pub fn forget_guesses(&mut self) -> u32 {
        self.pipe += std::mem::take(&mut self.sacked_bytes);
        std::mem::take(&mut self.sacked)
    }

    /// So many segments more were delivered, and it is not known which.
    pub fn note_guess(&mut self, segments: u32) {
        let bytes = self.full_segments(segments);
        if let Some(log) = &mut self.log {
            log.guessed += bytes;
        }
    }

    /// So many bytes of what is acknowledged now had been guessed before.
    pub fn note_known(&mut self, bytes: u64) {
        if let Some(log) = &mut self.log {
            log.known += bytes;
        }
    }
}
