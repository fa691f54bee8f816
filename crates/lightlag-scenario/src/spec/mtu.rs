//! Maximum size of packets on a link.

use crate::read::{Errors, FromValue, Omitted, Path, leaf, shown};
use lightlag_core::Bytes;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;

/// Maximum size of an IP packet, if the direction of a link has one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(transparent)]
pub struct Mtu(pub Option<Bytes>);

/// Smallest MTU of a link for IPv4 (RFC 791 §3.2).
const MIN: Bytes = Bytes(68);
/// Largest IP packet.
const MAX: Bytes = Bytes(65_535);

impl FromValue for Mtu {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let bytes: Bytes = leaf(value, path, errors)?;
        if bytes < MIN || bytes > MAX {
            errors.push(path, format!("{} is not between {MIN} and {MAX}, the sizes of an IP packet", shown(value)));
            return None;
        }
        Some(Self(Some(bytes)))
    }
}

impl Omitted for Mtu {
    fn omitted() -> Option<Self> {
        Some(Self::default())
    }
}

impl JsonSchema for Mtu {
    fn schema_name() -> Cow<'static, str> {
        "Mtu".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "the largest IP packet that passes",
            "anyOf": [generator.subschema_for::<Bytes>(), { "type": "null" }]
        })
    }
}
