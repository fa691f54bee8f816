//! Positions in space, and boxes.

use crate::read::{Errors, FromValue, Path, quantity, shown};
use lightlag_core::Unit;
use lightlag_mobility::Vector;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::borrow::Cow;

/// Maximum coordinate in metres: beyond the geostationary orbit.
const FARTHEST: f64 = 1e8;

/// A position, or the side lengths of a box: east, north and up.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Coordinates(pub Vector);

impl FromValue for Coordinates {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let Some([x, y, z]) = value.as_array().and_then(|items| <&[Value; 3]>::try_from(items.as_slice()).ok()) else {
            let message =
                format!("{} is not a list of three lengths, such as [\"400 m\", \"400 m\", \"100 m\"]", shown(value));
            errors.push(path, message);
            return None;
        };
        let mut part =
            |index, value| quantity(value, Unit::Metre, (-FARTHEST, FARTHEST), &Path::Index(path, index), errors);
        let (x, y, z) = (part(0, x), part(1, y), part(2, z));
        Some(Self(Vector::new(x?, y?, z?)))
    }
}

impl Serialize for Coordinates {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(Vector { x, y, z }) = *self;
        [x, y, z].map(|part| Unit::Metre.show(part).to_string()).serialize(serializer)
    }
}

impl JsonSchema for Coordinates {
    fn schema_name() -> Cow<'static, str> {
        "Coordinates".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "lengths to the east, to the north and up, such as [\"400 m\", \"400 m\", \"100 m\"]",
            "type": "array", "items": { "type": "string" }, "minItems": 3, "maxItems": 3
        })
    }
}
