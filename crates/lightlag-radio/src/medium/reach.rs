//! The stations that a frame reaches, with the power and the delay at each.

use super::background::AtStation;
use super::tracks::Tracks;
use crate::propagation::{Channel, delay};
use lightlag_core::{Duration, Instant};
use lightlag_mobility::Vector;

/// Media with more stations do not remember whom a frame reaches: the memory would grow with the square of their number.
const FEW: usize = 128;

/// A frame at a station that hears it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reception {
    pub(super) station: u32,
    /// The time that the signal travels.
    pub(super) travels: Duration,
    /// In milliwatts.
    pub(super) power: f64,
}

/// The radio of a station, as far as reach depends on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Antenna {
    /// Power that it sends, in milliwatts, with the gain of its antenna.
    pub(super) power: f64,
    pub(super) gain: f64,
    /// The least power that it hears, in milliwatts.
    pub(super) sensitivity: f64,
    /// The least power that it notices.
    pub(super) noticeable: f64,
}

/// The channel between stations that move, each property of the stations as an array of its own.
#[derive(Debug)]
pub(super) struct Reach {
    channel: Channel,
    tracks: Tracks,
    sent: Vec<f64>,
    /// The gain of each antenna, if any differs from one.
    gains: Option<Vec<f64>>,
    sensitivities: Vec<f64>,
    noticeable: Vec<f64>,
    /// The power that reaches each station.
    powers: Vec<f64>,
    /// The squares of the distances from a sender.
    squares: Vec<f64>,
    /// Stations that notice a frame, as many as there are, and room for the others.
    indices: Vec<u32>,
    receptions: Vec<Reception>,
    /// Where nothing ever changes, the receptions of a frame by its sender, once it has sent.
    lasting: Vec<Option<Box<[Reception]>>>,
}

impl Reach {
    pub(super) fn new(channel: Channel, tracks: Tracks, antennas: &[Antenna]) -> Self {
        let count = antennas.len();
        let is_lasting = count <= FEW && tracks.stay() && channel.is_steady();
        Self {
            channel,
            tracks,
            sent: antennas.iter().map(|antenna| antenna.power).collect(),
            gains: antennas
                .iter()
                .any(|antenna| antenna.gain != 1.0)
                .then(|| antennas.iter().map(|antenna| antenna.gain).collect()),
            sensitivities: antennas.iter().map(|antenna| antenna.sensitivity).collect(),
            noticeable: antennas.iter().map(|antenna| antenna.noticeable.max(antenna.sensitivity)).collect(),
            powers: vec![0.0; count],
            squares: vec![0.0; count],
            indices: vec![0; count],
            receptions: Vec::new(),
            lasting: vec![None; if is_lasting { count } else { 0 }],
        }
    }

    /// Where a station is.
    pub(super) fn position(&mut self, station: usize, now: Instant) -> Vector {
        self.tracks.advance(now);
        self.tracks.at(station)
    }

    /// The mean power of a station's signal at each station.
    pub(super) fn powers(&mut self, from: usize, now: Instant) -> &[f64] {
        self.tracks.advance(now);
        self.channel.powers(self.tracks.place(from), self.sent[from], self.tracks.places(), now, &mut self.powers);
        if let Some(gains) = &self.gains {
            self.powers.iter_mut().zip(gains).for_each(|(power, gain)| *power *= gain);
        }
        &self.powers
    }

    /// Whether all receptions are known for good: then faint ones are among them.
    pub(super) fn is_lasting(&self) -> bool {
        !self.lasting.is_empty()
    }

    /// The stations that hear a frame which leaves a station, in their order, where nothing ever changes.
    pub(super) fn receptions(&mut self, from: usize, now: Instant, exchange: u64) -> &[Reception] {
        if self.lasting[from].is_none() {
            self.powers_of_frame(from, now, exchange);
            self.lasting[from] = Some(self.heard(from));
        }
        self.lasting[from].as_deref().unwrap_or(&[])
    }

    fn heard(&self, from: usize) -> Box<[Reception]> {
        let place = self.tracks.place(from);
        let levels = self.powers.iter().zip(&self.sensitivities).enumerate();
        let hear = levels.filter(|(other, (power, least))| power >= least && *other != from);
        let reception = |(other, (power, _)): (usize, (&f64, _))| {
            let travels = delay(self.tracks.at(other).distance(place.at));
            Reception { station: other as u32, travels, power: *power }
        };
        hear.map(reception).collect()
    }

    /// The stations that notice a frame of this exchange which leaves a station now, in their order, and a time within which it
    /// reaches each one. Where it is faint is written into `faint`.
    pub(super) fn loud(
        &mut self,
        from: usize,
        now: Instant,
        exchange: u64,
        faint: &mut Vec<AtStation>,
    ) -> (&[Reception], Duration) {
        self.powers_of_frame(from, now, exchange);
        self.tracks.squares(from, &mut self.squares);
        faint.clear();
        let levels = self.sensitivities.iter().zip(&self.noticeable);
        faint.extend(self.powers.iter().zip(&self.squares).zip(levels).map(
            |((power, square), (least, noticeable))| {
                let is_faint = (power >= least) & (power < noticeable);
                AtStation { power: if is_faint { *power } else { 0.0 }, square: *square }
            },
        ));
        faint[from].power = 0.0;
        // A third of all stations notice a frame in a swarm: a branch that nobody can predict would cost more than all else here.
        let mut found = 0;
        for (other, (power, noticeable)) in self.powers.iter().zip(&self.noticeable).enumerate() {
            self.indices[found] = other as u32;
            found += usize::from((power >= noticeable) & (other != from));
        }
        self.receptions.clear();
        self.receptions.extend(self.indices[..found].iter().map(|station| {
            let travels = delay(self.squares[*station as usize].sqrt());
            Reception { station: *station, travels, power: self.powers[*station as usize] }
        }));
        (&self.receptions, delay(largest(&self.squares).sqrt()))
    }

    /// The power of a frame at each station.
    fn powers_of_frame(&mut self, from: usize, now: Instant, exchange: u64) {
        self.powers(from, now);
        if self.channel.fades() {
            let place = self.tracks.place(from);
            for (other, power) in self.powers.iter_mut().enumerate() {
                *power *= self.channel.fade(place, self.tracks.place(other), exchange);
            }
        }
    }
}

/// The largest of some positive numbers.
fn largest(numbers: &[f64]) -> f64 {
    let larger = |one: f64, other: f64| if other > one { other } else { one };
    let (lanes, rest) = numbers.as_chunks::<4>();
    let largest = lanes.iter().fold([0.0; 4], |most, four| std::array::from_fn(|lane| larger(most[lane], four[lane])));
    largest.iter().chain(rest).copied().fold(0.0, larger)
}
