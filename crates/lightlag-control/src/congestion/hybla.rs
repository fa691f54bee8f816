//! Hybla: growth independent of the round-trip time.
//!
//! Caini, Firrincieli, "TCP Hybla: a TCP enhancement for heterogeneous networks", International Journal of
//! Satellite Communications and Networking 22(5), 2004. With ρ = RTT/RTT0, never below 1, RTT0 = 25 ms and W in
//! segments, each acknowledged segment adds
//!
//! - 2^ρ − 1 in slow start, so that W = ρ·2^(t/RTT0), and
//! - ρ²/W in avoidance, so that W grows by ρ² per round: W/RTT then equals that for a connection with RTT0.
//!
//! Losses and timeouts are handled as in NewReno. The bounds are as in Linux: exponent at most 16, slow start at most
//! up to ssthresh, window at most 65,535 segments. RTT is the minimum sample, as in Linux, or SRTT, which queueing
//! raises together with ρ. The window starts at ρ·IW with the ρ of the handshake, or at IW if that gave no sample. The
//! paper's estimate of ssthresh is not modelled. Its packet spacing corresponds to `pacing` of the connection; without
//! pacing, slow start on a long path is one burst.
//!
//! The variant `linux-2.6` is tcp_hybla.c of 2.6.22, which ns-2 contains, in whole segments. The increments are per
//! ACK. ρ is rounded down to eighths, and is also the initial window. The increment in avoidance is rounded down to
//! 1/128 of a segment, so it is zero above 128 ρ² segments; the collected fraction of the next segment survives a loss.
//! In the repair after a timeout the window grows as in NewReno.

use super::about::{About, Deviation, Signal};
use super::hystart;
use super::linux26::{Linux26Variant, VariantChoice};
use super::registry::Algorithm;
use super::window::window_based;
use super::{Ack, Congestion, CongestionControl, ConnectionStart, Internals, Phase, SlowStart, Window};
use lightlag_core::{Duration, settings, words};

/// Linux: maximum exponent in 2^ρ, chosen so that 2^ρ fits its fixed-point format.
const MOST_EXPONENT: f64 = 16.0;
/// Linux: maximum window in segments.
const MOST_WINDOW: f64 = 65_535.0;

settings! {
    /// Parameters of [`Hybla`].
    #[derive(Clone, Debug, PartialEq)]
    pub struct Config {
        /// Source of the rules.
        variant: Linux26Variant = Linux26Variant::default() => choice("a value").rules().implies(|config| {
            if config.variant == Linux26Variant::Linux26 {
                config.count = Increment::Acks;
            }
        });
        /// RTT0: reference round-trip time; every connection grows like a connection with this one (ns-3: 50 ms).
        reference_rtt: Duration = Duration::from_millis(25) => time_up_to(Duration::from_secs(60));
        /// Round-trip time for rho: the minimum sample, or srtt, which queueing raises together with rho.
        rho_source: RhoSource = RhoSource::default() => choice("a value");
        /// Unit of an increment: each of the acknowledged segments (the paper), or each of the acks (Linux), which
        /// grows slower where ACKs are delayed.
        count: Increment = Increment::default() => choice("a value");
        + /// Slow start.
        hystart: hystart::Config = hystart::Config::default() => hystart::settings("standard");
    }
}

words! {
    /// Round-trip time that determines ρ.
    pub enum RhoSource {
        /// The minimum sample.
        MinRtt = "min_rtt",
        /// SRTT (RFC 6298).
        Srtt = "srtt",
    }
}

words! {
    /// Events that add an increment.
    pub enum Increment {
        /// Each acknowledged segment, as in the paper.
        Segments = "segments",
        /// Each ACK, as in Linux.
        Acks = "acks",
    }
}

/// State of Hybla.
pub struct Hybla {
    config: Config,
    window: Window,
    slow_start: SlowStart,
    /// RTT for which both increments were computed.
    rtt: Duration,
    doubling: f64,
    avoidance: f64,
    /// ρ for which both increments were computed; `None` before the first round-trip time.
    rho: Option<f64>,
    /// Fraction of the next segment that the variant `linux-2.6` has collected.
    part: f64,
}

impl Hybla {
    /// Creates Hybla in slow start, with the initial window.
    pub fn new(config: &Config, start: &ConnectionStart) -> Self {
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

    /// Computes ρ and both increments for this RTT. Returns ρ.
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
        self.config.variant == Linux26Variant::Linux26
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
            Increment::Acks => 1.0,
            // A cumulative ACK may cover data that arrived long ago: then the connection's limit applies.
            Increment::Segments if ack.phase == Phase::Loss => ack.growth,
            Increment::Segments => self.window.in_segments(ack.newly_acked),
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
        about: "For satellites: a connection with a long round-trip time grows as fast in bytes per second as one with 25 \
                ms. A loss halves the window as in NewReno, but the recovery is faster. Without pacing, slow start on a \
                geostationary path is one burst of up to 65,535 segments, or of the receive window.",
        equations: &[
            "rho = max(RTT/RTT0, 1),  RTT0 = 25 ms",
            "start:    W = rho IW, with the RTT of the handshake",
            "slow start, per acknowledged segment:  W += 2^rho - 1, up to ssthresh (rho at most 16 here)",
            "avoidance, per acknowledged segment:   W += rho^2/W",
            "loss:     ssthresh = max(FlightSize/2, 2), W = ssthresh",
            "timeout:  ssthresh = max(FlightSize/2, 2), W = 1",
            "mean window with random loss p:        rho sqrt(3/(2p)) segments",
        ],
        source: "Caini, Firrincieli, International Journal of Satellite Communications and Networking 22(5), 2004; \
                 bounds as in Linux",
        year: 2004,
        signal: Signal::Loss,
        details: r#"
            RTT0 is `reference_rtt`. RTT is the minimum sample, or SRTT with `rho_source = "srtt"`. `count = "acks"` adds one
            increment per ACK, as Linux does, however many segments the ACK acknowledges. As in Linux, the exponent is at
            most 16 and the window at most 65,535 segments. At 600 ms ρ = 24: one ACK adds as much as the bound allows, so
            that slow start ends with the first ACK, in one burst. An increment that would pass ssthresh stops there, and
            its rest is dropped. The column `rho` of the trace, with `internals = true` in `[record]`, has ρ over time.

            The start needs a receive window and SACK. The automatic buffer of the profile `linux` advertises 65.5 kB at
            first, less than the first window of ρ IW, and without SACK the burst is repaired by one segment per round trip.
            On 10 Mbit/s, 600 ms and a queue of one BDP, 1 MB arrives after 2.3 s with a buffer of 4 MB and after 3.3 s with
            the automatic one; without SACK the goodput of a minute is 0.1 instead of 9.3 Mbit/s. The warning `spoilt-start`
            reports both.

            The packet spacing of the paper is the key `pacing` of the connection.
        "#,
        variants: &[
            ("paper", "The equations above. The default, except in the profile `ns2-linux`."),
            (
                "linux-2.6",
                r#"
                All of tcp_hybla.c of Linux 2.6.22, as in ns-2; used by the profile `ns2-linux`. Whole segments; ρ and
                the first window in eighths; one increment per ACK, rounded down to 1/128 in avoidance, so that nothing
                is added above 128 ρ² segments (at 25 ms W grows by less than one per round for W ≥ 64); growth as in
                NewReno during the repair after a timeout.
            "#,
            ),
        ],
        deviations: &[Deviation {
            scope: "paper",
            source: "ρ in eighths (Linux); a reference of 50 ms (ns-3)",
            here: "exact ρ, 25 ms",
            reason: "the paper; `linux-2.6` has eighths",
        }],
        checks: "Both increments at RTTs from 25 to 600 ms; W/RTT after 10 s is equal for all of them, to 1 %; the mean \
                 window ρ √(3/(2p)), to 10 %.",
        not_modelled: "The paper's bandwidth estimate for the first ssthresh.",
    };

    fn check(&self) -> Result<(), String> {
        if self.reference_rtt < Duration::from_millis(1) {
            return Err(format!("reference_rtt: {} is below 1 ms", self.reference_rtt));
        }
        self.hystart.check()
    }

    fn build(&self, start: &ConnectionStart) -> Box<dyn CongestionControl> {
        Box::new(Hybla::new(self, start))
    }
}

#[cfg(test)]
mod tests;
