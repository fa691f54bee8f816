//! Changes that an application makes during a connection: the socket options.

use super::{Connection, State};
use crate::config::{Config, KeepAliveConfig};
use lightlag_control::congestion::{AckReport, Choice};
use lightlag_core::{Bytes, Duration, Instant, Rate};
use std::sync::Arc;

impl Connection {
    fn change(&mut self) -> &mut Config {
        self.predicts = false;
        Arc::make_mut(&mut self.config)
    }

    /// Sets whether small segments wait while data is in flight (RFC 9293 §3.7.4; TCP_NODELAY).
    pub fn set_nagle(&mut self, on: bool) {
        self.begin_event();
        self.change().nagle = on;
        if let Some(sender) = self.sending.awake_mut() {
            sender.set_nagle(on);
        }
    }

    /// Acknowledges the next `segments` immediately, and sends an ACK that is currently delayed (TCP_QUICKACK).
    pub fn acknowledge_at_once(&mut self, segments: u16) {
        self.receiver.set_quick(segments);
    }

    /// Changes the size of the receive buffer, and stops its autotuning. The advertised window never shrinks.
    pub fn set_receive_buffer(&mut self, bytes: Bytes) {
        let config = self.change();
        config.receive_buffer = bytes;
        config.receive_buffer_initial = None;
        self.receiver.set_buffer(bytes.0);
    }

    /// Starts or stops keep-alive probes.
    pub fn set_keep_alive(&mut self, now: Instant, timing: Option<KeepAliveConfig>) {
        self.change().keep_alive = timing;
        let watched = !matches!(
            self.state,
            State::Closed | State::Listen | State::SynSent | State::SynReceived | State::TimeWait
        );
        if watched && !(self.state == State::FinWait2 && self.orphan) {
            self.restart_keep_alive(now);
        }
    }

    /// Aborts the connection if data or the handshake was unacknowledged, or the peer's window closed, for `timeout`
    /// (TCP_USER_TIMEOUT). With zero, only the number of retries counts.
    pub fn set_user_timeout(&mut self, timeout: Duration) {
        awake!(self).set_user_timeout(timeout);
    }

    /// Sets the maximum time in FIN-WAIT-2 after the application has closed the connection (TCP_LINGER2).
    pub fn set_fin_wait(&mut self, time: Option<Duration>) {
        self.change().fin_wait = time;
    }

    /// Aborts the connection after `retries` unanswered retransmissions of the SYN or SYN-ACK (TCP_SYNCNT).
    pub fn set_syn_retries(&mut self, retries: u8) {
        self.change().syn_retries = retries;
    }

    /// Limits segments to `mss` bytes, options included, after a router reported that limit (RFC 1191 §6, RFC 8201
    /// §5.4). Outstanding data is divided into smaller segments and retransmitted. Returns true if the limit is smaller
    /// than before; a larger one changes nothing.
    pub fn limit_segments(&mut self, now: Instant, mss: u16) -> bool {
        if self.state == State::SynSent {
            return self.shrink_syn(mss);
        }
        let size = self.payload_of(mss);
        let open = !matches!(self.state, State::Closed | State::Listen | State::SynSent | State::SynReceived);
        if !open || size >= self.segment_size() {
            return false;
        }
        self.begin_event();
        awake!(self).shrink_segments(now, size, &self.config);
        true
    }

    /// Retransmits the SYN immediately without its data, because the SYN was too large for the path
    /// (`tcp_simple_retransmit`).
    fn shrink_syn(&mut self, mss: u16) -> bool {
        let smaller = self.fast_open_outcome().sent > 0 && mss < self.config.mss;
        if smaller {
            self.change().mss = mss;
            (self.handshake_due, self.syn_sent) = (true, Instant::MAX);
        }
        smaller
    }

    /// Replaces the congestion control. Returns false, and changes nothing, if data has been sent.
    pub fn choose_congestion(&mut self, choice: Choice) -> bool {
        let possible = self.sending.awake().is_none_or(|sender| sender.congestion().is_none());
        if possible {
            self.change().congestion = choice;
        }
        possible
    }

    /// Sets the window in bytes and the pacing rate of a congestion control that the caller steers. Returns false if
    /// there is none yet: it is created with the first data.
    pub fn steer(&mut self, now: Instant, window: u64, pacing_rate: Option<Rate>) -> bool {
        self.begin_event();
        self.sending.awake_mut().is_some_and(|sender| sender.steer(now, window, pacing_rate))
    }

    /// Takes the report on ACKs, losses and timeouts since the previous call; `None` unless the caller steers the
    /// congestion control.
    pub fn take_told(&mut self) -> Option<AckReport> {
        Some(self.sending.awake_mut()?.steering()?.take())
    }
}
