//! Congestion control of a path: the algorithm, its delivery rates, its episodes, and pacing (RFC 9002 §7).
//!
//! The algorithms count segments; here a segment is a datagram of the maximum size, and bytes are UDP payload. An
//! algorithm learns about QUIC as follows:
//!
//! - `newly_acked` = `newly_delivered`: the bytes of packets acknowledged for the first time. `growth` counts only
//!   those sent after the start of the last episode.
//! - `snd_nxt` is the number of bytes sent in flight so far, `snd_una` the value of `snd_nxt` just after the largest
//!   acknowledged packet was sent. A round therefore ends when a packet sent after its start is acknowledged.
//! - `cwnd_limited` is false while the application or credit left the window unfilled (RFC 9002 §7.8).
//! - A rise of the CE count is a [`Cause::Mark`], once per episode; persistent congestion is a [`Cause::Timeout`]; a
//!   probe timeout is not reported.
//! - An episode that is attributed to corruption is not reported (`attribution`).

mod attribution;
mod packets;
mod restart;

use self::attribution::Attribution;
use crate::config::Config;
use crate::details::Windows;
use crate::pacing::{Bucket, Pace, PacingRules, QuinnBucket};
use crate::packet_window::PacketWindow;
use crate::picoquic::LongStart;
use crate::rtt::Rtt;
use crate::sent::{SentFlags, SentPacket};
use lightlag_control::congestion::careful_resume::{CarefulResume, ResumeRule};
use lightlag_control::congestion::loss_assumption::LossAssumption;
use lightlag_control::congestion::response::Responding;
use lightlag_control::congestion::{
    self, Ack, Cause, Congestion, CongestionControl, ConnectionStart, Needs, Phase, Sent as SentReport,
};
use lightlag_control::delivery_rate::{RateSampler, Supply};
use lightlag_core::{Duration, Instant};

/// Divisor of the window for the number of losses whose reaction is not undone, and its minimum (from memory: quiche).
const FEW_SHARE: u64 = 5;
const MIN_FEW: u64 = 2;

/// The congestion control of a path.
pub struct Control {
    algorithm: Box<dyn CongestionControl>,
    needs: Needs,
    rates: Option<Box<RateSampler>>,
    /// A window of an implementation, instead of the algorithm.
    packets: Option<Box<dyn PacketWindow>>,
    quinn_bucket: Option<Box<QuinnBucket>>,
    /// Whether more than the window and the bucket of the profile decides about packets, or learns about them.
    is_special: bool,
    pacing: Option<PacingRules>,
    /// Pace for the current window; `None` after a change.
    pace: Option<Pace>,
    bucket: Bucket,
    /// Time when pacing or the algorithm's timer permits the next packet.
    pub(crate) departure: Instant,
    /// UDP payload of a full datagram, and the segment of the algorithm.
    datagram: u64,
    segment: u64,
    /// Part of the window that must be unused before a full datagram.
    room: u64,
    margin: u64,
    min_datagrams: u64,
    min_window: u64,
    initial_window: u64,
    window: u64,
    /// Packets sent up to this time belong to the current or the last episode.
    recovery_start: Option<Instant>,
    phase: Phase,
    /// Packets lost in the last episode, and how many of these were acknowledged later.
    episode_lost: u32,
    episode_late: u32,
    /// In-flight bytes and packets sent so far; bytes sent up to the largest acknowledged packet.
    sent: u64,
    serial: u64,
    acked: u64,
    /// Whether the application or credit, not the window, limited the sender when it last stopped sending.
    pub(crate) is_limited: bool,
    /// Time when it last limited the sender.
    pub(crate) limited_at: Instant,
    /// Whether the pacer's permission is determined before an acknowledgement is handled.
    asks_pacer: bool,
    /// Whether the first round-trip time scales the initial window, if the configuration has such a rule.
    scales_initial: bool,
    /// Whether one packet may exceed the window at the start of an episode.
    extra: bool,
    allows_extra: bool,
    undo: bool,
    undo_few: bool,
    /// Attribution of losses, unless all of them are congestion.
    attribution: Option<Box<Attribution>>,
    last_sent: Option<Instant>,
    idle_restart: Option<Duration>,
    pub(crate) undone: u64,
    pub(crate) episodes: u64,
    pub(crate) mark_reactions: u64,
    /// Determines the random decisions of the algorithm.
    pub(crate) seed: u64,
}

/// The effects of an acknowledgement that congestion control needs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delivered {
    /// Bytes of packets acknowledged for the first time that were in flight, or had been declared lost.
    pub(crate) bytes: u64,
    /// The part of [`Self::bytes`] in packets sent after the start of the last episode.
    pub(crate) after: u64,
    /// Value of [`SentPacket::end`] of the packet sent last among them; `None` if there is none.
    pub(crate) end: Option<u32>,
    /// Bytes declared lost by this acknowledgement.
    pub(crate) lost: u64,
    /// Transmission time of the lost packet that was sent last.
    pub(crate) last_lost: Option<Instant>,
    /// Packets newly reported as marked with CE, and the transmission time of the largest acknowledged packet.
    pub(crate) marked: u64,
    pub(crate) largest_sent: Instant,
    /// Round-trip sample.
    pub(crate) rtt: Option<Duration>,
    /// Bytes in flight before and after.
    pub(crate) prior_inflight: u64,
    pub(crate) inflight: u64,
    /// Whether persistent congestion was found.
    pub(crate) persistent: bool,
    /// Lowest serial number that is still outstanding.
    pub(crate) first_serial: u64,
}

impl Control {
    /// Creates the congestion control at the start of a connection.
    pub(crate) fn new(config: &Config, seed: u64) -> Self {
        let datagram = u64::from(config.datagram);
        let bytes = config.initial_window.bytes(datagram);
        let start = ConnectionStart {
            segment_size: datagram,
            initial_window: bytes.div_ceil(datagram),
            rtt: None,
            pipe: None,
            ssthresh: None,
            max_window: None,
            whole: false,
            timestamps: false,
            abe: false,
            ecn: config.ecn.is_capable(),
            tso: false,
            paces: config.pacing.is_some(),
            seed,
        };
        let needs = config.congestion.needs(start.ecn);
        let resumed = config.careful_resume.filter(|saved| saved.rule == ResumeRule::Rfc9959);
        let own_start = LongStart::of(config, &start).filter(|_| resumed.is_none());
        let has_own_start = own_start.is_some();
        let (mut algorithm, needs): (Box<dyn CongestionControl>, Needs) = match (resumed, own_start) {
            (Some(saved), _) => {
                (Box::new(CarefulResume::new(saved, &config.congestion, &start)), CarefulResume::needs(needs))
            }
            (None, Some(own_start)) => (Box::new(own_start), needs),
            (None, None) => (congestion::build(&config.congestion, &start), needs),
        };
        if let LossAssumption::Custom(custom) = &config.loss_assumption {
            algorithm = Box::new(Responding::new(custom, &start, algorithm));
        }
        let mut control = Self::with_algorithm(config, algorithm, needs, seed);
        control.packets = packets::packet_window(config, bytes, datagram);
        control.is_special |= control.packets.is_some();
        control.scales_initial = !has_own_start && control.packets.is_none();
        control.copy_window();
        control
    }

    /// Creates the congestion control with a given algorithm.
    pub(crate) fn with_algorithm(
        config: &Config,
        algorithm: Box<dyn CongestionControl>,
        needs: Needs,
        seed: u64,
    ) -> Self {
        let datagram = u64::from(config.datagram);
        let initial_window = config.initial_window.bytes(datagram);
        let mut control = Self {
            algorithm,
            needs,
            rates: needs.rate.then(|| Box::new(RateSampler::new(0))),
            packets: None,
            quinn_bucket: None,
            is_special: needs.rate || needs.bursts,
            pacing: config.pacing,
            pace: None,
            bucket: Bucket::new(),
            departure: Instant::ZERO,
            datagram,
            segment: datagram,
            room: datagram + u64::from(config.details.strict_window),
            margin: config.details.strict_window.into(),
            min_datagrams: config.min_window,
            min_window: config.min_window * datagram,
            initial_window,
            window: 0,
            recovery_start: None,
            phase: Phase::Open,
            episode_lost: 0,
            episode_late: 0,
            sent: 0,
            serial: 0,
            acked: 0,
            is_limited: true,
            limited_at: Instant::ZERO,
            asks_pacer: config.details.windows == Windows::Picoquic,
            scales_initial: true,
            extra: false,
            allows_extra: config.loss.extra_packet,
            undo: config.loss.undo,
            undo_few: config.loss.undo_few,
            attribution: Attribution::of(&config.loss_assumption),
            last_sent: None,
            idle_restart: config.idle_restart,
            undone: 0,
            episodes: 0,
            mark_reactions: 0,
            seed,
        };
        if !initial_window.is_multiple_of(datagram) {
            // The window started with a whole number of datagrams.
            control.algorithm.on_idle(Instant::ZERO, initial_window, 0);
        }
        control.copy_window();
        control
    }

    fn copy_window(&mut self) {
        self.window = self.algorithm().window().max(self.min_window);
        self.pace = None;
    }

    /// Returns the congestion window in bytes.
    #[inline(always)]
    pub(crate) fn window(&self) -> u64 {
        self.window
    }

    /// Returns the algorithm.
    pub(crate) fn algorithm(&self) -> &dyn CongestionControl {
        match &self.packets {
            Some(packets) => &**packets,
            None => &*self.algorithm,
        }
    }

    /// Notes the start of the connection.
    pub(crate) fn start(&mut self, now: Instant, rtt: &Rtt) {
        if let Some(packets) = &mut self.packets {
            packets.start(now);
        }
        if let Some(rules) = self.pacing.as_ref().filter(|rules| rules.refill && !self.needs.pacing) {
            let bucket = QuinnBucket::new(now, rules, self.window, rtt.smoothed(), self.datagram);
            self.quinn_bucket = Some(Box::new(bucket));
            self.is_special = true;
        }
    }

    /// Returns the phase of the current episode.
    pub(crate) fn phase(&self) -> Phase {
        self.phase
    }

    /// Sets the size of a full datagram. The algorithm keeps counting in segments of the first size.
    pub(crate) fn set_datagram(&mut self, datagram: u64) {
        (self.datagram, self.min_window) = (datagram, self.min_datagrams * datagram);
        self.room = datagram + self.margin;
        if let Some(packets) = &mut self.packets {
            packets.set_datagram(datagram);
        }
        self.copy_window();
    }

    /// Returns the size of a full datagram.
    pub(crate) fn datagram(&self) -> u64 {
        self.datagram
    }

    /// Returns the pacing rate of the algorithm.
    pub(crate) fn pacing_rate(&self) -> Option<lightlag_core::Rate> {
        self.algorithm.departures()?.pacing_rate()
    }

    /// Returns true if the window permits another datagram while `in_flight` bytes are in flight.
    #[inline(always)]
    pub(crate) fn permits(&self, in_flight: u64) -> bool {
        self.needs.bursts || in_flight + self.room <= self.window || self.extra
    }

    /// Returns true if pacing permits a packet of `bytes` now; otherwise [`Self::departure`] is the time when it does.
    #[inline(always)]
    pub(crate) fn paces(&mut self, now: Instant, bytes: u64, rtt: &Rtt) -> bool {
        if self.is_special
            && let Some(permitted) = self.paces_specially(now, bytes, rtt)
        {
            return permitted;
        }
        let pace = match self.pace {
            Some(pace) => pace,
            None => match self.pace(rtt) {
                Some(pace) => {
                    self.pace = (!self.needs.pacing).then_some(pace);
                    pace
                }
                None => return true,
            },
        };
        self.departure = self.bucket.departure(now, bytes, &pace);
        self.departure <= now
    }

    #[inline(never)]
    fn paces_specially(&mut self, now: Instant, bytes: u64, rtt: &Rtt) -> Option<bool> {
        if self.needs.bursts {
            let release = self.algorithm.departures().map(|departures| departures.release(now));
            return Some(match release {
                Some(release) if release.segments == 0 => {
                    self.departure = release.next;
                    false
                }
                _ => true,
            });
        }
        let (Some(bucket), Some(rules)) = (&mut self.quinn_bucket, &self.pacing) else { return None };
        self.departure = bucket.departure(now, bytes, rules, self.window, rtt.smoothed());
        Some(self.departure <= now)
    }

    fn pace(&self, rtt: &Rtt) -> Option<Pace> {
        // The rate of an algorithm may change with time; it is not kept.
        if self.needs.pacing
            && let Some(rate) = self.pacing_rate()
        {
            let rate = rate.as_bps() as f64 / 8e9;
            return Some(Pace { rate, capacity: self.datagram as f64, refill: false });
        }
        let rules = self.pacing.as_ref()?;
        let slow_start = self.window < self.algorithm().ssthresh();
        Some(rules.pace(self.window, rtt.smoothed(), self.datagram, slow_start))
    }

    /// Notes that a packet in flight is sent. `in_flight`: bytes in flight before it. Returns the values of
    /// [`SentPacket::end`] and [`SentPacket::serial`].
    #[inline(always)]
    pub(crate) fn sent(&mut self, now: Instant, bytes: u64, in_flight: u64, is_probe: bool) -> (u32, u32) {
        self.sent += bytes;
        let serial = self.serial;
        self.serial += 1;
        if in_flight + bytes > self.window && !is_probe {
            self.extra = false;
        }
        if self.pacing.is_some() || self.needs.pacing {
            self.bucket.sent(bytes);
        }
        if self.is_special {
            self.sent_specially(now, serial, bytes, in_flight);
        }
        self.last_sent = Some(now);
        (self.sent as u32, serial as u32)
    }

    #[inline(never)]
    fn sent_specially(&mut self, now: Instant, serial: u64, bytes: u64, in_flight: u64) {
        if let Some(bucket) = &mut self.quinn_bucket {
            bucket.sent(bytes);
        }
        if let Some(packets) = &mut self.packets {
            packets.packet_sent(now);
            self.copy_window();
        }
        if self.needs.rate || self.needs.bursts {
            self.report_sent(now, serial, bytes, in_flight);
        }
    }

    fn report_sent(&mut self, now: Instant, serial: u64, bytes: u64, in_flight: u64) {
        let report = match &mut self.rates {
            Some(rates) => rates.sent(now, serial, bytes, in_flight),
            None => SentReport { now, bytes, prior_inflight: in_flight, app_limited: false },
        };
        if let Some(transmissions) = self.algorithm.transmissions() {
            transmissions.on_sent(&report);
        }
    }

    /// Returns the serial number of the next packet in flight.
    pub(crate) fn next_serial(&self) -> u64 {
        self.serial
    }

    /// Checks whether the application leaves a part of the window unused.
    pub(crate) fn check_supply(&mut self, unsent: u64, in_flight: u64, to_repair: bool) {
        if let Some(rates) = &mut self.rates {
            let supply = Supply { unsent, in_flight, window: self.window, to_repair: u64::from(to_repair) };
            rates.check_application_limited(&supply);
        }
    }

    /// Returns true if delivery rates are measured.
    pub(crate) fn measures_rates(&self) -> bool {
        self.rates.is_some()
    }

    /// Adds a packet that is acknowledged for the first time to the effects of its acknowledgement.
    #[inline(always)]
    pub(crate) fn packet_acked(&mut self, now: Instant, packet: &SentPacket, delivered: &mut Delivered) {
        let bytes = u64::from(packet.size);
        delivered.bytes += bytes;
        if self.recovery_start.is_none_or(|start| packet.time > start) {
            delivered.after += bytes;
        }
        let newer = delivered.end.is_none_or(|end| packet.end.wrapping_sub(end) as i32 > 0);
        if newer {
            delivered.end = Some(packet.end);
        }
        if let Some(rates) = &mut self.rates {
            rates.delivered(now, packet.serial.into(), bytes);
        }
        if packet.flags.has(SentFlags::LOST) && !self.is_excused(packet.time) {
            self.episode_late += 1;
        }
    }

    /// Notes a lost packet.
    pub(crate) fn packet_lost(&mut self, now: Instant, packet: &SentPacket) {
        if self.attribution.is_some() {
            return self.packet_lost_for_any_cause(now, packet);
        }
        if self.recovery_start.is_none_or(|start| packet.time > start) && self.episode_lost > 0 {
            // The start of a new episode.
            (self.episode_lost, self.episode_late) = (0, 0);
        }
        self.episode_lost += 1;
        if let Some(packets) = &mut self.packets {
            packets.packet_lost(packet.serial, packet.time);
        }
        if let Some(rates) = &mut self.rates {
            let lost = rates.lost(now, packet.serial.into(), packet.size.into());
            if let Some(transmissions) = self.algorithm.transmissions() {
                transmissions.on_lost(&lost);
            }
        }
    }

    /// Reports an acknowledgement to the algorithm, and then the end and the start of episodes.
    #[inline]
    pub(crate) fn acknowledged(&mut self, now: Instant, delivered: &Delivered, rtt: &Rtt) {
        let attributed;
        let delivered = if self.attribution.is_some() {
            attributed = self.attribute(now, delivered, rtt);
            &attributed
        } else {
            delivered
        };
        if let Some(end) = delivered.end {
            let ahead = (self.sent as u32).wrapping_sub(end);
            self.acked = self.acked.max(self.sent - u64::from(ahead));
        }
        if self.asks_pacer {
            self.departure = self.next_departure(now, rtt);
        }
        let rate = match &mut self.rates {
            Some(rates) => rates.finish(delivered.first_serial, rtt.min()),
            None => None,
        };
        let is_late = self.undo && self.episode_late > 0 && self.episode_late >= self.episode_lost;
        if is_late {
            self.undo(now);
        }
        let extends = self.extends_recovery(now, delivered);
        let ended = self.phase == Phase::Recovery && delivered.after > 0 && !extends;
        if ended {
            self.phase = Phase::Open;
        }
        if ended && self.undo_few && delivered.last_lost.is_none() {
            let few = (self.window / self.datagram / FEW_SHARE).max(MIN_FEW);
            if u64::from(self.episode_lost) < few {
                self.undo(now);
            }
        }
        let is_new = |sent: Instant| self.recovery_start.is_none_or(|start| sent > start);
        let lost = delivered.last_lost.is_some_and(is_new);
        let marked = delivered.marked > 0 && is_new(delivered.largest_sent);
        let phase = if lost || marked && !self.needs.exact_marks { Phase::Recovery } else { self.phase };
        if self.packets.is_some() {
            return self.acknowledged_by_packets(now, delivered, ended, rtt);
        }
        if delivered.bytes > 0 {
            let ack = Ack {
                now,
                newly_acked: delivered.bytes,
                newly_delivered: delivered.bytes,
                newly_lost: delivered.lost,
                newly_marked: (delivered.marked * self.datagram).min(delivered.bytes),
                duplicate: false,
                ece: delivered.marked > 0,
                one_way: None,
                growth: delivered.after as f64 / self.segment as f64,
                rtt: delivered.rtt,
                srtt: rtt.measured(),
                min_rtt: rtt.min(),
                inflight: delivered.inflight,
                prior_inflight: delivered.prior_inflight,
                snd_una: self.acked,
                snd_nxt: self.sent,
                phase,
                cwnd_limited: !self.is_limited,
                next_departure: self.departure,
                rate,
            };
            self.algorithm.on_ack(&ack);
        }
        if ended {
            self.algorithm.on_recovered(now);
        }
        if lost {
            self.begin(now, Cause::Loss, rtt);
        } else if marked {
            self.begin(now, Cause::Mark, rtt);
        }
        if delivered.persistent {
            self.collapse(now, rtt);
        }
        self.window = self.algorithm.window().max(self.min_window);
        self.pace = None;
    }

    /// Reports losses that a timer found.
    pub(crate) fn lost_by_timer(&mut self, now: Instant, last_lost: Instant, in_flight: u64, rtt: &Rtt) {
        if self.packets.is_some() {
            let report = self.report_of_losses(now, rtt);
            if self.takes_report(&report) {
                return self.copy_window();
            }
            self.react(now, last_lost, Cause::Loss, false, in_flight);
            return self.copy_window();
        }
        let excused = self.attribution.is_some() && self.excuses(now, last_lost, in_flight, rtt);
        if !excused && self.recovery_start.is_none_or(|start| last_lost > start) {
            self.begin(now, Cause::Loss, rtt);
            self.copy_window();
        }
    }

    /// Extends an episode by further losses, for an algorithm whose window also applies in recovery: it conserves packets
    /// for one round trip after each start, so that new episodes would stop its growth. quinn's BBR does the same.
    #[inline]
    fn extends_recovery(&mut self, now: Instant, delivered: &Delivered) -> bool {
        let extends = self.needs.controls_recovery && self.phase == Phase::Recovery && delivered.last_lost.is_some();
        if extends {
            self.recovery_start = Some(now);
        }
        extends
    }

    fn begin(&mut self, now: Instant, cause: Cause, rtt: &Rtt) {
        // RFC 9002 §7.3.2 reduces the window, not the bytes in flight.
        let event = Congestion { now, cause, flight: self.window, srtt: rtt.measured(), min_rtt: rtt.min() };
        self.algorithm.on_congestion(&event);
        self.recovery_start = Some(now);
        // An algorithm that counts each mark grows between them (RFC 8257 §3.5).
        if cause != Cause::Mark || !self.needs.exact_marks {
            self.phase = Phase::Recovery;
        }
        self.extra = self.allows_extra && cause == Cause::Loss;
        match cause {
            Cause::Mark => self.mark_reactions += 1,
            _ => self.episodes += 1,
        }
    }

    /// Reacts to persistent congestion: the minimum window, and no episode (RFC 9002 §7.6.2).
    fn collapse(&mut self, now: Instant, rtt: &Rtt) {
        let (srtt, min_rtt) = (rtt.measured(), rtt.min());
        let event = Congestion { now, cause: Cause::Timeout, flight: self.window, srtt, min_rtt };
        self.algorithm.on_congestion(&event);
        self.recovery_start = None;
        self.phase = Phase::Open;
        (self.episode_lost, self.episode_late) = (0, 0);
    }

    fn undo(&mut self, now: Instant) {
        if self.recovery_start.is_some() {
            self.algorithm.on_undo(now);
            self.undone += 1;
            self.recovery_start = None;
            self.phase = Phase::Open;
        }
        (self.episode_lost, self.episode_late) = (0, 0);
    }
}

impl std::fmt::Debug for Control {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Control").field("window", &self.window).field("phase", &self.phase).finish_non_exhaustive()
    }
}
