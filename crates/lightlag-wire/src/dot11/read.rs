//! Turns any bytes into a frame, or an error.

use super::msdu::{RETRY, address, unpack};
use super::write::{ADDBA_REQUEST, ADDBA_RESPONSE, BLOCK_ACK_CATEGORY, COMPRESSED, IMMEDIATE, kind};
use super::{AckPolicy, Action, Agreement, Body, FCS_LEN, Frame, FrameError, Header, Qos, Sequence, Tid, fcs};
use lightlag_core::Duration;

/// The frame in these bytes, of which the last four are its frame check sequence.
///
/// # Errors
/// If the bytes are no whole frame of an ad hoc network of a kind that a [`Frame`] holds; see [`FrameError`].
pub fn decode(bytes: &[u8]) -> Result<Frame<'_>, FrameError> {
    let Some((frame, sum)) = bytes.split_last_chunk::<FCS_LEN>() else {
        return Err(FrameError::Truncated { needed: 14, present: bytes.len() });
    };
    let (found, right) = (u32::from_le_bytes(*sum), fcs(frame));
    if found != right {
        return Err(FrameError::BadFcs { found, right });
    }
    let truncated = |needed| FrameError::Truncated { needed: needed + FCS_LEN, present: bytes.len() };
    let at_least = |needed| if frame.len() < needed { Err(truncated(needed)) } else { Ok(()) };
    let exactly = |needed| match at_least(needed) {
        Ok(()) if frame.len() > needed => Err(FrameError::Unread("longer than its kind")),
        other => other,
    };
    at_least(10)?;
    if frame[0] & 3 != 0 {
        return Err(FrameError::Version(frame[0] & 3));
    }
    // Only data and management frames have a number by which a copy is recognised.
    let flags = if frame[0] >> 2 & 3 == 1 { 0 } else { RETRY };
    if frame[1] & !flags != 0 {
        return Err(FrameError::Unread("not one of an ad hoc network alone, or has other flags than retry"));
    }
    let body = match frame[0] {
        kind::CTS | kind::ACK => {
            exactly(10)?;
            if frame[0] == kind::CTS { Body::Cts } else { Body::Ack }
        }
        kind::RTS => {
            exactly(16)?;
            Body::Rts { transmitter: address(frame, 10) }
        }
        kind::BLOCK_ACK_REQUEST => {
            exactly(20)?;
            let (tid, start) = block(frame)?;
            Body::BlockAckRequest { transmitter: address(frame, 10), tid, start }
        }
        kind::BLOCK_ACK => {
            exactly(28)?;
            let (tid, start) = block(frame)?;
            let bitmap = u64::from_le_bytes(frame[20..28].try_into().expect("eight bytes"));
            Body::BlockAck { transmitter: address(frame, 10), tid, start, bitmap }
        }
        kind::DATA => {
            at_least(32)?;
            let (ethertype, payload) = unpack(&frame[24..], || truncated(32))?;
            Body::Data { header: header(frame)?, qos: None, ethertype, payload }
        }
        kind::QOS_DATA => {
            at_least(34)?;
            let qos = qos([frame[24], frame[25]])?;
            let (ethertype, payload) = unpack(&frame[26..], || truncated(34))?;
            Body::Data { header: header(frame)?, qos: Some(qos), ethertype, payload }
        }
        kind::ACTION => {
            exactly(33)?;
            let action = action(&frame[24..])?;
            Body::Action { header: header(frame)?, action }
        }
        other => return Err(FrameError::Unknown { kind: other >> 2 & 3, subtype: other >> 4 }),
    };
    let duration = number(frame, 2);
    if duration > 0x7fff {
        return Err(FrameError::Unread("one with another value than a duration in that field"));
    }
    Ok(Frame { duration: Duration::from_micros(u64::from(duration)), receiver: address(frame, 4), body })
}

fn number(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn header(frame: &[u8]) -> Result<Header, FrameError> {
    Ok(Header {
        transmitter: address(frame, 10),
        bssid: address(frame, 16),
        sequence: sequence(frame, 22)?,
        is_retry: frame[1] & RETRY != 0,
    })
}

fn sequence(bytes: &[u8], at: usize) -> Result<Sequence, FrameError> {
    match number(bytes, at) {
        control if control & 0xf == 0 => Ok(Sequence(control >> 4)),
        _ => Err(FrameError::Unread("a fragment")),
    }
}

fn block(frame: &[u8]) -> Result<(Tid, Sequence), FrameError> {
    let control = number(frame, 16);
    if control & 0x0fff != COMPRESSED {
        return Err(FrameError::Unread("a block acknowledgement, or a request for one, that is not compressed"));
    }
    Ok((Tid((control >> 12) as u8), sequence(frame, 18)?))
}

fn qos(control: [u8; 2]) -> Result<Qos, FrameError> {
    if control[0] & 0x90 != 0 || control[1] != 0 {
        return Err(FrameError::Unread("an A-MSDU, or one with other fields of power saving or a mesh"));
    }
    let ack = match control[0] >> 5 & 3 {
        0 => AckPolicy::Normal,
        1 => AckPolicy::No,
        2 => AckPolicy::Other,
        _ => AckPolicy::Block,
    };
    Ok(Qos { tid: Tid(control[0] & 0xf), ack })
}

/// The action in at least nine bytes.
fn action(body: &[u8]) -> Result<Action, FrameError> {
    let agreement = |at: usize| {
        let terms = number(body, at);
        if terms & 3 != IMMEDIATE {
            return Err(FrameError::Unread("an agreement about A-MSDUs or delayed block acknowledgement"));
        }
        Ok(Agreement { tid: Tid((terms >> 2 & 0xf) as u8), buffer: terms >> 6, timeout: number(body, at + 2) })
    };
    match body[..3] {
        [BLOCK_ACK_CATEGORY, ADDBA_REQUEST, token] => {
            Ok(Action::Request { token, agreement: agreement(3)?, start: sequence(body, 7)? })
        }
        [BLOCK_ACK_CATEGORY, ADDBA_RESPONSE, token] => {
            Ok(Action::Response { token, status: number(body, 3), agreement: agreement(5)? })
        }
        _ => Err(FrameError::Unread("an action other than an ADDBA request or response")),
    }
}
