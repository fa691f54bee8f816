//! Ground stations, and those on their way.

use super::line::Place;
use super::{SkyLine, UPLINK, angle, angle_schema, degrees, metres};
use crate::read::{Errors, FromValue, NodeName, Path, Table, described, nearest, quantity, shown};
use lightlag_core::{Duration, Instant, Unit};
use lightlag_orbit::{Site, Waypoint};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;

/// A station on the ground, on a ship or in an aircraft.
#[derive(Clone, PartialEq, Debug)]
pub struct StationSpec {
    /// The name of its node.
    pub name: String,
    /// The places that it passes; one if it stays.
    pub course: Vec<Waypoint>,
    /// Degrees above the horizon from which on it uses a satellite, if not those of the constellation.
    pub elevation: Option<f64>,
    /// Whether it passes on packets from satellite to satellite.
    pub relays: bool,
    /// Its transmitter, if it is not that of the constellation.
    pub uplink: Option<SkyLine>,
}

impl StationSpec {
    /// Where it is at the start.
    pub fn site(&self) -> Site {
        self.course[0].site
    }
}

impl FromValue for StationSpec {
    const IS_TABLE: bool = true;

    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let mut table = Table::open(value, at, "a table such as { name = \"Paris\" }", errors)?;
        let name: Option<NodeName> = table.required("name", "name the station, or one of the cities", errors);
        let course = match table.value("waypoints").cloned() {
            Some(value) => {
                for key in ["city", "latitude", "longitude", "height"] {
                    if table.value(key).is_some() {
                        errors.push(Path::Key(at, key), "says where it is, as waypoints do; leave one of the two out");
                    }
                }
                waypoints(&value, &Path::Key(at, "waypoints"), errors)
            }
            None => {
                let name = name.as_ref().map(|name| name.0.as_str());
                place(&mut table, at, name, errors).map(|site| vec![Waypoint { at: Instant::ZERO, site }])
            }
        };
        let elevation = angle(&mut table, "elevation", (0.0, 89.9), errors);
        let relays = table.optional("relay", errors).unwrap_or_default();
        let has_uplink = table.value("uplink").is_some();
        let uplink = SkyLine::read(&mut table, "uplink", Place::Up, UPLINK, at, errors);
        let uplink = has_uplink.then_some(uplink);
        table.finish(errors);
        let (name, course) = (name?.0, course?);
        (errors.len() == before).then_some(Self { name, course, elevation, relays, uplink })
    }
}

/// Places in the order of time.
fn waypoints(value: &Value, at: &Path, errors: &mut Errors) -> Option<Vec<Waypoint>> {
    let what = "a list such as [{ at = \"0 s\", city = \"Lisbon\" }, { at = \"1 h\", city = \"Madrid\" }]";
    let Value::Array(items) = value else {
        errors.push(at, format!("{} is not {what}", shown(value)));
        return None;
    };
    let before = errors.len();
    let mut course: Vec<Waypoint> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let here = Path::Index(at, index);
        let Some(mut table) = Table::open(item, &here, "a table with at and a place", errors) else { continue };
        let time: Option<Duration> = table.required("at", "say when it is there, such as \"10 min\"", errors);
        let site = place(&mut table, &here, None, errors);
        table.finish(errors);
        let (Some(time), Some(site)) = (time, site) else { continue };
        let time = Instant::ZERO + time;
        if let Some(last) = course.last() {
            if last.at >= time {
                let message = format!("is not after the waypoint before, at {}", last.at.since(Instant::ZERO));
                errors.push(Path::Key(&here, "at"), message);
            }
            if last.site.is_opposite(site) {
                errors.push(here, "is opposite to the waypoint before on the Earth; write one between them");
            }
        }
        course.push(Waypoint { at: time, site });
    }
    if course.is_empty() && errors.len() == before {
        errors.push(at, format!("has no waypoint; write {what}"));
    }
    (errors.len() == before).then_some(course)
}

/// A place: coordinates, a city, or the city of this name.
fn place(table: &mut Table, at: &Path, name: Option<&str>, errors: &mut Errors) -> Option<Site> {
    let before = errors.len();
    let city: Option<String> = table.optional("city", errors);
    let latitude = angle(table, "latitude", (-90.0, 90.0), errors);
    let longitude = angle(table, "longitude", (-180.0, 180.0), errors);
    let height = table
        .value("height")
        .and_then(|value| quantity(value, Unit::Metre, (-500.0, 20e3), &Path::Key(at, "height"), errors))
        .unwrap_or(0.0);
    if errors.len() > before {
        return None;
    }
    let place = match (latitude, longitude, &city) {
        (Some(latitude), Some(longitude), None) => Some((latitude, longitude)),
        (None, None, _) => {
            let Some(asked) = city.as_deref().or(name) else {
                errors.push(at, "has no place; write latitude and longitude, or a city");
                return None;
            };
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
        (None, Some(_), _) | (Some(_), None, _) => {
            let missing = if latitude.is_none() { "latitude" } else { "longitude" };
            errors.push(Path::Key(at, missing), "is missing; write an angle such as \"48.85 deg\"");
            None
        }
    };
    place.map(|(latitude, longitude)| Site { latitude, longitude, height })
}

/// The keys of a place.
fn written(site: Site) -> Value {
    let mut table = json!({ "latitude": degrees(site.latitude), "longitude": degrees(site.longitude) });
    if site.height != 0.0 {
        table["height"] = metres(site.height);
    }
    table
}

impl Serialize for StationSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut table = match &self.course[..] {
            [only] => written(only.site),
            course => {
                let waypoint = |Waypoint { at, site }: &Waypoint| {
                    let mut table = written(*site);
                    table["at"] = json!(at.since(Instant::ZERO));
                    table
                };
                json!({ "waypoints": course.iter().map(waypoint).collect::<Vec<_>>() })
            }
        };
        table["name"] = json!(self.name);
        if let Some(elevation) = self.elevation {
            table["elevation"] = degrees(elevation);
        }
        if self.relays {
            table["relay"] = json!(true);
        }
        if let Some(uplink) = &self.uplink {
            table["uplink"] = uplink.written();
        }
        table.serialize(serializer)
    }
}

impl JsonSchema for StationSpec {
    fn schema_name() -> Cow<'static, str> {
        "Station".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let place = json!({
            "city": { "type": "string", "description": "the city where it stands" },
            "latitude": angle_schema("to the north; negative is south"),
            "longitude": angle_schema("to the east; negative is west"),
            "height": { "type": "string", "description": "above the ellipsoid of WGS 84", "examples": ["400 m"] },
        });
        let mut waypoint = place.clone();
        waypoint["at"] = described(generator.subschema_for::<Duration>(), "When it passes, from the start of the run.");
        let mut properties = place;
        properties["name"] = json!({ "type": "string", "description": "the name of its node" });
        properties["elevation"] = angle_schema("above the horizon, from which on it uses a satellite");
        properties["relay"] = json!({
            "type": "boolean", "default": false,
            "description": "whether it passes on packets from satellite to satellite: a gateway of bent pipes"
        });
        properties["uplink"] = described(
            generator.subschema_for::<SkyLine>(),
            "Its transmitter, where it differs from that of the constellation.",
        );
        properties["waypoints"] = json!({
            "type": "array", "minItems": 1,
            "description": "places that a ship or an aircraft passes, with great circles between them",
            "items": {
                "type": "object", "properties": waypoint, "required": ["at"], "additionalProperties": false
            },
        });
        json_schema!({
            "description": "a station on the ground; without a place it is the city of its name",
            "type": "object",
            "properties": properties,
            "required": ["name"],
            "additionalProperties": false
        })
    }
}
