//! The byte counters of AccECN options, unwrapped (RFC 9768 §3.2.3).

use super::report::Counts;
use lightlag_core::Codepoint;
use lightlag_tcp::segment::EcnBytes;

/// The latest values of the fields: ECT(0), CE and ECT(1).
#[derive(Clone, Copy, Debug)]
pub struct Told([u32; 3]);

impl Default for Told {
    /// The initial values (§3.2.1).
    fn default() -> Self {
        Self([1, 0, 1])
    }
}

impl Told {
    /// Adds the bytes that an option reports for the first time. A field that went back belongs to a late ACK.
    pub fn take(&mut self, bytes: &EcnBytes, counts: &mut Counts) {
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
