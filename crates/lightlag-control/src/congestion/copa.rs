//! Copa: a target rate from the queueing delay, approached in steps that grow while they have the same direction.
//!
//! Arun, Balakrishnan, "Copa: practical delay-based congestion control for the Internet", NSDI 2018, §2, as generally
//! known. Details marked "the program" are from the authors' code (genericCC: markoviancc.cc, rtt-window.cc). With dq =
//! RTTstanding − RTTmin, W in segments, and δ = 1/2:
//!
//! - target rate λt = 1/(δ·dq), rate λ = W/RTTstanding; slow start doubles W each round until λ > λt;
//! - then each delivered segment changes W by v/(δ·W), up if λ ≤ λt, down otherwise;
//! - after three rounds in which W keeps its direction, the velocity v doubles with each further such round; it is
//!   reset to 1 when the direction changes; v ≤ δ·W, so a round at most doubles W (the program). As in mvfst, a step in
//!   the other direction immediately resets a velocity above 1, and starts a round. If the velocity were reset only at
//!   the end of the round, W would swing between 0 and twice the capacity of the path. If no round started, the rest of
//!   the old round would count as the first of the three, and each swing would amplify the next;
//! - segments are sent at 2·W/RTTstanding.
//!
//! RTTstanding is the smallest RTT of the last SRTT/2. RTTmin is the smallest of the last 10 s, or of 20 RTTmin if that
//! is longer (the program): on long paths the queue could not empty in 10 s. At v = 1, n flows make the queue rise and
//! fall steadily between 0 and 2.5·n/δ segments, with a period of five rounds (§3). Its mean is 1.25·n/δ; if the flows
//! reacted without a delay, it would be n/δ.
//!
//! **Competitive mode.** The queue is nearly empty while dq is at most 25 % of RTTmax − RTTmin. If it has not been
//! nearly empty for five SRTT, Copa assumes that other flows fill it, unless Copa itself is still draining it in
//! growing steps. An overshoot of slow start takes more than five rounds, and would otherwise end in the competitive
//! mode (this rule is our own). In competitive mode 1/δ grows by 1 each round and is halved by a loss, but it never
//! falls below its value in default mode. RTTmax is the largest RTT of the last four SRTT. §2.2 has 10 % instead of 25
//! %: it assumes that the periods of all flows coincide, so that the queue just empties. If W is a few dozen segments
//! and the flows are a round apart, the smallest dq of a period is 12 to 18 % of the range. With 10 %, one flow would
//! then switch to competitive mode and keep the queue from emptying, and the others would follow, so that four flows
//! would fill any queue.
//!
//! The default mode ignores a loss, unless more than 30 % of the segments in two rounds were lost: then W is reduced to
//! 0.7 W (the program). The window also changes during recovery. An ECN mark counts as a loss. After a timeout W = 1
//! and slow start follows; the paper does not specify this. After an idle time W stays, as the window is sent paced,
//! and the first round corrects it; the direction and the mode are reset.

use super::about::{About, Deviation, Signal};
use super::registry::Algorithm;
use super::round::Round;
use super::window::window_based;
use super::{Ack, Cause, Congestion, CongestionControl, ConnectionStart, Departures, Needs, Window};
use lightlag_core::{Duration, Instant, Rate, Unit, settings, words};

mod extreme;
use extreme::Extreme;

/// Minimum W, from the program.
const LEAST_WINDOW: f64 = 2.0;
/// Lifetime of RTTmin: the longer of this time and this many RTTmin.
const MIN_RTT_TIME: Duration = Duration::from_secs(10);
const MIN_RTT_ROUNDS: u64 = 20;
/// Number of SRTTs that RTTmax covers. A queue that was not nearly empty for `FILLED_ROUNDS` SRTTs counts as filled by
/// other flows.
const MAX_RTT_ROUNDS: u64 = 4;
const FILLED_ROUNDS: u64 = 5;
/// Maximum dq of a nearly empty queue, as a fraction of RTTmax − RTTmin.
const NEARLY_EMPTY: f64 = 0.25;
/// Number of rounds in the same direction before the velocity doubles.
const STEADY_ROUNDS: u32 = 3;
/// The program: if more than `MANY_LOSSES` of the segments in two rounds were lost, out of more than `MANY_SEGMENTS`, W
/// is multiplied by `KEPT`.
const MANY_LOSSES: f64 = 0.3;
const MANY_SEGMENTS: f64 = 20.0;
const KEPT: f64 = 0.7;

settings! {
    /// Parameters of [`Copa`].
    #[derive(Clone, Debug, PartialEq)]
    pub struct Config {
        /// Inverse of the approximate number of segments that a flow keeps in the queue.
        delta: f64 = 0.5 => quantity(Unit::Plain, 0.001, 1.0).unit("1/segments");
        /// When delta is reduced: auto, when the queue does not empty; default, never.
        mode: CompetitiveMode = CompetitiveMode::default() => choice("a value");
    }
}

words! {
    /// When the competitive mode applies.
    pub enum CompetitiveMode {
        /// When the queue does not empty.
        Auto = "auto",
        /// Never: δ is constant.
        Default = "default",
    }
}

/// The direction in which the window changes, and how fast.
#[derive(Clone, Copy, Debug, PartialEq)]
struct WindowDirection {
    up: bool,
    /// Number of complete rounds in this direction, without the one in which it changed.
    rounds: u32,
    velocity: f64,
    /// Window at the start of the round, in segments.
    start: f64,
}

impl WindowDirection {
    fn from(window: f64) -> Self {
        Self { up: true, rounds: 0, velocity: 1.0, start: window }
    }

    /// Returns true if the window is falling, and faster with each round.
    fn drains(&self) -> bool {
        !self.up && self.velocity > 1.0
    }

    /// Notes a step up or down. A step against the direction resets a velocity above 1; returns true in that case.
    fn turn(&mut self, up: bool, window: f64) -> bool {
        let turns = up != self.up && self.velocity > 1.0;
        if turns {
            *self = Self { up, ..Self::from(window) };
        }
        turns
    }

    /// Ends a round with this window, and updates direction and velocity.
    fn end_round(&mut self, window: f64) {
        let up = window > self.start;
        self.start = window;
        if up != self.up {
            (self.up, self.rounds, self.velocity) = (up, 0, 1.0);
            return;
        }
        self.rounds += 1;
        if self.rounds >= STEADY_ROUNDS {
            self.velocity *= 2.0;
        }
    }
}

/// State of Copa.
pub struct Copa {
    config: Config,
    window: Window,
    slow_start: bool,
    round: Round,
    course: WindowDirection,
    min_rtt: Extreme,
    max_rtt: Extreme,
    standing: Extreme,
    /// Time when the queue was last nearly empty.
    emptied: Instant,
    /// 1/δ.
    inverse_delta: f64,
    /// Values before the last reaction, for an undo: 1/δ, the window, and whether it was in slow start.
    before: (f64, f64, bool),
    /// Time of the last change of 1/δ.
    changed: Instant,
    /// Losses since a time: that time, the number of lost segments, and the number of all segments.
    losses: (Instant, f64, f64),
    /// Round-trip time of the handshake, used as RTTstanding before the first sample.
    handshake: Option<Duration>,
}

impl Copa {
    /// Creates Copa in slow start, with the initial window.
    pub fn new(config: &Config, start: &ConnectionStart) -> Self {
        // Its slow start has no threshold.
        let window = Window::new(&ConnectionStart { pipe: None, ..*start });
        Self {
            config: config.clone(),
            slow_start: true,
            round: Round::default(),
            course: WindowDirection::from(window.segments()),
            window,
            min_rtt: Extreme::smallest(),
            max_rtt: Extreme::largest(),
            standing: Extreme::smallest(),
            emptied: Instant::ZERO,
            inverse_delta: 1.0 / config.delta,
            before: (1.0 / config.delta, 0.0, true),
            changed: Instant::ZERO,
            losses: (Instant::ZERO, 0.0, 0.0),
            handshake: start.rtt,
        }
    }

    fn measure(&mut self, ack: &Ack) {
        let Some(rtt) = ack.rtt else { return };
        let known = self.min_rtt.value().unwrap_or(rtt);
        self.min_rtt.add(ack.now, rtt, MIN_RTT_TIME.max(known * MIN_RTT_ROUNDS));
        self.max_rtt.add(ack.now, rtt, ack.srtt * MAX_RTT_ROUNDS);
        self.standing.add(ack.now, rtt, ack.srtt / 2);
    }

    /// Returns RTTstanding and dq; `None` before the first sample.
    fn delays(&self) -> Option<(Duration, Duration)> {
        let standing = self.standing.value()?;
        Some((standing, standing.saturating_sub(self.min_rtt.value()?)))
    }

    /// Chooses the mode; in competitive mode increases 1/δ.
    fn choose_mode(&mut self, ack: &Ack, queueing: Duration) {
        let range = match (self.max_rtt.value(), self.min_rtt.value()) {
            (Some(max), Some(min)) => max.saturating_sub(min),
            _ => return,
        };
        let competes = self.inverse_delta * self.config.delta > 1.0;
        if (!competes && self.course.drains()) || queueing.as_secs_f64() <= NEARLY_EMPTY * range.as_secs_f64() {
            self.emptied = ack.now;
        }
        let filled = ack.now.since(self.emptied) > ack.srtt * FILLED_ROUNDS;
        if !filled || self.slow_start || self.config.mode == CompetitiveMode::Default {
            self.inverse_delta = 1.0 / self.config.delta;
            self.changed = ack.now;
        } else if ack.now.since(self.changed) >= ack.srtt {
            self.inverse_delta += 1.0;
            self.changed = ack.now;
        }
    }

    fn steer(&mut self, ack: &Ack, standing: Duration, queueing: Duration) {
        let w = self.window.segments();
        let acked = self.window.in_segments(ack.newly_delivered);
        let up = w * queueing.as_secs_f64() <= self.inverse_delta * standing.as_secs_f64();
        if up && (!ack.cwnd_limited || ack.ece) {
            return;
        }
        if self.slow_start {
            if up {
                self.window.grow(acked);
                return;
            }
            self.slow_start = false;
            self.course = WindowDirection::from(w);
        }
        if self.course.turn(up, w) {
            self.round = Round::default();
        }
        let velocity = self.course.velocity.min(w / self.inverse_delta).max(1.0);
        let step = acked * velocity * self.inverse_delta / w;
        if up {
            self.window.grow(step.min(acked));
        } else {
            self.window.clamp_to((w - step).max(LEAST_WINDOW));
        }
    }

    /// Counts losses, and reduces the window if there were very many.
    fn count_losses(&mut self, ack: &Ack) {
        self.losses.1 += self.window.in_segments(ack.newly_lost);
        self.losses.2 += self.window.in_segments(ack.newly_lost + ack.newly_delivered);
        let (since, lost, all) = self.losses;
        if ack.now.since(since) <= ack.srtt * 2 || all <= MANY_SEGMENTS {
            return;
        }
        self.losses = (ack.now, 0.0, 0.0);
        if lost > MANY_LOSSES * all {
            self.window.clamp_to((KEPT * self.window.segments()).max(LEAST_WINDOW));
        }
    }
}

window_based!(Copa);

impl CongestionControl for Copa {
    fn on_ack(&mut self, ack: &Ack) {
        self.measure(ack);
        self.count_losses(ack);
        let ended = self.round.on_ack(ack).is_some();
        let Some((standing, queueing)) = self.delays() else { return };
        self.choose_mode(ack, queueing);
        if ended && !self.slow_start {
            self.course.end_round(self.window.segments());
        }
        if ack.newly_delivered > 0 {
            self.steer(ack, standing, queueing);
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        if event.cause != Cause::RepeatedTimeout {
            self.before = (self.inverse_delta, self.window.segments(), self.slow_start);
            self.inverse_delta = (self.inverse_delta / 2.0).max(1.0 / self.config.delta);
            self.changed = event.now;
        }
        if matches!(event.cause, Cause::Timeout | Cause::RepeatedTimeout) {
            self.window.react(event, f64::INFINITY);
            self.slow_start = true;
            self.course = WindowDirection::from(self.window.segments());
        }
    }

    fn on_undo(&mut self, _now: Instant) {
        let window;
        (self.inverse_delta, window, self.slow_start) = self.before;
        self.window.raise_to(window);
        self.course = WindowDirection::from(self.window.segments());
    }

    fn on_idle(&mut self, now: Instant, _window: u64, _threshold: u64) {
        self.round = Round::default();
        self.course = WindowDirection::from(self.window.segments());
        self.emptied = now;
    }

    fn departures(&self) -> Option<&dyn Departures> {
        Some(self)
    }
}

impl Departures for Copa {
    fn pacing_rate(&self) -> Option<Rate> {
        let standing = self.standing.value().or(self.handshake).filter(|rtt| !rtt.is_zero())?;
        let bits = 16.0 * self.window.bytes() as f64 / standing.as_secs_f64();
        Rate::from_bps((bits as u64).max(1))
    }
}

impl Algorithm for Config {
    const ABOUT: About = About {
        about: "Approaches the rate 1/(delta dq), where dq is the queueing delay, in steps that grow while their \
                direction stays the same, and paces. Among Copa flows the queue is a few segments and empties every \
                five rounds. If it does not empty, Copa assumes that other flows fill it, and competes with a smaller \
                delta. A single loss has no effect.",
        equations: &[
            "dq = RTTstanding - RTTmin;  RTTstanding = smallest RTT of SRTT/2, RTTmin = smallest RTT of 10 s or 20 RTTmin",
            "slow start:  W doubles each round until W/RTTstanding > 1/(delta dq),  delta = 1/2",
            "W/RTTstanding <= 1/(delta dq):  W += v/(delta W) per delivered segment, otherwise W -= v/(delta W);  W >= 2",
            "v = 1, doubles each round once the direction was the same for three, 1 after a change;  v <= delta W",
            "pacing:      2 W/RTTstanding",
            "competitive, no dq <= 0.25 (RTTmax - RTTmin) in 5 SRTT:  1/delta += 1 per round, halved by a loss",
            "loss, mark:  none in the default mode, W = 0.7 W if 30 % of two rounds are lost;  timeout: W = 1, slow start",
            "queue of n flows:  from 0 to 2.5 n/delta segments, 1.25 n/delta on average",
        ],
        source: "Arun, Balakrishnan, \"Copa: practical delay-based congestion control for the Internet\", NSDI 2018, \
                 and the authors' program",
        year: 2018,
        signal: Signal::Delay,
        details: r#"
            The equations are generally known; details are from the authors' program. RTTmax is the maximum RTT of the
            last four SRTT. At v = 1 the queue rises and falls steadily between its bounds (§3 of the paper), so that
            its mean is 2.5 segments per flow. An idle time does not change the window: later data is paced, and the
            first round trip corrects the window.

            **Limits.** Eight flows on a path of 100 segments, about twelve each, still compete at times, and the queue is
            then long. A flow that joins others with too large a window keeps it for a minute: at v = 1 all flows change
            direction almost together. RTTstanding covers the last SRTT/2, so that a flow with a longer RTT measures less of
            a rising queue.
        "#,
        variants: &[],
        deviations: &[
            Deviation {
                scope: "velocity",
                source: "v changes when a round ends",
                here: "a step in the other direction immediately ends a velocity above 1 and starts a round, as in mvfst",
                reason: "with the paper's rule the window of one flow on a path of 300 segments swings between 0 and 600",
            },
            Deviation {
                scope: "competitive mode",
                source: "five rounds without an empty queue indicate competition",
                here: "not while Copa itself drains the queue with v > 1",
                reason: "an overshoot of slow start takes longer",
            },
            Deviation {
                scope: "competitive mode",
                source: "nearly empty is 10 % of RTTmax − RTTmin",
                here: "25 %",
                reason: "flows with a phase difference of one round leave 12 to 18 %; with 10 % one of four flows starts to \
                         compete, the others follow, and all four fill any queue",
            },
        ],
        checks: "Steps, velocity, pacing and modes; the queue of one flow is 1 to 2.5 of 1/δ for δ = 0.5 and 0.1, at RTTs of 100 \
                 ms and ten minutes, with more than 95 % of the link used, and in the simulator 1 to 3 segments at 5, 10 and 20 \
                 Mbit/s and 100 ms; two and four flows keep 2 to 3 segments each and share the link to 15 %, also at RTTs of 100 \
                 to 175 ms (to 5 % at equal RTTs, to 30 % at twice the RTT); next to NewReno it gets more than 30 % in the \
                 competitive mode and less than 20 % without.",
        not_modelled: "",
    };

    const NEEDS: Needs = Needs { pacing: true, controls_recovery: true, ..Needs::NONE };

    fn build(&self, start: &ConnectionStart) -> Box<dyn CongestionControl> {
        Box::new(Copa::new(self, start))
    }
}

#[cfg(test)]
mod tests;
