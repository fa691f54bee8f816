//! A TCP segment in its wire format (RFC 9293 §3.1), without its payload: bytes are counted, not carried.
//!
//! Sequence numbers have 32 bits, as in the header. A connection converts them to 64-bit offsets as soon as they
//! arrive, so its own offsets never wrap. This type takes 52 bytes, so a packet with the other data of the simulator
//! takes 64: one cache line.

use std::fmt;
use std::num::NonZeroU8;

mod accurate;
pub mod compressed;
mod cookie;
mod space;
mod wire;

pub use accurate::{EcnBytes, FieldOrder};
pub use cookie::{Cookie, MAX_COOKIE};
pub use space::{Capabilities, MAX_SNACKS, MAX_VECTOR, Snack};

/// A sequence number: 32 bits that wrap (RFC 9293 §3.4).
#[derive(Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct SeqNumber(pub u32);

impl SeqNumber {
    /// Returns the sequence number that is `bytes` after this one.
    pub const fn plus(self, bytes: u32) -> Self {
        Self(self.0.wrapping_add(bytes))
    }

    /// Returns the 64-bit offset nearest to `reference` whose low 32 bits are this number minus `initial`. `None` if
    /// that offset would be negative.
    pub fn expand(self, initial: SeqNumber, reference: u64) -> Option<u64> {
        let distance = self.0.wrapping_sub(initial.0).wrapping_sub(reference as u32) as i32;
        reference.checked_add_signed(i64::from(distance))
    }
}

impl fmt::Debug for SeqNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Control bits of the header (RFC 9293 §3.1).
#[derive(Clone, Copy, PartialEq, Eq, Default, Hash, Debug)]
pub struct Flags(pub u16);

impl Flags {
    /// The sender has no more data.
    pub const FIN: Self = Self(0x01);
    /// Opens a connection.
    pub const SYN: Self = Self(0x02);
    /// Rejects or aborts a connection.
    pub const RST: Self = Self(0x04);
    /// Passes the data to the application without delay.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgement number is valid.
    pub const ACK: Self = Self(0x10);
    /// Echoes a congestion mark (RFC 3168 §6.1).
    pub const ECE: Self = Self(0x40);
    /// The congestion window was reduced (RFC 3168 §6.1).
    pub const CWR: Self = Self(0x80);
    /// The highest bit of the ACE counter (RFC 9768 §3.1).
    pub const AE: Self = Self(0x100);
    /// A low-priority segment (TCP Peach and Peach+). With data, it is a copy of data sent before; without data, it is
    /// the ACK of such a copy. It uses a reserved bit, as in the paper on TCP Peach; no RFC assigns it, and no other
    /// TCP echoes it.
    pub const LOW: Self = Self(0x200);
    /// The header is compressed (SCPS-TP). This is not a bit of any header: the protocol number in the IP header
    /// indicates it.
    pub const COMPRESSED: Self = Self(0x400);
    /// The compressed header has no sequence number. This is not a bit of any header.
    pub const UNNUMBERED: Self = Self(0x800);

    /// The SYN has the fast open option (RFC 7413). This is not a bit of any header.
    pub const FAST_OPEN: Self = Self(0x1000);
    /// The fast open option has the experimental form used before the RFC. This is not a bit of any header.
    pub const EXPERIMENTAL: Self = Self(0x2000);

    /// The next segment belongs to the same burst. This is not a bit of any header: it exists inside one buffer of
    /// several segments (GSO), which crosses virtual devices uncut.
    pub const MORE: Self = Self(0x4000);

    /// Returns true if all bits of `other` are set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns true if any bit of `other` is set.
    pub const fn has_any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the ACE field, which consists of AE, CWR and ECE (RFC 9768 §3.2.2).
    pub const fn ace(self) -> u8 {
        (self.0 >> 6 & 0b111) as u8
    }

    /// Returns the flags that encode this value of the ACE field.
    pub const fn from_ace(count: u8) -> Self {
        Self((count as u16 & 0b111) << 6)
    }

    /// Returns the flags of `self` and of `other`.
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// One block of a SACK option: received data from `start` up to but not including `end` (RFC 2018 §3).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SackBlock {
    /// First sequence number of the block.
    pub start: SeqNumber,
    /// Sequence number after the last byte of the block.
    pub end: SeqNumber,
}

/// The timestamps option (RFC 7323 §3).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Timestamps {
    /// TSval: the time by the sender's clock.
    pub value: u32,
    /// TSecr: the peer's TSval that this segment echoes.
    pub echo: u32,
}

/// The options that only a SYN carries.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SynOptions {
    /// Maximum segment size in bytes (RFC 9293 §3.7.1).
    pub mss: Option<u16>,
    /// Shift count of the window scale option (RFC 7323 §2.2), 0 to 14.
    pub window_scale: Option<u8>,
    /// Whether SACK is permitted (RFC 2018 §2).
    pub sack_permitted: bool,
}

const HAS_TIMESTAMPS: u8 = 0x01;
const HAS_MSS: u8 = 0x02;
const HAS_WINDOW_SCALE: u8 = 0x04;
const HAS_SACK_PERMITTED: u8 = 0x08;
/// Set if [`Segment::space`] is in use.
const HAS_SPACE: u8 = 0x80;
const BLOCKS_SHIFT: u8 = 4;
const BLOCKS_MASK: u8 = 0x07;

/// Size of the timestamps option with its padding, in bytes.
const TIMESTAMPS_LEN: u32 = 12;

/// A window scale shift, stored plus 1: the value 0 stays free, so that an `Option<Segment>` is not larger than a
/// segment. A shift above 14 means 14 (RFC 7323 §2.3), so it does not matter that 255 becomes 254.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Shift(NonZeroU8);

impl Shift {
    fn new(count: u8) -> Self {
        Self(NonZeroU8::MIN.saturating_add(count))
    }

    fn count(self) -> u8 {
        self.0.get() - 1
    }
}

impl Default for Shift {
    fn default() -> Self {
        Self::new(0)
    }
}

/// A TCP segment. A method `with_x` sets the option `x`, and the method `x` reads it.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Segment {
    /// Sequence number of the first byte of data, or of the SYN or FIN.
    pub seq: SeqNumber,
    /// Next sequence number that the sender of this segment expects. Valid if [`Flags::ACK`] is set.
    pub ack: SeqNumber,
    /// Storage for options: four SACK blocks, or three and the timestamps in the last slot. 40 bytes of options cannot
    /// hold timestamps and four blocks (10 + 2 + 4·8 + 2 > 40), so both never need that slot. SNACK options use the
    /// first three slots, and ECN byte counters use the last slot if there are no timestamps.
    blocks: [SackBlock; 4],
    /// The window field of the header, unscaled.
    pub window: u16,
    // After the window: at a multiple of four it would be read together with the window, and wait for both to be
    // written.
    /// Size of the data in bytes.
    pub len: u16,
    /// MSS of a SYN, or connection ID of a compressed header.
    mss: u16,
    window_scale: Shift,
    options: u8,
    /// Control bits of the header.
    pub flags: Flags,
    /// Storage for the options of SCPS-TP, see [`space`]; or for the part of the ECN byte counters that does not fit
    /// their slot, see [`accurate`], and the length of a cookie, see [`cookie`].
    space: u16,
}

/// Size of the TCP header without options, in bytes.
pub const HEADER: u32 = 20;

impl Segment {
    /// Returns a segment without data or options.
    pub fn new(seq: SeqNumber, ack: SeqNumber, window: u16, flags: Flags) -> Self {
        Self { seq, ack, window, flags, ..Self::default() }
    }

    /// Returns the timestamps, if the segment carries them.
    pub fn timestamps(&self) -> Option<Timestamps> {
        let place = self.blocks[3];
        (self.options & HAS_TIMESTAMPS != 0).then_some(Timestamps { value: place.start.0, echo: place.end.0 })
    }

    /// Returns the timestamps of a segment without other options.
    #[inline(always)]
    pub(crate) fn only_timestamps(&self) -> Option<Timestamps> {
        let place = self.blocks[3];
        (self.options == HAS_TIMESTAMPS).then_some(Timestamps { value: place.start.0, echo: place.end.0 })
    }

    /// Returns the SACK blocks, in the order of the option: newest first (RFC 2018 §4).
    pub fn sack(&self) -> &[SackBlock] {
        &self.blocks[..usize::from(self.options >> BLOCKS_SHIFT & BLOCKS_MASK)]
    }

    /// Returns true if the segment reports nothing: it has neither SACK blocks nor SCPS-TP options.
    #[inline]
    pub(crate) fn reports_nothing(&self) -> bool {
        self.options & (HAS_SPACE | BLOCKS_MASK << BLOCKS_SHIFT) == 0 || self.counts_only()
    }

    /// Returns true if ECN byte counters are the only report in the segment.
    #[cold]
    fn counts_only(&self) -> bool {
        self.has_ecn_bytes() && self.sack().is_empty()
    }

    /// Returns the options that only a SYN carries.
    pub fn syn_options(&self) -> SynOptions {
        SynOptions {
            mss: (self.options & HAS_MSS != 0).then_some(self.mss),
            window_scale: (self.options & HAS_WINDOW_SCALE != 0).then_some(self.window_scale.count()),
            sack_permitted: self.options & HAS_SACK_PERMITTED != 0,
        }
    }

    /// Returns true if a network may drop this segment before others: a probe of TCP Peach, or the ACK of a probe.
    #[inline]
    pub fn is_low_priority(&self) -> bool {
        self.flags.has(Flags::LOW)
    }

    /// Adds the timestamps option. Three slots for SACK blocks remain.
    #[must_use]
    pub fn with_timestamps(mut self, timestamps: Timestamps) -> Self {
        assert!(self.sack().len() < 4, "three SACK blocks fit next to timestamps");
        self.options |= HAS_TIMESTAMPS;
        self.blocks[3] = SackBlock { start: SeqNumber(timestamps.value), end: SeqNumber(timestamps.echo) };
        self
    }

    /// Adds a SACK option with as many of these blocks, from the first, as fit next to the other options.
    #[must_use]
    pub fn with_sack(mut self, blocks: &[SackBlock]) -> Self {
        debug_assert!(blocks.is_empty() || self.snack().is_none(), "SNACK options and SACK blocks share one field");
        let room = if self.options & HAS_TIMESTAMPS != 0 { 3 } else { 4 };
        let count = blocks.len().min(room);
        self.blocks[..count].copy_from_slice(&blocks[..count]);
        self.options = self.options & !(BLOCKS_MASK << BLOCKS_SHIFT) | (count as u8) << BLOCKS_SHIFT;
        self
    }

    /// Adds the options that only a SYN carries.
    #[must_use]
    pub fn with_syn_options(mut self, syn: SynOptions) -> Self {
        if let Some(mss) = syn.mss {
            self.options |= HAS_MSS;
            self.mss = mss;
        }
        if let Some(scale) = syn.window_scale {
            self.options |= HAS_WINDOW_SCALE;
            self.window_scale = Shift::new(scale);
        }
        if syn.sack_permitted {
            self.options |= HAS_SACK_PERMITTED;
        }
        self
    }

    /// Returns the size of the options in an uncompressed header with their padding, in bytes: a multiple of 4, in
    /// Linux's layout, in which SACK-permitted shares four bytes with the timestamps if both are present.
    #[inline]
    pub fn options_len(&self) -> u32 {
        // Nearly all segments have only timestamps.
        if self.options == HAS_TIMESTAMPS { TIMESTAMPS_LEN } else { self.uncommon_options_len() }
    }

    fn uncommon_options_len(&self) -> u32 {
        let timestamps = self.options & HAS_TIMESTAMPS != 0;
        let mss = if self.options & HAS_MSS != 0 { 4 } else { 0 };
        let scale = if self.options & HAS_WINDOW_SCALE != 0 { 4 } else { 0 };
        let permitted = if self.options & HAS_SACK_PERMITTED != 0 && !timestamps { 4 } else { 0 };
        let stamps = if timestamps { TIMESTAMPS_LEN } else { 0 };
        let blocks = match u32::from(self.options >> BLOCKS_SHIFT & BLOCKS_MASK) {
            0 => 0,
            n => 4 + 8 * n,
        };
        let space =
            if self.options & HAS_SPACE != 0 { self.space_len() + self.ecn_bytes_len() + self.cookie_len() } else { 0 };
        mss + scale + permitted + stamps + blocks + space
    }

    /// Returns the size of the header with its options on the wire in bytes, compressed or not.
    #[inline]
    pub fn header_len(&self) -> u32 {
        // Nearly all segments. A compressed header never has timestamps alone.
        if self.options == HAS_TIMESTAMPS { HEADER + TIMESTAMPS_LEN } else { self.uncommon_header_len() }
    }

    fn uncommon_header_len(&self) -> u32 {
        match self.options {
            0 => HEADER,
            _ if self.is_compressed() => self.compressed_len(),
            _ => HEADER + self.uncommon_options_len(),
        }
    }

    /// Returns how many sequence numbers the segment occupies: one for each byte of data, and one each for SYN and FIN.
    pub fn sequence_len(&self) -> u32 {
        u32::from(self.len) + u32::from(self.flags.has(Flags::SYN)) + u32::from(self.flags.has(Flags::FIN))
    }
}

impl fmt::Debug for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (bit, letter) in [
            (Flags::SYN, 'S'),
            (Flags::FIN, 'F'),
            (Flags::RST, 'R'),
            (Flags::PSH, 'P'),
            (Flags::LOW, 'L'),
            (Flags::COMPRESSED, 'C'),
            (Flags::AE, 'A'),
            (Flags::CWR, 'W'),
            (Flags::ECE, 'E'),
            (Flags::ACK, '.'),
        ] {
            if self.flags.has(bit) {
                write!(f, "{letter}")?;
            }
        }
        write!(f, " seq {:?} len {} ack {:?} win {}", self.seq, self.len, self.ack, self.window)?;
        for block in self.sack() {
            write!(f, " sack {:?}..{:?}", block.start, block.end)?;
        }
        if let Some(stamps) = self.timestamps() {
            write!(f, " ts {}:{}", stamps.value, stamps.echo)?;
        }
        if let Some(bytes) = self.ecn_bytes() {
            write!(f, " {bytes}")?;
        }
        if let Some(cookie) = self.cookie() {
            write!(f, " cookie {cookie:?}")?;
        }
        self.show_space(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAMPS: Timestamps = Timestamps { value: 1, echo: 2 };

    #[test]
    fn a_segment_leaves_twelve_bytes_of_a_cache_line() {
        assert_eq!(size_of::<Segment>(), 52);
        assert_eq!(size_of::<Option<Segment>>(), 52, "the type has a niche");
    }

    #[test]
    fn a_linux_syn_has_forty_bytes_of_header() {
        // MSS 4, SACK-permitted and timestamps 12, window scale with a NOP 4.
        let syn = SynOptions { mss: Some(1460), window_scale: Some(7), sack_permitted: true };
        let segment = Segment { flags: Flags::SYN, ..Default::default() }.with_syn_options(syn).with_timestamps(STAMPS);
        assert_eq!(segment.header_len(), 40);
        assert_eq!(segment.syn_options(), syn);
        assert_eq!(segment.sequence_len(), 1);
    }

    #[test]
    fn sack_blocks_make_headers_of_real_size() {
        let blocks = [SackBlock::default(); 4];
        let plain = Segment::default();
        assert_eq!(plain.header_len(), 20);
        assert_eq!(plain.with_sack(&blocks[..1]).header_len(), 32);
        assert_eq!(plain.with_sack(&blocks).header_len(), 56);
        // With the 20 bytes of IPv4: 64, 72, 80 for 1, 2, 3 blocks with timestamps.
        for (n, size) in [(1, 64), (2, 72), (3, 80), (4, 80)] {
            assert_eq!(20 + plain.with_timestamps(STAMPS).with_sack(&blocks[..n]).header_len(), size);
        }
    }

    #[test]
    fn numbers_expand_to_the_nearest_offset() {
        let initial = SeqNumber(u32::MAX - 4_999);
        assert_eq!(initial.plus(10_000).expand(initial, 9_000), Some(10_000));
        assert_eq!(initial.plus(10_000).expand(initial, 11_000), Some(10_000));
        let offset = (7 << 32) + 123_u64;
        assert_eq!(initial.plus(offset as u32).expand(initial, offset + 1_000_000), Some(offset));
        assert_eq!(initial.plus(u32::MAX).expand(initial, 0), None);
    }
}
