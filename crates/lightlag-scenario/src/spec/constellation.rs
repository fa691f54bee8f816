//! Constellations: satellites in shells or from a file, the links between them and to the ground, and ground stations.

use super::model::Chosen;
use super::{Model, settings};
use crate::read::{Errors, FromOutside, FromValue, Path, Table, described, not_one_of, quantity, shown};
use lightlag_core::params::Described;
use lightlag_core::{Rate, Unit};
use lightlag_orbit::own_ways::{Maker, OUTSIDE, Own};
use lightlag_orbit::shell::Motion;
use lightlag_orbit::{Handover, Rules, Selection, Utc};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

mod line;
mod shell;
mod station;

use line::Place;
pub use line::SkyLine;
pub use shell::ShellSpec;
pub use station::StationSpec;

/// Satellites, and how stations on the ground use them.
#[derive(Clone, PartialEq, Debug)]
pub struct Constellation {
    /// The time at which the run starts.
    pub start: Utc,
    /// Generated shells.
    pub shells: Vec<ShellSpec>,
    /// A file of orbital elements, beside or instead of shells.
    pub file: Option<String>,
    /// The links between satellites.
    pub isls: Grid,
    /// Degrees of latitude beyond which links between planes are off.
    pub polar_limit: f64,
    /// Degrees above the horizon from which on a station uses a satellite.
    pub elevation: f64,
    /// The limit of what a station uses.
    pub visibility: Sight,
    /// Links between satellites.
    pub isl: SkyLine,
    /// The transmitter of a station.
    pub uplink: SkyLine,
    /// The transmitter of a satellite to the ground.
    pub downlink: SkyLine,
    /// The satellites that a station uses.
    pub selection: Model<Selection>,
    /// Rules by which ways are chosen.
    pub rules: Rules,
    /// The router from outside that chooses them instead, if there is one.
    pub routing: Option<Own>,
    /// Effects of a handover.
    pub handover: Handover,
}

/// Links between satellites.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Grid {
    /// Two in the plane and two to the planes beside it.
    #[default]
    Plus,
    /// None: a packet goes up to a satellite and down again.
    None,
    /// Those between these, by name.
    Pairs(Vec<[String; 2]>),
}

impl Grid {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let what = "\"grid\", \"none\", or a list of pairs of satellites such as [[\"sat-1-1\", \"sat-1-2\"]]";
        match value {
            Value::String(text) if text == "grid" => Some(Self::Plus),
            Value::String(text) if text == "none" => Some(Self::None),
            Value::Array(pairs) => {
                let before = errors.len();
                let pair = |(index, pair): (usize, &Value)| {
                    let names = pair.as_array().and_then(|names| <&[Value; 2]>::try_from(names.as_slice()).ok());
                    let names = names.and_then(|[a, b]| Some([a.as_str()?.to_owned(), b.as_str()?.to_owned()]));
                    if names.is_none() {
                        errors.push(
                            Path::Index(at, index),
                            format!("{} is not a pair of names of satellites", shown(pair)),
                        );
                    }
                    names
                };
                let pairs: Vec<_> = pairs.iter().enumerate().filter_map(pair).collect();
                (errors.len() == before).then_some(Self::Pairs(pairs))
            }
            other => {
                errors.push(at, format!("{} is not {what}", shown(other)));
                None
            }
        }
    }

    fn written(&self) -> Value {
        match self {
            Self::Plus => json!("grid"),
            Self::None => json!("none"),
            Self::Pairs(pairs) => json!(pairs),
        }
    }
}

/// The limit of what a station uses.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Sight {
    /// By the true angle above the horizon.
    #[default]
    Elevation,
    /// By the distance that the elevation would give on a flat Earth, as in Hypatia.
    Slant,
    /// By this distance, metres; then the elevation does not count.
    Within(f64),
}

impl Sight {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        if !value.is_object() {
            return word(value, "a rule of visibility", &SIGHTS, at, errors);
        }
        let mut table = Table::open(value, at, "a table such as { slant = \"1260 km\" }", errors)?;
        let slant = table.value("slant").cloned();
        table.finish(errors);
        let Some(slant) = slant else {
            errors.push(at, "has no distance; write { slant = \"1260 km\" }");
            return None;
        };
        quantity(&slant, Unit::Metre, SLANTS, &Path::Key(at, "slant"), errors).map(Self::Within)
    }

    fn written(self) -> Value {
        match self {
            Self::Within(distance) => json!({ "slant": metres(distance) }),
            rule => json!(name_of(&SIGHTS, &rule)),
        }
    }
}

const SIGHTS: [(&str, Sight); 2] = [("elevation", Sight::Elevation), ("slant", Sight::Slant)];
/// The distances up to which a station may use a satellite.
const SLANTS: (f64, f64) = (100e3, 1e8);
const MOTIONS: [(&str, Motion); 2] = [("sgp4", Motion::Sgp4), ("circular", Motion::Circular)];
/// The highest rates of a preset are those of lasers and of Ka-band cells that are not shared with others.
const ISL: Rate = Rate::from_mbps(20_000);
const UPLINK: Rate = Rate::from_mbps(50);
const DOWNLINK: Rate = Rate::from_mbps(500);
/// An elevation below which the atmosphere and the ground take most signals.
const ELEVATION: f64 = 25.0;
const NO_LIMIT: f64 = 90.0;

/// A word of a list.
fn word<T: Copy>(value: &Value, what: &str, words: &[(&'static str, T)], at: &Path, errors: &mut Errors) -> Option<T> {
    let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
    let Value::String(text) = value else {
        errors.push(at, format!("{} is not {what}; write one of {}", shown(value), names.join(", ")));
        return None;
    };
    let found = words.iter().find(|(name, _)| name == text).map(|(_, value)| *value);
    if found.is_none() {
        errors.push(at, not_one_of(text, what, &names));
    }
    found
}

fn name_of<T: PartialEq>(words: &[(&'static str, T)], of: &T) -> &'static str {
    words.iter().find(|(_, value)| value == of).map_or("", |(name, _)| name)
}

/// An angle of a table within bounds.
fn angle(table: &mut Table, key: &'static str, bounds: (f64, f64), errors: &mut Errors) -> Option<f64> {
    let value = table.value(key)?;
    quantity(value, Unit::Degree, bounds, &table.path(key), errors)
}

fn degrees(number: f64) -> Value {
    json!(Unit::Degree.show(number).to_string())
}

fn metres(number: f64) -> Value {
    json!(Unit::Metre.show(number).to_string())
}

impl FromValue for Constellation {
    const IS_TABLE: bool = true;

    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let mut table = Table::open(value, at, "a table with shells or a file", errors)?;
        let start = table.value("start").and_then(|value| utc(value, &Path::Key(at, "start"), errors));
        let shells = match table.value("shells") {
            None => Vec::new(),
            Some(Value::Array(items)) => {
                let list = Path::Key(at, "shells");
                let read = |(index, item)| ShellSpec::read(item, &Path::Index(&list, index), errors);
                items.iter().enumerate().filter_map(read).collect()
            }
            Some(other) => {
                errors.push(Path::Key(at, "shells"), format!("{} is not a list of shells", shown(other)));
                Vec::new()
            }
        };
        let file: Option<String> = table.optional("file", errors);
        if shells.is_empty() && file.is_none() && errors.len() == before {
            let message = "has no satellites; write shells = [{ height = \"550 km\", … }], or a file of elements";
            errors.push(at, message);
        }
        let isls =
            table.value("isls").and_then(|value| Grid::read(value, &Path::Key(at, "isls"), errors)).unwrap_or_default();
        let visibility = table
            .value("visibility")
            .and_then(|value| Sight::read(value, &Path::Key(at, "visibility"), errors))
            .unwrap_or_default();
        let polar_limit = angle(&mut table, "polar_limit", (0.0, 90.0), errors).unwrap_or(NO_LIMIT);
        let elevation = angle(&mut table, "elevation", (0.0, 89.9), errors).unwrap_or(ELEVATION);
        let isl = SkyLine::read(&mut table, "isl", Place::Between, ISL, at, errors);
        let uplink = SkyLine::read(&mut table, "uplink", Place::Up, UPLINK, at, errors);
        let downlink = SkyLine::read(&mut table, "downlink", Place::Down, DOWNLINK, at, errors);
        let selection = table.optional("selection", errors).unwrap_or_default();
        let handover = handover(&mut table, at, errors);
        let rules = settings::read(Rules::default(), &mut table, at, errors);
        let routing = table.value("routing").and_then(|value| routing(value, &Path::Key(at, "routing"), errors));
        for key in ["shortest", "load_penalty"] {
            if routing.is_some() && table.value(key).is_some() {
                let message = "stands beside a router of one's own, which chooses the ways; leave it out";
                errors.push(Path::Key(at, key), message);
            }
        }
        table.finish(errors);
        if visibility == Sight::Slant && (shells.is_empty() || elevation <= 0.0) {
            let message = "needs the height of a shell and an elevation above 0 deg; take \"elevation\"";
            errors.push(Path::Key(at, "visibility"), message);
        }
        let constellation = Self {
            start: start.unwrap_or(Utc::Y2000),
            shells,
            file,
            isls,
            polar_limit,
            elevation,
            visibility,
            isl,
            uplink,
            downlink,
            selection,
            rules,
            routing,
            handover,
        };
        (errors.len() == before).then_some(constellation)
    }
}

fn utc(value: &Value, at: &Path, errors: &mut Errors) -> Option<Utc> {
    let read = value.as_str().and_then(|text| text.parse().ok());
    if read.is_none() {
        errors.push(at, format!("{} is not a time in UTC, such as \"2026-01-01T00:00:00Z\"", shown(value)));
    }
    read
}

const FROM_OUTSIDE: FromOutside<dyn Maker> =
    FromOutside { registry: &OUTSIDE, word: "protocol", what: "a router", beside: &[] };

fn routing(value: &Value, at: &Path, errors: &mut Errors) -> Option<Own> {
    let found = FROM_OUTSIDE.read(value, at, errors)?;
    if found.is_none() {
        let message = format!("{} is no router of one's own, such as {{ python = \"mine.py:Mine\" }}", shown(value));
        errors.push(at, message);
    }
    found
}

fn handover(table: &mut Table, at: &Path, errors: &mut Errors) -> Handover {
    let Some(value) = table.value("handover") else { return Handover::default() };
    let at = Path::Key(at, "handover");
    let Some(mut table) = Table::open(value, &at, "a table such as { pause = \"20 ms\" }", errors) else {
        return Handover::default();
    };
    let handover = settings::read(Handover::default(), &mut table, &at, errors);
    table.finish(errors);
    handover
}

impl Serialize for Constellation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut table = Map::new();
        table.insert("start".to_owned(), json!(self.start.to_string()));
        if !self.shells.is_empty() {
            table.insert("shells".to_owned(), json!(self.shells));
        }
        if let Some(file) = &self.file {
            table.insert("file".to_owned(), json!(file));
        }
        table.insert("isls".to_owned(), self.isls.written());
        if self.polar_limit < NO_LIMIT {
            table.insert("polar_limit".to_owned(), degrees(self.polar_limit));
        }
        table.insert("elevation".to_owned(), degrees(self.elevation));
        if self.visibility != Sight::default() {
            table.insert("visibility".to_owned(), self.visibility.written());
        }
        for (key, line) in [("isl", &self.isl), ("uplink", &self.uplink), ("downlink", &self.downlink)] {
            table.insert(key.to_owned(), line.written());
        }
        table.insert("selection".to_owned(), json!(self.selection));
        settings::write(&self.rules, &Rules::default(), &mut table);
        if let Some(routing) = &self.routing {
            table.insert("routing".to_owned(), Value::Object(FROM_OUTSIDE.written(routing)));
        }
        let mut handover = Map::new();
        settings::write(&self.handover, &Handover::default(), &mut handover);
        if !handover.is_empty() {
            table.insert("handover".to_owned(), Value::Object(handover));
        }
        table.serialize(serializer)
    }
}

impl Chosen for Selection {
    const SCHEMA: &'static str = "Selection";
    const KEY: &'static str = "rule";
    const WHAT: &'static str = "a rule by which a station selects satellites";
    fn usual() -> Self {
        Self::default()
    }
}

/// The schema of an angle.
fn angle_schema(about: &str) -> Value {
    json!({ "type": "string", "description": about, "examples": ["25 deg"] })
}

impl JsonSchema for Constellation {
    fn schema_name() -> Cow<'static, str> {
        "Constellation".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let line = json!(generator.subschema_for::<SkyLine>());
        let shells = json!({
            "type": "array", "items": generator.subschema_for::<ShellSpec>(),
            "description": "Walker shells, in the place of a file."
        });
        let mut handover = Map::new();
        settings::properties::<Handover>(&mut handover, generator);
        let properties = json!({
            "start": { "type": "string", "description": "UTC at the start of the run", "examples": ["2026-01-01T00:00:00Z"] },
            "shells": shells,
            "file": { "type": "string", "description": "a file of orbital elements: two-line sets, or OMM as JSON, CSV, keywords (KVN) or XML" },
            "isls": {
                "anyOf": [
                    { "enum": ["grid", "none"] },
                    {
                        "type": "array",
                        "items": { "type": "array", "items": { "type": "string" }, "minItems": 2, "maxItems": 2 }
                    }
                ],
                "default": "grid",
                "description": "links between satellites: to the neighbours in the plane and in the planes next to it (planes and slots of a file are found in its orbits), none, or pairs of names"
            },
            "polar_limit": angle_schema("of latitude, beyond which links between planes are off"),
            "elevation": angle_schema("above the horizon, from which on a station uses a satellite"),
            "visibility": {
                "anyOf": [
                    { "enum": ["elevation", "slant"] },
                    {
                        "type": "object", "properties": { "slant": {
                            "type": "string", "examples": ["1260 km"],
                            "description": "Distance up to which a station uses a satellite; the elevation does not count then."
                        } },
                        "required": ["slant"], "additionalProperties": false
                    }
                ],
                "default": "elevation",
                "description": "elevation: a satellite is seen from that elevation on; slant: up to the distance that it has there on a flat Earth, or up to a given one"
            },
            "isl": described(&line, "The transmitters between satellites."),
            "uplink": described(&line, "The transmitters of stations."),
            "downlink": described(&line, "The transmitters of satellites to the ground."),
            "selection": described(generator.subschema_for::<Model<Selection>>(), "How a station selects its satellites."),
            "handover": {
                "type": "object", "description": Handover::ABOUT, "properties": handover, "additionalProperties": false
            },
        });
        let Value::Object(mut properties) = properties else { return Schema::default() };
        settings::properties::<Rules>(&mut properties, generator);
        let [_, python] = FROM_OUTSIDE.forms(&json!({}));
        properties.insert("routing".to_owned(), python);
        json_schema!({
            "description": "satellites, the links between them and to the ground, and how stations use them",
            "type": "object", "properties": properties, "additionalProperties": false
        })
    }
}
