//! Ground stations, fixed and mobile.

use super::line::TransmitterEnds;
use super::{SatelliteLink, UPLINK, angle, angle_schema, degrees, metres};
use crate::read::{Errors, FromValue, NodeName, Path, TableReader, described, nearest, quantity, shown};
use lightlag_core::{Duration, Instant, Unit};
use lightlag_orbit::{Site, Waypoint};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;

/// A station on the ground, on a ship or in an aircraft.
#[derive(Clone, PartialEq, Debug)]
pub struct GroundStationSpec {
    /// Name of the node.
    pub name: String,
    /// Waypoints in ascending order of time; a single one for a fixed station.
    pub course: Vec<Waypoint>,
    /// Minimum elevation in degrees of satellites that the station uses, if it differs from the constellation's.
    pub elevation: Option<f64>,
    /// Whether it relays packets between satellites.
    pub relays: bool,
    /// Transmitter of the station, if it differs from the constellation's.
    pub uplink: Option<SatelliteLink>,
}

impl GroundStationSpec {
    /// Returns the position at the start of the run.
    pub fn site(&self) -> Site {
        self.course[0].site
    }
}

impl FromValue for GroundStationSpec {
    const IS_TABLE: bool = true;

    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let mut table = TableReader::open(value, path, "a table such as { name = \"Paris\" }", errors)?;
        let name: Option<NodeName> = table.required("name", "name the station, or one of the cities", errors);
        let course = match table.value("waypoints").cloned() {
            Some(value) => {
                for key in ["city", "latitude", "longitude", "height"] {
                    if table.value(key).is_some() {
                        errors.push(
                            Path::Key(path, key),
                            "cannot be combined with waypoints, because both specify the position; remove one",
                        );
                    }
                }
                waypoints(&value, &Path::Key(path, "waypoints"), errors)
            }
            None => {
                let name = name.as_ref().map(|name| name.0.as_str());
                place(&mut table, path, name, errors).map(|site| vec![Waypoint { at: Instant::ZERO, site }])
            }
        };
        let elevation = angle(&mut table, "elevation", (0.0, 89.9), errors);
        let relays = table.optional("relay", errors).unwrap_or_default();
        let has_uplink = table.value("uplink").is_some();
        let uplink = SatelliteLink::read(&mut table, "uplink", TransmitterEnds::Up, UPLINK, path, errors);
        let uplink = has_uplink.then_some(uplink);
        table.finish(errors);
        let (name, course) = (name?.0, course?);
        (errors.len() == before).then_some(Self { name, course, elevation, relays, uplink })
    }
}

/// Reads waypoints, which must be in ascending order of time.
fn waypoints(value: &Value, path: &Path, errors: &mut Errors) -> Option<Vec<Waypoint>> {
    let what = "a list such as [{ at = \"0 s\", city = \"Lisbon\" }, { at = \"1 h\", city = \"Madrid\" }]";
    let Value::Array(items) = value else {
        errors.push(path, format!("{} is not {what}", shown(value)));
        return None;
    };
    let before = errors.len();
    let mut course: Vec<Waypoint> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let here = Path::Index(path, index);
        let Some(mut table) = TableReader::open(item, &here, "a table with at and a position", errors) else {
            continue;
        };
        let time: Option<Duration> =
            table.required("at", "specify the time at this position, such as \"10 min\"", errors);
        let site = place(&mut table, &here, None, errors);
        table.finish(errors);
        let (Some(time), Some(site)) = (time, site) else { continue };
        let time = Instant::ZERO + time;
        if let Some(last) = course.last() {
            if last.at >= time {
                let message = format!("is not after the previous waypoint, at {}", last.at.since(Instant::ZERO));
                errors.push(Path::Key(&here, "at"), message);
            }
            if last.site.is_opposite(site) {
                errors.push(here, "is opposite to the previous waypoint on the Earth; write one between them");
            }
        }
        course.push(Waypoint { at: time, site });
    }
    if course.is_empty() && errors.len() == before {
        errors.push(path, format!("has no waypoint; write {what}"));
    }
    (errors.len() == before).then_some(course)
}

/// Reads a position: coordinates, the name of a city, or by default the city with the station's name.
fn place(table: &mut TableReader, path: &Path, name: Option<&str>, errors: &mut Errors) -> Option<Site> {
    let before = errors.len();
    let city: Option<String> = table.optional("city", errors);
    let latitude = angle(table, "latitude", (-90.0, 90.0), errors);
    let longitude = angle(table, "longitude", (-180.0, 180.0), errors);
    let height = table
        .value("height")
        .and_then(|value| quantity(value, Unit::Metre, (-500.0, 20e3), &Path::Key(path, "height"), errors))
        .unwrap_or(0.0);
    if errors.len() > before {
        return None;
    }
    let coordinates = match (latitude, longitude, &city) {
        (Some(latitude), Some(longitude), None) => Some((latitude, longitude)),
        (None, None, _) => {
            let Some(city_name) = city.as_deref().or(name) else {
                errors.push(path, "has no position; write latitude and longitude, or a city");
                return None;
            };
            let known_city = lightlag_orbit::cities::find(city_name);
            if known_city.is_none() {
                let (key, remedy) = match city {
                    Some(_) => ("city", "or write latitude and longitude"),
                    None => ("latitude", "write latitude and longitude, or name one of the cities"),
                };
                let cities: Vec<&str> = lightlag_orbit::cities::names().collect();
                let message = nearest(city_name, &cities).map_or_else(
                    || format!("is missing, and {city_name:?} is not a known city; {remedy}"),
                    |city| format!("is missing, and {city_name:?} is not a known city; did you mean {city:?}?"),
                );
                errors.push(Path::Key(path, key), message);
            }
            known_city
        }
        (Some(_), Some(_), Some(_)) => {
            errors.push(
                Path::Key(path, "city"),
                "cannot be combined with latitude and longitude, because both specify the position; remove one",
            );
            None
        }
        (None, Some(_), _) | (Some(_), None, _) => {
            let missing = if latitude.is_none() { "latitude" } else { "longitude" };
            errors.push(Path::Key(path, missing), "is missing; write an angle such as \"48.85 deg\"");
            None
        }
    };
    coordinates.map(|(latitude, longitude)| Site { latitude, longitude, height })
}

/// Returns the keys of a position.
fn written(site: Site) -> Value {
    let mut table = json!({ "latitude": degrees(site.latitude), "longitude": degrees(site.longitude) });
    if site.height != 0.0 {
        table["height"] = metres(site.height);
    }
    table
}

impl Serialize for GroundStationSpec {
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

impl JsonSchema for GroundStationSpec {
    fn schema_name() -> Cow<'static, str> {
        "Station".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let position = json!({
            "city": { "type": "string", "description": "City, whose coordinates are used." },
            "latitude": angle_schema("Latitude, positive to the north."),
            "longitude": angle_schema("Longitude, positive to the east."),
            "height": { "type": "string", "description": "Height above the ellipsoid of WGS 84.", "examples": ["400 m"] },
        });
        let mut waypoint = position.clone();
        waypoint["at"] = described(
            generator.subschema_for::<Duration>(),
            "Time at this position, since the start of the run when the station passes this waypoint.",
        );
        let mut properties = position;
        properties["name"] = json!({ "type": "string", "description": "Name of the node." });
        properties["elevation"] = angle_schema("Minimum elevation of a usable satellite above the horizon.");
        properties["relay"] = json!({
            "type": "boolean", "default": false,
            "description": "Whether the station relays packets between satellites, as a gateway of bent pipes. It uses \
                            all visible satellites."
        });
        properties["uplink"] = described(
            generator.subschema_for::<SatelliteLink>(),
            "Transmitter of the station, if it differs from the constellation's.",
        );
        properties["waypoints"] = json!({
            "type": "array", "minItems": 1,
            "description": "Positions of a ship or an aircraft in ascending order of time, joined by great circles; \
                            instead of one position.",
            "items": {
                "title": "StationWaypoint",
                "description": "A position of a ship or an aircraft.",
                "type": "object", "properties": waypoint, "required": ["at"], "additionalProperties": false
            },
        });
        json_schema!({
            "description": "A ground station. Without coordinates, it is in the city of its name.",
            "type": "object",
            "properties": properties,
            "required": ["name"],
            "additionalProperties": false
        })
    }
}
