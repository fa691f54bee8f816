//! Constellations: satellites in shells or from a file, the links between them and to the ground, and ground stations.

use super::model::Chosen;
use super::{LossModel, Model, Queue, settings};
use crate::read::{Errors, FromValue, NodeName, Path, Table, nearest, not_one_of, quantity, shown};
use lightlag_core::{Rate, Unit};
use lightlag_net::setting::Described;
use lightlag_orbit::shell::Motion;
use lightlag_orbit::{Handover, Phasing, Rules, Selection, Shell, Utc};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// Satellites, and how stations on the ground use them.
#[derive(Clone, PartialEq, Debug)]
pub struct Constellation {
    /// The time at which the run starts.
    pub start: Utc,
    /// Generated shells.
    pub shells: Vec<ShellSpec>,
    /// A file of orbital elements, beside or instead of shells.
    pub file: Option<String>,
    /// Which satellites have links.
    pub isls: Grid,
    /// Degrees of latitude beyond which links between planes are off.
    pub polar_limit: f64,
    /// Degrees above the horizon from which on a station uses a satellite.
    pub elevation: f64,
    /// How the elevation limits what a station uses.
    pub visibility: Sight,
    /// Links between satellites.
    pub isl: SkyLine,
    /// The transmitter of a station.
    pub uplink: SkyLine,
    /// The transmitter of a satellite to the ground, which all stations share that it serves.
    pub downlink: SkyLine,
    /// The satellites that a station uses.
    pub selection: Model<Selection>,
    /// Rules by which ways are chosen.
    pub rules: Rules,
    /// Effects of a handover.
    pub handover: Handover,
}

/// Links between satellites.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Grid {
    /// Two in the plane and two to the planes beside it.
    #[default]
    Plus,
    /// None: a packet goes up to a satellite and down again.
    None,
}

/// How an elevation limits what a station uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Sight {
    /// By the true angle above the horizon.
    #[default]
    Elevation,
    /// By the distance that the elevation would give on a flat Earth, as in Hypatia.
    Slant,
}

/// A transmitter in the sky or to it.
#[derive(Clone, PartialEq, Debug)]
pub struct SkyLine {
    /// Rate at which bits leave.
    pub rate: Rate,
    /// Upper limit of what waits.
    pub queue: Queue,
    /// Losses other than those for want of room.
    pub loss: LossModel,
}

/// A shell of satellites.
#[derive(Clone, PartialEq, Debug)]
pub struct ShellSpec(pub Shell);

/// A station on the ground.
#[derive(Clone, PartialEq, Debug)]
pub struct StationSpec {
    /// The name of its node.
    pub name: String,
    /// Degrees to the north.
    pub latitude: f64,
    /// Degrees to the east.
    pub longitude: f64,
    /// Metres above the ellipsoid of WGS 84.
    pub height: f64,
    /// Degrees above the horizon from which on it uses a satellite, if not those of the constellation.
    pub elevation: Option<f64>,
}

const GRIDS: [(&str, Grid); 2] = [("grid", Grid::Plus), ("none", Grid::None)];
const SIGHTS: [(&str, Sight); 2] = [("elevation", Sight::Elevation), ("slant", Sight::Slant)];
const MOTIONS: [(&str, Motion); 2] = [("sgp4", Motion::Sgp4), ("circular", Motion::Circular)];
/// The highest rates of a preset are those of lasers and of Ka-band cells that are not shared with others.
const ISL: Rate = Rate::from_mbps(20_000);
const UPLINK: Rate = Rate::from_mbps(50);
const DOWNLINK: Rate = Rate::from_mbps(500);
/// The most satellites of a shell, and the most planes or slots.
const MOST_SATELLITES: u64 = 100_000;
/// The name of a shell where nothing is said.
const SHELL: &str = "sat";
/// An elevation below which the atmosphere and the ground take most signals.
const ELEVATION: f64 = 25.0;
const NO_LIMIT: f64 = 90.0;

impl SkyLine {
    /// A transmitter of this rate.
    fn of(rate: Rate) -> Self {
        Self { rate, queue: Queue::default(), loss: LossModel::default() }
    }
}

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
        let isls = table
            .value("isls")
            .and_then(|value| word(value, "a way to link satellites", &GRIDS, &Path::Key(at, "isls"), errors))
            .unwrap_or_default();
        let visibility = table
            .value("visibility")
            .and_then(|value| word(value, "a rule of visibility", &SIGHTS, &Path::Key(at, "visibility"), errors))
            .unwrap_or_default();
        let polar_limit = angle(&mut table, "polar_limit", (0.0, 90.0), errors).unwrap_or(NO_LIMIT);
        let elevation = angle(&mut table, "elevation", (0.0, 89.9), errors).unwrap_or(ELEVATION);
        let isl = line(&mut table, "isl", ISL, at, errors);
        let uplink = line(&mut table, "uplink", UPLINK, at, errors);
        let downlink = line(&mut table, "downlink", DOWNLINK, at, errors);
        let selection = table.optional("selection", errors).unwrap_or_default();
        let handover = handover(&mut table, at, errors);
        let rules = settings::read(Rules::default(), &mut table, at, errors);
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

fn line(table: &mut Table, key: &'static str, rate: Rate, at: &Path, errors: &mut Errors) -> SkyLine {
    let Some(value) = table.value(key) else { return SkyLine::of(rate) };
    let at = Path::Key(at, key);
    let Some(mut table) = Table::open(value, &at, "a table such as { rate = \"100 Mbit/s\" }", errors) else {
        return SkyLine::of(rate);
    };
    let line = SkyLine {
        rate: table.optional("rate", errors).unwrap_or(rate),
        queue: table.optional("queue", errors).unwrap_or_default(),
        loss: table.optional("loss", errors).unwrap_or_default(),
    };
    table.finish(errors);
    line
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

impl FromValue for ShellSpec {
    const IS_TABLE: bool = true;

    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let what = "a table such as { height = \"550 km\", inclination = \"53 deg\", planes = 72, slots = 22 }";
        let mut table = Table::open(value, at, what, errors)?;
        let name = table.optional::<NodeName>("name", errors).map_or_else(|| SHELL.to_owned(), |name| name.0);
        let height = table.required_value("height", "write it above the equator, such as \"550 km\"", errors);
        let height =
            height.and_then(|value| quantity(value, Unit::Metre, (100e3, 50_000e3), &table.path("height"), errors));
        let revolutions = table
            .value("revolutions")
            .and_then(|value| quantity(value, Unit::Plain, (0.05, 17.0), &Path::Key(at, "revolutions"), errors));
        let inclination = table.required_value("inclination", "write an angle such as \"53 deg\"", errors);
        let inclination = inclination
            .and_then(|value| quantity(value, Unit::Degree, (0.0, 180.0), &table.path("inclination"), errors));
        let planes = counted(&mut table, "planes", errors);
        let slots = counted(&mut table, "slots", errors);
        let phasing = match table.value("phasing") {
            None => Some(Phasing::Walker(0)),
            Some(Value::String(text)) if text == "alternating" => Some(Phasing::Alternating),
            Some(value) => {
                let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
                if number.is_none() {
                    let message = format!(
                        "{} is neither F of the Walker notation, such as 39, nor \"alternating\"",
                        shown(value)
                    );
                    errors.push(Path::Key(at, "phasing"), message);
                }
                number.map(Phasing::Walker)
            }
        };
        let spread = angle(&mut table, "spread", (1.0, 360.0), errors).unwrap_or(360.0);
        let motion = table
            .value("propagator")
            .and_then(|value| word(value, "a propagator", &MOTIONS, &Path::Key(at, "propagator"), errors))
            .unwrap_or_default();
        table.finish(errors);
        let shell = Shell {
            name,
            height: height?,
            revolutions,
            inclination: inclination?,
            planes: planes?,
            slots: slots?,
            phasing: phasing?,
            spread,
            motion,
        };
        if u64::from(shell.planes) * u64::from(shell.slots) > MOST_SATELLITES {
            errors.push(
                at,
                format!("{} planes of {} satellites are more than {MOST_SATELLITES}", shell.planes, shell.slots),
            );
        }
        if errors.len() == before
            && let Err(refusal) = shell.orbits()
        {
            errors.push(at, refusal.to_string());
        }
        (errors.len() == before).then_some(Self(shell))
    }
}

/// A required number of planes or slots.
fn counted(table: &mut Table, key: &'static str, errors: &mut Errors) -> Option<u32> {
    let value = table.required_value(key, "write a whole number from 1 on", errors)?;
    let number = value.as_u64().filter(|number| (1..=MOST_SATELLITES).contains(number));
    if number.is_none() {
        errors.push(table.path(key), format!("{} is not a whole number from 1 to {MOST_SATELLITES}", shown(value)));
    }
    number.map(|number| number as u32)
}

impl FromValue for StationSpec {
    const IS_TABLE: bool = true;

    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let mut table = Table::open(value, at, "a table such as { name = \"Paris\" }", errors)?;
        let name: Option<NodeName> = table.required("name", "name the station, or one of the cities", errors);
        let city: Option<String> = table.optional("city", errors);
        let latitude = angle(&mut table, "latitude", (-90.0, 90.0), errors);
        let longitude = angle(&mut table, "longitude", (-180.0, 180.0), errors);
        let height = table
            .value("height")
            .and_then(|value| quantity(value, Unit::Metre, (-500.0, 20e3), &Path::Key(at, "height"), errors))
            .unwrap_or(0.0);
        let elevation = angle(&mut table, "elevation", (0.0, 89.9), errors);
        table.finish(errors);
        let name = name?.0;
        let place = match (latitude, longitude, &city) {
            (Some(latitude), Some(longitude), None) => Some((latitude, longitude)),
            (None, None, _) if errors.len() == before => {
                let asked = city.as_deref().unwrap_or(&name);
                let found = lightlag_orbit::cities::find(asked);
                if found.is_none() {
                    let (key, remedy) = match city {
                        Some(_) => ("city", "or write latitude and longitude"),
                        None => ("latitude", "write latitude and longitude, or name one of the cities"),
                    };
                    let cities: Vec<&str> = lightlag_orbit::cities::names().collect();
                    let message = nearest(asked, &cities).map_or_else(
                        || format!("is missing, and {asked:?} is no city known here; {remedy}"),
                        |city| format!("is missing, and {asked:?} is no city known here; did you mean {city:?}?"),
                    );
                    errors.push(Path::Key(at, key), message);
                }
                found
            }
            (Some(_), Some(_), Some(_)) => {
                errors.push(
                    Path::Key(at, "city"),
                    "says where it is, as latitude and longitude do; leave one of the two out",
                );
                None
            }
            (None, Some(_), _) | (Some(_), None, _) if errors.len() == before => {
                let missing = if latitude.is_none() { "latitude" } else { "longitude" };
                errors.push(Path::Key(at, missing), "is missing; write an angle such as \"48.85 deg\"");
                None
            }
            _ => None,
        };
        let (latitude, longitude) = place?;
        (errors.len() == before).then_some(Self { name, latitude, longitude, height, elevation })
    }
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
        table.insert("isls".to_owned(), json!(name_of(&GRIDS, &self.isls)));
        if self.polar_limit < NO_LIMIT {
            table.insert("polar_limit".to_owned(), degrees(self.polar_limit));
        }
        table.insert("elevation".to_owned(), degrees(self.elevation));
        if self.visibility != Sight::default() {
            table.insert("visibility".to_owned(), json!(name_of(&SIGHTS, &self.visibility)));
        }
        for (key, line) in [("isl", &self.isl), ("uplink", &self.uplink), ("downlink", &self.downlink)] {
            table.insert(key.to_owned(), json!({ "rate": line.rate, "queue": line.queue, "loss": line.loss }));
        }
        table.insert("selection".to_owned(), json!(self.selection));
        settings::write(&self.rules, &Rules::default(), &mut table);
        let mut handover = Map::new();
        settings::write(&self.handover, &Handover::default(), &mut handover);
        if !handover.is_empty() {
            table.insert("handover".to_owned(), Value::Object(handover));
        }
        table.serialize(serializer)
    }
}

impl Serialize for ShellSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Shell { name, height, revolutions, inclination, planes, slots, phasing, spread, motion } = &self.0;
        let mut table = json!({
            "name": name, "height": metres(*height), "inclination": degrees(*inclination), "planes": planes, "slots": slots,
        });
        if let Some(revolutions) = revolutions {
            table["revolutions"] = json!(revolutions);
        }
        table["phasing"] = match phasing {
            Phasing::Walker(f) => json!(f),
            Phasing::Alternating => json!("alternating"),
        };
        if *spread < 360.0 {
            table["spread"] = degrees(*spread);
        }
        if *motion != Motion::default() {
            table["propagator"] = json!(name_of(&MOTIONS, motion));
        }
        table.serialize(serializer)
    }
}

impl Serialize for StationSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut table = json!({
            "name": self.name, "latitude": degrees(self.latitude), "longitude": degrees(self.longitude),
        });
        if self.height != 0.0 {
            table["height"] = metres(self.height);
        }
        if let Some(elevation) = self.elevation {
            table["elevation"] = degrees(elevation);
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

impl JsonSchema for SkyLine {
    fn schema_name() -> Cow<'static, str> {
        "SkyLine".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "a transmitter in the sky or to it",
            "type": "object",
            "properties": {
                "rate": generator.subschema_for::<Rate>(),
                "queue": generator.subschema_for::<Queue>(),
                "loss": generator.subschema_for::<LossModel>(),
            },
            "additionalProperties": false
        })
    }
}

impl JsonSchema for ShellSpec {
    fn schema_name() -> Cow<'static, str> {
        "Shell".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let count = json!({ "type": "integer", "minimum": 1, "maximum": MOST_SATELLITES });
        json_schema!({
            "description": "a Walker shell: circular orbits of one height and inclination, evenly spread",
            "type": "object",
            "properties": {
                "name": { "type": "string", "default": SHELL, "description": "the satellites are name-plane-slot" },
                "height": { "type": "string", "description": "above the equator", "examples": ["550 km"] },
                "revolutions": { "type": "number", "description": "a day, in the place of those that the height gives" },
                "inclination": angle_schema("of the orbits to the equator"),
                "planes": count,
                "slots": count,
                "phasing": {
                    "anyOf": [{ "type": "integer", "minimum": 0 }, { "const": "alternating" }], "default": 0,
                    "description": "F of the Walker notation; \"alternating\" puts odd planes half a slot ahead"
                },
                "spread": angle_schema("of the planes' nodes: 360 deg for a delta pattern, 180 deg for a star"),
                "propagator": { "enum": ["sgp4", "circular"], "default": "sgp4" },
            },
            "required": ["height", "inclination", "planes", "slots"],
            "additionalProperties": false
        })
    }
}

impl JsonSchema for StationSpec {
    fn schema_name() -> Cow<'static, str> {
        "Station".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "a station on the ground; without a place it is the city of its name",
            "type": "object",
            "properties": {
                "name": { "type": "string" },
                "city": { "type": "string", "description": "the city where it stands" },
                "latitude": angle_schema("to the north; negative is south"),
                "longitude": angle_schema("to the east; negative is west"),
                "height": { "type": "string", "description": "above the ellipsoid of WGS 84", "examples": ["400 m"] },
                "elevation": angle_schema("above the horizon, from which on it uses a satellite"),
            },
            "required": ["name"],
            "additionalProperties": false
        })
    }
}

impl JsonSchema for Constellation {
    fn schema_name() -> Cow<'static, str> {
        "Constellation".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let line = json!(generator.subschema_for::<SkyLine>());
        let shells = json!({ "type": "array", "items": generator.subschema_for::<ShellSpec>() });
        let mut handover = Map::new();
        settings::properties::<Handover>(&mut handover, generator);
        let properties = json!({
            "start": { "type": "string", "description": "UTC at the start of the run", "examples": ["2026-01-01T00:00:00Z"] },
            "shells": shells,
            "file": { "type": "string", "description": "a file of two-line elements" },
            "isls": { "enum": ["grid", "none"], "default": "grid" },
            "polar_limit": angle_schema("of latitude, beyond which links between planes are off"),
            "elevation": angle_schema("above the horizon, from which on a station uses a satellite"),
            "visibility": { "enum": ["elevation", "slant"], "default": "elevation" },
            "isl": line, "uplink": line, "downlink": line,
            "selection": generator.subschema_for::<Model<Selection>>(),
            "handover": {
                "type": "object", "description": Handover::ABOUT, "properties": handover, "additionalProperties": false
            },
        });
        let Value::Object(mut properties) = properties else { return Schema::default() };
        settings::properties::<Rules>(&mut properties, generator);
        json_schema!({
            "description": "satellites, the links between them and to the ground, and how stations use them",
            "type": "object", "properties": properties, "additionalProperties": false
        })
    }
}
