//! Reads queue sizes in packets, bytes or bandwidth-delay products.

use super::{Errors, FromValue, LARGEST, Path, shown};
use lightlag_core::Bytes;
use lightlag_core::params::Limit;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Maximum number of packets that a queue may hold.
const LONGEST_QUEUE: u64 = 1_000_000_000_000;
/// Maximum size of a queue in bandwidth-delay products.
const LARGEST_BDP: f64 = 1e6;

impl FromValue for Limit {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let limit = value.as_str().ok_or_else(|| format!("{} is not a queue", shown(value))).and_then(parse_limit);
        limit
            .map_err(|reason| {
                errors.push(path, format!("{reason}; write \"1000 packets\", \"64 kB\" or \"1 bdp\""));
            })
            .ok()
    }
}

fn parse_limit(text: &str) -> Result<Limit, String> {
    let shown = shown(&json!(text));
    let text = text.trim();
    let number = |unit: &str| text.strip_suffix(unit).map(str::trim);
    if let Some(packets) = number("packets").or_else(|| number("packet")) {
        return match packets.parse::<u64>() {
            Ok(0) => Err(format!("{shown} leaves no capacity: a queue holds at least 1 packet")),
            Ok(packets) if packets <= LONGEST_QUEUE => Ok(Limit::Packets(packets)),
            _ => Err(format!("{shown} is not a whole number of packets from 1 to {LONGEST_QUEUE}")),
        };
    }
    if let Some(factor) = number("bdp").or_else(|| number("BDP")) {
        return match factor.parse::<f64>() {
            Ok(factor) if factor > 0.0 && factor <= LARGEST_BDP => Ok(Limit::Bdp(factor)),
            _ => Err(format!("{shown} is not a number above 0, up to {LARGEST_BDP}, of bandwidth-delay products")),
        };
    }
    match text.parse::<Bytes>() {
        Ok(Bytes(0)) => Err(format!("{shown} leaves no capacity")),
        Ok(bytes) if bytes <= LARGEST => Ok(Limit::Bytes(bytes)),
        Ok(_) => Err(format!("{shown} is above {LARGEST}")),
        Err(_) => Err(format!("{shown} is not a queue")),
    }
}

/// Formats a limit so that the text can be read again.
pub(crate) fn written(limit: Limit) -> String {
    match limit {
        Limit::Packets(1) => "1 packet".to_owned(),
        Limit::Packets(packets) => format!("{packets} packets"),
        Limit::Bytes(bytes) => bytes.to_string(),
        Limit::Bdp(factor) => format!("{factor} bdp"),
    }
}

/// Stands for the schema of a limit.
pub(crate) struct LimitForm;

impl JsonSchema for LimitForm {
    fn schema_name() -> Cow<'static, str> {
        "QueueLimit".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "maximum queue length: packets, bytes, or a multiple of the bandwidth-delay product",
            "examples": ["1000 packets", "64 kB", "1 bdp"]
        })
    }
}
