//! The sender's account of marks: delivered packets and bytes as reported by the peer (RFC 9768 §3.2.2.5, §3.2.3).

use super::Marks;
use lightlag_core::Codepoint;

/// Values of the ACE counter.
const CYCLE: u64 = 8;

/// Packets per ACK, on average, beyond which ACKs count as thinned out (`ACK_COMP_THRESH` of Linux).
const THINNED: u16 = 4;

/// Bits of the fraction of the average, and of its weight, 1/64 for the newest ACK (Linux).
const PRECISION: u16 = 6;
const WEIGHT: u16 = 6;

/// Deliveries so far, by codepoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Delivered {
    /// Packets with CE (s.cep); with RFC 3168 the packets delivered by ACKs with ECE, as in tcpi_delivered_ce of Linux.
    pub ce_packets: u64,
    /// Payload with CE (s.ceb), in bytes; estimated from ACE without the option.
    pub ce_bytes: u64,
    /// Payload with ECT(0) (s.e0b), in bytes, as reported in options.
    pub ect0_bytes: u64,
    /// Payload with ECT(1) (s.e1b), in bytes, as reported in options.
    pub ect1_bytes: u64,
    /// Moving average of packets per ACK, in units of 1/64; 0 before the first.
    per_ack: u16,
}

impl Delivered {
    /// Takes in an ACK that delivered these bytes in segments of `size`, with its report of marks; `ece` if it echoes
    /// one at all. `thinning`: a path whose ACKs are usually large is thought to thin them out, so that their counter did
    /// not wrap unseen (RFC 9768 §3.2.2.5.2; Linux). Returns the number of marked bytes.
    pub(crate) fn take(&mut self, marks: Marks, ece: bool, delivered: u64, size: u64, thinning: bool) -> u64 {
        let packets = delivered.div_ceil(size.max(1));
        self.average(packets);
        let wraps = if thinning && self.per_ack > THINNED << PRECISION { 0 } else { packets };
        let (count, bytes) = match marks {
            Marks::None => (if ece { packets } else { 0 }, 0),
            Marks::All => (packets, delivered),
            Marks::Counter(moved) => estimate(moved.into(), wraps, delivered, size),
            Marks::Told { moved, bytes } => {
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

/// RFC 9768 appendix A.2.1: if more packets were delivered than the counter has values, it wrapped as often as
/// possible.
fn most(moved: u64, packets: u64) -> u64 {
    if packets < CYCLE { moved } else { packets - (packets - moved) % CYCLE }
}

/// Packets and bytes with CE when only ACE reports them. `packets`: the largest number that may have been marked.
fn estimate(moved: u64, packets: u64, delivered: u64, size: u64) -> (u64, u64) {
    let count = most(moved, packets);
    (count, (count * size).min(delivered))
}

/// Packets with CE when the option reports their bytes: the least that ACE allows and that can carry them (appendix
/// A.2.2).
fn settle(moved: u64, packets: u64, marked: u64, size: u64) -> u64 {
    let missing = marked.div_ceil(size.max(1)).saturating_sub(moved);
    (moved + missing.next_multiple_of(CYCLE)).min(most(moved, packets)).max(moved)
}

/// Advances a counter to a field of 24 bits, which may also correct an estimate downwards. Returns its growth; `None`
/// without the field.
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

    fn told(moved: u8, [e0, ce, e1]: [u32; 3]) -> Marks {
        Marks::Told { moved, bytes: EcnBytes::new(FieldOrder::Ect0First, &[e0 + 1, ce, e1 + 1]) }
    }

    #[test]
    fn the_counter_wraps_as_often_as_it_can_have() {
        // RFC 9768 appendix A.2.1: 1 of 3 packets; of 10 packets with a step of 2 it can be 2 or 10; of 17, 1, 9 or 17.
        for (moved, delivered, marked) in [(1, 3, 1), (2, 10, 10), (3, 10, 3), (1, 17, 17), (0, 7, 0), (0, 8, 8)] {
            let mut account = Delivered::default();
            assert_eq!(account.take(Marks::Counter(moved), moved > 0, delivered * SIZE, SIZE, false), marked * SIZE);
            assert_eq!((account.ce_packets, account.ce_bytes), (marked, marked * SIZE));
        }
    }

    #[test]
    fn bytes_tell_how_often_the_counter_wrapped() {
        // Of 20 packets with a step of 2 it can be 2, 10 or 18: bytes decide.
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
        // A mark of a segment of 400 bytes, at first taken as a full one.
        assert_eq!(account.take(Marks::Counter(1), true, 2 * SIZE, SIZE, false), SIZE);
        assert_eq!(account.take(told(0, [1_600, 400, 0]), false, SIZE, SIZE, false), 0);
        assert_eq!(account.ce_bytes, 400);
    }

    #[test]
    fn without_accurate_ecn_an_echo_marks_what_it_delivers() {
        let mut account = Delivered::default();
        assert_eq!(account.take(Marks::None, true, 2 * SIZE, SIZE, false), 0);
        assert_eq!(account.take(Marks::All, true, SIZE, SIZE, false), SIZE);
        assert_eq!((account.ce_packets, account.ce_bytes), (3, SIZE));
    }
}
