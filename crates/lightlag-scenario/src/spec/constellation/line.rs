//! Transmitters in the sky and to it.

use super::{angle_schema, degrees};
use crate::read::{Errors, Path, Table, described, quantity, shown};
use crate::spec::{Fade, JitterSpec, LossModel, Queue};
use lightlag_core::{Duration, Rate, Unit};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};
use std::borrow::Cow;

/// A transmitter in the sky or to it.
#[derive(Clone, PartialEq, Debug)]
pub struct SkyLine {
    /// Rate at which bits leave.
    pub rate: Rate,
    /// Rates from these elevations on, in degrees, in ascending order; empty if there is one rate.
    pub rates: Vec<(f64, Rate)>,
    /// Time that a packet takes beside the light: for a scheduler, or in the satellite.
    pub delay: Duration,
    /// Differences of this time from packet to packet.
    pub jitter: JitterSpec,
    /// Rain that drives the rate.
    pub fade: Fade,
    /// Upper limit of what waits.
    pub queue: Queue,
    /// Losses other than those for want of room.
    pub loss: LossModel,
    /// Whether all that a transmitter sends to shares it.
    pub is_shared: bool,
}

/// The ends of a transmitter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Between,
    Up,
    Down,
}

impl SkyLine {
    /// A transmitter of this rate.
    pub(super) fn of(rate: Rate) -> Self {
        Self {
            rate,
            rates: Vec::new(),
            delay: Duration::ZERO,
            jitter: JitterSpec::default(),
            fade: Fade::default(),
            queue: Queue::default(),
            loss: LossModel::default(),
            is_shared: true,
        }
    }

    /// Reads a transmitter; one of which nothing is said has this rate.
    pub(super) fn read(
        table: &mut Table,
        key: &'static str,
        place: Place,
        rate: Rate,
        at: &Path,
        errors: &mut Errors,
    ) -> Self {
        let Some(value) = table.value(key) else { return Self::of(rate) };
        let at = Path::Key(at, key);
        let Some(mut table) = Table::open(value, &at, "a table such as { rate = \"100 Mbit/s\" }", errors) else {
            return Self::of(rate);
        };
        let mut line = Self::of(table.optional("rate", errors).unwrap_or(rate));
        line.queue = table.optional("queue", errors).unwrap_or_default();
        let reason = "is not a key here: a transmitter has one direction; leave it out";
        line.loss = LossModel::one_way(&mut table, &at, reason, errors).unwrap_or_default();
        line.delay = table.optional("delay", errors).unwrap_or_default();
        line.jitter = table.optional("jitter", errors).unwrap_or_default();
        line.jitter.check(line.delay, &Path::Key(&at, "jitter"), errors);
        if place != Place::Between
            && let Some(value) = table.value("rates")
        {
            line.rates = rates(value, &Path::Key(&at, "rates"), errors);
        }
        if place == Place::Up {
            line.fade = table.optional("fade", errors).unwrap_or_default();
            if line.fade.0.is_some() && !line.rates.is_empty() {
                errors.push(
                    Path::Key(&at, "fade"),
                    "drives the rate, as rates by elevation do; leave one of the two out",
                );
            }
        }
        if place == Place::Down {
            line.is_shared = table.optional("shared", errors).unwrap_or(true);
        }
        table.finish(errors);
        line
    }

    pub(super) fn written(&self) -> Value {
        let mut table = json!({ "rate": self.rate, "queue": self.queue, "loss": self.loss });
        if !self.rates.is_empty() {
            table["rates"] = self.rates.iter().map(|(from, rate)| json!([degrees(*from), rate])).collect();
        }
        if !self.delay.is_zero() {
            table["delay"] = json!(self.delay);
        }
        if self.jitter.0.is_some() {
            table["jitter"] = json!(self.jitter);
        }
        if self.fade.0.is_some() {
            table["fade"] = json!(self.fade);
        }
        if !self.is_shared {
            table["shared"] = json!(false);
        }
        table
    }
}

/// Rates by elevation.
fn rates(value: &Value, at: &Path, errors: &mut Errors) -> Vec<(f64, Rate)> {
    let what = "a list such as [[\"25 deg\", \"20 Mbit/s\"], [\"60 deg\", \"50 Mbit/s\"]]";
    let pairs = value.as_array().filter(|items| !items.is_empty());
    let Some(pairs) = pairs else {
        errors.push(at, format!("{} is not {what}", shown(value)));
        return Vec::new();
    };
    let mut rates: Vec<(f64, Rate)> = Vec::new();
    for (index, pair) in pairs.iter().enumerate() {
        let here = Path::Index(at, index);
        let Some([from, rate]) = pair.as_array().and_then(|pair| <&[Value; 2]>::try_from(pair.as_slice()).ok()) else {
            errors.push(here, format!("{} is not an elevation and a rate, as in {what}", shown(pair)));
            continue;
        };
        let from = quantity(from, Unit::Degree, (0.0, 90.0), &here, errors);
        let rate = crate::read::leaf(rate, &here, errors);
        let (Some(from), Some(rate)) = (from, rate) else { continue };
        if rates.last().is_some_and(|(before, _)| *before >= from) {
            errors.push(here, "is not above the elevation before it; write them in ascending order");
        }
        rates.push((from, rate));
    }
    rates
}

impl JsonSchema for SkyLine {
    fn schema_name() -> Cow<'static, str> {
        "SkyLine".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let rate = json!(generator.subschema_for::<Rate>());
        json_schema!({
            "description": "a transmitter in the sky or to it",
            "type": "object",
            "properties": {
                "rate": described(&rate, "Rate at which bits leave."),
                "rates": {
                    "type": "array", "minItems": 1,
                    "description": "elevations with the rate from there on, in the place of one rate; not between satellites",
                    "items": {
                        "type": "array", "prefixItems": [angle_schema("above the horizon"), rate], "minItems": 2, "maxItems": 2
                    },
                },
                "delay": described(generator.subschema_for::<Duration>(), "Time beside that of the light, such as processing."),
                "jitter": described(generator.subschema_for::<JitterSpec>(), "Differences in delay from packet to packet."),
                "fade": described(generator.subschema_for::<Fade>(), "Rain that drives the rate; only of the uplink."),
                "queue": described(generator.subschema_for::<Queue>(), "The queue in front of it."),
                "loss": described(generator.subschema_for::<LossModel>(), "Losses other than those for want of room."),
                "shared": {
                    "type": "boolean", "default": true,
                    "description": "whether all stations share the transmitter of a satellite; only of the downlink"
                },
            },
            "additionalProperties": false
        })
    }
}
