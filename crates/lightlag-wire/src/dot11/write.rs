//! Encodes 802.11 frames.

use super::msdu::{RETRY, SNAP};
use super::{AckPolicy, ActionFrame, Agreement, Frame, FrameBody, FrameHeader, Sequence, Tid, fcs};
use lightlag_core::Duration;

/// First byte of each kind of frame: subtype, type, and version 0 (table 9-1).
pub(super) mod kind {
    pub const ACTION: u8 = 0xd0;
    pub const BLOCK_ACK_REQUEST: u8 = 0x84;
    pub const BLOCK_ACK: u8 = 0x94;
    pub const RTS: u8 = 0xb4;
    pub const CTS: u8 = 0xc4;
    pub const ACK: u8 = 0xd4;
    pub const DATA: u8 = 0x08;
    pub const QOS_DATA: u8 = 0x88;
}

/// Category of action frames about block acknowledgement (table 9-51), and two of its actions (§9.6.4.1).
pub(super) const BLOCK_ACK_CATEGORY: u8 = 3;
pub(super) const ADDBA_REQUEST: u8 = 0;
pub(super) const ADDBA_RESPONSE: u8 = 1;

/// Value for the compressed variant in the control field of block acknowledgements and their requests (tables 9-28 and
/// 9-30).
pub(super) const COMPRESSED: u16 = 0x0004;

/// Bit for immediate acknowledgement in the block ack parameter set (§9.4.1.13).
pub(super) const IMMEDIATE: u16 = 0x0002;

/// Appends the bytes of `frame` with its frame check sequence to `out`.
///
/// # Panics
/// If the duration is above [`Frame::LONGEST`], or the buffer size of an agreement is above 1023 frames.
pub fn encode(out: &mut Vec<u8>, frame: &Frame<'_>) {
    let start = out.len();
    let (kind, is_retry) = match frame.body {
        FrameBody::Data { header, qos: None, .. } => (kind::DATA, header.is_retry),
        FrameBody::Data { header, qos: Some(_), .. } => (kind::QOS_DATA, header.is_retry),
        FrameBody::Action { header, .. } => (kind::ACTION, header.is_retry),
        FrameBody::Rts { .. } => (kind::RTS, false),
        FrameBody::Cts => (kind::CTS, false),
        FrameBody::Ack => (kind::ACK, false),
        FrameBody::BlockAckRequest { .. } => (kind::BLOCK_ACK_REQUEST, false),
        FrameBody::BlockAck { .. } => (kind::BLOCK_ACK, false),
    };
    out.extend_from_slice(&[kind, if is_retry { RETRY } else { 0 }]);
    out.extend_from_slice(&microseconds(frame.duration).to_le_bytes());
    out.extend_from_slice(&frame.receiver.0);
    match frame.body {
        FrameBody::Cts | FrameBody::Ack => {}
        FrameBody::Rts { transmitter } => out.extend_from_slice(&transmitter.0),
        FrameBody::BlockAckRequest { transmitter, tid, start } => {
            out.extend_from_slice(&transmitter.0);
            put_block(out, tid, start);
        }
        FrameBody::BlockAck { transmitter, tid, start, bitmap } => {
            out.extend_from_slice(&transmitter.0);
            put_block(out, tid, start);
            out.extend_from_slice(&bitmap.to_le_bytes());
        }
        FrameBody::Data { header, qos, ethertype, payload } => {
            put_header(out, &header);
            if let Some(qos) = qos {
                let ack = match qos.ack {
                    AckPolicy::Normal => 0,
                    AckPolicy::No => 1,
                    AckPolicy::Other => 2,
                    AckPolicy::Block => 3,
                };
                out.extend_from_slice(&[qos.tid.value() | ack << 5, 0]);
            }
            out.extend_from_slice(&SNAP);
            out.extend_from_slice(&ethertype.0.to_be_bytes());
            out.extend_from_slice(payload);
        }
        FrameBody::Action { header, action } => {
            put_header(out, &header);
            put_action(out, &action);
        }
    }
    let sum = fcs(&out[start..]);
    out.extend_from_slice(&sum.to_le_bytes());
}

/// Returns the value of the duration field: integer microseconds, rounded up (§9.2.5.1).
fn microseconds(duration: Duration) -> u16 {
    assert!(duration <= Frame::LONGEST, "{duration} is longer than the {} that a frame may reserve", Frame::LONGEST);
    duration.as_nanos().div_ceil(1_000) as u16
}

/// Appends the header fields after the first address, in the order of an ad hoc network (table 9-30).
fn put_header(out: &mut Vec<u8>, header: &FrameHeader) {
    out.extend_from_slice(&header.transmitter.0);
    out.extend_from_slice(&header.bssid.0);
    put_sequence(out, header.sequence);
}

/// Appends the sequence control field, with fragment number 0 (§9.2.4.4).
fn put_sequence(out: &mut Vec<u8>, sequence: Sequence) {
    out.extend_from_slice(&(sequence.value() << 4).to_le_bytes());
}

/// Appends the control field and the starting sequence number of a block acknowledgement or a request for one.
fn put_block(out: &mut Vec<u8>, tid: Tid, start: Sequence) {
    out.extend_from_slice(&(COMPRESSED | u16::from(tid.value()) << 12).to_le_bytes());
    put_sequence(out, start);
}

fn put_action(out: &mut Vec<u8>, action: &ActionFrame) {
    match *action {
        ActionFrame::Request { token, agreement, start } => {
            out.extend_from_slice(&[BLOCK_ACK_CATEGORY, ADDBA_REQUEST, token]);
            put_agreement(out, &agreement);
            put_sequence(out, start);
        }
        ActionFrame::Response { token, status, agreement } => {
            out.extend_from_slice(&[BLOCK_ACK_CATEGORY, ADDBA_RESPONSE, token]);
            out.extend_from_slice(&status.to_le_bytes());
            put_agreement(out, &agreement);
        }
    }
}

fn put_agreement(out: &mut Vec<u8>, agreement: &Agreement) {
    assert!(agreement.buffer < 1024, "a buffer of {} frames is larger than 1023", agreement.buffer);
    let terms = IMMEDIATE | u16::from(agreement.tid.value()) << 2 | agreement.buffer << 6;
    out.extend_from_slice(&terms.to_le_bytes());
    out.extend_from_slice(&agreement.timeout.to_le_bytes());
}
