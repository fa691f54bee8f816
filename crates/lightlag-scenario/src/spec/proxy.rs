//! Proxies as asked for: nodes that split the connections which cross them (RFC 3135 §2.4).

use super::is_empty;
use crate::read::{Errors, FromValue, LARGEST, NodeName, Path, Table, not_one_of};
use lightlag_core::{Bytes, Duration};
use lightlag_tcp::Options;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The smallest buffer, and receive buffer, of a proxy.
const SMALLEST: Bytes = Bytes(64);

/// A node between the ends of flows that acts on their connections.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ProxySpec {
    /// The node. Flows that cross it in both directions pass through the proxy.
    pub node: String,
    /// Its treatment of them.
    #[schemars(default)]
    pub kind: ProxyKind,
    /// The most bytes of each flow that it keeps: read, and not acknowledged by the next hop.
    pub buffer: Bytes,
    /// Names of the flows. Left out: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<Vec<String>>,
    /// Differences of the TCP of its end toward the sender from `defaults.tcp`. Its receive buffer is as large as
    /// `buffer` unless it is given here.
    #[serde(skip_serializing_if = "is_empty")]
    #[schemars(default)]
    pub client: Options,
    /// Differences of the TCP of its end toward the receiver from `defaults.tcp`.
    #[serde(skip_serializing_if = "is_empty")]
    #[schemars(default)]
    pub server: Options,
    /// It crashes, and is up again at once with empty hands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crash: Option<Crash>,
}

/// Treatment of the connections that cross a proxy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProxyKind {
    /// It ends each connection and opens another one to the receiver, under the addresses of the ends.
    #[default]
    Split,
}

/// A crash.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Crash {
    /// When.
    pub at: Duration,
}

impl FromValue for ProxySpec {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let mut table = Table::open(value, at, "a table such as { node = \"gateway\", buffer = \"1 MB\" }", errors)?;
        let node = table.required::<NodeName>("node", "name the node that splits connections", errors);
        let kind = table.optional("kind", errors).unwrap_or_default();
        let buffer: Option<Bytes> =
            table.required("buffer", "say how much it keeps of a flow at most, such as \"1 MB\"", errors);
        if let Some(bytes) = buffer.filter(|bytes| !(SMALLEST..=LARGEST).contains(bytes)) {
            let message = format!("{bytes} is not a buffer from {SMALLEST} to {LARGEST}");
            errors.push(Path::Key(at, "buffer"), message);
        }
        let flows: Option<Vec<String>> = table.optional("flows", errors);
        if flows.as_ref().is_some_and(Vec::is_empty) {
            errors.push(Path::Key(at, "flows"), "names none; name some flows, or leave it out for all");
        }
        let proxy = Self {
            node: node.map_or(String::new(), |node| node.0),
            kind,
            buffer: buffer.unwrap_or_default(),
            flows,
            client: table.optional("client", errors).unwrap_or_default(),
            server: table.optional("server", errors).unwrap_or_default(),
            crash: table.optional("crash", errors),
        };
        table.finish(errors);
        (errors.len() == before).then_some(proxy)
    }
}

impl FromValue for ProxyKind {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let kind = String::read(value, at, errors)?;
        if kind == "split" {
            return Some(Self::Split);
        }
        errors.push(at, not_one_of(&kind, "a kind of proxy", &["split"]));
        None
    }
}

impl FromValue for Crash {
    const IS_TABLE: bool = true;

    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let mut table = Table::open(value, at, "a table such as { at = \"10 s\" }", errors)?;
        let time = table.required("at", "say when, such as \"10 s\"", errors);
        table.finish(errors);
        time.map(|at| Self { at })
    }
}
