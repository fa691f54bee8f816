//! Validation of ECN by a sender (RFC 9000 §13.4.2, A.4): testing, unknown, capable or failed.

use crate::frame::EcnCounts;
use crate::kind::SpaceId;
use lightlag_core::{Codepoint, Duration, Instant};

/// Number of packets that are sent with ECT while the path is tested.
const TESTED: u32 = 10;

/// State of the validation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EcnState {
    /// ECN is not used.
    Off,
    /// The first packets are sent with ECT.
    Testing,
    /// The test packets were sent; their acknowledgements decide.
    Unknown,
    /// Acknowledgements reported the test packets correctly.
    Capable,
    /// The path or the peer does not support ECN.
    Failed,
}

/// The ECN validation of a path.
#[derive(Clone, Copy, Debug)]
pub struct Ecn {
    state: EcnState,
    codepoint: Codepoint,
    trusts: bool,
    /// Packets sent with ECT, and of them those lost, during the test.
    tested: u32,
    lost: u32,
    tested_until: Instant,
    /// Counts in the last ACK frame of each space.
    reported: [EcnCounts; 3],
    /// Packets sent with ECT in each space.
    sent: [u64; 3],
}

impl Ecn {
    /// Creates the validation for packets that are sent with `codepoint`; `trusts` leaves out the test
    /// and the comparison with the number of sent packets.
    pub fn new(codepoint: Codepoint, trusts: bool) -> Self {
        let state = match codepoint.is_capable() {
            true if trusts => EcnState::Capable,
            true => EcnState::Testing,
            false => EcnState::Off,
        };
        Self {
            state,
            codepoint,
            trusts,
            tested: 0,
            lost: 0,
            tested_until: Instant::MAX,
            reported: [EcnCounts::default(); 3],
            sent: [0; 3],
        }
    }

    /// Returns the state.
    pub fn state(&self) -> EcnState {
        self.state
    }

    /// Validates another path. The counts of the connection stay.
    pub(crate) fn restart(&mut self) {
        if self.state != EcnState::Off {
            self.state = if self.trusts { EcnState::Capable } else { EcnState::Testing };
            (self.tested, self.lost) = (0, 0);
        }
    }

    /// Returns true if packets may be sent with ECT.
    #[inline(always)]
    pub(crate) fn is_used(&self) -> bool {
        !matches!(self.state, EcnState::Off | EcnState::Failed)
    }

    /// Returns the counts that the peer reported last in a space.
    pub fn reported(&self, space: SpaceId) -> EcnCounts {
        self.reported[space as usize]
    }

    /// Returns the ECN field of the next packet in `space`, and counts it. `pto` is the current probe timeout.
    pub fn send(&mut self, now: Instant, space: SpaceId, pto: Duration) -> Codepoint {
        match self.state {
            EcnState::Off | EcnState::Unknown | EcnState::Failed => return Codepoint::NotEct,
            EcnState::Capable => {}
            EcnState::Testing => {
                if self.tested == 0 {
                    self.tested_until = now + pto * 3;
                }
                if self.tested == TESTED || now > self.tested_until {
                    self.state = EcnState::Unknown;
                    return Codepoint::NotEct;
                }
                self.tested += 1;
            }
        }
        self.sent[space as usize] += 1;
        self.codepoint
    }

    /// Counts another packet of a datagram that [`Self::send`] marked with ECT.
    pub fn coalesced(&mut self, space: SpaceId) {
        self.sent[space as usize] += 1;
    }

    /// Notes that a packet with ECT was lost. The path drops ECT if all test packets are lost.
    pub fn lost(&mut self) {
        if matches!(self.state, EcnState::Testing | EcnState::Unknown) {
            self.lost += 1;
            if self.lost == self.tested && (self.tested == TESTED || self.state == EcnState::Unknown) {
                self.state = EcnState::Failed;
            }
        }
    }

    /// Validates the counts of an ACK frame that raised the largest acknowledged number and newly acknowledged `acked`
    /// packets with ECT. Returns the number of packets that are newly reported as marked.
    #[inline(always)]
    pub fn acknowledged(&mut self, space: SpaceId, counts: Option<EcnCounts>, acked: u64) -> u64 {
        if self.is_used() { self.validate(space, counts, acked) } else { 0 }
    }

    fn validate(&mut self, space: SpaceId, counts: Option<EcnCounts>, acked: u64) -> u64 {
        let known = &mut self.reported[space as usize];
        let Some(counts) = counts else {
            if acked > 0 {
                self.state = EcnState::Failed;
            }
            return 0;
        };
        let increase = |new: u64, old: u64| new.checked_sub(old);
        let increases =
            (increase(counts.ect0, known.ect0), increase(counts.ect1, known.ect1), increase(counts.ce, known.ce));
        let (Some(ect0), Some(ect1), Some(ce)) = increases else {
            self.state = EcnState::Failed;
            return 0;
        };
        let (own, other) = if self.codepoint == Codepoint::Ect1 { (ect1, ect0) } else { (ect0, ect1) };
        let total = counts.ect0 + counts.ect1 + counts.ce;
        *known = counts;
        if own + ce < acked || other > 0 || !self.trusts && total > self.sent[space as usize] {
            self.state = EcnState::Failed;
            return 0;
        }
        if acked > 0 {
            self.state = EcnState::Capable;
        }
        ce
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const APP: SpaceId = SpaceId::Application;

    fn after(sent: u32) -> Ecn {
        let mut ecn = Ecn::new(Codepoint::Ect0, false);
        for _ in 0..sent {
            ecn.send(Instant::ZERO, APP, Duration::from_secs(1));
        }
        ecn
    }

    fn counts(ect0: u64, ect1: u64, ce: u64) -> Option<EcnCounts> {
        Some(EcnCounts { ect0, ect1, ce })
    }

    #[test]
    fn ten_packets_are_tested_and_their_acknowledgement_validates_the_path() {
        let mut ecn = after(10);
        assert_eq!(ecn.send(Instant::ZERO, APP, Duration::from_secs(1)), Codepoint::NotEct);
        assert_eq!(ecn.state(), EcnState::Unknown);
        assert_eq!(ecn.acknowledged(APP, counts(3, 0, 1), 4), 1);
        assert_eq!(ecn.state(), EcnState::Capable);
        assert_eq!(ecn.send(Instant::ZERO, APP, Duration::from_secs(1)), Codepoint::Ect0);
    }

    #[test]
    fn wrong_counts_fail_the_validation() {
        // No counts; fewer than acknowledged; the other codepoint; more than sent; fewer than before.
        for (reported, acked) in [(None, 2), (counts(1, 0, 0), 2), (counts(1, 1, 0), 1), (counts(11, 0, 0), 2)] {
            let mut ecn = after(10);
            assert_eq!((ecn.acknowledged(APP, reported, acked), ecn.state()), (0, EcnState::Failed), "{reported:?}");
        }
        let mut ecn = after(10);
        ecn.acknowledged(APP, counts(4, 0, 0), 4);
        assert_eq!((ecn.acknowledged(APP, counts(3, 0, 2), 1), ecn.state()), (0, EcnState::Failed));
    }

    #[test]
    fn the_loss_of_all_test_packets_turns_ecn_off() {
        let mut ecn = after(10);
        (0..9).for_each(|_| ecn.lost());
        assert_eq!(ecn.state(), EcnState::Testing);
        ecn.lost();
        assert_eq!(ecn.state(), EcnState::Failed);
    }
}
