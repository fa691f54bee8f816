//! What a run writes down.

use super::Pcap;
use crate::read::{Errors, FromValue, Path, Table, leaf};
use lightlag_core::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a run writes down beside its summary.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, default)]
pub struct Record {
    /// The state of senders over time.
    pub trace: TraceMode,
    /// What waits at links over time.
    pub queue: QueueMode,
    /// Every dropped packet.
    pub drops: bool,
    /// Time between samples, above zero.
    pub interval: Duration,
    /// Each ACK that a sender takes; off by default.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub acks: bool,
    /// How long data packets wait at each link direction; off by default.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub queueing: bool,
    /// Packets as files that other tools read; left out, none are written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pcap: Option<Pcap>,
}

/// When the state of a sender is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TraceMode {
    /// At each change of cwnd, ssthresh or phase, and once each interval.
    #[default]
    Change,
    /// Once each interval.
    Sampled,
    /// Never.
    Off,
}

/// When the queues of links are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum QueueMode {
    /// Once each interval.
    #[default]
    Sampled,
    /// Never.
    Off,
}

impl QueueMode {
    /// Whether anything is written.
    pub fn is_on(self) -> bool {
        self == Self::Sampled
    }
}

impl Default for Record {
    /// Everything, sampled each 100 ms.
    fn default() -> Self {
        Self {
            trace: TraceMode::default(),
            queue: QueueMode::default(),
            drops: true,
            interval: Duration::from_millis(100),
            acks: false,
            queueing: false,
            pcap: None,
        }
    }
}

impl FromValue for TraceMode {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        leaf(value, at, errors)
    }
}

impl FromValue for QueueMode {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        leaf(value, at, errors)
    }
}

impl FromValue for Record {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let mut table =
            Table::open(value, at, "a table with trace, queue, drops, interval, acks, queueing and pcap", errors)?;
        let default = Self::default();
        let interval: Duration = table.optional("interval", errors).unwrap_or(default.interval);
        if interval.is_zero() {
            errors.push(Path::Key(at, "interval"), "0 s between samples never ends; write a time such as \"100 ms\"");
        }
        let record = Self {
            trace: table.optional("trace", errors).unwrap_or_default(),
            queue: table.optional("queue", errors).unwrap_or_default(),
            drops: table.optional("drops", errors).unwrap_or(default.drops),
            interval,
            acks: table.optional("acks", errors).unwrap_or_default(),
            queueing: table.optional("queueing", errors).unwrap_or_default(),
            pcap: table.optional("pcap", errors),
        };
        table.finish(errors);
        Some(record)
    }
}
