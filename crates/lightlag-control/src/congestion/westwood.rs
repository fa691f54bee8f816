//! Westwood: after a loss, the window is set from the rate of returning ACKs.
//!
//! Casetti, Gerla, Mascolo, Sanadidi, Wang, "TCP Westwood: end-to-end congestion control for wired/wireless networks",
//! Wireless Networks 8(5), 2002. Growth as NewReno; W in segments, B in segments per second:
//!
//! - an ACK gives the sample b = acknowledged/Δ, with Δ the time since the previous ACK. "acknowledged" is 1 for a
//!   duplicate ACK. For a cumulative ACK it is the number of segments that the ACK covers, less those that were already
//!   counted for duplicate ACKs, at least 1;
//! - filter (Tustin): B = ((2τ − Δ)·B + Δ·(b + last b))/(2τ + Δ), τ = 500 ms; every τ/2 without an ACK counts as a
//!   sample of zero;
//! - loss, mark: ssthresh = B·RTTmin, W = min(W, ssthresh);
//! - timeout: the same ssthresh, W = 1.
//!
//! The variant `linux-2.6` follows ns-2, where `westwood` is Westwood+: see `westwood/linux26.rs`.
//!
//! B starts at zero. ACKs that arrive at the same instant form one sample. In ns-2 and INET an ACK counts for at most
//! two segments (`ack_limit`). INET filters with a constant Δ = τ/10, and divides ssthresh by a number that grows with
//! losses in slow start; the paper does neither. The paper's counting and τ are used as generally known; its text was
//! not available.

mod linux26;

use super::about::{About, Signal};
use super::hystart;
use super::linux26::{Agent, FIRST_ACK, Linux26Variant, VariantChoice};
use super::registry::Algorithm;
use super::window::window_based;
use super::{Ack, Congestion, CongestionControl, ConnectionStart, SlowStart, Window};
use lightlag_core::{Duration, Instant, Unit, settings};

/// The counting of acknowledged segments, for the descriptions of Westwood and Westwood+.
pub(super) const ESTIMATE: &str = "
    A duplicate ACK counts as one segment. A cumulative ACK counts the segments that it covers, less those already counted
    for duplicate ACKs, but at least one; `westwood` also has a maximum, `ack_limit` (none; 2 in ns-2 and INET). ACKs in
    bunches make B many times too large in `westwood`, but not in `westwood+`.
";

/// The checks in tests, for the descriptions of Westwood and Westwood+.
pub(super) const ESTIMATE_CHECKS: &str = "The three filters step by step; the count of segments; silence; the window after a loss at 100 segments per second; \
     ACKs in bunches.";

settings! {
    /// Parameters of Westwood.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Config {
        /// Source of the rules.
        variant: Linux26Variant = Linux26Variant::default() => choice("a value").rules();
        /// tau: time constant of the bandwidth filter.
        filter_time: Duration = Duration::from_millis(500) => time_up_to(Duration::from_secs(3600));
        /// Maximum number of segments that an ACK counts for in the estimate; 0 for no limit (ns-2, INET: 2).
        ack_limit: f64 = 0.0 => quantity(Unit::Plain, 0.0, 1e9).unit("segments");
        + /// Slow start.
        hystart: hystart::Config = hystart::Config::default() => hystart::settings("standard");
    }
}

impl Config {
    /// Returns true if the parameters of the filter are the defaults.
    fn keeps_filter(&self) -> bool {
        let Self { filter_time, ack_limit, .. } = Self::default();
        (self.filter_time, self.ack_limit) == (filter_time, ack_limit)
    }
}

/// An estimator of the bandwidth from ACKs.
pub(super) trait Estimator: Send {
    /// Adds an ACK that acknowledges `acked` segments.
    fn on_ack(&mut self, ack: &Ack, acked: f64);

    /// Returns the bandwidth in segments per second at `now`.
    fn bandwidth(&mut self, now: Instant) -> f64;
}

/// State of Westwood and Westwood+. WestwoodBR also uses it, for its reaction to congestion.
pub(super) struct Westwood<E> {
    window: Window,
    slow_start: SlowStart,
    count: AckedSegments,
    estimator: E,
}

impl<E: Estimator> Westwood<E> {
    /// Creates the algorithm in slow start, with the initial window.
    pub(super) fn new(estimator: E, ack_limit: f64, hystart: &hystart::Config, start: &ConnectionStart) -> Self {
        Self {
            window: Window::new(start),
            slow_start: SlowStart::new(hystart, start),
            count: AckedSegments::new(ack_limit),
            estimator,
        }
    }

    /// Returns the number of segments that the path holds: the estimated bandwidth times the smallest round-trip time.
    pub(super) fn path(&mut self, event: &Congestion) -> f64 {
        let bandwidth = self.estimator.bandwidth(event.now);
        // Before the first sample there is no bandwidth either.
        let min_rtt = if event.min_rtt == Duration::MAX { 0.0 } else { event.min_rtt.as_secs_f64() };
        bandwidth * min_rtt
    }
}

/// Counts the segments that ACKs acknowledge.
struct AckedSegments {
    /// Segments that were counted for duplicate ACKs, and that no cumulative ACK has covered yet.
    accounted: f64,
    limit: f64,
}

impl AckedSegments {
    /// Creates a count in which an ACK counts for at most `limit` segments; 0 means no limit.
    fn new(limit: f64) -> Self {
        Self { accounted: 0.0, limit }
    }

    fn take(&mut self, ack: &Ack, window: &Window) -> f64 {
        if ack.newly_acked == 0 {
            if !ack.duplicate {
                return 0.0;
            }
            self.accounted += 1.0;
            return 1.0;
        }
        let covered = window.in_segments(ack.newly_acked);
        if covered <= 1.0 {
            return covered;
        }
        let known = self.accounted.min(covered);
        self.accounted -= known;
        let new = (covered - known).max(1.0);
        if self.limit > 0.0 { new.min(self.limit) } else { new }
    }
}

window_based!(Westwood<E: Estimator>);

impl<E: Estimator> CongestionControl for Westwood<E> {
    fn on_ack(&mut self, ack: &Ack) {
        let acked = self.count.take(ack, &self.window);
        self.estimator.on_ack(ack, acked);
        if ack.may_grow() {
            self.slow_start.grow_as_reno(ack, &mut self.window);
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        let path = self.path(event);
        self.window.reduce(event, path);
    }
}

/// The filter of the paper (Tustin).
pub(super) struct Tustin {
    tau: f64,
    bandwidth: f64,
    last_sample: f64,
    last_ack: Option<Instant>,
    /// Time of the last sample, from an ACK or of zero.
    filtered: Instant,
    /// Segments acknowledged at the time of `last_ack`, but after its sample.
    waiting: f64,
}

impl Tustin {
    pub(super) fn new(filter_time: Duration) -> Self {
        Self {
            tau: filter_time.as_secs_f64(),
            bandwidth: 0.0,
            last_sample: 0.0,
            last_ack: None,
            filtered: Instant::ZERO,
            waiting: 0.0,
        }
    }

    fn filter(&mut self, sample: f64, delta: f64) {
        let sum = sample + self.last_sample;
        self.bandwidth = ((2.0 * self.tau - delta) * self.bandwidth + delta * sum) / (2.0 * self.tau + delta);
        self.last_sample = sample;
    }

    /// Adds a sample of zero for each τ/2 without an ACK before `now`.
    fn be_silent_until(&mut self, now: Instant) {
        let half = Duration::from_secs_f64(self.tau / 2.0);
        while now.since(self.filtered) > half && (self.bandwidth > 1e-9 || self.last_sample > 0.0) {
            self.filter(0.0, self.tau / 2.0);
            self.filtered += half;
        }
        if now.since(self.filtered) > half {
            // The estimate has decayed to nothing.
            self.bandwidth = 0.0;
            self.filtered = now;
        }
    }
}

impl Estimator for Tustin {
    fn on_ack(&mut self, ack: &Ack, acked: f64) {
        if acked == 0.0 {
            return;
        }
        let Some(last) = self.last_ack else {
            (self.last_ack, self.filtered) = (Some(ack.now), ack.now);
            return;
        };
        self.waiting += acked;
        let since = ack.now.since(last).as_secs_f64();
        if since == 0.0 {
            return;
        }
        self.be_silent_until(ack.now);
        let delta = ack.now.since(self.filtered).as_secs_f64();
        self.filter(self.waiting / since, delta);
        self.waiting = 0.0;
        (self.last_ack, self.filtered) = (Some(ack.now), ack.now);
    }

    fn bandwidth(&mut self, now: Instant) -> f64 {
        if self.last_ack.is_some() {
            self.be_silent_until(now);
        }
        self.bandwidth
    }
}

impl Algorithm for Config {
    const ABOUT: About = About {
        about: "NewReno with a bandwidth estimate instead of halving. The rate of the ACKs gives the bandwidth B, and a loss \
                sets the window to B times the minimum round-trip time, so that link errors cost little. ACKs that arrive \
                in bunches make the estimate too large.",
        equations: &[
            "sample of an ACK:  b = acknowledged/D, D since the last ACK; a sample of 0 after tau/2 without one",
            "filter:   B = ((2 tau - D) B + D (b + last b))/(2 tau + D),  tau = 500 ms",
            "growth:   as newreno",
            "loss:     ssthresh = max(B RTTmin, 2), W = min(W, ssthresh)",
            "timeout:  the same ssthresh, W = 1",
        ],
        source: "Casetti, Gerla, Mascolo, Sanadidi, Wang, \"TCP Westwood: end-to-end congestion control for \
                 wired/wireless networks\", Wireless Networks 8(5), 2002",
        year: 2002,
        signal: Signal::LossAndRate,
        details: ESTIMATE,
        variants: &[
            ("paper", "The equations above. The default, except in the profile `ns2-linux`."),
            (
                "linux-2.6",
                r#"
                tcp_westwood.c of Linux 2.6.22, as in ns-2; used by the profile `ns2-linux`. B is in whole bytes per
                millisecond, with the filter `linux` of `westwood+`. RTTmin is the minimum SRTT in ms. A loss or timeout
                sets ssthresh = ⌊W/2⌋. B RTTmin is the minimum window in fast recovery, and the window stays there if
                that is above ssthresh. (`westwood` in ns-2 is Westwood+.)
            "#,
            ),
        ],
        deviations: &[FIRST_ACK],
        checks: ESTIMATE_CHECKS,
        not_modelled: "INET's divisor of ssthresh, which grows with losses in slow start.",
    };

    fn check(&self) -> Result<(), String> {
        if self.variant == Linux26Variant::Linux26 && !self.keeps_filter() {
            let why = "variant = \"linux-2.6\" has another filter: remove both";
            return Err(format!("filter_time, ack_limit: {why}"));
        }
        if self.filter_time < Duration::from_millis(1) {
            return Err(format!("filter_time: {} is below 1 ms", self.filter_time));
        }
        self.hystart.check()
    }

    fn in_linux26(&self) -> Self {
        // A filter of the scenario's own stays.
        let is_free = self.variant == Linux26Variant::Profile && self.keeps_filter();
        Self { variant: if is_free { Linux26Variant::Linux26 } else { self.variant }, ..self.clone() }
    }

    fn build(&self, start: &ConnectionStart) -> Box<dyn CongestionControl> {
        if self.variant == Linux26Variant::Linux26 {
            return Box::new(Agent::new(linux26::WestwoodLinux26::new(start), &self.hystart, start));
        }
        Box::new(Westwood::new(Tustin::new(self.filter_time), self.ack_limit, &self.hystart, start))
    }
}

#[cfg(test)]
mod tests;
