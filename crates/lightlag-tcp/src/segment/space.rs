//! The options of SCPS-TP (CCSDS 714.0-B; kinds and lengths are those registered with IANA and used by public
//! dissectors).
//!
//! | option | kind | length | value |
//! |---|---|---|---|
//! | capabilities | 20 | 4 | bitmap, connection id |
//! | SNACK | 21 | 6, or 6 + v | offset and size of a hole, 16 bits each; v bytes of bit vector |
//! | record boundary | 22 | 2 | |
//! | corruption experienced | 23 | 2 | |
//!
//! A segment stores them in 16 bits. If the mark [`IS_OFFER`] is set, which is one of the three reserved bits, the
//! other bits are the bitmap and the connection ID of a SYN. Otherwise they contain the number of SNACK options and of
//! bit vector bytes, which are stored in the slots of the SACK blocks, and one bit for each of the two options without
//! a value.
//!
//! The options are written one after the other without padding, and NOPs fill up the last four bytes, so that 6 SNACK
//! options fit into 40 bytes.

use super::accurate::IS_ECN_BYTES;
use super::{BLOCKS_MASK, BLOCKS_SHIFT, Flags, HAS_SPACE, Segment, SeqNumber};
use std::fmt;

pub(super) const CAPABILITIES: u8 = 20;
pub(super) const SNACK: u8 = 21;
pub(super) const RECORD_BOUNDARY: u8 = 22;
pub(super) const CORRUPTION: u8 = 23;

/// Maximum number of SNACK options in a segment. Each takes 6 of the 40 bytes for options.
pub const MAX_SNACKS: usize = 6;
/// Maximum size of the bit vector in a segment, in bytes.
pub const MAX_VECTOR: usize = 20;

/// Mark for an offer of capabilities: the lowest reserved bit of the bitmap.
const IS_OFFER: u16 = 0x0100;
/// Mask of the bitmap without its reserved bits.
const BITMAP: u8 = 0xf8;

const HAS_CORRUPTION: u16 = 0x8000;
const HAS_BOUNDARY: u16 = 0x4000;
const SNACKS: u16 = 0x0007;
const VECTOR_SHIFT: u16 = 3;
const VECTOR: u16 = 0x001f;

/// The capabilities of one end of a connection (capabilities option).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Capabilities {
    /// One bit for each capability. The reserved bits 0x07 are dropped.
    pub bitmap: u8,
    /// The ID that replaces the ports in compressed headers; 0 if there is none.
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

/// A SNACK option, which reports a hole. Its unit is the reporting end's MSS less the options on every segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Snack {
    /// Distance from the acknowledgement number to the start of the hole, in units, rounded down.
    pub offset: u16,
    /// Size of the hole in units, rounded up.
    pub size: u16,
}

impl Segment {
    /// Returns the capabilities that a SYN offers, if it offers any.
    pub fn capabilities(&self) -> Option<Capabilities> {
        let [bitmap, connection_id] = self.space.to_be_bytes();
        self.offers().then_some(Capabilities { bitmap: bitmap & BITMAP, connection_id })
    }

    pub(super) fn offers(&self) -> bool {
        self.options & HAS_SPACE != 0 && self.space & IS_OFFER != 0
    }

    /// Returns the 16 bits, unless they are an offer of capabilities.
    fn marks(&self) -> u16 {
        let is_ours = self.space & (IS_OFFER | IS_ECN_BYTES) == 0 && !self.flags.has(Flags::FAST_OPEN);
        if self.options & HAS_SPACE != 0 && is_ours { self.space } else { 0 }
    }

    /// Adds an offer of capabilities. Such a segment has no other SCPS-TP option.
    #[must_use]
    pub fn with_capabilities(mut self, offer: Capabilities) -> Self {
        self.options |= HAS_SPACE;
        self.space = u16::from_be_bytes([offer.bitmap & BITMAP, offer.connection_id]) | IS_OFFER;
        self
    }

    /// Returns the SNACK options, in the order of the header.
    pub fn snacks(&self) -> impl Iterator<Item = Snack> + '_ {
        let count = usize::from(self.marks() & SNACKS);
        self.numbers().take(count).map(|number| Snack { offset: (number >> 16) as u16, size: number as u16 })
    }

    /// Returns the first SNACK option, if there is one.
    pub fn snack(&self) -> Option<Snack> {
        self.snacks().next()
    }

    /// Returns the bit vector of the SNACK option; empty if there is none. Its first bit, the highest of the first
    /// byte, is the unit after the hole; 1 means received. Only a segment with one SNACK option can have a bit vector.
    pub fn snack_vector(&self) -> Vec<u8> {
        let count = usize::from(self.marks() >> VECTOR_SHIFT & VECTOR);
        self.numbers().skip(1).flat_map(u32::to_be_bytes).take(count).collect()
    }

    /// Returns the contents of three SACK block slots as numbers.
    fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        self.blocks[..3].iter().flat_map(|block| [block.start.0, block.end.0])
    }

    fn set_number(&mut self, index: usize, number: u32) {
        let block = &mut self.blocks[index / 2];
        *if index.is_multiple_of(2) { &mut block.start } else { &mut block.end } = SeqNumber(number);
    }

    /// Adds as many of these SNACK options, from the first, as fit next to the other options. They use the slots of
    /// SACK blocks, so the segment must have none.
    #[must_use]
    pub fn with_snacks(mut self, holes: &[Snack]) -> Self {
        assert!(self.can_report(), "SNACK options and SACK blocks share one field");
        let others = self.options_len() as usize;
        let count = holes.len().min(MAX_SNACKS).min(40_usize.saturating_sub(others) / 6);
        for (at, hole) in holes[..count].iter().enumerate() {
            self.set_number(at, u32::from(hole.offset) << 16 | u32::from(hole.size));
        }
        self.set_marks(self.marks() & !SNACKS | count as u16);
        self
    }

    /// Adds one SNACK option with a bit vector. The vector is cut to [`MAX_VECTOR`] bytes; nothing is reported about
    /// the rest.
    #[must_use]
    pub fn with_snack_vector(mut self, hole: Snack, vector: &[u8]) -> Self {
        let room = 40_usize.saturating_sub(self.options_len() as usize + 6).min(MAX_VECTOR);
        self = self.with_snacks(&[hole]);
        let vector = &vector[..vector.len().min(room)];
        let used = vector.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        for (index, bytes) in vector[..used].chunks(4).enumerate() {
            let mut word = [0; 4];
            word[..bytes.len()].copy_from_slice(bytes);
            self.set_number(index + 1, u32::from_be_bytes(word));
        }
        self.set_marks(self.marks() & !(VECTOR << VECTOR_SHIFT) | (used as u16) << VECTOR_SHIFT);
        self
    }

    /// Returns true if the segment can carry SNACK, record boundary and corruption experienced options.
    pub fn can_report(&self) -> bool {
        !self.offers() && self.options >> BLOCKS_SHIFT & BLOCKS_MASK == 0
    }

    /// Returns the segment without its bit vector, or, if it has none, without its last SNACK option.
    #[must_use]
    pub fn with_fewer_snacks(mut self) -> Self {
        let marks = self.marks();
        let has_vector = marks >> VECTOR_SHIFT & VECTOR != 0;
        let kept = if has_vector { marks & SNACKS } else { (marks & SNACKS).saturating_sub(1) };
        (usize::from(kept)..MAX_SNACKS).for_each(|at| self.set_number(at, 0));
        self.set_marks(marks & (HAS_CORRUPTION | HAS_BOUNDARY) | kept);
        self
    }

    /// Returns true if an application record ends with this segment.
    pub fn ends_record(&self) -> bool {
        self.marks() & HAS_BOUNDARY != 0
    }

    /// Adds the record boundary option.
    #[must_use]
    pub fn with_record_boundary(mut self) -> Self {
        assert!(!self.offers(), "the field holds an offer");
        self.set_marks(self.marks() | HAS_BOUNDARY);
        self
    }

    /// Returns true if the segment reports that packets to its sender were corrupted.
    pub fn experienced_corruption(&self) -> bool {
        self.marks() & HAS_CORRUPTION != 0
    }

    /// Adds the corruption experienced option.
    #[must_use]
    pub fn with_corruption(mut self) -> Self {
        assert!(!self.offers(), "the field holds an offer");
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

    /// Returns the size of the SCPS-TP options with their padding, in bytes.
    pub(super) fn space_len(&self) -> u32 {
        if self.offers() {
            return 4;
        }
        (self.report_len() + if self.ends_record() { 2 } else { 0 }).next_multiple_of(4)
    }

    /// Returns the size of the SNACK options and of the Corruption Experienced option in bytes, without padding.
    pub(super) fn report_len(&self) -> u32 {
        let marks = self.marks();
        let holes = u32::from(marks & SNACKS) * 6 + u32::from(marks >> VECTOR_SHIFT & VECTOR);
        holes + if marks & HAS_CORRUPTION != 0 { 2 } else { 0 }
    }

    /// Writes the SCPS-TP options.
    pub(super) fn write_space(&self, bytes: &mut Vec<u8>) {
        if let Some(offer) = self.capabilities() {
            bytes.extend([CAPABILITIES, 4, offer.bitmap, offer.connection_id]);
        }
        self.write_report(bytes, self.ends_record());
        bytes.resize(bytes.len().next_multiple_of(4), 1);
    }

    /// Writes the SNACK options, the record boundary option if `boundary` is true, and the corruption experienced
    /// option, without padding.
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
