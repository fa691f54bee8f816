//! Two-line element sets, with or without a line for the name.
//!
//! Numbers are read by the crate `sgp4`, which checks columns and checksums. Here lines become sets, and errors name the line of
//! the file. Catalogue numbers may have the letter of Alpha-5. Two forms are not mixed in one file.

use crate::element_set::{ElementSet, ElementsError, MOST_REVOLUTIONS};
use std::collections::BTreeMap;

/// The length of a line of elements.
const COLUMNS: usize = 69;

fn error<T>(line: usize, message: impl Into<String>) -> Result<T, ElementsError> {
    Err(ElementsError { place: format!("line {line}"), message: message.into() })
}

/// Reads a file of two-line sets, or of those with a name above each.
///
/// # Errors
/// The first line that is wrong.
pub fn read(text: &str) -> Result<Vec<ElementSet>, ElementsError> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim_end_matches(['\r', ' '])));
    let mut lines = lines.filter(|(_, line)| !line.is_empty()).peekable();
    let mut sets: Vec<ElementSet> = Vec::new();
    let mut known: BTreeMap<u64, usize> = BTreeMap::new();
    let mut named = None;
    while let Some((start, line)) = lines.next() {
        let has_name = !is_line(line, b'1');
        let name = has_name.then(|| line.strip_prefix("0 ").unwrap_or(line).trim().to_owned());
        let first = if has_name { lines.next() } else { Some((start, line)) };
        let Some((at, first)) = first.filter(|(_, line)| is_line(line, b'1')) else {
            return error(start, "is neither the first line of a set, which starts with \"1 \", nor a name above one");
        };
        if *named.get_or_insert(has_name) != has_name {
            let message = if has_name {
                "has a name, and the sets before have none"
            } else {
                "has no name above it, and the sets before have one"
            };
            return error(start, format!("{message}; write all sets in one form"));
        }
        let Some((second_at, second)) = lines.next().filter(|(_, line)| is_line(line, b'2')) else {
            return error(at + 1, "is not the second line of the set, which starts with \"2 \"");
        };
        check_line(at, first)?;
        check_line(second_at, second)?;
        let elements = sgp4::Elements::from_tle(name, first.as_bytes(), second.as_bytes());
        let elements =
            elements.or_else(|fault| error(at, fault.to_string().trim_start_matches("TLE parse error: ")))?;
        check(&elements, second_at)?;
        if let Some(before) = known.insert(elements.norad_id, at) {
            return error(
                at,
                format!("number {} is also that of line {before}; each satellite stands once", elements.norad_id),
            );
        }
        sets.push(ElementSet::new(format!("line {at}"), elements));
    }
    if sets.is_empty() {
        return error(1, "there are no elements; write sets of two lines, of 69 columns each");
    }
    Ok(sets)
}

/// Whether a line starts as the one with this number of a set.
fn is_line(line: &str, number: u8) -> bool {
    line.as_bytes().starts_with(&[number, b' '])
}

fn check_line(at: usize, line: &str) -> Result<(), ElementsError> {
    if let Some(column) = line.chars().position(|c| !c.is_ascii() || c == '\t') {
        return error(at, format!("column {} is not plain ASCII, or a tab", column + 1));
    }
    if line.len() != COLUMNS {
        return error(at, format!("has {} columns, and a line of elements has {COLUMNS}; copy it whole", line.len()));
    }
    let sum: u32 = line
        .bytes()
        .take(COLUMNS - 1)
        .map(|byte| match byte {
            b'0'..=b'9' => u32::from(byte - b'0'),
            b'-' => 1,
            _ => 0,
        })
        .sum();
    let last = line.as_bytes()[COLUMNS - 1];
    if last != b'0' + (sum % 10) as u8 {
        return error(
            at,
            format!(
                "its checksum in column {COLUMNS} is {:?}, and its digits give {}; copy the line again",
                char::from(last),
                sum % 10
            ),
        );
    }
    Ok(())
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
            format!("{motion} revolutions a day in columns 53 to 63 are not above 0 and at most {MOST_REVOLUTIONS}"),
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests;
