//! Congestion marks at the connection's edge: their assignment and their demands.

use super::{Connection, State};
use crate::config::Config;
use crate::ecn::{Ecn, Marks, Mode, Urgency};
use crate::segment::{EcnBytes, Flags, Segment, SeqNumber};
use lightlag_core::{Codepoint, Instant};

#[cfg(test)]
mod tests;

/// Bytes of options that a header can hold (RFC 9293 §3.1).
pub(super) const MOST_OPTIONS: u32 = 40;

/// Padded bytes of the AccECN option with its three fields.
pub(super) const ECN_BYTES_LEN: u32 = 12;

/// The segment with as many of the fields as fit, but not less than `least`.
fn longest(segment: Segment, bytes: EcnBytes, least: u8, most: u32) -> Option<Segment> {
    (least..=bytes.fields().len() as u8).rev().find_map(|count| {
        let bytes = bytes.shortened(count);
        let with = segment.has_place_for(&bytes).then(|| segment.with_ecn_bytes(bytes))?;
        (with.options_len() <= most).then_some(with)
    })
}

/// The start of a duplicate that the segment reports (RFC 2883 §4): its first SACK block lies below its
/// acknowledgement.
fn reported_duplicate(segment: &Segment) -> Option<SeqNumber> {
    let first = segment.sack().first()?;
    (first.end.0.wrapping_sub(segment.ack.0) as i32 <= 0).then_some(first.start)
}

impl Connection {
    /// The ECN state of an end with this configuration; none if ECN is off.
    pub(super) fn ecn_of(config: &Config) -> Option<Box<Ecn>> {
        (config.ecn != Mode::Off)
            .then(|| Ecn::new(config.ecn, config.ect, config.congestion.fixed_needs().exact_marks))
            .map(|ecn| Box::new(ecn.with_accecn(config.accecn_option, config.ect_control)))
    }

    /// Takes in a segment that arrived in a packet with this ECN field.
    pub fn handle_packet(&mut self, now: Instant, segment: &Segment, codepoint: Codepoint) {
        if let Some(ecn) = self.extras.ecn_mut() {
            ecn.arrives(codepoint);
        }
        self.handle_segment(now, segment);
    }

    /// The ECN field of the packet with the last segment from [`Self::poll_segment`]. It is ECT on new data, but not on
    /// pure ACKs, retransmissions and probes (RFC 3168 §6.1.4 to 6.1.6), unless the congestion control needs marks on
    /// all packets (RFC 8257), or AccECN is used as in Linux (`ect_control`).
    pub fn codepoint(&self) -> Codepoint {
        self.extras.ecn().map_or(Codepoint::NotEct, |ecn| ecn.leaving())
    }

    /// Reads the ECN offer in the peer's SYN, or the form in its SYN-ACK.
    pub(super) fn agree_on_ecn(&mut self, segment: &Segment) {
        let Some(ecn) = self.extras.ecn_mut() else { return };
        let flags = segment.flags;
        let agreed = if flags.has(Flags::ACK) { ecn.take_answer(flags) } else { ecn.take_syn(flags) };
        ecn.look_for_bytes(segment, true);
        if !agreed {
            self.extras.put_ecn(None);
        }
    }

    /// The peer's first AccECN option may come with any segment.
    #[inline(never)]
    pub(super) fn look_for_ecn_bytes(&mut self, segment: &Segment) {
        if let Some(ecn) = self.extras.ecn_mut() {
            ecn.look_for_bytes(segment, self.state == State::SynReceived);
        }
    }

    /// Reads from the ACK that ended the handshake how the local SYN-ACK arrived.
    pub(super) fn take_greeting(&mut self, segment: &Segment) {
        let marked = self.extras.ecn_mut().is_some_and(|ecn| ecn.take_greeting(segment.flags));
        if marked {
            awake!(self).account.rare().delivered.ce_packets += 1;
        }
    }

    /// The bytes that the AccECN option takes from full segments.
    pub(super) fn room_for_ecn_bytes(&self) -> u32 {
        let needed = !self.config.mss_is_payload && self.extras.ecn().is_some_and(|ecn| ecn.needs_room());
        if needed { ECN_BYTES_LEN } else { 0 }
    }

    /// Whether an ACK has counters to report for which a full segment has no room.
    pub(super) fn owes_ecn_bytes(&self) -> bool {
        self.extras.ecn().is_some_and(|ecn| ecn.demands_bytes()) && self.room_for_ecn_bytes() == 0
    }

    /// Adds the AccECN option, if one is due and there is room. If SACK blocks leave none for the counters that grew,
    /// at most one gives way, and never one of two (as in Linux).
    #[inline(never)]
    pub(super) fn add_ecn_bytes(&mut self, now: Instant, segment: Segment) -> Segment {
        let (srtt, size) = (self.srtt(), self.segment_size());
        if self.extras.scps().is_some() {
            return segment;
        }
        let Some(ecn) = self.extras.ecn_mut() else { return segment };
        let Some((bytes, least)) = ecn.bytes_due(now, srtt) else {
            ecn.bytes_stay();
            return segment;
        };
        let size = size + if ecn.needs_room() { ECN_BYTES_LEN } else { 0 };
        let most = if self.config.mss_is_payload || segment.len == 0 {
            MOST_OPTIONS
        } else {
            (size.saturating_sub(segment.len.into()) + segment.options_len()).min(MOST_OPTIONS)
        };
        let fit = |segment: Segment| longest(segment, bytes, least, most);
        let with_fewer_blocks = || {
            let blocks = segment.sack();
            (least > 0 && blocks.len() > 2).then(|| segment.with_sack(&blocks[..blocks.len() - 1]))
        };
        let Some(with) = fit(segment).or_else(|| with_fewer_blocks().and_then(fit)) else {
            ecn.bytes_stay();
            return segment;
        };
        ecn.bytes_left(now, reported_duplicate(&segment));
        with
    }

    /// Takes in the mark of an acceptable segment, before its data.
    #[inline(never)]
    pub(super) fn take_mark(&mut self, segment: &Segment) {
        let Some(ecn) = self.extras.ecn_mut() else { return };
        let delayed = self.receiver.deadline() != Instant::MAX;
        if ecn.received(segment.flags, segment.len, self.receiver.nxt(), delayed) == Urgency::Now {
            self.receiver.acknowledge_now();
        }
    }

    /// Takes in the mark of data that was acknowledged last and arrives again. The AccECN option counts it, too, and no
    /// longer leaves if it accompanied the report of the same duplicate: something on the path drops ACKs that carry it
    /// (as in Linux).
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

    /// The echo in an ACK up to `ack`. If that is not `newer`, it was reordered, and its counter is out of date.
    #[inline(never)]
    pub(super) fn take_echo(&mut self, segment: &Segment, ack: u64) -> (bool, Marks) {
        let newer = ack > self.una() || !segment.sack().is_empty() || self.has_newer_timestamp(segment);
        self.extras.ecn_mut().map_or((false, Marks::None), |ecn| ecn.echoed(segment, newer))
    }

    /// Whether the timestamp shows that no segment overtook this one.
    fn has_newer_timestamp(&self, segment: &Segment) -> bool {
        self.timestamps && segment.timestamps().is_some_and(|stamps| self.receiver.is_newer(stamps.value))
    }

    /// Notes counters while nothing is outstanding and new data arrived: they concern our pure ACKs, and demand nothing
    /// of the sender.
    #[inline(never)]
    pub(super) fn note_echo(&mut self, segment: &Segment, start: u64) {
        let newer = segment.len > 0 && start == self.receiver.nxt() || self.has_newer_timestamp(segment);
        if let Some((_, marks)) = self.extras.ecn_mut().map(|ecn| ecn.echoed(segment, newer))
            && marks != Marks::None
        {
            let size = u64::from(self.segment_size());
            awake!(self).account.rare().delivered.take(marks, false, 0, size, true);
        }
    }

    /// The ACK of data before a change of marks, if one is due (RFC 8257 §3.2).
    #[inline(never)]
    pub(super) fn prior_ack(&mut self, now: Instant) -> Option<Segment> {
        let (nxt, echo) = self.extras.ecn_mut()?.take_prior()?;
        self.count_ack();
        let (seq, ack) = (self.local.plus(self.nxt() as u32), self.remote.plus(nxt as u32));
        let flags = if echo { Flags::ACK.with(Flags::ECE) } else { Flags::ACK };
        Some(self.stamp(now, Segment::new(seq, ack, self.receiver.window_from(nxt), flags)))
    }
}
