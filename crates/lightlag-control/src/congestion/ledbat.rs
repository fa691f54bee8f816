//! LEDBAT: a background transport that adds a fixed delay and yields to other flows.
//!
//! RFC 6817 §2.4. With d the queueing delay in one direction and W in segments, each ACK sets
//!
//! - off = (TARGET − d)/TARGET, TARGET = 100 ms;
//! - W += GAIN·off·acked/W, GAIN = 1: at most Reno's segment a round, and as fast down at d = 2 TARGET;
//! - unless it is used, W ≤ flight before the ACK + ALLOWED_INCREASE = 1; W ≥ MIN_CWND = 2; it starts at INIT_CWND = 2;
//! - loss: W is halved, but stays at least MIN_CWND; timeout (CTO): W = 1. The RFC has no threshold; half of FlightSize
//!   is reported.
//!   is half of FlightSize.
//!
//! d is the smallest of the last CURRENT_FILTER = 4 one-way delays of a round trip (FILTER = MIN), less the smallest of
//! the last BASE_HISTORY = 10 minutes, in bins of a minute, or of a round trip if that is longer. The one-way delay
//! comes from timestamps with ticks of 1 ms; a constant offset of the clocks cancels. **Without timestamps the
//! round-trip time replaces it**, and a queue on the way back counts, too.
//!
//! A single flow keeps a queue of TARGET, so it never sees the path without it. After BASE_HISTORY it takes the queue
//! for a part of the path, and the queue grows by another TARGET. A later flow takes the first one's queue for a part
//! of the path and gets more. `initial_slow_start` doubles the window first, until d is above ¾ TARGET, like LEDBAT++
//! (draft-irtf-iccrg-ledbat-plus-plus, as generally known); the RFC's algorithm starts with a segment a round.

use super::registry::{About, Algorithm};
use super::window::window_based;
use super::{Ack, Congestion, CongestionControl, Phase, Start, Window};
use lightlag_core::params::Setting;
use lightlag_core::{Duration, Instant, Unit};
use std::collections::VecDeque;

/// INIT_CWND and MIN_CWND (RFC 6817 §2.5).
const LEAST_WINDOW: f64 = 2.0;
/// ALLOWED_INCREASE (RFC 6817 §2.5).
const ALLOWED_INCREASE: f64 = 1.0;
/// The part of TARGET at which slow start ends (LEDBAT++).
const FULL: f64 = 0.75;
/// The shortest time of a bin of the base history.
const BIN: Duration = Duration::from_secs(60);

/// Parameters of [`Ledbat`].
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// TARGET, 100 ms.
    pub target: Duration,
    /// GAIN, 1.
    pub gain: f64,
    /// BASE_HISTORY in minutes, 10.
    pub base_history: f64,
    /// CURRENT_FILTER in samples, 4.
    pub current_filter: f64,
    /// Whether the window first doubles every round.
    pub initial_slow_start: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            target: Duration::from_millis(100),
            gain: 1.0,
            base_history: 10.0,
            current_filter: 4.0,
            initial_slow_start: false,
        }
    }
}

/// The delays so far. They are in nanoseconds, relative to an unknown offset.
#[derive(Default)]
struct Delays {
    /// The first one-way delay in milliseconds. Later ones count from it, modulo the clock's 32 bits.
    reference: Option<u32>,
    /// Start and smallest delay of each bin.
    base: VecDeque<(Instant, i64)>,
    current: VecDeque<(Instant, i64)>,
}

impl Delays {
    /// The delay of this ACK, if it has one.
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

    /// Takes in the delay of this ACK, and returns the queueing delay in seconds.
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

/// LEDBAT's window.
pub struct Ledbat {
    config: Config,
    window: Window,
    delays: Delays,
    slow_start: bool,
}

impl Ledbat {
    /// LEDBAT at INIT_CWND, or at the connection's initial window if that is less.
    pub fn new(config: &Config, start: &Start) -> Self {
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
        // RFC 6817 §2.4.2 holds back an unused window. A full one may look unused: a sender of bursts waits until a
        // whole one fits.
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
        about: "For transfers in the background: keeps the delay that its own queue adds at 100 ms, by the timestamps of \
                the way there, and gives way to all who fill queues. Without timestamps the round-trip time takes the \
                place of the one-way delay, and a queue on the way back counts, too.",
        equations: &[
            "d = smallest of the last 4 one-way delays - smallest of the last 10 minutes",
            "off = (target - d)/target;  per acknowledged segment:  W += gain off/W",
            "W <= flight before the ACK + 1 unless it is used,  W >= 2;  begins at 2",
            "loss:     W = max(FlightSize/2, 2)",
            "timeout:  W = 1, and 2 with the next ACK",
            "equilibrium of a flow alone:  d = target",
        ],
        source: "RFC 6817, Low Extra Delay Background Transport (LEDBAT), 2012",
    };

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::time_up_to("target", |config: &mut Self| &mut config.target, Duration::from_millis(100))
                .by_default("100 ms")
                .unit("time")
                .about("TARGET: the queueing delay that the flow aims at."),
            Setting::quantity("gain", |config: &mut Self| &mut config.gain, Unit::Plain, 0.001, 1.0)
                .by_default("1")
                .unit("segments/RTT")
                .about("GAIN: what a round adds without a queue, and takes at twice the target."),
            Setting::quantity("base_history", |config: &mut Self| &mut config.base_history, Unit::Plain, 1.0, 1e6)
                .by_default("10")
                .unit("minutes")
                .about(
                    "BASE_HISTORY: how long a smallest delay counts; a minute is a round trip where that is longer.",
                ),
            Setting::quantity(
                "current_filter",
                |config: &mut Self| &mut config.current_filter,
                Unit::Plain,
                1.0,
                1000.0,
            )
            .by_default("4")
            .unit("samples")
            .about("CURRENT_FILTER: of so many delays of the last round trip the smallest counts."),
            Setting::flag("initial_slow_start", |config: &mut Self| &mut config.initial_slow_start)
                .by_default("false")
                .about("Double the window every round first, until the delay is above 3/4 of the target (LEDBAT++)."),
        ]
    }

    fn check(&self) -> Result<(), String> {
        if self.target < Duration::from_millis(1) {
            return Err(format!("target: {} is below 1 ms, the tick of timestamps", self.target));
        }
        Ok(())
    }

    fn build(&self, start: &Start) -> Box<dyn CongestionControl> {
        Box::new(Ledbat::new(self, start))
    }
}

#[cfg(test)]
mod tests;
