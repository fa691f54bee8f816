//! The segments that an open connection sends: their order and their contents.

use super::{Connection, State};
use crate::receiver::MAX_BLOCKS;
use crate::scoreboard::{Chunk, Range};
use crate::segment::{Flags, SackBlock, Segment, SeqNumber, Timestamps};
use crate::timestamps::timestamp;
use lightlag_core::Instant;

impl Connection {
    #[inline(always)]
    pub(super) fn poll_synchronized(&mut self, now: Instant) -> Option<Segment> {
        if self.handshake_due || self.receiver.owes_copies() {
            return Some(self.owed_ack(now));
        }
        if self.extras.ecn().is_some()
            && let Some(ack) = self.prior_ack(now)
        {
            return Some(ack);
        }
        // SACK blocks do not fit a full segment: they are sent in a separate ACK before it. So are ECN counters.
        if self.receiver.ack_due()
            && (self.receiver.has_report() || self.extras.ecn().is_some() && self.owes_ecn_bytes())
        {
            return Some(self.pure_ack(now, 0));
        }
        if let Some(sender) = self.sending.awake_mut() {
            let nxt = sender.board().nxt();
            if let Some(chunk) = sender.poll(now, &self.config) {
                return Some(self.data(now, chunk, chunk.start >= nxt));
            }
            if sender.wants_probe() {
                sender.probe_leaves(now, &self.config);
                sender.account.rare().probes += 1;
                return Some(self.probe(now));
            }
        }
        if self.receiver.ack_due() {
            return Some(self.pure_ack(now, 0));
        }
        if let Some(chunk) = self.sending.awake_mut().and_then(|sender| sender.poll_low_priority(now)) {
            return Some(self.low_priority(now, chunk));
        }
        self.poll_keep_alive(now)
    }

    /// Returns the ACK that is due: the ACK that ends the handshake, the SYN-ACK of a fast open, or the ACK of a
    /// low-priority segment.
    #[cold]
    fn owed_ack(&mut self, now: Instant) -> Segment {
        if std::mem::take(&mut self.handshake_due) {
            return if self.is_unconfirmed() { self.early_answer(now) } else { self.pure_ack(now, 0) };
        }
        self.receiver.take_copy();
        self.low_priority_ack(now)
    }

    #[inline(always)]
    pub(super) fn data(&mut self, now: Instant, chunk: Chunk, new: bool) -> Segment {
        let statistics = &mut awake!(self).account.counters;
        if chunk.len > 0 {
            statistics.sent_segments += 1;
        } else {
            statistics.acks_sent += 1;
        }
        let mut segment = self.acknowledging(now, self.local.plus(chunk.start as u32));
        self.receiver.data_left(now);
        segment.len = chunk.len as u16;
        if new
            && chunk.len > 0
            && let Some(ecn) = self.extras.ecn_mut()
        {
            segment.flags = segment.flags.with(ecn.new_data(awake!(self).take_reduced()));
        }
        let sender = awake!(self);
        self.follows = chunk.len > 0 && sender.continues_burst();
        if sender.marks_records() && sender.ends_record(chunk.start + u64::from(chunk.len)) && chunk.len > 0 {
            segment = segment.with_record_boundary();
        }
        if self.config.push && chunk.len > 0 && sender.pushes(chunk.start, chunk.start + u64::from(chunk.len)) {
            segment.flags = segment.flags.with(Flags::PSH);
        }
        if self.config.receive_offload && chunk.len > 0 && awake!(self).burst_goes_on() {
            segment.flags = segment.flags.with(Flags::MORE);
        }
        if chunk.fin {
            segment.flags = segment.flags.with(Flags::FIN);
            self.state = match self.state {
                State::Established => State::FinWait1,
                State::CloseWait => State::LastAck,
                other => other,
            };
        }
        if self.extras.ecn().is_some() { self.add_ecn_bytes(now, segment) } else { segment }
    }

    pub(super) fn pure_ack(&mut self, now: Instant, before: u32) -> Segment {
        let nxt = self.count_ack();
        let seq = self.local.plus(nxt as u32).plus(before.wrapping_neg());
        let advances = before == 0 && self.receiver.acknowledges_more();
        let segment = self.acknowledging(now, seq);
        let reports = self.receiver.has_report();
        self.follows = advances && segment.flags == Flags::ACK && !reports;
        if self.extras.scps().is_some() {
            return self.add_scps(now, segment);
        }
        let segment = if reports { self.add_sack(segment) } else { segment };
        if self.extras.ecn().is_some() { self.add_ecn_bytes(now, segment) } else { segment }
    }

    /// Adds the SACK option to an ACK.
    #[inline(never)]
    pub(super) fn add_sack(&mut self, segment: Segment) -> Segment {
        if !self.sack || !self.receiver.has_report() {
            return segment;
        }
        let mut blocks = [SackBlock::default(); MAX_BLOCKS];
        let mut ranges = [Range::default(); MAX_BLOCKS];
        let count = self.receiver.report(&mut ranges);
        for (block, range) in blocks.iter_mut().zip(&ranges[..count]) {
            *block = SackBlock { start: self.remote.plus(range.start as u32), end: self.remote.plus(range.end as u32) };
        }
        segment.with_sack(&blocks[..count])
    }

    // A segment that is built in place need not be copied.
    #[inline(always)]
    pub(super) fn acknowledging(&mut self, now: Instant, seq: SeqNumber) -> Segment {
        let ack = self.remote.plus(self.receiver.nxt() as u32);
        let window = self.receiver.acknowledged(false);
        let flags = self.extras.ecn_mut().map_or(Flags::ACK, |ecn| Flags::ACK.with(ecn.echo()));
        self.stamp(now, Segment::new(seq, ack, window, flags))
    }

    #[inline(always)]
    pub(super) fn stamp(&self, now: Instant, segment: Segment) -> Segment {
        if !self.timestamps {
            return segment;
        }
        // TSecr is valid only with the ACK bit (RFC 7323 §3.2).
        let echo = if segment.flags.has(Flags::ACK) { self.receiver.ts_recent() } else { 0 };
        segment.with_timestamps(Timestamps { value: timestamp(now), echo })
    }
}
