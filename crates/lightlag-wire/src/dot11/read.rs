//! Parses an 802.11 frame. Any bytes give a frame or an error.

use super::msdu::{RETRY, address, unpack};
use super::write::{ADDBA_REQUEST, ADDBA_RESPONSE, BLOCK_ACK_CATEGORY, COMPRESSED, IMMEDIATE, kind};
use super::{
    AckPolicy, ActionFrame, Agreement, FCS_LEN, Frame, FrameBody, FrameError, FrameHeader, Qos, Sequence, Tid, fcs,
};
use lightlag_core::Duration;

/// Parses the frame in these bytes; the last four are its frame check sequence.
///
/// # Errors
/// If the bytes are not a complete frame of a kind that [`Frame`] supports; see [`FrameError`].
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
        Ok(()) if frame.len() > needed => Err(FrameError::Unread("longer than its type allows")),
        other => other,
    };
    at_least(10)?;
    if frame[0] & 3 != 0 {
        return Err(FrameError::Version(frame[0] & 3));
    }
    // Only data and management frames have a number by which a copy is recognised.
    let flags = if frame[0] >> 2 & 3 == 1 { 0 } else { RETRY };
    if frame[1] & !flags != 0 {
        return Err(FrameError::Unread("not a frame of an ad hoc network, or has flags other than retry"));
    }
    let body = match frame[0] {
        kind::CTS | kind::ACK => {
            exactly(10)?;
            if frame[0] == kind::CTS { FrameBody::Cts } else { FrameBody::Ack }
        }
        kind::RTS => {
            exactly(16)?;
            FrameBody::Rts { transmitter: address(frame, 10) }
        }
        kind::BLOCK_ACK_REQUEST => {
            exactly(20)?;
            let (tid, start) = block(frame)?;
            FrameBody::BlockAckRequest { transmitter: address(frame, 10), tid, start }
        }
        kind::BLOCK_ACK => {
            exactly(28)?;
            let (tid, start) = block(frame)?;
            let bitmap = u64::from_le_bytes(frame[20..28].try_into().expect("eight bytes"));
            FrameBody::BlockAck { transmitter: address(frame, 10), tid, start, bitmap }
        }
        kind::DATA => {
            at_least(32)?;
            let (ethertype, payload) = unpack(&frame[24..], || truncated(32))?;
            FrameBody::Data { header: header(frame)?, qos: None, ethertype, payload }
        }
        kind::QOS_DATA => {
            at_least(34)?;
            let qos = qos([frame[24], frame[25]])?;
            let (ethertype, payload) = unpack(&frame[26..], || truncated(34))?;
            FrameBody::Data { header: header(frame)?, qos: Some(qos), ethertype, payload }
        }
        kind::ACTION => {
            exactly(33)?;
            let action = action(&frame[24..])?;
            FrameBody::Action { header: header(frame)?, action }
        }
        other => return Err(FrameError::Unknown { kind: other >> 2 & 3, subtype: other >> 4 }),
    };
    let duration = number(frame, 2);
    if duration > 0x7fff {
        return Err(FrameError::Unread("a frame whose duration field holds another value"));
    }
    Ok(Frame { duration: Duration::from_micros(u64::from(duration)), receiver: address(frame, 4), body })
}

fn number(bytes: &[u8], index: usize) -> u16 {
    u16::from_le_bytes([bytes[index], bytes[index + 1]])
}

fn header(frame: &[u8]) -> Result<FrameHeader, FrameError> {
    Ok(FrameHeader {
        transmitter: address(frame, 10),
        bssid: address(frame, 16),
        sequence: sequence(frame, 22)?,
        is_retry: frame[1] & RETRY != 0,
    })
}

fn sequence(bytes: &[u8], index: usize) -> Result<Sequence, FrameError> {
    match number(bytes, index) {
        control if control & 0xf == 0 => Ok(Sequence(control >> 4)),
        _ => Err(FrameError::Unread("a fragment")),
    }
}

fn block(frame: &[u8]) -> Result<(Tid, Sequence), FrameError> {
    let control = number(frame, 16);
    if control & 0x0fff != COMPRESSED {
        return Err(FrameError::Unread("an uncompressed block acknowledgement or request for one"));
    }
    Ok((Tid((control >> 12) as u8), sequence(frame, 18)?))
}

fn qos(control: [u8; 2]) -> Result<Qos, FrameError> {
    if control[0] & 0x90 != 0 || control[1] != 0 {
        return Err(FrameError::Unread("an A-MSDU, or has fields for power saving or mesh networks"));
    }
    let ack = match control[0] >> 5 & 3 {
        0 => AckPolicy::Normal,
        1 => AckPolicy::No,
        2 => AckPolicy::Other,
        _ => AckPolicy::Block,
    };
    Ok(Qos { tid: Tid(control[0] & 0xf), ack })
}

/// Parses an action frame from a body of at least nine bytes.
fn action(body: &[u8]) -> Result<ActionFrame, FrameError> {
    let agreement = |at: usize| {
        let terms = number(body, at);
        if terms & 3 != IMMEDIATE {
            return Err(FrameError::Unread("an ADDBA frame for A-MSDUs or delayed block acknowledgement"));
        }
        Ok(Agreement { tid: Tid((terms >> 2 & 0xf) as u8), buffer: terms >> 6, timeout: number(body, at + 2) })
    };
    match body[..3] {
        [BLOCK_ACK_CATEGORY, ADDBA_REQUEST, token] => {
            Ok(ActionFrame::Request { token, agreement: agreement(3)?, start: sequence(body, 7)? })
        }
        [BLOCK_ACK_CATEGORY, ADDBA_RESPONSE, token] => {
            Ok(ActionFrame::Response { token, status: number(body, 3), agreement: agreement(5)? })
        }
        _ => Err(FrameError::Unread("an action other than an ADDBA request or response")),
    }
}
