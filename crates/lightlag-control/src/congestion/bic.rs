//! BIC: a binary search for the window of the last loss.
//!
//! Xu, Harfoush, Rhee, "Binary increase congestion control (BIC) for fast long-distance networks", IEEE INFOCOM
//! 2004. W in segments, Wmax the window of the last loss, β the fraction that a loss keeps. A round trip adds S(W):
//!
//! - W below 14 segments: 1, as the standard TCP;
//! - W below Wmax: half of the way to it, (Wmax − W)/2, within Smin = 0.01 and Smax = 32;
//! - W from Wmax on: 1, 2, 4, … each time that the step has been added once, up to Smax: the slow start of the search
//!   for a new Wmax;
//! - no Wmax: Smax;
//! - loss, mark: Wmax = W, or W·(1 + β)/2 if W did not reach the last Wmax (fast convergence); ssthresh = β·W with β =
//!   0.875. Below 14 segments ssthresh = W/2, and Wmax stays.
//!
//! The variant `linux` has β = 0.8 and Smax = 16, goes a quarter of the way instead of half, and counts whole segments.
//! S is 4/20 for the last 8 segments below Wmax and the first 4 above; then (W − Wmax)/3 up to Wmax + 3·Smax, and Smax
//! from there. Without a Wmax it uses 0, and S is at least W/20. A window of 14 still counts as small, and a loss there
//! sets Wmax, too. In both variants a timeout clears Wmax, as in Linux; the paper does not specify this. In both, W is
//! the window, not FlightSize. Slow start and the window after a timeout are NewReno's. Linux's compensation of delayed
//! ACKs is left to the counting of ACKs.
//!
//! The variant `linux-2.6` is that of ns-2: see `bic/linux26.rs`.
//!
//! The paper's rules are those of its pseudo-code as generally known, and Linux's are those of tcp_bic.c. Neither text
//! was available.

mod linux26;

use super::hystart;
use super::linux26::Agent;
use super::registry::{About, Algorithm};
use super::window::window_based;
use super::{Ack, Cause, Congestion, CongestionControl, SlowStart, Start, Window};
use lightlag_core::params::Setting;
use lightlag_core::{Instant, Unit};

/// Linux: S for the first segments above Wmax equals its search step over this many rounds.
const LINUX_FIRST: f64 = 4.0;
/// Linux: without a loss, S is at least this part of W.
const LINUX_SEARCH: f64 = 1.0 / 20.0;

/// The source of the constants, and of the growth above Wmax.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// `linux-2.6` with the profile `ns2-linux`, `paper` with the others.
    #[default]
    Profile,
    /// Xu, Harfoush, Rhee 2004.
    Paper,
    /// Linux.
    Linux,
    /// Linux 2.6.22, as in ns-2's TCP-Linux.
    Linux26,
}

impl Variant {
    const ALL: [Self; 4] = [Self::Profile, Self::Paper, Self::Linux, Self::Linux26];

    fn is_paper(self) -> bool {
        matches!(self, Self::Profile | Self::Paper)
    }
}

/// Parameters of [`Bic`].
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The source of the constants, and of the growth above Wmax.
    pub variant: Variant,
    /// The fraction of the window that a loss keeps, 0.875.
    pub beta: f64,
    /// Smax: the most segments added in a round trip, 32.
    pub largest_step: f64,
    /// Smin: the fewest segments added by the search, 0.01.
    pub smallest_step: f64,
    /// A round trip goes one part in this many of the way to Wmax, 2.
    pub search_divisor: f64,
    /// The window in segments below which the standard TCP applies, 14.
    pub low_window: f64,
    /// Whether to release bandwidth to newcomers.
    pub fast_convergence: bool,
    /// Slow start.
    pub hystart: hystart::Config,
}

impl Config {
    /// The constants of `variant`.
    pub fn of(variant: Variant) -> Self {
        let (beta, largest_step, smallest_step, search_divisor) = match variant {
            Variant::Profile | Variant::Paper => (0.875, 32.0, 0.01, 2.0),
            Variant::Linux => (0.8, 16.0, 0.2, 4.0),
            Variant::Linux26 => (819.0 / 1024.0, 16.0, 0.2, 4.0),
        };
        Self {
            variant,
            beta,
            largest_step,
            smallest_step,
            search_divisor,
            low_window: 14.0,
            fast_convergence: true,
            hystart: hystart::Config::default(),
        }
    }

    /// Whether the standard TCP applies.
    fn is_low(&self, window: f64) -> bool {
        window < self.low_window || (!self.variant.is_paper() && window <= self.low_window)
    }

    /// S: the segments that a round trip adds to `window`.
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
                    return self.smallest_step;
                }
                way.max(self.smallest_step).min(self.largest_step)
            }
            (Some(w_max), Variant::Profile | Variant::Paper) => doubling(window - w_max).min(self.largest_step),
            (Some(w_max), Variant::Linux | Variant::Linux26) => self.linux_step_above(window - w_max),
            (None, Variant::Profile | Variant::Paper) => self.largest_step,
            (None, Variant::Linux | Variant::Linux26) => self.linux_step_above(window).max(window * LINUX_SEARCH),
        }
    }

    /// Wmax after a loss at `window` segments.
    fn next_w_max(&self, window: f64, last: Option<f64>) -> Option<f64> {
        if self.variant.is_paper() && self.is_low(window) {
            return last;
        }
        let missed = self.fast_convergence && last.is_some_and(|last| window < last);
        Some(if missed { window * (1.0 + self.beta) / 2.0 } else { window })
    }

    fn linux_step_above(&self, above: f64) -> f64 {
        if above < LINUX_FIRST {
            self.smallest_step
        } else if above < 3.0 * self.largest_step {
            above / 3.0
        } else {
            self.largest_step
        }
    }
}

/// 1 for the first segment above, 2 for the next two, 4 for the next four.
fn doubling(above: f64) -> f64 {
    let steps = (above as u64).saturating_add(1);
    (1_u64 << steps.ilog2()) as f64
}

impl Default for Config {
    fn default() -> Self {
        Self::of(Variant::default())
    }
}

/// BIC's window.
pub struct Bic {
    config: Config,
    window: Window,
    slow_start: SlowStart,
    /// The window of the last loss, unless a timeout followed.
    w_max: Option<f64>,
    /// The same before the last reaction.
    before: Option<f64>,
}

impl Bic {
    /// BIC in slow start, at the initial window.
    pub fn new(config: &Config, start: &Start) -> Self {
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
        about: "After a loss the window goes back by halves of the way: fast while far from the window of that loss, \
                slow near it, then faster and faster beyond. What CUBIC has smoothed; the default of Linux before it.",
        equations: &[
            "avoidance, per counted segment:   W += S/W",
            "W < 14:  S = 1",
            "W < Wmax:   S = (Wmax - W)/2, within 0.01 and 32      linux: (Wmax - W)/4, whole, at most 16; last 8: 0.2",
            "W >= Wmax:  S = 1, 2, 4, ... each for S segments, to 32  linux: 0.2 up to +4, (W - Wmax)/3 up to +48, 16",
            "no Wmax:    S = 32                                    linux: as Wmax = 0, and at least W/20",
            "loss:     Wmax = W, or W (1 + beta)/2 if W < last Wmax;  ssthresh = beta W, W/2 if W < 14, at least 2",
            "timeout:  the same ssthresh, W = 1, no Wmax",
            "linux-2.6: as linux;  a segment for 16/31 of the ACKs that its S asks for, and one more;  W whole",
        ],
        source: "Xu, Harfoush, Rhee, \"Binary increase congestion control (BIC) for fast long-distance networks\", \
                 IEEE INFOCOM 2004; linux: the numbers of Linux",
    };

    fn settings() -> Vec<Setting<Self>> {
        let own: Vec<Setting<Self>> = vec![
            Setting::word("variant", "a value", &["profile", "paper", "linux", "linux-2.6"], |config: &Self| config.variant as usize, |config: &mut Self, word| *config = Self::of(Variant::ALL[word])).by_default("profile").about("The source of the numbers, and of the steps near and above Wmax: paper, linux, or linux-2.6, the \
                          module of Linux 2.6.22 in ns-2, which counts ACKs and whole segments; profile is linux-2.6 in \
                          profile ns2-linux, paper in the others."),
            Setting::quantity("beta", |config: &mut Self| &mut config.beta, Unit::Plain, 0.1, 0.99).by_default("0.875; 0.8 in linux, 819/1024 in linux-2.6").about("The fraction of the window that a loss keeps."),
            Setting::quantity("largest_step", |config: &mut Self| &mut config.largest_step, Unit::Plain, 1.0, 10_000.0).by_default("32; 16 in linux and linux-2.6").unit("segments/RTT").about("Smax: the most that a round trip adds."),
            Setting::quantity("smallest_step", |config: &mut Self| &mut config.smallest_step, Unit::Plain, 0.0001, 1.0).by_default("0.01; 0.2 in linux and linux-2.6").unit("segments/RTT").about("Smin: the least that the search adds (ns-3: 0.8)."),
            Setting::quantity("search_divisor", |config: &mut Self| &mut config.search_divisor, Unit::Plain, 1.0, 100.0).by_default("2; 4 in linux and linux-2.6").about("A round trip goes one part in so many of the way to Wmax."),
            Setting::quantity("low_window", |config: &mut Self| &mut config.low_window, Unit::Plain, 0.0, 1e6).by_default("14").unit("segments").about("Below this window it grows and reacts as NewReno."),
            Setting::flag("fast_convergence", |config: &mut Self| &mut config.fast_convergence).by_default("true").about("After a loss below the last Wmax, aim lower, so that new flows get their share."),
        ];
        [own, hystart::settings("standard")].concat()
    }

    fn check(&self) -> Result<(), String> {
        self.hystart.check()?;
        let Self { smallest_step, largest_step, .. } = self;
        if smallest_step <= largest_step {
            return Ok(());
        }
        Err(format!("smallest_step: {smallest_step} is above largest_step, which is {largest_step}: make it smaller"))
    }

    fn build(&self, start: &Start) -> Box<dyn CongestionControl> {
        if self.variant == Variant::Linux26 {
            return Box::new(Agent::new(linux26::Module26::new(self), &self.hystart, start));
        }
        Box::new(Bic::new(self, start))
    }
}

impl hystart::Choosable for Config {
    fn hystart(&mut self) -> &mut hystart::Config {
        &mut self.hystart
    }
}

#[cfg(test)]
mod tests;
