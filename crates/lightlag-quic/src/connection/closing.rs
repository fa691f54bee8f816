//! The end of a connection (RFC 9000 §10).

use super::space::Keys;
use super::{Connection, State};
use crate::arena::Arena;
use crate::contents::{Part, TAG};
use crate::frame::Frame;
use crate::kind::{Kind, SpaceId};
use crate::packet::Packet;
use crate::streams::Side;
use lightlag_core::Instant;
use lightlag_transport::Failure;

/// Error code of HTTP/3 for a connection that has served its purpose (RFC 9114 §8.1).
const H3_NO_ERROR: u64 = 0x100;
/// Minimum size of a stateless reset, and its size in answer to a large packet: a short header with a connection ID of
/// 20 bytes, and a token of 16 (RFC 9000 §10.3).
const MIN_RESET: u16 = 21;
const RESET: u16 = 43;

/// State of a connection that is being closed.
#[derive(Debug)]
pub(super) struct Closing {
    /// End of the closing or draining period; [`Instant::MAX`] before.
    pub(super) until: Instant,
    /// Error code of CONNECTION_CLOSE.
    code: u64,
    is_due: bool,
    /// Whether the application has closed the connection, before the next packet is polled.
    pub(super) is_requested: bool,
    /// Packets that arrived, and the number of them that the next answer waits for. The answers become rarer
    /// (RFC 9000 §10.2.1).
    arrived: u32,
    next_answer: u32,
}

impl Default for Closing {
    fn default() -> Self {
        Self { until: Instant::MAX, code: 0, is_due: false, is_requested: false, arrived: 0, next_answer: 0 }
    }
}

impl Closing {
    /// Notes a packet that arrived in the closing state.
    pub(super) fn arrived(&mut self) {
        self.arrived += 1;
        if self.arrived >= self.next_answer {
            self.is_due = true;
            self.next_answer *= 2;
        }
    }
}

impl Connection {
    /// Closes the connection with an error code; 0 for no error. The peer is notified.
    pub fn close_with(&mut self, now: Instant, code: u64) {
        match self.state {
            State::Handshaking | State::Complete => {
                self.state = State::Closing;
                let until = now + self.current_pto() * 3;
                self.closing = Closing { until, code, is_due: true, is_requested: false, arrived: 0, next_answer: 1 };
                self.stop_timers();
            }
            State::Idle => self.end(None),
            _ => {}
        }
    }

    /// Closes the connection of an application with several streams, which needs nothing more from it.
    pub(super) fn close_requested(&mut self, now: Instant) {
        if std::mem::take(&mut self.closing.is_requested) {
            self.close_with(now, H3_NO_ERROR);
        }
    }

    /// Closes the connection because the peer violated a rule.
    pub(super) fn fail(&mut self, now: Instant, code: u64) {
        self.failure = self.failure.or(Some(Failure::Reset));
        self.close_with(now, code);
    }

    /// Enters the draining state, because the peer has closed the connection.
    pub(super) fn drain(&mut self, now: Instant) {
        if matches!(self.state, State::Handshaking | State::Complete | State::Closing) {
            let is_open = self.state == State::Complete || self.state == State::Closing;
            self.state = State::Draining;
            self.closing.until = now + self.current_pto() * 3;
            if !is_open {
                self.failure = self.failure.or(Some(Failure::Refused));
            }
            self.stop_timers();
        }
    }

    fn stop_timers(&mut self) {
        self.is_extra_due = true;
        self.end_datagrams();
        self.loss_timer = Instant::MAX;
        self.timed_probe = None;
        self.pacing_timer = Instant::MAX;
        self.idle_deadline = Instant::MAX;
        self.rare_timer = Instant::MAX;
        self.spaces[SpaceId::Application as usize].received.acknowledged();
    }

    /// Aborts the connection: the peer is notified, and data that waits to be sent is lost.
    pub fn abort(&mut self) {
        self.failure = self.failure.or(Some(Failure::Aborted));
        self.close_with(self.now, 0);
    }

    /// Simulates a crash of the host: the connection and its data are lost. The peer is not notified; the answer to its
    /// packets is a stateless reset (RFC 9000 §10.3).
    pub fn crash(&mut self) {
        self.end(Some(Failure::Crashed));
    }

    /// Notes a packet that belongs to the lost state. A reset is smaller than the packet that causes it, so that two
    /// endpoints without state do not answer each other for ever (RFC 9000 §10.3.3).
    pub(super) fn note_lost_state(&mut self, kind: Kind, datagram: u32) {
        if kind == Kind::OneRtt && datagram > u32::from(MIN_RESET) {
            self.reset_due = (datagram - 1).min(RESET.into()) as u16;
        }
    }

    /// Handles a stateless reset: the peer has lost the connection.
    pub(super) fn handle_stateless_reset(&mut self, now: Instant) {
        self.failure = self.failure.or(Some(Failure::Reset));
        self.drain(now);
    }

    /// Returns the stateless reset that is due.
    pub(super) fn poll_reset(&mut self, arena: &mut Arena) -> Option<Packet> {
        let size = std::mem::take(&mut self.reset_due);
        if size == 0 {
            return None;
        }
        let mut contents = arena.scratch();
        contents.clear();
        contents.parts.push(Part { kind: Kind::StatelessReset, size, ..Part::default() });
        let packet = arena.pack(&mut contents);
        arena.put_back(contents);
        self.counters.datagrams += 1;
        self.counters.bytes_sent += u64::from(size);
        Some(packet)
    }

    /// Returns the packet with CONNECTION_CLOSE, if it is due.
    pub(super) fn poll_close(&mut self, arena: &mut Arena) -> Option<Packet> {
        if !std::mem::take(&mut self.closing.is_due) {
            return None;
        }
        let can_send = |id: &&SpaceId| self.spaces[**id as usize].sending == Keys::Ready;
        let id = *SpaceId::ALL.iter().rev().find(can_send)?;
        let kind = match id {
            SpaceId::Initial => Kind::Initial,
            SpaceId::Handshake => Kind::Handshake,
            SpaceId::Application if self.side == Side::Client && !self.knows_peer => Kind::ZeroRtt,
            SpaceId::Application => Kind::OneRtt,
        };
        let sent = &self.spaces[id as usize].sent;
        let (number, number_len) = (sent.next(), crate::number::encoded_len(sent.next(), sent.largest_acked()));
        let mut contents = arena.scratch();
        contents.clear();
        contents.frames.push(Frame::Close { code: self.closing.code, frame_type: 0, reason: 0 });
        let header = self.header_lengths(kind).header(kind, number_len);
        let mut size = header + contents.frames[0].size() + TAG;
        if kind == Kind::Initial && self.side == Side::Client {
            let padding = u64::from(crate::config::MIN_DATAGRAM).saturating_sub(size);
            contents.frames.push(Frame::Padding(padding as u16));
            size += padding;
        }
        if self.amplification_room() < size {
            arena.put_back(contents);
            return None;
        }
        let (frames, token) = (contents.frames.len() as u16, if kind == Kind::Initial { self.own_token() } else { 0 });
        contents.parts.push(Part { kind, number, number_len, size: size as u16, frames, token, ..Part::default() });
        self.spaces[id as usize].sent.push(crate::sent::SentPacket {
            time: self.now,
            frames: crate::sent::NO_FRAMES,
            size: size as u16,
            ..crate::sent::SentPacket::default()
        });
        let packet = arena.pack(&mut contents);
        arena.put_back(contents);
        self.counters.datagrams += 1;
        self.counters.bytes_sent += size;
        self.handshake.sent += size;
        Some(packet)
    }
}
