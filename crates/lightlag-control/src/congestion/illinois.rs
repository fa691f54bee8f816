//! Illinois: losses determine when the window shrinks; the queueing delay determines how fast it grows and by how much
//! it shrinks.
//!
//! Liu, Başar, Srikant, "TCP-Illinois: a loss- and delay-based congestion control algorithm for high-speed networks",
//! Performance Evaluation 65(6-7), 2008. With d the mean queueing delay of a round trip, dm the largest queueing delay
//! of the connection, and di = ηi·dm for η = 0.01, 0.1, 0.8:
//!
//! - α = αmax if d ≤ d1, else κ1/(κ2 + d), from αmax = 10 at d1 down to αmin = 0.3 at dm;
//! - β = βmin = 1/8 if d ≤ d2, βmax = 1/2 if d ≥ d3, linear in between;
//! - avoidance, for each counted segment: W += α/W; loss, timeout: ssthresh = (1 − β)·FlightSize;
//! - α = 1 and β = 1/2 below 15 segments, and after a timeout until the round ends.
//!
//! Once d was above d1, α returns to αmax only after θ = 5 round trips at or below it. α and β change at the end of a
//! round trip, and start at αmax and βmax. The queueing delay is the RTT less the smallest RTT of the connection. It is
//! not bounded, whereas Linux limits its samples to 3.3 s. The paper reduces the window; this model reduces the flight
//! (RFC 5681 equation 4). The two differ only if the window was not filled. Slow start and the window after a timeout
//! are as in NewReno.
//!
//! The variant `linux-2.6` follows tcp_illinois.c before 2.6.23, which ns-2 contains: after a loss or timeout the
//! fraction β of the window remains, not 1 − β, so that a loss without a queue leaves an eighth of it; below 15
//! segments α and β also change only when a round trip ends; W grows by whole segments, once the counted segments times
//! α reach W; slow start applies up to and including W = ssthresh. Rounds end with the ACK of data that was sent in
//! them, and no round ends in fast recovery.

use super::about::{About, Deviation, Signal};
use super::hystart;
use super::linux26::{Linux26Variant, RECEIVE_BUFFER, VariantChoice};
use super::registry::Algorithm;
use super::round::{Round, Samples};
use super::window::window_based;
use super::{Ack, Cause, Congestion, CongestionControl, ConnectionStart, Phase, SlowStart, Window};
use lightlag_core::{Duration, Instant, Unit, settings};

settings! {
    /// Parameters of [`Illinois`].
    #[derive(Clone, Debug, PartialEq)]
    pub struct Config {
        /// Source of the rules.
        variant: Linux26Variant = Linux26Variant::default() => choice("a value").rules();
        /// Increase per round at the maximum queueing delay.
        alpha_min: f64 = 0.3 => quantity(Unit::Plain, 0.01, 1000.0).unit("segments/RTT");
        /// Increase per round without a queue.
        alpha_max: f64 = 10.0 => quantity(Unit::Plain, 0.01, 1000.0).unit("segments/RTT");
        /// Fraction of the window removed by a loss without a queue.
        decrease_min: f64 = 0.125 => quantity(Unit::Plain, 0.01, 0.9);
        /// Fraction of the window removed by a loss at a large delay.
        decrease_max: f64 = 0.5 => quantity(Unit::Plain, 0.01, 0.9);
        /// The increase is alpha_max up to this fraction of the maximum queueing delay.
        eta1: f64 = 0.01 => quantity(Unit::Plain, 0.0, 0.99);
        /// A loss removes decrease_min up to this fraction of the maximum queueing delay.
        eta2: f64 = 0.1 => quantity(Unit::Plain, 0.0, 1.0);
        /// A loss removes decrease_max from this fraction of the maximum queueing delay.
        eta3: f64 = 0.8 => quantity(Unit::Plain, 0.0, 1.0);
        /// Minimum window for Illinois' rules; below it Illinois grows and reacts like NewReno.
        low_window: f64 = 15.0 => quantity(Unit::Plain, 0.0, 1e6).unit("segments");
        /// Number of rounds with a small delay before the increase returns to alpha_max.
        theta: f64 = 5.0 => quantity(Unit::Plain, 1.0, 1000.0).unit("RTTs");
        + /// An early end of slow start, off by default.
        hystart: hystart::Config = hystart::Config::default() => hystart::settings("standard");
    }
}

impl Config {
    /// Returns α for a delay above d1: κ1/(κ2 + d), with numerator and denominator multiplied by (αmax − αmin). `d_m`:
    /// maximum delay.
    fn alpha(&self, delay: f64, d_m: f64) -> f64 {
        let Self { alpha_min, alpha_max, eta1, .. } = *self;
        let (span, above) = (d_m * (1.0 - eta1), delay - eta1 * d_m);
        span * alpha_max * alpha_min / (span * alpha_min + above * (alpha_max - alpha_min))
    }

    /// Returns β. `d_m`: maximum delay.
    fn decrease(&self, delay: f64, d_m: f64) -> f64 {
        let Self { decrease_min, decrease_max, eta2, eta3, .. } = *self;
        if delay <= eta2 * d_m {
            return decrease_min;
        }
        if delay >= eta3 * d_m {
            return decrease_max;
        }
        decrease_min + (decrease_max - decrease_min) * (delay - eta2 * d_m) / ((eta3 - eta2) * d_m)
    }
}

/// α and β, which follow from the delays.
#[derive(Clone, Copy)]
struct Slopes {
    alpha: f64,
    decrease: f64,
    /// Whether d has exceeded d1 since α was last αmax.
    was_above: bool,
    /// Number of rounds with d at or below d1 since then.
    low_rounds: f64,
}

/// State of Illinois.
pub struct Illinois {
    config: Config,
    window: Window,
    slow_start: SlowStart,
    slopes: Slopes,
    /// α and β before the last reaction, for an undo.
    before: Slopes,
    /// Maximum round-trip sample of the connection.
    max_rtt: Duration,
    round: Round,
    /// Segments counted since W last grew, if W grows by whole segments.
    counted: f64,
}

impl Illinois {
    /// Creates Illinois in slow start, with the initial window.
    pub fn new(config: &Config, start: &ConnectionStart) -> Self {
        let slopes =
            Slopes { alpha: config.alpha_max, decrease: config.decrease_max, was_above: false, low_rounds: 0.0 };
        Self {
            config: config.clone(),
            window: Window::new(start),
            slow_start: SlowStart::new(&config.hystart, start),
            slopes,
            before: slopes,
            max_rtt: Duration::ZERO,
            round: Round::default(),
            counted: 0.0,
        }
    }

    /// Sets α and β for the next round, from the mean delay of the last round and the maximum delay.
    fn adapt(&mut self, round: &Samples, min_rtt: Duration) {
        let Some(mean) = round.mean() else { return };
        let (delay, d_m) = (mean.saturating_sub(min_rtt), self.max_rtt.saturating_sub(min_rtt));
        let (delay, d_m) = (delay.as_secs_f64(), d_m.as_secs_f64());
        self.slopes.decrease = self.config.decrease(delay, d_m);
        if delay > self.config.eta1 * d_m {
            self.slopes.alpha = self.config.alpha(delay, d_m);
            self.slopes.was_above = true;
            self.slopes.low_rounds = 0.0;
            return;
        }
        self.slopes.low_rounds += 1.0;
        if !self.slopes.was_above || self.slopes.low_rounds >= self.config.theta {
            self.slopes.alpha = self.config.alpha_max;
            self.slopes.was_above = false;
        }
    }

    fn is_small(&self) -> bool {
        self.window.segments() < self.config.low_window
    }

    fn is_linux26(&self) -> bool {
        self.config.variant == Linux26Variant::Linux26
    }

    /// Returns the samples of the round that this ACK ends. In `linux-2.6` an ACK in fast recovery never ends a round,
    /// as tcp_ack calls tcp_illinois_cong_avoid only if the window may grow.
    fn ended_round(&mut self, ack: &Ack) -> Option<Samples> {
        if !self.is_linux26() {
            return self.round.on_ack(ack);
        }
        if ack.phase == Phase::Recovery {
            self.round.take_in(ack);
            return None;
        }
        self.round.on_ack_beyond(ack)
    }

    /// Sets α and β at the end of a round, by the rules of `linux-2.6`.
    fn adapt_linux26(&mut self, round: &Samples, min_rtt: Duration) {
        if self.is_small() {
            (self.slopes.alpha, self.slopes.decrease) = (1.0, 0.5);
        } else {
            self.adapt(round, min_rtt);
        }
    }

    fn avoid_congestion(&mut self, acked: f64) {
        let window = self.window.segments();
        if !self.is_linux26() {
            let alpha = if self.is_small() { 1.0 } else { self.slopes.alpha };
            return self.window.grow(acked * alpha / window);
        }
        self.counted += acked;
        let due = self.counted * self.slopes.alpha / window;
        if due >= 1.0 {
            self.window.grow(libm::floor(due));
            self.counted = 0.0;
        }
    }
}

window_based!(Illinois);

impl CongestionControl for Illinois {
    fn on_ack(&mut self, ack: &Ack) {
        // Linux 2.6, tcp_ack: SACKed data gives no sample.
        let ack = &Ack { rtt: ack.rtt.filter(|_| ack.newly_acked > 0 || !self.is_linux26()), ..*ack };
        if let Some(rtt) = ack.rtt {
            self.max_rtt = self.max_rtt.max(rtt);
        }
        match self.ended_round(ack) {
            Some(samples) if self.is_linux26() => self.adapt_linux26(&samples, ack.min_rtt),
            Some(samples) => self.adapt(&samples, ack.min_rtt),
            None => {}
        }
        if !ack.may_grow() {
            return;
        }
        let starting = self.is_linux26() && self.window.segments() <= self.window.threshold();
        let left = self.slow_start.grow(ack, &mut self.window, ack.growth, 1.0);
        if starting {
            self.window.grow(left);
        } else if left > 0.0 {
            self.avoid_congestion(left);
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        self.counted = 0.0;
        let kept = match self.config.variant {
            Linux26Variant::Linux26 => self.slopes.decrease,
            Linux26Variant::Profile | Linux26Variant::Paper | Linux26Variant::Ns3 if self.is_small() => 0.5,
            Linux26Variant::Profile | Linux26Variant::Paper | Linux26Variant::Ns3 => 1.0 - self.slopes.decrease,
        };
        self.window.react(event, kept * self.window.in_segments(event.flight));
        if event.cause != Cause::RepeatedTimeout {
            self.before = self.slopes;
        }
        if matches!(event.cause, Cause::Timeout | Cause::RepeatedTimeout) {
            self.slopes = Slopes { alpha: 1.0, decrease: 0.5, was_above: false, low_rounds: 0.0 };
            self.round.forget();
        }
    }

    fn on_undo(&mut self, _now: Instant) {
        self.window.undo();
        self.slopes = self.before;
    }
}

impl Algorithm for Config {
    const ABOUT: About = About {
        about: "Losses determine when the window is reduced; the queueing delay determines the growth and the size of the \
                reduction. With an empty queue it grows by ten segments per round trip and a loss takes an eighth; at the \
                maximum delay it grows by 0.3 segments and a loss takes half. Losses without congestion therefore cost \
                little.",
        equations: &[
            "d = mean RTT of the round - RTTmin, dm = largest RTT - RTTmin, d1 = 0.01 dm, d2 = 0.1 dm, d3 = 0.8 dm",
            "alpha = 10 if d <= d1, else k1/(k2 + d): 0.3 at dm;  back to 10 after 5 rounds at or below d1",
            "k1 = (dm - d1) 0.3 10/(10 - 0.3),  k2 = (dm - d1) 0.3/(10 - 0.3) - d1",
            "beta = 1/8 if d <= d2, 1/2 if d >= d3, linear between;  W < 15: alpha = 1, beta = 1/2",
            "avoidance, per counted segment:   W += alpha/W",
            "loss:     ssthresh = max((1 - beta) FlightSize, 2), W = ssthresh",
            "timeout:  the same ssthresh, W = 1;  alpha = 1, beta = 1/2 until the round ends",
        ],
        source: "Liu, Başar, Srikant, \"TCP-Illinois: a loss- and delay-based congestion control algorithm for \
                 high-speed networks\", Performance Evaluation 65(6-7), 2008",
        year: 2008,
        signal: Signal::LossAndDelay,
        details: r#"
            Here β is the fraction that a loss **removes**. Delays have no upper bound; Linux truncates samples at 3.3 s, so
            that dm is 0 on every longer path. Where no queue ever forms, it is an AIMD with α = 10 and β = 1/8.
        "#,
        variants: &[
            ("paper", "The equations above. The default, except in the profile `ns2-linux`."),
            (
                "linux-2.6",
                r#"
                The module of Linux up to 2.6.22, as in ns-2; used by the profile `ns2-linux`. After a loss or timeout
                the fraction β of the window remains, not 1 − β, so that a loss without a queue leaves an eighth. The
                window grows by whole segments, when the counted segments multiplied by α reach W. For W < 15 α and β
                are also updated only at the end of a round. Only acknowledged data gives samples. Slow start also
                applies at ssthresh. A round ends with the first ACK of data that was sent in it (`after(ack,
                end_seq)`), and never in fast recovery.
            "#,
            ),
        ],
        deviations: &[
            Deviation {
                scope: "paper",
                source: "a loss reduces W",
                here: "a loss reduces FlightSize",
                reason: "RFC 5681 §3.1; they differ only if the window was not filled",
            },
            RECEIVE_BUFFER,
        ],
        checks: "α and β at eight delays, for base RTTs of 100 ms and 20 minutes; the five rounds; the mean window √(10 (1 + \
                 7/8)/(2p/8)) under random loss, to 10 %.",
        not_modelled: "",
    };

    fn check(&self) -> Result<(), String> {
        for (low, min, high, max) in [
            ("alpha_min", self.alpha_min, "alpha_max", self.alpha_max),
            ("decrease_min", self.decrease_min, "decrease_max", self.decrease_max),
            ("eta2", self.eta2, "eta3", self.eta3),
        ] {
            if min > max {
                return Err(format!("{low}: {min} is above {high}, which is {max}: reduce it"));
            }
        }
        self.hystart.check()
    }

    fn build(&self, start: &ConnectionStart) -> Box<dyn CongestionControl> {
        Box::new(Illinois::new(self, start))
    }
}
#[cfg(test)]
mod tests;
