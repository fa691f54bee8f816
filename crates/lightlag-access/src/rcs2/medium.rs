//! The events of a beam.
//!
//! Times of frames and slots are times of reception at the gateway. A terminal with the delay `d` sends a burst `d`
//! before its slot, because the network synchronises the terminals. The assignment of a frame is sent so early that the
//! terminal with the maximum delay receives it in time: `lead` before the frame.

use super::adaptation::Weather;
use super::config::{Rcs2Config, Terminal};
use super::frame::{Layout, before};
use super::ncc::{Category, Ncc};
use super::task::{Attempt, Task};
use super::terminal::{CapacityRequest, Carried, RequestTiming, Session, State};
use crate::StationCounters;
use crate::agenda::Agenda;
use crate::contention::{self, Decoder};
use crate::forward::{Forward, Slot};
use lightlag_core::{Duration, Instant, RandomStream, Rate};
use lightlag_net::StationId;
use lightlag_net::medium::{Addressee, Event, Outgoing};
use lightlag_net::queue::DropCause;
use std::collections::{BTreeMap, VecDeque};

/// A beam with its terminals.
#[derive(Clone, Debug)]
pub struct Rcs2<P> {
    pub(super) config: Rcs2Config,
    pub(super) capture: Option<f64>,
    pub(super) hub: u32,
    pub(super) layout: Layout,
    pub(super) timing: RequestTiming,
    /// The stations. The gateway's has counters only.
    pub(super) stations: Vec<State<P>>,
    forward_rates: Vec<Rate>,
    forward: Forward,
    pub(super) ncc: Ncc,
    pub(super) tasks: Agenda<Task<P>>,
    pub(super) events: VecDeque<Event<P>>,
    /// Bursts of random access by frame.
    pub(super) attempts: BTreeMap<u64, Vec<Attempt<P>>>,
    pub(super) decoder: Decoder,
    pub(super) random: RandomStream,
    losses: RandomStream,
    /// Slots of the frame that is being assigned which its terminals could not use, and the serial number of the latest
    /// terminal that uses each time of a frame.
    skipped: Vec<u32>,
    users: Vec<u64>,
    serial: u64,
    pub(super) end: Instant,
}

impl<P: Clone> Rcs2<P> {
    /// Creates a beam called `name` for a run with this seed. `stations` has one entry for each station; the one of the
    /// gateway, with the index `hub`, has no effect.
    ///
    /// # Panics
    /// If the settings do not pass the checks of [`Rcs2Config`].
    pub fn new(config: &Rcs2Config, stations: &[Terminal], hub: StationId, seed: u64, name: &str) -> Self {
        let terminals: Vec<Terminal> =
            stations.iter().enumerate().filter(|(at, _)| *at != hub.index()).map(|(_, of)| of.clone()).collect();
        let result = config.check().and_then(|()| config.check_all(&terminals));
        assert!(result.is_ok(), "the settings have been checked: {result:?}");
        let layout = Layout::new(config, &terminals);
        let max_delay = terminals.iter().map(|of| of.delay).max().unwrap_or_default();
        let lead = max_delay * 2 + config.scheduling_delay;
        let timing = RequestTiming {
            lead,
            frame: config.frame,
            rate_period: config.rate_period,
            rate_spread: config.rate_spread.unwrap_or(lead),
            rate_timeout: config.rate_timeout,
        };
        let mut next = layout.first_constant();
        let state = |(at, terminal): (usize, &Terminal)| {
            let constant = if at == hub.index() { 0 } else { config.constant_slots(terminal) };
            next += constant;
            let mut state = State::new(config, terminal, next - constant);
            state.constant.1 = constant;
            if at == hub.index() || !terminal.climate.adaptive {
                return state;
            }
            let random = RandomStream::new(seed, &format!("rcs2 {name} weather {at}"));
            state.under(Weather::new(terminal.climate.link(timing.lead), random))
        };
        let states: Vec<State<P>> = stations.iter().enumerate().map(state).collect();
        let limits: Vec<u32> = states.iter().map(|of| config.slots - of.constant.1.min(config.slots)).collect();
        Self {
            capture: config.capture_threshold.map(contention::ratio),
            hub: hub.0,
            users: vec![0; config.slots as usize],
            forward: Forward::new(config.forward_queue),
            forward_rates: stations.iter().map(|of| of.forward_rate).collect(),
            ncc: Ncc::new(limits.into_iter()),
            stations: states,
            layout,
            timing,
            config: config.clone(),
            tasks: Agenda::default(),
            events: VecDeque::new(),
            attempts: BTreeMap::new(),
            decoder: Decoder::default(),
            random: RandomStream::new(seed, &format!("rcs2 {name} access")),
            losses: RandomStream::new(seed, &format!("rcs2 {name} losses")),
            skipped: Vec::new(),
            serial: 0,
            end: Instant::ZERO,
        }
    }

    /// Returns the time from a request at the NCC to the start of the earliest frame that it is granted for.
    pub fn lead(&self) -> Duration {
        self.timing.lead
    }

    /// Returns the number of slots that were assigned to a terminal on demand and whose time has not come yet.
    pub fn upcoming_slots(&self, station: StationId) -> u64 {
        self.stations[station.index()].upcoming
    }

    /// Returns the counters of a station, with its constant assignment up to `now`.
    pub fn station_counters(&self, station: StationId, now: Instant) -> StationCounters {
        let state = &self.stations[station.index()];
        let mut counters = state.counters;
        counters.packets.waiting = state.queue.len() as u64 + state.outside;
        counters.packets.dropped = counters.dropped_queue + counters.dropped_retry + counters.dropped_error;
        let granted = self.constant_slots_until(state, now);
        counters.granted += granted;
        counters.used += state.constant_used;
        counters.idle += granted - state.constant_used;
        counters
    }

    /// Returns the number of slots of a constant assignment up to `now`, counted by their time of transmission.
    fn constant_slots_until(&self, state: &State<P>, now: Instant) -> u64 {
        let (Session::LoggedOn(since), (first, count)) = (state.session, state.constant) else { return 0 };
        let from = self.layout.first_from(since + state.delay);
        let slots_until = |slot: u32| {
            let at = now + state.delay;
            let into = at.since(Instant::ZERO + self.layout.offset(slot));
            let past = if at < Instant::ZERO + self.layout.offset(slot) {
                0
            } else {
                into.as_nanos() / self.config.frame.as_nanos() + 1
            };
            past.saturating_sub(from)
        };
        (first..first + count).map(slots_until).sum()
    }

    /// Queues a packet at a station.
    pub(super) fn add(&mut self, now: Instant, station: StationId, packet: Outgoing<P>) {
        if station.0 == self.hub {
            return self.add_forward(now, packet);
        }
        match self.stations[station.index()].add(now, packet) {
            Ok(()) => self.consider(now, station.0),
            Err(packet) => self.drop_packet(station.0, packet, DropCause::Queue),
        }
    }

    fn add_forward(&mut self, now: Instant, packet: Outgoing<P>) {
        let hub = &mut self.stations[self.hub as usize];
        hub.counters.packets.offered += 1;
        // A broadcast is sent at the lowest rate, which every terminal receives.
        let rate = match packet.to {
            Addressee::One(to) => self.forward_rates[to.index()],
            Addressee::All => self.forward_rates.iter().copied().min().unwrap_or(self.forward_rates[0]),
        };
        let Some(Slot { waited, airtime, end, queue }) = self.forward.add(now, packet.size, rate, None) else {
            hub.counters.dropped_queue += 1;
            return self.drop_packet(self.hub, packet, DropCause::Queue);
        };
        hub.counters.note_sent(waited);
        hub.counters.bursts += 1;
        hub.counters.airtime += airtime;
        hub.counters.max_queue = hub.counters.max_queue.max(queue as u64);
        hub.outside += 1;
        let delay = match packet.to {
            Addressee::One(to) => self.stations[to.index()].delay,
            Addressee::All => self.stations.iter().map(|of| of.delay).max().unwrap_or_default(),
        };
        self.tasks.add(end + delay, Task::Delivery { packet });
    }

    pub(super) fn drop_packet(&mut self, at: u32, packet: Outgoing<P>, cause: DropCause) {
        let Outgoing { to, payload, .. } = packet;
        self.events.push_back(Event::Dropped { at: StationId(at), to, payload, cause, arrived: false });
    }

    /// Lets a terminal with waiting packets obtain capacity, unless a burst with its next request is certain.
    pub(super) fn consider(&mut self, now: Instant, terminal: u32) {
        let state = &mut self.stations[terminal as usize];
        if state.queue.is_empty() {
            return;
        }
        state.observe(now);
        if state.is_down() {
            if !std::mem::replace(&mut state.resuming, true)
                && let Some(weather) = &state.weather
            {
                self.tasks.add(weather.next_step(), Task::Resume(terminal));
            }
            return;
        }
        match state.session {
            Session::LoggedOn(_) => {}
            Session::LoggedOff => return self.contend(now, terminal),
            Session::LoggingOn => return,
        }
        if state.constant.1 > 0 && !state.constant_due {
            state.constant_due = true;
            self.next_constant(now, terminal);
        }
        let state = &mut self.stations[terminal as usize];
        if state.is_served(now) {
            if state.has_rate(now) && !state.check_due {
                state.check_due = true;
                self.tasks.add(state.rate_until, Task::Expired(terminal));
            }
            if self.config.control_period > 0 && state.lacks_slots(now, self.timing) {
                self.next_control(now, terminal);
            }
            return;
        }
        if self.config.control_period == 0 {
            return self.contend(now, terminal);
        }
        self.next_control(now, terminal);
    }

    /// Adds the event of a terminal's next control slot, unless there is one.
    fn next_control(&mut self, now: Instant, terminal: u32) {
        let state = &mut self.stations[terminal as usize];
        if state.control_due {
            return;
        }
        state.control_due = true;
        let delay = state.delay;
        let first = self.layout.first_from(now + delay);
        let index = u64::from(terminal - u32::from(terminal > self.hub));
        let (frame, slot) = self.layout.control_slot(first, index);
        let start = self.layout.start(frame);
        let end = start + self.layout.end(slot);
        self.tasks.add(before(start + self.layout.offset(slot), delay), Task::Control { terminal, end });
    }

    /// Adds the event of a terminal's next slot of its constant assignment.
    fn next_constant(&mut self, now: Instant, terminal: u32) {
        let state = &self.stations[terminal as usize];
        let (first, count) = state.constant;
        let Session::LoggedOn(since) = state.session else { return };
        let from = self.layout.first_from(since + state.delay);
        let frame = self.layout.first_from(now + state.delay).saturating_sub(1).max(from);
        let slots = (frame..=frame + 1).flat_map(|frame| (0..count).map(move |index| (frame, index)));
        let time = |(frame, index): (u64, u32)| self.layout.start(frame) + self.layout.offset(first + index);
        let due = slots.filter(|slot| time(*slot) >= now + state.delay).min_by_key(|slot| time(*slot));
        let Some((frame, index)) = due else { return };
        let at = before(time((frame, index)), state.delay);
        self.tasks.add(at, Task::Constant { terminal, frame, index });
    }

    /// Handles all events up to `now`.
    pub(super) fn advance(&mut self, now: Instant) {
        while let Some((time, task)) = self.tasks.take(now) {
            match task {
                Task::Delivery { packet } => self.deliver(packet),
                Task::Slot { terminal, category, end } => self.slot_starts(time, terminal, category, end),
                Task::Constant { terminal, frame, index } => self.constant_slot_starts(time, terminal, frame, index),
                Task::Control { terminal, end } => self.control_slot_starts(time, terminal, end),
                Task::Burst { terminal, request, packets } => self.burst_arrives(time, terminal, request, packets),
                Task::Lost { terminal, is_gap, request, packets } => {
                    if is_gap && let Some(resequencer) = &mut self.stations[terminal as usize].resequencer {
                        resequencer.lost();
                    }
                    self.burst_is_lost(time, terminal, request, packets);
                }
                Task::Unheard { terminal, request } => {
                    self.stations[terminal as usize].lost(request);
                    self.consider(time, terminal);
                }
                Task::Resume(terminal) => {
                    self.stations[terminal as usize].resuming = false;
                    self.consider(time, terminal);
                }
                Task::Assign(frame) => self.assign(time, frame),
                Task::Attempt { terminal, frame } => self.attempt(time, terminal, frame),
                Task::Decode(frame) => self.decode(time, frame),
                Task::Outcome(attempt, decoded) => self.learn(time, *attempt, decoded),
                Task::LoggedOn(terminal) => {
                    self.stations[terminal as usize].session = Session::LoggedOn(time);
                    self.consider(time, terminal);
                }
                Task::Expired(terminal) => {
                    self.stations[terminal as usize].check_due = false;
                    self.consider(time, terminal);
                }
            }
        }
    }

    fn deliver(&mut self, packet: Outgoing<P>) {
        let hub = &mut self.stations[self.hub as usize];
        hub.outside -= 1;
        hub.counters.packets.settled += 1;
        let receivers = match packet.to {
            Addressee::One(to) => to.0..to.0 + 1,
            Addressee::All => 0..self.stations.len() as u32,
        };
        for to in receivers.filter(|to| *to != self.hub) {
            self.stations[to as usize].counters.received += 1;
            self.events.push_back(Event::Received {
                at: StationId(to),
                from: StationId(self.hub),
                to: packet.to,
                payload: packet.payload.clone(),
                snr_db: 0.0,
            });
        }
    }

    fn slot_starts(&mut self, now: Instant, terminal: u32, category: Category, end: Instant) {
        let state = &mut self.stations[terminal as usize];
        state.upcoming -= 1;
        if category == Category::Volume {
            state.outstanding -= 1;
        }
        state.observe(now);
        if state.queue.is_empty() || state.is_down() {
            state.counters.idle += 1;
            return self.consider(now, terminal);
        }
        state.counters.used += 1;
        self.send_burst(now, terminal, end);
        self.consider(now, terminal);
    }

    fn constant_slot_starts(&mut self, now: Instant, terminal: u32, frame: u64, index: u32) {
        let state = &mut self.stations[terminal as usize];
        state.observe(now);
        if state.queue.is_empty() || state.is_down() {
            state.constant_due = false;
            return self.consider(now, terminal);
        }
        state.constant_used += 1;
        let slot = state.constant.0 + index;
        let end = self.layout.start(frame) + self.layout.end(slot);
        self.send_burst(now, terminal, end);
        // The next slot is later than this one.
        self.next_constant(now + Duration::from_nanos(1), terminal);
        self.consider(now, terminal);
    }

    /// Sends a burst with the packets and the request of a terminal.
    fn send_burst(&mut self, now: Instant, terminal: u32, end: Instant) {
        let is_lost = self.loses_burst(terminal);
        let state = &mut self.stations[terminal as usize];
        let decoded = !is_lost && state.is_decoded();
        let Carried { intact: packets, damaged } = state.fill(now, decoded);
        state.counters.bursts += 1;
        state.counters.airtime += self.layout.burst();
        let request = state.request(now, self.timing).map(|request| (request, state.rate_until));
        if !decoded {
            state.counters.lost_bursts += 1;
            let request = request.map(|(request, _)| request);
            return self.tasks.add(end, Task::Lost { terminal, is_gap: true, request, packets: damaged });
        }
        if state.free || state.resequencer.is_some() || request.is_some() || !packets.is_empty() {
            self.tasks.add(end, Task::Burst { terminal, request, packets });
        }
        if !damaged.is_empty() {
            self.tasks.add(end, Task::Lost { terminal, is_gap: false, request: None, packets: damaged });
        }
    }

    /// Draws whether the path loses the next burst of a terminal.
    fn loses_burst(&mut self, terminal: u32) -> bool {
        let loss = self.stations[terminal as usize].burst_loss;
        loss > 0.0 && self.losses.uniform() < loss
    }

    /// Sends a request in a control slot, if the terminal needs one.
    fn control_slot_starts(&mut self, now: Instant, terminal: u32, end: Instant) {
        let state = &mut self.stations[terminal as usize];
        state.control_due = false;
        state.observe(now);
        let request = if state.is_down() { None } else { state.request(now, self.timing) };
        if let Some(request) = request {
            state.counters.airtime += self.layout.burst();
            let expiry = state.rate_until;
            let is_robust = state.is_robust();
            let task = if !self.loses_burst(terminal) && is_robust {
                Task::Burst { terminal, request: Some((request, expiry)), packets: Vec::new() }
            } else {
                self.stations[terminal as usize].counters.lost_bursts += 1;
                Task::Lost { terminal, is_gap: false, request: Some(request), packets: Vec::new() }
            };
            self.tasks.add(end, task);
        }
        // The next control slot is later than this one.
        self.consider(now + Duration::from_nanos(1), terminal);
    }

    /// Drops the packets of a burst that was not decoded. The terminal learns one delay later that a request was lost.
    fn burst_is_lost(
        &mut self,
        now: Instant,
        terminal: u32,
        request: Option<CapacityRequest>,
        packets: Vec<Outgoing<P>>,
    ) {
        let state = &mut self.stations[terminal as usize];
        state.outside -= packets.len() as u64;
        state.counters.dropped_error += packets.len() as u64;
        if let Some(request) = request {
            self.tasks.add(now + state.delay, Task::Unheard { terminal, request });
        }
        packets.into_iter().for_each(|packet| self.drop_packet(terminal, packet, DropCause::Error));
    }

    pub(super) fn burst_arrives(
        &mut self,
        now: Instant,
        terminal: u32,
        request: Option<(CapacityRequest, Instant)>,
        packets: Vec<Outgoing<P>>,
    ) {
        let state = &mut self.stations[terminal as usize];
        let packets = match &mut state.resequencer {
            None => packets,
            Some(resequencer) => resequencer.arrived(packets),
        };
        let count = packets.len() as u64;
        state.outside -= count;
        state.counters.packets.settled += count;
        if state.free {
            self.ncc.hear(terminal, now + self.timing.rate_timeout);
        }
        if let Some((request, expiry)) = request {
            let delay = self.stations[terminal as usize].delay;
            self.ncc.request(terminal, request, expiry + delay);
        }
        self.stations[self.hub as usize].counters.received += count;
        for Outgoing { to, payload, .. } in packets {
            let (at, from) = (StationId(self.hub), StationId(terminal));
            self.events.push_back(Event::Received { at, from, to, payload, snr_db: 0.0 });
        }
        self.resume_assignments(now);
    }

    /// Adds the event of the next assignment, if there is capacity to assign.
    pub(super) fn resume_assignments(&mut self, now: Instant) {
        if self.ncc.is_assigning || !self.ncc.has_work() {
            return;
        }
        self.ncc.is_assigning = true;
        let frame = self.layout.first_from(now + self.timing.lead).max(self.ncc.next_frame);
        let time = before(self.layout.start(frame), self.timing.lead).max(now);
        self.tasks.add(time, Task::Assign(frame));
    }

    /// Assigns the slots of a frame.
    fn assign(&mut self, now: Instant, frame: u64) {
        let first = self.layout.first_assigned();
        let total = self.config.total_slots();
        let mut grants = Vec::new();
        self.ncc.divide(now, frame, total - first, |terminal, slots| grants.push((terminal, slots)));
        let mut next = first;
        self.skipped.clear();
        for (terminal, slots) in grants {
            self.serial += 1;
            for category in [Category::Rate, Category::Volume, Category::Free] {
                for _ in 0..slots[category as usize] {
                    self.place(frame, terminal, category, &mut next);
                }
            }
        }
        self.ncc.is_assigning = false;
        self.resume_assignments(now);
    }

    /// Gives a terminal the next slot that does not coincide with another slot of it.
    fn place(&mut self, frame: u64, terminal: u32, category: Category, next: &mut u32) {
        let (slots, serial) = (self.layout.slots, self.serial);
        let (users, (first, count)) = (&self.users, self.stations[terminal as usize].constant);
        let is_free = |slot: u32| {
            let since = (slot % slots + slots - first % slots) % slots;
            users[(slot % slots) as usize] != serial && since >= count
        };
        let slot = match self.skipped.iter().position(|slot| is_free(*slot)) {
            Some(at) => Some(self.skipped.swap_remove(at)),
            None => loop {
                if *next == self.config.total_slots() {
                    break None;
                }
                *next += 1;
                if is_free(*next - 1) {
                    break Some(*next - 1);
                }
                self.skipped.push(*next - 1);
            },
        };
        let Some(slot) = slot else {
            if category == Category::Volume {
                self.ncc.put_back(terminal);
            }
            return;
        };
        self.users[(slot % slots) as usize] = serial;
        let start = self.layout.start(frame);
        let end = start + self.layout.end(slot);
        let state = &mut self.stations[terminal as usize];
        state.upcoming += 1;
        state.counters.granted += 1;
        let at = before(start + self.layout.offset(slot), state.delay);
        self.tasks.add(at, Task::Slot { terminal, category, end });
    }
}
