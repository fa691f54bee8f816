//! Handles segments that arrive on an open connection: acceptability, acknowledgement, window and data (RFC 9293
//! §3.10.7.4).

use super::{Connection, State};
use crate::config::WindowEdge;
use crate::receiver::{MAX_BLOCKS, MAX_QUICK};
use crate::scoreboard::Range;
use crate::segment::{Flags, Segment, Timestamps};
use crate::sender::Acknowledgement;
use crate::timestamps::timestamp;
use lightlag_core::{Duration, Instant};
use lightlag_transport::Failure;

impl Connection {
    pub(super) fn synchronized(&mut self, now: Instant, segment: &Segment) {
        if self.state == State::TimeWait && self.reopened(now, segment) {
            return;
        }
        if segment.flags.has_any(Flags::LOW.with(Flags::COMPRESSED)) {
            return self.take_special(now, segment);
        }
        let Some(start) = segment.seq.expand(self.remote, self.receiver.nxt()) else {
            return self.repeated_syn(now, segment);
        };
        if self.in_outage() {
            return self.hear_in_outage(now, segment);
        }
        let stamps = if self.timestamps { segment.timestamps() } else { None };
        if !self.admits(now, segment, start, stamps) {
            return;
        }
        if !segment.flags.has(Flags::ACK) {
            return;
        }
        if self.state == State::TimeWait && start != self.receiver.nxt() {
            // A peer that retransmits anything but its last ACK has not received ours (as in Linux).
            self.challenge(now);
        }
        if !self.take_ack(now, segment, start, stamps.map(|stamps| stamps.echo)) {
            return;
        }
        if let Some(stamps) = stamps {
            // Noted only now, because a segment with an impossible acknowledgement may be forged (as in Linux).
            self.receiver.note_timestamp(now, start, stamps.value);
        }
        if self.extras.ecn().is_some() {
            self.take_mark(segment);
        }
        if segment.len > 0 || segment.flags.has(Flags::FIN) {
            self.take_data(now, segment, start);
        }
    }

    /// Handles a low-priority segment, or a segment with a compressed header.
    #[cold]
    fn take_special(&mut self, now: Instant, segment: &Segment) {
        if segment.is_compressed() {
            return self.take_compressed(now, segment);
        }
        match segment.seq.expand(self.remote, self.receiver.nxt()) {
            Some(start) => self.take_low_priority(now, segment, start),
            None => self.repeated_syn(now, segment),
        }
    }

    /// Checks timestamp, sequence number and flags of a segment. Returns true if its acknowledgement and data are to be
    /// processed.
    #[inline(always)]
    pub(super) fn admits(&mut self, now: Instant, segment: &Segment, start: u64, stamps: Option<Timestamps>) -> bool {
        if let Some(stamps) = stamps
            && self.receiver.is_old(now, stamps.value)
            && !segment.flags.has(Flags::RST)
        {
            // PAWS, RFC 7323 §5.3.
            self.receiver.acknowledge_soon(now);
            return false;
        }
        if self.timestamps && stamps.is_none() && self.config.require_timestamps && !segment.flags.has(Flags::RST) {
            // RFC 7323 §3.2.
            return false;
        }
        let len = u64::from(segment.sequence_len());
        let mut acceptable = self.acceptable(start, len);
        let beyond = len > 0 && start + len > self.receiver.edge();
        if beyond && self.config.window_edge == WindowEdge::Whole && !segment.flags.has_any(Flags::RST.with(Flags::SYN))
        {
            acceptable = self.takes_whole(segment, start);
        }
        if !acceptable {
            self.unacceptable(now, segment, start);
            return false;
        }
        if segment.flags.has_any(Flags::RST.with(Flags::SYN)) {
            if segment.flags.has(Flags::RST) {
                self.take_reset(now, start);
            } else {
                self.take_strange_syn(now);
            }
            return false;
        }
        if self.extras.keep_alive().is_some() {
            self.heard(now);
        }
        true
    }

    /// Returns true if a segment is acceptable by the table of RFC 9293 §3.10.7.4. An empty segment may also be exactly
    /// at the window's right edge (as in Linux): otherwise two ends that have filled each other's windows would
    /// acknowledge each other's ACKs for ever.
    pub(super) fn acceptable(&self, start: u64, len: u64) -> bool {
        let (nxt, edge) = (self.receiver.nxt(), self.receiver.edge());
        if len == 0 { (nxt..=edge).contains(&start) } else { start < edge && start + len > nxt }
    }

    /// Returns true if the segment is acceptable by Linux's rules for the window's right edge (`tcp_sequence`,
    /// `tcp_data_queue`). A segment that ends beyond the window is accepted completely, but only if the application has
    /// read everything. A FIN needs no buffer space, not even alone at a closed window.
    #[cold]
    fn takes_whole(&mut self, segment: &Segment, start: u64) -> bool {
        let (nxt, edge) = (self.receiver.nxt(), self.receiver.edge());
        let end = start + u64::from(segment.len);
        let takes = if start >= edge {
            let end_alone = start == nxt && segment.len == 0 && segment.flags.has(Flags::FIN);
            if end_alone {
                // If the buffer is full, an ACK is due immediately.
                self.receiver.acknowledge_now();
            }
            end_alone
        } else {
            end <= edge || self.receiver.unread() == 0
        };
        if takes {
            self.receiver.stretch(start + u64::from(segment.sequence_len()));
        }
        takes
    }

    /// Handles a segment outside the window: old data, a probe, or data beyond the window. The reply is an ACK with the
    /// expected sequence number.
    #[cold]
    fn unacceptable(&mut self, now: Instant, segment: &Segment, start: u64) {
        if segment.flags.has(Flags::RST) {
            return;
        }
        if segment.len > 0 || segment.flags.has(Flags::FIN) {
            self.receiver.hurry(MAX_QUICK);
            self.receiver.acknowledge_soon(now);
        } else {
            // Two ends that disagree would otherwise reply to each other for ever (as in Linux).
            self.challenge(now);
            self.heard(now);
        }
        if self.extras.ecn().is_some() && start + u64::from(segment.len) >= self.receiver.confirmed() {
            self.take_repeated_mark(segment);
        }
        let end = (start + u64::from(segment.len)).min(self.receiver.received());
        self.receiver.note_duplicate(Range { start, end });
        self.count_duplicate(end.saturating_sub(start));
        if self.state == State::TimeWait && segment.flags.has(Flags::FIN) {
            self.linger = now + self.config.time_wait;
        }
        let closed = start == self.receiver.edge() && start == self.receiver.nxt();
        if closed && segment.flags.has(Flags::ACK) && !segment.flags.has(Flags::SYN) {
            // RFC 9293 §3.10.7.4: a closed window accepts no data, but accepts the segment's ACK.
            let echo = segment.timestamps().filter(|_| self.timestamps).map(|stamps| stamps.echo);
            self.take_ack(now, segment, start, echo);
        }
    }

    /// Returns true if the segment acknowledges an offset before the outstanding data.
    fn is_old(&self, segment: &Segment) -> bool {
        let una = self.una();
        segment.ack.expand(self.local, una).is_none_or(|ack| ack < una)
    }

    /// Returns true if the acknowledged number is below the first payload byte, for example the number of the SYN, but
    /// by no more than the maximum window.
    #[cold]
    fn acknowledges_before_the_stream(&self, segment: &Segment) -> bool {
        let una = self.una();
        let behind = u64::from(self.local.plus(una as u32).0.wrapping_sub(segment.ack.0));
        let before = segment.ack.expand(self.local, una).is_none();
        self.state != State::SynReceived && before && behind <= self.max_window()
    }

    /// Processes the acknowledgement and the advertised window of a segment. Returns true if its data is to be
    /// processed as well.
    // Always inlined: most segments to an end that only receives do not change its sending half, and return here.
    #[inline(always)]
    pub(super) fn take_ack(&mut self, now: Instant, segment: &Segment, start: u64, echo: Option<u32>) -> bool {
        let (una, nxt, max_ack) = match self.sending.awake() {
            Some(sender) => {
                let (una, nxt) = (sender.board().una(), sender.board().nxt());
                (una, nxt, nxt + sender.probed())
            }
            None => (0, 0, 0),
        };
        let acceptable = |ack: &u64| *ack <= max_ack && (*ack >= una || ack + self.max_window() >= una);
        let Some(ack) = segment.ack.expand(self.local, una).filter(acceptable) else {
            // Data that was never sent, or that is too old (RFC 5961 §5).
            if self.acknowledges_before_the_stream(segment) {
                return true;
            }
            if self.state == State::SynReceived {
                self.refuse(segment)
            } else if self.config.answer_unsent || self.is_old(segment) {
                self.challenge(now);
            }
            return false;
        };
        if self.state == State::SynReceived && self.waits_for_data(segment) {
            return false;
        }
        let greeting = self.state == State::SynReceived && segment.len == 0;
        if self.extras.ecn().is_some() {
            self.look_for_ecn_bytes(segment);
        }
        if self.state == State::SynReceived {
            self.establish(now, segment, u64::from(segment.window) << self.peer_scale);
        }
        if greeting {
            self.take_greeting(segment);
        }
        if self.extras.opening().is_some() {
            self.confirm_early(now, segment);
        }
        // An overtaken ACK may still report SACKed data.
        let overtaken = ack < una;
        if overtaken && (segment.sack().is_empty() || !self.uses_sack()) {
            return true;
        }
        // A byte sent as a probe is retransmitted with the data after it, whether it was accepted or not.
        let ack = ack.min(nxt);
        let moved_window = !overtaken && self.take_window(segment, start, ack);
        if una == nxt && segment.reports_nothing() {
            self.probe_answered();
            if self.extras.ecn().is_some() && !greeting {
                self.note_echo(segment, start);
            }
            // Nothing is in flight, which is typical for an end that only receives. A report of duplicates (RFC 2883)
            // may still arrive late.
            return true;
        }
        self.take_news(now, segment, ack, echo, moved_window, greeting);
        true
    }

    /// Processes the acknowledgement up to `ack`, and what the segment reports (SACK, marks). If `ack` is below the
    /// first unacknowledged offset, the segment arrived late, and only its reports are used.
    #[inline(never)]
    fn take_news(
        &mut self,
        now: Instant,
        segment: &Segment,
        ack: u64,
        echo: Option<u32>,
        moved_window: bool,
        greeting: bool,
    ) {
        let sender = awake!(self);
        let una = sender.board().una();
        sender.account.counters.acks_received += u64::from(sender.board().nxt() > una);
        let overtaken = ack < una;
        let one_way = segment.timestamps().filter(|_| echo.is_some()).map(|stamps| {
            // Both clocks tick in milliseconds; their offset is a constant.
            Duration::from_millis(u64::from(stamps.value.wrapping_sub(stamps.echo)))
        });
        if self.extras.ecn().is_none() && segment.reports_nothing() && !segment.is_low_priority() && sender.expects(ack)
        {
            sender.advance(now, ack, echo, one_way, &self.config);
            if sender.fin_acknowledged() {
                self.fin_acknowledged(now);
            }
            return;
        }
        let (ece, marks) = if greeting || overtaken || self.extras.ecn().is_none() {
            Default::default()
        } else {
            self.take_echo(segment, ack)
        };
        let low_priority = segment.is_low_priority();
        let arrived = Acknowledgement {
            ack: ack.max(una),
            sacked: &[],
            echo,
            occupies: segment.sequence_len() > 0,
            moved_window,
            dsack: None,
            ece,
            marks,
            one_way,
            low_priority: false,
            snack: None,
        };
        if segment.reports_nothing() && !low_priority {
            awake!(self).handle_ack(now, arrived, &self.config);
        } else {
            let occupies = arrived.occupies || low_priority;
            self.take_report(now, segment, ack, Acknowledgement { occupies, low_priority, ..arrived });
        }
        if awake!(self).fin_acknowledged() {
            self.fin_acknowledged(now);
        }
    }

    /// Processes an acknowledgement up to `ack` that carries options or has low priority.
    #[inline(never)]
    fn take_report(&mut self, now: Instant, segment: &Segment, ack: u64, arrived: Acknowledgement<'_>) {
        let una = self.una();
        let mut sacked = [Range::default(); MAX_BLOCKS];
        let reports = !segment.sack().is_empty() && self.uses_sack();
        let sacked = if reports { self.expand_sack(segment, una, &mut sacked) } else { &[] };
        let (dsack, sacked) = split_dsack(ack, sacked);
        let report = if self.extras.scps().is_some() && ack >= una { self.take_scps(now, segment, ack) } else { None };
        let sacked = report.as_ref().map_or(sacked, |report| &report.received);
        if dsack.is_some() {
            awake!(self).account.rare().dsacks += 1;
        }
        let arrived = Acknowledgement { sacked, dsack, snack: report.as_deref(), ..arrived };
        awake!(self).handle_ack(now, arrived, &self.config);
        if report.is_some() {
            self.keep_report(report);
        }
    }

    /// Tunes the receive buffer, once per round trip. The round-trip time comes from the timestamps that a sender of
    /// data echoes, or from the handshake.
    #[cold]
    fn tune_buffer(&mut self, now: Instant, segment: &Segment) {
        let echo = segment.timestamps().filter(|_| self.timestamps).map(|stamps| stamps.echo);
        let rtt = echo.map_or(self.srtt(), |echo| Duration::from_millis(u64::from(timestamp(now).wrapping_sub(echo))));
        self.receiver.tune(now, rtt);
    }

    /// Updates the peer's window if the segment is newer than the one that last set it (RFC 9293 §3.10.7.4). Returns
    /// true if the window's right edge or size changed.
    #[inline(always)]
    pub(super) fn take_window(&mut self, segment: &Segment, start: u64, ack: u64) -> bool {
        let from = (start as u32, ack as u32);
        // Both differ from the previous values by at most a window, of 30 bits.
        let newer = (from.0.wrapping_sub(self.window_from.0) as i32, from.1.wrapping_sub(self.window_from.1) as i32);
        if newer < (0, 0) {
            return false;
        }
        self.window_from = from;
        self.set_peer_window(ack, u32::from(segment.window) << self.peer_scale)
    }

    #[inline(never)]
    fn expand_sack<'a>(&self, segment: &Segment, una: u64, ranges: &'a mut [Range; MAX_BLOCKS]) -> &'a [Range] {
        let mut count = 0;
        for block in segment.sack() {
            let ends = (block.start.expand(self.local, una), block.end.expand(self.local, una));
            if let (Some(start), Some(end)) = ends {
                ranges[count] = Range { start, end };
                count += 1;
            }
        }
        &ranges[..count]
    }

    /// Processes the data of a SYN, which is the start of the stream.
    #[cold]
    pub(super) fn take_early(&mut self, now: Instant, syn: &Segment) {
        self.receiver.receive_early(now, u64::from(syn.len), syn.flags);
        if self.receiver.fin_consumed() {
            self.peer_fin(now);
        }
    }

    #[inline(always)]
    pub(super) fn take_data(&mut self, now: Instant, segment: &Segment, start: u64) {
        if !matches!(self.state, State::Established | State::FinWait1 | State::FinWait2) {
            self.receiver.acknowledge_now();
            return;
        }
        if self.orphan && segment.len > 0 && start + u64::from(segment.len) > self.receiver.nxt() {
            // No application will read it (RFC 9293 §3.6.1, RFC 1122 §4.2.2.13).
            self.refuse(segment);
            return self.finish(Some(Failure::Aborted));
        }
        if now >= self.receiver.tune_at() {
            self.tune_buffer(now, segment);
        }
        if !self.config.partial_segments && !self.receiver.has_room(u64::from(segment.len)) {
            // As in INET, a segment that does not fit completely is dropped.
            self.receiver.acknowledge_now();
            return;
        }
        if segment.len > 0 && self.receiver.adapts(now) {
            self.receiver.adapt(now, self.path_times());
        }
        if self.extras.scps().is_some() && segment.ends_record() {
            self.note_record(start + u64::from(segment.len));
        }
        let duplicate = self.receiver.receive(now, start, u64::from(segment.len), segment.flags);
        if duplicate > 0 {
            self.count_duplicate(duplicate);
        }
        if self.extras.scps().is_some() {
            self.settle_scps(now);
        }
        if self.receiver.fin_consumed() {
            self.peer_fin(now);
        }
    }
}

/// Splits off the first SACK block if it reports a duplicate, which is the case if it lies below the acknowledgement or
/// inside the second block (RFC 2883 §4).
fn split_dsack(ack: u64, sacked: &[Range]) -> (Option<Range>, &[Range]) {
    match sacked {
        [first, rest @ ..] if first.end <= ack => (Some(*first), rest),
        [first, second, ..] if second.start <= first.start && first.end <= second.end => (Some(*first), &sacked[1..]),
        _ => (None, sacked),
    }
}
