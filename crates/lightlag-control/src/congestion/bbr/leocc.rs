//! LeoCC: BBR that measures the path again after each reconfiguration of a satellite network.
//!
//! Lai, Li, Wu, Li, Li, Xie, Li, Liu, Wu, "LeoCC: making Internet congestion control robust to LEO satellite dynamics",
//! SIGCOMM 2025. Rules and constants follow the authors' kernel module for replayed traces
//! (github.com/SpaceNetLab/LeoCC, `leocc/simulation`). In addition to [`Bbr`], without its policer:
//!
//! - reconfigurations are known in advance: every `period` = 15 s, starting at `offset`. One is noted in the 100 ms before;
//! - a noted reconfiguration leads from PROBE_BW ("dynamic cruise") to PROBE_RTT. Its window is BtlBw · RTprop/2, at
//!   least 4 segments. At its end RTprop is the current sample, BtlBw is forgotten, and STARTUP follows. DRAIN ends the
//!   reconfiguration. The minimum RTT lasts 20 s;
//! - if a sample in this PROBE_RTT is 45 ms below the filtered RTT, BtlBw starts with the rate of the sample before;
//! - two Kalman filters with the noises Q = R = 4 and an initial variance of 25, in integers: of the RTT, per sample,
//!   and of the maximum rate of each round in PROBE_BW. Gain g = ⌊256 p/(p + 4)⌋/256 with p increased by 4, then
//!   x += g (sample − x), p = ⌊(1 − g) p⌋; g becomes 153/256;
//! - in PROBE_BW, if the filtered RTT exceeds RTprop by `min_rtt_fluctuation` = 10 ms or more, the filtered rate
//!   replaces BtlBw in the pacing rate and in the window, and the gain of 1.25 becomes 1.05 with the next ACK.

use super::states::State;
use super::{Bbr, Config as BbrConfig};
use crate::congestion::about::{About, Deviation, Signal};
use crate::congestion::registry::Algorithm;
use crate::congestion::{Ack, CongestionControl, ConnectionStart, Needs};
use lightlag_core::{Duration, Instant, settings};

/// Window of PROBE_RTT in bandwidth-delay products.
const PROBE_RTT_GAIN: f64 = 0.5;
/// Time before a reconfiguration in which it is noted.
const LEAD: Duration = Duration::from_millis(100);
/// A sample that is this much below the filtered RTT shows the new path (`delta_thresh`).
const NEW_PATH: Duration = Duration::from_millis(45);
/// Lifetime of RTprop.
const RTT_WINDOW: Duration = Duration::from_secs(20);
/// Noise of the filtered value, and of its samples.
const PROCESS_NOISE: u32 = 4;
const SAMPLE_NOISE: u32 = 4;
const FIRST_VARIANCE: u32 = 25;
/// Unit of gains.
const UNIT: u32 = 256;

settings! {
    /// Parameters of LeoCC.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Config {
        /// Time between reconfigurations; 15 s in Starlink.
        period: Duration = Duration::from_secs(15) => time_up_to(Duration::from_secs(3600));
        /// Time of the first reconfiguration after the start of the run.
        offset: Duration = Duration::from_secs(12) => time_up_to(Duration::from_secs(3600));
        /// Rise of the round-trip time above its minimum that is not a queue: 5 to 20 ms in measurements of the authors.
        /// Above it the filtered rate replaces the maximum.
        min_rtt_fluctuation: Duration = Duration::from_millis(10) => time_up_to(Duration::from_secs(60));
    }
}

/// The additions of LeoCC to BBR.
pub(super) struct Reconfigurations {
    config: Config,
    /// Whether a reconfiguration was noted, and the path was not measured since.
    noted: bool,
    /// Filtered RTT in seconds, and filtered rate in bytes per second.
    rtt: Kalman,
    rate: Kalman,
    /// Maximum rate of the round, and the last one.
    round_rate: f64,
    last_rate: f64,
    /// BtlBw after PROBE_RTT.
    new_rate: f64,
    /// Filtered rate while it replaces BtlBw.
    estimate: Option<f64>,
    /// Whether the probing gain is reduced.
    gentle: bool,
}

/// A scalar Kalman filter for a constant value.
struct Kalman {
    value: f64,
    variance: u32,
}

impl Kalman {
    fn new() -> Self {
        Self { value: 0.0, variance: FIRST_VARIANCE }
    }

    fn take(&mut self, sample: f64) {
        let variance = self.variance + PROCESS_NOISE;
        let gain = variance * UNIT / (variance + SAMPLE_NOISE);
        self.value += f64::from(gain) / f64::from(UNIT) * (sample - self.value);
        self.variance = (UNIT - gain) * variance / UNIT;
    }
}

impl Reconfigurations {
    fn new(config: &Config) -> Self {
        Self {
            config: config.clone(),
            noted: false,
            rtt: Kalman::new(),
            rate: Kalman::new(),
            round_rate: 0.0,
            last_rate: 0.0,
            new_rate: 0.0,
            estimate: None,
            gentle: false,
        }
    }

    /// Returns true in the time before a reconfiguration in which it is noted.
    fn is_due(&self, now: Instant) -> bool {
        let period = self.config.period.as_nanos();
        let offset = self.config.offset.as_nanos() % period;
        (now.as_nanos() + LEAD.as_nanos() + period - offset) % period <= LEAD.as_nanos()
    }
}

impl Bbr {
    /// Notes a reconfiguration that is due.
    pub(super) fn await_reconfiguration(&mut self, now: Instant) {
        if let Some(leo) = &mut self.leo {
            leo.noted |= leo.is_due(now);
        }
    }

    pub(super) fn is_reconfigured(&self) -> bool {
        self.leo.as_ref().is_some_and(|leo| leo.noted)
    }

    pub(super) fn is_gentle(&self) -> bool {
        self.leo.as_ref().is_some_and(|leo| leo.gentle)
    }

    pub(super) fn leo_estimate(&self) -> Option<f64> {
        self.leo.as_ref()?.estimate
    }

    /// Returns the window of LeoCC's PROBE_RTT in bytes.
    pub(super) fn half_delay(&self) -> f64 {
        self.bandwidth_delay(PROBE_RTT_GAIN, self.bandwidth.max())
    }

    /// Adds the rate of a sample. A new round was counted before.
    pub(super) fn take_rate(&mut self, ack: &Ack, rate: f64) {
        let Some(leo) = &mut self.leo else { return };
        if self.rounds.started {
            if matches!(self.state, State::ProbeBw(_)) {
                leo.rate.take(leo.round_rate);
            }
            leo.round_rate = 0.0;
        }
        leo.round_rate = leo.round_rate.max(rate);
        if self.state == State::ProbeRtt
            && let Some(rtt) = ack.rtt
            && leo.rtt.value > (rtt + NEW_PATH).as_secs_f64()
        {
            leo.new_rate = leo.last_rate;
        }
        leo.last_rate = rate;
    }

    /// Decides whether the filtered rate replaces BtlBw for this ACK.
    pub(super) fn choose_estimate(&mut self, ack: &Ack) {
        let Some(leo) = &mut self.leo else { return };
        if let Some(rtt) = ack.rtt {
            leo.rtt.take(rtt.as_secs_f64());
        }
        let full = self.min_rtt.as_secs_f64() + leo.config.min_rtt_fluctuation.as_secs_f64();
        let queued = leo.rtt.value >= full && leo.rate.value > 0.0;
        leo.gentle = queued && !leo.noted && matches!(self.state, State::ProbeBw(_));
        leo.estimate = leo.gentle.then_some(leo.rate.value);
    }

    /// Ends the use of the filtered rate, which applies to the pacing rate and the window alone.
    pub(super) fn forget_estimate(&mut self) {
        if let Some(leo) = &mut self.leo {
            leo.estimate = None;
        }
    }

    /// Replaces RTprop at the end of PROBE_RTT.
    pub(super) fn renew_rtt(&mut self, ack: &Ack) {
        if self.leo.is_some()
            && self.has_probed_rtt(ack.now)
            && let Some(rtt) = ack.rtt
        {
            self.min_rtt = rtt;
        }
    }

    /// Starts to measure the bandwidth again.
    pub(super) fn start_again(&mut self) {
        let rate = self.leo.as_ref().map_or(0.0, |leo| leo.new_rate);
        self.bandwidth.reset(self.rounds.count, rate);
        (self.filled, self.full, self.full_rounds) = (false, 0.0, 0);
        self.state = State::Startup;
    }

    /// Ends a reconfiguration, because the path was measured again.
    pub(super) fn end_reconfiguration(&mut self) {
        if let Some(leo) = &mut self.leo {
            (leo.noted, leo.new_rate) = (false, 0.0);
        }
    }
}

impl Algorithm for Config {
    const ABOUT: About = About {
        about: "For satellite networks that reassign links at known times, as Starlink does every 15 s. BBR that measures \
                round-trip time and bandwidth again at each of these times, and that reduces its rate to a filtered one \
                when a queue builds up. Needs SACK.",
        equations: &[
            "at offset + n period:  PROBE_RTT with W = max(BtlBw RTprop/2, 4), then RTprop = sample, STARTUP",
            "BtlBw, pacing rate, window and states otherwise as bbr, without policers;  RTprop of 20 s",
            "Kalman filters of the RTT (per sample) and of the maximum rate of a round:  Q = R = 4",
            "filtered RTT >= RTprop + 10 ms in PROBE_BW:  filtered rate instead of BtlBw, gain 1.05 instead of 1.25",
            "loss:     as bbr",
        ],
        source: "Lai et al., \"LeoCC: making Internet congestion control robust to LEO satellite dynamics\", ACM SIGCOMM \
                 2025; the authors' module for replayed traces (github.com/SpaceNetLab/LeoCC, leocc/simulation) for rules \
                 and constants",
        year: 2025,
        signal: Signal::PathModel,
        details: r#"
            `period` and `offset` are the times of the reconfigurations in the run. A reconfiguration is noted in the 100
            ms before it. In PROBE_BW, PROBE_RTT follows immediately; in another state it waits for PROBE_BW, and the end of
            STARTUP cancels it. If a sample in this PROBE_RTT is more than 45 ms below the filtered RTT, BtlBw starts with
            the delivery rate of the previous sample, otherwise with none. The pacing rate stays until BtlBw exceeds it.

            Choose `min_rtt_fluctuation` larger for more throughput and smaller for less delay; the authors found 5 to 20
            ms in Starlink.
        "#,
        variants: &[],
        deviations: &[
            Deviation {
                scope: "",
                source: "rules of the paper",
                here: "rules of the authors' module for replayed traces",
                reason: "the text of the paper was not available when the model was written",
            },
            Deviation {
                scope: "",
                source: "the offset counts from the start of the connection",
                here: "it counts from the start of the run",
                reason: "in the authors' experiments both are the same; all flows share the reconfigurations",
            },
            Deviation {
                scope: "",
                source: "quanta grow with 64 KiB/2^(RTT/512 µs), as in BBRv3",
                here: "quanta of bbr",
                reason: "they differ only for RTTs of a few milliseconds",
            },
            Deviation {
                scope: "",
                source: "the reduced gain is shared by all connections of a host",
                here: "each connection has its own",
                reason: "the module changes a global table",
            },
        ],
        checks: "The times of the notes of reconfigurations; the gains of the Kalman filters against the integers; the \
                 states after a reconfiguration with a shorter and a longer path; RTprop and BtlBw after it; the window of \
                 PROBE_RTT; the filtered rate and the gain of 1.05 with a queue.",
        not_modelled: "The version for live networks, which finds reconfigurations by gaps of 45 ms in pings of 10 ms to the \
                       point of presence, and the fluctuation of the RTT from the same pings.",
    };

    const DRAWS: bool = true;
    const NEEDS: Needs = BbrConfig::NEEDS;

    fn check(&self) -> Result<(), String> {
        if self.period < Duration::from_secs(1) {
            return Err(format!("period: {} is below 1 s", self.period));
        }
        Ok(())
    }

    fn build(&self, start: &ConnectionStart) -> Box<dyn CongestionControl> {
        Box::new(Bbr::reconfigured(self, start))
    }
}

impl Bbr {
    /// Creates LeoCC in STARTUP, with the initial window.
    pub(super) fn reconfigured(config: &Config, start: &ConnectionStart) -> Self {
        let of_bbr = BbrConfig { rtt_window: RTT_WINDOW, policer: false, ..BbrConfig::default() };
        Self { leo: Some(Box::new(Reconfigurations::new(config))), ..Self::new(&of_bbr, start) }
    }
}

#[cfg(test)]
mod tests;
