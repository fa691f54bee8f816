//! Bandwidth on demand as asked for.

use crate::read::{Errors, FromValue, Omitted, Path, Table, described};
use lightlag_core::{Duration, Rate};
use lightlag_net::Demand;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::json;
use std::borrow::Cow;

/// Bandwidth on demand, if a direction has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OnDemand(pub Option<Terminal>);

/// Rules by which a terminal asks for bandwidth.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Terminal {
    /// From one request to the next, and so long do grants last.
    pub frame: Duration,
    /// From a request to the start of the frame that it is granted for.
    pub latency: Duration,
    /// Rate that is assigned without a request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constant: Option<Rate>,
    /// Rate that is assigned without a request where there is room.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free: Option<Rate>,
    /// The most that is assigned in all; the rate of the link, if nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most: Option<Rate>,
}

/// A frame of DVB-RCS.
const FRAME: Duration = Duration::from_micros(26_500);
/// Shorter frames are slips, and take long to simulate.
const SHORTEST: Duration = Duration::from_micros(100);

impl OnDemand {
    /// The demand of a link of this rate.
    pub(crate) fn demand(self, rate: Rate) -> Option<Demand> {
        let Terminal { frame, latency, constant, free, most } = self.0?;
        Some(Demand { frame, latency, constant, free, most: most.unwrap_or(rate) })
    }

    /// Refuses assignments that a link of this rate cannot carry.
    pub(crate) fn check(self, rate: Rate, at: &Path, errors: &mut Errors) {
        let Some(Terminal { constant, most, .. }) = self.0 else { return };
        if let Some(most) = most.filter(|most| *most > rate) {
            let message = format!("{most} is above the rate of the link, {rate}; assign at most that");
            errors.push(Path::Key(at, "most"), message);
        } else if let Some(constant) = constant.filter(|constant| *constant > most.unwrap_or(rate)) {
            let most = most.unwrap_or(rate);
            errors.push(Path::Key(at, "constant"), format!("{constant} is above the {most} that are assigned in all"));
        }
    }
}

impl FromValue for OnDemand {
    const IS_TABLE: bool = true;

    fn read(value: &serde_json::Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let mut table =
            Table::open(value, at, "a table such as { latency = \"560 ms\", frame = \"26.5 ms\" }", errors)?;
        let frame = table.optional("frame", errors).unwrap_or(FRAME);
        if frame < SHORTEST {
            errors.push(Path::Key(at, "frame"), format!("{frame} is below {SHORTEST}, the shortest frame"));
        }
        let remedy = "say how long a request takes to be granted, such as \"560 ms\"";
        let latency = table.required("latency", remedy, errors);
        let constant = table.optional("constant", errors);
        let free = table.optional("free", errors);
        let most = table.optional("most", errors);
        table.finish(errors);
        let requests = Terminal { frame, latency: latency?, constant, free, most };
        (errors.len() == before).then_some(Self(Some(requests)))
    }
}

impl Omitted for OnDemand {
    fn omitted() -> Option<Self> {
        Some(Self::default())
    }
}

impl Serialize for OnDemand {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl JsonSchema for OnDemand {
    fn schema_name() -> Cow<'static, str> {
        "OnDemand".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (time, rate) = (generator.subschema_for::<Duration>(), generator.subschema_for::<Rate>());
        let table = json!({
            "type": "object",
            "properties": {
                "frame": described(&time, "Time between two requests."),
                "latency": described(&time, "Time from a request to the capacity that it is granted."),
                "constant": described(&rate, "Capacity that needs no request."),
                "free": described(&rate, "Capacity that comes without a request while others leave it."),
                "most": described(&rate, "The largest rate that is granted; by default that of the link.")
            },
            "required": ["latency"],
            "additionalProperties": false
        });
        json_schema!({
            "description": "a terminal that asks each frame for what waits and sends what it is granted a latency later; \
                            a constant and a free assignment need no request",
            "anyOf": [table, { "type": "null" }]
        })
    }
}
