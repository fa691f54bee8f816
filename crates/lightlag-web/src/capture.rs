//! Captures that somebody brings: what their connections tell about the path.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lightlag_wire::analysis::{Analysis, Limits};
use lightlag_wire::capture::{CaptureError, Reader};
use serde_json::{Value, json};

/// The findings about a capture in base 64, with the keys of `lightlag inspect --json`.
///
/// # Errors
/// A message: it is no capture, or has no packet that can be read.
pub(crate) fn inspected(data: &str) -> Result<Value, String> {
    let bytes = STANDARD.decode(data).map_err(|error| format!("the file is not in base 64: {error}"))?;
    let mut reader = Reader::open(bytes.as_slice()).map_err(|error| error.to_string())?;
    let mut analysis = Analysis::new(Limits::default());
    let note = loop {
        match reader.next_packet() {
            Ok(Some(packet)) => {
                analysis.captured(&packet);
            }
            Ok(None) => break reader.cut().map(|cut| cut.to_string()),
            // Everything before the error was right.
            Err(error) if analysis.packets() > 0 && !matches!(error, CaptureError::UnknownLink { .. }) => {
                break Some(error.to_string());
            }
            Err(error) => return Err(error.to_string()),
        }
    };
    let mut found = serde_json::to_value(analysis.finish()).map_err(|error| error.to_string())?;
    found["note"] = json!(note);
    Ok(found)
}
