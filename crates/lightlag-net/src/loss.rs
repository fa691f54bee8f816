//! Packet loss other than queue overflow.
//!
//! If losses are drawn after the queue, a lost packet is corrupted: it has used the queue and the link, and the
//! receiving interface drops it. If they are drawn before the queue, a lost packet takes neither a queue slot nor
//! transmission time.
//!
//! Each model has its own file:
//!
//! - [`errors`]: independent packet errors and bit errors.
//! - [`gso`]: complete bursts of a sender.
//! - [`single`]: packets selected by a time or an index.
//! - `gilbert_elliott`: a channel with a good and a bad state, which [`bursts`] and [`fading`] configure.
//!
//! The file also declares the settings of the model ([`Law`]). A line below registers the model by its keys.

pub mod bursts;
pub mod errors;
pub mod fading;
mod gilbert_elliott;
pub mod gso;
mod registry;
pub mod single;

pub use gilbert_elliott::{Dwell, GilbertElliott};
pub use registry::Law;

use crate::{EndpointId, PacketFlags};
use lightlag_core::{Instant, Probability, RandomStream};
use registry::{Draw, Process};
use std::sync::Arc;

// One line per model: its variant, its parameters, and the process that draws.
registry::models! {
    /// Each packet is lost with this probability, independently of its size.
    Packet(Probability) => errors::Packets;
    /// Each bit is wrong with this probability, and one wrong bit loses the packet: PER = 1 − (1 − BER)^(8·B), where B
    /// is the size of the frame in bytes.
    Bit(Probability) => errors::Bits;
    /// The first packet whose transmission starts at or after each of these times is lost. The times are in ascending
    /// order.
    At(Vec<Instant>) => single::AtTimes;
    /// The packets with these numbers are lost. Packets that carry payload, including retransmissions, are numbered
    /// from 1 where losses are drawn. The numbers are in ascending order.
    Numbered(Vec<u64>) => single::ByNumber;
    /// Each burst of a sender is lost as a whole with this probability.
    Gso(Probability) => gso::WholeBursts;
    /// Losses occur in bursts: a channel with a good and a bad state.
    Bursts(GilbertElliott) => Box<gilbert_elliott::Channel>;
}

// One line for each form of a model, in the order of the schema: its variant, the first of its keys, its type.
registry::laws! {
    Packet, "rate", errors::PacketErrors;
    Bit, "bit_error_rate", errors::BitErrors;
    At, "at", single::Times;
    Numbered, "packets", single::PacketNumbers;
    Gso, "bursts", gso::BurstErrors;
    Bursts, "mean", bursts::Bursts;
    Fading, "good", fading::Fading;
}

/// Position of the loss model: before or after the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LossPlace {
    /// Losses are drawn when the transmission of a packet starts: a lost packet has used the queue and transmission
    /// time.
    #[default]
    AfterQueue,
    /// Losses are drawn when a packet arrives at the link: a lost packet takes no queue slot.
    BeforeQueue,
}

/// State of a loss model on one link direction, with its own random stream.
#[derive(Clone, Debug)]
pub struct LossProcess {
    /// Whether there is a model. Most links have none, and this single test skips their packets.
    lossy: bool,
    model: Model,
    place: LossPlace,
    random: RandomStream,
}

/// A sequence of loss models, each of which applies from a point in time.
#[derive(Clone, Debug)]
struct Changing {
    timetable: Arc<[(Instant, Loss)]>,
    /// Number of models that have started.
    begun: usize,
    present: Model,
    /// Seed of the channels' random streams, which are independent of other draws.
    seed: u64,
}

impl Changing {
    fn new(timetable: Arc<[(Instant, Loss)]>, seed: u64) -> Self {
        Self { timetable, begun: 0, present: Model::None, seed }
    }

    fn loses(&mut self, packet: Draw, random: &mut RandomStream) -> bool {
        let start = packet.start;
        let first = self.begun;
        while self.timetable.get(self.begun).is_some_and(|(from, _)| *from <= start) {
            self.begun += 1;
        }
        if self.begun > first {
            let (from, loss) = &self.timetable[self.begun - 1];
            let states = RandomStream::new(self.seed, &format!("states {}", self.begun));
            self.present = Model::new(loss, *from, states);
        }
        self.present.loses(packet, random)
    }
}

impl LossProcess {
    /// Returns the process of a model, with random numbers from `random`.
    pub fn new(loss: &Loss, random: RandomStream) -> Self {
        let seed = random.clone().bits();
        let model = match loss {
            Loss::Changing(timetable) => Model::Changing(Box::new(Changing::new(timetable.clone(), seed))),
            loss => Model::new(loss, Instant::ZERO, RandomStream::new(seed, "states")),
        };
        Self { lossy: *loss != Loss::None, model, place: LossPlace::AfterQueue, random }
    }

    /// Sets whether losses are drawn before or after the queue.
    #[must_use]
    pub fn at(mut self, loss_place: LossPlace) -> Self {
        self.place = loss_place;
        self
    }

    /// Returns whether losses are drawn before or after the queue.
    pub fn place(&self) -> LossPlace {
        self.place
    }

    /// Returns true if packets can be lost.
    pub(crate) fn is_lossy(&self) -> bool {
        self.lossy
    }

    /// Returns true if a frame of `size` bytes is lost. `start` is the start of its transmission, or its arrival if
    /// losses are drawn before the queue. Must be called once per frame. `flags` and `to` belong to the packet in the
    /// frame.
    #[inline]
    pub fn loses(&mut self, start: Instant, size: u64, flags: PacketFlags, to: EndpointId) -> bool {
        self.lossy && self.draw(start, size, flags, to)
    }

    fn draw(&mut self, start: Instant, size: u64, flags: PacketFlags, to: EndpointId) -> bool {
        self.model.loses(Draw { start, size, flags, to }, &mut self.random)
    }
}

#[cfg(test)]
mod tests {
    use super::errors::packet_error_rate;
    use super::*;
    use lightlag_core::params::{Registered, Value};
    use lightlag_core::{Bytes, Duration};

    const TO: EndpointId = EndpointId(1);

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
            let lost = (0..n).filter(|_| process.loses(Instant::ZERO, 1500, data(), TO)).count() as f64;
            let mean = f64::from(n) * per;
            // The 99 % interval of a binomial: 2.576 standard deviations.
            assert!((lost - mean).abs() < 2.576 * (mean * (1.0 - per)).sqrt(), "{loss:?}: {lost} of {mean}");
        }
    }

    #[test]
    fn scheduled_losses_take_the_first_packet_at_or_after_each_time() {
        let time = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let mut process = process(&Loss::At(vec![time(10), time(10), time(25)]));
        let lost: Vec<u64> = (0..40).filter(|ms| process.loses(time(*ms), 1500, data(), TO)).collect();
        assert_eq!(lost, [10, 11, 25]);
    }

    #[test]
    fn numbered_losses_count_packets_with_payload() {
        let mut process = process(&Loss::Numbered(vec![1, 3, 4]));
        // An ACK before each packet with payload is not counted.
        let mut lost = Vec::new();
        for number in 1..=6 {
            assert!(!process.loses(Instant::ZERO, 52, PacketFlags::new(false), TO));
            if process.loses(Instant::ZERO, 1500, data(), TO) {
                lost.push(number);
            }
        }
        assert_eq!(lost, [1, 3, 4]);
    }

    #[test]
    fn a_changed_loss_continues_with_the_same_draws() {
        let time = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let half = Loss::Packet(probability(0.5));
        let all = Loss::Packet(probability(1.0));
        let changes = [(time(0), half.clone()), (time(100), all), (time(150), Loss::None), (time(200), half.clone())];
        let (mut changing, mut steady) = (process(&Loss::Changing(changes.into())), process(&half));
        for ms in 0..100 {
            assert_eq!(changing.loses(time(ms), 1500, data(), TO), steady.loses(time(ms), 1500, data(), TO), "{ms}");
        }
        assert!((100..150).all(|ms| changing.loses(time(ms), 1500, data(), TO)));
        assert!((150..200).all(|ms| !changing.loses(time(ms), 1500, data(), TO)));
        let later = (200..1200).filter(|ms| changing.loses(time(*ms), 1500, data(), TO)).count();
        // Binomial, 1000 at 0.5: 15.8; five of them.
        assert!(later.abs_diff(500) < 79, "{later}");
    }

    #[test]
    fn a_model_returns_its_parameters_and_no_two_share_a_key() {
        let mut keys = Vec::new();
        for mut law in LossLaw::all() {
            let parameters = law.parameters();
            assert_eq!(law.name(), parameters[0].key);
            keys.extend(law.alias().into_iter().chain(parameters.iter().map(|parameter| parameter.key)));
            for (index, parameter) in parameters.iter().enumerate() {
                assert_eq!(law.get(index), parameter.default, "{}", parameter.key);
                let other = match &parameter.default {
                    Value::Probability(_) => Value::Probability(probability(0.25)),
                    Value::Number(_) => Value::Number(7.0),
                    Value::Times(_) => Value::Times(vec![Duration::from_secs(3), Duration::from_secs(1)]),
                    Value::Packets(_) => Value::Packets(vec![9, 4]),
                    Value::Table(_) => {
                        Value::Table(vec![Value::Time(Duration::from_secs(2)), Value::Probability(probability(0.5))])
                    }
                    default => panic!("{default:?} of {} has no other value here", parameter.key),
                };
                law.set(index, other.clone());
                assert_eq!(law.get(index), other, "{}", parameter.key);
            }
        }
        let all = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), all, "its keys identify a table: {keys:?}");
    }

    #[test]
    fn the_extremes_lose_nothing_and_everything() {
        assert!((0..1000).all(|_| !process(&Loss::Bit(Probability::ZERO)).loses(Instant::ZERO, 9000, data(), TO)));
        assert!((0..1000).all(|_| process(&Loss::Bit(probability(1.0))).loses(Instant::ZERO, 40, data(), TO)));
    }
}
