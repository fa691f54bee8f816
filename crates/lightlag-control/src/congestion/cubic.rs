//! CUBIC: growth by the time since the last loss, not by round trips.
//!
//! RFC 9438 (the default, except that the profile `linux` has the kernel's), RFC 8312, and Ha, Rhee, Xu, "CUBIC: a new
//! TCP-friendly high-speed TCP variant", ACM SIGOPS OSR 42(5), 2008. W in segments, t and K in seconds, β the fraction
//! that a loss keeps, C = 0.4:
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
//! Wstart is the window at the start of avoidance. Without a loss before it, or after a timeout, K = 0 and Wmax =
//! Wstart (RFC 9438 §4.8, §4.10). Time in which the sender did not use its window does not count for t (RFC 9438 §4.2,
//! §5.8). The window never shrinks on an ACK: RFC 9438 §4.3 sets it to Wreno, here it is only raised to it. Of the slow
//! starts in §4.10, HyStart is the default, as in Linux; `slow_start = "hystart++"` is the other. The other variants
//! follow programs with their arithmetic: [`linux`] in two versions, and [`inet2023`].

use super::hystart::{self, Policy};
use super::registry::{About, Algorithm};
use super::window::window_based;
use super::{Ack, Cause, Congestion, CongestionControl, Epoch, SlowStart, Start, Window};
use lightlag_core::params::Setting;
use lightlag_core::{Duration, Instant, Unit};

pub mod inet2023;
pub mod linux;
mod ns3;

/// The fraction that a congestion mark keeps with ABE (RFC 8511 §3).
const ABE_KEPT: f64 = 0.85;

/// The source of the rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// Linux's with the profile `linux`, Linux 2.6's with `ns2-linux`, ns-3's with `ns3`, RFC 9438 with the others.
    #[default]
    Profile,
    /// RFC 9438.
    Rfc9438,
    /// RFC 8312.
    Rfc8312,
    /// Ha, Rhee, Xu 2008.
    Paper2008,
    /// Linux 6.
    Linux,
    /// Linux 2.6.16, and ns-2's TCP-Linux.
    Linux26,
    /// The code published with a study in INET, 2023.
    Inet2023,
    /// ns-3.37.
    Ns3,
}

impl Variant {
    const ALL: [Self; 8] = [
        Self::Profile,
        Self::Rfc9438,
        Self::Rfc8312,
        Self::Paper2008,
        Self::Linux,
        Self::Linux26,
        Self::Inet2023,
        Self::Ns3,
    ];
    const NAMES: [&'static str; 8] =
        ["profile", "rfc9438", "rfc8312", "paper2008", "linux", "linux-2.6", "inet2023", "ns3"];

    /// β and C.
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

/// Parameters of CUBIC.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The source of the rules.
    pub variant: Variant,
    /// The fraction of the window that a loss keeps: 0.7, or 0.8 in the older texts.
    pub beta: f64,
    /// C in segments/s³, 0.4.
    pub c: f64,
    /// Whether to release bandwidth to newcomers (RFC 9438 §4.7).
    pub fast_convergence: bool,
    /// Whether to be at least as fast as Reno (RFC 9438 §4.3).
    pub reno_friendly: bool,
    /// The programs of Linux: the first ssthresh in segments, or 0 for none.
    pub initial_ssthresh: f64,
    /// Slow start: HyStart in the two RFCs and in Linux.
    pub hystart: hystart::Config,
}

impl Config {
    /// The constants of `variant`.
    pub const fn of(variant: Variant) -> Self {
        let (beta, c) = variant.numbers();
        Self {
            variant,
            beta,
            c,
            fast_convergence: true,
            reno_friendly: !matches!(variant, Variant::Inet2023 | Variant::Ns3),
            initial_ssthresh: if matches!(variant, Variant::Linux26) { 100.0 } else { 0.0 },
            hystart: hystart::Config::of(if variant.has_hystart() { Policy::HyStart } else { Policy::Standard }),
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::of(Variant::default())
    }
}

/// The part of the parameters that a connection looks up again and again.
#[derive(Clone, Copy, PartialEq)]
struct Rules {
    beta: f64,
    c: f64,
    variant: Variant,
    fast_convergence: bool,
    reno_friendly: bool,
}

impl Rules {
    const fn of(config: &Config) -> Self {
        let &Config { variant, beta, c, fast_convergence, reno_friendly, .. } = config;
        Self { beta, c, variant, fast_convergence, reno_friendly }
    }

    /// Wmax after a loss at `window`: less if the last one was not reached (RFC 9438 §4.7).
    fn next_w_max(&self, window: f64, last: f64) -> f64 {
        if self.fast_convergence && window < last { window * (1.0 + self.beta) / 2.0 } else { window }
    }
}

/// CUBIC by one of the three texts that share their arithmetic.
pub struct Cubic {
    rules: Rules,
    window: Window,
    slow_start: SlowStart,
    /// α of Reno's estimate before the window of the last loss is reached.
    alpha: f64,
    /// Wmax of the last loss; zero before one and after a timeout.
    w_max: f64,
    /// The window before the last reaction; zero before the first.
    prior: f64,
    curve: Option<Curve>,
    unused_since: Option<Instant>,
    /// The fraction that a congestion mark keeps.
    mark_kept: f64,
    /// Wmax, the prior window and the curve before the last reaction.
    before: (f64, f64, Option<Curve>),
}

/// One epoch: from the start of avoidance to the next loss.
#[derive(Clone, Copy)]
struct Curve {
    start: Instant,
    k: f64,
    w_max: f64,
    reno: f64,
}

impl Curve {
    fn at(&self, t: f64, c: f64) -> f64 {
        let from_plateau = t - self.k;
        c * from_plateau * from_plateau * from_plateau + self.w_max
    }
}

impl Cubic {
    /// CUBIC in slow start, at the initial window.
    pub fn new(config: &Config, start: &Start) -> Self {
        Self {
            rules: Rules::of(config),
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

    fn begin_epoch(&mut self, now: Instant) -> Curve {
        let Rules { variant, beta, c, .. } = self.rules;
        let start = self.window.segments();
        self.unused_since = None;
        if self.prior == 0.0 {
            // RFC 9438 §4.10: the first slow start ended without a loss.
            self.prior = start;
        }
        let (w_max, k) = match variant {
            Variant::Rfc8312 if self.w_max > 0.0 => (self.w_max, libm::cbrt(self.w_max * (1.0 - beta) / c)),
            _ if self.w_max > start => (self.w_max, libm::cbrt((self.w_max - start) / c)),
            _ => (start, 0.0),
        };
        let reno = if variant == Variant::Rfc8312 { beta * w_max } else { start };
        Curve { start: now, k, w_max, reno }
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
            Variant::Rfc9438 => self.grow_as_rfc9438(&mut curve, t, ack.srtt.as_secs_f64(), acked),
            Variant::Rfc8312 => self.grow_as_rfc8312(&curve, t, ack.srtt.as_secs_f64(), acked),
            _ => {
                self.grow_as_paper2008(&curve, t, ack.min_rtt.min(ack.srtt).as_secs_f64(), acked);
            }
        }
        self.curve = Some(curve);
    }

    fn grow_as_rfc9438(&mut self, curve: &mut Curve, t: f64, rtt: f64, acked: f64) {
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

    fn grow_as_rfc8312(&mut self, curve: &Curve, t: f64, rtt: f64, acked: f64) {
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

    fn grow_as_paper2008(&mut self, curve: &Curve, t: f64, rtt: f64, acked: f64) {
        let window = self.window.segments();
        let ahead = curve.at(t + rtt, self.rules.c) - window;
        // If the curve is below the window, one segment is added in 100 windows.
        self.window.grow(if ahead > 0.0 { acked / window * ahead } else { acked / (100.0 * window) });
        if self.rules.reno_friendly {
            self.window.raise_to(curve.reno + self.alpha * rounds(t, rtt));
        }
    }
}

/// Round trips in `t`; none while the round-trip time is unknown.
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
        let base = if self.rules.variant == Variant::Rfc9438 { self.window.in_segments(event.flight) } else { window };
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

    fn epoch(&self) -> Option<Epoch> {
        let curve = self.curve?;
        Some(Epoch { start: curve.start, w_max: curve.w_max, k: Duration::from_secs_f64(curve.k) })
    }
}

impl Algorithm for Config {
    const ABOUT: About = About {
        about: "The window is a cubic function of the time since the last loss: fast while far from the window of \
                that loss, slow around it, then fast again. Growth does not depend on the round-trip time, and a \
                loss keeps more than half. The default of Linux, Windows and macOS.",
        equations: &[
            "W(t) = C (t - K)^3 + Wmax,  K = cbrt((Wmax - Wstart)/C)",
            "avoidance, per counted segment:   W += (target - W)/W,  target = W(t + RTT) within W and 1.5 W",
            "at least Reno:  Wreno += alpha/W per counted segment,  alpha = 3 (1 - beta)/(1 + beta)",
            "loss:     Wmax = W, or W (1 + beta)/2 if W < last Wmax;  ssthresh = beta FlightSize, at least 2",
            "timeout:  ssthresh = beta FlightSize, W = 1; then K = 0 and Wmax = W where avoidance begins",
            "mean window with random loss p:   (C (3 + beta)/(4 (1 - beta)))^(1/4) (RTT/p)^(3/4) segments",
        ],
        source: "RFC 9438; RFC 8312; Ha, Rhee, Xu, ACM SIGOPS OSR 42(5), 2008; linux, linux-2.6: \
                 tcp_cubic.c; inet2023: the code published with \
                 \"TCP Cubic Implementation in the OMNeT++ INET Framework for SIoT Simulation Scenarios\"",
    };

    fn settings() -> Vec<Setting<Self>> {
        let own: Vec<Setting<Self>> = vec![
            Setting::word("variant", "a value", &Variant::NAMES, |config: &Self| config.variant as usize, |config: &mut Self, word| *config = Self::of(Variant::ALL[word])).by_default("profile").about("Which text is followed: what the profile of the connection means, linux in profile linux, \
                          linux-2.6 without a first ssthresh in ns2-linux, ns3 in ns3, rfc9438 in the others; RFC 9438, RFC 8312, the paper of 2008, or a program in whole \
                          segments: Linux now and when CUBIC was new, that of ns-3.37, or a published one, inet2023."),
            Setting::quantity("beta", |config: &mut Self| &mut config.beta, Unit::Plain, 0.1, 0.99).by_default("0.7; 717/1024 in linux, 819/1024 in linux-2.6, 0.8 in paper2008 and inet2023").about("The fraction of the window that a loss keeps."),
            Setting::quantity("c", |config: &mut Self| &mut config.c, Unit::Plain, 0.001, 1000.0).by_default("0.4; 410/1024 in linux and linux-2.6").unit("segments/s³").about("How fast the window returns to Wmax and leaves it again."),
            Setting::flag("fast_convergence", |config: &mut Self| &mut config.fast_convergence).by_default("true").about("After a loss below the last Wmax, aim lower, so that new flows get their share."),
            Setting::flag("reno_friendly", |config: &mut Self| &mut config.reno_friendly).by_default("true; false in inet2023 and ns3").about("Grow at least as fast as Reno would. In inet2023 and ns3 there is no such region."),
            Setting::quantity("initial_ssthresh", |config: &mut Self| &mut config.initial_ssthresh, Unit::Plain, 0.0, 1e9).by_default("0; 100 in linux-2.6").unit("segments").about("Where the first slow start ends, of the variants linux and linux-2.6; 0 is nowhere."),
        ];
        [own, hystart::settings("hystart; standard in paper2008, linux-2.6 and inet2023")].concat()
    }

    fn check(&self) -> Result<(), String> {
        self.hystart.check()?;
        if self.initial_ssthresh > 0.0 && !self.variant.is_linux() {
            return Err(format!(
                "initial_ssthresh: {} goes only with variant = \"linux\" or \"linux-2.6\": leave it out",
                self.initial_ssthresh
            ));
        }
        if self.reno_friendly && matches!(self.variant, Variant::Inet2023 | Variant::Ns3) {
            let variant = Variant::NAMES[self.variant as usize];
            return Err(format!(
                "reno_friendly: true does not go with variant = {variant:?}, which has none: leave it out"
            ));
        }
        if self.variant != Variant::Inet2023 {
            return Ok(());
        }
        if self.hystart.policy == Policy::PlusPlus {
            let why =
                "does not go with variant = \"inet2023\", which grows by whole segments: write standard or hystart";
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
        if self.variant != Variant::Profile {
            return self.clone();
        }
        // ns-2.35 sets no first ssthresh.
        Self { initial_ssthresh: 0.0, ..super::registry::in_variant(self, "linux-2.6") }
    }

    fn build(&self, start: &Start) -> Box<dyn CongestionControl> {
        match self.variant {
            Variant::Profile => Self { variant: Variant::Rfc9438, ..self.clone() }.build(start),
            Variant::Ns3 => Box::new(ns3::CubicNs3::new(self, start)),
            Variant::Inet2023 => Box::new(inet2023::CubicInet::new(self, start)),
            Variant::Linux | Variant::Linux26 => Box::new(linux::CubicLinux::new(self, start)),
            _ => Box::new(Cubic::new(self, start)),
        }
    }
}

impl hystart::Choosable for Config {
    fn hystart(&mut self) -> &mut hystart::Config {
        &mut self.hystart
    }
}

#[cfg(test)]
mod tests;
