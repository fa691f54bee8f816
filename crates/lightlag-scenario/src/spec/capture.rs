//! Captures of a run, and the addresses that they show.

use crate::read::{Errors, FromValue, Path, Table, leaf};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Packets as pcapng files, one for each place.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, default)]
pub struct Pcap {
    /// Nodes, link directions as "from->to", and radios as "node@medium". A node brings its radios. Left out: both ends of
    /// every flow that is captured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<String>,
    /// Names of the flows to capture. Left out: all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<String>,
    /// Comments at packets: the state of the sender, and why a packet was dropped.
    pub comments: bool,
}

/// The version of IP.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum IpVersion {
    /// Headers of 20 bytes.
    #[default]
    V4,
    /// Headers of 40 bytes. Segments stay as long as `mss` says: 1,440 bytes fit packets of 1,500.
    V6,
}

impl IpVersion {
    /// Bytes of a header without options (RFC 791 §3.1) or extension headers (RFC 8200 §3).
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
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let mut table = Table::open(value, at, "a table such as { at = [\"a\", \"a->b\"], comments = true }", errors)?;
        let pcap = Self {
            at: table.optional("at", errors).unwrap_or_default(),
            flows: table.optional("flows", errors).unwrap_or_default(),
            comments: table.optional("comments", errors).unwrap_or_default(),
        };
        table.finish(errors);
        Some(pcap)
    }
}

impl FromValue for IpVersion {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        leaf(value, at, errors)
    }
}
