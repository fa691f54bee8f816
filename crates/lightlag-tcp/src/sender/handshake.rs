//! What the handshake leaves to the sender: the timer of the SYN, the first sample, the first window.

use super::{Expiry, Sender, Timer, rules};
use crate::account::Account;
use crate::config::{Config, Scheme};
use crate::recovery::Recovery;
use crate::scoreboard::{Chunk, Delivery};
use crate::timestamps::ticks_since;
use lightlag_control::rtt::Progress;
use lightlag_core::{Duration, Instant};

/// What RFC 6298 §5.7 takes for data when the SYN timed out and gave no sample.
const RTO_AFTER_SYN_LOSS: Duration = Duration::from_secs(3);

/// What the handshake agreed on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Agreed {
    /// Initial window in segments.
    pub(crate) initial_window: u32,
    /// Whether SACK is used.
    pub(crate) sack: bool,
    /// Whether ECN is used.
    pub(crate) ecn: bool,
    /// Whether SNACK is.
    pub(crate) snack: bool,
    /// The peer's first window in bytes.
    pub(crate) peer_window: u64,
}

impl Sender {
    /// Full segments carry so many bytes.
    pub(crate) fn set_segment_size(&mut self, bytes: u32) {
        self.segment_size = bytes;
        if self.congestion.is_none() {
            // Compressed headers make room for more than was thought before the handshake.
            self.cwnd = self.cwnd.max(self.initial_cwnd());
        }
    }

    /// A SYN or SYN-ACK leaves: waits for its answer, twice as long after each timeout but the first `linear` ones.
    pub(crate) fn arm_handshake(&mut self, now: Instant, linear: u8, config: &Config) {
        let wait = self.handshake_timeout(linear, config);
        self.deadline = now + if self.retries > 0 { self.within_user_timeout(now, wait) } else { wait };
    }

    /// The SYN-ACK leaves of a connection that has data already: until it is answered, nothing else leaves again
    /// (`tcp_retransmit_timer` of Linux).
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

    /// Whether the timer of the handshake, whose time has come, fires later, as the clock's ticks have it.
    pub(crate) fn handshake_timer_waits(&mut self, now: Instant, linear: u8, config: &Config) -> bool {
        let wait = self.handshake_timeout(linear, config);
        self.put_off_deadline(now, config, wait)
    }

    /// Nobody answered the SYN or SYN-ACK, which left first at `since`, in time.
    pub(crate) fn handshake_timed_out(
        &mut self,
        now: Instant,
        since: Instant,
        linear: u8,
        config: &Config,
        account: &mut Account,
    ) -> Expiry {
        account.statistics.timeouts += 1;
        account.waited_for_timeout(self.limit, now, self.handshake_timeout(linear, config));
        self.deadline = Instant::MAX;
        let in_vain = linear > 0 && now.since(since) >= longest_handshake(config);
        let spent = self.retries >= config.syn_retries.saturating_add(linear);
        if in_vain || spent || self.user_timed_out(now, self.retries == 0) {
            return Expiry::GiveUp;
        }
        self.retries += 1;
        Expiry::Continue
    }

    /// The handshake is over; returns how often its segment had to be repeated.
    pub(crate) fn end_handshake(&mut self) -> u8 {
        self.deadline = Instant::MAX;
        std::mem::take(&mut self.retries)
    }

    /// The SYN gives the first round-trip sample if it left once, or with timestamps (Karn).
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
                // RFC 6298 §5.7.
                self.rtt.restart(RTO_AFTER_SYN_LOSS.max(config.rto.initial));
                return;
            }
        };
        if !rtt.is_zero() {
            self.rtt.observe(rtt);
            self.rtt.sample_at(rtt, &config.rto, Progress::default());
        }
    }

    /// Of `sent` bytes that left with the SYN the peer took so many, and it advertises `window` behind them. The rest leaves
    /// again, which costs no window (`tcp_non_congestion_loss_retransmit` of Linux).
    pub(crate) fn accept_early(&mut self, now: Instant, sent: u32, accepted: u32, window: u64, config: &Config) {
        self.set_peer_window(accepted.into(), window);
        if sent == 0 {
            return;
        }
        if accepted < sent && self.congestion.is_none() {
            // It is told of all that is under way.
            self.start_congestion(config);
        }
        let number = self.board.numbers().1;
        self.board.sent(now, sent, false);
        self.note_sent(now, number, Chunk { start: 0, len: sent, fin: false }, 0);
        self.board.acknowledge(accepted.into(), &mut Delivery::default());
        // When the SYN left is not known here: it gives no sample of the delivery rate.
        self.sample_rate(now);
        if accepted < sent {
            self.shrink_segments(now, self.segment_size, config);
        }
    }

    /// The handshake is done.
    pub(crate) fn establish(&mut self, now: Instant, agreed: Agreed, config: &Config, account: &mut Account) {
        let scheme = match config.recovery {
            Scheme::Sack | Scheme::Rack | Scheme::Fack if !agreed.sack => Scheme::NewReno,
            Scheme::Snack if !agreed.snack && agreed.sack => Scheme::Sack,
            Scheme::Snack if !agreed.snack => Scheme::NewReno,
            scheme => scheme,
        };
        self.board.set_segment_size(self.segment_size);
        if scheme == Scheme::Rack {
            self.board.keep_times();
        }
        if scheme == Scheme::Fack {
            self.board.keep_order();
        }
        self.recovery = Recovery::new(rules(config, scheme, agreed.sack), self.segment_size);
        self.tell_recovery();
        self.initial_window = agreed.initial_window;
        self.ecn = agreed.ecn;
        self.cwnd = self.congestion.as_ref().map_or(self.initial_cwnd(), |congestion| congestion.window());
        self.set_peer_window(0, agreed.peer_window);
        account.start_window(now);
    }
}

/// How long the timeouts last that double from the first on: Linux gives up then, however few of them did double
/// (`retransmits_timed_out` in `tcp_write_timeout`).
fn longest_handshake(config: &Config) -> Duration {
    (0..=u32::from(config.syn_retries))
        .map(|doublings| (config.rto.syn * (1 << doublings.min(32))).min(config.rto.max))
        .fold(Duration::ZERO, |sum, timeout| sum + timeout)
}
