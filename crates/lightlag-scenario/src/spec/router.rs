//! Routing protocol of the nodes of a medium: a built-in protocol or a custom router.

use super::Model;
use super::model::Chosen;
use crate::read::{Errors, FromOutside, FromValue, Path};
use lightlag_routing::custom::{CUSTOM, RouterFactory};
use lightlag_routing::{Protocol, Router};
use schemars::SchemaGenerator;
use serde_json::{Value, json};

const FROM_OUTSIDE: FromOutside<dyn RouterFactory> =
    FromOutside { registry: &CUSTOM, word: Protocol::KEY, what: "a router", beside: &[] };

impl Chosen for Protocol {
    const SCHEMA: &'static str = "RoutingProtocol";
    const KEY: &'static str = "protocol";
    const WHAT: &'static str = "a routing protocol";
    fn usual() -> Self {
        Self::Aodv(Default::default())
    }
    fn others() -> Vec<&'static str> {
        CUSTOM.names()
    }
}

impl FromValue for Router {
    const IS_TABLE: bool = true;

    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        if let Some(custom) = value.as_str().and_then(|name| CUSTOM.named(name)) {
            return Some(Self::Custom(custom));
        }
        match FROM_OUTSIDE.read(value, path, errors)? {
            Some(custom) => Some(Self::Custom(custom)),
            None => Model::read(value, path, errors).map(|Model(protocol)| Self::Protocol(protocol)),
        }
    }
}

/// Returns the written form of a router.
pub(super) fn written(router: &Router) -> Value {
    match router {
        Router::Protocol(protocol) => json!(Model(protocol.clone())),
        Router::Custom(custom) => Value::Object(FROM_OUTSIDE.written(custom)),
        Router::Star => json!(router.name()),
    }
}

/// Returns the schema of routers.
pub(super) fn schema(generator: &mut SchemaGenerator) -> Value {
    let protocol = json!(generator.subschema_for::<Model<Protocol>>());
    let [_, python] = FROM_OUTSIDE.forms(&json!({}));
    json!({ "anyOf": [protocol, python] })
}
