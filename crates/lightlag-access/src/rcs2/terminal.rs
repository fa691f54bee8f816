//! The queue of a terminal, and its requests.

use super::adaptation::{ROBUST_PAYLOAD, Weather};
use super::config::{Rcs2Config, Terminal};
use crate::StationCounters;
use crate::rle::{self, BurstPlan};
use lightlag_core::{Duration, Instant};
use lightlag_net::Resequencer;
use lightlag_net::medium::Outgoing;
use std::collections::VecDeque;

/// A packet that waits at a terminal.
#[derive(Clone, Debug)]
pub(super) struct Waiting<P> {
    pub(super) packet: Outgoing<P>,
    pub(super) arrived: Instant,
    /// Bytes that remain to be sent.
    left: u32,
    started: bool,
    /// Whether a burst with a fragment of it was lost.
    damaged: bool,
}

/// A capacity request.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct CapacityRequest {
    /// Additional slots (VBDC).
    pub(super) volume: u64,
    /// Slots per frame (RBDC).
    pub(super) rate: Option<f64>,
}

/// Relation of a terminal to the NCC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Session {
    LoggedOff,
    /// The NCC received the first burst of the logon.
    LoggingOn,
    /// Logged on since this time.
    LoggedOn(Instant),
}

/// State of a terminal.
#[derive(Clone, Debug)]
pub(super) struct State<P> {
    pub(super) delay: Duration,
    /// Bytes of a burst that carry packets.
    pub(super) room: u32,
    pub(super) limit: u32,
    pub(super) session: Session,
    pub(super) queue: VecDeque<Waiting<P>>,
    plan: BurstPlan,
    /// Packets that have left the queue and have not arrived.
    pub(super) outside: u64,
    /// Requested slots whose time has not come yet.
    pub(super) outstanding: u64,
    /// Assigned slots whose time has not come yet.
    pub(super) upcoming: u64,
    /// Number of the first slot of the constant assignment, and number of slots.
    pub(super) constant: (u32, u32),
    /// Whether an event for the next slot of the constant assignment exists.
    pub(super) constant_due: bool,
    /// Whether an event for a control slot, or for the expiry of a rate, exists.
    pub(super) control_due: bool,
    pub(super) check_due: bool,
    /// Maximum rate to request in slots per frame; 0 without requests of rates.
    max_rate: f64,
    requests_volume: bool,
    /// Latest rate requested, the time of the request, and the time when it expires.
    rate: f64,
    rate_asked: Instant,
    pub(super) rate_until: Instant,
    /// Bytes that arrived since the latest request of a rate, with their overhead.
    arrived_bytes: u64,
    pub(super) free: bool,
    /// Whether a transmission by random access is planned, or its outcome is unknown.
    pub(super) contending: bool,
    /// Number of random access transmissions that failed in a row.
    pub(super) attempts: u32,
    pub(super) counters: StationCounters,
    /// Bursts in slots of the constant assignment.
    pub(super) constant_used: u64,
    /// Weather of an adaptive terminal.
    pub(super) weather: Option<Box<Weather>>,
    /// Probability that a burst in an assigned slot is lost.
    pub(super) burst_loss: f64,
    /// Packets in bursts that the gateway keeps after a lost one.
    pub(super) resequencer: Option<Box<Resequencer<Outgoing<P>>>>,
    /// Size of a request in a burst.
    request_size: u32,
    /// Whether an event for the end of an outage exists.
    pub(super) resuming: bool,
}

/// Packets whose last byte a burst carries.
pub(super) struct Carried<P> {
    pub(super) intact: Vec<Outgoing<P>>,
    /// Packets with a fragment in a lost burst.
    pub(super) damaged: Vec<Outgoing<P>>,
}

/// Time constants of requests.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestTiming {
    /// Time from a request at the NCC to the start of the earliest frame that it is granted for.
    pub(super) lead: Duration,
    pub(super) frame: Duration,
    pub(super) rate_period: Option<Duration>,
    pub(super) rate_spread: Duration,
    pub(super) rate_timeout: Duration,
}

impl RequestTiming {
    /// Returns the number of frames from a request to its assignment, at least one.
    fn frames(self) -> f64 {
        (self.lead / self.frame).max(1.0)
    }
}

impl<P> State<P> {
    pub(super) fn new(config: &Rcs2Config, terminal: &Terminal, first_constant: u32) -> Self {
        Self {
            delay: terminal.delay,
            room: config.room(terminal),
            limit: terminal.terminal_queue,
            session: if config.logon { Session::LoggedOff } else { Session::LoggedOn(Instant::ZERO) },
            queue: VecDeque::new(),
            plan: BurstPlan::default(),
            outside: 0,
            outstanding: 0,
            upcoming: 0,
            constant: (first_constant, config.constant_slots(terminal)),
            constant_due: false,
            control_due: false,
            check_due: false,
            max_rate: terminal.rate_based.map_or(0.0, |rate| config.slots_of(rate, terminal)),
            requests_volume: terminal.volume_based,
            rate: 0.0,
            rate_asked: Instant::ZERO,
            rate_until: Instant::ZERO,
            arrived_bytes: 0,
            free: terminal.free,
            contending: false,
            attempts: 0,
            counters: StationCounters::default(),
            constant_used: 0,
            weather: None,
            burst_loss: terminal.burst_loss.value(),
            resequencer: (config.resequencing > 0).then(|| Box::new(Resequencer::new(config.resequencing))),
            request_size: config.request_size.0 as u32,
            resuming: false,
        }
    }

    /// Returns the terminal with this weather.
    #[must_use]
    pub(super) fn under(mut self, weather: Weather) -> Self {
        self.adopt(weather.payload().unwrap_or(ROBUST_PAYLOAD));
        self.weather = Some(Box::new(weather));
        self
    }

    /// Changes the payload of a burst. Returns false if it is the same.
    fn adopt(&mut self, payload: u32) -> bool {
        let room = payload - self.request_size;
        if room == self.room {
            return false;
        }
        self.max_rate *= f64::from(self.room) / f64::from(room);
        self.room = room;
        self.plan_again();
        true
    }

    /// Advances the weather to `now`, and adopts its waveform.
    pub(super) fn observe(&mut self, now: Instant) {
        let Some(weather) = &mut self.weather else { return };
        weather.advance(now);
        if let Some(payload) = weather.payload()
            && self.adopt(payload)
        {
            self.counters.waveform_changes += 1;
        }
    }

    /// Returns true if the weather lets the terminal send nothing.
    pub(super) fn is_down(&self) -> bool {
        self.weather.as_ref().is_some_and(|weather| weather.payload().is_none())
    }

    /// Returns true if a burst with the current waveform is decoded.
    pub(super) fn is_decoded(&self) -> bool {
        self.weather.as_ref().is_none_or(|weather| weather.is_decoded())
    }

    /// Returns true if a burst with the lowest waveform is decoded.
    pub(super) fn is_robust(&self) -> bool {
        self.weather.as_ref().is_none_or(|weather| weather.is_robust())
    }

    /// Queues a packet.
    ///
    /// # Errors
    /// The packet, if the queue is full.
    pub(super) fn add(&mut self, now: Instant, packet: Outgoing<P>) -> Result<(), Outgoing<P>> {
        self.counters.packets.offered += 1;
        if self.queue.len() >= self.limit as usize {
            self.counters.dropped_queue += 1;
            return Err(packet);
        }
        let left = packet.size.max(1);
        self.plan.add(left, false, self.room);
        self.arrived_bytes += u64::from(left + rle::overhead(left, self.room));
        self.queue.push_back(Waiting { packet, arrived: now, left, started: false, damaged: false });
        self.counters.max_queue = self.counters.max_queue.max(self.queue.len() as u64);
        Ok(())
    }

    /// Returns the packets that a burst completes, in order. `decoded`: the gateway decodes the burst.
    pub(super) fn fill(&mut self, now: Instant, decoded: bool) -> Carried<P> {
        let (mut room, mut carried) = (self.room, Carried { intact: Vec::new(), damaged: Vec::new() });
        while let Some(head) = self.queue.front_mut() {
            let Some(fragment) = rle::pack(room, head.left, head.started) else { break };
            (head.left, head.started) = (fragment.left, true);
            head.damaged |= !decoded;
            room -= fragment.taken;
            if fragment.left > 0 {
                break;
            }
            let complete = if head.damaged { &mut carried.damaged } else { &mut carried.intact };
            complete.extend(self.pop(now));
        }
        self.plan.sent();
        self.outside += (carried.intact.len() + carried.damaged.len()) as u64;
        carried
    }

    fn pop(&mut self, now: Instant) -> Option<Outgoing<P>> {
        let Waiting { packet, arrived, .. } = self.queue.pop_front()?;
        self.counters.note_sent(now.since(arrived));
        Some(packet)
    }

    /// Removes and returns all packets, if they are complete and fit into one burst.
    pub(super) fn take_small(&mut self) -> Option<Vec<Waiting<P>>> {
        let fits =
            self.plan.bursts == 1 && self.queue.front().is_some_and(|head| !head.started) && self.fits_robustly();
        fits.then(|| {
            self.plan = BurstPlan::default();
            self.outside += self.queue.len() as u64;
            self.queue.drain(..).collect()
        })
    }

    /// Returns true if all packets fit into a burst of random access. An adaptive terminal uses the lowest waveform for
    /// it.
    fn fits_robustly(&self) -> bool {
        let robust = ROBUST_PAYLOAD.saturating_sub(self.request_size);
        if self.weather.is_none() || self.room <= robust {
            return true;
        }
        let mut plan = BurstPlan::default();
        self.queue.iter().for_each(|of| plan.add(of.left, of.started, robust));
        plan.bursts == 1
    }

    /// Returns packets to the head of the queue.
    pub(super) fn restore(&mut self, packets: Vec<Waiting<P>>) {
        self.outside -= packets.len() as u64;
        packets.into_iter().rev().for_each(|packet| self.queue.push_front(packet));
        self.plan_again();
    }

    /// Removes and returns the packet at the head of the queue.
    pub(super) fn drop_head(&mut self) -> Option<Outgoing<P>> {
        let head = self.queue.pop_front()?;
        self.plan_again();
        Some(head.packet)
    }

    fn plan_again(&mut self) {
        self.plan = BurstPlan::default();
        self.queue.iter().for_each(|of| self.plan.add(of.left, of.started, self.room));
    }

    /// Returns true if the terminal has requested capacity that will be assigned, or has slots that it needs no request
    /// for, so that a burst can carry its next request.
    pub(super) fn is_served(&self, now: Instant) -> bool {
        self.outstanding > 0 || self.upcoming > 0 || self.constant.1 > 0 || self.has_rate(now)
    }

    /// Returns true if the terminal requests slots and needs more than those that it has requested or has.
    pub(super) fn lacks_slots(&self, now: Instant, timing: RequestTiming) -> bool {
        let by_rate = if self.has_rate(now) { self.rate * timing.frames() } else { 0.0 };
        self.requests_volume && self.need(timing) > by_rate
    }

    /// Returns the number of slots that the waiting packets need beyond those that the terminal has requested or has.
    fn need(&self, timing: RequestTiming) -> f64 {
        let covered = self.outstanding.max(self.upcoming);
        let without = f64::from(self.constant.1) * timing.frames();
        (self.plan.bursts.saturating_sub(covered) as f64 - without).max(0.0)
    }

    /// Returns the slots per frame that send the waiting packets in time, beyond those that the terminal has requested
    /// or has.
    fn lacking(&self, timing: RequestTiming) -> f64 {
        let covered = self.outstanding.max(self.upcoming);
        let frames = (timing.rate_spread / timing.frame).max(1.0);
        (self.plan.bursts.saturating_sub(covered) as f64 / frames - f64::from(self.constant.1)).max(0.0)
    }

    pub(super) fn has_rate(&self, now: Instant) -> bool {
        self.rate > 0.0 && now < self.rate_until
    }

    /// Returns true if the terminal requests a rate with its next burst. A terminal without constant capacity does not
    /// wait for the next period if it has no rate, because it has no other slots.
    fn asks_for_rate(&self, now: Instant, timing: RequestTiming) -> bool {
        match timing.rate_period {
            Some(period) if self.constant.1 > 0 || self.has_rate(now) => {
                now.as_nanos() / period.as_nanos() > self.rate_asked.as_nanos() / period.as_nanos()
            }
            _ => !self.has_rate(now) || now.since(self.rate_asked) >= timing.lead,
        }
    }

    /// Returns the request that the terminal sends now, if it needs capacity, and records it as sent.
    pub(super) fn request(&mut self, now: Instant, timing: RequestTiming) -> Option<CapacityRequest> {
        if self.queue.is_empty() {
            return None;
        }
        let need = self.need(timing);
        let mut request = CapacityRequest { volume: 0, rate: None };
        let mut by_rate = 0.0;
        if self.max_rate > 0.0 {
            if self.asks_for_rate(now, timing) {
                let frames = (now.since(self.rate_asked) / timing.frame).max(1.0);
                let arriving = self.arrived_bytes as f64 / f64::from(self.room) / frames;
                self.rate = (arriving + self.lacking(timing)).min(self.max_rate);
                (self.rate_asked, self.arrived_bytes) = (now, 0);
                self.rate_until = now + timing.rate_timeout;
                request.rate = (self.rate > 0.0).then_some(self.rate);
            }
            by_rate = self.rate * timing.frames();
        }
        if self.requests_volume {
            request.volume = libm::ceil(need - by_rate).max(0.0) as u64;
            self.outstanding += request.volume;
        }
        let is_empty = request.volume == 0 && request.rate.is_none();
        (!is_empty).then(|| {
            self.counters.requests += 1;
            request
        })
    }

    /// Records that a request was lost.
    pub(super) fn lost(&mut self, request: CapacityRequest) {
        self.outstanding -= request.volume;
        if request.rate.is_some() {
            self.rate = 0.0;
        }
    }
}
