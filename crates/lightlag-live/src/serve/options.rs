//! The options of a host, from the command line or a file, which become a [`HostPlan`].

use super::{HostPlan, HostTask, Pause, PayloadSource, Role, TestRequest};
use lightlag_core::{Bytes, Duration};
use lightlag_host::{FastOpen, HostConfig, Limits, SendBuffer};
use lightlag_tcp::Options;
use serde::Deserialize;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

/// Options of one host.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostOptions {
    /// Node of the host; by default the end of the scenario's first flow.
    #[serde(default)]
    pub node: Option<String>,
    /// IP address of the host.
    #[serde(default)]
    pub address: Option<String>,
    /// TCP options of the host.
    #[serde(default)]
    pub tcp: Options,
    /// Port to listen on.
    #[serde(default)]
    pub port: Option<i64>,
    /// Address and port of a server to connect to, instead of listening.
    #[serde(default)]
    pub connect: Option<String>,
    /// Time of the first connection, since the start of the emulation.
    #[serde(default)]
    pub start: Option<Duration>,
    /// Number of connections that the host serves or opens.
    #[serde(default)]
    pub connections: Option<u64>,
    /// Maximum number of open connections. Default 1024.
    #[serde(default)]
    pub max_connections: Option<usize>,
    /// Maximum memory for the buffers of all connections. Default 1 GB.
    #[serde(default)]
    pub max_memory: Option<Bytes>,
    /// Maximum time that the peer's window may stay closed before the connection is reset. Default 120 s.
    #[serde(default)]
    pub stall_timeout: Option<Duration>,
    /// Application of each connection. By default it sends the configured data, or discards received data if there is
    /// none to send.
    #[serde(default)]
    pub role: Option<RoleName>,
    /// Number of bytes to send.
    #[serde(default)]
    pub send: Option<Bytes>,
    /// File to send.
    #[serde(default)]
    pub file: Option<PathBuf>,
    /// Directory of the files to serve.
    #[serde(default)]
    pub http: Option<PathBuf>,
    /// Duration of an iperf3 test, for a client. Default 10 s.
    #[serde(default)]
    pub time: Option<Duration>,
    /// Whether the server of an iperf3 test sends.
    #[serde(default)]
    pub reverse: bool,
    /// A pause during which the application does not read.
    #[serde(default)]
    pub pause: Option<Pause>,
    /// Mode of TCP Fast Open, data in a SYN (RFC 7413): cookie or no-cookie.
    #[serde(default)]
    pub fast_open: Option<String>,
}

/// The name of a connection's application.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RoleName {
    /// Reads and discards.
    Sink,
    /// Sends everything back.
    Echo,
    /// Sends bytes or a file.
    Send,
    /// Answers requests for files.
    Http,
    /// Acts as an iperf3 server, or as an iperf3 client if the host connects.
    Iperf,
}

/// The names of settings in messages: options of the command line, or keys of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Naming {
    /// As an option, such as `--port`.
    CommandLine,
    /// As a key of the host with this index, such as `hosts[1].port`.
    File(usize),
}

impl Naming {
    /// Returns the name by which messages refer to a key, such as `tcp.mss`.
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

/// Default of `--max-connections`: a typical limit on open files, which limits the connections of a server on Linux.
const CONNECTIONS: usize = 1024;

/// Maximum number of connections in TIME-WAIT: `tcp_max_tw_buckets` of a small Linux machine.
const TIME_WAIT: usize = 4096;

/// Default and minimum of `--max-memory`. The minimum suffices for one connection with full buffers.
const MEMORY: Bytes = Bytes(1_000_000_000);
const LEAST_MEMORY: Bytes = Bytes(16_000_000);

/// Default of `--stall-timeout`.
const STALL: Duration = Duration::from_secs(120);

/// Maximum time without progress; then a connection of a host at its limit may be replaced by a new one.
const IDLE: Duration = Duration::from_secs(60);

/// Default (as in iperf3) and maximum of `--time`.
const TEST: Duration = Duration::from_secs(10);
const LONGEST_TEST: Duration = Duration::from_secs(86_400);

impl HostOptions {
    /// Parses one host of a file.
    ///
    /// # Errors
    /// One line that names the key, its value and a fix.
    pub(crate) fn of_json(json: &serde_json::Value, naming: Naming) -> Result<Self, String> {
        serde_path_to_error::deserialize(json).map_err(|error| match error.path().to_string().as_str() {
            "." => format!("{}: {}", naming.of("").trim_end_matches('.'), error.inner()),
            path => format!("{}: {}", naming.of(path), error.inner()),
        })
    }

    /// Returns the host that the options describe.
    ///
    /// # Errors
    /// One line that names the key, its value and a fix.
    pub(crate) fn resolve(&self, naming: Naming, mtu: u16, seed: u64) -> Result<HostPlan, String> {
        let key = naming.of("address");
        let text = self.address.as_ref().ok_or_else(|| format!("{key}: is missing; write one such as 10.9.0.2"))?;
        let address: IpAddr =
            text.parse().map_err(|_| format!("{key} {text:?}: is not an IP address; write one such as 10.9.0.2"))?;
        if address.is_unspecified() || address.is_multicast() {
            return Err(format!("{key} {address}: a host needs its own address, such as 10.9.0.2"));
        }
        let set = |key: &str| naming.of(&format!("tcp.{key}"));
        let tcp = self.tcp.resolve().map_err(|error| format!("{}: {}", set(&error.key), error.message))?;
        if tcp.awaits_path() {
            return Err(format!(
                "{}: a host has no path as a source of the value; write rtt, rto, bdp or rate",
                set("route")
            ));
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

    fn action(&self, address: IpAddr, naming: Naming) -> Result<HostTask, String> {
        let role = self.role(naming)?;
        let (connect, port, start) = (naming.of("connect"), naming.of("port"), naming.of("start"));
        match (&self.connect, self.port) {
            (Some(_), Some(_)) => Err(format!("{connect}: a host that connects does not listen; remove {port}")),
            (Some(remote), None) => {
                // The command line gives it without a name.
                let key = if naming == Naming::CommandLine { String::new() } else { connect + " " };
                let remote = server(remote, address).map_err(|error| key + &error)?;
                let start = self.start.unwrap_or_default();
                Ok(HostTask::Connect { remote, role, connections: self.connections.unwrap_or(1), start })
            }
            (None, Some(_)) if self.start.is_some() => {
                Err(format!("{start}: a host that listens does so from the start; remove it"))
            }
            (None, Some(number)) => match u16::try_from(number) {
                Ok(port @ 1..) => Ok(HostTask::Listen { port, role, connections: self.connections }),
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
                return Err(format!("{}: only an iperf3 client has it; remove it", naming.of(key)));
            }
        }
        Ok(match (role, self.send, &self.file, &self.http) {
            (RoleName::Sink, ..) => Role::Sink,
            (RoleName::Echo, ..) => Role::Echo,
            (RoleName::Iperf, ..) if is_test => Role::Test(self.test(naming)?),
            (RoleName::Iperf, ..) => Role::Iperf,
            (RoleName::Send, Some(bytes), ..) => Role::Send(PayloadSource::Pattern(bytes.0)),
            (RoleName::Send, None, Some(file), _) => {
                let source = PayloadSource::File(file.clone());
                source.open().map_err(|error| format!("{} {error}", naming.of("file")))?;
                Role::Send(source)
            }
            (RoleName::Http, _, _, Some(folder)) if folder.is_dir() => Role::Http(folder.clone()),
            (RoleName::Http, _, _, Some(folder)) => {
                return Err(format!("{} {}: is not a directory", naming.of("http"), folder.display()));
            }
            (RoleName::Send, ..) => {
                return Err(format!("{}: is missing; give the amount of data to send", naming.of("send")));
            }
            (RoleName::Http, ..) => return Err(format!("{}: is missing; name the directory", naming.of("http"))),
        })
    }

    fn test(&self, naming: Naming) -> Result<TestRequest, String> {
        let time = self.time.unwrap_or(TEST);
        if time.is_zero() || time > LONGEST_TEST {
            return Err(format!("{} {time}: is not above 0 s and at most a day", naming.of("time")));
        }
        Ok(TestRequest { time, reverse: self.reverse })
    }
}

/// Returns the send buffer of a host's sockets: the one in its TCP settings, or else one that covers the path, because
/// the kernel's default of 4 MB limits a sender above 160 Mbit/s at 200 ms.
fn send_buffer(host: &HostConfig) -> SendBuffer {
    match host.tcp.send_buffer {
        Some(size) => SendBuffer { initial: size, most: size },
        None => {
            let twice = Bytes(2 * host.tcp.receive_buffer.0.min(64 << 20));
            SendBuffer { most: host.send_buffer.most.max(twice), ..host.send_buffer }
        }
    }
}

/// Parses the address of a server; `own` is the host's own address.
fn server(remote: &str, own: IpAddr) -> Result<SocketAddr, String> {
    let to: SocketAddr =
        remote.parse().map_err(|_| format!("{remote:?}: is not ADDRESS:PORT; write, for example, 10.9.0.1:5001"))?;
    if to.is_ipv4() != own.is_ipv4() {
        return Err(format!("{remote}: has another address family than the host's address {own}"));
    }
    if to.port() == 0 {
        return Err(format!("{remote}: 0 is not a port; give 1 to 65535"));
    }
    if to.ip() == own {
        return Err(format!("{remote}: is the address of this host itself; name another host"));
    }
    if to.ip().is_unspecified() || to.ip().is_multicast() {
        return Err(format!("{remote}: is not the address of one host; write, for example, 10.9.0.1:5001"));
    }
    Ok(to)
}
