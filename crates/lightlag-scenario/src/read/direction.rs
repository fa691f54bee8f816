//! Values for the directions of a link: one for both, or one for each.

use super::{Errors, FromValue, Path, TableReader, described, shown};
use lightlag_core::Rate;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::borrow::Cow;

/// A value for each direction of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PerDirection<T> {
    /// From the first node to the second.
    pub forward: T,
    /// From the second node to the first.
    pub backward: T,
}

impl<T: Clone> PerDirection<T> {
    /// Returns the same value for both directions.
    pub fn both(value: T) -> Self {
        Self { forward: value.clone(), backward: value }
    }
}

/// Default for a direction that a table does not mention.
pub(crate) trait Omitted: Sized {
    /// Whether a table may have the key `direction`, so that it applies only to this direction.
    const NAMES_DIRECTION: bool = false;

    fn omitted() -> Option<Self>;
}

/// A rate has no default: a table must have a rate for both directions.
impl Omitted for Rate {
    fn omitted() -> Option<Self> {
        None
    }
}

impl<T: FromValue + Omitted + Clone> FromValue for PerDirection<T> {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let by_direction = match value {
            Value::Object(entries) => !T::IS_TABLE || entries.keys().any(|key| key == "forward" || key == "backward"),
            _ => false,
        };
        if !by_direction {
            let one = T::read(value, path, errors);
            return match value.get("direction") {
                Some(direction) if T::NAMES_DIRECTION => of_one(one, direction, path, errors),
                _ => one.map(Self::both),
            };
        }
        if T::NAMES_DIRECTION && value.get("direction").is_some() {
            let at = Path::Key(path, "direction");
            errors.push(at, "cannot be combined with forward and backward; remove direction");
            return None;
        }
        let mut table = TableReader::open(value, path, "a table with forward and backward", errors)?;
        let mut side = |key| match T::omitted() {
            Some(omitted) if table.value(key).is_none() => Some(omitted),
            _ => table.required(key, "give both directions, or one value for both", errors),
        };
        let (forward, backward) = (side("forward"), side("backward"));
        table.finish(errors);
        Some(Self { forward: forward?, backward: backward? })
    }
}

/// Reads a value for one direction. The other direction has the default.
fn of_one<T: Omitted>(
    value: Option<T>,
    direction: &Value,
    path: &Path,
    errors: &mut Errors,
) -> Option<PerDirection<T>> {
    match (direction.as_str(), T::omitted()) {
        (Some("forward"), Some(other)) => Some(PerDirection { forward: value?, backward: other }),
        (Some("backward"), Some(other)) => Some(PerDirection { forward: other, backward: value? }),
        _ => {
            errors.push(
                Path::Key(path, "direction"),
                format!("{} is not \"forward\" or \"backward\"; omit the key for both", shown(direction)),
            );
            None
        }
    }
}

impl<T: Serialize + PartialEq> Serialize for PerDirection<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        if self.forward == self.backward {
            return self.forward.serialize(serializer);
        }
        let mut table = serializer.serialize_struct("PerDirection", 2)?;
        table.serialize_field("forward", &self.forward)?;
        table.serialize_field("backward", &self.backward)?;
        table.end()
    }
}

impl<T: JsonSchema> JsonSchema for PerDirection<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}PerDirection", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        json_schema!({
            "description": "One value for both directions, or one for each.",
            "anyOf": [
                one,
                {
                    "type": "object",
                    "properties": {
                        "forward": described(&one, "From the first node of the link to the second."),
                        "backward": described(&one, "From the second node of the link to the first.")
                    },
                    "additionalProperties": false
                }
            ]
        })
    }
}
