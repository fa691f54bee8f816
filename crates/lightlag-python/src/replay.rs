//! The behaviour of a sender, from a capture: a JSON object about it, and tables of its packets and their ACKs.

use crate::run::Table;
use arrow_array::{BooleanArray, Float64Array, Int64Array, RecordBatch, UInt32Array};
use lightlag_core::Instant;
use lightlag_wire::analysis::{Analysis, Limits, Report, trace::Trace};
use lightlag_wire::capture::Reader;
use lightlag_wire::replay::Sending;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use serde_json::json;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The most connections listed in a message.
const LISTED: usize = 12;

/// The reason why there is no answer.
enum Refusal {
    Unreadable(String),
    Unfit(String),
}

/// The behaviour of a connection's sender in a capture: a JSON object, its data packets and their ACKs. `flow` is the
/// number of the connection; without it the capture must have exactly one connection with data.
#[pyfunction]
#[pyo3(signature = (capture, flow=None))]
pub(crate) fn sending(py: Python<'_>, capture: PathBuf, flow: Option<u64>) -> PyResult<(String, Table, Table)> {
    let found = py.detach(|| infer(&capture, flow));
    let (sending, about) = found.map_err(|refusal| match refusal {
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
    let even = "the columns of a table are equally long";
    Ok((about, Table::new(table.expect(even)), Table::new(acks.expect(even))))
}

fn infer(capture: &Path, flow: Option<u64>) -> Result<(Sending, String), Refusal> {
    let shown = capture.display();
    let mut analysis = Analysis::new(Limits::default());
    let cut = packets(capture, |at, ip| {
        analysis.packet(at, ip);
    })?;
    let report = analysis.finish();
    let number = chosen(&report, flow).map_err(|reason| {
        let cut = cut.as_ref().map_or(String::new(), |cut| format!(" ({cut})"));
        Refusal::Unfit(format!("{shown}: {reason}{cut}"))
    })?;
    let mut analysis = Analysis::new(Limits::default());
    let mut trace = Trace::new(number, usize::MAX);
    packets(capture, |at, ip| {
        if let Some(observation) = analysis.packet(at, ip) {
            trace.observe(&observation);
        }
    })?;
    let connection = report.connections.iter().find(|connection| connection.number == number);
    let connection = connection.expect("it was chosen from the list");
    let sending = Sending::infer(trace.rows(), connection)
        .map_err(|error| Refusal::Unfit(format!("{shown}: connection {number} cannot be repeated: {error}")))?;
    let mut about = serde_json::to_value(&sending).expect("plain data");
    about["packets"] = sending.transmissions.len().into();
    about["client"] = json!(connection.client);
    about["server"] = json!(connection.server);
    about["handshakes"] = json!([connection.forward.handshake, connection.backward.handshake]);
    about["cut"] = json!(cut);
    Ok((sending, about.to_string()))
}

/// Hands every packet of a capture to `take`. Returns the position of an incomplete end.
fn packets(capture: &Path, mut take: impl FnMut(Instant, Option<&[u8]>)) -> Result<Option<String>, Refusal> {
    let shown = capture.display();
    let file = File::open(capture).map_err(|error| Refusal::Unreadable(format!("{shown}: cannot be read: {error}")))?;
    let unfit = |error| Refusal::Unfit(format!("{shown}: {error}"));
    let mut reader = Reader::open(BufReader::new(file)).map_err(unfit)?;
    while let Some(packet) = reader.next_packet().map_err(unfit)? {
        take(packet.at, packet.ip);
    }
    Ok(reader.cut().map(|cut| cut.to_string()))
}

/// The requested connection.
fn chosen(report: &Report, flow: Option<u64>) -> Result<u64, String> {
    if report.connections.is_empty() {
        return Err("holds no TCP connection".into());
    }
    let data = |connection: &lightlag_wire::analysis::Connection| {
        connection.forward.counts.unique_bytes + connection.backward.counts.unique_bytes
    };
    let list = || {
        let line = |connection: &lightlag_wire::analysis::Connection| {
            format!("{}: {} -> {}, {} B", connection.number, connection.client, connection.server, data(connection))
        };
        let lines: Vec<String> = report.connections.iter().take(LISTED).map(line).collect();
        let more = report.connections.len().saturating_sub(LISTED);
        lines.join("\n") + &if more > 0 { format!("\nand {more} more") } else { String::new() }
    };
    match flow {
        Some(flow) if report.connections.iter().any(|connection| connection.number == flow) => Ok(flow),
        Some(flow) => Err(format!("there is no connection {flow}; there are\n{}", list())),
        None => {
            let with_data: Vec<u64> =
                report.connections.iter().filter(|one| data(one) > 0).map(|one| one.number).collect();
            match with_data[..] {
                [] => Err("nobody sends data in it".into()),
                [only] => Ok(only),
                _ => Err(format!("has several connections; choose one with --flow:\n{}", list())),
            }
        }
    }
}
