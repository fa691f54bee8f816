//! The way in which the nodes of a medium find their routes, as asked for: a protocol of lightlag, or a router from outside.

use super::Model;
use super::model::Chosen;
use crate::read::{Errors, FromOutside, FromValue, Path};
use lightlag_routing::own::{Maker, OUTSIDE};
use lightlag_routing::{Protocol, Router};
use schemars::SchemaGenerator;
use serde_json::{Value, json};

const FROM_OUTSIDE: FromOutside<dyn Maker> =
    FromOutside { registry: &OUTSIDE, word: Protocol::KEY, what: "a router", beside: &[] };

impl Chosen for Protocol {
    const SCHEMA: &'static str = "RoutingProtocol";
    const KEY: &'static str = "protocol";
    const WHAT: &'static str = "a routing protocol";
    fn usual() -> Self {
        Self::Aodv(Default::default())
    }
    fn others() -> Vec<&'static str> {
        OUTSIDE.names()
    }
}

impl FromValue for Router {
    const IS_TABLE: bool = true;

    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        if let Some(own) = value.as_str().and_then(|name| OUTSIDE.named(name)) {
            return Some(Self::Own(own));
        }
        match FROM_OUTSIDE.read(value, at, errors)? {
            Some(own) => Some(Self::Own(own)),
            None => Model::read(value, at, errors).map(|Model(protocol)| Self::Protocol(protocol)),
        }
    }
}

/// The value that reads as this way.
pub(super) fn written(router: &Router) -> Value {
    match router {
        Router::Protocol(protocol) => json!(Model(protocol.clone())),
        Router::Own(own) => Value::Object(FROM_OUTSIDE.written(own)),
    }
}

/// The schema of such values.
pub(super) fn schema(generator: &mut SchemaGenerator) -> Value {
    let protocol = json!(generator.subschema_for::<Model<Protocol>>());
    let [_, python] = FROM_OUTSIDE.forms(&json!({}));
    json!({ "anyOf": [protocol, python] })
}
