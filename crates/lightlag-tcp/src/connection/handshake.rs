//! The handshake: SYN, SYN-ACK, and the negotiation of options (RFC 9293 §3.5).

use super::marks::MOST_OPTIONS;
use super::{Connection, State};
use crate::DEFAULT_MSS;
use crate::config::FastOpenUse as Mode;
use crate::config::Profile;
use crate::ecn::Ecn;
use crate::fast_open::{CookieCache, FastOpenOutcome, FastOpenRules, FastOpenState, LearnedCookie, Refusal};
use crate::receiver::Receiver;
use crate::scoreboard::MOST_PAYLOAD;
use crate::segment::{Flags, Segment, SeqNumber, SynOptions};
use crate::sender::Expiry;
use crate::timestamps::timestamp;
use lightlag_core::Instant;
use lightlag_transport::Failure;

/// Size of the timestamps option with its padding, in bytes.
const TIMESTAMPS_LEN: u32 = 12;

/// Additional state of a handshake with early data, fast open or a deferred opening. It is dropped when the handshake
/// ends.
#[derive(Debug, Default)]
pub(super) struct EarlyHandshake {
    /// The SYN whose data waits for the connection to be open.
    pub(super) early: Option<Segment>,
    /// State of fast open; `None` if it is not used.
    pub(super) fast_open: Option<FastOpenState>,
    /// The deferral of a server that waits for data before it opens; `None` if it does not wait.
    pub(super) deferral: Option<Deferral>,
}

/// Deferral of the opening of a server until data arrives (TCP_DEFER_ACCEPT).
#[derive(Clone, Copy, Debug)]
pub(super) struct Deferral {
    /// Number of SYN-ACK timeouts before the server opens without data.
    timeouts: u8,
    /// Whether an ACK without data arrived.
    acknowledged: bool,
}

impl Connection {
    #[cold]
    pub(super) fn listen(&mut self, now: Instant, segment: &Segment) {
        // RFC 9293 §3.10.7.2.
        if segment.flags.has(Flags::ACK) {
            return self.refuse(segment);
        }
        if !segment.flags.has(Flags::SYN) || segment.flags.has(Flags::RST) {
            return;
        }
        awake!(self).account.open(now);
        self.take_syn(now, segment);
        self.state = State::SynReceived;
        self.handshake_due = true;
        if self.fast_open().is_some_and(|fast_open| fast_open.take_syn(segment)) {
            // RFC 7413 §4.2.2: the application gets the data and may reply before the handshake ends.
            if let Some(opening) = self.extras.opening_mut() {
                opening.early = None;
            }
            self.establish(now, segment, u64::from(segment.window));
            // The SYN-ACK advertises a window, which the data fills.
            self.receiver.acknowledged(true);
            awake!(self).account.rare().fast_open.get_or_insert_default().taken = segment.len > 0;
            self.take_early(now, segment);
        }
        self.rest();
    }

    /// Copies the fast-open state of two hosts (RFC 7413) into this connection. With `"cookie known"`, `jar` is first
    /// changed so that the client has the cookie. Call it before anything is sent. Without this call, or if fast open
    /// is off, no data is sent with a SYN.
    pub fn share_cookies(&mut self, jar: &mut CookieCache) {
        if self.config.fast_open == Mode::CookieKnown && !self.passive {
            jar.learn(self.config.mss);
        }
        if self.config.fast_open != Mode::Off {
            self.open_fast_by(*jar, FastOpenRules::default());
        }
    }

    /// Uses fast open with these rules, whatever the configuration. Call it before anything is sent.
    pub fn open_fast_by(&mut self, jar: CookieCache, rules: FastOpenRules) {
        self.extras.start_opening().fast_open = Some(FastOpenState::new(jar, rules));
    }

    /// Defers the opening of a server: an ACK without data does not open the connection until the SYN-ACK has timed out
    /// `timeouts` times. Once such an ACK has arrived, the SYN-ACK is retransmitted only at the last of these timeouts
    /// (TCP_DEFER_ACCEPT of Linux). Call it before the SYN arrives.
    pub fn defer_opening(&mut self, timeouts: u8) {
        self.extras.start_opening().deferral = Some(Deferral { timeouts, acknowledged: false });
    }

    /// Returns true if the ACK that would end the handshake is ignored because it has no data and the opening is
    /// deferred.
    #[cold]
    pub(super) fn waits_for_data(&mut self, segment: &Segment) -> bool {
        let retries = self.retries();
        let Some(deferral) = self.extras.opening_mut().and_then(|opening| opening.deferral.as_mut()) else {
            return false;
        };
        let waits = segment.len == 0 && !segment.flags.has(Flags::FIN) && retries < deferral.timeouts;
        deferral.acknowledged |= waits;
        waits
    }

    /// Replaces the copy of the fast-open state, unless the SYN was already sent. The host may have received a cookie
    /// meanwhile.
    pub fn remember(&mut self, jar: &CookieCache) {
        if let Some(fast_open) = self.fast_open() {
            fast_open.remember(*jar);
        }
    }

    /// Returns what a client learned from the SYN-ACK of a fast open, once. Pass it to [`CookieCache::take`] of the
    /// host.
    pub fn take_lesson(&mut self) -> Option<LearnedCookie> {
        self.sending.awake_mut()?.account.fast_open_mut()?.lesson.take()
    }

    /// Returns the outcome of fast open.
    pub fn fast_open_outcome(&self) -> FastOpenOutcome {
        self.sending.awake().and_then(|sender| sender.account.fast_open().copied()).unwrap_or_default()
    }

    /// Checks after a timeout whether the path seems to drop segments of a fast open (Linux,
    /// `tcp_fastopen_active_detect_blackhole`). `before` is the number of earlier timeouts; `ended` is true if this was
    /// the last one.
    #[cold]
    pub(super) fn suspect_path(&mut self, before: u8, ended: bool) {
        if let Some(outcome) = self.sending.awake_mut().and_then(|sender| sender.account.fast_open_mut()) {
            outcome.swallowed |= outcome.tried && (before == 2 || before < 2 && ended);
        }
    }

    fn fast_open(&mut self) -> Option<&mut FastOpenState> {
        self.extras.opening_mut()?.fast_open.as_mut()
    }

    /// Returns true if the SYN of the client carried data, and the ACK that ends the handshake has not arrived.
    pub fn is_unconfirmed(&self) -> bool {
        let fast_open = self.extras.opening().and_then(|opening| opening.fast_open.as_ref());
        fast_open.is_some_and(FastOpenState::is_unconfirmed)
    }

    /// Handles the first ACK of a client whose SYN carried data: the handshake ends, and gives a round-trip sample.
    #[cold]
    pub(super) fn confirm_early(&mut self, now: Instant, segment: &Segment) {
        let fast_open = self.extras.put_opening(None).and_then(|opening| opening.fast_open);
        let confirmed = fast_open.and_then(|mut fast_open| fast_open.confirm());
        let Some((sent, again)) = confirmed else { return };
        awake!(self).confirm_answer(now, &self.config);
        let echo = segment.timestamps().filter(|_| self.timestamps).map(|stamps| stamps.echo);
        awake!(self).sample_handshake(now, sent, again.into(), echo, &self.config);
        if segment.len == 0 && segment.ack == self.local {
            self.take_greeting(segment);
        }
    }

    /// Returns the SYN-ACK of a fast-open connection that the application already uses.
    #[cold]
    pub(super) fn early_answer(&mut self, now: Instant) -> Segment {
        if let Some(fast_open) = self.fast_open() {
            fast_open.answers(now);
        }
        awake!(self).arm_answer(now, &self.config);
        self.opening_segment(now, true)
    }

    #[cold]
    pub(super) fn answer_to_syn(&mut self, now: Instant, segment: &Segment) {
        let acknowledges = segment.flags.has(Flags::ACK);
        let accepted = segment.ack.0.wrapping_sub(self.local.0);
        if acknowledges && accepted > self.fast_open().map_or(0, |fast_open| fast_open.sent()) {
            // RFC 9293 §3.10.7.3: the peer refers to an old connection.
            return self.refuse(segment);
        }
        if acknowledges && self.echoes_nothing_sent(now, segment) {
            return self.refuse(segment);
        }
        if segment.flags.has(Flags::RST) {
            if acknowledges {
                self.finish(Some(Failure::Refused));
            }
            return;
        }
        if !segment.flags.has(Flags::SYN) {
            return;
        }
        let repeated = self.retries() > 0;
        self.take_syn(now, segment);
        if acknowledges {
            self.establish(now, segment, u64::from(segment.window));
            let waits = self.fast_open().is_some_and(|fast_open| fast_open.writer_waits());
            self.end_early(now, segment, repeated);
            // Data that the application is about to write carries the ACK, and so does data that is retransmitted
            // immediately.
            let repeats = self.fast_open_outcome().sent > accepted && segment.window > 0;
            self.handshake_due = !waits && !repeats;
            if waits {
                self.receiver.await_data(now);
            }
        } else {
            // RFC 9293 §3.5: simultaneous open.
            self.state = State::SynReceived;
            self.handshake_due = true;
        }
    }

    /// Returns true if the SYN-ACK echoes a timestamp that no local SYN carried (Linux,
    /// `tcp_rcv_synsent_state_process`). An echo of 0 is ignored.
    fn echoes_nothing_sent(&self, now: Instant, segment: &Segment) -> bool {
        let Some(stamps) = segment.timestamps().filter(|stamps| self.timestamps && stamps.echo != 0) else {
            return false;
        };
        let first = timestamp(self.syn_sent);
        stamps.echo.wrapping_sub(first) > timestamp(now).wrapping_sub(first)
    }

    /// Reads from the SYN-ACK whether the server accepted the data in the SYN. Data that it rejected is retransmitted
    /// (RFC 7413 §4.2.1).
    #[cold]
    fn end_early(&mut self, now: Instant, segment: &Segment, repeated: bool) {
        let Some(mut fast_open) = self.extras.put_opening(None).and_then(|opening| opening.fast_open) else { return };
        let lesson = fast_open.take_answer(segment, repeated);
        let (sent, accepted) = (fast_open.sent(), segment.ack.0.wrapping_sub(self.local.0));
        let outcome = awake!(self).account.rare().fast_open.get_or_insert_default();
        outcome.lesson = lesson;
        outcome.taken = sent > 0 && accepted == sent;
        if sent > accepted {
            outcome.refusal = if repeated { Refusal::Repeated } else { Refusal::NotAcknowledged };
        }
        awake!(self).accept_early(now, sent, accepted, u64::from(segment.window), &self.config);
    }

    /// Reads the options that the peer's SYN offers. Options that only one end offers are not used.
    fn take_syn(&mut self, now: Instant, segment: &Segment) {
        self.remote = segment.seq.plus(1);
        self.agree_on_ecn(segment);
        let offer = segment.syn_options();
        self.sack &= offer.sack_permitted;
        if self.sack && self.config.dsack {
            self.receiver.report_duplicates();
        }
        if !self.sack {
            self.receiver.hide_disorder();
        }
        let answers = segment.flags.has(Flags::ACK);
        let takes_data =
            self.config.syn_data || answers && self.fast_open().is_some_and(|fast_open| fast_open.takes_data());
        if takes_data && segment.sequence_len() > 1 {
            // RFC 9293 §3.10.7.2: queued for later, and not acknowledged yet.
            self.extras.start_opening().early = Some(*segment);
        }
        self.timestamps &= segment.timestamps().is_some();
        if let Some(stamps) = segment.timestamps() {
            self.receiver.set_ts_recent(now, stamps.value);
        }
        if let Some(scale) = offer.window_scale.filter(|_| self.config.window_scaling) {
            self.peer_scale = scale.min(14);
            self.receiver.set_scale(self.own_scale());
        }
        let mss = offer.mss.unwrap_or(DEFAULT_MSS).min(self.config.mss);
        self.agree_on_scps(segment, offer.mss.unwrap_or(DEFAULT_MSS));
        if self.passive {
            self.receiver.set_first_window(self.config.first_window(), self.payload_of(self.config.mss).into());
        }
        self.receiver.bound_by_scale();
        let size = self.payload_of(mss);
        awake!(self).set_segment_size(size);
    }

    /// Returns the payload of a full segment for an MSS, which counts a header of 20 bytes. The options on every
    /// segment reduce the payload, and compression of headers increases it, so that full packets keep the same size.
    pub(super) fn payload_of(&self, mss: u16) -> u32 {
        let mss = u32::from(mss);
        if self.config.mss_is_payload {
            return mss.max(1);
        }
        let options = if self.timestamps { TIMESTAMPS_LEN } else { 0 };
        let saved = if self.agreed_on_compression() { Self::saved_by_compression(self.timestamps) } else { 0 };
        (mss + saved).saturating_sub(options + self.room_for_ecn_bytes()).clamp(1, MOST_PAYLOAD)
    }

    /// Returns the window scale shift of locally advertised windows.
    fn own_scale(&self) -> u8 {
        Receiver::scale_for(self.config.receive_buffer.0, self.config.receive_window)
    }

    /// Returns the initial window in segments. The limit in bytes may reduce it if segments are large, but not below
    /// two (RFC 6928 §2).
    fn initial_window(&self) -> u32 {
        let segments = self.config.initial_window;
        let Some(most) = self.config.initial_window_bytes else { return segments };
        segments.min((most.0 as u32 / self.segment_size()).max(2))
    }

    /// Establishes the connection: the local SYN is acknowledged.
    #[cold]
    pub(super) fn establish(&mut self, now: Instant, segment: &Segment, peer_window: u64) {
        let retransmissions = awake!(self).end_handshake();
        if self.passive && self.room_for_ecn_bytes() > 0 {
            // The peer's AccECN option arrived with this segment; a client saw it in the SYN-ACK.
            let size = self.segment_size().saturating_sub(self.room_for_ecn_bytes()).max(1);
            awake!(self).set_segment_size(size);
        }
        let echo = segment.timestamps().filter(|_| self.timestamps).map(|stamps| stamps.echo);
        if !self.is_unconfirmed() {
            awake!(self).sample_handshake(now, self.syn_sent, retransmissions, echo, &self.config);
        }
        // RFC 5681 §3.1, and RFC 6298 with its shorter first timeout: one segment after two losses.
        let lost = retransmissions > 1 && !self.answers_the_first(echo);
        let initial_window = if lost { 1 } else { self.initial_window() };
        let agreed = self.agreed();
        awake!(self).establish(now, agreed, initial_window, peer_window, &self.config);
        let compressed = self.agreed_on_compression();
        self.start_compression(compressed);
        if let (Some(size), true) = (self.config.scps.and_then(|scps| scps.record_size), self.extras.scps().is_some()) {
            awake!(self).set_record_size(size.0, compressed);
        }
        if self.receiver.skips_holes() {
            self.agree_on_bets();
        }
        self.state = State::Established;
        if self.config.receive_buffer_initial.is_some() {
            self.receiver.start_tuning(now, self.config.receive_buffer.0, self.srtt());
        }
        if self.sack && self.config.sack_compression {
            self.receiver.compress(self.srtt());
        }
        self.start_keep_alive(now);
        if let Some(syn) = self.extras.opening_mut().and_then(|opening| opening.early.take()) {
            // RFC 9293 §3.5: the data of the SYN now goes to the application.
            self.take_early(now, &syn);
        }
        self.rest();
    }

    /// Returns true if the timestamp echo shows that the first SYN or SYN-ACK arrived, so that its retransmission was
    /// spurious (Eifel, RFC 3522; Linux, `tcp_try_undo_spurious_syn`).
    fn answers_the_first(&self, echo: Option<u32>) -> bool {
        self.config.eifel && echo == Some(timestamp(self.syn_sent))
    }

    #[cold]
    pub(super) fn poll_syn(&mut self, now: Instant) -> Option<Segment> {
        if self.extras.answer().is_some() {
            return self.poll_answer(now);
        }
        if !self.handshake_due {
            let due = self.state == State::SynReceived && self.receiver.ack_due();
            return due.then(|| self.pure_ack(now, 0));
        }
        self.handshake_due = false;
        self.syn_sent = self.syn_sent.min(now);
        let linear = self.linear_timeouts();
        awake!(self).arm_handshake(now, linear, &self.config);
        let segment = self.opening_segment(now, self.state == State::SynReceived);
        self.rest();
        Some(segment)
    }

    /// Returns a SYN, or a SYN-ACK if `answer` is true.
    fn opening_segment(&mut self, now: Instant, answer: bool) -> Segment {
        let window = self.receiver.acknowledged(true);
        let offer = SynOptions {
            mss: Some(self.config.mss),
            window_scale: (self.config.window_scaling && (!answer || self.receiver.scale().is_some()))
                .then(|| self.own_scale()),
            sack_permitted: self.sack,
        };
        let marks = |ecn: &mut Ecn| if answer { ecn.answer() } else { (ecn.offer(), None) };
        let (marks, ecn_bytes) = self.extras.ecn_mut().map_or_else(Default::default, marks);
        let syn = Flags::SYN.with(marks);
        let ack = if answer { self.remote.plus(self.receiver.nxt() as u32) } else { SeqNumber::default() };
        let flags = if answer { syn.with(Flags::ACK) } else { syn };
        let mut segment = Segment::new(self.local.plus(u32::MAX), ack, window, flags);
        if self.config.scps.is_some() && (!answer || self.extras.scps().is_some()) {
            segment = self.offer_scps(segment);
        }
        segment = self.open_fast(self.stamp(now, segment.with_syn_options(offer)), answer);
        if segment.len > 0 {
            awake!(self).account.counters.sent_segments += 1;
        } else {
            self.count_ack();
        }
        match ecn_bytes.filter(|bytes| segment.has_place_for(bytes)).map(|bytes| segment.with_ecn_bytes(bytes)) {
            Some(with) if with.options_len() <= MOST_OPTIONS => with,
            _ => segment,
        }
    }

    /// Adds the cookie and data to the first SYN of a client, or a cookie to a SYN-ACK that has to return one. A
    /// retransmitted SYN has neither, because a middlebox may drop segments with them (RFC 7413 §4.2.1; as in Linux).
    fn open_fast(&mut self, mut segment: Segment, answer: bool) -> Segment {
        let waiting = self.sending.awake().map_or(0, |sender| sender.unsent());
        let mss = self.config.mss;
        let Some(fast_open) = self.fast_open() else { return segment };
        if !segment.has_place_for_cookie() {
            return segment;
        }
        if answer {
            return fast_open.grant().map_or(segment, |cookie| segment.with_cookie(cookie));
        }
        let Some(early) = fast_open.offer(waiting, mss) else { return segment };
        let refusal = if fast_open.lacks_cookie() { Refusal::NoCookie } else { Refusal::None };
        let outcome = FastOpenOutcome { tried: true, sent: early.len, refusal, ..FastOpenOutcome::default() };
        awake!(self).account.rare().fast_open = Some(outcome);
        segment.len = early.len as u16;
        early.cookie.map_or(segment, |cookie| segment.with_cookie(cookie))
    }

    /// Returns the number of SYN timeouts that do not double the next timeout. The timeout of a SYN-ACK doubles each
    /// time, because Linux sends it for a request socket.
    pub(super) fn linear_timeouts(&self) -> u8 {
        if self.state == State::SynSent { self.config.syn_linear_timeouts } else { 0 }
    }

    #[cold]
    pub(super) fn handshake_timed_out(&mut self, now: Instant) {
        let (linear, before) = (self.linear_timeouts(), self.retries());
        let expiry = awake!(self).handshake_timed_out(now, self.syn_sent, linear, &self.config);
        self.suspect_path(before, expiry == Expiry::GiveUp);
        if expiry == Expiry::GiveUp {
            self.finish(Some(Failure::SynTimeout));
        } else if self
            .extras
            .opening()
            .and_then(|opening| opening.deferral)
            .is_some_and(|deferral| deferral.acknowledged && before + 1 < deferral.timeouts)
        {
            awake!(self).arm_handshake(now, linear, &self.config);
        } else {
            self.handshake_due = true;
        }
    }

    /// Handles a retransmitted SYN or SYN-ACK, which means that the local reply was lost or that both ends opened
    /// simultaneously.
    #[cold]
    pub(super) fn repeated_syn(&mut self, now: Instant, segment: &Segment) {
        let flags = segment.flags;
        if flags.has(Flags::RST) {
            return;
        }
        let opening = self.state == State::SynReceived || self.is_unconfirmed();
        if !opening && flags.has(Flags::SYN) {
            return self.challenge_syn(now);
        }
        if !flags.has(Flags::SYN) || segment.seq.plus(1) != self.remote {
            self.challenge(now);
            return;
        }
        if self.is_unconfirmed() {
            self.handshake_due = true;
            return;
        }
        if !flags.has(Flags::ACK) {
            // The peer may have retransmitted its SYN without requesting ECN.
            self.agree_on_ecn(segment);
        }
        let accepted = segment.ack.0.wrapping_sub(self.local.0);
        if flags.has(Flags::ACK) && accepted <= self.fast_open().map_or(0, |fast_open| fast_open.sent()) {
            let repeated = self.retries() > 0;
            self.establish(now, segment, u64::from(segment.window));
            self.end_early(now, segment, repeated);
            if self.config.profile == Profile::Linux {
                // It repeats the number of the SYN (`tcp_data_queue`).
                self.receiver.note_duplicate_syn();
            }
        }
        self.handshake_due = true;
    }
}
