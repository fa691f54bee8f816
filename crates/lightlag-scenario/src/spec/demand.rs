//! Bandwidth on demand.

use crate::read::{Errors, FromValue, Omitted, Path, TableReader, described};
use lightlag_core::{Duration, Rate};
use lightlag_net::Demand;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::json;
use std::borrow::Cow;

/// Bandwidth on demand, if the direction of a link uses it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OnDemand(pub Option<Terminal>);

/// Rules for a terminal's requests for bandwidth.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Terminal {
    /// Interval between requests, and lifetime of grants.
    pub frame: Duration,
    /// Delay from a request to the start of the frame for which capacity is granted.
    pub latency: Duration,
    /// Rate that is assigned without a request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constant: Option<Rate>,
    /// Rate that is assigned without a request if capacity is free.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free: Option<Rate>,
    /// Maximum rate that is assigned in total; by default the rate of the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_rate: Option<Rate>,
}

/// Duration of a DVB-RCS frame.
const FRAME: Duration = Duration::from_micros(26_500);
/// Minimum duration of a frame. Shorter ones are unrealistic and slow to simulate.
const SHORTEST: Duration = Duration::from_micros(100);

impl OnDemand {
    /// Returns the bandwidth on demand for a link of this rate.
    pub(crate) fn demand(self, rate: Rate) -> Option<Demand> {
        let Terminal { frame, latency, constant, free, max_rate } = self.0?;
        Some(Demand { frame, latency, constant, free, most: max_rate.unwrap_or(rate) })
    }

    /// Rejects assignments that a link of this rate cannot carry.
    pub(crate) fn check(self, rate: Rate, path: &Path, errors: &mut Errors) {
        let Some(Terminal { constant, max_rate, .. }) = self.0 else { return };
        if let Some(max_rate) = max_rate.filter(|max_rate| *max_rate > rate) {
            let message = format!("{max_rate} is above the rate of the link, {rate}; reduce it");
            errors.push(Path::Key(path, "max_rate"), message);
        } else if let Some(constant) = constant.filter(|constant| *constant > max_rate.unwrap_or(rate)) {
            let max_rate = max_rate.unwrap_or(rate);
            errors.push(Path::Key(path, "constant"), format!("{constant} is above max_rate, {max_rate}"));
        }
    }
}

impl FromValue for OnDemand {
    const IS_TABLE: bool = true;

    fn read(value: &serde_json::Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let mut table =
            TableReader::open(value, path, "a table such as { latency = \"560 ms\", frame = \"26.5 ms\" }", errors)?;
        let frame = table.optional("frame", errors).unwrap_or(FRAME);
        if frame < SHORTEST {
            errors.push(
                Path::Key(path, "frame"),
                format!("{frame} is below {SHORTEST}, the minimum duration of a frame"),
            );
        }
        let remedy = "specify the time from a request to its grant, such as \"560 ms\"";
        let latency = table.required("latency", remedy, errors);
        let constant = table.optional("constant", errors);
        let free = table.optional("free", errors);
        let max_rate = table.optional("max_rate", errors);
        table.finish(errors);
        let requests = Terminal { frame, latency: latency?, constant, free, max_rate };
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
                "latency": described(&time, "Time from a request to the granted capacity."),
                "constant": described(&rate, "Capacity that needs no request."),
                "free": described(&rate, "Capacity assigned without a request while other terminals do not use it."),
                "max_rate": described(&rate, "Maximum rate that is granted; by default the rate of the link.")
            },
            "required": ["latency"],
            "additionalProperties": false
        });
        json_schema!({
            "description": "a terminal that requests capacity for its queued data in each frame and uses the granted \
                            capacity one latency later; constant and free assignments need no request",
            "anyOf": [table, { "type": "null" }]
        })
    }
}
