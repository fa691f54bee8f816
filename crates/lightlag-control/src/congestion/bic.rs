//! BIC: a binary search for the window of the last loss.
//!
//! Xu, Harfoush, Rhee, "Binary increase congestion control (BIC) for fast long-distance networks", IEEE INFOCOM
//! 2004. W in segments, Wmax the window of the last loss, β the fraction that a loss keeps. In a round trip W grows by
//!       S(W):
//!
//! - W below 14 segments: 1, as in standard TCP;
//! - W below Wmax: half of the distance to it, (Wmax − W)/2, but at least Smin = 0.01 and at most Smax = 32;
//! - W ≥ Wmax: 1, 2, 4, … up to Smax; the step doubles whenever W has grown by it (a slow start in search of a new
//!   Wmax);
//! - no Wmax known: Smax;
//! - loss, mark: Wmax = W, or W·(1 + β)/2 if W did not reach the last Wmax (fast convergence); ssthresh = β·W with β =
//!   0.875. Below 14 segments ssthresh = W/2, and Wmax stays.
//!
//! The variant `linux` has β = 0.8 and Smax = 16, moves by a quarter of the distance instead of half, and counts whole
//! segments. S is 4/20 for the last 8 segments below Wmax and the first 4 above; then (W − Wmax)/3 up to Wmax + 3·Smax,
//! and Smax from there. If no Wmax is known, it counts as 0, and S is at least W/20. A window of 14 still counts as
//! small, and a loss there also sets Wmax. In both variants a timeout clears Wmax, as in Linux; the paper does not
//! specify this. At a loss, both take W as the window, not as FlightSize. Slow start and the window after a timeout are
//! as in NewReno. Linux's compensation for delayed ACKs is not needed here, because the acknowledged segments are
//! counted.
//!
//! The variant `linux-2.6` follows ns-2: see `bic/linux26.rs`.
//!
//! The rules of the paper follow its pseudo-code, and the rules of Linux follow tcp_bic.c, both as generally known:
//! neither text was available.

mod linux26;

use super::about::{About, Signal};
use super::hystart;
use super::linux26::{Agent, RECEIVE_BUFFER};
use super::registry::Algorithm;
use super::window::{REDUCES_WINDOW, window_based};
use super::{Ack, Cause, Congestion, CongestionControl, ConnectionStart, SlowStart, Window};
use lightlag_core::{Instant, Unit, settings, words};

/// Linux: number of segments above Wmax in which S is Smin.
const LINUX_FIRST: f64 = 4.0;
/// Linux: minimum S while no Wmax is known, as a fraction of W.
const LINUX_SEARCH: f64 = 1.0 / 20.0;

words! {
    /// Implementation that defines the constants, and the growth above Wmax.
    pub enum BicVariant {
        /// `linux-2.6` in the profile `ns2-linux`, `paper` in the others.
        Profile = "profile",
        /// Xu, Harfoush, Rhee 2004.
        Paper = "paper",
        /// Linux.
        Linux = "linux",
        /// Linux 2.6.22, as in ns-2's TCP-Linux.
        Linux26 = "linux-2.6",
    }
}

impl BicVariant {
    fn is_paper(self) -> bool {
        matches!(self, Self::Profile | Self::Paper)
    }
}

settings! {
    /// Parameters of [`Bic`].
    #[derive(Clone, Debug, PartialEq)]
    pub struct Config {
        /// Source of the constants, and of the steps near and above Wmax: paper, linux, or linux-2.6, the module of
        /// Linux 2.6.22 in ns-2, which counts ACKs and whole segments; profile is linux-2.6 in profile ns2-linux, and
        /// paper in the others.
        variant: BicVariant = BicVariant::default() => choice("a value").implies(|config| *config = Self::of(config.variant));
        /// Fraction of the window that remains after a loss.
        beta: f64 = 0.875 => quantity(Unit::Plain, 0.1, 0.99)
            .by_default("0.875; 0.8 in linux, 819/1024 in linux-2.6");
        /// Smax: maximum increase per round trip.
        max_step: f64 = 32.0 => quantity(Unit::Plain, 1.0, 10_000.0)
            .by_default("32; 16 in linux and linux-2.6").unit("segments/RTT");
        /// Smin: minimum increase of the search per round trip (ns-3: 0.8).
        min_step: f64 = 0.01 => quantity(Unit::Plain, 0.0001, 1.0)
            .by_default("0.01; 0.2 in linux and linux-2.6").unit("segments/RTT");
        /// Divisor of the distance to Wmax; the quotient is the increase per round trip.
        search_divisor: f64 = 2.0 => quantity(Unit::Plain, 1.0, 100.0)
            .by_default("2; 4 in linux and linux-2.6");
        /// Minimum window for BIC's rules; below it BIC grows and reacts like NewReno.
        low_window: f64 = 14.0 => quantity(Unit::Plain, 0.0, 1e6).unit("segments");
        /// Whether a loss below the last Wmax lowers the target, so that new flows get their share.
        fast_convergence: bool = true => flag();
        + /// Slow start.
        hystart: hystart::Config = hystart::Config::default() => hystart::settings("standard");
    }
}

impl Config {
    /// Returns the constants of `variant`.
    pub fn of(variant: BicVariant) -> Self {
        let paper = Self { variant, ..Self::default() };
        let linux = |beta| Self { beta, max_step: 16.0, min_step: 0.2, search_divisor: 4.0, ..paper.clone() };
        match variant {
            BicVariant::Profile | BicVariant::Paper => paper,
            BicVariant::Linux => linux(0.8),
            BicVariant::Linux26 => linux(819.0 / 1024.0),
        }
    }

    /// Returns true if the window is so small that BIC grows and reacts like standard TCP.
    fn is_low(&self, window: f64) -> bool {
        window < self.low_window || (!self.variant.is_paper() && window <= self.low_window)
    }

    /// Returns S: the number of segments that a round trip adds to `window`.
    fn step(&self, window: f64, w_max: Option<f64>) -> f64 {
        if self.is_low(window) {
            return 1.0;
        }
        match (w_max, self.variant) {
            (Some(w_max), _) if window < w_max => {
                let way = (w_max - window) / self.search_divisor;
                // Linux divides whole numbers: a distance below 2 counts as 1, and uses the smallest steps.
                let linux = !self.variant.is_paper();
                let way = if linux { libm::trunc(way) } else { way };
                if linux && way <= 1.0 {
                    return self.min_step;
                }
                way.max(self.min_step).min(self.max_step)
            }
            (Some(w_max), BicVariant::Profile | BicVariant::Paper) => doubling(window - w_max).min(self.max_step),
            (Some(w_max), BicVariant::Linux | BicVariant::Linux26) => self.linux_step_above(window - w_max),
            (None, BicVariant::Profile | BicVariant::Paper) => self.max_step,
            (None, BicVariant::Linux | BicVariant::Linux26) => self.linux_step_above(window).max(window * LINUX_SEARCH),
        }
    }

    /// Returns Wmax after a loss at a window of `window` segments.
    fn next_w_max(&self, window: f64, last: Option<f64>) -> Option<f64> {
        if self.variant.is_paper() && self.is_low(window) {
            return last;
        }
        let missed = self.fast_convergence && last.is_some_and(|last| window < last);
        Some(if missed { window * (1.0 + self.beta) / 2.0 } else { window })
    }

    fn linux_step_above(&self, above: f64) -> f64 {
        if above < LINUX_FIRST {
            self.min_step
        } else if above < 3.0 * self.max_step {
            above / 3.0
        } else {
            self.max_step
        }
    }
}

/// Returns the step above Wmax: 1 for the first segment, 2 for the next two, 4 for the next four, and so on.
fn doubling(above: f64) -> f64 {
    let steps = (above as u64).saturating_add(1);
    (1_u64 << steps.ilog2()) as f64
}

/// State of BIC.
pub struct Bic {
    config: Config,
    window: Window,
    slow_start: SlowStart,
    /// Wmax: the window at the last loss; `None` before a loss and after a timeout.
    w_max: Option<f64>,
    /// Wmax before the last reaction, for an undo.
    before: Option<f64>,
}

impl Bic {
    /// Creates BIC in slow start, with the initial window.
    pub fn new(config: &Config, start: &ConnectionStart) -> Self {
        Self {
            config: config.clone(),
            window: Window::new(start),
            slow_start: SlowStart::new(&config.hystart, start),
            w_max: None,
            before: None,
        }
    }
}

window_based!(Bic);

impl CongestionControl for Bic {
    fn on_ack(&mut self, ack: &Ack) {
        if !ack.may_grow() {
            return;
        }
        let left = self.slow_start.grow(ack, &mut self.window, ack.growth, 1.0);
        if left > 0.0 {
            let window = self.window.segments();
            self.window.grow(left * self.config.step(window, self.w_max) / window);
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        let window = self.window.segments();
        if event.cause != Cause::RepeatedTimeout {
            self.before = self.w_max;
        }
        self.w_max = match event.cause {
            Cause::Timeout | Cause::RepeatedTimeout => None,
            Cause::Loss | Cause::Mark => self.config.next_w_max(window, self.w_max),
        };
        let kept = if self.config.is_low(window) { 0.5 } else { self.config.beta };
        self.window.react(event, kept * window);
    }

    fn on_undo(&mut self, _now: Instant) {
        self.window.undo();
        self.w_max = self.before;
    }

    fn least_in_recovery(&self) -> u64 {
        self.window.threshold_bytes()
    }
}

impl Algorithm for Config {
    const ABOUT: About = About {
        about: "A binary search for the window of the last loss, Wmax: large steps far below it, small steps near it, and \
                growing steps above it. The default of Linux before CUBIC.",
        equations: &[
            "avoidance, per counted segment:   W += S/W",
            "W < 14:     S = 1",
            "W < Wmax:   S = (Wmax - W)/2, within 0.01 and 32",
            "W >= Wmax:  S = 1, 2, 4, ... to 32, each for S segments",
            "no Wmax:    S = 32",
            "loss:     Wmax = W, or W (1 + beta)/2 if W < last Wmax;  ssthresh = beta W, W/2 if W < 14, at least 2",
            "timeout:  the same ssthresh, W = 1, no Wmax",
        ],
        source: "Xu, Harfoush, Rhee, \"Binary increase congestion control (BIC) for fast long-distance networks\", \
                 IEEE INFOCOM 2004; linux: the numbers of Linux",
        year: 2004,
        signal: Signal::Loss,
        details: r#"
            S is the increase per round trip. 14 is `low_window`, 0.01 and 32 are `min_step` and `max_step`, and β, the
            fraction of the window that remains after a loss, is `beta` = 0.875. Reducing Wmax further after a loss
            below the last Wmax is called fast convergence; the variant `paper` does not use it below 14 segments.
        "#,
        variants: &[
            ("paper", "The equations above. The default, except in the profile `ns2-linux`."),
            (
                "linux",
                r#"
                The numbers of Linux:

                | window | S |
                |---|---|
                | up to 14 | 1 |
                | below Wmax | (Wmax − W)/4 in whole segments, at most 16; 0.2 for the last 8 segments |
                | from Wmax | 0.2 up to Wmax + 4, (W − Wmax)/3 up to Wmax + 48, then 16 |
                | no Wmax | as with Wmax = 0, and at least W/20 |

                A loss sets ssthresh = 0.8 W, or W/2 up to 14 segments.
            "#,
            ),
            (
                "linux-2.6",
                r#"
                tcp_bic.c of Linux 2.6.22, as in ns-2; used by the profile `ns2-linux`. The window grows by whole
                segments, by one after ⌊16 cnt/d⌋ + 1 ACKs. cnt = ⌊W/S⌋ is the number that S requires, at most 20 before
                the first loss. d/16 is the mean number of segments per ACK; it starts at 2 and stays at 31/16 with an ACK
                for each segment, so that the window grows almost twice as fast as intended. cnt is not updated for 31 ms
                while W is unchanged. β = 819/1024. ssthresh is the minimum window in fast recovery.
            "#,
            ),
        ],
        deviations: &[REDUCES_WINDOW, RECEIVE_BUFFER],
        checks: "Each step; the number of round trips from a loss back to Wmax, to 2 % at 1000 and 4000 segments: (W/8 − \
                 64)/32 + 2 ln(64/0.02) + 1 in `paper`, (W/5 − 64)/16 + 4 ln 16 + 20 in `linux`.",
        not_modelled: "In the variant `linux`, the kernel's estimate of the segments per ACK: the key `growth` of the \
                       connection sets the counted segments.",
    };

    fn check(&self) -> Result<(), String> {
        self.hystart.check()?;
        let Self { min_step, max_step, .. } = self;
        if min_step <= max_step {
            return Ok(());
        }
        Err(format!("min_step: {min_step} is above max_step, which is {max_step}: reduce it"))
    }

    fn build(&self, start: &ConnectionStart) -> Box<dyn CongestionControl> {
        if self.variant == BicVariant::Linux26 {
            return Box::new(Agent::new(linux26::BicLinux26::new(self), &self.hystart, start));
        }
        Box::new(Bic::new(self, start))
    }
}

#[cfg(test)]
mod tests;
