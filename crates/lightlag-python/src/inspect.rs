//! Captures for Python: read in one pass with progress and Ctrl-C, with the packets of one connection as columns.

use crate::input::Input;
use crate::run::{Table, wall_clock};
use arrow_array::types::UInt8Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int64Array, PrimitiveArray, RecordBatch, StringArray, UInt32Array,
    UInt64Array,
};
use lightlag_core::Instant;
use lightlag_wire::analysis::trace::Trace;
use lightlag_wire::analysis::{Analysis, Cause, Kind, Limits, Observation, Report, Side};
use lightlag_wire::capture::{CaptureError, Reader};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use serde::Serialize;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of packets read between two looks at the clock.
const PACKETS_A_LOOK: u64 = 4096;

/// Reads a capture without the GIL. About every `interval_s` seconds it checks for Ctrl-C and calls
/// `progress(bytes_read, bytes, packets)`; `bytes` is 0 if the size is unknown. Ctrl-C ends the reading early, and the
/// outcome says `interrupted`. With `trace`, it keeps about `rows` packets of the connection with that number.
#[pyfunction]
#[pyo3(signature = (path, progress=None, interval_s=0.1, trace=None, rows=200_000))]
pub(crate) fn inspect(
    py: Python<'_>,
    path: PathBuf,
    progress: Option<Py<PyAny>>,
    interval_s: f64,
    trace: Option<u64>,
    rows: usize,
) -> PyResult<Capture> {
    let mut watch = Watch {
        progress,
        interval: std::time::Duration::try_from_secs_f64(interval_s).unwrap_or_default(),
        last: wall_clock(),
        stopped: None,
    };
    let read = py.detach(|| read(&path, trace.map(|number| Trace::new(number, rows)), &mut watch));
    if let Some(error) = watch.stopped.take().filter(|error| !error.is_instance_of::<PyKeyboardInterrupt>(py)) {
        return Err(error);
    }
    read.map_err(|what| PyValueError::new_err(format!("{}: {what}", path.display())))
}

/// The result of reading a capture.
#[pyclass(frozen, module = "lightlag._engine")]
pub(crate) struct Capture {
    summary: Summary,
    trace: Option<RecordBatch>,
}

#[derive(Serialize)]
struct Summary {
    #[serde(flatten)]
    report: Report,
    /// Names of the interfaces.
    interfaces: Vec<String>,
    /// Packets for which the capture has no time.
    without_time: u64,
    /// The reason why the end of the file was not reached.
    note: Option<String>,
    /// Ctrl-C was pressed.
    interrupted: bool,
    /// Whether rows of the trace were left out.
    trace_thinned: bool,
}

#[pymethods]
impl Capture {
    /// The findings as a JSON object.
    fn summary(&self) -> String {
        serde_json::to_string(&self.summary).expect("a summary is plain data")
    }

    /// The packets of the requested connection.
    fn trace(&self) -> Option<Table> {
        self.trace.clone().map(Table::new)
    }
}

/// Counts the bytes read, for the progress.
struct Counted {
    file: Input,
    read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

struct Watch {
    progress: Option<Py<PyAny>>,
    interval: std::time::Duration,
    last: std::time::Instant,
    stopped: Option<PyErr>,
}

impl Watch {
    /// Whether to continue.
    fn look(&mut self, read: u64, size: u64, packets: u64) -> bool {
        let now = wall_clock();
        if now.duration_since(self.last) >= self.interval {
            self.last = now;
            self.stopped = Python::attach(|py| {
                py.check_signals()?;
                match &self.progress {
                    Some(call) => call.call1(py, (read, size, packets)).map(drop),
                    None => Ok(()),
                }
            })
            .err();
        }
        self.stopped.is_none()
    }
}

/// Reads the whole file. `Err`: none of it could be read.
fn read(path: &Path, mut trace: Option<Trace>, watch: &mut Watch) -> Result<Capture, String> {
    let file = Input::open(path).map_err(io_error)?;
    let size = file.len().unwrap_or(0);
    let position = Arc::new(AtomicU64::new(0));
    let mut reader = Reader::open(Counted { file, read: position.clone() }).map_err(capture_error)?;
    let mut analysis = Analysis::new(Limits::default());
    let mut note = None;
    loop {
        match reader.next_packet() {
            Ok(Some(packet)) => {
                let seen = analysis.captured(&packet);
                if let (Some(trace), Some(seen)) = (&mut trace, seen) {
                    trace.observe(&seen);
                }
            }
            Ok(None) => break,
            // Everything before the error was right.
            Err(error) if analysis.packets() > 0 && !matches!(error, CaptureError::UnknownLink { .. }) => {
                note = Some(capture_error(error));
                break;
            }
            Err(error) => return Err(capture_error(error)),
        }
        let packets = analysis.packets();
        if packets.is_multiple_of(PACKETS_A_LOOK) && !watch.look(position.load(Ordering::Relaxed), size, packets) {
            break;
        }
    }
    let report = analysis.finish();
    let start = Instant::from_nanos(report.start_ns.unwrap_or(0));
    Ok(Capture {
        trace: trace.as_ref().map(|trace| columns(trace.rows(), start)),
        summary: Summary {
            report,
            interfaces: reader.interfaces().iter().map(|interface| interface.name.clone()).collect(),
            without_time: reader.without_time(),
            note: note.or_else(|| reader.cut().map(|cut| cut.to_string())),
            interrupted: watch.stopped.is_some(),
            trace_thinned: trace.as_ref().is_some_and(Trace::is_thinned),
        },
    })
}

fn capture_error(error: CaptureError) -> String {
    match error {
        CaptureError::Io(error) => io_error(error),
        CaptureError::NotACapture(_) => format!("{error}; name a file that tcpdump, Wireshark or lightlag wrote"),
        other => other.to_string(),
    }
}

fn io_error(error: io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".into(),
        io::ErrorKind::IsADirectory => "is a folder; name a capture (pcapng or pcap)".into(),
        io::ErrorKind::PermissionDenied => "may not be read: no permission".into(),
        _ => format!("cannot be read: {error}"),
    }
}

/// Names of [`Kind`], with the cause in front if there is one.
const KINDS: [&str; 11] = [
    "new",
    "fast retransmission",
    "timeout retransmission",
    "tail probe",
    "retransmission",
    "out of order",
    "window probe",
    "keep-alive",
    "duplicate ack",
    "window update",
    "ack",
];

fn number(kind: Kind) -> u8 {
    match kind {
        Kind::New => 0,
        Kind::Retransmission(Cause::Fast) => 1,
        Kind::Retransmission(Cause::Timeout) => 2,
        Kind::Retransmission(Cause::TailProbe) => 3,
        Kind::Retransmission(Cause::Unknown) => 4,
        Kind::OutOfOrder => 5,
        Kind::WindowProbe => 6,
        Kind::KeepAlive => 7,
        Kind::DuplicateAck => 8,
        Kind::WindowUpdate => 9,
        Kind::Ack => 10,
    }
}

fn columns(rows: &[Observation], start: Instant) -> RecordBatch {
    let names = |keys: Vec<u8>, names: &[&'static str]| -> ArrayRef {
        let names = Arc::new(StringArray::from_iter_values(names));
        Arc::new(DictionaryArray::<UInt8Type>::new(PrimitiveArray::from(keys), names))
    };
    let side = |row: &Observation| u8::from(row.side == Side::Server);
    let columns: [(&str, ArrayRef); 11] = [
        ("time_s", Arc::new(Float64Array::from_iter_values(rows.iter().map(|row| row.at.since(start).as_secs_f64())))),
        ("side", names(rows.iter().map(side).collect(), &["client", "server"])),
        ("kind", names(rows.iter().map(|row| number(row.kind)).collect(), &KINDS)),
        ("start", Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.start)))),
        ("bytes", Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.len)))),
        ("unique_bytes", Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.unique)))),
        ("ack", Arc::new(rows.iter().map(|row| row.ack).collect::<Int64Array>())),
        ("window_bytes", Arc::new(rows.iter().map(|row| row.window).collect::<UInt64Array>())),
        ("in_flight_bytes", Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.in_flight)))),
        ("other_in_flight_bytes", Arc::new(UInt64Array::from_iter_values(rows.iter().map(|row| row.other_in_flight)))),
        ("flags", Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| u32::from(row.flags.0))))),
    ];
    RecordBatch::try_from_iter(columns).expect("columns have one length")
}
