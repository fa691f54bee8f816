//! The stations that a frame reaches, with the power and the delay at each.

use super::background::Levels;
use super::tracks::Tracks;
use crate::propagation::{Channel, delay};
use lightlag_core::{Duration, Instant};
use lightlag_mobility::Vector;
use lightlag_net::StationId;

/// Media with more stations do not remember whom a frame reaches: the memory would grow with the square of their number.
const FEW: usize = 128;

/// A frame at a station that hears it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reception {
    pub(super) station: StationId,
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
    /// The last question about mean powers, answered.
    levels: Levels,
    /// Stations that notice a frame, as many as there are, and room for the others.
    indices: Vec<StationId>,
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
            levels: Levels::default(),
            indices: vec![StationId(0); count],
            receptions: Vec::new(),
            lasting: vec![None; if is_lasting { count } else { 0 }],
        }
    }

    /// Where a station is.
    pub(super) fn position(&mut self, station: StationId, now: Instant) -> Vector {
        self.tracks.advance(now);
        self.tracks.at(station)
    }

    /// The mean power of a station's signal at each station.
    pub(super) fn powers(&mut self, from: StationId, now: Instant) -> &[f64] {
        let mut levels = std::mem::take(&mut self.levels);
        self.mean_levels(from, now, &mut levels);
        self.levels = levels;
        &self.levels.powers
    }

    /// The mean power of a station's signal at each station, and how far that is.
    fn mean_levels(&mut self, from: StationId, now: Instant, Levels { powers, squares }: &mut Levels) {
        squares.resize(self.sent.len(), 0.0);
        powers.resize(self.sent.len(), 0.0);
        self.tracks.squares(from, now, squares);
        if !self.channel.powers_by_distance(self.sent[from.index()], squares, powers) {
            self.tracks.advance(now);
            let (place, places) = (self.tracks.place(from), self.tracks.places());
            self.channel.powers(place, self.sent[from.index()], (places, squares), now, powers);
        }
        if let Some(gains) = &self.gains {
            powers.iter_mut().zip(gains).for_each(|(power, gain)| *power *= gain);
        }
    }

    /// Whether all receptions are known for good: then faint ones are among them.
    pub(super) fn is_lasting(&self) -> bool {
        !self.lasting.is_empty()
    }

    /// The stations that hear a frame which leaves a station, in their order, where nothing ever changes.
    pub(super) fn receptions(&mut self, from: StationId, now: Instant, exchange: u64) -> &[Reception] {
        if self.lasting[from.index()].is_none() {
            let mut levels = Levels::default();
            self.levels_of_frame(from, now, exchange, &mut levels);
            self.lasting[from.index()] = Some(self.heard(from, &levels.powers));
        }
        self.lasting[from.index()].as_deref().unwrap_or(&[])
    }

    fn heard(&self, from: StationId, powers: &[f64]) -> Box<[Reception]> {
        let place = self.tracks.place(from);
        let levels = powers.iter().zip(&self.sensitivities).enumerate();
        let hear = levels.filter(|(other, (power, least))| power >= least && *other != from.index());
        let reception = |(other, (power, _)): (usize, (&f64, _))| {
            let travels = delay(self.tracks.at(StationId::at(other)).distance(place.at));
            Reception { station: StationId::at(other), travels, power: *power }
        };
        hear.map(reception).collect()
    }

    /// The stations that notice a frame of this exchange which leaves a station now, in their order, and a time within which it
    /// reaches each one. Its power everywhere is written into `levels`.
    pub(super) fn loud(
        &mut self,
        from: StationId,
        now: Instant,
        exchange: u64,
        levels: &mut Levels,
    ) -> (&[Reception], Duration) {
        self.levels_of_frame(from, now, exchange, levels);
        levels.powers[from.index()] = -1.0;
        // A third of all stations notice a frame in a swarm: a branch that nobody can predict would cost more than all else here.
        let mut found = 0;
        for (other, (power, noticeable)) in levels.powers.iter().zip(&self.noticeable).enumerate() {
            self.indices[found] = StationId::at(other);
            found += usize::from(power >= noticeable);
        }
        self.receptions.clear();
        self.receptions.extend(self.indices[..found].iter().map(|station| {
            let (power, square) = (levels.powers[station.index()], levels.squares[station.index()]);
            Reception { station: *station, travels: delay(square.sqrt()), power }
        }));
        (&self.receptions, delay(largest(&levels.squares).sqrt()))
    }

    /// The power of a frame at each station, and how far that is.
    fn levels_of_frame(&mut self, from: StationId, now: Instant, exchange: u64, levels: &mut Levels) {
        self.mean_levels(from, now, levels);
        if self.channel.fades() {
            self.tracks.advance(now);
            let place = self.tracks.place(from);
            for (other, power) in levels.powers.iter_mut().enumerate() {
                *power *= self.channel.fade(place, self.tracks.place(StationId::at(other)), exchange);
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
