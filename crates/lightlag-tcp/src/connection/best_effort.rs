//! Partial reliability (BETS) of a connection: it skips holes, and reports them to the application.

use super::{Connection, State};
use crate::holes::{Hole, HoleTotals};
use crate::segment::{Flags, Segment};
use lightlag_core::Instant;

impl Connection {
    /// Returns the next hole in the data that the application has read: a range whose data did not arrive and will not
    /// be waited for. Holes are returned in order, each once the application has read all data before it. At most the
    /// last 50 holes are stored until this is called.
    pub fn poll_hole(&mut self) -> Option<Hole> {
        self.receiver.poll_hole()
    }

    /// Returns the number and size of all holes in the received data, whether read or not. [`Self::received`] counts
    /// holes as if they had been filled.
    pub fn holes(&self) -> HoleTotals {
        self.receiver.skipped()
    }

    /// Returns the number of payload bytes that arrived in order, without holes.
    #[inline(never)]
    pub fn delivered(&self) -> u64 {
        self.received() - self.holes().bytes
    }

    /// Returns the number and size of the ranges that this end has sent as often as permitted and no longer repairs.
    /// The peer may have received some of that data, and may have skipped other data.
    pub fn given_up(&self) -> HoleTotals {
        self.sending.awake().map_or_else(HoleTotals::default, |sender| sender.given_up())
    }

    /// Returns the last 50 ranges of data that this end abandoned, oldest first.
    pub fn given_up_places(&self) -> impl Iterator<Item = Hole> + '_ {
        self.sending.awake().into_iter().flat_map(|sender| sender.given_up_ranges()).map(Hole::from)
    }

    /// Starts partial reliability, once both ends have offered it.
    #[cold]
    pub(super) fn agree_on_bets(&mut self) {
        if let Some(bets) = self.config.scps.and_then(|scps| scps.bets) {
            awake!(self).set_best_effort(bets);
        }
    }

    /// Records missing data after an arrival, and skips a hole if too much data waits above it.
    #[cold]
    pub(super) fn settle_holes(&mut self, now: Instant) {
        if self.receiver.skips_holes() && !self.orphan {
            self.receiver.note_gaps(now);
            self.skip_holes(now);
        }
    }

    fn skip_holes(&mut self, now: Instant) {
        while let Some(hole) = self.receiver.skip(now) {
            if let Some(agreement) = self.extras.scps_mut() {
                agreement.records.break_at(hole.start);
            }
        }
        self.watch_holes();
    }

    /// Handles the timeout of a hole, if it has expired.
    pub(super) fn patience_ended(&mut self, now: Instant) {
        let receives = matches!(self.state, State::Established | State::FinWait1 | State::FinWait2);
        if receives && self.receiver.patience_ends() <= now {
            self.skip_holes(now);
            self.settle_records();
            if self.receiver.fin_consumed() {
                self.peer_fin(now);
            }
        }
    }

    /// Returns a segment with the last sequence number sent, which is the FIN or a byte of data. It makes the peer
    /// detect a hole that extends to this number.
    #[cold]
    pub(super) fn probe_of_tail(&mut self, now: Instant) -> Segment {
        self.count_ack();
        self.follows = false;
        let end = self.nxt();
        let mut segment = self.acknowledging(now, self.local.plus(end as u32).plus(u32::MAX));
        if self.sent() < end {
            segment.flags = segment.flags.with(Flags::FIN);
            return segment;
        }
        segment.len = 1;
        if self.sending.awake().is_some_and(|sender| sender.ends_record(end)) {
            segment.with_record_boundary()
        } else {
            segment
        }
    }
}
