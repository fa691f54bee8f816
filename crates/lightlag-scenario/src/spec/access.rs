//! Access links of a generated network, and counts of its parts.

use super::{Line, LinkSide, Propagation};
use crate::read::{Errors, FASTEST, Path, TableReader, shown};
use lightlag_core::{Duration, Rate};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// Access links of a dumbbell.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(transform = rate_and_delay_have_defaults)]
pub struct Access {
    /// Properties of each link.
    #[serde(flatten)]
    pub line: Line,
}

/// Returns the default of access links: ten times the rate of the faster direction of the bottleneck, and 1 ms.
fn default_access(bottleneck: &Line) -> Line {
    let fastest = bottleneck.forward.rate.max(bottleneck.backward.rate);
    let rate = Rate::from_bps(fastest.as_bps() * 10).map_or(FASTEST, |rate| rate.min(FASTEST));
    Line::both(LinkSide::plain(rate, Propagation(Duration::from_millis(1))))
}

/// Reads a required integer from 1 to `max`.
pub(crate) fn many(
    table: &mut TableReader,
    path: &Path,
    key: &'static str,
    max: u64,
    errors: &mut Errors,
) -> Option<u64> {
    let value = table.required_value(key, "write a whole number, at least 1", errors)?;
    whole(value, &Path::Key(path, key), max, errors)
}

/// Reads an optional integer from 1 to `max`; the default is 1.
pub(crate) fn optional_many(
    table: &mut TableReader,
    path: &Path,
    key: &'static str,
    max: u64,
    errors: &mut Errors,
) -> Option<u64> {
    table.value(key).map_or(Some(1), |value| whole(value, &Path::Key(path, key), max, errors))
}

fn whole(value: &Value, path: &Path, max: u64, errors: &mut Errors) -> Option<u64> {
    let number = value.as_u64().filter(|number| (1..=max).contains(number));
    if number.is_none() {
        errors.push(path, format!("{} is not a whole number from 1 to {max}", shown(value)));
    }
    number
}

/// Reads the properties of a link (rate, delay, queue, ...) from a table of its own.
pub(crate) fn line_of(value: &Value, path: &Path, errors: &mut Errors) -> Option<Line> {
    let mut table = TableReader::open(value, path, "a table with rate, delay and queue", errors)?;
    let line = Line::read_from(&mut table, errors);
    table.finish(errors);
    line
}

/// Returns the access links. Properties that are not given have the defaults.
pub(crate) fn access(
    table: &mut TableReader,
    path: &Path,
    bottleneck: Option<&Line>,
    errors: &mut Errors,
) -> Option<Line> {
    let default = bottleneck.map(default_access);
    let Some(value) = table.value("access") else { return default };
    let default = default.and_then(|line| serde_json::to_value(line).ok());
    access_at(value, &Path::Key(path, "access"), default, errors)
}

/// Reads the access links from a table. Properties that are not given have the defaults, if these are known.
pub(crate) fn access_at(value: &Value, path: &Path, default: Option<Value>, errors: &mut Errors) -> Option<Line> {
    let Value::Object(given) = value else {
        errors.push(path, format!("{} is not a table with rate, delay and queue", shown(value)));
        return None;
    };
    let mut whole = given.clone();
    if let Some(Value::Object(default)) = default {
        for (key, value) in default {
            let slot = whole.entry(key).or_insert(Value::Null);
            if slot.is_null() {
                *slot = value;
            }
        }
    } else {
        // The bottleneck is in error already; what is given here is checked all the same.
        for (key, stand_in) in [("rate", "1 Gbit/s"), ("delay", "1 ms")] {
            whole.entry(key).or_insert_with(|| stand_in.into());
        }
    }
    line_of(&Value::Object(whole), path, errors)
}

/// Makes the rate and the delay of `access` optional in the schema.
fn rate_and_delay_have_defaults(schema: &mut schemars::Schema) {
    schema.remove("required");
    schema.insert("additionalProperties".to_owned(), Value::Bool(false));
}
