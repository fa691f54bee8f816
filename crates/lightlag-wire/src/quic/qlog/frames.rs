//! Packets and frames as objects of qlog (quic-events §7.13; for qlog 0.3 the draft of 2022).

use super::json::Object;
use super::schema::Schema;
use crate::quic::ids::{ConnectionId, Role, hexadecimal, reset_token};
use crate::quic::spec::SessionSpec;
use lightlag_core::Duration;
use lightlag_quic::Kind;
use lightlag_quic::contents::PartView;
use lightlag_quic::frame::{AckHeader, Direction, Frame};
use lightlag_quic::ranges::Range;
use lightlag_quic::streams::Side;
use std::fmt::Write as _;

/// Exponent of acknowledgement delays in Initial and Handshake packets (RFC 9000 §18.2).
const DEFAULT_EXPONENT: u8 = 3;

/// Returns the name of a packet type.
pub(super) fn packet_type(kind: Kind) -> &'static str {
    match kind {
        Kind::Initial => "initial",
        Kind::ZeroRtt => "0RTT",
        Kind::Handshake => "handshake",
        Kind::Retry => "retry",
        Kind::OneRtt => "1RTT",
        Kind::StatelessReset => "stateless_reset",
    }
}

/// The form of the packets of one endpoint.
pub(super) struct Form<'a> {
    pub(super) schema: Schema,
    pub(super) spec: &'a SessionSpec,
    pub(super) sender: Side,
}

impl Form<'_> {
    /// Adds header, frames and length of a packet.
    pub(super) fn packet(&self, data: &mut Object<'_>, view: &PartView<'_>) {
        let part = view.part;
        data.object("header", |header| {
            header.text("packet_type", packet_type(part.kind));
            if part.kind.space().is_some() {
                header.number("packet_number", part.number);
            }
            if part.token > 0 {
                header.object("token", |token| self.length(token, part.token.into()));
            }
            if self.schema == Schema::Current && part.kind == Kind::OneRtt {
                header.flag("spin_bit", part.spin);
                header.flag("key_phase_bit", part.key_phase);
            }
        });
        let exponent = match part.kind {
            Kind::OneRtt => self.spec.parameters(self.sender).ack_delay_exponent,
            _ => DEFAULT_EXPONENT,
        };
        let ack = part.ack.map(|ack| Item::Ack(ack, exponent));
        let frames = ack.into_iter().chain(view.frames.iter().map(Item::Frame));
        data.list("frames", frames, |out, item| {
            Object::write(out, |object| match item {
                Item::Ack(ack, exponent) => write_ack(object, &ack, view.ranges, exponent),
                Item::Frame(frame) => self.frame(object, frame),
            });
        });
        data.object("raw", |raw| {
            raw.number("length", part.size.into());
            raw.number("payload_length", view.payload());
        });
    }

    /// Adds the length of data; nothing else is known of it.
    fn length(&self, object: &mut Object<'_>, len: u64) {
        match self.schema {
            Schema::V03 => object.number("length", len),
            Schema::Current => object.object("raw", |raw| raw.number("length", len)),
        }
    }

    /// Adds the lengths of a frame with `len` bytes of data.
    fn data(&self, object: &mut Object<'_>, frame: &Frame, len: u16) {
        match self.schema {
            Schema::V03 => object.number("length", len.into()),
            Schema::Current => object.object("raw", |raw| {
                raw.number("length", frame.size());
                raw.number("payload_length", len.into());
            }),
        }
    }

    /// Adds an error code.
    fn code(&self, object: &mut Object<'_>, code: u64) {
        if self.schema == Schema::Current {
            object.text("error", "unknown");
        }
        object.number("error_code", code);
    }

    fn frame(&self, object: &mut Object<'_>, frame: &Frame) {
        object.text("frame_type", name(frame));
        match *frame {
            Frame::Ping | Frame::HandshakeDone | Frame::ImmediateAck => {}
            Frame::Padding(count) => {
                if self.schema == Schema::V03 {
                    object.number("payload_length", count.into());
                }
                self.length(object, count.into());
            }
            Frame::ResetStream { stream, code, final_size } => {
                object.number("stream_id", stream);
                self.code(object, code);
                object.number("final_size", final_size);
            }
            Frame::StopSending { stream, code } => {
                object.number("stream_id", stream);
                self.code(object, code);
            }
            Frame::Crypto { offset, len } => {
                object.number("offset", offset);
                self.data(object, frame, len);
            }
            Frame::NewToken(len) => object.object("token", |token| self.length(token, len.into())),
            Frame::Stream { stream, offset, len, fin, .. } => {
                object.number("stream_id", stream);
                object.number("offset", offset);
                self.data(object, frame, len);
                if fin {
                    object.flag("fin", true);
                }
            }
            Frame::MaxData(maximum) => object.number("maximum", maximum),
            Frame::MaxStreamData { stream, limit } => {
                object.number("stream_id", stream);
                object.number("maximum", limit);
            }
            Frame::MaxStreams(direction, maximum) => {
                object.text("stream_type", stream_type(direction));
                object.number("maximum", maximum);
            }
            Frame::DataBlocked(limit) => object.number("limit", limit),
            Frame::StreamDataBlocked { stream, limit } => {
                object.number("stream_id", stream);
                object.number("limit", limit);
            }
            Frame::StreamsBlocked(direction, limit) => {
                object.text("stream_type", stream_type(direction));
                object.number("limit", limit);
            }
            Frame::NewConnectionId { sequence, retire_prior, len } => {
                object.number("sequence_number", sequence);
                object.number("retire_prior_to", retire_prior);
                self.connection_id(object, sequence, len);
            }
            Frame::RetireConnectionId(sequence) => object.number("sequence_number", sequence),
            Frame::PathChallenge(data) | Frame::PathResponse(data) => {
                object.text("data", &hexadecimal(&data.to_be_bytes()));
            }
            Frame::Close { code, frame_type, .. } => {
                object.text("error_space", "transport");
                self.code(object, code);
                if frame_type > 0 {
                    object.number("trigger_frame_type", frame_type);
                }
            }
            Frame::ApplicationClose { code, .. } => {
                object.text("error_space", "application");
                self.code(object, code);
            }
            Frame::Datagram { len, .. } => self.data(object, frame, len),
            Frame::AckFrequency { sequence, threshold, max_delay_us, reordering } => {
                object.number("sequence_number", sequence);
                object.number("ack_eliciting_threshold", threshold);
                object.number("requested_max_ack_delay", max_delay_us);
                object.number("reordering_threshold", reordering);
            }
        }
    }

    fn connection_id(&self, object: &mut Object<'_>, sequence: u64, len: u8) {
        let role = Role::of(self.sender);
        let token = hexadecimal(&reset_token(self.spec.connection, role, sequence));
        let id = ConnectionId::new(self.spec.connection, role, sequence, len);
        object.number("connection_id_length", len.into());
        object.text("connection_id", &hexadecimal(id.as_slice()));
        match self.schema {
            Schema::V03 => object.object("stateless_reset_token", |object| object.text("data", &token)),
            Schema::Current => object.text("stateless_reset_token", &token),
        }
    }
}

/// A frame in a packet. ACK is the first.
enum Item<'a> {
    /// With the exponent of its delay.
    Ack(AckHeader, u8),
    Frame(&'a Frame),
}

fn write_ack(object: &mut Object<'_>, ack: &AckHeader, ranges: &[Range], exponent: u8) {
    object.text("frame_type", "ack");
    let nanos = (u128::from(ack.delay) * 1_000) << exponent;
    object.millis("ack_delay", Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)));
    object.list("acked_ranges", ranges.iter().rev(), |out, range| {
        let last = range.end - 1;
        let _ = if range.start == last { write!(out, "[{last}]") } else { write!(out, "[{},{last}]", range.start) };
    });
    if let Some(counts) = ack.ecn {
        object.number("ect0", counts.ect0);
        object.number("ect1", counts.ect1);
        object.number("ce", counts.ce);
    }
}

fn stream_type(direction: Direction) -> &'static str {
    match direction {
        Direction::Bidirectional => "bidirectional",
        Direction::Unidirectional => "unidirectional",
    }
}

fn name(frame: &Frame) -> &'static str {
    match frame {
        Frame::Padding(_) => "padding",
        Frame::Ping => "ping",
        Frame::ResetStream { .. } => "reset_stream",
        Frame::StopSending { .. } => "stop_sending",
        Frame::Crypto { .. } => "crypto",
        Frame::NewToken(_) => "new_token",
        Frame::Stream { .. } => "stream",
        Frame::MaxData(_) => "max_data",
        Frame::MaxStreamData { .. } => "max_stream_data",
        Frame::MaxStreams(..) => "max_streams",
        Frame::DataBlocked(_) => "data_blocked",
        Frame::StreamDataBlocked { .. } => "stream_data_blocked",
        Frame::StreamsBlocked(..) => "streams_blocked",
        Frame::NewConnectionId { .. } => "new_connection_id",
        Frame::RetireConnectionId(_) => "retire_connection_id",
        Frame::PathChallenge(_) => "path_challenge",
        Frame::PathResponse(_) => "path_response",
        Frame::Close { .. } | Frame::ApplicationClose { .. } => "connection_close",
        Frame::HandshakeDone => "handshake_done",
        Frame::Datagram { .. } => "datagram",
        Frame::AckFrequency { .. } => "ack_frequency",
        Frame::ImmediateAck => "immediate_ack",
    }
}
