//! TCP Noordwijk: bursts on a timer instead of a window, for short transfers over satellites that assign capacity on
//! demand.
//!
//! Roseti, Kristiansen, "TCP Noordwijk: optimize TCP-based transport over DAMA in satellite networks", ICSSC 2008;
//! Roseti, Luglio, Zampognaro, IEEE/ACM Transactions on Networking 18(3), 2010. **Reconstructed** from their abstracts
//! and from a public Linux module of 2013; the papers were not available. B in segments:
//!
//! - each time the TX timer expires, a burst of B segments is released; at first 20 every 500 ms. There is neither slow
//!   start nor a window;
//! - the ACKs of a burst of B0 = 20 segments give δ, the time between segments at the bottleneck: TX timer = δ·B0;
//! - every 2 bursts, with Δ the RTT of a burst's first ACK less RTTmin: if Δ ≤ β = 200 ms, B = (B + B0)/2 (rate
//!   tracking); otherwise B = N·T/(T + Δ) (rate adjustment), with N the number of segments in that burst and T = δ·N
//!   the duration of its ACKs;
//! - lost data is retransmitted within the next bursts; a loss changes nothing else;
//! - timeout, or an idle time in which a burst could have left: everything restarts as at the beginning.
//!
//! As long as B = B0, the rate B/timer therefore equals the rate of the bottleneck, B0/(δ·B0).
//!
//! Three rules are our own. The timer changes only with bursts of B0 segments, so that a B below B0 really lowers the
//! rate (the timer of the module follows each train, so that the rate returns to the bottleneck's rate). The new B is
//! computed from the size of the burst that met the queue, so that later bursts, which met the same queue, do not lower
//! it again. δ is measured without the ACK of the last segment, which the peer may delay. Marks are ignored.

use super::about::{About, Deviation, Provenance, Signal};
use super::registry::Algorithm;
use super::trains::{Train, Trains};
use super::{
    Ack, Allowance, Cause, Congestion, CongestionControl, ConnectionStart, Departures, Needs, Release, Sent,
    Transmissions,
};
use lightlag_core::{Duration, Instant, Unit, settings};

/// Minimum TX timer. ACKs that arrive simultaneously have no spacing.
const SHORTEST: Duration = Duration::from_millis(1);

settings! {
    /// Parameters of Noordwijk.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Config {
        /// B0: size of a burst at the start and in rate tracking.
        burst: f64 = 20.0 => quantity(Unit::Plain, 2.0, 10_000.0).unit("segments");
        /// Time between bursts before the spacing of ACKs is known.
        initial_timer: Duration = Duration::from_millis(500) => time_up_to(Duration::from_secs(60));
        /// Maximum queueing delay; above it bursts become smaller.
        beta: Duration = Duration::from_millis(200) => time_up_to(Duration::from_secs(60));
        /// Number of bursts between two changes of B.
        stability: f64 = 2.0 => quantity(Unit::Plain, 1.0, 1000.0).unit("bursts");
    }
}

/// The state of one connection.
pub struct Noordwijk {
    config: Config,
    trains: Trains,
    /// B: segments per burst.
    burst: f64,
    timer: Duration,
    /// Number of trains since B last changed.
    trains_seen: f64,
}

impl Noordwijk {
    /// Creates the state at the start: B0 segments every `initial_timer`.
    pub fn new(config: &Config, start: &ConnectionStart) -> Self {
        Self {
            config: config.clone(),
            trains: Trains::new(start.segment_size),
            burst: config.burst,
            timer: config.initial_timer,
            trains_seen: 0.0,
        }
    }

    fn restart(&mut self) {
        self.burst = self.config.burst;
        self.timer = self.config.initial_timer;
        self.trains_seen = 0.0;
    }

    /// Returns B in whole segments.
    fn whole(&self) -> u32 {
        (self.burst + 0.5) as u32
    }

    fn take(&mut self, train: &Train, min_rtt: Duration) {
        let full = self.config.burst;
        if let Some(delta) = train.per_segment.filter(|_| train.segments + 0.5 > full) {
            self.timer = Duration::from_secs_f64(delta * full).max(SHORTEST);
        }
        self.trains_seen += 1.0;
        if self.trains_seen < self.config.stability {
            return;
        }
        let Some(rtt) = train.rtt else { return };
        self.trains_seen = 0.0;
        let queueing = rtt.saturating_sub(min_rtt);
        if queueing <= self.config.beta {
            self.burst = (self.burst + full) / 2.0;
            return;
        }
        let spacing = train.per_segment.unwrap_or(self.timer.as_secs_f64() / full);
        let time = spacing * train.segments;
        self.burst = (train.segments * time / (time + queueing.as_secs_f64())).clamp(1.0, full);
    }
}

impl Allowance for Noordwijk {
    fn window(&self) -> u64 {
        self.trains.window(self.whole())
    }

    fn ssthresh(&self) -> u64 {
        u64::MAX
    }
}

impl CongestionControl for Noordwijk {
    fn on_ack(&mut self, ack: &Ack) {
        self.trains.on_ack(ack);
        while let Some(train) = self.trains.next() {
            self.take(&train, ack.min_rtt);
        }
    }

    fn on_congestion(&mut self, event: &Congestion) {
        if matches!(event.cause, Cause::Timeout | Cause::RepeatedTimeout) {
            self.restart();
            self.trains.forget();
        }
    }

    fn on_idle(&mut self, now: Instant, _window: u64, _threshold: u64) {
        // A path shorter than the timer is empty between any two bursts.
        if now > self.trains.due() + self.timer {
            self.restart();
        }
    }

    fn departures(&self) -> Option<&dyn Departures> {
        Some(self)
    }

    fn transmissions(&mut self) -> Option<&mut dyn Transmissions> {
        Some(self)
    }
}

impl Departures for Noordwijk {
    fn release(&self, now: Instant) -> Release {
        self.trains.release(now, self.whole())
    }
}

impl Transmissions for Noordwijk {
    fn on_sent(&mut self, sent: &Sent) {
        self.trains.on_sent(sent, self.whole(), self.timer);
    }
}

impl Algorithm for Config {
    const PROVENANCE: Provenance = Provenance::Reconstructed;
    const ABOUT: About = About {
        about: "Bursts on a timer instead of a window, for short transfers over satellites that assign capacity on demand. \
                The first 20 segments are sent immediately, the spacing of their ACKs sets the timer to the rate of the \
                bottleneck, and a queueing delay above beta makes the bursts smaller. Lost data is retransmitted within the \
                next bursts; a loss changes nothing else.",
        equations: &[
            "start:       B = B0 = 20 every 500 ms; no slow start, no window",
            "timer:       delta B0, delta the spacing of the ACKs of a complete burst of B0, at least 1 ms",
            "tracking:    every 2 bursts, D = RTT of the first ACK - RTTmin <= beta = 200 ms:  B = (B + B0)/2",
            "adjustment:  D > beta:  B = N T/(T + D), N segments of that burst, T = delta N;  at least 1",
            "loss, mark:  no change; lost data is retransmitted within the next burst",
            "timeout:     as at the start; also an idle time in which a burst could have been sent",
        ],
        source: "Roseti, Kristiansen, \"TCP Noordwijk: optimize TCP-based transport over DAMA in satellite networks\", \
                 ICSSC 2008; Roseti, Luglio, Zampognaro, IEEE/ACM ToN 18(3), 2010",
        year: 2008,
        signal: Signal::Bursts,
        details: r#"
            The model follows the abstracts of the papers and a Linux module of 2013. They establish the bursts, the timer,
            tracking, adjustment and their constants. B0 is `burst`, 500 ms is `initial_timer`, 200 ms is `beta`, and 2
            bursts is `stability`. Retransmissions are sent before new data. The trace column `cwnd` shows the data in
            flight and one burst. δ leaves out the ACK of the last segment, which may be delayed.
        "#,
        variants: &[],
        deviations: &[
            Deviation {
                scope: "",
                source: "the timer follows each train of ACKs (module)",
                here: "each train of B0 segments",
                reason: "a smaller burst in a proportionally shorter time would not lower the rate",
            },
            Deviation {
                scope: "",
                source: "B = B T/(T + D), once every two bursts of any size (module)",
                here: "N, the burst that met the queue, replaces B",
                reason: "later bursts met the same queue and must not reduce B again",
            },
            Deviation {
                scope: "",
                source: "any time with nothing in flight restarts the algorithm (module)",
                here: "only an idle time in which a burst could have been sent",
                reason: "on a path with an RTT below the timer, nothing is in flight between bursts",
            },
        ],
        checks: "Each rule; alone, B/timer is the rate of the bottleneck, to 1 %, and the queue is one burst, for 10, 100 and \
                 550 ms and 1 to 50 Mbit/s; a loss of 10⁻² costs 3 % of the goodput of 20 MB over 550 ms and 10 Mbit/s. Two \
                 flows share that link to 10 % and use 0.79 of it: both send at its full rate until they measure their queue, \
                 which is one second long.",
        not_modelled: "The information that the capacity assignment (DAMA) gives the sender in addition to its ACKs.",
    };

    const NEEDS: Needs = Needs { bursts: true, controls_recovery: true, ..Needs::NONE };

    fn check(&self) -> Result<(), String> {
        if self.initial_timer < SHORTEST {
            return Err(format!("initial_timer: {} is below {SHORTEST}", self.initial_timer));
        }
        Ok(())
    }

    fn build(&self, start: &ConnectionStart) -> Box<dyn CongestionControl> {
        Box::new(Noordwijk::new(self, start))
    }
}

#[cfg(test)]
mod tests;
