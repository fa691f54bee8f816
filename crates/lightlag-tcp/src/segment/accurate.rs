//! The AccECN option: numbers of bytes that arrived with each ECN codepoint (RFC 9768 §3.2.3).
//!
//! | kind | first field | second | third |
//! |---|---|---|---|
//! | 172, AccECN0 | ECT(0) | CE | ECT(1) |
//! | 174, AccECN1 | ECT(1) | CE | ECT(0) |
//!
//! A field has 24 bits and wraps; fields may be left out from the end, so the option has 2, 5, 8 or 11 bytes. It
//! follows the timestamps, as in Linux. If its length is not a multiple of four, the excess bytes replace the NOPs of
//! the next option, if there are enough of them.
//!
//! A segment stores the first eight bytes of the fields in the last slot of the SACK blocks, if timestamps leave it
//! free: 40 bytes of options cannot hold both that block and a field. The ninth byte, the number of fields and their
//! order are stored in the 16 bits for SCPS-TP options, together with the mark [`IS_ECN_BYTES`].

use super::cookie::LENGTH_SHIFT;
use super::{BLOCKS_MASK, BLOCKS_SHIFT, Flags, HAS_SACK_PERMITTED, HAS_SPACE, HAS_TIMESTAMPS, HAS_WINDOW_SCALE};
use super::{SackBlock, Segment, SeqNumber};
use lightlag_core::Codepoint;
use std::fmt;

/// Mark for this option in the 16 bits: the middle reserved bit of a capability bitmap of SCPS-TP, which no SCPS-TP
/// option uses.
pub(super) const IS_ECN_BYTES: u16 = 0x0200;
const ECT1_FIRST: u16 = 0x0400;
const COUNT_SHIFT: u16 = 11;
const COUNT: u16 = 0x0003;
const LAST_BYTE: u16 = 0x00ff;

/// Size of kind and length in bytes. [`FIELD`] is the size of a field.
const BASE: u32 = 2;
const FIELD: u32 = 3;
/// Number of values of a field before it wraps.
const CYCLE: u32 = 1 << 24;

/// Order of the counters, which differ in what the first one counts; the second is always CE (RFC 9768 §3.2.3, table
/// 5).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FieldOrder {
    /// ECT(0) is the first counter: kind 172, AccECN0.
    Ect0First,
    /// ECT(1) is the first counter: kind 174, AccECN1, as sent by Linux.
    #[default]
    Ect1First,
}

impl FieldOrder {
    /// Returns the codepoint that each field counts, in order.
    pub fn codepoints(self) -> [Codepoint; 3] {
        match self {
            Self::Ect0First => [Codepoint::Ect0, Codepoint::Ce, Codepoint::Ect1],
            Self::Ect1First => [Codepoint::Ect1, Codepoint::Ce, Codepoint::Ect0],
        }
    }

    /// Returns the kind of the option with this order.
    pub fn kind(self) -> u8 {
        match self {
            Self::Ect0First => 172,
            Self::Ect1First => 174,
        }
    }
}

/// An AccECN option: counters of bytes (RFC 9768 §3.2.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EcnBytes {
    order: FieldOrder,
    fields: [u32; 3],
    count: u8,
}

impl EcnBytes {
    /// Returns an option with up to three `fields`, in the order of the option. Only the lower 24 bits of each are
    /// used.
    pub fn new(order: FieldOrder, fields: &[u32]) -> Self {
        let mut bytes = Self { order, fields: [0; 3], count: fields.len().min(3) as u8 };
        for (place, field) in bytes.fields.iter_mut().zip(fields) {
            *place = field % CYCLE;
        }
        bytes
    }

    /// Returns the order of the counters.
    pub fn order(&self) -> FieldOrder {
        self.order
    }

    /// Returns the fields that are present, in the order of the option: numbers of bytes modulo 2²⁴.
    pub fn fields(&self) -> &[u32] {
        &self.fields[..usize::from(self.count)]
    }

    /// Returns the counter for this codepoint, if it is present.
    pub fn of(&self, codepoint: Codepoint) -> Option<u32> {
        let place = self.order.codepoints().iter().position(|counted| *counted == codepoint)?;
        self.fields().get(place).copied()
    }

    /// Returns the option reduced to its first `count` fields.
    #[must_use]
    pub(crate) fn shortened(mut self, count: u8) -> Self {
        self.count = self.count.min(count);
        self
    }

    /// Returns the size of the option without padding, in bytes.
    pub(crate) fn len(&self) -> u32 {
        BASE + FIELD * u32::from(self.count)
    }
}

impl fmt::Display for EcnBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ecn-bytes")?;
        for (codepoint, field) in self.order.codepoints().iter().zip(self.fields()) {
            let name = match codepoint {
                Codepoint::Ect0 => "e0",
                Codepoint::Ect1 => "e1",
                _ => "ce",
            };
            write!(f, " {name}:{field}")?;
        }
        Ok(())
    }
}

impl Segment {
    pub(super) fn has_ecn_bytes(&self) -> bool {
        self.options & HAS_SPACE != 0 && !self.offers() && self.space & IS_ECN_BYTES != 0
    }

    /// Returns the index of the slot that stores the fields.
    fn ecn_place(&self) -> usize {
        if self.options & HAS_TIMESTAMPS != 0 { 2 } else { 3 }
    }

    /// Returns the AccECN option, if the segment carries it.
    pub fn ecn_bytes(&self) -> Option<EcnBytes> {
        if !self.has_ecn_bytes() {
            return None;
        }
        let SackBlock { start, end } = self.blocks[self.ecn_place()];
        let (first, second) = (start.0, end.0);
        let fields = [
            first >> 8,
            (first & 0xff) << 16 | second >> 16,
            (second & 0xffff) << 8 | u32::from(self.space & LAST_BYTE),
        ];
        let order = if self.space & ECT1_FIRST != 0 { FieldOrder::Ect1First } else { FieldOrder::Ect0First };
        Some(EcnBytes::new(order, &fields[..usize::from(self.space >> COUNT_SHIFT & COUNT)]))
    }

    /// Returns true if these counters fit. They cannot be combined with SCPS-TP options, or with a SACK block in the
    /// same slot.
    pub fn has_place_for(&self, bytes: &EcnBytes) -> bool {
        let free = self.options & HAS_SPACE == 0 || self.has_ecn_bytes() || self.flags.has(Flags::FAST_OPEN);
        free && !self.is_compressed() && (bytes.count == 0 || self.sack().len() <= self.ecn_place())
    }

    /// Adds the AccECN option. Add timestamps and SACK blocks before.
    ///
    /// # Panics
    /// If it does not fit ([`Self::has_place_for`]).
    #[must_use]
    pub fn with_ecn_bytes(mut self, bytes: EcnBytes) -> Self {
        assert!(self.has_place_for(&bytes), "{self:?} has no space for {bytes}");
        let [a, b, c] = bytes.fields;
        if bytes.count > 0 {
            let (start, end) = (SeqNumber(a << 8 | b >> 16), SeqNumber(b << 16 | c >> 8));
            self.blocks[self.ecn_place()] = SackBlock { start, end };
        }
        let order = if bytes.order == FieldOrder::Ect1First { ECT1_FIRST } else { 0 };
        self.options |= HAS_SPACE;
        let cookie = self.space & u16::MAX << LENGTH_SHIFT;
        self.space = cookie | IS_ECN_BYTES | order | u16::from(bytes.count) << COUNT_SHIFT | c as u16 & LAST_BYTE;
        self
    }

    /// Returns the segment without the AccECN option.
    #[must_use]
    pub fn without_ecn_bytes(mut self) -> Self {
        if self.has_ecn_bytes() {
            self.blocks[self.ecn_place()] = SackBlock::default();
            self.space &= u16::MAX << LENGTH_SHIFT;
            if !self.flags.has(Flags::FAST_OPEN) {
                self.options &= !HAS_SPACE;
            }
        }
        self
    }

    /// Returns how many NOPs at the start of the next option are replaced by the last bytes of the AccECN option.
    fn nops_behind_ecn_bytes(&self) -> u32 {
        if self.options & (HAS_SACK_PERMITTED | HAS_TIMESTAMPS) == HAS_SACK_PERMITTED {
            2
        } else if self.options & HAS_WINDOW_SCALE != 0 {
            1
        } else if self.options >> BLOCKS_SHIFT & BLOCKS_MASK != 0 {
            2
        } else {
            0
        }
    }

    /// Returns by how many bytes the AccECN option enlarges the header: a multiple of four.
    pub(super) fn ecn_bytes_len(&self) -> u32 {
        let Some(bytes) = self.ecn_bytes() else { return 0 };
        let len = bytes.len();
        if len % 4 <= self.nops_behind_ecn_bytes() { len - len % 4 } else { len.next_multiple_of(4) }
    }

    /// Writes the AccECN option. Returns how many NOPs of the next option its last bytes replace.
    pub(super) fn write_ecn_bytes(&self, out: &mut Vec<u8>) -> usize {
        let Some(bytes) = self.ecn_bytes() else { return 0 };
        out.extend([bytes.order.kind(), bytes.len() as u8]);
        for field in bytes.fields() {
            out.extend(&field.to_be_bytes()[1..]);
        }
        if bytes.len() % 4 <= self.nops_behind_ecn_bytes() {
            return (bytes.len() % 4) as usize;
        }
        out.resize(out.len().next_multiple_of(4), 1);
        0
    }
}

#[cfg(test)]
mod tests {
    use super::super::{SynOptions, Timestamps};
    use super::*;

    fn block(count: usize) -> Vec<SackBlock> {
        vec![SackBlock { start: SeqNumber(0x0a0b_0c0d), end: SeqNumber(0x0e0f_1011) }; count]
    }

    fn bytes(count: usize) -> EcnBytes {
        EcnBytes::new(FieldOrder::Ect1First, &[0x01_0203, 0x04_0506, 0x07_0809][..count])
    }

    #[test]
    fn all_nine_bytes_are_encoded() {
        for order in [FieldOrder::Ect0First, FieldOrder::Ect1First] {
            let counts = EcnBytes::new(order, &[0xff_fffe, 0x12_3456, 0xab_cdef]);
            let segment = Segment::default().with_ecn_bytes(counts);
            assert_eq!(segment.ecn_bytes(), Some(counts));
            let segment = Segment::default().with_timestamps(Timestamps { value: 7, echo: 8 }).with_ecn_bytes(counts);
            assert_eq!((segment.ecn_bytes(), segment.timestamps().map(|stamps| stamps.echo)), (Some(counts), Some(8)));
            assert_eq!(segment.without_ecn_bytes().ecn_bytes(), None);
        }
        let counts = EcnBytes::new(FieldOrder::Ect0First, &[5, 6, 7]);
        let values =
            [Codepoint::Ect0, Codepoint::Ce, Codepoint::Ect1, Codepoint::NotEct].map(|codepoint| counts.of(codepoint));
        assert_eq!(values, [Some(5), Some(6), Some(7), None]);
    }

    #[test]
    fn three_fields_are_padded_by_one_nop() {
        // RFC 9768 §3.2.3, figure 4: kind 174, length 11.
        let segment = Segment::default().with_ecn_bytes(bytes(3));
        assert_eq!(segment.option_bytes(), [174, 11, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1]);
        let blocks = Segment::default().with_sack(&block(3)).with_ecn_bytes(bytes(3));
        assert_eq!((blocks.options_len(), blocks.option_bytes()[11..16].to_vec()), (40, vec![1, 1, 1, 5, 26]));
    }

    #[test]
    fn two_fields_fill_words_and_one_takes_a_nop_of_the_blocks() {
        let stamped = Segment::default().with_timestamps(Timestamps::default()).with_sack(&block(2));
        // 12 + 8 + 20 = 40.
        assert_eq!(stamped.with_ecn_bytes(bytes(2)).options_len(), 40);
        let one = Segment::default().with_sack(&block(1)).with_ecn_bytes(bytes(1)).option_bytes();
        assert_eq!(one[..8], [174, 5, 1, 2, 3, 1, 5, 10]);
        // An empty option replaces both NOPs: 12 + 28 = 40.
        let empty =
            Segment::default().with_timestamps(Timestamps::default()).with_sack(&block(3)).with_ecn_bytes(bytes(0));
        assert_eq!((empty.options_len(), &empty.option_bytes()[12..16]), (40, &[174, 2, 5, 26][..]));
    }

    #[test]
    fn the_syn_ack_of_linux() {
        // <mss 1460, ECN e1b 1 ceb 0 e0b 1, nop, nop, nop, sackOK, nop, wscale 8>
        let syn = SynOptions { mss: Some(1460), window_scale: Some(8), sack_permitted: true };
        let counts = EcnBytes::new(FieldOrder::Ect1First, &[1, 0, 1]);
        let plain = Segment::default().with_syn_options(syn);
        let expected = [2, 4, 5, 0xb4, 174, 11, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 4, 2, 1, 3, 3, 8];
        assert_eq!(plain.with_ecn_bytes(counts).option_bytes(), expected);
        let stamped = plain.with_timestamps(Timestamps::default()).with_ecn_bytes(counts);
        assert_eq!((stamped.options_len(), stamped.option_bytes()[16], stamped.option_bytes()[27]), (32, 174, 1));
    }

    #[test]
    fn as_many_bytes_as_the_header_counts() {
        for bits in 0..16_u8 {
            for (blocks, fields) in (0..=3).flat_map(|blocks| (0..=3).map(move |fields| (blocks, fields))) {
                let syn = SynOptions {
                    mss: (bits & 1 != 0).then_some(536),
                    window_scale: (bits & 2 != 0).then_some(3),
                    sack_permitted: bits & 4 != 0,
                };
                let mut segment = Segment::default().with_syn_options(syn);
                if bits & 8 != 0 {
                    segment = segment.with_timestamps(Timestamps::default());
                }
                let segment = segment.with_sack(&block(blocks));
                if segment.has_place_for(&bytes(fields)) {
                    let segment = segment.with_ecn_bytes(bytes(fields));
                    assert_eq!(segment.option_bytes().len() as u32, segment.options_len(), "{segment:?}");
                    assert_eq!((segment.options_len() % 4, segment.sack().len()), (0, blocks));
                }
            }
        }
    }

    #[test]
    fn options_of_scps_and_counters_exclude_each_other() {
        let marked = Segment::default().with_record_boundary();
        assert!(!marked.has_place_for(&bytes(0)) && marked.ecn_bytes().is_none());
        let counted = Segment::default().with_ecn_bytes(bytes(3));
        assert!(!counted.ends_record() && counted.capabilities().is_none() && counted.snack().is_none());
    }
}
