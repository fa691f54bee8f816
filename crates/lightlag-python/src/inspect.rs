//! Captures for Python: read in one pass with progress and Ctrl-C. The packets of one connection are available as
//! columns.

use crate::input::Input;
use crate::run::{Table, wall_clock};
use arrow_array::types::UInt8Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int64Array, PrimitiveArray, RecordBatch, StringArray, UInt32Array,
    UInt64Array,
};
use lightlag_core::Instant;
use lightlag_wire::analysis::trace::Trace;
use lightlag_wire::analysis::{Analysis, CaptureReport, Cause, Limits, Observation, SegmentKind, Side};
use lightlag_wire::capture::{CaptureError, Reader};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use serde::Serialize;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of packets between two checks of the clock.
const PACKETS_A_LOOK: u64 = 4096;

/// Reads a capture without the GIL. About every `interval_s` seconds it checks for Ctrl-C and calls
/// `progress(bytes_read, bytes, packets)`; `bytes` is 0 if the size is unknown. Ctrl-C ends the reading early, and the
/// outcome is marked `interrupted`. With `trace`, the outcome contains about `rows` packets of the connection with this
/// index are stored.
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
    let mut watch = InspectMonitor {
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
    report: CaptureReport,
    /// Names of the interfaces in the capture.
    interfaces: Vec<String>,
    /// Number of packets without a timestamp.
    without_time: u64,
    /// The reason why reading stopped before the end of the file.
    note: Option<String>,
    /// Whether Ctrl-C was pressed.
    interrupted: bool,
    /// Whether rows of the trace were left out to limit its size.
    trace_thinned: bool,
}

#[pymethods]
impl Capture {
    /// Returns the findings as a JSON object.
    fn summary(&self) -> String {
        serde_json::to_string(&self.summary).expect("a summary is plain data")
    }

    /// Returns the packets of the requested connection.
    fn trace(&self) -> Option<Table> {
        self.trace.clone().map(Table::new)
    }
}

/// Counts the bytes read, to report progress.
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

struct InspectMonitor {
    progress: Option<Py<PyAny>>,
    interval: std::time::Duration,
    last: std::time::Instant,
    stopped: Option<PyErr>,
}

impl InspectMonitor {
    /// Checks for Ctrl-C and reports progress, if the interval has passed. Returns false if reading must stop.
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

/// Reads the entire file. Returns an error if no part of it could be read.
fn read(path: &Path, mut trace: Option<Trace>, watch: &mut InspectMonitor) -> Result<Capture, String> {
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
            // The data before the error is valid.
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
        io::ErrorKind::IsADirectory => "is a directory; name a capture (pcapng or pcap)".into(),
        io::ErrorKind::PermissionDenied => "cannot be read: permission denied".into(),
        _ => format!("cannot be read: {error}"),
    }
}

/// Names of [`Kind`]; for retransmissions the cause comes first.
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

fn number(kind: SegmentKind) -> u8 {
    match kind {
        SegmentKind::New => 0,
        SegmentKind::Retransmission(Cause::Fast) => 1,
        SegmentKind::Retransmission(Cause::Timeout) => 2,
        SegmentKind::Retransmission(Cause::TailProbe) => 3,
        SegmentKind::Retransmission(Cause::Unknown) => 4,
        SegmentKind::OutOfOrder => 5,
        SegmentKind::WindowProbe => 6,
        SegmentKind::KeepAlive => 7,
        SegmentKind::DuplicateAck => 8,
        SegmentKind::WindowUpdate => 9,
        SegmentKind::Ack => 10,
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
    RecordBatch::try_from_iter(columns).expect("columns have the same length")
}
