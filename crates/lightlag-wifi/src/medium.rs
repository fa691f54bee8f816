//! The medium: frames on the air, and the stations in range of them.
//!
//! The medium has one pending event, the next end of a frame. Each station also has one: the end of its backoff, or of
//! its wait for a reply. No event marks the start of a reply, because its records are written when the frame before it
//! ends.
//!
//! - `backoff`: contention of stations for the medium.
//! - `exchange`: the frames that a station sends, and its reaction to replies.
//! - `delivery`: frames from their sender to all receivers in range.
//! - `seam`: the interface of the medium to the rest of a simulator.
//! - `frame`: frames and their contents.
//! - `record`: a frame as it arrives at a station.
//! - `hearing`: a station's receiver. Each frame leaves a record at every station in range; the receiver processes its
//!   records on demand, in chronological order.
//! - `access`: when a station may send: interframe spaces, slots and backoff.
//! - `station`: a station, which consists of these parts, and its counters.
//! - `queue`: frames that wait.
//! - `aggregate`: several packets in one PPDU (A-MPDU).
//! - `agreement`: block acknowledgement agreements, and `negotiation`: their negotiation.
//! - `reach`: the stations that a frame reaches.
//! - `background`: frames that are too faint to be noticed.
//! - `reorder`: packets that have arrived and wait for those before them.
//! - `tracks`: the positions of all stations.

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

pub use frame::{Aired, FrameKind, Msdu};
pub use queue::ClassCounters;
pub use station::StationCounters;

use crate::class::Class;
use crate::config::{BlockAckAgreement, MediumConfig, MissingBlockAck, StationConfig};
use crate::phy::{BasicRates, ErrorCurves, PhyMode, Standard, Timing};
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
use station::{RateState, StationState};
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;
use tracks::Tracks;

/// A shared channel.
#[derive(Debug)]
pub struct Wifi<P> {
    reach: Reach,
    curves: ErrorCurves,
    /// Minimum SINRs for frames of this mode and number of bits (rounded up to a power of two): the first lets a frame
    /// survive most draws, the second lets its headers survive all.
    levels: Vec<(PhyMode, u32, [f64; 2])>,
    timing: Timing,
    frequency: f64,
    edca: bool,
    seed: u64,
    /// Base of the random numbers that decide whether frames survive.
    draws: u64,
    /// Time of the last call. Frames on the air may start later than that, because replies are added in advance.
    now: Instant,
    stations: Vec<StationState<P>>,
    /// The receiver of each station. Receivers are stored separately from the other state of stations, because every
    /// frame needs many receivers and little else.
    hearings: Vec<Hearing>,
    /// Frames on the air, ordered by their end; the earliest is at the top.
    frames: BinaryHeap<OnAir<P>>,
    next_frame: u64,
    events: VecDeque<Event<P>>,
    /// Whether the frames of each station are reported.
    watched: Vec<bool>,
    aired: VecDeque<Aired<P>>,
    changed: Vec<StationId>,
    background: Background,
    /// Empty lists of receivers, for reuse.
    lists: Vec<Vec<StationId>>,
}

/// Bytes of the headers around a packet: LLC and SNAP, the MAC header with its frame check sequence, and the QoS
/// control field.
const LLC: u32 = 8;
const MAC: u32 = 28;
const QOS: u32 = 2;
const RTS_SIZE: Bytes = Bytes(20);

/// Maximum number of stations whose state fits in a fast cache. With more stations, it is prefetched.
const CACHED: usize = 128;

/// Number of receptions by which a receiver's memory is prefetched before it is used.
const AHEAD: usize = 8;

/// Time that detecting the preamble of a reply takes: its PHY header at the lowest rate.
const PHY_HEADER: Duration = Duration::from_micros(20);

impl<P: Clone> Wifi<P> {
    /// Creates the medium called `name` with these stations, for a run with this seed.
    ///
    /// # Panics
    /// If a radio's settings are invalid on this medium.
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
            let control = RateState::new(radio, config, format!("radio {}@{name} rates", station.name));
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
                tries: radio.max_attempts,
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
                agreements: negotiates.then(|| Box::new(Agreements::new(radio.lifetime, radio.max_attempts))),
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

    /// Starts reporting every frame that one of these stations sends or decodes.
    pub fn watch(&mut self, stations: impl IntoIterator<Item = StationId>) {
        self.watched = vec![false; self.stations.len()];
        stations.into_iter().for_each(|station| self.watched[station.index()] = true);
    }

    /// Returns the next frame that a watched station has sent or decoded.
    pub fn next_aired(&mut self) -> Option<Aired<P>> {
        self.aired.pop_front()
    }

    /// Returns true if access follows EDCA, so that data frames carry a class.
    pub fn has_classes(&self) -> bool {
        self.edca
    }

    /// Returns the centre frequency of the channel in hertz.
    pub fn frequency(&self) -> f64 {
        self.frequency
    }

    /// Returns the counters of a station up to `now`. All airtime of a frame is counted when the frame starts.
    pub fn station_counters(&self, station: StationId, now: Instant) -> StationCounters {
        let state = &self.stations[station.index()];
        StationCounters { busy: state.access.busy(now), ..state.counters }
    }

    /// Returns the counters of a class at a station up to `now`; `None` if the station never had a packet of this
    /// class.
    pub fn class_counters(&self, station: StationId, class: Class, now: Instant) -> Option<ClassCounters> {
        self.stations[station.index()].queues.get(class.index())?.counters(now)
    }

    /// Returns the signal-to-noise ratio at `station` of a frame from `from`, in dB.
    pub fn snr_db(&mut self, from: StationId, station: StationId, now: Instant) -> f64 {
        decibels(self.reach.powers(from, now)[station.index()] / self.hearings[station.index()].noise())
    }

    /// Queues a packet at a station in the queue of its access class.
    pub fn send_later(&mut self, now: Instant, station: StationId, msdu: Msdu<P>) {
        self.now = now;
        let state = &mut self.stations[station.index()];
        state.counters.offered += 1;
        let class = if self.edca { msdu.class.index() } else { 0 };
        state.open(class);
        if let Err(msdu) = state.queues[class].push(now, msdu) {
            state.counters.dropped_queue += 1;
            let Msdu { to, payload, .. } = msdu;
            return self.events.push_back(Event::Dropped {
                at: station,
                to,
                payload,
                cause: DropCause::Queue,
                arrived: false,
            });
        }
        let waiting = state.queues.iter().map(|queue| queue.len() as u64).sum();
        state.counters.max_queue = state.counters.max_queue.max(waiting);
        let is_first = state.queues[class].len() == 1 || state.agreements.is_some();
        if is_first && state.access.state == State::Idle {
            self.hearings[station.index()].advance(now, &mut state.access, &mut self.background);
            self.contend(station, now);
        }
    }
}
