//! Constellations: satellites in shells or from a file, the links between them and to the ground, and ground stations.

use super::model::Chosen;
use super::{Model, settings};
use crate::read::{Errors, FromOutside, FromValue, Path, TableReader, described, not_one_of, quantity, shown};
use lightlag_core::params::Described;
use lightlag_core::{Rate, Unit};
use lightlag_orbit::satellite_routing::{CUSTOM, CustomSatelliteRouter, SatelliteRouterFactory};
use lightlag_orbit::shell::Motion;
use lightlag_orbit::{Handover, PathRules, Selection, Utc};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

mod line;
mod shell;
mod station;

pub use line::SatelliteLink;
use line::TransmitterEnds;
pub use shell::ShellSpec;
pub use station::GroundStationSpec;

/// Satellites, and the rules by which ground stations use them.
#[derive(Clone, PartialEq, Debug)]
pub struct Constellation {
    /// Date and time of the start of the run.
    pub start: Utc,
    /// Generated shells.
    pub shells: Vec<ShellSpec>,
    /// File of orbital elements, in addition to shells or instead of them.
    pub file: Option<String>,
    /// Pattern of the links between satellites.
    pub isls: Grid,
    /// Maximum latitude, in degrees, of active links between planes.
    pub polar_limit: f64,
    /// Minimum elevation, in degrees, of a satellite that a station can use.
    pub elevation: f64,
    /// Rule that limits which satellites a station can use.
    pub visibility: VisibilityLimit,
    /// Properties of links between satellites.
    pub isl: SatelliteLink,
    /// Transmitter of a station.
    pub uplink: SatelliteLink,
    /// Transmitter of a satellite to the ground.
    pub downlink: SatelliteLink,
    /// Rule that selects the satellites that a station uses.
    pub selection: Model<Selection>,
    /// Rules that select the paths.
    pub rules: PathRules,
    /// Custom router that replaces the built-in one, if there is one.
    pub routing: Option<CustomSatelliteRouter>,
    /// Effects of a handover.
    pub handover: Handover,
}

/// Pattern of the links between satellites.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Grid {
    /// Each satellite has two links within its plane, and two to the adjacent planes.
    #[default]
    Plus,
    /// No links: a packet goes up to a satellite and down again.
    None,
    /// Links between these pairs of satellites, given by name.
    Pairs(Vec<[String; 2]>),
}

impl Grid {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
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
                            Path::Index(path, index),
                            format!("{} is not a pair of names of satellites", shown(pair)),
                        );
                    }
                    names
                };
                let pairs: Vec<_> = pairs.iter().enumerate().filter_map(pair).collect();
                (errors.len() == before).then_some(Self::Pairs(pairs))
            }
            other => {
                errors.push(path, format!("{} is not {what}", shown(other)));
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

/// Limit on the satellites that a station can use.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum VisibilityLimit {
    /// Satellites above the minimum elevation.
    #[default]
    Elevation,
    /// Satellites up to the slant range at the minimum elevation, computed for a flat Earth, as in Hypatia.
    Slant,
    /// Satellites up to this slant range in metres, whatever the elevation.
    Within(f64),
}

impl VisibilityLimit {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        if !value.is_object() {
            return word(value, "a visibility rule", &SIGHTS, path, errors);
        }
        let mut table = TableReader::open(value, path, "a table such as { slant = \"1260 km\" }", errors)?;
        let slant = table.value("slant").cloned();
        table.finish(errors);
        let Some(slant) = slant else {
            errors.push(path, "has no distance; write { slant = \"1260 km\" }");
            return None;
        };
        quantity(&slant, Unit::Metre, SLANTS, &Path::Key(path, "slant"), errors).map(Self::Within)
    }

    fn written(self) -> Value {
        match self {
            Self::Within(distance) => json!({ "slant": metres(distance) }),
            rule => json!(name_of(&SIGHTS, &rule)),
        }
    }
}

const SIGHTS: [(&str, VisibilityLimit); 2] =
    [("elevation", VisibilityLimit::Elevation), ("slant", VisibilityLimit::Slant)];
/// Minimum and maximum of a slant range limit, in metres.
const SLANTS: (f64, f64) = (100e3, 1e8);
const MOTIONS: [(&str, Motion); 2] = [("sgp4", Motion::Sgp4), ("circular", Motion::Circular)];
/// Default rate of links between satellites: the highest of any preset, for lasers.
const ISL: Rate = Rate::from_mbps(20_000);
const UPLINK: Rate = Rate::from_mbps(50);
const DOWNLINK: Rate = Rate::from_mbps(500);
/// Default minimum elevation in degrees. Below it, the atmosphere and the ground absorb most signals.
const ELEVATION: f64 = 25.0;
const NO_LIMIT: f64 = 90.0;

/// Reads a keyword.
fn word<T: Copy>(
    value: &Value,
    what: &str,
    words: &[(&'static str, T)],
    path: &Path,
    errors: &mut Errors,
) -> Option<T> {
    let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
    let Value::String(text) = value else {
        errors.push(path, format!("{} is not {what}; write one of {}", shown(value), names.join(", ")));
        return None;
    };
    let matched = words.iter().find(|(name, _)| name == text).map(|(_, value)| *value);
    if matched.is_none() {
        errors.push(path, not_one_of(text, what, &names));
    }
    matched
}

fn name_of<T: PartialEq>(words: &[(&'static str, T)], wanted: &T) -> &'static str {
    words.iter().find(|(_, value)| value == wanted).map_or("", |(name, _)| name)
}

/// Reads an angle of a table within bounds.
fn angle(table: &mut TableReader, key: &'static str, bounds: (f64, f64), errors: &mut Errors) -> Option<f64> {
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

    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let mut table = TableReader::open(value, path, "a table with shells or a file", errors)?;
        let start = table.value("start").and_then(|value| utc(value, &Path::Key(path, "start"), errors));
        let shells = match table.value("shells") {
            None => Vec::new(),
            Some(Value::Array(items)) => {
                let list = Path::Key(path, "shells");
                let read = |(index, item)| ShellSpec::read(item, &Path::Index(&list, index), errors);
                items.iter().enumerate().filter_map(read).collect()
            }
            Some(other) => {
                errors.push(Path::Key(path, "shells"), format!("{} is not a list of shells", shown(other)));
                Vec::new()
            }
        };
        let file: Option<String> = table.optional("file", errors);
        if shells.is_empty() && file.is_none() && errors.len() == before {
            let message = "has no satellites; write shells = [{ height = \"550 km\", … }], or a file of elements";
            errors.push(path, message);
        }
        let isls = table
            .value("isls")
            .and_then(|value| Grid::read(value, &Path::Key(path, "isls"), errors))
            .unwrap_or_default();
        let visibility = table
            .value("visibility")
            .and_then(|value| VisibilityLimit::read(value, &Path::Key(path, "visibility"), errors))
            .unwrap_or_default();
        let polar_limit = angle(&mut table, "polar_limit", (0.0, 90.0), errors).unwrap_or(NO_LIMIT);
        let elevation = angle(&mut table, "elevation", (0.0, 89.9), errors).unwrap_or(ELEVATION);
        let isl = SatelliteLink::read(&mut table, "isl", TransmitterEnds::Between, ISL, path, errors);
        let uplink = SatelliteLink::read(&mut table, "uplink", TransmitterEnds::Up, UPLINK, path, errors);
        let downlink = SatelliteLink::read(&mut table, "downlink", TransmitterEnds::Down, DOWNLINK, path, errors);
        let selection = table.optional("selection", errors).unwrap_or_default();
        let handover = handover(&mut table, path, errors);
        let rules = settings::read(PathRules::default(), &mut table, path, errors);
        let routing = table.value("routing").and_then(|value| routing(value, &Path::Key(path, "routing"), errors));
        for key in ["shortest", "load_penalty"] {
            if routing.is_some() && table.value(key).is_some() {
                let message = "cannot be combined with a custom router, which chooses the paths; remove it";
                errors.push(Path::Key(path, key), message);
            }
        }
        table.finish(errors);
        if visibility == VisibilityLimit::Slant && (shells.is_empty() || elevation <= 0.0) {
            let message = "needs the height of a shell and an elevation above 0 deg; use \"elevation\"";
            errors.push(Path::Key(path, "visibility"), message);
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

fn utc(value: &Value, path: &Path, errors: &mut Errors) -> Option<Utc> {
    let read = value.as_str().and_then(|text| text.parse().ok());
    if read.is_none() {
        errors.push(path, format!("{} is not a time in UTC, such as \"2026-01-01T00:00:00Z\"", shown(value)));
    }
    read
}

const FROM_OUTSIDE: FromOutside<dyn SatelliteRouterFactory> =
    FromOutside { registry: &CUSTOM, word: "protocol", what: "a router", beside: &[] };

fn routing(value: &Value, path: &Path, errors: &mut Errors) -> Option<CustomSatelliteRouter> {
    let router = FROM_OUTSIDE.read(value, path, errors)?;
    if router.is_none() {
        let message = format!("{} is not a valid custom router, such as {{ python = \"mine.py:Mine\" }}", shown(value));
        errors.push(path, message);
    }
    router
}

fn handover(table: &mut TableReader, path: &Path, errors: &mut Errors) -> Handover {
    let Some(value) = table.value("handover") else { return Handover::default() };
    let handover_path = Path::Key(path, "handover");
    let Some(mut table) = TableReader::open(value, &handover_path, "a table such as { pause = \"20 ms\" }", errors)
    else {
        return Handover::default();
    };
    let handover = settings::read(Handover::default(), &mut table, &handover_path, errors);
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
        if self.visibility != VisibilityLimit::default() {
            table.insert("visibility".to_owned(), self.visibility.written());
        }
        for (key, line) in [("isl", &self.isl), ("uplink", &self.uplink), ("downlink", &self.downlink)] {
            table.insert(key.to_owned(), line.written());
        }
        table.insert("selection".to_owned(), json!(self.selection));
        settings::write(&self.rules, &PathRules::default(), &mut table);
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
    const WHAT: &'static str = "a selection rule";
    fn usual() -> Self {
        Self::default()
    }
}

/// Returns the schema of an angle in degrees.
fn angle_schema(about: &str) -> Value {
    json!({ "type": "string", "description": about, "examples": ["25 deg"] })
}

impl JsonSchema for Constellation {
    fn schema_name() -> Cow<'static, str> {
        "Constellation".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let line = json!(generator.subschema_for::<SatelliteLink>());
        let shells = json!({
            "type": "array", "items": generator.subschema_for::<ShellSpec>(),
            "description": "Walker shells of satellites."
        });
        let mut handover = Map::new();
        settings::properties::<Handover>(&mut handover, generator);
        let properties = json!({
            "start": { "type": "string", "description": "UTC at the start of the run.", "examples": ["2026-01-01T00:00:00Z"] },
            "shells": shells,
            "file": { "type": "string", "description": "A file of orbital elements, in addition to shells or instead of them: two-line sets, or OMM as JSON, CSV, keywords (KVN) or XML." },
            "isls": {
                "anyOf": [
                    { "enum": ["grid", "none"] },
                    {
                        "type": "array",
                        "items": { "type": "array", "items": { "type": "string" }, "minItems": 2, "maxItems": 2 }
                    }
                ],
                "default": "grid",
                "description": "Links between satellites: two within the plane and two to the adjacent planes (the \
                                planes and slots of a file are derived from its orbits), none, or links between the \
                                given pairs of names."
            },
            "polar_limit": angle_schema("Maximum latitude of links between planes."),
            "elevation": angle_schema("Minimum elevation of a usable satellite above the horizon; by default 25 deg."),
            "visibility": {
                "anyOf": [
                    { "enum": ["elevation", "slant"] },
                    {
                        "type": "object", "properties": { "slant": {
                            "type": "string", "examples": ["1260 km"],
                            "description": "Maximum distance of a usable satellite, instead of a minimum elevation."
                        } },
                        "required": ["slant"], "additionalProperties": false
                    }
                ],
                "default": "elevation",
                "description": "Satellites that a station can use: satellites above the minimum elevation (elevation), \
                                satellites closer than the slant range at this elevation over a flat Earth, as in \
                                Hypatia (slant), or satellites closer than a given distance, `{ slant = \"1260 km\" }`."
            },
            "isl": described(&line, "Transmitters between satellites."),
            "uplink": described(&line, "Transmitter of each station."),
            "downlink": described(&line, "Transmitter of each satellite to the ground."),
            "selection": described(generator.subschema_for::<Model<Selection>>(), "Satellites that a station uses: `\"shortest\"`, the default, or a rule with its parameters, `{ rule = \"highest\", every = \"15 s\" }`."),
            "handover": {
                "type": "object", "title": "Handover", "description": Handover::ABOUT, "properties": handover, "additionalProperties": false
            },
        });
        let Value::Object(mut properties) = properties else { return Schema::default() };
        settings::properties::<PathRules>(&mut properties, generator);
        let [_, mut python] = FROM_OUTSIDE.forms(&json!({}));
        python["description"] =
            json!("Custom router that chooses the paths; by default packets take the shortest path.");
        properties.insert("routing".to_owned(), python);
        json_schema!({
            "description": "Satellites, their links to each other and to the ground, and the rules by which stations \
                            use them.",
            "type": "object", "properties": properties, "additionalProperties": false
        })
    }
}
