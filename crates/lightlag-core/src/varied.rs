//! Sizes, times and counts in a scenario, fixed or random.

use crate::schema::described;
use crate::{Bytes, Duration, Law, RandomStream};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;

/// A quantity that a scenario may give as a random distribution.
pub trait Quantity: Copy + PartialEq + PartialOrd + Serialize + JsonSchema {
    /// Name in messages, with its article: "a size".
    const NAME: &'static str;
    /// Example in a scenario.
    const EXAMPLE: &'static str;
    /// Maximum value that may be drawn.
    const MOST: Self;
    /// Minimum value that may be drawn.
    const LEAST: Self;

    /// Returns the quantity as a number.
    fn number(self) -> f64;
    /// Returns the quantity nearest to a number.
    fn nearest(number: f64) -> Self;
}

impl Quantity for Bytes {
    const NAME: &'static str = "a size";
    const EXAMPLE: &'static str = "\"10 kB\"";
    // It prints exactly.
    const MOST: Self = Self(1_000_000_000_000_000);
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
    // It prints exactly, and exceeds the time of light through the solar system.
    const MOST: Self = Self::from_secs(20 * 24 * 3600);
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

/// Returns the nearest integer; halves are rounded up, and negative numbers become zero.
#[inline]
fn rounded(number: f64) -> u64 {
    // The number below a half: with 0.5, the number before 0.5 would become 1.
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

/// A quantity, fixed or drawn each time.
#[derive(Clone, PartialEq, Debug)]
pub struct Varied<Q> {
    form: QuantityForm<Q>,
    law: Law,
}

/// Written form of a quantity in a scenario.
#[derive(Clone, PartialEq, Debug)]
pub enum QuantityForm<Q> {
    /// A fixed value.
    Constant(Q),
    /// All values from `min` to `max` with equal probability.
    Uniform {
        /// Minimum.
        min: Q,
        /// Maximum.
        max: Q,
    },
    /// Exponential distribution.
    Exponential {
        /// Mean of the distribution.
        mean: Q,
    },
    /// Pareto distribution, truncated at `max` if there is one.
    Pareto {
        /// Exponent of the tail. Without `max` it is above 1.
        shape: f64,
        /// Mean or minimum of the distribution.
        from: Centre<Q>,
        /// Maximum.
        max: Option<Q>,
    },
    /// Lognormal distribution.
    Lognormal {
        /// Mean or median of the distribution.
        from: Centre<Q>,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
    /// One of the given values, of which there is at least one.
    Empirical {
        /// Values of the distribution.
        values: Vec<Q>,
        /// Relative frequency of each value.
        weights: Vec<f64>,
    },
}

/// Value that sets the location of a distribution.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Centre<Q> {
    /// The mean.
    Mean(Q),
    /// The minimum.
    Min(Q),
    /// The median.
    Median(Q),
}

impl<Q: Quantity> Varied<Q> {
    /// Returns the quantity that is written in this form; `None` if no distribution has the given mean.
    pub fn new(form: QuantityForm<Q>) -> Option<Self> {
        let law = law(&form)?;
        Some(Self { form, law })
    }

    /// Returns a fixed quantity.
    pub fn constant(value: Q) -> Self {
        Self { form: QuantityForm::Constant(value), law: Law::Constant(value.number()) }
    }

    /// Returns an exponential quantity with this mean.
    pub fn exponential(mean: Q) -> Self {
        Self { form: QuantityForm::Exponential { mean }, law: Law::Exponential { mean: mean.number() } }
    }

    /// Draws a value, limited to the possible range.
    pub fn draw(&self, random: &mut RandomStream) -> Q {
        if let QuantityForm::Constant(value) = self.form {
            return value;
        }
        let drawn = self.law.draw(random);
        if drawn >= Q::MOST.number() {
            return Q::MOST;
        }
        let value = Q::nearest(drawn);
        if value < Q::LEAST { Q::LEAST } else { value }
    }

    /// Returns true if two draws may differ.
    pub fn is_random(&self) -> bool {
        !matches!(self.form, QuantityForm::Constant(_))
    }

    /// Returns the maximum value that may be drawn, or the mean if there is no bound.
    pub fn largest(&self) -> Q {
        match &self.form {
            QuantityForm::Constant(value) => *value,
            QuantityForm::Uniform { max, .. } | QuantityForm::Pareto { max: Some(max), .. } => *max,
            QuantityForm::Empirical { values, .. } => {
                values.iter().copied().fold(values[0], |most, value| if value > most { value } else { most })
            }
            QuantityForm::Exponential { .. }
            | QuantityForm::Pareto { max: None, .. }
            | QuantityForm::Lognormal { .. } => Q::nearest(self.law.mean().min(Q::MOST.number())),
        }
    }

    /// Returns the distribution; its values are in bytes, in nanoseconds, or counts.
    pub fn law(&self) -> &Law {
        &self.law
    }
}

impl Varied<Duration> {
    /// Returns the fixed time; zero if the time is random.
    pub fn fixed(&self) -> Duration {
        if let QuantityForm::Constant(time) = self.form { time } else { Duration::ZERO }
    }
}

/// A fixed time of zero.
impl Default for Varied<Duration> {
    fn default() -> Self {
        Self::constant(Duration::ZERO)
    }
}

/// Returns the distribution of a form as plain numbers; `None` if no distribution has the given mean.
fn law<Q: Quantity>(form: &QuantityForm<Q>) -> Option<Law> {
    Some(match form {
        QuantityForm::Constant(value) => Law::Constant(value.number()),
        QuantityForm::Uniform { min, max } => Law::Uniform { min: min.number(), max: max.number() },
        QuantityForm::Exponential { mean } => Law::Exponential { mean: mean.number() },
        QuantityForm::Pareto { shape, from: Centre::Mean(mean), max } => {
            return Law::pareto_of_mean(mean.number(), *shape, max.map(Q::number));
        }
        QuantityForm::Pareto { shape, from: Centre::Min(min) | Centre::Median(min), max } => {
            Law::Pareto { min: min.number(), shape: *shape, max: max.map(Q::number) }
        }
        QuantityForm::Lognormal { from: Centre::Mean(mean), sigma } => Law::lognormal_of_mean(mean.number(), *sigma),
        QuantityForm::Lognormal { from: Centre::Min(median) | Centre::Median(median), sigma } => {
            Law::Lognormal { mu: libm::log(median.number()), sigma: *sigma }
        }
        QuantityForm::Empirical { values, weights } => {
            let weighted: Vec<_> = values.iter().map(|value| value.number()).zip(weights.iter().copied()).collect();
            Law::table(&weighted)
        }
    })
}

impl<Q: Quantity> Serialize for Varied<Q> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut table = match &self.form {
            QuantityForm::Constant(value) => return value.serialize(serializer),
            QuantityForm::Uniform { min, max } => json!({ "distribution": "uniform", "min": min, "max": max }),
            QuantityForm::Exponential { mean } => json!({ "distribution": "exponential", "mean": mean }),
            QuantityForm::Pareto { shape, .. } => json!({ "distribution": "pareto", "shape": shape }),
            QuantityForm::Lognormal { sigma, .. } => json!({ "distribution": "lognormal", "sigma": sigma }),
            QuantityForm::Empirical { values, weights } => {
                json!({ "distribution": "empirical", "values": values, "weights": weights })
            }
        };
        if let QuantityForm::Pareto { from, .. } | QuantityForm::Lognormal { from, .. } = &self.form {
            match from {
                Centre::Mean(mean) => table["mean"] = json!(mean),
                Centre::Min(min) => table["min"] = json!(min),
                Centre::Median(median) => table["median"] = json!(median),
            }
        }
        if let QuantityForm::Pareto { max: Some(max), .. } = &self.form {
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
        let (min_value, max_value) = (described(&value, "Minimum value."), described(&value, "Maximum value."));
        let (mean, median) = (described(&value, "Mean."), described(&value, "Median."));
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
            "description": format!("{}, or the distribution of each value", Q::NAME),
            "anyOf": [
                value,
                table("uniform", "all values from min to max are equally likely", json!({ "min": min_value, "max": max_value }), &["min", "max"]),
                json!({
                    "type": "object",
                    "description": "short for uniform: from the first to the second",
                    "properties": { "uniform": {
                        "type": "array", "items": value, "minItems": 2, "maxItems": 2,
                        "description": "Minimum and maximum value."
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
                    "Pareto with a given mean or min, truncated at max if present",
                    json!({ "shape": number("Exponent of the tail; the mean is finite above 1."), "mean": mean, "min": min_value, "max": max_value }),
                    &["shape"]
                ),
                table(
                    "lognormal",
                    "lognormal with a given mean or median; sigma is the standard deviation of the logarithm",
                    json!({ "sigma": number("Standard deviation of the logarithm."), "mean": mean, "median": median }),
                    &["sigma"]
                ),
                table(
                    "empirical",
                    "one of these values, with probabilities in proportion to the weights",
                    json!({
                        "values": { "type": "array", "items": value, "minItems": 1, "description": "Values." },
                        "weights": {
                            "type": "array", "items": { "type": "number", "minimum": 0 }, "minItems": 1,
                            "description": "Weights of the values; without weights all are equally likely."
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
