//! The packets of one connection, one row each, for figures and for replaying the behaviour of a sender.

use super::{Observation, SegmentKind, Side};
use lightlag_core::Instant;
use std::collections::BTreeMap;

/// The rows of one connection. If there are more than the limit, they are decimated evenly, except retransmissions.
#[derive(Clone, Debug)]
pub struct Trace {
    connection: u64,
    limit: usize,
    stride: u64,
    seen: u64,
    rows: Vec<Observation>,
}

impl Trace {
    /// Starts a trace of the connection with this index. Its rows are limited to about `limit`.
    #[must_use]
    pub fn new(connection: u64, limit: usize) -> Self {
        Self { connection, limit: limit.max(2), stride: 1, seen: 0, rows: Vec::new() }
    }

    /// Adds a result of [`super::Analysis::packet`]. Segments of other connections are ignored.
    pub fn observe(&mut self, observation: &Observation) {
        if observation.connection != self.connection {
            return;
        }
        self.seen += 1;
        if !self.seen.is_multiple_of(self.stride) && !stays(observation) {
            return;
        }
        if self.rows.len() >= self.limit {
            self.stride *= 2;
            let mut odd = false;
            self.rows.retain(|row| {
                odd = !odd;
                odd || stays(row)
            });
            // If there are too many retransmissions alone, they are decimated like the rest.
            if self.rows.len() >= self.limit {
                let mut odd = false;
                self.rows.retain(|_| {
                    odd = !odd;
                    odd
                });
            }
        }
        self.rows.push(*observation);
    }

    /// Returns the rows in capture order.
    #[must_use]
    pub fn rows(&self) -> &[Observation] {
        &self.rows
    }

    /// Returns true if the rows were decimated.
    #[must_use]
    pub fn is_thinned(&self) -> bool {
        self.stride > 1
    }

    /// Returns the data segments of one side, in the order in which they were sent.
    pub fn data(&self, side: Side) -> impl Iterator<Item = &Observation> {
        self.rows.iter().filter(move |row| row.side == side && row.len > 0)
    }

    /// Returns the lost data segments of one side. Their positions count all data segments that the side sent,
    /// retransmissions included, from 1.
    ///
    /// This requires a capture at the sender, because a segment that was lost before the capture has no position.
    #[must_use]
    pub fn losses(&self, side: Side) -> Vec<LostSegment> {
        let mut lost: Vec<(LostSegment, i64, i64)> = Vec::new();
        // The latest copy of each interval of data: by its start, its end, position and time.
        let mut sent: BTreeMap<i64, (i64, u64, Instant)> = BTreeMap::new();
        let mut position = 0;
        for row in &self.rows {
            if let Some((from, to)) = row.twice.filter(|_| row.side != side) {
                let arrived = lost.iter().rposition(|(_, start, end)| *start < to && from < *end);
                arrived.map(|at| lost.remove(at));
            }
            if row.side != side || row.len == 0 {
                continue;
            }
            position += 1;
            let (start, end) = (row.start, row.start + i64::from(row.len));
            if matches!(row.kind, SegmentKind::Retransmission(_)) {
                let below = sent.range(..=start).next_back().filter(|(_, (to, ..))| *to > start);
                let from = below.map_or(start, |(from, _)| *from);
                for (from, (to, before, at)) in sent.range(from..end) {
                    lost.push((LostSegment { position: *before, sent: *at, again: row.at }, *from, *to));
                }
            }
            sent.insert(start, (end, position, row.at));
        }
        let mut lost: Vec<LostSegment> = lost.into_iter().map(|(loss, ..)| loss).collect();
        lost.sort_by_key(|loss| loss.position);
        lost.dedup_by_key(|loss| loss.position);
        lost
    }
}

/// A lost data segment, as inferred from a capture at the sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LostSegment {
    /// Position among the data segments of its side, from 1.
    pub position: u64,
    /// Time when it was sent.
    pub sent: Instant,
    /// Time when its data was retransmitted.
    pub again: Instant,
}

/// Returns true if a row is never removed by decimation.
fn stays(row: &Observation) -> bool {
    matches!(row.kind, SegmentKind::Retransmission(_) | SegmentKind::OutOfOrder)
}
