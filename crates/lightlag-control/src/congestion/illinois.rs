//! Illinois: losses decide when the window shrinks; the queueing delay decides its growth and the size of its
//! reduction.
//!
//! Liu, Başar, Srikant, "TCP-Illinois: a loss- and delay-based congestion control algorithm for high-speed
//! networks", Performance Evaluation 65(6-7), 2008. With d the mean queueing delay of a round trip, dm the largest
//! of the connection, and di = ηi·dm for η = 0.01, 0.1, 0.8:
//!
//! - α = αmax if d ≤ d1, else κ1/(κ2 + d), from αmax = 10 at d1 down to αmin = 0.3 at dm;
//! - β = βmin = 1/8 if d ≤ d2, βmax = 1/2 if d ≥ d3, linear in between;
//! - avoidance, for each counted segment: W += α/W; loss, timeout: ssthresh = (1 − β)·FlightSize;
//! - below 15 segments α = 1 and β = 1/2, and after a timeout until the round ends.
//!
//! Once d was above d1, α returns to αmax only after θ = 5 round trips at or below it. α and β change at the end of a
//! round trip, and start at αmax and βmax. Queueing delay is the RTT above the connection's smallest, of any size:
//! Linux cuts its samples at 3.3 s. The paper reduces the window; this model reduces the flight (RFC 5681 equation 4).
//! The two differ only if the window was not filled. Slow start and the window after a timeout are NewReno's.
//!
//! The variant `linux-2.6` is that of tcp_illinois.c before 2.6.23, which ns-2 carries: a loss or timeout keeps β of the
//! window, not 1 − β, so that a loss without a queue leaves an eighth of it; α and β below 15 segments change, too, when a
//! round trip ends; W grows by whole segments, once what was counted times α is W; slow start holds at ssthresh, too. Its
//! rounds end with the ACK of data that left in them, and none ends in fast recovery.

use super::hystart;
use super::linux26::{Choosable, Variant};
use super::registry::{About, Algorithm};
use super::round::{Round, Samples};
use super::window::window_based;
use super::{Ack, Cause, Congestion, CongestionControl, Phase, SlowStart, Start, Window};
use lightlag_core::params::Setting;
use lightlag_core::{Duration, Instant, Unit};

/// Parameters of [`Illinois`].
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The source of the rules.
    pub variant: Variant,
    /// αmin in segments a round, 0.3.
    pub alpha_min: f64,
    /// αmax in segments a round, 10.
    pub alpha_max: f64,
    /// βmin: the smallest reduction at a loss, 0.125.
    pub decrease_min: f64,
    /// βmax: the largest reduction at a loss, 0.5.
    pub decrease_max: f64,
    /// η1: the largest share of dm with α = αmax, 0.01.
    pub eta1: f64,
    /// η2: the largest share of dm with β = βmin, 0.1.
    pub eta2: f64,
    /// η3: the smallest share of dm with β = βmax, 0.8.
    pub eta3: f64,
    /// Wthresh in segments: below it the standard TCP applies, 15.
    pub low_window: f64,
    /// θ: rounds at or below d1 before α returns to αmax, 5.
    pub theta: f64,
    /// An early end of slow start, off by default.
    pub hystart: hystart::Config,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            variant: Variant::default(),
            alpha_min: 0.3,
            alpha_max: 10.0,
            decrease_min: 0.125,
            decrease_max: 0.5,
            eta1: 0.01,
            eta2: 0.1,
            eta3: 0.8,
            low_window: 15.0,
            theta: 5.0,
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
    }
}

impl Config {
    /// α above d1, with `d_m` the largest delay: κ1/(κ2 + d), both extended by (αmax − αmin).
    fn alpha(&self, delay: f64, d_m: f64) -> f64 {
        let Self { alpha_min, alpha_max, eta1, .. } = *self;
        let (span, above) = (d_m * (1.0 - eta1), delay - eta1 * d_m);
        span * alpha_max * alpha_min / (span * alpha_min + above * (alpha_max - alpha_min))
    }

    /// β.
    fn decrease(&self, delay: f64, d_m: f64) -> f64 {
        let Self { decrease_min, decrease_max, eta2, eta3, .. } = *self;
        if delay <= eta2 * d_m {
            return decrease_min;
        }
        if delay >= eta3 * d_m {
            return decrease_max;
        }
        decrease_min + (decrease_max - decrease_min) * (delay - eta2 * d_m) / ((eta3 - eta2) * d_m)
    }
}

/// The slopes that follow from the delays.
#[derive(Clone, Copy)]
struct Slopes {
    alpha: f64,
    decrease: f64,
    /// Whether d has been above d1 since α was αmax.
    was_above: bool,
    /// Rounds at or below d1 since then.
    low_rounds: f64,
}

/// Illinois' window.
pub struct Illinois {
    config: Config,
    window: Window,
    slow_start: SlowStart,
    slopes: Slopes,
    /// The slopes before the last reaction.
    before: Slopes,
    /// The largest sample of the connection.
    max_rtt: Duration,
    round: Round,
    /// Segments counted since W grew, if it grows by whole ones.
    counted: f64,
}

impl Illinois {
    /// Illinois in slow start, at the initial window.
    pub fn new(config: &Config, start: &Start) -> Self {
        let slopes =
            Slopes { alpha: config.alpha_max, decrease: config.decrease_max, was_above: false, low_rounds: 0.0 };
        Self {
            config: config.clone(),
            window: Window::new(start),
            slow_start: SlowStart::new(&config.hystart, start),
            slopes,
            before: slopes,
            max_rtt: Duration::ZERO,
            round: Round::default(),
            counted: 0.0,
        }
    }

    /// Sets α and β of the next round from the mean delay of the last one and the largest delay.
    fn adapt(&mut self, round: &Samples, min_rtt: Duration) {
        let Some(mean) = round.mean() else { return };
        let (delay, d_m) = (mean.saturating_sub(min_rtt), self.max_rtt.saturating_sub(min_rtt));
        let (delay, d_m) = (delay.as_secs_f64(), d_m.as_secs_f64());
        self.slopes.decrease = self.config.decrease(delay, d_m);
        if delay > self.config.eta1 * d_m {
            self.slopes.alpha = self.config.alpha(delay, d_m);
            self.slopes.was_above = true;
            self.slopes.low_rounds = 0.0;
            return;
        }
        self.slopes.low_rounds += 1.0;
        if !self.slopes.was_above || self.slopes.low_rounds >= self.config.theta {
            self.slopes.alpha = self.config.alpha_max;
            self.slopes.was_above = false;
        }
    }

    fn is_small(&self) -> bool {
        self.window.segments() < self.config.low_window
    }

    fn is_linux26(&self) -> bool {
        self.config.variant == Variant::Linux26
    }

    /// The samples of the round that this ACK ends. In `linux-2.6` no ACK of fast recovery does: tcp_ack calls
    /// tcp_illinois_cong_avoid only where the window may grow.
    fn ended_round(&mut self, ack: &Ack) -> Option<Samples> {
        if !self.is_linux26() {
            return self.round.on_ack(ack);
        }
        if ack.phase == Phase::Recovery {
            self.round.take_in(ack);
            return None;
        }
        self.round.on_ack_beyond(ack)
    }

    /// Sets α and β of `linux-2.6` at the end of a round.
    fn adapt_linux26(&mut self, round: &Samples, min_rtt: Duration) {
        if self.is_small() {
            (self.slopes.alpha, self.slopes.decrease) = (1.0, 0.5);
        } else {
            self.adapt(round, min_rtt);
        }
    }

    fn avoid_congestion(&mut self, acked: f64) {
        let window = self.window.segments();
        if !self.is_linux26() {
            let alpha = if self.is_small() { 1.0 } else { self.slopes.alpha };
            return self.window.grow(acked * alpha / window);
        }
        self.counted += acked;
        let due = self.counted * self.slopes.alpha / window;
        if due >= 1.0 {
            self.window.grow(libm::floor(due));
            self.counted = 0.0;
        }
    }
}

window_based!(Illinois);

impl CongestionControl for Illinois {
    fn on_ack(&mut self, ack: &Ack) {
        // Linux 2.6, tcp_ack: SACKed data gives no sample.
        let ack = &Ack { rtt: ack.rtt.filter(|_| ack.newly_acked > 0 || !self.is_linux26()), ..*ack };
        if let Some(rtt) = ack.rtt {
            self.max_rtt = self.max_rtt.max(rtt);
        }
        match self.ended_round(ack) {
            Some(samples) if self.is_linux26() => self.adapt_linux26(&samples, ack.min_rtt),
            Some(samples) => self.adapt(&samples, ack.min_rtt),
            None => {}
        }
        if !ack.may_grow() {
            return;
        }
        let starting = self.is_linux26() && self.window.segments() <= self.window.threshold();
        let left = self.slow_start.grow(ack, &mut self.window, ack.growth, 1.0);
        if starting {
            self.window.grow(left);
        } else if left > 0.0 {
            self.avoid_congestion(left);
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        self.counted = 0.0;
        let kept = match self.config.variant {
            Variant::Linux26 => self.slopes.decrease,
            Variant::Profile | Variant::Paper | Variant::Ns3 if self.is_small() => 0.5,
            Variant::Profile | Variant::Paper | Variant::Ns3 => 1.0 - self.slopes.decrease,
        };
        self.window.react(event, kept * self.window.in_segments(event.flight));
        if event.cause != Cause::RepeatedTimeout {
            self.before = self.slopes;
        }
        if matches!(event.cause, Cause::Timeout | Cause::RepeatedTimeout) {
            self.slopes = Slopes { alpha: 1.0, decrease: 0.5, was_above: false, low_rounds: 0.0 };
            self.round.forget();
        }
    }

    fn on_undo(&mut self, _now: Instant) {
        self.window.undo();
        self.slopes = self.before;
    }
}

impl Algorithm for Config {
    const ABOUT: About = About {
        about: "A loss still decides when to slow down, the queueing delay by how much and how fast to grow: ten \
                segments a round trip and an eighth off while the queue is empty, three tenths and a half when it is \
                as long as ever. Losses that are not congestion therefore cost little.",
        equations: &[
            "d = mean RTT of the round - RTTmin, dm = largest RTT - RTTmin, d1 = 0.01 dm, d2 = 0.1 dm, d3 = 0.8 dm",
            "alpha = 10 if d <= d1, else k1/(k2 + d): 0.3 at dm;  back to 10 after 5 rounds at or below d1",
            "k1 = (dm - d1) 0.3 10/(10 - 0.3),  k2 = (dm - d1) 0.3/(10 - 0.3) - d1",
            "beta = 1/8 if d <= d2, 1/2 if d >= d3, a straight line between;  W < 15: alpha = 1, beta = 1/2",
            "avoidance, per counted segment:   W += alpha/W",
            "loss:     ssthresh = max((1 - beta) FlightSize, 2), W = ssthresh",
            "timeout:  the same ssthresh, W = 1;  alpha = 1, beta = 1/2 until the round ends",
            "linux-2.6: loss and timeout: ssthresh = max(beta W, 2)",
        ],
        source: "Liu, Başar, Srikant, \"TCP-Illinois: a loss- and delay-based congestion control algorithm for \
                 high-speed networks\", Performance Evaluation 65(6-7), 2008",
    };

    fn settings() -> Vec<Setting<Self>> {
        [vec![super::linux26::setting()], slopes(), marks(), hystart::settings("standard")].concat()
    }

    fn check(&self) -> Result<(), String> {
        for (low, least, high, most) in [
            ("alpha_min", self.alpha_min, "alpha_max", self.alpha_max),
            ("decrease_min", self.decrease_min, "decrease_max", self.decrease_max),
            ("eta2", self.eta2, "eta3", self.eta3),
        ] {
            if least > most {
                return Err(format!("{low}: {least} is above {high}, which is {most}: make it smaller"));
            }
        }
        self.hystart.check()
    }

    fn build(&self, start: &Start) -> Box<dyn CongestionControl> {
        Box::new(Illinois::new(self, start))
    }
}

impl hystart::Choosable for Config {
    fn hystart(&mut self) -> &mut hystart::Config {
        &mut self.hystart
    }
}

fn slopes() -> Vec<Setting<Config>> {
    vec![
        Setting::quantity("alpha_min", |config: &mut Config| &mut config.alpha_min, Unit::Plain, 0.01, 1000.0)
            .by_default("0.3")
            .unit("segments/RTT")
            .about("What a round adds at the largest delay."),
        Setting::quantity("alpha_max", |config: &mut Config| &mut config.alpha_max, Unit::Plain, 0.01, 1000.0)
            .by_default("10")
            .unit("segments/RTT")
            .about("What a round adds without a queue."),
        Setting::quantity("decrease_min", |config: &mut Config| &mut config.decrease_min, Unit::Plain, 0.01, 0.9)
            .by_default("0.125")
            .about("The part of the window that a loss takes without a queue."),
        Setting::quantity("decrease_max", |config: &mut Config| &mut config.decrease_max, Unit::Plain, 0.01, 0.9)
            .by_default("0.5")
            .about("The part of the window that a loss takes at a large delay."),
    ]
}

fn marks() -> Vec<Setting<Config>> {
    vec![
        Setting::quantity("eta1", |config: &mut Config| &mut config.eta1, Unit::Plain, 0.0, 0.99)
            .by_default("0.01")
            .about("Up to this part of the largest delay a round adds alpha_max."),
        Setting::quantity("eta2", |config: &mut Config| &mut config.eta2, Unit::Plain, 0.0, 1.0)
            .by_default("0.1")
            .about("Up to this part of the largest delay a loss takes decrease_min."),
        Setting::quantity("eta3", |config: &mut Config| &mut config.eta3, Unit::Plain, 0.0, 1.0)
            .by_default("0.8")
            .about("From this part of the largest delay on a loss takes decrease_max."),
        Setting::quantity("low_window", |config: &mut Config| &mut config.low_window, Unit::Plain, 0.0, 1e6)
            .by_default("15")
            .unit("segments")
            .about("Below this window it grows and reacts as NewReno."),
        Setting::quantity("theta", |config: &mut Config| &mut config.theta, Unit::Plain, 1.0, 1000.0)
            .by_default("5")
            .unit("RTTs")
            .about("Rounds of a small delay before alpha_max returns."),
    ]
}

#[cfg(test)]
mod tests;
