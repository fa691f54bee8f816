//! The events of random access.
//!
//! All sensors have the same delay to the gateway. Times of bursts and slots are times of reception at the gateway, and
//! times of passes are times at the sensors.

use super::config::{RandomAccessConfig, Technique};
use super::message::{Message, SlottedBurst, Transport};
use super::receptions::Receptions;
use super::uplink::Uplink;
use crate::StationCounters;
use crate::agenda::Agenda;
use crate::contention::{self, Contender, Decoder, Scheme};
use crate::forward::{Forward, Slot};
use lightlag_core::{Duration, Instant, RandomStream, Window, Windows};
use lightlag_net::StationId;
use lightlag_net::medium::{Addressee, Event, Outgoing};
use lightlag_net::queue::DropCause;
use std::collections::{BTreeMap, VecDeque};

/// Sensors on a satellite, with a gateway.
#[derive(Clone, Debug)]
pub struct RandomAccess<P> {
    pub(super) config: RandomAccessConfig,
    scheme: Option<Scheme>,
    capture: Option<f64>,
    /// Passes of the satellite; `None` if it is always visible.
    pub(super) passes: Option<Windows>,
    pub(super) hub: u32,
    pub(super) stations: Vec<Sensor<P>>,
    forward: Forward,
    pub(super) tasks: Agenda<Task<P>>,
    pub(super) events: VecDeque<Event<P>>,
    receptions: Receptions,
    /// Bursts in slots, by frame and channel.
    pub(super) frames: BTreeMap<(u64, u32), Vec<SlottedBurst<P>>>,
    decoder: Decoder,
    /// Tones for data of NB-IoT; none with other techniques.
    pub(super) uplink: Uplink,
    pub(super) random: RandomStream,
    pub(super) end: Instant,
}

/// A sensor, or the gateway.
#[derive(Clone, Debug)]
pub(super) struct Sensor<P> {
    pub(super) queue: VecDeque<Message<P>>,
    /// Spreading factor of LoRa, or coverage class of NB-IoT.
    pub(super) variant: u32,
    /// Whether a packet of the sensor is in transmission, awaits its acknowledgement, or its backoff.
    is_sending: bool,
    /// Number of packets at the head of the queue that waited for the present pass.
    backlog: u32,
    /// Packets that have left the queue and are neither received nor dropped.
    pub(super) outside: u64,
    pub(super) counters: StationCounters,
}

/// An event.
#[derive(Clone, Debug)]
pub(super) enum Task<P> {
    /// A packet on the forward carrier arrives.
    Delivery(Outgoing<P>),
    /// The gateway has received a burst without slots.
    Burst { sensor: u32, channel: u32, number: u64, message: Message<P> },
    /// The gateway has received a frame on a channel, or the preambles of a coverage class of NB-IoT.
    Frame(u64, u32),
    /// The gateway has received message 3 of a sensor with NB-IoT.
    Identified(u32, Message<P>),
    /// The gateway has received transport blocks of NB-IoT.
    Blocks(Box<Transport<P>>),
    /// A sensor may send its next packet.
    Next(u32),
    /// A pass starts for a sensor with waiting packets.
    Pass(u32),
    /// A sensor sends a packet that waited for the pass.
    Release(u32),
    /// A sensor learns that a packet was not acknowledged.
    Missing(u32, Message<P>),
    /// A sensor sends a packet again.
    Again(u32, Message<P>),
}

impl<P: Clone> RandomAccess<P> {
    /// Creates the medium called `name` with this number of stations for a run with this seed. `hub` is the gateway.
    ///
    /// # Panics
    /// If the settings do not pass [`RandomAccessConfig::check`].
    pub fn new(config: &RandomAccessConfig, stations: usize, hub: StationId, seed: u64, name: &str) -> Self {
        let result = config.check();
        assert!(result.is_ok(), "the settings have been checked: {result:?}");
        let mut random = RandomStream::new(seed, &format!("random access {name}"));
        let range = f64::from(config.spreading_max - config.spreading_min + 1);
        let mut sensor = || Sensor {
            queue: VecDeque::new(),
            variant: match config.technique {
                Technique::NbIot => config.nb_iot.draw(random.uniform()),
                Technique::Lora => (config.spreading_min + (random.uniform() * range) as u32).min(config.spreading_max),
                _ => 0,
            },
            is_sending: false,
            backlog: 0,
            outside: 0,
            counters: StationCounters::default(),
        };
        let capture = config.capture().map(contention::ratio);
        Self {
            scheme: config.scheme(),
            capture,
            passes: Some(&config.passes).filter(|passes| !passes.is_empty()).cloned(),
            hub: hub.0,
            stations: (0..stations).map(|_| sensor()).collect(),
            forward: Forward::new(config.forward_queue),
            tasks: Agenda::default(),
            events: VecDeque::new(),
            receptions: Receptions::new(config.channels, capture, contention::ratio(config.cross_threshold)),
            frames: BTreeMap::new(),
            decoder: Decoder::default(),
            uplink: if config.technique == Technique::NbIot { Uplink::new(&config.nb_iot) } else { Uplink::default() },
            random,
            config: config.clone(),
            end: Instant::ZERO,
        }
    }

    /// Returns the counters of a station.
    pub fn station_counters(&self, station: StationId) -> StationCounters {
        let state = &self.stations[station.index()];
        let mut counters = state.counters;
        counters.packets.waiting = state.queue.len() as u64 + state.outside;
        counters.packets.dropped = counters.dropped_queue + counters.dropped_retry + counters.dropped_collision;
        counters
    }

    /// Returns the energy of the transmissions of a sensor in millijoules: transmit power times airtime.
    pub fn energy_mj(&self, station: StationId) -> f64 {
        if station.0 == self.hub {
            return 0.0;
        }
        let airtime = self.stations[station.index()].counters.airtime;
        contention::ratio(self.config.transmit_power) * airtime.as_secs_f64()
    }

    /// Returns the spreading factor of a sensor with LoRa, or its coverage class with NB-IoT, starting at 0.
    pub fn variant(&self, station: StationId) -> u32 {
        self.stations[station.index()].variant
    }

    /// Queues a packet at a station.
    pub(super) fn add(&mut self, now: Instant, station: StationId, packet: Outgoing<P>) {
        let state = &mut self.stations[station.index()];
        state.counters.packets.offered += 1;
        if station.0 == self.hub {
            return self.add_forward(now, packet);
        }
        let is_too_large = self.scheme.is_some() && u64::from(packet.size) > self.config.slot_size.0;
        if state.queue.len() >= self.config.sensor_queue as usize || is_too_large {
            state.counters.dropped_queue += 1;
            return self.drop_packet(station.0, packet, DropCause::Queue);
        }
        state.queue.push_back(Message { packet, arrived: now, attempts: 0 });
        state.counters.max_queue = state.counters.max_queue.max(state.queue.len() as u64);
        self.send_next(now, station.0);
    }

    fn add_forward(&mut self, now: Instant, packet: Outgoing<P>) {
        let hub = &mut self.stations[self.hub as usize];
        let (rate, passes) = (self.config.forward_rate, self.passes.as_ref());
        let Some(Slot { waited, airtime, end, queue }) = self.forward.add(now, packet.size, rate, passes) else {
            hub.counters.dropped_queue += 1;
            return self.drop_packet(self.hub, packet, DropCause::Queue);
        };
        hub.counters.note_sent(waited);
        hub.counters.bursts += 1;
        hub.counters.airtime += airtime;
        hub.counters.max_queue = hub.counters.max_queue.max(queue as u64);
        hub.outside += 1;
        self.tasks.add(end + self.config.delay, Task::Delivery(packet));
    }

    pub(super) fn drop_packet(&mut self, at: u32, packet: Outgoing<P>, cause: DropCause) {
        let Outgoing { to, payload, .. } = packet;
        self.events.push_back(Event::Dropped { at: StationId(at), to, payload, cause, arrived: false });
    }

    /// Sends the next packet of a sensor, unless it is sending another one or waits for a pass.
    fn send_next(&mut self, now: Instant, sensor: u32) {
        let state = &mut self.stations[sensor as usize];
        if state.is_sending || state.queue.is_empty() {
            return;
        }
        state.is_sending = true;
        if self.passes.is_some() { self.send_in_pass(now, sensor) } else { self.send_head(now, sensor) }
    }

    fn send_head(&mut self, now: Instant, sensor: u32) {
        let state = &mut self.stations[sensor as usize];
        if let Some(message) = state.queue.pop_front() {
            state.outside += 1;
            self.send(now, sensor, message);
        }
    }

    /// Sends the next packet if the satellite is visible; otherwise the packet waits for the next pass.
    #[cold]
    fn send_in_pass(&mut self, now: Instant, sensor: u32) {
        let Some(pass) = self.passes.as_ref().and_then(|passes| passes.at(now)) else { return };
        if pass.start > now {
            return self.tasks.add(pass.start, Task::Pass(sensor));
        }
        let backlog = self.stations[sensor as usize].backlog;
        if backlog == 0 {
            return self.send_head(now, sensor);
        }
        // The times of k packets are independent and uniform over the rest of the interval; this is the first one.
        let rest = self.spread_end(pass).max(now).since(now).as_secs_f64();
        let wait = rest * (1.0 - libm::pow(self.random.uniform(), 1.0 / f64::from(backlog)));
        self.tasks.add(now + Duration::from_secs_f64(wait), Task::Release(sensor));
    }

    /// Returns the end of the time over which sensors spread the packets that waited for a pass.
    fn spread_end(&self, pass: Window) -> Instant {
        (pass.start + self.config.pass_backoff).min(pass.end)
    }

    /// Lets the packets of a sensor wait for the next pass, because this burst does not fit into the present one.
    #[cold]
    pub(super) fn postpone(&mut self, now: Instant, sensor: u32, message: Message<P>) {
        let state = &mut self.stations[sensor as usize];
        state.outside -= 1;
        state.queue.push_front(message);
        let Some(passes) = &self.passes else { return };
        let next = passes.at(now).filter(|pass| pass.start > now).or_else(|| passes.after(now));
        if let Some(pass) = next {
            self.tasks.add(pass.start, Task::Pass(sensor));
        }
    }

    /// Returns the airtime of a burst of a sensor and, in a frame, the number of the frame, with the start and the end
    /// of the transmission at the sensor.
    fn transmission(&self, now: Instant, sensor: u32, size: u32) -> (Duration, u64, Instant, Instant) {
        let airtime = self.config.airtime(size, self.stations[sensor as usize].variant);
        let Some(scheme) = self.scheme else { return (airtime, 0, now, now + airtime) };
        let length = self.config.slot() * u64::from(frame_slots(&self.config, scheme));
        let frame = (now + self.config.delay).as_nanos().div_ceil(length.as_nanos());
        let at_sensor = |time: Duration| Instant::ZERO + time.saturating_sub(self.config.delay);
        (airtime, frame, at_sensor(length * frame), at_sensor(length * (frame + 1)))
    }

    /// Counts an access of this airtime.
    pub(super) fn note_access(&mut self, now: Instant, sensor: u32, message: &Message<P>, airtime: Duration) {
        let counters = &mut self.stations[sensor as usize].counters;
        counters.contentions += 1;
        counters.airtime += airtime;
        if message.attempts == 1 {
            counters.note_sent(now.since(message.arrived));
        }
    }

    fn send(&mut self, now: Instant, sensor: u32, mut message: Message<P>) {
        if self.config.technique == Technique::NbIot {
            return self.send_preamble(now, sensor, message);
        }
        let (airtime, frame, start, sent) = self.transmission(now, sensor, message.packet.size);
        if let Some(passes) = &self.passes
            && passes.fit(start, sent.since(start)) != Some(start)
        {
            return self.postpone(now, sensor, message);
        }
        message.attempts += 1;
        let Self { config, random, .. } = self;
        let power = contention::draw_power(config.power_spread, random);
        let channel = match config.channels {
            1 => 0,
            channels => ((random.uniform() * f64::from(channels)) as u32).min(channels - 1),
        };
        let replicas = self.scheme.map_or(1, Scheme::replicas) as u64;
        self.note_access(now, sensor, &message, airtime * replicas);
        let Self { config, random, .. } = self;
        let Some(scheme) = self.scheme else {
            let start = now + config.delay;
            let variant = self.stations[sensor as usize].variant;
            let number = self.receptions.add(start, start + airtime, channel, power, variant);
            self.tasks.add(start + airtime, Task::Burst { sensor, channel, number, message });
            return self.continue_at(sent, sensor);
        };
        let slots = frame_slots(config, scheme);
        let contender = Contender::draw(scheme, slots, slots, power, random);
        let end = config.slot() * u64::from(slots) * (frame + 1);
        let bursts = self.frames.entry((frame, channel)).or_default();
        if bursts.is_empty() {
            self.tasks.add(Instant::ZERO + end, Task::Frame(frame, channel));
        }
        bursts.push((sensor, contender, message));
        self.continue_at(sent, sensor);
    }

    /// Lets a sensor without acknowledgements send its next packet when it has sent this one.
    fn continue_at(&mut self, time: Instant, sensor: u32) {
        if !self.config.acknowledged {
            self.tasks.add(time, Task::Next(sensor));
        }
    }

    /// Handles all events up to `now`.
    pub(super) fn advance(&mut self, now: Instant) {
        while let Some((time, task)) = self.tasks.take(now) {
            match task {
                Task::Delivery(packet) => self.deliver(packet),
                Task::Burst { sensor, channel, number, message } => {
                    let survives = self.receptions.remove(channel, number);
                    self.resolve(time, sensor, message, u32::from(survives));
                }
                Task::Frame(opportunity, class) if self.config.technique == Technique::NbIot => {
                    self.answer_preambles(time, opportunity, class);
                }
                Task::Frame(frame, channel) => self.decode(time, frame, channel),
                Task::Identified(sensor, message) => self.grant_data(time, sensor, message),
                Task::Blocks(transport) => self.receive_blocks(time, *transport),
                Task::Next(sensor) => {
                    self.stations[sensor as usize].is_sending = false;
                    self.send_next(time, sensor);
                }
                Task::Pass(sensor) => {
                    let state = &mut self.stations[sensor as usize];
                    state.backlog = state.queue.len() as u32;
                    self.send_in_pass(time, sensor);
                }
                Task::Release(sensor) => {
                    self.stations[sensor as usize].backlog -= 1;
                    self.send_head(time, sensor);
                }
                Task::Missing(sensor, message) => self.retry(time, sensor, message),
                Task::Again(sensor, message) => self.send(time, sensor, message),
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
            let (at, from, payload) = (StationId(to), StationId(self.hub), packet.payload.clone());
            self.events.push_back(Event::Received { at, from, to: packet.to, payload, snr_db: 0.0 });
        }
    }

    fn decode(&mut self, now: Instant, frame: u64, channel: u32) {
        let (Some(bursts), Some(scheme)) = (self.frames.remove(&(frame, channel)), self.scheme) else { return };
        let contenders: Vec<Contender> = bursts.iter().map(|(_, contender, _)| *contender).collect();
        let iterations = scheme.iterations(self.config.sic_iterations);
        let mut decoder = std::mem::take(&mut self.decoder);
        let slots = frame_slots(&self.config, scheme);
        let decoded = decoder.decode(slots, &contenders, iterations, self.capture);
        for ((sensor, _, message), iteration) in bursts.into_iter().zip(decoded) {
            self.resolve(now, sensor, message, *iteration);
        }
        self.decoder = decoder;
    }

    /// Handles a burst at the gateway that was decoded in this iteration, or lost (0).
    fn resolve(&mut self, now: Instant, sensor: u32, message: Message<P>, iteration: u32) {
        let delay = self.config.delay;
        let state = &mut self.stations[sensor as usize];
        state.counters.note_decoded(iteration);
        if self.config.acknowledged {
            if iteration == 0 {
                return self.tasks.add(now + delay, Task::Missing(sensor, message));
            }
            self.tasks.add(now + delay, Task::Next(sensor));
        }
        if iteration == 0 {
            let state = &mut self.stations[sensor as usize];
            state.outside -= 1;
            state.counters.dropped_collision += 1;
            return self.drop_packet(sensor, message.packet, DropCause::Collision);
        }
        self.receive(sensor, message);
    }

    /// Receives a packet of a sensor at the gateway.
    pub(super) fn receive(&mut self, sensor: u32, message: Message<P>) {
        let state = &mut self.stations[sensor as usize];
        state.outside -= 1;
        state.counters.packets.settled += 1;
        self.stations[self.hub as usize].counters.received += 1;
        let Outgoing { to, payload, .. } = message.packet;
        let (at, from) = (StationId(self.hub), StationId(sensor));
        self.events.push_back(Event::Received { at, from, to, payload, snr_db: 0.0 });
    }

    fn retry(&mut self, now: Instant, sensor: u32, message: Message<P>) {
        if message.attempts >= self.config.access_attempts {
            let state = &mut self.stations[sensor as usize];
            state.outside -= 1;
            state.counters.dropped_retry += 1;
            self.drop_packet(sensor, message.packet, DropCause::Retry);
            self.tasks.add(now, Task::Next(sensor));
            return;
        }
        let window = self.config.retry_backoff * (1 << (message.attempts - 1).min(16));
        let wait = Duration::from_secs_f64(window.as_secs_f64() * self.random.uniform());
        self.tasks.add(now + wait, Task::Again(sensor, message));
    }
}

/// Returns the number of slots of a frame. Slotted ALOHA has no frames: each slot is one.
fn frame_slots(config: &RandomAccessConfig, scheme: Scheme) -> u32 {
    if scheme == Scheme::SlottedAloha { 1 } else { config.frame_slots }
}
