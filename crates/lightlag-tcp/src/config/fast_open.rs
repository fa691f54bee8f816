//! Fast open, as it is written in a scenario.

use lightlag_core::forms;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use std::borrow::Cow;

/// Use of data in the SYN (RFC 7413).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FastOpenUse {
    /// Fast open is off.
    #[default]
    Off,
    /// The first connection between two hosts requests a cookie; later ones send data with it.
    On,
    /// The client has the server's cookie from the start, so the first connection also sends data with its SYN.
    CookieKnown,
}

const KNOWN: &str = "cookie known";

impl Serialize for FastOpenUse {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Off => serializer.serialize_bool(false),
            Self::On => serializer.serialize_bool(true),
            Self::CookieKnown => serializer.serialize_str(KNOWN),
        }
    }
}

forms! {
    FastOpenUse, format_args!("true, false or \"{KNOWN}\"");
    switch |on| if on { FastOpenUse::On } else { FastOpenUse::Off };
    word |word| (word == KNOWN).then_some(FastOpenUse::CookieKnown);
}

impl JsonSchema for FastOpenUse {
    fn schema_name() -> Cow<'static, str> {
        "FastOpen".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Whether data is sent with the SYN.",
            "anyOf": [{ "type": "boolean" }, { "const": KNOWN }]
        })
    }
}
