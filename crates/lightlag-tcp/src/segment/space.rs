//! The options of SCPS-TP (CCSDS 714.0-B; kinds and lengths as registered with IANA and as public dissectors read them).
//!
//! | option | kind | length | value |
//! |---|---|---|---|
//! | capabilities | 20 | 4 | bitmap, connection id |
//! | SNACK | 21 | 6, or 6 + v | offset and size of a hole, 16 bits each; v bytes of bit vector |
//! | record boundary | 22 | 2 | |
//! | corruption experienced | 23 | 2 | |
//!
//! A segment keeps them in 16 bits. With the mark [`IS_OFFER`] they are the bitmap and the connection id of a SYN,
//! whose three reserved bits make room for the mark. Otherwise they hold the number of SNACK options and of vector
//! bytes in the place of the SACK blocks, and the two options without a value.
//!
//! Each is written after the last without padding, and NOPs fill the last word, so that 6 SNACK options fit into 40
//! bytes.

use super::accurate::IS_ECN_BYTES;
use super::{BLOCKS_MASK, BLOCKS_SHIFT, Flags, HAS_SPACE, Segment, SeqNumber};
use std::fmt;

pub(super) const CAPABILITIES: u8 = 20;
pub(super) const SNACK: u8 = 21;
pub(super) const RECORD_BOUNDARY: u8 = 22;
pub(super) const CORRUPTION: u8 = 23;

/// The most SNACK options: 6 bytes each in 40.
pub const MAX_SNACKS: usize = 6;
/// Bytes of bit vector that a segment has room for.
pub const MAX_VECTOR: usize = 20;

/// The value is an offer of capabilities; the mark is the lowest reserved bit of the bitmap.
const IS_OFFER: u16 = 0x0100;
/// The other reserved bits.
const BITMAP: u8 = 0xf8;

const HAS_CORRUPTION: u16 = 0x8000;
const HAS_BOUNDARY: u16 = 0x4000;
const SNACKS: u16 = 0x0007;
const VECTOR_SHIFT: u16 = 3;
const VECTOR: u16 = 0x001f;

/// The capabilities of one end of a connection (capabilities option).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Capabilities {
    /// One bit for each capability. The reserved ones, 0x07, are not kept.
    pub bitmap: u8,
    /// The id that replaces the ports in compressed headers; 0 without one.
    pub connection_id: u8,
}

impl Capabilities {
    /// Partial reliability (BETS).
    pub const BETS: u8 = 0x80;
    /// SNACK options without bit vector.
    pub const SNACK_SHORT: u8 = 0x40;
    /// SNACK options with bit vector.
    pub const SNACK_LONG: u8 = 0x20;
    /// Compressed headers.
    pub const COMPRESSION: u8 = 0x10;
    /// Timestamps of the network layer.
    pub const NETWORK_TIMESTAMPS: u8 = 0x08;
}

/// A SNACK option: a hole, in units of the reporting end's MSS without its usual options.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Snack {
    /// Distance from the acknowledgement number to the start of the hole, rounded down.
    pub offset: u16,
    /// Size of the hole, rounded up.
    pub size: u16,
}

impl Segment {
    /// The offer of a SYN, if it makes one.
    pub fn capabilities(&self) -> Option<Capabilities> {
        let [bitmap, connection_id] = self.space.to_be_bytes();
        self.offers().then_some(Capabilities { bitmap: bitmap & BITMAP, connection_id })
    }

    pub(super) fn offers(&self) -> bool {
        self.options & HAS_SPACE != 0 && self.space & IS_OFFER != 0
    }

    /// The bits without an offer.
    fn marks(&self) -> u16 {
        let is_ours = self.space & (IS_OFFER | IS_ECN_BYTES) == 0 && !self.flags.has(Flags::FAST_OPEN);
        if self.options & HAS_SPACE != 0 && is_ours { self.space } else { 0 }
    }

    /// Adds an offer. A segment with one has no other option of SCPS-TP.
    #[must_use]
    pub fn with_capabilities(mut self, offer: Capabilities) -> Self {
        self.options |= HAS_SPACE;
        self.space = u16::from_be_bytes([offer.bitmap & BITMAP, offer.connection_id]) | IS_OFFER;
        self
    }

    /// The SNACK options, in the order of the wire.
    pub fn snacks(&self) -> impl Iterator<Item = Snack> + '_ {
        let count = usize::from(self.marks() & SNACKS);
        self.numbers().take(count).map(|number| Snack { offset: (number >> 16) as u16, size: number as u16 })
    }

    /// The first of the SNACK options.
    pub fn snack(&self) -> Option<Snack> {
        self.snacks().next()
    }

    /// The bit vector of the SNACK option: its first bit, the highest of the first byte, is the block after the hole; 1
    /// means received. Empty without one; only one option can have it.
    pub fn snack_vector(&self) -> Vec<u8> {
        let count = usize::from(self.marks() >> VECTOR_SHIFT & VECTOR);
        self.numbers().skip(1).flat_map(u32::to_be_bytes).take(count).collect()
    }

    /// The place of three SACK blocks as numbers.
    fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        self.blocks[..3].iter().flat_map(|block| [block.start.0, block.end.0])
    }

    fn set_number(&mut self, at: usize, number: u32) {
        let block = &mut self.blocks[at / 2];
        *if at.is_multiple_of(2) { &mut block.start } else { &mut block.end } = SeqNumber(number);
    }

    /// Adds SNACK options: as many of `holes`, from the first on, as fit beside the other options. They use the place
    /// of SACK blocks, which the segment must not have.
    #[must_use]
    pub fn with_snacks(mut self, holes: &[Snack]) -> Self {
        assert!(self.can_report(), "SNACK options stand in the place of SACK blocks");
        let others = self.options_len() as usize;
        let count = holes.len().min(MAX_SNACKS).min(40_usize.saturating_sub(others) / 6);
        for (at, hole) in holes[..count].iter().enumerate() {
            self.set_number(at, u32::from(hole.offset) << 16 | u32::from(hole.size));
        }
        self.set_marks(self.marks() & !SNACKS | count as u16);
        self
    }

    /// Adds one SNACK option with a bit vector, of which at most [`MAX_VECTOR`] bytes are kept; the rest of the report
    /// is left open.
    #[must_use]
    pub fn with_snack_vector(mut self, hole: Snack, vector: &[u8]) -> Self {
        let room = 40_usize.saturating_sub(self.options_len() as usize + 6).min(MAX_VECTOR);
        self = self.with_snacks(&[hole]);
        let vector = &vector[..vector.len().min(room)];
        let used = vector.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        for (at, bytes) in vector[..used].chunks(4).enumerate() {
            let mut word = [0; 4];
            word[..bytes.len()].copy_from_slice(bytes);
            self.set_number(at + 1, u32::from_be_bytes(word));
        }
        self.set_marks(self.marks() & !(VECTOR << VECTOR_SHIFT) | (used as u16) << VECTOR_SHIFT);
        self
    }

    /// Whether there is a place for SNACK options, record boundaries and corruption.
    pub fn can_report(&self) -> bool {
        !self.offers() && self.options >> BLOCKS_SHIFT & BLOCKS_MASK == 0
    }

    /// The segment without its bit vector, or if it has none, without its last SNACK option.
    #[must_use]
    pub fn with_fewer_snacks(mut self) -> Self {
        let marks = self.marks();
        let has_vector = marks >> VECTOR_SHIFT & VECTOR != 0;
        let kept = if has_vector { marks & SNACKS } else { (marks & SNACKS).saturating_sub(1) };
        (usize::from(kept)..MAX_SNACKS).for_each(|at| self.set_number(at, 0));
        self.set_marks(marks & (HAS_CORRUPTION | HAS_BOUNDARY) | kept);
        self
    }

    /// Whether a record of the application ends with this segment.
    pub fn ends_record(&self) -> bool {
        self.marks() & HAS_BOUNDARY != 0
    }

    /// Adds the record boundary option.
    #[must_use]
    pub fn with_record_boundary(mut self) -> Self {
        assert!(!self.offers(), "an offer stands in that place");
        self.set_marks(self.marks() | HAS_BOUNDARY);
        self
    }

    /// Whether the sender of the segment reports corrupted packets on the way to it.
    pub fn experienced_corruption(&self) -> bool {
        self.marks() & HAS_CORRUPTION != 0
    }

    /// Adds the corruption experienced option.
    #[must_use]
    pub fn with_corruption(mut self) -> Self {
        assert!(!self.offers(), "an offer stands in that place");
        self.set_marks(self.marks() | HAS_CORRUPTION);
        self
    }

    fn set_marks(&mut self, marks: u16) {
        self.space = marks;
        if marks == 0 {
            self.options &= !HAS_SPACE;
        } else {
            self.options |= HAS_SPACE;
        }
    }

    /// Bytes of these options with their padding.
    pub(super) fn space_len(&self) -> u32 {
        if self.offers() {
            return 4;
        }
        (self.report_len() + if self.ends_record() { 2 } else { 0 }).next_multiple_of(4)
    }

    /// Bytes of the SNACK options and of corruption experienced, without padding.
    pub(super) fn report_len(&self) -> u32 {
        let marks = self.marks();
        let holes = u32::from(marks & SNACKS) * 6 + u32::from(marks >> VECTOR_SHIFT & VECTOR);
        holes + if marks & HAS_CORRUPTION != 0 { 2 } else { 0 }
    }

    /// Writes these options.
    pub(super) fn write_space(&self, bytes: &mut Vec<u8>) {
        if let Some(offer) = self.capabilities() {
            bytes.extend([CAPABILITIES, 4, offer.bitmap, offer.connection_id]);
        }
        self.write_report(bytes, self.ends_record());
        bytes.resize(bytes.len().next_multiple_of(4), 1);
    }

    /// Writes the SNACK options, a record `boundary` and corruption experienced, without padding.
    pub(super) fn write_report(&self, bytes: &mut Vec<u8>, boundary: bool) {
        let mut vector = self.snack_vector();
        for hole in self.snacks() {
            bytes.extend([SNACK, 6 + vector.len() as u8]);
            bytes.extend(hole.offset.to_be_bytes());
            bytes.extend(hole.size.to_be_bytes());
            bytes.append(&mut vector);
        }
        for (is_there, kind) in [(boundary, RECORD_BOUNDARY), (self.experienced_corruption(), CORRUPTION)] {
            if is_there {
                bytes.extend([kind, 2]);
            }
        }
    }

    pub(super) fn show_space(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(offer) = self.capabilities() {
            write!(f, " scps {:02x}:{}", offer.bitmap, offer.connection_id)?;
        }
        for hole in self.snacks() {
            write!(f, " snack {}+{}", hole.offset, hole.size)?;
        }
        for byte in self.snack_vector() {
            write!(f, " {byte:08b}")?;
        }
        for (is_there, name) in [(self.ends_record(), " record"), (self.experienced_corruption(), " corrupted")] {
            if is_there {
                f.write_str(name)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
