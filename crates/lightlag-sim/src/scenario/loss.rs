//! Losses as asked for: which packets, where they are drawn, and in which direction.

use super::error::{Errors, Path, not_one_of};
use super::link::{Omitted, probability};
use super::reader::{FromValue, shown};
use lightlag_core::{Duration, Instant, Probability};
use lightlag_net::{Loss, LossPlace};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;

const LAW_KEYS: [&str; 5] = ["packet_error_rate", "rate", "bit_error_rate", "at", "packets"];
const LOSS_KEYS: [&str; 9] =
    ["packet_error_rate", "rate", "bit_error_rate", "at", "packets", "where", "direction", "forward", "backward"];
const PLACES: [&str; 2] = ["after queue", "before queue"];
/// The most packets that can be named one by one.
const MOST_NUMBERS: usize = 10_000_000;

/// Losses as asked for.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LossModel {
    /// Which packets.
    pub law: LossLaw,
    /// Where they are drawn.
    pub place: LossPlace,
}

/// Which packets are lost.
#[derive(Clone, PartialEq, Debug)]
pub enum LossLaw {
    /// Each packet with this probability.
    Packet(Probability),
    /// Each bit with this probability; one wrong bit loses the packet.
    Bit(Probability),
    /// The first packet whose transmission starts at or after each of these times.
    At(Vec<Duration>),
    /// The packets with these numbers: those that carry payload are counted from 1 where losses are drawn.
    Numbered(Vec<u64>),
}

impl Default for LossLaw {
    /// Nothing is lost.
    fn default() -> Self {
        Self::Packet(Probability::ZERO)
    }
}

impl LossModel {
    /// The model that a link runs.
    pub(super) fn model(&self) -> Loss {
        match &self.law {
            LossLaw::Packet(probability) | LossLaw::Bit(probability) if *probability == Probability::ZERO => Loss::None,
            LossLaw::Packet(probability) => Loss::Packet(*probability),
            LossLaw::Bit(probability) => Loss::Bit(*probability),
            LossLaw::Numbered(numbers) => {
                let mut numbers = numbers.clone();
                numbers.sort_unstable();
                numbers.dedup();
                Loss::Numbered(numbers)
            }
            LossLaw::At(times) => {
                let mut times: Vec<Instant> = times.iter().map(|time| Instant::ZERO + *time).collect();
                times.sort_unstable();
                Loss::At(times)
            }
        }
    }
}

impl FromValue for LossModel {
    const IS_TABLE: bool = true;

    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let Value::Object(entries) = value else {
            let law = LossLaw::Packet(probability(value, at, errors)?);
            return Some(Self { law, place: LossPlace::AfterQueue });
        };
        let before = errors.len();
        for key in entries.keys().filter(|key| !LOSS_KEYS.contains(&key.as_str())) {
            errors.push(Path::Key(at, key), not_one_of(key, "a key here", &LOSS_KEYS));
        }
        let place = entries
            .get("where")
            .map_or(Some(LossPlace::AfterQueue), |value| place(value, &Path::Key(at, "where"), errors));
        let laws = entries.iter().filter(|(key, _)| LAW_KEYS.contains(&key.as_str()));
        let laws: Vec<(&str, &Value)> = laws.map(|(key, value)| (key.as_str(), value)).collect();
        let law = match laws.as_slice() {
            _ if errors.len() > before => None,
            [(key, value)] => LossLaw::read(key, value, &Path::Key(at, key), errors),
            _ => {
                errors.push(at, "give exactly one of rate, bit_error_rate, at and packets");
                None
            }
        };
        Some(Self { law: law?, place: place? })
    }
}

impl LossLaw {
    /// The law under one of [`LAW_KEYS`].
    fn read(key: &str, value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        match key {
            "bit_error_rate" => probability(value, at, errors).map(Self::Bit),
            "at" => times(value, at, errors).map(Self::At),
            "packets" => numbers(value, at, errors).map(Self::Numbered),
            _ => probability(value, at, errors).map(Self::Packet),
        }
    }
}

fn place(value: &Value, at: &Path, errors: &mut Errors) -> Option<LossPlace> {
    match value.as_str() {
        Some("after queue") => Some(LossPlace::AfterQueue),
        Some("before queue") => Some(LossPlace::BeforeQueue),
        Some(other) => {
            errors.push(at, not_one_of(other, "a place where losses are drawn", &PLACES));
            None
        }
        None => {
            errors.push(at, format!("{} is not \"after queue\" or \"before queue\"", shown(value)));
            None
        }
    }
}

fn numbers(value: &Value, at: &Path, errors: &mut Errors) -> Option<Vec<u64>> {
    let Value::Array(items) = value else {
        errors.push(at, format!("{} is not a list of packet numbers, such as [1000, 1003]", shown(value)));
        return None;
    };
    if items.len() > MOST_NUMBERS {
        errors.push(at, format!("{} packets are more than {MOST_NUMBERS}; use rate for so many losses", items.len()));
        return None;
    }
    let mut read = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        match item.as_u64().filter(|number| *number > 0) {
            Some(number) => read.push(number),
            None => {
                let message = format!("{} is no packet number; packets with payload are counted from 1", shown(item));
                errors.push(Path::Index(at, index), message);
                return None;
            }
        }
    }
    Some(read)
}

fn times(value: &Value, at: &Path, errors: &mut Errors) -> Option<Vec<Duration>> {
    let Value::Array(times) = value else {
        errors.push(at, format!("{} is not a list of times, such as [\"2.9 s\"]", shown(value)));
        return None;
    };
    let read = |(index, time)| Duration::read(time, &Path::Index(at, index), errors);
    let read: Vec<Option<Duration>> = times.iter().enumerate().map(read).collect();
    read.into_iter().collect()
}

impl Omitted for LossModel {
    const NAMES_DIRECTION: bool = true;

    fn omitted() -> Option<Self> {
        Some(Self::default())
    }
}

impl Serialize for LossModel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut table = match &self.law {
            LossLaw::Packet(probability) if self.place == LossPlace::default() => {
                return probability.serialize(serializer);
            }
            LossLaw::Packet(probability) => json!({ "rate": probability }),
            LossLaw::Bit(probability) => json!({ "bit_error_rate": probability }),
            LossLaw::At(times) => json!({ "at": times }),
            LossLaw::Numbered(numbers) => json!({ "packets": numbers }),
        };
        if self.place == LossPlace::BeforeQueue {
            table["where"] = json!(PLACES[1]);
        }
        table.serialize(serializer)
    }
}

impl JsonSchema for LossModel {
    fn schema_name() -> Cow<'static, str> {
        "Loss".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let probability = generator.subschema_for::<Probability>();
        let time = generator.subschema_for::<Duration>();
        let only = |key: &str, schema: Value, description: &str| {
            json!({
                "type": "object",
                "description": description,
                "properties": {
                    key: schema,
                    "where": {
                        "enum": PLACES,
                        "description": "where losses are drawn: a packet lost after the queue has used queue and link"
                    },
                    "direction": {
                        "enum": ["forward", "backward"],
                        "description": "the only direction that loses packets; without it both do, each by itself"
                    }
                },
                "required": [key],
                "additionalProperties": false
            })
        };
        json_schema!({
            "description": "which packets are lost, other than for want of room",
            "anyOf": [
                probability,
                only("packet_error_rate", json!(probability), "each packet with this probability"),
                only("rate", json!(probability), "each packet with this probability"),
                only("bit_error_rate", json!(probability), "each bit with this probability; one wrong bit loses the packet"),
                only("at", json!({ "type": "array", "items": time }),
                    "the first packet whose transmission starts at or after each of these times"),
                only("packets", json!({ "type": "array", "items": { "type": "integer", "minimum": 1 } }),
                    "packets with these numbers: those with payload are counted from 1, retransmissions too"),
            ]
        })
    }
}
