//! LEDBAT: a background transport that adds at most a fixed queueing delay and yields to other flows.
//!
//! RFC 6817 §2.4. With d the queueing delay in one direction and W in segments, each ACK sets
//!
//! - off = (TARGET − d)/TARGET, TARGET = 100 ms;
//! - W += GAIN·off·acked/W, GAIN = 1: at most a segment per round, as in Reno, and a decrease at the same rate at d = 2
//!   TARGET;
//! - W is at most the flight before the ACK plus ALLOWED_INCREASE = 1, so that an unused window does not grow; W ≥
//!   MIN_CWND = 2; W starts at INIT_CWND = 2;
//! - loss: W is halved, but stays at least MIN_CWND; timeout (CTO): W = 1. The RFC has no threshold; half of FlightSize
//!   is reported.
//!
//! d is the smallest of the last CURRENT_FILTER = 4 one-way delays within a round trip (FILTER = MIN), less the minimum
//! of the last BASE_HISTORY = 10 minutes. The history has bins of a minute, or of a round trip if that is longer. The
//! one-way delay comes from timestamps with ticks of 1 ms; a constant offset of the clocks cancels. **Without
//! timestamps the round-trip time replaces it**, and a queue on the return path counts as well.
//!
//! A single flow keeps a queue of TARGET, so it never measures the path without a queue. After BASE_HISTORY it takes
//! the delay of this queue for a part of the path's delay, and the queue grows by another TARGET. A flow that starts
//! later does the same with the queue of the first flow, and gets a larger share. With `initial_slow_start` the window
//! first doubles every round, until d is above ¾ TARGET, like LEDBAT++ (draft-irtf-iccrg-ledbat-plus-plus, as generally
//! known); the RFC's algorithm starts with a segment per round.

use super::about::{About, Deviation, Signal};
use super::registry::Algorithm;
use super::window::window_based;
use super::{Ack, Congestion, CongestionControl, ConnectionStart, Phase, Window};
use lightlag_core::{Duration, Instant, Unit, settings};
use std::collections::VecDeque;

/// INIT_CWND and MIN_CWND (RFC 6817 §2.5).
const LEAST_WINDOW: f64 = 2.0;
/// ALLOWED_INCREASE (RFC 6817 §2.5).
const ALLOWED_INCREASE: f64 = 1.0;
/// Fraction of TARGET where slow start ends (LEDBAT++).
const FULL: f64 = 0.75;
/// Minimum duration of a bin of the base history.
const BIN: Duration = Duration::from_secs(60);

settings! {
    /// Parameters of [`Ledbat`].
    #[derive(Clone, Debug, PartialEq)]
    pub struct Config {
        /// TARGET: target queueing delay of the flow.
        target: Duration = Duration::from_millis(100) => time_up_to(Duration::from_millis(100));
        /// GAIN: increase per round without a queue, and decrease per round at twice the target.
        gain: f64 = 1.0 => quantity(Unit::Plain, 0.001, 1.0).unit("segments/RTT");
        /// BASE_HISTORY: lifetime of a minimum delay, in minutes, or in round trips if these are longer.
        base_history: f64 = 10.0 => quantity(Unit::Plain, 1.0, 1e6).unit("minutes");
        /// CURRENT_FILTER: number of delay samples in the filter, which returns their minimum.
        current_filter: f64 = 4.0 => quantity(Unit::Plain, 1.0, 1000.0).unit("samples");
        /// Whether the window first doubles every round, until the delay is above 3/4 of the target (LEDBAT++).
        initial_slow_start: bool = false => flag();
    }
}

/// The delays so far, in nanoseconds relative to an unknown offset.
#[derive(Default)]
struct Delays {
    /// First one-way delay in milliseconds. Later delays are relative to it, modulo the 32 bits of the clock.
    reference: Option<u32>,
    /// Start and smallest delay of each bin of the base history.
    base: VecDeque<(Instant, i64)>,
    current: VecDeque<(Instant, i64)>,
}

impl Delays {
    /// Returns the delay sample of this ACK, if it has one.
    fn sample(&mut self, ack: &Ack) -> Option<i64> {
        let Some(one_way) = ack.one_way else {
            // Only one kind of sample is used, because their offsets differ.
            return ack.rtt.filter(|_| self.reference.is_none()).map(|rtt| rtt.as_nanos() as i64);
        };
        let ticks = (one_way.as_nanos() / 1_000_000) as u32;
        if self.reference.is_none() {
            self.base.clear();
            self.current.clear();
        }
        let reference = *self.reference.get_or_insert(ticks);
        Some(i64::from(ticks.wrapping_sub(reference) as i32) * 1_000_000)
    }

    /// Adds the delay sample of this ACK. Returns the queueing delay in seconds; `None` without a sample.
    fn measure(&mut self, ack: &Ack, config: &Config) -> Option<f64> {
        let delay = self.sample(ack)?;
        match self.base.back_mut() {
            Some((begin, smallest)) if ack.now.since(*begin) < BIN.max(ack.srtt) => *smallest = delay.min(*smallest),
            _ => self.base.push_back((ack.now, delay)),
        }
        while self.base.len() as f64 > config.base_history {
            self.base.pop_front();
        }
        self.current.push_back((ack.now, delay));
        while self.current.len() as f64 > config.current_filter
            || self
                .current
                .front()
                .is_some_and(|(time, _)| ack.now.since(*time) > ack.srtt.max(Duration::from_millis(1)))
        {
            self.current.pop_front();
        }
        let smallest = |list: &VecDeque<(Instant, i64)>| list.iter().map(|(_, delay)| *delay).min();
        let queued = smallest(&self.current).unwrap_or(delay) - smallest(&self.base).unwrap_or(delay);
        Some(queued as f64 / 1e9)
    }
}

/// State of LEDBAT.
pub struct Ledbat {
    config: Config,
    window: Window,
    delays: Delays,
    slow_start: bool,
}

impl Ledbat {
    /// Creates LEDBAT with a window of INIT_CWND, or the initial window of the connection if that is smaller.
    pub fn new(config: &Config, start: &ConnectionStart) -> Self {
        let mut window = Window::new(start);
        window.clamp_to(LEAST_WINDOW);
        let slow_start = config.initial_slow_start;
        Self { config: config.clone(), window, delays: Delays::default(), slow_start }
    }

    fn grow(&mut self, ack: &Ack, off: f64, acked: f64) {
        let mut allowed = ALLOWED_INCREASE;
        if self.slow_start && self.window.in_slow_start() {
            self.window.slow_start(acked, 1.0);
            allowed = allowed.max(acked);
        } else {
            self.window.grow(self.config.gain * off * acked / self.window.segments());
        }
        // RFC 6817 §2.4.2 limits an unused window. A full one may look unused: a sender of bursts waits until a
        // complete one fits.
        if !ack.cwnd_limited {
            self.window.clamp_to(self.window.in_segments(ack.prior_inflight) + allowed);
        }
        self.window.raise_to(LEAST_WINDOW);
    }
}

window_based!(Ledbat);

impl CongestionControl for Ledbat {
    fn on_ack(&mut self, ack: &Ack) {
        let Some(queued) = self.delays.measure(ack, &self.config) else { return };
        let off = 1.0 - queued / self.config.target.as_secs_f64();
        if off < 1.0 - FULL {
            self.slow_start = false;
        }
        if ack.newly_acked == 0 || ack.phase == Phase::Recovery || (off > 0.0 && !ack.may_grow()) {
            return;
        }
        // After a timeout a cumulative ACK may cover data that arrived long ago.
        let jumps = ack.phase == Phase::Loss;
        let acked = if jumps { ack.growth } else { self.window.in_segments(ack.newly_acked) };
        self.grow(ack, off, acked);
    }

    fn on_congestion(&mut self, event: &Congestion) {
        // RFC 6817: not above the window.
        let half = self.window.in_segments(event.flight) / 2.0;
        self.window.react(event, half.min(self.window.segments()));
        self.slow_start = false;
    }
}

impl Algorithm for Config {
    // RFC 6817 §2.4.2: INIT_CWND.
    const STARTS_AS_TOLD: bool = false;
    const ABOUT: About = About {
        about: "A background transport. It keeps the queueing delay of the forward path, measured by timestamps, at 100 ms \
                and yields to all algorithms that fill queues. Without timestamps the round-trip time replaces the one-way \
                delay, and a queue on the return path also counts.",
        equations: &[
            "d = smallest of the last 4 one-way delays of a round trip - smallest of the last 10 minutes",
            "off = (TARGET - d)/TARGET, TARGET = 100 ms;  per acknowledged segment:  W += GAIN off/W,  GAIN = 1",
            "W <= flight before the ACK + 1 unless it is used,  W >= 2;  starts at min(2, IW)",
            "loss:     W = max(FlightSize/2, 2)",
            "timeout:  W = 1, and 2 with the next ACK",
            "equilibrium of a single flow:  d = TARGET",
        ],
        source: "RFC 6817, Low Extra Delay Background Transport (LEDBAT), 2012",
        year: 2012,
        signal: Signal::Delay,
        details: r#"
            The constant difference of the two clocks cancels out; their tick is 1 ms. Growth is limited to Reno's one
            segment per round, so that it takes days on a path with an RTT of minutes. `initial_slow_start = true`
            doubles the window until d is above ¾ TARGET, as LEDBAT++ does.

            A single flow keeps a queue of TARGET. After ten minutes its history contains no time without that queue; the
            flow then counts it as part of the path and adds another TARGET. A flow that starts later immediately counts the
            queue of the first as part of the path and gets more. Both follow from the RFC.
        "#,
        variants: &[],
        deviations: &[
            Deviation {
                scope: "",
                source: "BASE_HISTORY has bins of one minute",
                here: "bins of one round trip if that is longer",
                reason: "with an RTT of minutes the history would cover only a part of a round",
            },
            Deviation {
                scope: "",
                source: "there is no slow-start threshold",
                here: "it reports half of FlightSize, which has no effect without `initial_slow_start`",
                reason: "all algorithms have the same columns in the trace",
            },
        ],
        checks: "W at six delays, also when the 32 bits of the clock wrap; filter and history; the bounds; a queue of 100 and \
                 of 25 ms with timestamps and of 100 ms without, to 3 %; less than a tenth of the link next to NewReno; more \
                 than 70 % for a flow that starts later.",
        not_modelled: "",
    };

    fn check(&self) -> Result<(), String> {
        if self.target < Duration::from_millis(1) {
            return Err(format!("target: {} is below 1 ms, the tick of timestamps", self.target));
        }
        Ok(())
    }

    fn build(&self, start: &ConnectionStart) -> Box<dyn CongestionControl> {
        Box::new(Ledbat::new(self, start))
    }
}

#[cfg(test)]
mod tests;
