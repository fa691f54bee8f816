//! A medium by itself, and the loop of events that drives it.

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

/// The number of a packet among those of its sender, and that sender.
pub type Packet = (u32, u64);

/// A packet that arrived, was acknowledged or was dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    Received { at: u32, packet: Packet },
    Acknowledged { packet: Packet },
    Dropped { packet: Packet, cause: DropCause },
}

/// A station that always has packets of this size for another one.
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
    /// The class of the next packets of each station.
    pub class: Vec<Class>,
    saturated: Vec<Saturated>,
    /// Packets that were offered for one station.
    pub unicast: Vec<Packet>,
    /// The class of each packet.
    pub classes: BTreeMap<Packet, Class>,
    pub events: Vec<(Instant, Event)>,
    /// Stations that management frames of others did not reach.
    pub unreachable: Vec<u32>,
}

pub fn config(standard: Standard) -> MediumConfig {
    MediumConfig { standard, ..MediumConfig::default() }
}

pub fn place(x: f64) -> Vector {
    Vector::new(x, 0.0, 0.0)
}

/// A receiver, and stations around it on a circle of 5 m.
pub fn circle(stations: u32) -> Vec<Vector> {
    let angle = |at: u32| 2.0 * std::f64::consts::PI * f64::from(at) / f64::from(stations);
    let place = |at: u32| Vector::new(5.0 * libm::cos(angle(at)), 5.0 * libm::sin(angle(at)), 0.0);
    std::iter::once(Vector::ZERO).chain((0..stations).map(place)).collect()
}

pub fn at(micros: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(micros * 1e-6)
}

impl Bench {
    pub fn new(config: &MediumConfig, radio: &Radio, places: &[Vector], seed: u64) -> Self {
        let corner = Vector::new(1e6, 1e6, 1e6);
        let area = Area::new(-corner, corner).unwrap();
        let still = Mobility::named("static").unwrap();
        let station = |(index, place): (usize, &Vector)| {
            let name = format!("s{index}");
            let motion = Motion::new(&still, &area, Some(*place), seed, &name);
            StationConfig { name, motion, radio: radio.clone() }
        };
        let stations: Vec<StationConfig> = places.iter().enumerate().map(station).collect();
        Self {
            stations: places.len() as u32,
            offered: vec![0; places.len()],
            class: vec![Class::BestEffort; places.len()],
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

    /// Keeps a station busy from now on.
    pub fn saturate(&mut self, now: Instant, of: Saturated, waiting: u32) {
        self.saturated.push(of);
        for _ in 0..waiting {
            self.offer(now, of.from, Addressee::One(StationId(of.to)), of.size);
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

    /// The next instant at which something happens.
    fn next(&self) -> Option<Instant> {
        let stations = (0..self.stations).filter_map(|at| self.medium.next_station_wake(StationId(at)));
        stations.chain(self.medium.next_wake()).min()
    }

    /// Runs until then, or until nothing is left to do. At equal times frames end before stations wake.
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

    pub fn count(&self, of: impl Fn(&Event) -> bool) -> u64 {
        self.events.iter().filter(|(_, event)| of(event)).count() as u64
    }

    pub fn acknowledged(&self) -> u64 {
        self.count(|event| matches!(event, Event::Acknowledged { .. }))
    }

    /// Attempts of frames with payload at all stations.
    pub fn attempts(&self) -> u64 {
        (0..self.stations).map(|at| self.medium.station_counters(StationId(at), Instant::MAX).sent).sum()
    }
}
