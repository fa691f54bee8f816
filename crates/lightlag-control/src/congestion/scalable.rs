//! Scalable TCP: a fixed step for each ACK, so that recovering from a loss takes the same number of round trips at any
//! window.
//!
//! Kelly, "Scalable TCP: improving performance in highspeed wide area networks", ACM CCR 33(2), 2003. With W in
//! segments, a = 0.01 and b = 1/8:
//!
//! - avoidance, for each counted segment: W += a;
//! - loss, mark, timeout: ssthresh = (1 − b)·W, of the window, not of FlightSize, as in the paper;
//! - up to the legacy window of 16 segments, as in standard TCP: W += 1/W, and half of W remains after a loss.
//!
//! W then doubles in ln 2/ln(1 + a) = 70 round trips, and recovers from a loss in −ln(1 − b)/ln(1 + a) = 13.4. Slow
//! start and the window after a timeout are as in NewReno. The variant `linux-2.6` follows ns-2: see
//! `scalable/linux26.rs`. If flows with different windows have losses at the same time, the ratio of their windows does
//! not change. This unfairness is a property of the algorithm, not of this model.

mod linux26;

use super::about::{About, Signal};
use super::hystart;
use super::linux26::{Agent, Linux26Variant, RECEIVE_BUFFER, VariantChoice};
use super::registry::Algorithm;
use super::window::{REDUCES_WINDOW, window_based};
use super::{Ack, Congestion, CongestionControl, ConnectionStart, SlowStart, Window};
use lightlag_core::{Unit, settings};

settings! {
    /// Parameters of [`Scalable`].
    #[derive(Clone, Debug, PartialEq)]
    pub struct Config {
        /// Source of the rules.
        variant: Linux26Variant = Linux26Variant::default() => choice("a value").rules().implies(|config| *config = Self::of(config.variant));
        /// a: increase of the window per counted segment (ns-3: 0.02).
        increase: f64 = 0.01 => quantity(Unit::Plain, 0.0001, 1.0)
            .by_default("0.01; 0.02 in linux-2.6").unit("segments");
        /// 1 - b: fraction of the window that remains after a loss.
        beta: f64 = 0.875 => quantity(Unit::Plain, 0.1, 0.99);
        /// Maximum window for NewReno's rules.
        legacy_window: f64 = 16.0 => quantity(Unit::Plain, 0.0, 1e6)
            .by_default("16; 0 in linux-2.6").unit("segments");
        + /// Slow start.
        hystart: hystart::Config = hystart::Config::default() => hystart::settings("standard");
    }
}

impl Config {
    /// Returns the constants of `variant`.
    pub fn of(variant: Linux26Variant) -> Self {
        let others = Self { variant, ..Self::default() };
        if variant == Linux26Variant::Linux26 { Self { increase: 0.02, legacy_window: 0.0, ..others } } else { others }
    }

    fn is_legacy(&self, window: f64) -> bool {
        window <= self.legacy_window
    }
}

/// State of Scalable TCP.
pub struct Scalable {
    config: Config,
    window: Window,
    slow_start: SlowStart,
}

impl Scalable {
    /// Creates Scalable TCP in slow start, with the initial window.
    pub fn new(config: &Config, start: &ConnectionStart) -> Self {
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
        about: "Each ACK adds a hundredth of a segment, and a loss takes an eighth of the window. The time to recover, \
                13.4 round trips, therefore does not depend on the rate. Flows that have losses at the same time do \
                not converge to fair shares.",
        equations: &[
            "slow start, per counted segment:  W += 1",
            "avoidance, per counted segment:   W += 0.01;  1/W while W <= 16",
            "loss:     ssthresh = 0.875 W, W/2 while W <= 16, at least 2;  W = ssthresh",
            "timeout:  the same ssthresh, W = 1",
            "mean window over segments with loss p:  a/(b p) = 0.08/p;  over time 0.075/p",
        ],
        source: "Kelly, \"Scalable TCP: improving performance in highspeed wide area networks\", ACM CCR 33(2), 2003",
        year: 2003,
        signal: Signal::Loss,
        details: r#"
            0.01 is `increase` (0.02 in ns-3), 0.875 is `beta` and 16 is `legacy_window`, the maximum window for
            NewReno's rules.

            W doubles in ln 2/ln 1.01 = 70 round trips and recovers from a loss in 13.4. Flows that lose at the same time
            keep the ratio of their windows; this is a property of the algorithm.
        "#,
        variants: &[
            ("paper", "The equations above. The default, except in the profile `ns2-linux`."),
            (
                "linux-2.6",
                r#"
                tcp_scalable.c of Linux 2.6.22, as in ns-2; used by the profile `ns2-linux`. The window grows by one segment
                after min(W, 50) + 1 ACKs. A loss or timeout sets ssthresh = W − ⌊W/8⌋. There is no legacy window.
            "#,
            ),
        ],
        deviations: &[REDUCES_WINDOW, RECEIVE_BUFFER],
        checks: "Both times at 200 and 5000 segments, to 1 %; the mean window over time under random loss, to 5 %.",
        not_modelled: "",
    };

    fn check(&self) -> Result<(), String> {
        self.hystart.check()
    }

    fn build(&self, start: &ConnectionStart) -> Box<dyn CongestionControl> {
        if self.variant == Linux26Variant::Linux26 {
            return Box::new(Agent::new(linux26::ScalableLinux26::new(self), &self.hystart, start));
        }
        Box::new(Scalable::new(self, start))
    }
}

#[cfg(test)]
mod tests;
