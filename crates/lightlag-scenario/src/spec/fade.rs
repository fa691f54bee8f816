//! Rain fade and adaptive coding.

use super::{Extension, Modcods};
use crate::read::{Errors, FromValue, Omitted, Path, TableReader, described, leaf, shown};
use lightlag_core::{Decibels, Duration, SymbolRate};
use lightlag_net::{AdaptiveLink, BasebandFrames, PowerControl, RainFade};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Rain fade, if the direction of a link has any.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Fade(pub Option<Rain>);

/// Rain fade on a link whose transmitter adapts its modulation and coding.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Rain {
    /// Mean of ln A, where A is the attenuation in dB.
    pub mean: f64,
    /// Standard deviation of ln A.
    pub deviation: f64,
    /// Time until the autocorrelation of ln A has fallen to 1/e.
    pub correlation_time: Duration,
    /// C/N without rain.
    pub clear_sky: Decibels,
    /// Symbols per second.
    pub symbol_rate: SymbolRate,
    /// Required margin above the threshold of a MODCOD.
    pub margin: Decibels,
    /// Additional margin that is required for a higher MODCOD than the current one.
    pub hysteresis: Decibels,
    /// Delay from a measurement to its effect on the transmission; by default the maximum round trip across the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loop_delay: Option<Duration>,
    /// Interval between measurements.
    pub step: Duration,
    /// Part of e^X in dB that does not attenuate: it does not rain below it.
    #[serde(skip_serializing_if = "is_zero")]
    pub offset: Decibels,
    /// MODCODs of the transmitter.
    #[serde(skip_serializing_if = "Modcods::is_default")]
    pub modcods: Modcods,
    /// Power control of the transmitter, if it has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power_control: Option<UplinkPower>,
    /// Encapsulation of packets in baseband frames, if they are sent in frames.
    #[serde(skip_serializing_if = "has_no_frames")]
    pub frames: Extension<BasebandFrames>,
}

/// Power control of an uplink.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct UplinkPower {
    /// Maximum increase of the power.
    pub range: Decibels,
    /// Time from an attenuation to the power that compensates it.
    pub delay: Duration,
}

fn is_zero(ratio: &Decibels) -> bool {
    *ratio == Decibels::ZERO
}

fn has_no_frames(frames: &Extension<BasebandFrames>) -> bool {
    frames.0.is_none()
}

/// Default correlation time: 1/β with β = 2·10⁻⁴ 1/s.
const CORRELATION_TIME: Duration = Duration::from_secs(5_000);
const STEP: Duration = Duration::from_millis(100);
const SHORTEST_STEP: Duration = Duration::from_millis(1);
/// Maximum number of measurements during a run. They take one second of CPU time, and in the worst case result in as
/// many phases.
const MOST_STEPS: u64 = 20_000_000;

impl Fade {
    /// Returns the adaptive link of a direction. `round_trip` is the longest round-trip time of the flows that cross
    /// it.
    pub(crate) fn link(&self, round_trip: Duration) -> Option<AdaptiveLink> {
        let rain = self.0.as_ref()?;
        let control = |control: UplinkPower| PowerControl { range: control.range, delay: control.delay };
        Some(AdaptiveLink {
            fade: RainFade {
                mean: rain.mean,
                deviation: rain.deviation,
                correlation_time: rain.correlation_time,
                offset: rain.offset,
            },
            clear_sky: rain.clear_sky,
            symbol_rate: rain.symbol_rate,
            margin: rain.margin,
            hysteresis: rain.hysteresis,
            loop_delay: rain.loop_delay.unwrap_or(round_trip),
            step: rain.step,
            modcods: rain.modcods.list(),
            power_control: rain.power_control.map(control),
            frames: rain.frames.0,
        })
    }

    /// Rejects a run with too many measurements.
    pub(crate) fn check_steps(&self, duration: Duration, path: impl FnOnce() -> String, errors: &mut Errors) {
        let Some(rain) = &self.0 else { return };
        let steps = duration.as_nanos() / rain.step.as_nanos();
        if steps > MOST_STEPS {
            let message = format!(
                "{} for {duration} are {steps} measurements, more than {MOST_STEPS}; use a longer step",
                rain.step
            );
            errors.push(path(), message);
        }
    }
}

/// Reads a number within bounds.
fn number(value: &Value, [min, max]: [f64; 2], path: &Path, errors: &mut Errors) -> Option<f64> {
    let number = value.as_f64().filter(|number| (min..=max).contains(number));
    if number.is_none() {
        errors.push(path, format!("{} is not a number from {min} to {max}", shown(value)));
    }
    number
}

/// Reads a ratio, which must not be negative.
fn not_negative(
    table: &mut TableReader,
    path: &Path,
    key: &'static str,
    usual: f64,
    errors: &mut Errors,
) -> Option<Decibels> {
    let key_path = Path::Key(path, key);
    let Some(value) = table.value(key) else { return Decibels::new(usual) };
    let ratio: Decibels = leaf(value, &key_path, errors)?;
    if ratio.value() < 0.0 {
        errors.push(key_path, format!("{ratio} is negative; write one such as \"{usual} dB\""));
        return None;
    }
    Some(ratio)
}

impl FromValue for UplinkPower {
    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let what = "a table such as { range = \"6 dB\", delay = \"1 s\" }";
        let mut table = TableReader::open(value, path, what, errors)?;
        table.required_value("range", "specify the maximum increase of the power, such as \"6 dB\"", errors)?;
        let range = not_negative(&mut table, path, "range", 6.0, errors);
        let delay = table.optional("delay", errors).unwrap_or_default();
        table.finish(errors);
        Some(Self { range: range?, delay })
    }
}

impl FromValue for Fade {
    const IS_TABLE: bool = true;

    fn read(value: &Value, path: &Path, errors: &mut Errors) -> Option<Self> {
        let before = errors.len();
        let what = "a table such as { mean = -0.5, deviation = 1.2, clear_sky = \"15 dB\", symbol_rate = \"20 MBd\" }";
        let mut table = TableReader::open(value, path, what, errors)?;
        let mut moment = |key, bounds, remedy, errors: &mut Errors| {
            let value = table.required_value(key, remedy, errors)?;
            number(value, bounds, &Path::Key(path, key), errors)
        };
        let remedy = "specify the mean of ln A, where A is the attenuation in dB: -0.5 is a median of 0.6 dB";
        let mean = moment("mean", [-50.0, 10.0], remedy, errors);
        let deviation = moment("deviation", [0.0, 10.0], "specify the standard deviation of ln A, such as 1.2", errors);
        let clear_sky = table.required_value("clear_sky", "specify C/N without rain, such as \"15 dB\"", errors);
        let clear_sky: Option<Decibels> =
            clear_sky.and_then(|value| leaf(value, &Path::Key(path, "clear_sky"), errors));
        let symbols = table.required_value("symbol_rate", "specify the symbol rate, such as \"20 MBd\"", errors);
        let symbols: Option<SymbolRate> =
            symbols.and_then(|value| leaf(value, &Path::Key(path, "symbol_rate"), errors));
        let margin = not_negative(&mut table, path, "margin", 1.0, errors);
        let hysteresis = not_negative(&mut table, path, "hysteresis", 0.3, errors);
        let correlation_time = table.optional("correlation_time", errors).unwrap_or(CORRELATION_TIME);
        let loop_delay = table.optional("loop_delay", errors);
        let step = table.optional("step", errors).unwrap_or(STEP);
        let offset = not_negative(&mut table, path, "offset", 0.0, errors);
        let modcods: Modcods = table.optional("modcods", errors).unwrap_or_default();
        let power_control = table.optional("power_control", errors);
        let frames: Extension<BasebandFrames> = table.optional("frames", errors).unwrap_or_default();
        if frames.0.is_some() && matches!(modcods, Modcods::Custom(_)) {
            let message = "needs MODCODs of a standard, whose frames have a known size; write modcods = \"dvb-s2\", or \
                           remove frames";
            errors.push(Path::Key(path, "frames"), message);
        }
        table.finish(errors);
        if correlation_time.is_zero() {
            errors.push(
                Path::Key(path, "correlation_time"),
                "0 s is not a valid correlation time; write a time such as \"5000 s\"",
            );
        }
        if step < SHORTEST_STEP {
            errors.push(Path::Key(path, "step"), format!("{step} is below {SHORTEST_STEP}, the minimum step"));
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
            offset: offset?,
            modcods,
            power_control,
            frames,
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
        let power = json!({
            "type": "object",
            "properties": {
                "range": described(&ratio, "Maximum increase of the power."),
                "delay": described(&time, "Time from an attenuation to its compensation.")
            },
            "required": ["range"],
            "additionalProperties": false
        });
        let table = json!({
            "type": "object",
            "properties": {
                "mean": { "type": "number", "minimum": -50, "maximum": 10, "description": "mean of ln A, A in dB" },
                "deviation": { "type": "number", "minimum": 0, "maximum": 10, "description": "standard deviation of ln A" },
                "correlation_time": described(&time, "Correlation time of ln A: its autocorrelation falls to 1/e."),
                "clear_sky": described(&ratio, "Signal-to-noise ratio E_s/N_0 without rain."),
                "symbol_rate": described(generator.subschema_for::<SymbolRate>(), "DVB-S2 symbols per second."),
                "margin": described(&ratio, "Margin above the ratio that a mode requires."),
                "hysteresis": described(&ratio, "Additional margin required to select a faster mode."),
                "loop_delay": described(&time, "Time from a measurement to the resulting mode."),
                "step": described(&time, "Time between two values of the attenuation."),
                "offset": described(&ratio, "Part of e^X that does not attenuate: no rain below it."),
                "modcods": described(generator.subschema_for::<Modcods>(), "MODCODs; by default eight of DVB-S2."),
                "power_control": described(&power, "Power control of an uplink."),
                "frames": described(
                    generator.subschema_for::<Extension<BasebandFrames>>(),
                    "Baseband frames, in which packets are sent; by default the rate is a stream of bits."
                )
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
