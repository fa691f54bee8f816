//! Assembly of the datagrams of a flight, with the limits of aioquic 1.2.0.
//!
//! A frame is written if its upper limit fits in the datagram and, unless it is an ACK, in the rest of the window. The
//! first frame that does not fit ends the flight, not only the packet. Packet numbers and lengths have two bytes.

use crate::contents::{Contents, HeaderLengths, Part, TAG};
use crate::frame::{AckHeader, Frame, ack_size};
use crate::kind::Kind;
use crate::ranges::Range;

/// Minimum space in a datagram for another packet.
const MIN_ROOM: i64 = 128;
/// Minimum bytes of packet number and frames, which header protection needs (RFC 9001 §5.4.2); bytes of the number.
const SAMPLE: i64 = 4;
pub(super) const NUMBER: u8 = 2;
const AEAD: i64 = TAG as i64;

/// The end of a flight: a frame does not fit.
pub(super) struct Full;

/// A packet that is being written.
struct Open {
    kind: Kind,
    token: u16,
    header: i64,
    start: i64,
    first_frame: usize,
    first_range: usize,
    ack: Option<AckHeader>,
}

/// A datagram, and the number of zeros after its packets.
pub(super) struct Datagram {
    pub(super) contents: Contents,
    pub(super) tail: u16,
}

/// The datagrams of a flight.
pub(super) struct Builder {
    is_client: bool,
    spin: bool,
    /// Bytes that the window and the amplification limit permit.
    pub(super) max_flight: i64,
    pub(super) max_total: Option<i64>,
    pub(super) number: u64,
    capacity: i64,
    flight_capacity: i64,
    /// Bytes of all datagrams, those in flight, and those in flight of the current datagram.
    total: i64,
    flight: i64,
    datagram_flight: i64,
    starts_datagram: bool,
    pads: bool,
    /// Bytes written to the current datagram.
    len: i64,
    contents: Contents,
    open: Option<Open>,
    pub(super) datagrams: Vec<Datagram>,
}

impl Builder {
    pub(super) fn new(is_client: bool, spin: bool, datagram: u16, number: u64, max_flight: i64) -> Self {
        let size = i64::from(datagram);
        Self {
            is_client,
            spin,
            max_flight,
            max_total: None,
            number,
            capacity: size,
            flight_capacity: size,
            total: 0,
            flight: 0,
            datagram_flight: 0,
            starts_datagram: true,
            pads: false,
            len: 0,
            contents: Contents::default(),
            open: None,
            datagrams: Vec::new(),
        }
    }

    /// Starts a packet, and ends the last one.
    pub(super) fn start(&mut self, kind: Kind, lengths: HeaderLengths) -> Result<(), Full> {
        self.end_packet();
        if self.capacity - self.len < MIN_ROOM {
            self.end_datagram();
        }
        if self.starts_datagram {
            if let Some(max) = self.max_total {
                self.capacity = self.capacity.min(max - self.total);
            }
            self.flight_capacity = self.capacity.min(self.max_flight - self.flight);
            (self.datagram_flight, self.starts_datagram, self.pads) = (0, false, false);
        }
        let header = lengths.header(kind, NUMBER) as i64;
        if self.len + header >= self.capacity {
            return Err(Full);
        }
        let (first_frame, first_range) = (self.contents.frames.len(), self.contents.ranges.len());
        let token = if kind == Kind::Initial { lengths.token } else { 0 };
        self.open = Some(Open { kind, token, header, start: self.len, first_frame, first_range, ack: None });
        self.len += header;
        Ok(())
    }

    /// Returns true if the packet has no frame.
    pub(super) fn is_empty(&self) -> bool {
        self.open.as_ref().is_none_or(|open| self.len - open.start <= open.header)
    }

    /// Returns the bytes that the window leaves in the datagram.
    pub(super) fn flight_space(&self) -> i64 {
        self.flight_capacity - self.len - AEAD
    }

    /// Returns the bytes that are left in the datagram.
    pub(super) fn space(&self) -> i64 {
        self.capacity - self.len - AEAD
    }

    /// Appends a frame of `size` bytes for which `needed` bytes must be free. The difference to the minimum size of the
    /// frame, a byte of its length, is written as padding.
    pub(super) fn frame(&mut self, frame: Frame, needed: i64, size: i64) -> Result<(), Full> {
        if self.space() < needed || self.flight_space() < needed {
            return Err(Full);
        }
        let longer = size - frame.size() as i64;
        self.contents.frames.push(frame);
        if longer > 0 {
            self.contents.frames.push(Frame::Padding(longer as u16));
        }
        self.len += size;
        Ok(())
    }

    /// Appends an ACK frame of `size` bytes for which `needed` bytes must be free. The lowest ranges are left out if
    /// there is no space for them.
    pub(super) fn ack(&mut self, header: AckHeader, ranges: &[Range], size: u64, needed: i64) -> Result<(), Full> {
        if self.space() < needed {
            return Err(Full);
        }
        let first = self.contents.ranges.len();
        self.contents.ranges.extend(ranges.iter().rev());
        let mut size = size as i64;
        while size > self.space() {
            self.contents.ranges.pop();
            size = ack_size(&header, &self.contents.ranges[first..]) as i64;
        }
        if let Some(open) = &mut self.open {
            open.ack = Some(header);
        }
        self.len += size;
        Ok(())
    }

    fn end_packet(&mut self) {
        let Some(open) = self.open.take() else { return };
        let mut size = self.len - open.start;
        if size <= open.header {
            self.len = open.start;
            return;
        }
        let frames = &self.contents.frames[open.first_frame..];
        let is_eliciting = frames.iter().any(Frame::is_eliciting);
        let mut padding = SAMPLE - i64::from(NUMBER) + open.header - size;
        self.pads |= open.kind == Kind::Initial && (self.is_client || is_eliciting);
        if self.pads && open.kind == Kind::OneRtt {
            padding = padding.max(self.flight_space());
            self.pads = false;
        }
        if padding > 0 {
            self.contents.frames.push(Frame::Padding(padding as u16));
            self.len += padding;
            size += padding;
        }
        self.len += AEAD;
        size += AEAD;
        let frames = (self.contents.frames.len() - open.first_frame) as u16;
        self.contents.parts.push(Part {
            kind: open.kind,
            number: self.number,
            number_len: NUMBER,
            spin: self.spin && open.kind == Kind::OneRtt,
            size: size as u16,
            token: open.token,
            ack: open.ack,
            frames,
            ranges: (self.contents.ranges.len() - open.first_range) as u16,
            ..Part::default()
        });
        self.number += 1;
        if frames > 0 {
            self.datagram_flight += size;
        }
        if open.kind == Kind::OneRtt {
            self.end_datagram();
        }
    }

    fn end_datagram(&mut self) {
        if self.len == 0 {
            return;
        }
        let tail = if self.pads { (self.flight_capacity - self.len).max(0) } else { 0 };
        self.datagram_flight += tail;
        self.flight += self.datagram_flight;
        self.total += self.len + tail;
        (self.len, self.starts_datagram) = (0, true);
        self.datagrams.push(Datagram { contents: std::mem::take(&mut self.contents), tail: tail as u16 });
    }

    /// Ends the flight.
    pub(super) fn finish(&mut self) {
        self.end_packet();
        self.end_datagram();
    }
}
