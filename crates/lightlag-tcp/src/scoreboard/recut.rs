//! Division of segments that proved too large for the path (RFC 1191 §6.5).

use super::{AMBIGUOUS, FIN, LOST, SETTLED, Scoreboard, SegmentRecord, log};

impl Scoreboard {
    /// Limits full segments to `size` bytes. Outstanding data that is not SACKed counts as lost, and is divided into
    /// segments of that size. Returns for each old segment the number of new ones.
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

/// Returns the segments into which a segment is divided, all of them lost. The FIN counts as no payload.
fn cut(record: SegmentRecord, size: u32) -> impl Iterator<Item = SegmentRecord> {
    let payload = u32::from(record.payload);
    let count = payload.div_ceil(size).max(1);
    (0..count).map(move |piece| {
        let last = piece + 1 == count;
        let from = piece * size;
        SegmentRecord {
            start: record.start.wrapping_add(from),
            payload: if last { payload - from } else { size } as u16,
            flags: record.flags & (AMBIGUOUS | if last { FIN } else { 0 }) | LOST,
            // The oversized segment could not be delivered.
            again: 0,
            ..record
        }
    })
}
