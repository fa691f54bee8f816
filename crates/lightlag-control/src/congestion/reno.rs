//! Reno, and the window that Tahoe, Reno and NewReno share: additive increase, multiplicative decrease.
//!
//! RFC 5681 §3.1, §3.2; Jacobson, "Modified TCP congestion avoidance algorithm", end2end-interest, 30 April 1990.
//! With W and ssthresh in segments:
//!
//! - slow start, for each counted segment: W += 1 (equation 2);
//! - congestion avoidance, for each counted segment: W += 1/W (equation 3), or W += 1 after W segments (the byte
//!   counting recommended by §3.1), or in `linux-2.6` after W acknowledged ones, including those of the repair before,
//!   once an ACK (`tcp_reno_cong_avoid` with `tcp_abc` = 1);
//! - loss: ssthresh = max(FlightSize/2, 2), W = ssthresh (equation 4);
//! - mark: as a loss, or with ABE ssthresh = max(0.8 FlightSize, 2) (RFC 8511 §3);
//! - timeout: the same ssthresh, unless it is for the same data again; W = 1.
//!
//! The connection chooses the count of an ACK: one segment, the segments that it acknowledges, or those up to a limit
//! (RFC 3465). `reno` and `newreno` differ in the repair and the window during it, which belong to the recovery: `reno`
//! goes with `recovery = "reno"`, which leaves fast recovery at the first ACK of new data (§3.2 step 6).

use super::hystart;
use super::registry::{About, Algorithm};
use super::window::window_based;
use super::{Ack, Cause, Congestion, CongestionControl, Needs, SlowStart, Start, Window};
use lightlag_core::params::Setting;
use std::marker::PhantomData;

/// The fraction that a congestion mark keeps with ABE (RFC 8511 §3).
const ABE_KEPT: f64 = 0.8;

/// One of the algorithms that share this window.
pub(super) trait Member: Clone + Default + PartialEq {
    const ABOUT: About;

    /// Whether a loss costs the whole window, and all outstanding data leaves again.
    const RESTARTS: bool;
}

/// `reno`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reno;

/// Parameters of the algorithm `M`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config<M = Reno> {
    /// The form of congestion avoidance's segment a round.
    pub increase: Increase,
    /// Slow start.
    pub hystart: hystart::Config,
    member: PhantomData<M>,
}

/// The form of congestion avoidance's segment a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Increase {
    /// `whole` with the profile `linux`, `linux-2.6` with `ns2-linux`, `ns3` with `ns3`, `fraction` with the others.
    #[default]
    Profile,
    /// 1/W for each counted segment (RFC 5681 equation 3).
    Fraction,
    /// A whole segment after W counted ones (RFC 5681 §3.1, RFC 3465 §2.1), and thresholds of whole segments, as in
    /// Linux (`tcp_cong_avoid_ai`, `tcp_reno_ssthresh`).
    Whole,
    /// A whole segment after W acknowledged ones, as in Linux 2.6 with byte counting. Segments acknowledged in fast
    /// recovery count, too, and an ACK adds at most one segment.
    Linux26,
    /// 1/W for each ACK, and a segment for each in slow start, as in ns-3 (`TcpNewReno`).
    Ns3,
}

/// RFC 5681's window.
pub struct Additive {
    window: Window,
    increase: Increase,
    counted: f64,
    /// The fraction of FlightSize that a congestion mark keeps.
    mark_kept: f64,
    restarts: bool,
    slow_start: SlowStart,
}

impl Increase {
    const ALL: [Self; 5] = [Self::Profile, Self::Fraction, Self::Whole, Self::Linux26, Self::Ns3];

    /// The choice, or that of the profile.
    fn or(self, profile: Self) -> Self {
        if self == Self::Profile { profile } else { self }
    }
}

impl Additive {
    /// The algorithm in slow start, at the initial window.
    fn new<M: Member>(config: &Config<M>, start: &Start) -> Self {
        Self {
            window: Window::new(start),
            increase: config.increase,
            counted: 0.0,
            mark_kept: if start.abe { ABE_KEPT } else { 0.5 },
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

    /// This fraction of the flight, as a threshold.
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
            // Slow start applies at the threshold, too, and uses up the count (tcp_slow_start).
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
        let kept = if event.cause == Cause::Mark { self.mark_kept } else { 0.5 };
        self.window.react(event, self.threshold(kept, event.flight));
        if self.restarts && event.cause == Cause::Loss {
            self.window.clamp_to(1.0);
        }
    }

    fn leave_slow_start(&mut self) {
        self.window.leave_slow_start();
    }
}

impl Member for Reno {
    const ABOUT: About = About {
        about: "The standard TCP of 1990: one segment more each round trip, half the window after a loss. The window \
                is that of newreno; with recovery = \"reno\" several losses in a window cost several halvings, or a \
                timeout.",
        equations: &[
            "slow start, per counted segment:  W += 1",
            "avoidance, per counted segment:   W += 1/W",
            "loss:     ssthresh = max(FlightSize/2, 2), W = ssthresh",
            "timeout:  ssthresh = max(FlightSize/2, 2), W = 1",
            "mean window with random loss p:   sqrt(3/(2p)) segments",
        ],
        source: "RFC 5681 §3.2; Jacobson, end2end-interest, 30 April 1990; the mean window: Mathis, Semke, Mahdavi, \
                 Ott, CCR 27(3), 1997",
    };
    const RESTARTS: bool = false;
}

impl<M: Member> Algorithm for Config<M> {
    const ABOUT: About = M::ABOUT;
    const NEEDS: Needs = Needs { restart_on_loss: M::RESTARTS, ..Needs::NONE };

    fn settings() -> Vec<Setting<Self>> {
        let increase: Setting<Self> = Setting::word(
            "increase",
            "a value",
            &["profile", "fraction", "whole", "linux-2.6", "ns3"],
            |config: &Self| config.increase as usize,
            |config: &mut Self, word| {
                config.increase = Increase::ALL[word];
            },
        )
        .by_default("profile")
        .about(
            "How avoidance adds its segment a round: fraction adds 1/W for each counted segment; whole \
                      adds one segment after W of them, and keeps thresholds in whole segments, as Linux; linux-2.6 \
                      does so after W acknowledged ones, those of fast recovery included; ns3 adds 1/W for each ACK, \
                      whatever it acknowledges; profile is whole in profile linux, linux-2.6 in ns2-linux, ns3 in ns3, \
                      fraction in the others.",
        );
        [vec![increase], hystart::settings("standard")].concat()
    }

    fn check(&self) -> Result<(), String> {
        self.hystart.check()
    }

    fn in_linux(&self) -> Self {
        Self { increase: self.increase.or(Increase::Whole), ..self.clone() }
    }

    fn build(&self, start: &Start) -> Box<dyn CongestionControl> {
        Box::new(Additive::new(self, start))
    }
}

impl<M> hystart::Choosable for Config<M> {
    fn hystart(&mut self) -> &mut hystart::Config {
        &mut self.hystart
    }
}

#[cfg(test)]
mod tests;
