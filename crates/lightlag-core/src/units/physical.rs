//! Units of radio and space: `"35786 km"`, `"40 deg"`, `"15 dB"`, `"20 MBd"`.

use super::{UnitError, number_and_unit, scaled, whole};
use crate::units::Rate;
use std::fmt;
use std::str::FromStr;

/// A length in metres.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Distance(pub u64);

/// An angle in degrees.
#[derive(Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Angle(f64);

/// A ratio of powers in decibels.
#[derive(Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Decibels(f64);

/// Symbols per second, never zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SymbolRate(u64);

impl Distance {
    /// Returns a length in kilometres.
    pub const fn from_km(kilometres: u64) -> Self {
        Self(kilometres * 1000)
    }

    /// Returns the number of metres.
    pub const fn as_metres(self) -> f64 {
        self.0 as f64
    }
}

impl Angle {
    /// Returns an angle in degrees; `None` if it is not finite.
    pub fn from_degrees(degrees: f64) -> Option<Self> {
        degrees.is_finite().then_some(Self(degrees))
    }

    /// Returns the number of degrees.
    pub const fn as_degrees(self) -> f64 {
        self.0
    }

    /// Returns the number of radians.
    pub const fn as_radians(self) -> f64 {
        self.0.to_radians()
    }
}

impl Decibels {
    /// 0 dB: equal powers.
    pub const ZERO: Self = Self(0.0);

    /// Returns a ratio in decibels; `None` if it is not finite.
    pub fn new(decibels: f64) -> Option<Self> {
        decibels.is_finite().then_some(Self(decibels))
    }

    /// Returns the number of decibels.
    pub const fn value(self) -> f64 {
        self.0
    }
}

impl SymbolRate {
    /// Returns a rate in symbols per second; `None` for zero.
    pub const fn from_baud(symbols_per_second: u64) -> Option<Self> {
        if symbols_per_second == 0 { None } else { Some(Self(symbols_per_second)) }
    }

    /// Symbols per second.
    pub const fn as_baud(self) -> u64 {
        self.0
    }

    /// Returns the bit rate of this symbol rate with this many bits per symbol, at least 1 bit/s.
    pub fn carrying(self, bits_per_symbol: f64) -> Rate {
        Rate::from_bps((self.0 as f64 * bits_per_symbol + 0.5) as u64).unwrap_or(Rate(1))
    }
}

impl FromStr for Distance {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        const UNITS: &[(&str, f64)] = &[("m", 1.0), ("km", 1e3), ("au", 149_597_870_700.0)];
        whole(text, UNITS, "a distance such as \"550 km\" (m, km, au)").map(Distance)
    }
}

impl FromStr for SymbolRate {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        const UNITS: &[(&str, f64)] = &[("Bd", 1.0), ("kBd", 1e3), ("MBd", 1e6), ("GBd", 1e9)];
        const EXPECTED: &str = "a symbol rate such as \"20 MBd\", above zero (Bd, kBd, MBd, GBd)";
        whole(text, UNITS, EXPECTED).and_then(|baud| {
            Self::from_baud(baud).ok_or(UnitError { value: text.to_owned(), expected: EXPECTED, part_of: None })
        })
    }
}

/// Parses a number with this unit, which may be negative.
fn signed(text: &str, unit: &str, expected: &'static str) -> Result<f64, UnitError> {
    match number_and_unit(text) {
        Some((number, found)) if found == unit && number.is_finite() => Ok(number),
        _ => Err(UnitError { value: text.to_owned(), expected, part_of: None }),
    }
}

impl FromStr for Angle {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        signed(text, "deg", "an angle such as \"40 deg\"").map(Self)
    }
}

impl FromStr for Decibels {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        signed(text, "dB", "a ratio such as \"15 dB\"").map(Self)
    }
}

impl fmt::Display for Distance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        scaled(f, self.0, &[(1, "m"), (1_000, "km")])
    }
}

impl fmt::Display for SymbolRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        scaled(f, self.0, &[(1, "Bd"), (1_000, "kBd"), (1_000_000, "MBd"), (1_000_000_000, "GBd")])
    }
}

impl fmt::Display for Angle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} deg", self.0)
    }
}

impl fmt::Display for Decibels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} dB", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_space_and_radio() {
        assert_eq!("35786 km".parse::<Distance>().unwrap(), Distance(35_786_000));
        assert_eq!("0.5 au".parse::<Distance>().unwrap(), Distance(74_798_935_350));
        assert_eq!("40 deg".parse::<Angle>().unwrap(), Angle(40.0));
        assert_eq!("-3.5 dB".parse::<Decibels>().unwrap(), Decibels(-3.5));
        assert_eq!("27.5 MBd".parse::<SymbolRate>().unwrap(), SymbolRate(27_500_000));
        assert_eq!(SymbolRate(20_000_000).carrying(2.228), Rate(44_560_000));
    }

    #[test]
    fn printed_units_of_space_and_radio_parse_back() {
        for value in [1, 999, 35_786_000, 384_400_000, 225_000_000_000] {
            assert_eq!(Distance(value).to_string().parse::<Distance>().unwrap(), Distance(value));
            assert_eq!(SymbolRate(value).to_string().parse::<SymbolRate>().unwrap(), SymbolRate(value));
        }
        for value in [-90.0, 0.1, 26.565_051_177_078, 1e-9] {
            assert_eq!(Angle(value).to_string().parse::<Angle>().unwrap(), Angle(value));
            assert_eq!(Decibels(value).to_string().parse::<Decibels>().unwrap(), Decibels(value));
        }
    }

    #[test]
    fn an_unknown_unit_is_rejected() {
        assert!("40".parse::<Angle>().is_err() && "inf deg".parse::<Angle>().is_err());
        assert!("-1 km".parse::<Distance>().is_err() && "0 Bd".parse::<SymbolRate>().is_err());
        assert!("15 dBm".parse::<Decibels>().unwrap_err().to_string().contains("15 dB"));
    }
}
