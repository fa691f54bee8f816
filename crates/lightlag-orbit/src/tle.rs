//! Two-line element sets, with or without a name line.
//!
//! A field is a range of columns, counted from 1. Fields that do not affect the orbit (the classification, the
//! designator, the set number and the revolution number) may contain any text, or be missing at the end of a line.
//! Blank derivatives and drag are read as zero. A line of 69 columns has a checksum, which must be correct. Further
//! text after a space is ignored, such as the times in the verification file of SGP4 (AIAA 2006-6753). Lines that start
//! with `#` are comments. Catalogue numbers may start with a letter (Alpha-5). In files written by Hypatia, the first
//! line has the number of orbits and the number of satellites per orbit.

use crate::element_set::{ElementSet, ElementsError, MOST_REVOLUTIONS};
use sgp4::chrono::{NaiveDate, NaiveDateTime};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// The length of a line including its checksum.
const COLUMNS: usize = 69;
/// The ephemeris type of SGP4-XP elements, in column 63.
const EXTENDED: &str = "4";

fn error<T>(line: usize, message: impl Into<String>) -> Result<T, ElementsError> {
    Err(ElementsError { place: format!("line {line}"), message: message.into() })
}

/// Reads a file of two-line element sets, optionally with a name above each set.
///
/// # Errors
/// The error in the first line that is wrong.
pub fn read(text: &str) -> Result<Vec<ElementSet>, ElementsError> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')).peekable();
    let announced = lines.peek().and_then(|(line, text)| Some((*line, hypatia_header(text)?)));
    if announced.is_some() {
        lines.next();
    }
    let mut sets: Vec<ElementSet> = Vec::new();
    let mut known: BTreeMap<u64, usize> = BTreeMap::new();
    let mut named = None;
    while let Some((start, line)) = lines.next() {
        let has_name = !is_line(line, b'1');
        let name = has_name.then(|| line.strip_prefix("0 ").unwrap_or(line).trim().to_owned());
        let first = if has_name { lines.next() } else { Some((start, line)) };
        let Some((first_at, first)) = first.filter(|(_, line)| is_line(line, b'1')) else {
            return error(start, "is neither the first line of a set, which starts with \"1 \", nor a name above one");
        };
        if *named.get_or_insert(has_name) != has_name {
            let message = if has_name {
                "has a name, and the previous sets have none"
            } else {
                "has no name above it, and the previous sets have one"
            };
            return error(start, format!("{message}; write all sets in one form"));
        }
        let Some((second_at, second)) = lines.next().filter(|(_, line)| is_line(line, b'2')) else {
            return error(first_at + 1, "is not the second line of the set, which starts with \"2 \"");
        };
        let elements = elements(
            name,
            &ElementLine::new(first_at, first, &FIRST)?,
            &ElementLine::new(second_at, second, &SECOND)?,
        )?;
        if let Some(before) = known.insert(elements.norad_id, first_at) {
            return error(
                first_at,
                format!(
                    "number {} is duplicated (also in line {before}); write each satellite once",
                    elements.norad_id
                ),
            );
        }
        sets.push(ElementSet::new(format!("line {first_at}"), elements));
    }
    if sets.is_empty() {
        return error(1, "there are no elements; write sets of two lines, of 69 columns each");
    }
    match announced {
        Some((line, (orbits, each))) if orbits.checked_mul(each) != Some(sets.len()) => {
            let read = sets.len();
            error(
                line,
                format!("announces {orbits} orbits of {each} satellites, and {read} sets follow; copy all of them"),
            )
        }
        _ => Ok(sets),
    }
}

/// Returns true if a text starts like the line with this number, 1 or 2, of a set.
fn is_line(line: &str, number: u8) -> bool {
    line.as_bytes().starts_with(&[number, b' '])
}

/// Reads the first line of a file written by Hypatia: the number of orbits, and the number of satellites per orbit.
fn hypatia_header(line: &str) -> Option<(usize, usize)> {
    let (orbits, each) = line.split_once(' ')?;
    Some((orbits.parse().ok()?, each.trim_start().parse().ok()?))
}

/// The format of a line: the last column that must be present, and the columns that must be blank.
struct LineForm {
    last: usize,
    blank: &'static [usize],
}

const FIRST: LineForm = LineForm { last: 61, blank: &[2, 9, 18, 33, 44, 53, 62] };
const SECOND: LineForm = LineForm { last: 63, blank: &[2, 8, 17, 26, 34, 43, 52] };

/// A line of a set, with its line number in the file.
struct ElementLine<'a> {
    at: usize,
    text: &'a str,
}

impl<'a> ElementLine<'a> {
    fn new(index: usize, text: &'a str, form: &LineForm) -> Result<Self, ElementsError> {
        if let Some(column) = text.chars().position(|c| !c.is_ascii() || c == '\t') {
            return error(index, format!("column {} is not plain ASCII, or a tab", column + 1));
        }
        let behind = text.as_bytes().get(COLUMNS);
        if text.len() < form.last || behind.is_some_and(|byte| *byte != b' ') {
            let length = text.len();
            return error(
                index,
                format!("has {length} columns, and a line of elements has {COLUMNS}; copy the complete line"),
            );
        }
        let line = Self { at: index, text: &text[..text.len().min(COLUMNS)] };
        let filled = |column: &usize| Some((*column, *text.as_bytes().get(column - 1).filter(|byte| **byte != b' ')?));
        if let Some((column, byte)) = form.blank.iter().find_map(filled) {
            let character = char::from(byte);
            return error(index, format!("column {column} is {character:?} and should be blank; copy the line again"));
        }
        line.check_sum()?;
        Ok(line)
    }

    fn check_sum(&self) -> Result<(), ElementsError> {
        let Some(last) = self.text.as_bytes().get(COLUMNS - 1) else { return Ok(()) };
        let value = |byte: u8| match byte {
            b'0'..=b'9' => u32::from(byte - b'0'),
            b'-' => 1,
            _ => 0,
        };
        let sum = self.text.bytes().take(COLUMNS - 1).map(value).sum::<u32>() % 10;
        if *last == b'0' + sum as u8 {
            return Ok(());
        }
        let message = format!(
            "its checksum in column {COLUMNS} is {:?}, and its digits give {sum}; copy the line again",
            char::from(*last)
        );
        error(self.at, message)
    }

    fn field(&self, columns: &RangeInclusive<usize>) -> &'a str {
        let end = (*columns.end()).min(self.text.len());
        self.text.get(columns.start() - 1..end).unwrap_or_default().trim()
    }

    fn refuse<T>(&self, columns: &RangeInclusive<usize>, message: &str) -> Result<T, ElementsError> {
        let field = self.field(columns);
        error(self.at, format!("columns {} to {} are {field:?}: {message}", columns.start(), columns.end()))
    }

    fn number(&self, columns: RangeInclusive<usize>, what: &str) -> Result<f64, ElementsError> {
        match self.field(&columns).parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => self.refuse(&columns, &format!("{what} is not a number")),
        }
    }

    /// Reads a number; a blank field is zero.
    fn optional(&self, columns: RangeInclusive<usize>, what: &str) -> Result<f64, ElementsError> {
        if self.field(&columns).is_empty() { Ok(0.0) } else { self.number(columns, what) }
    }

    /// Reads a number with an implied leading decimal point and a power of ten at the end: ` 28098-4` is 0.28098e-4.
    fn with_power(&self, columns: RangeInclusive<usize>, what: &str) -> Result<f64, ElementsError> {
        let field = self.field(&columns);
        if field.is_empty() {
            return Ok(0.0);
        }
        let read = || {
            let (sign, digits) = match field.as_bytes()[0] {
                b'-' => ("-", &field[1..]),
                b'+' => ("", &field[1..]),
                _ => ("", field),
            };
            // The sign of the power is blank in some old sets.
            let at = digits.find(['-', '+', ' ']).filter(|at| *at > 0)?;
            let (digits, power) = digits.split_at(at);
            let is_whole = digits.bytes().all(|byte| byte.is_ascii_digit());
            let power: i32 = power.replace(' ', "").parse().ok()?;
            is_whole.then(|| format!("{sign}0.{digits}e{power}").parse::<f64>().ok())?
        };
        read().map_or_else(|| self.refuse(&columns, &format!("{what} is not a number such as 28098-4")), Ok)
    }

    fn catalogue_number(&self) -> Result<u64, ElementsError> {
        let columns = 3..=7;
        let number = alpha_5(self.field(&columns));
        number
            .map_or_else(|| self.refuse(&columns, "the catalogue number is neither a number nor in Alpha-5 format"), Ok)
    }

    fn epoch(&self) -> Result<NaiveDateTime, ElementsError> {
        let (columns, days) = (19..=32, 21..=32);
        let read = || {
            let year: i32 = self.field(&(19..=20)).parse().ok().filter(|year| (0..100).contains(year))?;
            let day = self.field(&days).parse::<f64>().ok().filter(|day| (1.0..367.0).contains(day))?;
            let seconds = day.fract() * (24.0 * 60.0 * 60.0);
            let nanos = libm::round(seconds.fract() * 1e9) as u64 + seconds as u64 * 1_000_000_000;
            let first = if year < 57 { 2000 + year } else { 1900 + year };
            let date = NaiveDate::from_yo_opt(first, day as u32)?;
            let (seconds, nanos) = ((nanos / 1_000_000_000) as u32, (nanos % 1_000_000_000) as u32);
            date.and_hms_nano_opt(seconds / 3600, seconds / 60 % 60, seconds % 60, nanos)
        };
        read().map_or_else(|| self.refuse(&columns, "the epoch is not a year and a day of it"), Ok)
    }
}

/// Reads a catalogue number whose first digit may be a letter (Alpha-5): A is 10; I and O are not used.
fn alpha_5(field: &str) -> Option<u64> {
    const LETTERS: &str = "ABCDEFGHJKLMNPQRSTUVWXYZ";
    let is_whole = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_whole(field) {
        return field.parse().ok();
    }
    let (letter, digits) = field.split_at_checked(1)?;
    let first = 10 + LETTERS.find(letter)? as u64;
    (digits.len() == 4 && is_whole(digits)).then(|| Some(first * 10_000 + digits.parse::<u64>().ok()?))?
}

fn elements(name: Option<String>, first: &ElementLine, second: &ElementLine) -> Result<sgp4::Elements, ElementsError> {
    let (number, other) = (first.catalogue_number()?, second.catalogue_number()?);
    if number != other {
        return error(
            first.at,
            format!("has number {number}, and the second line has number {other}; copy both lines of one set"),
        );
    }
    if first.field(&(63..=63)) == EXTENDED {
        return error(
            first.at,
            "column 63 is 4: elements of SGP4-XP, which are incompatible with SGP4; use elements for SGP4",
        );
    }
    let digits = second.field(&(27..=33));
    let is_whole = digits.len() == 7 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let eccentricity = format!("0.{digits}").parse::<f64>().ok().filter(|_| is_whole);
    let Some(eccentricity) = eccentricity else {
        return second.refuse(&(27..=33), "the eccentricity is not seven digits");
    };
    let elements = sgp4::Elements {
        object_name: name,
        international_designator: None,
        norad_id: number,
        classification: sgp4::Classification::Unclassified,
        datetime: first.epoch()?,
        mean_motion_dot: first.optional(34..=43, "the derivative of the mean motion")?,
        mean_motion_ddot: first.with_power(45..=52, "the second derivative of the mean motion")?,
        drag_term: first.with_power(54..=61, "the drag")?,
        element_set_number: 0,
        inclination: second.number(9..=16, "the inclination")?,
        right_ascension: second.number(18..=25, "the right ascension of the node")?,
        eccentricity,
        argument_of_perigee: second.number(35..=42, "the argument of the perigee")?,
        mean_anomaly: second.number(44..=51, "the mean anomaly")?,
        mean_motion: second.number(53..=63, "the mean motion")?,
        revolution_number: 0,
        ephemeris_type: 0,
    };
    check(&elements, second.at)?;
    Ok(elements)
}

fn check(elements: &sgp4::Elements, line: usize) -> Result<(), ElementsError> {
    if !(0.0..=180.0).contains(&elements.inclination) {
        return error(
            line,
            format!("an inclination of {}° in columns 9 to 16 is not from 0 to 180", elements.inclination),
        );
    }
    if !(elements.mean_motion > 0.0 && elements.mean_motion <= MOST_REVOLUTIONS) {
        let motion = elements.mean_motion;
        return error(
            line,
            format!("{motion} revolutions per day in columns 53 to 63 are not above 0 and at most {MOST_REVOLUTIONS}"),
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests;
