//! The options of a host on the command line, and their [`ServeConfig`].

use super::{Action, PathConfig, Pause, Role, ServeConfig, Source};
use crate::priority::Priority;
use crate::tun::TunConfig;
use lightlag_core::{Bytes, Duration};
use lightlag_host::{FastOpen, HostConfig, Limits};
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
    /// The local address.
    pub address: String,
    /// The kernel's address on the device with its prefix length; none if the device already has one.
    #[serde(default)]
    pub peer: Option<String>,
    /// Largest IP packet.
    #[serde(default = "ethernet")]
    pub mtu: u16,
    /// The seed of initial sequence numbers and ports.
    pub seed: u64,
    /// The options of TCP.
    #[serde(default)]
    pub tcp: Options,
    /// The port at which to listen.
    #[serde(default)]
    pub port: Option<u16>,
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
    /// The server to connect to, instead of listening.
    #[serde(default)]
    pub remote: Option<String>,
    /// The application of each connection.
    pub role: RoleName,
    /// Number of bytes to send.
    #[serde(default)]
    pub send: Option<Bytes>,
    /// File to send.
    #[serde(default)]
    pub file: Option<PathBuf>,
    /// Folder of the files to serve.
    #[serde(default)]
    pub http: Option<PathBuf>,
    /// A pause of the reader.
    #[serde(default)]
    pub pause: Option<Pause>,
    /// A scenario in JSON: the network between the device, at the start of its first flow, and the local host, at the
    /// flow's end.
    #[serde(default)]
    pub path: Option<String>,
    /// Use of data in a SYN (RFC 7413): cookie or no-cookie.
    #[serde(default)]
    pub fast_open: Option<String>,
    /// Scheduling of the loop: fifo (the default), nice or normal.
    #[serde(default)]
    pub priority: Option<String>,
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
    /// Be a server of iperf3.
    Iperf,
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

impl ServeOptions {
    /// The host that the options describe.
    ///
    /// # Errors
    /// One line with the option, its value, and a remedy.
    pub fn resolve(&self) -> Result<ServeConfig, String> {
        let address: IpAddr = self.address.parse().map_err(|_| {
            format!("--address {:?}: is no IP address; write for example --address 10.9.0.2", self.address)
        })?;
        if address.is_unspecified() || address.is_multicast() {
            return Err(format!("--address {address}: a host needs an address of its own, such as 10.9.0.2"));
        }
        if self.mtu < LEAST_MTU {
            return Err(format!("--mtu {}: is below {LEAST_MTU} bytes", self.mtu));
        }
        let tcp = self.tcp.resolve().map_err(|error| format!("--set {}: {}", error.key, error.message))?;
        if tcp.awaits_path() {
            return Err("--set route: a host has no path to take it from; write rtt, rto, bdp or rate".to_owned());
        }
        let mut host = HostConfig { tcp, mtu: self.mtu, seed: self.seed, ..HostConfig::new(vec![address]) };
        // The send buffer covers the path; the kernel's default of 4 MB limits a sender above 160 Mbit/s at 200 ms.
        let twice = Bytes(2 * host.tcp.receive_buffer.0.min(64 << 20));
        host.send_buffer.most = host.send_buffer.most.max(twice);
        let mut tun = TunConfig::new(&self.tun);
        tun.namespace.clone_from(&self.namespace);
        tun.mtu = self.mtu;
        tun.addresses = self.peer.iter().map(|peer| kernel_side(peer, address)).collect::<Result<_, _>>()?;
        let path = self.path.as_deref().map(PathConfig::of_scenario).transpose()?;
        let priority = match self.priority.as_deref() {
            None | Some("fifo") => Priority::Fifo,
            Some("nice") => Priority::Nice,
            Some("normal") => Priority::Normal,
            Some(other) => return Err(format!("--priority {other:?}: is not fifo, nice or normal")),
        };
        let early = self.fast_open.is_some();
        host.fast_open = self.fast_open()?;
        host.limits = self.limits()?;
        Ok(ServeConfig { tun, host, action: self.action(address)?, early, pause: self.pause, path, priority })
    }

    fn limits(&self) -> Result<Limits, String> {
        let limits = Limits {
            connections: self.max_connections.unwrap_or(CONNECTIONS),
            time_wait: TIME_WAIT,
            memory: self.max_memory.unwrap_or(MEMORY),
            closed_window: self.stall_timeout.unwrap_or(STALL),
            idle: IDLE,
        };
        if limits.connections == 0 {
            return Err("--max-connections 0: a server needs at least one connection".to_owned());
        }
        if limits.memory < LEAST_MEMORY {
            return Err(format!("--max-memory {}: is below {LEAST_MEMORY}", limits.memory));
        }
        if limits.closed_window.is_zero() {
            return Err("--stall-timeout 0 s: is not above 0 s".to_owned());
        }
        Ok(limits)
    }

    fn fast_open(&self) -> Result<FastOpen, String> {
        let with = FastOpen { server: true, all_listeners: true, ..FastOpen::default() };
        match self.fast_open.as_deref() {
            None => Ok(FastOpen::default()),
            Some("cookie") => Ok(with),
            Some("no-cookie") => Ok(FastOpen { client_without_cookie: true, server_without_cookie: true, ..with }),
            Some(other) => Err(format!("--fast-open {other:?}: is not cookie or no-cookie")),
        }
    }

    fn action(&self, address: IpAddr) -> Result<Action, String> {
        let role = self.role()?;
        match (&self.remote, self.port) {
            (Some(remote), _) => {
                let to: SocketAddr = remote
                    .parse()
                    .map_err(|_| format!("{remote:?}: is not ADDRESS:PORT; write for example 10.9.0.1:5001"))?;
                if to.is_ipv4() != address.is_ipv4() {
                    return Err(format!("{remote}: is not of the family of --address {address}"));
                }
                if to.port() == 0 {
                    return Err(format!(
                        "{remote}: nobody listens at port 0; write for example {}:5001",
                        shown(to.ip())
                    ));
                }
                if to.ip() == address {
                    return Err(format!("{remote}: is --address {address}, this host itself; name another host"));
                }
                if to.ip().is_unspecified() || to.ip().is_multicast() {
                    return Err(format!("{remote}: is not the address of one host; write for example 10.9.0.1:5001"));
                }
                Ok(Action::Connect { remote: to, role, connections: self.connections.unwrap_or(1) })
            }
            (None, Some(port @ 1..)) => Ok(Action::Listen { port, role, connections: self.connections }),
            (None, _) => Err("--port: takes a number from 1 to 65535".to_owned()),
        }
    }

    fn role(&self) -> Result<Role, String> {
        Ok(match (self.role, self.send, &self.file, &self.http) {
            (RoleName::Sink, ..) => Role::Sink,
            (RoleName::Echo, ..) => Role::Echo,
            (RoleName::Iperf, ..) => Role::Iperf,
            (RoleName::Send, Some(bytes), ..) => Role::Send(Source::Pattern(bytes.0)),
            (RoleName::Send, None, Some(file), _) => {
                let source = Source::File(file.clone());
                source.open().map_err(|error| format!("--file {error}"))?;
                Role::Send(source)
            }
            (RoleName::Http, _, _, Some(folder)) if folder.is_dir() => Role::Http(folder.clone()),
            (RoleName::Http, _, _, Some(folder)) => {
                return Err(format!("--http {}: is no folder", folder.display()));
            }
            (RoleName::Send | RoleName::Http, ..) => return Err("nothing is said about what is sent".to_owned()),
        })
    }
}

/// Address and prefix length of the kernel's side.
fn kernel_side(peer: &str, ours: IpAddr) -> Result<(IpAddr, u8), String> {
    let wrong = || format!("--peer {peer:?}: is not ADDRESS/PREFIX; write for example --peer 10.9.0.1/24");
    let (address, prefix) = peer.split_once('/').ok_or_else(wrong)?;
    let address: IpAddr = address.parse().map_err(|_| wrong())?;
    let longest = if address.is_ipv4() { 32 } else { 128 };
    let prefix: u8 = prefix.parse().ok().filter(|prefix| *prefix <= longest).ok_or_else(wrong)?;
    if address == ours {
        return Err(format!("--peer {peer}: is our own --address; the kernel's side needs another one"));
    }
    if !same_network(address, ours, prefix) {
        return Err(format!(
            "--peer {peer}: --address {ours} lies outside that network; the kernel would not route to it"
        ));
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
mod tests {
    use super::*;

    fn options(changes: &str) -> ServeOptions {
        let mut json: serde_json::Value = serde_json::from_str(
            r#"{"tun": "ho-0", "address": "10.9.0.2", "peer": "10.9.0.1/24", "seed": 1, "port": 5001, "role": "sink"}"#,
        )
        .unwrap();
        let changes: serde_json::Value = serde_json::from_str(changes).unwrap();
        json.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn fast_open_is_one_of_two_words() {
        assert!(!options("{}").resolve().unwrap().early);
        for (word, bare) in [("cookie", false), ("no-cookie", true)] {
            let config = options(&format!(r#"{{"fast_open": "{word}"}}"#)).resolve().unwrap();
            let fast_open = config.host.fast_open;
            assert!(config.early && fast_open.client && fast_open.server && fast_open.all_listeners);
            assert_eq!((fast_open.client_without_cookie, fast_open.server_without_cookie), (bare, bare));
        }
        let refused = options(r#"{"fast_open": "yes"}"#).resolve().unwrap_err();
        assert_eq!(refused, "--fast-open \"yes\": is not cookie or no-cookie");
    }

    #[test]
    fn a_host_takes_the_other_address_of_its_network() {
        let config = options(r#"{"tcp": {"congestion": "bbr"}}"#).resolve().unwrap();
        assert_eq!(config.tun.addresses, [("10.9.0.1".parse().unwrap(), 24)]);
        assert_eq!(config.host.tcp.congestion.name(), "bbr");
        assert!(matches!(config.action, Action::Listen { port: 5001, role: Role::Sink, connections: None }));
    }

    #[test]
    fn what_cannot_be_is_named() {
        for (changes, expected) in [
            (r#"{"address": "10.9.0"}"#, "--address \"10.9.0\""),
            (r#"{"address": "0.0.0.0"}"#, "--address 0.0.0.0"),
            (r#"{"peer": "10.9.0.1"}"#, "--peer \"10.9.0.1\""),
            (r#"{"peer": "10.9.0.1/33"}"#, "--peer \"10.9.0.1/33\""),
            (r#"{"peer": "10.8.0.1/24"}"#, "--peer 10.8.0.1/24: --address 10.9.0.2 lies outside"),
            (r#"{"peer": "10.9.0.2/24"}"#, "--peer 10.9.0.2/24: is our own"),
            (r#"{"remote": "10.9.0.1:0"}"#, "10.9.0.1:0: nobody listens at port 0; write for example 10.9.0.1:5001"),
            (r#"{"remote": "10.9.0.2:5001"}"#, "10.9.0.2:5001: is --address 10.9.0.2, this host itself"),
            (r#"{"remote": "0.0.0.0:5001"}"#, "0.0.0.0:5001: is not the address of one host"),
            (r#"{"port": 0}"#, "--port"),
            (r#"{"mtu": 60}"#, "--mtu 60"),
            (r#"{"max_connections": 0}"#, "--max-connections 0: a server needs"),
            (r#"{"max_memory": "1 MB"}"#, "--max-memory 1 MB: is below 16 MB"),
            (r#"{"stall_timeout": "0 s"}"#, "--stall-timeout 0 s"),
            (r#"{"tcp": {"mss": "1 B"}}"#, "--set mss"),
            (r#"{"tcp": {"route": "path"}}"#, "--set route: a host has no path"),
            (r#"{"remote": "10.9.0.1"}"#, "\"10.9.0.1\""),
            (r#"{"remote": "[fd00::1]:80"}"#, "[fd00::1]:80"),
            (r#"{"role": "send", "file": "/nowhere"}"#, "--file /nowhere"),
            (r#"{"role": "http", "http": "/nowhere"}"#, "--http /nowhere"),
        ] {
            let error = options(changes).resolve().err().unwrap_or_default();
            assert!(error.starts_with(expected), "{changes}: {error}");
        }
    }

    #[test]
    fn a_prefix_of_zero_holds_everything() {
        assert!(same_network("1.2.3.4".parse().unwrap(), "200.0.0.1".parse().unwrap(), 0));
        assert!(!same_network("10.9.0.1".parse().unwrap(), "10.9.0.2".parse().unwrap(), 32));
        assert!(same_network("fd00::1".parse().unwrap(), "fd00::2".parse().unwrap(), 64));
    }
}
