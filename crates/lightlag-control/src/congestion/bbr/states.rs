//! The states, their gains and their transitions.

use super::{Bbr, LEAST};
use crate::congestion::{Ack, PathState};
use lightlag_core::Instant;

/// 2/ln 2: the smallest gain that doubles the rate each round.
const HIGH_GAIN: f64 = 2.885;
/// Linux's (`bbr_high_gain`, `bbr_drain_gain`), in units of 1/256.
const LINUX_HIGH_GAIN: f64 = 739.0 / 256.0;
const LINUX_DRAIN_GAIN: f64 = 88.0 / 256.0;
/// The cycle of pacing gains in PROBE_BW.
pub(super) const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// A tick of Linux's clock in nanoseconds, at HZ = 250.
const TICK: u64 = 4_000_000;
/// The window gain in PROBE_BW.
pub(super) const WINDOW_GAIN: f64 = 2.0;

/// The states of the model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    Startup,
    Drain,
    /// With the index of its pacing gain.
    ProbeBw(usize),
    ProbeRtt,
}

impl State {
    /// The state in traces.
    pub(super) fn name(self) -> PathState {
        match self {
            Self::Startup => PathState::Startup,
            Self::Drain => PathState::Drain,
            Self::ProbeBw(_) => PathState::ProbeBw,
            Self::ProbeRtt => PathState::ProbeRtt,
        }
    }
}

impl Bbr {
    /// The gain of STARTUP.
    pub(super) fn high_gain(&self) -> f64 {
        if self.tso { LINUX_HIGH_GAIN } else { HIGH_GAIN }
    }

    fn drain_gain(&self) -> f64 {
        if self.tso { LINUX_DRAIN_GAIN } else { 1.0 / HIGH_GAIN }
    }

    pub(super) fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => self.high_gain(),
            State::Drain => self.drain_gain(),
            State::ProbeBw(_) if self.policer.rate().is_some() => 1.0,
            State::ProbeBw(index) => CYCLE[index],
            State::ProbeRtt => 1.0,
        }
    }

    pub(super) fn window_gain(&self) -> f64 {
        match self.state {
            State::Startup | State::Drain => self.high_gain(),
            State::ProbeBw(_) => WINDOW_GAIN,
            State::ProbeRtt => 1.0,
        }
    }

    /// Advances PROBE_BW to its next gain after an RTprop. The high gain also waits for its flight or for a loss; the
    /// low one ends early once the queue is gone.
    pub(super) fn check_phase(&mut self, ack: &Ack) {
        let State::ProbeBw(index) = self.state else { return };
        let (gain, flight) = (self.pacing_gain(), self.flight_at_departure(ack, ack.prior_inflight));
        let now = self.measured(ack.now);
        let full_length = now.since(self.phase_at) > self.min_rtt;
        let next = if gain > 1.0 {
            full_length && (self.newly_lost > 0 || flight >= self.inflight(gain))
        } else if gain < 1.0 {
            full_length || flight <= self.inflight(1.0)
        } else {
            full_length
        };
        if next {
            self.state = State::ProbeBw((index + 1) % CYCLE.len());
            self.phase_at = now;
        }
    }

    pub(super) fn check_drained(&mut self, ack: &Ack) {
        if self.state == State::Startup && self.filled {
            self.state = State::Drain;
        }
        if self.state == State::Drain && self.flight_at_departure(ack, ack.inflight) <= self.inflight(1.0) {
            self.probe_bandwidth(ack.now);
        }
    }

    /// Enters PROBE_BW with any gain but the low one.
    pub(super) fn probe_bandwidth(&mut self, now: Instant) {
        let drawn = (self.random.uniform() * 7.0) as usize;
        self.state = State::ProbeBw((CYCLE.len() - drawn) % CYCLE.len());
        self.phase_at = self.measured(now);
    }

    /// The time by which phases last: Linux's is that of the last delivery (`delivered_mstamp`).
    fn measured(&self, now: Instant) -> Instant {
        if self.tso { self.delivered_at } else { now }
    }

    /// Whether a time has passed. Linux counts ticks here.
    fn has_passed(&self, time: Instant, now: Instant) -> bool {
        if self.tso { now.as_nanos() / TICK > time.as_nanos() / TICK } else { now > time }
    }

    /// Updates RTprop, and enters PROBE_RTT if it is out of date.
    pub(super) fn check_rtt(&mut self, ack: &Ack) {
        let at = self.min_rtt_at.unwrap_or(ack.now);
        // Without PROBE_RTT nothing would empty the queue for a new measurement, so the smallest sample ever counts.
        let expired = self.has_passed(at + self.config.rtt_window, ack.now) && !self.config.probe_rtt.is_zero();
        if let Some(rtt) = ack.rtt
            && (rtt < self.min_rtt || expired)
        {
            self.min_rtt = rtt;
            self.min_rtt_at = Some(ack.now);
        }
        if self.state != State::ProbeRtt && expired && !self.idle {
            self.state = State::ProbeRtt;
            self.save_window();
            self.probe_rtt_until = None;
        }
        if self.state == State::ProbeRtt {
            self.probe_rtt(ack);
        }
        self.idle &= ack.rate.is_none();
    }

    pub(super) fn probe_rtt(&mut self, ack: &Ack) {
        self.shallow.mark(self.delivered, ack.inflight);
        match self.probe_rtt_until {
            None if ack.inflight as f64 <= LEAST * self.segment => {
                self.probe_rtt_until = Some(ack.now + self.config.probe_rtt);
                self.probe_rtt_round = false;
                self.rounds.restart(self.delivered);
            }
            None => {}
            Some(_) => {
                self.probe_rtt_round |= self.rounds.started;
                if self.probe_rtt_round {
                    self.leave_probe_rtt(ack.now);
                }
            }
        }
    }

    /// Leaves PROBE_RTT if it has lasted long enough.
    pub(super) fn leave_probe_rtt(&mut self, now: Instant) {
        if self.probe_rtt_until.is_some_and(|until| self.has_passed(until, now)) {
            self.min_rtt_at = Some(now);
            self.window = self.window.max(self.prior_window);
            if self.filled {
                self.probe_bandwidth(now);
            } else {
                self.state = State::Startup;
            }
        }
    }
}
