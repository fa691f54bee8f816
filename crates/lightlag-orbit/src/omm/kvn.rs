//! OMM as lines of `KEYWORD = value` (CCSDS 502.0-B-3 §4 and §7), one message after another.
//!
//! `CCSDS_OMM_VERS` starts a message, and so does a keyword that already occurred in the current message. A number may
//! be followed by a unit in brackets. `COMMENT` lines and the keywords that open and close blocks are ignored.

use super::{FIELDS, OmmMessage, error};
use crate::element_set::ElementsError;
use std::collections::BTreeMap;

const START: &str = "CCSDS_OMM_VERS";
const BLOCKS: [&str; 4] = ["META_START", "META_STOP", "COVARIANCE_START", "COVARIANCE_STOP"];

/// Returns the messages in a file.
pub(super) fn messages(text: &str) -> Result<Vec<OmmMessage<'static>>, ElementsError> {
    let mut messages: Vec<OmmMessage<'static>> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        let is_comment = line.split_whitespace().next().is_none_or(|word| word == "COMMENT") || line.starts_with('#');
        if is_comment || BLOCKS.contains(&line) {
            continue;
        }
        let location = format!("line {number}");
        let Some((key, value)) = line.split_once('=') else {
            return error(&location, format!("{line:?} is not KEYWORD = value"));
        };
        let key = key.trim();
        let is_second = messages.last().is_none_or(|message| message.fields.contains_key(key));
        if key == START || is_second {
            messages.push(OmmMessage { place: location, fields: BTreeMap::new() });
        }
        let value = without_unit(value.trim());
        if let (Some(message), Some(field), false) =
            (messages.last_mut(), FIELDS.into_iter().find(|field| *field == key), value.is_empty())
        {
            message.fields.insert(field, value.to_owned());
        }
    }
    // A keyword before the first version has opened a message of its own.
    messages.retain(|message| !message.fields.is_empty());
    Ok(messages)
}

/// Returns a value without its unit: `51.6` for `51.6 [deg]`.
fn without_unit(value: &str) -> &str {
    match value.rsplit_once('[') {
        Some((number, unit)) if unit.ends_with(']') && number.trim().parse::<f64>().is_ok() => number.trim(),
        _ => value,
    }
}
