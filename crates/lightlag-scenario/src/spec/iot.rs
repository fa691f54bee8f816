//! The topology of a sensor network with a satellite backhaul: sensors, sinks, a gateway and a server.

use super::{Access, FlowTemplate, Line, access, access_at, line_of, many};
use crate::read::{Errors, FromValue, Path, TableReader, shown};
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::{Value, json};

/// Maximum number of sinks, and maximum number of sensors per sink.
const MOST: u64 = 1_000_000;

/// `sensor1`, `sensor2`, … attached to `sink1`, `sink2`, …, which are attached to `gateway`, with a satellite link from
/// there to `server`. Each sensor sends messages by UDP to its sink, which writes them into one connection to the
/// server.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, transform = defaults)]
pub struct Iot {
    /// Number of sinks, at least 1.
    pub sinks: u64,
    /// Number of sensors per sink, at least 1.
    pub sensors: u64,
    /// Link from `gateway` to `server`.
    #[serde(flatten)]
    pub line: Line,
    /// Link from each sink to the gateway; by default ten times the rate of the satellite link and 1 ms. Data flows in
    /// the forward direction.
    pub access: Access,
    /// Link from each sensor to its sink; by default 250 kbit/s and 5 ms (IEEE 802.15.4).
    pub radio: Access,
    /// Flow of each sensor; by default messages of 100 B by UDP at random times, once per minute.
    pub sensor: FlowTemplate,
    /// Connection from each sink to the server; by default its traffic is `{ kind = "collect" }`.
    pub flow: FlowTemplate,
}

impl Iot {
    /// Reads the keys next to `kind`.
    pub(crate) fn read_from(table: &mut TableReader, path: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let sinks = many(table, path, "sinks", MOST, errors);
        let sensors = many(table, path, "sensors", MOST, errors);
        let line = Line::read_from(table, errors);
        let access = access(table, path, line.as_ref(), errors);
        let radio = match table.value("radio") {
            Some(value) => access_at(value, &Path::Key(path, "radio"), Some(default_radio()), errors),
            None => line_of(&default_radio(), &Path::Key(path, "radio"), errors),
        };
        let message = json!({ "kind": "poisson", "size": "100 B", "every": "60 s" });
        let sensor = template(table, path, "sensor", &[("transport", json!("udp")), ("traffic", message)], errors);
        let flow = template(table, path, "flow", &[("traffic", json!({ "kind": "collect" }))], errors);
        if errors.len() > before {
            return None;
        }
        let (access, radio) = (Access { line: access? }, Access { line: radio? });
        Some(Self { sinks: sinks?, sensors: sensors?, line: line?, access, radio, sensor: sensor?, flow: flow? })
    }

    /// Returns the number of links.
    pub(crate) fn link_count(&self) -> u64 {
        self.sinks.saturating_mul(self.sensors.saturating_add(1)).saturating_add(1)
    }

    /// Returns the number of flows. `count` returns the number of flows of a template.
    pub(crate) fn flow_count(&self, count: impl Fn(&FlowTemplate) -> u64) -> u64 {
        let sensors = self.sinks.saturating_mul(self.sensors).saturating_mul(count(&self.sensor));
        sensors.saturating_add(self.sinks.saturating_mul(count(&self.flow)))
    }

    /// Returns the links: the satellite link, then the links of sinks, then the links of sensors.
    pub(crate) fn links(&self) -> Box<dyn Iterator<Item = ([String; 2], &Line)> + '_> {
        let satellite = (["gateway", "server"].map(str::to_owned), &self.line);
        let sinks = (1..=self.sinks).map(|sink| ([format!("sink{sink}"), "gateway".to_owned()], &self.access.line));
        let sensors = self.sensor_pairs().map(|pair| (pair, &self.radio.line));
        Box::new(std::iter::once(satellite).chain(sinks).chain(sensors))
    }

    /// Returns the path in the file of the table that describes the link with this index, and the description.
    pub(crate) fn place(&self, link: usize) -> (&'static str, &Line) {
        match link as u64 {
            0 => ("topology", &self.line),
            sink if sink <= self.sinks => ("topology.access", &self.access.line),
            _ => ("topology.radio", &self.radio.line),
        }
    }

    /// Returns all pairs of a sensor and its sink.
    pub(crate) fn sensor_pairs(&self) -> impl Iterator<Item = [String; 2]> + '_ {
        let all = self.sinks * self.sensors;
        (0..all).map(|at| [format!("sensor{}", at + 1), format!("sink{}", at / self.sensors + 1)])
    }

    /// Returns all pairs of a sink and the server.
    pub(crate) fn sink_pairs(&self) -> impl Iterator<Item = [String; 2]> + '_ {
        (1..=self.sinks).map(|sink| [format!("sink{sink}"), "server".to_owned()])
    }
}

/// Returns the default link of a sensor: IEEE 802.15.4 at 2.4 GHz.
fn default_radio() -> Value {
    json!({ "rate": "250 kbit/s", "delay": "5 ms" })
}

/// Reads a template of flows. Keys that are not given have these defaults.
fn template(
    table: &mut TableReader,
    path: &Path,
    key: &'static str,
    defaults: &[(&str, Value)],
    errors: &mut Errors,
) -> Option<FlowTemplate> {
    let mut entries = match table.value(key) {
        None => serde_json::Map::new(),
        Some(Value::Object(entries)) => entries.clone(),
        Some(other) => {
            errors.push(Path::Key(path, key), format!("{} is not a table with traffic, start and tcp", shown(other)));
            return None;
        }
    };
    for (key, default) in defaults {
        let slot = entries.entry(*key).or_insert(Value::Null);
        if slot.is_null() {
            *slot = default.clone();
        }
    }
    FlowTemplate::read(&Value::Object(entries), &Path::Key(path, key), errors)
}

/// Makes most keys optional in the schema.
fn defaults(schema: &mut Schema) {
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|key| !["access", "radio", "sensor", "flow"].iter().any(|optional| key == optional));
    }
}
