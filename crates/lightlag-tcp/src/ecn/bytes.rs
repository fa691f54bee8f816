//! The AccECN option at one end: its counters, when it is sent, and the peer's option (RFC 9768 §3.2.3).
//!
//! Where the RFC leaves a choice, we do as Linux (7.x): the order is ECT(1), CE, ECT(0); the option is sent only after
//! the peer's option was seen; and two ACKs carry it after CE, or when a different counter than before starts to grow.

use super::AccecnOption;
use crate::segment::{EcnBytes, FieldOrder, Segment, SeqNumber};
use lightlag_core::{Codepoint, Duration, Instant};

/// Order of the fields in the local option, and of the counters in [`ByteCounters`].
const ORDER: FieldOrder = FieldOrder::Ect1First;

/// Initial values of the fields: 1 for ECT(1) and ECT(0). They are not 0, because middleboxes that clear the option
/// would write 0 (RFC 9768 §3.2.1).
pub(super) const FIRST: [u32; 3] = [1, 0, 1];

/// Number of ACKs that carry the option after CE or a change of the growing counter. The second shows which counter
/// grew last (as in Linux).
const AFTER_A_CHANGE: u8 = 2;

/// Growth of a counter in bytes that causes a report, long before its 24 bits wrap (as in Linux).
const AT_LEAST_EVERY: u64 = 1 << 22;

/// Minimum number of options per round trip (beacon in RFC 9768 §3.2.3.3).
const BEACON: u32 = 3;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SeenFields {
    No,
    Yes,
    /// The option was seen, but the path overwrites it with zeros.
    Zeroed,
}

#[derive(Debug)]
pub(super) struct ByteCounters {
    option: AccecnOption,
    /// Number of payload bytes that arrived, in the order of the fields (r.e1b, r.ceb, r.e0b).
    counts: [u64; 3],
    /// Number of packets that arrived with CE, including pure ACKs.
    marked: u64,
    /// Codepoint of the last ECN-capable packet that arrived.
    last: Codepoint,
    /// Number of the next ACKs that must carry the option.
    demand: u8,
    /// Minimum number of fields in the next option, so that the counter that grew is among them.
    least: u8,
    /// Time when the option was last sent.
    told_at: Instant,
    seen: SeenFields,
    /// Whether full segments reserve space for the option.
    has_room: bool,
    /// Start of the duplicate data that the last segment reported, if that segment carried the option.
    beside: Option<SeqNumber>,
    /// Whether the path drops segments with the option.
    dropped: bool,
    /// CE field of the peer's last option; `None` if ACE has reported marks since then without an option.
    peer_ce: Option<u32>,
}

impl ByteCounters {
    pub(super) fn new(option: AccecnOption) -> Self {
        Self {
            option,
            counts: [0; 3],
            marked: 0,
            last: Codepoint::NotEct,
            demand: 0,
            least: 0,
            told_at: Instant::ZERO,
            seen: SeenFields::No,
            has_room: false,
            beside: None,
            dropped: false,
            peer_ce: Some(0),
        }
    }

    /// Returns the option of a SYN-ACK, with the initial counters; `None` if the option is off.
    pub(super) fn initial(&self) -> Option<EcnBytes> {
        (self.option != AccecnOption::Off).then(|| EcnBytes::new(ORDER, &FIRST))
    }

    pub(super) fn counts(&self) -> [u64; 3] {
        self.counts
    }

    pub(super) fn marked_packets(&self) -> u64 {
        self.marked
    }

    /// Checks for the peer's first option; the next ACKs then carry ours. If it arrives `in_time`, and the option is
    /// always sent, full segments reserve space for it.
    pub(super) fn see(&mut self, segment: &Segment, in_time: bool) {
        let Some(bytes) = segment.ecn_bytes().filter(|_| self.seen == SeenFields::No) else { return };
        let zero = |codepoint| bytes.of(codepoint) == Some(0);
        let zeroed = zero(Codepoint::Ect0) || zero(Codepoint::Ect1);
        self.seen = if zeroed { SeenFields::Zeroed } else { SeenFields::Yes };
        self.demand = AFTER_A_CHANGE;
        self.has_room = in_time && self.option == AccecnOption::Always;
    }

    /// Counts a packet that arrived with this codepoint and `len` bytes of data. Returns true if the last ECN-capable
    /// packet had a different codepoint.
    pub(super) fn count(&mut self, codepoint: Codepoint, len: u16) -> bool {
        let Some(index) = ORDER.codepoints().iter().position(|counted| *counted == codepoint) else { return false };
        let marked = codepoint == Codepoint::Ce;
        self.marked += u64::from(marked);
        if len > 0 {
            let before = self.counts[index];
            self.counts[index] += u64::from(len);
            self.least = self.least.max(index as u8 + 1);
            if before / AT_LEAST_EVERY != self.counts[index] / AT_LEAST_EVERY {
                self.demand = self.demand.max(1);
            }
        }
        let changed = std::mem::replace(&mut self.last, codepoint) != codepoint;
        if changed || marked {
            self.demand = AFTER_A_CHANGE;
        }
        changed
    }

    pub(super) fn needs_room(&self) -> bool {
        self.has_room
    }

    pub(super) fn is_demanded(&self) -> bool {
        self.demand > 0 && self.seen != SeenFields::No && self.option != AccecnOption::Off && !self.dropped
    }

    pub(super) fn due(&self, now: Instant, srtt: Duration) -> Option<(EcnBytes, u8)> {
        let due = match self.option {
            _ if self.seen == SeenFields::No || self.dropped => false,
            AccecnOption::Off => false,
            AccecnOption::Sparse => self.demand > 0 || now.since(self.told_at) * u64::from(BEACON) >= srtt,
            AccecnOption::Always => true,
        };
        due.then(|| {
            let mut fields = FIRST;
            for (field, count) in fields.iter_mut().zip(self.counts) {
                *field = field.wrapping_add(count as u32);
            }
            (EcnBytes::new(ORDER, &fields), self.least)
        })
    }

    pub(super) fn stay(&mut self) {
        self.beside = None;
    }

    pub(super) fn suspect(&mut self, start: SeqNumber) {
        self.dropped |= self.beside == Some(start);
    }

    pub(super) fn told(&mut self, now: Instant, duplicate: Option<SeqNumber>) {
        self.told_at = now;
        self.beside = duplicate;
        self.least = 0;
        self.demand = self.demand.saturating_sub(1);
    }

    /// Reads the option of an ACK that is newer than all before. Returns whether its CE field differs from the previous
    /// one, and the option, unless it is missing or zeroed by the path. `moved` is true if ACE reports marked packets.
    pub(super) fn read(&mut self, segment: &Segment, moved: bool) -> (bool, Option<EcnBytes>) {
        let Some(bytes) = segment.ecn_bytes().filter(|_| self.seen != SeenFields::Zeroed) else {
            if moved {
                self.peer_ce = None;
            }
            return (false, None);
        };
        let Some(ce) = bytes.of(Codepoint::Ce) else { return (false, Some(bytes)) };
        let before = self.peer_ce.replace(ce);
        (before.is_some_and(|before| before != ce), Some(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    fn seen(option: AccecnOption) -> ByteCounters {
        let mut counters = ByteCounters::new(option);
        counters.see(&Segment::default().with_ecn_bytes(EcnBytes::new(FieldOrder::Ect0First, &[1, 0, 1])), true);
        counters
    }

    #[test]
    fn no_data_is_sent_before_the_peer_s_option_arrives() {
        let mut counters = ByteCounters::new(AccecnOption::Always);
        counters.count(Codepoint::Ce, 1_000);
        assert_eq!((counters.due(at(1_000), Duration::ZERO), counters.needs_room()), (None, false));
        assert!(seen(AccecnOption::Always).needs_room() && !seen(AccecnOption::Sparse).needs_room());
        assert_eq!(seen(AccecnOption::Off).due(at(1_000), Duration::ZERO), None);
    }

    #[test]
    fn a_change_of_the_counter_requires_two_options() {
        let (mut counters, srtt) = (seen(AccecnOption::Sparse), Duration::from_millis(300));
        for _ in 0..2 {
            assert!(counters.due(at(0), srtt).is_some());
            counters.told(at(0), None);
        }
        assert!(counters.count(Codepoint::Ect0, 1_000), "the first counter that grows");
        assert!(!counters.count(Codepoint::Ect0, 1_000));
        assert!(!counters.count(Codepoint::NotEct, 1_000), "packets that cannot be marked are not counted");
        let (bytes, least) = counters.due(at(1), srtt).unwrap();
        assert_eq!((bytes.fields(), least), (&[1, 0, 2_001][..], 3));
        counters.told(at(1), None);
        counters.told(at(1), None);
        assert_eq!(counters.due(at(1), srtt), None);
        // The beacon: a third of a round trip later.
        assert_eq!((counters.due(at(100), srtt), counters.due(at(101), srtt).is_some()), (None, true));
    }

    #[test]
    fn four_mebibytes_are_reported() {
        let (mut counters, srtt) = (seen(AccecnOption::Sparse), Duration::from_secs(600));
        counters.count(Codepoint::Ect0, 1);
        (0..3).for_each(|_| counters.told(at(0), None));
        // 2²² / 65,000 = 64.5.
        for n in 1..=65 {
            counters.count(Codepoint::Ect0, 65_000);
            assert_eq!(counters.due(at(0), srtt).is_some(), n == 65, "{n}");
        }
    }

    #[test]
    fn zeros_are_not_believed() {
        let mut counters = ByteCounters::new(AccecnOption::Always);
        let zeros = Segment::default().with_ecn_bytes(EcnBytes::new(FieldOrder::Ect0First, &[0, 0, 0]));
        counters.see(&zeros, true);
        assert_eq!(counters.read(&zeros, false), (false, None));
    }

    #[test]
    fn eight_marks_move_the_bytes_where_ace_is_unchanged() {
        let mut counters = seen(AccecnOption::Always);
        let segment_with = |ce| Segment::default().with_ecn_bytes(EcnBytes::new(FieldOrder::Ect1First, &[1, ce, 1]));
        assert!(!counters.read(&segment_with(0), false).0);
        assert!(counters.read(&segment_with(8_000), false).0);
        // An ACK without the option reported the mark already.
        counters.read(&Segment::default(), true);
        assert!(!counters.read(&segment_with(9_000), false).0);
    }
}
