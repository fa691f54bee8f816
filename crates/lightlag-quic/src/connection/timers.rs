//! Timers of a connection: loss and probes, acknowledgements, pacing, the idle timeout and the closing period.

use super::{Connection, State};
use crate::config::MIN_DATAGRAM;
use crate::kind::SpaceId;
use lightlag_core::{Duration, Instant};
use lightlag_transport::Failure;

/// picoquic's limits of the probe timeout: during a handshake with an idle timeout of at most 30 s, and later below and
/// above a round-trip time of 610 ms.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(1);
const IDLE: Duration = Duration::from_secs(30);
const LIMIT: Duration = Duration::from_secs(2);
const LONG_PATH: Duration = Duration::from_millis(610);

impl Connection {
    /// Returns when [`Self::handle_timeout`] must be called next; `None` if no timer runs.
    #[inline]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let ack = self.spaces[SpaceId::Application as usize].received.timer();
        let earliest = self
            .loss_timer
            .min(ack)
            .min(self.pacing_timer)
            .min(self.idle_deadline)
            .min(self.closing.until)
            .min(self.rare_timer);
        let earliest = if self.flights.is_some() { earliest.min(self.flight_timer()) } else { earliest };
        Some(earliest).filter(|earliest| *earliest != Instant::MAX)
    }

    /// Returns when an acknowledgement of 1-RTT packets is due.
    pub fn ack_due(&self) -> Option<Instant> {
        self.spaces[SpaceId::Application as usize].received.due()
    }

    /// Handles the timers that are due. Call it when the clock reaches [`Self::poll_timeout`].
    pub fn handle_timeout(&mut self, now: Instant) {
        self.now = now;
        let is_due = |timer: Instant| timer <= now;
        if is_due(self.closing.until) {
            return self.end(None);
        }
        if is_due(self.idle_deadline) {
            let opened = self.state == State::Complete;
            return self.end(Some(if opened { Failure::Timeout } else { Failure::SynTimeout }));
        }
        if is_due(self.rare_timer) {
            self.rare_timer_fired(now);
        }
        if self.flights.is_some() {
            return self.handle_flight_timers(now);
        }
        let received = &mut self.spaces[SpaceId::Application as usize].received;
        if is_due(received.timer()) {
            received.timer_expired();
        }
        if is_due(self.pacing_timer) {
            self.pacing_timer = Instant::MAX;
        }
        if is_due(self.loss_timer) {
            self.judge_supply();
            self.loss_timer_fired(now);
            self.is_extra_due = true;
        }
    }

    /// Sets the timer for losses and probes (RFC 9002 A.8).
    pub(super) fn set_timers(&mut self, now: Instant) {
        if self.flights.is_some() {
            return;
        }
        self.probe_wait = self.probe_wait();
        self.idle_wait = self.idle_timeout();
        let application = &self.spaces[SpaceId::Application as usize];
        if self.is_confirmed && self.state == State::Complete && self.handshake.is_validated {
            // The other spaces are discarded.
            let is_lost = application.loss_time != Instant::MAX;
            let probe = match application.sent.last_eliciting() {
                Some(last) if application.sent.is_eliciting() => last + self.probe_wait,
                _ => Instant::MAX,
            };
            self.loss_timer = if is_lost { application.loss_time } else { probe }.max(now);
            self.timed_probe = (!is_lost && probe != Instant::MAX).then_some(SpaceId::Application);
            return;
        }
        let loss = self.spaces.iter().map(|space| space.loss_time).fold(Instant::MAX, Instant::min);
        self.timed_probe = None;
        self.loss_timer = loss;
        let is_open = matches!(self.state, State::Handshaking | State::Complete);
        if loss == Instant::MAX && is_open && self.amplification_room() >= MIN_DATAGRAM.into() {
            let probe = self.probe_time(now);
            self.timed_probe = probe.map(|(_, id)| id);
            self.loss_timer = probe.map_or(Instant::MAX, |(time, _)| time);
        }
        // A time that has passed, for example at a lower round-trip time, fires now.
        self.loss_timer = self.loss_timer.max(now);
    }

    /// Returns the idle timeout: the smaller of both that are not zero, but at least three probe timeouts (RFC 9000
    /// §10.1).
    #[inline]
    fn idle_timeout(&self) -> Duration {
        if let Some(least) = self.flight_idle_timeout() {
            return self.idle_limit.max(least);
        }
        // RFC 9002 §6.2.1: without max_ack_delay during the handshake.
        let delay = if self.state == State::Complete { self.max_ack_delay() } else { Duration::ZERO };
        self.idle_limit.max((self.rtt.pto() + delay) * 3)
    }

    /// Sets the idle timeout to the smaller one of both that are not zero.
    pub(super) fn set_idle_limit(&mut self) {
        // Zero stands for none: it becomes the maximum.
        let or_none = |timeout: Duration| if timeout.is_zero() { Duration::MAX } else { timeout };
        let peer = if self.knows_peer { self.peer.idle_timeout } else { Duration::ZERO };
        self.idle_limit = or_none(self.config.idle_timeout).min(or_none(peer));
        if let Some(limit) = self.config.handshake_timeout
            && self.state != State::Complete
        {
            self.idle_limit = self.idle_limit.min(limit);
        }
    }

    /// Returns the probe timeout of the application space with back-off.
    #[inline]
    fn probe_wait(&self) -> Duration {
        self.limit_wait((self.probe_base() + self.max_ack_delay()) * self.backoff())
    }

    /// Limits a probe timeout as picoquic does.
    #[inline]
    pub(super) fn limit_wait(&self, wait: Duration) -> Duration {
        if !self.config.probes.limited {
            return wait;
        }
        let srtt = self.rtt.smoothed();
        let longest = match self.state {
            State::Complete if srtt > LONG_PATH => (srtt * 3 / 2).max(LIMIT),
            State::Complete => LIMIT,
            _ if self.config.idle_timeout <= IDLE => HANDSHAKE_LIMIT,
            _ => Duration::MAX,
        };
        // The limit applies to repetitions.
        wait.min(longest.max(self.probe_base()))
    }

    /// Returns the probe timeout of the application space without back-off.
    pub(super) fn current_pto(&self) -> Duration {
        self.rtt.pto() + self.max_ack_delay()
    }

    pub(super) fn restart_idle_timer(&mut self, now: Instant) {
        self.idle_wait = self.idle_timeout();
        self.idle_deadline = now + self.idle_wait;
        self.last_activity = now;
    }

    /// Ends the connection.
    pub(super) fn end(&mut self, failure: Option<Failure>) {
        self.state = State::Closed;
        self.is_extra_due = true;
        self.end_datagrams();
        self.failure = self.failure.or(failure);
        self.loss_timer = Instant::MAX;
        self.timed_probe = None;
        self.idle_deadline = Instant::MAX;
        self.pacing_timer = Instant::MAX;
        self.closing.until = Instant::MAX;
        self.rare_timer = Instant::MAX;
        self.spaces[SpaceId::Application as usize].received.acknowledged();
    }
}
