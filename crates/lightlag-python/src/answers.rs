//! The replies of a receiver to individual segments: its ACKs, with their options as bytes.

use lightlag_core::{Duration, Instant};
use lightlag_tcp::segment::{Flags, SeqNumber, SynOptions, Timestamps};
use lightlag_tcp::{Connection, Options, Segment};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;

/// The peer's initial sequence number, so that its first data byte has the sequence number 0.
const PEER: SeqNumber = SeqNumber(u32::MAX);

/// Returns the segments that a receiver sends to a peer that offers every option and sends data. `tcp` has the
/// receiver's TCP options as JSON, as in a scenario. `arrivals` lists the sequence number and the length of each
/// arriving segment; they arrive 1 ms apart. The peer's first data byte has the sequence number 0. `reads` lists for
/// each arriving segment the number of bytes that the application reads just before it; if omitted, the application
/// reads all data immediately. The result has, for each segment sent after the handshake, its acknowledgement number,
/// its window field and the bytes of its options.
#[pyfunction]
#[pyo3(signature = (tcp, arrivals, reads=None))]
pub fn answers<'py>(
    py: Python<'py>,
    tcp: &str,
    arrivals: Vec<(u32, u16)>,
    reads: Option<Vec<u64>>,
) -> PyResult<Vec<(u32, u16, Bound<'py, PyBytes>)>> {
    let options: Options = serde_json::from_str(tcp).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let config = options.resolve().map_err(|error| PyValueError::new_err(error.to_string()))?;
    if reads.as_ref().is_some_and(|reads| reads.len() != arrivals.len()) {
        return Err(PyValueError::new_err("reads: one number for each arrival"));
    }
    let mut server = Connection::server(Arc::new(config), SeqNumber(0));
    if reads.is_some() {
        server.read_later();
    }
    let mut now = Instant::ZERO;
    let syn = from_peer(PEER, Flags::SYN, now).with_syn_options(SynOptions {
        mss: Some(u16::MAX),
        window_scale: Some(0),
        sack_permitted: true,
    });
    server.handle_segment(now, &syn);
    while server.poll_segment(now).is_some() {}
    server.handle_segment(now, &from_peer(SeqNumber(0), Flags::ACK, now));
    let mut sent = Vec::new();
    for (index, (first, len)) in arrivals.into_iter().enumerate() {
        now += Duration::from_millis(1);
        if let Some(reads) = &reads {
            server.read(reads[index]);
            sent.extend(std::iter::from_fn(|| server.poll_segment(now)));
        }
        let mut data = from_peer(SeqNumber(first), Flags::ACK, now);
        data.len = len;
        if server.poll_timeout().is_some_and(|due| due <= now) {
            server.handle_timeout(now);
        }
        server.handle_segment(now, &data);
        sent.extend(std::iter::from_fn(|| server.poll_segment(now)));
    }
    Ok(sent.iter().map(|ack| (ack.ack.0, ack.window, PyBytes::new(py, &ack.option_bytes()))).collect())
}

/// Returns a segment from the peer, with timestamps in milliseconds.
fn from_peer(seq: SeqNumber, flags: Flags, now: Instant) -> Segment {
    let clock = (now.as_nanos() / 1_000_000) as u32;
    Segment::new(seq, SeqNumber(1), u16::MAX, flags).with_timestamps(Timestamps { value: clock, echo: 0 })
}
