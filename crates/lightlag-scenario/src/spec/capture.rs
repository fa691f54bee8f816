//! Settings of packet captures, and the IP version that they show.

use crate::read::{Errors, FromValue, Path, TableReader, leaf};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Packet captures as pcapng files, one for each node, link direction or radio.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, default)]
pub struct Pcap {
    /// Nodes, link directions as "from->to", and radios as "node@medium"; a node includes its radios. By default both
    /// endpoints of every captured flow.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<String>,
    /// Names of the flows to capture; by default all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<String>,
    /// Whether packets have comments: the state of the sender, and the cause of a drop.
    pub comments: bool,
    /// Form of the logs of QUIC in qlog, which captures with comments include: `"0.3"`, which qvis reads, or
    /// `"main-14"`, the form of draft-ietf-quic-qlog-main-schema-14. Default: 0.3.
    #[serde(skip_serializing_if = "QlogSchema::is_usual")]
    pub qlog_schema: QlogSchema,
}

/// Form of a log in qlog.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum QlogSchema {
    /// qlog 0.3.
    #[default]
    #[serde(rename = "0.3")]
    V03,
    /// draft-ietf-quic-qlog-main-schema-14, with the events of draft-ietf-quic-qlog-quic-events-13.
    #[serde(rename = "main-14")]
    Main14,
}

impl QlogSchema {
    fn is_usual(&self) -> bool {
        *self == Self::V03
    }
}

/// Version of IP.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum IpVersion {
    /// IPv4: headers of 20 bytes.
    #[default]
    V4,
    /// IPv6: headers of 40 bytes. The segment size `mss` does not change: 1,440 bytes fit in packets of 1,500.
    V6,
}

impl IpVersion {
    /// Returns the size of a header in bytes, without options (RFC 791 §3.1) or extension headers (RFC 8200 §3).
    pub const fn header(self) -> u32 {
        match self {
            Self::V4 => 20,
            Self::V6 => 40,
        }
    }

    pub(crate) fn is_v4(&self) -> bool {
        *self == Self::V4
    }
}

impl FromValue for Pcap {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let mut table =
            TableReader::open(value, path, "a table such as { at = [\"a\", \"a->b\"], comments = true }", errors)?;
        let pcap = Self {
            at: table.optional("at", errors).unwrap_or_default(),
            flows: table.optional("flows", errors).unwrap_or_default(),
            comments: table.optional("comments", errors).unwrap_or_default(),
            qlog_schema: table.optional("qlog_schema", errors).unwrap_or_default(),
        };
        if !pcap.qlog_schema.is_usual() && !pcap.comments {
            errors.push(table.path("qlog_schema"), "only captures with comments include logs; write comments = true");
        }
        table.finish(errors);
        Some(pcap)
    }
}

impl FromValue for QlogSchema {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        leaf(value, path, errors)
    }
}

impl FromValue for IpVersion {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        leaf(value, path, errors)
    }
}
