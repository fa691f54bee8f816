//! Set-up of the connections of a flow: name resolution and TLS.

use super::settings;
use crate::read::{Errors, FromValue, Path, TableReader};
use lightlag_core::params::Described;
use lightlag_traffic::{Setup, Traffic};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Set-up of the connections of a flow, as written in a scenario.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SetupSpec(pub Setup);

impl SetupSpec {
    /// Rejects a set-up for traffic without requests.
    pub(crate) fn check(setup: Option<&Self>, traffic: &Traffic, path: &Path, errors: &mut Errors) {
        if setup.is_some() && !traffic.is_dialogue() {
            let message = "needs traffic with requests, because the client's first request follows it; write traffic \
                           = { kind = \"requests\", … }, \"web\" or \"page\"";
            errors.push(Path::Key(path, "setup"), message);
        }
    }
}

impl FromValue for SetupSpec {
    const IS_TABLE: bool = true;

    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let mut table = TableReader::open(value, path, "a table such as { tls = \"1.3\" }", errors)?;
        let setup = settings::read(Setup::default(), &mut table, path, errors);
        table.finish(errors);
        (errors.len() == before).then_some(Self(setup))
    }
}

impl Serialize for SetupSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut table = Map::new();
        settings::write(&self.0, &Setup::default(), &mut table);
        table.serialize(serializer)
    }
}

impl JsonSchema for SetupSpec {
    fn schema_name() -> Cow<'static, str> {
        "Setup".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut properties = Map::new();
        settings::properties::<Setup>(&mut properties, generator);
        json_schema!({
            "type": "object", "description": Setup::ABOUT, "properties": properties, "additionalProperties": false,
        })
    }
}
