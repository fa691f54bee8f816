//! Reads sizes, times and counts that may be random, as a scenario writes them.

use super::{Errors, FromValue, Path, TableReader, not_one_of, shown};
use lightlag_core::varied::{Centre, QuantityForm};
use lightlag_core::{Quantity, Varied};
use serde_json::{Map, Value, json};

const NAMES: [&str; 5] = ["uniform", "exponential", "pareto", "lognormal", "empirical"];
/// Maximum sigma. With a larger one, nearly all random values are outside the possible range.
const MOST_SIGMA: f64 = 10.0;
/// Maximum shape. With a larger one, a Pareto distribution is practically constant.
const MOST_SHAPE: f64 = 1000.0;

impl<Q: Quantity + FromValue> FromValue for Varied<Q> {
    const IS_TABLE: bool = true;

    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        if !value.is_object() {
            let before = errors.len();
            let what = format!("{} such as {}, or a table with a distribution", Q::NAME, Q::EXAMPLE);
            if !(value.is_string() || value.is_number()) {
                errors.push(path, format!("{} is not {what}", shown(value)));
                return None;
            }
            let value = positive(Q::read(value, path, errors), path, errors);
            return value.filter(|_| errors.len() == before).map(Self::constant);
        }
        if let Some((name, inner)) = value.as_object().and_then(short) {
            return read_short(name, inner, path, errors);
        }
        let before = errors.len();
        let mut table = TableReader::open(value, path, "a table with a distribution", errors)?;
        let remedy = "write uniform, exponential, pareto, lognormal or empirical";
        let name: String = table.required("distribution", remedy, errors)?;
        let form = match name.as_str() {
            "uniform" => uniform(&mut table, errors),
            "exponential" => {
                let mean = known(&mut table, "mean", errors);
                mean.map(|mean| QuantityForm::Exponential { mean })
            }
            "pareto" => pareto(&mut table, errors),
            "lognormal" => lognormal(&mut table, errors),
            "empirical" => empirical(&mut table, errors),
            other => {
                errors.push(Path::Key(path, "distribution"), not_one_of(other, "a distribution", &NAMES));
                return None;
            }
        };
        table.finish(errors);
        let form = form.filter(|_| errors.len() == before)?;
        Self::new(form).or_else(|| {
            let what = format!("no distribution has this mean below its max; use a smaller mean, {}", Q::EXAMPLE);
            errors.push(Path::Key(path, "mean"), what);
            None
        })
    }
}

/// Reads the short forms `{ uniform = [min, max] }` and `{ exponential = mean }`. Errors have the paths of these forms.
fn read_short<Q: Quantity + FromValue>(
    name: &str,
    value: &Value,
    path: &Path,
    errors: &mut Errors,
) -> Option<Varied<Q>> {
    let (before, here) = (errors.len(), Path::Key(path, name));
    let (table, paths) = match (name, value.as_array().map(Vec::as_slice)) {
        ("uniform", Some([min, max])) => {
            let places = vec![("min", Path::Index(&here, 0)), ("max", Path::Index(&here, 1))];
            (json!({ "distribution": name, "min": min, "max": max }), places)
        }
        ("uniform", _) => {
            let actual = value.as_array().map_or_else(
                || format!("{} is not a list", shown(value)),
                |list| format!("is a list of {}", list.len()),
            );
            let what = format!("give two, the minimum and the maximum, each {} such as {}", Q::NAME, Q::EXAMPLE);
            errors.push(here, format!("{actual}; {what}"));
            return None;
        }
        _ => (json!({ "distribution": name, "mean": value }), vec![("mean", here)]),
    };
    let varied = Varied::read(&table, path, errors);
    for (key, place) in paths {
        errors.rename(before, &Path::Key(path, key), &place);
    }
    varied
}

/// Returns the name and the value of a distribution in the short form, if it has that form.
fn short(entries: &Map<String, Value>) -> Option<(&str, &Value)> {
    let (name, value) = entries.iter().next().filter(|_| entries.len() == 1)?;
    matches!(name.as_str(), "uniform" | "exponential").then_some((name, value))
}

/// Rejects values outside the possible range of the quantity.
fn positive<Q: Quantity>(value: Option<Q>, path: &Path, errors: &mut Errors) -> Option<Q> {
    let value = value?;
    if value > Q::MOST {
        let most = serde_json::to_value(Q::MOST).map_or(String::new(), |most| shown(&most));
        errors.push(path, format!("is above the maximum, {most}"));
        return None;
    }
    if value < Q::LEAST {
        errors.push(path, format!("is not above 0; write {} such as {}", Q::NAME, Q::EXAMPLE));
        return None;
    }
    Some(value)
}

/// Reads a required key, whose value must be above zero.
fn known<Q: Quantity + FromValue>(table: &mut TableReader, key: &'static str, errors: &mut Errors) -> Option<Q> {
    let value = table.required(key, &format!("write {} such as {}", Q::NAME, Q::EXAMPLE), errors);
    above_zero(value, table, key, errors)
}

/// Reads an optional key, whose value must be above zero.
fn perhaps<Q: Quantity + FromValue>(table: &mut TableReader, key: &'static str, errors: &mut Errors) -> Option<Q> {
    let value = table.optional(key, errors);
    above_zero(value, table, key, errors)
}

fn above_zero<Q: Quantity>(value: Option<Q>, table: &TableReader, key: &'static str, errors: &mut Errors) -> Option<Q> {
    let value = positive(value, &table.path(key), errors)?;
    if value.number() == 0.0 {
        errors.push(table.path(key), format!("is not above 0; write {} such as {}", Q::NAME, Q::EXAMPLE));
        return None;
    }
    Some(value)
}

/// Reads a plain number above zero, up to `max`.
fn parameter(table: &mut TableReader, key: &'static str, remedy: &str, max: f64, errors: &mut Errors) -> Option<f64> {
    let value = table.required_value(key, remedy, errors)?;
    let number = value.as_f64().filter(|number| *number > 0.0 && *number <= max);
    if number.is_none() {
        errors.push(table.path(key), format!("{} is not a number above 0, up to {max}", shown(value)));
    }
    number
}

fn uniform<Q: Quantity + FromValue>(table: &mut TableReader, errors: &mut Errors) -> Option<QuantityForm<Q>> {
    let remedy = format!("write {} such as {}", Q::NAME, Q::EXAMPLE);
    let min: Option<Q> = table.required("min", &remedy, errors);
    let min = min.filter(|min| min.number() == 0.0).or_else(|| positive(min, &table.path("min"), errors));
    let max = known(table, "max", errors);
    let (min, max) = (min?, max?);
    if min >= max {
        errors.push(table.path("max"), "is not above min; all values between the two are equally likely");
        return None;
    }
    Some(QuantityForm::Uniform { min, max })
}

/// Reads exactly one of the keys `mean` and `other`.
fn centre<Q: Quantity + FromValue>(
    table: &mut TableReader,
    other: &'static str,
    errors: &mut Errors,
) -> Option<Centre<Q>> {
    let before = errors.len();
    let (mean, least) = (perhaps(table, "mean", errors), perhaps(table, other, errors));
    match (mean, least) {
        (Some(mean), None) => Some(Centre::Mean(mean)),
        (None, Some(value)) if other == "min" => Some(Centre::Min(value)),
        (None, Some(value)) => Some(Centre::Median(value)),
        (Some(_), Some(_)) => {
            errors
                .push(table.path(other), "cannot be combined with mean, because each determines the other; remove one");
            None
        }
        (None, None) => {
            if errors.len() == before {
                errors.push(table.path("mean"), format!("is missing; write mean or {other}, such as {}", Q::EXAMPLE));
            }
            None
        }
    }
}

fn pareto<Q: Quantity + FromValue>(table: &mut TableReader, errors: &mut Errors) -> Option<QuantityForm<Q>> {
    let shape = parameter(table, "shape", "write the exponent of the tail, such as 1.2", MOST_SHAPE, errors);
    let from = centre(table, "min", errors);
    let max = perhaps(table, "max", errors);
    let (shape, from) = (shape?, from?);
    let (Centre::Mean(least) | Centre::Min(least) | Centre::Median(least)) = from;
    match max {
        None if shape <= 1.0 => {
            let message = format!("{shape} gives no finite mean; write a shape above 1, or a max");
            errors.push(table.path("shape"), message);
            None
        }
        Some(max) if max <= least => {
            errors.push(table.path("max"), "is not above the mean or the min");
            None
        }
        _ => Some(QuantityForm::Pareto { shape, from, max }),
    }
}

fn lognormal<Q: Quantity + FromValue>(table: &mut TableReader, errors: &mut Errors) -> Option<QuantityForm<Q>> {
    let remedy = "write the standard deviation of the logarithm, such as 1.0";
    let sigma = parameter(table, "sigma", remedy, MOST_SIGMA, errors);
    let from = centre(table, "median", errors);
    Some(QuantityForm::Lognormal { from: from?, sigma: sigma? })
}

fn empirical<Q: Quantity + FromValue>(table: &mut TableReader, errors: &mut Errors) -> Option<QuantityForm<Q>> {
    let remedy = format!("write a list, such as [{}, …]", Q::EXAMPLE);
    let values =
        list(table, "values", &remedy, errors, |value, at, errors| positive(Q::read(value, at, errors), at, errors));
    let weights = match table.value("weights") {
        None => Some(None),
        Some(_) => list(table, "weights", "", errors, |value, item_path, errors| {
            let weight = value.as_f64().filter(|weight| *weight > 0.0 && weight.is_finite());
            if weight.is_none() {
                errors.push(item_path, format!("{} is not a number above 0, the weight of a value", shown(value)));
            }
            weight
        })
        .map(Some),
    };
    let (values, weights) = (values?, weights?);
    let weights = weights.unwrap_or_else(|| vec![1.0; values.len()]);
    if values.len() != weights.len() {
        let message = format!("has {} weights for {} values; write one for each", weights.len(), values.len());
        errors.push(table.path("weights"), message);
        return None;
    }
    Some(QuantityForm::Empirical { values, weights })
}

/// Reads a list, which must not be empty.
fn list<T>(
    table: &mut TableReader,
    key: &'static str,
    remedy: &str,
    errors: &mut Errors,
    read: impl Fn(&Value, &Path, &mut Errors) -> Option<T>,
) -> Option<Vec<T>> {
    let before = errors.len();
    let value = table.required_value(key, remedy, errors)?;
    let path = table.path(key);
    let items = value.as_array().filter(|items| !items.is_empty());
    let Some(items) = items else {
        errors.push(path, format!("{} is not a list of values, at least one", shown(value)));
        return None;
    };
    let read = items.iter().enumerate().filter_map(|(index, item)| read(item, &Path::Index(&path, index), errors));
    let read: Vec<T> = read.collect();
    (errors.len() == before).then_some(read)
}
