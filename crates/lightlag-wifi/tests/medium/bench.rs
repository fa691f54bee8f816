//! A medium alone, and the event loop that drives it.

use lightlag_core::params::Registered;
use lightlag_core::{Duration, Instant};
use lightlag_mobility::{Area, Mobility, Motion, Vector};
use lightlag_net::Medium as _;
use lightlag_net::StationId;
use lightlag_net::medium;
use lightlag_net::medium::Addressee;
use lightlag_net::queue::DropCause;
use lightlag_wifi::phy::Standard;
use lightlag_wifi::{Class, MediumConfig, Msdu, Radio, StationConfig, Wifi};
use std::collections::BTreeMap;

/// A packet: its sender, and its index there.
pub type Packet = (u32, u64);

/// An event of a packet: it arrived, was acknowledged or was dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    Received { at: u32, packet: Packet },
    Acknowledged { packet: Packet },
    Dropped { packet: Packet, cause: DropCause },
}

/// A station that always has packets of this size to send to another one.
#[derive(Clone, Copy, Debug)]
pub struct Saturated {
    pub from: u32,
    pub to: u32,
    pub size: u32,
}

pub struct Bench {
    pub medium: Wifi<Packet>,
    stations: u32,
    offered: Vec<u64>,
    /// The class of the next packets from each station.
    pub class: Vec<Class>,
    saturated: Vec<Saturated>,
    /// Packets that were sent to a single station.
    pub unicast: Vec<Packet>,
    /// The class of each packet.
    pub classes: BTreeMap<Packet, Class>,
    pub events: Vec<(Instant, Event)>,
    /// Stations that could not be reached with management frames.
    pub unreachable: Vec<u32>,
}

pub fn config(standard: Standard) -> MediumConfig {
    MediumConfig { standard, ..MediumConfig::default() }
}

pub fn place(x: f64) -> Vector {
    Vector::new(x, 0.0, 0.0)
}

/// Returns the positions of a receiver and of stations on a circle with a radius of 5 m around it.
pub fn circle(stations: u32) -> Vec<Vector> {
    let angle = |at: u32| 2.0 * std::f64::consts::PI * f64::from(at) / f64::from(stations);
    let place = |at: u32| Vector::new(5.0 * libm::cos(angle(at)), 5.0 * libm::sin(angle(at)), 0.0);
    std::iter::once(Vector::ZERO).chain((0..stations).map(place)).collect()
}

pub fn at(micros: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(micros * 1e-6)
}

impl Bench {
    pub fn new(config: &MediumConfig, radio: &Radio, positions: &[Vector], seed: u64) -> Self {
        let corner = Vector::new(1e6, 1e6, 1e6);
        let area = Area::new(-corner, corner).unwrap();
        let still = Mobility::named("static").unwrap();
        let station = |(index, position): (usize, &Vector)| {
            let name = format!("s{index}");
            let motion = Motion::new(&still, &area, Some(*position), seed, &name);
            StationConfig { name, motion, radio: radio.clone() }
        };
        let stations: Vec<StationConfig> = positions.iter().enumerate().map(station).collect();
        Self {
            stations: positions.len() as u32,
            offered: vec![0; positions.len()],
            class: vec![Class::BestEffort; positions.len()],
            medium: Wifi::new(config, stations, seed, "air"),
            saturated: Vec::new(),
            unicast: Vec::new(),
            classes: BTreeMap::new(),
            events: Vec::new(),
            unreachable: Vec::new(),
        }
    }

    pub fn offer(&mut self, now: Instant, from: u32, to: Addressee, size: u32) {
        let number = &mut self.offered[from as usize];
        *number += 1;
        let payload = (from, *number);
        let class = self.class[from as usize];
        self.classes.insert(payload, class);
        if to != Addressee::All {
            self.unicast.push(payload);
        }
        self.medium.send_later(now, StationId(from), Msdu { to, size, class, payload });
        self.listen(now);
    }

    /// Keeps a station saturated, with `waiting` packets in its queue.
    pub fn saturate(&mut self, now: Instant, flow: Saturated, waiting: u32) {
        self.saturated.push(flow);
        for _ in 0..waiting {
            self.offer(now, flow.from, Addressee::One(StationId(flow.to)), flow.size);
        }
    }

    fn listen(&mut self, now: Instant) {
        while let Some(event) = self.medium.poll_event() {
            let (event, left) = match event {
                medium::Event::Received { at, payload, .. } => (Event::Received { at: at.0, packet: payload }, None),
                medium::Event::Acknowledged { at, payload, .. } => {
                    (Event::Acknowledged { packet: payload }, Some(at.0))
                }
                medium::Event::Dropped { at, payload, cause, .. } => {
                    (Event::Dropped { packet: payload, cause }, Some(at.0))
                }
                medium::Event::Unreachable { to, .. } => {
                    self.unreachable.push(to.0);
                    continue;
                }
            };
            self.events.push((now, event));
            let next = left.and_then(|at| self.saturated.iter().find(|of| of.from == at)).copied();
            if let Some(Saturated { from, to, size }) = next {
                self.offer(now, from, Addressee::One(StationId(to)), size);
            }
        }
        self.medium.rearmed(&mut |_, _| {});
    }

    /// Returns the time of the next event of the medium or a station.
    fn next(&self) -> Option<Instant> {
        let stations = (0..self.stations).filter_map(|at| self.medium.next_station_wake(StationId(at)));
        stations.chain(self.medium.next_wake()).min()
    }

    /// Processes events up to `until`, or until none is left. At equal times, ends of frames precede events of
    /// stations.
    pub fn run(&mut self, until: Instant) {
        while let Some(now) = self.next().filter(|now| *now <= until) {
            if self.medium.next_wake() == Some(now) {
                self.medium.handle_wake(now);
            } else {
                let due = |at: &u32| self.medium.next_station_wake(StationId(*at)) == Some(now);
                let at = (0..self.stations).find(due).expect("a station is due");
                self.medium.handle_station_wake(now, StationId(at));
            }
            self.listen(now);
        }
    }

    pub fn count(&self, is_counted: impl Fn(&Event) -> bool) -> u64 {
        self.events.iter().filter(|(_, event)| is_counted(event)).count() as u64
    }

    pub fn acknowledged(&self) -> u64 {
        self.count(|event| matches!(event, Event::Acknowledged { .. }))
    }

    /// Returns the total number of attempts to send frames with payload at all stations.
    pub fn attempts(&self) -> u64 {
        (0..self.stations).map(|at| self.medium.station_counters(StationId(at), Instant::MAX).sent).sum()
    }
}
