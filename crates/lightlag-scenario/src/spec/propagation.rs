//! Propagation delays: a time, a distance that light travels, or an orbit seen from the ground.

use crate::read::{Errors, FromValue, LONGEST, Omitted, Path, TableReader, described, leaf, nearest, shown};
use lightlag_core::{Angle, Distance, Duration};
use lightlag_net::{Elevation, Orbit, light_time};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Propagation delay, given in any of these forms.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(transparent)]
pub struct Propagation(pub Duration);

/// An orbit, given by its name or by its height.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OrbitSpec(pub Orbit);

/// Elevation of a satellite, at both ends of a path through it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Elevations {
    /// Elevation at the sender on the ground.
    pub up: Elevation,
    /// Elevation at the receiver on the ground.
    pub down: Elevation,
}

/// Orbits by name.
const ORBITS: [(&str, Orbit); 5] = [
    ("geo", Orbit::GEO),
    ("meo", Orbit::MEO),
    ("leo-1200", Orbit::LEO_1200),
    ("leo-780", Orbit::LEO_780),
    ("leo-550", Orbit::LEO_550),
];
const NAMES: &str = "geo, meo, leo-1200, leo-780 or leo-550";
/// Maximum number of satellites in a plane.
const MOST_NEIGHBOURS: u64 = 10_000;

impl FromValue for Propagation {
    const IS_TABLE: bool = true;

    fn read(value: &Value, key_path: &Path, errors: &mut Errors) -> Option<Self> {
        if !value.is_object() {
            return Duration::read(value, key_path, errors).map(Self);
        }
        let before = errors.len();
        let mut table = TableReader::open(value, key_path, "a time or a table", errors)?;
        let distance: Option<Distance> = table.value("distance").and_then(|value| {
            let at = Path::Key(key_path, "distance");
            leaf(value, &at, errors)
        });
        let way = OrbitSource::read_from(&mut table, key_path, errors);
        let processing = table.optional("processing", errors).unwrap_or(Duration::ZERO);
        table.finish(errors);
        if errors.len() > before {
            return None;
        }
        let time = match (distance, way) {
            (Some(distance), None) => light_time(distance),
            (None, Some(way)) => way.delay(key_path, errors)?,
            (distance, _) => {
                let given = if distance.is_some() { "both a distance and an orbit" } else { "neither" };
                let message = format!(
                    "{given}: give a distance, {{ distance = \"384400 km\" }}, or an orbit, {{ orbit = \"geo\", elevation = \
                     \"40 deg\" }}"
                );
                errors.push(key_path, message);
                return None;
            }
        };
        let whole = time + processing;
        if whole > LONGEST {
            errors.push(key_path, format!("{whole} is above 480 h, the maximum time in a scenario"));
            return None;
        }
        Some(Self(whole))
    }
}

/// A path that is defined by an orbit.
struct OrbitSource {
    orbit: Orbit,
    /// Elevations: a single one for a path from the ground to the satellite or back, two for a path through it.
    elevations: Option<Vec<Elevation>>,
    neighbours: Option<u64>,
}

impl OrbitSource {
    /// Reads the keys of an orbit in a table that also has other keys, if there are any.
    fn read_from(table: &mut TableReader, path: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let orbit = orbit(table, path, errors);
        let elevation = table.value("elevation");
        let neighbours = table.value("satellites");
        let Some(OrbitSpec(orbit)) = orbit else {
            if errors.len() == before && (elevation.is_some() || neighbours.is_some()) {
                errors.push(
                    Path::Key(path, "orbit"),
                    format!("is missing; write {NAMES}, or a height such as \"550 km\""),
                );
            }
            return None;
        };
        let elevation_at = Path::Key(path, "elevation");
        let elevations = elevation.map(|value| match value {
            Value::Array(_) => Elevations::read(value, &elevation_at, errors).map(|both| vec![both.up, both.down]),
            one => elevation_of(one, &elevation_at, errors).map(|one| vec![one]),
        });
        let neighbours = neighbours.map(|value| neighbours_of(value, &Path::Key(path, "satellites"), errors));
        (errors.len() == before).then(|| Self {
            orbit,
            elevations: elevations.flatten(),
            neighbours: neighbours.flatten(),
        })
    }

    fn delay(self, path: &Path, errors: &mut Errors) -> Option<Duration> {
        match (self.elevations, self.neighbours) {
            (Some(elevations), None) => {
                Some(elevations.into_iter().fold(Duration::ZERO, |sum, elevation| sum + self.orbit.delay(elevation)))
            }
            (None, Some(satellites)) => Some(light_time(self.orbit.spacing(satellites))),
            (None, None) => {
                let message = "is missing; specify the elevation of the satellite above the horizon, such as \"40 \
                               deg\"";
                errors.push(Path::Key(path, "elevation"), message);
                None
            }
            (Some(_), Some(_)) => {
                let message = "cannot be combined with elevation: satellites is for a path between two satellites, \
                               elevation for a path to the ground; remove one";
                errors.push(Path::Key(path, "satellites"), message);
                None
            }
        }
    }
}

/// Returns the orbit in a table, given by its name or by its height.
pub(crate) fn orbit(table: &mut TableReader, path: &Path, errors: &mut Errors) -> Option<OrbitSpec> {
    let named = table.optional::<OrbitSpec>("orbit", errors);
    let Some(height) = table.value("height") else { return named };
    if named.is_some() {
        errors.push(
            Path::Key(path, "height"),
            "cannot be combined with a named orbit, which specifies the height; remove one",
        );
        return None;
    }
    by_height(height, &Path::Key(path, "height"), errors)
}

fn by_height(value: &Value, path: &Path, errors: &mut Errors) -> Option<OrbitSpec> {
    let height: Distance = leaf(value, path, errors)?;
    let orbit = Orbit::new(height);
    if orbit.is_none() {
        errors.push(
            path,
            format!("{height} is not a valid height of an orbit, which is from 100 km to 1000000 km above the ground"),
        );
    }
    orbit.map(OrbitSpec)
}

/// Reads an elevation.
pub(crate) fn elevation_of(value: &Value, path: &Path, errors: &mut Errors) -> Option<Elevation> {
    let angle: Angle = leaf(value, path, errors)?;
    let elevation = Elevation::new(angle);
    if elevation.is_none() {
        let what = if angle.as_degrees() < 0.0 { "below the horizon" } else { "beyond the zenith" };
        errors.push(path, format!("{angle} is {what}; an elevation is from 0 deg (the horizon) to 90 deg (overhead)"));
    }
    elevation
}

fn neighbours_of(value: &Value, path: &Path, errors: &mut Errors) -> Option<u64> {
    let number = value.as_u64().filter(|number| (2..=MOST_NEIGHBOURS).contains(number));
    if number.is_none() {
        errors.push(
            path,
            format!("{} is not a number of satellites in a plane, from 2 to {MOST_NEIGHBOURS}", shown(value)),
        );
    }
    number
}

impl FromValue for OrbitSpec {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let Value::String(text) = value else {
            errors
                .push(path, format!("{} is not an orbit; write {NAMES}, or a height such as \"550 km\"", shown(value)));
            return None;
        };
        if let Some((_, orbit)) = ORBITS.iter().find(|(name, _)| name == text) {
            return Some(Self(*orbit));
        }
        if text.parse::<Distance>().is_ok() {
            return by_height(value, path, errors);
        }
        let names: Vec<&str> = ORBITS.iter().map(|(name, _)| *name).collect();
        let guess = nearest(text, &names).map_or(String::new(), |near| format!("; did you mean {near:?}?"));
        let message =
            format!("{} is not an orbit{guess} (one of {NAMES}, or a height such as \"550 km\")", shown(value));
        errors.push(path, message);
        None
    }
}

impl FromValue for Elevations {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let Value::Array(both) = value else {
            return elevation_of(value, path, errors).map(|one| Self { up: one, down: one });
        };
        let [up, down] = both.as_slice() else {
            let count = both.len();
            errors.push(
                path,
                format!("{count} elevations where there must be one or two, such as [\"40 deg\", \"25 deg\"]"),
            );
            return None;
        };
        let read = [(0, up), (1, down)].map(|(index, one)| elevation_of(one, &Path::Index(path, index), errors));
        let [Some(up), Some(down)] = read else { return None };
        Some(Self { up, down })
    }
}

impl Omitted for Propagation {
    /// A delay has no default: a table must have a delay for both directions.
    fn omitted() -> Option<Self> {
        None
    }
}

impl Serialize for OrbitSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match ORBITS.iter().find(|(_, orbit)| *orbit == self.0) {
            Some((name, _)) => serializer.serialize_str(name),
            None => self.0.height().serialize(serializer),
        }
    }
}

impl Serialize for Elevations {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        [self.up.angle(), self.down.angle()].serialize(serializer)
    }
}

impl JsonSchema for OrbitSpec {
    fn schema_name() -> Cow<'static, str> {
        "Orbit".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "an orbit: geo, meo, leo-1200, leo-780, leo-550, or its height above the ground",
            "examples": ["geo", "550 km"]
        })
    }
}

impl JsonSchema for Elevations {
    fn schema_name() -> Cow<'static, str> {
        "Elevations".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let angle = generator.subschema_for::<Angle>();
        json_schema!({
            "description": "elevation of the satellite above the horizon, at both ends or at each, from 0 deg to 90 \
                            deg",
            "anyOf": [angle, { "type": "array", "items": angle, "minItems": 2, "maxItems": 2 }]
        })
    }
}

impl JsonSchema for Propagation {
    fn schema_name() -> Cow<'static, str> {
        "Delay".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let time = generator.subschema_for::<Duration>();
        let distance = generator.subschema_for::<Distance>();
        let length = described(&distance, "Length of the path of light.");
        let height = described(&distance, "Height of the orbit above the ground.");
        let processing = described(&time, "Additional time for processing.");
        let orbit =
            described(generator.subschema_for::<OrbitSpec>(), "Orbit of the satellite, by its name or its height.");
        let one = |required: Value, properties: Value| {
            json!({
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false
            })
        };
        let elevation = described(generator.subschema_for::<Elevations>(), "Elevations at the two ends.");
        let neighbours = json!({
            "type": "integer", "minimum": 2, "maximum": MOST_NEIGHBOURS,
            "description": "Number of satellites in the plane; the path joins two neighbours."
        });
        json_schema!({
            "description": "a time, or a path of light: a distance; from the ground to an orbit, or up and down at two \
                            elevations; or between neighbours in a plane with the given number of satellites",
            "anyOf": [
                time,
                one(json!(["distance"]), json!({ "distance": length, "processing": processing })),
                one(json!(["orbit", "elevation"]), json!({ "orbit": orbit, "elevation": elevation, "processing": processing })),
                one(json!(["height", "elevation"]), json!({ "height": height, "elevation": elevation, "processing": processing })),
                one(json!(["orbit", "satellites"]), json!({ "orbit": orbit, "satellites": neighbours, "processing": processing })),
                one(json!(["height", "satellites"]), json!({ "height": height, "satellites": neighbours, "processing": processing }))
            ]
        })
    }
}
