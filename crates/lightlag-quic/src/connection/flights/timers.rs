//! Timers and arrivals of an endpoint that sends flights.

use super::{Connection, FLIGHTS};
use crate::connection::space::Keys;
use crate::contents::PartView;
use crate::flight::after;
use crate::kind::{Kind, SpaceId};
use crate::packet::Packet;
use crate::streams::Side;
use lightlag_core::{Duration, Instant};

impl Connection {
    /// Returns the time of the loss timer: a loss by time, or a probe timeout after the last eliciting packet.
    fn flight_loss_time(&self) -> Option<f64> {
        let flights = self.flights.as_ref().expect(FLIGHTS);
        if let Some((_, time)) = flights.first_loss() {
            return Some(time);
        }
        let waits = self.side == Side::Client && !self.handshake.is_validated && !self.is_confirmed;
        let is_eliciting = self.spaces.iter().any(|space| space.sent.is_eliciting());
        let backoff = libm::exp2(self.pto_count.into());
        (waits || is_eliciting).then(|| flights.last_eliciting + flights.probe_timeout() * backoff)
    }

    /// Returns the earliest timer besides the idle timeout.
    pub(in crate::connection) fn flight_timer(&self) -> Instant {
        let Some(flights) = self.flights.as_ref().filter(|_| self.is_open()) else { return Instant::MAX };
        // A loss timer that has changed nothing, because of a rounding error, expires again a nanosecond later.
        let again = Duration::from_nanos(u64::from(flights.handled == Some(self.now)));
        let loss = self.flight_loss_time().map_or(Instant::MAX, |time| after(time).max(self.now + again));
        flights.send_timer().map_or(loss, |time| time.min(loss))
    }

    /// Handles the timers that are due.
    pub(in crate::connection) fn handle_flight_timers(&mut self, now: Instant) {
        if !self.is_open() {
            return;
        }
        self.flight_due();
        self.flights_mut().handled = Some(now);
        let seconds = now.as_secs_f64();
        if self.flight_loss_time().is_none_or(|time| seconds < time) {
            return;
        }
        if let Some((index, _)) = self.flights_mut().first_loss() {
            return self.detect_flight_losses(now, SpaceId::ALL[index]);
        }
        self.counters.timeouts += 1;
        self.pto_count = self.pto_count.saturating_add(1);
        self.repeat_crypto(now);
        if self.is_validating() {
            self.challenge();
        }
    }

    /// Returns the minimum of the idle timeout, three probe timeouts.
    pub(in crate::connection) fn flight_idle_timeout(&self) -> Option<Duration> {
        Some(Duration::from_secs_f64(3.0 * self.flights.as_ref()?.probe_timeout()))
    }

    /// Handles a packet of a datagram. Duplicates count like other packets. Returns false if it was dropped.
    pub(in crate::connection) fn handle_flight_part(
        &mut self,
        now: Instant,
        id: SpaceId,
        view: &PartView<'_>,
        packet: &Packet,
    ) -> bool {
        let (index, part) = (id as usize, view.part);
        if self.spaces[index].receiving != Keys::Ready || part.kind == Kind::ZeroRtt {
            self.counters.undecryptable += 1;
            if self.side == Side::Client && id != SpaceId::Initial {
                // The server's Initial packet was lost.
                self.repeat_crypto_early(now);
            }
            return false;
        }
        let received = &self.spaces[index].received;
        let is_new_largest = received.largest().is_none_or(|largest| part.number > largest);
        self.counters.duplicates += u64::from(received.is_duplicate(part.number));
        if self.side == Side::Server && id == SpaceId::Handshake {
            self.handshake.is_validated = true;
            self.discard(now, SpaceId::Initial);
        }
        if id == SpaceId::Application && is_new_largest {
            self.copy_spin(part.spin);
            if self.moves(view, packet.path()) {
                self.peer_moved(now, packet.path(), packet.size());
            }
        }
        if let Err(code) = self.handle_frames(now, id, view) {
            self.fail(now, code);
        }
        if self.spaces[index].receiving == Keys::Ready {
            let max_ranges = self.ack_rules.max_ranges;
            self.spaces[index].received.insert(now, part.number, max_ranges);
            let delay = self.ack_rules.max_delay.as_secs_f64();
            let seconds = now.as_secs_f64();
            let space = &mut self.flights_mut().spaces[index];
            if is_new_largest {
                space.largest_at = seconds;
            }
            if view.is_eliciting() && space.ack_at.is_none() {
                space.ack_at = Some(seconds + delay);
            }
        }
        true
    }
}
