//! Which packets a link loses, other than for want of room.
//!
//! Drawn after the queue, a packet is corrupted: it has used the queue and the link, and the receiving interface drops it.
//! Drawn before the queue, it never enters: it takes no place and no transmission time.

mod gilbert_elliott;

pub use gilbert_elliott::{Dwell, GilbertElliott};

use crate::PacketFlags;
use gilbert_elliott::Channel;
use lightlag_core::{Bytes, Instant, Probability, RandomStream};
use std::sync::Arc;

/// A loss model, as configured.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Loss {
    /// Nothing is lost.
    #[default]
    None,
    /// Each packet is lost with this probability, independently of its size.
    Packet(Probability),
    /// Each bit is wrong with this probability, and one wrong bit loses the packet: PER = 1 − (1 − BER)^(8·B),
    /// with B all bytes of the frame.
    Bit(Probability),
    /// The first packet whose transmission starts at or after each of these times is lost. Ascending.
    At(Vec<Instant>),
    /// The packets with these numbers are lost: packets that carry payload are counted from 1 where losses are drawn,
    /// retransmissions too. Ascending.
    Numbered(Vec<u64>),
    /// In bursts: a channel with a good and a bad state.
    Bursts(GilbertElliott),
    /// Each of these from its time on, the first from zero on. Ascending; none of them changes itself.
    Changing(Arc<[(Instant, Loss)]>),
}

impl Loss {
    /// Whether it draws at random which packets are lost.
    pub fn draws(&self) -> bool {
        match self {
            Self::None | Self::At(_) | Self::Numbered(_) => false,
            Self::Packet(_) | Self::Bit(_) | Self::Bursts(_) => true,
            Self::Changing(models) => models.iter().any(|(_, model)| model.draws()),
        }
    }
}

/// Where losses are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LossPlace {
    /// When a packet begins its transmission: a lost one has used queue and link time.
    #[default]
    AfterQueue,
    /// When a packet comes to the link: a lost one takes no place in the queue.
    BeforeQueue,
}

/// A loss model at work on one link direction, with a random stream of its own.
#[derive(Clone, Debug)]
pub struct LossProcess {
    /// Whether there is a model: one test for the packets of most links.
    lossy: bool,
    model: Model,
    place: LossPlace,
    random: RandomStream,
}

#[derive(Clone, Debug)]
enum Model {
    None,
    Packet { threshold: u64 },
    Bit { ln_bit_ok: f64, size: u64, threshold: u64 },
    At { times: Vec<Instant>, next: usize },
    Numbered { numbers: Vec<u64>, next: usize, counted: u64 },
    Bursts(Box<Channel>),
    Changing(Box<Changing>),
}

/// Models that follow each other.
#[derive(Clone, Debug)]
struct Changing {
    timetable: Arc<[(Instant, Loss)]>,
    /// How many of them have begun.
    begun: usize,
    present: Model,
    /// From which the streams of channel states are derived: the same whatever has been drawn.
    seed: u64,
}

impl Changing {
    fn new(timetable: Arc<[(Instant, Loss)]>, seed: u64) -> Self {
        Self { timetable, begun: 0, present: Model::None, seed }
    }

    fn loses(&mut self, start: Instant, size: u64, flags: PacketFlags, random: &mut RandomStream) -> bool {
        let first = self.begun;
        while self.timetable.get(self.begun).is_some_and(|(from, _)| *from <= start) {
            self.begun += 1;
        }
        if self.begun > first {
            let (from, loss) = &self.timetable[self.begun - 1];
            let states = RandomStream::new(self.seed, &format!("states {}", self.begun));
            self.present = Model::new(loss, *from, states);
        }
        self.present.loses(start, size, flags, random)
    }
}

/// The packet error rate of a frame of `size` bytes under a bit error rate.
pub fn packet_error_rate(bit_error_rate: Probability, size: Bytes) -> Probability {
    let ln_frame_ok = size.bits() as f64 * libm::log1p(-bit_error_rate.value());
    Probability::new(-libm::expm1(ln_frame_ok)).unwrap_or(Probability::ZERO)
}

impl LossProcess {
    /// The model, drawing from `random`.
    pub fn new(loss: &Loss, random: RandomStream) -> Self {
        let seed = random.clone().bits();
        let model = match loss {
            Loss::Changing(timetable) => Model::Changing(Box::new(Changing::new(timetable.clone(), seed))),
            loss => Model::new(loss, Instant::ZERO, RandomStream::new(seed, "states")),
        };
        Self { lossy: *loss != Loss::None, model, place: LossPlace::AfterQueue, random }
    }

    /// Draws at another place.
    #[must_use]
    pub fn at(mut self, place: LossPlace) -> Self {
        self.place = place;
        self
    }

    /// Where losses are drawn.
    pub fn place(&self) -> LossPlace {
        self.place
    }

    /// Whether anything can be lost.
    pub(crate) fn is_lossy(&self) -> bool {
        self.lossy
    }

    /// Whether the frame of `size` bytes that begins its transmission, or comes to the link, at `start` is lost. One draw
    /// a frame; `flags` say what its packet carries.
    #[inline]
    pub fn loses(&mut self, start: Instant, size: u64, flags: PacketFlags) -> bool {
        self.lossy && self.draw(start, size, flags)
    }

    fn draw(&mut self, start: Instant, size: u64, flags: PacketFlags) -> bool {
        self.model.loses(start, size, flags, &mut self.random)
    }
}

impl Model {
    /// A model that begins at `from`, with channel states from `states`.
    fn new(loss: &Loss, from: Instant, states: RandomStream) -> Self {
        match loss {
            Loss::Packet(probability) => Self::Packet { threshold: probability.threshold() },
            Loss::Bit(rate) => Self::Bit { ln_bit_ok: libm::log1p(-rate.value()), size: 0, threshold: 0 },
            Loss::At(times) => Self::At { times: times.clone(), next: 0 },
            Loss::Numbered(numbers) => Self::Numbered { numbers: numbers.clone(), next: 0, counted: 0 },
            Loss::Bursts(model) => Self::Bursts(Box::new(Channel::new(*model, from, states))),
            // A timetable has models, not timetables.
            Loss::None | Loss::Changing(_) => Self::None,
        }
    }

    fn loses(&mut self, start: Instant, size: u64, flags: PacketFlags, random: &mut RandomStream) -> bool {
        match self {
            Self::None => false,
            Self::Packet { threshold } => random.bits() < *threshold,
            Self::Bit { ln_bit_ok, size: last, threshold } => {
                if size != *last {
                    *last = size;
                    let rate = -libm::expm1(Bytes(size).bits() as f64 * *ln_bit_ok);
                    *threshold = Probability::new(rate).unwrap_or(Probability::ZERO).threshold();
                }
                random.bits() < *threshold
            }
            Self::At { times, next } => {
                let hit = times.get(*next).is_some_and(|at| *at <= start);
                *next += usize::from(hit);
                hit
            }
            Self::Numbered { numbers, next, counted } => {
                if !flags.carries_payload() {
                    return false;
                }
                *counted += 1;
                let hit = numbers.get(*next) == Some(counted);
                *next += usize::from(hit);
                hit
            }
            Self::Bursts(channel) => channel.loses(start, random),
            Self::Changing(changing) => changing.loses(start, size, flags, random),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data() -> PacketFlags {
        PacketFlags::new(true)
    }

    fn process(loss: &Loss) -> LossProcess {
        LossProcess::new(loss, RandomStream::new(1, "loss"))
    }

    fn probability(value: f64) -> Probability {
        Probability::new(value).unwrap()
    }

    #[test]
    fn bit_errors_become_packet_errors_of_the_table() {
        // INET-TCP's frames and the ns-3 frames of SCPS-TP: 1 - (1 - BER)^(8 B).
        let table = [
            (1e-7, 42, 3.4e-5),
            (1e-7, 1500, 0.00120),
            (6e-7, 512, 0.00245),
            (1e-6, 1064, 0.00848),
            (2e-6, 1500, 0.02371),
            (1e-5, 42, 0.00335),
            (1e-5, 512, 0.04013),
            (1e-5, 1500, 0.11308),
            (1e-4, 512, 0.3361),
            (1e-4, 1500, 0.6988),
        ];
        for (ber, size, per) in table {
            let ours = packet_error_rate(probability(ber), Bytes(size)).value();
            assert!((ours / per - 1.0).abs() < 0.015, "BER {ber}, {size} B: {ours} against {per}");
        }
    }

    #[test]
    fn packets_are_lost_at_the_configured_rate() {
        let n = 1_000_000_u32;
        for (loss, per) in [(Loss::Packet(probability(5e-4)), 5e-4), (Loss::Bit(probability(2e-6)), 0.023_714)] {
            let mut process = process(&loss);
            let lost = (0..n).filter(|_| process.loses(Instant::ZERO, 1500, data())).count() as f64;
            let mean = f64::from(n) * per;
            // The 99 % interval of a binomial: 2.576 standard deviations.
            assert!((lost - mean).abs() < 2.576 * (mean * (1.0 - per)).sqrt(), "{loss:?}: {lost} of {mean}");
        }
    }

    #[test]
    fn scheduled_losses_take_the_first_packet_at_or_after_each_time() {
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let mut process = process(&Loss::At(vec![at(10), at(10), at(25)]));
        let lost: Vec<u64> = (0..40).filter(|ms| process.loses(at(*ms), 1500, data())).collect();
        assert_eq!(lost, [10, 11, 25]);
    }

    #[test]
    fn numbered_losses_count_what_carries_payload() {
        let mut process = process(&Loss::Numbered(vec![1, 3, 4]));
        // An ACK before each packet with payload takes no number.
        let mut lost = Vec::new();
        for number in 1..=6 {
            assert!(!process.loses(Instant::ZERO, 52, PacketFlags::new(false)));
            if process.loses(Instant::ZERO, 1500, data()) {
                lost.push(number);
            }
        }
        assert_eq!(lost, [1, 3, 4]);
    }

    #[test]
    fn a_loss_that_changes_goes_on_with_the_same_draws() {
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let half = Loss::Packet(probability(0.5));
        let all = Loss::Packet(probability(1.0));
        let changes = [(at(0), half.clone()), (at(100), all), (at(150), Loss::None), (at(200), half.clone())];
        let (mut changing, mut steady) = (process(&Loss::Changing(changes.into())), process(&half));
        for ms in 0..100 {
            assert_eq!(changing.loses(at(ms), 1500, data()), steady.loses(at(ms), 1500, data()), "{ms}");
        }
        assert!((100..150).all(|ms| changing.loses(at(ms), 1500, data())));
        assert!((150..200).all(|ms| !changing.loses(at(ms), 1500, data())));
        let later = (200..1200).filter(|ms| changing.loses(at(*ms), 1500, data())).count();
        // Binomial, 1000 at 0.5: 15.8; five of them.
        assert!(later.abs_diff(500) < 79, "{later}");
    }

    #[test]
    fn the_extremes_lose_nothing_and_everything() {
        assert!((0..1000).all(|_| !process(&Loss::Bit(Probability::ZERO)).loses(Instant::ZERO, 9000, data())));
        assert!((0..1000).all(|_| process(&Loss::Bit(probability(1.0))).loses(Instant::ZERO, 40, data())));
    }
}
