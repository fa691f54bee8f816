//! The report on a connection that has ended.

use lightlag_core::{Duration, Instant};
use lightlag_host::{SocketError, SocketId, Stack};
use serde::Serialize;

/// Detects stalls: periods in which no new data is received or acknowledged, except while the application pauses or the
/// peer's window is closed.
#[derive(Clone, Copy, Debug)]
pub(super) struct StallDetector {
    opened: Instant,
    progress: u64,
    since: Instant,
    /// Longest time without progress, and the retransmission timeout when it started.
    longest: (Duration, Duration),
    rto: Duration,
}

impl StallDetector {
    pub(super) fn new(now: Instant) -> Self {
        let none = Duration::ZERO;
        Self { opened: now, progress: 0, since: now, longest: (none, none), rto: none }
    }

    /// Restarts the measurement when the reader resumes, because a pause is not a stall.
    pub(super) fn resume(&mut self, now: Instant) {
        self.since = now;
    }

    pub(super) fn look(&mut self, now: Instant, stack: &Stack, socket: SocketId, paused: bool) {
        let Ok(info) = stack.info(now, socket) else { return };
        let progress = info.bytes_acked + info.bytes_received;
        // A peer that does not read may hold up the sender.
        let paused = paused || info.snd_wnd == 0;
        if paused || progress > self.progress {
            let gap = now.since(self.since);
            if !paused && gap > self.longest.0 && self.progress > 0 {
                self.longest = (gap, self.rto);
            }
            self.progress = progress;
            self.since = now;
            self.rto = info.rto;
        }
    }
}

/// Report on a connection, from its start until now. Times are in seconds.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ConnectionReport {
    /// The local address.
    pub local: String,
    /// The peer's address.
    pub remote: String,
    /// Time since the connection was opened.
    pub seconds: f64,
    /// Bytes that the application read.
    pub bytes_in: u64,
    /// SHA-256 of the bytes that the application read.
    pub sha256_in: String,
    /// Bytes that the application wrote.
    pub bytes_out: u64,
    /// SHA-256 of the bytes that the application wrote.
    pub sha256_out: String,
    /// Written bytes that the peer acknowledged.
    pub bytes_acknowledged: u64,
    /// The error that ended the connection, if any.
    pub error: Option<String>,
    /// The congestion control.
    pub congestion: String,
    /// Number of retransmitted segments.
    pub retransmitted_segments: u64,
    /// Number of retransmission timeouts.
    pub timeouts: u64,
    /// Segments sent.
    pub segments_out: u64,
    /// Segments received.
    pub segments_in: u64,
    /// Smoothed round-trip time (SRTT).
    pub srtt: f64,
    /// Minimum round-trip sample.
    pub min_rtt: f64,
    /// The retransmission timeout.
    pub rto: f64,
    /// Congestion window in segments.
    pub cwnd: u32,
    /// Payload of a full segment sent.
    pub snd_mss: u32,
    /// Payload of the largest segment received.
    pub rcv_mss: u32,
    /// Whether SACK was negotiated.
    pub sack: bool,
    /// Whether timestamps were negotiated.
    pub timestamps: bool,
    /// Whether window scaling was negotiated.
    pub window_scaling: bool,
    /// Whether ECN was negotiated.
    pub ecn: bool,
    /// Whether data in a SYN was accepted, in either direction.
    pub syn_data: bool,
    /// Longest time without progress, not counting pauses of the reader.
    pub longest_stall: f64,
    /// The retransmission timeout when that longest time started.
    pub rto_at_stall: f64,
}

impl ConnectionReport {
    pub(super) fn of(
        now: Instant,
        stack: &Stack,
        socket: SocketId,
        watch: &StallDetector,
        (bytes_in, bytes_out): (u64, u64),
        [sha256_in, sha256_out]: [String; 2],
        error: Option<SocketError>,
    ) -> Self {
        let (local, remote) = stack.addresses(socket).unwrap_or_default();
        let text = |address: Option<std::net::SocketAddr>| address.map_or_else(String::new, |at| at.to_string());
        let info = stack.info(now, socket).ok();
        let number = |value: &dyn Fn(&lightlag_host::TcpInfo) -> u64| info.as_ref().map_or(0, value);
        let time = |value: Duration| if value == Duration::MAX { 0.0 } else { value.as_secs_f64() };
        let seconds =
            |value: &dyn Fn(&lightlag_host::TcpInfo) -> Duration| info.as_ref().map_or(0.0, |i| time(value(i)));
        let is = |value: &dyn Fn(&lightlag_host::TcpInfo) -> bool| info.as_ref().is_some_and(value);
        Self {
            local: text(local),
            remote: text(remote),
            seconds: now.since(watch.opened).as_secs_f64(),
            bytes_in,
            sha256_in,
            bytes_out,
            sha256_out,
            bytes_acknowledged: number(&|info| info.bytes_acked),
            error: error.map(|error| error.to_string()),
            congestion: stack.settings(socket).map_or_else(|_| String::new(), |set| set.congestion.name().to_owned()),
            retransmitted_segments: number(&|info| info.total_retrans),
            timeouts: number(&|info| info.timeouts),
            segments_out: number(&|info| info.segs_out),
            segments_in: number(&|info| info.segs_in),
            srtt: seconds(&|info| info.rtt),
            min_rtt: seconds(&|info| info.min_rtt),
            rto: seconds(&|info| info.rto),
            cwnd: number(&|info| info.snd_cwnd.into()) as u32,
            snd_mss: number(&|info| info.snd_mss.into()) as u32,
            rcv_mss: number(&|info| info.rcv_mss.into()) as u32,
            sack: is(&|info| info.sack),
            timestamps: is(&|info| info.timestamps),
            window_scaling: is(&|info| info.scales.is_some()),
            ecn: is(&|info| info.ecn),
            syn_data: is(&|info| info.syn_data),
            longest_stall: watch.longest.0.as_secs_f64(),
            rto_at_stall: watch.longest.1.as_secs_f64(),
        }
    }
}
