//! TCP options as they come from anybody: what a segment has no place for is skipped and counted.

use lightlag_tcp::Segment;
use lightlag_tcp::segment::{SackBlock, SeqNumber, SynOptions, Timestamps};

const END: u8 = 0;
const NOP: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;

/// RFC 7323 §2.3: a larger shift count is taken for 14.
const LARGEST_SHIFT: u8 = 14;

/// The options of one segment, gathered.
#[derive(Default)]
pub struct Gathered {
    syn: SynOptions,
    timestamps: Option<Timestamps>,
    blocks: [SackBlock; 4],
    block_count: usize,
    pub unknown: u8,
    pub malformed: u8,
}

impl Gathered {
    /// Reads the bytes behind the fixed part of a TCP header.
    pub fn parse(mut bytes: &[u8]) -> Self {
        let mut options = Self::default();
        while let [kind, rest @ ..] = bytes {
            match (*kind, rest) {
                (END, _) => break,
                (NOP, rest) => bytes = rest,
                (kind, [length, ..]) if (2..=bytes.len()).contains(&usize::from(*length)) => {
                    let (option, after) = bytes.split_at(usize::from(*length));
                    options.take(kind, &option[2..]);
                    bytes = after;
                }
                // Without a length that leads to the next option, nothing behind can be read.
                _ => {
                    options.malformed += 1;
                    break;
                }
            }
        }
        options
    }

    /// The segment with these options.
    pub fn apply(&self, segment: Segment) -> Segment {
        let segment = segment.with_syn_options(self.syn);
        let segment = match self.timestamps {
            Some(timestamps) => segment.with_timestamps(timestamps),
            None => segment,
        };
        segment.with_sack(&self.blocks[..self.block_count])
    }

    /// One option with its `value`. The first of a kind counts.
    fn take(&mut self, kind: u8, value: &[u8]) {
        let taken = match kind {
            MSS => set(&mut self.syn.mss, value.try_into().ok().map(u16::from_be_bytes)),
            WINDOW_SCALE => {
                let shift = <[u8; 1]>::try_from(value).ok().map(|[shift]| shift);
                self.malformed += u8::from(shift.is_some_and(|shift| shift > LARGEST_SHIFT));
                set(&mut self.syn.window_scale, shift.map(|shift| shift.min(LARGEST_SHIFT)))
            }
            SACK_PERMITTED => {
                let first = value.is_empty() && !self.syn.sack_permitted;
                self.syn.sack_permitted |= first;
                first
            }
            TIMESTAMPS => set(
                &mut self.timestamps,
                (value.len() == 8).then(|| Timestamps { value: number(value), echo: number(&value[4..]) }),
            ),
            SACK => self.take_blocks(value),
            _ => {
                self.unknown += 1;
                return;
            }
        };
        self.malformed += u8::from(!taken);
    }

    fn take_blocks(&mut self, value: &[u8]) -> bool {
        if self.block_count > 0 || value.is_empty() || !value.len().is_multiple_of(8) {
            return false;
        }
        for (block, bytes) in self.blocks.iter_mut().zip(value.chunks_exact(8)) {
            *block = SackBlock { start: SeqNumber(number(bytes)), end: SeqNumber(number(&bytes[4..])) };
            self.block_count += 1;
        }
        true
    }
}

/// Puts `value` in an empty place; whether there was a value and the place was empty.
fn set<T>(place: &mut Option<T>, value: Option<T>) -> bool {
    let fits = place.is_none() && value.is_some();
    if fits {
        *place = value;
    }
    fits
}

/// The number in the first four of `bytes`.
fn number(bytes: &[u8]) -> u32 {
    u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}
