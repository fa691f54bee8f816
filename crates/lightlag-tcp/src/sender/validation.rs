//! Congestion window validation (RFC 7661): a window that is not used implies little about the capacity of the path.
//!
//! - pipeACK (§4.2) is the maximum amount of data acknowledged in a round trip during the last max(3 SRTT, 1 s). Only
//!   data that was outstanding at the start of the round trip counts. Nothing is measured while losses are repaired,
//!   and afterwards there is no value until a round trip without loss has ended.
//! - A window of more than 2 pipeACK is not validated (§4.3). Such a window is preserved, and grows only while it is
//!   fully used. Any other window grows by the standard rules, and so does every window while pipeACK is undefined.
//! - A loss in the non-validated phase (§4.4.1) sets the window to U/2 with U = max(pipeACK, LossFlightSize), and to
//!   (U−R)/2 when it is repaired, where R is the retransmitted data. Algorithms with another factor of decrease apply
//!   it to U and to U−R.
//! - After every five minutes in the non-validated phase (§4.4.3), ssthresh becomes at least 3/4 of the window, and the
//!   window is halved, but not below the initial window.
//!
//! The text of the RFC was not available to us; these rules may differ from it in details.

use super::Sender;
use lightlag_control::congestion::{Cause, Congestion, Phase};
use lightlag_core::{Duration, Instant};
use std::collections::VecDeque;

/// The non-validated period (§4.4.3): the time for which an unused window is preserved.
const KEPT: Duration = Duration::from_secs(300);

/// Minimum sampling period of pipeACK (§4.2); [`ROUNDS`] is its length in round trips. pipeACK is the maximum sample of
/// the period.
const LEAST_PERIOD: Duration = Duration::from_secs(1);
const ROUNDS: u64 = 3;

/// Number of groups of samples in the sampling period (§4.5.1 has an example with four).
const PARTS: u64 = 8;

/// State of window validation.
#[derive(Clone, Debug)]
pub(super) struct Validation {
    /// Samples of pipeACK with their times, in ascending order of time and descending order of size.
    samples: VecDeque<(Instant, u64)>,
    /// Whether pipeACK is defined, which is the case if a sample was taken since the last loss.
    defined: bool,
    /// First and last offset outstanding at the start of the current round trip.
    round: Option<(u64, u64)>,
    /// Whether the window is validated; [`Self::validated_at`] is the last time when it was.
    validated: bool,
    validated_at: Instant,
    /// The loss that is being repaired, if it occurred in the non-validated phase.
    loss: Option<ValidationLoss>,
}

/// A loss in the non-validated phase.
#[derive(Clone, Copy, Debug)]
struct ValidationLoss {
    /// max(pipeACK, LossFlightSize).
    used: u64,
    /// Retransmitted data in bytes, each byte counted once.
    resent: u64,
}

impl Validation {
    pub(super) fn new() -> Self {
        Self {
            samples: VecDeque::new(),
            defined: false,
            round: None,
            validated: true,
            validated_at: Instant::ZERO,
            loss: None,
        }
    }

    pub(super) fn is_validated(&self) -> bool {
        self.validated
    }

    /// Handles an ACK that advanced the first unacknowledged offset from `before` to `una`, with data up to `nxt`
    /// outstanding.
    fn measure(&mut self, now: Instant, before: u64, una: u64, nxt: u64, period: Duration) {
        // It started with the ACK before, which may have let more be sent.
        let (start, end) = *self.round.get_or_insert((before, nxt));
        if una < end {
            return;
        }
        self.round = None;
        self.defined = true;
        let sample = end - start;
        while self.samples.back().is_some_and(|(_, smaller)| *smaller <= sample) {
            self.samples.pop_back();
        }
        if self.samples.back().is_none_or(|(at, _)| now.since(*at) >= period / PARTS) {
            self.samples.push_back((now, sample));
        }
    }

    /// Returns pipeACK; `None` while it is undefined.
    fn pipe_ack(&mut self, now: Instant, period: Duration) -> Option<u64> {
        while self.samples.front().is_some_and(|(at, _)| now.since(*at) > period) {
            self.samples.pop_front();
        }
        self.defined.then(|| self.samples.front().map_or(0, |(_, sample)| *sample))
    }

    /// Checks whether a window of this size is validated; returns pipeACK if it is not.
    fn assess(&mut self, now: Instant, cwnd: u64, period: Duration) -> Option<u64> {
        let unused = self.pipe_ack(now, period).filter(|used| 2 * used < cwnd);
        self.validated = unused.is_none();
        if self.validated {
            self.validated_at = now;
        }
        unused
    }

    /// Makes pipeACK undefined, as after a loss (§4.4.1).
    fn forget(&mut self) {
        *self = Self { validated_at: self.validated_at, ..Self::new() };
    }
}

impl Sender {
    fn sampling_period(&self) -> Duration {
        (self.rtt.srtt() * ROUNDS).max(LEAST_PERIOD)
    }

    /// Handles an ACK. Before the ACK, recovery was in `phase` and the first unacknowledged offset was `before`.
    #[inline(never)]
    pub(super) fn validate(&mut self, now: Instant, before: u64, phase: Phase) {
        let (period, una, nxt) = (self.sampling_period(), self.board.una(), self.board.nxt());
        let repaired = phase == Phase::Open && self.recovery.phase() == Phase::Open;
        let Some(validation) = self.special.validation_mut() else { return };
        if !repaired {
            // §4.2: nothing is measured in fast recovery.
            validation.round = None;
            return;
        }
        validation.measure(now, before, una, nxt, period);
        let was = validation.validated_at;
        validation.assess(now, self.cwnd, period);
        if validation.validated && now.since(was) > KEPT {
            // It left the phase only with this ACK, after the five minutes.
            validation.validated_at = was;
        }
        self.give_up_unused(now);
    }

    /// Reduces a window that has not been fully used for too long (§4.4.3).
    #[cold]
    pub(super) fn give_up_unused(&mut self, now: Instant) {
        let initial = self.initial_cwnd();
        while let Some(validation) = self.special.validation_mut()
            && now.since(validation.validated_at) > KEPT
        {
            if self.cwnd <= initial {
                validation.validated_at = now;
                return;
            }
            validation.validated_at += KEPT;
            let (window, threshold) = ((self.cwnd / 2).max(initial), self.cwnd / 4 * 3);
            let before = self.cwnd;
            if let Some(congestion) = &mut self.congestion {
                congestion.on_idle(now, window, threshold);
            }
            self.copy_window(now);
            if self.cwnd == before {
                // An algorithm with its own model.
                return;
            }
        }
    }

    /// Returns the value that is reduced at congestion with this FlightSize. In the non-validated phase it is the used
    /// part of the window, and the window is limited to that part.
    #[cold]
    pub(super) fn retreat(&mut self, now: Instant, flight: u64) -> u64 {
        let period = self.sampling_period();
        let base = self.recovery.reduced_from(self.cwnd, flight);
        let (Some(validation), Some(congestion)) = (self.special.validation_mut(), &mut self.congestion) else {
            return base;
        };
        validation.loss = None;
        let Some(pipe_ack) = validation.assess(now, self.cwnd, period) else { return base };
        let used = pipe_ack.max(flight);
        // Tahoe is then at one segment, as after a timeout.
        validation.loss = (!self.needs.restart_on_loss).then_some(ValidationLoss { used, resent: 0 });
        congestion.on_idle(now, used, 0);
        used
    }

    /// Counts the record with this number, which is about to be retransmitted.
    #[cold]
    pub(super) fn note_resent(&mut self, number: u64) {
        let (again, bytes) = self.board.copies(number);
        if let Some(loss) = self.special.validation_mut().and_then(|validation| validation.loss.as_mut()) {
            loss.resent += if again { 0 } else { u64::from(bytes) };
        }
    }

    /// Ends the non-validated phase after a reduction for a mark, because nothing has to be repaired.
    #[cold]
    pub(super) fn settle_mark(&mut self) {
        if let Some(validation) = self.special.validation_mut()
            && !validation.validated
        {
            validation.forget();
        }
    }

    /// Ends the non-validated phase after a tail loss probe has repaired a loss, because nothing else has to be
    /// repaired.
    #[cold]
    pub(super) fn settle_tail(&mut self, now: Instant) {
        if let Some(loss) = self.special.validation_mut().and_then(|validation| validation.loss.as_mut()) {
            loss.resent = u64::from(self.segment_size);
        }
        self.settle_loss(now, false);
    }

    /// Handles the end or the undoing of a repair: repeats the reduction with the amount of retransmitted data, which
    /// is known now, and continues by the standard rules until there is a pipeACK.
    #[cold]
    pub(super) fn settle_loss(&mut self, now: Instant, undone: bool) {
        let (srtt, min_rtt) = (self.rtt.srtt(), self.rtt.min());
        let (Some(validation), Some(congestion)) = (self.special.validation_mut(), &mut self.congestion) else {
            return;
        };
        let loss = validation.loss.take();
        validation.forget();
        if let Some(ValidationLoss { used, resent }) = loss.filter(|loss| !undone && loss.resent > 0) {
            let flight = used.saturating_sub(resent).max(u64::from(self.segment_size));
            congestion.on_undo(now);
            congestion.on_idle(now, flight, 0);
            congestion.on_congestion(&Congestion { now, cause: Cause::Loss, flight, srtt, min_rtt });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn a_sample_is_the_flight_at_the_start_of_its_round_trip() {
        let mut validation = Validation::new();
        assert_eq!(validation.pipe_ack(at(0), SECOND), None);
        // Ten segments, two per ACK; data sent meanwhile belongs to the next round trip.
        for (before, una, nxt) in [(0, 2, 10), (2, 4, 14), (4, 6, 18), (6, 8, 22)] {
            validation.measure(at(100), before, una, nxt, SECOND);
            assert_eq!(validation.pipe_ack(at(100), SECOND), None);
        }
        validation.measure(at(110), 8, 10, 26, SECOND);
        assert_eq!(validation.pipe_ack(at(110), SECOND), Some(10));
        validation.measure(at(200), 10, 30, 30, SECOND);
        assert_eq!(validation.pipe_ack(at(200), SECOND), Some(20));
    }

    #[test]
    fn pipe_ack_is_the_maximum_sample_of_the_period() {
        let mut validation = Validation::new();
        for (ms, start, una) in [(0, 0, 20), (400, 20, 28), (450, 28, 29), (800, 29, 32)] {
            validation.measure(at(ms), start, una, una, SECOND);
        }
        assert_eq!(validation.pipe_ack(at(1_000), SECOND), Some(20));
        assert_eq!(validation.pipe_ack(at(1_001), SECOND), Some(8));
        assert_eq!(validation.pipe_ack(at(1_401), SECOND), Some(3));
        // Idle for longer: the window was unused.
        assert_eq!(validation.pipe_ack(at(2_000), SECOND), Some(0));
    }

    #[test]
    fn half_of_the_window_validates_it() {
        let mut validation = Validation::new();
        assert_eq!(validation.assess(at(0), 1_000, SECOND), None);
        validation.measure(at(1), 0, 10, 10, SECOND);
        assert_eq!(validation.assess(at(1), 20, SECOND), None);
        assert_eq!(validation.assess(at(2), 21, SECOND), Some(10));
        assert!(!validation.is_validated());
        assert_eq!(validation.validated_at, at(1));
        validation.forget();
        assert_eq!(validation.assess(at(3), 21, SECOND), None);
    }
}
