//! Analysis of the user's captures: their connections, and the rate of the path.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lightlag_wire::analysis::{Analysis, CaptureReport, ConnectionReport, Limits, trace::Trace};
use lightlag_wire::capture::{CaptureError, Packet, Reader};
use lightlag_wire::replay::Sending;
use serde_json::{Value, json};

/// Analyses a capture in base64. The result has the keys of `lightlag inspect --json`; a key `note` with the reason if
/// the capture was not read to its end; and a key `rate_bps` with the estimated rate of the path of the connection with
/// the most data, or null if there is no estimate.
///
/// # Errors
/// A message, if the data is not a capture or has no readable packet.
pub(crate) fn inspected(data: &str) -> Result<Value, String> {
    let bytes = STANDARD.decode(data).map_err(|error| format!("the file is not in base 64: {error}"))?;
    let mut analysis = Analysis::new(Limits::default());
    let note = packets(&bytes, |packet| {
        analysis.captured(packet);
    })?;
    let report = analysis.finish();
    let rate = largest(&report).and_then(|connection| rate(&bytes, connection));
    let mut value = serde_json::to_value(report).map_err(|error| error.to_string())?;
    value["note"] = json!(note);
    value["rate_bps"] = json!(rate);
    Ok(value)
}

/// Calls `take` for every packet. Returns the reason if the capture could not be read to its end; otherwise `None`.
fn packets(bytes: &[u8], mut take: impl FnMut(&Packet)) -> Result<Option<String>, String> {
    let mut reader = Reader::open(bytes).map_err(|error| error.to_string())?;
    let mut some = false;
    loop {
        match reader.next_packet() {
            Ok(Some(packet)) => {
                some = true;
                take(&packet);
            }
            Ok(None) => return Ok(reader.cut().map(|cut| cut.to_string())),
            // Everything before the error was right.
            Err(error) if some && !matches!(error, CaptureError::UnknownLink { .. }) => {
                return Ok(Some(error.to_string()));
            }
            Err(error) => return Err(error.to_string()),
        }
    }
}

/// Returns the connection with the most data; the first one in case of a tie.
fn largest(report: &CaptureReport) -> Option<&ConnectionReport> {
    let data = |one: &&ConnectionReport| one.forward.counts.unique_bytes + one.backward.counts.unique_bytes;
    report.connections.iter().rev().max_by_key(data)
}

/// Estimates the rate of the path of a connection, in a second pass over the packets.
fn rate(bytes: &[u8], connection: &ConnectionReport) -> Option<f64> {
    let (mut analysis, mut trace) = (Analysis::new(Limits::default()), Trace::new(connection.number, usize::MAX));
    packets(bytes, |packet| {
        if let Some(observation) = analysis.captured(packet) {
            trace.observe(&observation);
        }
    })
    .ok()?;
    Sending::infer(trace.rows(), connection).ok()?.path.rate_bps.filter(|rate| *rate > 0.0)
}
