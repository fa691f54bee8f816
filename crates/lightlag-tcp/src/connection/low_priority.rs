//! Low-priority segments on both ends: their form, and their acknowledgement.
//!
//! A probe is a copy of data with [`Flags::LOW`], and its acknowledgement number is not new. The receiver replies to
//! each probe immediately, with an ACK that has the flag and no data and does not count as a duplicate ACK. Probes and
//! their ACKs have low priority in the network.

use super::{Connection, State};
use crate::scoreboard::Chunk;
use crate::segment::{Flags, Segment};
use lightlag_core::Instant;

impl Connection {
    /// Returns a low-priority copy of data sent before. Its acknowledgement number repeats what was already
    /// acknowledged, because the copy may be dropped.
    #[inline(never)]
    pub(super) fn low_priority(&mut self, now: Instant, chunk: Chunk) -> Segment {
        if let Some(ecn) = self.extras.ecn_mut() {
            ecn.low_priority();
        }
        let (nxt, seq) = (self.receiver.nxt(), self.local.plus(chunk.start as u32));
        let window = self.receiver.window_from(nxt);
        let mut segment = Segment::new(seq, self.remote.plus(nxt as u32), window, Flags::ACK.with(Flags::LOW));
        segment.len = chunk.len as u16;
        self.follows = false;
        self.stamp(now, segment)
    }

    /// Returns the ACK of a probe.
    #[cold]
    pub(super) fn low_priority_ack(&mut self, now: Instant) -> Segment {
        let mut segment = self.pure_ack(now, 0);
        segment.flags = segment.flags.with(Flags::LOW);
        segment
    }

    /// Handles a probe whose data starts at `start`, or the ACK of a probe. Low priority may have delayed it, so its
    /// timestamp implies nothing about earlier segments.
    #[cold]
    pub(super) fn take_low_priority(&mut self, now: Instant, segment: &Segment, start: u64) {
        let control = Flags::SYN.with(Flags::FIN).with(Flags::RST);
        if segment.flags.has_any(control) || !segment.flags.has(Flags::ACK) || self.state == State::TimeWait {
            return;
        }
        if self.extras.keep_alive().is_some() {
            self.heard(now);
        }
        if segment.len == 0 {
            // Also at the edge: two ends that have filled each other's windows would otherwise not accept each other's
            // segments (as with other ACKs).
            let is_heard = self.acceptable(start, 0) || start == self.receiver.edge();
            if is_heard && self.take_ack(now, segment, start, None) {
                awake!(self).low_priority_acknowledged(now);
            }
            return;
        }
        let len = u64::from(segment.len);
        if start + len > self.receiver.edge() {
            return;
        }
        if matches!(self.state, State::Established | State::FinWait1 | State::FinWait2) && !self.orphan {
            self.receiver.receive_copy(now, start, len);
            self.settle_holes(now);
            if self.receiver.fin_consumed() {
                self.peer_fin(now);
            }
        }
        self.receiver.owe_copy();
    }
}
