//! Resets and challenge ACKs: the reply to a segment that belongs to no connection, and the protection against forged
//! segments (RFC 9293 §3.5.2 and 3.10.7, RFC 5961).

use super::{Connection, State};
use crate::Profile;
use crate::fast_open::FastOpenState;
use crate::segment::{Flags, Segment, SeqNumber, Timestamps};
use crate::timestamps::timestamp;
use lightlag_core::Instant;
use lightlag_transport::Failure;

impl Connection {
    /// Aborts the connection (RFC 9293 §3.10.5): the peer gets a reset if it may have state for the connection, and all
    /// data that waits to be sent is lost.
    pub fn abort(&mut self) {
        let known = !matches!(
            self.state,
            State::Closed | State::Listen | State::SynSent | State::Closing | State::LastAck | State::TimeWait
        );
        let open = self.state != State::Closed;
        if known {
            self.reset_peer();
        }
        if open {
            self.finish(Some(Failure::Aborted));
        }
    }

    /// Simulates a crash and restart of the host: the connection and its data are lost, and the peer is not notified.
    /// Later segments cause a reset (RFC 9293 §3.5.1, half-open connections).
    pub fn crash(&mut self) {
        if self.state != State::Closed {
            self.finish(Some(Failure::Crashed));
        }
        self.extras.put_answer(None);
    }

    /// Sends a reset with the next sequence number.
    pub(super) fn reset_peer(&mut self) {
        let seq = self.local.plus(self.nxt() as u32);
        let ack = self.remote.plus(self.receiver.nxt() as u32);
        // Linux writes the window into a reset as into any other segment.
        let window = if self.config.profile == Profile::Linux { self.receiver.acknowledged(false) } else { 0 };
        let reset = Segment::new(seq, ack, window, Flags::RST.with(Flags::ACK));
        // RFC 7323 §3.2: a reset of a connection with timestamps should carry them. The clock is read when it is sent.
        let stamps = Timestamps { value: 0, echo: self.receiver.ts_recent() };
        let reset = if self.timestamps { reset.with_timestamps(stamps) } else { reset };
        let reset = self.compresses_with().map_or(reset, |id| self.compress(reset, id));
        self.extras.put_answer(Some(Box::new(reset)));
    }

    /// Sends a reset in reply to a segment that belongs to no connection, unless the segment is itself a reset (RFC
    /// 9293 §3.10.7.1) or a low-priority copy, which may arrive after the end of the connection.
    pub(super) fn refuse(&mut self, segment: &Segment) {
        if segment.is_low_priority() {
            return;
        }
        if let Some(reset) = reset_for(segment) {
            self.extras.put_answer(Some(Box::new(reset)));
        }
    }

    /// Returns the reset that waits to be sent, if there is one.
    #[cold]
    pub(super) fn poll_answer(&mut self, now: Instant) -> Option<Segment> {
        let reset = *self.extras.put_answer(None)?;
        self.count_ack();
        Some(match reset.timestamps() {
            Some(stamps) => reset.with_timestamps(Timestamps { value: timestamp(now), ..stamps }),
            None => reset,
        })
    }

    /// Sends a challenge ACK, unless the rate limit is reached (RFC 5961 §7). Returns true if it was sent.
    pub(super) fn challenge(&mut self, now: Instant) -> bool {
        let allowed = awake!(self).account.may_challenge(now, self.config.challenge_acks);
        if allowed {
            self.receiver.acknowledge_now();
        }
        allowed
    }

    /// Challenges a SYN or SYN-ACK. With AccECN the ACK reports the codepoint of that segment, like the ACK that ends a
    /// handshake (as in Linux).
    pub(super) fn challenge_syn(&mut self, now: Instant) {
        if self.challenge(now)
            && let Some(ecn) = self.extras.ecn_mut()
        {
            ecn.hear_again();
        }
    }

    /// Handles a reset inside the window: only the exactly expected number is accepted, others are challenged (RFC 5961
    /// §3).
    pub(super) fn take_reset(&mut self, now: Instant, start: u64) {
        if start != self.receiver.nxt() {
            self.challenge(now);
            return;
        }
        match self.state {
            // RFC 9293 §3.10.7.4: a passive open goes back to LISTEN.
            State::SynReceived if self.passive => self.listen_again(self.local.plus(u32::MAX)),
            State::Closing | State::LastAck | State::TimeWait => self.finish(None),
            _ => self.finish(Some(Failure::Reset)),
        }
    }

    /// Handles a SYN inside the window: a passive open goes back to LISTEN, any other state replies with a challenge
    /// ACK (RFC 9293 §3.10.7.4, RFC 5961 §4).
    pub(super) fn take_strange_syn(&mut self, now: Instant) {
        if self.state == State::SynReceived && self.passive {
            self.listen_again(self.local.plus(u32::MAX));
        } else {
            self.challenge_syn(now);
        }
    }

    /// Returns a server to LISTEN, with this initial sequence number. Its statistics continue.
    pub(super) fn listen_again(&mut self, initial: SeqNumber) {
        let account = std::mem::take(&mut awake!(self).account);
        let fast_open = self.extras.put_opening(None).and_then(|opening| opening.fast_open).map(FastOpenState::anew);
        let (id, limiter) = (self.offered_id(), self.extras.put_gate(None).and_then(|gate| gate.limiter));
        *self = Self::server(self.config.clone(), initial);
        awake!(self).account = account;
        if fast_open.is_some() {
            self.extras.start_opening().fast_open = fast_open;
        }
        if limiter.is_some() {
            self.extras.build_gate().limiter = limiter;
        }
        self.set_connection_id(id);
    }

    /// In TIME-WAIT, opens a new connection for a SYN if its timestamp, or else its sequence number, proves that it is
    /// new (RFC 9293 §3.6.1, RFC 6191). Returns true if it did.
    pub(super) fn reopened(&mut self, now: Instant, segment: &Segment) -> bool {
        let new = self.passive && self.begins_anew(segment);
        if new {
            self.listen_again(self.next_initial());
            self.listen(now, segment);
        }
        new
    }

    /// Returns the initial sequence number for the next connection, which lies above all numbers of this one.
    pub(super) fn next_initial(&self) -> SeqNumber {
        self.local.plus(self.nxt() as u32).plus(BETWEEN_INCARNATIONS)
    }

    /// Returns true if the connection is in TIME-WAIT and the segment is a SYN that provably opens a new connection.
    pub(super) fn begins_anew(&self, segment: &Segment) -> bool {
        let plain = segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK) && !segment.flags.has(Flags::RST);
        if self.state != State::TimeWait || !plain {
            return false;
        }
        let beyond = self.remote.plus(self.receiver.nxt() as u32);
        let newer = segment.seq.0.wrapping_sub(beyond.0) as i32 > 0;
        match segment.timestamps().filter(|_| self.timestamps) {
            Some(stamps) => self.receiver.is_newer(stamps.value) || newer && stamps.value == self.receiver.ts_recent(),
            None => newer,
        }
    }
}

/// Returns the reset for a segment that belongs to no connection. `None` if the segment is itself a reset (RFC 9293
/// §3.10.7.1), or has a compressed header: without ports, the reset could not be addressed.
pub fn reset_for(segment: &Segment) -> Option<Segment> {
    if segment.flags.has(Flags::RST) || segment.is_compressed() {
        return None;
    }
    Some(if segment.flags.has(Flags::ACK) {
        Segment::new(segment.ack, SeqNumber::default(), 0, Flags::RST)
    } else {
        let ack = segment.seq.plus(segment.sequence_len());
        Segment::new(SeqNumber::default(), ack, 0, Flags::RST.with(Flags::ACK))
    })
}

/// Distance from the last sequence number of a connection to the initial sequence number of the next, at least 1 (RFC
/// 6191 §2): the increment per new connection of Berkeley systems.
const BETWEEN_INCARNATIONS: u32 = 64_000;
