//! Values of both directions of a link: one for both, or one each.

use super::{Errors, FromValue, Path, Table, described, shown};
use lightlag_core::Rate;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::borrow::Cow;

/// One value for both directions of a link, or one each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PerDirection<T> {
    /// From the first node to the second.
    pub forward: T,
    /// From the second node to the first.
    pub backward: T,
}

impl<T: Clone> PerDirection<T> {
    /// The same both ways.
    pub fn both(value: T) -> Self {
        Self { forward: value.clone(), backward: value }
    }
}

/// Defaults of a direction that a table does not mention.
pub(crate) trait Omitted: Sized {
    /// Whether its table may name the only direction that it describes.
    const NAMES_DIRECTION: bool = false;

    fn omitted() -> Option<Self>;
}

/// A rate has no default: both directions are given or none.
impl Omitted for Rate {
    fn omitted() -> Option<Self> {
        None
    }
}

impl<T: FromValue + Omitted + Clone> FromValue for PerDirection<T> {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let by_direction = match value {
            Value::Object(entries) => !T::IS_TABLE || entries.keys().any(|key| key == "forward" || key == "backward"),
            _ => false,
        };
        if !by_direction {
            let one = T::read(value, at, errors);
            return match value.get("direction") {
                Some(direction) if T::NAMES_DIRECTION => of_one(one, direction, at, errors),
                _ => one.map(Self::both),
            };
        }
        if T::NAMES_DIRECTION && value.get("direction").is_some() {
            let at = Path::Key(at, "direction");
            errors.push(at, "forward and backward say it already; leave direction out");
            return None;
        }
        let mut table = Table::open(value, at, "a table with forward and backward", errors)?;
        let mut side = |key| match T::omitted() {
            Some(omitted) if table.value(key).is_none() => Some(omitted),
            _ => table.required(key, "give both directions, or one value for both", errors),
        };
        let (forward, backward) = (side("forward"), side("backward"));
        table.finish(errors);
        Some(Self { forward: forward?, backward: backward? })
    }
}

/// A value for one direction; the other has the default.
fn of_one<T: Omitted>(value: Option<T>, direction: &Value, at: &Path, errors: &mut Errors) -> Option<PerDirection<T>> {
    match (direction.as_str(), T::omitted()) {
        (Some("forward"), Some(other)) => Some(PerDirection { forward: value?, backward: other }),
        (Some("backward"), Some(other)) => Some(PerDirection { forward: other, backward: value? }),
        _ => {
            errors.push(
                Path::Key(at, "direction"),
                format!("{} is not \"forward\" or \"backward\"; without the key it is both", shown(direction)),
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
            "description": "One value for both directions, or one each.",
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
