//! Traces of links as asked for: which file, and what it makes of a direction.

use crate::read::{Errors, FromValue, Omitted, Path, Table, not_one_of, shown};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;

/// A file that says how a direction changes, if there is one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LinkTrace(pub Option<TraceFile>);

/// A file that says how a direction changes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceFile {
    /// Its path, from the folder in which the program runs.
    pub file: String,
    /// Its format.
    pub format: TraceFormat,
    /// Whether rows begin again after the last one, with its time as zero.
    pub repeats: bool,
}

/// The format of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraceFormat {
    /// Rows of rate, delay and loss.
    Csv,
    /// Opportunities to deliver 1500 bytes.
    Mahimahi,
}

const FORMATS: [&str; 2] = ["csv", "mahimahi"];
const WHAT: &str = "the path of a CSV file, such as \"cell.csv\", or { file = \"cell.down\", format = \"mahimahi\" }";

impl FromValue for LinkTrace {
    const IS_TABLE: bool = true;

    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let (file, format, repeats) = if let Value::String(file) = value {
            (file.clone(), TraceFormat::Csv, false)
        } else {
            let mut table = Table::open(value, at, WHAT, errors)?;
            let file = table.required("file", "write the path of the trace, such as \"cell.csv\"", errors);
            let format = table.optional("format", errors).unwrap_or(TraceFormat::Csv);
            let repeats = table.optional("repeat", errors).unwrap_or_default();
            table.finish(errors);
            if repeats && format == TraceFormat::Mahimahi {
                errors.push(Path::Key(at, "repeat"), "a trace of deliveries always repeats; leave the key out");
                return None;
            }
            (file?, format, repeats)
        };
        if file.is_empty() {
            errors.push(at, "the path of the trace is empty");
            return None;
        }
        Some(Self(Some(TraceFile { file, format, repeats })))
    }
}

impl FromValue for TraceFormat {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        match value.as_str() {
            Some("csv") => Some(Self::Csv),
            Some("mahimahi") => Some(Self::Mahimahi),
            Some(other) => {
                errors.push(at, not_one_of(other, "a format of traces", &FORMATS));
                None
            }
            None => {
                errors.push(at, format!("{} is not \"csv\" or \"mahimahi\"", shown(value)));
                None
            }
        }
    }
}

impl Omitted for LinkTrace {
    fn omitted() -> Option<Self> {
        Some(Self::default())
    }
}

impl Serialize for LinkTrace {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            None => serializer.serialize_none(),
            Some(TraceFile { file, format: TraceFormat::Csv, repeats: false }) => file.serialize(serializer),
            Some(TraceFile { file, format: TraceFormat::Csv, repeats: true }) => {
                json!({ "file": file, "repeat": true }).serialize(serializer)
            }
            Some(TraceFile { file, format: TraceFormat::Mahimahi, .. }) => {
                json!({ "file": file, "format": FORMATS[1] }).serialize(serializer)
            }
        }
    }
}

impl JsonSchema for LinkTrace {
    fn schema_name() -> Cow<'static, str> {
        "Trace".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "a file that says how the link changes; its path begins where the scenario stands",
            "anyOf": [
                { "type": "string", "minLength": 1, "description": "CSV: time_s and any of rate_bps, delay_s, loss" },
                {
                    "type": "object",
                    "properties": {
                        "file": { "type": "string", "minLength": 1, "description": "The path of the file, from the folder of the scenario." },
                        "format": {
                            "enum": FORMATS,
                            "description": "csv, or a time in milliseconds for each opportunity to deliver 1500 bytes"
                        },
                        "repeat": {
                            "type": "boolean",
                            "description": "begin again after the last row of a CSV file, with its time as zero"
                        }
                    },
                    "required": ["file"],
                    "additionalProperties": false
                },
                { "type": "null" }
            ]
        })
    }
}
