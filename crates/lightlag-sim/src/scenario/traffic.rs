//! What applications send, and by which transport, as asked for.

use super::error::{Errors, Path, not_one_of};
use super::reader::{FromValue, Table, leaf, shown};
use super::varied::Varied;
use lightlag_core::{Bytes, Duration, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How the bytes of a flow travel.
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
    pub(super) fn is_tcp(&self) -> bool {
        *self == Self::Tcp
    }
}

impl FromValue for Transport {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        leaf(value, at, errors)
    }
}

/// What the application at the begin of a flow sends, and when.
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
    /// Transfers that arrive at random times, each a flow of its own.
    Transfers(Transfers),
    /// Request and response, again and again, over one connection.
    Requests(Requests),
    /// Pages of several objects over several connections.
    Web(Web),
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
    /// How long it is on each time; the flow starts with that.
    pub on: Varied<Duration>,
    /// How long it is off each time.
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

/// Request and response. The client is at the end of the flow and the server at its begin, where the data comes from.
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

/// Pages. The browser is at the end of the flow and the server at its begin, where the data comes from.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Web {
    /// Bytes of the first object, which names the others.
    pub html: Varied<Bytes>,
    /// How many others there are.
    pub objects: Varied<u64>,
    /// Bytes of each of them.
    pub object: Varied<Bytes>,
    /// How objects share connections.
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

/// How the objects of a page share connections.
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

fn default_request() -> Varied<Bytes> {
    Varied::constant(Bytes(300))
}

fn default_connections() -> u64 {
    6
}

/// The most connections of a browser.
const MOST_CONNECTIONS: u64 = 64;

/// The most transfers as a share of a link.
const MOST_LOAD: f64 = 100.0;
/// The most messages of one burst: they all leave in one moment.
const MOST_TOGETHER: u64 = 1_000_000;
/// The largest message of UDP, which becomes datagrams in one moment.
pub(crate) const LARGEST_MESSAGE: Bytes = Bytes(10_000_000);

const KINDS: [&str; 9] = ["bulk", "constant", "on_off", "periodic", "poisson", "burst", "transfers", "requests", "web"];

impl Traffic {
    pub(crate) fn is_bulk(&self) -> bool {
        *self == Self::Bulk
    }

    /// Whether the application has an end of its own, beside a transfer.
    pub(crate) fn ends(&self) -> bool {
        match self {
            Self::Bulk | Self::Transfers(_) => false,
            Self::Requests(Requests { count, stop, .. }) | Self::Web(Web { count, stop, .. }) => {
                count.is_some() || stop.is_some()
            }
            Self::Constant(Constant { stop, .. }) | Self::OnOff(OnOff { stop, .. }) => stop.is_some(),
            Self::Periodic(Periodic { count, stop, .. }) | Self::Poisson(Poisson { count, stop, .. }) => {
                count.is_some() || stop.is_some()
            }
            Self::Burst(Burst { every, count, stop, .. }) => every.is_none() || count.is_some() || stop.is_some(),
        }
    }

    /// Whether its application writes messages in the course of time.
    pub(crate) fn has_messages(&self) -> bool {
        match self {
            Self::Constant(_) | Self::OnOff(_) | Self::Periodic(_) | Self::Poisson(_) | Self::Burst(_) => true,
            Self::Bulk | Self::Transfers(_) | Self::Requests(_) | Self::Web(_) => false,
        }
    }

    /// Whether a client asks and a server answers. Then the client opens the connection.
    pub(crate) fn is_dialogue(&self) -> bool {
        matches!(self, Self::Requests(_) | Self::Web(_))
    }

    /// How many connections a flow of it is.
    pub(super) fn connections(&self) -> u64 {
        if let Self::Web(web) = self { web.connections } else { 1 }
    }

    /// Refuses keys of a connection that stand beside it in vain.
    fn check_beside(&self, at: &Path, beside: Beside, errors: &mut Errors) {
        if beside.transfer && matches!(self, Self::Transfers(_) | Self::Requests(_) | Self::Web(_)) {
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
            Self::Bulk | Self::Transfers(_) | Self::Requests(_) | Self::Web(_) => Bytes::ZERO,
        }
    }

    /// Refuses what a transport cannot carry, and keys that stand beside it in vain.
    pub(super) fn check(&self, transport: Transport, at: &Path, beside: Beside, errors: &mut Errors) {
        let traffic = Path::Key(at, "traffic");
        if transport == Transport::Tcp {
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
        if beside.reader {
            let message = "stands beside transport = \"udp\", which has no receive window; leave it out";
            errors.push(Path::Key(at, "reader"), message);
        }
    }
}

/// Which keys a flow has beside its traffic.
#[derive(Clone, Copy)]
pub(super) struct Beside {
    pub(super) transfer: bool,
    pub(super) congestion: bool,
    pub(super) reader: bool,
}

impl FromValue for Traffic {
    const IS_TABLE: bool = true;

    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let what = "a table such as { kind = \"constant\", rate = \"1 Mbit/s\" }";
        let mut table = Table::open(value, at, what, errors)?;
        let remedy = format!("write one of {}", KINDS.join(", "));
        let kind: String = table.required("kind", &remedy, errors)?;
        let read = match kind.as_str() {
            "bulk" => Some(Self::Bulk),
            "constant" => constant(&mut table, errors).map(Self::Constant),
            "on_off" => on_off(&mut table, errors).map(Self::OnOff),
            "periodic" => periodic(&mut table, errors).map(Self::Periodic),
            "poisson" => poisson(&mut table, errors).map(Self::Poisson),
            "burst" => burst(&mut table, errors).map(Self::Burst),
            "transfers" => transfers(&mut table, errors).map(Self::Transfers),
            "requests" => requests(&mut table, errors).map(Self::Requests),
            "web" => web(&mut table, errors).map(Self::Web),
            other => {
                errors.push(Path::Key(at, "kind"), not_one_of(other, "a kind of traffic", &KINDS));
                return None;
            }
        };
        table.finish(errors);
        read.filter(|_| errors.len() == before)
    }
}

/// Rate and size of a stream.
fn rate_and_size(table: &mut Table, errors: &mut Errors) -> (Option<Rate>, Option<Bytes>) {
    let rate = table.required("rate", "say how much is sent in a second, such as \"1 Mbit/s\"", errors);
    let size: Option<Varied<Bytes>> = match table.value("size") {
        None => Some(Varied::constant(default_size())),
        Some(value) if value.is_object() => {
            errors.push(table.path("size"), "is a table; messages at a constant rate have one size");
            None
        }
        Some(value) => Varied::read(value, &table.path("size"), errors),
    };
    (rate, size.map(|size| size.largest()))
}

fn constant(table: &mut Table, errors: &mut Errors) -> Option<Constant> {
    let (rate, size) = rate_and_size(table, errors);
    let stop = stop(table, errors);
    Some(Constant { rate: rate?, size: size?, stop })
}

fn on_off(table: &mut Table, errors: &mut Errors) -> Option<OnOff> {
    let (rate, size) = rate_and_size(table, errors);
    let remedy = "say how long that lasts each time, \"1 s\" or { distribution = \"exponential\", mean = \"1 s\" }";
    let [on, off] = ["on", "off"].map(|key| {
        let time = table.required(key, remedy, errors);
        lasting(time, &table.path(key), errors)
    });
    let stop = stop(table, errors);
    Some(OnOff { rate: rate?, size: size?, on: on?, off: off?, stop })
}

fn periodic(table: &mut Table, errors: &mut Errors) -> Option<Periodic> {
    let (size, every) = size_and_every(table, errors);
    let (first, count, stop) = (table.optional("first", errors), count(table, errors), stop(table, errors));
    Some(Periodic { size: size?, every: every?, first, count, stop })
}

fn poisson(table: &mut Table, errors: &mut Errors) -> Option<Poisson> {
    let (size, every) = size_and_every(table, errors);
    let (first, count, stop) = (table.optional("first", errors), count(table, errors), stop(table, errors));
    Some(Poisson { size: size?, every: every?, first, count, stop })
}

fn burst(table: &mut Table, errors: &mut Errors) -> Option<Burst> {
    let size = message_size(table, errors);
    let messages = table.required_value("messages", "say how many messages a burst has", errors);
    let messages = messages.and_then(|value| {
        let number = value.as_u64().filter(|number| (1..=MOST_TOGETHER).contains(number));
        if number.is_none() {
            let message = format!("{} is not a whole number from 1 to {MOST_TOGETHER}", shown(value));
            errors.push(table.path("messages"), message);
        }
        number
    });
    let every = table.optional("every", errors);
    let every = every.and_then(|every| lasting(Some(every), &table.path("every"), errors));
    let (first, count, stop) = (table.optional("first", errors), count(table, errors), stop(table, errors));
    if count.is_some_and(|count| count > 1) && every.is_none() && !errors.any_at(&table.path("every")) {
        errors.push(table.path("every"), "is missing; say how long it is from one burst to the next");
    }
    Some(Burst { size: size?, messages: messages?, every, first, count, stop })
}

fn transfers(table: &mut Table, errors: &mut Errors) -> Option<Transfers> {
    let before = errors.len();
    let size = table.required("size", "say how long a transfer is, such as \"100 kB\"", errors);
    let every: Option<Duration> = table.optional("every", errors);
    if every == Some(Duration::ZERO) {
        errors.push(table.path("every"), "0 s between transfers never ends; write a time such as \"1 s\"");
    }
    let load = table.value("load").and_then(|value| {
        let load = value.as_f64().filter(|load| *load > 0.0 && *load <= MOST_LOAD);
        if load.is_none() {
            let message =
                format!("{} is not a share of a link above 0, up to {MOST_LOAD}; write one such as 0.5", shown(value));
            errors.push(table.path("load"), message);
        }
        load
    });
    match (every, load) {
        (None, None) if errors.len() == before => {
            errors.push(table.path("every"), "is missing; say how often transfers arrive, with every or load");
        }
        (Some(_), Some(_)) => errors.push(table.path("load"), "stands beside every, from which it follows; keep one"),
        _ => {}
    }
    let (count, stop) = (count(table, errors), stop(table, errors));
    Some(Transfers { size: size?, every, load, count, stop })
}

fn requests(table: &mut Table, errors: &mut Errors) -> Option<Requests> {
    let response = table.required("response", "say how long a response is, such as \"10 kB\"", errors);
    let request = table.optional("request", errors).unwrap_or_else(default_request);
    let (server_time, think) = (table.optional("server_time", errors), table.optional("think", errors));
    let (count, stop) = (count(table, errors), stop(table, errors));
    Some(Requests { response: response?, request, server_time, think, count, stop })
}

fn web(table: &mut Table, errors: &mut Errors) -> Option<Web> {
    let html = table.required("html", "say how long the first object is, such as \"30 kB\"", errors);
    let objects = table.required("objects", "say how many objects a page has beside the first, such as 20", errors);
    let object = table.required("object", "say how long these objects are, such as \"20 kB\"", errors);
    let http = table.optional("http", errors).unwrap_or_default();
    let most = if http == Http::Two { 1 } else { MOST_CONNECTIONS };
    let connections = match table.value("connections") {
        None => default_connections().min(most),
        Some(value) => {
            let number = value.as_u64().filter(|number| (1..=most).contains(number));
            if number.is_none() {
                let message = match http {
                    Http::One => format!("{} is not a whole number from 1 to {most}", shown(value)),
                    Http::Two => format!("{} is not 1, all that HTTP/2 uses; leave it out", shown(value)),
                };
                errors.push(table.path("connections"), message);
            }
            number.unwrap_or(1)
        }
    };
    let request = table.optional("request", errors).unwrap_or_else(default_request);
    let (server_time, think) = (table.optional("server_time", errors), table.optional("think", errors));
    let (count, stop) = (count(table, errors), stop(table, errors));
    let (html, objects, object) = (html?, objects?, object?);
    Some(Web { html, objects, object, http, connections, request, server_time, think, count, stop })
}

fn message_size(table: &mut Table, errors: &mut Errors) -> Option<Varied<Bytes>> {
    table.required("size", "say how long a message is, such as \"100 B\"", errors)
}

fn size_and_every(table: &mut Table, errors: &mut Errors) -> (Option<Varied<Bytes>>, Option<Duration>) {
    let size = message_size(table, errors);
    let every: Option<Duration> =
        table.required("every", "say how long it is between messages, such as \"1 s\"", errors);
    if every == Some(Duration::ZERO) {
        errors.push(table.path("every"), "0 s between messages never ends; write a time such as \"1 s\"");
    }
    (size, every)
}

/// Refuses times that pass without time passing.
fn lasting(time: Option<Varied<Duration>>, at: &Path, errors: &mut Errors) -> Option<Varied<Duration>> {
    const LEAST_MEAN: f64 = 1000.0;
    let time = time?;
    if time.law().mean() < LEAST_MEAN {
        errors.push(at, "is shorter than 1 us on average; write a longer time such as \"1 s\"");
        return None;
    }
    Some(time)
}

fn count(table: &mut Table, errors: &mut Errors) -> Option<u64> {
    let count: Option<u64> = table.optional("count", errors);
    if count == Some(0) {
        errors.push(table.path("count"), "0 sends nothing; write how many there are, or leave it out");
    }
    count
}

fn stop(table: &mut Table, errors: &mut Errors) -> Option<Duration> {
    let stop: Option<Duration> = table.optional("stop", errors);
    if stop == Some(Duration::ZERO) {
        errors.push(table.path("stop"), "0 s is the begin of the run: nothing is sent; write a later time");
    }
    stop
}
