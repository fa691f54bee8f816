//! A complete description of an emulation.

use super::network::NetworkPlan;
use crate::priority::Priority;
use crate::serve::HostPlan;
use crate::tun::TunConfig;
use lightlag_core::Duration;

/// The devices and hosts of an emulation, the network between them, and when it ends.
#[derive(Clone, Debug)]
pub struct EmulationPlan {
    /// Devices to open.
    pub devices: Vec<TunConfig>,
    /// Simulated hosts.
    pub hosts: Vec<HostPlan>,
    /// Network between devices and hosts. Without one, the only device and the only host exchange packets directly.
    pub network: Option<NetworkPlan>,
    /// Scheduling of the thread that runs the loop.
    pub priority: Priority,
    /// When the emulation ends, unless it is stopped earlier.
    pub end: EmulationEnd,
}

/// When an emulation ends by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EmulationEnd {
    /// Never.
    Never,
    /// After this time.
    After(Duration),
    /// When all hosts have finished. A host that listens without a limit on its connections never finishes.
    WithHosts,
}
