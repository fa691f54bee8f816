//! Scalable TCP: a fixed step for each ACK, so that recovering from a loss takes the same number of round trips at any
//! window.
//!
//! Kelly, "Scalable TCP: improving performance in highspeed wide area networks", ACM CCR 33(2), 2003. With W in
//! segments, a = 0.01 and b = 1/8:
//!
//! - avoidance, for each counted segment: W += a;
//! - loss, mark, timeout: ssthresh = (1 − b)·W, of the window, not of FlightSize, as in the paper;
//! - up to the legacy window of 16 segments, where the paper keeps the standard TCP: W += 1/W, and half of W after a
//!   loss.
//!
//! W then doubles in ln 2/ln(1 + a) = 70 round trips, and recovers from a loss in −ln(1 − b)/ln(1 + a) = 13.4. Slow
//! start and the window after a timeout are NewReno's. The variant `linux-2.6` is that of ns-2: see
//! `scalable/linux26.rs`. Flows with different windows that lose together keep their
//! ratio: the unfairness belongs to the algorithm, not to this model.

mod linux26;

use super::hystart;
use super::linux26::{Agent, Choosable, Variant};
use super::registry::{About, Algorithm};
use super::window::window_based;
use super::{Ack, Congestion, CongestionControl, SlowStart, Start, Window};
use lightlag_core::Unit;
use lightlag_core::params::Setting;

/// Parameters of [`Scalable`].
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The source of the rules.
    pub variant: Variant,
    /// a: segments added for each counted one, 0.01.
    pub increase: f64,
    /// 1 − b: the fraction of the window that a loss keeps, 0.875.
    pub beta: f64,
    /// The largest window in segments at which the standard TCP applies, 16.
    pub legacy_window: f64,
    /// Slow start.
    pub hystart: hystart::Config,
}

impl Config {
    /// The constants of `variant`.
    pub fn of(variant: Variant) -> Self {
        let (increase, legacy_window) = if variant == Variant::Linux26 { (0.02, 0.0) } else { (0.01, 16.0) };
        Self { variant, increase, beta: 0.875, legacy_window, hystart: hystart::Config::default() }
    }

    fn is_legacy(&self, window: f64) -> bool {
        window <= self.legacy_window
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::of(Variant::default())
    }
}

impl Choosable for Config {
    fn variant(&self) -> Variant {
        self.variant
    }

    fn choose(&mut self, variant: Variant) {
        *self = Self::of(variant);
    }
}

/// Scalable TCP's window.
pub struct Scalable {
    config: Config,
    window: Window,
    slow_start: SlowStart,
}

impl Scalable {
    /// Scalable TCP in slow start, at the initial window.
    pub fn new(config: &Config, start: &Start) -> Self {
        Self { config: config.clone(), window: Window::new(start), slow_start: SlowStart::new(&config.hystart, start) }
    }
}

window_based!(Scalable);

impl CongestionControl for Scalable {
    fn on_ack(&mut self, ack: &Ack) {
        if !ack.may_grow() {
            return;
        }
        let left = self.slow_start.grow(ack, &mut self.window, ack.growth, 1.0);
        if left > 0.0 {
            let each = if self.config.is_legacy(self.window.segments()) {
                1.0 / self.window.segments()
            } else {
                self.config.increase
            };
            self.window.grow(left * each);
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        let kept = if self.config.is_legacy(self.window.segments()) { 0.5 } else { self.config.beta };
        self.window.react(event, kept * self.window.segments());
    }
}

impl Algorithm for Config {
    const ABOUT: About = About {
        about: "Every ACK adds the same, a hundredth of a segment, and a loss takes an eighth of the window: the time \
                to recover, 13.4 round trips, does not depend on the rate. Flows that lose at the same time do not \
                become fair.",
        equations: &[
            "slow start, per counted segment:  W += 1",
            "avoidance, per counted segment:   W += 0.01;  1/W while W <= 16",
            "loss:     ssthresh = 0.875 W, W/2 while W <= 16, at least 2;  W = ssthresh",
            "timeout:  the same ssthresh, W = 1",
            "linux-2.6: a segment for 51 ACKs, or W + 1;  loss, timeout: ssthresh = W - W/8, whole, whatever W",
            "mean window over segments with loss p:  a/(b p) = 0.08/p;  over time 0.075/p",
        ],
        source: "Kelly, \"Scalable TCP: improving performance in highspeed wide area networks\", ACM CCR 33(2), 2003",
    };

    fn settings() -> Vec<Setting<Self>> {
        let own: Vec<Setting<Self>> = vec![
            super::linux26::setting(),
            Setting::quantity("increase", |config: &mut Self| &mut config.increase, Unit::Plain, 0.0001, 1.0)
                .by_default("0.01; 0.02 in linux-2.6")
                .unit("segments")
                .about("a: what each counted segment adds to the window (ns-3: 0.02)."),
            Setting::quantity("beta", |config: &mut Self| &mut config.beta, Unit::Plain, 0.1, 0.99)
                .by_default("0.875")
                .about("1 - b: the fraction of the window that a loss keeps."),
            Setting::quantity("legacy_window", |config: &mut Self| &mut config.legacy_window, Unit::Plain, 0.0, 1e6)
                .by_default("16; 0 in linux-2.6")
                .unit("segments")
                .about("Up to this window it grows and reacts as NewReno."),
        ];
        [own, hystart::settings("standard")].concat()
    }

    fn check(&self) -> Result<(), String> {
        self.hystart.check()
    }

    fn build(&self, start: &Start) -> Box<dyn CongestionControl> {
        if self.variant == Variant::Linux26 {
            return Box::new(Agent::new(linux26::Module26::new(self), &self.hystart, start));
        }
        Box::new(Scalable::new(self, start))
    }
}

impl hystart::Choosable for Config {
    fn hystart(&mut self) -> &mut hystart::Config {
        &mut self.hystart
    }
}

#[cfg(test)]
mod tests;
