//! Compressed headers of SCPS-TP, used on a connection once both ends know each other's connection id.
//!
//! ```text
//! id 1 | control 1 | control 1, if MORE | urgent pointer 2 | window 2, ACK 4 | sequence number 4
//!      | TSval 4, TSecr 4 | length 1, options | padding 1 | checksum 2
//! ```
//!
//! The layout is that of MITRE's reference implementation; the text of the Blue Book was not available to us. One byte,
//! the id that the sender chose in its SYN, replaces both ports. Fields that the control bits do not announce are
//! absent. NOPs are left out, timestamps and the record boundary are bits, other options are copied. The whole length
//! is even: a byte of padding, or an otherwise unneeded second control byte, makes up for an odd one. No packet refers
//! to another, so a lost packet causes no misreading.
//!
//! Data carries no ACK and no window. Segments without data carry both, and have a sequence number only if that is not
//! the sender's next one: a FIN, a reset, a probe [ours; the reference implementation leaves out a number that its last
//! packet had].

use super::{Flags, HAS_SPACE, HAS_TIMESTAMPS, Segment, SeqNumber, Timestamps};

/// There is a second control byte.
pub const MORE: u8 = 0x80;
/// Timestamps.
pub const TIME: u8 = 0x40;
/// A record of the application ends here.
pub const RECORD: u8 = 0x20;
/// PSH.
pub const PUSH: u8 = 0x10;
/// A sequence number.
pub const SEQUENCE: u8 = 0x08;
/// A window and an acknowledgement number.
pub const ACKNOWLEDGES: u8 = 0x04;

/// In the second control byte: the acknowledgement number is invalid.
pub const NO_ACK: u8 = 0x80;
/// In the second control byte: other options.
pub const OPTIONS: u8 = 0x40;
/// In the second control byte: a byte of padding.
pub const PAD: u8 = 0x20;
/// In the second control byte: an urgent pointer.
pub const URGENT: u8 = 0x10;
/// In the second control byte: RST.
pub const RESET: u8 = 0x08;
/// In the second control byte: SYN, which is never in a compressed header.
pub const OPENS: u8 = 0x04;
/// In the second control byte: FIN.
pub const FINISH: u8 = 0x02;

/// Bytes of id and first control byte, and of the checksum at the end.
const FIXED: u32 = 4;

impl Segment {
    /// Whether its header is compressed.
    #[inline]
    pub fn is_compressed(&self) -> bool {
        self.flags.has(Flags::COMPRESSED)
    }

    /// The connection id in a compressed header, which is the sender's. 0 in any other.
    pub fn connection_id(&self) -> u8 {
        if self.is_compressed() { self.mss as u8 } else { 0 }
    }

    /// Whether the header has a sequence number.
    pub fn is_numbered(&self) -> bool {
        !self.flags.has(Flags::UNNUMBERED)
    }

    /// A segment with arbitrary numbers, with the options that nearly all segments of a connection have.
    pub(crate) fn usual(len: u16, flags: Flags, timestamps: bool) -> Self {
        let mut segment = Self::new(SeqNumber::default(), SeqNumber::default(), 0, flags);
        segment.len = len;
        if timestamps { segment.with_timestamps(Timestamps::default()) } else { segment }
    }

    /// Whether all its control bits have a place in a compressed header: SYN, ECN and low priority have none.
    pub fn fits_compressed_header(&self) -> bool {
        let fits = Flags::FIN.with(Flags::RST).with(Flags::PSH).with(Flags::ACK);
        self.flags.0 & !fits.0 == 0
    }

    /// The segment with the compressed header that its sender writes. Data loses its ACK and its window; a segment
    /// without data, FIN or RST loses its sequence number unless it is `numbered`.
    ///
    /// # Panics
    /// If it has a bit without a place in a compressed header, or the id is 0.
    #[must_use]
    pub fn compressed(mut self, id: u8, numbered: bool) -> Self {
        if self.len > 0 {
            self.flags = Flags(self.flags.0 & !Flags::ACK.0);
            (self.ack, self.window) = (SeqNumber::default(), 0);
        }
        let numbered = numbered || self.len > 0 || self.flags.has_any(Flags::FIN.with(Flags::RST));
        self.with_compressed_header(id, numbered)
    }

    /// The segment with a compressed header of all its fields, with a sequence number or without.
    ///
    /// # Panics
    /// As [`Self::compressed`].
    #[must_use]
    pub fn with_compressed_header(mut self, id: u8, numbered: bool) -> Self {
        assert!(id != 0 && self.fits_compressed_header(), "{self:?} with id {id} has no place in a compressed header");
        self.flags = self.flags.with(Flags::COMPRESSED);
        if !numbered {
            self.flags = self.flags.with(Flags::UNNUMBERED);
            self.seq = SeqNumber::default();
        }
        self.mss = id.into();
        // Segments with few options keep their fast path.
        self.options |= HAS_SPACE;
        self
    }

    /// The segment with a plain header. A missing sequence number becomes 0, and so do acknowledgement number and
    /// window, without the flag ACK.
    #[must_use]
    pub fn restored(mut self) -> Self {
        self.flags = Flags(self.flags.0 & !Flags::COMPRESSED.with(Flags::UNNUMBERED).0);
        self.mss = 0;
        if self.space == 0 {
            self.options &= !HAS_SPACE;
        }
        self
    }

    /// Bytes of the compressed header.
    pub(super) fn compressed_len(&self) -> u32 {
        let [_, more] = self.controls();
        let options = match self.bare_options_len() {
            0 => 0,
            bytes => 1 + bytes,
        };
        let (window_and_ack, seq, stamps) = (
            if self.flags.has(Flags::ACK) { 6 } else { 0 },
            if self.is_numbered() { 4 } else { 0 },
            if self.options & HAS_TIMESTAMPS != 0 { 8 } else { 0 },
        );
        (FIXED + u32::from(more != 0) + window_and_ack + seq + stamps + options).next_multiple_of(2)
    }

    /// The control bytes, without [`MORE`] and [`PAD`].
    fn controls(&self) -> [u8; 2] {
        let bit = |is_there: bool, bit: u8| if is_there { bit } else { 0 };
        let reset = self.flags.has(Flags::RST);
        let acks = self.flags.has(Flags::ACK);
        [
            bit(self.options & HAS_TIMESTAMPS != 0, TIME)
                | bit(self.ends_record(), RECORD)
                | bit(self.flags.has(Flags::PSH), PUSH)
                | bit(self.is_numbered(), SEQUENCE)
                | bit(acks, ACKNOWLEDGES),
            bit(reset && !acks, NO_ACK)
                | bit(self.bare_options_len() > 0, OPTIONS)
                | bit(reset, RESET)
                | bit(self.flags.has(Flags::FIN), FINISH),
        ]
    }

    /// Bytes of the copied options.
    fn bare_options_len(&self) -> u32 {
        let blocks = match self.sack().len() as u32 {
            0 => 0,
            n => 2 + 8 * n,
        };
        blocks + self.report_len()
    }

    /// The compressed header as it follows the IP header, with the length of [`Segment::header_len`] and a checksum of
    /// 0 in its last two bytes.
    ///
    /// # Panics
    /// If it is not compressed.
    pub fn compressed_bytes(&self) -> Vec<u8> {
        assert!(self.is_compressed(), "{self:?} has a plain header");
        let len = self.compressed_len() as usize;
        let [first, mut second] = self.controls();
        let mut fields = Vec::with_capacity(len);
        if first & ACKNOWLEDGES != 0 {
            fields.extend(self.window.to_be_bytes());
            fields.extend(self.ack.0.to_be_bytes());
        }
        if first & SEQUENCE != 0 {
            fields.extend(self.seq.0.to_be_bytes());
        }
        if let Some(stamps) = self.timestamps() {
            fields.extend(stamps.value.to_be_bytes());
            fields.extend(stamps.echo.to_be_bytes());
        }
        if second & OPTIONS != 0 {
            fields.push(self.bare_options_len() as u8);
            self.write_blocks(&mut fields);
            self.write_report(&mut fields, false);
        }
        let mut bytes = Vec::with_capacity(len);
        bytes.extend([self.mss as u8, first]);
        let more = second != 0 || (FIXED as usize + fields.len()) % 2 == 1;
        if more {
            bytes[1] |= MORE;
            if (FIXED as usize + 1 + fields.len()) % 2 == 1 {
                second |= PAD;
                fields.push(0);
            }
            bytes.push(second);
        }
        bytes.append(&mut fields);
        bytes.extend([0; 2]);
        bytes
    }
}

#[cfg(test)]
mod tests;
