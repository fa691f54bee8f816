//! The options of a host, on the command line or in a file, and their [`HostPlan`].

use super::{Action, HostPlan, Pause, Role, Source, Test};
use lightlag_core::{Bytes, Duration};
use lightlag_host::{FastOpen, HostConfig, Limits, SendBuffer};
use lightlag_tcp::Options;
use serde::Deserialize;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

/// One host.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostOptions {
    /// Its node; by default the end of the scenario's first flow.
    #[serde(default)]
    pub node: Option<String>,
    /// Its address.
    #[serde(default)]
    pub address: Option<String>,
    /// The options of TCP.
    #[serde(default)]
    pub tcp: Options,
    /// The port at which to listen.
    #[serde(default)]
    pub port: Option<i64>,
    /// The server to connect to, instead of listening.
    #[serde(default)]
    pub connect: Option<String>,
    /// Time of the first connection, since the start.
    #[serde(default)]
    pub start: Option<Duration>,
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
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Naming {
    /// An option such as `--port`.
    CommandLine,
    /// A key of the host with this index, such as `hosts[1].port`.
    File(usize),
}

impl Naming {
    /// Returns the name of a key, such as `tcp.mss`.
    pub(crate) fn of(self, key: &str) -> String {
        match self {
            Self::File(index) => format!("hosts[{index}].{key}"),
            Self::CommandLine => match key.strip_prefix("tcp.") {
                Some(key) => format!("--set {key}"),
                None => format!("--{}", key.replace('_', "-")),
            },
        }
    }
}

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

impl HostOptions {
    /// Reads one host of a file.
    ///
    /// # Errors
    /// One line with the key, its value, and a fix.
    pub(crate) fn of_json(json: &serde_json::Value, naming: Naming) -> Result<Self, String> {
        serde_path_to_error::deserialize(json).map_err(|error| match error.path().to_string().as_str() {
            "." => format!("{}: {}", naming.of("").trim_end_matches('.'), error.inner()),
            path => format!("{}: {}", naming.of(path), error.inner()),
        })
    }

    /// Returns the host that the options describe.
    ///
    /// # Errors
    /// One line with the key, its value, and a fix.
    pub(crate) fn resolve(&self, naming: Naming, mtu: u16, seed: u64) -> Result<HostPlan, String> {
        let key = naming.of("address");
        let text = self.address.as_ref().ok_or_else(|| format!("{key}: is missing; write one such as 10.9.0.2"))?;
        let address: IpAddr =
            text.parse().map_err(|_| format!("{key} {text:?}: is not an IP address; write one such as 10.9.0.2"))?;
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
        Ok(HostPlan { host, action, early, pause: self.pause })
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
        let (connect, port, start) = (naming.of("connect"), naming.of("port"), naming.of("start"));
        match (&self.connect, self.port) {
            (Some(_), Some(_)) => Err(format!("{connect}: a host that connects does not listen; leave {port} out")),
            (Some(remote), None) => {
                // The command line gives it without a name.
                let key = if naming == Naming::CommandLine { String::new() } else { connect + " " };
                let remote = server(remote, address).map_err(|error| key + &error)?;
                let start = self.start.unwrap_or_default();
                Ok(Action::Connect { remote, role, connections: self.connections.unwrap_or(1), start })
            }
            (None, Some(_)) if self.start.is_some() => {
                Err(format!("{start}: a host that listens does so from the start; leave it out"))
            }
            (None, Some(number)) => match u16::try_from(number) {
                Ok(port @ 1..) => Ok(Action::Listen { port, role, connections: self.connections }),
                _ => Err(format!("{port}: {number} is not a port; give 1 to 65535")),
            },
            (None, None) => Err(format!("{port}: is missing; give a port from 1 to 65535, or {connect} a server")),
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
        return Err(format!("{remote}: 0 is not a port; give 1 to 65535"));
    }
    if to.ip() == own {
        return Err(format!("{remote}: is the address of this host itself; name another host"));
    }
    if to.ip().is_unspecified() || to.ip().is_multicast() {
        return Err(format!("{remote}: is not the address of one host; write for example 10.9.0.1:5001"));
    }
    Ok(to)
}
