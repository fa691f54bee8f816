//! Keys whose value is a keyword, a switch or a table.

use super::super::Growth;
use super::{DelayedAckOptions, DelayedAckSwitch};
use lightlag_core::forms;
use schemars::JsonSchema;
use serde::Deserialize;

impl DelayedAckSwitch {
    pub(super) fn merge(self, over: Self) -> Self {
        match (self, over) {
            (Self::On(base), Self::On(over)) => Self::On(base.merge(&over)),
            (Self::On(base), Self::Switch(true)) => Self::On(base),
            _ => over,
        }
    }
}

forms! {
    DelayedAckSwitch, "false or a table such as { segments = 2, timeout = \"200 ms\" }";
    switch DelayedAckSwitch::Switch;
    table DelayedAckOptions: DelayedAckSwitch::On;
}

/// Appropriate byte counting with a limit.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Limit {
    abc: u8,
}

forms! {
    Growth, "\"per_ack\", \"per_segment\" or { abc = 2 }";
    word |name| match name {
        "per_ack" => Some(Growth::PerAck),
        "per_segment" => Some(Growth::PerSegment),
        _ => None,
    };
    table Limit: |limit: Limit| Growth::Abc(limit.abc);
}

impl JsonSchema for Growth {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Growth".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "Contribution of an ACK to the growth of the window.",
            "anyOf": [
                { "enum": ["per_ack", "per_segment"] },
                {
                    "type": "object",
                    "properties": { "abc": {
                        "type": "integer", "minimum": 1, "maximum": 255,
                        "description": "L of appropriate byte counting (RFC 3465): limit per ACK, in segments."
                    } },
                    "required": ["abc"],
                    "additionalProperties": false
                }
            ]
        })
    }
}
