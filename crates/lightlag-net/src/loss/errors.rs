//! Independent packet errors, and bit errors, where a single wrong bit loses the packet.

use super::registry::{Draw, Process};
use super::{Law, Loss};
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Bytes, Instant, Probability, RandomStream};

/// Returns the packet error rate of a frame of `size` bytes under a bit error rate.
pub fn packet_error_rate(bit_error_rate: Probability, size: Bytes) -> Probability {
    let ln_frame_ok = size.bits() as f64 * libm::log1p(-bit_error_rate.value());
    Probability::new(-libm::expm1(ln_frame_ok)).unwrap_or(Probability::ZERO)
}

/// Each packet is lost with this probability.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct PacketErrors {
    /// Probability that a packet is lost.
    pub rate: Probability,
}

impl Described for PacketErrors {
    const ABOUT: &'static str = "each packet with this probability";

    fn settings() -> Vec<Setting<Self>> {
        vec![Setting::probability("rate", |law: &mut Self| &mut law.rate).about("Probability that a packet is lost.")]
    }
}

impl Law for PacketErrors {
    const ALIAS: Option<&'static str> = Some("packet_error_rate");

    fn loss(&self) -> Loss {
        if self.rate == Probability::ZERO { Loss::None } else { Loss::Packet(self.rate) }
    }
}

/// Each bit is wrong with this probability, and one wrong bit loses the packet.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct BitErrors {
    /// Probability that a bit is wrong.
    pub bit_error_rate: Probability,
}

impl Described for BitErrors {
    const ABOUT: &'static str = "each bit with this probability; one wrong bit loses the packet";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::probability("bit_error_rate", |law: &mut Self| &mut law.bit_error_rate)
                .about("Probability that a bit is wrong."),
        ]
    }
}

impl Law for BitErrors {
    fn loss(&self) -> Loss {
        if self.bit_error_rate == Probability::ZERO { Loss::None } else { Loss::Bit(self.bit_error_rate) }
    }
}

/// Running process of packet errors.
#[derive(Clone, Debug)]
pub(super) struct Packets {
    threshold: u64,
}

impl Process<Probability> for Packets {
    const DRAWS: bool = true;

    fn new(probability: &Probability, _: Instant, _: RandomStream) -> Self {
        Self { threshold: probability.threshold() }
    }

    #[inline]
    fn loses(&mut self, _: Draw, random: &mut RandomStream) -> bool {
        random.bits() < self.threshold
    }
}

/// Running process of bit errors.
#[derive(Clone, Debug)]
pub(super) struct Bits {
    ln_bit_ok: f64,
    /// Size of the last frame in bytes.
    size: u64,
    threshold: u64,
}

impl Process<Probability> for Bits {
    const DRAWS: bool = true;

    fn new(rate: &Probability, _: Instant, _: RandomStream) -> Self {
        Self { ln_bit_ok: libm::log1p(-rate.value()), size: 0, threshold: 0 }
    }

    #[inline]
    fn loses(&mut self, packet: Draw, random: &mut RandomStream) -> bool {
        if packet.size != self.size {
            self.size = packet.size;
            let rate = -libm::expm1(Bytes(packet.size).bits() as f64 * self.ln_bit_ok);
            self.threshold = Probability::new(rate).unwrap_or(Probability::ZERO).threshold();
        }
        random.bits() < self.threshold
    }
}
