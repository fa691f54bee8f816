//! Reads strings, integers, times, sizes and rates, and defines their bounds.

use super::{Errors, FromValue, Path, leaf, not_one_of, shown};
use lightlag_core::{Bytes, Dscp, Duration, Probability, Quantity, Rate};
use serde_json::Value;

/// Maximum time.
pub(crate) const LONGEST: Duration = <Duration as Quantity>::MOST;
/// Maximum size.
pub(crate) const LARGEST: Bytes = <Bytes as Quantity>::MOST;
/// Maximum rate, 1000 Tbit/s.
pub(crate) const FASTEST: Rate = Rate::from_mbps(1_000_000_000);
/// A string.
impl FromValue for String {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        match value {
            Value::String(text) => Some(text.clone()),
            other => {
                errors.push(path, format!("{} is not a text; write it in quotes", shown(other)));
                None
            }
        }
    }
}

impl FromValue for bool {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        leaf(value, path, errors)
    }
}

/// A whole number, zero or more.
impl FromValue for u64 {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let whole = value.as_u64();
        if whole.is_none() {
            errors.push(path, format!("{} is not a whole number from 0 to {}", shown(value), u64::MAX));
        }
        whole
    }
}

impl FromValue for Rate {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let rate: Rate = leaf(value, path, errors)?;
        if rate > FASTEST {
            errors.push(path, format!("{} is above {FASTEST}, the highest rate of a link", shown(value)));
            return None;
        }
        Some(rate)
    }
}

impl FromValue for Duration {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let time: Duration = leaf(value, path, errors)?;
        if time > LONGEST {
            errors.push(path, format!("{} is above 480 h, the maximum time in a scenario", shown(value)));
            return None;
        }
        Some(time)
    }
}

pub(crate) fn probability(value: &Value, path: &Path, errors: &mut Errors) -> Option<Probability> {
    let probability = value.as_f64().and_then(Probability::new);
    if probability.is_none() {
        errors.push(path, format!("{} is not a probability between 0 and 1, such as 1e-4", shown(value)));
    }
    probability
}

impl FromValue for Probability {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        probability(value, path, errors)
    }
}

impl FromValue for Dscp {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let read = match value.as_str() {
            Some(name) => {
                Self::named(name).ok_or_else(|| not_one_of(name, "a code point", &Self::names().collect::<Vec<_>>()))
            }
            None => value.as_u64().and_then(|number| Self::new(number.try_into().ok()?)).ok_or_else(|| {
                format!("{} is not a code point; write a name such as \"EF\", or a number from 0 to 63", shown(value))
            }),
        };
        read.map_err(|message| errors.push(path, message)).ok()
    }
}

impl FromValue for Bytes {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        leaf(value, path, errors)
    }
}
