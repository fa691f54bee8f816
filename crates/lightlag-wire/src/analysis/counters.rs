//! The byte counters of AccECN options, without wraparound (RFC 9768 §3.2.3).

use super::report::DirectionCounts;
use lightlag_core::Codepoint;
use lightlag_tcp::segment::EcnBytes;

/// The latest values of the three fields, in the order ECT(0), CE and ECT(1).
#[derive(Clone, Copy, Debug)]
pub struct AccEcnFields([u32; 3]);

impl Default for AccEcnFields {
    /// Returns the initial values of the fields (§3.2.1).
    fn default() -> Self {
        Self([1, 0, 1])
    }
}

impl AccEcnFields {
    /// Adds the bytes by which the fields of an option have grown. A field that has decreased belongs to an ACK that is
    /// out of order, and is ignored.
    pub fn take(&mut self, bytes: &EcnBytes, counts: &mut DirectionCounts) {
        let totals = [
            (Codepoint::Ect0, &mut counts.reported_ect0_bytes),
            (Codepoint::Ce, &mut counts.reported_ce_bytes),
            (Codepoint::Ect1, &mut counts.reported_ect1_bytes),
        ];
        for ((codepoint, total), last) in totals.into_iter().zip(&mut self.0) {
            let Some(field) = bytes.of(codepoint) else { continue };
            let grown = field.wrapping_sub(*last) & 0x00ff_ffff;
            if grown < 1 << 23 {
                *total += u64::from(grown);
                *last = field;
            }
        }
    }
}
