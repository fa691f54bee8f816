//! When nodes compute their routes.

use crate::read::{Errors, FromValue, Path, TableReader, described, not_one_of, shown};
use lightlag_core::Duration;
use lightlag_net::TTL;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;

/// When nodes compute their routes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Routing {
    /// Once, before the run: shortest paths with the initial delays, and with every link up.
    #[default]
    Static,
    /// Again whenever a link goes down, comes up or changes its delay.
    FollowLinks(FollowLinks),
}

/// Rule by which routes follow the changes of links.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FollowLinks {
    /// Time from the detection of a change at the ends of a link until all other nodes apply it.
    pub convergence: Duration,
    /// Maximum number of links that a packet may cross.
    pub ttl: u8,
}

impl Default for FollowLinks {
    fn default() -> Self {
        Self { convergence: Duration::ZERO, ttl: TTL }
    }
}

const KINDS: [&str; 2] = ["static", "follow links"];

impl Routing {
    pub(crate) fn is_static(&self) -> bool {
        *self == Self::Static
    }

    fn name(self) -> &'static str {
        KINDS[usize::from(!self.is_static())]
    }
}

impl FromValue for Routing {
    fn read(value: &Value, key_path: &Path, errors: &mut Errors) -> Option<Self> {
        if let Some(word) = value.as_str() {
            return kind(word, key_path, errors);
        }
        let before = errors.len();
        let what =
            "\"static\", \"follow links\", or a table such as { kind = \"follow links\", convergence = \"1 s\" }";
        let mut table = TableReader::open(value, key_path, what, errors)?;
        let word: Option<String> = table.required("kind", "write kind = \"static\" or \"follow links\"", errors);
        let mut routing = word.and_then(|word| kind(&word, &table.path("kind"), errors));
        if let Some(Self::FollowLinks(follow)) = &mut routing {
            follow.convergence = table.optional("convergence", errors).unwrap_or_default();
            if let Some(value) = table.value("ttl") {
                let ttl = value.as_u64().and_then(|ttl| u8::try_from(ttl).ok()).filter(|ttl| *ttl > 0);
                if ttl.is_none() {
                    let message = format!("{} is not a whole number from 1 to 255", shown(value));
                    errors.push(table.path("ttl"), message);
                }
                follow.ttl = ttl.unwrap_or(TTL);
            }
        } else {
            for key in ["convergence", "ttl"] {
                if table.value(key).is_some() && routing.is_some() {
                    let message = "requires kind = \"follow links\": static routes neither change nor loop";
                    errors.push(table.path(key), message);
                }
            }
        }
        table.finish(errors);
        routing.filter(|_| errors.len() == before)
    }
}

fn kind(word: &str, path: &Path, errors: &mut Errors) -> Option<Routing> {
    match word {
        "static" => Some(Routing::Static),
        "follow links" => Some(Routing::FollowLinks(FollowLinks::default())),
        other => {
            errors.push(path, not_one_of(other, "a kind of routing", &KINDS));
            None
        }
    }
}

impl Serialize for Routing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Static => self.name().serialize(serializer),
            Self::FollowLinks(FollowLinks { convergence, ttl }) => {
                json!({ "kind": self.name(), "convergence": convergence, "ttl": ttl }).serialize(serializer)
            }
        }
    }
}

impl JsonSchema for Routing {
    fn schema_name() -> Cow<'static, str> {
        "Routing".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let time = generator.subschema_for::<Duration>();
        let table = |kind: &str, properties: Value| {
            let mut properties = properties;
            properties["kind"] = json!({ "const": kind });
            json!({ "type": "object", "properties": properties, "required": ["kind"], "additionalProperties": false })
        };
        let follow = json!({
            "convergence": described(time, "Time until nodes that are not at the link learn of a change."),
            "ttl": {
                "type": "integer", "minimum": 1, "maximum": 255,
                "description": "maximum number of links that a packet crosses (64)"
            }
        });
        json_schema!({
            "description": "static: shortest paths by the delays at the start, with every link up; follow links: \
                            recomputed whenever a link goes down, comes up or changes its delay, immediately at the \
                            ends of the link and after the convergence time (0 s) at all other nodes",
            "anyOf": [{ "enum": KINDS }, table(KINDS[0], json!({})), table(KINDS[1], follow)]
        })
    }
}
