//! Reading of files of orbital elements: two-line element sets ([`tle`]), or OMM as JSON, CSV, keywords or XML
//! ([`omm`]).

pub use crate::element_set::{ElementSet, ElementsError};
use crate::{omm, tle};

/// Starts of replies that servers send instead of elements, and the advice for each.
const ANSWERS: [(&str, &str); 4] = [
    ("No GP data found", "CelesTrak has no such satellite or group; check the query"),
    ("GP data has not updated", "CelesTrak sends a group once in two hours; use the file of the last download"),
    ("Invalid query", "the server did not understand the query; check it"),
    ("<", "it is a web page, perhaps an error of the server; download the file again"),
];

/// Reads a file of orbital elements. JSON and XML are recognised by their first characters, CSV and keywords by their
/// first line; any other file is read as two-line element sets.
///
/// # Errors
/// The first error in the file.
pub fn read(text: &str) -> Result<Vec<ElementSet>, ElementsError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let is_told = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let first = text.lines().find(is_told).unwrap_or_default().trim();
    if first.starts_with(['[', '{']) {
        omm::read_json(text)
    } else if ["<?xml", "<ndm", "<omm"].iter().any(|start| first.starts_with(start)) {
        omm::read_xml(text)
    } else if let Some((_, advice)) = ANSWERS.iter().find(|(start, _)| first.starts_with(start)) {
        let line = 1 + text.lines().position(|line| line.trim() == first).unwrap_or_default();
        let shown: String = first.chars().take(60).collect();
        Err(ElementsError {
            place: format!("line {line}"),
            message: format!("{shown:?} is not orbital elements: {advice}"),
        })
    } else if omm::is_csv_header(first) {
        omm::read_csv(text)
    } else if first.split_once('=').is_some_and(|(key, _)| is_keyword(key.trim())) || first.starts_with("COMMENT ") {
        omm::read_kvn(text)
    } else {
        tle::read(text)
    }
}

/// Returns true if a text may be a keyword, before an equals sign.
fn is_keyword(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}
