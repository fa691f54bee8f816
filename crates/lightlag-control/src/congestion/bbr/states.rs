//! The states, with their gains and transitions.

use super::Bbr;
use crate::congestion::{Ack, PathState};
use lightlag_core::Instant;

/// 2/ln 2: the smallest gain that doubles the rate each round.
const HIGH_GAIN: f64 = 2.885;
/// 2/ln 2 in Linux (`bbr_high_gain`), in units of 1/256; the next one is its inverse (`bbr_drain_gain`).
const LINUX_HIGH_GAIN: f64 = 739.0 / 256.0;
const LINUX_DRAIN_GAIN: f64 = 88.0 / 256.0;
/// The cycle of pacing gains in PROBE_BW.
pub(super) const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Pacing gain that LeoCC probes with while there is a queue (`LEOCC_UNIT * 21 / 20`).
pub(super) const GENTLE_GAIN: f64 = 268.0 / 256.0;
/// Duration of a tick of Linux's clock in nanoseconds, at HZ = 250.
const TICK: u64 = 4_000_000;
/// The window gain in PROBE_BW.
pub(super) const WINDOW_GAIN: f64 = 2.0;

/// The states of the model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    Startup,
    Drain,
    /// PROBE_BW, with the index of the current gain in [`CYCLE`].
    ProbeBw(usize),
    ProbeRtt,
}

impl State {
    /// Returns the name of the state in traces.
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
    /// Returns the gain of STARTUP.
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
            State::ProbeBw(0) if self.is_gentle() => GENTLE_GAIN,
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

    /// Advances PROBE_BW to its next gain after an RTprop. The phase with the high gain also lasts until the flight has
    /// reached its target or a loss occurs; the phase with the low gain ends early once the queue is empty.
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
            self.end_reconfiguration();
        }
        if self.state == State::Drain && self.flight_at_departure(ack, ack.inflight) <= self.inflight(1.0) {
            self.probe_bandwidth(ack.now);
        }
    }

    /// Enters PROBE_BW at a random gain of the cycle, except the low one.
    pub(super) fn probe_bandwidth(&mut self, now: Instant) {
        let drawn = (self.random.uniform() * 7.0) as usize;
        self.state = State::ProbeBw((CYCLE.len() - drawn) % CYCLE.len());
        self.phase_at = self.measured(now);
    }

    /// Returns the time by which phases are measured: in Linux the time of the last delivery (`delivered_mstamp`).
    fn measured(&self, now: Instant) -> Instant {
        if self.tso { self.delivered_at } else { now }
    }

    /// Returns true if `now` is past `time`. Linux compares ticks.
    fn has_passed(&self, time: Instant, now: Instant) -> bool {
        if self.tso { now.as_nanos() / TICK > time.as_nanos() / TICK } else { now > time }
    }

    /// Updates RTprop, and enters PROBE_RTT if RTprop is out of date.
    pub(super) fn check_rtt(&mut self, ack: &Ack) {
        let measured_at = self.min_rtt_at.unwrap_or(ack.now);
        // Without PROBE_RTT nothing would empty the queue for a new measurement, so the minimum sample ever counts.
        let expired =
            self.has_passed(measured_at + self.config.rtt_window, ack.now) && !self.config.probe_rtt.is_zero();
        if let Some(rtt) = ack.rtt
            && (rtt < self.min_rtt || expired)
        {
            self.min_rtt = rtt;
            self.min_rtt_at = Some(ack.now);
        }
        let due = if self.leo.is_some() {
            matches!(self.state, State::ProbeBw(_)) && (expired || self.is_reconfigured())
        } else {
            self.state != State::ProbeRtt && expired
        };
        if due && !self.idle {
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
            None if ack.inflight as f64 <= self.least_flight() => {
                self.probe_rtt_until = Some(ack.now + self.config.probe_rtt);
                self.probe_rtt_round = false;
                self.rounds.restart(self.delivered);
            }
            None => {}
            Some(_) => {
                self.probe_rtt_round |= self.rounds.started;
                if self.probe_rtt_round {
                    self.renew_rtt(ack);
                    self.leave_probe_rtt(ack.now);
                }
            }
        }
    }

    /// Leaves PROBE_RTT if it has lasted long enough.
    pub(super) fn leave_probe_rtt(&mut self, now: Instant) {
        if self.has_probed_rtt(now) {
            self.min_rtt_at = Some(now);
            self.window = self.window.max(self.prior_window);
            if self.is_reconfigured() {
                self.start_again();
            } else if self.filled {
                self.probe_bandwidth(now);
            } else {
                self.state = State::Startup;
            }
        }
    }

    /// Returns true if the end of PROBE_RTT has come.
    pub(super) fn has_probed_rtt(&self, now: Instant) -> bool {
        self.probe_rtt_until.is_some_and(|until| self.has_passed(until, now))
    }
}
