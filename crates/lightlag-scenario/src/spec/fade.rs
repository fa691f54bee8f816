//! Rain fade and adaptive coding as asked for.

use crate::read::{Errors, FromValue, Omitted, Path, Table, described, leaf, shown};
use lightlag_core::{Decibels, Duration, SymbolRate};
use lightlag_net::{AdaptiveLink, RainFade};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Rain, if a direction has any.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Fade(pub Option<Rain>);

/// Rain on a link whose transmitter adapts to it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Rain {
    /// Mean of ln A, A the attenuation in dB.
    pub mean: f64,
    /// Standard deviation of ln A.
    pub deviation: f64,
    /// After this time the autocorrelation of ln A has fallen to 1/e.
    pub correlation_time: Duration,
    /// C/N without rain.
    pub clear_sky: Decibels,
    /// Symbols per second.
    pub symbol_rate: SymbolRate,
    /// Margin above the threshold of a MODCOD.
    pub margin: Decibels,
    /// Further margin for a higher MODCOD than the present one.
    pub hysteresis: Decibels,
    /// From a measurement to the transmission that follows it; the longest round trip across the link, if nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loop_delay: Option<Duration>,
    /// From one measurement to the next.
    pub step: Duration,
}

/// 1/β with β = 2·10⁻⁴ 1/s.
const CORRELATION_TIME: Duration = Duration::from_secs(5_000);
const STEP: Duration = Duration::from_millis(100);
const SHORTEST_STEP: Duration = Duration::from_millis(1);
/// The most measurements of a run: a second of work, and as many phases at worst.
const MOST_STEPS: u64 = 20_000_000;

impl Fade {
    /// The adaptive link of a direction with this longest round trip.
    pub(crate) fn link(self, round_trip: Duration) -> Option<AdaptiveLink> {
        let rain = self.0?;
        Some(AdaptiveLink {
            fade: RainFade { mean: rain.mean, deviation: rain.deviation, correlation_time: rain.correlation_time },
            clear_sky: rain.clear_sky,
            symbol_rate: rain.symbol_rate,
            margin: rain.margin,
            hysteresis: rain.hysteresis,
            loop_delay: rain.loop_delay.unwrap_or(round_trip),
            step: rain.step,
        })
    }

    /// Refuses more measurements than can be drawn.
    pub(crate) fn check_steps(self, duration: Duration, at: impl FnOnce() -> String, errors: &mut Errors) {
        let Some(rain) = self.0 else { return };
        let steps = duration.as_nanos() / rain.step.as_nanos();
        if steps > MOST_STEPS {
            let message = format!(
                "{} for {duration} are {steps} measurements, more than {MOST_STEPS}; take a longer step",
                rain.step
            );
            errors.push(at(), message);
        }
    }
}

/// A number within bounds.
fn number(value: &Value, [least, most]: [f64; 2], at: &Path, errors: &mut Errors) -> Option<f64> {
    let number = value.as_f64().filter(|number| (least..=most).contains(number));
    if number.is_none() {
        errors.push(at, format!("{} is not a number from {least} to {most}", shown(value)));
    }
    number
}

/// A ratio that is not negative.
fn not_negative(table: &mut Table, at: &Path, key: &'static str, usual: f64, errors: &mut Errors) -> Option<Decibels> {
    let at = Path::Key(at, key);
    let Some(value) = table.value(key) else { return Decibels::new(usual) };
    let ratio: Decibels = leaf(value, &at, errors)?;
    if ratio.value() < 0.0 {
        errors.push(at, format!("{ratio} is negative; write one such as \"{usual} dB\""));
        return None;
    }
    Some(ratio)
}

impl FromValue for Fade {
    const IS_TABLE: bool = true;

    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let what = "a table such as { mean = -0.5, deviation = 1.2, clear_sky = \"15 dB\", symbol_rate = \"20 MBd\" }";
        let mut table = Table::open(value, at, what, errors)?;
        let mut moment = |key, bounds, remedy, errors: &mut Errors| {
            let value = table.required_value(key, remedy, errors)?;
            number(value, bounds, &Path::Key(at, key), errors)
        };
        let remedy = "give the mean of ln A, A the attenuation in dB: -0.5 is a median of 0.6 dB";
        let mean = moment("mean", [-50.0, 10.0], remedy, errors);
        let deviation = moment("deviation", [0.0, 10.0], "give the standard deviation of ln A, such as 1.2", errors);
        let clear_sky = table.required_value("clear_sky", "give C/N without rain, such as \"15 dB\"", errors);
        let clear_sky: Option<Decibels> = clear_sky.and_then(|value| leaf(value, &Path::Key(at, "clear_sky"), errors));
        let symbols = table.required_value("symbol_rate", "say how many symbols leave, such as \"20 MBd\"", errors);
        let symbols: Option<SymbolRate> = symbols.and_then(|value| leaf(value, &Path::Key(at, "symbol_rate"), errors));
        let margin = not_negative(&mut table, at, "margin", 1.0, errors);
        let hysteresis = not_negative(&mut table, at, "hysteresis", 0.3, errors);
        let correlation_time = table.optional("correlation_time", errors).unwrap_or(CORRELATION_TIME);
        let loop_delay = table.optional("loop_delay", errors);
        let step = table.optional("step", errors).unwrap_or(STEP);
        table.finish(errors);
        if correlation_time.is_zero() {
            errors.push(Path::Key(at, "correlation_time"), "0 s is no correlation; write a time such as \"5000 s\"");
        }
        if step < SHORTEST_STEP {
            errors.push(Path::Key(at, "step"), format!("{step} is below {SHORTEST_STEP}, the shortest step"));
        }
        let rain = Rain {
            mean: mean?,
            deviation: deviation?,
            correlation_time,
            clear_sky: clear_sky?,
            symbol_rate: symbols?,
            margin: margin?,
            hysteresis: hysteresis?,
            loop_delay,
            step,
        };
        (errors.len() == before).then_some(Self(Some(rain)))
    }
}

impl Omitted for Fade {
    fn omitted() -> Option<Self> {
        Some(Self::default())
    }
}

impl Serialize for Fade {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl JsonSchema for Fade {
    fn schema_name() -> Cow<'static, str> {
        "Fade".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (time, ratio) = (generator.subschema_for::<Duration>(), generator.subschema_for::<Decibels>());
        let table = json!({
            "type": "object",
            "properties": {
                "mean": { "type": "number", "minimum": -50, "maximum": 10, "description": "mean of ln A, A in dB" },
                "deviation": { "type": "number", "minimum": 0, "maximum": 10, "description": "standard deviation of ln A" },
                "correlation_time": described(&time, "Time after which ln A has 1/e of its correlation."),
                "clear_sky": described(&ratio, "Signal-to-noise ratio E_s/N_0 without rain."),
                "symbol_rate": described(generator.subschema_for::<SymbolRate>(), "Symbols of DVB-S2 in a second."),
                "margin": described(&ratio, "Reserve above the ratio that a mode needs."),
                "hysteresis": described(&ratio, "Further ratio that a faster mode takes to be chosen."),
                "loop_delay": described(&time, "Time from a measurement to the mode that follows from it."),
                "step": described(&time, "Time between two values of the attenuation.")
            },
            "required": ["mean", "deviation", "clear_sky", "symbol_rate"],
            "additionalProperties": false
        });
        json_schema!({
            "description": "rain (an Ornstein-Uhlenbeck process of ln A) that drives the DVB-S2 rates of the link",
            "anyOf": [table, { "type": "null" }]
        })
    }
}
