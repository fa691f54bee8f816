//! Internal state of algorithms, for traces.

use lightlag_core::{Duration, Rate};

/// Values that only some algorithms have. `None`: the algorithm does not have the value, or not yet.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Internals {
    /// State of an algorithm that models the path.
    pub state: Option<PathState>,
    /// Estimated rate of the bottleneck (BtlBw of BBR).
    pub bottleneck_rate: Option<Rate>,
    /// Estimated round-trip time without queues (RTprop of BBR).
    pub propagation: Option<Duration>,
    /// Ratio of the pacing rate to the estimated bottleneck rate.
    pub pacing_gain: Option<f64>,
    /// Ratio of the window to the bandwidth-delay product of the two estimates.
    pub window_gain: Option<f64>,
    /// ρ of Hybla.
    pub rho: Option<f64>,
}

macro_rules! states {
    ($($(#[doc = $doc:literal])+ $state:ident $name:literal)+) => {
        /// States of BBR, in all its versions.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum PathState {
            $($(#[doc = $doc])+ $state,)+
        }

        impl PathState {
            /// Names of the states, indexed by their numbers.
            pub const NAMES: &[&str] = &[$($name),+];
        }
    };
}

states! {
    /// STARTUP: doubles the rate each round.
    Startup "startup"
    /// DRAIN: empties the queue that STARTUP made.
    Drain "drain"
    /// PROBE_BW of version 1: sends around the bottleneck's rate, with a cycle of pacing gains.
    ProbeBw "probe_bw"
    /// PROBE_RTT: reduces the window, to measure the round-trip time.
    ProbeRtt "probe_rtt"
    /// ProbeBW_DOWN of version 3: sends below the bottleneck's rate, until there is room.
    ProbeBwDown "probe_bw_down"
    /// ProbeBW_CRUISE of version 3: sends at the bottleneck's rate.
    ProbeBwCruise "probe_bw_cruise"
    /// ProbeBW_REFILL of version 3: fills the path for a round.
    ProbeBwRefill "probe_bw_refill"
    /// ProbeBW_UP of version 3: sends above the bottleneck's rate.
    ProbeBwUp "probe_bw_up"
}

/// Returns a rate in bytes per second as a [`Rate`]; `None` if it is zero.
pub(super) fn rate(bytes_per_second: f64) -> Option<Rate> {
    Rate::from_bps((8.0 * bytes_per_second) as u64)
}
