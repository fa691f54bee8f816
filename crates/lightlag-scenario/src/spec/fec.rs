//! Forward error correction of a link.

use super::{Duplication, LossModel, Reorder, settings};
use crate::read::{Errors, FromValue, Omitted, Path, TableReader};
use lightlag_core::params::{Described, parameters};
use lightlag_core::{Probability, Rate};
use lightlag_net::{BlockCode, LossPlace};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// Forward error correction, if the direction of a link has any.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Fec(pub Option<BlockCode>);

impl Fec {
    /// Returns the block code of a link; `None` if it would have no repair packets.
    pub(crate) fn code(self) -> Option<BlockCode> {
        self.0.filter(|code| code.repair > 0)
    }

    /// Returns the rate of a link that remains for data.
    pub(crate) fn data_rate(self, rate: Rate) -> Rate {
        self.code().map_or(rate, |code| code.data_rate(rate))
    }

    /// Rejects a block code where the link loses packets before they are coded, or changes the number or order of coded
    /// packets.
    pub(crate) fn check(
        self,
        loss: &LossModel,
        reorder: Reorder,
        duplicate: Duplication,
        path: &Path,
        errors: &mut Errors,
    ) {
        if self.code().is_none() {
            return;
        }
        let message = if loss.place == LossPlace::BeforeQueue {
            "cannot repair losses before the queue, which never reach the transmitter; write where = \"after queue\""
        } else if reorder != Reorder::default() {
            "cannot be combined with reorder, because the decoder takes blocks in order; reorder on the next link"
        } else if duplicate.0 != Probability::ZERO {
            "cannot be combined with duplicate, because the decoder drops copies; duplicate on the next link"
        } else {
            return;
        };
        if !errors.any_at(path) {
            errors.push(path, message);
        }
    }
}

impl FromValue for Fec {
    const IS_TABLE: bool = true;

    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let mut table = TableReader::open(value, path, "a table such as { data = 10, repair = 2 }", errors)?;
        let code = settings::read(BlockCode::default(), &mut table, path, errors);
        table.finish(errors);
        (errors.len() == before).then_some(Self(Some(code)))
    }
}

impl Omitted for Fec {
    fn omitted() -> Option<Self> {
        Some(Self::default())
    }
}

impl Serialize for Fec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(code) = &self.0 else { return serializer.serialize_none() };
        let mut table = Map::new();
        settings::write(code, &BlockCode::default(), &mut table);
        table.insert("data".to_owned(), json!(code.data));
        table.insert("repair".to_owned(), json!(code.repair));
        table.serialize(serializer)
    }
}

impl JsonSchema for Fec {
    fn schema_name() -> Cow<'static, str> {
        "Fec".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut properties = Map::new();
        settings::properties::<BlockCode>(&mut properties, generator);
        let parameters = parameters::<BlockCode>(BlockCode::settings());
        let required: Vec<&str> = parameters.iter().filter_map(|of| of.required.map(|_| of.key)).collect();
        json_schema!({
            "description": BlockCode::ABOUT,
            "anyOf": [
                { "type": "object", "properties": properties, "required": required, "additionalProperties": false },
                { "type": "null" }
            ]
        })
    }
}
