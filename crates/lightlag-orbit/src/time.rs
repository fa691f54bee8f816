//! UTC with a resolution of a nanosecond and days of 86,400 s. Leap seconds are ignored, as in orbital elements.

use lightlag_core::{Duration, Instant};
use std::fmt;
use std::str::FromStr;

/// Nanoseconds per second and per day.
const SECOND: i64 = 1_000_000_000;
const DAY: i64 = 86_400 * SECOND;

/// A UTC time within 290 years of 2000.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Utc {
    /// Nanoseconds since 2000-01-01 00:00.
    nanos: i64,
}

impl Utc {
    /// 2000-01-01 00:00.
    pub const Y2000: Self = Self { nanos: 0 };

    /// Creates a time from a date and the nanoseconds since midnight; `None` if the date does not exist or its year is
    /// not from 1900 to 2199.
    pub fn new(year: i32, month: u32, day: u32, nanos: u64) -> Option<Self> {
        let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let lengths = [31, if is_leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        let length = *lengths.get(month.checked_sub(1)? as usize)?;
        if !(1900..2200).contains(&year) || !(1..=length).contains(&day) || nanos >= DAY as u64 {
            return None;
        }
        let days = days_before(year) + lengths[..month as usize - 1].iter().map(|days| i64::from(*days)).sum::<i64>();
        Some(Self { nanos: (days + i64::from(day) - 1) * DAY + nanos as i64 })
    }

    /// Creates a time from a year and a fractional day of the year, counted from 1. The day may lie outside the year.
    pub fn of_day(year: i32, day: f64) -> Option<Self> {
        let first = Self::new(year, 1, 1, 0)?;
        let nanos = (day - 1.0) * DAY as f64;
        (day.is_finite() && day.abs() < 1e4).then(|| Self { nanos: first.nanos + libm::round(nanos) as i64 })
    }

    /// Returns the Julian date as a number of days and a fraction of a day.
    pub fn julian(self) -> (f64, f64) {
        // 2000-01-01 00:00 is 2451544.5.
        (2_451_544.5 + self.nanos.div_euclid(DAY) as f64, self.nanos.rem_euclid(DAY) as f64 / DAY as f64)
    }

    /// Returns the UTC time at an instant of a run that starts at this time.
    #[must_use]
    pub fn after(self, since: Instant) -> Self {
        let nanos = i64::try_from(since.as_nanos()).unwrap_or(i64::MAX);
        Self { nanos: self.nanos.saturating_add(nanos) }
    }

    /// Returns the time from `other` to this time in seconds.
    pub fn since(self, other: Self) -> f64 {
        (self.nanos - other.nanos) as f64 / SECOND as f64
    }

    /// Returns the time from this time to `other`; zero if `other` is earlier.
    pub fn until(self, other: Self) -> Duration {
        Duration::from_nanos(u64::try_from(other.nanos - self.nanos).unwrap_or(0))
    }
}

/// Returns the number of days from 2000-01-01 to the start of a year (Gregorian calendar).
fn days_before(year: i32) -> i64 {
    let years = i64::from(year) - 1;
    let leaps = |years: i64| years.div_euclid(4) - years.div_euclid(100) + years.div_euclid(400);
    (years - 1999) * 365 + leaps(years) - leaps(1999)
}

impl Utc {
    /// Returns year, month, day, and nanoseconds since midnight.
    pub fn calendar(self) -> (i32, u32, u32, u64) {
        let (day, nanos) = (self.nanos.div_euclid(DAY), self.nanos.rem_euclid(DAY));
        // A year has 365 or 366 days: neither estimate is too late.
        let mut year = 1999 + day.div_euclid(365).min(day.div_euclid(366)) as i32;
        while days_before(year + 1) <= day {
            year += 1;
        }
        let first = |month| Self::new(year, month, 1, 0).map_or(i64::MAX, |first| first.nanos.div_euclid(DAY));
        let month = (2..=12).find(|month| first(*month) > day).unwrap_or(13) - 1;
        (year, month, (day - first(month) + 1) as u32, nanos as u64)
    }
}

impl fmt::Display for Utc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day, nanos) = self.calendar();
        let nanos = nanos as i64;
        let seconds = nanos / SECOND;
        write!(f, "{year:04}-{month:02}-{day:02}T{:02}:", seconds / 3600)?;
        write!(f, "{:02}:{:02}", seconds / 60 % 60, seconds % 60)?;
        let part = nanos % SECOND;
        if part > 0 {
            let digits = format!("{part:09}");
            write!(f, ".{}", digits.trim_end_matches('0'))?;
        }
        write!(f, "Z")
    }
}

/// The error for a text that is not a valid time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("is not a time in UTC, such as \"2026-01-01T00:00:00Z\"")]
pub struct UtcError;

impl FromStr for Utc {
    type Err = UtcError;

    /// Reads an ISO 8601 time: a date, or a date and a time with up to nine decimals of a second, optionally followed
    /// by `Z`.
    fn from_str(text: &str) -> Result<Self, UtcError> {
        let text = text.strip_suffix('Z').unwrap_or(text);
        let (date, time) = text.split_once(['T', ' ']).unwrap_or((text, "00:00:00"));
        let number = |text: &str, digits: usize| {
            (text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit()))
                .then(|| text.parse::<u32>().ok())?
        };
        let read = || {
            let mut parts = date.split('-');
            let (year, month, day) = (number(parts.next()?, 4)?, number(parts.next()?, 2)?, number(parts.next()?, 2)?);
            let (clock, fraction) = time.split_once('.').unwrap_or((time, ""));
            let mut times = clock.split(':');
            let (hour, minute) = (number(times.next()?, 2)?, number(times.next()?, 2)?);
            let second = times.next().map_or(Some(0), |text| number(text, 2))?;
            if parts.next().is_some() || times.next().is_some() || hour > 23 || minute > 59 || second > 59 {
                return None;
            }
            let nanos = match fraction.len() {
                0 if time.contains('.') => return None,
                0 => 0,
                digits @ 1..=9 => number(fraction, digits)? * 10_u32.pow(9 - digits as u32),
                _ => return None,
            };
            let seconds = u64::from(hour * 3600 + minute * 60 + second);
            Self::new(year as i32, month, day, seconds * SECOND as u64 + u64::from(nanos))
        };
        read().ok_or(UtcError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn dates_have_their_julian_days() {
        let day = |text: &str| text.parse::<Utc>().unwrap().julian();
        assert_eq!(day("2000-01-01T12:00:00Z"), (2_451_544.5, 0.5));
        assert_eq!(day("2026-11-23"), (2_461_367.5, 0.0));
        assert_eq!(day("1957-10-04T19:28:34").0, 2_436_115.5);
        let leap = |text: &str| text.parse::<Utc>().is_ok();
        assert!(leap("2024-02-29") && leap("2000-02-29") && !leap("2026-02-29") && !leap("2100-02-29"));
    }

    #[test]
    fn the_day_of_the_year_may_lie_beyond_it() {
        let time = |year, day| Utc::of_day(year, day).unwrap().to_string();
        assert_eq!(time(2006, 176.824_120_14), "2006-06-25T19:46:43.980096Z");
        assert_eq!(time(2026, 366.0), "2027-01-01T00:00:00Z");
        assert_eq!(Utc::of_day(2026, f64::NAN), None);
    }

    #[test]
    fn an_invalid_time_is_rejected() {
        for text in [
            "",
            "2026",
            "2026-13-01",
            "2026-01-01T24:00:00",
            "2026-01-01T00:00:60Z",
            "2026-1-1",
            "2026-01-01T00:00:00.",
            "1899-01-01",
            "2026-01-01T00:00:00+02:00",
            "２026-01-01",
        ] {
            assert_eq!(text.parse::<Utc>(), Err(UtcError), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn a_time_is_read_as_it_is_written(nanos in -3_155_673_600_000_000_000_i64..6_311_347_200_000_000_000) {
            let time = Utc { nanos };
            prop_assert_eq!(time.to_string().parse(), Ok(time));
        }
    }
}
