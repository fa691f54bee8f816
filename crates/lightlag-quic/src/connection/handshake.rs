//! The handshake as messages of known sizes (RFC 9000 §7, §8, §17.2.5; RFC 9001 §4).

use super::recovery::Requeue;
use super::space::{Keys, Space};
use super::{Connection, State};
use crate::kind::{Kind, SpaceId};
use crate::sent::{NO_FRAMES, SentFlags};
use crate::streams::{PeerLimits, Side};
use lightlag_core::Instant;
use lightlag_transport::Limit;

/// Factor of the amplification limit (RFC 9000 §8.1).
pub(super) const AMPLIFICATION: u64 = 3;

/// State of 0-RTT.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EarlyData {
    /// Not used.
    #[default]
    None,
    /// The client may send 0-RTT packets.
    Offered,
    /// The server accepted them.
    Accepted,
    /// The server rejected them.
    Rejected,
}

/// State of the handshake.
#[derive(Debug, Default)]
pub(super) struct Handshake {
    /// Time when the connection was opened.
    pub(super) opened: Option<Instant>,
    /// Time when the handshake was completed.
    pub(super) completed: Option<Instant>,
    /// Server: the client's address is validated. Client: the server has certainly validated this address.
    pub(super) is_validated: bool,
    /// Server: bytes received and sent before the address was validated.
    pub(super) received: u64,
    pub(super) sent: u64,
    /// Length of the token in the client's Initial packets.
    pub(super) token: u16,
    pub(super) was_retried: bool,
    pub(super) retry_due: bool,
    pub(super) has_hello: bool,
    pub(super) early: EarlyData,
    pub(super) done_due: bool,
    pub(super) token_due: bool,
}

impl Connection {
    /// Opens a client's connection.
    pub fn open(&mut self, now: Instant) {
        if self.state != State::Idle || self.side == Side::Server {
            return;
        }
        self.start(now);
        let initial = &mut self.spaces[SpaceId::Initial as usize];
        (initial.sending, initial.receiving) = (Keys::Ready, Keys::Ready);
        initial.crypto.write(self.config.handshake.client_hello.into());
        if let Some(ticket) = self.config.ticket {
            self.handshake.token = ticket.token;
            self.handshake.early = EarlyData::Offered;
            self.spaces[SpaceId::Application as usize].sending = Keys::Ready;
            self.streams.set_peer_limits(PeerLimits {
                connection: ticket.connection,
                stream: ticket.stream,
                bidirectional: ticket.bidirectional,
                unidirectional: ticket.unidirectional,
            });
        }
        self.set_timers(now);
    }

    pub(super) fn start(&mut self, now: Instant) {
        self.state = State::Handshaking;
        self.handshake.opened = Some(now);
        (self.limit, self.limited_since) = (Limit::Handshake, Some(now));
        self.window_since = now;
        self.control.start(now, &self.rtt);
        self.restart_idle_timer(now);
    }

    /// Returns the state of 0-RTT.
    pub fn early_data(&self) -> EarlyData {
        self.handshake.early
    }

    /// Returns true if this end may send without the amplification limit.
    pub fn is_unlimited(&self) -> bool {
        self.side == Side::Client || self.handshake.is_validated
    }

    /// Returns the time when the handshake was completed.
    pub fn completed(&self) -> Option<Instant> {
        self.handshake.completed
    }

    /// Returns true if a Retry packet was received or sent.
    pub fn was_retried(&self) -> bool {
        self.handshake.was_retried
    }

    /// Returns the bytes that a server may send before the client's address is validated.
    #[inline(always)]
    pub(super) fn amplification_room(&self) -> u64 {
        if self.side == Side::Client || self.handshake.is_validated {
            return u64::MAX;
        }
        let room = (AMPLIFICATION * self.handshake.received).saturating_sub(self.handshake.sent);
        if room > 0 && self.config.details.loose_amplification { u64::MAX } else { room }
    }

    /// Returns true if the peer does not need anything from this end to continue the handshake: always true for a
    /// server, whose peer sends until the handshake is confirmed.
    #[inline(always)]
    pub(super) fn peer_is_unblocked(&self) -> bool {
        self.side == Side::Server || self.handshake.is_validated || self.is_confirmed
    }

    /// Advances the handshake after data of a CRYPTO frame has arrived in `id`.
    pub(super) fn advance_handshake(&mut self, now: Instant, id: SpaceId) {
        let arrived = self.spaces[id as usize].crypto.in_order();
        let sizes = self.peer.handshake;
        match (self.side, id) {
            (Side::Server, SpaceId::Initial) if !self.handshake.has_hello && arrived >= sizes.client_hello.into() => {
                self.answer_hello();
            }
            (Side::Server, SpaceId::Handshake)
                if self.handshake.completed.is_none() && arrived >= sizes.client_finished.into() =>
            {
                self.complete(now);
                self.handshake.done_due = true;
                self.handshake.token_due = self.config.handshake.new_token > 0;
                self.spaces[SpaceId::Application as usize].crypto.write(self.config.handshake.ticket.into());
                self.confirm(now);
            }
            (Side::Client, SpaceId::Initial) if !self.handshake.has_hello && arrived >= sizes.server_hello.into() => {
                self.handshake.has_hello = true;
                let handshake = &mut self.spaces[SpaceId::Handshake as usize];
                (handshake.sending, handshake.receiving) = (Keys::Ready, Keys::Ready);
            }
            (Side::Client, SpaceId::Handshake) if self.handshake.completed.is_none() => {
                let resumed = self.config.ticket.is_some();
                let flight = if resumed { sizes.resumed_flight } else { sizes.server_flight };
                if arrived >= flight.into() {
                    self.finish_handshake(now);
                }
            }
            _ => {}
        }
    }

    /// Server: sends ServerHello and the rest of its flight after the ClientHello.
    fn answer_hello(&mut self) {
        self.handshake.has_hello = true;
        self.learn_parameters();
        let sizes = self.config.handshake;
        let resumed = self.peer.resumes;
        if resumed {
            let accepted = !self.config.server.reject_early_data;
            self.handshake.early = if accepted { EarlyData::Accepted } else { EarlyData::Rejected };
        }
        self.spaces[SpaceId::Initial as usize].crypto.write(sizes.server_hello.into());
        let handshake = &mut self.spaces[SpaceId::Handshake as usize];
        (handshake.sending, handshake.receiving) = (Keys::Ready, Keys::Ready);
        handshake.crypto.write(if resumed { sizes.resumed_flight } else { sizes.server_flight }.into());
        self.spaces[SpaceId::Application as usize].sending = Keys::Ready;
    }

    /// Client: completes the handshake after the server's flight.
    fn finish_handshake(&mut self, now: Instant) {
        self.learn_parameters();
        let finished = self.config.handshake.client_finished;
        self.spaces[SpaceId::Handshake as usize].crypto.write(finished.into());
        self.spaces[SpaceId::Application as usize].sending = Keys::Ready;
        if self.handshake.early == EarlyData::Offered {
            if self.peer.accepts_early_data {
                self.handshake.early = EarlyData::Accepted;
            } else {
                self.handshake.early = EarlyData::Rejected;
                self.resend_all(SpaceId::Application);
            }
        }
        self.complete(now);
    }

    fn learn_parameters(&mut self) {
        self.knows_peer = true;
        self.set_idle_limit();
        self.streams.set_peer_limits(self.peer.limits);
    }

    fn complete(&mut self, now: Instant) {
        self.handshake.completed = Some(now);
        self.state = State::Complete;
        self.spaces[SpaceId::Application as usize].receiving = Keys::Ready;
        self.start_rare_timer(now);
        self.set_idle_limit();
    }

    /// Notes that the handshake is confirmed, and discards the Handshake keys (RFC 9001 §4.9.2).
    pub(super) fn confirm(&mut self, now: Instant) {
        if !self.is_confirmed {
            self.is_confirmed = true;
            self.handshake.is_validated = true;
            self.discard(now, SpaceId::Initial);
            self.discard(now, SpaceId::Handshake);
            self.spaces.free();
            self.review_frequency();
            self.issue_ids();
            self.start_mtu();
        }
    }

    /// Discards the keys of a space: its packets leave flight, and the back-off ends (RFC 9002 §6.4).
    pub(super) fn discard(&mut self, now: Instant, id: SpaceId) {
        if self.spaces[id as usize].sending == Keys::Discarded {
            return;
        }
        let mut space = std::mem::take(&mut self.spaces[id as usize]);
        for number in space.sent.numbers() {
            let frames = space.sent.get_mut(number).frames;
            if frames != NO_FRAMES {
                self.lists.free(frames);
            }
        }
        self.in_flight -= space.sent.discard();
        if let Some(flights) = &mut self.flights {
            flights.discard(id as usize);
        }
        // The rest, with its memory, is dropped.
        self.spaces[id as usize] = Space { sent: space.sent, ..Space::discarded() };
        if !self.config.details.keeps_backoff {
            self.pto_count = 0;
        }
        self.set_timers(now);
    }

    /// Takes all packets of a space out of flight without a loss, and queues their data again.
    pub(super) fn resend_all(&mut self, id: SpaceId) {
        for number in self.spaces[id as usize].sent.resolved()..self.spaces[id as usize].sent.next() {
            let sent = &mut self.spaces[id as usize].sent;
            let packet = *sent.get_mut(number);
            if packet.flags.has(SentFlags::IN_FLIGHT) && !packet.flags.any(SentFlags::ACKED.with(SentFlags::LOST)) {
                sent.lose(number);
                self.in_flight -= if packet.flags.has(SentFlags::OLD_PATH) { 0 } else { u64::from(packet.size) };
                self.requeue(id, &packet, Requeue::Lost);
            }
            self.spaces[id as usize].sent.resolve();
        }
        self.spaces[id as usize].loss_time = Instant::MAX;
    }

    /// Client: handles a Retry packet, which is accepted once and before any other packet of the server.
    pub(super) fn handle_retry(&mut self, now: Instant, token: u16) {
        let initial = &self.spaces[SpaceId::Initial as usize];
        let is_first = initial.sending == Keys::Ready && initial.received.largest().is_none();
        if self.side == Side::Server || self.handshake.was_retried || !is_first || self.state != State::Handshaking {
            return;
        }
        self.handshake.was_retried = true;
        self.handshake.token = token;
        self.resend_all(SpaceId::Initial);
        self.resend_all(SpaceId::Application);
        // RFC 9002 §6.3: congestion control starts again; before the first acknowledgement it has not changed.
        self.pto_count = 0;
        self.set_timers(now);
    }

    /// Server: handles the first packet of a client. Returns false if the packet is not processed.
    pub(super) fn accept(&mut self, now: Instant, kind: Kind, token: u16, datagram: u32) -> bool {
        if kind != Kind::Initial || datagram < u32::from(crate::config::MIN_DATAGRAM) {
            return false;
        }
        if self.config.server.retry && token == 0 {
            self.handshake.retry_due = true;
            self.handshake.was_retried = true;
            // The server keeps no state.
            self.handshake.received = 0;
            return false;
        }
        self.start(now);
        self.spaces[SpaceId::Initial as usize].sending = Keys::Ready;
        self.handshake.is_validated = token > 0;
        true
    }
}
