//! Records of a run.

use super::Pcap;
use crate::read::{Errors, FromValue, Path, TableReader, leaf};
use lightlag_core::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

/// Records of a run in addition to its summary.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, default)]
pub struct Record {
    /// When the state of senders is recorded: at each change (change), at intervals (sampled), or never (off).
    pub trace: TraceMode,
    /// When the queues of links are recorded: at intervals (sampled), or never (off).
    pub queue: QueueMode,
    /// Whether every dropped packet is recorded.
    pub drops: bool,
    /// Time between samples, above zero.
    pub interval: Duration,
    /// Whether each ACK that a sender receives is recorded; off by default.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub acks: bool,
    /// Whether the trace includes the internal state of the congestion control, such as the model and the gains of BBR
    /// or ρ of Hybla; off by default.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub internals: bool,
    /// Whether the waiting times of data packets are recorded at each link direction; off by default.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub queueing: bool,
    /// Time between two samples of the positions of nodes with radios, 1 s by default; `"off"` records none.
    #[serde(skip_serializing_if = "is_each_second", serialize_with = "shown_positions")]
    #[schemars(with = "String")]
    pub positions: Option<Duration>,
    /// Packet captures, as files for other tools; by default none are written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pcap: Option<Pcap>,
}

/// When the state of a sender is recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TraceMode {
    /// At each change of cwnd, ssthresh or phase, and once per interval.
    #[default]
    Change,
    /// Once per interval.
    Sampled,
    /// Never.
    Off,
}

/// When link queues are recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum QueueMode {
    /// Once per interval.
    #[default]
    Sampled,
    /// Never.
    Off,
}

impl QueueMode {
    /// Returns true if anything is recorded.
    pub fn is_on(self) -> bool {
        self == Self::Sampled
    }
}

impl Default for Record {
    /// Returns the defaults: senders, queues, dropped packets and positions are recorded, senders and queues every 100
    /// ms.
    fn default() -> Self {
        Self {
            trace: TraceMode::default(),
            queue: QueueMode::default(),
            drops: true,
            interval: Duration::from_millis(100),
            acks: false,
            internals: false,
            queueing: false,
            positions: EACH_SECOND,
            pcap: None,
        }
    }
}

/// Default interval of positions, once per second.
const EACH_SECOND: Option<Duration> = Some(Duration::from_secs(1));

fn is_each_second(positions: &Option<Duration>) -> bool {
    *positions == EACH_SECOND
}

fn shown_positions<S: Serializer>(positions: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    match positions {
        Some(interval) => interval.serialize(serializer),
        None => serializer.serialize_str("off"),
    }
}

/// Reads the time between two samples of positions.
fn positions(table: &mut TableReader, errors: &mut Errors) -> Option<Duration> {
    match table.value("positions") {
        None => EACH_SECOND,
        Some(Value::String(word)) if word == "off" => None,
        Some(value) => {
            let key_path = table.path("positions");
            let interval = Duration::read(value, &key_path, errors).unwrap_or(Duration::from_secs(1));
            if interval.is_zero() {
                errors.push(key_path, "0 s is not a valid sampling interval; write a time such as \"1 s\", or \"off\"");
            }
            Some(interval)
        }
    }
}

impl FromValue for TraceMode {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        leaf(value, path, errors)
    }
}

impl FromValue for QueueMode {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        leaf(value, path, errors)
    }
}

impl FromValue for Record {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let mut table = TableReader::open(
            value,
            path,
            "a table with trace, queue, drops, interval, acks, internals, queueing, positions and pcap",
            errors,
        )?;
        let default = Self::default();
        let interval: Duration = table.optional("interval", errors).unwrap_or(default.interval);
        if interval.is_zero() {
            errors.push(
                Path::Key(path, "interval"),
                "0 s is not a valid sampling interval; write a time such as \"100 ms\"",
            );
        }
        let record = Self {
            trace: table.optional("trace", errors).unwrap_or_default(),
            queue: table.optional("queue", errors).unwrap_or_default(),
            drops: table.optional("drops", errors).unwrap_or(default.drops),
            interval,
            acks: table.optional("acks", errors).unwrap_or_default(),
            internals: table.optional("internals", errors).unwrap_or_default(),
            queueing: table.optional("queueing", errors).unwrap_or_default(),
            positions: positions(&mut table, errors),
            pcap: table.optional("pcap", errors),
        };
        table.finish(errors);
        Some(record)
    }
}
