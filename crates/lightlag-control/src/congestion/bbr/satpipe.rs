//! SatPipe: BBR that empties the path before each handover of a satellite network.
//!
//! "SatPipe: deterministic TCP adaptation for highly dynamic LEO satellite networks", INFOCOM 2025. Rules and constants
//! follow the authors' kernel module (github.com/dzhao99/SatPipe, `Code/SatPipe.c`), which is Linux's BBR with
//!
//! - a schedule: handovers every `period` = 15 s, starting at `offset` = 12 s. The first delivery-rate sample in the 50
//!   ms before a handover starts PROBE_RTT from any state, if there was a sample between 2 s and 1 s before it, or
//!   between the same times of an earlier handover without PROBE_RTT;
//! - PROBE_RTT with 4 segments for 300 ms and a round, so that few segments are lost in the handover. The window, BtlBw
//!   and RTprop stay as they were;
//! - a lifetime of RTprop of 20 s.

use super::states::State;
use super::{Bbr, Config as BbrConfig};
use crate::congestion::about::{About, Deviation, Signal};
use crate::congestion::registry::Algorithm;
use crate::congestion::{CongestionControl, ConnectionStart, Needs};
use lightlag_core::{Duration, Instant, settings};

/// Time before a handover for the start of PROBE_RTT.
const LEAD: Duration = Duration::from_millis(50);
/// A sample between these times before a handover permits PROBE_RTT.
const ARMED_FROM: Duration = Duration::from_secs(2);
const ARMED_UNTIL: Duration = Duration::from_secs(1);
/// Duration of PROBE_RTT, and lifetime of RTprop.
const PROBE_RTT: Duration = Duration::from_millis(300);
const RTT_WINDOW: Duration = Duration::from_secs(20);

settings! {
    /// Parameters of SatPipe.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Config {
        /// Time between handovers; 15 s in Starlink.
        period: Duration = Duration::from_secs(15) => time_up_to(Duration::from_secs(3600));
        /// Time of the first handover after the start of the run.
        offset: Duration = Duration::from_secs(12) => time_up_to(Duration::from_secs(3600));
    }
}

/// The schedule of handovers.
pub(super) struct Handovers {
    period: Duration,
    offset: Duration,
    /// Whether a sample permits PROBE_RTT before the next handover.
    armed: bool,
}

impl Handovers {
    fn new(config: &Config) -> Self {
        Self { period: config.period, offset: config.offset, armed: false }
    }

    /// Takes a sample. Returns true if PROBE_RTT starts with it.
    fn is_due(&mut self, now: Instant) -> bool {
        let period = self.period.as_nanos();
        let since = (now.as_nanos() + period - self.offset.as_nanos() % period) % period;
        let ahead = Duration::from_nanos(period - since);
        self.armed |= ahead <= ARMED_FROM && ahead > ARMED_UNTIL;
        let due = self.armed && ahead <= LEAD;
        self.armed &= !due;
        due
    }
}

impl Bbr {
    /// Creates SatPipe in STARTUP, with the initial window.
    fn scheduled(config: &Config, start: &ConnectionStart) -> Self {
        let of_bbr = BbrConfig { rtt_window: RTT_WINDOW, probe_rtt: PROBE_RTT, ..BbrConfig::default() };
        Self { handovers: Some(Box::new(Handovers::new(config))), ..Self::new(&of_bbr, start) }
    }

    /// Starts PROBE_RTT if a handover is due.
    pub(super) fn await_handover(&mut self, now: Instant) {
        if self.handovers.as_mut().is_some_and(|handovers| handovers.is_due(now)) {
            self.state = State::ProbeRtt;
            self.save_window();
            self.probe_rtt_until = None;
        }
    }
}

impl Algorithm for Config {
    const ABOUT: About = About {
        about: "For satellite networks with handovers at known times, as Starlink has every 15 s. BBR that reduces its \
                window to four segments shortly before each handover, so that few segments are lost, and returns to its \
                rate afterwards. Needs SACK.",
        equations: &[
            "50 ms before offset + n period:  PROBE_RTT from any state, W = 4 for 300 ms and a round",
            "then W, BtlBw and RTprop as before, and PROBE_BW, or STARTUP if BtlBw still grew",
            "RTprop = smallest RTT of 20 s",
            "all other rules:  as bbr",
            "loss:     as bbr",
        ],
        source: "\"SatPipe: deterministic TCP adaptation for highly dynamic LEO satellite networks\", IEEE INFOCOM 2025; the \
                 authors' kernel module (github.com/dzhao99/SatPipe, Code/SatPipe.c) for rules and constants",
        year: 2025,
        signal: Signal::PathModel,
        details: r#"
            `period` and `offset` are the times of the handovers in the run. In the module they are the seconds 12, 27, 42
            and 57 of each minute. PROBE_RTT starts with the first delivery-rate sample of the 50 ms; without one it waits
            for the next handover.
        "#,
        variants: &[],
        deviations: &[
            Deviation {
                scope: "",
                source: "rules of the paper",
                here: "rules of the authors' module",
                reason: "only the abstract of the paper was available when the model was written",
            },
            Deviation {
                scope: "",
                source: "handovers follow the clock of the host",
                here: "they follow the time of the run",
                reason: "a run has no other clock",
            },
            Deviation {
                scope: "",
                source: "all connections of a host share the mark that a sample was seen",
                here: "each connection has its own",
                reason: "with several connections, the module prepares only one of them for a handover",
            },
        ],
        checks: "The times of PROBE_RTT; its window and duration; window, BtlBw and RTprop before and after; a handover \
                 without samples.",
        not_modelled: "Rules of the paper that the published module does not contain.",
    };

    const DRAWS: bool = true;
    const NEEDS: Needs = BbrConfig::NEEDS;

    fn check(&self) -> Result<(), String> {
        if self.period < Duration::from_secs(3) {
            return Err(format!("period: {} is below 3 s", self.period));
        }
        Ok(())
    }

    fn build(&self, start: &ConnectionStart) -> Box<dyn CongestionControl> {
        Box::new(Bbr::scheduled(self, start))
    }
}

#[cfg(test)]
mod tests;
