//! The control protocol of iperf3 (version 3.12), for tests over TCP: server and client.
//!
//! A control connection carries one byte for each step, and JSON that is preceded by its length. A data connection
//! starts with the cookie of the test.

mod client;
mod control;
mod server;

pub(super) use client::Client;
pub(super) use server::Server;

use super::report::ConnectionReport;
use lightlag_core::Duration;
use serde_json::json;

/// Length of a cookie in bytes: 36 characters and a zero.
const COOKIE: usize = 37;

const TEST_START: u8 = 1;
const TEST_RUNNING: u8 = 2;
const TEST_END: u8 = 4;
const PARAM_EXCHANGE: u8 = 9;
const CREATE_STREAMS: u8 = 10;
const SERVER_TERMINATE: u8 = 11;
const CLIENT_TERMINATE: u8 = 12;
const EXCHANGE_RESULTS: u8 = 13;
const DISPLAY_RESULTS: u8 = 14;
const IPERF_DONE: u8 = 16;
/// Error states, −1 and −2 as unsigned bytes.
const ACCESS_DENIED: u8 = 0xff;
const SERVER_ERROR: u8 = 0xfe;

/// Settings of a test that a client requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TestRequest {
    /// Time for which data is sent.
    pub time: Duration,
    /// Whether the server sends, instead of the client.
    pub reverse: bool,
}

/// The ID of a stream, whether this end sends on it, and its report.
struct Measured<'a> {
    id: u64,
    sends: bool,
    report: &'a ConnectionReport,
}

/// Returns the results of a test of `seconds`, as they are sent to the peer.
fn results(seconds: f64, congestion: Option<&str>, streams: &[Measured<'_>]) -> serde_json::Value {
    let each = streams.iter().map(|Measured { id, sends, report }| {
        let bytes = if *sends { report.bytes_out } else { report.bytes_in };
        let retransmits = if *sends { report.retransmitted_segments as i64 } else { -1 };
        json!({
            "id": id, "bytes": bytes, "retransmits": retransmits, "jitter": 0, "errors": 0,
            "omitted_errors": 0, "packets": 0, "omitted_packets": 0, "start_time": 0, "end_time": seconds,
        })
    });
    json!({
        "cpu_util_total": 0, "cpu_util_user": 0, "cpu_util_system": 0,
        "sender_has_retransmits": if streams.iter().any(|stream| stream.sends) { 1 } else { -1 },
        "congestion_used": congestion, "streams": each.collect::<Vec<_>>(),
    })
}
