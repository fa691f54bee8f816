//! MODCODs of a link whose transmitter adapts them to rain.

use crate::read::{Errors, FromValue, Path, TableReader, described, leaf, not_one_of, shown};
use lightlag_core::Decibels;
use lightlag_net::{DVB_S2, Modcod, ModcodTable, first_out_of_order, frontier};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::Arc;

/// MODCODs that a transmitter may choose.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Modcods {
    /// Eight MODCODs of DVB-S2.
    #[default]
    Eight,
    /// Table of a standard, or a selection of it.
    Table {
        /// The table.
        table: ModcodTable,
        /// Whether frames contain pilots.
        pilots: bool,
        /// Names of the selected MODCODs; all if empty.
        used: Vec<String>,
    },
    /// Custom MODCODs.
    Custom(Vec<Modcod>),
}

/// Bounds of the efficiency in bits per symbol.
const EFFICIENCY: [f64; 2] = [0.001, 20.0];
const EXAMPLE: &str = "{ name = \"QPSK 1/2\", efficiency = 0.989, threshold = \"1 dB\" }";

impl Modcods {
    /// Returns true for the default.
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::Eight
    }

    /// Returns the MODCODs by increasing threshold and efficiency.
    pub(crate) fn list(&self) -> Arc<[Modcod]> {
        match self {
            Self::Eight => DVB_S2.into(),
            Self::Table { table, pilots, used } if used.is_empty() => frontier(table.modcods(*pilots)).into(),
            Self::Table { table, pilots, used } => {
                let all = table.modcods(*pilots);
                used.iter().filter_map(|name| all.iter().find(|modcod| modcod.name == *name)).cloned().collect()
            }
            Self::Custom(modcods) => modcods.as_slice().into(),
        }
    }
}

/// Reports the first MODCOD that is out of order; `path` is the path of the list.
fn check_order(modcods: &[Modcod], path: &Path, errors: &mut Errors) {
    let Some(at) = first_out_of_order(modcods) else { return };
    let text = |modcod: &Modcod| {
        format!("{:?} ({} dB, {:.3} bit/symbol)", modcod.name, modcod.threshold, modcod.bits_per_symbol)
    };
    let message = format!(
        "{} is out of order after {}; list MODCODs by increasing threshold and efficiency, and remove those that need \
         more but carry less",
        text(&modcods[at]),
        text(&modcods[at - 1])
    );
    errors.push(Path::Index(path, at), message);
}

/// Reads the name of a table.
fn table_of(value: &Value, path: &Path, errors: &mut Errors) -> Option<ModcodTable> {
    let names = ModcodTable::ALL.map(ModcodTable::name);
    let Some(name) = value.as_str() else {
        errors.push(path, format!("{} is not a table of MODCODs; write one of {}", shown(value), names.join(", ")));
        return None;
    };
    let found = ModcodTable::ALL.into_iter().find(|table| table.name() == name);
    if found.is_none() {
        errors.push(path, not_one_of(name, "a table of MODCODs", &names));
    }
    found
}

/// Reads the names of the selected MODCODs of a table.
fn used(value: &Value, known: &[Modcod], path: &Path, errors: &mut Errors) -> Vec<String> {
    let Some(items) = value.as_array().filter(|items| !items.is_empty()) else {
        errors.push(path, format!("{} is not a list of MODCODs such as [\"QPSK 1/4\", \"8PSK 2/3\"]", shown(value)));
        return Vec::new();
    };
    let before = errors.len();
    let names: Vec<&str> = known.iter().map(|modcod| &*modcod.name).collect();
    let mut found = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let name = item.as_str().unwrap_or_default();
        match known.iter().find(|modcod| modcod.name == name) {
            Some(modcod) => found.push(modcod.clone()),
            None => errors.push(
                Path::Index(path, index),
                not_one_of(&shown(item).replace('"', ""), "a MODCOD of the table", &names),
            ),
        }
    }
    if errors.len() == before {
        check_order(&found, path, errors);
    }
    found.into_iter().map(|modcod| modcod.name.into_owned()).collect()
}

/// Reads a custom MODCOD.
fn custom(value: &Value, path: &Path, errors: &mut Errors) -> Option<Modcod> {
    let mut table = TableReader::open(value, path, &format!("a table such as {EXAMPLE}"), errors)?;
    let name = table.required_value("name", "specify the name, such as \"QPSK 1/2\"", errors);
    let name = name.and_then(|name| leaf::<String>(name, &Path::Key(path, "name"), errors));
    let efficiency = table.required_value("efficiency", "specify the bits per symbol, such as 0.989", errors);
    let efficiency = efficiency.and_then(|value| {
        let [min, max] = EFFICIENCY;
        let number = value.as_f64().filter(|number| (min..=max).contains(number));
        if number.is_none() {
            let message = format!("{} is not a number of bits per symbol from {min} to {max}", shown(value));
            errors.push(Path::Key(path, "efficiency"), message);
        }
        number
    });
    let threshold = table.required_value("threshold", "specify the minimum Es/N0, such as \"1 dB\"", errors);
    let threshold: Option<Decibels> = threshold.and_then(|value| leaf(value, &Path::Key(path, "threshold"), errors));
    table.finish(errors);
    Some(Modcod { name: Cow::Owned(name?), bits_per_symbol: efficiency?, threshold: threshold?.value(), frame: None })
}

impl FromValue for Modcods {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let read = match value {
            Value::String(_) => Self::Table { table: table_of(value, path, errors)?, pilots: false, used: Vec::new() },
            Value::Array(items) if !items.is_empty() => {
                let rows = items.iter().enumerate().map(|(at, item)| custom(item, &Path::Index(path, at), errors));
                let rows: Vec<Modcod> = rows.flatten().collect();
                if errors.len() == before {
                    check_order(&rows, path, errors);
                }
                Self::Custom(rows)
            }
            _ => {
                let what = "a table such as { table = \"dvb-s2x\", pilots = true }, a name such as \"dvb-s2\", or a list \
                            of MODCODs";
                let mut keys = TableReader::open(value, path, what, errors)?;
                let table = keys.required_value("table", "specify a table such as \"dvb-s2x\"", errors);
                let table = table.and_then(|table| table_of(table, &Path::Key(path, "table"), errors));
                let pilots = keys.value("pilots");
                let pilots = pilots.and_then(|pilots| leaf(pilots, &Path::Key(path, "pilots"), errors));
                let pilots = pilots.unwrap_or(false);
                let names = keys.value("use");
                let used = names
                    .zip(table)
                    .map(|(names, table)| used(names, &table.modcods(pilots), &Path::Key(path, "use"), errors));
                keys.finish(errors);
                Self::Table { table: table?, pilots, used: used.unwrap_or_default() }
            }
        };
        (errors.len() == before).then_some(read)
    }
}

impl Serialize for Modcods {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = match self {
            Self::Eight => Value::Null,
            Self::Table { table, pilots: false, used } if used.is_empty() => json!(table.name()),
            Self::Table { table, pilots, used } => {
                let mut keys = json!({ "table": table.name() });
                if *pilots {
                    keys["pilots"] = json!(true);
                }
                if !used.is_empty() {
                    keys["use"] = json!(used);
                }
                keys
            }
            Self::Custom(modcods) => modcods
                .iter()
                .map(|modcod| {
                    let threshold = Decibels::new(modcod.threshold).unwrap_or_default();
                    json!({ "name": modcod.name, "efficiency": modcod.bits_per_symbol, "threshold": threshold })
                })
                .collect(),
        };
        value.serialize(serializer)
    }
}

impl JsonSchema for Modcods {
    fn schema_name() -> Cow<'static, str> {
        "Modcods".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let names = ModcodTable::ALL.map(ModcodTable::name);
        let [min, max] = EFFICIENCY;
        let table = json!({
            "type": "object",
            "properties": {
                "table": { "enum": names, "description": "table of the standard" },
                "pilots": { "type": "boolean", "default": false, "description": "frames with pilots" },
                "use": {
                    "type": "array",
                    "items": { "type": "string" },
                    "minItems": 1,
                    "description": "selected MODCODs, by increasing threshold and efficiency"
                }
            },
            "required": ["table"],
            "additionalProperties": false
        });
        let custom = json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "description": "name" },
                "efficiency": { "type": "number", "minimum": min, "maximum": max, "description": "bits per symbol" },
                "threshold": described(generator.subschema_for::<Decibels>(), "Minimum Es/N0 for decoding.")
            },
            "required": ["name", "efficiency", "threshold"],
            "additionalProperties": false
        });
        json_schema!({
            "description": "table of MODCODs, a selection of one, or custom MODCODs by increasing threshold",
            "anyOf": [{ "enum": names }, table, { "type": "array", "items": custom, "minItems": 1 }]
        })
    }
}
