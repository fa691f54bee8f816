//! The medium: frames on the air, and the stations that hear them.
//!
//! A medium has one wake of its own, the next end of a frame; a station has one, the end of its backoff or of its wait for
//! an answer. Nothing happens at the start of an answer: its records are written when the frame before it ends.
//!
//! - `backoff`: contention of stations for the medium.
//! - `exchange`: what a station sends, and what follows from the answer.
//! - `delivery`: frames from their sender to all who hear them.
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
mod backoff;
mod delivery;
mod exchange;
mod frame;
mod hearing;
mod negotiation;
mod queue;
mod reach;
mod record;
mod reorder;
mod station;
mod tracks;

pub use frame::{AirDrop, Aired, Happening, Kind, Msdu, To};
pub use queue::ClassCounters;
pub use station::StationCounters;

use crate::class::Class;
use crate::config::{BlockAckAgreement, MediumConfig, MissingBlockAck, StationConfig};
use crate::phy::{BasicRates, ErrorCurves, Mode, Standard, Timing};
use crate::propagation::Channel;
use crate::propagation::decibels::{decibels, ratio};
use access::{Access, State};
use agreement::Agreements;
use background::Background;
use frame::OnAir;
use hearing::{Hearing, Thresholds};
use lightlag_core::random::mix;
use lightlag_core::{Bytes, Duration, Instant, Probability, RandomStream};
use lightlag_mobility::Vector;
use lightlag_net::StationId;
use queue::Queue;
use reach::{Antenna, Reach};
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
    changed: Vec<StationId>,
    background: Background,
    /// Lists of hearers that are free.
    lists: Vec<Vec<StationId>>,
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
        let hearing = |(number, station): (usize, &StationConfig)| {
            let its = Thresholds::new(&station.radio, config.width);
            let known = thresholds.iter().find(|known| ***known == its).cloned();
            let shared = known.unwrap_or_else(|| {
                thresholds.push(Arc::new(its));
                thresholds[thresholds.len() - 1].clone()
            });
            Hearing::new(shared, StationId::at(number))
        };
        let hearings: Vec<Hearing> = stations.iter().enumerate().map(hearing).collect();
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
    pub fn station_wake(&self, station: StationId) -> Option<Instant> {
        self.stations[station.index()].next_wake()
    }

    /// Tells of each station whose wake may have changed since the last call.
    pub fn rearmed(&mut self, mut tell: impl FnMut(StationId, Instant)) {
        for station in self.changed.drain(..) {
            if let Some(wake) = self.stations[station.index()].next_wake() {
                tell(station, wake);
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
    pub fn watch(&mut self, stations: impl IntoIterator<Item = StationId>) {
        self.watched = vec![false; self.stations.len()];
        stations.into_iter().for_each(|station| self.watched[station.index()] = true);
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
    pub fn class(&self, station: StationId) -> Class {
        self.stations[station.index()].usual
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
    pub fn counters(&self, station: StationId, now: Instant) -> StationCounters {
        let state = &self.stations[station.index()];
        StationCounters { busy: state.access.busy(now), ..state.counters }
    }

    /// The counters of a class at a station until now; none if it never had a packet of this class.
    pub fn class_counters(&self, station: StationId, class: Class, now: Instant) -> Option<ClassCounters> {
        self.stations[station.index()].queues.get(class.index())?.counters(now)
    }

    /// Where a station is.
    pub fn position(&mut self, station: StationId, now: Instant) -> Vector {
        self.reach.position(station, now)
    }

    /// Reports each station to which frames of data from this one arrive with a probability above `min_delivery`.
    pub fn in_range(
        &mut self,
        station: StationId,
        now: Instant,
        min_delivery: Probability,
        mut tell: impl FnMut(StationId),
    ) {
        const USUAL: u32 = 1536;
        let mode = self.stations[station.index()].data_mode;
        let powers = self.reach.powers(station, now);
        for (other, power) in powers.iter().enumerate().filter(|(other, _)| *other != station.index()) {
            let hearing = &self.hearings[other];
            let ln = self.curves.ln_success(mode, power / hearing.noise(), 8 * USUAL);
            if hearing.detects(*power) && crate::phy::error_model::success(ln) > min_delivery.value() {
                tell(StationId(other as u32));
            }
        }
    }

    /// Ratio of signal to noise at a station, of a frame from another one, in dB.
    pub fn snr_db(&mut self, from: StationId, at: StationId, now: Instant) -> f64 {
        decibels(self.reach.powers(from, now)[at.index()] / self.hearings[at.index()].noise())
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
    pub fn waiting(&self, at: StationId) -> u64 {
        self.stations[at.index()].queues.iter().map(|queue| queue.len() as u64).sum()
    }

    /// Gives a packet to a station.
    pub fn offer(&mut self, now: Instant, at: StationId, msdu: Msdu<P>) {
        self.now = now;
        let state = &mut self.stations[at.index()];
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
            self.hearings[at.index()].advance(now, &mut state.access, &mut self.background);
            self.contend(at, now);
        }
    }

    /// The end of a backoff, of a wait or of a broadcast.
    pub fn station_wakes(&mut self, now: Instant, at: StationId) {
        self.now = now;
        if self.stations[at.index()].release.is_some_and(|release| release <= now) {
            self.release_late(at, now);
        }
        let due = self.stations[at.index()].agreements.as_ref().and_then(|agreements| agreements.deadline());
        if due.is_some_and(|due| due <= now) {
            self.give_up_responses(at, now);
        }
        let (state, hearing) = (&mut self.stations[at.index()], &mut self.hearings[at.index()]);
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
        let state = &mut self.stations[at.index()];
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
}
