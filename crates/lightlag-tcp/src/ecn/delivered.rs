//! Marks as the sender counts them: packets and bytes that were delivered, as reported by the peer (RFC 9768 §3.2.2.5,
//! §3.2.3).

use super::MarkReport;
use lightlag_core::Codepoint;

/// Number of values of the ACE counter.
const CYCLE: u64 = 8;

/// If ACKs acknowledge more packets than this on average, the path filters ACKs (`ACK_COMP_THRESH` of Linux).
const THINNED: u16 = 4;

/// Number of fractional bits of the average number of packets per ACK. [`WEIGHT`] gives the weight of a new ACK, 1/64
/// (Linux).
const PRECISION: u16 = 6;
const WEIGHT: u16 = 6;

/// Packets and bytes that were delivered so far, by ECN codepoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Delivered {
    /// Number of packets delivered with CE (s.cep). With RFC 3168, number of packets delivered by ACKs with ECE, as in
    /// tcpi_delivered_ce of Linux.
    pub ce_packets: u64,
    /// Payload delivered with CE (s.ceb), in bytes. Estimated from ACE if the peer sends no option.
    pub ce_bytes: u64,
    /// Payload delivered with ECT(0) (s.e0b), in bytes, as reported in options.
    pub ect0_bytes: u64,
    /// Payload delivered with ECT(1) (s.e1b), in bytes, as reported in options.
    pub ect1_bytes: u64,
    /// Moving average of packets per ACK, in units of 1/64; 0 before the first ACK.
    per_ack: u16,
}

impl Delivered {
    /// Updates the counts with an ACK that delivered `delivered` bytes in segments of `size`, and reports `marks`;
    /// `ece` is true if it reports any mark. If `thinning` is true and ACKs acknowledge many packets on average, the
    /// path is assumed to filter ACKs, and the counter is assumed not to have wrapped between them (RFC 9768
    /// §3.2.2.5.2; Linux). Returns the number of marked bytes.
    pub(crate) fn take(&mut self, marks: MarkReport, ece: bool, delivered: u64, size: u64, thinning: bool) -> u64 {
        let packets = delivered.div_ceil(size.max(1));
        self.average(packets);
        let wraps = if thinning && self.per_ack > THINNED << PRECISION { 0 } else { packets };
        let (count, bytes) = match marks {
            MarkReport::None => (if ece { packets } else { 0 }, 0),
            MarkReport::All => (packets, delivered),
            MarkReport::Counter(moved) => estimate(moved.into(), wraps, delivered, size),
            MarkReport::Told { moved, bytes } => {
                advance(&mut self.ect0_bytes, bytes.of(Codepoint::Ect0), 1);
                advance(&mut self.ect1_bytes, bytes.of(Codepoint::Ect1), 1);
                match advance(&mut self.ce_bytes, bytes.of(Codepoint::Ce), 0) {
                    None => estimate(moved.into(), wraps, delivered, size),
                    Some(marked) => {
                        self.ce_packets += settle(moved.into(), packets, marked, size);
                        return marked;
                    }
                }
            }
        };
        self.ce_packets += count;
        self.ce_bytes += bytes;
        bytes
    }

    fn average(&mut self, packets: u64) {
        if packets == 0 {
            return;
        }
        let sample = packets << PRECISION;
        let average = match u64::from(self.per_ack) {
            0 => sample,
            before => ((before << WEIGHT) - before + sample) >> WEIGHT,
        };
        self.per_ack = average.min(u64::from(u16::MAX)) as u16;
    }
}

/// Returns the maximum number of marked packets. If at least as many packets were delivered as the counter has values,
/// it is assumed to have wrapped as often as possible (RFC 9768 appendix A.2.1).
fn most(moved: u64, packets: u64) -> u64 {
    if packets < CYCLE { moved } else { packets - (packets - moved) % CYCLE }
}

/// Returns the number of packets and of bytes with CE if only ACE reports them. `packets` is the maximum number that
/// may have been marked.
fn estimate(moved: u64, packets: u64, delivered: u64, size: u64) -> (u64, u64) {
    let count = most(moved, packets);
    (count, (count * size).min(delivered))
}

/// Returns the number of packets with CE if the option reports their bytes: the minimum that is compatible with ACE and
/// can carry these bytes (RFC 9768 appendix A.2.2).
fn settle(moved: u64, packets: u64, marked: u64, size: u64) -> u64 {
    let missing = marked.div_ceil(size.max(1)).saturating_sub(moved);
    (moved + missing.next_multiple_of(CYCLE)).min(most(moved, packets)).max(moved)
}

/// Sets a counter to the value of a 24-bit field that counts from `first`. This may also correct an estimate downwards.
/// Returns by how much the counter grew; `None` if the field is missing.
fn advance(count: &mut u64, field: Option<u32>, first: u32) -> Option<u64> {
    let distance = field?.wrapping_sub(first).wrapping_sub(*count as u32);
    // Sign of the 24 bits.
    let distance = i64::from((distance << 8) as i32 >> 8);
    *count = count.saturating_add_signed(distance);
    Some(distance.max(0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::{EcnBytes, FieldOrder};

    const SIZE: u64 = 1_000;

    fn told(moved: u8, [e0, ce, e1]: [u32; 3]) -> MarkReport {
        MarkReport::Told { moved, bytes: EcnBytes::new(FieldOrder::Ect0First, &[e0 + 1, ce, e1 + 1]) }
    }

    #[test]
    fn the_counter_wraps_as_often_as_it_can_have() {
        // RFC 9768 appendix A.2.1: 1 of 3 packets; of 10 packets with a step of 2 it can be 2 or 10; of 17, 1, 9 or 17.
        for (moved, delivered, marked) in [(1, 3, 1), (2, 10, 10), (3, 10, 3), (1, 17, 17), (0, 7, 0), (0, 8, 8)] {
            let mut account = Delivered::default();
            assert_eq!(
                account.take(MarkReport::Counter(moved), moved > 0, delivered * SIZE, SIZE, false),
                marked * SIZE
            );
            assert_eq!((account.ce_packets, account.ce_bytes), (marked, marked * SIZE));
        }
    }

    #[test]
    fn bytes_show_how_often_the_counter_wrapped() {
        // A step of 2 with 20 packets means 2, 10 or 18 marks: bytes decide.
        for (bytes, packets) in [(0, 2), (1_500, 2), (2_001, 10), (9_000, 10), (12_000, 18), (20_000, 18)] {
            let mut account = Delivered::default();
            let marks = told(2, [20_000 - bytes, bytes, 0]);
            assert_eq!(account.take(marks, true, 20 * SIZE, SIZE, false), u64::from(bytes));
            assert_eq!((account.ce_packets, account.ce_bytes), (packets, u64::from(bytes)), "{bytes}");
            assert_eq!(account.ect0_bytes, u64::from(20_000 - bytes));
        }
    }

    #[test]
    fn counters_of_24_bits_wrap_and_correct_estimates() {
        let mut account = Delivered { ce_bytes: 0xff_ff00, ..Delivered::default() };
        assert_eq!(account.take(told(1, [0, 0x0100, 0]), true, SIZE, SIZE, false), 0x200);
        assert_eq!(account.ce_bytes, 0x100_0100);
        let mut account = Delivered::default();
        // A mark of a segment of 400 bytes, at first counted as a full one.
        assert_eq!(account.take(MarkReport::Counter(1), true, 2 * SIZE, SIZE, false), SIZE);
        assert_eq!(account.take(told(0, [1_600, 400, 0]), false, SIZE, SIZE, false), 0);
        assert_eq!(account.ce_bytes, 400);
    }

    #[test]
    fn without_accurate_ecn_an_echo_marks_the_data_it_delivers() {
        let mut account = Delivered::default();
        assert_eq!(account.take(MarkReport::None, true, 2 * SIZE, SIZE, false), 0);
        assert_eq!(account.take(MarkReport::All, true, SIZE, SIZE, false), SIZE);
        assert_eq!((account.ce_packets, account.ce_bytes), (3, SIZE));
    }
}
