//! Proxies: nodes that split the connections that cross them (RFC 3135 §2.4).

use super::{Transport, is_empty, is_plain};
use crate::read::{Errors, FromValue, LARGEST, NodeName, Path, TableReader, leaf, not_one_of};
use lightlag_core::{Bytes, Duration};
use lightlag_tcp::Options;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Minimum size of the buffer of a proxy, and of its receive buffer.
const SMALLEST: Bytes = Bytes(64);

/// A node that splits the connections that cross it.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(title = "Proxy", deny_unknown_fields)]
pub struct ProxySpec {
    /// Node of the proxy. Flows that cross it in both directions pass through the proxy.
    pub node: String,
    /// Kind of the proxy. `split` terminates each TCP connection and opens another one, under the addresses of the
    /// endpoints. `quic` does the same with QUIC connections, whose endpoints must cooperate.
    #[schemars(default)]
    pub kind: ProxyKind,
    /// Maximum amount of data per flow and direction that the proxy has read and the next hop has not acknowledged.
    pub buffer: Bytes,
    /// Reading by a program; by default all data is read as it arrives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads: Option<Reads>,
    /// Names of the flows that pass through the proxy; by default all flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<Vec<String>>,
    /// TCP options towards the sender that differ from `defaults.tcp`. The default of the receive buffer is `buffer`.
    #[serde(skip_serializing_if = "is_empty")]
    #[schemars(default)]
    pub client: Options,
    /// TCP options towards the receiver that differ from `defaults.tcp`.
    #[serde(skip_serializing_if = "is_empty")]
    #[schemars(default)]
    pub server: Options,
    /// QUIC options of both endpoints of a proxy of kind `quic` that differ from `defaults.quic`.
    #[serde(skip_serializing_if = "is_plain")]
    #[schemars(default)]
    pub quic: lightlag_quic::Options,
    /// Time when the proxy opens the next connection of a flow.
    #[serde(skip_serializing_if = "Opens::is_on_syn")]
    #[schemars(default)]
    pub opens: Opens,
    /// Whether connections to the next proxy with `pool` on the path of a flow are opened in advance, so that no flow
    /// waits for a handshake between the two.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub pool: bool,
    /// Whether the proxy reads web pages that pass without TLS, and requests the objects that they name before the
    /// client does. The next proxy towards the client stores and delivers them; its `buffer` limits their total size
    /// per load of a page.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub prefetch: bool,
    /// Crash of the proxy; by default it never crashes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crash: Option<Crash>,
}

/// Treatment of the connections that cross a proxy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProxyKind {
    /// Terminates each TCP connection and opens another one to the receiver, under the addresses of the endpoints (RFC
    /// 3135).
    #[default]
    Split,
    /// Terminates each QUIC connection and opens another one to the receiver. The transport header of QUIC is encrypted,
    /// so the endpoints must have chosen the proxy.
    Quic,
}

impl ProxyKind {
    /// Returns the transport whose connections the proxy terminates.
    pub(crate) fn transport(self) -> Transport {
        match self {
            Self::Split => Transport::Tcp,
            Self::Quic => Transport::Quic,
        }
    }
}

/// Time when a proxy opens the next connection of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Opens {
    /// When the SYN of the previous connection arrives, so that the handshakes overlap.
    #[default]
    OnSyn,
    /// When the handshake of the previous connection is complete, as a program does that accepts connections.
    WhenEstablished,
}

impl Opens {
    fn is_on_syn(&self) -> bool {
        *self == Self::OnSyn
    }
}

/// Reads of a proxy's program, which runs some time after an event of a connection, and then reads and writes in turn.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Reads {
    /// Maximum amount of data of a read, which is written to the next connection before the next read.
    pub size: Bytes,
    /// Time from an event of a connection until the program runs.
    #[serde(skip_serializing_if = "Reads::is_usual")]
    #[schemars(default = "Reads::usual")]
    pub after: Duration,
}

impl Reads {
    /// Returns the default of `after`. It is ours: shorter than the delay of any path, and long enough for a burst of ten
    /// segments over 10 Gbit/s, which the program then reads as a whole.
    fn usual() -> Duration {
        Duration::from_micros(50)
    }

    fn is_usual(after: &Duration) -> bool {
        *after == Self::usual()
    }
}

impl FromValue for Reads {
    const IS_TABLE: bool = true;

    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let mut table = TableReader::open(value, path, "a table such as { size = \"8 KiB\" }", errors)?;
        let size = table.required("size", "specify the size of a read, such as \"8 KiB\"", errors);
        let after = table.optional("after", errors).unwrap_or_else(Self::usual);
        if after == Duration::ZERO {
            let message = "0 s is not a time above 0 s; omit reads for a proxy that reads as data arrives";
            errors.push(Path::Key(path, "after"), message);
        }
        table.finish(errors);
        size.map(|size| Self { size, after })
    }
}

/// Crash of a proxy, which loses its buffers and connections and restarts immediately.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Crash {
    /// Time of the crash.
    pub at: Duration,
}

impl FromValue for ProxySpec {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let mut table =
            TableReader::open(value, path, "a table such as { node = \"gateway\", buffer = \"1 MB\" }", errors)?;
        let node = table.required::<NodeName>("node", "name the node that splits connections", errors);
        let kind = table.optional("kind", errors).unwrap_or_default();
        let buffer: Option<Bytes> =
            table.required("buffer", "specify the maximum data buffered per flow, such as \"1 MB\"", errors);
        if let Some(bytes) = buffer.filter(|bytes| !(SMALLEST..=LARGEST).contains(bytes)) {
            let message = format!("{bytes} is not a buffer from {SMALLEST} to {LARGEST}");
            errors.push(Path::Key(path, "buffer"), message);
        }
        let reads: Option<Reads> = table.optional("reads", errors);
        if let (Some(Reads { size, .. }), Some(buffer)) = (reads, buffer)
            && !(Bytes(1)..=buffer).contains(&size)
        {
            let message = format!("{size} is not a size from 1 B to the buffer, {buffer}");
            errors.push(Path::Key(&Path::Key(path, "reads"), "size"), message);
        }
        let flows: Option<Vec<String>> = table.optional("flows", errors);
        if flows.as_ref().is_some_and(Vec::is_empty) {
            errors.push(Path::Key(path, "flows"), "names no flow; name some flows, or omit it for all");
        }
        let proxy = Self {
            node: node.map_or(String::new(), |node| node.0),
            kind,
            buffer: buffer.unwrap_or_default(),
            reads,
            flows,
            client: table.optional("client", errors).unwrap_or_default(),
            server: table.optional("server", errors).unwrap_or_default(),
            quic: table.optional("quic", errors).unwrap_or_default(),
            opens: table.optional("opens", errors).unwrap_or_default(),
            pool: table.optional("pool", errors).unwrap_or_default(),
            prefetch: table.optional("prefetch", errors).unwrap_or_default(),
            crash: table.optional("crash", errors),
        };
        if proxy.pool && proxy.crash.is_some() {
            errors.push(Path::Key(path, "pool"), "true cannot be combined with crash; remove one");
        }
        match proxy.kind {
            ProxyKind::Split if !is_plain(&proxy.quic) => {
                errors.push(Path::Key(path, "quic"), "needs kind = \"quic\"; add it, or remove quic");
            }
            ProxyKind::Quic => {
                let tables = [("client", !is_empty(&proxy.client)), ("server", !is_empty(&proxy.server))];
                for (key, _) in tables.into_iter().filter(|(_, is_given)| *is_given) {
                    errors.push(Path::Key(path, key), "has TCP options, and the proxy ends QUIC; write quic instead");
                }
                if proxy.prefetch {
                    errors.push(Path::Key(path, "prefetch"), "true needs kind = \"split\"; remove it");
                }
                if proxy.reads.is_some() {
                    errors.push(Path::Key(path, "reads"), "needs kind = \"split\"; remove it");
                }
            }
            ProxyKind::Split if proxy.prefetch && proxy.reads.is_some() => {
                errors.push(Path::Key(path, "reads"), "cannot be combined with prefetch; remove one");
            }
            ProxyKind::Split => {}
        }
        table.finish(errors);
        (errors.len() == before).then_some(proxy)
    }
}

impl FromValue for ProxyKind {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let kind = String::read(value, path, errors)?;
        match kind.as_str() {
            "split" => Some(Self::Split),
            "quic" => Some(Self::Quic),
            _ => {
                errors.push(path, not_one_of(&kind, "a kind of proxy", &["split", "quic"]));
                None
            }
        }
    }
}

impl FromValue for Opens {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        leaf(value, path, errors)
    }
}

impl FromValue for Crash {
    const IS_TABLE: bool = true;

    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let mut table = TableReader::open(value, path, "a table such as { at = \"10 s\" }", errors)?;
        let time = table.required("at", "specify the time, such as \"10 s\"", errors);
        table.finish(errors);
        time.map(|at| Self { at })
    }
}
