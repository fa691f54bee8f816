//! Units as people write them: `"34.368 Mbit/s"`, `"300 ms"`, `"15 MiB"`, `0.0005`.
//!
//! Decimal prefixes are powers of 1000 (kB, MB, Mbit/s), binary ones powers of 1024 (KiB, MiB).
//! A number without a unit is rejected, because 10 is neither bits nor bytes.

use crate::time::Duration;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};
use std::str::FromStr;

mod physical;
mod quantity;

pub use physical::{Angle, Decibels, Distance, SymbolRate};
pub use quantity::Unit;

/// Error for text that is not a valid quantity. It states the expected form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitError {
    value: String,
    expected: &'static str,
    /// Smallest unit, if the number is only a fraction of it.
    part_of: Option<&'static str>,
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part_of {
            Some(unit) => write!(f, "{:?} is less than 1 {unit}; write 1 {unit} or more", self.value),
            None => write!(f, "{:?} is not {}", self.value, self.expected),
        }
    }
}

impl std::error::Error for UnitError {}

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(pub u64);

/// A rate in bits per second, never zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

/// A probability, 0 to 1.
#[derive(Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Probability(f64);

impl Bytes {
    /// Zero bytes.
    pub const ZERO: Self = Self(0);

    /// Returns the number of bits.
    pub const fn bits(self) -> u64 {
        self.0 * 8
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Bytes {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Mul<u64> for Bytes {
    type Output = Self;
    fn mul(self, factor: u64) -> Self {
        Self(self.0 * factor)
    }
}

impl Rate {
    /// Returns a rate in bits per second; `None` for zero.
    pub const fn from_bps(bits_per_second: u64) -> Option<Self> {
        if bits_per_second == 0 { None } else { Some(Self(bits_per_second)) }
    }

    /// Returns a rate in megabits per second, at least 1.
    pub const fn from_mbps(megabits_per_second: u64) -> Self {
        assert!(megabits_per_second > 0, "a rate is at least 1 bit/s");
        Self(megabits_per_second * 1_000_000)
    }

    /// Bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// Returns the time to send this many bytes, rounded up to a nanosecond.
    pub fn time_to_send(self, size: Bytes) -> Duration {
        // Sizes below 2 GB stay within 64 bits, whose division is much faster.
        if let Some(work) = size.bits().checked_mul(1_000_000_000) {
            return Duration::from_nanos(work.div_ceil(self.0));
        }
        let nanos = (u128::from(size.bits()) * 1_000_000_000).div_ceil(u128::from(self.0));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

impl Mul<Duration> for Rate {
    type Output = Bytes;
    /// Returns the number of bytes that are sent in that time, rounded down: rate × RTT is the bandwidth-delay product.
    fn mul(self, time: Duration) -> Bytes {
        let bytes = u128::from(self.0) * u128::from(time.as_nanos()) / 8_000_000_000;
        Bytes(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}

impl Probability {
    /// The probability 0.
    pub const ZERO: Self = Self(0.0);
    /// The probability 1/2.
    pub const HALF: Self = Self(0.5);
    /// The probability 1.
    pub const ONE: Self = Self(1.0);

    /// Returns a probability; `None` if the value is outside [0, 1] or NaN.
    pub fn new(value: f64) -> Option<Self> {
        (0.0..=1.0).contains(&value).then_some(Self(value))
    }

    /// Returns the number, 0 to 1.
    pub const fn value(self) -> f64 {
        self.0
    }

    /// Returns the threshold `t` for which a uniform 64-bit number is below `t` with this probability. A probability of
    /// 1 results in the largest `u64`, which is 5e-20 short of certainty.
    pub fn threshold(self) -> u64 {
        // 2^64 as f64; the cast saturates.
        (self.0 * 18_446_744_073_709_551_616.0) as u64
    }
}

/// Splits `"34.368 Mbit/s"` into its number and its unit.
fn number_and_unit(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text
        .char_indices()
        .find(|&(i, c)| {
            let exponent_sign = (c == '-' || c == '+') && (i == 0 || text[..i].ends_with(['e', 'E']));
            let exponent = (c == 'e' || c == 'E')
                && text[i + 1..].starts_with(|n: char| n.is_ascii_digit() || n == '-' || n == '+');
            !(c.is_ascii_digit() || c == '.' || exponent || exponent_sign)
        })
        .map_or(text.len(), |(i, _)| i);
    let number: f64 = text[..end].parse().ok()?;
    Some((number, text[end..].trim()))
}

/// Parses `number × unit` as an integer, if it is not negative and fits. A fraction of the first unit is rejected,
/// because rounding would change it to zero or one unit; zero is allowed.
fn whole(text: &str, units: &[(&'static str, f64)], expected: &'static str) -> Result<u64, UnitError> {
    let error = || UnitError { value: text.to_owned(), expected, part_of: None };
    let (number, unit) = number_and_unit(text).ok_or_else(error)?;
    let (_, scale) = units.iter().find(|(name, _)| *name == unit).ok_or_else(error)?;
    let value = number * scale;
    if !(0.0..9e18).contains(&value) {
        return Err(error());
    }
    if value > 0.0 && value < 1.0 {
        return Err(UnitError { part_of: Some(units[0].0), ..error() });
    }
    Ok((value + 0.5) as u64)
}

impl FromStr for Duration {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        const UNITS: &[(&str, f64)] = &[
            ("ns", 1.0),
            ("us", 1e3),
            ("µs", 1e3),
            ("μs", 1e3),
            ("ms", 1e6),
            ("s", 1e9),
            ("min", 60e9),
            ("h", 3600e9),
        ];
        whole(text, UNITS, "a time such as \"300 ms\" (ns, us, ms, s, min, h)").map(Self::from_nanos)
    }
}

impl FromStr for Bytes {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        const UNITS: &[(&str, f64)] = &[
            ("B", 1.0),
            ("byte", 1.0),
            ("bytes", 1.0),
            ("kB", 1e3),
            ("MB", 1e6),
            ("GB", 1e9),
            ("TB", 1e12),
            ("KiB", 1024.0),
            ("MiB", 1_048_576.0),
            ("GiB", 1_073_741_824.0),
            ("TiB", 1_099_511_627_776.0),
        ];
        whole(text, UNITS, "a size such as \"15 MiB\" (B, kB, MB, GB, KiB, MiB, GiB)").map(Bytes)
    }
}

impl FromStr for Rate {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        const UNITS: &[(&str, f64)] = &[
            ("bit/s", 1.0),
            ("kbit/s", 1e3),
            ("Mbit/s", 1e6),
            ("Gbit/s", 1e9),
            ("Tbit/s", 1e12),
            ("bps", 1.0),
            ("kbps", 1e3),
            ("Mbps", 1e6),
            ("Gbps", 1e9),
            ("B/s", 8.0),
            ("kB/s", 8e3),
            ("MB/s", 8e6),
            ("GB/s", 8e9),
        ];
        const EXPECTED: &str = "a rate such as \"10 Mbit/s\", above zero (bit/s, kbit/s, Mbit/s, Gbit/s)";
        whole(text, UNITS, EXPECTED).and_then(|bps| {
            Self::from_bps(bps).ok_or(UnitError { value: text.to_owned(), expected: EXPECTED, part_of: None })
        })
    }
}

/// Prints in the largest of `units` (ascending) that keeps the number at least 1.
fn scaled(f: &mut fmt::Formatter<'_>, value: u64, units: &[(u64, &str)]) -> fmt::Result {
    let (scale, name) = units.iter().rev().find(|(scale, _)| value >= *scale).unwrap_or(&units[0]);
    write!(f, "{} {name}", value as f64 / *scale as f64)
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        scaled(f, self.0, &[(1, "B"), (1_000, "kB"), (1_000_000, "MB"), (1_000_000_000, "GB")])
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        scaled(f, self.0, &[(1, "bit/s"), (1_000, "kbit/s"), (1_000_000, "Mbit/s"), (1_000_000_000, "Gbit/s")])
    }
}

impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

macro_rules! debug_is_display {
    ($($unit:ty),*) => {$(
        impl fmt::Debug for $unit {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    )*};
}
debug_is_display!(Bytes, Rate, Probability, Distance, Angle, Decibels, SymbolRate);

/// Serialises quantities as text: a scenario has `"10 Mbit/s"`, never a bare number.
macro_rules! text_in_scenarios {
    ($($unit:ty, $name:literal, $description:literal, $example:literal $(, $title:literal)?;)*) => {$(
        impl<'de> Deserialize<'de> for $unit {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Text;
                impl serde::de::Visitor<'_> for Text {
                    type Value = $unit;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($description)
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$unit, E> {
                        text.parse().map_err(E::custom)
                    }
                }
                deserializer.deserialize_any(Text)
            }
        }

        impl Serialize for $unit {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl JsonSchema for $unit {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ $("title": $title,)? "type": "string", "description": $description, "examples": [$example] })
            }
        }
    )*};
}
text_in_scenarios! {
    Duration, "Duration", "a time with its unit, such as \"300 ms\"", "300 ms", "Time";
    Bytes, "Bytes", "a size with its unit, such as \"15 MiB\"", "15 MiB", "Size";
    Rate, "Rate", "a rate with its unit, such as \"10 Mbit/s\"", "10 Mbit/s";
    Distance, "Distance", "a distance with its unit, such as \"550 km\"", "550 km";
    Angle, "Angle", "an angle with its unit, such as \"40 deg\"", "40 deg";
    Decibels, "Decibels", "a ratio with its unit, such as \"15 dB\"", "15 dB";
    SymbolRate, "SymbolRate", "a symbol rate with its unit, such as \"20 MBd\"", "20 MBd";
}

impl<'de> Deserialize<'de> for Probability {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(deserializer)?;
        Self::new(value)
            .ok_or_else(|| serde::de::Error::custom(format_args!("{value} is not a probability between 0 and 1")))
    }
}

impl Serialize for Probability {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0)
    }
}

impl JsonSchema for Probability {
    fn schema_name() -> Cow<'static, str> {
        "Probability".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0, "maximum": 1, "description": "a probability between 0 and 1" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rates_are_bits_per_second() {
        assert_eq!("34.368 Mbit/s".parse::<Rate>().unwrap().as_bps(), 34_368_000);
        assert_eq!("1Gbit/s".parse::<Rate>().unwrap(), Rate::from_mbps(1000));
        assert_eq!("5 kB/s".parse::<Rate>().unwrap().as_bps(), 40_000);
        assert_eq!("1e6 bit/s".parse::<Rate>().unwrap(), Rate::from_mbps(1));
    }

    #[test]
    fn sizes_distinguish_decimal_from_binary() {
        assert_eq!("15 MiB".parse::<Bytes>().unwrap().0, 15 << 20);
        assert_eq!("20 MB".parse::<Bytes>().unwrap().0, 20_000_000);
    }

    #[test]
    fn times_carry_their_unit() {
        assert_eq!("300 ms".parse::<Duration>().unwrap(), Duration::from_millis(300));
        assert_eq!("0.565 µs".parse::<Duration>().unwrap(), Duration::from_nanos(565));
        assert_eq!("2 min".parse::<Duration>().unwrap(), Duration::from_secs(120));
    }

    #[test]
    fn nonsense_is_rejected_with_a_fix() {
        for text in
            ["", "10", "Mbit/s", "-1 Mbit/s", "0 Mbit/s", "nan bit/s", "1e400 bit/s", "10 Mbit", "1 2 bit/s", "1.2.3 s"]
        {
            let error = text.parse::<Rate>().unwrap_err().to_string();
            assert!(error.contains(text) && error.contains("10 Mbit/s"), "{error}");
        }
        assert!("1 parsec".parse::<Duration>().is_err());
        assert!("-5 B".parse::<Bytes>().is_err());
    }

    #[test]
    fn bandwidth_delay_product() {
        // 10 Mbit/s × 600 ms = 6 Mbit = 750 kB
        assert_eq!(Rate::from_mbps(10) * Duration::from_millis(600), Bytes(750_000));
    }

    #[test]
    fn sending_time_rounds_up() {
        // 1500 B × 8 / 34.368 Mbit/s = 349.162 µs
        let rate: Rate = "34.368 Mbit/s".parse().unwrap();
        assert_eq!(rate.time_to_send(Bytes(1500)), Duration::from_nanos(349_163));
    }

    #[test]
    fn scenarios_hold_text_and_refuse_bare_numbers() {
        assert_eq!(serde_json::from_str::<Rate>("\"10 Mbit/s\"").unwrap(), Rate::from_mbps(10));
        assert!(serde_json::from_str::<Rate>("10").unwrap_err().to_string().contains("10 Mbit/s"));
        assert!(
            serde_json::from_str::<Probability>("1.3").unwrap_err().to_string().contains("1.3 is not a probability")
        );
    }

    proptest! {
        #[test]
        fn parsing_never_panics(text in "\\PC*") {
            let _ = (text.parse::<Rate>(), text.parse::<Bytes>(), text.parse::<Duration>());
        }

        #[test]
        fn printed_units_parse_back(value in 1u64..1_000_000_000_000) {
            prop_assert_eq!(Bytes(value).to_string().parse::<Bytes>().unwrap(), Bytes(value));
            prop_assert_eq!(Rate(value).to_string().parse::<Rate>().unwrap(), Rate(value));
            prop_assert_eq!(Duration::from_nanos(value).to_string().parse::<Duration>().unwrap(), Duration::from_nanos(value));
        }
    }
}
