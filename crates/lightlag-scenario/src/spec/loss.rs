//! Losses as asked for: which packets, where they are drawn, and in which direction.
//!
//! The models and their keys are those that `lightlag-net` declares.

use crate::read::{Errors, FromValue, Key, Omitted, Path, Table, not_one_of, probability, shown};
use lightlag_core::Probability;
use lightlag_core::params::{Parameter, Registered};
use lightlag_net::loss::errors::PacketErrors;
use lightlag_net::{Loss, LossLaw, LossPlace};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// Keys beside those of the laws: the last three are read where a table may have directions.
const COMMON: [&str; 4] = ["where", "direction", "forward", "backward"];
const PLACES: [&str; 2] = ["after queue", "before queue"];

/// Losses as asked for.
#[derive(Clone, PartialEq, Debug)]
pub struct LossModel {
    /// The lost packets.
    pub law: LossLaw,
    /// Place at which they are drawn.
    pub place: LossPlace,
}

impl Default for LossModel {
    /// Nothing is lost.
    fn default() -> Self {
        Self::packets(Probability::ZERO)
    }
}

/// A way to write a law, which its keys tell from the others.
struct Form {
    law: LossLaw,
    parameters: Vec<Parameter>,
    /// Whether another form of the same law is the usual one.
    is_alias: bool,
}

impl Form {
    fn all() -> Vec<Self> {
        let forms = |law: LossLaw| {
            let usual = Self { parameters: law.parameters(), law, is_alias: false };
            let alias = usual.law.alias().map(|key| Self {
                law: usual.law.clone(),
                parameters: usual.parameters.iter().map(|of| Parameter { key, ..of.clone() }).collect(),
                is_alias: true,
            });
            alias.into_iter().chain([usual])
        };
        LossLaw::all().into_iter().flat_map(forms).collect()
    }

    fn keys(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.parameters.iter().map(|parameter| parameter.key)
    }

    /// The law with the values of a table.
    fn read(&self, entries: &Map<String, Value>, at: &Path, errors: &mut Errors) -> Option<LossLaw> {
        let before = errors.len();
        let mut law = self.law.clone();
        for (index, parameter) in self.parameters.iter().enumerate() {
            let place = Path::Key(at, parameter.key);
            match (entries.get(parameter.key), parameter.required) {
                (Some(given), _) => {
                    if let Some(value) = Key(parameter).value(given, &place, errors) {
                        law.set(index, value);
                    }
                }
                (None, Some(remedy)) => errors.push(place, format!("is missing; {remedy}")),
                (None, None) => {}
            }
        }
        if errors.len() == before
            && let Some((key, message)) = law.refuses(&|key| entries.get(key).map_or_else(String::new, shown))
        {
            errors.push(Path::Key(at, key), message);
        }
        (errors.len() == before).then_some(law)
    }
}

/// "rate, at, and mean with burst": the forms in a message.
fn listed(forms: &[Form]) -> String {
    let names: Vec<String> =
        forms.iter().filter(|form| !form.is_alias).map(|form| form.keys().collect::<Vec<_>>().join(" with ")).collect();
    match names.as_slice() {
        [first @ .., last] => format!("{}, and {last}", first.join(", ")),
        [] => String::new(),
    }
}

impl LossModel {
    fn packets(rate: Probability) -> Self {
        Self { law: LossLaw::Packet(PacketErrors { rate }), place: LossPlace::AfterQueue }
    }

    /// Reads the key `loss` of the table at `at`, which has one direction; a key that names one is refused for this reason.
    pub(crate) fn one_way(table: &mut Table, at: &Path, reason: &str, errors: &mut Errors) -> Option<Self> {
        let place = Path::Key(at, "loss");
        let value = table.value("loss").filter(|value| !value.is_null())?;
        for key in ["direction", "forward", "backward"] {
            if value.get(key).is_some() {
                errors.push(Path::Key(&place, key), reason);
            }
        }
        Self::read(value, &place, errors)
    }

    /// The model that a link runs.
    pub(crate) fn model(&self) -> Loss {
        self.law.loss()
    }
}

impl FromValue for LossModel {
    const IS_TABLE: bool = true;

    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let Value::Object(entries) = value else { return Some(Self::packets(probability(value, at, errors)?)) };
        let before = errors.len();
        let forms = Form::all();
        let known: Vec<&str> = forms.iter().flat_map(Form::keys).chain(COMMON).collect();
        for key in entries.keys().filter(|key| !known.contains(&key.as_str())) {
            errors.push(Path::Key(at, key), not_one_of(key, "a key here", &known));
        }
        let place = entries
            .get("where")
            .map_or(Some(LossPlace::AfterQueue), |value| place(value, &Path::Key(at, "where"), errors));
        let mut given = forms.iter().filter(|form| form.keys().any(|key| entries.contains_key(key)));
        let law = match (given.next(), given.next()) {
            _ if errors.len() > before => None,
            (Some(form), None) => form.read(entries, at, errors),
            _ => {
                errors.push(at, format!("give exactly one of {}", listed(&forms)));
                None
            }
        };
        Some(Self { law: law?, place: place? })
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

impl Omitted for LossModel {
    const NAMES_DIRECTION: bool = true;

    fn omitted() -> Option<Self> {
        Some(Self::default())
    }
}

impl Serialize for LossModel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let (LossLaw::Packet(PacketErrors { rate }), LossPlace::AfterQueue) = (&self.law, self.place) {
            return rate.serialize(serializer);
        }
        let mut table = json!({});
        for (index, parameter) in self.law.parameters().iter().enumerate() {
            table[parameter.key] = Key(parameter).written(&self.law.get(index));
        }
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
        let mut forms = vec![json!(generator.subschema_for::<Probability>())];
        for form in Form::all() {
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
            for parameter in &form.parameters {
                properties[parameter.key] = Key(parameter).schema(generator);
            }
            forms.push(json!({
                "type": "object",
                "description": form.law.about(),
                "properties": properties,
                "required": form.keys().collect::<Vec<_>>(),
                "additionalProperties": false
            }));
        }
        json_schema!({ "description": "which packets are lost, other than for want of room", "anyOf": forms })
    }
}
