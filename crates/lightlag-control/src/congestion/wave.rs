//! TCP Wave: bursts of a constant size, whose timer follows the bottleneck and the queue.
//!
//! Abdelsalam, Luglio, Roseti, Zampognaro, "TCP Wave: a new reliable transport approach for future internet", Computer
//! Networks 112, 2017. Rules and constants are those of the authors' public Linux module (2017), described in our own
//! words; the paper was not available. Bursts have 10 segments:
//!
//! - a round is the ACKs of one burst, if it had more than 3 segments. It gives the RTT of its first ACK, and D, the
//!   time from its first ACK to its last. If that is zero, D is its last average, which moves half of the way to each
//!   D;
//! - a = (RTT − RTTmin)/RTT; A = a·A + (1 − a)·RTT, in the first round RTTmin; Δ = A − RTTmin;
//! - tracking, Δ ≤ β = 150 ms: timer = D + Δ/2, within 1 ms and 500 ms;
//! - adjustment, Δ > β: timer = 500 ms for the next ⌊A/D⌋ rounds, which change nothing; RTTmin is measured anew, A =
//!   RTTmax;
//! - lost data leaves again within the bursts; a loss changes nothing else.
//!
//! Ten segments have nine gaps, so the rate over an empty queue is 10/9 of the bottleneck's. The queue that this builds
//! compensates for it: Δ = 2/μ in the steady state. On long paths the answer comes late and the queue swings.
//! `dispersion = "scaled"` is the rule of a later version of the module: the time of ten gaps, 10/9·D.
//!
//! Three rules are ours. A burst that was cut short uses the average of D (as in the later module), or its own D scaled
//! to ten segments. Bursts are told apart by the bytes in flight, not by counting ACKs, which losses shift. A timeout
//! restarts with 500 ms; the module has no rule, and Linux reduces the window to one segment.

use super::registry::{About, Algorithm};
use super::trains::{Train, Trains};
use super::{
    Ack, Allowance, Cause, Congestion, CongestionControl, Departures, Needs, Release, Sent, Start, Transmissions,
};
use lightlag_core::params::Setting;
use lightlag_core::{Duration, Instant, Unit};

/// The shortest timer, in seconds.
const SHORTEST: f64 = 0.001;

/// The definition of D.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dispersion {
    /// The time from the first ACK of a burst to the last.
    #[default]
    Train,
    /// The time in which the bottleneck sends the whole burst.
    Scaled,
}

impl Dispersion {
    const ALL: [Self; 2] = [Self::Train, Self::Scaled];
    const NAMES: [&'static str; 2] = ["train", "scaled"];
}

/// Parameters of Wave.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Segments of a burst.
    pub burst: f64,
    /// Bursts of at most this many segments do not make a round.
    pub min_burst: f64,
    /// The timer at the start and of adjustment, which is the longest one.
    pub initial_timer: Duration,
    /// β: the queueing delay above which the rate is adjusted.
    pub beta: Duration,
    /// The definition of D.
    pub dispersion: Dispersion,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            burst: 10.0,
            min_burst: 3.0,
            initial_timer: Duration::from_millis(500),
            beta: Duration::from_millis(150),
            dispersion: Dispersion::Train,
        }
    }
}

/// The state of one connection. Times are in seconds.
pub struct Wave {
    config: Config,
    trains: Trains,
    timer: f64,
    /// The smallest RTT since the last adjustment.
    min_rtt: Option<f64>,
    max_rtt: f64,
    /// A.
    average_rtt: Option<f64>,
    average_dispersion: Option<f64>,
    /// Rounds for which nothing changes.
    stable_for: f64,
}

impl Wave {
    /// The state at the start.
    pub fn new(config: &Config, start: &Start) -> Self {
        Self {
            config: config.clone(),
            trains: Trains::new(start.segment_size),
            timer: config.initial_timer.as_secs_f64(),
            min_rtt: None,
            max_rtt: 0.0,
            average_rtt: None,
            average_dispersion: None,
            stable_for: 0.0,
        }
    }

    fn burst(&self) -> u32 {
        self.config.burst as u32
    }

    fn take(&mut self, train: &Train) {
        let Some(rtt) = train.rtt.map(Duration::as_secs_f64).or(self.average_rtt) else { return };
        if train.segments <= self.config.min_burst {
            return;
        }
        let min_rtt = self.min_rtt.map_or(rtt, |least| least.min(rtt));
        self.min_rtt = Some(min_rtt);
        self.max_rtt = self.max_rtt.max(rtt);
        let weight = (rtt - min_rtt) / rtt;
        let average = self.average_rtt.map_or(min_rtt, |average| weight * average + (1.0 - weight) * rtt);
        self.average_rtt = Some(average);
        if self.stable_for > 0.0 {
            self.stable_for -= 1.0;
            return;
        }
        let Some(dispersion) = self.dispersion(train) else { return };
        let excess = (average - min_rtt).max(0.0);
        let longest = self.config.initial_timer.as_secs_f64();
        if excess > self.config.beta.as_secs_f64() {
            self.stable_for = libm::floor(average / dispersion);
            self.min_rtt = None;
            self.average_rtt = Some(self.max_rtt);
            self.timer = longest;
        } else {
            self.timer = (dispersion + excess / 2.0).clamp(SHORTEST, longest);
        }
    }

    /// D; `None` before there is one.
    fn dispersion(&mut self, train: &Train) -> Option<f64> {
        let whole = train.segments + 0.5 > self.config.burst;
        let measured = match self.config.dispersion {
            _ if !whole && self.average_dispersion.is_some() => 0.0,
            Dispersion::Train => train.span.as_secs_f64() * (self.config.burst / train.segments).max(1.0),
            Dispersion::Scaled => train.per_segment.unwrap_or(0.0) * self.config.burst,
        };
        if measured == 0.0 {
            return self.average_dispersion;
        }
        self.average_dispersion = Some(self.average_dispersion.map_or(measured, |last| (last + measured) / 2.0));
        Some(measured)
    }
}

impl Allowance for Wave {
    fn window(&self) -> u64 {
        self.trains.window(self.burst())
    }

    fn ssthresh(&self) -> u64 {
        u64::MAX
    }
}

impl CongestionControl for Wave {
    fn on_ack(&mut self, ack: &Ack) {
        self.trains.on_ack(ack);
        while let Some(train) = self.trains.next() {
            self.take(&train);
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        if matches!(event.cause, Cause::Timeout | Cause::RepeatedTimeout) {
            self.timer = self.config.initial_timer.as_secs_f64();
            self.stable_for = 0.0;
            self.trains.forget();
        }
    }

    fn departures(&self) -> Option<&dyn Departures> {
        Some(self)
    }

    fn transmissions(&mut self) -> Option<&mut dyn Transmissions> {
        Some(self)
    }
}

impl Departures for Wave {
    fn release(&self, now: Instant) -> Release {
        self.trains.release(now, self.burst())
    }
}

impl Transmissions for Wave {
    fn on_sent(&mut self, sent: &Sent) {
        let (burst, timer) = (self.burst(), Duration::from_secs_f64(self.timer));
        self.trains.on_sent(sent, burst, timer);
    }
}

impl Algorithm for Config {
    const ABOUT: About = About {
        about: "Bursts of ten segments on a timer instead of a window. The time that the ACKs of a burst take, and half of \
                the queueing delay, are the time to the next burst; a queue of more than beta stops nearly everything \
                until it is gone. A loss is repaired within the bursts and changes nothing else. Established: rules and \
                constants of the authors' Linux module. Ours: bursts that are cut short, and the timeout.",
        equations: &[
            "round:       the ACKs of a burst: RTT of the first, D from first to last; zero is the last average of D",
            "average:     a = (RTT - RTTmin)/RTT, A = a A + (1 - a) RTT, first RTTmin; excess E = A - RTTmin",
            "tracking:    E <= beta:  timer = D + E/2, within 1 ms and 500 ms",
            "adjustment:  E > beta:  timer = 500 ms for floor(A/D) rounds, RTTmin anew, A = RTTmax",
            "rate:        10/timer; steady where E = 2/mu",
            "loss:        leaves again within the bursts, nothing else changes",
            "timeout:     timer = 500 ms",
        ],
        source: "Abdelsalam, Luglio, Roseti, Zampognaro, \"TCP Wave: a new reliable transport approach for future \
                 internet\", Computer Networks 112, 2017; the authors' Linux module, 2017",
    };

    const NEEDS: Needs = Needs { bursts: true, own_recovery: true, ..Needs::NONE };

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::quantity("burst", |config: &mut Self| &mut config.burst, Unit::Plain, 2.0, 10_000.0)
                .by_default("10")
                .unit("segments")
                .about("Segments of a burst."),
            Setting::quantity("min_burst", |config: &mut Self| &mut config.min_burst, Unit::Plain, 1.0, 10_000.0)
                .by_default("3")
                .unit("segments")
                .about("Bursts up to this many segments change nothing."),
            Setting::time_up_to(
                "initial_timer",
                |config: &mut Self| &mut config.initial_timer,
                Duration::from_secs(60),
            )
            .by_default("500 ms")
            .unit("time")
            .about("The time between bursts at the begin and in adjustment, and the longest."),
            Setting::time_up_to("beta", |config: &mut Self| &mut config.beta, Duration::from_secs(60))
                .by_default("150 ms")
                .unit("time")
                .about("The queueing delay above which the rate is adjusted."),
            Setting::word(
                "dispersion",
                "a value",
                &Dispersion::NAMES,
                |config: &Self| config.dispersion as usize,
                |config: &mut Self, word| config.dispersion = Dispersion::ALL[word],
            )
            .by_default("train")
            .about(
                "D: from the first ACK of a burst to the last in train, the time of the whole burst at the \
                          bottleneck in scaled (the module's later version).",
            ),
        ]
    }

    fn check(&self) -> Result<(), String> {
        if self.initial_timer < Duration::from_millis(1) {
            return Err(format!("initial_timer: {} is below 1 ms", self.initial_timer));
        }
        if self.min_burst >= self.burst {
            return Err(format!("min_burst: {} is not below burst, which is {}", self.min_burst, self.burst));
        }
        Ok(())
    }

    fn build(&self, start: &Start) -> Box<dyn CongestionControl> {
        Box::new(Wave::new(self, start))
    }
}

#[cfg(test)]
mod tests;
