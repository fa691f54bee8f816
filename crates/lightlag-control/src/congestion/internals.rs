//! The inner state of algorithms, for traces.

use lightlag_core::{Duration, Rate};

/// Values that only some algorithms have. A value that an algorithm does not have, or not yet, is missing.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Internals {
    /// State of a model of the path.
    pub state: Option<PathState>,
    /// Estimated rate of the bottleneck: BtlBw of BBR.
    pub bottleneck_rate: Option<Rate>,
    /// Estimated round-trip time without queues: RTprop of BBR.
    pub propagation: Option<Duration>,
    /// Factor between the bottleneck's rate and the pacing rate.
    pub pacing_gain: Option<f64>,
    /// Factor between the bandwidth-delay product of the two estimates and the window.
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
            /// Names of the states, by their numbers.
            pub const NAMES: &[&str] = &[$($name),+];
        }
    };
}

states! {
    /// STARTUP: doubles the rate each round.
    Startup "startup"
    /// DRAIN: empties the queue that STARTUP made.
    Drain "drain"
    /// PROBE_BW: around the bottleneck's rate, with the pacing gains of version 1.
    ProbeBw "probe_bw"
    /// PROBE_RTT: a small window, to measure the round-trip time.
    ProbeRtt "probe_rtt"
    /// ProbeBW_DOWN of version 3: slower, until there is room.
    ProbeBwDown "probe_bw_down"
    /// ProbeBW_CRUISE of version 3: at the bottleneck's rate.
    ProbeBwCruise "probe_bw_cruise"
    /// ProbeBW_REFILL of version 3: a round that fills the path.
    ProbeBwRefill "probe_bw_refill"
    /// ProbeBW_UP of version 3: faster.
    ProbeBwUp "probe_bw_up"
}

/// A rate in bytes a second; none if it is zero.
pub(super) fn rate(bytes_per_second: f64) -> Option<Rate> {
    Rate::from_bps((8.0 * bytes_per_second) as u64)
}
