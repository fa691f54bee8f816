//! Transmitters of satellites, and of stations to satellites.

use super::{angle_schema, degrees};
use crate::read::{Errors, Path, TableReader, described, quantity, shown};
use crate::spec::{Fade, JitterSpec, LossModel, Queue};
use lightlag_core::{Duration, Rate, Unit};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};
use std::borrow::Cow;

/// A transmitter of a satellite, or of a station to satellites.
#[derive(Clone, PartialEq, Debug)]
pub struct SatelliteLink {
    /// Bit rate.
    pub rate: Rate,
    /// Rates by minimum elevation in degrees, in ascending order; empty if the rate is constant.
    pub rates: Vec<(f64, Rate)>,
    /// Delay in addition to propagation: for a scheduler, or for processing in the satellite.
    pub delay: Duration,
    /// Variation of `delay` between packets.
    pub jitter: JitterSpec,
    /// Rain that determines the rate.
    pub fade: Fade,
    /// Maximum queue length.
    pub queue: Queue,
    /// Packet loss other than queue overflow.
    pub loss: LossModel,
    /// Whether all receivers of a transmitter share its capacity.
    pub is_shared: bool,
}

/// Kind of transmitter: between satellites, from a station up, or from a satellite down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TransmitterEnds {
    Between,
    Up,
    Down,
}

impl SatelliteLink {
    /// Returns a transmitter with this rate and the defaults of all other properties.
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

    /// Reads a transmitter; `rate` is its default rate.
    pub(super) fn read(
        table: &mut TableReader,
        key: &'static str,
        transmitter_ends: TransmitterEnds,
        rate: Rate,
        path: &Path,
        errors: &mut Errors,
    ) -> Self {
        let Some(value) = table.value(key) else { return Self::of(rate) };
        let key_path = Path::Key(path, key);
        let Some(mut table) = TableReader::open(value, &key_path, "a table such as { rate = \"100 Mbit/s\" }", errors)
        else {
            return Self::of(rate);
        };
        let mut line = Self::of(table.optional("rate", errors).unwrap_or(rate));
        line.queue = table.optional("queue", errors).unwrap_or_default();
        let reason = "is not a key here: a transmitter has one direction; remove it";
        line.loss = LossModel::one_way(&mut table, &key_path, reason, errors).unwrap_or_default();
        line.delay = table.optional("delay", errors).unwrap_or_default();
        line.jitter = table.optional("jitter", errors).unwrap_or_default();
        line.jitter.check(line.delay, &Path::Key(&key_path, "jitter"), errors);
        if transmitter_ends != TransmitterEnds::Between
            && let Some(value) = table.value("rates")
        {
            line.rates = rates(value, &Path::Key(&key_path, "rates"), errors);
        }
        if transmitter_ends == TransmitterEnds::Up {
            line.fade = table.optional("fade", errors).unwrap_or_default();
            if line.fade.0.is_some() && !line.rates.is_empty() {
                errors.push(
                    Path::Key(&key_path, "fade"),
                    "cannot be combined with rates by elevation, because both set the rate; remove one",
                );
            }
            if line.fade.0.as_ref().is_some_and(|rain| rain.frames.0.is_some()) {
                let fade_path = Path::Key(&key_path, "fade");
                errors.push(Path::Key(&fade_path, "frames"), "is not a key of transmitters that move; remove it");
            }
        }
        if transmitter_ends == TransmitterEnds::Down {
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

/// Reads rates by elevation.
fn rates(value: &Value, path: &Path, errors: &mut Errors) -> Vec<(f64, Rate)> {
    let what = "a list such as [[\"25 deg\", \"20 Mbit/s\"], [\"60 deg\", \"50 Mbit/s\"]]";
    let pairs = value.as_array().filter(|items| !items.is_empty());
    let Some(pairs) = pairs else {
        errors.push(path, format!("{} is not {what}", shown(value)));
        return Vec::new();
    };
    let mut rates: Vec<(f64, Rate)> = Vec::new();
    for (index, pair) in pairs.iter().enumerate() {
        let here = Path::Index(path, index);
        let Some([from, rate]) = pair.as_array().and_then(|pair| <&[Value; 2]>::try_from(pair.as_slice()).ok()) else {
            errors.push(here, format!("{} is not an elevation and a rate, as in {what}", shown(pair)));
            continue;
        };
        let from = quantity(from, Unit::Degree, (0.0, 90.0), &here, errors);
        let rate = crate::read::leaf(rate, &here, errors);
        let (Some(from), Some(rate)) = (from, rate) else { continue };
        if rates.last().is_some_and(|(before, _)| *before >= from) {
            errors.push(here, "is not above the previous elevation; write them in ascending order");
        }
        rates.push((from, rate));
    }
    rates
}

impl JsonSchema for SatelliteLink {
    fn schema_name() -> Cow<'static, str> {
        "SatelliteLink".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let rate = json!(generator.subschema_for::<Rate>());
        json_schema!({
            "description": "A transmitter of a satellite, or of a station to satellites.",
            "type": "object",
            "properties": {
                "rate": described(&rate, "Bit rate."),
                "rates": {
                    "type": "array", "minItems": 1,
                    "description": "Minimum elevations and their rates, instead of a single rate, `[[\"25 deg\", \"20 \
                                    Mbit/s\"], [\"60 deg\", \"50 Mbit/s\"]]`; not between satellites.",
                    "items": {
                        "type": "array", "prefixItems": [angle_schema("above the horizon"), rate], "minItems": 2, "maxItems": 2
                    },
                },
                "delay": described(generator.subschema_for::<Duration>(), "Delay in addition to the propagation delay: \
                    for a scheduler, or processing in the satellite."),
                "jitter": described(generator.subschema_for::<JitterSpec>(), "Jitter: `\"5 ms\"` above and below the \
                    delay, or a distribution."),
                "fade": described(generator.subschema_for::<Fade>(), "Rain that drives the rate; only for the uplink."),
                "queue": described(generator.subschema_for::<Queue>(), "Queue of the transmitter."),
                "loss": described(generator.subschema_for::<LossModel>(), "Packet loss other than queue overflow."),
                "shared": {
                    "type": "boolean", "default": true,
                    "description": "Whether all stations share the transmitter of a satellite; only for the downlink."
                },
            },
            "additionalProperties": false
        })
    }
}
