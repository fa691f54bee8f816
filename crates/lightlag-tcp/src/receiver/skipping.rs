//! Skipping of holes (BETS): if a hole stays open longer than the receive timeout, or more data waits above it than the
//! receiver may hold, the application gets the data after the hole, and a report of the hole.
//!
//! Each hole has a timeout of its own, which starts when data or the FIN beyond it arrives. A hole never times out
//! before a lower one, so only the first hole is watched. If data of a hole arrives after the hole was skipped, it lies
//! below the next expected offset and is handled as a duplicate.

use super::{NO_FIN, Receiver};
use crate::holes::{Hole, HoleLog, HoleTotals};
use crate::scoreboard::Range;
use lightlag_core::{Duration, Instant};
use std::collections::VecDeque;

/// State of a receiver that skips holes.
#[derive(Debug)]
pub(super) struct Skipping {
    patience: Duration,
    /// Maximum amount of data stored above a hole; `None` means half the buffer.
    hold: Option<u64>,
    /// End of all data that the peer is known to have sent.
    reach: u64,
    /// Starts of the open gaps, with the times when they were detected, both in ascending order.
    noticed: VecDeque<(u64, Instant)>,
    /// Skipped holes that the application has not yet reached while reading, in ascending order.
    ahead: VecDeque<Range>,
    /// Total size of the holes in [`Self::ahead`] in bytes.
    bytes_ahead: u64,
    /// Totals of the skipped holes, and the most recent holes that the application has passed and not yet polled.
    log: HoleLog,
}

impl Receiver {
    /// Starts skipping a hole if it stays open for `patience`, or if more than `hold` bytes wait above it.
    pub fn skip_holes(&mut self, patience: Duration, hold: Option<u64>) {
        self.holes.get_or_insert_default().skipping = Some(Box::new(Skipping {
            patience,
            hold,
            reach: 0,
            noticed: VecDeque::new(),
            ahead: VecDeque::new(),
            bytes_ahead: 0,
            log: HoleLog::default(),
        }));
    }

    fn skipping(&self) -> Option<&Skipping> {
        self.holes.as_ref()?.skipping.as_deref()
    }

    /// Returns the total size of the skipped holes that the application has not yet reached, in bytes.
    pub(super) fn bytes_ahead(&self) -> u64 {
        self.skipping().map_or(0, |skipping| skipping.bytes_ahead)
    }

    /// Returns true if holes are skipped.
    pub(crate) fn skips_holes(&self) -> bool {
        self.skipping().is_some()
    }

    /// Returns the number and size of all skipped holes.
    pub fn skipped(&self) -> HoleTotals {
        self.skipping().map_or(HoleTotals::default(), |skipping| skipping.log.totals())
    }

    /// Returns the next hole that the application has passed and that has not been reported to it.
    pub fn poll_hole(&mut self) -> Option<Hole> {
        self.holes.as_mut()?.skipping.as_mut()?.log.take().map(Hole::from)
    }

    /// Returns the first open hole, which ends at the next data or FIN that arrived.
    fn first_hole(&self) -> Option<Range> {
        let above = self.holes.as_ref().and_then(|holes| holes.ranges.first(self.nxt)).map(|range| range.start);
        let end = above.or((self.fin_at != NO_FIN).then_some(self.fin_at))?;
        (self.nxt < end).then_some(Range { start: self.nxt, end })
    }

    /// Returns the time when the first hole times out; [`Instant::MAX`] if there is no hole.
    pub(crate) fn patience_ends(&self) -> Instant {
        let first = self.skipping().and_then(|skipping| Some((skipping.noticed.front()?.1, skipping.patience)));
        first.filter(|_| self.first_hole().is_some()).map_or(Instant::MAX, |(since, patience)| since + patience)
    }

    /// Returns the start of the first hole that has not timed out at `then`. Retransmissions that the next ACK causes
    /// arrive at that time, and would be too late for lower holes.
    pub(crate) fn repairable_from(&self, then: Instant) -> u64 {
        let Some(skipping) = self.skipping() else { return 0 };
        let in_time = |(_, since): &&(u64, Instant)| *since + skipping.patience > then;
        skipping.noticed.iter().find(in_time).map_or(u64::MAX, |(start, _)| *start)
    }

    /// Records the gaps that an arrival leaves open.
    pub(crate) fn note_gaps(&mut self, now: Instant) {
        let (nxt, highest, fin) = (self.nxt, self.highest(), self.fin_at);
        let Some(holes) = &mut self.holes else { return };
        let top = holes.ranges.last(nxt).map(|range| range.start);
        let Some(skipping) = &mut holes.skipping else { return };
        if top.is_some_and(|top| top > skipping.reach) {
            skipping.noticed.push_back((skipping.reach, now));
        }
        skipping.reach = skipping.reach.max(highest);
        if fin != NO_FIN && fin > skipping.reach {
            skipping.noticed.push_back((skipping.reach, now));
            skipping.reach = fin;
        }
        skipping.forget_below(nxt);
    }

    /// Skips the first hole and returns it, if it has timed out or too much data waits above it.
    pub(crate) fn skip(&mut self, now: Instant) -> Option<Hole> {
        let hole = self.first_hole()?;
        let hold = self.skipping()?.hold.unwrap_or(self.buffer() / 2);
        if now < self.patience_ends() && self.above_holes() <= hold {
            return None;
        }
        self.nxt = hole.end;
        self.advance();
        self.acknowledge_soon(now);
        let (nxt, reader) = (self.nxt, self.consumed());
        let holes = self.holes.as_mut()?;
        let skipping = holes.skipping.as_mut()?;
        skipping.forget_below(nxt);
        skipping.log.count(hole);
        if reader < hole.start {
            skipping.ahead.push_back(hole);
            skipping.bytes_ahead += hole.end - hole.start;
        } else {
            skipping.log.keep(hole);
            if reader == hole.start
                && let Some(store) = &mut self.store
            {
                store.consumed = hole.end;
            }
        }
        Some(hole.into())
    }

    /// Advances the application's read position by `bytes` of data, and past the holes in that data.
    pub(super) fn move_reader(&mut self, bytes: u64) {
        let Some(store) = &mut self.store else { return };
        store.consumed += bytes;
        let Some(skipping) = self.holes.as_mut().and_then(|holes| holes.skipping.as_mut()) else { return };
        while let Some(hole) = skipping.ahead.front().copied().filter(|hole| hole.start <= store.consumed) {
            skipping.ahead.pop_front();
            let bytes = hole.end - hole.start;
            store.consumed += bytes;
            skipping.bytes_ahead -= bytes;
            skipping.log.keep(hole);
        }
    }
}

impl Skipping {
    /// Drops the gaps below `nxt`, where everything arrived or was skipped.
    fn forget_below(&mut self, nxt: u64) {
        while self.noticed.get(1).is_some_and(|(start, _)| *start <= nxt) {
            self.noticed.pop_front();
        }
        if nxt >= self.reach {
            self.noticed.clear();
        }
    }
}
