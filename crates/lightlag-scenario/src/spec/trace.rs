//! Trace files of links, and their effect on a direction.

use crate::read::{Errors, FromValue, Omitted, Path, TableReader, not_one_of, shown};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Trace file of a link direction, if it has one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LinkTrace(pub Option<TraceFile>);

/// Trace file with the changes of a link direction over time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceFile {
    /// Path of the file, relative to the working directory of the program.
    pub file: String,
    /// Format of the file.
    pub format: TraceFormat,
    /// Whether the trace repeats after its last row, whose time is time zero of the next round.
    pub repeats: bool,
}

/// Format of a trace file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraceFormat {
    /// CSV rows of rate, delay and loss.
    Csv,
    /// Opportunities to deliver 1500 bytes, in mahimahi's format.
    Mahimahi,
}

const FORMATS: [&str; 2] = ["csv", "mahimahi"];
const WHAT: &str = "the path of a CSV file, such as \"cell.csv\", or { file = \"cell.down\", format = \"mahimahi\" }";

impl FromValue for LinkTrace {
    const IS_TABLE: bool = true;

    fn read(value: &Value, key_path: &Path, errors: &mut Errors) -> Option<Self> {
        let (file, format, repeats) = if let Value::String(file) = value {
            (file.clone(), TraceFormat::Csv, false)
        } else {
            let mut table = TableReader::open(value, key_path, WHAT, errors)?;
            let file = table.required("file", "write the path of the trace, such as \"cell.csv\"", errors);
            let format = table.optional("format", errors).unwrap_or(TraceFormat::Csv);
            let repeats = table.optional("repeat", errors).unwrap_or_default();
            table.finish(errors);
            if repeats && format == TraceFormat::Mahimahi {
                errors.push(Path::Key(key_path, "repeat"), "a trace of deliveries always repeats; remove the key");
                return None;
            }
            (file?, format, repeats)
        };
        if file.is_empty() {
            errors.push(key_path, "the path of the trace is empty");
            return None;
        }
        Some(Self(Some(TraceFile { file, format, repeats })))
    }
}

impl FromValue for TraceFormat {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        match value.as_str() {
            Some("csv") => Some(Self::Csv),
            Some("mahimahi") => Some(Self::Mahimahi),
            Some(other) => {
                errors.push(path, not_one_of(other, "a format of traces", &FORMATS));
                None
            }
            None => {
                errors.push(path, format!("{} is not \"csv\" or \"mahimahi\"", shown(value)));
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
            "description": "a file with the changes of the link; its path is relative to the directory of the scenario",
            "anyOf": [
                { "type": "string", "minLength": 1, "description": "CSV: time_s and any of rate_bps, delay_s, loss" },
                {
                    "type": "object",
                    "properties": {
                        "file": {
                            "type": "string",
                            "minLength": 1,
                            "description": "Path of the file, relative to the directory of the scenario."
                        },
                        "format": {
                            "enum": FORMATS,
                            "description": "csv, or a time in milliseconds for each opportunity to deliver 1500 bytes"
                        },
                        "repeat": {
                            "type": "boolean",
                            "description": "restart after the last row of a CSV file, whose time becomes zero"
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
