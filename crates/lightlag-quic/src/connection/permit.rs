//! Permission to send by the window and by pacing, and the reasons why nothing is sent.

use super::space::Keys;
use super::{Connection, EarlyData, State};
use crate::kind::SpaceId;
use crate::streams::Side;
use lightlag_core::Instant;
use lightlag_transport::Limit;

/// Permission to send packets that count as in flight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Permit {
    /// Not determined yet.
    Unknown,
    Granted,
    Window,
    Pacing,
}

/// Outcome of [`Connection::poll_plain`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Plain {
    /// There is a packet, or nothing to send.
    Decided,
    /// The general path decides.
    Undecided,
}

impl Connection {
    /// Determines whether a full datagram may be sent now.
    #[inline(always)]
    pub(super) fn permit(&mut self, now: Instant) -> Permit {
        if self.in_flight == 0 {
            self.control.restart_after_idle(now);
        }
        if !self.control.permits(self.in_flight) {
            return Permit::Window;
        }
        let size = self.control.datagram();
        if self.control.paces(now, size, &self.rtt) { Permit::Granted } else { Permit::Pacing }
    }

    /// Returns true if handshake data is sent although the window is full: packets with 0.5-RTT or 0-RTT data fill it,
    /// the peer cannot acknowledge them before the handshake has advanced, and no probe timeout would free it (RFC 9002
    /// §6.2.1 arms none for the application space until the handshake is confirmed).
    #[cold]
    pub(super) fn must_go_on(&self, id: SpaceId) -> bool {
        id != SpaceId::Application
            && !self.config.details.stalls_handshakes
            && !self.spaces[id as usize].sent.is_eliciting()
    }

    /// Returns true if there is nothing to send, nothing in flight, and a poll would not change anything: most polls of
    /// an endpoint that only receives data.
    #[inline(always)]
    pub(super) fn is_quiet(&self, now: Instant) -> bool {
        let is_idle = self.in_flight == 0 && self.is_idle() && self.control.is_limited;
        !self.is_extra_due
            && is_idle
            && self.pto_count == 0
            && self.pacing_timer == Instant::MAX
            && self.spaces[SpaceId::Application as usize].received.deadline() > now
            && self.streams.is_silent()
    }

    /// Records why nothing is sent, and sets the timer of pacing.
    #[inline]
    pub(super) fn note_idle(&mut self, now: Instant, permit: Permit, has_data: bool) {
        let is_idle = permit == Permit::Unknown && self.in_flight == 0 && self.is_idle();
        if is_idle && self.control.is_limited && self.pto_count == 0 && !self.streams.is_blocked() {
            return;
        }
        self.note_limits(now, permit, has_data);
    }

    #[inline(always)]
    fn note_limits(&mut self, now: Instant, permit: Permit, has_data: bool) {
        let limit = match permit {
            Permit::Window => Limit::Cwnd,
            Permit::Pacing => {
                self.pacing_timer = self.control.departure;
                Limit::Pacing
            }
            _ if self.streams.is_blocked() => self.streams.block(),
            _ => self.limit_at_rest(),
        };
        let limit = if self.is_confirmed { limit } else { self.limit_of_handshake(limit, has_data) };
        // RFC 9002 §7.8: waiting for the pacer is not under-use, if there is enough data for the window. With
        // permission to send, credit of a stream was missing.
        let unused = self.control.window().saturating_sub(self.in_flight);
        self.control.is_limited = match permit {
            Permit::Window | Permit::Pacing if self.config.details.plain_limit => false,
            Permit::Granted | Permit::Unknown if self.config.details.plain_limit => true,
            _ if unused < self.control.datagram() => false,
            Permit::Window => false,
            Permit::Pacing => {
                let waiting = self.streams.sendable(unused) + self.datagram_bytes();
                has_data && waiting + self.control.datagram() <= unused
            }
            Permit::Granted | Permit::Unknown => true,
        };
        if self.control.is_limited {
            self.control.limited_at = now;
        }
        let repairing = self.control.phase() == lightlag_control::congestion::Phase::Recovery;
        let limit = match limit {
            _ if self.pto_count > 0 => Limit::Timeout,
            Limit::Cwnd if repairing => Limit::Recovery,
            limit => limit,
        };
        self.note_limit(now, limit);
    }

    /// Returns true if the recorded limit means that nothing waits to be sent, and nothing is in flight.
    #[inline(always)]
    fn is_idle(&self) -> bool {
        matches!(self.limit, Limit::Idle | Limit::StreamLimit)
    }

    /// Returns true if the recorded limit means that nothing waits to be sent.
    pub(super) fn is_at_rest(&self) -> bool {
        self.is_idle() || self.limit == Limit::Application
    }

    /// Returns the limit of a connection with nothing to send.
    pub(super) fn limit_at_rest(&self) -> Limit {
        match self.in_flight {
            _ if self.peer_waits => Limit::StreamLimit,
            0 => Limit::Idle,
            _ => Limit::Application,
        }
    }

    /// Returns the limit before the handshake is confirmed. `limit` is the limit of a connection that has keys and an
    /// address that is validated.
    #[cold]
    fn limit_of_handshake(&self, limit: Limit, has_data: bool) -> Limit {
        if has_data && limit != Limit::Pacing && self.amplification_room() < self.datagram.into() {
            return Limit::Amplification;
        }
        let has_keys = self.spaces[SpaceId::Application as usize].sending == Keys::Ready;
        // A client with keys of 0-RTT and a server that accepts 0-RTT need not wait.
        let is_early = self.side == Side::Client || self.handshake.early == EarlyData::Accepted;
        match limit {
            Limit::Cwnd | Limit::Pacing => limit,
            Limit::ConnectionCredit | Limit::StreamCredit | Limit::SendBuffer if has_keys => limit,
            _ if self.state == State::Handshaking && !(has_keys && is_early) => Limit::Handshake,
            limit => limit,
        }
    }
}
