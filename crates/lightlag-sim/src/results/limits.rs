//! The times for which each limit applied to a sender.

use crate::table::rows;
use lightlag_core::Duration;
use lightlag_transport::{Limited, QuicLimited};

rows! {
    /// A sender's time by limiting factor. The parts add up to the time from the start, or from the first packet at a
    /// server, until the finish, the failure or the end of the run.
    #[derive(Copy, PartialEq, Default)]
    pub struct LimitedSeconds {
        /// Time limited by the congestion window.
        cwnd: f64 ["s"],
        /// Time limited by the receiver's window; for QUIC, by credit.
        rwnd: f64 ["s"],
        /// Time limited by the application, which had nothing to send; includes opening and closing the connection.
        application: f64 ["s"],
        /// Time limited by pacing.
        pacing: f64 ["s"],
        /// Time spent on repairs in fast recovery.
        recovery: f64 ["s"],
        /// Time spent waiting for a timeout, and on repairs after one.
        timeout: f64 ["s"],
    }
}

impl From<Limited> for LimitedSeconds {
    fn from(limited: Limited) -> Self {
        let Limited { cwnd, rwnd, application, pacing, recovery, timeout } = limited;
        let [cwnd, rwnd, application, pacing, recovery, timeout] =
            [cwnd, rwnd, application, pacing, recovery, timeout].map(Duration::as_secs_f64);
        Self { cwnd, rwnd, application, pacing, recovery, timeout }
    }
}

rows! {
    /// Parts of a QUIC sender's time by limiting factor. The credits add up to its time limited by the receiver's
    /// window. The others, with data in flight and nothing to send, add up to its time limited by the application.
    #[derive(Copy, PartialEq, Default)]
    pub struct QuicLimitedSeconds {
        /// Time spent waiting for keys or messages of the handshake, except timeouts.
        handshake: f64 ["s"],
        /// Time limited by the anti-amplification limit: three times the bytes received from a client whose address is
        /// not validated.
        amplification: f64 ["s"],
        /// Time in which the peer had requests, and waited for permission to open streams (MAX_STREAMS).
        stream_limit: f64 ["s"],
        /// Time limited by the credit of the connection (MAX_DATA).
        connection_credit: f64 ["s"],
        /// Time limited by the credit of streams (MAX_STREAM_DATA).
        stream_credit: f64 ["s"],
        /// Time limited by the send buffer.
        send_buffer: f64 ["s"],
        /// Time without data to send or in flight.
        idle: f64 ["s"],
    }
}

impl From<QuicLimited> for QuicLimitedSeconds {
    fn from(limited: QuicLimited) -> Self {
        let seconds = Duration::as_secs_f64;
        Self {
            handshake: seconds(limited.handshake),
            amplification: seconds(limited.amplification),
            stream_limit: seconds(limited.stream_limit),
            connection_credit: seconds(limited.connection_credit),
            stream_credit: seconds(limited.stream_credit),
            send_buffer: seconds(limited.send_buffer),
            idle: seconds(limited.idle),
        }
    }
}
