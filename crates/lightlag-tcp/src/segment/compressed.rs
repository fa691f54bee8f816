//! Compressed headers of SCPS-TP, used on a connection once both ends have each other's connection ID.
//!
//! ```text
//! id 1 | control 1 | control 1, if MORE | urgent pointer 2 | window 2, ACK 4 | sequence number 4
//!      | TSval 4, TSecr 4 | length 1, options | padding 1 | checksum 2
//! ```
//!
//! The layout follows MITRE's reference implementation; the text of the Blue Book was not available to us. One byte,
//! the ID that the sender chose in its SYN, replaces both ports. The header contains only the fields that the control
//! bits announce. NOPs are left out, timestamps and the record boundary are announced by bits, and other options are
//! copied. The total length is always even, if necessary because of a byte of padding or an otherwise unneeded second
//! control byte. No header refers to an earlier packet, so the loss of a packet does not affect later ones.
//!
//! Segments with data carry neither an ACK nor a window. Segments without data carry both, and have a sequence number
//! only if it is not the sender's next one, as in a FIN, a reset or a probe. This rule is ours: the reference
//! implementation leaves out the sequence number if its last packet had the same.

use super::{Flags, HAS_SPACE, HAS_TIMESTAMPS, Segment, SeqNumber, Timestamps};

/// A second control byte follows.
pub const MORE: u8 = 0x80;
/// The header has timestamps.
pub const TIME: u8 = 0x40;
/// The segment ends an application record.
pub const RECORD: u8 = 0x20;
/// PSH is set.
pub const PUSH: u8 = 0x10;
/// The header has a sequence number.
pub const SEQUENCE: u8 = 0x08;
/// The header has a window and an acknowledgement number.
pub const ACKNOWLEDGES: u8 = 0x04;

/// In the second control byte: the acknowledgement number is invalid.
pub const NO_ACK: u8 = 0x80;
/// In the second control byte: the header has other options.
pub const OPTIONS: u8 = 0x40;
/// In the second control byte: the header has a byte of padding.
pub const PAD: u8 = 0x20;
/// In the second control byte: the header has an urgent pointer.
pub const URGENT: u8 = 0x10;
/// In the second control byte: RST is set.
pub const RESET: u8 = 0x08;
/// In the second control byte: SYN is set, which never occurs in a compressed header.
pub const OPENS: u8 = 0x04;
/// In the second control byte: FIN is set.
pub const FINISH: u8 = 0x02;

/// Total size of the ID, the first control byte, and the checksum at the end, in bytes.
const FIXED: u32 = 4;

impl Segment {
    /// Returns true if the header is compressed.
    #[inline]
    pub fn is_compressed(&self) -> bool {
        self.flags.has(Flags::COMPRESSED)
    }

    /// Returns the connection ID in a compressed header, which its sender chose; 0 if the header is not compressed.
    pub fn connection_id(&self) -> u8 {
        if self.is_compressed() { self.mss as u8 } else { 0 }
    }

    /// Returns true if the header has a sequence number, as every uncompressed header has.
    pub fn is_numbered(&self) -> bool {
        !self.flags.has(Flags::UNNUMBERED)
    }

    /// Returns a segment with the options that nearly all segments of a connection have. Its sequence number,
    /// acknowledgement and window are 0.
    pub(crate) fn usual(len: u16, flags: Flags, timestamps: bool) -> Self {
        let mut segment = Self::new(SeqNumber::default(), SeqNumber::default(), 0, flags);
        segment.len = len;
        if timestamps { segment.with_timestamps(Timestamps::default()) } else { segment }
    }

    /// Returns true if a compressed header can carry all flags of this segment. It has no bits for SYN, ECN and low
    /// priority.
    pub fn fits_compressed_header(&self) -> bool {
        let fits = Flags::FIN.with(Flags::RST).with(Flags::PSH).with(Flags::ACK);
        self.flags.0 & !fits.0 == 0
    }

    /// Returns the segment with the compressed header that its sender writes. A segment with data loses its ACK and its
    /// window. A segment without data, FIN or RST loses its sequence number, unless `numbered` is true.
    ///
    /// # Panics
    /// If a compressed header cannot carry one of the flags, or the ID is 0.
    #[must_use]
    pub fn compressed(mut self, id: u8, numbered: bool) -> Self {
        if self.len > 0 {
            self.flags = Flags(self.flags.0 & !Flags::ACK.0);
            (self.ack, self.window) = (SeqNumber::default(), 0);
        }
        let numbered = numbered || self.len > 0 || self.flags.has_any(Flags::FIN.with(Flags::RST));
        self.with_compressed_header(id, numbered)
    }

    /// Returns the segment with a compressed header that has all of its fields. The sequence number is left out unless
    /// `numbered` is true.
    ///
    /// # Panics
    /// As [`Self::compressed`].
    #[must_use]
    pub fn with_compressed_header(mut self, id: u8, numbered: bool) -> Self {
        assert!(id != 0 && self.fits_compressed_header(), "{self:?} with id {id} does not fit a compressed header");
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

    /// Returns the segment with an uncompressed header. A missing sequence number is 0; if the flag ACK is missing, so
    /// are acknowledgement number and window.
    #[must_use]
    pub fn restored(mut self) -> Self {
        self.flags = Flags(self.flags.0 & !Flags::COMPRESSED.with(Flags::UNNUMBERED).0);
        self.mss = 0;
        if self.space == 0 {
            self.options &= !HAS_SPACE;
        }
        self
    }

    /// Returns the size of the compressed header in bytes.
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

    /// Returns the control bytes, still without the bits [`MORE`] and [`PAD`].
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

    /// Returns the size of the copied options in bytes.
    fn bare_options_len(&self) -> u32 {
        let blocks = match self.sack().len() as u32 {
            0 => 0,
            n => 2 + 8 * n,
        };
        blocks + self.report_len()
    }

    /// Returns the bytes of the compressed header, which follows the IP header. It has the length
    /// [`Segment::header_len`], and a checksum of 0 in its last two bytes.
    ///
    /// # Panics
    /// If the header is not compressed.
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
