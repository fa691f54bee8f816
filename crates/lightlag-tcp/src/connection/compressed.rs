//! Compressed headers (SCPS-TP): their negotiation, and segments with them in both directions.
//!
//! Each end gives in its SYN the ID that will replace its ports. Compression is used if both SYNs have the capability
//! bit and an ID. An end starts to compress once its SYN is acknowledged, because the peer then has its ID. Neither a
//! SYN nor a reset without a connection is ever compressed.
//!
//! Data carries no ACK, so a due ACK is sent by itself, before the data; segments with data leave the state of the
//! receiving half unchanged. A segment with an unknown ID is dropped without a reply, because it names no port to reply
//! to.

use super::{Connection, State};
use crate::ecn::EcnMode;
use crate::segment::{Capabilities, Flags, Segment, Timestamps};
use lightlag_core::Instant;

#[cfg(test)]
mod tests;

/// Compression of outgoing headers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compression {
    /// The ID that this end offered.
    id: u8,
    /// Whether both ends negotiated compression and the peer has our ID.
    is_on: bool,
}

impl Connection {
    /// Sets the ID that replaces the ports of this connection in compressed headers. It must be unique among the
    /// connections between the two nodes. No effect if the ID is 0, if compression is not configured, or with ECN:
    /// headers then stay uncompressed. Call it before the connection opens.
    pub fn set_connection_id(&mut self, id: u8) {
        self.predicts = false;
        if id != 0 && self.config.ecn == EcnMode::Off && self.config.scps.is_some_and(|scps| scps.compression) {
            self.extras.build_gate().compression = Some(Compression { id, is_on: false });
        }
    }

    /// Returns true if segments are sent with compressed headers.
    pub fn compresses(&self) -> bool {
        self.compresses_with().is_some()
    }

    /// Returns the ID that the local SYN offers; 0 if it offers none.
    pub(super) fn offered_id(&self) -> u8 {
        self.extras.gate().and_then(|gate| gate.compression).map_or(0, |compression| compression.id)
    }

    pub(super) fn compresses_with(&self) -> Option<u8> {
        let compression = self.extras.gate()?.compression?;
        compression.is_on.then_some(compression.id)
    }

    /// Returns true if both offers have the compression bit and an ID.
    pub(super) fn agree_on_compression(own: Capabilities, peer: Capabilities) -> bool {
        own.bitmap & peer.bitmap & Capabilities::COMPRESSION != 0 && own.connection_id != 0 && peer.connection_id != 0
    }

    /// Starts compression if it was negotiated. Called once the local SYN is acknowledged, because the peer then has
    /// the ID.
    pub(super) fn start_compression(&mut self, agreed: bool) {
        let Some(gate) = self.extras.gate_mut() else { return };
        gate.compression =
            gate.compression.filter(|_| agreed).map(|compression| Compression { is_on: true, ..compression });
        if gate.compression.is_none() && gate.limiter.is_none() {
            self.extras.put_gate(None);
        }
    }

    /// Returns the number of bytes that compression saves in the header of a full data segment.
    pub(super) fn saved_by_compression(timestamps: bool) -> u32 {
        let data = Segment::usual(1, Flags::default(), timestamps);
        data.header_len() - data.compressed(1, true).header_len()
    }

    /// Returns the size of the largest compressed header of a data segment, in bytes. A FIN takes a second control
    /// byte.
    pub(super) fn largest_data_header(&self) -> u32 {
        let flags =
            if self.sending.awake().is_some_and(|sender| sender.closes()) { Flags::FIN } else { Flags::default() };
        Segment::usual(1, flags, self.timestamps).compressed(1, true).header_len()
    }

    /// Returns the size of the largest compressed header of a segment without data and reports, which is a FIN, in
    /// bytes.
    pub(super) fn largest_empty_header(&self) -> u32 {
        Segment::usual(0, Flags::FIN.with(Flags::ACK), self.timestamps).compressed(1, true).header_len()
    }

    /// Returns the next segment of a connection with compressed headers. Tokens have already been taken.
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
        // A router that filters TCP's ACKs does not recognise these.
        self.follows &= segment.len > 0;
        Some(self.compress(segment, id))
    }

    /// Returns the segment as it is sent: compressed, or with a plain header if a compressed one cannot carry its
    /// contents.
    pub(super) fn compress(&self, segment: Segment, id: u8) -> Segment {
        if !segment.fits_compressed_header() {
            return segment;
        }
        let next = self.local.plus(self.nxt() as u32);
        segment.compressed(id, segment.seq != next)
    }

    /// Handles a segment with a compressed header.
    #[cold]
    pub(super) fn take_compressed(&mut self, now: Instant, segment: &Segment) {
        let agreed = self
            .extras
            .scps()
            .is_some_and(|agreement| agreement.peer_id != 0 && agreement.peer_id == segment.connection_id());
        if !agreed {
            return;
        }
        if self.in_outage() {
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

    /// Returns by how many bytes the segment that last set the window was ahead of the next expected offset; 0 if it
    /// was not.
    fn ahead(&self) -> u32 {
        (self.window_from.0.wrapping_sub(self.receiver.nxt() as u32) as i32).max(0) as u32
    }

    /// Handles an ACK without a sequence number. Its sequence number is taken to be the sender's next one, which is the
    /// expected one or a later one. Therefore the segment is not too old for its timestamp, and it does not determine
    /// the timestamp to echo, unless the peer sends no data.
    fn take_ack_alone(&mut self, now: Instant, mut segment: Segment) {
        let start = self.receiver.nxt() + u64::from(self.ahead());
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

    /// Handles data without an acknowledgement.
    fn take_data_alone(&mut self, now: Instant, segment: &Segment) {
        let Some(start) = segment.seq.expand(self.remote, self.receiver.nxt()) else { return };
        let stamps = segment.timestamps().filter(|_| self.timestamps);
        if !self.admits(now, segment, start, stamps) {
            return;
        }
        if self.state == State::SynReceived {
            // A peer that compresses has our SYN: its ACK was lost. The last known window is in the peer's SYN.
            let window = self.extras.scps().map_or(0, |agreement| agreement.first_window);
            self.establish(now, segment, window.into());
        }
        let (una, nxt) = self.edges();
        if una == nxt {
            self.probe_answered();
        }
        if let Some(stamps) = stamps {
            self.receiver.note_timestamp(now, start, stamps.value);
        }
        if segment.len > 0 || segment.flags.has(Flags::FIN) {
            self.take_data(now, segment, start);
        }
    }
}
