//! Records of a run.

use super::Pcap;
use crate::read::{Errors, FromValue, Path, Table, leaf};
use lightlag_core::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

/// Records of a run beside its summary.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, default)]
pub struct Record {
    /// The state of senders over time.
    pub trace: TraceMode,
    /// Packets that wait at links over time.
    pub queue: QueueMode,
    /// Every dropped packet.
    pub drops: bool,
    /// Time between samples, above zero.
    pub interval: Duration,
    /// Each ACK that a sender takes; off by default.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub acks: bool,
    /// State of the congestion control in the trace: the model and the gains of BBR, ρ of Hybla; off by default.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub internals: bool,
    /// Time for which data packets wait at each link direction; off by default.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub queueing: bool,
    /// Time between two samples of the positions of nodes with radios; by default 1 s, and none for `"off"`.
    #[serde(skip_serializing_if = "is_each_second", serialize_with = "shown_positions")]
    #[schemars(with = "String")]
    pub positions: Option<Duration>,
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
            internals: false,
            queueing: false,
            positions: EACH_SECOND,
            pcap: None,
        }
    }
}

/// Positions once a second.
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
fn positions(table: &mut Table, errors: &mut Errors) -> Option<Duration> {
    match table.value("positions") {
        None => EACH_SECOND,
        Some(Value::String(word)) if word == "off" => None,
        Some(value) => {
            let at = table.path("positions");
            let interval = Duration::read(value, &at, errors).unwrap_or(Duration::from_secs(1));
            if interval.is_zero() {
                errors.push(at, "0 s between samples never ends; write a time such as \"1 s\", or \"off\"");
            }
            Some(interval)
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
        let mut table = Table::open(
            value,
            at,
            "a table with trace, queue, drops, interval, acks, internals, queueing, positions and pcap",
            errors,
        )?;
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
            internals: table.optional("internals", errors).unwrap_or_default(),
            queueing: table.optional("queueing", errors).unwrap_or_default(),
            positions: positions(&mut table, errors),
            pcap: table.optional("pcap", errors),
        };
        table.finish(errors);
        Some(record)
    }
}
