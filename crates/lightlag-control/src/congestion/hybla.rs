//! Hybla: growth independent of the round-trip time.
//!
//! Caini, Firrincieli, "TCP Hybla: a TCP enhancement for heterogeneous networks", International Journal of
//! Satellite Communications and Networking 22(5), 2004. With ρ = RTT/RTT0, never below 1, RTT0 = 25 ms and W in
//! segments, each acknowledged segment adds
//!
//! - 2^ρ − 1 in slow start, so that W = ρ·2^(t/RTT0), and
//! - ρ²/W in avoidance, so that W grows by ρ² a round: W/RTT is then that of a connection with RTT0.
//!
//! Loss and timeout as NewReno. The bounds are Linux's: the exponent at most 16, the result of slow start at most
//! ssthresh, the window at most 65,535 segments. RTT is the smallest sample, as in Linux, or SRTT, with which queueing
//! raises ρ. The window starts at ρ·IW with the ρ of the handshake, or at IW if that gave no sample. The paper's
//! estimate of ssthresh is not modelled. Its packet spacing is the connection's `pacing`: without it slow start on a
//! long path is one burst.
//!
//! The variant `linux-2.6` is tcp_hybla.c of 2.6.22, which ns-2 contains, in whole segments. Each ACK counts. ρ is cut
//! to eighths, and is the initial window. The increment of avoidance is cut to 1/128 of a segment, so it is zero above
//! 128 ρ² segments; the fraction of the next segment survives a loss. The repair after a timeout grows like NewReno.

use super::hystart;
use super::linux26::{Choosable, Variant};
use super::registry::{About, Algorithm};
use super::window::window_based;
use super::{Ack, Congestion, CongestionControl, Internals, Phase, SlowStart, Start, Window};
use lightlag_core::Duration;
use lightlag_core::params::Setting;

/// Linux: 2^ρ fits 16 bits and more.
const MOST_EXPONENT: f64 = 16.0;
/// Linux: the clamp of the window in segments.
const MOST_WINDOW: f64 = 65_535.0;

/// Parameters of [`Hybla`].
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The source of the rules.
    pub variant: Variant,
    /// RTT0, 25 ms.
    pub reference_rtt: Duration,
    /// The RTT that gives ρ.
    pub rho_source: RhoSource,
    /// The events that add an increment.
    pub count: Count,
    /// Slow start.
    pub hystart: hystart::Config,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            variant: Variant::default(),
            reference_rtt: Duration::from_millis(25),
            rho_source: RhoSource::default(),
            count: Count::default(),
            hystart: hystart::Config::default(),
        }
    }
}

impl Choosable for Config {
    fn variant(&self) -> Variant {
        self.variant
    }

    fn choose(&mut self, variant: Variant) {
        self.variant = variant;
        if variant == Variant::Linux26 {
            self.count = Count::Acks;
        }
    }
}

/// The RTT that gives ρ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RhoSource {
    /// The smallest sample.
    #[default]
    MinRtt,
    /// SRTT (RFC 6298).
    Srtt,
}

/// The events that add an increment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Count {
    /// Each acknowledged segment, as in the paper.
    #[default]
    Segments,
    /// Each ACK, as in Linux.
    Acks,
}

/// Hybla's window.
pub struct Hybla {
    config: Config,
    window: Window,
    slow_start: SlowStart,
    /// The RTT from which both increments were computed.
    rtt: Duration,
    doubling: f64,
    avoidance: f64,
    /// ρ of both; unknown before the first round-trip time.
    rho: Option<f64>,
    /// The fraction of the next segment that `linux-2.6` has collected.
    part: f64,
}

impl Hybla {
    /// Hybla in slow start, at the initial window.
    pub fn new(config: &Config, start: &Start) -> Self {
        let mut hybla = Self {
            config: config.clone(),
            window: Window::new(start),
            slow_start: SlowStart::new(&config.hystart, start),
            rtt: config.reference_rtt,
            doubling: 1.0,
            avoidance: 1.0,
            rho: None,
            part: 0.0,
        };
        if let Some(rtt) = start.rtt {
            let rho = hybla.follow(rtt);
            if hybla.is_linux26() {
                hybla.window.clamp_to(rho.floor());
                hybla.window.raise_to(rho.floor().min(MOST_WINDOW));
                return hybla;
            }
            hybla.window.raise_to((rho * hybla.window.segments()).min(MOST_WINDOW));
        }
        hybla
    }

    /// Uses this RTT for the two increments, and returns its ρ.
    fn follow(&mut self, rtt: Duration) -> f64 {
        let rho = rtt / self.config.reference_rtt;
        let rho = if self.is_linux26() { (8.0 * rho).floor() / 8.0 } else { rho }.max(1.0);
        self.rtt = rtt;
        self.rho = Some(rho);
        self.doubling = libm::exp2(rho.min(MOST_EXPONENT)) - 1.0;
        self.avoidance = rho * rho;
        rho
    }

    fn is_linux26(&self) -> bool {
        self.config.variant == Variant::Linux26
    }

    fn avoid_congestion_linux26(&mut self, ack: &Ack) {
        let window = self.window.segments();
        self.part += match ack.phase {
            // hybla_state: only Open is Hybla's.
            Phase::Loss => ack.growth / window,
            Phase::Open | Phase::Recovery => (128.0 * self.avoidance / window).floor() / 128.0,
        };
        self.window.grow(self.part.floor());
        self.part -= self.part.floor();
    }

    fn counted(&self, ack: &Ack) -> f64 {
        match self.config.count {
            Count::Acks => 1.0,
            // A cumulative ACK may cover data that arrived long ago: then the connection's limit applies.
            Count::Segments if ack.phase == Phase::Loss => ack.growth,
            Count::Segments => self.window.in_segments(ack.newly_acked),
        }
    }
}

window_based!(Hybla);

impl CongestionControl for Hybla {
    fn internals(&self) -> Internals {
        Internals { rho: self.rho, ..Internals::default() }
    }

    fn on_ack(&mut self, ack: &Ack) {
        if !ack.may_grow() {
            return;
        }
        let rtt = match self.config.rho_source {
            RhoSource::MinRtt => ack.min_rtt,
            RhoSource::Srtt => ack.srtt,
        };
        if rtt != self.rtt && rtt != Duration::MAX && !rtt.is_zero() {
            self.follow(rtt);
        }
        let acked = self.counted(ack);
        if self.window.in_slow_start() {
            // The rest at the threshold is dropped, as in Linux: it would count ρ²/W for each segment.
            let each = if self.is_linux26() && ack.phase == Phase::Loss { 1.0 } else { self.doubling };
            self.slow_start.grow(ack, &mut self.window, acked, each);
        } else if self.is_linux26() {
            self.avoid_congestion_linux26(ack);
        } else {
            self.window.grow(acked * self.avoidance / self.window.segments());
        }
        self.window.clamp_to(MOST_WINDOW);
    }

    fn on_congestion(&mut self, event: &Congestion) {
        self.window.react(event, self.window.in_segments(event.flight) / 2.0);
    }
}

impl Algorithm for Config {
    const ABOUT: About = About {
        about: "Made for satellites: a connection with a long round-trip time grows as fast, in bytes a second, as \
                one with 25 ms. It reacts to a loss as NewReno, but returns sooner. Without pacing, slow start on a \
                geostationary path is one burst of up to 65,535 segments, or what the receiver allows.",
        equations: &[
            "rho = max(RTT/RTT0, 1)",
            "slow start, per acknowledged segment:  W += 2^rho - 1, up to ssthresh (rho at most 16 here)",
            "avoidance, per acknowledged segment:   W += rho^2/W",
            "loss:     ssthresh = max(FlightSize/2, 2), W = ssthresh",
            "timeout:  ssthresh = max(FlightSize/2, 2), W = 1",
            "mean window with random loss p:        rho sqrt(3/(2p)) segments",
        ],
        source: "Caini, Firrincieli, International Journal of Satellite Communications and Networking 22(5), 2004; \
                 bounds as in Linux",
    };

    fn settings() -> Vec<Setting<Self>> {
        let own: Vec<Setting<Self>> = vec![
            super::linux26::setting(),
            Setting::time_up_to(
                "reference_rtt",
                |config: &mut Self| &mut config.reference_rtt,
                Duration::from_secs(60),
            )
            .by_default("25 ms")
            .unit("time")
            .about("RTT0: the round-trip time whose growth every connection has (ns-3: 50 ms)."),
            Setting::word(
                "rho_source",
                "a value",
                &["min_rtt", "srtt"],
                |config: &Self| config.rho_source as usize,
                |config: &mut Self, word| config.rho_source = [RhoSource::MinRtt, RhoSource::Srtt][word],
            )
            .by_default("min_rtt")
            .about(
                "Which round-trip time makes rho: the smallest sample, or srtt, with which queueing raises \
                          rho.",
            ),
            Setting::word(
                "count",
                "a value",
                &["segments", "acks"],
                |config: &Self| config.count as usize,
                |config: &mut Self, word| config.count = [Count::Segments, Count::Acks][word],
            )
            .by_default("segments")
            .about(
                "What adds its increment: each of the acknowledged segments (the paper), or each of the \
                          acks (Linux), which grows slower where ACKs are delayed.",
            ),
        ];
        [own, hystart::settings("standard")].concat()
    }

    fn check(&self) -> Result<(), String> {
        if self.reference_rtt < Duration::from_millis(1) {
            return Err(format!("reference_rtt: {} is below 1 ms", self.reference_rtt));
        }
        self.hystart.check()
    }

    fn build(&self, start: &Start) -> Box<dyn CongestionControl> {
        Box::new(Hybla::new(self, start))
    }
}

impl hystart::Choosable for Config {
    fn hystart(&mut self) -> &mut hystart::Config {
        &mut self.hystart
    }
}

#[cfg(test)]
mod tests;
