//! Veno: a Reno that attributes a loss without a queue to an error of the link.
//!
//! Fu, Liew, "TCP Veno: TCP enhancement for transmission over wireless access networks", IEEE JSAC 21(2), 2003. Like
//! Vegas it estimates its segments in the queue, N = W·(1 − RTTmin/RTT); W in segments, β = 3 of them:
//!
//! - slow start, timeout: as NewReno;
//! - avoidance, for each counted segment: W += 1/W if N < β, otherwise for every second one: 1/(2W) each;
//! - loss, mark: ssthresh = 0.8·W if N < β, W/2 otherwise, of the window, not of FlightSize.
//!
//! The variant `linux-2.6` is that of ns-2: see `veno/linux26.rs`.
//!
//! RTTmin is the smallest sample of the connection. RTT is SRTT, as the paper is generally known (its text was not
//! available), or the newest sample, as in Linux. Without a sample N is assumed to be large. The variant `ns3` grows like
//! NewReno: see `veno/ns3.rs`.

mod linux26;
mod ns3;

use super::hystart;
use super::linux26::{Agent, Choosable, Variant};
use super::registry::{About, Algorithm};
use super::window::window_based;
use super::{Ack, Cause, Congestion, CongestionControl, SlowStart, Start, Window};
use lightlag_core::params::Setting;
use lightlag_core::{Duration, Unit};

/// Parameters of [`Veno`].
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The source of the rules.
    pub variant: Variant,
    /// β of the paper: the number of segments in the queue from which the path is full, 3.
    pub backlog: f64,
    /// The fraction of the window that a loss without a queue keeps, 0.8.
    pub beta: f64,
    /// The RTT that gives N.
    pub rtt_source: RttSource,
    /// Slow start.
    pub hystart: hystart::Config,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            variant: Variant::default(),
            backlog: 3.0,
            beta: 0.8,
            rtt_source: RttSource::default(),
            hystart: hystart::Config::default(),
        }
    }
}

impl Config {
    /// The variant of a profile, unless the scenario chose another one, or the RTT, which stays.
    fn with(&self, profile: Variant) -> Self {
        let is_free = self.variant == Variant::Profile && self.rtt_source == RttSource::default();
        Self { variant: if is_free { profile } else { self.variant }, ..self.clone() }
    }
}

impl Choosable for Config {
    const HAS_NS3: bool = true;

    fn variant(&self) -> Variant {
        self.variant
    }

    fn choose(&mut self, variant: Variant) {
        self.variant = variant;
    }
}

/// The RTT that gives N.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RttSource {
    /// SRTT (RFC 6298).
    #[default]
    Srtt,
    /// The newest sample.
    Sample,
}

/// Veno's window.
pub struct Veno {
    config: Config,
    window: Window,
    slow_start: SlowStart,
    /// The newest sample of the source; zero before the first.
    rtt: Duration,
    min_rtt: Duration,
}

impl Veno {
    /// Veno in slow start, at the initial window.
    pub fn new(config: &Config, start: &Start) -> Self {
        Self {
            config: config.clone(),
            window: Window::new(start),
            slow_start: SlowStart::new(&config.hystart, start),
            rtt: Duration::ZERO,
            min_rtt: Duration::ZERO,
        }
    }

    fn measure(&mut self, ack: &Ack) {
        let Some(sample) = ack.rtt else { return };
        self.min_rtt = ack.min_rtt.min(sample);
        self.rtt = match self.config.rtt_source {
            RttSource::Srtt => ack.srtt.max(self.min_rtt),
            RttSource::Sample => sample,
        };
    }

    /// Whether N is below β.
    fn has_room(&self) -> bool {
        !self.rtt.is_zero() && self.window.segments() * (1.0 - self.min_rtt / self.rtt) < self.config.backlog
    }
}

window_based!(Veno);

impl CongestionControl for Veno {
    fn on_ack(&mut self, ack: &Ack) {
        self.measure(ack);
        if !ack.may_grow() {
            return;
        }
        let left = self.slow_start.grow(ack, &mut self.window, ack.growth, 1.0);
        if left > 0.0 {
            let share = if self.has_room() { 1.0 } else { 0.5 };
            self.window.grow(share * left / self.window.segments());
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        let window = self.window.segments();
        let threshold = match event.cause {
            Cause::Timeout | Cause::RepeatedTimeout => self.window.in_segments(event.flight) / 2.0,
            Cause::Loss | Cause::Mark if self.has_room() => self.config.beta * window,
            Cause::Loss | Cause::Mark => window / 2.0,
        };
        self.window.react(event, threshold);
    }

    fn least_in_recovery(&self) -> u64 {
        self.window.threshold_bytes()
    }
}

impl Algorithm for Config {
    const ABOUT: About = About {
        about: "NewReno for wireless links: where the round-trip time shows no queue, a loss is taken for an error of \
                the link and costs a fifth of the window instead of half; where it shows one, growth is halved.",
        equations: &[
            "N = W (1 - RTTmin/RTT): segments in the queue",
            "avoidance, per counted segment:   W += 1/W if N < 3, else 1/(2 W)",
            "loss:     ssthresh = 0.8 W if N < 3, else W/2, at least 2;  W = ssthresh",
            "timeout:  ssthresh = max(FlightSize/2, 2), W = 1",
            "linux-2.6: N from the newest RTT, in half segments;  a segment for W + 1 ACKs, or 2 W + 2;  W whole",
            "mean window with random loss p and no queue:  sqrt(4.5/p) segments",
        ],
        source: "Fu, Liew, \"TCP Veno: TCP enhancement for transmission over wireless access networks\", IEEE JSAC \
                 21(2), 2003",
    };

    fn settings() -> Vec<Setting<Self>> {
        let own: Vec<Setting<Self>> = vec![
            super::linux26::setting(),
            Setting::quantity("backlog", |config: &mut Self| &mut config.backlog, Unit::Plain, 0.0, 1e6)
                .by_default("3")
                .unit("segments")
                .about("With so many segments in the queue the path is full (beta in the paper)."),
            Setting::quantity("beta", |config: &mut Self| &mut config.beta, Unit::Plain, 0.1, 0.99)
                .by_default("0.8")
                .about("The fraction of the window that a loss keeps where the path is not full."),
            Setting::word(
                "rtt_source",
                "a value",
                &["srtt", "sample"],
                |config: &Self| config.rtt_source as usize,
                |config: &mut Self, word| config.rtt_source = [RttSource::Srtt, RttSource::Sample][word],
            )
            .by_default("srtt")
            .about("Which round-trip time makes N: srtt, or the newest sample (Linux)."),
        ];
        [own, hystart::settings("standard")].concat()
    }

    fn check(&self) -> Result<(), String> {
        if matches!(self.variant, Variant::Linux26 | Variant::Ns3) && self.rtt_source != RttSource::default() {
            return Err(
                "rtt_source: the variants linux-2.6 and ns3 have a source of their own: leave it out".to_owned()
            );
        }
        self.hystart.check()
    }

    fn in_linux26(&self) -> Self {
        self.with(Variant::Linux26)
    }

    fn in_ns3(&self) -> Self {
        self.with(Variant::Ns3)
    }

    fn build(&self, start: &Start) -> Box<dyn CongestionControl> {
        match self.variant {
            Variant::Linux26 => Box::new(Agent::new(linux26::Module26::new(self, start), &self.hystart, start)),
            Variant::Ns3 => Box::new(ns3::VenoNs3::new(self, start)),
            Variant::Profile | Variant::Paper => Box::new(Veno::new(self, start)),
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
