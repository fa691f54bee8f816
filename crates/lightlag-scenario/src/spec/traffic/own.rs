//! Traffic of a user's own: an application that says, message by message, when the next one comes and how large it is.

use crate::read::{Errors, FromOutside, Path, described};
use lightlag_core::own::{Fault, Outside, Registry};
use lightlag_core::{Duration, Instant};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// Traffic from outside, which builds its applications.
pub trait Maker: Outside {
    /// Builds the application of a flow, with a value for each parameter.
    fn build(self: Arc<Self>, start: &Start, values: &[f64]) -> Box<dyn Application>;
}

/// Traffic from outside with the values of its parameters.
pub type Own = lightlag_core::own::Own<dyn Maker>;

/// The traffic from outside.
pub static OUTSIDE: Registry<dyn Maker> = Registry::new();

/// Makes traffic from outside known by its name, in place of an earlier one with that name.
///
/// # Errors
/// If one of lightlag's own kinds has the name.
pub fn register(maker: Arc<dyn Maker>) -> Result<(), String> {
    let name = maker.facts().name;
    if super::KINDS.contains(&name) {
        return Err(format!("{name:?} is the name of a kind of traffic of lightlag; choose another"));
    }
    OUTSIDE.add(maker);
    Ok(())
}

/// The facts known when an application is built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Start {
    /// The largest message in bytes, if there is one.
    pub largest: Option<u64>,
    /// The seed of its random draws, different for each flow.
    pub seed: u64,
}

/// What an application is told when it is asked for a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Question {
    /// When the flow starts, or the time of the last message.
    pub now: Instant,
    /// Messages so far.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// The next message of an application.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message {
    /// From the last one, or from the start, to this one.
    pub wait: Duration,
    /// Its bytes; not zero.
    pub size: u64,
}

/// The application of a flow from outside.
pub trait Application: fmt::Debug + Send {
    /// The next message; `None` if there is none any more.
    fn next(&mut self, question: &Question) -> Option<Message>;

    /// Its failure. From then on it has no messages.
    fn fault(&self) -> Option<&Fault>;
}

/// Traffic from outside as asked for.
#[derive(Clone, PartialEq, Debug)]
pub struct OwnTraffic {
    /// The traffic.
    pub own: Own,
    /// Nothing is sent from this time of the run on.
    pub stop: Option<Duration>,
}

const FROM_OUTSIDE: FromOutside<dyn Maker> =
    FromOutside { registry: &OUTSIDE, word: "kind", what: "a kind of traffic", beside: &["stop"] };

impl OwnTraffic {
    /// The traffic from outside of a table, if the table names one; None after an error. `stop` stands beside it.
    pub(super) fn read(value: &Value, stop: Option<Duration>, at: &Path, errors: &mut Errors) -> Option<Option<Self>> {
        Some(FROM_OUTSIDE.read(value, at, errors)?.map(|own| Self { own, stop }))
    }
}

impl Serialize for OwnTraffic {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut table = FROM_OUTSIDE.written(&self.own);
        if let Some(stop) = self.stop {
            table.insert("stop".to_owned(), json!(stop));
        }
        table.serialize(serializer)
    }
}

impl JsonSchema for OwnTraffic {
    fn schema_name() -> Cow<'static, str> {
        "OwnTraffic".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let forms = FROM_OUTSIDE.forms(&json!({ "stop": described(generator.subschema_for::<Duration>(), "When it ends, from the start of the run.") }));
        json_schema!({ "anyOf": forms })
    }
}
