//! A complete description of an emulation.

use super::network::NetworkPlan;
use crate::priority::Priority;
use crate::serve::HostPlan;
use crate::tun::TunConfig;
use lightlag_core::Duration;

/// Devices, hosts, the network between them, and the end.
#[derive(Clone, Debug)]
pub struct EmulationPlan {
    /// Devices to open.
    pub devices: Vec<TunConfig>,
    /// Simulated hosts.
    pub hosts: Vec<HostPlan>,
    /// Network that joins them. Without it, the only device and the only host exchange packets directly.
    pub network: Option<NetworkPlan>,
    /// Scheduling of the loop's thread.
    pub priority: Priority,
    /// End, unless it is stopped earlier.
    pub end: End,
}

/// The end of an emulation that is not stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// Never.
    Never,
    /// After this time.
    After(Duration),
    /// When all hosts have finished. A host that listens without a limit of connections never finishes.
    WithHosts,
}
