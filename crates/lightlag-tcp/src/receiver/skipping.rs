//! Delivery past holes (BETS): if a hole stays open longer than the receiver's patience, or blocks more data than the
//! receiver wants to hold, the application gets the data after it, and a report of the hole.
//!
//! Each hole has a clock of its own, which starts when data or the FIN beyond it arrives. The clock of a hole never
//! expires before that of a lower one, so only the first hole is watched. Data of a hole that arrives after it was
//! skipped lies below the next expected offset, like any other duplicate.

use super::{NO_FIN, Receiver};
use crate::holes::{Hole, HoleLog, HoleTotals};
use crate::scoreboard::Range;
use lightlag_core::{Duration, Instant};
use std::collections::VecDeque;

/// The state of a receiver that skips holes.
#[derive(Debug)]
pub(super) struct Skipping {
    patience: Duration,
    /// The most data held above a hole; by default half the buffer.
    hold: Option<u64>,
    /// The end of all data that the peer is known to have sent.
    reach: u64,
    /// Starts of gaps, and the times at which they were noticed, both in ascending order.
    noticed: VecDeque<(u64, Instant)>,
    /// Holes that the application has not reached, in ascending order.
    ahead: VecDeque<Range>,
    /// Their bytes.
    bytes_ahead: u64,
    /// The skipped holes, and the last of those that the application has passed and not asked for.
    log: HoleLog,
}

impl Receiver {
    /// Holes are skipped from now on.
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

    /// Bytes of the holes that the application has not reached.
    pub(super) fn bytes_ahead(&self) -> u64 {
        self.skipping().map_or(0, |skipping| skipping.bytes_ahead)
    }

    /// Whether holes are skipped.
    pub(crate) fn skips_holes(&self) -> bool {
        self.skipping().is_some()
    }

    /// Holes that were skipped.
    pub fn skipped(&self) -> HoleTotals {
        self.skipping().map_or(HoleTotals::default(), |skipping| skipping.log.totals())
    }

    /// The next hole that the application has passed and not heard of.
    pub fn poll_hole(&mut self) -> Option<Hole> {
        self.holes.as_mut()?.skipping.as_mut()?.log.take().map(Hole::from)
    }

    /// The first hole, as far as it is known.
    fn first_hole(&self) -> Option<Range> {
        let above = self.holes.as_ref().and_then(|holes| holes.ranges.first(self.nxt)).map(|range| range.start);
        let end = above.or((self.fin_at != NO_FIN).then_some(self.fin_at))?;
        (self.nxt < end).then_some(Range { start: self.nxt, end })
    }

    /// Time at which patience with the first hole ends; [`Instant::MAX`] if there is none.
    pub(crate) fn patience_ends(&self) -> Instant {
        let first = self.skipping().and_then(|skipping| Some((skipping.noticed.front()?.1, skipping.patience)));
        first.filter(|_| self.first_hole().is_some()).map_or(Instant::MAX, |(since, patience)| since + patience)
    }

    /// Offset above which holes stay open until `then`, the arrival of retransmissions caused by the next ACK.
    pub(crate) fn repairable_from(&self, then: Instant) -> u64 {
        let Some(skipping) = self.skipping() else { return 0 };
        let in_time = |(_, since): &&(u64, Instant)| *since + skipping.patience > then;
        skipping.noticed.iter().find(in_time).map_or(u64::MAX, |(start, _)| *start)
    }

    /// Notes the gaps that an arrival left open.
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

    /// Skips the first hole if patience with it has ended, or if it blocks too much. Returns the hole.
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

    /// The application reads this many more bytes, past holes on its way.
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
    /// Drops gaps below `nxt`, where everything arrived or was skipped.
    fn forget_below(&mut self, nxt: u64) {
        while self.noticed.get(1).is_some_and(|(start, _)| *start <= nxt) {
            self.noticed.pop_front();
        }
        if nxt >= self.reach {
            self.noticed.clear();
        }
    }
}
