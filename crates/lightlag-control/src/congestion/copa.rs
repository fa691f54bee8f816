//! Copa: a target rate from the queueing delay, approached in steps that grow while they have the same direction.
//!
//! Arun, Balakrishnan, "Copa: practical delay-based congestion control for the Internet", NSDI 2018, §2, as generally
//! known. Details marked "the program" are from the authors' code (genericCC: markoviancc.cc, rtt-window.cc). With dq =
//! RTTstanding − RTTmin, W in segments, and δ = 1/2:
//!
//! - target rate λt = 1/(δ·dq), rate λ = W/RTTstanding; slow start doubles W each round until λ > λt;
//! - then each delivered segment changes W by v/(δ·W), up if λ ≤ λt, down otherwise;
//! - the velocity v doubles with each round in which W keeps its direction, after three such rounds, and is 1 again
//!   when the direction changes; v ≤ δ·W, so a round at most doubles W (the program). As in mvfst, a step in the other
//!   direction ends a velocity above 1 at once, and starts a round. If the velocity ended only with the round, W would
//!   swing between 0 and twice the capacity of the path. If no round started, the rest of the old round would count as
//!   the first of the three, and each swing would feed the next;
//! - segments leave at 2·W/RTTstanding.
//!
//! RTTstanding is the smallest RTT of the last SRTT/2. RTTmin is that of the last 10 s, or of 20 RTTmin if that is
//! longer (the program): on long paths the queue could not empty in 10 s. At v = 1, n flows move the queue between 0
//! and 2.5·n/δ segments, evenly up and down in periods of five rounds (§3). The mean is 1.25·n/δ, where a target
//! without a lag would give n/δ.
//!
//! **Competitive mode.** If the queue was not nearly empty, dq ≤ 25 % of RTTmax − RTTmin, for five SRTT, other flows
//! are taken to fill it, unless Copa itself is still draining it in growing steps. An overshoot of slow start takes
//! more than five rounds, and would otherwise end in the competitive mode (this rule is our own). In the mode 1/δ grows
//! by 1 each round and is halved by a loss, but never below that of the default mode. RTTmax is the largest RTT of the
//! last four SRTT. §2.2 has 10 % instead of 25 %. There the periods of all flows coincide, and the queue just empties.
//! If W is a few dozen segments and the flows are a round apart, the smallest dq of a period is 12 to 18 % of the
//! range. A single flow that then competes keeps the queue from the others, and they follow it: with 10 %, four flows
//! fill any queue.
//!
//! The default mode ignores a loss, unless more than 30 % of the segments in two rounds were lost: then W is reduced to
//! 0.7 W (the program). The window moves during recovery, too. A mark (ECN) is a loss. After a timeout W = 1 and slow
//! start follows; the paper does not specify this. After an idle time W stays: it leaves paced, and the first round
//! corrects it. Directions and modes are forgotten then.

use super::registry::{About, Algorithm};
use super::round::Round;
use super::window::window_based;
use super::{Ack, Cause, Congestion, CongestionControl, Departures, Needs, Start, Window};
use lightlag_core::params::Setting;
use lightlag_core::{Duration, Instant, Rate, Unit};

mod extreme;
use extreme::Extreme;

/// The program: the least W.
const LEAST_WINDOW: f64 = 2.0;
/// Time for which RTTmin is kept: at least this long, and this many RTTmin.
const MIN_RTT_TIME: Duration = Duration::from_secs(10);
const MIN_RTT_ROUNDS: u64 = 20;
/// SRTTs for which RTTmax is kept, and SRTTs for which the queue may be filled in the default mode.
const MAX_RTT_ROUNDS: u64 = 4;
const FILLED_ROUNDS: u64 = 5;
/// The part of RTTmax − RTTmin below which a queue is nearly empty.
const NEARLY_EMPTY: f64 = 0.25;
/// Rounds in the same direction before the velocity doubles.
const STEADY_ROUNDS: u32 = 3;
/// The program: losing more than this share of at least this many segments, in two rounds, costs 0.3 W.
const MANY_LOSSES: f64 = 0.3;
const MANY_SEGMENTS: f64 = 20.0;
const KEPT: f64 = 0.7;

/// Parameters of [`Copa`].
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// δ of the default mode, 0.5.
    pub delta: f64,
    /// The condition of the competitive mode.
    pub mode: Mode,
}

impl Default for Config {
    fn default() -> Self {
        Self { delta: 0.5, mode: Mode::default() }
    }
}

/// The condition of the competitive mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The queue does not empty.
    #[default]
    Auto,
    /// Never: δ is constant.
    Default,
}

/// The direction of the window.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Course {
    up: bool,
    /// Rounds in this direction after the one that chose it.
    rounds: u32,
    velocity: f64,
    /// The window at the start of the round.
    start: f64,
}

impl Course {
    fn from(window: f64) -> Self {
        Self { up: true, rounds: 0, velocity: 1.0, start: window }
    }

    /// Whether the window falls faster with each round.
    fn drains(&self) -> bool {
        !self.up && self.velocity > 1.0
    }

    /// A step goes `up` or down. A velocity in the other direction ends. Returns whether one did.
    fn turn(&mut self, up: bool, window: f64) -> bool {
        let turns = up != self.up && self.velocity > 1.0;
        if turns {
            *self = Self { up, ..Self::from(window) };
        }
        turns
    }

    /// Ends a round at this window.
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

/// Copa's window and rate.
pub struct Copa {
    config: Config,
    window: Window,
    slow_start: bool,
    round: Round,
    course: Course,
    min_rtt: Extreme,
    max_rtt: Extreme,
    standing: Extreme,
    /// Time at which the queue was last nearly empty.
    emptied: Instant,
    /// 1/δ.
    inverse_delta: f64,
    /// 1/δ, the window and whether it was in slow start, before the last reaction.
    before: (f64, f64, bool),
    /// Time of the last change of 1/δ.
    changed: Instant,
    /// Start of the count of losses, lost segments, and all segments.
    losses: (Instant, f64, f64),
    /// RTTstanding before the first sample.
    handshake: Option<Duration>,
}

impl Copa {
    /// Copa in slow start, at the initial window.
    pub fn new(config: &Config, start: &Start) -> Self {
        // Its slow start has no threshold.
        let window = Window::new(&Start { pipe: None, ..*start });
        Self {
            config: config.clone(),
            slow_start: true,
            round: Round::default(),
            course: Course::from(window.segments()),
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

    /// RTTstanding and dq, after the first sample.
    fn delays(&self) -> Option<(Duration, Duration)> {
        let standing = self.standing.value()?;
        Some((standing, standing.saturating_sub(self.min_rtt.value()?)))
    }

    /// Chooses the mode, and lets 1/δ grow in the competitive one.
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
        if !filled || self.slow_start || self.config.mode == Mode::Default {
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
            self.course = Course::from(w);
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

    /// Reduces the window if there are very many losses.
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
            self.course = Course::from(self.window.segments());
        }
    }

    fn on_undo(&mut self, _now: Instant) {
        let window;
        (self.inverse_delta, window, self.slow_start) = self.before;
        self.window.raise_to(window);
        self.course = Course::from(self.window.segments());
    }

    fn on_idle(&mut self, now: Instant, _window: u64, _threshold: u64) {
        self.round = Round::default();
        self.course = Course::from(self.window.segments());
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
        about: "Aims at the rate 1/(delta dq), with dq the queueing delay, in steps that grow while they lead the same \
                way, and paces. Alone or among its like the queue is a few segments and empties every five rounds; if \
                it does not, others fill it, and Copa competes by a smaller delta. A loss alone costs nothing.",
        equations: &[
            "dq = RTTstanding - RTTmin;  RTTstanding = smallest RTT of SRTT/2, RTTmin = that of 10 s or 20 RTTmin",
            "W/RTTstanding <= 1/(delta dq):  W += v/(delta W) per delivered segment, otherwise W -= v/(delta W)",
            "v doubles each round once the direction was the same for three, 1 after a change;  v <= delta W",
            "slow start:  W doubles each round until W/RTTstanding > 1/(delta dq)",
            "pacing:      2 W/RTTstanding",
            "competitive, no dq <= 0.25 (RTTmax - RTTmin) in 5 SRTT:  1/delta += 1 a round, halved by a loss",
            "loss:     in the default mode nothing, W = 0.7 W if 30 % of two rounds are lost;  timeout: W = 1",
            "queue of n flows:  from 0 to 2.5 n/delta segments, 1.25 n/delta in the mean",
        ],
        source: "Arun, Balakrishnan, \"Copa: practical delay-based congestion control for the Internet\", NSDI 2018, \
                 and the authors' program",
    };

    const NEEDS: Needs = Needs { pacing: true, own_recovery: true, ..Needs::NONE };

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::quantity("delta", |config: &mut Self| &mut config.delta, Unit::Plain, 0.001, 1.0)
                .by_default("0.5")
                .unit("1/segments")
                .about("A flow keeps about 1/delta segments in the queue."),
            Setting::word(
                "mode",
                "a value",
                &["auto", "default"],
                |config: &Self| config.mode as usize,
                |config: &mut Self, word| config.mode = [Mode::Auto, Mode::Default][word],
            )
            .by_default("auto")
            .about("When delta becomes smaller: auto, when the queue does not empty; default, never."),
        ]
    }

    fn build(&self, start: &Start) -> Box<dyn CongestionControl> {
        Box::new(Copa::new(self, start))
    }
}

#[cfg(test)]
mod tests;
