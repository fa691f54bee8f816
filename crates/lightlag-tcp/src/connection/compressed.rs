//! Compressed headers (SCPS-TP): which connections have them, what leaves with one, what one brings.
//!
//! Each end says in its SYN which id stands for its ports. Both bits and both ids make the agreement. An end compresses
//! once its SYN is acknowledged, for then the peer has its id: never a SYN, never a reset that belongs to no connection.
//!
//! Data carries no ACK, so an ACK that is due leaves by itself, before the data; what carries data leaves the receiving
//! half as it was. An id that is not known is dropped without an answer: there is no port to which one could go.

use super::{Connection, State};
use crate::ecn::Mode;
use crate::segment::{Capabilities, Flags, Segment, Timestamps};
use lightlag_core::Instant;

#[cfg(test)]
mod tests;

/// What an end needs to compress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compression {
    /// The id that it chose.
    id: u8,
    /// Whether the peer knows it, and agreed.
    is_on: bool,
}

impl Connection {
    /// What stands for its ports in compressed headers, where its configuration wants them: no other connection between
    /// the same two nodes may have the same. 0 is none: headers stay plain then, as with ECN. To be called before the
    /// connection opens.
    pub fn set_connection_id(&mut self, id: u8) {
        self.predicts = false;
        if id != 0 && self.config.ecn == Mode::Off && self.config.scps.is_some_and(|scps| scps.compression) {
            self.gate.get_or_insert_default().compression = Some(Compression { id, is_on: false });
        }
    }

    /// Whether its segments leave with compressed headers.
    pub fn compresses(&self) -> bool {
        self.compresses_with().is_some()
    }

    /// The id that its SYN offers; 0 without one.
    pub(super) fn offered_id(&self) -> u8 {
        self.gate.as_ref().and_then(|gate| gate.compression).map_or(0, |compression| compression.id)
    }

    pub(super) fn compresses_with(&self) -> Option<u8> {
        let compression = self.gate.as_ref()?.compression?;
        compression.is_on.then_some(compression.id)
    }

    /// Whether these two offers, ours and the peer's, make an agreement.
    pub(super) fn agree_on_compression(own: Capabilities, peer: Capabilities) -> bool {
        own.bitmap & peer.bitmap & Capabilities::COMPRESSION != 0 && own.connection_id != 0 && peer.connection_id != 0
    }

    /// The SYN is acknowledged: the peer has our id.
    pub(super) fn start_compression(&mut self, agreed: bool) {
        let Some(gate) = &mut self.gate else { return };
        gate.compression =
            gate.compression.filter(|_| agreed).map(|compression| Compression { is_on: true, ..compression });
        if gate.compression.is_none() && gate.limiter.is_none() {
            self.gate = None;
        }
    }

    /// Bytes that the header of a full data segment is shorter.
    pub(super) fn saved_by_compression(timestamps: bool) -> u32 {
        let data = Segment::usual(1, Flags::default(), timestamps);
        data.header_len() - data.compressed(1, true).header_len()
    }

    /// The largest header of a data segment: a FIN costs a second control byte.
    pub(super) fn largest_data_header(&self) -> u32 {
        let flags = if self.sender.closes() { Flags::FIN } else { Flags::default() };
        Segment::usual(1, flags, self.timestamps).compressed(1, true).header_len()
    }

    /// The largest header without data and reports: that of a FIN.
    pub(super) fn largest_empty_header(&self) -> u32 {
        Segment::usual(0, Flags::FIN.with(Flags::ACK), self.timestamps).compressed(1, true).header_len()
    }

    /// The next segment of a connection that compresses; the gate is open.
    pub(super) fn poll_compressed(&mut self, now: Instant, id: u8) -> Option<Segment> {
        let segment = if self.receiver.ack_due() && !self.handshake_due {
            self.pure_ack(now, 0)
        } else {
            let held = self.receiver.hold();
            let segment = self.poll_segment(now);
            self.receiver.release(held);
            let mut segment = segment?;
            if segment.len == 0 || !segment.fits_compressed_header() {
                segment.window = self.receiver.acknowledged(false);
            }
            segment
        };
        // A router that thins out ACKs of TCP does not know these.
        self.supersedes = false;
        Some(self.compress(segment, id))
    }

    /// The segment as it leaves: with a plain header if it says what a compressed one has no place for.
    pub(super) fn compress(&self, segment: Segment, id: u8) -> Segment {
        if !segment.fits_compressed_header() {
            return segment;
        }
        let next = self.local.plus(self.sender.board().nxt() as u32);
        segment.compressed(id, segment.seq != next)
    }

    /// A segment with a compressed header arrived.
    #[cold]
    pub(super) fn take_compressed(&mut self, now: Instant, segment: &Segment) {
        let agreed = self
            .scps
            .as_ref()
            .is_some_and(|agreement| agreement.peer_id != 0 && agreement.peer_id == segment.connection_id());
        if !agreed {
            return;
        }
        if self.sender.in_outage() {
            return self.hear_in_outage(now, segment);
        }
        let plain = segment.restored();
        match (segment.is_numbered(), plain.flags.has(Flags::ACK)) {
            (true, true) => self.handle_segment(now, &plain),
            (true, false) => self.take_data_alone(now, &plain),
            (false, true) => self.take_ack_alone(now, plain),
            (false, false) => {}
        }
    }

    /// An ACK that does not say its number: its sender's next one, which is what we expect, or a later one. So it neither
    /// is too old for its timestamp nor shows the earliest time that is to be echoed, unless the peer sends no data.
    fn take_ack_alone(&mut self, now: Instant, mut segment: Segment) {
        let start = self.receiver.nxt().max(self.window_from.0);
        segment.seq = self.remote.plus(start as u32);
        let stamps = segment.timestamps().filter(|_| self.timestamps);
        let current = stamps.map(|stamps| Timestamps { value: self.receiver.ts_recent(), ..stamps });
        if !self.admits(now, &segment, start, current)
            || !self.take_ack(now, &segment, start, stamps.map(|stamps| stamps.echo))
        {
            return;
        }
        if let Some(stamps) = stamps.filter(|_| self.receiver.highest() == 0) {
            self.receiver.note_timestamp(now, start, stamps.value);
        }
    }

    /// Data that says nothing of ours.
    fn take_data_alone(&mut self, now: Instant, segment: &Segment) {
        let Some(start) = segment.seq.expand(self.remote, self.receiver.nxt()) else { return };
        let stamps = segment.timestamps().filter(|_| self.timestamps);
        if !self.admits(now, segment, start, stamps) {
            return;
        }
        if self.state == State::SynReceived {
            // Who compresses has our SYN: its ACK was lost. The window is still that of the peer's SYN.
            let window = self.scps.as_ref().map_or(0, |agreement| agreement.first_window);
            self.establish(now, segment, window.into());
        }
        let board = self.sender.board();
        if board.una() == board.nxt() {
            self.sender.probe_answered();
        }
        if let Some(stamps) = stamps {
            self.receiver.note_timestamp(now, start, stamps.value);
        }
        if segment.len > 0 || segment.flags.has(Flags::FIN) {
            self.take_data(now, segment, start);
        }
    }
}
