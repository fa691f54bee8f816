//! Handling of packets that arrive.

use super::codes as code;
use super::handshake::EarlyData;
use super::space::Keys;
use super::{Connection, State};
use crate::arena::Arena;
use crate::contents::PartView;
use crate::frame::{Direction, Frame};
use crate::kind::{Kind, SpaceId};
use crate::packet::Packet;
use crate::received::{AckRules, PingRule};
use crate::streams::{Chunk, Side, StreamError};
use lightlag_core::{Codepoint, Duration, Instant};
use lightlag_transport::Failure;

/// Rules for Initial and Handshake packets, which are acknowledged immediately (RFC 9000 §13.2.1).
const AT_ONCE: AckRules = AckRules {
    threshold: 0,
    max_delay: Duration::ZERO,
    reordering: 0,
    max_ranges: 64,
    lazy: None,
    ping: PingRule::Never,
    adapts: false,
    marks_once: false,
    window: false,
};

/// Rules for these packets with a window of packet numbers.
const AT_ONCE_WINDOW: AckRules = AckRules { window: true, ..AT_ONCE };

impl Connection {
    /// Handles a packet that arrived with the codepoint `ecn` in its ECN field. Its contents leave the arena.
    pub fn handle_packet(&mut self, now: Instant, packet: &Packet, ecn: Codepoint, arena: &mut Arena) {
        self.now = now;
        if self.is_plain() && packet.handle().is_none() && (packet.path() == self.path || self.side == Side::Client) {
            return self.handle_plain(now, packet, ecn);
        }
        self.is_extra_due = true;
        let mut contents = arena.scratch();
        arena.take(packet, &mut contents, self.ecn.reported(SpaceId::Application));
        let size = packet.size();
        self.counters.bytes_received += u64::from(size);
        if self.side == Side::Server && !self.handshake.is_validated {
            // RFC 9000 §8.1: all datagrams count, also those whose packets are dropped.
            self.handshake.received += u64::from(size);
            if self.config.details.loose_amplification && self.state == State::Idle {
                self.handshake.received -= crate::contents::TAG;
            }
        }
        self.flight_due();
        let was_blocked = self.config.details.loose_amplification && self.amplification_room() == 0;
        let mut is_processed = false;
        for view in contents.iter() {
            match self.state {
                State::Closed if self.failure == Some(Failure::Crashed) => {
                    self.note_lost_state(view.part.kind, size);
                    break;
                }
                State::Closed | State::Draining => break,
                State::Closing => {
                    self.closing.arrived();
                    if view
                        .frames
                        .iter()
                        .any(|frame| matches!(frame, Frame::Close { .. } | Frame::ApplicationClose { .. }))
                    {
                        self.drain(now);
                    }
                    continue;
                }
                _ if self.flights.is_some() && self.is_short_initial(&view, size) => break,
                _ => {
                    let part_is_processed = self.handle_part(now, &view, ecn, packet);
                    is_processed |= part_is_processed;
                    if let Some(notes) = &mut self.notes {
                        notes.processed.push(part_is_processed);
                    }
                }
            }
        }
        arena.put_back(contents);
        if is_processed && matches!(self.state, State::Handshaking | State::Complete) {
            self.sent_since_arrival = false;
            self.restart_idle_timer(now);
        }
        if was_blocked {
            self.set_timers(now);
        }
        if self.side == Side::Server && !self.handshake.is_validated && !self.config.details.loose_amplification {
            // RFC 9002 A.6: a datagram raises the amplification limit, and a probe timeout that has passed fires now.
            self.set_timers(now);
            if self.loss_timer <= now {
                self.loss_timer_fired(now);
            }
        }
    }

    /// Handles a packet of a datagram. Returns false if it was dropped.
    #[inline]
    fn handle_part(&mut self, now: Instant, view: &PartView<'_>, ecn: Codepoint, packet: &Packet) -> bool {
        let (part, datagram) = (view.part, packet.size());
        let Some(id) = part.kind.space() else {
            match part.kind {
                Kind::Retry => self.handle_retry(now, part.token),
                _ => self.handle_stateless_reset(now),
            }
            return true;
        };
        let is_first = self.state == State::Idle;
        if is_first {
            if !self.accept(now, part.kind, part.token, datagram) {
                return false;
            }
            self.path = packet.path();
        }
        if self.flights.is_some() {
            return self.handle_flight_part(now, id, view, packet);
        }
        let has_keys = match part.kind {
            Kind::ZeroRtt => {
                self.side == Side::Server
                    && self.handshake.early == EarlyData::Accepted
                    && self.spaces[id as usize].sending == Keys::Ready
            }
            _ => self.spaces[id as usize].receiving == Keys::Ready,
        };
        if !has_keys {
            self.counters.undecryptable += 1;
            if self.config.ack.window && part.kind == Kind::OneRtt && self.spaces[id as usize].sending == Keys::Ready {
                // quinn drops the packet after it has noted its number.
                self.spaces[id as usize].received.dropped(part.number);
            }
            return false;
        }
        if self.side == Side::Server && part.kind == Kind::Initial && datagram < u32::from(crate::config::MIN_DATAGRAM)
        {
            return false;
        }
        // Fields are borrowed one by one.
        let rules = match id {
            SpaceId::Application => &self.ack_rules,
            _ if self.config.ack.window => &AT_ONCE_WINDOW,
            _ => &AT_ONCE,
        };
        let received = &mut self.spaces[id as usize].received;
        if if rules.window { received.is_known(part.number) } else { received.is_duplicate(part.number) } {
            self.counters.duplicates += 1;
            return false;
        }
        let largest = received.largest();
        if rules.window {
            let rules = *rules;
            self.arrived_in_window(now, id, view, ecn, is_first, &rules);
        } else {
            received.arrived(now, part.number, view.is_eliciting(), ecn, rules);
        }
        if id == SpaceId::Application && largest.is_none_or(|largest| part.number > largest) {
            self.copy_spin(part.spin);
            if part.kind == Kind::OneRtt {
                self.key_phase_arrived(part.key_phase);
            }
            if self.moves(view, packet.path()) {
                self.peer_moved(now, packet.path(), datagram);
            }
        }
        if id == SpaceId::Application && self.ack_rules.adapts {
            self.adapt_acks(now, datagram);
        }
        if self.side == Side::Server && id == SpaceId::Handshake {
            self.handshake.is_validated = true;
            self.discard(now, SpaceId::Initial);
        }
        if let Err(code) = self.handle_frames(now, id, view) {
            self.fail(now, code);
        }
        true
    }

    /// Returns true if a datagram of `size` bytes is too short for an Initial packet of a client (RFC 9000 §14.1).
    fn is_short_initial(&self, view: &PartView<'_>, size: u32) -> bool {
        self.side == Side::Server && view.part.kind == Kind::Initial && size < u32::from(crate::config::MIN_DATAGRAM)
    }

    /// RFC 9000 §17.4: the server copies the spin bit, the client inverts it.
    #[inline(always)]
    pub(super) fn copy_spin(&mut self, spin: bool) {
        if self.spins {
            self.spin = spin != (self.side == Side::Client);
        }
    }

    /// Handles a STREAM frame.
    #[inline]
    pub(super) fn handle_stream(&mut self, now: Instant, chunk: &Chunk) -> Result<(), u64> {
        let (srtt, reads) = (self.rtt.smoothed(), !self.reads_later);
        match self.streams.arrived(now, chunk, srtt, reads) {
            Ok(_) => {
                self.is_extra_due |= !self.streams.due.is_empty();
                Ok(())
            }
            Err(error) => Err(error as u64),
        }
    }

    /// Notes a packet as quinn does.
    #[inline(never)]
    fn arrived_in_window(
        &mut self,
        now: Instant,
        id: SpaceId,
        view: &PartView<'_>,
        ecn: Codepoint,
        is_first: bool,
        rules: &AckRules,
    ) {
        let received = &mut self.spaces[id as usize].received;
        let was_due = received.due().is_some();
        if view.frames.contains(&Frame::ImmediateAck) {
            // quinn handles the frames first, and then starts no timer.
            received.hasten(now);
        }
        received.arrived(now, view.part.number, view.is_eliciting(), ecn, rules);
        if !was_due && received.due().is_some_and(|due| due > now) {
            self.next_bundle = now;
        }
        if is_first {
            // quinn does not note the packet that opens a connection.
            received.forget_duplicates();
        }
    }

    #[inline]
    pub(super) fn handle_frames(&mut self, now: Instant, id: SpaceId, view: &PartView<'_>) -> Result<(), u64> {
        if let Some(ack) = &view.part.ack {
            self.handle_ack(now, id, ack, view.ranges)?;
        }
        for frame in view.frames {
            self.handle_frame(now, id, frame)?;
        }
        Ok(())
    }

    #[inline]
    fn handle_frame(&mut self, now: Instant, id: SpaceId, frame: &Frame) -> Result<(), u64> {
        let stream_error = |error: StreamError| error as u64;
        match *frame {
            Frame::Stream { stream, offset, len, fin, .. } => {
                self.handle_stream(now, &Chunk { stream, offset, len, fin, to_end: false })?;
            }
            Frame::Padding(_) | Frame::Ping => {}
            Frame::Crypto { offset, len } => {
                let crypto = &mut self.spaces[id as usize].crypto;
                let before = crypto.in_order();
                crypto.arrived(offset, len);
                let is_known = crypto.in_order() == before;
                self.advance_handshake(now, id);
                if is_known && self.flights.is_some() && self.side == Side::Server && id == SpaceId::Initial {
                    // The client has not received this end's handshake data.
                    self.repeat_crypto_early(now);
                }
            }
            Frame::MaxData(limit) => self.streams.raise_limit(limit),
            Frame::MaxStreamData { stream, limit } => self.streams.raise_stream_limit(stream, limit),
            Frame::MaxStreams(direction, limit) => self.streams.raise_streams(direction, limit),
            Frame::ResetStream { stream, final_size, .. } => {
                self.streams.was_reset(stream, final_size).map_err(stream_error)?;
                let srtt = self.rtt.smoothed();
                self.streams.update_credit(now, srtt);
            }
            Frame::StopSending { stream, code } => self.streams.reset(stream, code),
            Frame::HandshakeDone => {
                if self.side == Side::Server {
                    return Err(code::PROTOCOL_VIOLATION);
                }
                self.confirm(now);
            }
            Frame::NewToken(_) if self.side == Side::Server => return Err(code::PROTOCOL_VIOLATION),
            Frame::PathChallenge(data) => self.spaces[id as usize].frames.push(Frame::PathResponse(data)),
            Frame::Datagram { tag, len, .. } => {
                // RFC 9221 §3.
                if frame.size() > u64::from(self.config.max_datagram_frame) {
                    return Err(code::PROTOCOL_VIOLATION);
                }
                self.datagram_arrived(tag, len);
            }
            Frame::Close { .. } | Frame::ApplicationClose { .. } => self.drain(now),
            Frame::NewConnectionId { sequence, retire_prior, .. } => self.handle_new_id(sequence, retire_prior)?,
            Frame::RetireConnectionId(sequence) => self.handle_retired_id(sequence)?,
            Frame::PathResponse(data) => self.handle_response(now, data),
            Frame::ImmediateAck => self.spaces[id as usize].received.hasten(now),
            Frame::AckFrequency { .. } => self.handle_frequency(id, frame)?,
            Frame::NewToken(_)
            | Frame::DataBlocked(_)
            | Frame::StreamDataBlocked { .. }
            | Frame::StreamsBlocked(..) => {}
        }
        Ok(())
    }

    /// Makes a MAX_STREAMS frame due, with which the peer may open as many more streams as it has finished.
    pub fn permit_streams(&mut self, direction: Direction, total: u64) {
        self.streams.permit(direction, total);
        self.streams.due.max_streams[usize::from(direction == Direction::Unidirectional)] = true;
        self.is_extra_due = true;
    }
}
