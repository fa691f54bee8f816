//! Links at the edge of a generated network, and counts of its parts.

use super::{Line, LinkSide, Propagation};
use crate::read::{Errors, FASTEST, Path, Table, shown};
use lightlag_core::{Duration, Rate};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The links at the edge of a dumbbell.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(transform = rate_and_delay_have_defaults)]
pub struct Access {
    /// Properties of each link.
    #[serde(flatten)]
    pub line: Line,
}

/// Ten times the faster direction of the bottleneck, and 1 ms.
fn default_access(bottleneck: &Line) -> Line {
    let fastest = bottleneck.forward.rate.max(bottleneck.backward.rate);
    let rate = Rate::from_bps(fastest.as_bps() * 10).map_or(FASTEST, |rate| rate.min(FASTEST));
    Line::both(LinkSide::plain(rate, Propagation(Duration::from_millis(1))))
}

/// A required count from 1 to `most`.
pub(crate) fn many(table: &mut Table, at: &Path, key: &'static str, most: u64, errors: &mut Errors) -> Option<u64> {
    let value = table.required_value(key, "write a whole number, at least 1", errors)?;
    whole(value, &Path::Key(at, key), most, errors)
}

/// A count from 1 to `most`, by default 1.
pub(crate) fn optional_many(
    table: &mut Table,
    at: &Path,
    key: &'static str,
    most: u64,
    errors: &mut Errors,
) -> Option<u64> {
    table.value(key).map_or(Some(1), |value| whole(value, &Path::Key(at, key), most, errors))
}

fn whole(value: &Value, at: &Path, most: u64, errors: &mut Errors) -> Option<u64> {
    let number = value.as_u64().filter(|number| (1..=most).contains(number));
    if number.is_none() {
        errors.push(at, format!("{} is not a whole number from 1 to {most}", shown(value)));
    }
    number
}

/// A line in a table of its own.
pub(crate) fn line_of(value: &Value, at: &Path, errors: &mut Errors) -> Option<Line> {
    let mut table = Table::open(value, at, "a table with rate, delay and queue", errors)?;
    let line = Line::read_from(&mut table, errors);
    table.finish(errors);
    line
}

/// The access links: what is not given comes from the default.
pub(crate) fn access(table: &mut Table, at: &Path, bottleneck: Option<&Line>, errors: &mut Errors) -> Option<Line> {
    let default = bottleneck.map(default_access);
    let Some(value) = table.value("access") else { return default };
    let default = default.and_then(|line| serde_json::to_value(line).ok());
    access_at(value, &Path::Key(at, "access"), default, errors)
}

/// Links at the edge; what is not given comes from the default, if that is known.
pub(crate) fn access_at(value: &Value, at: &Path, default: Option<Value>, errors: &mut Errors) -> Option<Line> {
    let Value::Object(given) = value else {
        errors.push(at, format!("{} is not a table with rate, delay and queue", shown(value)));
        return None;
    };
    let mut whole = given.clone();
    if let Some(Value::Object(default)) = default {
        for (key, value) in default {
            let place = whole.entry(key).or_insert(Value::Null);
            if place.is_null() {
                *place = value;
            }
        }
    } else {
        // The bottleneck is in error already; what is given here is checked all the same.
        for (key, stand_in) in [("rate", "1 Gbit/s"), ("delay", "1 ms")] {
            whole.entry(key).or_insert_with(|| stand_in.into());
        }
    }
    line_of(&Value::Object(whole), at, errors)
}

/// In the file, `access` may leave out its rate and its delay.
fn rate_and_delay_have_defaults(schema: &mut schemars::Schema) {
    schema.remove("required");
    schema.insert("additionalProperties".to_owned(), Value::Bool(false));
}
