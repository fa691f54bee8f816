//! TCP Wave: sends bursts of a constant size; the time between them follows the rate of the bottleneck and the queue.
//!
//! Abdelsalam, Luglio, Roseti, Zampognaro, "TCP Wave: a new reliable transport approach for future internet", Computer
//! Networks 112, 2017. Rules and constants come from the authors' public Linux module (2017), described in our own
//! words; the paper was not available. Bursts have 10 segments:
//!
//! - a round is the ACKs of one burst, if it had more than 3 segments. A round gives the RTT of its first ACK, and D,
//!   the time from its first ACK to its last. If this time is zero, D is the last value of its moving average, in which
//!   a new D has the weight 1/2;
//! - a = (RTT − RTTmin)/RTT; A = a·A + (1 − a)·RTT, starting with RTTmin in the first round; Δ = A − RTTmin;
//! - tracking, Δ ≤ β = 150 ms: timer = D + Δ/2, at least 1 ms and at most 500 ms;
//! - adjustment, Δ > β: timer = 500 ms for the next ⌊A/D⌋ rounds, in which nothing else changes; RTTmin is measured
//!   again, and A = RTTmax;
//! - lost data is retransmitted within the bursts; a loss changes nothing else.
//!
//! Ten segments have nine gaps, so the rate over an empty queue is 10/9 of the bottleneck's. The queue that results
//! compensates for this: in the steady state Δ = 2/μ, with μ the rate of the bottleneck in segments. On long paths the
//! reaction is late, and the queue oscillates. `dispersion = "scaled"` is the rule of a later version of the module: D
//! is the time of ten gaps, 10/9 of the time of nine.
//!
//! Three rules are our own. For a burst that was cut short, D is the average (as in the later module), or its own D
//! scaled to ten segments. Bursts are distinguished by the bytes in flight, not by counting ACKs, because losses would
//! shift the count. After a timeout the timer restarts with 500 ms; the module has no rule, and Linux reduces the
//! window to one segment.

use super::about::{About, Deviation, Signal};
use super::registry::Algorithm;
use super::trains::{Train, Trains};
use super::{
    Ack, Allowance, Cause, Congestion, CongestionControl, ConnectionStart, Departures, Needs, Release, Sent,
    Transmissions,
};
use lightlag_core::{Duration, Instant, Unit, settings, words};

/// Minimum time between bursts, in seconds.
const SHORTEST: f64 = 0.001;

words! {
    /// Definition of D.
    pub enum Dispersion {
        /// Time from the first ACK of a burst to the last.
        Train = "train",
        /// Time in which the bottleneck sends the entire burst.
        Scaled = "scaled",
    }
}

settings! {
    /// Parameters of Wave.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Config {
        /// Number of segments in a burst.
        burst: f64 = 10.0 => quantity(Unit::Plain, 2.0, 10_000.0).unit("segments");
        /// Maximum number of segments in a burst that has no effect on the timer.
        min_burst: f64 = 3.0 => quantity(Unit::Plain, 1.0, 10_000.0).unit("segments");
        /// Time between bursts at the start and in adjustment; also its maximum.
        initial_timer: Duration = Duration::from_millis(500) => time_up_to(Duration::from_secs(60));
        /// Maximum queueing delay before the rate is adjusted.
        beta: Duration = Duration::from_millis(150) => time_up_to(Duration::from_secs(60));
        /// D: in train the time from the first ACK of a burst to the last; in scaled (the module's later version) the
        /// time that the bottleneck takes for the entire burst.
        dispersion: Dispersion = Dispersion::Train => choice("a value");
    }
}

/// State of TCP Wave. Times are in seconds.
pub struct Wave {
    config: Config,
    trains: Trains,
    timer: f64,
    /// RTTmin: smallest RTT since the last adjustment.
    min_rtt: Option<f64>,
    max_rtt: f64,
    /// A, the moving average of the RTT.
    average_rtt: Option<f64>,
    average_dispersion: Option<f64>,
    /// Number of further rounds in which nothing changes.
    stable_for: f64,
}

impl Wave {
    /// Returns the state at the start.
    pub fn new(config: &Config, start: &ConnectionStart) -> Self {
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

    /// Returns D for a train; `None` while D is unknown.
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
        about: "Bursts of ten segments on a timer instead of a window. The time to the next burst is the duration of the \
                ACKs of a burst plus half of the queueing delay. A queueing delay above beta almost stops the sender until \
                the queue is empty. Lost data is retransmitted within the bursts; a loss changes nothing else.",
        equations: &[
            "round:       ACKs of a burst: RTT of the first, D from first to last (if zero, the average of D)",
            "average:     a = (RTT - RTTmin)/RTT, A = a A + (1 - a) RTT, first RTTmin; excess E = A - RTTmin",
            "tracking:    E <= beta = 150 ms:  timer = D + E/2, within 1 ms and 500 ms",
            "adjustment:  E > beta:  timer = 500 ms for floor(A/D) rounds; RTTmin measured again, A = RTTmax",
            "rate:        10/timer; steady where E = 2/mu",
            "loss, mark:  no change; lost data is retransmitted within the bursts",
            "timeout:     timer = 500 ms",
        ],
        source: "Abdelsalam, Luglio, Roseti, Zampognaro, \"TCP Wave: a new reliable transport approach for future \
                 internet\", Computer Networks 112, 2017; the authors' Linux module, 2017",
        year: 2017,
        signal: Signal::Bursts,
        details: r#"
            Rules and constants come from the authors' Linux module; the paper was not available. The 10 segments are
            `burst`, 500 ms is `initial_timer` and 150 ms is `beta`. A round consists of the ACKs of a burst of more
            than `min_burst` = 3 segments. In the average of D, a new value has the weight 1/2. The rounds of an
            adjustment change nothing. The trace column `cwnd` shows the data in flight and one burst.

            Ten segments have nine gaps, so that the rate over an empty queue is 10/9 of the bottleneck's, and E = 2/μ
            compensates for it. With fast feedback this is steady: 11 to 14 packets and full use of the link at 10 ms. Over
            550 ms the queue swings below β, and the link is used to 0.95 at 1 Mbit/s, 0.74 at 10 and 0.61 at 50. Delayed
            ACKs leave eight gaps and make the swings larger.
        "#,
        variants: &[
            ("train", "D is the time from the first ACK of a burst to the last."),
            (
                "scaled",
                r#"
                A rule of a later version of the module: D is the time of the complete burst at the bottleneck, measured
                without the ACK of its last segment. The rate then equals the bottleneck's, to 1 %, and to 5 % with delayed
                ACKs.
            "#,
            ),
        ],
        deviations: &[
            Deviation {
                scope: "",
                source: "a timeout changes nothing (module), and Linux sets W to one segment",
                here: "timer = 500 ms",
                reason: "no ACK arrives at this rate",
            },
            Deviation {
                scope: "",
                source: "bursts and trains are matched by counting ACKs",
                here: "by the data in flight and its send times",
                reason: "losses shift the count",
            },
            Deviation {
                scope: "shortened bursts",
                source: "not specified in the version of the module that `train` follows",
                here: "D is the average, or the burst's own D scaled to ten segments",
                reason: "a shortened burst has a shorter train; the average is the rule of the later module",
            },
        ],
        checks: "Each rule; the values under Details; the queue that a burst meets stays below β.",
        not_modelled: "The heuristics of the later version for ACKs that cover a complete burst.",
    };

    const NEEDS: Needs = Needs { bursts: true, controls_recovery: true, ..Needs::NONE };

    fn check(&self) -> Result<(), String> {
        if self.initial_timer < Duration::from_millis(1) {
            return Err(format!("initial_timer: {} is below 1 ms", self.initial_timer));
        }
        if self.min_burst >= self.burst {
            return Err(format!("min_burst: {} is not below burst, which is {}", self.min_burst, self.burst));
        }
        Ok(())
    }

    fn build(&self, start: &ConnectionStart) -> Box<dyn CongestionControl> {
        Box::new(Wave::new(self, start))
    }
}

#[cfg(test)]
mod tests;
