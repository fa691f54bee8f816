//! H-TCP: growth by the time since the last loss, back-off by the queue's share of the round-trip time.
//!
//! Shorten, Leith, "H-TCP: TCP for high-speed and long-distance networks", PFLDnet 2004. With Δ the seconds since
//! the last loss, Δ_L = 1 s, and β the fraction that a loss keeps, W in segments:
//!
//! - α = 1 up to Δ_L, then 1 + 10(Δ − Δ_L) + ((Δ − Δ_L)/2)²; then α = max(1, 2(1 − β)·α);
//! - avoidance, for each counted segment: W += α/W;
//! - loss, mark, timeout: β = RTTmin/RTTmax, within 0.5 and 0.8, but 0.5 if the throughput B differs by more than a
//!   fifth from that at the loss before; ssthresh = β·W, of the window, not of FlightSize.
//!
//! RTTmin is the connection's smallest sample, RTTmax the largest since the last loss: their ratio is the back-off that
//! just empties the queue. B is the throughput of the last complete round trip before the loss. Slow start and the
//! window after a timeout are NewReno's. Before the first loss Δ counts from the first ACK, and after an idle time from
//! its end. The scaling of α by the RTT, an option of the authors that Linux switches on, is that of the variant
//! `linux-2.6` only, the module of ns-2: see `htcp/linux26.rs`.
//! The variant `ns3` grows almost as NewReno: see `htcp/ns3.rs`.

mod linux26;
mod ns3;

use super::hystart;
use super::linux26::{Agent, Choosable, Variant};
use super::registry::{About, Algorithm};
use super::window::window_based;
use super::{Ack, Cause, Congestion, CongestionControl, SlowStart, Start, Window};
use lightlag_core::params::Setting;
use lightlag_core::{Duration, Instant, Unit};

/// Parameters of [`Htcp`].
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The source of the rules.
    pub variant: Variant,
    /// Δ_L: the time after a loss during which it grows like the standard TCP, 1 s.
    pub low_speed_time: Duration,
    /// The least that a loss keeps, 0.5.
    pub beta_min: f64,
    /// The most that a loss keeps, 0.8.
    pub beta_max: f64,
    /// The relative change of throughput that sets β to its least, 0.2.
    pub throughput_change: f64,
    /// Slow start.
    pub hystart: hystart::Config,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            variant: Variant::default(),
            low_speed_time: Duration::from_secs(1),
            beta_min: 0.5,
            beta_max: 0.8,
            throughput_change: 0.2,
            hystart: hystart::Config::default(),
        }
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

impl Config {
    /// α before it is scaled by β, `since` the last loss.
    fn alpha(&self, since: Duration) -> f64 {
        if since <= self.low_speed_time {
            return 1.0;
        }
        let x = since.as_secs_f64() - self.low_speed_time.as_secs_f64();
        1.0 + 10.0 * x + 0.25 * x * x
    }

    /// α for a loss that kept β.
    fn scaled_alpha(&self, since: Duration, beta: f64) -> f64 {
        (2.0 * (1.0 - beta) * self.alpha(since)).max(1.0)
    }
}

/// H-TCP's window.
pub struct Htcp {
    config: Config,
    window: Window,
    slow_start: SlowStart,
    epoch: Epoch,
    /// The epoch before the last reaction.
    before: Epoch,
    round: Option<Round>,
    /// Of the last whole round, in bytes a second.
    throughput: Option<f64>,
}

/// The state that a congestion event leaves for the next one.
#[derive(Clone, Copy)]
struct Epoch {
    /// Its time, or the time at which the connection started to count.
    begin: Option<Instant>,
    beta: f64,
    /// The largest sample since then; zero without one.
    max_rtt: Duration,
    /// The throughput before it, in bytes a second.
    throughput: Option<f64>,
}

/// The bytes delivered in a round trip.
struct Round {
    start: Instant,
    end: u64,
    delivered: u64,
}

impl Htcp {
    /// H-TCP in slow start, at the initial window.
    pub fn new(config: &Config, start: &Start) -> Self {
        let epoch = Epoch { begin: None, beta: config.beta_min, max_rtt: Duration::ZERO, throughput: None };
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
        self.round = Some(Round { start: ack.now, end: ack.snd_nxt, delivered: 0 });
    }

    /// β of a congestion event, with `min_rtt` the smallest sample of the connection.
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
        self.epoch = Epoch { max_rtt: self.before.max_rtt.max(self.epoch.max_rtt), ..self.before };
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
        about: "For a second after a loss the standard TCP; then growth rises with the square of the time since, so \
                that a large window is back in seconds. The backoff empties the queue and no more: 0.5 to 0.8 of the \
                window stay, by the ratio of the smallest and the largest round-trip time.",
        equations: &[
            "alpha = 1 while D <= 1 s after the last loss, else 1 + 10 (D - 1) + ((D - 1)/2)^2",
            "alpha = max(1, 2 (1 - beta) alpha)",
            "avoidance, per counted segment:   W += alpha/W",
            "beta = RTTmin/RTTmax within 0.5 and 0.8;  0.5 if |B - last B| > 0.2 last B",
            "loss:     ssthresh = beta W, at least 2;  W = ssthresh",
            "timeout:  the same ssthresh, W = 1",
            "linux-2.6: alpha also times RTTmin/0.1 s, within 0.1 and 2;  RTT = SRTT;  whole segments",
        ],
        source: "Shorten, Leith, \"H-TCP: TCP for high-speed and long-distance networks\", PFLDnet 2004",
    };

    fn settings() -> Vec<Setting<Self>> {
        let own: Vec<Setting<Self>> = vec![
            super::linux26::setting(),
            Setting::time_up_to(
                "low_speed_time",
                |config: &mut Self| &mut config.low_speed_time,
                Duration::from_secs(3600),
            )
            .by_default("1 s")
            .unit("time")
            .about("Delta_L: so long after a loss it grows as NewReno."),
            Setting::quantity("beta_min", |config: &mut Self| &mut config.beta_min, Unit::Plain, 0.1, 0.99)
                .by_default("0.5")
                .about("The least of the window that a loss keeps, and what it keeps where the throughput changes."),
            Setting::quantity("beta_max", |config: &mut Self| &mut config.beta_max, Unit::Plain, 0.1, 0.99)
                .by_default("0.8")
                .about("The most of the window that a loss keeps."),
            Setting::quantity(
                "throughput_change",
                |config: &mut Self| &mut config.throughput_change,
                Unit::Plain,
                0.0,
                1000.0,
            )
            .by_default("0.2")
            .about(
                "A throughput that differs by more than this part from that at the loss before sets beta to \
                          beta_min.",
            ),
        ];
        [own, hystart::settings("standard")].concat()
    }

    fn check(&self) -> Result<(), String> {
        self.hystart.check()?;
        let Self { beta_min, beta_max, .. } = self;
        if beta_min <= beta_max {
            return Ok(());
        }
        Err(format!("beta_min: {beta_min} is above beta_max, which is {beta_max}: make it smaller"))
    }

    fn build(&self, start: &Start) -> Box<dyn CongestionControl> {
        match self.variant {
            Variant::Linux26 => Box::new(Agent::new(linux26::Module26::new(self), &self.hystart, start)),
            Variant::Ns3 => Box::new(ns3::HtcpNs3::new(self, start)),
            Variant::Profile | Variant::Paper => Box::new(Htcp::new(self, start)),
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
