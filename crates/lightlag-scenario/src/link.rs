//! Links as asked for: rate, delay, queue, loss and header of both directions.

use super::changes::{Changes, OutageRule};
use super::demand::OnDemand;
use super::disturbance::{Duplication, Reorder};
use super::error::{Errors, Path};
use super::fade::Fade;
use super::jitter::JitterSpec;
use super::loss::LossModel;
use super::propagation::Propagation;
use super::queue::Queue;
use super::reader::{FromValue, Table, leaf, shown};
use super::signals::Signals;
use super::trace::{Trace, TraceFormat};
use lightlag_core::{Bytes, Duration, Probability, Rate};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::borrow::Cow;

/// The longest time: exact when printed and read again, and longer than light takes through the solar system.
pub(super) const LONGEST: Duration = Duration::from_secs(20 * 24 * 3600);
/// The largest size, 1000 TB: exact when printed and read again.
pub(super) const LARGEST: Bytes = Bytes(1_000_000_000_000_000);
/// The highest rate, 1000 Tbit/s.
pub(super) const FASTEST: Rate = Rate::from_mbps(1_000_000_000);
/// The largest link-layer header.
const LARGEST_HEADER: Bytes = Bytes(10_000);

/// A full-duplex link between two nodes. The first is where `forward` begins.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct LinkSpec {
    /// The two nodes. A node exists by being named here.
    pub between: [String; 2],
    /// What the link is like.
    #[serde(flatten)]
    pub line: Line,
}

/// What a link is like, in both directions.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct Line {
    /// How fast bits leave.
    pub rate: PerDirection<Rate>,
    /// Propagation delay: a time, or the way that light travels.
    #[schemars(with = "PerDirection<Propagation>")]
    pub delay: PerDirection<Duration>,
    /// How the delay differs from packet to packet.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(default)]
    pub jitter: PerDirection<JitterSpec>,
    /// How much may wait for transmission, `"1000 packets"`, `"64 kB"` or `"1 bdp"`, or a table with a discipline.
    #[schemars(default)]
    pub queue: PerDirection<Queue>,
    /// Which packets are lost, other than for want of room.
    #[schemars(default)]
    pub loss: PerDirection<LossModel>,
    /// Which packets are held back, so that later ones pass.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(default)]
    pub reorder: PerDirection<Reorder>,
    /// How likely a packet arrives twice.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(default)]
    pub duplicate: PerDirection<Duplication>,
    /// What the link is like from some times on.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(default)]
    pub changes: PerDirection<Changes>,
    /// A file that says how the link changes, in the place of `changes`.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(default)]
    pub trace: PerDirection<Trace>,
    /// What an outage does to packets.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(default)]
    pub outage: PerDirection<OutageRule>,
    /// Rain that drives the rate of the link.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(default)]
    pub fade: PerDirection<Fade>,
    /// A transmitter that must ask for bandwidth.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(default)]
    pub on_demand: PerDirection<OnDemand>,
    /// What the stations at both ends tell the ends of flows.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(default)]
    pub signals: Signals,
    /// Link-layer header and trailer of every packet.
    #[schemars(default)]
    pub header: Bytes,
}

/// One value for both directions of a link, or one each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PerDirection<T> {
    /// From the first node to the second.
    pub forward: T,
    /// From the second node to the first.
    pub backward: T,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl<T: Clone> PerDirection<T> {
    /// The same both ways.
    pub fn both(value: T) -> Self {
        Self { forward: value.clone(), backward: value }
    }
}

impl FromValue for LinkSpec {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let mut table = Table::open(value, at, "a table with between, rate and delay", errors)?;
        let between = table.required("between", "name the two nodes, such as [\"client\", \"server\"]", errors);
        let line = Line::read_from(&mut table, errors);
        table.finish(errors);
        Some(Self { between: between?, line: line? })
    }
}

impl Line {
    /// Reads the keys of a line beside others of the same table.
    pub(super) fn read_from(table: &mut Table, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let rate: Option<PerDirection<Rate>> =
            table.required("rate", "say how fast bits leave, such as \"10 Mbit/s\"", errors);
        let delay: Option<PerDirection<Propagation>> =
            table.required("delay", "say how long a bit travels, such as \"300 ms\"", errors);
        let delay = delay.map(|delay| PerDirection { forward: delay.forward.0, backward: delay.backward.0 });
        let jitter: PerDirection<JitterSpec> = table.optional("jitter", errors).unwrap_or_default();
        if let Some(PerDirection { forward, backward }) = delay {
            let at = table.path("jitter");
            jitter.forward.check(forward, &at, errors);
            if jitter.backward != jitter.forward || backward != forward {
                jitter.backward.check(backward, &at, errors);
            }
        }
        let queue = table.optional("queue", errors).unwrap_or_default();
        let loss = table.optional("loss", errors).unwrap_or_default();
        let reorder = table.optional("reorder", errors).unwrap_or_default();
        let duplicate = table.optional("duplicate", errors).unwrap_or_default();
        let changes: PerDirection<Changes> = table.optional("changes", errors).unwrap_or_default();
        let trace: PerDirection<Trace> = table.optional("trace", errors).unwrap_or_default();
        let both = |changes: &Changes, trace: &Trace| *changes != Changes::default() && *trace != Trace::default();
        if both(&changes.forward, &trace.forward) || both(&changes.backward, &trace.backward) {
            errors.push(table.path("trace"), "a direction changes by a trace or by changes, not by both");
        }
        let outage = table.optional("outage", errors).unwrap_or_default();
        let fade: PerDirection<Fade> = table.optional("fade", errors).unwrap_or_default();
        let changes_too = |fade: &Fade, changes: &Changes, trace: &Trace| {
            fade.0.is_some() && (*changes != Changes::default() || *trace != Trace::default())
        };
        if changes_too(&fade.forward, &changes.forward, &trace.forward)
            || changes_too(&fade.backward, &changes.backward, &trace.backward)
        {
            errors
                .push(table.path("fade"), "a direction changes by rain, by changes or by a trace, not by two of them");
        }
        let on_demand = on_demand(table, rate.as_ref(), &trace, errors);
        let signals = table.optional("signals", errors).unwrap_or_default();
        let header = header(table, errors);
        let line = Self {
            rate: rate?,
            delay: delay?,
            jitter,
            queue,
            loss,
            reorder,
            duplicate,
            changes,
            trace,
            outage,
            fade,
            on_demand,
            signals,
            header,
        };
        (errors.len() == before).then_some(line)
    }
}

/// What one direction of a line is like.
pub(super) struct Side<'a> {
    pub(super) rate: Rate,
    pub(super) delay: Duration,
    pub(super) jitter: JitterSpec,
    pub(super) queue: Queue,
    pub(super) loss: &'a LossModel,
    pub(super) reorder: Reorder,
    pub(super) duplicate: Duplication,
    pub(super) changes: &'a Changes,
    pub(super) trace: &'a Trace,
    pub(super) outage: OutageRule,
    pub(super) fade: Fade,
    pub(super) on_demand: OnDemand,
}

impl Line {
    /// The direction from the first node to the second.
    pub(super) fn forward(&self) -> Side<'_> {
        Side {
            rate: self.rate.forward,
            delay: self.delay.forward,
            jitter: self.jitter.forward,
            queue: self.queue.forward,
            loss: &self.loss.forward,
            reorder: self.reorder.forward,
            duplicate: self.duplicate.forward,
            changes: &self.changes.forward,
            trace: &self.trace.forward,
            outage: self.outage.forward,
            fade: self.fade.forward,
            on_demand: self.on_demand.forward,
        }
    }

    /// The direction from the second node to the first.
    pub(super) fn backward(&self) -> Side<'_> {
        Side {
            rate: self.rate.backward,
            delay: self.delay.backward,
            jitter: self.jitter.backward,
            queue: self.queue.backward,
            loss: &self.loss.backward,
            reorder: self.reorder.backward,
            duplicate: self.duplicate.backward,
            changes: &self.changes.backward,
            trace: &self.trace.backward,
            outage: self.outage.backward,
            fade: self.fade.backward,
            on_demand: self.on_demand.backward,
        }
    }
}

/// Bandwidth on demand, as far as the rate and the trace of the link allow it.
fn on_demand(
    table: &mut Table,
    rate: Option<&PerDirection<Rate>>,
    trace: &PerDirection<Trace>,
    errors: &mut Errors,
) -> PerDirection<OnDemand> {
    let both: PerDirection<OnDemand> = table.optional("on_demand", errors).unwrap_or_default();
    let at = table.path("on_demand");
    if let Some(PerDirection { forward, backward }) = rate {
        both.forward.check(*forward, &at, errors);
        if both.backward != both.forward || backward != forward {
            both.backward.check(*backward, &at, errors);
        }
    }
    let is_delivered = |trace: &Trace| trace.0.as_ref().is_some_and(|trace| trace.format == TraceFormat::Mahimahi);
    let sides = [(both.forward, &trace.forward), (both.backward, &trace.backward)];
    if sides.into_iter().any(|(demand, trace)| demand.0.is_some() && is_delivered(trace)) {
        errors.push(at, "a trace of deliveries says already what leaves when; leave one of the two out");
    }
    both
}

/// The link-layer header of a table, zero by default.
fn header(table: &mut Table, errors: &mut Errors) -> Bytes {
    table.optional::<Header>("header", errors).map_or(Bytes::ZERO, |header| header.0)
}

struct Header(Bytes);

impl FromValue for Header {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let bytes: Bytes = leaf(value, at, errors)?;
        if bytes > LARGEST_HEADER {
            errors.push(at, format!("{} is above {LARGEST_HEADER}, the largest link-layer header", shown(value)));
            return None;
        }
        Some(Self(bytes))
    }
}

impl FromValue for [String; 2] {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        match value.as_array().map(Vec::as_slice) {
            Some([a, b]) => {
                let names = [a, b].map(|name| NodeName::read(name, at, errors));
                let [Some(a), Some(b)] = names else { return None };
                if a.0 == b.0 {
                    errors.push(at, format!("{:?} twice: a link joins two different nodes", a.0));
                    return None;
                }
                Some([a.0, b.0])
            }
            Some(other) => {
                errors.push(at, format!("{} names where there must be two, such as [\"a\", \"b\"]", other.len()));
                None
            }
            None => {
                errors.push(at, format!("{} is not a list of two nodes, such as [\"a\", \"b\"]", shown(value)));
                None
            }
        }
    }
}

/// The name of a node.
pub(super) struct NodeName(pub(super) String);

impl FromValue for NodeName {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let name = String::read(value, at, errors)?;
        match refusal_of_name(&name) {
            Some(reason) => {
                errors.push(at, format!("{} is no name for a node: {reason}", shown(value)));
                None
            }
            None => Some(Self(name)),
        }
    }
}

/// Why a text cannot name a part of a network.
pub(super) fn refusal_of_name(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        Some("it is empty")
    } else if name.trim() != name {
        Some("it begins or ends with a space")
    } else if name.chars().any(char::is_control) {
        Some("it has a control character")
    } else if name.chars().count() > 100 {
        Some("it is longer than 100 characters")
    } else if name.contains("->") {
        Some("-> stands between the nodes of a link")
    } else {
        None
    }
}

impl FromValue for Rate {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let rate: Rate = leaf(value, at, errors)?;
        if rate > FASTEST {
            errors.push(at, format!("{} is above {FASTEST}, the highest rate of a link", shown(value)));
            return None;
        }
        Some(rate)
    }
}

impl FromValue for Duration {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let time: Duration = leaf(value, at, errors)?;
        if time > LONGEST {
            errors.push(at, format!("{} is above 480 h, the longest time in a scenario", shown(value)));
            return None;
        }
        Some(time)
    }
}

pub(super) fn probability(value: &Value, at: &Path, errors: &mut Errors) -> Option<Probability> {
    let probability = value.as_f64().and_then(Probability::new);
    if probability.is_none() {
        errors.push(at, format!("{} is not a probability between 0 and 1, such as 1e-4", shown(value)));
    }
    probability
}

/// What a direction has that a table does not mention.
pub(super) trait Omitted: Sized {
    /// Whether a table of it may name the one direction that it is for.
    const NAMES_DIRECTION: bool = false;

    fn omitted() -> Option<Self>;
}

/// A rate has no default: both directions are given or none.
impl Omitted for Rate {
    fn omitted() -> Option<Self> {
        None
    }
}

impl Omitted for Queue {
    fn omitted() -> Option<Self> {
        Some(Self::default())
    }
}

impl Omitted for Reorder {
    fn omitted() -> Option<Self> {
        Some(Self::default())
    }
}

impl Omitted for Duplication {
    fn omitted() -> Option<Self> {
        Some(Self::default())
    }
}

impl<T: FromValue + Omitted + Clone> FromValue for PerDirection<T> {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let by_direction = match value {
            Value::Object(entries) => !T::IS_TABLE || entries.keys().any(|key| key == "forward" || key == "backward"),
            _ => false,
        };
        if !by_direction {
            let one = T::read(value, at, errors);
            return match value.get("direction") {
                Some(direction) if T::NAMES_DIRECTION => of_one(one, direction, at, errors),
                _ => one.map(Self::both),
            };
        }
        if T::NAMES_DIRECTION && value.get("direction").is_some() {
            let at = Path::Key(at, "direction");
            errors.push(at, "forward and backward say it already; leave direction out");
            return None;
        }
        let mut table = Table::open(value, at, "a table with forward and backward", errors)?;
        let mut side = |key| match T::omitted() {
            Some(omitted) if table.value(key).is_none() => Some(omitted),
            _ => table.required(key, "give both directions, or one value for both", errors),
        };
        let (forward, backward) = (side("forward"), side("backward"));
        table.finish(errors);
        Some(Self { forward: forward?, backward: backward? })
    }
}

/// What was said of one direction; nothing of the other.
fn of_one<T: Omitted>(value: Option<T>, direction: &Value, at: &Path, errors: &mut Errors) -> Option<PerDirection<T>> {
    match (direction.as_str(), T::omitted()) {
        (Some("forward"), Some(other)) => Some(PerDirection { forward: value?, backward: other }),
        (Some("backward"), Some(other)) => Some(PerDirection { forward: other, backward: value? }),
        _ => {
            errors.push(
                Path::Key(at, "direction"),
                format!("{} is not \"forward\" or \"backward\"; without the key it is both", shown(direction)),
            );
            None
        }
    }
}

impl<T: Serialize + PartialEq> Serialize for PerDirection<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        if self.forward == self.backward {
            return self.forward.serialize(serializer);
        }
        let mut table = serializer.serialize_struct("PerDirection", 2)?;
        table.serialize_field("forward", &self.forward)?;
        table.serialize_field("backward", &self.backward)?;
        table.end()
    }
}

impl<T: JsonSchema> JsonSchema for PerDirection<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}PerDirection", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        json_schema!({
            "description": "One value for both directions, or one each.",
            "anyOf": [
                one,
                {
                    "type": "object",
                    "properties": { "forward": one, "backward": one },
                    "additionalProperties": false
                }
            ]
        })
    }
}
