//! Packet loss on a link: the model, its location before or after the queue, and the direction.
//!
//! `lightlag-net` declares the models and their keys.

use crate::read::{Errors, FromValue, Key, Omitted, Path, TableReader, not_one_of, probability, shown};
use lightlag_core::Probability;
use lightlag_core::params::{Parameter, Registered};
use lightlag_net::loss::errors::PacketErrors;
use lightlag_net::{Loss, LossLaw, LossPlace};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// Keys that every loss model accepts. The last three are accepted only in tables where each direction may have its own
/// value.
const COMMON: [&str; 4] = ["where", "direction", "forward", "backward"];
const PLACES: [&str; 2] = ["after queue", "before queue"];

/// Loss model of a link.
#[derive(Clone, PartialEq, Debug)]
pub struct LossModel {
    /// Model that determines which packets are lost.
    pub law: LossLaw,
    /// Whether losses are drawn before or after the queue.
    pub place: LossPlace,
}

impl Default for LossModel {
    /// Returns a model without losses.
    fn default() -> Self {
        Self::packets(Probability::ZERO)
    }
}

/// A form in which a loss model can be written. Its keys distinguish it from other forms.
struct LossForm {
    law: LossLaw,
    parameters: Vec<Parameter>,
    /// Whether this form uses the alternative name of the key.
    is_alias: bool,
}

impl LossForm {
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

    /// Reads a model in this form from the entries of a table.
    fn read(&self, entries: &Map<String, Value>, path: &Path, errors: &mut Errors) -> Option<LossLaw> {
        let before = errors.len();
        let mut law = self.law.clone();
        for (index, parameter) in self.parameters.iter().enumerate() {
            let key_path = Path::Key(path, parameter.key);
            match (entries.get(parameter.key), parameter.required) {
                (Some(given), _) => {
                    if let Some(value) = Key(parameter).value(given, &key_path, errors) {
                        law.set(index, value);
                    }
                }
                (None, Some(remedy)) => errors.push(key_path, format!("is missing; {remedy}")),
                (None, None) => {}
            }
        }
        if errors.len() == before
            && let Some((key, message)) = law.refuses(&|key| entries.get(key).map_or_else(String::new, shown))
        {
            errors.push(Path::Key(path, key), message);
        }
        (errors.len() == before).then_some(law)
    }
}

/// Lists the forms for a message: "rate, at, and mean with burst".
fn listed(forms: &[LossForm]) -> String {
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

    /// Reads the key `loss` of a table that describes a single direction. A key that names a direction is rejected;
    /// `reason` is the error message.
    pub(crate) fn one_way(table: &mut TableReader, path: &Path, reason: &str, errors: &mut Errors) -> Option<Self> {
        let loss_path = Path::Key(path, "loss");
        let value = table.value("loss").filter(|value| !value.is_null())?;
        for key in ["direction", "forward", "backward"] {
            if value.get(key).is_some() {
                errors.push(Path::Key(&loss_path, key), reason);
            }
        }
        Self::read(value, &loss_path, errors)
    }

    /// Returns the loss model for the link.
    pub(crate) fn model(&self) -> Loss {
        self.law.loss()
    }
}

impl FromValue for LossModel {
    const IS_TABLE: bool = true;

    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let Value::Object(entries) = value else { return Some(Self::packets(probability(value, path, errors)?)) };
        let before = errors.len();
        let forms = LossForm::all();
        let known: Vec<&str> = forms.iter().flat_map(LossForm::keys).chain(COMMON).collect();
        for key in entries.keys().filter(|key| !known.contains(&key.as_str())) {
            errors.push(Path::Key(path, key), not_one_of(key, "a key here", &known));
        }
        let position = entries.get("where").map(|value| place(value, &Path::Key(path, "where"), errors));
        let mut given = forms.iter().filter(|form| form.keys().any(|key| entries.contains_key(key)));
        let law = match (given.next(), given.next()) {
            _ if errors.len() > before => None,
            (Some(form), None) => form.read(entries, path, errors),
            _ => {
                errors.push(path, format!("give exactly one of {}", listed(&forms)));
                None
            }
        };
        let law = law?;
        Some(Self { place: position.unwrap_or_else(|| Some(law.place()))?, law })
    }
}

fn place(value: &Value, path: &Path, errors: &mut Errors) -> Option<LossPlace> {
    match value.as_str() {
        Some("after queue") => Some(LossPlace::AfterQueue),
        Some("before queue") => Some(LossPlace::BeforeQueue),
        Some(other) => {
            errors.push(path, not_one_of(other, "a position of losses", &PLACES));
            None
        }
        None => {
            errors.push(path, format!("{} is not \"after queue\" or \"before queue\"", shown(value)));
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
        if self.place != self.law.place() {
            table["where"] = json!(PLACES[usize::from(self.place == LossPlace::BeforeQueue)]);
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
        for form in LossForm::all() {
            let mut properties = json!({
                "where": {
                    "enum": PLACES,
                    "description": "position of losses: a packet lost after the queue has used the queue and the link"
                },
                "direction": {
                    "enum": ["forward", "backward"],
                    "description": "the only direction that loses packets; if omitted, both lose packets independently"
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
        json_schema!({ "description": "packet loss other than queue overflow", "anyOf": forms })
    }
}
