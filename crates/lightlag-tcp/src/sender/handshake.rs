//! The sender's part of the handshake: the timer of the SYN, the first round-trip sample, the initial window.

use super::{Expiry, Sender, Timer, payload, rules, segments};
use crate::config::{Config, Scheme};
use crate::recovery::Recovery;
use crate::scoreboard::{Chunk, Delivery};
use crate::timestamps::ticks_since;
use lightlag_control::rtt::Progress;
use lightlag_core::{Duration, Instant};

/// Options that were negotiated in the handshake.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NegotiatedOptions {
    /// Whether SACK is used.
    pub(crate) sack: bool,
    /// Whether ECN is used.
    pub(crate) ecn: bool,
    /// Whether SNACK is used.
    pub(crate) snack: bool,
}

impl Sender {
    /// Sets the payload of full segments, in bytes.
    pub(crate) fn set_segment_size(&mut self, bytes: u32) {
        self.segment_size = payload(bytes);
        if self.congestion.is_none() {
            // Compressed headers may leave space for more payload than assumed before the handshake.
            self.cwnd = self.cwnd.max(self.initial_cwnd());
        }
    }

    /// Starts the timer of a SYN or SYN-ACK. The timeout doubles each time, except after the first `linear` ones.
    pub(crate) fn arm_handshake(&mut self, now: Instant, linear: u8, config: &Config) {
        let wait = self.handshake_timeout(linear, config);
        self.deadline = now + if self.retries > 0 { self.within_user_timeout(now, wait) } else { wait };
    }

    /// Starts the timer for the SYN-ACK of a connection that already has data to send. Until the ACK of the SYN-ACK
    /// arrives, nothing else is retransmitted (`tcp_retransmit_timer` of Linux).
    pub(crate) fn arm_answer(&mut self, now: Instant, config: &Config) {
        self.timer = Timer::Answer;
        self.arm_handshake(now, 0, config);
    }

    /// Handles the ACK of the SYN-ACK of a connection that already had data to send.
    pub(crate) fn confirm_answer(&mut self, now: Instant, config: &Config) {
        self.retries = 0;
        self.restart_timer(now, config);
        self.tail.stale = true;
    }

    fn handshake_timeout(&self, linear: u8, config: &Config) -> Duration {
        let doublings = self.retries.saturating_sub(linear).min(32);
        (config.rto.syn * (1 << doublings)).min(config.rto.max)
    }

    /// Called when the exact time of the handshake timer has come. Returns true if the timer fires only at a later tick
    /// of the clock.
    pub(crate) fn handshake_timer_waits(&mut self, now: Instant, linear: u8, config: &Config) -> bool {
        let wait = self.handshake_timeout(linear, config);
        self.put_off_deadline(now, config, wait)
    }

    /// Handles the timeout of a SYN or SYN-ACK that was first sent at `since`.
    pub(crate) fn handshake_timed_out(&mut self, now: Instant, since: Instant, linear: u8, config: &Config) -> Expiry {
        self.account.timeouts.increment();
        self.account.waited_for_timeout(self.limit, now, self.handshake_timeout(linear, config));
        self.deadline = Instant::MAX;
        let in_vain = linear > 0 && now.since(since) >= longest_handshake(config);
        let spent = self.retries >= config.syn_retries.saturating_add(linear);
        if in_vain || spent || self.user_timed_out(now, self.retries == 0) {
            return Expiry::GiveUp;
        }
        self.retries += 1;
        Expiry::Continue
    }

    /// Stops the handshake timer. Returns the number of retransmissions of the SYN or SYN-ACK.
    pub(crate) fn end_handshake(&mut self) -> u8 {
        self.deadline = Instant::MAX;
        std::mem::take(&mut self.retries)
    }

    /// Takes the first round-trip sample from the SYN, if it was sent once or carried timestamps (Karn's algorithm).
    pub(crate) fn sample_handshake(
        &mut self,
        now: Instant,
        syn_sent: Instant,
        retransmissions: u8,
        echo: Option<u32>,
        config: &Config,
    ) {
        let rtt = match echo {
            _ if retransmissions == 0 => now.since(syn_sent),
            Some(echo) => ticks_since(now, echo),
            None => {
                self.rtt.restart();
                return;
            }
        };
        if !rtt.is_zero() {
            self.rtt.observe(rtt);
            self.rtt.sample_at(rtt, &config.rto, Progress::default());
        }
    }

    /// Handles a SYN-ACK that acknowledges `accepted` of the `sent` data bytes in the SYN, and advertises `window`
    /// after them. The rest is retransmitted without a reduction of the window (`tcp_non_congestion_loss_retransmit` of
    /// Linux).
    pub(crate) fn accept_early(&mut self, now: Instant, sent: u32, accepted: u32, window: u64, config: &Config) {
        self.set_peer_window(accepted.into(), window);
        if sent == 0 {
            return;
        }
        if accepted < sent && self.congestion.is_none() {
            // It is notified of all data in flight.
            self.start_congestion(config);
        }
        let number = self.board.numbers().1;
        self.board.sent(now, sent, false);
        self.note_sent(now, number, Chunk { start: 0, len: sent, fin: false }, 0);
        self.board.acknowledge(accepted.into(), &mut Delivery::default());
        // The transmission time of the SYN is unknown here: it gives no sample of the delivery rate.
        self.sample_rate(now);
        if accepted < sent {
            self.shrink_segments(now, self.segment_size.into(), config);
        }
    }

    /// Completes the handshake, with an initial window in segments and the peer's first window in bytes.
    pub(crate) fn establish(
        &mut self,
        now: Instant,
        agreed: NegotiatedOptions,
        initial_window: u32,
        peer_window: u64,
        config: &Config,
    ) {
        self.agree(agreed, config);
        self.initial_window = segments(initial_window);
        self.cwnd = self.congestion.as_ref().map_or(self.initial_cwnd(), |congestion| congestion.window());
        self.set_peer_window(0, peer_window);
        self.account.start_window(now);
    }

    /// Applies the negotiated options.
    pub(super) fn agree(&mut self, agreed: NegotiatedOptions, config: &Config) {
        let scheme = match config.recovery {
            Scheme::Sack | Scheme::Rack | Scheme::Fack if !agreed.sack => Scheme::NewReno,
            Scheme::Snack if !agreed.snack && agreed.sack => Scheme::Sack,
            Scheme::Snack if !agreed.snack => Scheme::NewReno,
            scheme => scheme,
        };
        self.board.set_segment_size(self.segment_size.into());
        if scheme == Scheme::Rack {
            self.board.keep_times();
        }
        if scheme == Scheme::Fack {
            self.board.keep_order();
        }
        self.recovery = Recovery::new(rules(config, scheme, agreed.sack));
        self.tell_recovery();
        self.ecn = agreed.ecn;
    }
}

/// Returns the total time of the SYN timeouts if each were twice the previous one. After this time Linux aborts, even
/// if the first timeouts did not double (`retransmits_timed_out` in `tcp_write_timeout`).
fn longest_handshake(config: &Config) -> Duration {
    (0..=u32::from(config.syn_retries))
        .map(|doublings| (config.rto.syn * (1 << doublings.min(32))).min(config.rto.max))
        .fold(Duration::ZERO, |sum, timeout| sum + timeout)
}
