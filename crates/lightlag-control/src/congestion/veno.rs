//! Veno: a variant of Reno that attributes a loss to transmission errors if there is no queue.
//!
//! Fu, Liew, "TCP Veno: TCP enhancement for transmission over wireless access networks", IEEE JSAC 21(2), 2003. Like
//! Vegas it estimates the number of its segments in the queue, N = W·(1 − RTTmin/RTT). With W in segments and β = 3
//! segments:
//!
//! - slow start, timeout: as NewReno;
//! - avoidance, for each counted segment: W += 1/W if N < β, otherwise W += 1/(2W): a segment for every two round
//!   trips;
//! - loss, mark: ssthresh = 0.8·W if N < β, W/2 otherwise, of the window, not of FlightSize.
//!
//! The variant `linux-2.6` follows ns-2: see `veno/linux26.rs`.
//!
//! RTTmin is the minimum sample of the connection. RTT is SRTT, as the paper is generally known (its text was not
//! available), or the newest sample, as in Linux. If there is no sample, N counts as large. The variant `ns3` grows
//! like NewReno: see `veno/ns3.rs`.

mod linux26;
mod ns3;

use super::about::{About, Deviation, Signal};
use super::hystart;
use super::linux26::{Agent, Linux26Variant, RECEIVE_BUFFER, VariantChoice};
use super::registry::Algorithm;
use super::window::{REDUCES_WINDOW, window_based};
use super::{Ack, Cause, Congestion, CongestionControl, ConnectionStart, SlowStart, Window};
use lightlag_core::{Duration, Unit, settings, words};

settings! {
    /// Parameters of [`Veno`].
    #[derive(Clone, Debug, PartialEq)]
    pub struct Config {
        /// Source of the rules.
        variant: Linux26Variant = Linux26Variant::default() => choice("a value").rules_with_ns3();
        /// Minimum number of segments in the queue of a full path (beta in the paper).
        backlog: f64 = 3.0 => quantity(Unit::Plain, 0.0, 1e6).unit("segments");
        /// Fraction of the window that remains after a loss if the path is not full.
        beta: f64 = 0.8 => quantity(Unit::Plain, 0.1, 0.99);
        /// Round-trip time for N: srtt, or the newest sample (Linux).
        rtt_source: RttSource = RttSource::default() => choice("a value");
        + /// Slow start.
        hystart: hystart::Config = hystart::Config::default() => hystart::settings("standard");
    }
}

impl Config {
    /// Returns these parameters with the variant of a profile, unless the scenario chose a variant. The RTT does not
    /// change.
    fn with(&self, profile: Linux26Variant) -> Self {
        let is_free = self.variant == Linux26Variant::Profile && self.rtt_source == RttSource::default();
        Self { variant: if is_free { profile } else { self.variant }, ..self.clone() }
    }
}

words! {
    /// Round-trip time that determines N.
    pub enum RttSource {
        /// SRTT (RFC 6298).
        Srtt = "srtt",
        /// The newest sample.
        Sample = "sample",
    }
}

/// State of Veno.
pub struct Veno {
    config: Config,
    window: Window,
    slow_start: SlowStart,
    /// Newest round-trip time from the selected source; zero before the first.
    rtt: Duration,
    min_rtt: Duration,
}

impl Veno {
    /// Creates Veno in slow start, with the initial window.
    pub fn new(config: &Config, start: &ConnectionStart) -> Self {
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

    /// Returns true if N is below β.
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
        about: "NewReno for wireless links. If the round-trip time shows no queue, a loss counts as a link error and takes a \
                fifth of the window instead of half; if it shows a queue, growth is halved.",
        equations: &[
            "N = W (1 - RTTmin/RTT): segments in the queue",
            "avoidance, per counted segment:   W += 1/W if N < 3, else 1/(2 W)",
            "loss:     ssthresh = 0.8 W if N < 3, else W/2, at least 2;  W = ssthresh",
            "timeout:  ssthresh = max(FlightSize/2, 2), W = 1",
            "mean window with random loss p and no queue:  sqrt(4.5/p) segments",
        ],
        source: "Fu, Liew, \"TCP Veno: TCP enhancement for transmission over wireless access networks\", IEEE JSAC \
                 21(2), 2003",
        year: 2003,
        signal: Signal::LossAndDelay,
        details: r#"
            3 is `backlog` and 0.8 is `beta`. RTT is SRTT, or the newest sample with `rtt_source = "sample"`, as in Linux.
        "#,
        variants: &[
            ("paper", "The equations above. The default, except in the profiles `ns2-linux` and `ns3`."),
            (
                "linux-2.6",
                r#"
                tcp_veno.c of Linux 2.6.22, as in ns-2; used by the profile `ns2-linux`. N = W − ⌊2 W RTTmin/RTT⌋/2 of the
                newest sample, in half segments. The window grows by one segment after W + 1 ACKs, or after twice as many
                if N ≥ 3. ssthresh is in whole segments and is the minimum window in fast recovery.
            "#,
            ),
            (
                "ns3",
                r#"
                TcpVeno of ns-3; used by the profile `ns3`. It restarts the count of its samples with each ACK and so never
                has enough of them for Veno's increase: it grows as NewReno of ns-3, by 1/W per ACK. A loss or timeout
                leaves 0.8 of FlightSize if N < 3, and half of it otherwise. N = W − ⌊W RTTmin/RTT⌋, where both RTTs are
                SRTT.
            "#,
            ),
        ],
        deviations: &[
            REDUCES_WINDOW,
            RECEIVE_BUFFER,
            Deviation {
                scope: "paper",
                source: "with a queue, every second ACK adds 1/W",
                here: "each ACK adds half of that",
                reason: "the same growth, whatever the number of segments that an ACK counts for",
            },
            Deviation {
                scope: "ns3",
                source: "from the end of a repair to the next ACK, N = W",
                here: "N is unchanged",
                reason: "it matters only for a second loss before the next ACK",
            },
        ],
        checks: "The reaction around N = 3; both increments; the mean window √(4.5/p) under random loss without a queue, to 10 %.",
        not_modelled: "",
    };

    fn check(&self) -> Result<(), String> {
        if matches!(self.variant, Linux26Variant::Linux26 | Linux26Variant::Ns3)
            && self.rtt_source != RttSource::default()
        {
            return Err("rtt_source: the variants linux-2.6 and ns3 have their own source: remove it".to_owned());
        }
        self.hystart.check()
    }

    fn in_linux26(&self) -> Self {
        self.with(Linux26Variant::Linux26)
    }

    fn in_ns3(&self) -> Self {
        self.with(Linux26Variant::Ns3)
    }

    fn build(&self, start: &ConnectionStart) -> Box<dyn CongestionControl> {
        match self.variant {
            Linux26Variant::Linux26 => {
                Box::new(Agent::new(linux26::VenoLinux26::new(self, start), &self.hystart, start))
            }
            Linux26Variant::Ns3 => Box::new(ns3::VenoNs3::new(self, start)),
            Linux26Variant::Profile | Linux26Variant::Paper => Box::new(Veno::new(self, start)),
        }
    }
}

#[cfg(test)]
mod tests;
