//! Migration and NAT rebinding (RFC 9000 §8.2, §9).
//!
//! The path of a datagram is a small number that its sender's side of the network sets. A server that receives a
//! non-probing packet with the highest number from another path sends there, validates the path, and obeys the
//! amplification limit until then. Unless only the port has changed, the window and the round-trip time start again,
//! and packets of the old path no longer count. If the validation fails, the server returns to the last validated path.

use super::Connection;
use crate::config::{Move, MoveKind};
use crate::contents::PartView;
use crate::frame::Frame;
use crate::kind::SpaceId;
use crate::packet::{PORT_BITS, PORTS};
use crate::rtt::Rtt;
use crate::streams::Side;
use lightlag_core::Instant;

/// Largest index of an address.
const ADDRESSES: u8 = 7;

/// Validation of a path.
#[derive(Debug)]
pub(super) struct Validation {
    /// Data of the last PATH_CHALLENGE.
    data: u64,
    pub(super) until: Instant,
    /// The last validated path.
    previous: u8,
}

impl Connection {
    /// Gives the endpoint's packets another source port, or another address, as a NAT does. The endpoint does not know.
    pub fn rebind(&mut self, address_changed: bool) {
        let (address, port) = (self.path >> PORT_BITS, self.path & PORTS);
        let (address, port) =
            if address_changed { ((address + 1) & ADDRESSES, port) } else { (address, (port + 1) & PORTS) };
        self.path = address << PORT_BITS | port;
    }

    /// Moves a client to another address with a fresh connection ID of the server. Returns false, without an effect,
    /// before the handshake is confirmed and without a fresh ID.
    pub fn migrate(&mut self, now: Instant) -> bool {
        if self.side == Side::Server || !self.is_confirmed || !self.use_fresh_id() {
            return false;
        }
        self.now = now;
        self.rebind(true);
        self.restart_path(now);
        self.challenge();
        self.set_timers(now);
        true
    }

    /// Makes the changes of the client's address that are due, and sets the time of the next one.
    #[cold]
    pub(super) fn make_moves(&mut self, now: Instant) {
        while let Some(&Move { at, kind }) = self.config.moves.get(self.moved as usize) {
            if at > now {
                self.rare_timer = self.rare_timer.min(at);
                return;
            }
            match kind {
                MoveKind::Port => self.rebind(false),
                MoveKind::Address if self.migrate(now) => {}
                MoveKind::Address => {
                    // The handshake is not confirmed, or the server has not issued a fresh connection ID.
                    self.rare_timer = self.rare_timer.min(now + self.current_pto());
                    return;
                }
            }
            self.moved += 1;
        }
    }

    /// Returns true while a server validates the client's path.
    pub fn is_validating(&self) -> bool {
        self.validation.is_some()
    }

    /// Server: follows the client to another path.
    #[cold]
    pub(super) fn peer_moved(&mut self, now: Instant, path: u8, datagram: u32) {
        let previous = self.validation.take().map_or(self.path, |validation| validation.previous);
        let is_other_address = self.path >> PORT_BITS != path >> PORT_BITS;
        self.path = path;
        self.counters.migrations += 1;
        if is_other_address {
            self.restart_path(now);
            self.use_fresh_id();
        }
        let initial = Rtt::new(self.config.initial_rtt, self.config.variance).pto();
        let until = now + self.current_pto().max(initial) * 3;
        self.validation = Some(Box::new(Validation { data: 0, until, previous }));
        self.rare_timer = self.rare_timer.min(until);
        self.handshake.is_validated = false;
        (self.handshake.received, self.handshake.sent) = (datagram.into(), 0);
        self.challenge();
        self.set_timers(now);
    }

    /// Returns true if the packet moves the connection to the path that it came from.
    #[inline]
    pub(super) fn moves(&self, view: &PartView<'_>, path: u8) -> bool {
        let is_probing = view.part.ack.is_none() && view.frames.iter().all(Frame::is_probing);
        self.side == Side::Server && path != self.path && self.is_confirmed && !is_probing
    }

    /// Makes a PATH_CHALLENGE with new data due.
    pub(super) fn challenge(&mut self) {
        self.challenges += 1;
        if let Some(validation) = &mut self.validation {
            validation.data = self.challenges;
        }
        self.spaces[SpaceId::Application as usize].frames.push(Frame::PathChallenge(self.challenges));
        self.is_extra_due = true;
    }

    /// Handles PATH_RESPONSE.
    pub(super) fn handle_response(&mut self, now: Instant, data: u64) {
        if self.validation.as_ref().is_some_and(|validation| validation.data == data) {
            self.end_validation(now);
        }
    }

    /// Returns to the last validated path (RFC 9000 §9.3.2).
    pub(super) fn validation_failed(&mut self, now: Instant) {
        if let Some(validation) = &self.validation {
            self.path = validation.previous;
            self.counters.failed_validations += 1;
            self.end_validation(now);
        }
    }

    fn end_validation(&mut self, now: Instant) {
        self.validation = None;
        self.handshake.is_validated = true;
        self.set_timers(now);
    }

    /// Starts congestion control and the estimates for another path.
    fn restart_path(&mut self, now: Instant) {
        let window = self.control.window();
        self.window_was(now, window);
        self.rtt = Rtt::new(self.config.initial_rtt, self.config.variance);
        self.control.restart(now, &self.config, self.control_is_custom, &self.rtt);
        if let Some(flights) = &mut self.flights {
            flights.restart();
        }
        self.ecn.restart();
        self.start_mtu();
        (self.packet_threshold, self.time_threshold) =
            (self.config.loss.packet_threshold, self.config.loss.time_threshold);
        let space = &mut self.spaces[SpaceId::Application as usize];
        space.sent.leave_path();
        space.lost_run = None;
        self.in_flight = 0;
        self.pto_count = 0;
    }
}
