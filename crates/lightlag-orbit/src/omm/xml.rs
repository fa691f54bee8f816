//! OMM as XML (CCSDS 505.0-B): one `omm` element per message, alone or within `ndm`. Its segment contains the fields.

use super::{FIELDS, OmmMessage, error};
use crate::element_set::ElementsError;
use quick_xml::Reader;
use quick_xml::events::Event;
use std::collections::BTreeMap;

/// Returns the messages in a file.
pub(super) fn messages(text: &str) -> Result<Vec<OmmMessage<'static>>, ElementsError> {
    let mut reader = Reader::from_str(text);
    let mut messages: Vec<OmmMessage<'static>> = Vec::new();
    let mut lines = Lines { text, position: 0, line: 1 };
    // The field that is open, and its value so far.
    let mut open: Option<(&'static str, String)> = None;
    let mut depth = 0_usize;
    loop {
        let location = format!("line {}", lines.at(reader.buffer_position()));
        let event = match reader.read_event() {
            Ok(event) => event,
            Err(fault) => return error(&location, format!("is not XML: {fault}")),
        };
        match event {
            Event::Start(tag) => {
                depth += 1;
                let name = tag.local_name();
                if name.as_ref() == b"omm" {
                    messages
                        .push(OmmMessage { place: format!("message {}", messages.len() + 1), fields: BTreeMap::new() });
                }
                open = FIELDS
                    .into_iter()
                    .find(|field| field.as_bytes() == name.as_ref())
                    .map(|field| (field, String::new()));
            }
            Event::Text(part) => {
                if let (Some((_, value)), Ok(part)) = (&mut open, part.decode()) {
                    value.push_str(&part);
                }
            }
            Event::CData(part) => {
                if let (Some((_, value)), Ok(part)) = (&mut open, part.decode()) {
                    value.push_str(&part);
                }
            }
            Event::GeneralRef(reference) => {
                let name = reference.decode().unwrap_or_default();
                let character = quick_xml::escape::resolve_predefined_entity(&name).map(str::to_owned);
                let character = character.or_else(|| Some(reference.resolve_char_ref().ok().flatten()?.to_string()));
                let Some(character) = character else {
                    return error(
                        &location,
                        format!("&{name}; is not a named character of XML; write the character itself"),
                    );
                };
                if let Some((_, value)) = &mut open {
                    value.push_str(&character);
                }
            }
            Event::End(_) => {
                depth -= 1;
                let Some((field, value)) = open.take() else { continue };
                let Some(message) = messages.last_mut() else {
                    return error(&location, format!("{field} is not in an element omm"));
                };
                if !value.trim().is_empty() && message.fields.insert(field, value.trim().to_owned()).is_some() {
                    return error(&location, format!("{field} is duplicated in this message"));
                }
            }
            Event::Eof if depth > 0 => return error(&location, "ends within an element; copy the complete file"),
            Event::Eof => return Ok(messages),
            _ => {}
        }
    }
}

/// Finds the line numbers of positions in a text. The positions must be queried in ascending order.
struct Lines<'a> {
    text: &'a str,
    position: usize,
    line: usize,
}

impl Lines<'_> {
    fn at(&mut self, position: u64) -> usize {
        let position = (position as usize).min(self.text.len()).max(self.position);
        let passed = &self.text.as_bytes()[self.position..position];
        self.line += passed.iter().filter(|byte| **byte == b'\n').count();
        self.position = position;
        self.line
    }
}
