//! Selection of the next segment to send, and the reason why no more are sent.

use super::{Sender, Timer};
use crate::config::{Config, RttSamples};
use crate::scoreboard::{Chunk, Neighbours};
use lightlag_control::congestion::Phase;
use lightlag_core::{Duration, Instant};
use lightlag_transport::Limit;

/// Maximum time for which data waits because the peer's window is too small for it (RFC 9293 §3.8.6.2.1: 0.1 to 1 s).
const OVERRIDE: Duration = Duration::from_secs(1);

/// With SNACK, number of retransmissions of the first segment that each restart the retransmission timer (the number of
/// reports of a hole in the SCPS-TP reference implementation).
const RESNACK: u8 = 3;

/// Approximate time that a kernel takes from the arrival of an ACK until it checks for new data. In 19 runs of BBR in a
/// 6.18 kernel, new data overtook 173 retransmissions after timeouts; there were about 30 retransmissions for each
/// microsecond by which they followed the last ACK.
const ACK_TAKES: Duration = Duration::from_nanos(5_500);

/// The next segment to send.
pub(super) enum Choice {
    New(Chunk),
    /// A retransmission of the record with this number.
    Again(u64),
    /// The rescue retransmission of an episode: the record with this number.
    Rescue(u64),
    /// Nothing: the sender waits for the next ACK, with which the burst becomes larger.
    Wait,
}

impl Sender {
    /// Returns the next segment with data or a FIN that may be sent now.
    pub(crate) fn poll(&mut self, now: Instant, config: &Config) -> Option<Chunk> {
        if self.limit == Limit::Application
            && self.board.is_empty()
            && self.written <= self.board.nxt()
            && !self.closing
            && !(self.special.extra().is_some() && self.fill_buffer())
        {
            // The common case of an end that only receives.
            return None;
        }
        if self.burst_left == 0 || self.in_outage() {
            return None;
        }
        if self.tail.due
            && let Some(chunk) = self.probe_tail(now, config)
        {
            return Some(chunk);
        }
        if self.board.is_empty() && self.written > self.board.nxt() {
            self.restart_after_idle(now, config);
        }
        let Some(room) = self.room(now) else {
            self.arm_tail_if_stale(now, config);
            self.note_limit(now, Limit::Pacing);
            return None;
        };
        let choice = self.choose(now, room, config);
        if let Some(chunk) = self.overtaking(now, &choice, room, config) {
            if !self.in_burst() {
                self.begin_burst(now, room);
            }
            return Some(self.send_new(now, chunk, config));
        }
        match choice {
            Ok(Choice::Wait) => {
                // Treated as if the smaller of the two windows were full.
                let of_peer = self.peer_edge.saturating_sub(self.board.nxt());
                let (limit, room) = if of_peer < room { (Limit::Rwnd, room) } else { (Limit::Cwnd, 0) };
                self.note_blocked(now, limit, room, config);
                None
            }
            Ok(choice) if self.is_held(now, &choice) => {
                self.special.pacer_mut().wait();
                self.recovery.held_in_test(&self.board);
                self.arm_tail_if_stale(now, config);
                self.note_limit(now, Limit::Pacing);
                None
            }
            Ok(Choice::New(chunk)) => {
                if self.congestion.is_none() {
                    self.start_congestion(config);
                }
                Some(self.send_new(now, chunk, config))
            }
            Ok(choice @ (Choice::Again(number) | Choice::Rescue(number))) => {
                if config.tso && self.recovery.guesses() {
                    self.join_repairs(now, number, self.resend_head);
                }
                self.resend_head = false;
                if matches!(choice, Choice::Rescue(_)) {
                    self.recovery.rescued();
                }
                Some(self.retransmit(now, number, config))
            }
            Err(blocked) => {
                self.note_blocked(now, blocked, room, config);
                None
            }
        }
    }

    /// Returns true if pacing delays this segment.
    #[inline(always)]
    pub(super) fn is_held(&self, now: Instant, choice: &Choice) -> bool {
        self.special.pacer().holds(now) && !self.in_burst() && !self.is_joined(now, choice)
    }

    /// Returns new data to send before the retransmission that is due; `None` if the retransmission is sent first.
    #[inline(always)]
    pub(super) fn overtaking(
        &self,
        now: Instant,
        choice: &Result<Choice, Limit>,
        room: u64,
        config: &Config,
    ) -> Option<Chunk> {
        let is_repair = matches!(choice, Ok(Choice::Again(_)));
        if is_repair && self.is_overtaken(now, config) { self.next_new(room).ok() } else { None }
    }

    /// Returns true if a retransmission is sent in the same burst as the previous one.
    fn is_joined(&self, now: Instant, choice: &Choice) -> bool {
        let joined = self.special.extra().and_then(|extra| extra.joined_repair);
        matches!(choice, Choice::Again(number) if joined == Some(*number)) && self.last_sent == now
    }

    /// After a timeout, joins retransmissions of data that was first sent in one burst: two segments are sent together
    /// as far as the window permits, and pacing counts both together. The segment that the timeout itself retransmits
    /// is sent alone (`tcp_retransmit_skb`; fast retransmit repairs one segment, `tcp_newreno_mark_lost`).
    #[cold]
    fn join_repairs(&mut self, now: Instant, number: u64, first: bool) {
        let size = u64::from(self.segment_size);
        let alone = first || self.recovery.phase() != Phase::Loss || self.window() < self.board.pipe() + 2 * size;
        let extra = self.special.extra_mut();
        if extra.joined_repair.take() == Some(number) && self.last_sent == now {
            extra.paced_repair = Some(0);
        } else if alone || !self.board.joins(number + 1) {
            self.board.cut_burst(number + 1);
            extra.paced_repair = None;
        } else {
            extra.joined_repair = Some(number + 1);
            extra.paced_repair = Some(2 * size);
        }
    }

    /// Returns true if new data is sent before a retransmission that pacing delays. Linux decides about the
    /// retransmission with the arrival time of the ACK, and about new data with the time after it processed the ACK
    /// (`tcp_pacing_check`; `tcp_write_xmit` calls `tcp_mstamp_refresh`). If the pacing delay ends between these two
    /// times, new data is sent first.
    fn is_overtaken(&self, now: Instant, config: &Config) -> bool {
        let begun = self.in_burst() && self.last_sent == now;
        let freed = self.special.pacer().holds(now) && self.special.pacer().next_departure() <= now + ACK_TAKES;
        config.tso && !self.resend_head && (begun || freed)
    }

    /// Returns how many bytes may be sent now; `None` if data waits for the next burst.
    #[inline(always)]
    pub(super) fn room(&mut self, now: Instant) -> Option<u64> {
        if self.needs.bursts {
            return self.released(now);
        }
        Some(self.window().saturating_sub(self.recovery.outstanding(&self.board)))
    }

    /// Returns the next segment to send if the window has space for `room` bytes, or the reason why there is none.
    // Always inlined: it has a second, rare caller, and a call costs each segment 20 instructions.
    #[inline(always)]
    pub(super) fn choose(&mut self, now: Instant, mut room: u64, config: &Config) -> Result<Choice, Limit> {
        if self.resend_head {
            while let Some(head) = self.board.head().or_else(|| self.head_behind_given_up()) {
                if !self.gives_up(now, head, config) {
                    return Ok(Choice::Again(head));
                }
                // A copy of it may have counted as in flight.
                room = self.room(now).unwrap_or(room);
            }
            self.resend_head = false;
        }
        let repairs = room >= u64::from(self.segment_size) || self.recovery.repairs_at_once();
        if repairs && let Some(number) = self.next_repair(now, config) {
            return Ok(Choice::Again(number));
        }
        let blocked = match self.next_new(room) {
            Ok(chunk) if config.tso && chunk.len > 0 && !self.in_burst() && self.puts_off(now, room) => {
                return Ok(Choice::Wait);
            }
            Ok(chunk) => return Ok(Choice::New(chunk)),
            Err(blocked) => blocked,
        };
        if self.recovery.wants_new_data() && blocked != Limit::Cwnd {
            self.recovery.give_up_test();
            return self.choose(now, room, config);
        }
        if blocked != Limit::Cwnd
            && repairs
            && let Some((number, rescue)) = self.recovery.next_speculative(&mut self.board)
            && self.may_leave_again(number)
        {
            return Ok(if rescue { Choice::Rescue(number) } else { Choice::Again(number) });
        }
        Err(blocked)
    }

    /// Returns new data that may be sent if the window has space for `room` bytes, or the limit that forbids it (RFC
    /// 9293 §3.8.6.2.1).
    #[inline(always)]
    pub(super) fn next_new(&self, room: u64) -> Result<Chunk, Limit> {
        let nxt = self.board.nxt();
        let pending = self.written.saturating_sub(nxt);
        if pending == 0 {
            return if self.closing && nxt == self.written && self.peer_edge > nxt {
                // A FIN alone does not wait for the congestion window.
                Ok(Chunk { start: nxt, len: 0, fin: true })
            } else if self.closing && nxt == self.written {
                Err(Limit::Rwnd)
            } else {
                Err(Limit::Application)
            };
        }
        let size = u64::from(self.segment_size);
        let allowed = self.peer_edge.saturating_sub(nxt);
        let mut full = pending.min(size);
        if self.cuts_segments() {
            full = self.within_record(nxt, full);
        }
        let len = full.min(allowed);
        let is_worth =
            || self.override_small || len >= u64::from(self.max_window / 2) || self.completes_burst(nxt + len);
        if len == 0 || len < full && !is_worth() {
            return Err(Limit::Rwnd);
        }
        if len > room {
            return Err(Limit::Cwnd);
        }
        let last = len == pending;
        if self.nagle && last && len < size && !self.closing && self.holds_small() {
            return Err(Limit::Application);
        }
        let fin = last && self.closing && allowed > len && !self.parts_with_data();
        Ok(Chunk { start: nxt, len: len as u32, fin })
    }

    /// Returns true if a small segment has to wait (RFC 9293 §3.7.4): while data is in flight, or with Minshall's
    /// variant while another small segment is in flight (`tcp_minshall_check` of Linux).
    pub(super) fn holds_small(&self) -> bool {
        let small_end = || self.special.extra().map_or(0, |extra| extra.small_end);
        !self.board.is_empty() && (!self.minshall || small_end() > self.board.una())
    }

    #[inline(always)]
    fn left(&mut self, now: Instant, chunk: Chunk, again: bool, config: &Config) {
        self.burst_left -= 1;
        self.last_sent = now;
        self.recovery.sent(now, chunk.len, again, self.board.pipe());
        if config.pacing || self.needs.pacing {
            self.pace(now, chunk, again, config);
        }
    }

    #[inline(always)]
    pub(super) fn send_new(&mut self, now: Instant, chunk: Chunk, config: &Config) -> Chunk {
        let (number, in_flight) = (self.board.numbers().1, self.board.pipe());
        let continues = config.tso && self.in_burst_after(chunk.start);
        self.board.sent_in_burst(now, chunk.len, chunk.fin, continues);
        self.board.neighbours = Neighbours::new(continues, false);
        if self.nagle && self.minshall && chunk.len < self.segment_size.into() {
            self.special.extra_mut().small_end = chunk.start + u64::from(chunk.len);
        }
        if config.rtt_samples == RttSamples::Timed && !self.is_timing() {
            self.begin_timing(now);
        }
        self.note_sent(now, number, chunk, in_flight);
        self.left(now, chunk, false, config);
        if config.receive_offload {
            self.note_more_new(chunk);
        }
        self.override_small = false;
        if self.timer == Timer::Persist {
            self.rtt.end_back_off();
            self.persisting = super::persist::Persisting::default();
            self.deadline = Instant::MAX;
        }
        if self.deadline == Instant::MAX {
            self.timer = Timer::Retransmission;
            self.deadline = now + self.rtt.rto(&config.rto);
        }
        (self.tail.stale, self.tail.left) = (true, true);
        chunk
    }

    #[inline(never)]
    pub(super) fn retransmit(&mut self, now: Instant, number: u64, config: &Config) -> Chunk {
        let in_flight = self.board.pipe();
        if self.special.validation().is_some() {
            self.note_resent(number);
        }
        // Data that the peer still lacks after this many repairs is left to the timeout, which lets the next repair be
        // sent.
        let in_vain = self.recovery.uses_snack() && self.board.was_repaired(number, RESNACK);
        let chunk = self.board.retransmit(number, now);
        if config.tso {
            self.note_repair_in_burst(now, number, chunk.len);
        }
        self.note_sent(now, number, chunk, in_flight);
        self.left(now, chunk, true, config);
        if config.receive_offload {
            self.note_more_repairs(now, number, chunk.len);
        }
        self.account.counters.retransmitted_segments += u64::from(chunk.len > 0);
        let knows = self.recovery.is_selective() || self.recovery.guesses();
        let head_again = knows && chunk.start == self.board.una() && !in_vain;
        if self.deadline == Instant::MAX || head_again {
            // The head's repair needs a full RTO of its own (as in Linux).
            self.timer = Timer::Retransmission;
            let wait = self.rtt.rto(&config.rto);
            self.deadline = now + if self.retries > 0 { self.within_user_timeout(now, wait) } else { wait };
        }
        chunk
    }

    pub(super) fn note_limit(&mut self, now: Instant, limit: Limit) {
        if limit != self.limit {
            self.account.was_limited(self.limit, now);
            self.limit = limit;
        }
    }

    /// Records why no more segments are sent now. If only the peer's window prevents it, starts the persist timer.
    fn note_blocked(&mut self, now: Instant, blocked: Limit, room: u64, config: &Config) {
        if blocked == Limit::Rwnd && self.board.is_empty() && self.deadline == Instant::MAX {
            self.arm_persist(now, config);
            if self.peer_edge > self.board.nxt() {
                // A small window is eventually used (RFC 9293 §3.8.6.2.1 rule 4).
                self.deadline = self.deadline.min(now + OVERRIDE);
            }
        }
        self.arm_tail_if_stale(now, config);
        let limit = match self.recovery.phase() {
            Phase::Recovery => Limit::Recovery,
            Phase::Loss => Limit::Timeout,
            Phase::Open => blocked,
        };
        self.note_limit(now, limit);
        let limited = room < u64::from(self.segment_size);
        let flight = self.board.pipe();
        if limited || self.board.una() >= self.round_end || (!self.cwnd_limited && flight > self.round_flight.into()) {
            self.cwnd_limited = limited;
            self.round_flight = flight as u32;
            self.round_end = self.board.nxt();
        }
    }
}
