//! The bytes of datagrams, for captures: headers and frames as in RFC 9000 §17 and §19, and of RFC 9369 for version 2.
//!
//! Keys are null: headers are not protected, frames are readable, and the authentication tag is 16 zero bytes. Stream
//! data, handshake messages, tokens and reasons are zeros, because payload is counted, not carried.

use crate::contents::{Contents, Part, PartView, TAG};
use crate::frame::{AckHeader, Direction, EcnCounts, Frame, RESET_TOKEN};
use crate::kind::{Kind, SpaceId};
use crate::number;
use crate::ranges::Range;
use crate::varint;
use std::fmt;

/// QUIC versions that lightlag writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Version {
    /// Version 1 (RFC 9000).
    #[default]
    One,
    /// Version 2 (RFC 9369), whose long headers have other type bits.
    Two,
}

impl Version {
    /// Returns the number in long headers.
    pub fn number(self) -> u32 {
        match self {
            Self::One => 1,
            Self::Two => 0x6b33_43cf,
        }
    }

    /// Returns the packet types in the order of their type bits, 0 to 3.
    fn types(self) -> [Kind; 4] {
        match self {
            Self::One => [Kind::Initial, Kind::ZeroRtt, Kind::Handshake, Kind::Retry],
            Self::Two => [Kind::Retry, Kind::Initial, Kind::ZeroRtt, Kind::Handshake],
        }
    }
}

/// The connection IDs and the version of one direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ids<'a> {
    /// Destination connection ID, 0 to 20 bytes.
    pub destination: &'a [u8],
    /// Source connection ID, 0 to 20 bytes.
    pub source: &'a [u8],
    /// Version in long headers.
    pub version: Version,
}

/// Error of [`decode`]: the position of the byte that cannot be understood, and the reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DecodeError {
    /// Index of the byte in the datagram.
    pub position: usize,
    /// Reason.
    pub reason: &'static str,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {} of the datagram: {}", self.position, self.reason)
    }
}

impl std::error::Error for DecodeError {}

/// Appends the bytes of a datagram to `out`.
///
/// # Panics
/// If a part does not have the size that its header and its frames take.
pub fn encode(out: &mut Vec<u8>, contents: &Contents, ids: &Ids<'_>) {
    for view in contents.iter() {
        let start = out.len();
        write_part(out, &view, ids);
        assert_eq!(out.len() - start, usize::from(view.part.size), "size of {:?}", view.part);
    }
}

fn write_part(out: &mut Vec<u8>, view: &PartView<'_>, ids: &Ids<'_>) {
    let part = view.part;
    let payload = view.payload();
    match part.kind {
        Kind::StatelessReset => {
            out.push(0x40);
            zeros(out, u64::from(part.size) - 1);
            return;
        }
        Kind::OneRtt => {
            let short = 1 + ids.destination.len() as u64 + payload + TAG;
            let len = if part.number_len > 0 { part.number_len } else { (u64::from(part.size) - short) as u8 };
            let bits = u8::from(part.spin) << 5 | u8::from(part.key_phase) << 2 | (len - 1);
            out.push(0x40 | bits);
            out.extend(ids.destination);
            write_number(out, part.number, len);
        }
        kind => {
            let bits = ids.version.types().iter().position(|known| *known == kind).expect("a long header") as u8;
            out.push(0xc0 | bits << 4 | part.number_len.saturating_sub(1));
            out.extend(ids.version.number().to_be_bytes());
            for id in [ids.destination, ids.source] {
                out.push(id.len() as u8);
                out.extend(id);
            }
            if kind == Kind::Retry {
                zeros(out, u64::from(part.token) + TAG);
                return;
            }
            if kind == Kind::Initial {
                varint::write(out, part.token.into());
                zeros(out, part.token.into());
            }
            varint::write_two_bytes(out, u64::from(part.number_len) + payload + TAG);
            write_number(out, part.number, part.number_len);
        }
    }
    if let Some(ack) = &part.ack {
        write_ack(out, ack, view.ranges);
    }
    for frame in view.frames {
        write_frame(out, frame);
    }
    zeros(out, TAG);
}

fn zeros(out: &mut Vec<u8>, count: u64) {
    out.resize(out.len() + count as usize, 0);
}

fn write_number(out: &mut Vec<u8>, number: u64, len: u8) {
    out.extend(&number.to_be_bytes()[8 - usize::from(len)..]);
}

fn write_ack(out: &mut Vec<u8>, ack: &AckHeader, ranges: &[Range]) {
    let Some((first, _)) = ranges.split_first() else { return };
    varint::write(out, if ack.ecn.is_some() { 3 } else { 2 });
    varint::write(out, first.end - 1);
    varint::write(out, ack.delay);
    varint::write(out, ranges.len() as u64 - 1);
    varint::write(out, first.len() - 1);
    for pair in ranges.windows(2) {
        varint::write(out, pair[0].start - pair[1].end - 1);
        varint::write(out, pair[1].len() - 1);
    }
    if let Some(ecn) = ack.ecn {
        [ecn.ect0, ecn.ect1, ecn.ce].into_iter().for_each(|count| varint::write(out, count));
    }
}

fn write_frame(out: &mut Vec<u8>, frame: &Frame) {
    if let Frame::Padding(count) = frame {
        return zeros(out, u64::from(*count));
    }
    varint::write(out, frame.type_code());
    let mut write = |values: &[u64]| values.iter().for_each(|value| varint::write(out, *value));
    match *frame {
        Frame::Padding(_) | Frame::Ping | Frame::HandshakeDone | Frame::ImmediateAck => {}
        Frame::ResetStream { stream, code, final_size } => write(&[stream, code, final_size]),
        Frame::StopSending { stream, code } => write(&[stream, code]),
        Frame::Crypto { offset, len } => {
            write(&[offset, len.into()]);
            zeros(out, len.into());
        }
        Frame::NewToken(len) => {
            write(&[len.into()]);
            zeros(out, len.into());
        }
        Frame::Stream { stream, offset, len, to_end, .. } => {
            write(&[stream]);
            if offset > 0 {
                varint::write(out, offset);
            }
            if !to_end {
                varint::write(out, len.into());
            }
            zeros(out, len.into());
        }
        Frame::MaxData(value)
        | Frame::MaxStreams(_, value)
        | Frame::DataBlocked(value)
        | Frame::StreamsBlocked(_, value)
        | Frame::RetireConnectionId(value) => write(&[value]),
        Frame::MaxStreamData { stream, limit } | Frame::StreamDataBlocked { stream, limit } => write(&[stream, limit]),
        Frame::NewConnectionId { sequence, retire_prior, len } => {
            write(&[sequence, retire_prior]);
            out.push(len);
            zeros(out, u64::from(len) + RESET_TOKEN);
        }
        Frame::PathChallenge(data) | Frame::PathResponse(data) => out.extend(data.to_be_bytes()),
        Frame::Close { code, frame_type, reason } => {
            write(&[code, frame_type, reason.into()]);
            zeros(out, reason.into());
        }
        Frame::ApplicationClose { code, reason } => {
            write(&[code, reason.into()]);
            zeros(out, reason.into());
        }
        Frame::Datagram { len, to_end, .. } => {
            if !to_end {
                varint::write(out, len.into());
            }
            zeros(out, len.into());
        }
        Frame::AckFrequency { sequence, threshold, max_delay_us, reordering } => {
            write(&[sequence, threshold, max_delay_us, reordering]);
        }
    }
}

/// The receiver's state that a datagram does not contain.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Context {
    /// Length of the receiver's connection ID, which short headers do not contain.
    pub id_len: usize,
    /// Largest packet number received in each space, to complete truncated numbers.
    pub largest: [Option<u64>; 3],
}

struct Reader<'a> {
    all: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn fail<T>(&self, reason: &'static str) -> Result<T, DecodeError> {
        Err(DecodeError { position: self.all.len() - self.rest.len(), reason })
    }

    fn take(&mut self, len: u64) -> Result<&'a [u8], DecodeError> {
        match usize::try_from(len).ok().and_then(|len| self.rest.split_at_checked(len)) {
            Some((head, rest)) => {
                self.rest = rest;
                Ok(head)
            }
            None => self.fail("the datagram ends inside a field"),
        }
    }

    fn byte(&mut self) -> Result<u8, DecodeError> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn integer(&mut self) -> Result<u64, DecodeError> {
        match varint::read(&mut self.rest) {
            Some(value) => Ok(value),
            None => self.fail("the datagram ends inside a variable-length integer"),
        }
    }

    fn fixed(&mut self, len: u64) -> Result<u64, DecodeError> {
        Ok(self.take(len)?.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    /// Reads a length and skips that many bytes.
    fn counted(&mut self) -> Result<u16, DecodeError> {
        let len = self.integer()?;
        self.take(len)?;
        u16::try_from(len).or_else(|_| self.fail("a field is longer than a datagram"))
    }
}

/// Parses a datagram with null keys.
///
/// # Errors
/// If a packet or a frame is malformed, or if its version or type is unknown.
pub fn decode(bytes: &[u8], context: &Context) -> Result<Contents, DecodeError> {
    let mut contents = Contents::default();
    let mut largest = context.largest;
    let mut reader = Reader { all: bytes, rest: bytes };
    while !reader.rest.is_empty() {
        read_part(&mut reader, &mut contents, context, &mut largest)?;
    }
    Ok(contents)
}

fn read_part(
    reader: &mut Reader<'_>,
    contents: &mut Contents,
    context: &Context,
    largest: &mut [Option<u64>; 3],
) -> Result<(), DecodeError> {
    let start = reader.rest.len();
    let first = reader.byte()?;
    if first & 0x40 == 0 {
        return reader.fail("the fixed bit is zero");
    }
    let number_len = (first & 3) + 1;
    let mut part = Part { number_len, ..Part::default() };
    let end = if first & 0x80 == 0 {
        reader.take(context.id_len as u64)?;
        part.spin = first & 0x20 != 0;
        part.key_phase = first & 0x04 != 0;
        reader.rest.len()
    } else {
        let version = match reader.fixed(4)? as u32 {
            1 => Version::One,
            0x6b33_43cf => Version::Two,
            _ => return reader.fail("an unknown version; known are 1 and 0x6b3343cf"),
        };
        for _ in 0..2 {
            let len = reader.byte()?;
            if len > 20 {
                return reader.fail("a connection ID has more than 20 bytes");
            }
            reader.take(len.into())?;
        }
        part.kind = version.types()[usize::from(first >> 4 & 3)];
        if part.kind == Kind::Retry {
            let token = (reader.rest.len() as u64).saturating_sub(TAG);
            part.token = token as u16;
            reader.take(token + TAG)?;
            part.number_len = 0;
            part.size = start as u16;
            contents.parts.push(part);
            return Ok(());
        }
        if part.kind == Kind::Initial {
            part.token = reader.counted()?;
        }
        reader.integer()? as usize
    };
    if end > reader.rest.len() || end < usize::from(number_len) + TAG as usize {
        return reader.fail("the length does not match the datagram");
    }
    let space = part.kind.space().unwrap_or(SpaceId::Application) as usize;
    let truncated = reader.fixed(number_len.into())?;
    part.number = number::expand(truncated, number_len, largest[space]);
    largest[space] = largest[space].max(Some(part.number));
    let behind = &reader.rest[end - usize::from(number_len) - TAG as usize..];
    let payload = &reader.rest[..reader.rest.len() - behind.len()];
    let mut inner = Reader { all: &reader.all[..reader.all.len() - behind.len()], rest: payload };
    read_frames(&mut inner, &mut part, contents)?;
    reader.rest = &behind[TAG as usize..];
    part.size = (start - reader.rest.len()) as u16;
    contents.parts.push(part);
    Ok(())
}

fn read_frames(reader: &mut Reader<'_>, part: &mut Part, contents: &mut Contents) -> Result<(), DecodeError> {
    let (frames, ranges) = (contents.frames.len(), contents.ranges.len());
    while let Some(first) = reader.rest.first() {
        if *first == 0 {
            let count = reader.rest.iter().take_while(|byte| **byte == 0).count();
            reader.take(count as u64)?;
            contents.frames.push(Frame::Padding(count as u16));
            continue;
        }
        match reader.integer()? {
            code @ 2..=3 => part.ack = Some(read_ack(reader, code == 3, &mut contents.ranges)?),
            code => {
                let frame = read_frame(reader, code)?;
                contents.frames.push(frame);
            }
        }
    }
    part.frames = (contents.frames.len() - frames) as u16;
    part.ranges = (contents.ranges.len() - ranges) as u16;
    Ok(())
}

fn read_ack(reader: &mut Reader<'_>, ecn: bool, ranges: &mut Vec<Range>) -> Result<AckHeader, DecodeError> {
    let largest = reader.integer()?;
    let delay = reader.integer()?;
    let count = reader.integer()?;
    let first = reader.integer()?;
    let Some(mut start) = largest.checked_sub(first) else { return reader.fail("an ACK range below zero") };
    ranges.push(Range { start, end: largest + 1 });
    for _ in 0..count {
        let (gap, len) = (reader.integer()?, reader.integer()?);
        let end = start.checked_sub(gap + 1);
        let Some((end, low)) = end.and_then(|end| Some((end, end.checked_sub(len + 1)?))) else {
            return reader.fail("an ACK range below zero");
        };
        start = low;
        ranges.push(Range { start, end });
    }
    let ecn = match ecn {
        true => Some(EcnCounts { ect0: reader.integer()?, ect1: reader.integer()?, ce: reader.integer()? }),
        false => None,
    };
    Ok(AckHeader { delay, ecn })
}

fn read_frame(reader: &mut Reader<'_>, code: u64) -> Result<Frame, DecodeError> {
    let direction = if code & 1 == 0 { Direction::Bidirectional } else { Direction::Unidirectional };
    Ok(match code {
        0x01 => Frame::Ping,
        0x04 => {
            Frame::ResetStream { stream: reader.integer()?, code: reader.integer()?, final_size: reader.integer()? }
        }
        0x05 => Frame::StopSending { stream: reader.integer()?, code: reader.integer()? },
        0x06 => Frame::Crypto { offset: reader.integer()?, len: reader.counted()? },
        0x07 => Frame::NewToken(reader.counted()?),
        0x08..=0x0f => {
            let stream = reader.integer()?;
            let offset = if code & 4 != 0 { reader.integer()? } else { 0 };
            let to_end = code & 2 == 0;
            let len = if to_end { rest_of(reader)? } else { reader.counted()? };
            Frame::Stream { stream, offset, len, fin: code & 1 != 0, to_end }
        }
        0x10 => Frame::MaxData(reader.integer()?),
        0x11 => Frame::MaxStreamData { stream: reader.integer()?, limit: reader.integer()? },
        0x12 | 0x13 => Frame::MaxStreams(direction, reader.integer()?),
        0x14 => Frame::DataBlocked(reader.integer()?),
        0x15 => Frame::StreamDataBlocked { stream: reader.integer()?, limit: reader.integer()? },
        0x16 | 0x17 => Frame::StreamsBlocked(direction, reader.integer()?),
        0x18 => {
            let (sequence, retire_prior, len) = (reader.integer()?, reader.integer()?, reader.byte()?);
            if !(1..=20).contains(&len) {
                return reader.fail("a connection ID of NEW_CONNECTION_ID has 1 to 20 bytes");
            }
            reader.take(u64::from(len) + RESET_TOKEN)?;
            Frame::NewConnectionId { sequence, retire_prior, len }
        }
        0x19 => Frame::RetireConnectionId(reader.integer()?),
        0x1a => Frame::PathChallenge(reader.fixed(8)?),
        0x1b => Frame::PathResponse(reader.fixed(8)?),
        0x1c => Frame::Close { code: reader.integer()?, frame_type: reader.integer()?, reason: reader.counted()? },
        0x1d => Frame::ApplicationClose { code: reader.integer()?, reason: reader.counted()? },
        0x1e => Frame::HandshakeDone,
        0x1f => Frame::ImmediateAck,
        0x30 => Frame::Datagram { tag: 0, len: rest_of(reader)?, to_end: true },
        0x31 => Frame::Datagram { tag: 0, len: reader.counted()?, to_end: false },
        0xaf => Frame::AckFrequency {
            sequence: reader.integer()?,
            threshold: reader.integer()?,
            max_delay_us: reader.integer()?,
            reordering: reader.integer()?,
        },
        _ => return reader.fail("an unknown frame type"),
    })
}

/// Skips the data up to the end of the packet, and returns its length.
fn rest_of(reader: &mut Reader<'_>) -> Result<u16, DecodeError> {
    let len = reader.rest.len();
    reader.take(len as u64)?;
    Ok(len as u16)
}

#[cfg(test)]
mod tests;
