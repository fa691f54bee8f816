//! CUBIC: the window grows with the time since the last loss, not with the round trips.
//!
//! RFC 9438 (the default, except that the profile `linux` has the kernel's), RFC 8312, and Ha, Rhee, Xu, "CUBIC: a new
//! TCP-friendly high-speed TCP variant", ACM SIGOPS OSR 42(5), 2008. W in segments, t and K in seconds, β the fraction
//! of the window that remains after a loss, C = 0.4:
//!
//! - W(t) = C·(t − K)³ + Wmax, a plateau at the window of the last loss;
//! - avoidance, for each counted segment: W += (target − W)/W with target = W(t + RTT);
//! - if Reno would be faster, W follows its estimate Wreno, which grows by α = 3(1 − β)/(1 + β) a round;
//! - loss: Wmax = W, or W·(1 + β)/2 if W did not reach the last Wmax (fast convergence).
//!
//! | | RFC 9438 | RFC 8312 | 2008 |
//! |---|---|---|---|
//! | β | 0.7 | 0.7 | 0.8 |
//! | K | ∛((Wmax − Wstart)/C) | ∛(Wmax(1 − β)/C) | ∛((Wmax − Wstart)/C) |
//! | target | W(t + SRTT), within W and 1.5 W | W(t + SRTT) | W(t + RTTmin); W + 1/100 below it |
//! | Wreno | from Wstart, by ACKs; α = 1 from the W before the loss on | β·Wmax + α·t/SRTT | Wstart + α·t/RTTmin |
//! | used when | W(t) < Wreno | W(t) < Wreno | W < Wreno |
//! | ssthresh | β·FlightSize | β·W | β·W |
//!
//! Wstart is the window at the start of avoidance. If no loss preceded, or after a timeout, K = 0 and Wmax = Wstart
//! (RFC 9438 §4.8, §4.10). Time in which the sender did not use its window does not count for t (RFC 9438 §4.2, §5.8).
//! The window never shrinks on an ACK: where RFC 9438 §4.3 sets W to Wreno, W is only raised here. The default slow
//! start is HyStart, as in Linux; `slow_start = "hystart++"` selects the other one in §4.10. The other variants
//! reproduce the arithmetic of programs: [`linux`] in two versions, [`inet2023`] and ns-3.

use super::about::{About, Deviation, Signal};
use super::hystart::{self, Policy};
use super::registry::Algorithm;
use super::window::window_based;
use super::{Ack, Cause, Congestion, CongestionControl, ConnectionStart, GrowthEpoch, SlowStart, Window};
use lightlag_core::params::Word;
use lightlag_core::{Duration, Instant, Unit, settings, words};

pub mod inet2023;
pub mod linux;
mod ns3;

/// Fraction of the window that remains after a congestion mark with ABE (RFC 8511 §3).
const ABE_KEPT: f64 = 0.85;

words! {
    /// Specification or program that defines the rules.
    pub enum CubicVariant {
        /// As set by the profile: `linux` in the profile `linux`, `linux-2.6` in `ns2-linux`, `ns3` in `ns3`, and
        /// `rfc9438` in the others.
        Profile = "profile",
        /// RFC 9438.
        Rfc9438 = "rfc9438",
        /// RFC 8312.
        Rfc8312 = "rfc8312",
        /// Ha, Rhee, Xu 2008.
        Paper2008 = "paper2008",
        /// Linux 6.
        Linux = "linux",
        /// Linux 2.6.16, and ns-2's TCP-Linux.
        Linux26 = "linux-2.6",
        /// The code published with a study in INET, 2023.
        Inet2023 = "inet2023",
        /// ns-3.37.
        Ns3 = "ns3",
    }
}

impl CubicVariant {
    /// Returns β and C.
    const fn numbers(self) -> (f64, f64) {
        match self {
            Self::Profile | Self::Rfc9438 | Self::Rfc8312 | Self::Ns3 => (0.7, 0.4),
            Self::Paper2008 | Self::Inet2023 => (0.8, 0.4),
            // In 1024ths.
            Self::Linux => (717.0 / 1024.0, 410.0 / 1024.0),
            Self::Linux26 => (819.0 / 1024.0, 410.0 / 1024.0),
        }
    }

    const fn has_hystart(self) -> bool {
        matches!(self, Self::Profile | Self::Rfc9438 | Self::Rfc8312 | Self::Linux | Self::Ns3)
    }

    fn is_linux(self) -> bool {
        matches!(self, Self::Linux | Self::Linux26)
    }
}

/// Default constants, from RFC 9438.
const RFC9438: Config = Config::of(CubicVariant::Profile);

settings! {
    /// Parameters of CUBIC.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Config {
        /// Source of the rules. By default it follows from the profile of the connection: linux in profile linux,
        /// linux-2.6 without a first ssthresh in ns2-linux, ns3 in ns3, and rfc9438 in the others. Choices: RFC 9438,
        /// RFC 8312, the paper of 2008, or the arithmetic of a program in whole segments: current Linux, Linux when
        /// CUBIC was new, ns-3.37, or a program published in 2023, inet2023.
        variant: CubicVariant = CubicVariant::default() => choice("a value").implies(|config| *config = Self::of(config.variant));
        /// Fraction of the window that remains after a loss.
        beta: f64 = RFC9438.beta => quantity(Unit::Plain, 0.1, 0.99)
            .by_default("0.7; 717/1024 in linux, 819/1024 in linux-2.6, 0.8 in paper2008 and inet2023");
        /// Scaling constant of the cubic function: how fast the window returns to Wmax and grows beyond it.
        c: f64 = RFC9438.c => quantity(Unit::Plain, 0.001, 1000.0)
            .by_default("0.4; 410/1024 in linux and linux-2.6").unit("segments/s³");
        /// Whether a loss below the last Wmax lowers the target, so that new flows get their share.
        fast_convergence: bool = RFC9438.fast_convergence => flag();
        /// Whether the window grows at least as fast as Reno's. The variants inet2023 and ns3 have no such
        /// Reno-friendly region.
        reno_friendly: bool = RFC9438.reno_friendly => flag().by_default("true; false in inet2023 and ns3");
        /// First slow-start threshold of the variants linux and linux-2.6; 0 is none.
        initial_ssthresh: f64 = RFC9438.initial_ssthresh => quantity(Unit::Plain, 0.0, 1e9)
            .by_default("0; 100 in linux-2.6").unit("segments");
        + /// Slow start: HyStart in the two RFCs and in Linux.
        hystart: hystart::Config = RFC9438.hystart
            => hystart::settings("hystart; standard in paper2008, linux-2.6 and inet2023");
    }
}

impl Config {
    /// Returns the constants of `variant`.
    pub const fn of(variant: CubicVariant) -> Self {
        let (beta, c) = variant.numbers();
        Self {
            variant,
            beta,
            c,
            fast_convergence: true,
            reno_friendly: !matches!(variant, CubicVariant::Inet2023 | CubicVariant::Ns3),
            initial_ssthresh: if matches!(variant, CubicVariant::Linux26) { 100.0 } else { 0.0 },
            hystart: hystart::Config::of(if variant.has_hystart() { Policy::HyStart } else { Policy::Standard }),
        }
    }
}

/// The parameters that a connection uses again and again.
#[derive(Clone, Copy, PartialEq)]
struct CubicConstants {
    beta: f64,
    c: f64,
    variant: CubicVariant,
    fast_convergence: bool,
    reno_friendly: bool,
}

impl CubicConstants {
    const fn of(config: &Config) -> Self {
        let &Config { variant, beta, c, fast_convergence, reno_friendly, .. } = config;
        Self { beta, c, variant, fast_convergence, reno_friendly }
    }

    /// Returns Wmax after a loss at `window`; it is reduced if the last Wmax was not reached (RFC 9438 §4.7).
    fn next_w_max(&self, window: f64, last: f64) -> f64 {
        if self.fast_convergence && window < last { window * (1.0 + self.beta) / 2.0 } else { window }
    }
}

/// CUBIC as in RFC 9438, RFC 8312 or the paper of 2008, which share their arithmetic.
pub struct Cubic {
    rules: CubicConstants,
    window: Window,
    slow_start: SlowStart,
    /// α of Reno's estimate, until the estimate reaches the window before the last loss.
    alpha: f64,
    /// Wmax at the last loss; zero before the first loss and after a timeout.
    w_max: f64,
    /// Window before the last reaction; zero before the first one.
    prior: f64,
    curve: Option<CubicEpoch>,
    unused_since: Option<Instant>,
    /// Fraction of the window that remains after a congestion mark.
    mark_kept: f64,
    /// Wmax, the prior window and the epoch before the last reaction, for an undo.
    before: (f64, f64, Option<CubicEpoch>),
}

/// An epoch: the time from the start of congestion avoidance to the next loss.
#[derive(Clone, Copy)]
struct CubicEpoch {
    start: Instant,
    k: f64,
    w_max: f64,
    reno: f64,
}

impl CubicEpoch {
    fn at(&self, t: f64, c: f64) -> f64 {
        let from_plateau = t - self.k;
        c * from_plateau * from_plateau * from_plateau + self.w_max
    }
}

impl Cubic {
    /// Creates CUBIC in slow start, with the initial window.
    pub fn new(config: &Config, start: &ConnectionStart) -> Self {
        Self {
            rules: CubicConstants::of(config),
            window: Window::new(start),
            slow_start: SlowStart::new(&config.hystart, start),
            alpha: 3.0 * (1.0 - config.beta) / (1.0 + config.beta),
            w_max: 0.0,
            prior: 0.0,
            curve: None,
            unused_since: None,
            mark_kept: if start.abe { config.beta.max(ABE_KEPT) } else { config.beta },
            before: (0.0, 0.0, None),
        }
    }

    fn begin_epoch(&mut self, now: Instant) -> CubicEpoch {
        let CubicConstants { variant, beta, c, .. } = self.rules;
        let start = self.window.segments();
        self.unused_since = None;
        if self.prior == 0.0 {
            // RFC 9438 §4.10: the first slow start ended without a loss.
            self.prior = start;
        }
        let (w_max, k) = match variant {
            CubicVariant::Rfc8312 if self.w_max > 0.0 => (self.w_max, libm::cbrt(self.w_max * (1.0 - beta) / c)),
            _ if self.w_max > start => (self.w_max, libm::cbrt((self.w_max - start) / c)),
            _ => (start, 0.0),
        };
        let reno = if variant == CubicVariant::Rfc8312 { beta * w_max } else { start };
        CubicEpoch { start: now, k, w_max, reno }
    }

    fn avoid_congestion(&mut self, ack: &Ack, acked: f64) {
        let mut curve = match self.curve {
            Some(curve) => curve,
            None => self.begin_epoch(ack.now),
        };
        if let Some(since) = self.unused_since.take() {
            curve.start += ack.now.since(since);
        }
        let t = ack.now.since(curve.start).as_secs_f64();
        match self.rules.variant {
            CubicVariant::Rfc9438 => self.grow_as_rfc9438(&mut curve, t, ack.srtt.as_secs_f64(), acked),
            CubicVariant::Rfc8312 => self.grow_as_rfc8312(&curve, t, ack.srtt.as_secs_f64(), acked),
            _ => {
                self.grow_as_paper2008(&curve, t, ack.min_rtt.min(ack.srtt).as_secs_f64(), acked);
            }
        }
        self.curve = Some(curve);
    }

    fn grow_as_rfc9438(&mut self, curve: &mut CubicEpoch, t: f64, rtt: f64, acked: f64) {
        let window = self.window.segments();
        let share = acked / window;
        if self.rules.reno_friendly {
            // §4.3: α is 1 once the estimate has reached the window of the last loss.
            curve.reno += share * if curve.reno >= self.prior { 1.0 } else { self.alpha };
            if curve.at(t, self.rules.c) < curve.reno {
                self.window.raise_to(curve.reno);
                return;
            }
        }
        // §4.2: aim at the window one RTT ahead, at most half as much again.
        let target = curve.at(t + rtt, self.rules.c).clamp(window, 1.5 * window);
        self.window.grow(share * (target - window));
    }

    fn grow_as_rfc8312(&mut self, curve: &CubicEpoch, t: f64, rtt: f64, acked: f64) {
        let window = self.window.segments();
        if self.rules.reno_friendly {
            let reno = curve.reno + self.alpha * rounds(t, rtt);
            if curve.at(t, self.rules.c) < reno {
                self.window.raise_to(reno);
                return;
            }
        }
        let ahead = curve.at(t + rtt, self.rules.c) - window;
        self.window.grow(acked / window * ahead.max(0.0));
    }

    fn grow_as_paper2008(&mut self, curve: &CubicEpoch, t: f64, rtt: f64, acked: f64) {
        let window = self.window.segments();
        let ahead = curve.at(t + rtt, self.rules.c) - window;
        // If the curve is below the window, one segment is added in 100 windows.
        self.window.grow(if ahead > 0.0 { acked / window * ahead } else { acked / (100.0 * window) });
        if self.rules.reno_friendly {
            self.window.raise_to(curve.reno + self.alpha * rounds(t, rtt));
        }
    }
}

/// Returns the number of round trips in `t`; zero while the round-trip time is unknown.
fn rounds(t: f64, rtt: f64) -> f64 {
    if rtt > 0.0 { t / rtt } else { 0.0 }
}

window_based!(Cubic);

impl CongestionControl for Cubic {
    fn on_ack(&mut self, ack: &Ack) {
        if !ack.may_grow() {
            if ack.newly_acked > 0 && !ack.cwnd_limited && self.curve.is_some() {
                self.unused_since.get_or_insert(ack.now);
            }
            return;
        }
        let left = self.slow_start.grow(ack, &mut self.window, ack.growth, 1.0);
        if left > 0.0 {
            self.avoid_congestion(ack, left);
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        let window = self.window.segments();
        let base =
            if self.rules.variant == CubicVariant::Rfc9438 { self.window.in_segments(event.flight) } else { window };
        if event.cause != Cause::RepeatedTimeout {
            self.before = (self.w_max, self.prior, self.curve);
            self.prior = window;
        }
        self.curve = None;
        self.w_max = match event.cause {
            Cause::Loss | Cause::Mark => self.rules.next_w_max(window, self.w_max),
            // RFC 9438 §4.8; cubic_reset() of 2008.
            Cause::Timeout | Cause::RepeatedTimeout => 0.0,
        };
        let kept = if event.cause == Cause::Mark { self.mark_kept } else { self.rules.beta };
        self.window.react(event, kept * base);
    }

    fn on_undo(&mut self, _now: Instant) {
        // RFC 9438 §4.9: the epoch continues as before the loss.
        self.window.undo();
        (self.w_max, self.prior, self.curve) = self.before;
    }

    fn on_idle(&mut self, _now: Instant, window: u64, threshold: u64) {
        self.curve = None;
        self.window.restart(window, threshold);
    }

    fn leave_slow_start(&mut self) {
        self.window.leave_slow_start();
    }

    fn least_in_recovery(&self) -> u64 {
        self.window.threshold_bytes()
    }

    fn epoch(&self) -> Option<GrowthEpoch> {
        let curve = self.curve?;
        Some(GrowthEpoch { start: curve.start, w_max: curve.w_max, k: Duration::from_secs_f64(curve.k) })
    }
}

impl Algorithm for Config {
    const ABOUT: About = About {
        about: "The window is a cubic function of the time since the last loss: steep far from the window of that \
                loss, flat near it, and steep again above it. Growth does not depend on the round-trip time, and more \
                than half of the window remains after a loss. The default of Linux, Windows and macOS.",
        equations: &[
            "W(t) = C (t - K)^3 + Wmax,  K = cbrt((Wmax - Wstart)/C),  C = 0.4",
            "avoidance, per counted segment:   W += (target - W)/W,  target = W(t + SRTT) within W and 1.5 W",
            "Reno-friendly:  Wreno += alpha/W per counted segment,  alpha = 3 (1 - beta)/(1 + beta);  W >= Wreno",
            "loss:     Wmax = W, or W (1 + beta)/2 if W < last Wmax;  ssthresh = beta FlightSize, at least 2",
            "timeout:  ssthresh = beta FlightSize, W = 1; then K = 0 and Wmax = W at the start of avoidance",
            "mean window, loss every 1/p segments:  (C (3 + beta)/(4 (1 - beta)))^(1/4) (RTT/p)^(3/4) segments",
        ],
        source: "RFC 9438; RFC 8312; Ha, Rhee, Xu, ACM SIGOPS OSR 42(5), 2008; linux, linux-2.6: \
                 tcp_cubic.c; inet2023: the code published with \
                 \"TCP Cubic Implementation in the OMNeT++ INET Framework for SIoT Simulation Scenarios\"",
        year: 2008,
        signal: Signal::Loss,
        details: r#"
            β is the fraction of the window that remains after a loss, t the time since the start of avoidance, without
            the time in which the window was not used (RFC 9438 §4.2). Before the first loss K = 0 and Wmax = W at the
            start of avoidance. Reducing Wmax further after a loss below the last Wmax is called fast convergence.

            The mean window holds for losses at **regular** distances. Random losses at the same rate give 1.24 times as
            much without fast convergence, because long intervals lead far up the convex part; a model of the curve
            without packets gives the same factor.

            A mark counts as a loss; with ABE (RFC 8511) it leaves 0.85 of the window. After a spurious reduction the
            previous epoch is restored (RFC 9438 §4.9).

            By default (`variant = "profile"`) the profile of the connection selects the rules: `linux` in the profile
            `linux`, `linux-2.6` in `ns2-linux` (without a first ssthresh, as ns-2.35), `ns3` in `ns3`, and `rfc9438` in
            the others.
        "#,
        variants: &[
            (
                "rfc9438",
                r#"
                The equations above, compared with its predecessors:

                | | `rfc9438` | `rfc8312` | `paper2008` |
                |---|---|---|---|
                | β | 0.7 | 0.7 | 0.8 |
                | K | ∛((Wmax − Wstart)/C) | ∛(Wmax (1 − β)/C) | ∛((Wmax − Wstart)/C) |
                | target | W(t + SRTT), within W and 1.5 W | W(t + SRTT) | W(t + RTTmin); if that is below W, one segment in 100 windows |
                | Wreno | from Wstart, by ACKs; α = 1 once it reaches the window before the loss | β Wmax + α t/SRTT | Wstart + α t/RTTmin |
                | Wreno applies if | W(t) < Wreno | W(t) < Wreno | W < Wreno |
                | ssthresh | β FlightSize | β W | β W |
                | `slow_start` | `"hystart"` | `"hystart"` | `"standard"` |
            "#,
            ),
            ("rfc8312", "The RFC of 2018; see the table of `rfc9438`."),
            ("paper2008", "The paper of Ha, Rhee and Xu; see the table of `rfc9438`."),
            ("linux", linux::ABOUT),
            ("linux-2.6", "tcp_cubic.c of Linux 2.6.16 and later, as in ns-2's TCP-Linux; see the table of `linux`."),
            ("ns3", ns3::ABOUT),
            ("inet2023", inet2023::ABOUT),
        ],
        deviations: &[
            Deviation {
                scope: "rfc9438",
                source: "§4.3: W is set to Wreno",
                here: "W is raised to Wreno and never lowered to it",
                reason: "W is already computed for one RTT ahead and would shrink by an ACK",
            },
            Deviation {
                scope: "rfc9438",
                source: "K is negative for a window above Wmax",
                here: "K = 0 and Wmax = W",
                reason: "as in Linux; it can only occur if the flight exceeds the window",
            },
            Deviation {
                scope: "rfc9438",
                source: "§4.10 recommends HyStart++ and names HyStart as an alternative",
                here: "HyStart; set `slow_start = \"hystart++\"`",
                reason: "as Linux",
            },
            Deviation {
                scope: "rfc8312",
                source: "§4.8: HyStart is optional",
                here: "HyStart is on",
                reason: "as in `rfc9438`, so that the two can be compared",
            },
            Deviation {
                scope: "paper2008",
                source: "Wreno is counted by ACKs in integer increments",
                here: "Wreno follows the time (equation 4), with fractions",
                reason: "the equation is the paper's own analysis",
            },
            Deviation {
                scope: "linux-2.6",
                source: "later kernels of 2.6 limit the growth to 16 segments per 100 ms only after K",
                here: "the limit always holds",
                reason: "as in 2.6.16; without timestamps there is no dMin and no limit, as in ns-2",
            },
            Deviation {
                scope: "ns3",
                source: "the ACK that ends the repair after a timeout counts only for data beyond the recovery point",
                here: "that ACK counts for all data that it acknowledges",
                reason: "the recovery point belongs to the recovery; it matters only if W is above ssthresh",
            },
            Deviation {
                scope: "inet2023",
                source: "the window grows while the application limits the sender",
                here: "it does not grow",
                reason: "rule for all algorithms",
            },
        ],
        checks: "K and W(t) for both values of β, to four digits; α; fast convergence; the response function for regular \
                 losses, to 3 %; the Reno-friendly region at an RTT of 0.1 s, to 10 %; growth symmetric around K. `linux` \
                 and `linux-2.6`: each rule, and the window against the curve, to 4 segments over 10 s; `linux`: the mean \
                 under regular losses, to 5 %. `inet2023`: with reductions forced at the times of the study's Table 1 (2.90, \
                 8.72, 16.32 and 26.16 s; 5 Mbit/s, 80 ms, delayed ACKs), K is within 4 % of its 4.71, 4.70, 4.77 and 5.09 s.",
        not_modelled: "In the variant `linux`, the kernel's table for cube roots, and the first second of an epoch, in \
                       which HyStart takes no samples.",
    };

    fn check(&self) -> Result<(), String> {
        self.hystart.check()?;
        if self.initial_ssthresh > 0.0 && !self.variant.is_linux() {
            return Err(format!(
                "initial_ssthresh: {} needs variant = \"linux\" or \"linux-2.6\": remove it",
                self.initial_ssthresh
            ));
        }
        if self.reno_friendly && matches!(self.variant, CubicVariant::Inet2023 | CubicVariant::Ns3) {
            let variant = self.variant.name();
            return Err(format!(
                "reno_friendly: true cannot be combined with variant = {variant:?}, which has no such region: remove it"
            ));
        }
        if self.variant != CubicVariant::Inet2023 {
            return Ok(());
        }
        if matches!(self.hystart.policy, Policy::PlusPlus | Policy::Search) {
            let why = "cannot be combined with variant = \"inet2023\", which grows by whole segments: use standard \
                       or hystart";
            return Err(format!("slow_start: {:?} {why}", self.hystart.policy.name()));
        }
        Ok(())
    }

    fn in_linux(&self) -> Self {
        super::registry::in_variant(self, "linux")
    }

    fn in_ns3(&self) -> Self {
        super::registry::in_variant(self, "ns3")
    }

    fn in_linux26(&self) -> Self {
        if self.variant != CubicVariant::Profile {
            return self.clone();
        }
        // ns-2.35 sets no first ssthresh.
        Self { initial_ssthresh: 0.0, ..super::registry::in_variant(self, "linux-2.6") }
    }

    fn build(&self, start: &ConnectionStart) -> Box<dyn CongestionControl> {
        match self.variant {
            CubicVariant::Profile => Self { variant: CubicVariant::Rfc9438, ..self.clone() }.build(start),
            CubicVariant::Ns3 => Box::new(ns3::CubicNs3::new(self, start)),
            CubicVariant::Inet2023 => Box::new(inet2023::CubicInet::new(self, start)),
            CubicVariant::Linux | CubicVariant::Linux26 => Box::new(linux::CubicLinux::new(self, start)),
            _ => Box::new(Cubic::new(self, start)),
        }
    }
}

#[cfg(test)]
mod tests;
