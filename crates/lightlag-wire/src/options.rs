//! Parses TCP options. Options for which a segment has no field are skipped and counted.

use lightlag_tcp::Segment;
use lightlag_tcp::segment::{
    Capabilities, Cookie, EcnBytes, FieldOrder, Flags, MAX_SNACKS, SackBlock, SeqNumber, Snack, SynOptions, Timestamps,
};

const END: u8 = 0;
const NOP: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;
const CAPABILITIES: u8 = 20;
const SNACK: u8 = 21;
const RECORD_BOUNDARY: u8 = 22;
const CORRUPTION: u8 = 23;
const FAST_OPEN: u8 = 34;
const ACCECN0: u8 = 172;
const ACCECN1: u8 = 174;
/// The option kind that experiments share (RFC 6994).
const EXPERIMENT: u8 = 254;

/// Maximum window scale shift; larger values count as this one (RFC 7323 §2.3).
const LARGEST_SHIFT: u8 = 14;

/// The options collected from one segment.
#[derive(Default)]
pub struct Gathered {
    syn: SynOptions,
    timestamps: Option<Timestamps>,
    blocks: [SackBlock; 4],
    block_count: usize,
    capabilities: Option<Capabilities>,
    snacks: [Snack; MAX_SNACKS],
    snack_count: usize,
    vector: Option<Vec<u8>>,
    ends_record: bool,
    corruption: bool,
    ecn_bytes: Option<EcnBytes>,
    cookie: Option<Cookie>,
    pub unknown: u8,
    pub malformed: u8,
}

impl Gathered {
    /// Parses the bytes after the fixed part of a TCP header with these flags. If the packet is `cut`, an incomplete
    /// option at the end is ignored.
    pub fn parse(bytes: &[u8], flags: Flags, cut: bool) -> Self {
        let mut options = Self::default();
        options.read(bytes, cut);
        options.keep_what_has_a_place(flags);
        options
    }

    /// Parses the options that a compressed header contains unchanged, in addition to `timestamps` and `ends_record`,
    /// which it has in a shorter form. SYN options are not allowed in it.
    pub fn parse_compressed(bytes: &[u8], flags: Flags, timestamps: Option<Timestamps>, ends_record: bool) -> Self {
        let mut options = Self { timestamps, ends_record, ..Self::default() };
        options.read(bytes, false);
        let SynOptions { mss, window_scale, sack_permitted } = std::mem::take(&mut options.syn);
        options.unknown += u8::from(mss.is_some()) + u8::from(window_scale.is_some()) + u8::from(sack_permitted);
        options.unknown += u8::from(options.ecn_bytes.take().is_some()) + u8::from(options.cookie.take().is_some());
        options.keep_what_has_a_place(flags);
        options
    }

    fn read(&mut self, mut bytes: &[u8], cut: bool) {
        while let [kind, rest @ ..] = bytes {
            match (*kind, rest) {
                (END, _) => break,
                (NOP, rest) => bytes = rest,
                (kind, [length, ..]) if (2..=bytes.len()).contains(&usize::from(*length)) => {
                    let (option, after) = bytes.split_at(usize::from(*length));
                    self.take(kind, &option[2..]);
                    bytes = after;
                }
                (_, []) if cut => break,
                (_, [length, ..]) if cut && *length >= 2 => break,
                // A wrong length hides the next option, so nothing after it can be read.
                _ => {
                    self.malformed += 1;
                    break;
                }
            }
        }
    }

    /// Drops options whose field in a segment is taken by others, and counts them as unknown. Capabilities are accepted
    /// only in a SYN, and the other SCPS-TP options only in other segments. SNACK options use the field of SACK blocks.
    /// ECN counters use the field of the last SACK block, or of the SCPS-TP options. The cookie of a SYN uses the
    /// fields of capabilities and of SACK blocks.
    fn keep_what_has_a_place(&mut self, flags: Flags) {
        if flags.has(Flags::SYN) {
            self.unknown += self.snack_count as u8 + u8::from(self.ends_record) + u8::from(self.corruption);
            (self.snack_count, self.vector, self.ends_record, self.corruption) = (0, None, false, false);
        } else if self.capabilities.take().is_some() {
            self.unknown += 1;
        }
        if self.block_count > 0 {
            self.unknown += self.snack_count as u8;
            (self.snack_count, self.vector) = (0, None);
        }
        let beside = self.capabilities.is_some() || self.block_count > 0;
        if self.cookie.is_some() && (beside || !flags.has(Flags::SYN)) {
            self.cookie = None;
            self.unknown += 1;
        }
        let scps = self.capabilities.is_some() || self.snack_count > 0 || self.ends_record || self.corruption;
        let most_blocks = if self.timestamps.is_some() { 2 } else { 3 };
        let no_place = |bytes: &EcnBytes| scps || self.block_count > most_blocks && !bytes.fields().is_empty();
        if self.ecn_bytes.as_ref().is_some_and(no_place) {
            self.ecn_bytes = None;
            self.unknown += 1;
        }
    }

    /// Returns a segment with these options added.
    pub fn apply(&self, segment: Segment) -> Segment {
        let segment = segment.with_syn_options(self.syn);
        let segment = match self.timestamps {
            Some(timestamps) => segment.with_timestamps(timestamps),
            None => segment,
        };
        let mut segment = segment.with_sack(&self.blocks[..self.block_count]);
        if let Some(offer) = self.capabilities {
            segment = segment.with_capabilities(offer);
        }
        match &self.vector {
            Some(vector) => segment = segment.with_snack_vector(self.snacks[0], vector),
            None if self.snack_count > 0 => segment = segment.with_snacks(&self.snacks[..self.snack_count]),
            None => {}
        }
        if self.ends_record {
            segment = segment.with_record_boundary();
        }
        if self.corruption {
            segment = segment.with_corruption();
        }
        if let Some(bytes) = self.ecn_bytes {
            segment = segment.with_ecn_bytes(bytes);
        }
        if let Some(cookie) = self.cookie {
            segment = segment.with_cookie(cookie);
        }
        segment
    }

    /// Records one option with its `value`. If a kind occurs several times, the first one counts.
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
            CAPABILITIES => {
                // Longer options continue with extended capabilities, whose meaning is private.
                let offer = (value.len() >= 2).then(|| Capabilities { bitmap: value[0], connection_id: value[1] });
                set(&mut self.capabilities, offer)
            }
            SNACK => match self.take_snack(value) {
                Some(taken) => taken,
                None => {
                    self.unknown += 1;
                    return;
                }
            },
            RECORD_BOUNDARY => switch_on(&mut self.ends_record, value),
            CORRUPTION => switch_on(&mut self.corruption, value),
            FAST_OPEN => set(&mut self.cookie, Cookie::new(value)),
            EXPERIMENT => match Cookie::of_experiment(value) {
                Some(cookie) => set(&mut self.cookie, Some(cookie)),
                None => {
                    self.unknown += 1;
                    return;
                }
            },
            ACCECN0 => set(&mut self.ecn_bytes, counters(FieldOrder::Ect0First, value)),
            ACCECN1 => set(&mut self.ecn_bytes, counters(FieldOrder::Ect1First, value)),
            _ => {
                self.unknown += 1;
                return;
            }
        };
        self.malformed += u8::from(!taken);
    }

    /// Records a hole, with an optional bit vector. There is space for several holes, or for one hole with its vector.
    /// Returns `None` if no space is left.
    fn take_snack(&mut self, value: &[u8]) -> Option<bool> {
        let [a, b, c, d, vector @ ..] = value else { return Some(false) };
        let hole = Snack { offset: u16::from_be_bytes([*a, *b]), size: u16::from_be_bytes([*c, *d]) };
        if hole.size == 0 {
            return Some(false);
        }
        if self.vector.is_some() || self.snack_count == MAX_SNACKS || self.snack_count > 0 && !vector.is_empty() {
            return None;
        }
        self.snacks[self.snack_count] = hole;
        self.snack_count += 1;
        self.vector = (!vector.is_empty()).then(|| vector.to_vec());
        Some(true)
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

/// Parses up to three 24-bit counters. As in RFC 9768 §3.2.3, the known part of a longer option is used, and an option
/// that ends within a field is ignored.
fn counters(order: FieldOrder, value: &[u8]) -> Option<EcnBytes> {
    let fields: Vec<u32> = value.chunks_exact(3).map(|bytes| number(&[0, bytes[0], bytes[1], bytes[2]])).collect();
    (value.len().is_multiple_of(3) || value.len() > 9).then(|| EcnBytes::new(order, &fields))
}

/// Records an option without a value. Returns true if it is well-formed and occurs for the first time.
fn switch_on(flag: &mut bool, value: &[u8]) -> bool {
    let fits = !*flag && value.is_empty();
    *flag |= fits;
    fits
}

/// Stores `value` in an empty slot. Returns true if there was a value and the slot was empty.
fn set<T>(slot: &mut Option<T>, value: Option<T>) -> bool {
    let fits = slot.is_none() && value.is_some();
    if fits {
        *slot = value;
    }
    fits
}

/// Returns the 32-bit number in the first four of `bytes`.
fn number(bytes: &[u8]) -> u32 {
    u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}
