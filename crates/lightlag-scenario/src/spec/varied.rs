//! Sizes, times and counts that may differ from one to the next, as asked for.

use crate::read::{Errors, FromValue, LARGEST, LONGEST, Path, Table, described, not_one_of, shown};
use lightlag_core::{Bytes, Duration, Law, RandomStream};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// A quantity that can be drawn.
#[allow(private_bounds, reason = "only sizes, times and counts can be drawn")]
pub trait Quantity: Copy + PartialEq + PartialOrd + Serialize + JsonSchema + FromValue {
    /// Its name in messages, and an example.
    const NAME: &'static str;
    /// Such a one.
    const EXAMPLE: &'static str;
    /// The largest that a draw gives.
    const MOST: Self;
    /// The smallest that a draw gives.
    const LEAST: Self;

    /// As a number.
    fn number(self) -> f64;
    /// The nearest to a number.
    fn nearest(number: f64) -> Self;
}

impl Quantity for Bytes {
    const NAME: &'static str = "a size";
    const EXAMPLE: &'static str = "\"10 kB\"";
    const MOST: Self = LARGEST;
    const LEAST: Self = Self(1);

    #[inline]
    fn number(self) -> f64 {
        self.0 as f64
    }
    #[inline]
    fn nearest(number: f64) -> Self {
        Self(rounded(number))
    }
}

impl Quantity for Duration {
    const NAME: &'static str = "a time";
    const EXAMPLE: &'static str = "\"10 ms\"";
    const MOST: Self = LONGEST;
    const LEAST: Self = Self::ZERO;

    #[inline]
    fn number(self) -> f64 {
        self.as_nanos() as f64
    }
    #[inline]
    fn nearest(number: f64) -> Self {
        Self::from_nanos(rounded(number))
    }
}

/// The nearest whole number; halves go up, and what is below zero becomes zero.
#[inline]
fn rounded(number: f64) -> u64 {
    // The largest number below a half: with a half, the number before 0.5 would become 1.
    (number + 0.5_f64.next_down()) as u64
}

/// A count.
impl Quantity for u64 {
    const NAME: &'static str = "a number";
    const EXAMPLE: &'static str = "10";
    const MOST: Self = 1_000_000;
    const LEAST: Self = 1;

    #[inline]
    fn number(self) -> f64 {
        self as f64
    }
    #[inline]
    fn nearest(number: f64) -> Self {
        rounded(number)
    }
}

/// A quantity, or how it is drawn each time.
#[derive(Clone, PartialEq, Debug)]
pub struct Varied<Q> {
    form: Form<Q>,
    law: Law,
}

/// As it was written.
#[derive(Clone, PartialEq, Debug)]
enum Form<Q> {
    Constant(Q),
    Uniform { min: Q, max: Q },
    Exponential { mean: Q },
    Pareto { shape: f64, from: Centre<Q>, max: Option<Q> },
    Lognormal { from: Centre<Q>, sigma: f64 },
    Empirical { values: Vec<Q>, weights: Vec<f64> },
}

/// Location of a law.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Centre<Q> {
    Mean(Q),
    /// The smallest value.
    Min(Q),
    Median(Q),
}

impl<Q: Quantity> Varied<Q> {
    /// Always the same.
    pub fn constant(value: Q) -> Self {
        Self { form: Form::Constant(value), law: Law::Constant(value.number()) }
    }

    /// Exponential with this mean.
    pub fn exponential(mean: Q) -> Self {
        Self { form: Form::Exponential { mean }, law: Law::Exponential { mean: mean.number() } }
    }

    /// Draws one; what lies outside what is possible becomes the nearest that is.
    pub fn draw(&self, random: &mut RandomStream) -> Q {
        if let Form::Constant(value) = self.form {
            return value;
        }
        let drawn = self.law.draw(random);
        if drawn >= Q::MOST.number() {
            return Q::MOST;
        }
        let value = Q::nearest(drawn);
        if value < Q::LEAST { Q::LEAST } else { value }
    }

    /// Whether one draw may differ from the next.
    pub fn is_random(&self) -> bool {
        !matches!(self.form, Form::Constant(_))
    }

    /// The largest that is drawn, or the mean where nothing bounds it.
    pub(crate) fn largest(&self) -> Q {
        match &self.form {
            Form::Constant(value) => *value,
            Form::Uniform { max, .. } | Form::Pareto { max: Some(max), .. } => *max,
            Form::Empirical { values, .. } => {
                values.iter().copied().fold(values[0], |most, value| if value > most { value } else { most })
            }
            Form::Exponential { .. } | Form::Pareto { max: None, .. } | Form::Lognormal { .. } => {
                Q::nearest(self.law.mean().min(Q::MOST.number()))
            }
        }
    }

    /// The law, in bytes, nanoseconds or numbers.
    pub fn law(&self) -> &Law {
        &self.law
    }
}

impl Varied<Duration> {
    /// The time that it always is; zero if it is drawn.
    pub fn fixed(&self) -> Duration {
        if let Form::Constant(time) = self.form { time } else { Duration::ZERO }
    }
}

/// No time.
impl Default for Varied<Duration> {
    fn default() -> Self {
        Self::constant(Duration::ZERO)
    }
}

const NAMES: [&str; 5] = ["uniform", "exponential", "pareto", "lognormal", "empirical"];
/// Beyond, nearly everything that is drawn lies outside what is possible.
const MOST_SIGMA: f64 = 10.0;
/// Beyond, a Pareto law is a constant.
const MOST_SHAPE: f64 = 1000.0;

impl<Q: Quantity> FromValue for Varied<Q> {
    const IS_TABLE: bool = true;

    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        if !value.is_object() {
            let before = errors.len();
            let what = format!("{} such as {}, or a table with a distribution", Q::NAME, Q::EXAMPLE);
            if !(value.is_string() || value.is_number()) {
                errors.push(at, format!("{} is not {what}", shown(value)));
                return None;
            }
            let value = positive(Q::read(value, at, errors), at, errors);
            return value.filter(|_| errors.len() == before).map(Self::constant);
        }
        if let Some((name, inner)) = value.as_object().and_then(short) {
            return Self::read_short(name, inner, at, errors);
        }
        let before = errors.len();
        let mut table = Table::open(value, at, "a table with a distribution", errors)?;
        let remedy = "write uniform, exponential, pareto, lognormal or empirical";
        let name: String = table.required("distribution", remedy, errors)?;
        let form = match name.as_str() {
            "uniform" => uniform(&mut table, errors),
            "exponential" => {
                let mean = known(&mut table, "mean", errors);
                mean.map(|mean| Form::Exponential { mean })
            }
            "pareto" => pareto(&mut table, errors),
            "lognormal" => lognormal(&mut table, errors),
            "empirical" => empirical(&mut table, errors),
            other => {
                errors.push(Path::Key(at, "distribution"), not_one_of(other, "a distribution", &NAMES));
                return None;
            }
        };
        table.finish(errors);
        let form = form.filter(|_| errors.len() == before)?;
        let law = law(&form).or_else(|| {
            let what = format!("no distribution has this mean below its max; take a smaller mean, {}", Q::EXAMPLE);
            errors.push(Path::Key(at, "mean"), what);
            None
        })?;
        Some(Self { form, law })
    }
}

impl<Q: Quantity> Varied<Q> {
    /// Reads `{ uniform = [min, max] }` and `{ exponential = mean }`; mistakes are named by these places.
    fn read_short(name: &str, value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let (before, here) = (errors.len(), Path::Key(at, name));
        let (table, places) = match (name, value.as_array().map(Vec::as_slice)) {
            ("uniform", Some([min, max])) => {
                let places = vec![("min", Path::Index(&here, 0)), ("max", Path::Index(&here, 1))];
                (json!({ "distribution": name, "min": min, "max": max }), places)
            }
            ("uniform", _) => {
                let found = value.as_array().map_or_else(
                    || format!("{} is not a list", shown(value)),
                    |list| format!("is a list of {}", list.len()),
                );
                let what = format!("give two, the minimum and the maximum, each {} such as {}", Q::NAME, Q::EXAMPLE);
                errors.push(here, format!("{found}; {what}"));
                return None;
            }
            _ => (json!({ "distribution": name, "mean": value }), vec![("mean", here)]),
        };
        let found = Self::read(&table, at, errors);
        for (key, place) in places {
            errors.rename(before, &Path::Key(at, key), &place);
        }
        found
    }
}

/// The name and the value of a distribution in short.
fn short(entries: &Map<String, Value>) -> Option<(&str, &Value)> {
    let (name, value) = entries.iter().next().filter(|_| entries.len() == 1)?;
    matches!(name.as_str(), "uniform" | "exponential").then_some((name, value))
}

/// Refuses what is above the largest that there can be.
fn positive<Q: Quantity>(value: Option<Q>, at: &Path, errors: &mut Errors) -> Option<Q> {
    let value = value?;
    if value > Q::MOST {
        let most = serde_json::to_value(Q::MOST).map_or(String::new(), |most| shown(&most));
        errors.push(at, format!("is above {most}, the largest there is"));
        return None;
    }
    if value < Q::LEAST {
        errors.push(at, format!("is nothing; write {} such as {}", Q::NAME, Q::EXAMPLE));
        return None;
    }
    Some(value)
}

/// A key that must be there, above zero.
fn known<Q: Quantity>(table: &mut Table, key: &'static str, errors: &mut Errors) -> Option<Q> {
    let value = table.required(key, &format!("write {} such as {}", Q::NAME, Q::EXAMPLE), errors);
    above_zero(value, table, key, errors)
}

/// A key that may be there, above zero.
fn perhaps<Q: Quantity>(table: &mut Table, key: &'static str, errors: &mut Errors) -> Option<Q> {
    let value = table.optional(key, errors);
    above_zero(value, table, key, errors)
}

fn above_zero<Q: Quantity>(value: Option<Q>, table: &Table, key: &'static str, errors: &mut Errors) -> Option<Q> {
    let value = positive(value, &table.path(key), errors)?;
    if value.number() == 0.0 {
        errors.push(table.path(key), format!("is nothing; write {} such as {}", Q::NAME, Q::EXAMPLE));
        return None;
    }
    Some(value)
}

/// A plain number from above zero to `most`.
fn parameter(table: &mut Table, key: &'static str, remedy: &str, most: f64, errors: &mut Errors) -> Option<f64> {
    let value = table.required_value(key, remedy, errors)?;
    let number = value.as_f64().filter(|number| *number > 0.0 && *number <= most);
    if number.is_none() {
        errors.push(table.path(key), format!("{} is not a number above 0, up to {most}", shown(value)));
    }
    number
}

fn uniform<Q: Quantity>(table: &mut Table, errors: &mut Errors) -> Option<Form<Q>> {
    let remedy = format!("write {} such as {}", Q::NAME, Q::EXAMPLE);
    let min: Option<Q> = table.required("min", &remedy, errors);
    let min = min.filter(|min| min.number() == 0.0).or_else(|| positive(min, &table.path("min"), errors));
    let max = known(table, "max", errors);
    let (min, max) = (min?, max?);
    if min >= max {
        errors.push(table.path("max"), "is not above min; all values between the two are equally likely");
        return None;
    }
    Some(Form::Uniform { min, max })
}

/// Exactly one of `mean` and another key.
fn centre<Q: Quantity>(table: &mut Table, other: &'static str, errors: &mut Errors) -> Option<Centre<Q>> {
    let before = errors.len();
    let (mean, least) = (perhaps(table, "mean", errors), perhaps(table, other, errors));
    match (mean, least) {
        (Some(mean), None) => Some(Centre::Mean(mean)),
        (None, Some(value)) if other == "min" => Some(Centre::Min(value)),
        (None, Some(value)) => Some(Centre::Median(value)),
        (Some(_), Some(_)) => {
            errors.push(table.path(other), "is given beside mean; one follows from the other, so keep one");
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

fn pareto<Q: Quantity>(table: &mut Table, errors: &mut Errors) -> Option<Form<Q>> {
    let shape = parameter(table, "shape", "write the exponent of the tail, such as 1.2", MOST_SHAPE, errors);
    let from = centre(table, "min", errors);
    let max = perhaps(table, "max", errors);
    let (shape, from) = (shape?, from?);
    let (Centre::Mean(least) | Centre::Min(least) | Centre::Median(least)) = from;
    match max {
        None if shape <= 1.0 => {
            let message = format!("{shape} leaves no mean: write a shape above 1, or a max that bounds the values");
            errors.push(table.path("shape"), message);
            None
        }
        Some(max) if max <= least => {
            errors.push(table.path("max"), "is not above the mean or the min");
            None
        }
        _ => Some(Form::Pareto { shape, from, max }),
    }
}

fn lognormal<Q: Quantity>(table: &mut Table, errors: &mut Errors) -> Option<Form<Q>> {
    let remedy = "write the standard deviation of the logarithm, such as 1.0";
    let sigma = parameter(table, "sigma", remedy, MOST_SIGMA, errors);
    let from = centre(table, "median", errors);
    Some(Form::Lognormal { from: from?, sigma: sigma? })
}

fn empirical<Q: Quantity>(table: &mut Table, errors: &mut Errors) -> Option<Form<Q>> {
    let remedy = format!("write a list, such as [{}, …]", Q::EXAMPLE);
    let values =
        list(table, "values", &remedy, errors, |value, at, errors| positive(Q::read(value, at, errors), at, errors));
    let weights = match table.value("weights") {
        None => Some(None),
        Some(_) => list(table, "weights", "", errors, |value, at, errors| {
            let weight = value.as_f64().filter(|weight| *weight > 0.0 && weight.is_finite());
            if weight.is_none() {
                errors.push(at, format!("{} is not a number above 0: how often the value comes", shown(value)));
            }
            weight
        })
        .map(Some),
    };
    let (values, weights) = (values?, weights?);
    let weights = weights.unwrap_or_else(|| vec![1.0; values.len()]);
    if values.len() != weights.len() {
        let message = format!("has {} numbers for {} values; write one for each", weights.len(), values.len());
        errors.push(table.path("weights"), message);
        return None;
    }
    Some(Form::Empirical { values, weights })
}

/// A list that is not empty.
fn list<T>(
    table: &mut Table,
    key: &'static str,
    remedy: &str,
    errors: &mut Errors,
    read: impl Fn(&Value, &Path, &mut Errors) -> Option<T>,
) -> Option<Vec<T>> {
    let before = errors.len();
    let value = table.required_value(key, remedy, errors)?;
    let at = table.path(key);
    let items = value.as_array().filter(|items| !items.is_empty());
    let Some(items) = items else {
        errors.push(at, format!("{} is not a list of values, at least one", shown(value)));
        return None;
    };
    let read = items.iter().enumerate().filter_map(|(index, item)| read(item, &Path::Index(&at, index), errors));
    let read: Vec<T> = read.collect();
    (errors.len() == before).then_some(read)
}

/// The law in numbers; `None` if there is none of this mean.
fn law<Q: Quantity>(form: &Form<Q>) -> Option<Law> {
    Some(match form {
        Form::Constant(value) => Law::Constant(value.number()),
        Form::Uniform { min, max } => Law::Uniform { min: min.number(), max: max.number() },
        Form::Exponential { mean } => Law::Exponential { mean: mean.number() },
        Form::Pareto { shape, from: Centre::Mean(mean), max } => {
            return Law::pareto_of_mean(mean.number(), *shape, max.map(Q::number));
        }
        Form::Pareto { shape, from: Centre::Min(min) | Centre::Median(min), max } => {
            Law::Pareto { min: min.number(), shape: *shape, max: max.map(Q::number) }
        }
        Form::Lognormal { from: Centre::Mean(mean), sigma } => Law::lognormal_of_mean(mean.number(), *sigma),
        Form::Lognormal { from: Centre::Min(median) | Centre::Median(median), sigma } => {
            Law::Lognormal { mu: libm::log(median.number()), sigma: *sigma }
        }
        Form::Empirical { values, weights } => {
            let weighted: Vec<_> = values.iter().map(|value| value.number()).zip(weights.iter().copied()).collect();
            Law::table(&weighted)
        }
    })
}

impl<Q: Quantity> Serialize for Varied<Q> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut table = match &self.form {
            Form::Constant(value) => return value.serialize(serializer),
            Form::Uniform { min, max } => json!({ "distribution": "uniform", "min": min, "max": max }),
            Form::Exponential { mean } => json!({ "distribution": "exponential", "mean": mean }),
            Form::Pareto { shape, .. } => json!({ "distribution": "pareto", "shape": shape }),
            Form::Lognormal { sigma, .. } => json!({ "distribution": "lognormal", "sigma": sigma }),
            Form::Empirical { values, weights } => {
                json!({ "distribution": "empirical", "values": values, "weights": weights })
            }
        };
        if let Form::Pareto { from, .. } | Form::Lognormal { from, .. } = &self.form {
            match from {
                Centre::Mean(mean) => table["mean"] = json!(mean),
                Centre::Min(min) => table["min"] = json!(min),
                Centre::Median(median) => table["median"] = json!(median),
            }
        }
        if let Form::Pareto { max: Some(max), .. } = &self.form {
            table["max"] = json!(max);
        }
        table.serialize(serializer)
    }
}

impl<Q: Quantity> JsonSchema for Varied<Q> {
    fn schema_name() -> Cow<'static, str> {
        format!("Varied{}", Q::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let value = generator.subschema_for::<Q>();
        let number = |about: &str| json!({ "type": "number", "minimum": 0, "description": about });
        let (least, largest) = (described(&value, "The smallest value."), described(&value, "The largest value."));
        let (mean, median) = (described(&value, "The mean."), described(&value, "The median."));
        let table = |name: &str, description: &str, keys: Value, required: &[&str]| {
            let mut properties = keys;
            properties["distribution"] = json!({ "const": name });
            let required: Vec<&str> = ["distribution"].iter().chain(required).copied().collect();
            json!({
                "type": "object",
                "description": description,
                "properties": properties,
                "required": required,
                "additionalProperties": false
            })
        };
        json_schema!({
            "description": format!("{}, or how it is drawn each time", Q::NAME),
            "anyOf": [
                value,
                table("uniform", "all values from min to max are equally likely", json!({ "min": least, "max": largest }), &["min", "max"]),
                json!({
                    "type": "object",
                    "description": "short for uniform: from the first to the second",
                    "properties": { "uniform": {
                        "type": "array", "items": value, "minItems": 2, "maxItems": 2,
                        "description": "The smallest and the largest value."
                    } },
                    "required": ["uniform"],
                    "additionalProperties": false
                }),
                json!({
                    "type": "object",
                    "description": "short for exponential, with this mean",
                    "properties": { "exponential": mean },
                    "required": ["exponential"],
                    "additionalProperties": false
                }),
                table("exponential", "exponential", json!({ "mean": mean }), &["mean"]),
                table(
                    "pareto",
                    "Pareto, of a mean or from a min on, cut off at max if there is one",
                    json!({ "shape": number("The exponent of the tail; the mean exists above 1."), "mean": mean, "min": least, "max": largest }),
                    &["shape"]
                ),
                table(
                    "lognormal",
                    "lognormal, of a mean or a median; sigma is the standard deviation of the logarithm",
                    json!({ "sigma": number("The standard deviation of the logarithm."), "mean": mean, "median": median }),
                    &["sigma"]
                ),
                table(
                    "empirical",
                    "one of these values, each as often as its weight says",
                    json!({
                        "values": { "type": "array", "items": value, "minItems": 1, "description": "The values." },
                        "weights": {
                            "type": "array", "items": { "type": "number", "minimum": 0 }, "minItems": 1,
                            "description": "How often each comes; without weights all are equally likely."
                        }
                    }),
                    &["values"]
                ),
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_is_rounded_as_round_does() {
        for whole in (0_u64..2_000).chain([1 << 51, (1 << 52) - 1, 1 << 53, u64::MAX >> 1]) {
            let half = whole as f64 + 0.5;
            for number in [whole as f64, half, half.next_down(), half.next_up()] {
                assert_eq!(rounded(number), libm::round(number) as u64, "{number}");
            }
        }
        assert_eq!(rounded(-3.0), 0);
    }
}
