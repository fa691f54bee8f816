//! Cutting of segments that proved too large for the path (RFC 1191 §6.5).

use super::{AMBIGUOUS, FIN, LOST, Record, SETTLED, Scoreboard, log};

impl Scoreboard {
    /// Limits full segments to `size` bytes from now on. Outstanding data that is not SACKed is lost, and cut into
    /// segments of that size. Returns the number of pieces of each segment.
    #[cold]
    pub fn recut(&mut self, size: u32) -> Vec<usize> {
        self.set_segment_size(size);
        self.again = self.again.take().and_then(|again| again.emptied());
        self.pipe = 0;
        let old = std::mem::take(&mut self.records);
        let mut pieces = Vec::with_capacity(old.len());
        for (number, record) in (self.first..).zip(old.iter().copied()) {
            let before = self.records.len();
            if record.has(SETTLED) {
                *self.records.push() = record;
            } else {
                self.lost_bytes += record.newly_lost();
                log::lost(&mut self.log, number, record.newly_lost());
                cut(record, size).for_each(|piece| *self.records.push() = piece);
            }
            pieces.push(self.records.len() - before);
        }
        self.cursor = self.first;
        self.lost_edge = self.first + self.records.len() as u64;
        if let Some(top) = self.ranges.last(self.una) {
            self.above_top = self.first + self.find(top.end) as u64;
        }
        pieces
    }
}

/// The pieces of a segment, all of them lost. The FIN needs no room.
fn cut(record: Record, size: u32) -> impl Iterator<Item = Record> {
    let payload = u32::from(record.payload);
    let count = payload.div_ceil(size).max(1);
    (0..count).map(move |piece| {
        let last = piece + 1 == count;
        let from = piece * size;
        Record {
            start: record.start.wrapping_add(from),
            payload: if last { payload - from } else { size } as u16,
            flags: record.flags & (AMBIGUOUS | if last { FIN } else { 0 }) | LOST,
            // The oversized segment had no chance.
            again: 0,
            ..record
        }
    })
}
