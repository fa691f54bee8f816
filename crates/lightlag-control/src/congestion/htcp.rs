//! H-TCP: the window grows with the time since the last loss, and the back-off depends on the queueing part of the
//! round-trip time.
//!
//! Shorten, Leith, "H-TCP: TCP for high-speed and long-distance networks", PFLDnet 2004. With Δ the seconds since the
//! last loss, Δ_L = 1 s, β the fraction of the window that remains after a loss, and W in segments:
//!
//! - α = 1 up to Δ_L, then 1 + 10(Δ − Δ_L) + ((Δ − Δ_L)/2)²; then α = max(1, 2(1 − β)·α);
//! - avoidance, for each counted segment: W += α/W;
//! - loss, mark, timeout: β = RTTmin/RTTmax, at least 0.5 and at most 0.8; but 0.5 if the throughput B differs by more
//!   than a fifth from its value at the previous loss; ssthresh = β·W, of the window, not of FlightSize.
//!
//! RTTmin is the connection's smallest sample, RTTmax the largest since the last loss: their ratio is the back-off that
//! just empties the queue. B is the throughput of the last complete round trip before the loss. Slow start and the
//! window after a timeout are as in NewReno. Before the first loss Δ counts from the first ACK, and after an idle time
//! from the end of that time. The authors propose an option to scale α by the RTT. Linux uses it; here only the variant
//! `linux-2.6` has it, the module of ns-2: see `htcp/linux26.rs`. The variant `ns3` grows almost like NewReno: see
//! `htcp/ns3.rs`.

mod linux26;
mod ns3;

use super::about::{About, Signal};
use super::hystart;
use super::linux26::{Agent, FIRST_ACK, Linux26Variant, RECEIVE_BUFFER, VariantChoice};
use super::registry::Algorithm;
use super::window::{REDUCES_WINDOW, window_based};
use super::{Ack, Cause, Congestion, CongestionControl, ConnectionStart, SlowStart, Window};
use lightlag_core::{Duration, Instant, Unit, settings};

settings! {
    /// Parameters of [`Htcp`].
    #[derive(Clone, Debug, PartialEq)]
    pub struct Config {
        /// Source of the rules.
        variant: Linux26Variant = Linux26Variant::default() => choice("a value").rules_with_ns3();
        /// Delta_L: time after a loss during which the window grows as in NewReno.
        low_speed_time: Duration = Duration::from_secs(1) => time_up_to(Duration::from_secs(3600));
        /// Minimum fraction of the window that remains after a loss; also used where the throughput changes.
        beta_min: f64 = 0.5 => quantity(Unit::Plain, 0.1, 0.99);
        /// Maximum fraction of the window that remains after a loss.
        beta_max: f64 = 0.8 => quantity(Unit::Plain, 0.1, 0.99);
        /// Maximum relative change of the throughput between two losses; a larger change sets beta to beta_min.
        throughput_change: f64 = 0.2 => quantity(Unit::Plain, 0.0, 1000.0);
        + /// Slow start.
        hystart: hystart::Config = hystart::Config::default() => hystart::settings("standard");
    }
}

impl Config {
    /// Returns α before it is scaled by β, a time `since` after the last loss.
    fn alpha(&self, since: Duration) -> f64 {
        if since <= self.low_speed_time {
            return 1.0;
        }
        let x = since.as_secs_f64() - self.low_speed_time.as_secs_f64();
        1.0 + 10.0 * x + 0.25 * x * x
    }

    /// Returns α, scaled by β, the fraction of the window that remained after the last loss.
    fn scaled_alpha(&self, since: Duration, beta: f64) -> f64 {
        (2.0 * (1.0 - beta) * self.alpha(since)).max(1.0)
    }
}

/// State of H-TCP.
pub struct Htcp {
    config: Config,
    window: Window,
    slow_start: SlowStart,
    epoch: HtcpEpoch,
    /// Epoch before the last reaction, for an undo.
    before: HtcpEpoch,
    round: Option<DeliveredRound>,
    /// Throughput of the last complete round, in bytes per second.
    throughput: Option<f64>,
}

/// State after a congestion event, used at the next one.
#[derive(Clone, Copy)]
struct HtcpEpoch {
    /// Time of the last congestion event. Before the first one: time of the first ACK.
    begin: Option<Instant>,
    beta: f64,
    /// Maximum round-trip sample since then; zero without a sample.
    max_rtt: Duration,
    /// Throughput before the event, in bytes per second.
    throughput: Option<f64>,
}

/// The bytes delivered in the current round trip.
struct DeliveredRound {
    start: Instant,
    end: u64,
    delivered: u64,
}

impl Htcp {
    /// Creates H-TCP in slow start, with the initial window.
    pub fn new(config: &Config, start: &ConnectionStart) -> Self {
        let epoch = HtcpEpoch { begin: None, beta: config.beta_min, max_rtt: Duration::ZERO, throughput: None };
        Self {
            config: config.clone(),
            window: Window::new(start),
            slow_start: SlowStart::new(&config.hystart, start),
            epoch,
            before: epoch,
            round: None,
            throughput: None,
        }
    }

    fn measure(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.epoch.max_rtt = self.epoch.max_rtt.max(rtt);
        }
        if let Some(round) = &mut self.round {
            round.delivered += ack.newly_delivered;
            if ack.snd_una < round.end {
                return;
            }
            let time = ack.now.since(round.start).as_secs_f64();
            if time > 0.0 {
                self.throughput = Some(round.delivered as f64 / time);
            }
        }
        self.round = Some(DeliveredRound { start: ack.now, end: ack.snd_nxt, delivered: 0 });
    }

    /// Returns β for a congestion event. `min_rtt`: minimum round-trip sample of the connection.
    fn backoff(&self, min_rtt: Duration) -> f64 {
        let Config { beta_min, beta_max, throughput_change, .. } = self.config;
        let (Some(now), Some(last)) = (self.throughput, self.epoch.throughput) else { return beta_min };
        if (now - last).abs() > throughput_change * last || self.epoch.max_rtt.is_zero() {
            return beta_min;
        }
        (min_rtt / self.epoch.max_rtt).clamp(beta_min, beta_max)
    }
}

window_based!(Htcp);

impl CongestionControl for Htcp {
    fn on_ack(&mut self, ack: &Ack) {
        self.measure(ack);
        let begin = *self.epoch.begin.get_or_insert(ack.now);
        if !ack.may_grow() {
            return;
        }
        let left = self.slow_start.grow(ack, &mut self.window, ack.growth, 1.0);
        if left > 0.0 {
            let alpha = self.config.scaled_alpha(ack.now.since(begin), self.epoch.beta);
            self.window.grow(left * alpha / self.window.segments());
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        if event.cause != Cause::RepeatedTimeout {
            self.before = self.epoch;
            self.epoch.beta = self.backoff(event.min_rtt);
            self.epoch.throughput = self.throughput.or(self.epoch.throughput);
            self.epoch.max_rtt = Duration::ZERO;
        }
        self.epoch.begin = Some(event.now);
        self.window.react(event, self.epoch.beta * self.window.segments());
    }

    fn on_undo(&mut self, _now: Instant) {
        self.window.undo();
        self.epoch = HtcpEpoch { max_rtt: self.before.max_rtt.max(self.epoch.max_rtt), ..self.before };
    }

    fn on_idle(&mut self, now: Instant, window: u64, threshold: u64) {
        self.epoch.begin = Some(now);
        self.round = None;
        self.window.restart(window, threshold);
    }

    fn least_in_recovery(&self) -> u64 {
        self.window.threshold_bytes()
    }
}

impl Algorithm for Config {
    const ABOUT: About = About {
        about: "Standard TCP for one second after a loss; then growth rises with the square of the time since that \
                loss, so that a large window is reached again in seconds. After a loss 0.5 to 0.8 of the window \
                remains, according to the ratio of the minimum and the maximum round-trip time, so that the reduction \
                just empties the queue.",
        equations: &[
            "alpha = 1 while D <= 1 s after the last loss, else 1 + 10 (D - 1) + ((D - 1)/2)^2",
            "alpha = max(1, 2 (1 - beta) alpha)",
            "avoidance, per counted segment:   W += alpha/W",
            "beta = RTTmin/RTTmax within 0.5 and 0.8;  0.5 if |B - last B| > 0.2 last B",
            "loss:     ssthresh = beta W, at least 2;  W = ssthresh",
            "timeout:  the same ssthresh, W = 1",
        ],
        source: "Shorten, Leith, \"H-TCP: TCP for high-speed and long-distance networks\", PFLDnet 2004",
        year: 2004,
        signal: Signal::Loss,
        details: r#"
            D is the time since the last loss in seconds; an idle time restarts it. RTTmin is the minimum of the
            connection, RTTmax the maximum since the last loss. B is the throughput, measured over the last complete round
            before a loss. 1 s is `low_speed_time`, 0.5 and 0.8 are `beta_min` and `beta_max`, 0.2 is `throughput_change`.

            The scaling of α by the RTT, an option of the authors that Linux enables, exists in `linux-2.6` only.
        "#,
        variants: &[
            ("paper", "The equations above. The default, except in the profiles `ns2-linux` and `ns3`."),
            (
                "linux-2.6",
                r#"
                The module of Linux 2.6.22, as in ns-2; used by the profile `ns2-linux`. The table also describes the
                variant `ns3`:

                | | `linux-2.6` | `ns3` |
                |---|---|---|
                | D | since the end of the last repair | since the last loss |
                | α | an integer; multiplied by RTTmin/100 ms within 0.1 and 2, at least 1 | as the paper |
                | avoidance | one segment when the counted ones multiplied by α reach W | an ACK adds 1/W segments and α bytes, so that α has almost no effect |
                | RTT | SRTT in ms; RTTmax is measured from 3 RTTmin after a repair, rises by up to 20 ms at a time, and a loss reduces its excess over RTTmin to 95 % | SRTT; both since the last loss |
                | throughput | mean over windows with the weight 1/4; the maximum of two epochs is compared | all data since the last loss, divided by that time |
                | β | also 1/2 at the first loss after a change of the throughput, and for RTTmin up to 10 ms | RTTmin/RTTmax if the throughput rose to less than twice its value, else 1/2 |
                | ssthresh | ⌊β W⌋ | β FlightSize |
            "#,
            ),
            (
                "ns3",
                "TcpHtcp of ns-3, which uses the smoothed RTT; used by the profile `ns3`. See the table of `linux-2.6`.",
            ),
        ],
        deviations: &[REDUCES_WINDOW, RECEIVE_BUFFER, FIRST_ACK],
        checks: "α at seven times; β at both bounds and between; the switch at a fifth of the throughput; the window after 11 \
                 s against the integral of α, to 0.5 %.",
        not_modelled: "",
    };

    fn check(&self) -> Result<(), String> {
        self.hystart.check()?;
        let Self { beta_min, beta_max, .. } = self;
        if beta_min <= beta_max {
            return Ok(());
        }
        Err(format!("beta_min: {beta_min} is above beta_max, which is {beta_max}: reduce it"))
    }

    fn build(&self, start: &ConnectionStart) -> Box<dyn CongestionControl> {
        match self.variant {
            Linux26Variant::Linux26 => Box::new(Agent::new(linux26::HtcpLinux26::new(self), &self.hystart, start)),
            Linux26Variant::Ns3 => Box::new(ns3::HtcpNs3::new(self, start)),
            Linux26Variant::Profile | Linux26Variant::Paper => Box::new(Htcp::new(self, start)),
        }
    }
}

#[cfg(test)]
mod tests;
