//! TCP Noordwijk: bursts on a timer instead of a window, for short transfers over satellites that assign capacity on
//! demand.
//!
//! Roseti, Kristiansen, "TCP Noordwijk: optimize TCP-based transport over DAMA in satellite networks", ICSSC 2008;
//! Roseti, Luglio, Zampognaro, IEEE/ACM Transactions on Networking 18(3), 2010. **Reconstructed** from their abstracts
//! and from a public Linux module of 2013; the papers were not available. B in segments:
//!
//! - each TX timer releases a burst of B segments, at first 20 every 500 ms; there is neither slow start nor a window;
//! - the ACKs of a burst of B0 = 20 segments give δ, the time between segments at the bottleneck: TX timer = δ·B0;
//! - every 2 bursts, with Δ the RTT of a burst's first ACK less RTTmin: if Δ ≤ β = 200 ms, B = (B + B0)/2 (rate
//!   tracking); otherwise B = N·T/(T + Δ) (rate adjustment), with N the segments of that burst and T = δ·N the duration
//!   of its ACKs;
//! - lost data leaves again within the next bursts; a loss changes nothing else;
//! - timeout, or an idle time in which a burst could have left: everything as at the start.
//!
//! The rate B/timer is then that of the bottleneck, B0/(δ·B0), as long as B = B0.
//!
//! Three rules are ours. The timer changes only with bursts of B0, so that a B below B0 really lowers the rate (the
//! module's timer follows each train, and the rate is then that of the bottleneck again). B is lowered from the burst
//! that met the queue, so that later bursts, which met the same queue, do not lower it again. δ is measured without the
//! ACK of the last segment, which the peer may delay. Marks are ignored.

use super::registry::{About, Algorithm, Provenance};
use super::trains::{Train, Trains};
use super::{
    Ack, Allowance, Cause, Congestion, CongestionControl, Departures, Needs, Release, Sent, Start, Transmissions,
};
use lightlag_core::params::Setting;
use lightlag_core::{Duration, Instant, Unit};

/// The shortest TX timer: ACKs that come all at once show no dispersion.
const SHORTEST: Duration = Duration::from_millis(1);

/// Parameters of Noordwijk.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// B0: the burst at the start and in rate tracking, in segments.
    pub burst: f64,
    /// The TX timer at the start.
    pub initial_timer: Duration,
    /// β: the queueing delay above which the rate is adjusted.
    pub beta: Duration,
    /// Bursts between two changes of B.
    pub stability: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            burst: 20.0,
            initial_timer: Duration::from_millis(500),
            beta: Duration::from_millis(200),
            stability: 2.0,
        }
    }
}

/// The state of one connection.
pub struct Noordwijk {
    config: Config,
    trains: Trains,
    /// B.
    burst: f64,
    timer: Duration,
    /// Trains since B changed.
    trains_seen: f64,
}

impl Noordwijk {
    /// The state at the start: B0 segments every `initial_timer`.
    pub fn new(config: &Config, start: &Start) -> Self {
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

    /// B in whole segments.
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
        about: "Bursts on a timer instead of a window, for short transfers over satellites that assign \
                capacity on demand: the first 20 segments leave at once, the spacing of their ACKs sets the timer to the \
                rate of the bottleneck, and a queue of more than beta makes the bursts smaller. A loss is repaired within \
                the next bursts and changes nothing else. Established are bursts, timer, tracking, adjustment and their \
                constants; when the timer changes and what adjustment starts from are ours.",
        equations: &[
            "begin:       B = B0 = 20 every 500 ms; no slow start, no window",
            "timer:       delta B0, delta the spacing of the ACKs of a whole burst",
            "tracking:    every 2 bursts, RTT of the first ACK - RTTmin <= beta:  B = (B + B0)/2",
            "adjustment:  above beta, excess D:  B = N T/(T + D), N segments, their ACKs T long",
            "loss:        leaves again within the next burst, nothing else changes",
            "timeout:     as at the begin; an idle time in which a burst could have left, too",
        ],
        source: "Roseti, Kristiansen, \"TCP Noordwijk: optimize TCP-based transport over DAMA in satellite networks\", \
                 ICSSC 2008; Roseti, Luglio, Zampognaro, IEEE/ACM ToN 18(3), 2010",
    };

    const NEEDS: Needs = Needs { bursts: true, own_recovery: true, ..Needs::NONE };

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::quantity("burst", |config: &mut Self| &mut config.burst, Unit::Plain, 2.0, 10_000.0)
                .by_default("20")
                .unit("segments")
                .about("B0: the burst of the begin and of rate tracking."),
            Setting::time_up_to(
                "initial_timer",
                |config: &mut Self| &mut config.initial_timer,
                Duration::from_secs(60),
            )
            .by_default("500 ms")
            .unit("time")
            .about("The time between bursts before their spacing is known."),
            Setting::time_up_to("beta", |config: &mut Self| &mut config.beta, Duration::from_secs(60))
                .by_default("200 ms")
                .unit("time")
                .about("The queueing delay above which bursts become smaller."),
            Setting::quantity("stability", |config: &mut Self| &mut config.stability, Unit::Plain, 1.0, 1000.0)
                .by_default("2")
                .unit("bursts")
                .about("The bursts between two changes of B."),
        ]
    }

    fn check(&self) -> Result<(), String> {
        if self.initial_timer < SHORTEST {
            return Err(format!("initial_timer: {} is below {SHORTEST}", self.initial_timer));
        }
        Ok(())
    }

    fn build(&self, start: &Start) -> Box<dyn CongestionControl> {
        Box::new(Noordwijk::new(self, start))
    }
}

#[cfg(test)]
mod tests;
