//! Radiotap: the header that captures of 802.11 add before a frame (<https://www.radiotap.org>).
//!
//! A [`Radiotap`] holds the fields that a simulated radio can fill: time, rate, channel, signal, noise, and the A-MPDU
//! of a frame. Other fields are ignored when parsing.

use super::{Frame, FrameError};
use lightlag_core::{Instant, Rate};

/// A radiotap header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Radiotap {
    /// Time when the frame starts on the air, in integer microseconds.
    pub at: Option<Instant>,
    /// Properties of the captured frame.
    pub flags: Flags,
    /// Centre frequency of the channel in MHz.
    pub frequency_mhz: Option<u16>,
    /// Modulation of the frame.
    pub modulation: Option<Modulation>,
    /// Received power in dBm.
    pub signal_dbm: Option<i8>,
    /// Noise power in dBm.
    pub noise_dbm: Option<i8>,
    /// A-MPDU that contains the frame.
    pub aggregate: Option<Aggregate>,
}

/// The flags field.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Flags(pub u8);

impl Flags {
    /// The frame ends with a frame check sequence.
    pub const FCS: Self = Self(0x10);
    /// The 802.11 header is padded to a multiple of four bytes.
    pub const PADDED: Self = Self(0x20);
    /// The frame check sequence is wrong.
    pub const BAD_FCS: Self = Self(0x40);

    /// Returns true if all of these flags are set.
    #[must_use]
    pub const fn has(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }
}

/// The modulation of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Modulation {
    /// An 802.11a or g rate: a multiple of 500 kbit/s, at most 127.5 Mbit/s.
    Legacy(Rate),
    /// 802.11n.
    Ht {
        /// MCS index, 0 to 76, which determines the number of streams.
        mcs: u8,
        /// Channel width: 20 or 40 MHz.
        width: Width,
        /// Guard interval.
        guard: Guard,
        /// Error-correcting code.
        coding: Coding,
    },
    /// 802.11ac.
    Vht {
        /// MCS index, 0 to 15.
        mcs: u8,
        /// Number of spatial streams, 1 to 15.
        streams: u8,
        /// Channel width.
        width: Width,
        /// Guard interval.
        guard: Guard,
        /// Error-correcting code.
        coding: Coding,
    },
}

/// Channel width.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Width {
    /// 20 MHz.
    Mhz20,
    /// 40 MHz.
    Mhz40,
    /// 80 MHz.
    Mhz80,
    /// 160 MHz.
    Mhz160,
}

/// Guard interval between OFDM symbols.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Guard {
    /// 800 ns.
    Long,
    /// 400 ns.
    Short,
}

/// Error-correcting code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Coding {
    /// Binary convolutional code.
    Bcc,
    /// Low-density parity-check code.
    Ldpc,
}

/// The A-MPDU that contains a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Aggregate {
    /// ID of the A-MPDU: the same in all of its frames, and different in the next A-MPDU.
    pub number: u32,
    /// Whether the frame is the last one of the A-MPDU.
    pub is_last: bool,
}

/// Bit numbers of the fields in the presence bitmap.
const TSFT: u32 = 0;
const FLAGS: u32 = 1;
const RATE: u32 = 2;
const CHANNEL: u32 = 3;
const SIGNAL: u32 = 5;
const NOISE: u32 = 6;
const MCS: u32 = 19;
const AMPDU: u32 = 20;
const VHT: u32 = 21;
/// Another presence bitmap of 32 bits follows.
const MORE: u32 = 31;

/// Alignment and size of fields 0 to 27. Later fields have no fixed size.
const FORMS: [(usize, usize); 28] = [
    (8, 8),
    (1, 1),
    (1, 1),
    (2, 4),
    (2, 2),
    (1, 1),
    (1, 1),
    (2, 2),
    (2, 2),
    (2, 2),
    (1, 1),
    (1, 1),
    (1, 1),
    (1, 1),
    (2, 2),
    (2, 2),
    (1, 1),
    (1, 1),
    (4, 8),
    (1, 3),
    (4, 8),
    (2, 12),
    (8, 12),
    (2, 12),
    (2, 12),
    (2, 6),
    (1, 1),
    (2, 4),
];

/// Flags of the channel field: OFDM, and the two bands.
const OFDM: u16 = 0x0040;
const BAND_2_GHZ: u16 = 0x0080;
const BAND_5_GHZ: u16 = 0x0100;

/// Bits of the MCS field: which parts are known, short guard interval, and LDPC.
const MCS_WIDTH: u8 = 0x01;
const MCS_INDEX: u8 = 0x02;
const MCS_GUARD: u8 = 0x04;
const MCS_CODING: u8 = 0x10;
/// Mask for all parts being known, including the format (mixed), STBC, and extension streams (none).
const MCS_ALL: u8 = 0x7f;
const MCS_SHORT: u8 = 0x04;
const MCS_LDPC: u8 = 0x10;

/// Bits of the VHT field: which parts are known (STBC, guard interval, width), short guard interval, and LDPC.
const VHT_STBC: u16 = 0x0001;
const VHT_GUARD: u16 = 0x0004;
const VHT_WIDTH: u16 = 0x0040;
const VHT_SHORT: u8 = 0x04;
const VHT_LDPC: u8 = 0x01;

/// Bits of the A-MPDU field: it is known whether the frame is the last, and it is the last.
const LAST_KNOWN: u16 = 0x0004;
const LAST: u16 = 0x0008;

/// Writes a captured frame to `out`, which is cleared first: `header`, then `frame` with its frame check sequence,
/// which the flags in the header indicate.
///
/// # Panics
/// As for [`encode`] and [`super::encode`].
pub fn record(out: &mut Vec<u8>, header: &Radiotap, frame: &Frame<'_>) {
    out.clear();
    encode(out, &Radiotap { flags: Flags(header.flags.0 | Flags::FCS.0), ..*header });
    super::encode(out, frame);
}

/// Appends the bytes of a header to `out`. `out` must be empty, because the alignment of fields counts from its start.
///
/// # Panics
/// If `out` is not empty, or a rate or an index is outside the range of its field.
pub fn encode(out: &mut Vec<u8>, header: &Radiotap) {
    assert!(out.is_empty(), "a radiotap header is the first in a record");
    out.extend_from_slice(&[0; 8]);
    let mut present = 1 << FLAGS;
    let mut put = |field: u32, bytes: &[u8]| {
        let (alignment, size) = FORMS[field as usize];
        assert_eq!(bytes.len(), size, "radiotap field {field}");
        out.resize(out.len().next_multiple_of(alignment), 0);
        out.extend_from_slice(bytes);
        present |= 1 << field;
    };
    if let Some(at) = header.at {
        put(TSFT, &(at.as_nanos() / 1_000).to_le_bytes());
    }
    put(FLAGS, &[header.flags.0]);
    if let Some(Modulation::Legacy(rate)) = header.modulation {
        put(RATE, &[half_megabits(rate)]);
    }
    if let Some(frequency) = header.frequency_mhz {
        let band = if frequency < 3_000 { BAND_2_GHZ } else { BAND_5_GHZ };
        put(CHANNEL, &pair(frequency, OFDM | band));
    }
    if let Some(dbm) = header.signal_dbm {
        put(SIGNAL, &dbm.to_le_bytes());
    }
    if let Some(dbm) = header.noise_dbm {
        put(NOISE, &dbm.to_le_bytes());
    }
    if let Some(Modulation::Ht { mcs, width, guard, coding }) = header.modulation {
        assert!(mcs <= 76, "802.11n has no MCS {mcs} above 76");
        let width = match width {
            Width::Mhz20 => 0,
            Width::Mhz40 => 1,
            wide => panic!("802.11n has no channel of {wide:?}"),
        };
        let short = if guard == Guard::Short { MCS_SHORT } else { 0 };
        let ldpc = if coding == Coding::Ldpc { MCS_LDPC } else { 0 };
        put(MCS, &[MCS_ALL, width | short | ldpc, mcs]);
    }
    if let Some(Aggregate { number, is_last }) = header.aggregate {
        let [a, b, c, d] = number.to_le_bytes();
        let [e, f] = (LAST_KNOWN | if is_last { LAST } else { 0 }).to_le_bytes();
        put(AMPDU, &[a, b, c, d, e, f, 0, 0]);
    }
    if let Some(Modulation::Vht { mcs, streams, width, guard, coding }) = header.modulation {
        assert!(mcs < 16 && (1..16).contains(&streams), "no field can hold MCS {mcs} with {streams} streams");
        let width = match width {
            Width::Mhz20 => 0,
            Width::Mhz40 => 1,
            Width::Mhz80 => 4,
            Width::Mhz160 => 11,
        };
        let short = if guard == Guard::Short { VHT_SHORT } else { 0 };
        let ldpc = if coding == Coding::Ldpc { VHT_LDPC } else { 0 };
        let [known, more] = (VHT_STBC | VHT_GUARD | VHT_WIDTH).to_le_bytes();
        put(VHT, &[known, more, short, width, mcs << 4 | streams, 0, 0, 0, ldpc, 0, 0, 0]);
    }
    let len = out.len() as u16;
    out[2..4].copy_from_slice(&len.to_le_bytes());
    out[4..8].copy_from_slice(&u32::to_le_bytes(present));
}

/// Returns the header at the start of `record`, and the frame after it.
///
/// # Errors
/// If the header has an unsupported version, is longer than the record, or is too short for its fields.
pub fn decode(record: &[u8]) -> Result<(Radiotap, &[u8]), FrameError> {
    let truncated = |needed| FrameError::Truncated { needed, present: record.len() };
    let Some((&[version, _, low, high], _)) = record.split_first_chunk() else { return Err(truncated(8)) };
    if version != 0 {
        return Err(FrameError::Radiotap("in a version other than 0"));
    }
    let len = usize::from(u16::from_le_bytes([low, high]));
    if len < 8 {
        return Err(FrameError::Radiotap("shorter than its first 8 bytes"));
    }
    let (header, frame) = record.split_at_checked(len).ok_or(truncated(len))?;
    let short = FrameError::Radiotap("shorter than its fields");
    let word = |at: usize| Some(u32::from_le_bytes(header.get(at..at + 4)?.try_into().ok()?));
    let (present, mut offset) = (word(4).ok_or(short)?, 8);
    let mut more = present;
    while more & 1 << MORE != 0 {
        more = word(offset).ok_or(short)?;
        offset += 4;
    }
    let mut read = Radiotap::default();
    for (field, (alignment, size)) in (0..).zip(FORMS) {
        if present & 1 << field != 0 {
            offset = offset.next_multiple_of(alignment);
            read.take(field, header.get(offset..offset + size).ok_or(short)?);
            offset += size;
        }
    }
    Ok((read, frame))
}

impl Radiotap {
    /// Parses a field; `value` has the size of the field.
    fn take(&mut self, field: u32, value: &[u8]) {
        match (field, value) {
            (TSFT, value) => {
                let micros = value.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
                self.at = micros.checked_mul(1_000).map(Instant::from_nanos);
            }
            (FLAGS, &[flags]) => self.flags = Flags(flags),
            (RATE, &[rate]) => self.modulation = Rate::from_bps(500_000 * u64::from(rate)).map(Modulation::Legacy),
            (CHANNEL, &[low, high, ..]) => self.frequency_mhz = Some(u16::from_le_bytes([low, high])),
            (SIGNAL, &[dbm]) => self.signal_dbm = Some(dbm as i8),
            (NOISE, &[dbm]) => self.noise_dbm = Some(dbm as i8),
            (MCS, &[known, flags, mcs]) if known & MCS_INDEX != 0 && mcs <= 76 => {
                let is_wide = known & MCS_WIDTH != 0 && flags & 3 == 1;
                let width = if is_wide { Width::Mhz40 } else { Width::Mhz20 };
                let guard = guard(known & MCS_GUARD != 0 && flags & MCS_SHORT != 0);
                let coding = coding(known & MCS_CODING != 0 && flags & MCS_LDPC != 0);
                self.modulation = Some(Modulation::Ht { mcs, width, guard, coding });
            }
            (AMPDU, &[a, b, c, d, e, f, ..]) => {
                let flags = u16::from_le_bytes([e, f]);
                let is_last = flags & (LAST_KNOWN | LAST) == LAST_KNOWN | LAST;
                self.aggregate = Some(Aggregate { number: u32::from_le_bytes([a, b, c, d]), is_last });
            }
            (VHT, &[low, high, flags, width, first, _, _, _, codes, ..]) if first & 0xf != 0 => {
                let known = u16::from_le_bytes([low, high]);
                let width = if known & VHT_WIDTH != 0 { vht_width(width) } else { Width::Mhz20 };
                let guard = guard(known & VHT_GUARD != 0 && flags & VHT_SHORT != 0);
                let coding = coding(codes & VHT_LDPC != 0);
                self.modulation = Some(Modulation::Vht { mcs: first >> 4, streams: first & 0xf, width, guard, coding });
            }
            _ => {}
        }
    }
}

fn guard(is_short: bool) -> Guard {
    if is_short { Guard::Short } else { Guard::Long }
}

fn coding(is_ldpc: bool) -> Coding {
    if is_ldpc { Coding::Ldpc } else { Coding::Bcc }
}

/// Returns the channel width for a VHT bandwidth code, which may also specify the position within a wider channel.
fn vht_width(code: u8) -> Width {
    match code & 0x1f {
        1 | 5 | 6 | 14..=17 => Width::Mhz40,
        4 | 12 | 13 => Width::Mhz80,
        11 => Width::Mhz160,
        _ => Width::Mhz20,
    }
}

fn half_megabits(rate: Rate) -> u8 {
    let bps = rate.as_bps();
    let halves = u8::try_from(bps / 500_000).ok().filter(|_| bps.is_multiple_of(500_000));
    halves.unwrap_or_else(|| panic!("{bps} bit/s is not a multiple of 500 kbit/s below 128 Mbit/s"))
}

fn pair(first: u16, second: u16) -> [u8; 4] {
    let ([a, b], [c, d]) = (first.to_le_bytes(), second.to_le_bytes());
    [a, b, c, d]
}
