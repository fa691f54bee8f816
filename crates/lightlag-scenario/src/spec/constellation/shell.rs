//! Shells of satellites.

use super::{MOTIONS, angle, angle_schema, degrees, metres, name_of, word};
use crate::read::{Errors, FromValue, NodeName, Path, TableReader, quantity, shown};
use lightlag_core::Unit;
use lightlag_orbit::shell::Motion;
use lightlag_orbit::{Phasing, Shell};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Maximum number of satellites in a shell, and of planes and slots.
const MOST_SATELLITES: u64 = 60_000;
/// Default name of a shell.
const SHELL: &str = "sat";

/// A shell of satellites.
#[derive(Clone, PartialEq, Debug)]
pub struct ShellSpec(pub Shell);

impl FromValue for ShellSpec {
    const IS_TABLE: bool = true;

    fn read(value: &Value, key_path: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let what = "a table such as { height = \"550 km\", inclination = \"53 deg\", planes = 72, slots = 22 }";
        let mut table = TableReader::open(value, key_path, what, errors)?;
        let name = table.optional::<NodeName>("name", errors).map_or_else(|| SHELL.to_owned(), |name| name.0);
        let height = table.required_value("height", "write it above the equator, such as \"550 km\"", errors);
        let height =
            height.and_then(|value| quantity(value, Unit::Metre, (100e3, 50_000e3), &table.path("height"), errors));
        let revolutions = table
            .value("revolutions")
            .and_then(|value| quantity(value, Unit::Plain, (0.05, 17.0), &Path::Key(key_path, "revolutions"), errors));
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
                    errors.push(Path::Key(key_path, "phasing"), message);
                }
                number.map(Phasing::Walker)
            }
        };
        let spread = angle(&mut table, "spread", (1.0, 360.0), errors).unwrap_or(360.0);
        let motion = table
            .value("propagator")
            .and_then(|value| word(value, "a propagator", &MOTIONS, &Path::Key(key_path, "propagator"), errors))
            .unwrap_or_default();
        let may_collide = table.optional("may_collide", errors).unwrap_or_default();
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
            may_collide,
        };
        if u64::from(shell.planes) * u64::from(shell.slots) > MOST_SATELLITES {
            errors.push(
                key_path,
                format!("{} planes of {} satellites are more than {MOST_SATELLITES}", shell.planes, shell.slots),
            );
        }
        if errors.len() == before
            && let Err(refusal) = shell.check()
        {
            errors.push(key_path, refusal.to_string());
        }
        (errors.len() == before).then_some(Self(shell))
    }
}

/// Reads a required number of planes or slots.
fn counted(table: &mut TableReader, key: &'static str, errors: &mut Errors) -> Option<u32> {
    let value = table.required_value(key, "write a whole number, at least 1", errors)?;
    let number = value.as_u64().filter(|number| (1..=MOST_SATELLITES).contains(number));
    if number.is_none() {
        errors.push(table.path(key), format!("{} is not a whole number from 1 to {MOST_SATELLITES}", shown(value)));
    }
    number.map(|number| number as u32)
}

impl Serialize for ShellSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Shell { name, height, revolutions, inclination, planes, slots, phasing, spread, motion, may_collide } =
            &self.0;
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
        if *may_collide {
            table["may_collide"] = json!(true);
        }
        table.serialize(serializer)
    }
}

impl JsonSchema for ShellSpec {
    fn schema_name() -> Cow<'static, str> {
        "Shell".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let count =
            |about: &str| json!({ "type": "integer", "minimum": 1, "maximum": MOST_SATELLITES, "description": about });
        json_schema!({
            "description": "A Walker shell: circular orbits of one height and inclination, evenly spread.",
            "type": "object",
            "properties": {
                "name": { "type": "string", "default": SHELL, "description": "Prefix of the names of its satellites, which are name-plane-slot." },
                "height": { "type": "string", "description": "Height above the equator.", "examples": ["550 km"] },
                "revolutions": { "type": "number", "description": "Revolutions per day, instead of the value derived \
                    from the height." },
                "inclination": angle_schema("Inclination of the orbits to the equator."),
                "planes": count("Number of orbital planes."),
                "slots": count("Number of satellites in each plane."),
                "phasing": {
                    "anyOf": [{ "type": "integer", "minimum": 0 }, { "const": "alternating" }], "default": 0,
                    "description": "F of the Walker notation; `\"alternating\"` puts odd planes half a slot ahead."
                },
                "spread": angle_schema("Range of the ascending nodes of the planes: `\"360 deg\"` for a delta pattern, \
                                        which is the default, `\"180 deg\"` for a star."),
                "propagator": {
                    "enum": ["sgp4", "circular"], "default": "sgp4",
                    "description": "SGP4 without drag (sgp4), or a circle whose plane drifts with J2 (circular)."
                },
                "may_collide": {
                    "type": "boolean", "default": false,
                    "description": "Whether satellites may come within a kilometre of each other, as in published simulations."
                },
            },
            "required": ["height", "inclination", "planes", "slots"],
            "additionalProperties": false
        })
    }
}
