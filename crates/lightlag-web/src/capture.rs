//! Captures that somebody brings: what their connections tell about the path.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lightlag_wire::analysis::{Analysis, Connection, Limits, Report, trace::Trace};
use lightlag_wire::capture::{CaptureError, Packet, Reader};
use lightlag_wire::replay::Sending;
use serde_json::{Value, json};

/// The findings about a capture in base 64, with the keys of `lightlag inspect --json`, and `rate_bps`: the rate at which
/// the data of its largest connection came through, if it shows one.
///
/// # Errors
/// A message: it is no capture, or has no packet that can be read.
pub(crate) fn inspected(data: &str) -> Result<Value, String> {
    let bytes = STANDARD.decode(data).map_err(|error| format!("the file is not in base 64: {error}"))?;
    let mut analysis = Analysis::new(Limits::default());
    let note = packets(&bytes, |packet| {
        analysis.captured(packet);
    })?;
    let report = analysis.finish();
    let rate = largest(&report).and_then(|connection| rate(&bytes, connection));
    let mut found = serde_json::to_value(report).map_err(|error| error.to_string())?;
    found["note"] = json!(note);
    found["rate_bps"] = json!(rate);
    Ok(found)
}

/// Hands every packet to `take`. Returns the reason why the end was not reached, if so.
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

/// The first of the connections with the most data.
fn largest(report: &Report) -> Option<&Connection> {
    let data = |one: &&Connection| one.forward.counts.unique_bytes + one.backward.counts.unique_bytes;
    report.connections.iter().rev().max_by_key(data)
}

/// The rate of the path of a connection, from a second look at its packets.
fn rate(bytes: &[u8], connection: &Connection) -> Option<f64> {
    let (mut analysis, mut trace) = (Analysis::new(Limits::default()), Trace::new(connection.number, usize::MAX));
    packets(bytes, |packet| {
        if let Some(observation) = analysis.captured(packet) {
            trace.observe(&observation);
        }
    })
    .ok()?;
    Sending::infer(trace.rows(), connection).ok()?.path.rate_bps.filter(|rate| *rate > 0.0)
}
