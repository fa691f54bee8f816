//! The generator of sensor networks behind a satellite: sensors, sinks, a gateway, a server.

use super::{Access, FlowTemplate, Line, access, access_at, line_of, many};
use crate::read::{Errors, FromValue, Path, Table, shown};
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::{Value, json};

/// The most sinks, and sensors of a sink.
const MOST: u64 = 1_000_000;

/// `sensor1`, `sensor2`, … behind `sink1`, `sink2`, …, which are behind `gateway`; a satellite from there to `server`.
/// Each sensor sends messages by UDP to its sink, which writes them into one connection to the server.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, transform = defaults)]
pub struct Iot {
    /// Sinks, at least 1.
    pub sinks: u64,
    /// Sensors of each sink, at least 1.
    pub sensors: u64,
    /// The link from `gateway` to `server`.
    #[serde(flatten)]
    pub line: Line,
    /// The link of every sink to the gateway; by default ten times the rate of the satellite and 1 ms. Data flows forward
    /// on all of them.
    pub access: Access,
    /// The link of every sensor to its sink; by default 250 kbit/s and 5 ms (IEEE 802.15.4).
    pub radio: Access,
    /// Traffic of each sensor; by default messages of 100 B at random times, once a minute.
    pub sensor: FlowTemplate,
    /// The connection of each sink; by default its traffic is `{ kind = "collect" }`.
    pub flow: FlowTemplate,
}

impl Iot {
    /// Reads the keys beside `kind`.
    pub(crate) fn read_from(table: &mut Table, at: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let sinks = many(table, at, "sinks", MOST, errors);
        let sensors = many(table, at, "sensors", MOST, errors);
        let line = Line::read_from(table, errors);
        let access = access(table, at, line.as_ref(), errors);
        let radio = match table.value("radio") {
            Some(value) => access_at(value, &Path::Key(at, "radio"), Some(default_radio()), errors),
            None => line_of(&default_radio(), &Path::Key(at, "radio"), errors),
        };
        let message = json!({ "kind": "poisson", "size": "100 B", "every": "60 s" });
        let sensor = template(table, at, "sensor", &[("transport", json!("udp")), ("traffic", message)], errors);
        let flow = template(table, at, "flow", &[("traffic", json!({ "kind": "collect" }))], errors);
        if errors.len() > before {
            return None;
        }
        let (access, radio) = (Access { line: access? }, Access { line: radio? });
        Some(Self { sinks: sinks?, sensors: sensors?, line: line?, access, radio, sensor: sensor?, flow: flow? })
    }

    /// Number of its links.
    pub(crate) fn link_count(&self) -> u64 {
        self.sinks.saturating_mul(self.sensors.saturating_add(1)).saturating_add(1)
    }

    /// Number of its flows, where a template makes so many.
    pub(crate) fn flow_count(&self, count: impl Fn(&FlowTemplate) -> u64) -> u64 {
        let sensors = self.sinks.saturating_mul(self.sensors).saturating_mul(count(&self.sensor));
        sensors.saturating_add(self.sinks.saturating_mul(count(&self.flow)))
    }

    /// The satellite, then the links of sinks, then those of sensors.
    pub(crate) fn links(&self) -> Box<dyn Iterator<Item = ([String; 2], &Line)> + '_> {
        let satellite = (["gateway", "server"].map(str::to_owned), &self.line);
        let sinks = (1..=self.sinks).map(|sink| ([format!("sink{sink}"), "gateway".to_owned()], &self.access.line));
        let sensors = self.sensor_pairs().map(|pair| (pair, &self.radio.line));
        Box::new(std::iter::once(satellite).chain(sinks).chain(sensors))
    }

    /// The table in the file of its link with this number, and what it is like.
    pub(crate) fn place(&self, link: usize) -> (&'static str, &Line) {
        match link as u64 {
            0 => ("topology", &self.line),
            sink if sink <= self.sinks => ("topology.access", &self.access.line),
            _ => ("topology.radio", &self.radio.line),
        }
    }

    /// Each sensor and its sink.
    pub(crate) fn sensor_pairs(&self) -> impl Iterator<Item = [String; 2]> + '_ {
        let all = self.sinks * self.sensors;
        (0..all).map(|at| [format!("sensor{}", at + 1), format!("sink{}", at / self.sensors + 1)])
    }

    /// Each sink and the server.
    pub(crate) fn sink_pairs(&self) -> impl Iterator<Item = [String; 2]> + '_ {
        (1..=self.sinks).map(|sink| [format!("sink{sink}"), "server".to_owned()])
    }
}

/// A radio of IEEE 802.15.4 at 2.4 GHz.
fn default_radio() -> Value {
    json!({ "rate": "250 kbit/s", "delay": "5 ms" })
}

/// Flows with these values where nothing is said.
fn template(
    table: &mut Table,
    at: &Path,
    key: &'static str,
    defaults: &[(&str, Value)],
    errors: &mut Errors,
) -> Option<FlowTemplate> {
    let mut entries = match table.value(key) {
        None => serde_json::Map::new(),
        Some(Value::Object(entries)) => entries.clone(),
        Some(other) => {
            errors.push(Path::Key(at, key), format!("{} is not a table with traffic, start and tcp", shown(other)));
            return None;
        }
    };
    for (key, default) in defaults {
        let place = entries.entry(*key).or_insert(Value::Null);
        if place.is_null() {
            *place = default.clone();
        }
    }
    FlowTemplate::read(&Value::Object(entries), &Path::Key(at, key), errors)
}

/// In the file most of it may be left out.
fn defaults(schema: &mut Schema) {
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|key| !["access", "radio", "sensor", "flow"].iter().any(|optional| key == optional));
    }
}
