//! Real quantities with a unit: `"400 m"`, `"16.02 dBm"`, `"5.18 GHz"`, `"-30 deg"`.

use super::{UnitError, number_and_unit};
use std::fmt;

/// Unit of a real quantity. Values are stored in the first unit that is listed at each variant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// A number without a unit.
    Plain,
    /// A coordinate or a length: m, km.
    Metre,
    /// A speed: m/s, km/h.
    MetrePerSecond,
    /// An angle: deg.
    Degree,
    /// A power: dBm.
    Dbm,
    /// A ratio of powers: dB.
    Decibel,
    /// A frequency: Hz, kHz, MHz, GHz.
    Hertz,
}

impl Unit {
    /// Returns the names of the units, each with its size as a multiple of the first.
    const fn names(self) -> &'static [(&'static str, f64)] {
        match self {
            Self::Plain => &[("", 1.0)],
            Self::Metre => &[("m", 1.0), ("km", 1e3)],
            Self::MetrePerSecond => &[("m/s", 1.0), ("km/h", 1.0 / 3.6)],
            Self::Degree => &[("deg", 1.0)],
            Self::Dbm => &[("dBm", 1.0)],
            Self::Decibel => &[("dB", 1.0)],
            Self::Hertz => &[("Hz", 1.0), ("kHz", 1e3), ("MHz", 1e6), ("GHz", 1e9)],
        }
    }

    /// Returns the expected form of a quantity, for an error message.
    pub const fn expected(self) -> &'static str {
        match self {
            Self::Plain => "a number such as 0.5",
            Self::Metre => "a length such as \"400 m\" (m, km)",
            Self::MetrePerSecond => "a speed such as \"20 m/s\" (m/s, km/h)",
            Self::Degree => "an angle such as \"40 deg\"",
            Self::Dbm => "a power such as \"16 dBm\"",
            Self::Decibel => "a ratio such as \"15 dB\"",
            Self::Hertz => "a frequency such as \"5.18 GHz\" (Hz, kHz, MHz, GHz)",
        }
    }

    /// Parses a string as a value, which may be negative.
    ///
    /// # Errors
    /// If it is not a finite number followed by a name of this unit.
    pub fn parse(self, text: &str) -> Result<f64, UnitError> {
        let value = number_and_unit(text).and_then(|(number, unit)| {
            let (_, scale) = self.names().iter().find(|(name, _)| *name == unit)?;
            Some(number * scale).filter(|value| value.is_finite())
        });
        value.ok_or_else(|| UnitError { value: text.to_owned(), expected: self.expected(), part_of: None })
    }

    /// Returns a value as text that can be parsed.
    pub fn show(self, value: f64) -> impl fmt::Display {
        Shown(self, value)
    }
}

struct Shown(Unit, f64);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(unit, value) = *self;
        if unit == Unit::Plain {
            return write!(f, "{value}");
        }
        // The largest unit that preserves the number when parsed again, for frequencies alone: 5180000000 Hz is hard to
        // read.
        let fits = |(_, scale): &&(&str, f64)| value.abs() >= *scale && (value / scale) * scale == value;
        let names = unit.names();
        let (name, scale) = match unit {
            Unit::Hertz => names.iter().rev().find(fits).unwrap_or(&names[0]),
            _ => &names[0],
        };
        write!(f, "{} {name}", value / scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_parse_and_print_back() {
        let cases = [
            (Unit::Metre, "400 m", 400.0),
            (Unit::MetrePerSecond, "36 km/h", 10.0),
            (Unit::Degree, "-30.5 deg", -30.5),
            (Unit::Dbm, "-101 dBm", -101.0),
            (Unit::Decibel, "4 dB", 4.0),
            (Unit::Hertz, "5.18 GHz", 5.18e9),
            (Unit::Hertz, "440 Hz", 440.0),
            (Unit::Plain, "0.85", 0.85),
        ];
        for (unit, text, value) in cases {
            assert_eq!(unit.parse(text).unwrap(), value);
            assert_eq!(unit.parse(&unit.show(value).to_string()).unwrap(), value, "{text}");
        }
        assert_eq!(Unit::Hertz.show(5.18e9).to_string(), "5.18 GHz");
        assert_eq!(Unit::Metre.show(4000.0).to_string(), "4000 m");
    }

    #[test]
    fn other_units_are_rejected() {
        for (unit, text) in [(Unit::Dbm, "16 dB"), (Unit::Metre, "16"), (Unit::Plain, "16 m"), (Unit::Metre, "inf m")] {
            assert!(unit.parse(text).unwrap_err().to_string().contains(unit.expected()), "{text}");
        }
    }
}
