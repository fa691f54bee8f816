//! The options of a host on the command line, and their [`ServeConfig`].

use super::{Action, HostPlan, PathConfig, Pause, Role, ServeConfig, Site, Source, Test};
use crate::priority::Priority;
use crate::tun::TunConfig;
use lightlag_core::{Bytes, Duration};
use lightlag_host::{FastOpen, HostConfig, Limits, SendBuffer};
use lightlag_tcp::Options;
use serde::Deserialize;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

/// The options of `lightlag serve-tcp` and `lightlag connect`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServeOptions {
    /// Name of the TUN device.
    pub tun: String,
    /// The network namespace that it lives in.
    #[serde(default)]
    pub namespace: Option<String>,
    /// The kernel's address on the device with its prefix length; none if the device already has one.
    #[serde(default)]
    pub peer: Option<String>,
    /// Largest IP packet.
    #[serde(default = "ethernet")]
    pub mtu: u16,
    /// The seed of initial sequence numbers and ports.
    pub seed: u64,
    /// A scenario in JSON: the network between the device and the hosts.
    #[serde(default)]
    pub path: Option<String>,
    /// Node of the device; by default the start of the scenario's first flow.
    #[serde(default)]
    pub at: Option<String>,
    /// Scheduling of the loop: fifo (the default), nice or normal.
    #[serde(default)]
    pub priority: Option<String>,
    /// The host of the command line.
    #[serde(default)]
    pub host: Option<HostOptions>,
    /// In its place, hosts of a file, each with the keys of `host`.
    #[serde(default)]
    pub hosts: Vec<serde_json::Value>,
}

/// One host.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostOptions {
    /// Its node; by default the end of the scenario's first flow.
    #[serde(default)]
    pub node: Option<String>,
    /// Its address.
    pub address: String,
    /// The options of TCP.
    #[serde(default)]
    pub tcp: Options,
    /// The port at which to listen.
    #[serde(default)]
    pub port: Option<u16>,
    /// The server to connect to, instead of listening.
    #[serde(default)]
    pub connect: Option<String>,
    /// Number of connections.
    #[serde(default)]
    pub connections: Option<u64>,
    /// Largest number of open connections.
    #[serde(default)]
    pub max_connections: Option<usize>,
    /// Largest memory of the buffers of all connections.
    #[serde(default)]
    pub max_memory: Option<Bytes>,
    /// Time after which a connection whose peer keeps its window closed is reset.
    #[serde(default)]
    pub stall_timeout: Option<Duration>,
    /// The application of each connection; by default it sends what is to be sent, and reads otherwise.
    #[serde(default)]
    pub role: Option<RoleName>,
    /// Number of bytes to send.
    #[serde(default)]
    pub send: Option<Bytes>,
    /// File to send.
    #[serde(default)]
    pub file: Option<PathBuf>,
    /// Folder of the files to serve.
    #[serde(default)]
    pub http: Option<PathBuf>,
    /// Duration of a test of iperf3, as its client.
    #[serde(default)]
    pub time: Option<Duration>,
    /// The server of iperf3 sends.
    #[serde(default)]
    pub reverse: bool,
    /// A pause of the reader.
    #[serde(default)]
    pub pause: Option<Pause>,
    /// Use of data in a SYN (RFC 7413): cookie or no-cookie.
    #[serde(default)]
    pub fast_open: Option<String>,
}

/// The application of a connection, by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RoleName {
    /// Read and discard.
    Sink,
    /// Send everything back.
    Echo,
    /// Send bytes or a file.
    Send,
    /// Answer requests for files.
    Http,
    /// Be a server of iperf3, or a client that connects to one.
    Iperf,
}

/// Names of keys in messages: options of the command line, or keys of a file.
#[derive(Clone, Copy)]
enum Naming {
    CommandLine,
    /// The host with this number.
    File(usize),
}

impl Naming {
    /// The name of a key, such as `tcp.mss`.
    fn of(self, key: &str) -> String {
        match self {
            Self::File(index) => format!("hosts[{index}].{key}"),
            Self::CommandLine => match key.strip_prefix("tcp.") {
                Some(key) => format!("--set {key}"),
                None => format!("--{}", key.replace('_', "-")),
            },
        }
    }
}

/// The MTU of Ethernet.
const fn ethernet() -> u16 {
    1500
}

/// An address in the form that precedes a port.
fn shown(ip: IpAddr) -> String {
    if ip.is_ipv4() { ip.to_string() } else { format!("[{ip}]") }
}

/// The smallest MTU. Smaller packets need not be carried (RFC 791: 68 bytes), and leave no room for data.
const LEAST_MTU: u16 = 128;

/// Default of `--max-connections`: a usual limit of open files, which bounds the connections of a server on Linux.
const CONNECTIONS: usize = 1024;

/// Connections in TIME-WAIT: `tcp_max_tw_buckets` of a small Linux machine.
const TIME_WAIT: usize = 4096;

/// Default of `--max-memory`, and the least, which one connection with full buffers needs.
const MEMORY: Bytes = Bytes(1_000_000_000);
const LEAST_MEMORY: Bytes = Bytes(16_000_000);

/// Default of `--stall-timeout`.
const STALL: Duration = Duration::from_secs(120);

/// Time without progress after which a connection of a full server gives way to a new one.
const IDLE: Duration = Duration::from_secs(60);

/// Default of `--time`, as that of iperf3, and the longest.
const TEST: Duration = Duration::from_secs(10);
const LONGEST_TEST: Duration = Duration::from_secs(86_400);

impl ServeOptions {
    /// The hosts that the options describe.
    ///
    /// # Errors
    /// One line with the option, its value, and a remedy.
    pub fn resolve(&self) -> Result<ServeConfig, String> {
        if self.mtu < LEAST_MTU {
            return Err(format!("--mtu {}: is below {LEAST_MTU} bytes", self.mtu));
        }
        let (options, namings) = self.host_options()?;
        let mut hosts = Vec::new();
        let mut sites: Vec<Site> = Vec::new();
        for (index, (options, naming)) in options.iter().zip(namings).enumerate() {
            let (plan, address) = options.resolve(naming, self.mtu, self.seed.wrapping_add(index as u64))?;
            if sites.iter().any(|site| site.address == address) {
                return Err(format!("{} {address}: another host has it already", naming.of("address")));
            }
            if matches!(naming, Naming::File(_)) && options.node.is_none() {
                return Err(format!("{}: is missing; name the node of the host", naming.of("node")));
            }
            sites.push(Site { node: options.node.clone(), address, key: naming.of("node") });
            hosts.push(plan);
        }
        let mut tun = TunConfig::new(&self.tun);
        tun.namespace.clone_from(&self.namespace);
        tun.mtu = self.mtu;
        tun.addresses = self.kernel_side(&sites)?.into_iter().collect();
        if self.path.is_none() && (sites.len() > 1 || !self.hosts.is_empty()) {
            return Err("--hosts: the hosts stand at nodes of a scenario; name it with --path".to_owned());
        }
        let network = |json| PathConfig::of_scenario(json, self.at.as_deref(), &sites);
        let path = self.path.as_deref().map(network).transpose()?;
        let priority = match self.priority.as_deref() {
            None | Some("fifo") => Priority::Fifo,
            Some("nice") => Priority::Nice,
            Some("normal") => Priority::Normal,
            Some(other) => return Err(format!("--priority {other:?}: is not fifo, nice or normal")),
        };
        Ok(ServeConfig { tun, hosts, path, priority })
    }

    /// The options of every host.
    fn host_options(&self) -> Result<(Vec<HostOptions>, Vec<Naming>), String> {
        if let Some(host) = &self.host {
            return Ok((vec![host.clone()], vec![Naming::CommandLine]));
        }
        if self.hosts.is_empty() {
            return Err("--hosts: the file describes no host; write [[hosts]] with node and address".to_owned());
        }
        let read = |(index, host): (usize, &serde_json::Value)| {
            HostOptions::deserialize(host).map_err(|error| format!("hosts[{index}]: {error}"))
        };
        let hosts: Vec<HostOptions> = self.hosts.iter().enumerate().map(read).collect::<Result<_, _>>()?;
        let namings = (0..hosts.len()).map(Naming::File).collect();
        Ok((hosts, namings))
    }

    /// The address of the kernel's side, in whose network every host is.
    fn kernel_side(&self, sites: &[Site]) -> Result<Option<(IpAddr, u8)>, String> {
        let Some(peer) = &self.peer else { return Ok(None) };
        let mut side = None;
        for Site { address, key, .. } in sites {
            let key = key.replace("node", "address");
            side = Some(kernel_side(peer, *address, &key)?);
        }
        Ok(side)
    }
}

impl HostOptions {
    /// The host, and its address.
    fn resolve(&self, naming: Naming, mtu: u16, seed: u64) -> Result<(HostPlan, IpAddr), String> {
        let key = naming.of("address");
        let address: IpAddr = self
            .address
            .parse()
            .map_err(|_| format!("{key} {:?}: is no IP address; write one such as 10.9.0.2", self.address))?;
        if address.is_unspecified() || address.is_multicast() {
            return Err(format!("{key} {address}: a host needs an address of its own, such as 10.9.0.2"));
        }
        let set = |key: &str| naming.of(&format!("tcp.{key}"));
        let tcp = self.tcp.resolve().map_err(|error| format!("{}: {}", set(&error.key), error.message))?;
        if tcp.awaits_path() {
            return Err(format!("{}: a host has no path to take it from; write rtt, rto, bdp or rate", set("route")));
        }
        let mut host = HostConfig { tcp, mtu, seed, ..HostConfig::new(vec![address]) };
        host.send_buffer = send_buffer(&host);
        host.fast_open = self.fast_open(naming)?;
        host.limits = self.limits(naming)?;
        let (action, early) = (self.action(address, naming)?, self.fast_open.is_some());
        Ok((HostPlan { host, action, early, pause: self.pause }, address))
    }

    fn limits(&self, naming: Naming) -> Result<Limits, String> {
        let limits = Limits {
            connections: self.max_connections.unwrap_or(CONNECTIONS),
            time_wait: TIME_WAIT,
            memory: self.max_memory.unwrap_or(MEMORY),
            closed_window: self.stall_timeout.unwrap_or(STALL),
            idle: IDLE,
        };
        if limits.connections == 0 {
            return Err(format!("{} 0: a server needs at least one connection", naming.of("max_connections")));
        }
        if limits.memory < LEAST_MEMORY {
            return Err(format!("{} {}: is below {LEAST_MEMORY}", naming.of("max_memory"), limits.memory));
        }
        if limits.closed_window.is_zero() {
            return Err(format!("{} 0 s: is not above 0 s", naming.of("stall_timeout")));
        }
        Ok(limits)
    }

    fn fast_open(&self, naming: Naming) -> Result<FastOpen, String> {
        let with = FastOpen { server: true, all_listeners: true, ..FastOpen::default() };
        match self.fast_open.as_deref() {
            None => Ok(FastOpen::default()),
            Some("cookie") => Ok(with),
            Some("no-cookie") => Ok(FastOpen { client_without_cookie: true, server_without_cookie: true, ..with }),
            Some(other) => Err(format!("{} {other:?}: is not cookie or no-cookie", naming.of("fast_open"))),
        }
    }

    fn action(&self, address: IpAddr, naming: Naming) -> Result<Action, String> {
        let role = self.role(naming)?;
        match (&self.connect, self.port) {
            (Some(_), Some(_)) => {
                let (connect, port) = (naming.of("connect"), naming.of("port"));
                Err(format!("{connect}: a host that connects does not listen; leave {port} out"))
            }
            (Some(remote), None) => {
                let at = if let Naming::File(_) = naming { naming.of("connect") + " " } else { String::new() };
                let remote = server(remote, address).map_err(|error| at + &error)?;
                Ok(Action::Connect { remote, role, connections: self.connections.unwrap_or(1) })
            }
            (None, Some(port @ 1..)) => Ok(Action::Listen { port, role, connections: self.connections }),
            (None, _) => Err(format!("{}: takes a number from 1 to 65535", naming.of("port"))),
        }
    }

    fn role(&self, naming: Naming) -> Result<Role, String> {
        let sends = self.send.is_some() || self.file.is_some();
        let role = self.role.unwrap_or(match (sends, &self.http) {
            (true, _) => RoleName::Send,
            (false, Some(_)) => RoleName::Http,
            (false, None) => RoleName::Sink,
        });
        let is_test = role == RoleName::Iperf && self.connect.is_some();
        for (key, is_given) in [("time", self.time.is_some()), ("reverse", self.reverse)] {
            if is_given && !is_test {
                return Err(format!("{}: only a client of iperf3 has it; leave it out", naming.of(key)));
            }
        }
        Ok(match (role, self.send, &self.file, &self.http) {
            (RoleName::Sink, ..) => Role::Sink,
            (RoleName::Echo, ..) => Role::Echo,
            (RoleName::Iperf, ..) if is_test => Role::Test(self.test(naming)?),
            (RoleName::Iperf, ..) => Role::Iperf,
            (RoleName::Send, Some(bytes), ..) => Role::Send(Source::Pattern(bytes.0)),
            (RoleName::Send, None, Some(file), _) => {
                let source = Source::File(file.clone());
                source.open().map_err(|error| format!("{} {error}", naming.of("file")))?;
                Role::Send(source)
            }
            (RoleName::Http, _, _, Some(folder)) if folder.is_dir() => Role::Http(folder.clone()),
            (RoleName::Http, _, _, Some(folder)) => {
                return Err(format!("{} {}: is no folder", naming.of("http"), folder.display()));
            }
            (RoleName::Send, ..) => return Err(format!("{}: is missing; say how much is sent", naming.of("send"))),
            (RoleName::Http, ..) => return Err(format!("{}: is missing; name the folder", naming.of("http"))),
        })
    }

    fn test(&self, naming: Naming) -> Result<Test, String> {
        let time = self.time.unwrap_or(TEST);
        if time.is_zero() || time > LONGEST_TEST {
            return Err(format!("{} {time}: is not above 0 s and at most a day", naming.of("time")));
        }
        Ok(Test { time, reverse: self.reverse })
    }
}

/// The send buffer of a host's sockets: that of its TCP, or one that covers the path. The kernel's default of 4 MB limits
/// a sender above 160 Mbit/s at 200 ms.
fn send_buffer(host: &HostConfig) -> SendBuffer {
    match host.tcp.send_buffer {
        Some(size) => SendBuffer { initial: size, most: size },
        None => {
            let twice = Bytes(2 * host.tcp.receive_buffer.0.min(64 << 20));
            SendBuffer { most: host.send_buffer.most.max(twice), ..host.send_buffer }
        }
    }
}

/// The address of a server for a host with the address `own`.
fn server(remote: &str, own: IpAddr) -> Result<SocketAddr, String> {
    let to: SocketAddr =
        remote.parse().map_err(|_| format!("{remote:?}: is not ADDRESS:PORT; write for example 10.9.0.1:5001"))?;
    if to.is_ipv4() != own.is_ipv4() {
        return Err(format!("{remote}: is not of the family of the host's address {own}"));
    }
    if to.port() == 0 {
        return Err(format!("{remote}: nobody listens at port 0; write for example {}:5001", shown(to.ip())));
    }
    if to.ip() == own {
        return Err(format!("{remote}: is the address of this host itself; name another host"));
    }
    if to.ip().is_unspecified() || to.ip().is_multicast() {
        return Err(format!("{remote}: is not the address of one host; write for example 10.9.0.1:5001"));
    }
    Ok(to)
}

/// Address and prefix length of the kernel's side, for a host with the address `ours`, which `key` gives.
fn kernel_side(peer: &str, ours: IpAddr, key: &str) -> Result<(IpAddr, u8), String> {
    let wrong = || format!("--peer {peer:?}: is not ADDRESS/PREFIX; write for example --peer 10.9.0.1/24");
    let (address, prefix) = peer.split_once('/').ok_or_else(wrong)?;
    let address: IpAddr = address.parse().map_err(|_| wrong())?;
    let longest = if address.is_ipv4() { 32 } else { 128 };
    let prefix: u8 = prefix.parse().ok().filter(|prefix| *prefix <= longest).ok_or_else(wrong)?;
    if address == ours {
        return Err(format!("--peer {peer}: {key} is the same address; the kernel's side needs another one"));
    }
    if !same_network(address, ours, prefix) {
        return Err(format!("--peer {peer}: {key} {ours} lies outside that network; the kernel would not route to it"));
    }
    Ok((address, prefix))
}

fn same_network(a: IpAddr, b: IpAddr, prefix: u8) -> bool {
    let (a, b, width) = match (a, b) {
        (IpAddr::V4(a), IpAddr::V4(b)) => (u128::from(a.to_bits()), u128::from(b.to_bits()), 32),
        (IpAddr::V6(a), IpAddr::V6(b)) => (a.to_bits(), b.to_bits(), 128),
        _ => return false,
    };
    (a ^ b).checked_shr(width - u32::from(prefix)).is_none_or(|different| different == 0)
}

#[cfg(test)]
mod tests;
