//! The medium: frames on the air, and the stations that hear them.
//!
//! A medium has one wake of its own, the next end of a frame; a station has one, the end of its backoff or of its wait for
//! an answer. Nothing happens at the start of an answer: its records are written when the frame before it ends.
//!
//! - `backoff`: contention of stations for the medium.
//! - `exchange`: what a station sends, and what follows from the answer.
//! - `delivery`: frames from their sender to all who hear them.
//! - `seam`: the medium as the rest of a simulator sees it.
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
mod seam;
mod station;
mod tracks;

pub use frame::{Aired, Kind, Msdu};
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
use lightlag_core::{Bytes, Duration, Instant, RandomStream};
use lightlag_net::StationId;
use lightlag_net::medium::Event;
use lightlag_net::queue::DropCause;
use queue::Queue;
use reach::{Antenna, Reach};
use station::{Control, StationState};
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;
use tracks::Tracks;

/// A shared channel.
#[derive(Debug)]
pub struct Wifi<P> {
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
    events: VecDeque<Event<P>>,
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

impl<P: Clone> Wifi<P> {
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
            events: VecDeque::new(),
            watched: Vec::new(),
            aired: VecDeque::new(),
            changed: Vec::new(),
        }
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

    /// The centre of the channel, in hertz.
    pub fn frequency(&self) -> f64 {
        self.frequency
    }

    /// The counters of a station until now. A frame counts from its start on with all of its airtime.
    pub fn station_counters(&self, station: StationId, now: Instant) -> StationCounters {
        let state = &self.stations[station.index()];
        StationCounters { busy: state.access.busy(now), ..state.counters }
    }

    /// The counters of a class at a station until now; none if it never had a packet of this class.
    pub fn class_counters(&self, station: StationId, class: Class, now: Instant) -> Option<ClassCounters> {
        self.stations[station.index()].queues.get(class.index())?.counters(now)
    }

    /// Ratio of signal to noise at a station, of a frame from another one, in dB.
    pub fn snr_db(&mut self, from: StationId, at: StationId, now: Instant) -> f64 {
        decibels(self.reach.powers(from, now)[at.index()] / self.hearings[at.index()].noise())
    }

    /// Gives a packet with an access class to a station.
    pub fn send_later(&mut self, now: Instant, at: StationId, msdu: Msdu<P>) {
        self.now = now;
        let state = &mut self.stations[at.index()];
        state.counters.offered += 1;
        let class = if self.edca { msdu.class.index() } else { 0 };
        state.open(class);
        if let Err(msdu) = state.queues[class].push(now, msdu) {
            state.counters.dropped_queue += 1;
            let Msdu { to, payload, .. } = msdu;
            return self.events.push_back(Event::Dropped { at, to, payload, cause: DropCause::Queue, arrived: false });
        }
        let waiting = state.queues.iter().map(|queue| queue.len() as u64).sum();
        state.counters.max_queue = state.counters.max_queue.max(waiting);
        let is_first = state.queues[class].len() == 1 || state.agreements.is_some();
        if is_first && state.access.state == State::Idle {
            self.hearings[at.index()].advance(now, &mut state.access, &mut self.background);
            self.contend(at, now);
        }
    }
}
