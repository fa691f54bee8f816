//! The sender's part of the handshake: the timer of the SYN, the first sample, the first window.

use super::{Expiry, Sender, Timer, payload, rules, segments};
use crate::config::{Config, Scheme};
use crate::recovery::Recovery;
use crate::scoreboard::{Chunk, Delivery};
use crate::timestamps::ticks_since;
use lightlag_control::rtt::Progress;
use lightlag_core::{Duration, Instant};

/// The agreement of the handshake.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Agreed {
    /// Whether SACK is used.
    pub(crate) sack: bool,
    /// Whether ECN is used.
    pub(crate) ecn: bool,
    /// Whether SNACK is used.
    pub(crate) snack: bool,
}

impl Sender {
    /// Sets the payload of full segments.
    pub(crate) fn set_segment_size(&mut self, bytes: u32) {
        self.segment_size = payload(bytes);
        if self.congestion.is_none() {
            // Compressed headers may make room for more than assumed before the handshake.
            self.cwnd = self.cwnd.max(self.initial_cwnd());
        }
    }

    /// Starts the timer of a SYN or SYN-ACK, which doubles after each timeout but the first `linear` ones.
    pub(crate) fn arm_handshake(&mut self, now: Instant, linear: u8, config: &Config) {
        let wait = self.handshake_timeout(linear, config);
        self.deadline = now + if self.retries > 0 { self.within_user_timeout(now, wait) } else { wait };
    }

    /// Starts the timer for the SYN-ACK of a connection that already has data: until it is answered, nothing else is
    /// sent again (`tcp_retransmit_timer` of Linux).
    pub(crate) fn arm_answer(&mut self, now: Instant, config: &Config) {
        self.timer = Timer::Answer;
        self.arm_handshake(now, 0, config);
    }

    /// The SYN-ACK of such a connection is answered.
    pub(crate) fn confirm_answer(&mut self, now: Instant, config: &Config) {
        self.retries = 0;
        self.restart_timer(now, config);
        self.tail.stale = true;
    }

    fn handshake_timeout(&self, linear: u8, config: &Config) -> Duration {
        let doublings = self.retries.saturating_sub(linear).min(32);
        (config.rto.syn * (1 << doublings)).min(config.rto.max)
    }

    /// Whether the timer of the handshake, whose time has come, fires later by the clock's ticks.
    pub(crate) fn handshake_timer_waits(&mut self, now: Instant, linear: u8, config: &Config) -> bool {
        let wait = self.handshake_timeout(linear, config);
        self.put_off_deadline(now, config, wait)
    }

    /// Handles a SYN or SYN-ACK, first sent at `since`, that was not answered in time.
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

    /// Ends the handshake. Returns the number of repetitions of its segment.
    pub(crate) fn end_handshake(&mut self) -> u8 {
        self.deadline = Instant::MAX;
        std::mem::take(&mut self.retries)
    }

    /// Takes the first round-trip sample from the SYN, if it was sent once, or with timestamps (Karn).
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

    /// Notes that the peer accepted this many of the `sent` bytes in the SYN, and advertises `window` after them. The
    /// rest leaves again, at no cost to the window (`tcp_non_congestion_loss_retransmit` of Linux).
    pub(crate) fn accept_early(&mut self, now: Instant, sent: u32, accepted: u32, window: u64, config: &Config) {
        self.set_peer_window(accepted.into(), window);
        if sent == 0 {
            return;
        }
        if accepted < sent && self.congestion.is_none() {
            // It is told of all data in flight.
            self.start_congestion(config);
        }
        let number = self.board.numbers().1;
        self.board.sent(now, sent, false);
        self.note_sent(now, number, Chunk { start: 0, len: sent, fin: false }, 0);
        self.board.acknowledge(accepted.into(), &mut Delivery::default());
        // The departure of the SYN is unknown here: it gives no sample of the delivery rate.
        self.sample_rate(now);
        if accepted < sent {
            self.shrink_segments(now, self.segment_size.into(), config);
        }
    }

    /// Completes the handshake, with an initial window of so many segments and the peer's first window of so many bytes.
    pub(crate) fn establish(
        &mut self,
        now: Instant,
        agreed: Agreed,
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

    /// Follows the agreement of the handshake.
    pub(super) fn agree(&mut self, agreed: Agreed, config: &Config) {
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

/// Total time of timeouts that double from the first on: Linux then gives up, however few of them did double
/// (`retransmits_timed_out` in `tcp_write_timeout`).
fn longest_handshake(config: &Config) -> Duration {
    (0..=u32::from(config.syn_retries))
        .map(|doublings| (config.rto.syn * (1 << doublings.min(32))).min(config.rto.max))
        .fold(Duration::ZERO, |sum, timeout| sum + timeout)
}
