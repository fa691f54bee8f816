//! Traffic of applications and its transport, as asked for.

pub mod own;
mod read;

use super::{Reader, Varied, is_empty};
use crate::read::{Errors, FromValue, Path, leaf};
use lightlag_core::{Bytes, Duration, Rate};
use lightlag_tcp::Options;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use own::OwnTraffic;

/// Transport of a flow's bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// By a connection of TCP.
    #[default]
    Tcp,
    /// By datagrams of UDP (RFC 768): what is lost stays lost.
    Udp,
}

impl Transport {
    /// Returns true if its flows have connections, which deliver every byte.
    pub fn has_connections(self) -> bool {
        self != Self::Udp
    }

    pub(crate) fn is_tcp(&self) -> bool {
        *self == Self::Tcp
    }
}

impl FromValue for Transport {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        leaf(value, at, errors)
    }
}

/// The kinds of traffic of lightlag.
const KINDS: [&str; 10] =
    ["bulk", "constant", "on_off", "periodic", "poisson", "burst", "collect", "transfers", "requests", "web"];

/// Traffic of the application at the start of a flow.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Traffic {
    /// Everything at once: `transfer`, or without end. This is the default.
    #[default]
    Bulk,
    /// A constant rate.
    Constant(Constant),
    /// A constant rate now and then.
    OnOff(OnOff),
    /// A message in so much time.
    Periodic(Periodic),
    /// Messages at random times, independent of each other.
    Poisson(Poisson),
    /// Many messages at once.
    Burst(Burst),
    /// The messages that come to the node by UDP.
    Collect(Collect),
    /// Transfers that arrive at random times, each a flow of its own.
    Transfers(Transfers),
    /// Request and response, again and again, over one connection.
    Requests(Requests),
    /// Pages of several objects over several connections.
    Web(Web),
    /// Messages of an application from outside.
    #[serde(untagged)]
    Own(OwnTraffic),
}

/// A constant rate: equal messages at equal distances.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Constant {
    /// Payload in so much time.
    pub rate: Rate,
    /// Bytes of each message.
    #[schemars(default = "default_size")]
    pub size: Bytes,
    /// Nothing is sent from this time of the run on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
}

/// A constant rate while it is on.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct OnOff {
    /// Payload in so much time while it is on.
    pub rate: Rate,
    /// Bytes of each message.
    #[schemars(default = "default_size")]
    pub size: Bytes,
    /// Duration of each time for which it is on; the flow starts with one.
    pub on: Varied<Duration>,
    /// Duration of each time for which it is off.
    pub off: Varied<Duration>,
    /// Nothing is sent from this time of the run on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
}

/// A message in so much time.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Periodic {
    /// Bytes of a message.
    pub size: Varied<Bytes>,
    /// From one to the next.
    pub every: Duration,
    /// From the start to the first; without it there is no time between.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<Varied<Duration>>,
    /// So many messages; without it they go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Nothing is sent from this time of the run on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
}

/// Messages at random times: the gaps between them are exponential.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Poisson {
    /// Bytes of a message.
    pub size: Varied<Bytes>,
    /// From one to the next, on average.
    pub every: Duration,
    /// From the start to the first; without it that is drawn like the gaps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<Varied<Duration>>,
    /// So many messages; without it they go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Nothing is sent from this time of the run on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
}

/// Many messages at once, such as an alarm.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Burst {
    /// Bytes of a message.
    pub size: Varied<Bytes>,
    /// Messages of a burst.
    pub messages: u64,
    /// From one burst to the next; without it there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<Varied<Duration>>,
    /// From the start to the first burst; without it there is no time between.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<Varied<Duration>>,
    /// So many bursts; without it they go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Nothing is sent from this time of the run on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
}

/// A sink: it writes every message into the connection that comes to its node by UDP.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Collect {
    /// The most bytes that it keeps until the far end has acknowledged them. A message that does not fit is dropped.
    #[schemars(default = "default_buffer")]
    pub buffer: Bytes,
}

/// Transfers that arrive independently of each other and of what the network does (an open loop): a Poisson process.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Transfers {
    /// Bytes of each.
    pub size: Varied<Bytes>,
    /// From one to the next, on average; or give the load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<Duration>,
    /// Their payload as a share of the rate of the slowest link on their way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    /// So many; without it they go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// None arrives from this time of the run on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
}

/// Request and response. The client is at the end of the flow and the server at its start, where the data comes from.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Requests {
    /// Bytes of a response.
    pub response: Varied<Bytes>,
    /// Bytes of a request.
    #[schemars(default = "default_request")]
    pub request: Varied<Bytes>,
    /// From the arrival of a request to its response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_time: Option<Varied<Duration>>,
    /// From the last byte of a response to the next request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub think: Option<Varied<Duration>>,
    /// So many requests; without it they go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Nothing is asked for from this time of the run on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
}

/// Pages. The browser is at the end of the flow and the server at its start, where the data comes from.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Web {
    /// Bytes of the first object, which names the others.
    pub html: Varied<Bytes>,
    /// Number of the other objects.
    pub objects: Varied<u64>,
    /// Bytes of each of them.
    pub object: Varied<Bytes>,
    /// Rule by which objects share connections.
    #[schemars(default)]
    pub http: Http,
    /// The most connections at once; always one with HTTP/2.
    #[schemars(default = "default_connections", range(min = 1, max = 64))]
    pub connections: u64,
    /// Bytes of a request.
    #[schemars(default = "default_request")]
    pub request: Varied<Bytes>,
    /// From the arrival of a request to its response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_time: Option<Varied<Duration>>,
    /// From the last byte of a page to the next one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub think: Option<Varied<Duration>>,
    /// So many pages; without it they go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// No page begins from this time of the run on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
}

/// Rule by which the objects of a page share connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum Http {
    /// One object at a time on each of several connections, which stay open (RFC 9112 §9.3).
    #[default]
    #[serde(rename = "1.1")]
    One,
    /// All at once on one connection (RFC 9113); responses leave in the order of their requests.
    #[serde(rename = "2")]
    Two,
}

impl FromValue for Http {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        leaf(value, at, errors)
    }
}

fn default_size() -> Bytes {
    Bytes(1000)
}

fn default_buffer() -> Bytes {
    Bytes(65_536)
}

fn default_request() -> Varied<Bytes> {
    Varied::constant(Bytes(300))
}

fn default_connections() -> u64 {
    6
}

/// The largest message of UDP, which becomes datagrams in one moment.
pub const LARGEST_MESSAGE: Bytes = Bytes(10_000_000);

impl Traffic {
    /// Whether everything is sent at once.
    pub fn is_bulk(&self) -> bool {
        *self == Self::Bulk
    }

    /// Whether the application has an end of its own, beside a transfer.
    pub fn ends(&self) -> bool {
        match self {
            Self::Bulk | Self::Transfers(_) | Self::Collect(_) => false,
            Self::Requests(Requests { count, stop, .. }) | Self::Web(Web { count, stop, .. }) => {
                count.is_some() || stop.is_some()
            }
            Self::Constant(Constant { stop, .. }) | Self::OnOff(OnOff { stop, .. }) => stop.is_some(),
            Self::Periodic(Periodic { count, stop, .. }) | Self::Poisson(Poisson { count, stop, .. }) => {
                count.is_some() || stop.is_some()
            }
            Self::Burst(Burst { every, count, stop, .. }) => every.is_none() || count.is_some() || stop.is_some(),
            // It may end by itself, which is known when it has.
            Self::Own(_) => true,
        }
    }

    /// Whether its application writes messages in the course of time.
    pub fn has_messages(&self) -> bool {
        match self {
            Self::Constant(_)
            | Self::OnOff(_)
            | Self::Periodic(_)
            | Self::Poisson(_)
            | Self::Burst(_)
            | Self::Own(_) => true,
            Self::Bulk | Self::Collect(_) | Self::Transfers(_) | Self::Requests(_) | Self::Web(_) => false,
        }
    }

    /// The most bytes that a sink keeps, if it is one.
    pub fn collects(&self) -> Option<Bytes> {
        if let Self::Collect(Collect { buffer }) = self { Some(*buffer) } else { None }
    }

    /// Whether a client asks and a server answers. Then the client opens the connection.
    pub fn is_dialogue(&self) -> bool {
        matches!(self, Self::Requests(_) | Self::Web(_))
    }

    /// Number of connections of such a flow.
    pub(crate) fn connections(&self) -> u64 {
        if let Self::Web(web) = self { web.connections } else { 1 }
    }

    /// Refuses keys of a connection that stand beside it in vain.
    fn check_beside(&self, at: &Path, beside: Beside, errors: &mut Errors) {
        if beside.transfer && matches!(self, Self::Collect(_) | Self::Transfers(_) | Self::Requests(_) | Self::Web(_)) {
            let message = "stands beside traffic that has sizes of its own; leave it out";
            errors.push(Path::Key(at, "transfer"), message);
        }
        if beside.reader && self.is_dialogue() {
            let message = "stands beside traffic whose client reads at once; leave it out";
            errors.push(Path::Key(at, "reader"), message);
        }
    }

    /// The largest message, if that can be told.
    fn largest(&self) -> Bytes {
        match self {
            Self::Constant(Constant { size, .. }) | Self::OnOff(OnOff { size, .. }) => *size,
            Self::Periodic(Periodic { size, .. })
            | Self::Poisson(Poisson { size, .. })
            | Self::Burst(Burst { size, .. }) => size.largest(),
            Self::Bulk | Self::Collect(_) | Self::Transfers(_) | Self::Requests(_) | Self::Web(_) | Self::Own(_) => {
                Bytes::ZERO
            }
        }
    }

    /// Refuses what a transport cannot carry, and keys that stand beside it in vain.
    pub(crate) fn check(&self, transport: Transport, at: &Path, beside: Beside, errors: &mut Errors) {
        let traffic = Path::Key(at, "traffic");
        if transport.has_connections() {
            return self.check_beside(at, beside, errors);
        }
        if !self.has_messages() && !self.is_bulk() {
            let message =
                "needs connections, so transport = \"tcp\"; by UDP go constant, on_off, periodic, poisson, burst";
            return errors.push(Path::Key(&traffic, "kind"), message);
        }
        if self.is_bulk() {
            let message = "is bulk, which UDP has no rate for; write { kind = \"constant\", rate = \"1 Mbit/s\" }, or \
                           on_off, periodic, poisson, burst";
            errors.push(traffic, message);
        }
        if self.largest() > LARGEST_MESSAGE {
            let message =
                format!("is up to {}, more than {LARGEST_MESSAGE}, the largest message of UDP", self.largest());
            errors.push(Path::Key(&traffic, "size"), message);
        }
        if beside.congestion {
            let message = "stands beside transport = \"udp\", which has no congestion control; leave it out";
            errors.push(Path::Key(at, "congestion"), message);
        }
        if let Some(key) = beside.tcp {
            let message = "stands beside transport = \"udp\", which has no TCP; leave it out";
            errors.push(Path::Key(at, key), message);
        }
        if beside.reader {
            let message = "stands beside transport = \"udp\", which has no receive window; leave it out";
            errors.push(Path::Key(at, "reader"), message);
        }
    }
}

/// Keys that a flow has beside its traffic.
#[derive(Clone, Copy)]
pub(crate) struct Beside {
    pub(crate) transfer: bool,
    pub(crate) congestion: bool,
    pub(crate) reader: bool,
    /// The first table of TCP with another key.
    pub(crate) tcp: Option<&'static str>,
}

impl Beside {
    /// The keys of a flow with these tables `tcp`, `client` and `server`.
    pub(crate) fn of(tables: [&Options; 3], transfer: Option<Bytes>, reader: Option<Reader>) -> Self {
        let [tcp, client, server] = tables;
        let says_more = *tcp != Options { congestion: tcp.congestion.clone(), ..Options::default() };
        let more = [("tcp", says_more), ("client", !is_empty(client)), ("server", !is_empty(server))];
        Self {
            transfer: transfer.is_some(),
            congestion: tcp.congestion.is_some(),
            reader: reader.is_some(),
            tcp: more.into_iter().find(|(_, says)| *says).map(|(key, _)| key),
        }
    }
}
