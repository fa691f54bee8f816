//! HighSpeed TCP: increase and decrease depend on the window, through a response function.
//!
//! RFC 3649. With w in segments, up to w = 38 as standard TCP: a = 1, b = 1/2. Above 38 (§5):
//!
//! - p(w) is a straight line in logarithms from (38, 10⁻³) to (83,000, 10⁻⁷), about 0.078/w^1.2;
//! - b(w) = (0.1 − 0.5)·(ln w − ln 38)/(ln 83,000 − ln 38) + 0.5;
//! - a(w) = w²·p(w)·2·b(w)/(2 − b(w));
//! - avoidance, for each counted segment: w += a(w)/w; loss, mark, timeout: ssthresh = (1 − b(w))·w, of the
//!   window, not of FlightSize.
//!
//! a is at least 1, b at least 0.1. The `table` is from appendix B, built from 0.078/w^1.2 in integer steps of a; an
//! entry applies once the window reaches it. `linux` uses the entry after it, as Linux and ns-3 do, so a = 2 for w ≥
//! 38. The variant `linux-2.6` follows ns-2: see `highspeed/linux26.rs`. Slow start and the window after a timeout are
//!     as in NewReno. Limited slow start (RFC 3742), which §3 recommends, is not modelled.

mod linux26;

use super::about::{About, Signal};
use super::hystart;
use super::linux26::{Agent, Linux26Variant, RECEIVE_BUFFER, VariantChoice};
use super::registry::Algorithm;
use super::window::{REDUCES_WINDOW, window_based};
use super::{Ack, Congestion, CongestionControl, ConnectionStart, SlowStart, Window};
use lightlag_core::{Unit, settings, words};

/// Table of appendix B: minimum window in segments, increase a, decrease b.
#[rustfmt::skip]
const TABLE: [(f64, f64, f64); 73] = [
    (38.0, 1.0, 0.5), (118.0, 2.0, 0.44), (221.0, 3.0, 0.41), (347.0, 4.0, 0.38), (495.0, 5.0, 0.37),
    (663.0, 6.0, 0.35), (851.0, 7.0, 0.34), (1058.0, 8.0, 0.33), (1284.0, 9.0, 0.32), (1529.0, 10.0, 0.31),
    (1793.0, 11.0, 0.3), (2076.0, 12.0, 0.29), (2378.0, 13.0, 0.28), (2699.0, 14.0, 0.28), (3039.0, 15.0, 0.27),
    (3399.0, 16.0, 0.27), (3778.0, 17.0, 0.26), (4177.0, 18.0, 0.26), (4596.0, 19.0, 0.25), (5036.0, 20.0, 0.25),
    (5497.0, 21.0, 0.24), (5979.0, 22.0, 0.24), (6483.0, 23.0, 0.23), (7009.0, 24.0, 0.23), (7558.0, 25.0, 0.22),
    (8130.0, 26.0, 0.22), (8726.0, 27.0, 0.22), (9346.0, 28.0, 0.21), (9991.0, 29.0, 0.21), (10_661.0, 30.0, 0.21),
    (11_358.0, 31.0, 0.2), (12_082.0, 32.0, 0.2), (12_834.0, 33.0, 0.2), (13_614.0, 34.0, 0.19),
    (14_424.0, 35.0, 0.19), (15_265.0, 36.0, 0.19), (16_137.0, 37.0, 0.19), (17_042.0, 38.0, 0.18),
    (17_981.0, 39.0, 0.18), (18_955.0, 40.0, 0.18), (19_965.0, 41.0, 0.17), (21_013.0, 42.0, 0.17),
    (22_101.0, 43.0, 0.17), (23_230.0, 44.0, 0.17), (24_402.0, 45.0, 0.16), (25_618.0, 46.0, 0.16),
    (26_881.0, 47.0, 0.16), (28_193.0, 48.0, 0.16), (29_557.0, 49.0, 0.15), (30_975.0, 50.0, 0.15),
    (32_450.0, 51.0, 0.15), (33_986.0, 52.0, 0.15), (35_586.0, 53.0, 0.14), (37_253.0, 54.0, 0.14),
    (38_992.0, 55.0, 0.14), (40_808.0, 56.0, 0.14), (42_707.0, 57.0, 0.13), (44_694.0, 58.0, 0.13),
    (46_776.0, 59.0, 0.13), (48_961.0, 60.0, 0.13), (51_258.0, 61.0, 0.13), (53_677.0, 62.0, 0.12),
    (56_230.0, 63.0, 0.12), (58_932.0, 64.0, 0.12), (61_799.0, 65.0, 0.12), (64_851.0, 66.0, 0.11),
    (68_113.0, 67.0, 0.11), (71_617.0, 68.0, 0.11), (75_401.0, 69.0, 0.1), (79_517.0, 70.0, 0.1),
    (84_035.0, 71.0, 0.1), (89_053.0, 72.0, 0.1), (94_717.0, 73.0, 0.09),
];

settings! {
    /// Parameters of [`HighSpeed`].
    #[derive(Clone, Debug, PartialEq)]
    pub struct Config {
        /// Source of the rules.
        variant: Linux26Variant = Linux26Variant::default() => choice("a value").rules();
        /// Source of a and b: the formula, the RFC's table, or the table as linux reads it, shifted by one entry. The
        /// tables only fit the defaults of the other parameters.
        response: Response = Response::default() => choice("a value");
        /// Low_Window: maximum window for NewReno's rules.
        low_window: f64 = 38.0 => quantity(Unit::Plain, 2.0, 1e6).unit("segments");
        /// Low_P: loss rate for low_window.
        low_p: f64 = 1e-3 => quantity(Unit::Plain, 1e-9, 0.1).unit("losses/segment");
        /// High_Window: window at the loss rate high_p.
        high_window: f64 = 83_000.0 => quantity(Unit::Plain, 3.0, 1e8).unit("segments");
        /// High_P: loss rate for high_window.
        high_p: f64 = 1e-7 => quantity(Unit::Plain, 1e-12, 0.1).unit("losses/segment");
        /// High_Decrease: fraction of the window removed by a loss at high_window and above.
        high_decrease: f64 = 0.1 => quantity(Unit::Plain, 0.01, 0.5);
        + /// Slow start.
        hystart: hystart::Config = hystart::Config::default() => hystart::settings("standard");
    }
}

words! {
    /// Source of a and b.
    pub enum Response {
        /// The equations of §5.
        Formula = "formula",
        /// The table of appendix B: the last entry that the window has reached.
        Table = "table",
        /// The table as Linux and ns-3 read it: the first entry that the window has not passed.
        Linux = "linux",
    }
}

impl Config {
    /// Returns a(w) in segments per round, and b(w).
    fn response(&self, window: f64) -> (f64, f64) {
        match self.response {
            Response::Formula => self.formula(window),
            Response::Table => entry(TABLE.partition_point(|row| row.0 <= window).saturating_sub(1)),
            Response::Linux => entry(TABLE.partition_point(|row| row.0 < window)),
        }
    }

    /// Returns true if the parameters have the values for which the tables were computed.
    fn has_fixed_numbers(&self) -> bool {
        let Self { variant, response, hystart, .. } = *self;
        *self == Self { variant, response, hystart, ..Self::default() }
    }

    fn formula(&self, window: f64) -> (f64, f64) {
        if window <= self.low_window {
            return (1.0, 0.5);
        }
        let share = libm::log(window / self.low_window) / libm::log(self.high_window / self.low_window);
        let p = self.low_p * libm::exp(share * libm::log(self.high_p / self.low_p));
        let b = (0.5 + share * (self.high_decrease - 0.5)).max(self.high_decrease);
        ((window * window * p * 2.0 * b / (2.0 - b)).max(1.0), b)
    }
}

/// Returns a and b in a row of the table; beyond the table, the last row applies.
fn entry(row: usize) -> (f64, f64) {
    let (_, a, b) = TABLE[row.min(TABLE.len() - 1)];
    (a, b)
}

/// State of HighSpeed TCP.
pub struct HighSpeed {
    config: Config,
    window: Window,
    slow_start: SlowStart,
    /// Window for which `a` was computed. It is computed again once the window has changed by a segment.
    at: f64,
    a: f64,
}

impl HighSpeed {
    /// Creates HighSpeed TCP in slow start, with the initial window.
    pub fn new(config: &Config, start: &ConnectionStart) -> Self {
        Self {
            config: config.clone(),
            window: Window::new(start),
            slow_start: SlowStart::new(&config.hystart, start),
            at: 0.0,
            a: 1.0,
        }
    }

    /// Returns a(w), which is computed again if the window has changed by at least a segment.
    fn increase(&mut self) -> f64 {
        let window = self.window.segments();
        if (window - self.at).abs() >= 1.0 {
            self.at = window;
            self.a = self.config.response(window).0;
        }
        self.a
    }
}

window_based!(HighSpeed);

impl CongestionControl for HighSpeed {
    fn on_ack(&mut self, ack: &Ack) {
        if !ack.may_grow() {
            return;
        }
        let left = self.slow_start.grow(ack, &mut self.window, ack.growth, 1.0);
        if left > 0.0 {
            let a = self.increase();
            self.window.grow(left * a / self.window.segments());
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        let window = self.window.segments();
        let (_, b) = self.config.response(window);
        self.window.react(event, (1.0 - b) * window);
    }
}

impl Algorithm for Config {
    const ABOUT: About = About {
        about: "Standard TCP up to 38 segments. Above, the growth per round trip rises with the window and the \
                reduction after a loss falls, so that 10 Gbit/s at 100 ms tolerates one loss in ten million segments \
                instead of one in five billion.",
        equations: &[
            "p(w) = exp( ln(w/38)/ln(83000/38) ln(1e-7/1e-3) + ln 1e-3 ),  about 0.078/w^1.2",
            "b(w) = (0.1 - 0.5) ln(w/38)/ln(83000/38) + 0.5",
            "a(w) = w^2 p(w) 2 b(w)/(2 - b(w)), at least 1;  w <= 38: a = 1, b = 1/2",
            "avoidance, per counted segment:   W += a(W)/W",
            "loss:     ssthresh = (1 - b(W)) W, at least 2;  W = ssthresh",
            "timeout:  the same ssthresh, W = 1",
            "mean window with loss p < 1e-3:   0.12/p^0.835 segments",
        ],
        source: "RFC 3649 (Floyd, 2003), §5 and appendix B",
        year: 2003,
        signal: Signal::Loss,
        details: r#"
            38, 10⁻³, 83000, 10⁻⁷ and 0.1 are `low_window`, `low_p`, `high_window`, `high_p` and `high_decrease`.

            `response = "table"` uses the table of appendix B, where a is an integer that applies to windows of at least
            the entry. `response = "linux"` reads the same table one entry ahead, as Linux and ns-3 do: a = 2 for W ≥ 38.
        "#,
        variants: &[
            ("paper", "The equations above. The default, except in the profile `ns2-linux`."),
            (
                "linux-2.6",
                r#"
                tcp_highspeed.c of Linux 2.6.22, as in ns-2; used by the profile `ns2-linux`. The table is read one
                entry ahead, and only avoidance changes the entry. Each ACK adds a to a count; when the count reaches W,
                the window grows by one segment and the count is reduced by W. ssthresh = W − ⌊b W⌋, with b rounded down
                to a multiple of 1/256.
            "#,
            ),
        ],
        deviations: &[REDUCES_WINDOW, RECEIVE_BUFFER],
        checks: "a and b at 1058, 10,000 and 83,000 segments; every row of the table against the program of appendix B; the \
                 mean window under regular losses, to 10 %, and under random losses, to 5 % of what a(W) and b(W) give in \
                 a model without packets (1.16 and 1.03 times the equation at 10⁻³ and 10⁻⁴).",
        not_modelled: "Limited slow start (RFC 3742), which §3 recommends.",
    };

    fn check(&self) -> Result<(), String> {
        self.hystart.check()?;
        let Self { low_window, high_window, low_p, high_p, .. } = self;
        if low_window >= high_window {
            return Err(format!("low_window: {low_window} is not below high_window, which is {high_window}"));
        }
        if high_p >= low_p {
            return Err(format!("high_p: {high_p} is not below low_p, which is {low_p}"));
        }
        let is_linux26 = self.variant == Linux26Variant::Linux26;
        if is_linux26 && self.response != Response::Formula {
            return Err(
                "response: cannot be combined with variant = \"linux-2.6\", which has its own table: remove response"
                    .to_owned(),
            );
        }
        if (is_linux26 || self.response != Response::Formula) && !self.has_fixed_numbers() {
            return Err("response: the tables have fixed values: remove the other parameters".to_owned());
        }
        Ok(())
    }

    fn in_linux26(&self) -> Self {
        // A response or numbers of the scenario's own stay.
        let is_free = self.response == Response::Formula && self.has_fixed_numbers();
        let variant =
            if is_free && self.variant == Linux26Variant::Profile { Linux26Variant::Linux26 } else { self.variant };
        Self { variant, ..self.clone() }
    }

    fn build(&self, start: &ConnectionStart) -> Box<dyn CongestionControl> {
        if self.variant == Linux26Variant::Linux26 {
            return Box::new(Agent::new(linux26::HighSpeedLinux26::new(self), &self.hystart, start));
        }
        Box::new(HighSpeed::new(self, start))
    }
}
#[cfg(test)]
mod tests;
