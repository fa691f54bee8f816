//! The options of `lightlag emulate`, `serve-tcp` and `connect`, which become an [`EmulationPlan`].

use super::directory::{Prefix, is_same_network};
use super::error::OptionsError;
use super::network::{NetworkPlan, Site};
use super::plan::{EmulationEnd, EmulationPlan};
use crate::priority::Priority;
use crate::serve::{HostOptions, HostPlan, Naming};
use crate::tun::TunConfig;
use lightlag_core::Duration;
use serde::Deserialize;
use std::net::IpAddr;

/// Options of an emulation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmulationOptions {
    /// Devices: either one, with hosts, or two, with a network between them.
    pub devices: Vec<DeviceOptions>,
    /// Maximum size of an IP packet in bytes. Default 1500.
    #[serde(default = "ethernet")]
    pub mtu: u16,
    /// Scenario in JSON, which describes the network between devices and hosts.
    #[serde(default)]
    pub scenario: Option<String>,
    /// Scheduling of the loop's thread: fifo (the default), nice or normal.
    #[serde(default)]
    pub priority: Option<String>,
    /// Duration of the emulation. If omitted, an emulation with one device ends when its hosts have finished.
    #[serde(default)]
    pub duration: Option<Duration>,
    /// Seed of the hosts' initial sequence numbers and ports.
    pub seed: u64,
    /// The host that the options of the command line describe.
    #[serde(default)]
    pub host: Option<HostOptions>,
    /// The hosts in a file, each with the same keys as `host`.
    #[serde(default)]
    pub hosts: Vec<serde_json::Value>,
}

/// A TUN device.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceOptions {
    /// Name of the device.
    pub name: String,
    /// Network namespace of the device; `None` means the caller's.
    #[serde(default)]
    pub namespace: Option<String>,
    /// Addresses that the kernel gets on the device, with their prefix lengths. If there are none, an existing device
    /// keeps its own.
    #[serde(default)]
    pub addresses: Vec<String>,
    /// Node of the device. By default, the first device is at the start of the scenario's first flow, and the second at
    /// its end.
    #[serde(default)]
    pub node: Option<String>,
}

/// The MTU of Ethernet in bytes.
const fn ethernet() -> u16 {
    1500
}

/// Minimum MTU of a host in bytes. The 68 bytes of RFC 791 would leave no space for data.
const MIN_HOST_MTU: u16 = 128;

impl EmulationOptions {
    /// Returns the emulation that the options describe.
    ///
    /// # Errors
    /// The scenario's errors, or one line that names the option, its value and a fix.
    pub fn resolve(&self) -> Result<EmulationPlan, OptionsError> {
        let devices = self.devices.iter().map(|device| self.device(device)).collect::<Result<Vec<_>, String>>()?;
        let (hosts, sites) = self.hosts(&devices)?;
        let nodes: Vec<_> = self.devices.iter().map(|device| device.node.clone()).collect();
        let network = |json| NetworkPlan::of_scenario(json, &nodes, &sites);
        let network = self.scenario.as_deref().map(network).transpose()?;
        if network.is_none() && (devices.len() != 1 || hosts.len() != 1 || !self.hosts.is_empty()) {
            return Err("--hosts: hosts are attached to nodes of a scenario; name it with --path".into());
        }
        let priority = match self.priority.as_deref() {
            None | Some("fifo") => Priority::Fifo,
            Some("nice") => Priority::Nice,
            Some("normal") => Priority::Normal,
            Some(other) => {
                return Err(format!("--priority {other:?}: is not a valid priority; use fifo, nice or normal").into());
            }
        };
        let end = match self.duration {
            Some(time) => EmulationEnd::After(time),
            None if devices.len() == 1 => EmulationEnd::WithHosts,
            None => EmulationEnd::Never,
        };
        Ok(EmulationPlan { devices, hosts, network, priority, end })
    }

    fn device(&self, options: &DeviceOptions) -> Result<TunConfig, String> {
        let addresses = options.addresses.iter().map(|text| prefix(text, self.address_option()));
        Ok(TunConfig {
            name: options.name.clone(),
            namespace: options.namespace.clone(),
            mtu: self.mtu,
            addresses: addresses.collect::<Result<_, _>>()?,
        })
    }

    /// Returns the name of the option that sets the addresses of the devices.
    fn address_option(&self) -> &'static str {
        if self.devices.len() == 1 { "--peer" } else { "--address" }
    }

    fn hosts(&self, devices: &[TunConfig]) -> Result<(Vec<HostPlan>, Vec<Site>), String> {
        let (mut plans, mut sites): (Vec<HostPlan>, Vec<Site>) = (Vec::new(), Vec::new());
        for (index, (options, naming)) in self.host_options()?.into_iter().enumerate() {
            if self.mtu < MIN_HOST_MTU {
                return Err(format!("--mtu {}: is below the {MIN_HOST_MTU} bytes that a host needs", self.mtu));
            }
            let plan = options.resolve(naming, self.mtu, self.seed.wrapping_add(index as u64))?;
            let address = plan.address();
            if plans.iter().any(|other| other.address() == address) {
                return Err(format!("{} {address}: another host has it already", naming.of("address")));
            }
            self.check_address(devices, address, &naming.of("address"))?;
            if naming != Naming::CommandLine && options.node.is_none() {
                return Err(format!("{}: is missing; name the node of the host", naming.of("node")));
            }
            sites.push(Site { node: options.node, key: naming.of("node") });
            plans.push(plan);
        }
        Ok((plans, sites))
    }

    fn host_options(&self) -> Result<Vec<(HostOptions, Naming)>, String> {
        let of_line = self.host.iter().map(|host| Ok((host.clone(), Naming::CommandLine)));
        let of_file = self.hosts.iter().enumerate().map(|(index, json)| {
            let naming = Naming::File(index);
            HostOptions::of_json(json, naming).map(|host| (host, naming))
        });
        of_line.chain(of_file).collect()
    }

    /// Checks that the kernel routes packets for a host into one of the devices.
    fn check_address(&self, devices: &[TunConfig], host: IpAddr, key: &str) -> Result<(), String> {
        let all: Vec<Prefix> = devices.iter().flat_map(|device| device.addresses.iter().copied()).collect();
        let option = self.address_option();
        let given: Vec<String> = all.iter().map(|(address, bits)| format!("{address}/{bits}")).collect();
        let given = given.join(" ");
        if all.iter().any(|(address, _)| *address == host) {
            return Err(format!("{option} {given}: {key} is the same address; the kernel's side needs another one"));
        }
        if all.is_empty() || all.iter().any(|(address, bits)| is_same_network(*address, host, *bits)) {
            return Ok(());
        }
        let those = if all.len() == 1 { "that network" } else { "those networks" };
        Err(format!("{option} {given}: {key} {host} is outside {those}; the kernel would not route to it"))
    }
}

/// Parses `ADDRESS/PREFIX`.
fn prefix(text: &str, option: &str) -> Result<Prefix, String> {
    let wrong = || format!("{option} {text:?}: is not ADDRESS/PREFIX; write, for example, 10.9.0.1/24");
    let (address, bits) = text.split_once('/').ok_or_else(wrong)?;
    let address: IpAddr = address.parse().map_err(|_| wrong())?;
    let bits: u8 = bits.parse().map_err(|_| wrong())?;
    let max = if address.is_ipv4() { 32 } else { 128 };
    if bits > max {
        return Err(format!("{option} {text:?}: a prefix has at most {max} bits"));
    }
    Ok((address, bits))
}

#[cfg(test)]
mod tests;
