//! Closing of a connection: FINs from both sides, TIME-WAIT, orphans, keep-alive (RFC 9293 §3.6, §3.8.4).

use super::{Connection, State};
use crate::Profile;
use crate::segment::Segment;
use crate::sender::Sending;
use lightlag_core::{Duration, Instant};
use lightlag_transport::Failure;

/// Timer of an idle connection (RFC 9293 §3.8.4).
#[derive(Debug, Default)]
pub(super) struct KeepAliveTimer {
    /// Time of the last segment from the peer.
    heard: Instant,
    /// Time of the next check of the connection.
    at: Instant,
    /// Number of unanswered probes.
    unanswered: u16,
    due: bool,
}

impl Connection {
    /// Releases the connection: the application neither writes nor reads any more. FIN-WAIT-2 then ends after a time
    /// limit, and data that still arrives causes a reset (RFC 9293 §3.6.1; Linux calls such a connection an orphan).
    pub fn release(&mut self, now: Instant) {
        self.close();
        self.predicts = false;
        self.orphan = true;
        if self.receiver.skips_holes() {
            self.watch_holes();
        }
        if self.state == State::FinWait2 {
            self.limit_fin_wait(now);
        }
    }

    /// Handles the acknowledgement of the local FIN.
    #[cold]
    pub(super) fn fin_acknowledged(&mut self, now: Instant) {
        self.state = match self.state {
            State::FinWait1 => State::FinWait2,
            State::Closing => self.wait(now),
            State::LastAck => return self.finish(None),
            other => other,
        };
        if self.state == State::FinWait2 && self.orphan {
            self.limit_fin_wait(now);
        }
    }

    /// Handles the peer's FIN, once all data before it has arrived.
    #[cold]
    pub(super) fn peer_fin(&mut self, now: Instant) {
        if matches!(self.state, State::FinWait1 | State::FinWait2) {
            // No local FIN follows that could carry the ACK.
            self.receiver.acknowledge_now();
        }
        self.state = match self.state {
            State::Established => State::CloseWait,
            State::FinWait1 => State::Closing,
            State::FinWait2 => self.wait(now),
            other => other,
        };
    }

    fn limit_fin_wait(&mut self, now: Instant) {
        if self.config.profile == Profile::Linux
            && let Some(ecn) = self.extras.ecn_mut()
        {
            // The kernel keeps only a stub of the connection (`tcp_time_wait`).
            ecn.fall_silent();
        }
        if let Some(timeout) = self.config.fin_wait {
            self.linger = now + timeout;
        }
    }

    fn wait(&mut self, now: Instant) -> State {
        self.linger = now + self.config.time_wait;
        State::TimeWait
    }

    /// Ends the connection, for this reason if it failed.
    #[cold]
    pub(super) fn finish(&mut self, failure: Option<Failure>) {
        self.state = State::Closed;
        if failure.is_some() {
            awake!(self).account.failure = failure;
        }
        match &mut self.sending {
            Sending::Awake(sender) => sender.stop(),
            Sending::Resting(rest) => rest.deadline = Instant::MAX,
        }
        self.receiver.stop();
        self.leave_bucket();
        self.linger = Instant::MAX;
        self.handshake_due = false;
        self.extras.put_keep_alive(None);
    }

    /// Aborts the connection after too many expiries of the retransmission timer or the persist timer (RFC 9293 §3.8.3,
    /// R2).
    #[cold]
    pub(super) fn give_up(&mut self) {
        let (una, nxt) = self.edges();
        let probing = una == nxt;
        self.finish(Some(if probing { Failure::ProbeTimeout } else { Failure::Timeout }));
    }

    /// Returns the probe of a closed window, with an old sequence number, which the peer must acknowledge, or with the
    /// next byte. In an outage, and for abandoned data at the end of the stream, returns the probe for that case.
    #[cold]
    pub(super) fn probe(&mut self, now: Instant) -> Segment {
        let sender = awake!(self);
        let (flight, probed) = (sender.board().flight() as u32, sender.probed());
        if sender.in_outage() {
            return self.pure_ack(now, flight + 1);
        }
        if sender.tells_of_tail() {
            return self.probe_of_tail(now);
        }
        if probed == 0 {
            return self.pure_ack(now, 1);
        }
        self.count_ack();
        let seq = self.local.plus(self.nxt() as u32);
        let mut segment = self.acknowledging(now, seq);
        segment.len = probed as u16;
        self.follows = false;
        segment
    }

    /// Handles the timer of states without data in flight: TIME-WAIT, FIN-WAIT-2 of an orphan, or keep-alive.
    #[cold]
    pub(super) fn linger_ended(&mut self, now: Instant) {
        self.linger = Instant::MAX;
        match self.state {
            State::TimeWait => self.finish(None),
            State::FinWait2 if self.orphan => self.finish(Some(Failure::FinWait)),
            _ => {
                self.patience_ended(now);
                self.keep_alive_fired(now);
            }
        }
    }

    /// Starts the keep-alive timer of an established connection, if keep-alive is configured.
    pub(super) fn start_keep_alive(&mut self, now: Instant) {
        if let Some(timing) = self.config.keep_alive {
            let deadline = now + timing.idle;
            let keep = KeepAliveTimer { heard: now, at: deadline, unanswered: 0, due: false };
            self.extras.put_keep_alive(Some(Box::new(keep)));
            self.linger = deadline.min(self.receiver.patience_ends());
        }
    }

    /// Restarts the keep-alive timer after its configuration changed.
    pub(super) fn restart_keep_alive(&mut self, now: Instant) {
        self.extras.put_keep_alive(None);
        self.watch_holes();
        self.start_keep_alive(now);
    }

    /// Records the time when an acceptable segment arrived, for keep-alive.
    pub(super) fn heard(&mut self, now: Instant) {
        if let Some(keep) = self.extras.keep_alive_mut() {
            keep.heard = now;
            keep.unanswered = 0;
        }
    }

    fn keep_alive_fired(&mut self, now: Instant) {
        // As in Linux, it replaces the number of probes.
        let user_timeout = self.sending.awake().map_or(Duration::ZERO, |sender| sender.user_timeout());
        let deadline = self.sending_deadline();
        let (Some(keep), Some(timing)) = (self.extras.keep_alive_mut(), self.config.keep_alive) else { return };
        if now < keep.at {
            // The timeout of a hole expired earlier.
            return self.watch_holes();
        }
        let idle_until = keep.heard + timing.idle;
        if keep.unanswered == 0 && now < idle_until {
            keep.at = idle_until;
        } else if deadline != Instant::MAX {
            // While data is in flight or waits for a window, other timers check the peer.
            keep.at = now + timing.idle;
        } else if keep.unanswered > 0 && !user_timeout.is_zero() && now.since(keep.heard) >= user_timeout
            || user_timeout.is_zero() && keep.unanswered >= timing.probes
        {
            self.reset_peer();
            return self.finish(Some(Failure::KeepAlive));
        } else {
            keep.unanswered += 1;
            keep.due = true;
            keep.at = now + timing.interval;
        }
        self.watch_holes();
    }

    /// Sets the timer for the timeout of a hole, or for the check of an idle connection.
    pub(super) fn watch_holes(&mut self) {
        let looked_after = self.extras.keep_alive().map_or(Instant::MAX, |keep| keep.at);
        // An orphan's data is never read.
        let patience = if self.orphan { Instant::MAX } else { self.receiver.patience_ends() };
        self.linger = looked_after.min(patience);
    }

    /// Returns true if a keep-alive probe is due.
    pub(super) fn keep_alive_due(&self) -> bool {
        self.extras.keep_alive().is_some_and(|keep| keep.due)
    }

    /// Returns the keep-alive probe if it is due. It carries no data and an old sequence number, so that the peer sends
    /// an ACK.
    pub(super) fn poll_keep_alive(&mut self, now: Instant) -> Option<Segment> {
        let keep = self.extras.keep_alive_mut()?;
        if !std::mem::take(&mut keep.due) {
            return None;
        }
        awake!(self).account.rare().probes += 1;
        Some(self.pure_ack(now, 1))
    }
}
