//! Timers of a connection: loss and probes, acknowledgements, pacing, the idle timeout and the closing period.

use super::{Connection, State};
use crate::config::MIN_DATAGRAM;
use crate::kind::SpaceId;
use lightlag_core::{Duration, Instant};
use lightlag_transport::Failure;

impl Connection {
    /// Returns when [`Self::handle_timeout`] must be called next; `None` if no timer runs.
    #[inline]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let ack = self.spaces[SpaceId::Application as usize].received.due();
        let timers = [self.loss_timer, ack, self.pacing_timer, self.idle_deadline, self.closing.until];
        timers.into_iter().flatten().min()
    }

    /// Returns when an acknowledgement of 1-RTT packets is due.
    pub fn ack_due(&self) -> Option<Instant> {
        self.spaces[SpaceId::Application as usize].received.due()
    }

    /// Handles the timers that are due. Call it when the clock reaches [`Self::poll_timeout`].
    pub fn handle_timeout(&mut self, now: Instant) {
        self.now = now;
        let is_due = |timer: Option<Instant>| timer.is_some_and(|timer| timer <= now);
        if is_due(self.closing.until) {
            return self.end(None);
        }
        if is_due(self.idle_deadline) {
            let opened = self.state == State::Complete;
            return self.end(Some(if opened { Failure::Timeout } else { Failure::SynTimeout }));
        }
        if is_due(self.pacing_timer) {
            self.pacing_timer = None;
        }
        if is_due(self.loss_timer) {
            self.judge_supply();
            self.loss_timer_fired(now);
        }
    }

    /// Sets the timer for losses and probes (RFC 9002 A.8).
    pub(super) fn set_timers(&mut self, now: Instant) {
        let loss = self.spaces.iter().filter_map(|space| space.loss_time).min();
        self.timed_probe = None;
        self.loss_timer = loss;
        let is_open = matches!(self.state, State::Handshaking | State::Complete);
        if loss.is_none() && is_open && self.amplification_room() >= MIN_DATAGRAM.into() {
            self.timed_probe = self.probe_time(now);
            self.loss_timer = self.timed_probe.map(|(time, _)| time);
        }
        // A time that has passed, for example at a lower round-trip time, fires now.
        self.loss_timer = self.loss_timer.map(|time| time.max(now));
    }

    /// Returns the idle timeout: the smaller of both that are not zero, but at least three probe timeouts (RFC 9000
    /// §10.1).
    fn idle_timeout(&self) -> Option<Duration> {
        let own = self.config.idle_timeout;
        let peer = if self.knows_peer { self.peer.idle_timeout } else { Duration::ZERO };
        let timeout = [own, peer].into_iter().filter(|timeout| !timeout.is_zero()).min()?;
        Some(timeout.max(self.current_pto() * 3))
    }

    /// Returns the probe timeout of the application space without back-off.
    pub(super) fn current_pto(&self) -> Duration {
        self.rtt.pto() + self.peer.max_ack_delay
    }

    pub(super) fn restart_idle_timer(&mut self, now: Instant) {
        self.idle_deadline = self.idle_timeout().map(|timeout| now + timeout);
    }

    /// Ends the connection.
    pub(super) fn end(&mut self, failure: Option<Failure>) {
        self.state = State::Closed;
        self.failure = self.failure.or(failure);
        self.loss_timer = None;
        self.timed_probe = None;
        self.idle_deadline = None;
        self.pacing_timer = None;
        self.closing.until = None;
        self.spaces[SpaceId::Application as usize].received.acknowledged();
    }
}
