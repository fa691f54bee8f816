//! Flows of a scenario: endpoints, amount of data, start and TCP.

use super::setup::SetupSpec;
use super::traffic::{TrafficForm, check, written};
use super::{Beside, Reader, Transport, is_empty, is_plain};
use crate::read::{
    Errors, FromValue, LARGEST, LONGEST, NodeName, Path, TableReader, leaf, not_one_of, refusal_of_name, share_part,
    shown,
};
use lightlag_control::congestion::{Choice, canonical, names};
use lightlag_core::{Bytes, Dscp, Duration, Varied};
use lightlag_quic::Options as QuicOptions;
use lightlag_tcp::Options;
use lightlag_traffic::Traffic;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Maximum value of `count`.
const MOST: u64 = 2_000_000;

/// A connection that carries data from one node to another.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(title = "Flow", deny_unknown_fields, transform = congestion_shorthand)]
pub struct FlowSpec {
    /// Name in results; by default `from->to`. The second and further flows between the same nodes are numbered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Sending node.
    pub from: String,
    /// Receiving node.
    pub to: String,
    /// Transport protocol, `"tcp"`, `"quic"` or `"udp"`; by default `defaults.transport`, and TCP without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<Transport>,
    /// Traffic of the application, such as `{ kind = "constant", rate = "1 Mbit/s" }`; by default it sends all data
    /// immediately.
    #[serde(skip_serializing_if = "Traffic::is_bulk", serialize_with = "written")]
    #[schemars(default, with = "TrafficForm")]
    pub traffic: Arc<Traffic>,
    /// Payload to send; by default the flow sends until the run ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transfer: Option<Bytes>,
    /// Time when the connection is opened; `{ uniform = ["0 s", "1 s"] }` selects it at random for each seed.
    #[schemars(default)]
    pub start: Varied<Duration>,
    /// Reading rate of the receiving application, `{ rate = "100 kB/s" }` or `{ burst = "64 kB", every = "1 s" }`; by
    /// default it reads immediately.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reader: Option<Reader>,
    /// Differentiated services code point of the packets in both directions, `"EF"` or `46`; by default none is set.
    /// Radio media with access classes derive the class from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dscp: Option<Dscp>,
    /// Set-up of the connections before the first request, such as `{ tls = "1.3" }`: name resolution and TLS; by
    /// default `defaults.setup`, and none without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setup: Option<SetupSpec>,
    /// TCP options of this flow at both ends that differ from `defaults.tcp`.
    #[serde(skip_serializing_if = "is_empty")]
    #[schemars(default)]
    pub tcp: Arc<Options>,
    /// TCP options that differ from `tcp` at the end that opens the connection: at `from`, or at `to` if `from` replies
    /// to requests.
    #[serde(skip_serializing_if = "is_empty")]
    #[schemars(default)]
    pub client: Arc<Options>,
    /// TCP options that differ from `tcp` at the end that accepts the connection.
    #[serde(skip_serializing_if = "is_empty")]
    #[schemars(default)]
    pub server: Arc<Options>,
    /// QUIC options of this flow that differ from `defaults.quic`, for `transport = "quic"`.
    #[serde(skip_serializing_if = "is_plain")]
    #[schemars(default)]
    pub quic: Arc<QuicOptions>,
}

/// The flows that a topology generates for each pair of nodes.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, default, transform = congestion_shorthand)]
pub struct FlowTemplate {
    /// Number of flows for each pair of nodes, at least 1.
    pub count: u64,
    /// Transport protocol, `"tcp"`, `"quic"` or `"udp"`; by default `defaults.transport`, and TCP without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<Transport>,
    /// Traffic of the applications, such as `{ kind = "constant", rate = "1 Mbit/s" }`; by default they send all data
    /// immediately.
    #[serde(skip_serializing_if = "Traffic::is_bulk", serialize_with = "written")]
    #[schemars(with = "TrafficForm")]
    pub traffic: Traffic,
    /// Payload of each flow; by default the flows send until the run ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transfer: Option<Bytes>,
    /// Time when the first flow starts; `{ uniform = ["0 s", "1 s"] }` adds a random time to the start of each flow,
    /// selected for each seed.
    pub start: Varied<Duration>,
    /// Time from the start of each flow to the start of the next.
    pub stagger: Duration,
    /// Reading rate of the receiving application, `{ rate = "100 kB/s" }` or `{ burst = "64 kB", every = "1 s" }`; by
    /// default it reads immediately.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reader: Option<Reader>,
    /// Differentiated services code point of the packets in both directions, `"EF"` or `46`; by default none is set.
    /// Radio media with access classes derive the class from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dscp: Option<Dscp>,
    /// Set-up of the connections before the first request, such as `{ tls = "1.3" }`: name resolution and TLS; by
    /// default `defaults.setup`, and none without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setup: Option<SetupSpec>,
    /// TCP options of these flows at both ends that differ from `defaults.tcp`.
    #[serde(skip_serializing_if = "is_empty")]
    pub tcp: Options,
    /// TCP options that differ from `tcp` at the end that opens the connection: at `from`, or at `to` if `from` replies
    /// to requests.
    #[serde(skip_serializing_if = "is_empty")]
    pub client: Options,
    /// TCP options that differ from `tcp` at the end that accepts the connection.
    #[serde(skip_serializing_if = "is_empty")]
    pub server: Options,
    /// QUIC options of these flows that differ from `defaults.quic`, for `transport = "quic"`.
    #[serde(skip_serializing_if = "is_plain")]
    pub quic: QuicOptions,
}

impl Default for FlowTemplate {
    fn default() -> Self {
        Self {
            count: 1,
            transport: None,
            traffic: Traffic::default(),
            transfer: None,
            start: Varied::default(),
            stagger: Duration::ZERO,
            reader: None,
            dscp: None,
            setup: None,
            tcp: Options::default(),
            client: Options::default(),
            server: Options::default(),
            quic: QuicOptions::default(),
        }
    }
}

/// Adds the shorthand to the schema: `congestion` next to `tcp` stands for `tcp.congestion`.
fn congestion_shorthand(schema: &mut Schema) {
    let choice = json!({ "$ref": "#/$defs/Choice", "description": "Short form of `tcp.congestion`." });
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.insert("congestion".to_owned(), choice);
    }
}

impl FromValue for FlowSpec {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let mut table = TableReader::open(value, path, "a table with from and to", errors)?;
        let name = table.optional::<FlowName>("name", errors).map(|name| name.0);
        let from = table.required::<NodeName>("from", "name the node that sends", errors);
        let to = table.required::<NodeName>("to", "name the node that receives", errors);
        let transfer = transfer(&mut table, errors);
        let start = table.optional("start", errors).unwrap_or_default();
        let reader = table.optional("reader", errors);
        let dscp = table.optional("dscp", errors);
        let setup = table.optional("setup", errors);
        let [tcp, client, server] = options(&mut table, path, errors);
        let quic = table.optional("quic", errors).unwrap_or_default();
        let beside = Beside::of([&tcp, &client, &server], &quic, transfer, reader);
        let (transport, traffic) = traffic(&mut table, path, beside, errors);
        table.finish(errors);
        SetupSpec::check(setup.as_ref(), &traffic, path, errors);
        let (from, to) = (from?.0, to?.0);
        let (traffic, [tcp, client, server]) = (Arc::new(traffic), [tcp, client, server].map(Arc::new));
        let quic = Arc::new(quic);
        let flow = Self {
            name,
            from,
            to,
            transport,
            traffic,
            transfer,
            start,
            reader,
            dscp,
            setup,
            tcp,
            client,
            server,
            quic,
        };
        (errors.len() == before).then_some(flow)
    }

    fn share(&mut self, earlier: &[Self]) {
        share_part(&mut self.traffic, earlier.iter().map(|flow| &flow.traffic));
        share_part(&mut self.tcp, earlier.iter().map(|flow| &flow.tcp));
        share_part(&mut self.client, earlier.iter().map(|flow| &flow.client));
        share_part(&mut self.server, earlier.iter().map(|flow| &flow.server));
        share_part(&mut self.quic, earlier.iter().map(|flow| &flow.quic));
    }
}

impl FromValue for FlowTemplate {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let mut table = TableReader::open(value, path, "a table with transfer, start, stagger, count and tcp", errors)?;
        let count = table.optional("count", errors).unwrap_or(1);
        if count == 0 || count > MOST {
            errors.push(Path::Key(path, "count"), format!("{count} is not a number of flows from 1 to {MOST}"));
        }
        let transfer = transfer(&mut table, errors);
        let reader: Option<Reader> = table.optional("reader", errors);
        let [tcp, client, server] = options(&mut table, path, errors);
        let quic = table.optional("quic", errors).unwrap_or_default();
        let beside = Beside::of([&tcp, &client, &server], &quic, transfer, reader);
        let (transport, traffic) = traffic(&mut table, path, beside, errors);
        let template = Self {
            count,
            transport,
            traffic,
            transfer,
            start: table.optional("start", errors).unwrap_or_default(),
            stagger: table.optional("stagger", errors).unwrap_or_default(),
            reader,
            dscp: table.optional("dscp", errors),
            setup: table.optional("setup", errors),
            tcp,
            client,
            server,
            quic,
        };
        table.finish(errors);
        SetupSpec::check(template.setup.as_ref(), &template.traffic, path, errors);
        Some(template)
    }
}

struct FlowName(String);

impl FromValue for FlowName {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let name = String::read(value, path, errors)?;
        // A flow may be called after its nodes, "a->b".
        match refusal_of_name(&name.replace("->", "-")) {
            Some(reason) => {
                errors.push(path, format!("{} is not a valid flow name: {reason}", shown(value)));
                None
            }
            None => Some(Self(name)),
        }
    }
}

fn transfer(table: &mut TableReader, errors: &mut Errors) -> Option<Bytes> {
    table.optional::<Transfer>("transfer", errors).map(|transfer| transfer.0)
}

struct Transfer(Bytes);

impl FromValue for Transfer {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let bytes: Bytes = leaf(value, path, errors)?;
        let reason = match bytes {
            Bytes(0) => "sends nothing; write a size such as \"20 MB\", or omit it to send until the run ends",
            larger if larger > LARGEST => "is above 1000 TB; omit it to send until the run ends",
            _ => return Some(Self(bytes)),
        };
        errors.push(path, format!("{} {reason}", shown(value)));
        None
    }
}

/// Reads the traffic and the transport.
fn traffic(table: &mut TableReader, path: &Path, beside: Beside, errors: &mut Errors) -> (Option<Transport>, Traffic) {
    let before = errors.len();
    let transport: Option<Transport> = table.optional("transport", errors);
    let traffic: Traffic = table.optional("traffic", errors).unwrap_or_default();
    if errors.len() == before {
        check(&traffic, transport.unwrap_or_default(), path, beside, errors);
    }
    (transport, traffic)
}

/// Returns the tables `tcp`, `client` and `server` of a flow, with the shorthand `congestion` for `tcp.congestion`.
fn options(table: &mut TableReader, path: &Path, errors: &mut Errors) -> [Options; 3] {
    let [mut tcp, client, server]: [Options; 3] =
        ["tcp", "client", "server"].map(|key| table.optional(key, errors).unwrap_or_default());
    if let Some(congestion) = table.value("congestion") {
        let key_path = Path::Key(path, "congestion");
        if tcp.congestion.is_some() {
            errors.push(key_path, "is duplicated: it is set here and in tcp; remove one");
        } else {
            tcp.congestion = Choice::read(congestion, &key_path, errors);
        }
    }
    [tcp, client, server]
}

impl FromValue for Choice {
    /// Reads a name or a table. Each parameter is first read separately, so that all errors are found.
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let (name, key_path) = (value.get("algorithm").unwrap_or(value), Path::Key(path, "algorithm"));
        if let Value::String(name) = name
            && canonical(name).is_none()
        {
            let place = if value.is_string() { path } else { &key_path };
            errors.push(place, not_one_of(name, "a congestion control", &names()));
            return None;
        }
        let before = errors.len();
        for (key, parameter) in value.as_object().into_iter().flatten().filter(|(key, _)| *key != "algorithm") {
            let single = json!({ "algorithm": name, key: parameter });
            let mut value_errors = Errors::default();
            if name.is_string() && leaf::<Self>(&single, path, &mut value_errors).is_none() {
                let parameter_path = Path::Key(path, key);
                let prefix = format!("{key}: ");
                value_errors
                    .messages()
                    .for_each(|message| errors.push(parameter_path, message.trim_start_matches(&prefix)));
            }
        }
        if errors.len() > before { None } else { leaf(value, path, errors) }
    }
}

fn single(key: &str, value: Value) -> Value {
    Value::Object(Map::from_iter([(key.to_owned(), value)]))
}

/// A table of options of a transport, in which every key is optional.
trait OptionTable: DeserializeOwned + Default {
    /// An example of such a table.
    const EXAMPLE: &str = "{ congestion = \"cubic\" }";

    /// Returns these options, overridden by those set in `over`.
    fn joined(&self, over: &Self) -> Self;

    /// Returns options with a congestion control.
    fn with_congestion(congestion: Choice) -> Self;
}

impl OptionTable for Options {
    fn joined(&self, over: &Self) -> Self {
        self.merge(over)
    }

    fn with_congestion(congestion: Choice) -> Self {
        Self { congestion: Some(congestion), ..Self::default() }
    }
}

impl OptionTable for QuicOptions {
    fn joined(&self, over: &Self) -> Self {
        self.merge(over)
    }

    fn with_congestion(congestion: Choice) -> Self {
        Self { congestion: Some(congestion), ..Self::default() }
    }
}

/// Reads a key whose value is a table. An invalid entry is reported and removed, so that errors in the other entries
/// are found as well.
fn nested<T: OptionTable>(
    key: &str,
    mut entries: Map<String, Value>,
    key_path: &Path,
    errors: &mut Errors,
) -> Option<T> {
    let prefix = format!("{key_path}.{key}.");
    let mut is_whole = true;
    loop {
        let mut nested_errors = Errors::default();
        let read = leaf::<T>(&single(key, Value::Object(entries.clone())), key_path, &mut nested_errors);
        let Err(refused) = nested_errors.or::<()>(None) else { return None };
        let Some(error) = refused.into_iter().next() else { return read.filter(|_| is_whole) };
        let wrong = error.path.strip_prefix(&prefix).and_then(|path| path.split(['.', '[']).next()).map(str::to_owned);
        let is_entry = wrong.as_ref().is_some_and(|wrong| entries.remove(wrong).is_some());
        // What is missing once an entry was taken out may be that entry.
        if is_entry || is_whole {
            errors.push(error.path, error.message);
        }
        if !is_entry {
            return None;
        }
        is_whole = false;
    }
}

/// Reads each key of a table of options separately, so that all errors are found.
fn read_options<T: OptionTable>(value: &Value, path: &Path, errors: &mut Errors) -> Option<T> {
    let Value::Object(entries) = value else {
        errors.push(path, format!("{} is not a table, such as {}", shown(value), T::EXAMPLE));
        return None;
    };
    let read = |(key, value): (&String, &Value)| {
        if key == "congestion" {
            return Choice::read(value, &Path::Key(path, key), errors).map(T::with_congestion);
        }
        match value {
            Value::Object(entries) => nested(key, entries.clone(), path, errors),
            value => leaf::<T>(&single(key, value.clone()), path, errors),
        }
    };
    let given = entries.iter().filter(|(_, value)| !value.is_null());
    Some(given.filter_map(read).fold(T::default(), |options, one| options.joined(&one)))
}

impl FromValue for Options {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let options: Self = read_options(value, path, errors)?;
        let floor = options.rto.and_then(|rto| rto.variance_floor);
        if floor.is_some_and(|floor| floor > LONGEST) {
            errors.push(format_args!("{path}.rto.variance_floor"), "is above 480 h, the maximum time in a scenario");
        }
        Some(options)
    }
}

impl FromValue for QuicOptions {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        read_options(value, path, errors)
    }
}

impl FromValue for Vec<Choice> {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        match value.as_array() {
            Some(items) if !items.is_empty() => {
                let read = |(index, item)| Choice::read(item, &Path::Index(path, index), errors);
                Some(items.iter().enumerate().filter_map(read).collect())
            }
            _ => {
                let actual = if value.is_array() { "an empty list".to_owned() } else { shown(value) };
                errors
                    .push(path, format!("{actual} is not a list of congestion controls, such as [\"cubic\", \"bbr\"]"));
                None
            }
        }
    }
}
