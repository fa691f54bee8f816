//! Reno, and the window that Tahoe, Reno and NewReno share: additive increase, multiplicative decrease.
//!
//! RFC 5681 §3.1, §3.2; Jacobson, "Modified TCP congestion avoidance algorithm", end2end-interest, 30 April 1990.
//! With W and ssthresh in segments:
//!
//! - slow start, for each counted segment: W += 1 (equation 2);
//! - congestion avoidance, for each counted segment: W += 1/W (equation 3), or W += 1 after W segments (the byte
//!   counting recommended by §3.1); in `linux-2.6` W += 1 after W acknowledged segments, including those acknowledged
//!   in the preceding recovery, at most once per ACK (`tcp_reno_cong_avoid` with `tcp_abc` = 1);
//! - loss: ssthresh = max(β FlightSize, 2), W = ssthresh, with β = 1/2 (equation 4);
//! - mark: as a loss, or with ABE ssthresh = max(0.8 FlightSize, 2) (RFC 8511 §3), unless β is larger;
//! - timeout: the same ssthresh, unless the timer expired before for the same data; W = 1.
//!
//! The connection determines for how many segments an ACK counts: one, the segments that it acknowledges, or those up
//! to a limit (RFC 3465). `reno` and `newreno` differ only in the repair of losses and the window during it, which is
//! the task of the recovery: `reno` is meant for `recovery = "reno"`, which leaves fast recovery at the first ACK of
//! new data (§3.2 step 6).

use super::about::{About, Signal};
use super::hystart;
use super::registry::Algorithm;
use super::window::window_based;
use super::{Ack, Cause, Congestion, CongestionControl, ConnectionStart, Needs, SlowStart, Window};
use lightlag_core::params::{Declared, Setting};
use lightlag_core::{Unit, words};
use std::marker::PhantomData;

/// Fraction of FlightSize that remains after a loss (RFC 5681 §3.1 equation 4).
const LOSS_KEPT: f64 = 0.5;
/// Fraction of FlightSize that remains after a congestion mark with ABE (RFC 8511 §3).
const ABE_KEPT: f64 = 0.8;

/// The variants of [`Increase`], for the descriptions of the algorithms.
pub(super) const INCREASES: &[(&str, &str)] = &[
    (
        "fraction",
        "RFC 5681: 1/W for each counted segment. The default, except in the profiles `linux`, `ns2-linux` and `ns3`.",
    ),
    (
        "whole",
        "Linux (profile `linux`): one segment after W counted segments; thresholds have whole segments, ssthresh = \
         max(⌊FlightSize/2⌋, 2).",
    ),
    (
        "linux-2.6",
        "Linux 2.6 with byte counting (profile `ns2-linux`): one segment after W acknowledged segments, including those \
         acknowledged in fast recovery, and at most one segment per ACK.",
    ),
    ("ns3", "ns-3 (profile `ns3`): 1/W for each ACK, and 1 in slow start, whatever the ACK acknowledges."),
];

/// Marker trait of the algorithms that share this window: Tahoe, Reno and NewReno.
pub(super) trait RenoFamily: Clone + Default + PartialEq + 'static {
    const ABOUT: About;

    /// Whether a loss sets the window to one segment and makes all outstanding data be retransmitted.
    const RESTARTS: bool;
}

/// Marker type of the algorithm `reno`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reno;

/// Parameters of the algorithm `M`.
#[derive(Clone, Debug, PartialEq)]
pub struct Config<M = Reno> {
    /// Form of the increase by a segment per round in congestion avoidance.
    pub increase: Increase,
    /// β: fraction of FlightSize that remains after a loss.
    pub beta: f64,
    /// Slow start.
    pub hystart: hystart::Config,
    member: PhantomData<M>,
}

impl<M> Default for Config<M> {
    fn default() -> Self {
        Self {
            increase: Increase::default(),
            beta: LOSS_KEPT,
            hystart: hystart::Config::default(),
            member: PhantomData,
        }
    }
}

words! {
    /// Form of the increase by a segment per round in congestion avoidance.
    pub enum Increase {
        /// `whole` in the profile `linux`, `linux-2.6` in `ns2-linux`, `ns3` in `ns3`, and `fraction` in the others.
        Profile = "profile",
        /// By 1/W for each counted segment (RFC 5681 equation 3).
        Fraction = "fraction",
        /// By a whole segment after W counted ones (RFC 5681 §3.1, RFC 3465 §2.1); thresholds are whole segments too,
        /// as in Linux (`tcp_cong_avoid_ai`, `tcp_reno_ssthresh`).
        Whole = "whole",
        /// By a whole segment after W acknowledged ones, as in Linux 2.6 with byte counting. Segments acknowledged in
        /// fast recovery also count, and an ACK adds at most one segment.
        Linux26 = "linux-2.6",
        /// By 1/W for each ACK, and in slow start by a segment for each ACK, as in ns-3 (`TcpNewReno`).
        Ns3 = "ns3",
    }
}

/// The window of RFC 5681.
pub struct Additive {
    window: Window,
    increase: Increase,
    counted: f64,
    /// Fractions of FlightSize that remain after a loss and after a congestion mark.
    loss_kept: f64,
    mark_kept: f64,
    restarts: bool,
    slow_start: SlowStart,
}

impl Increase {
    /// Returns the configured form, or `profile` if the form is left to the profile.
    fn or(self, profile: Self) -> Self {
        if self == Self::Profile { profile } else { self }
    }
}

impl Additive {
    /// Creates the algorithm in slow start, with the initial window.
    fn new<M: RenoFamily>(config: &Config<M>, start: &ConnectionStart) -> Self {
        Self {
            window: Window::new(start),
            increase: config.increase,
            counted: 0.0,
            loss_kept: config.beta,
            mark_kept: if start.abe { config.beta.max(ABE_KEPT) } else { config.beta },
            restarts: M::RESTARTS,
            slow_start: SlowStart::new(&config.hystart, start),
        }
    }

    fn avoid_congestion(&mut self, acked: f64) {
        if self.increase == Increase::Linux26 {
            let window = self.window.segments();
            if self.counted >= window {
                self.counted -= window;
                self.window.grow(1.0);
            }
            return;
        }
        if self.increase != Increase::Whole {
            self.window.grow(acked / self.window.segments());
            return;
        }
        let window = self.window.segments();
        if self.counted >= window {
            // The count was made at a larger window.
            self.counted = 0.0;
            self.window.grow(1.0);
        }
        self.counted += acked;
        if self.counted >= window {
            let whole = libm::floor(self.counted / window);
            self.counted -= whole * window;
            self.window.grow(whole);
        }
    }

    /// Returns this fraction of the flight as a threshold in segments.
    fn threshold(&self, kept: f64, flight: u64) -> f64 {
        let threshold = kept * self.window.in_segments(flight);
        if matches!(self.increase, Increase::Whole | Increase::Linux26) { libm::floor(threshold) } else { threshold }
    }
}

window_based!(Additive);

impl CongestionControl for Additive {
    fn on_ack(&mut self, ack: &Ack) {
        if self.increase == Increase::Linux26 {
            self.counted += self.window.in_segments(ack.newly_acked);
        }
        if !ack.may_grow() {
            return;
        }
        if self.increase == Increase::Linux26 && self.window.segments() <= self.window.threshold() {
            // Slow start also applies at the threshold, and uses up the count (tcp_slow_start).
            self.counted = 0.0;
            let left = self.slow_start.grow(ack, &mut self.window, ack.growth, 1.0);
            return self.window.grow(left);
        }
        let counted = if self.increase == Increase::Ns3 { 1.0 } else { ack.growth };
        let left = self.slow_start.grow(ack, &mut self.window, counted, 1.0);
        if left > 0.0 {
            self.avoid_congestion(left);
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        self.counted = 0.0;
        let kept = if event.cause == Cause::Mark { self.mark_kept } else { self.loss_kept };
        self.window.react(event, self.threshold(kept, event.flight));
        if self.restarts && event.cause == Cause::Loss {
            self.window.clamp_to(1.0);
        }
    }

    fn leave_slow_start(&mut self) {
        self.window.leave_slow_start();
    }
}

impl RenoFamily for Reno {
    const ABOUT: About = About {
        about: "The standard TCP of 1990. The window grows by one segment per round trip and is halved after a loss. It \
                has the window of newreno; with recovery = \"reno\" several losses in a window cause several halvings, \
                or a timeout.",
        equations: &[
            "slow start, per counted segment:  W += 1",
            "avoidance, per counted segment:   W += 1/W",
            "loss:     ssthresh = max(FlightSize/2, 2), W = ssthresh",
            "timeout:  ssthresh = max(FlightSize/2, 2), W = 1",
            "mean window with random loss p:   sqrt(3/(2p)) segments",
        ],
        source: "RFC 5681 §3.2; Jacobson, end2end-interest, 30 April 1990; the mean window: Mathis, Semke, Mahdavi, \
                 Ott, CCR 27(3), 1997",
        year: 1990,
        signal: Signal::Loss,
        details: r#"
            The key `recovery`, not the name of the algorithm, selects how losses are repaired. `reno` is meant for
            `recovery = "reno"`, where fast recovery ends at the first ACK of new data.

            With one loss every n segments the window is a sawtooth from W/2 to W with n = 3W²/8, and its mean is
            √(3/(2p)). 1/2 is `beta` (0.7 in quicly), with which the mean is √((1 + β)/(2 (1 − β) p)). A mark counts as a
            loss; with ABE (RFC 8511 §3) it leaves max(0.8 FlightSize, 2).
        "#,
        variants: INCREASES,
        deviations: &[],
        checks: "The sawtooth at one loss every n segments, to 1 %; the mean window under random loss at p = 10⁻², 10⁻³ \
                 and 10⁻⁴, to 10 %; both also with β = 0.7.",
        not_modelled: "",
    };
    const RESTARTS: bool = false;
}

impl<M: RenoFamily> Declared for Config<M> {
    fn settings() -> Vec<Setting<Self>> {
        let increase = Setting::choice("increase", |config: &mut Self| &mut config.increase, "a value").about(
            "Form of the increase by one segment per round in avoidance: fraction adds 1/W for each counted segment; whole \
             adds one segment after W of them and rounds thresholds to integer segments, as Linux; linux-2.6 counts \
             acknowledged segments, also in fast recovery; ns3 adds 1/W for each ACK, whatever it acknowledges; profile is whole \
             in profile linux, linux-2.6 in ns2-linux, ns3 in ns3, fraction in the others.",
        );
        let beta = Setting::quantity("beta", |config: &mut Self| &mut config.beta, Unit::Plain, 0.1, 0.99)
            .about("Fraction of FlightSize that remains after a loss (quicly: 0.7).");
        let slow_start = hystart::settings("standard").into_iter();
        let slow_start = slow_start.map(|setting| setting.within(|config: &mut Self| &mut config.hystart));
        [increase, beta].into_iter().chain(slow_start).collect()
    }
}

impl<M: RenoFamily> Algorithm for Config<M> {
    const ABOUT: About = M::ABOUT;
    const NEEDS: Needs = Needs { restart_on_loss: M::RESTARTS, ..Needs::NONE };

    fn check(&self) -> Result<(), String> {
        self.hystart.check()
    }

    fn in_linux(&self) -> Self {
        Self { increase: self.increase.or(Increase::Whole), ..self.clone() }
    }

    fn build(&self, start: &ConnectionStart) -> Box<dyn CongestionControl> {
        Box::new(Additive::new(self, start))
    }
}

#[cfg(test)]
mod tests;
