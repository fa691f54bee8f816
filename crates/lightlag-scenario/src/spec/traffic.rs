//! Traffic of applications, and its transport. `lightlag-traffic` declares the kinds and their keys.

use super::model::{entries, form, settings};
use super::{Reader, is_empty};
use crate::read::{Errors, FromOutside, FromValue, Path, TableReader, described, leaf, not_one_of};
use lightlag_core::params::Registered;
use lightlag_core::{Bytes, Duration};
use lightlag_tcp::Options;
use lightlag_traffic::custom::{CUSTOM, TrafficFactory};
use lightlag_traffic::{CustomTraffic, Traffic};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Key that holds the name of a kind of traffic.
const KIND: &str = "kind";

const FROM_OUTSIDE: FromOutside<dyn TrafficFactory> =
    FromOutside { registry: &CUSTOM, word: KIND, what: "a kind of traffic", beside: &["stop"] };

/// Transport of a flow's bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// A TCP connection.
    #[default]
    Tcp,
    /// A QUIC connection (RFC 9000).
    Quic,
    /// UDP datagrams (RFC 768): lost data is not retransmitted.
    Udp,
}

impl Transport {
    /// Returns true if the flows have connections, which deliver every byte.
    pub fn has_connections(self) -> bool {
        self != Self::Udp
    }
}

impl FromValue for Transport {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        leaf(value, path, errors)
    }
}

impl FromValue for Traffic {
    const IS_TABLE: bool = true;

    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let what = "a table such as { kind = \"constant\", rate = \"1 Mbit/s\" }";
        let mut table = TableReader::open(value, path, what, errors)?;
        if let Some(custom) = from_outside(value, &mut table, path, errors)? {
            return Some(Self::Custom(custom)).filter(|_| errors.len() == before);
        }
        let kind: String = table.required(KIND, &format!("write one of {}", Self::NAMES.join(", ")), errors)?;
        let Some(mut traffic) = Self::named(&kind) else {
            let known = [Self::NAMES, &CUSTOM.names()].concat();
            errors.push(Path::Key(path, KIND), not_one_of(&kind, FROM_OUTSIDE.what, &known));
            return None;
        };
        settings(&mut traffic, &mut table, path, errors);
        table.finish(errors);
        (errors.len() == before).then_some(traffic)
    }
}

/// Reads custom traffic, if the table refers to any. Returns `None` after an error.
fn from_outside(
    value: &Value,
    table: &mut TableReader,
    key_path: &Path,
    errors: &mut Errors,
) -> Option<Option<CustomTraffic>> {
    if ["plugin", "python"].iter().all(|key| value.get(key).is_none())
        && value.get(KIND).and_then(Value::as_str).is_none_or(|kind| Traffic::NAMES.contains(&kind))
    {
        return Some(None);
    }
    let stop: Option<Duration> = table.optional("stop", errors);
    if stop == Some(Duration::ZERO) {
        errors.push(table.path("stop"), "0 s is the start of the run: nothing is sent; write a later time");
    }
    Some(FROM_OUTSIDE.read(value, key_path, errors)?.map(|custom| CustomTraffic { custom, stop }))
}

/// Writes traffic as a table.
pub(super) fn written<S: Serializer>(traffic: &Traffic, serializer: S) -> Result<S::Ok, S::Error> {
    if let Traffic::Custom(CustomTraffic { custom, stop }) = traffic {
        let mut table = FROM_OUTSIDE.written(custom);
        table.extend(stop.map(|stop| ("stop".to_owned(), json!(stop))));
        return table.serialize(serializer);
    }
    let mut table = serializer.serialize_map(None)?;
    table.serialize_entry(KIND, traffic.name())?;
    for (key, value) in entries(traffic) {
        table.serialize_entry(key, &value)?;
    }
    table.end()
}

/// Stands for the schema of traffic.
pub(super) struct TrafficForm;

impl JsonSchema for TrafficForm {
    fn schema_name() -> Cow<'static, str> {
        "Traffic".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut forms: Vec<Value> = Traffic::all().iter().map(|kind| form(kind, KIND, generator)).collect();
        forms.push(described(generator.subschema_for::<OwnForm>(), "Messages of a custom application."));
        json_schema!({ "description": "Traffic of the application at the start of a flow.", "anyOf": forms })
    }
}

/// Stands for the schema of custom traffic.
struct OwnForm;

impl JsonSchema for OwnForm {
    fn schema_name() -> Cow<'static, str> {
        "CustomTraffic".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let stop = described(generator.subschema_for::<Duration>(), "Time of its end, since the start of the run.");
        json_schema!({ "anyOf": FROM_OUTSIDE.forms(&json!({ "stop": stop })) })
    }
}

/// Maximum size of a UDP message. All its datagrams are sent at the same time.
pub const LARGEST_MESSAGE: Bytes = Bytes(10_000_000);

/// Rejects traffic that a transport cannot carry, and keys that have no effect with it.
pub(super) fn check(traffic: &Traffic, transport: Transport, path: &Path, beside: Beside, errors: &mut Errors) {
    if transport.has_connections() {
        return check_beside(traffic, path, beside, errors);
    }
    let traffic_path = Path::Key(path, "traffic");
    let by_udp = || {
        let kinds = Traffic::all();
        kinds.iter().filter(|kind| kind.has_messages()).map(Registered::name).collect::<Vec<_>>().join(", ")
    };
    if traffic.is_bulk() {
        let message =
            "is bulk, for which UDP has no rate; write { kind = \"constant\", rate = \"1 Mbit/s\" }, or another of";
        errors.push(traffic_path, format!("{message} {}", by_udp()));
    } else if !traffic.has_messages() {
        let message = format!("needs connections, so transport = \"tcp\"; UDP supports {}", by_udp());
        return errors.push(Path::Key(&traffic_path, KIND), message);
    } else if traffic.largest() > LARGEST_MESSAGE {
        let message =
            format!("is up to {}, more than {LARGEST_MESSAGE}, the maximum size of a UDP message", traffic.largest());
        errors.push(Path::Key(&traffic_path, "size"), message);
    }
    if beside.congestion {
        let message = "cannot be combined with transport = \"udp\", which has no congestion control; remove it";
        errors.push(Path::Key(path, "congestion"), message);
    }
    if let Some(key) = beside.tcp {
        let message = "cannot be combined with transport = \"udp\", which has no TCP; remove it";
        errors.push(Path::Key(path, key), message);
    }
    if beside.quic {
        let message = "cannot be combined with transport = \"udp\", which has no QUIC; remove it";
        errors.push(Path::Key(path, "quic"), message);
    }
    if beside.reader {
        let message = "cannot be combined with transport = \"udp\", which has no receive window; remove it";
        errors.push(Path::Key(path, "reader"), message);
    }
}

/// Rejects keys of a connection that have no effect with this traffic.
fn check_beside(traffic: &Traffic, path: &Path, beside: Beside, errors: &mut Errors) {
    if beside.transfer && !traffic.has_messages() && !traffic.is_bulk() {
        let message = "cannot be combined with traffic that defines its sizes; remove it";
        errors.push(Path::Key(path, "transfer"), message);
    }
    if beside.reader && traffic.is_dialogue() {
        let message = "cannot be combined with traffic whose client reads immediately; remove it";
        errors.push(Path::Key(path, "reader"), message);
    }
}

/// Keys of a flow that may conflict with its traffic.
#[derive(Clone, Copy)]
pub(crate) struct Beside {
    pub(crate) transfer: bool,
    pub(crate) congestion: bool,
    pub(crate) quic: bool,
    pub(crate) reader: bool,
    /// First of the tables `tcp`, `client` and `server` that has a key; `congestion` in `tcp` does not count.
    pub(crate) tcp: Option<&'static str>,
}

impl Beside {
    /// Returns the keys of a flow with these tables `tcp`, `client` and `server`, and with this table `quic`.
    pub(crate) fn of(
        tables: [&Options; 3],
        quic: &lightlag_quic::Options,
        transfer: Option<Bytes>,
        reader: Option<Reader>,
    ) -> Self {
        let [tcp, client, server] = tables;
        let says_more = *tcp != Options { congestion: tcp.congestion.clone(), ..Options::default() };
        let more = [("tcp", says_more), ("client", !is_empty(client)), ("server", !is_empty(server))];
        Self {
            transfer: transfer.is_some(),
            congestion: tcp.congestion.is_some(),
            quic: *quic != lightlag_quic::Options::default(),
            reader: reader.is_some(),
            tcp: more.into_iter().find(|(_, says)| *says).map(|(key, _)| key),
        }
    }
}
