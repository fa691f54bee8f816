//! Losses as asked for: which packets, where they are drawn, and in which direction.

use crate::read::{Errors, FromValue, Omitted, Path, Table, not_one_of, probability, shown};
use lightlag_core::{Duration, Instant, Probability};
use lightlag_net::{Dwell, GilbertElliott, Loss, LossPlace};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// Keys that say which packets, those of one law in a row.
const LAWS: [&[&str]; 7] = [
    &["packet_error_rate"],
    &["rate"],
    &["bit_error_rate"],
    &["at"],
    &["packets"],
    &["mean", "burst"],
    &["good", "bad"],
];
const LOSS_KEYS: [&str; 13] = [
    "packet_error_rate",
    "rate",
    "bit_error_rate",
    "at",
    "packets",
    "mean",
    "burst",
    "good",
    "bad",
    "where",
    "direction",
    "forward",
    "backward",
];
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
    /// Runs of lost packets.
    Bursts(Bursts),
    /// A channel that is good and bad in turn, with exponential times.
    Fading {
        /// Most of the time.
        good: ChannelState,
        /// Some of the time.
        bad: ChannelState,
    },
}

/// Runs of lost packets that exist: a channel of Gilbert's.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bursts {
    /// The share of packets that are lost.
    pub mean: Probability,
    /// How many are lost in a row, on average.
    pub burst: f64,
    model: GilbertElliott,
}

/// One state of a channel.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct ChannelState {
    /// How long it lasts, on average.
    pub mean_time: Duration,
    /// How likely a packet is lost meanwhile.
    pub loss: Probability,
}

impl Default for LossLaw {
    /// Nothing is lost.
    fn default() -> Self {
        Self::Packet(Probability::ZERO)
    }
}

impl LossModel {
    /// The model that a link runs.
    pub(crate) fn model(&self) -> Loss {
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
            LossLaw::Bursts(bursts) if bursts.mean == Probability::ZERO => Loss::None,
            LossLaw::Bursts(bursts) => Loss::Bursts(bursts.model),
            LossLaw::Fading { good, bad } => Loss::Bursts(GilbertElliott {
                dwell: Dwell::Time { good: good.mean_time, bad: bad.mean_time },
                good_loss: good.loss,
                bad_loss: bad.loss,
            }),
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
        let mut laws = LAWS.iter().filter(|keys| keys.iter().any(|key| entries.contains_key(*key)));
        let law = match (laws.next(), laws.next()) {
            _ if errors.len() > before => None,
            (Some(keys), None) => LossLaw::read(keys, entries, at, errors),
            _ => {
                errors.push(
                    at,
                    "give exactly one of rate, bit_error_rate, at, packets, mean with burst, and good with bad",
                );
                None
            }
        };
        Some(Self { law: law?, place: place? })
    }
}

impl LossLaw {
    /// The law that one row of [`LAWS`] gives.
    fn read(keys: &[&str], entries: &Map<String, Value>, at: &Path, errors: &mut Errors) -> Option<Self> {
        let null = Value::Null;
        let value = |key: &str| entries.get(key).unwrap_or(&null);
        match keys {
            ["mean", ..] => Bursts::read(entries, at, errors).map(Self::Bursts),
            ["good", ..] => {
                let mut state = |key, usual: f64| {
                    let remedy = "say how long it lasts and what it loses: { mean_time = \"200 ms\", loss = 0.5 }";
                    match entries.get(key) {
                        Some(value) => ChannelState::read(value, usual, &Path::Key(at, key), errors),
                        None => {
                            errors.push(Path::Key(at, key), format!("is missing; {remedy}"));
                            None
                        }
                    }
                };
                let (good, bad) = (state("good", 0.0), state("bad", 1.0));
                Some(Self::Fading { good: good?, bad: bad? })
            }
            [key @ "bit_error_rate"] => probability(value(key), &Path::Key(at, key), errors).map(Self::Bit),
            [key @ "at"] => times(value(key), &Path::Key(at, key), errors).map(Self::At),
            [key @ "packets"] => numbers(value(key), &Path::Key(at, key), errors).map(Self::Numbered),
            [key, ..] => probability(value(key), &Path::Key(at, key), errors).map(Self::Packet),
            [] => None,
        }
    }
}

impl Bursts {
    fn read(entries: &Map<String, Value>, at: &Path, errors: &mut Errors) -> Option<Self> {
        let (mean_at, burst_at) = (Path::Key(at, "mean"), Path::Key(at, "burst"));
        let mean = match entries.get("mean") {
            Some(value) => probability(value, &mean_at, errors),
            None => {
                errors.push(mean_at, "is missing; say which share of packets is lost, such as 0.01");
                None
            }
        };
        let Some(value) = entries.get("burst") else {
            errors.push(burst_at, "is missing; say how many packets are lost in a row on average, such as 5");
            return None;
        };
        let Some(burst) = value.as_f64().filter(|burst| *burst >= 1.0) else {
            errors.push(burst_at, format!("{} is not a number of packets, 1 or more, such as 5", shown(value)));
            return None;
        };
        let mean = mean?;
        if mean.value() == 1.0 {
            errors.push(mean_at, "1 leaves nothing between bursts; write a share below 1, or loss = 1");
            return None;
        }
        let model = GilbertElliott::from_bursts(mean, burst);
        if model.is_none() {
            let least = (mean.value() / (1.0 - mean.value()) * 1e4).ceil() / 1e4;
            let message = format!(
                "{} packets in a row cannot make {} of all, because one packet passes between two bursts; write a \
                 burst of at least {least}, or a smaller mean",
                shown(value),
                mean.value()
            );
            errors.push(burst_at, message);
        }
        Some(Self { mean, burst, model: model? })
    }
}

impl ChannelState {
    /// A state; `usual` is its loss if none is given.
    fn read(value: &Value, usual: f64, at: &Path, errors: &mut Errors) -> Option<Self> {
        let what = "a table such as { mean_time = \"200 ms\", loss = 0.5 }";
        let mut table = Table::open(value, at, what, errors)?;
        let mean_time = table.required("mean_time", "say how long it lasts on average, such as \"200 ms\"", errors);
        let loss = match table.value("loss") {
            Some(value) => probability(value, &Path::Key(at, "loss"), errors),
            None => Probability::new(usual),
        };
        table.finish(errors);
        if mean_time == Some(Duration::ZERO) {
            errors.push(Path::Key(at, "mean_time"), "0 s is no time; write how long the state lasts on average");
            return None;
        }
        Some(Self { mean_time: mean_time?, loss: loss? })
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
            LossLaw::Bursts(Bursts { mean, burst, .. }) => json!({ "mean": mean, "burst": burst }),
            LossLaw::Fading { good, bad } => json!({ "good": good, "bad": bad }),
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
        let all = |keys: &[(&str, Value)], description: &str| {
            let mut properties = json!({
                "where": {
                    "enum": PLACES,
                    "description": "where losses are drawn: a packet lost after the queue has used queue and link"
                },
                "direction": {
                    "enum": ["forward", "backward"],
                    "description": "the only direction that loses packets; without it both do, each by itself"
                }
            });
            for (key, schema) in keys {
                properties[*key] = schema.clone();
            }
            let required: Vec<&str> = keys.iter().map(|(key, _)| *key).collect();
            json!({
                "type": "object",
                "description": description,
                "properties": properties,
                "required": required,
                "additionalProperties": false
            })
        };
        let only = |key: &str, schema: Value, description: &str| all(&[(key, schema)], description);
        let state = json!({
            "type": "object",
            "properties": { "mean_time": time, "loss": probability },
            "required": ["mean_time"],
            "additionalProperties": false
        });
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
                all(&[("mean", json!(probability)), ("burst", json!({ "type": "number", "minimum": 1 }))],
                    "in bursts: the share of packets that is lost, and how many are lost in a row on average"),
                all(&[("good", state.clone()), ("bad", state)],
                    "a channel that is good and bad in turn (Gilbert-Elliott), each for exponential times with this mean"),
            ]
        })
    }
}
