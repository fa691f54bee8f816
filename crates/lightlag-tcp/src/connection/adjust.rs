//! What an application changes while a connection lives: the socket options.

use super::{Connection, State};
use crate::config::{Config, KeepAlive};
use lightlag_control::congestion::Choice;
use lightlag_core::{Bytes, Duration, Instant};
use std::sync::Arc;

impl Connection {
    fn change(&mut self) -> &mut Config {
        self.predicts = false;
        Arc::make_mut(&mut self.config)
    }

    /// Holds back small segments while data is in flight (RFC 9293 §3.7.4), or not (TCP_NODELAY).
    pub fn set_nagle(&mut self, on: bool) {
        self.sender.begin_event(&self.config);
        self.change().nagle = on;
        self.sender.set_nagle(on);
    }

    /// Acknowledges the next `segments` at once, and what waits for a delayed ACK too (TCP_QUICKACK).
    pub fn acknowledge_at_once(&mut self, segments: u16) {
        self.receiver.set_quick(segments);
    }

    /// Changes the receive buffer, which does not tune itself any more. The window never shrinks for it.
    pub fn set_receive_buffer(&mut self, bytes: Bytes) {
        let config = self.change();
        config.receive_buffer = bytes;
        config.receive_buffer_initial = None;
        self.receiver.set_buffer(bytes.0);
    }

    /// Watches an idle connection from now on with these times, or no longer.
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

    /// Gives up once data or the handshake was not answered, or a window stayed closed, for so long (TCP_USER_TIMEOUT); zero
    /// leaves that to the number of retries.
    pub fn set_user_timeout(&mut self, timeout: Duration) {
        self.sender.set_user_timeout(timeout);
    }

    /// Gives up after so many repeated SYNs or SYN-ACKs without an answer (TCP_SYNCNT).
    pub fn set_syn_retries(&mut self, retries: u8) {
        self.change().syn_retries = retries;
    }

    /// The path takes segments of at most `mss` bytes, options included: a router said so (RFC 1191 §6, RFC 8201
    /// §5.4). What is outstanding leaves again, cut up. Returns whether that is less than before; a path that takes
    /// more changes nothing.
    pub fn limit_segments(&mut self, now: Instant, mss: u16) -> bool {
        if self.state == State::SynSent {
            return self.shrink_syn(mss);
        }
        let size = self.payload_of(mss);
        let open = !matches!(self.state, State::Closed | State::Listen | State::SynSent | State::SynReceived);
        if !open || size >= self.sender.segment_size() {
            return false;
        }
        self.sender.begin_event(&self.config);
        self.sender.shrink_segments(now, size, &self.config);
        true
    }

    /// The data of a SYN was too much for the path: the SYN leaves again at once, without it (`tcp_simple_retransmit`).
    fn shrink_syn(&mut self, mss: u16) -> bool {
        let smaller = self.fast_open_outcome().sent > 0 && mss < self.config.mss;
        if smaller {
            self.change().mss = mss;
            (self.handshake_due, self.syn_sent) = (true, Instant::MAX);
        }
        smaller
    }

    /// Another congestion control. Returns whether it takes effect: only before the first data leaves.
    pub fn choose_congestion(&mut self, choice: Choice) -> bool {
        let possible = self.sender.congestion().is_none();
        if possible {
            self.change().congestion = choice;
        }
        possible
    }
}
