//! The stations that a frame reaches, with its power and propagation delay at each.

use super::background::Levels;
use super::tracks::Tracks;
use crate::propagation::{Channel, delay};
use lightlag_core::{Duration, Instant};
use lightlag_mobility::Vector;
use lightlag_net::StationId;

/// Maximum number of stations for which a medium caches the receivers of frames. With more, the memory would be too
/// large, because it grows with the square of the number.
const FEW: usize = 128;

/// The reception of a frame at a station.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reception {
    pub(super) station: StationId,
    /// Propagation delay.
    pub(super) travels: Duration,
    /// Received power in milliwatts.
    pub(super) power: f64,
}

/// The properties of a station's radio that determine its reach.
#[derive(Clone, Copy, Debug)]
pub(super) struct Antenna {
    /// Transmit power in milliwatts, antenna gain included.
    pub(super) power: f64,
    pub(super) gain: f64,
    /// Minimum received power that counts, in milliwatts.
    pub(super) sensitivity: f64,
    /// Minimum power that the receiver notices, in milliwatts.
    pub(super) noticeable: f64,
}

/// The channel between moving stations, with a separate array for each property of the stations.
#[derive(Debug)]
pub(super) struct Reach {
    channel: Channel,
    tracks: Tracks,
    sent: Vec<f64>,
    /// Antenna gain of each station, if any gain differs from one.
    gains: Option<Vec<f64>>,
    sensitivities: Vec<f64>,
    noticeable: Vec<f64>,
    /// The last result of [`Self::powers`].
    levels: Levels,
    /// Buffer for the stations that notice a frame; the rest of it is unused.
    indices: Vec<StationId>,
    receptions: Vec<Reception>,
    /// Receptions of the frames of each sender, cached if they never change.
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

    /// Returns the position of a station.
    pub(super) fn position(&mut self, station: StationId, now: Instant) -> Vector {
        self.tracks.advance(now);
        self.tracks.at(station)
    }

    /// Returns the mean power of a station's signal at each station, in milliwatts.
    pub(super) fn powers(&mut self, from: StationId, now: Instant) -> &[f64] {
        let mut levels = std::mem::take(&mut self.levels);
        self.mean_levels(from, now, &mut levels);
        self.levels = levels;
        &self.levels.powers
    }

    /// Computes the mean power of a station's signal at each station, and the distances.
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

    /// Returns true if receptions never change. In that case they include faint ones.
    pub(super) fn is_lasting(&self) -> bool {
        !self.lasting.is_empty()
    }

    /// Returns the receptions of a frame from this station, in order of the receivers. May be called only if receptions
    /// never change.
    pub(super) fn receptions(&mut self, from: StationId, now: Instant, exchange: u64) -> &[Reception] {
        if self.lasting[from.index()].is_none() {
            let mut levels = Levels::default();
            self.levels_of_frame(from, now, exchange, &mut levels);
            self.lasting[from.index()] = Some(self.heard(from, &levels.powers));
        }
        self.lasting[from.index()].as_deref().unwrap_or(&[])
    }

    fn heard(&self, from: StationId, powers: &[f64]) -> Box<[Reception]> {
        let sender = self.tracks.place(from);
        let levels = powers.iter().zip(&self.sensitivities).enumerate();
        let hear = levels.filter(|(other, (power, least))| power >= least && *other != from.index());
        let reception = |(other, (power, _)): (usize, (&f64, _))| {
            let travels = delay(self.tracks.at(StationId::at(other)).distance(sender.at));
            Reception { station: StationId::at(other), travels, power: *power }
        };
        hear.map(reception).collect()
    }

    /// Returns the stations that notice a frame of this exchange which is sent now, in order, and an upper bound of its
    /// propagation delay to any station. Its power at the other stations is written to `levels`.
    pub(super) fn loud(
        &mut self,
        from: StationId,
        now: Instant,
        exchange: u64,
        levels: &mut Levels,
    ) -> (&[Reception], Duration) {
        self.levels_of_frame(from, now, exchange, levels);
        levels.powers[from.index()] = -1.0;
        // A third of all stations notice a frame in a swarm: an unpredictable branch would cost more than all else
        // here.
        let mut count = 0;
        for (other, (power, noticeable)) in levels.powers.iter().zip(&self.noticeable).enumerate() {
            self.indices[count] = StationId::at(other);
            count += usize::from(power >= noticeable);
        }
        self.receptions.clear();
        self.receptions.extend(self.indices[..count].iter().map(|station| {
            let power = std::mem::take(&mut levels.powers[station.index()]);
            Reception { station: *station, travels: delay(levels.squares[station.index()].sqrt()), power }
        }));
        (&self.receptions, delay(largest(&levels.squares).sqrt()))
    }

    /// Computes the power of a frame at each station, and the distances.
    fn levels_of_frame(&mut self, from: StationId, now: Instant, exchange: u64, levels: &mut Levels) {
        self.mean_levels(from, now, levels);
        if self.channel.fades() {
            self.tracks.advance(now);
            let sender = self.tracks.place(from);
            for (other, power) in levels.powers.iter_mut().enumerate() {
                *power *= self.channel.fade(sender, self.tracks.place(StationId::at(other)), exchange);
            }
        }
    }
}

/// Returns the largest of some non-negative numbers.
fn largest(numbers: &[f64]) -> f64 {
    let larger = |one: f64, other: f64| if other > one { other } else { one };
    let (lanes, rest) = numbers.as_chunks::<4>();
    let largest = lanes.iter().fold([0.0; 4], |most, four| std::array::from_fn(|lane| larger(most[lane], four[lane])));
    largest.iter().chain(rest).copied().fold(0.0, larger)
}
