//! Changes that an application makes during a connection: the socket options.

use super::{Connection, State};
use crate::config::{Config, KeepAlive};
use lightlag_control::congestion::{Choice, Report};
use lightlag_core::{Bytes, Duration, Instant, Rate};
use std::sync::Arc;

impl Connection {
    fn change(&mut self) -> &mut Config {
        self.predicts = false;
        Arc::make_mut(&mut self.config)
    }

    /// Sets whether small segments are held back while data is in flight (RFC 9293 §3.7.4; TCP_NODELAY).
    pub fn set_nagle(&mut self, on: bool) {
        self.begin_event();
        self.change().nagle = on;
        if let Some(sender) = self.sending.awake_mut() {
            sender.set_nagle(on);
        }
    }

    /// Acknowledges the next `segments` at once, and so ACKs that are delayed now (TCP_QUICKACK).
    pub fn acknowledge_at_once(&mut self, segments: u16) {
        self.receiver.set_quick(segments);
    }

    /// Changes the receive buffer, and ends its autotuning. The window never shrinks.
    pub fn set_receive_buffer(&mut self, bytes: Bytes) {
        let config = self.change();
        config.receive_buffer = bytes;
        config.receive_buffer_initial = None;
        self.receiver.set_buffer(bytes.0);
    }

    /// Starts or ends the probing of an idle connection.
    pub fn set_keep_alive(&mut self, now: Instant, timing: Option<KeepAlive>) {
        self.change().keep_alive = timing;
        let watched = !matches!(
            self.state,
            State::Closed | State::Listen | State::SynSent | State::SynReceived | State::TimeWait
        );
        if watched && !(self.state == State::FinWait2 && self.orphan) {
            self.restart_keep_alive(now);
        }
    }

    /// Gives up once data or the handshake was unanswered, or a window stayed closed, for this long (TCP_USER_TIMEOUT).
    /// Zero leaves that to the number of retries.
    pub fn set_user_timeout(&mut self, timeout: Duration) {
        awake!(self).set_user_timeout(timeout);
    }

    /// Bounds the time in FIN-WAIT-2 once the application has closed (TCP_LINGER2).
    pub fn set_fin_wait(&mut self, time: Option<Duration>) {
        self.change().fin_wait = time;
    }

    /// Gives up after this number of repeated SYNs or SYN-ACKs without an answer (TCP_SYNCNT).
    pub fn set_syn_retries(&mut self, retries: u8) {
        self.change().syn_retries = retries;
    }

    /// Limits segments to `mss` bytes, options included, after a router reported it (RFC 1191 §6, RFC 8201 §5.4).
    /// Outstanding data is cut up and leaves again. Returns whether the limit is smaller than before; a larger one
    /// changes nothing.
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

    /// Sends the SYN again at once without its data, which was too much for the path (`tcp_simple_retransmit`).
    fn shrink_syn(&mut self, mss: u16) -> bool {
        let smaller = self.fast_open_outcome().sent > 0 && mss < self.config.mss;
        if smaller {
            self.change().mss = mss;
            (self.handshake_due, self.syn_sent) = (true, Instant::MAX);
        }
        smaller
    }

    /// Replaces the congestion control. Returns whether that takes effect, which it does only before the first data
    /// leaves.
    pub fn choose_congestion(&mut self, choice: Choice) -> bool {
        let possible = self.sending.awake().is_none_or(|sender| sender.congestion().is_none());
        if possible {
            self.change().congestion = choice;
        }
        possible
    }

    /// Sets the window in bytes and the pacing rate of a congestion control that is steered. Returns whether there is one: it
    /// starts with the first data.
    pub fn steer(&mut self, now: Instant, window: u64, pacing_rate: Option<Rate>) -> bool {
        self.begin_event();
        self.sending.awake_mut().is_some_and(|sender| sender.steer(now, window, pacing_rate))
    }

    /// The report of a congestion control that is steered, since the last one.
    pub fn take_told(&mut self) -> Option<Report> {
        Some(self.sending.awake_mut()?.steering()?.take())
    }
}
