//! Saturated stations against the closed form of Bianchi (2000), and one station against the sum of its times.

use lightlag_core::{Duration, Instant};
use lightlag_mobility::{Area, Mobility, Motion, Vector};
use lightlag_net::setting::Registered;
use lightlag_radio::phy::Standard;
use lightlag_radio::{Happening, Medium, MediumConfig, Msdu, Radio, Station, StationConfig, To};

/// A medium with stations at these places; a station that has nothing to send has no saturation.
struct Bench {
    medium: Medium<u64>,
    stations: usize,
}

impl Bench {
    fn new(standard: Standard, radio: &Radio, places: &[Vector], seed: u64) -> Self {
        let config = MediumConfig { standard, ..MediumConfig::default() };
        let corner = Vector::new(1e4, 1e4, 1e4);
        let area = Area::new(-corner, corner).unwrap();
        let still = Mobility::named("static").unwrap();
        let station = |(index, place): (usize, &Vector)| {
            let name = format!("s{index}");
            let motion = Motion::new(&still, &area, Some(*place), seed, &name);
            StationConfig { name, motion, radio: radio.clone() }
        };
        let configs: Vec<StationConfig> = places.iter().enumerate().map(station).collect();
        Self { stations: configs.len(), medium: Medium::new(&config, configs, seed, "air") }
    }

    /// Runs with the senders saturated; returns the packets received at each station.
    fn run(&mut self, senders: &[(u32, u32)], size: u32, until: Duration) -> Vec<u64> {
        let mut received = vec![0; self.stations];
        let until = Instant::ZERO + until;
        for (from, to) in senders {
            for packet in 0..2 {
                let to = To::One(Station(*to));
                self.medium.offer(Instant::ZERO, Station(*from), Msdu { to, size, payload: packet });
            }
        }
        loop {
            let stations =
                (0..self.stations as u32).filter_map(|at| Some((self.medium.station_wake(Station(at))?, at)));
            let (station, medium) = (stations.min(), self.medium.next_wake());
            let now = match (station, medium) {
                (None, None) => break,
                (station, medium) => station.map(|(at, _)| at).into_iter().chain(medium).min().unwrap(),
            };
            if now > until {
                break;
            }
            if medium == Some(now) {
                self.medium.medium_wakes(now);
            } else if let Some((_, at)) = station {
                self.medium.station_wakes(now, Station(at));
            }
            while let Some(happening) = self.medium.next_happening() {
                match happening {
                    Happening::Received { at, .. } => received[at.0 as usize] += 1,
                    Happening::Acknowledged { at, to, payload }
                    | Happening::Dropped { at, to: To::One(to), payload, .. } => {
                        let to = To::One(to);
                        self.medium.offer(now, at, Msdu { to, size, payload });
                    }
                    Happening::Dropped { .. } => {}
                }
            }
            self.medium.rearmed(|_, _| {});
        }
        received
    }
}

fn circle(stations: u32) -> Vec<Vector> {
    let angle = |at: u32| 2.0 * std::f64::consts::PI * f64::from(at) / f64::from(stations);
    let place = |at: u32| Vector::new(5.0 * libm::cos(angle(at)), 5.0 * libm::sin(angle(at)), 0.0);
    std::iter::once(Vector::ZERO).chain((0..stations).map(place)).collect()
}

fn goodput(standard: Standard, stations: u32, seconds: u64) -> f64 {
    let radio = Radio { tries: 255, ..Radio::default() };
    let mut bench = Bench::new(standard, &radio, &circle(stations), 1);
    let senders: Vec<(u32, u32)> = (1..=stations).map(|at| (at, 0)).collect();
    let received = bench.run(&senders, 1500, Duration::from_secs(seconds));
    received[0] as f64 * 1500.0 * 8.0 / seconds as f64 / 1e6
}

#[test]
fn show() {
    for n in [1, 2, 5, 10, 20] {
        println!("{n} {} {}", goodput(Standard::A, n, 5), goodput(Standard::N, n, 5));
    }
}
