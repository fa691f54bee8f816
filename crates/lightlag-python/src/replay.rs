//! The behaviour of a sender in a capture: a JSON object, and tables of its packets and their ACKs.

use crate::run::Table;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, UInt32Array, UInt64Array};
use lightlag_core::Instant;
use lightlag_tcp::segment::Timestamps;
use lightlag_wire::analysis::{Analysis, CaptureReport, ConnectionReport, Limits, Observation, Side, trace::Trace};
use lightlag_wire::capture::{CaptureError, Packet, Reader};
use lightlag_wire::replay::Sending;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use serde_json::json;
use std::cmp::Reverse;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Maximum number of connections listed in a message.
const LISTED: usize = 12;

/// The reason why there is no result.
enum Refusal {
    Unreadable(String),
    Unfit(String),
}

/// Returns the behaviour of a connection's sender in a capture: a JSON object, a table of its data packets, a table of
/// their ACKs, and a table of all packets of the connection as captured. `flow` is the index of the connection; if
/// omitted, the connection with the most data is used.
#[pyfunction]
#[pyo3(signature = (capture, flow=None))]
pub(crate) fn sending(py: Python<'_>, capture: PathBuf, flow: Option<u64>) -> PyResult<(String, Table, Table, Table)> {
    let found = py.detach(|| infer(&capture, flow));
    let (sending, about, rows) = found.map_err(|refusal| match refusal {
        Refusal::Unreadable(message) => PyOSError::new_err(message),
        Refusal::Unfit(message) => PyValueError::new_err(message),
    })?;
    let zero = sending.transmissions.first().map_or(Instant::ZERO, |first| first.at);
    let seconds = |at: Instant| if at < zero { -zero.since(at).as_secs_f64() } else { at.since(zero).as_secs_f64() };
    let sent = &sending.transmissions;
    let table = RecordBatch::try_from_iter([
        ("time_s", Arc::new(Float64Array::from_iter_values(sent.iter().map(|sent| seconds(sent.at)))) as _),
        ("start", Arc::new(Int64Array::from_iter_values(sent.iter().map(|sent| sent.start - 1))) as _),
        ("bytes", Arc::new(UInt32Array::from_iter_values(sent.iter().map(|sent| sent.len))) as _),
        ("again", Arc::new(BooleanArray::from_iter(sent.iter().map(|sent| Some(sent.again)))) as _),
        ("lost", Arc::new(BooleanArray::from_iter(sent.iter().map(|sent| Some(sent.lost)))) as _),
    ]);
    let acks = RecordBatch::try_from_iter([
        ("time_s", Arc::new(Float64Array::from_iter_values(sending.acks.iter().map(|(at, _)| seconds(*at)))) as _),
        ("acked", Arc::new(Int64Array::from_iter_values(sending.acks.iter().map(|(_, ack)| ack - 1))) as _),
    ]);
    let even = "the columns of a table have the same length";
    let packets = packets_table(&rows, sending.sender, seconds);
    Ok((about, Table::new(table.expect(even)), Table::new(acks.expect(even)), packets))
}

/// Returns the packets of a connection in capture order. Offsets of both directions start at 0.
fn packets_table(rows: &[Observation], sender: Side, seconds: impl Fn(Instant) -> f64) -> Table {
    let stamp = |pick: fn(Timestamps) -> u32| {
        Arc::new(UInt32Array::from_iter(rows.iter().map(|row| row.timestamps.map(pick)))) as ArrayRef
    };
    let table = RecordBatch::try_from_iter([
        ("time_s", Arc::new(Float64Array::from_iter_values(rows.iter().map(|row| seconds(row.at)))) as ArrayRef),
        ("by_sender", Arc::new(BooleanArray::from_iter(rows.iter().map(|row| Some(row.side == sender))))),
        ("start", Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.start - 1)))),
        ("bytes", Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.len)))),
        ("acked", Arc::new(Int64Array::from_iter(rows.iter().map(|row| row.ack.map(|ack| ack - 1))))),
        ("window", Arc::new(UInt64Array::from_iter(rows.iter().map(|row| row.window)))),
        ("timestamp", stamp(|stamps| stamps.value)),
        ("echo", stamp(|stamps| stamps.echo)),
    ]);
    Table::new(table.expect("the columns of a table have the same length"))
}

fn infer(capture: &Path, flow: Option<u64>) -> Result<(Sending, String, Vec<Observation>), Refusal> {
    let shown = capture.display();
    let mut analysis = Analysis::new(Limits::default());
    let cut = packets(capture, |packet| {
        analysis.captured(packet);
    })?;
    let report = analysis.finish();
    let connection = chosen(&report, flow).map_err(|reason| {
        let cut = cut.as_ref().map_or(String::new(), |cut| format!(" ({cut})"));
        Refusal::Unfit(format!("{shown}: {reason}{cut}"))
    })?;
    let number = connection.number;
    let mut analysis = Analysis::new(Limits::default());
    let mut trace = Trace::new(number, usize::MAX);
    packets(capture, |packet| {
        if let Some(observation) = analysis.captured(packet) {
            trace.observe(&observation);
        }
    })?;
    let sending = Sending::infer(trace.rows(), connection).map_err(|error| {
        let others = if flow.is_some() || with_data(&report).count() == 1 {
            String::new()
        } else {
            format!("; it has the most data, choose another with --flow:\n{}", list(&report))
        };
        Refusal::Unfit(format!("{shown}: connection {number} cannot be repeated: {error}{others}"))
    })?;
    let mut about = serde_json::to_value(&sending).expect("plain data");
    about["packets"] = sending.transmissions.len().into();
    about["client"] = json!(connection.client);
    about["server"] = json!(connection.server);
    about["handshakes"] = json!([connection.forward.handshake, connection.backward.handshake]);
    about["others_with_data"] = json!(with_data(&report).count() - 1);
    about["cut"] = json!(cut);
    Ok((sending, about.to_string(), trace.rows().to_vec()))
}

/// Passes every packet of a capture to `take`. Returns the reason why the end was not reached, if it was not.
fn packets(capture: &Path, mut take: impl FnMut(&Packet)) -> Result<Option<String>, Refusal> {
    let shown = capture.display();
    let unreadable = |error| Refusal::Unreadable(format!("{shown}: cannot be read: {error}"));
    let file = File::open(capture).map_err(unreadable)?;
    if !file.metadata().map_err(unreadable)?.is_file() {
        let what = "is not a regular file, but a capture is read twice; save it as a file first";
        return Err(Refusal::Unfit(format!("{shown}: {what}")));
    }
    let unfit = |error| Refusal::Unfit(format!("{shown}: {error}"));
    let mut reader = Reader::open(file).map_err(unfit)?;
    let mut packets = 0_u64;
    loop {
        match reader.next_packet() {
            Ok(Some(packet)) => {
                packets += 1;
                take(&packet);
            }
            Ok(None) => return Ok(reader.cut().map(|cut| cut.to_string())),
            // The data before the error is valid.
            Err(error) if packets > 0 && !matches!(error, CaptureError::UnknownLink { .. }) => {
                return Ok(Some(error.to_string()));
            }
            Err(error) => return Err(unfit(error)),
        }
    }
}

/// Returns the number of data bytes of a connection, in both directions.
fn data(connection: &ConnectionReport) -> u64 {
    connection.forward.counts.unique_bytes + connection.backward.counts.unique_bytes
}

fn with_data(report: &CaptureReport) -> impl Iterator<Item = &ConnectionReport> {
    report.connections.iter().filter(|connection| data(connection) > 0)
}

/// Lists the connections with the most data, as lines of a message.
fn list(report: &CaptureReport) -> String {
    let mut largest: Vec<&ConnectionReport> = report.connections.iter().collect();
    largest.sort_by_key(|connection| (Reverse(data(connection)), connection.number));
    largest.truncate(LISTED);
    largest.sort_by_key(|connection| connection.number);
    let line = |connection: &&ConnectionReport| {
        format!("{}: {} -> {}, {} B", connection.number, connection.client, connection.server, data(connection))
    };
    let lines: Vec<String> = largest.iter().map(line).collect();
    let more = report.connections.len().saturating_sub(LISTED);
    lines.join("\n") + &if more > 0 { format!("\nand {more} more") } else { String::new() }
}

/// Returns the requested connection, or the one with the most data if `flow` is `None`.
fn chosen(report: &CaptureReport, flow: Option<u64>) -> Result<&ConnectionReport, String> {
    if report.connections.is_empty() {
        return Err("holds no TCP connection".into());
    }
    match flow {
        Some(flow) => report
            .connections
            .iter()
            .find(|connection| connection.number == flow)
            .ok_or_else(|| format!("there is no connection {flow}; there are\n{}", list(report))),
        None => with_data(report)
            .max_by_key(|connection| (data(connection), Reverse(connection.number)))
            .ok_or_else(|| "no connection in it carries data".into()),
    }
}
