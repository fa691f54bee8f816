//! Policers.

use crate::read::{Errors, FromValue, Omitted, Path, TableReader, described};
use lightlag_core::{Bytes, Rate};
use lightlag_net::Policer;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::json;
use std::borrow::Cow;

/// Policer before the queue, if the direction of a link has one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Police(pub Option<Policer>);

/// Minimum size of the bucket: a full packet with the headers of a link. A smaller bucket would pass no full packet.
const MIN_BURST: Bytes = Bytes(1_600);
/// Maximum size of the bucket, 1 TB.
const MAX_BURST: Bytes = Bytes(1_000_000_000_000);

impl FromValue for Police {
    const IS_TABLE: bool = true;

    fn read(value: &serde_json::Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let example = "a table such as { rate = \"50 Mbit/s\", burst = \"64 kB\" }";
        let mut table = TableReader::open(value, path, example, errors)?;
        let rate: Option<Rate> = table.required("rate", "specify the rate that passes, such as \"50 Mbit/s\"", errors);
        let burst: Option<Bytes> = table.required("burst", "specify the size of the bucket, such as \"64 kB\"", errors);
        table.finish(errors);
        let (rate, burst) = (rate?, burst?);
        let burst_path = Path::Key(path, "burst");
        if burst < MIN_BURST {
            errors.push(burst_path, format!("{burst} is below {MIN_BURST}: no full packet would ever pass"));
        } else if burst > MAX_BURST {
            errors.push(burst_path, format!("{burst} is above {MAX_BURST}, the maximum size of the bucket"));
        }
        (errors.len() == before).then_some(Self(Some(Policer { rate, burst })))
    }
}

impl Omitted for Police {
    fn omitted() -> Option<Self> {
        Some(Self::default())
    }
}

impl Serialize for Police {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let table = self.0.map(|Policer { rate, burst }| json!({ "rate": rate, "burst": burst }));
        table.serialize(serializer)
    }
}

impl JsonSchema for Police {
    fn schema_name() -> Cow<'static, str> {
        "Police".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (rate, size) = (generator.subschema_for::<Rate>(), generator.subschema_for::<Bytes>());
        let table = json!({
            "type": "object",
            "properties": {
                "rate": described(&rate, "Arrival rate of tokens: the maximum mean rate that passes."),
                "burst": described(&size, "Size of the bucket, which is full at first.")
            },
            "required": ["rate", "burst"],
            "additionalProperties": false
        });
        json_schema!({
            "description": "a token bucket before the queue that drops packets above a rate (tc police); packets count \
                            with the header of the link",
            "anyOf": [table, { "type": "null" }]
        })
    }
}
