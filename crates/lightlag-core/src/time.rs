//! Time: integer nanoseconds since the start of the run.
//!
//! Integers make equal times equal: two packets that arrive simultaneously do so on every machine. A `u64` of
//! nanoseconds lasts 584 years.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub};

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// A point in simulated time: nanoseconds since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(u64);

/// A span of simulated time in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Duration(u64);

impl Instant {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// Later than every event.
    pub const MAX: Self = Self(u64::MAX);

    /// Returns the instant `nanos` nanoseconds after the start.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the start.
    pub fn as_secs_f64(self) -> f64 {
        Duration(self.0).as_secs_f64()
    }

    /// Returns the time since `earlier`; zero if `earlier` is later.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Duration {
    /// The empty span.
    pub const ZERO: Self = Self(0);
    /// Longer than every run.
    pub const MAX: Self = Self(u64::MAX);

    /// Returns a span in nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Returns a span in microseconds.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros * 1_000)
    }

    /// Returns a span in milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    /// Returns a span in seconds.
    pub const fn from_secs(seconds: u64) -> Self {
        Self(seconds * NANOS_PER_SECOND)
    }

    /// Returns a span in seconds, rounded to the nearest nanosecond. Negative numbers and NaN result in zero; numbers
    /// that do not fit, in [`Duration::MAX`].
    pub fn from_secs_f64(seconds: f64) -> Self {
        // `as` saturates, and `+ 0.5` then truncation rounds a non-negative number to nearest.
        Self((seconds * NANOS_PER_SECOND as f64 + 0.5) as u64)
    }

    /// Returns the number of nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns the number of seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SECOND as f64
    }

    /// Returns true if the span is zero.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Returns `self - other`, never below zero.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Returns `|self - other|`.
    pub const fn abs_diff(self, other: Self) -> Self {
        Self(self.0.abs_diff(other.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, span: Duration) {
        *self = *self + span;
    }
}

impl Add for Duration {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Duration {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Mul<u64> for Duration {
    type Output = Self;
    fn mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl Div<u64> for Duration {
    type Output = Self;
    fn div(self, divisor: u64) -> Self {
        Self(self.0 / divisor)
    }
}

impl Div for Duration {
    type Output = f64;
    fn div(self, other: Self) -> f64 {
        self.0 as f64 / other.0 as f64
    }
}

impl fmt::Display for Duration {
    /// Writes the shortest text, in the largest unit that keeps the number at least 1: `300 ms`, `1.2 s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, name) = match self.0 {
            NANOS_PER_SECOND.. => (1e9, "s"),
            1_000_000.. => (1e6, "ms"),
            1_000.. => (1e3, "us"),
            1.. => (1.0, "ns"),
            0 => (1e9, "s"),
        };
        write!(f, "{} {name}", self.0 as f64 / unit)
    }
}

impl fmt::Debug for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.as_secs_f64())
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_round_to_the_nearest_nanosecond() {
        assert_eq!(Duration::from_secs_f64(0.3), Duration::from_millis(300));
        assert_eq!(Duration::from_secs_f64(1e-9), Duration::from_nanos(1));
        assert_eq!(Duration::from_secs_f64(-1.0), Duration::ZERO);
        assert_eq!(Duration::from_secs_f64(f64::NAN), Duration::ZERO);
    }

    #[test]
    fn a_duration_prints_in_the_unit_that_fits() {
        assert_eq!(Duration::from_millis(300).to_string(), "300 ms");
        assert_eq!(Duration::from_millis(1200).to_string(), "1.2 s");
        assert_eq!(Duration::from_nanos(565).to_string(), "565 ns");
        assert_eq!(Duration::ZERO.to_string(), "0 s");
    }

    #[test]
    fn time_between_instants_is_never_negative() {
        let (a, b) = (Instant::from_nanos(5), Instant::from_nanos(9));
        assert_eq!(b.since(a), Duration::from_nanos(4));
        assert_eq!(a.since(b), Duration::ZERO);
    }
}
