//! Flows as asked for: who sends how much to whom, from when on, with which TCP.

use super::{Beside, Reader, Traffic, Transport, Varied, is_empty};
use crate::read::{
    Errors, FromValue, LARGEST, LONGEST, NodeName, Path, Table, leaf, not_one_of, refusal_of_name, share_part, shown,
};
use lightlag_control::congestion::{Choice, canonical, names};
use lightlag_core::{Bytes, Dscp, Duration};
use lightlag_tcp::Options;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The most connections that one `count` may ask for.
const MOST: u64 = 2_000_000;

/// One connection that carries data from one node to another.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, transform = congestion_shorthand)]
pub struct FlowSpec {
    /// Name in results; by default `from->to`, numbered from the second on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Node that sends.
    pub from: String,
    /// Node that receives.
    pub to: String,
    /// Transport of its bytes, `"tcp"` or `"udp"`.
    #[serde(skip_serializing_if = "Transport::is_tcp")]
    #[schemars(default)]
    pub transport: Transport,
    /// Traffic of its application, such as `{ kind = "constant", rate = "1 Mbit/s" }`; without it,
    /// everything at once.
    #[serde(skip_serializing_if = "Traffic::is_bulk")]
    #[schemars(default)]
    pub traffic: Arc<Traffic>,
    /// Payload to send; without it the flow sends until the run ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transfer: Option<Bytes>,
    /// When the connection is opened; `{ uniform = ["0 s", "1 s"] }` draws it for each seed.
    #[schemars(default)]
    pub start: Varied<Duration>,
    /// Pace at which the receiving application reads, `{ rate = "100 kB/s" }` or `{ burst = "64 kB", every = "1 s" }`; without
    /// it, at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reader: Option<Reader>,
    /// Code point of differentiated services of its packets, in both directions, `"EF"` or `46`; by default none is set. Radio
    /// media with access classes choose the class by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dscp: Option<Dscp>,
    /// Differences of this flow's TCP from `defaults.tcp`, at both ends.
    #[serde(skip_serializing_if = "is_empty")]
    #[schemars(default)]
    pub tcp: Arc<Options>,
    /// Differences from `tcp` at the end that opens the connection: at `from`, or at `to` where `from` answers requests.
    #[serde(skip_serializing_if = "is_empty")]
    #[schemars(default)]
    pub client: Arc<Options>,
    /// Differences from `tcp` at the end that accepts the connection.
    #[serde(skip_serializing_if = "is_empty")]
    #[schemars(default)]
    pub server: Arc<Options>,
}

/// The flows that a generator makes.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, default, transform = congestion_shorthand)]
pub struct FlowTemplate {
    /// Flows for each pair of nodes, at least 1.
    pub count: u64,
    /// Transport of their bytes, `"tcp"` or `"udp"`.
    #[serde(skip_serializing_if = "Transport::is_tcp")]
    pub transport: Transport,
    /// Traffic of their applications, such as `{ kind = "constant", rate = "1 Mbit/s" }`; without it,
    /// everything at once.
    #[serde(skip_serializing_if = "Traffic::is_bulk")]
    pub traffic: Traffic,
    /// Payload that each sends; without it the flows send until the run ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transfer: Option<Bytes>,
    /// When the first flow starts; `{ uniform = ["0 s", "1 s"] }` draws for each flow and seed what is added to its turn.
    pub start: Varied<Duration>,
    /// Time from the start of each flow to the start of the next.
    pub stagger: Duration,
    /// Pace at which the receiving application reads, `{ rate = "100 kB/s" }` or `{ burst = "64 kB", every = "1 s" }`; without
    /// it, at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reader: Option<Reader>,
    /// Code point of differentiated services of their packets, in both directions, `"EF"` or `46`; by default none is set. Radio
    /// media with access classes choose the class by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dscp: Option<Dscp>,
    /// Differences of the TCP of these flows from `defaults.tcp`, at both ends.
    #[serde(skip_serializing_if = "is_empty")]
    pub tcp: Options,
    /// Differences from `tcp` at the end that opens the connection: at `from`, or at `to` where `from` answers requests.
    #[serde(skip_serializing_if = "is_empty")]
    pub client: Options,
    /// Differences from `tcp` at the end that accepts the connection.
    #[serde(skip_serializing_if = "is_empty")]
    pub server: Options,
}

impl Default for FlowTemplate {
    fn default() -> Self {
        Self {
            count: 1,
            transport: Transport::Tcp,
            traffic: Traffic::Bulk,
            transfer: None,
            start: Varied::default(),
            stagger: Duration::ZERO,
            reader: None,
            dscp: None,
            tcp: Options::default(),
            client: Options::default(),
            server: Options::default(),
        }
    }
}

/// `congestion` beside `tcp` is short for `tcp.congestion`.
fn congestion_shorthand(schema: &mut Schema) {
    let choice = json!({ "$ref": "#/$defs/Choice", "description": "Short for tcp.congestion." });
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.insert("congestion".to_owned(), choice);
    }
}

impl FromValue for FlowSpec {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let mut table = Table::open(value, at, "a table with from and to", errors)?;
        let name = table.optional::<FlowName>("name", errors).map(|name| name.0);
        let from = table.required::<NodeName>("from", "name the node that sends", errors);
        let to = table.required::<NodeName>("to", "name the node that receives", errors);
        let transfer = transfer(&mut table, errors);
        let start = table.optional("start", errors).unwrap_or_default();
        let reader = table.optional("reader", errors);
        let dscp = table.optional("dscp", errors);
        let [tcp, client, server] = options(&mut table, at, errors);
        let beside = Beside::of([&tcp, &client, &server], transfer, reader);
        let (transport, traffic) = traffic(&mut table, at, beside, errors);
        table.finish(errors);
        let (from, to) = (from?.0, to?.0);
        let (traffic, [tcp, client, server]) = (Arc::new(traffic), [tcp, client, server].map(Arc::new));
        let flow = Self { name, from, to, transport, traffic, transfer, start, reader, dscp, tcp, client, server };
        (errors.len() == before).then_some(flow)
    }

    fn share(&mut self, earlier: &[Self]) {
        share_part(&mut self.traffic, earlier.iter().map(|flow| &flow.traffic));
        share_part(&mut self.tcp, earlier.iter().map(|flow| &flow.tcp));
        share_part(&mut self.client, earlier.iter().map(|flow| &flow.client));
        share_part(&mut self.server, earlier.iter().map(|flow| &flow.server));
    }
}

impl FromValue for FlowTemplate {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let mut table = Table::open(value, at, "a table with transfer, start, stagger, count and tcp", errors)?;
        let count = table.optional("count", errors).unwrap_or(1);
        if count == 0 || count > MOST {
            errors.push(Path::Key(at, "count"), format!("{count} is not a number of flows from 1 to {MOST}"));
        }
        let transfer = transfer(&mut table, errors);
        let reader: Option<Reader> = table.optional("reader", errors);
        let [tcp, client, server] = options(&mut table, at, errors);
        let beside = Beside::of([&tcp, &client, &server], transfer, reader);
        let (transport, traffic) = traffic(&mut table, at, beside, errors);
        let template = Self {
            count,
            transport,
            traffic,
            transfer,
            start: table.optional("start", errors).unwrap_or_default(),
            stagger: table.optional("stagger", errors).unwrap_or_default(),
            reader,
            dscp: table.optional("dscp", errors),
            tcp,
            client,
            server,
        };
        table.finish(errors);
        Some(template)
    }
}

struct FlowName(String);

impl FromValue for FlowName {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let name = String::read(value, at, errors)?;
        // A flow may be called after its nodes, "a->b".
        match refusal_of_name(&name.replace("->", "-")) {
            Some(reason) => {
                errors.push(at, format!("{} is no name for a flow: {reason}", shown(value)));
                None
            }
            None => Some(Self(name)),
        }
    }
}

fn transfer(table: &mut Table, errors: &mut Errors) -> Option<Bytes> {
    table.optional::<Transfer>("transfer", errors).map(|transfer| transfer.0)
}

struct Transfer(Bytes);

impl FromValue for Transfer {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let bytes: Bytes = leaf(value, at, errors)?;
        let reason = match bytes {
            Bytes(0) => "sends nothing; write a size such as \"20 MB\", or leave it out to send until the run ends",
            larger if larger > LARGEST => "is above 1000 TB; leave it out to send until the run ends",
            _ => return Some(Self(bytes)),
        };
        errors.push(at, format!("{} {reason}", shown(value)));
        None
    }
}

/// Traffic and transport.
fn traffic(table: &mut Table, at: &Path, beside: Beside, errors: &mut Errors) -> (Transport, Traffic) {
    let before = errors.len();
    let transport = table.optional("transport", errors).unwrap_or_default();
    let traffic: Traffic = table.optional("traffic", errors).unwrap_or_default();
    if errors.len() == before {
        traffic.check(transport, at, beside, errors);
    }
    (transport, traffic)
}

/// The tables `tcp`, `client` and `server` of a flow, with the shorthand `congestion` for `tcp.congestion`.
fn options(table: &mut Table, at: &Path, errors: &mut Errors) -> [Options; 3] {
    let [mut tcp, client, server]: [Options; 3] =
        ["tcp", "client", "server"].map(|key| table.optional(key, errors).unwrap_or_default());
    if let Some(congestion) = table.value("congestion") {
        let place = Path::Key(at, "congestion");
        if tcp.congestion.is_some() {
            errors.push(place, "is given twice: here and in tcp; keep one");
        } else {
            tcp.congestion = Choice::read(congestion, &place, errors);
        }
    }
    [tcp, client, server]
}

impl FromValue for Choice {
    /// A name, or a table of which each parameter is read on its own first, so that every mistake is found.
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let (name, place) = (value.get("algorithm").unwrap_or(value), Path::Key(at, "algorithm"));
        if let Value::String(name) = name
            && canonical(name).is_none()
        {
            let place = if value.is_string() { at } else { &place };
            errors.push(place, not_one_of(name, "a congestion control", &names()));
            return None;
        }
        let before = errors.len();
        for (key, parameter) in value.as_object().into_iter().flatten().filter(|(key, _)| *key != "algorithm") {
            let single = json!({ "algorithm": name, key: parameter });
            let mut found = Errors::default();
            if name.is_string() && leaf::<Self>(&single, at, &mut found).is_none() {
                let place = Path::Key(at, key);
                let prefix = format!("{key}: ");
                found.messages().for_each(|message| errors.push(place, message.trim_start_matches(&prefix)));
            }
        }
        if errors.len() > before { None } else { leaf(value, at, errors) }
    }
}

fn single(key: &str, value: Value) -> Value {
    Value::Object(Map::from_iter([(key.to_owned(), value)]))
}

/// Reads a key that is a table. An entry that is wrong is reported and taken out, so that the next one is found, too.
fn nested(key: &str, mut entries: Map<String, Value>, at: &Path, errors: &mut Errors) -> Option<Options> {
    let prefix = format!("{at}.{key}.");
    let mut is_whole = true;
    loop {
        let mut found = Errors::default();
        let read = leaf::<Options>(&single(key, Value::Object(entries.clone())), at, &mut found);
        let Err(refused) = found.or::<()>(None) else { return None };
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

impl FromValue for Options {
    /// Each key on its own, so that every mistake is found.
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let Value::Object(entries) = value else {
            errors.push(at, format!("{} is not a table, such as {{ congestion = \"cubic\" }}", shown(value)));
            return None;
        };
        let read = |(key, value): (&String, &Value)| {
            if key == "congestion" {
                let congestion = Choice::read(value, &Path::Key(at, key), errors)?;
                return Some(Self { congestion: Some(congestion), ..Self::default() });
            }
            match value {
                Value::Object(entries) => nested(key, entries.clone(), at, errors),
                value => leaf::<Self>(&single(key, value.clone()), at, errors),
            }
        };
        let given = entries.iter().filter(|(_, value)| !value.is_null());
        let options = given.filter_map(read).fold(Self::default(), |options, one| options.merge(&one));
        let floor = options.rto.and_then(|rto| rto.variance_floor);
        if floor.is_some_and(|floor| floor > LONGEST) {
            errors.push(format_args!("{at}.rto.variance_floor"), "is above 480 h, the longest time in a scenario");
        }
        Some(options)
    }
}

impl FromValue for Vec<Choice> {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        match value.as_array() {
            Some(items) if !items.is_empty() => {
                let read = |(index, item)| Choice::read(item, &Path::Index(at, index), errors);
                Some(items.iter().enumerate().filter_map(read).collect())
            }
            _ => {
                let found = if value.is_array() { "an empty list".to_owned() } else { shown(value) };
                errors.push(at, format!("{found} is not a list of congestion controls, such as [\"cubic\", \"bbr\"]"));
                None
            }
        }
    }
}
