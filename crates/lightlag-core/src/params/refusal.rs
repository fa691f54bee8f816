//! Errors of invalid settings: the key, the value and the fix.

use crate::Duration;
use std::fmt;

/// A key of a table of options with an invalid value, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionError {
    /// The key, as a dotted path within the table.
    pub key: String,
    /// The message, with the value and the fix.
    pub message: String,
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.message)
    }
}

impl std::error::Error for OptionError {}

/// Returns an error about a key.
///
/// # Errors
/// Always.
pub fn error<T>(key: &str, message: String) -> Result<T, OptionError> {
    Err(OptionError { key: key.to_owned(), message })
}

/// Returns the value, if it is between `min` and `max`.
///
/// # Errors
/// If it is not; `unit` follows the numbers in the message.
pub fn in_range(key: &str, value: u64, min: u64, max: u64, unit: &str) -> Result<u64, OptionError> {
    if (min..=max).contains(&value) {
        return Ok(value);
    }
    error(key, format!("{value}{unit} is not between {min} and {max}{unit}"))
}

/// Checks that a time is between 1 ms and `most_hours` hours.
///
/// # Errors
/// If it is not.
pub fn between(key: &str, value: Duration, most_hours: u64) -> Result<(), OptionError> {
    if value < Duration::from_millis(1) || value > Duration::from_secs(3_600 * most_hours) {
        return error(key, format!("{value} is not between 1 ms and {most_hours} h"));
    }
    Ok(())
}
