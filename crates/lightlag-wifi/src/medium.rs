//! The medium: frames on the air, and the stations that hear them.
//!
//! A medium has one wake of its own, the next end of a frame; a station has one, the end of its backoff or of its wait for
//! an answer. Nothing happens at the start of an answer: its records are written when the frame before it ends.
//!
//! - `frame`: frames, and what travels in them.
//! - `record`: a frame at a station.
//! - `hearing`: a station's receiver. Each frame leaves a record at every station that hears it; the receiver works
//!   through its records in the order of time, when it is asked.
//! - `access`: a station's right to send: spaces, slots and backoff.
//! - `station`: a station, made of these, and its counters.
//! - `queue`: frames that wait.
//! - `aggregate`: packets that leave together.
//! - `agreement`: agreements about block acknowledgements that stations negotiate, and `negotiation`: how they do.
//! - `reach`: the stations that a frame reaches.
//! - `background`: frames that are too faint to be noticed.
//! - `reorder`: packets that have arrived and wait for those before them.
//! - `tracks`: where all stations are.

mod access;
mod aggregate;
mod agreement;
mod background;
mod frame;
mod hearing;
mod negotiation;
mod queue;
mod reach;
mod record;
mod reorder;
mod station;
mod tracks;

pub use frame::{AirDrop, Aired, Happening, Kind, Msdu, Station, To};
pub use queue::ClassCounters;
pub use station::StationCounters;

use crate::class::Class;
use crate::config::{BlockAckAgreement, MediumConfig, MissingBlockAck, StationConfig};
use crate::phy::timing::{ACK_SIZE, CCA_TIME};
use crate::phy::{BasicRates, ErrorCurves, Mode, Standard, Timing};
use crate::propagation::Channel;
use crate::propagation::decibels::{decibels, ratio};
use crate::rate::{Choice, Outcome};
use access::{Access, State};
use aggregate::{BLOCK_ACK_REQUEST_SIZE, BLOCK_ACK_SIZE, Length, Mpdu};
use agreement::Agreements;
use background::Background;
use frame::{Frame, OnAir, Peer};
use hearing::{End, Hearing, Sent, Thresholds};
use lightlag_core::random::mix;
use lightlag_core::{Bytes, Duration, Instant, Probability, RandomStream, prefetch};
use lightlag_mobility::Vector;
use queue::{Pending, Queue};
use reach::{Antenna, Reach};
use record::Record;
use station::{Control, StationState};
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;
use tracks::Tracks;

/// A shared channel.
#[derive(Debug)]
pub struct Medium<P> {
    reach: Reach,
    curves: ErrorCurves,
    /// By mode and bits, a power of two: the SINRs from which on a frame survives most draws, and its headers all.
    levels: Vec<(Mode, u32, [f64; 2])>,
    timing: Timing,
    frequency: f64,
    edca: bool,
    seed: u64,
    /// The family of the draws that decide about frames.
    draws: u64,
    /// The instant of the last call: frames that start later are on their way already.
    now: Instant,
    stations: Vec<StationState<P>>,
    /// The receiver of each station. Every frame needs many of them, and little else of their stations.
    hearings: Vec<Hearing>,
    /// The first to end comes first.
    frames: BinaryHeap<OnAir<P>>,
    next_frame: u64,
    happenings: VecDeque<Happening<P>>,
    /// Whose frames are told, if anybody's are, and those that wait to be told.
    watched: Vec<bool>,
    aired: VecDeque<Aired<P>>,
    changed: Vec<u32>,
    background: Background,
    /// Lists of hearers that are free.
    lists: Vec<Vec<u32>>,
}

/// Bytes of the headers around a packet: LLC and SNAP, and the MAC header with its check sum, of QoS data or plain.
const LLC: u32 = 8;
const MAC: u32 = 28;
const QOS: u32 = 2;
const RTS_SIZE: Bytes = Bytes(20);

/// Stations whose state a cache close to the processor holds.
const CACHED: usize = 128;

/// Receptions between the fetch of a receiver's memory and its use.
const AHEAD: usize = 8;

/// The time in which the preamble of an answer is seen: that of its physical header at the lowest rate.
const PHY_HEADER: Duration = Duration::from_micros(20);

impl<P: Clone> Medium<P> {
    /// The medium called `name` with these stations, in the run with this seed.
    ///
    /// # Panics
    /// If a radio does not go with the medium.
    pub fn new(config: &MediumConfig, stations: Vec<StationConfig>, seed: u64, name: &str) -> Self {
        let timing = Timing::new(config.band());
        let edca = matches!(config.standard, Standard::N | Standard::Ac);
        let tracks = Tracks::new(stations.iter().map(|station| station.motion.clone()).collect());
        let mut thresholds: Vec<Arc<Thresholds>> = Vec::new();
        let hearing = |(station, number): (&StationConfig, u32)| {
            let its = Thresholds::new(&station.radio, config.width);
            let known = thresholds.iter().find(|known| ***known == its).cloned();
            let shared = known.unwrap_or_else(|| {
                thresholds.push(Arc::new(its));
                thresholds[thresholds.len() - 1].clone()
            });
            Hearing::new(shared, number)
        };
        let hearings: Vec<Hearing> = stations.iter().zip(0..).map(hearing).collect();
        let antenna = |(station, hearing): (&StationConfig, &Hearing)| Antenna {
            power: ratio(station.radio.power + station.radio.gain),
            gain: ratio(station.radio.gain),
            sensitivity: ratio(station.radio.sensitivity),
            noticeable: hearing.noticeable(),
        };
        let antennas: Vec<Antenna> = stations.iter().zip(&hearings).map(antenna).collect();
        let channel = Channel::new(&config.propagation, config.frequency, seed, name);
        let state = |station: StationConfig| {
            let radio = &station.radio;
            let [fixed, broadcast_mode] = radio.modes(config);
            let control = Control::new(radio, config, format!("radio {}@{name} rates", station.name));
            let data_mode = control.as_ref().map_or(fixed, |control| control.modes[0]);
            let random = RandomStream::new(seed, &format!("radio {}@{name} backoff", station.name));
            let is_negotiated = radio.block_ack_agreement == BlockAckAgreement::Ns3;
            let negotiates = edca && is_negotiated && radio.aggregation >= 1.0;
            StationState {
                data_mode,
                broadcast_mode,
                control,
                mode: data_mode,
                is_probe: false,
                overhead: LLC + MAC + if edca { QOS } else { 0 },
                usual: radio.access_class,
                tries: radio.tries,
                rts_threshold: radio.rts_threshold,
                aggregation: aggregate::most(data_mode, radio.aggregation).filter(|_| edca).map(|_| radio.aggregation),
                access: Access::new(timing, edca.then(|| radio.edca.clone()), random),
                queues: vec![Queue::new(radio.queue, radio.lifetime)],
                class: 0,
                burst_until: Instant::ZERO,
                sending: Vec::new(),
                together: None,
                sequences: Vec::new(),
                owed: VecDeque::new(),
                tells: None,
                agreements: negotiates.then(|| Box::new(Agreements::new(radio.lifetime, radio.tries))),
                acts: false,
                management_mode: BasicRates::MANDATORY.lowest(config.band()),
                is_vht: config.standard == Standard::Ac,
                asks_again: radio.missing_block_ack == MissingBlockAck::Ask,
                unresolved: None,
                wake: None,
                heard: Vec::new(),
                reordered: Vec::new(),
                release: None,
                sent: 0,
                counters: StationCounters::default(),
            }
        };
        let stations: Vec<StationState<P>> = stations.into_iter().map(state).collect();
        Self {
            reach: Reach::new(channel, tracks, &antennas),
            curves: ErrorCurves::new(config.errors),
            levels: Vec::new(),
            timing,
            frequency: config.frequency,
            edca,
            seed,
            draws: mix(seed),
            now: Instant::ZERO,
            lists: Vec::new(),
            background: Background::default(),
            stations,
            hearings,
            frames: BinaryHeap::new(),
            next_frame: 0,
            happenings: VecDeque::new(),
            watched: Vec::new(),
            aired: VecDeque::new(),
            changed: Vec::new(),
        }
    }

    /// When the next frame ends.
    pub fn next_wake(&self) -> Option<Instant> {
        self.frames.peek().map(|first| first.end)
    }

    /// When a station wakes next, if nothing happens before.
    pub fn station_wake(&self, station: Station) -> Option<Instant> {
        self.stations[station.0 as usize].next_wake()
    }

    /// Tells of each station whose wake may have changed since the last call.
    pub fn rearmed(&mut self, mut tell: impl FnMut(Station, Instant)) {
        for station in self.changed.drain(..) {
            if let Some(wake) = self.stations[station as usize].next_wake() {
                tell(Station(station), wake);
            }
        }
    }

    /// The next thing that happened to a packet.
    pub fn next_happening(&mut self) -> Option<Happening<P>> {
        self.happenings.pop_front()
    }

    /// The happening so many places behind the next one.
    pub fn happening_after(&self, places: usize) -> Option<&Happening<P>> {
        self.happenings.get(places)
    }

    /// Tells from now on of each frame that one of these stations sends or understands.
    pub fn watch(&mut self, stations: impl IntoIterator<Item = Station>) {
        self.watched = vec![false; self.stations.len()];
        stations.into_iter().for_each(|station| self.watched[station.0 as usize] = true);
    }

    /// The next frame of a station that is watched.
    pub fn next_aired(&mut self) -> Option<Aired<P>> {
        self.aired.pop_front()
    }

    /// Whether access follows EDCA, so that frames of data name a class.
    pub fn has_classes(&self) -> bool {
        self.edca
    }

    /// The class of the packets of a station.
    pub fn class(&self, station: Station) -> Class {
        self.stations[station.0 as usize].usual
    }

    /// The centre of the channel, in hertz.
    pub fn frequency(&self) -> f64 {
        self.frequency
    }

    /// Lets all stations notice what is on the air until now, so that their counters have it.
    pub fn settle(&mut self, now: Instant) {
        for (state, hearing) in self.stations.iter_mut().zip(&mut self.hearings) {
            hearing.advance(now, &mut state.access, &mut self.background);
        }
    }

    /// The counters of a station until now. A frame counts from its start on with all of its airtime.
    pub fn counters(&self, station: Station, now: Instant) -> StationCounters {
        let state = &self.stations[station.0 as usize];
        StationCounters { busy: state.access.busy(now), ..state.counters }
    }

    /// The counters of a class at a station until now; none if it never had a packet of this class.
    pub fn class_counters(&self, station: Station, class: Class, now: Instant) -> Option<ClassCounters> {
        self.stations[station.0 as usize].queues.get(class.index())?.counters(now)
    }

    /// Where a station is.
    pub fn position(&mut self, station: Station, now: Instant) -> Vector {
        self.reach.position(station.0 as usize, now)
    }

    /// Reports each station to which frames of data from this one arrive with a probability above `min_delivery`.
    pub fn in_range(
        &mut self,
        station: Station,
        now: Instant,
        min_delivery: Probability,
        mut tell: impl FnMut(Station),
    ) {
        const USUAL: u32 = 1536;
        let mode = self.stations[station.0 as usize].data_mode;
        let powers = self.reach.powers(station.0 as usize, now);
        for (other, power) in powers.iter().enumerate().filter(|(other, _)| *other != station.0 as usize) {
            let hearing = &self.hearings[other];
            let ln = self.curves.ln_success(mode, power / hearing.noise(), 8 * USUAL);
            if hearing.detects(*power) && crate::phy::error_model::success(ln) > min_delivery.value() {
                tell(Station(other as u32));
            }
        }
    }

    /// Ratio of signal to noise at a station, of a frame from another one, in dB.
    pub fn snr_db(&mut self, from: Station, at: Station, now: Instant) -> f64 {
        decibels(self.reach.powers(from.0 as usize, now)[at.0 as usize] / self.hearings[at.0 as usize].noise())
    }

    /// Tells of each packet that is at a station and has not arrived anywhere.
    pub fn pending(&self, mut tell: impl FnMut(&P)) {
        for station in &self.stations {
            let waiting = station.queues.iter().flat_map(Queue::iter).filter(|pending| !pending.arrived);
            waiting.for_each(|pending| tell(&pending.msdu.payload));
            for held in station.reordered.iter().flat_map(|(_, reordered)| reordered.held()) {
                if let Happening::Received { payload, .. } = held {
                    tell(payload);
                }
            }
        }
    }

    /// Number of the packets at a station, whether they have arrived or not.
    pub fn waiting(&self, at: Station) -> u64 {
        self.stations[at.0 as usize].queues.iter().map(|queue| queue.len() as u64).sum()
    }

    /// Gives a packet to a station.
    pub fn offer(&mut self, now: Instant, at: Station, msdu: Msdu<P>) {
        self.now = now;
        let state = &mut self.stations[at.0 as usize];
        state.counters.offered += 1;
        let class = if self.edca { msdu.class.index() } else { 0 };
        state.open(class);
        if let Err(msdu) = state.queues[class].push(now, msdu) {
            state.counters.dropped_queue += 1;
            let Msdu { to, payload, .. } = msdu;
            return self.happenings.push_back(Happening::Dropped {
                at,
                to,
                payload,
                cause: AirDrop::Queue,
                arrived: false,
            });
        }
        let waiting = state.queues.iter().map(|queue| queue.len() as u64).sum();
        state.counters.max_queue = state.counters.max_queue.max(waiting);
        let is_first = state.queues[class].len() == 1 || state.agreements.is_some();
        if is_first && state.access.state == State::Idle {
            self.hearings[at.0 as usize].advance(now, &mut state.access, &mut self.background);
            self.contend(at.0, now);
        }
    }

    /// The end of a backoff, of a wait or of a broadcast.
    pub fn station_wakes(&mut self, now: Instant, station: Station) {
        self.now = now;
        let at = station.0;
        if self.stations[at as usize].release.is_some_and(|release| release <= now) {
            self.release_late(at, now);
        }
        let due = self.stations[at as usize].agreements.as_ref().and_then(|agreements| agreements.deadline());
        if due.is_some_and(|due| due <= now) {
            self.give_up_responses(at, now);
        }
        let (state, hearing) = (&mut self.stations[at as usize], &mut self.hearings[at as usize]);
        state.wake = None;
        hearing.advance(now, &mut state.access, &mut self.background);
        match state.access.state {
            State::Sending(until) if until <= now => self.finish(at, now),
            State::Waiting(until) if until <= now => {
                // The answer's end resolves it (§10.3.2.11: the wait is for the start of a reception).
                if hearing.is_receiving(now) {
                    state.access.state = State::Receiving;
                } else {
                    self.unanswered(at, now);
                }
            }
            State::Idle => self.drop_expired(at, now),
            _ => {}
        }
        let state = &mut self.stations[at as usize];
        if state.access.state == State::Idle
            && let Some((access, class)) = state.next_access(now)
        {
            if access <= now { self.win(at, class, now) } else { self.contend(at, now) }
        } else if let State::Sending(until) | State::Waiting(until) = state.access.state {
            state.wake = Some(until);
        }
        self.changed.push(at);
    }

    /// The ends of frames.
    pub fn medium_wakes(&mut self, now: Instant) {
        self.now = now;
        while self.frames.peek().is_some_and(|first| first.end <= now) {
            let Some(OnAir { mut frame, number, .. }) = self.frames.pop() else { return };
            self.frame_ends(now, number, &frame);
            frame.hearers.clear();
            self.lists.push(std::mem::take(&mut frame.hearers));
        }
        if !self.background.is_silent() {
            let start = self.frames.iter().map(|of| of.start).min();
            self.background.forget(start.map_or(now, |start| start.min(now)));
        }
    }

    /// Wakes a station when it may send.
    fn contend(&mut self, at: u32, now: Instant) {
        let state = &mut self.stations[at as usize];
        if let Some((access, _)) = state.next_access(now)
            && state.wake != Some(access)
        {
            state.wake = Some(access);
            self.changed.push(at);
        }
    }

    /// A station has got the medium for a class. Other classes that were ready behave as after a collision.
    fn win(&mut self, at: u32, class: usize, now: Instant) {
        let state = &mut self.stations[at as usize];
        let is_ready =
            |other: &usize| *other != class && state.wants(*other) && state.access.access(*other, now) <= now;
        let losers = (0..state.queues.len()).filter(is_ready).fold(0u8, |losers, other| losers | 1 << other);
        state.class = class;
        state.burst_until = now + state.access.burst(class);
        self.start(at, now);
        let access = &mut self.stations[at as usize].access;
        (0..Class::ALL.len()).filter(|other| losers >> other & 1 == 1).for_each(|other| access.collide(other));
    }

    /// After a success a station of a class with bursts goes on with its next packets at `start`, if they and their answer end in
    /// time (§10.23.2.8).
    fn goes_on(&mut self, at: u32, start: Instant) -> bool {
        let state = &self.stations[at as usize];
        let (class, until) = (state.class, state.burst_until);
        if state.agreements.is_some()
            && let Some(peer) = state.next_owed(class)
        {
            // Requests may follow at once where a class has no bursts (§10.23.2.8).
            let may_ask = until <= start;
            if may_ask {
                self.ask_what_arrived(at, start, peer);
            }
            return may_ask;
        }
        if until <= start || !state.wants(class) || state.has_more_than_packets(class) {
            return false;
        }
        self.choose(at, start);
        let state = &self.stations[at as usize];
        let Some(pending) = state.head(class) else { return false };
        let size = state.together.unwrap_or(pending.msdu.size + state.overhead);
        let end = match pending.msdu.to {
            To::All => start + state.broadcast_mode.duration(Bytes(size.into())),
            To::One(_) => {
                let mode = state.mode;
                let answer = self.timing.sifs + self.acknowledgement_time(mode, state.together);
                start + mode.duration(Bytes(size.into())) + answer
            }
        };
        if end <= until {
            self.send_data(at, start);
        }
        end <= until
    }

    /// Chooses the packets that a station sends next, and their mode.
    fn choose(&mut self, at: u32, now: Instant) {
        let sifs = self.timing.sifs;
        let (seed, curves) = (self.seed, &self.curves);
        let state = &mut self.stations[at as usize];
        let class = state.class;
        let to = state.head(class).map(|pending| pending.msdu.to);
        if let Some(control) = &mut state.control
            && let Some(To::One(Station(to))) = to
            && let Some(state_of_pair) = control.of(to, curves, seed)
        {
            Choice { mode: state.mode, is_probe: state.is_probe } = state_of_pair.choose(now);
        }
        let burst = state.access.burst(class);
        let longest = if burst > Duration::ZERO {
            let answer = BasicRates::MANDATORY.answer(state.mode).duration(Bytes(BLOCK_ACK_SIZE.into()));
            state.mode.largest(burst.saturating_sub(sifs + answer)).0 as u32
        } else {
            u32::MAX
        };
        let most = state.aggregation.filter(|_| !state.is_probe).and_then(|most| aggregate::most(state.mode, most));
        let most = most.map(|most| most.min(longest));
        let mut sending = std::mem::take(&mut state.sending);
        let next = |station| state.next_sequence(Peer { station, class });
        let is_blocked = |station| {
            state.agreements.as_ref().is_some_and(|agreements| agreements.is_blocked(Peer { station, class }))
        };
        let most = |station| most.filter(|_| state.may_aggregate(Peer { station, class }));
        state.together = state.queues[class].choose(is_blocked, most, state.overhead, next, &mut sending);
        state.sending = sending;
    }

    /// A station learns the outcome of the packets that it has sent.
    fn learn(&mut self, at: u32, arrived: u32, snr: Option<f64>) {
        let (seed, curves) = (self.seed, &self.curves);
        let to = self.stations[at as usize].current().map(|pending| pending.msdu.to);
        let StationState { control, sending, mode, .. } = &mut self.stations[at as usize];
        if let Some(control) = control
            && let Some(To::One(Station(to))) = to
            && let Some(of) = control.of(to, curves, seed)
        {
            of.learn(Outcome { mode: *mode, sent: sending.len() as u32, arrived, snr });
        }
    }

    fn drop_expired(&mut self, at: u32, now: Instant) {
        let state = &mut self.stations[at as usize];
        for class in 0..state.queues.len() {
            while let Some(pending) = state.queues[class].pop_expired(now) {
                state.counters.dropped_lifetime += 1;
                self.happenings.push_back(state.give_up(at, class, pending, AirDrop::Lifetime));
            }
        }
        while let Some(peer) = self.stations[at as usize].agreements.as_mut().and_then(|of| of.pop_expired(now)) {
            self.unreachable(at, peer, AirDrop::Lifetime);
        }
    }

    /// Packets that have waited too long for those before them are released.
    fn release_late(&mut self, at: u32, now: Instant) {
        let state = &mut self.stations[at as usize];
        for (_, reordered) in &mut state.reordered {
            reordered.release_late(now, |happening| self.happenings.push_back(happening));
        }
        state.release = state.reordered.iter().filter_map(|(_, reordered)| reordered.late()).min();
    }

    /// A station sends its first packets, or asks for the medium for them.
    fn start(&mut self, at: u32, now: Instant) {
        let class = self.stations[at as usize].class;
        if let Some(peer) = self.stations[at as usize].next_owed(class) {
            return self.ask_what_arrived(at, now, peer);
        }
        if self.negotiate(at, now) {
            return;
        }
        self.choose(at, now);
        let state = &self.stations[at as usize];
        let together = state.together;
        let Some(pending) = state.head(state.class) else { return };
        let (to, packet) = (pending.msdu.to, pending.number);
        let size = together.unwrap_or_else(|| pending.msdu.size + state.overhead);
        if matches!(to, To::One(_)) && size > state.rts_threshold {
            let mode = state.broadcast_mode;
            let data_mode = state.mode;
            let ppdu = if together.is_some() { size } else { aggregate::alone(data_mode, size) };
            let (cts, data) = (self.answer_time(mode, ACK_SIZE), data_mode.duration(Bytes(ppdu.into())));
            let ack = self.acknowledgement_time(data_mode, together);
            let reserves = self.timing.sifs * 3 + cts + data + ack;
            let outgoing =
                Outgoing { packet, class, ..Outgoing::control(to, Kind::Rts, mode, RTS_SIZE.0 as u32, reserves) };
            let end = self.send(at, now, outgoing);
            self.stations[at as usize].access.ask();
            self.wait(at, end);
        } else {
            self.send_data(at, now);
        }
    }

    /// A station asks what has arrived at a receiver, which thereby learns what it need not wait for.
    fn ask_what_arrived(&mut self, at: u32, now: Instant, peer: Peer) {
        let state = &mut self.stations[at as usize];
        let is_sent = |of: &&Pending<P>| of.sequence > 0 && of.msdu.to == To::One(Station(peer.station));
        let sequence = state.queues[peer.class].iter().find(is_sent).map(|of| of.sequence);
        let sequence = sequence.unwrap_or_else(|| state.next_sequence(peer));
        state.tells = Some(peer);
        state.access.ask();
        let mode = self.request_mode(at);
        let (kind, to) = (Kind::BlockAckRequest, To::One(Station(peer.station)));
        let reserves = self.timing.sifs + self.answer_time(mode, Bytes(BLOCK_ACK_SIZE.into()));
        let outgoing = Outgoing::control(to, kind, mode, BLOCK_ACK_REQUEST_SIZE, reserves);
        let end = self.send(at, now, Outgoing { sequence, class: peer.class, ..outgoing });
        self.wait(at, end);
    }

    /// The time of an answer to a frame of this mode.
    fn answer_time(&self, mode: Mode, size: Bytes) -> Duration {
        BasicRates::MANDATORY.answer(mode).duration(size)
    }

    /// The time of the acknowledgement of a frame or, if it has so many bytes, an A-MPDU.
    fn acknowledgement_time(&self, mode: Mode, together: Option<u32>) -> Duration {
        let size = if together.is_some() { Bytes(BLOCK_ACK_SIZE.into()) } else { ACK_SIZE };
        self.answer_time(mode, size)
    }

    fn send_data(&mut self, at: u32, start: Instant) {
        let reserves = {
            let state = &self.stations[at as usize];
            self.timing.sifs + self.acknowledgement_time(state.mode, state.together)
        };
        let state = &mut self.stations[at as usize];
        let class = state.class;
        state.counters.sent += state.sending.len() as u64;
        state.queues[class].sent += state.sending.len() as u64;
        let to = state.current().map_or(To::All, |of| of.msdu.to);
        if let (Some(size), To::One(Station(to))) = (state.together, to) {
            let mut mpdus = Vec::with_capacity(state.sending.len());
            let mut length = Length::default();
            for place in 0..state.sending.len() {
                let packet = state.sending[place];
                let fresh = state.next_sequence(Peer { station: to, class });
                let Some(pending) = state.queues[state.class].get_mut(packet) else { continue };
                let is_fresh = pending.sequence == 0;
                if is_fresh {
                    pending.sequence = fresh;
                }
                let (offset, bytes) = length.place(pending.msdu.size + state.overhead);
                length = length.with(pending.msdu.size + state.overhead);
                let payload = (!self.watched.is_empty()).then(|| pending.msdu.payload.clone());
                let (sequence, is_retry) = (pending.sequence, pending.tries > 0);
                mpdus.push(Mpdu { packet, sequence, is_retry, offset, bytes, payload });
                if is_fresh {
                    state.number(Peer { station: to, class });
                }
            }
            state.counters.retries += mpdus.iter().map(|mpdu| u64::from(mpdu.is_retry)).sum::<u64>();
            state.counters.aggregates += 1;
            state.counters.aggregated += mpdus.len() as u64;
            let outgoing = Outgoing::control(To::One(Station(to)), Kind::Data, state.mode, size, reserves);
            let end = self.send(at, start, Outgoing { mpdus, class, ..outgoing });
            return self.wait(at, end);
        }
        let is_numbered = state.aggregation.is_some() || state.agreements.is_some();
        let fresh = match state.current() {
            Some(pending) => match pending.msdu.to {
                To::One(Station(station)) if pending.sequence == 0 && is_numbered => {
                    Some(state.number(Peer { station, class }))
                }
                _ => None,
            },
            None => return,
        };
        let Some(number) = state.sending.first() else { return };
        let Some(pending) = state.queues[class].get_mut(*number) else { return };
        pending.sequence = fresh.unwrap_or(pending.sequence);
        let (to, packet, sequence) = (pending.msdu.to, pending.number, pending.sequence);
        let is_retry = pending.tries > 0;
        let is_needed = to == To::All || !self.watched.is_empty();
        let payload = is_needed.then(|| pending.msdu.payload.clone());
        let size = pending.msdu.size + state.overhead;
        state.counters.retries += u64::from(is_retry);
        let (mode, reserves) = match to {
            To::All => (state.broadcast_mode, Duration::ZERO),
            To::One(_) => (state.mode, reserves),
        };
        let outgoing = Outgoing::control(to, Kind::Data, mode, aggregate::alone(mode, size), reserves);
        let end = self.send(at, start, Outgoing { packet, sequence, is_retry, payload, class, ..outgoing });
        match to {
            To::All => {
                let state = &mut self.stations[at as usize];
                state.access.state = State::Sending(end);
                state.wake = Some(end);
                self.changed.push(at);
            }
            To::One(_) => self.wait(at, end),
        }
    }

    /// A station waits for an answer to the frame that it has just begun to send.
    fn wait(&mut self, at: u32, end: Instant) {
        let state = &mut self.stations[at as usize];
        let until = end + self.timing.sifs + self.timing.slot + PHY_HEADER;
        state.access.state = State::Waiting(until);
        state.wake = Some(until);
        self.changed.push(at);
    }

    /// A frame leaves a station; its end there.
    fn send(&mut self, at: u32, start: Instant, outgoing: Outgoing<P>) -> Instant {
        let Outgoing { to, kind, mode, size, reserves, answers, .. } = outgoing;
        let Outgoing { packet, sequence, is_retry, bitmap, payload, mpdus, class, answered, .. } = outgoing;
        let airtime = mode.duration(Bytes(size.into()));
        let end = start + airtime;
        let largest = mpdus.iter().map(|mpdu| mpdu.bytes).max();
        let sent = self.sent(mode, size, largest);
        let state = &mut self.stations[at as usize];
        state.sent += 1;
        let number = state.sent;
        let exchange = answers.unwrap_or(u64::from(at) << 40 | number);
        match (kind, to) {
            (Kind::Data, To::One(_)) => state.counters.unicast_airtime += airtime,
            (Kind::Data, To::All) => state.counters.broadcast_airtime += airtime,
            _ => state.counters.control_airtime += airtime,
        }
        self.hearings[at as usize].send(start, end);
        state.access.occupy(start, end);
        let mut hearers = self.lists.pop().unwrap_or_default();
        let mut last = end;
        let frame = self.next_frame;
        self.next_frame += 1;
        let Self { reach, stations, hearings, background, now, .. } = self;
        let receptions = if reach.is_lasting() {
            reach.receptions(at as usize, start, exchange)
        } else {
            let mut levels = background.room();
            let (receptions, travels) = reach.loud(at as usize, start, exchange, &mut levels);
            background.add(frame, (start, end), travels, levels);
            receptions
        };
        for (place, reception) in receptions.iter().enumerate() {
            if let Some(soon) = receptions.get(place + AHEAD)
                && receptions.len() > CACHED
            {
                hearings[soon.station as usize].prefetch_place();
            }
            let (state, hearing) =
                (&mut stations[reception.station as usize], &mut hearings[reception.station as usize]);
            let power = reception.power;
            let record = Record { frame, arrival: start + reception.travels, end: end + reception.travels, power };
            if hearing.add(record, *now, &mut state.access, background) {
                hearers.push(reception.station);
                last = last.max(record.end);
                if hearing.is_loud(power) {
                    state.put_off(record.arrival + CCA_TIME, record.end + reserves);
                }
            }
        }
        let frame_on_air = Box::new(Frame {
            from: at,
            to,
            kind,
            sent,
            number,
            packet,
            sequence,
            bitmap,
            mpdus,
            class,
            answered,
            exchange,
            length: airtime,
            is_retry,
            reserves,
            hearers,
            payload,
        });
        if self.watched.get(at as usize).is_some_and(|watched| *watched) {
            self.tell(at, &frame_on_air, start, None, |_| true);
        }
        self.frames.push(OnAir { start, end: last, number: frame, frame: frame_on_air });
        end
    }

    /// A frame of this mode and size for those who hear it; if it is an A-MPDU, with so many bytes in the largest of its MPDUs.
    fn sent(&mut self, mode: Mode, size: u32, largest: Option<u32>) -> Sent {
        let carried = mode.carried_bits(Bytes(size.into()));
        let bits = largest.map_or(carried as u32, |bytes| 8 * bytes).next_power_of_two();
        let known = self.levels.iter().find(|(of, most, _)| (*of, *most) == (mode, bits)).map(|(_, _, levels)| *levels);
        let [safe, certain_header] = known.unwrap_or_else(|| {
            let levels = [self.curves.safe_sinr(mode, bits), self.curves.certain_header_sinr(mode)];
            self.levels.push((mode, bits, levels));
            levels
        });
        Sent { mode, size, bits: carried as f64, headers: mode.header_duration(), safe, certain_header }
    }

    /// Fetches what the end of a frame needs from memory at its next hearers.
    #[inline]
    fn prefetch(&self, hearers: &[u32]) {
        if let Some(second) = hearers.get(2) {
            let state = &self.stations[*second as usize];
            prefetch(std::ptr::from_ref(&self.hearings[*second as usize]));
            prefetch(std::ptr::from_ref(&state.access.busy_until));
            prefetch(std::ptr::from_ref(&state.wake));
        }
        if let Some(first) = hearers.get(1) {
            self.hearings[*first as usize].prefetch_records();
        }
    }

    /// A frame has ended at all of its hearers.
    fn frame_ends(&mut self, now: Instant, number: u64, frame: &Frame<P>) {
        let is_large = self.stations.len() > CACHED;
        for (place, hearer) in frame.hearers.iter().enumerate() {
            if is_large {
                self.prefetch(&frame.hearers[place..]);
            }
            let (state, hearing) = (&mut self.stations[*hearer as usize], &mut self.hearings[*hearer as usize]);
            let drawn = |index: u64| draw(self.draws, frame.from, frame.number | index << 40, *hearer);
            let tools = (&self.curves, &mut self.background);
            let end = hearing.end_at(now, number, &mut state.access, (&frame.sent, &frame.mpdus), tools, drawn);
            if let End::Heard { arrival, header, arrived, ratio, overlapped } = end {
                let ended = arrival + frame.length;
                if header {
                    state.access.received(ended, arrived != 0);
                }
                if arrived == 0 {
                    let lost = if overlapped { &mut state.counters.collisions } else { &mut state.counters.errors };
                    *lost += 1;
                } else if frame.concerns(*hearer) || !self.watched.is_empty() {
                    self.understood(now, *hearer, frame, (arrival, arrived, ratio));
                } else {
                    reserve(self.timing, frame, ended, (hearing, &mut state.access));
                }
            }
            let state = &self.stations[*hearer as usize];
            debug_assert!(
                state.wake.is_some() || state.access.state != State::Idle || state.next_access(now).is_none()
            );
            match state.access.state {
                State::Idle if state.wake.is_some() => self.contend(*hearer, now),
                State::Receiving if !self.hearings[*hearer as usize].is_receiving(now) => self.unanswered(*hearer, now),
                _ => {}
            }
        }
    }

    /// Tells of a frame at a station that is watched; `ratio`: of its power to the noise, where it was received; `arrived`:
    /// whether the MPDU with this index was understood.
    #[cold]
    fn tell(&mut self, at: u32, frame: &Frame<P>, start: Instant, ratio: Option<f64>, arrived: impl Fn(usize) -> bool) {
        let noise_dbm = decibels(self.hearings[at as usize].noise());
        let whole = Aired {
            at: Station(at),
            from: Station(frame.from),
            to: frame.to,
            kind: frame.kind,
            class: Class::ALL[frame.class],
            mode: frame.sent.mode,
            start,
            length: frame.length,
            reserves: frame.reserves,
            packet: if frame.sequence > 0 { frame.sequence } else { frame.packet },
            bitmap: frame.bitmap,
            aggregate: None,
            is_retry: frame.is_retry,
            payload: frame.payload.clone(),
            power_dbm: ratio.map(|ratio| noise_dbm + decibels(ratio)),
            noise_dbm,
        };
        let last = frame.mpdus.len().saturating_sub(1);
        for (index, mpdu) in frame.mpdus.iter().enumerate().filter(|(index, _)| arrived(*index)) {
            let aggregate = Some((frame.number, index == last));
            let (packet, is_retry, payload) = (mpdu.sequence, mpdu.is_retry, mpdu.payload.clone());
            self.aired.push_back(Aired { packet, is_retry, payload, aggregate, ..whole.clone() });
        }
        if frame.mpdus.is_empty() {
            self.aired.push_back(whole);
        }
    }

    /// A station has understood a frame, or those parts of it that `arrived` tells, from `arrival` on, with this ratio of its
    /// power to the noise.
    fn understood(&mut self, now: Instant, at: u32, frame: &Frame<P>, (arrival, arrived, ratio): (Instant, u64, f64)) {
        let end = arrival + frame.length;
        if self.watched.get(at as usize).is_some_and(|watched| *watched) {
            self.tell(at, frame, arrival, Some(ratio), |index| arrived >> index & 1 == 1);
        }
        if !frame.concerns(at) {
            let (hearing, state) = (&mut self.hearings[at as usize], &mut self.stations[at as usize]);
            return reserve(self.timing, frame, end, (hearing, &mut state.access));
        }
        let is_mine = frame.to == To::One(Station(at));
        let answer_at = end + self.timing.sifs;
        match frame.kind {
            Kind::Data if frame.mpdus.is_empty() => {
                if frame.sequence > 0 && self.stations[at as usize].reorders(frame.peer()) {
                    self.receive_numbered(now, at, frame.peer(), (frame.packet, frame.sequence), ratio);
                } else {
                    self.receive(at, frame, ratio);
                }
                if is_mine {
                    self.answer(at, answer_at, (frame, ratio), Kind::Ack, Duration::ZERO);
                }
            }
            Kind::Data => {
                self.confirm(at, frame.peer());
                for (_, mpdu) in frame.mpdus.iter().enumerate().filter(|(index, _)| arrived >> index & 1 == 1) {
                    self.receive_numbered(now, at, frame.peer(), (mpdu.packet, mpdu.sequence), ratio);
                }
                self.acknowledge_block(at, answer_at, (frame, ratio), frame.mpdus[0].sequence);
            }
            Kind::BlockAckRequest if !self.stations[at as usize].reorders(frame.peer()) => {}
            Kind::BlockAckRequest => {
                let Self { stations, happenings, .. } = self;
                let reordered = stations[at as usize].reordered(frame.peer());
                reordered.skip(frame.sequence, |happening| happenings.push_back(happening));
                self.acknowledge_block(at, answer_at, (frame, ratio), frame.sequence);
            }
            Kind::BlockAck => {
                if self.stations[at as usize].access.state.awaits_answer() {
                    self.block_acknowledged(at, now, answer_at, frame.answered);
                }
            }
            Kind::Rts => {
                if !self.hearings[at as usize].is_reserved(now) {
                    let cts = self.answer_time(frame.sent.mode, ACK_SIZE);
                    let reserves = frame.reserves.saturating_sub(self.timing.sifs + cts);
                    self.answer(at, answer_at, (frame, ratio), Kind::Cts, reserves);
                }
            }
            Kind::Cts => {
                let StationState { access, class, .. } = &mut self.stations[at as usize];
                let class = *class;
                if access.state.awaits_answer() {
                    access.allowed(class);
                    self.send_data(at, answer_at);
                }
            }
            Kind::AddBlockAckRequest | Kind::AddBlockAckResponse => {
                self.answer(at, answer_at, (frame, ratio), Kind::Ack, Duration::ZERO);
                self.hear_action(at, now, frame);
            }
            Kind::Ack if self.stations[at as usize].acts => {
                if self.stations[at as usize].access.state.awaits_answer() {
                    self.action_acknowledged(at, now, answer_at);
                }
            }
            Kind::Ack => {
                if self.stations[at as usize].access.state.awaits_answer() {
                    self.learn(at, 1, frame.answered);
                    self.acknowledged(at, now, answer_at);
                }
            }
        }
    }

    /// A station answers a frame.
    fn answer(&mut self, at: u32, start: Instant, (frame, ratio): (&Frame<P>, f64), kind: Kind, reserves: Duration) {
        let mode = BasicRates::MANDATORY.answer(frame.sent.mode);
        let outgoing = Outgoing::control(To::One(Station(frame.from)), kind, mode, ACK_SIZE.0 as u32, reserves);
        let (answers, answered) = (Some(frame.exchange), Some(ratio));
        self.send(at, start, Outgoing { answers, answered, class: frame.class, ..outgoing });
    }

    /// A station tells which packets of a sender it has, from `sequence` on.
    fn acknowledge_block(&mut self, at: u32, start: Instant, (frame, ratio): (&Frame<P>, f64), sequence: u64) {
        let bitmap = self.stations[at as usize].reordered(frame.peer()).bitmap(sequence);
        let (to, mode) = (To::One(Station(frame.from)), BasicRates::MANDATORY.answer(frame.sent.mode));
        let outgoing = Outgoing::control(to, Kind::BlockAck, mode, BLOCK_ACK_SIZE, Duration::ZERO);
        let (answers, answered, class) = (Some(frame.exchange), Some(ratio), frame.class);
        self.send(at, start, Outgoing { sequence, bitmap, answers, answered, class, ..outgoing });
    }

    /// A packet under a block acknowledgement has arrived, perhaps again: its number at its sender, and among those for
    /// this station.
    fn receive_numbered(&mut self, now: Instant, at: u32, peer: Peer, (number, sequence): (u64, u64), ratio: f64) {
        self.stations[at as usize].counters.received += 1;
        let queue = &mut self.stations[peer.station as usize].queues[peer.class];
        let Some(pending) = queue.get_mut(number).filter(|of| !of.arrived) else {
            let Self { stations, happenings, .. } = self;
            let state = &mut stations[at as usize];
            // It may have arrived before the agreement.
            if state.agreements.is_some() {
                state.reordered(peer).repeat(sequence, |happening| happenings.push_back(happening));
            }
            return;
        };
        pending.arrived = true;
        let (to, payload) = (pending.msdu.to, pending.msdu.payload.clone());
        let snr_db = decibels(ratio) as f32;
        let happening = Happening::Received { at: Station(at), from: Station(peer.station), to, payload, snr_db };
        let Self { stations, happenings, changed, .. } = self;
        let state = &mut stations[at as usize];
        let reordered = state.reordered(peer);
        reordered.arrive(now, sequence, happening, |happening| happenings.push_back(happening));
        if let Some(late) = reordered.late()
            && state.release.is_none_or(|release| late < release)
        {
            state.release = Some(late);
            changed.push(at);
        }
    }

    /// A packet has arrived, perhaps again.
    fn receive(&mut self, at: u32, frame: &Frame<P>, ratio: f64) {
        let state = &mut self.stations[at as usize];
        state.counters.received += 1;
        let peer = frame.peer();
        // A frame for all is sent once.
        if frame.to != To::All {
            match state.heard.iter_mut().find(|(of, _)| *of == peer) {
                Some((_, last)) if *last == frame.packet => return,
                Some((_, last)) => *last = frame.packet,
                None => state.heard.push((peer, frame.packet)),
            }
        }
        let payload = match (&frame.payload, frame.to) {
            (Some(payload), To::All) => payload.clone(),
            _ => match self.stations[frame.from as usize].queues[frame.class].get_mut(frame.packet) {
                Some(pending) => {
                    pending.arrived = true;
                    pending.msdu.payload.clone()
                }
                None => return,
            },
        };
        let from = Station(frame.from);
        let snr_db = decibels(ratio) as f32;
        self.happenings.push_back(Happening::Received { at: Station(at), from, to: frame.to, payload, snr_db });
    }

    fn acknowledged(&mut self, at: u32, now: Instant, next: Instant) {
        let state = &mut self.stations[at as usize];
        state.access.renew(state.class);
        state.wake = None;
        let sent = state.take_current(now);
        if let Some(Pending { msdu: Msdu { to: To::One(to), payload, .. }, .. }) = sent {
            state.counters.settled += 1;
            self.happenings.push_back(Happening::Acknowledged { at: Station(at), to, payload });
        }
        self.next(at, now, Some(next));
    }

    /// The packets of an A-MPDU that have arrived are done; the others are tried again.
    fn block_acknowledged(&mut self, at: u32, now: Instant, next: Instant, snr: Option<f64>) {
        if self.stations[at as usize].tells.is_none() {
            let StationState { sending, queues, class, .. } = &mut self.stations[at as usize];
            let queue = &mut queues[*class];
            let arrived = sending.iter().filter(|number| queue.get_mut(**number).is_some_and(|of| of.arrived)).count();
            self.learn(at, arrived as u32, snr);
        }
        let state = &mut self.stations[at as usize];
        let class = state.class;
        state.access.allowed(class);
        state.access.renew(class);
        state.wake = None;
        let receiver = state.tells.take();
        let told = receiver.is_some();
        if let Some(receiver) = receiver {
            state.tell_done(receiver);
        }
        let about = match state.unresolved.take_if(|(of, _)| told && *of == class) {
            Some((_, packets)) => packets,
            None if told => Vec::new(),
            None => std::mem::take(&mut state.sending),
        };
        for number in about {
            let Some(pending) = state.queues[state.class].get_mut(number) else { continue };
            pending.tries += 1;
            let (arrived, tries) = (pending.arrived, pending.tries);
            if !arrived && tries < state.tries {
                continue;
            }
            let Some(pending) = state.queues[state.class].take(now, number) else { continue };
            let happening = match pending.msdu {
                Msdu { to: To::One(to), payload, .. } if arrived => {
                    state.counters.settled += 1;
                    Happening::Acknowledged { at: Station(at), to, payload }
                }
                _ => {
                    state.counters.dropped_retry += 1;
                    state.give_up(at, class, pending, AirDrop::Retry)
                }
            };
            self.happenings.push_back(happening);
        }
        self.next(at, now, Some(next));
    }

    /// A frame for all has left.
    fn finish(&mut self, at: u32, now: Instant) {
        let state = &mut self.stations[at as usize];
        state.access.renew(state.class);
        state.counters.settled += u64::from(state.take_current(now).is_some());
        self.next(at, now, Some(now + self.timing.sifs));
    }

    /// A station goes on with its next packet: in its burst at `burst`, if that is given, and otherwise after a backoff.
    fn next(&mut self, at: u32, now: Instant, burst: Option<Instant>) {
        self.drop_expired(at, now);
        if !burst.is_some_and(|start| self.goes_on(at, start)) {
            self.contend(at, now);
        }
    }

    /// No answer came.
    fn unanswered(&mut self, at: u32, now: Instant) {
        let state = &mut self.stations[at as usize];
        let until = state.access.busy_until.max(now);
        state.access.occupy(until, until);
        state.access.busy_until = until;
        let class = state.class;
        if std::mem::take(&mut state.acts) {
            return self.action_unanswered(at, now);
        }
        if state.agreements.is_some()
            && let Some(receiver) = state.tells.take()
        {
            return self.request_unanswered(at, now, receiver);
        }
        let asked = state.access.asks();
        let is_last = state.access.retry(class) >= state.tries;
        if is_last {
            state.access.renew(class);
        }
        if let Some(receiver) = state.tells.take() {
            if is_last {
                state.tell_done(receiver);
                for number in state.unresolved.take_if(|(of, _)| *of == class).map_or(Vec::new(), |(_, of)| of) {
                    if let Some(pending) = state.queues[class].take(now, number) {
                        state.counters.dropped_retry += 1;
                        self.happenings.push_back(state.give_up(at, class, pending, AirDrop::Retry));
                    }
                }
            }
            return self.next(at, now, None);
        }
        if state.asks_again
            && !asked
            && state.together.is_some()
            && state.unresolved.is_none()
            && let Some(To::One(Station(station))) = state.current().map(|of| of.msdu.to)
        {
            let peer = Peer { station, class };
            state.owed.retain(|of| *of != peer);
            state.owed.push_front(peer);
            self.learn(at, 0, None);
            let state = &mut self.stations[at as usize];
            state.unresolved = Some((class, std::mem::take(&mut state.sending)));
            return self.next(at, now, None);
        }
        if !asked {
            self.learn(at, 0, None);
        }
        let state = &mut self.stations[at as usize];
        let is_alone = state.together.is_none();
        for number in std::mem::take(&mut state.sending) {
            let Some(pending) = state.queues[state.class].get_mut(number) else { continue };
            pending.tries += u32::from(!asked);
            if pending.tries < state.tries && !(is_last && (is_alone || asked)) {
                continue;
            }
            if let Some(pending) = state.queues[state.class].take(now, number) {
                state.counters.dropped_retry += 1;
                self.happenings.push_back(state.give_up(at, class, pending, AirDrop::Retry));
            }
        }
        self.next(at, now, None);
    }
}

/// A station has understood a frame for others, which ended at `end`: the medium is theirs.
fn reserve<P>(timing: Timing, frame: &Frame<P>, end: Instant, (hearing, access): (&mut Hearing, &mut Access)) {
    let until = end + frame.reserves;
    if frame.kind == Kind::Rts {
        let cts = BasicRates::MANDATORY.answer(frame.sent.mode).duration(ACK_SIZE);
        let lapses = end + (timing.sifs + timing.slot) * 2 + cts + PHY_HEADER;
        hearing.reserve_provisionally(end, lapses, until, access);
    } else {
        hearing.reserve(end, until, access);
    }
}

/// A frame that is about to leave.
struct Outgoing<P> {
    to: To,
    kind: Kind,
    mode: Mode,
    size: u32,
    reserves: Duration,
    /// The exchange of the frame that it answers.
    answers: Option<u64>,
    /// The ratio of signal to noise with which that one arrived.
    answered: Option<f64>,
    packet: u64,
    sequence: u64,
    is_retry: bool,
    bitmap: u64,
    payload: Option<P>,
    mpdus: Vec<Mpdu<P>>,
    class: usize,
}

impl<P> Outgoing<P> {
    /// A frame without a packet.
    fn control(to: To, kind: Kind, mode: Mode, size: u32, reserves: Duration) -> Self {
        Self {
            to,
            kind,
            mode,
            size,
            reserves,
            answers: None,
            answered: None,
            packet: 0,
            sequence: 0,
            is_retry: false,
            bitmap: 0,
            payload: None,
            mpdus: Vec::new(),
            class: 0,
        }
    }
}

/// A number in [0, 1) for a frame at a receiver: the same whatever others do.
#[inline]
fn draw(draws: u64, from: u32, frame: u64, at: u32) -> f64 {
    let bits = mix(mix(draws ^ (u64::from(from) << 32 | u64::from(at))) ^ frame);
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}
