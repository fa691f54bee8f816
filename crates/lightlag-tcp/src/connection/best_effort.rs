//! Partial reliability (BETS) at the connection's edge: reporting holes to the application, and skipping them.

use super::{Connection, State};
use crate::holes::{Hole, HoleTotals};
use crate::segment::{Flags, Segment};
use lightlag_core::Instant;

impl Connection {
    /// The next hole in the data that the application has read: data that neither arrived nor will. Holes come in
    /// order, each once the application has read all data before it. The places of the last 50 are kept until it asks.
    pub fn poll_hole(&mut self) -> Option<Hole> {
        self.receiver.poll_hole()
    }

    /// All holes in the received data, read or not. [`Self::received`] counts them as if they had been filled.
    pub fn holes(&self) -> HoleTotals {
        self.receiver.skipped()
    }

    /// Payload bytes that arrived in order, without holes.
    #[inline(never)]
    pub fn delivered(&self) -> u64 {
        self.received() - self.holes().bytes
    }

    /// Data that this end has sent as often as it may and no longer repairs. The peer may have received some of it, and
    /// may have skipped more.
    pub fn given_up(&self) -> HoleTotals {
        self.sending.awake().map_or_else(HoleTotals::default, |sender| sender.given_up())
    }

    /// The places of that data, in the order of time: the last 50.
    pub fn given_up_places(&self) -> impl Iterator<Item = Hole> + '_ {
        self.sending.awake().into_iter().flat_map(|sender| sender.given_up_ranges()).map(Hole::from)
    }

    /// Starts partial reliability, which both ends offered.
    #[cold]
    pub(super) fn agree_on_bets(&mut self) {
        if let Some(bets) = self.config.scps.and_then(|scps| scps.bets) {
            awake!(self).set_best_effort(bets);
        }
    }

    /// After an arrival: notes missing data, and skips holes that block too much.
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

    /// Handles the time at which patience with a hole may end.
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

    /// The last number sent, the FIN or a byte. It shows the peer a hole that reaches up to it.
    #[cold]
    pub(super) fn probe_of_tail(&mut self, now: Instant) -> Segment {
        self.count_ack();
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
