//! Tunnels: pairs of nodes that carry packets in DATAGRAM frames of a QUIC connection (MASQUE).

use super::is_plain;
use crate::read::{Errors, FromValue, LimitForm, Path, TableReader, not_one_of, shown, written};
use lightlag_core::Duration;
use lightlag_core::params::Limit;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use serde_json::Value;

/// A QUIC connection between two nodes that carries the packets of flows in DATAGRAM frames (RFC 9221, RFC 9297).
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(title = "Tunnel", deny_unknown_fields)]
pub struct TunnelSpec {
    /// The two nodes of the tunnel: its client, which opens the connection, and its server. Packets whose path crosses
    /// both nodes, or starts or ends there, pass through the tunnel.
    pub between: [String; 2],
    /// Contents of the datagrams. `ip` carries IP packets (CONNECT-IP, RFC 9484). `udp` carries the payload of UDP
    /// datagrams (CONNECT-UDP, RFC 9298), so only packets of QUIC and UDP flows pass through the tunnel.
    #[serde(skip_serializing_if = "TunnelPayload::is_ip")]
    #[schemars(default)]
    pub payload: TunnelPayload,
    /// Names of the flows whose packets pass through the tunnel; by default all flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<Vec<String>>,
    /// Limit of each end's queue of datagrams, in packets or bytes. A full queue drops its oldest datagrams. Default: 1
    /// MiB.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "written_limit")]
    #[schemars(with = "Option<LimitForm>")]
    pub queue: Option<Limit>,
    /// Time when the client opens the connection. Packets wait in the queue until the handshake permits datagrams.
    #[serde(skip_serializing_if = "is_at_once")]
    #[schemars(default)]
    pub start: Duration,
    /// QUIC options of the tunnel's connection that differ from `defaults.quic`. The default of `datagram` fills 1,500 B.
    #[serde(skip_serializing_if = "is_plain")]
    #[schemars(default)]
    pub quic: lightlag_quic::Options,
}

/// Contents of the datagrams of a tunnel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TunnelPayload {
    /// IP packets (RFC 9484).
    #[default]
    Ip,
    /// Payload of UDP datagrams (RFC 9298).
    Udp,
}

impl TunnelPayload {
    fn is_ip(&self) -> bool {
        *self == Self::Ip
    }
}

fn is_at_once(start: &Duration) -> bool {
    start.is_zero()
}

fn written_limit<S: Serializer>(limit: &Option<Limit>, serializer: S) -> Result<S::Ok, S::Error> {
    limit.map(written).serialize(serializer)
}

impl FromValue for TunnelSpec {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let shape = "a table such as { between = [\"terminal\", \"gateway\"] }";
        let mut table = TableReader::open(value, path, shape, errors)?;
        let remedy = "name the client and the server of the tunnel, such as [\"terminal\", \"gateway\"]";
        let between: Option<Vec<String>> = table.required("between", remedy, errors);
        let between = between.and_then(|names| {
            let count = names.len();
            let pair: Result<[String; 2], _> = names.try_into();
            if pair.is_err() {
                errors.push(Path::Key(path, "between"), format!("needs two nodes, and has {count}; {remedy}"));
            }
            pair.ok()
        });
        let flows: Option<Vec<String>> = table.optional("flows", errors);
        if flows.as_ref().is_some_and(Vec::is_empty) {
            errors.push(Path::Key(path, "flows"), "names no flow; name some flows, or omit it for all");
        }
        let queue: Option<Limit> = table.optional("queue", errors);
        if let Some(Limit::Bdp(_)) = queue {
            let message =
                "a tunnel has no rate of its own; write a number of packets or bytes, such as \"100 packets\"";
            errors.push(Path::Key(path, "queue"), message);
        }
        let tunnel = Self {
            between: between.unwrap_or_default(),
            payload: table.optional("payload", errors).unwrap_or_default(),
            flows,
            queue,
            start: table.optional("start", errors).unwrap_or_default(),
            quic: table.optional("quic", errors).unwrap_or_default(),
        };
        table.finish(errors);
        (errors.len() == before).then_some(tunnel)
    }
}

impl FromValue for TunnelPayload {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        match value.as_str() {
            Some("ip") => Some(Self::Ip),
            Some("udp") => Some(Self::Udp),
            _ => {
                errors.push(path, not_one_of(&shown(value), "the contents of a tunnel", &["ip", "udp"]));
                None
            }
        }
    }
}
