//! Congestion marks of a connection: the ECN codepoints of its packets, and the reports of marks.

use super::{Connection, State};
use crate::config::Config;
use crate::ecn::{Ecn, EcnMode, MarkReport, Urgency};
use crate::segment::{EcnBytes, Flags, Segment, SeqNumber};
use lightlag_core::{Codepoint, Instant};

#[cfg(test)]
mod tests;

/// Maximum size of all options of a header, in bytes (RFC 9293 §3.1).
pub(super) const MOST_OPTIONS: u32 = 40;

/// Size of the AccECN option with three fields and its padding, in bytes.
pub(super) const ECN_BYTES_LEN: u32 = 12;

/// Returns the segment with the AccECN option, with as many of its fields as fit into `max` bytes of options; `None` if
/// fewer than `min` fit.
fn longest(segment: Segment, bytes: EcnBytes, min: u8, max: u32) -> Option<Segment> {
    (min..=bytes.fields().len() as u8).rev().find_map(|count| {
        let bytes = bytes.shortened(count);
        let with = segment.has_place_for(&bytes).then(|| segment.with_ecn_bytes(bytes))?;
        (with.options_len() <= max).then_some(with)
    })
}

/// Returns the start of the duplicate data that the segment reports by D-SACK (RFC 2883 §4): its first SACK block lies
/// below its acknowledgement. `None` if it reports none.
fn reported_duplicate(segment: &Segment) -> Option<SeqNumber> {
    let first = segment.sack().first()?;
    (first.end.0.wrapping_sub(segment.ack.0) as i32 <= 0).then_some(first.start)
}

impl Connection {
    /// Returns the ECN state of an end with this configuration; `None` if ECN is off.
    pub(super) fn ecn_of(config: &Config) -> Option<Box<Ecn>> {
        (config.ecn != EcnMode::Off)
            .then(|| Ecn::new(config.ecn, config.ect, config.congestion.fixed_needs().exact_marks))
            .map(|ecn| Box::new(ecn.with_accecn(config.accecn_option, config.ect_control)))
    }

    /// Handles a segment that arrived in a packet with this ECN field.
    #[inline]
    pub fn handle_packet(&mut self, now: Instant, segment: &Segment, codepoint: Codepoint) {
        if let Some(ecn) = self.extras.ecn_mut() {
            ecn.arrives(codepoint);
        }
        self.handle_segment(now, segment);
    }

    /// Returns the ECN field for the packet that carries the last segment from [`Self::poll_segment`]. New data is sent
    /// as ECN-capable, but pure ACKs, retransmissions and probes are not (RFC 3168 §6.1.4 to 6.1.6), unless the
    /// congestion control needs marks on all packets (RFC 8257), or AccECN is used as in Linux (`ect_control`).
    #[inline]
    pub fn codepoint(&self) -> Codepoint {
        self.extras.ecn().map_or(Codepoint::NotEct, |ecn| ecn.leaving())
    }

    /// Reads the ECN offer in the peer's SYN, or the accepted variant in its SYN-ACK.
    pub(super) fn agree_on_ecn(&mut self, segment: &Segment) {
        let Some(ecn) = self.extras.ecn_mut() else { return };
        let flags = segment.flags;
        let agreed = if flags.has(Flags::ACK) { ecn.take_answer(flags) } else { ecn.take_syn(flags) };
        ecn.look_for_bytes(segment, true);
        if !agreed {
            self.extras.put_ecn(None);
        }
    }

    /// Checks whether a segment has the peer's first AccECN option, which any segment may carry.
    #[inline(never)]
    pub(super) fn look_for_ecn_bytes(&mut self, segment: &Segment) {
        if let Some(ecn) = self.extras.ecn_mut() {
            ecn.look_for_bytes(segment, self.state == State::SynReceived);
        }
    }

    /// Reads from the ACK that ends the handshake with which codepoint the local SYN-ACK arrived.
    pub(super) fn take_greeting(&mut self, segment: &Segment) {
        let marked = self.extras.ecn_mut().is_some_and(|ecn| ecn.take_greeting(segment.flags));
        if marked {
            awake!(self).account.rare().delivered.ce_packets += 1;
        }
    }

    /// Returns how much space full segments reserve for the AccECN option, in bytes.
    pub(super) fn room_for_ecn_bytes(&self) -> u32 {
        let needed = !self.config.mss_is_payload && self.extras.ecn().is_some_and(|ecn| ecn.needs_room());
        if needed { ECN_BYTES_LEN } else { 0 }
    }

    /// Returns true if AccECN counters must be reported, and full segments have no space for them.
    pub(super) fn owes_ecn_bytes(&self) -> bool {
        self.extras.ecn().is_some_and(|ecn| ecn.demands_bytes()) && self.room_for_ecn_bytes() == 0
    }

    /// Adds the AccECN option, if it is due and fits. If SACK blocks leave too little space for the counters that grew,
    /// one block is dropped, but only if there are at least three (as in Linux).
    #[inline(never)]
    pub(super) fn add_ecn_bytes(&mut self, now: Instant, segment: Segment) -> Segment {
        let (srtt, size) = (self.srtt(), self.segment_size());
        if self.extras.scps().is_some() {
            return segment;
        }
        let Some(ecn) = self.extras.ecn_mut() else { return segment };
        let Some((bytes, min_counters)) = ecn.bytes_due(now, srtt) else {
            ecn.bytes_stay();
            return segment;
        };
        let size = size + if ecn.needs_room() { ECN_BYTES_LEN } else { 0 };
        let max_options = if self.config.mss_is_payload || segment.len == 0 {
            MOST_OPTIONS
        } else {
            (size.saturating_sub(segment.len.into()) + segment.options_len()).min(MOST_OPTIONS)
        };
        let fit = |segment: Segment| longest(segment, bytes, min_counters, max_options);
        let with_fewer_blocks = || {
            let blocks = segment.sack();
            (min_counters > 0 && blocks.len() > 2).then(|| segment.with_sack(&blocks[..blocks.len() - 1]))
        };
        let Some(with) = fit(segment).or_else(|| with_fewer_blocks().and_then(fit)) else {
            ecn.bytes_stay();
            return segment;
        };
        ecn.bytes_left(now, reported_duplicate(&segment));
        with
    }

    /// Handles the congestion mark of an acceptable segment, before its data.
    #[inline(never)]
    pub(super) fn take_mark(&mut self, segment: &Segment) {
        let Some(ecn) = self.extras.ecn_mut() else { return };
        let delayed = self.receiver.deadline() != Instant::MAX;
        if ecn.received(segment.flags, segment.len, self.receiver.nxt(), delayed) == Urgency::Now {
            self.receiver.acknowledge_now();
        }
    }

    /// Handles the congestion mark of a segment whose data had already been acknowledged. The AccECN option counts the
    /// mark. If the option was in the ACK that reported the previous copy of this data as a duplicate, it is no longer
    /// sent: a middlebox probably drops ACKs that carry it (as in Linux).
    #[cold]
    pub(super) fn take_repeated_mark(&mut self, segment: &Segment) {
        if !self.extras.ecn().is_some_and(|ecn| ecn.is_accurate()) {
            return;
        }
        self.take_mark(segment);
        if let Some(ecn) = self.extras.ecn_mut() {
            ecn.suspect_option(segment.seq);
        }
    }

    /// Reads the echoed marks in an ACK up to `ack`. An ACK that is not `newer` was reordered, and its counter is out
    /// of date.
    #[inline(never)]
    pub(super) fn take_echo(&mut self, segment: &Segment, ack: u64) -> (bool, MarkReport) {
        let newer = ack > self.una() || !segment.sack().is_empty() || self.has_newer_timestamp(segment);
        self.extras.ecn_mut().map_or((false, MarkReport::None), |ecn| ecn.echoed(segment, newer))
    }

    /// Returns true if the timestamp proves that no later segment has arrived before this one.
    fn has_newer_timestamp(&self, segment: &Segment) -> bool {
        self.timestamps && segment.timestamps().is_some_and(|stamps| self.receiver.is_newer(stamps.value))
    }

    /// Updates the mark counters from a segment that arrives while nothing is outstanding. Its marks concern our pure
    /// ACKs, so the sender need not react.
    #[inline(never)]
    pub(super) fn note_echo(&mut self, segment: &Segment, start: u64) {
        let newer = segment.len > 0 && start == self.receiver.nxt() || self.has_newer_timestamp(segment);
        if let Some((_, marks)) = self.extras.ecn_mut().map(|ecn| ecn.echoed(segment, newer))
            && marks != MarkReport::None
        {
            let size = u64::from(self.segment_size());
            awake!(self).account.rare().delivered.take(marks, false, 0, size, true);
        }
    }

    /// Returns the ACK of the data that arrived before marks started or stopped, if it is due (RFC 8257 §3.2).
    #[inline(never)]
    pub(super) fn prior_ack(&mut self, now: Instant) -> Option<Segment> {
        let (nxt, echo) = self.extras.ecn_mut()?.take_prior()?;
        self.count_ack();
        let (seq, ack) = (self.local.plus(self.nxt() as u32), self.remote.plus(nxt as u32));
        let flags = if echo { Flags::ACK.with(Flags::ECE) } else { Flags::ACK };
        Some(self.stamp(now, Segment::new(seq, ack, self.receiver.window_from(nxt), flags)))
    }
}
