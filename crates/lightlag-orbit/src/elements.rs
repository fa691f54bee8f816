//! Files of orbital elements: two-line sets ([`tle`]), or OMM as JSON or CSV ([`omm`]).

pub use crate::element_set::{ElementSet, ElementsError};
use crate::{omm, tle};

/// Reads a file of elements. Its first character tells JSON, its first line CSV; anything else is lines of 69 columns.
///
/// # Errors
/// The first fault.
pub fn read(text: &str) -> Result<Vec<ElementSet>, ElementsError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_start().starts_with(['[', '{']) {
        omm::read_json(text)
    } else if text.lines().next().is_some_and(|line| line.contains(',')) {
        omm::read_csv(text)
    } else {
        tle::read(text)
    }
}
