//! Settings of random access.

use super::nb_iot::NbIotConfig;
use crate::contention::Scheme;
use crate::lora::Chirps;
use lightlag_core::params::Declared;
use lightlag_core::{Bytes, Duration, Rate, Unit, Windows, settings, words};

words! {
    /// Technique of random access.
    pub enum Technique {
        /// A sensor sends immediately; bursts that overlap are lost.
        Aloha = "aloha",
        /// A sensor sends in the next slot; bursts in one slot are lost.
        SlottedAloha = "slotted-aloha",
        /// A sensor sends two replicas in the next frame; the receiver cancels interference.
        Crdsa2 = "crdsa-2",
        /// A sensor sends three replicas in the next frame; the receiver cancels interference.
        Crdsa3 = "crdsa-3",
        /// A sensor sends immediately with LoRa; bursts with different spreading factors interfere little.
        Lora = "lora",
        /// A sensor sends a preamble; those that are alone on a subcarrier obtain grants for their data.
        NbIot = "nb-iot",
    }
}

settings! {
    /// Random access of sensors to a satellite.
    #[derive(Clone, PartialEq, Debug)]
    pub struct RandomAccessConfig {
        about "Sensors that send to a gateway over a satellite without coordination.";

        /// Random access: pure or slotted ALOHA, CRDSA with two or three replicas, LoRa, or NB-IoT.
        technique: Technique = Technique::default() => choice("a technique of random access");
        /// Propagation delay between a terminal or a sensor and the gateway.
        delay: Duration = Duration::from_millis(130) => time_or_zero();
        /// Rate of a burst; LoRa's follows from its spreading factor.
        burst_rate: Rate = Rate::from_mbps(1) => rate();
        /// Bytes that the physical layer adds to a packet.
        burst_overhead: u32 = 0 => count_or_zero(10_000, "a number of bytes").unit("B");
        /// Number of frequency channels. Each burst uses a random one, and its replicas share it.
        channels: u32 = 1 => count(10_000, "a number of channels", "");
        /// Maximum size of a packet that fits into a slot.
        slot_size: Bytes = Bytes(100) => size();
        /// Number of slots per frame of CRDSA.
        frame_slots: u32 = 100 => count(100_000, "a number of slots", "");
        /// Maximum number of iterations that cancel interference.
        sic_iterations: u32 = 16 => count(1000, "a number of iterations", "");
        /// Minimum ratio of a burst's power to the power of bursts that overlap it, for decoding it. LoRa's default is
        /// 6 dB; without a threshold, bursts that overlap are lost.
        capture_threshold: Option<f64> = None => number(0, 60.0).unit("dB").by_default("6 dB for LoRa, else none");
        /// Standard deviation of the received power of bursts.
        power_spread: f64 = 0.0 => quantity(Unit::Decibel, 0.0, 20.0);
        /// Minimum and maximum spreading factor of LoRa; each sensor has a random one between them.
        spreading_min: u32 = 7 => count(12, "a spreading factor", "").checked(|c| refusal(c.spreading_min));
        /// Maximum spreading factor of LoRa.
        spreading_max: u32 = 12 => count(12, "a spreading factor", "").checked(|c| {
            refusal(c.spreading_max)
                .or((c.spreading_max < c.spreading_min).then_some("is below spreading_min; increase it"))
        });
        /// Bandwidth of a LoRa channel.
        lora_bandwidth: f64 = 125e3 => quantity(Unit::Hertz, 7.8e3, 500e3);
        /// Code rate 4/(4 + n) of LoRa.
        lora_coding: u32 = 1 => count(4, "a code rate", " (4/5 to 4/8)");
        /// Preamble of LoRa, without the 4.25 symbols that the modem adds.
        lora_preamble: u32 = 8 => count(65_535, "a number of symbols", "");
        /// Minimum ratio of powers by which a burst destroys a weaker one with another spreading factor.
        cross_threshold: f64 = 16.0 => quantity(Unit::Decibel, 0.0, 60.0);
        /// Transmit power of a sensor, for its energy.
        transmit_power: f64 = 14.0 => quantity(Unit::Dbm, -30.0, 60.0);
        /// Whether the gateway acknowledges packets, and sensors retransmit what is not acknowledged.
        acknowledged: bool = false => flag();
        /// Number of transmissions by random access before a packet is dropped.
        access_attempts: u32 = 8 => count(100, "a number of transmissions", "");
        /// Maximum backoff after a first loss; it doubles with each further loss.
        retry_backoff: Duration = Duration::from_secs(2) => time();
        /// Maximum number of packets that wait at a sensor.
        sensor_queue: u32 = 16 => count(1_000_000, "a number of packets", "");
        /// Times when the satellite is visible; by default always. Outside passes sensors store their packets, and
        /// the gateway stores the packets of the forward carrier.
        passes: Windows = Windows::default() => table(Windows::settings, Windows::parameters, Windows::EXAMPLE)
            .checked(|c| c.passes.refusal());
        /// Time after the start of a pass over which sensors spread the packets that waited for it.
        pass_backoff: Duration = Duration::from_secs(60) => time_or_zero();
        /// Rate of the forward carrier, from the gateway to the other stations.
        forward_rate: Rate = Rate::from_mbps(20) => rate();
        /// Maximum number of packets that wait for the forward carrier.
        forward_queue: u32 = 1000 => count(10_000_000, "a number of packets", "");
        + /// Settings of NB-IoT.
        nb_iot: NbIotConfig = NbIotConfig::default() => NbIotConfig::settings();
    }
}

/// Ratio of powers in dB by which a LoRa burst must exceed another one with its spreading factor (Bor et al., MSWiM
/// 2016; Semtech SX1272/73 data sheet: co-channel rejection).
const LORA_CAPTURE: f64 = 6.0;

fn refusal(spreading_factor: u32) -> Option<&'static str> {
    (spreading_factor < 7).then_some("is below 7, the smallest spreading factor of this model; increase it")
}

impl RandomAccessConfig {
    /// Returns the scheme of access to slots; `None` if there are no slots.
    pub fn scheme(&self) -> Option<Scheme> {
        match self.technique {
            Technique::Aloha | Technique::Lora | Technique::NbIot => None,
            Technique::SlottedAloha => Some(Scheme::SlottedAloha),
            Technique::Crdsa2 => Some(Scheme::Crdsa2),
            Technique::Crdsa3 => Some(Scheme::Crdsa3),
        }
    }

    /// Returns the capture threshold in dB, if there is one.
    pub fn capture(&self) -> Option<f64> {
        self.capture_threshold.or((self.technique == Technique::Lora).then_some(LORA_CAPTURE))
    }

    /// Returns the duration of a slot, which carries a packet of the maximum size.
    pub fn slot(&self) -> Duration {
        self.burst_rate.time_to_send(Bytes(self.slot_size.0 + u64::from(self.burst_overhead)))
    }

    /// Returns the airtime of one burst with a packet, with NB-IoT of all transmissions. `variant` is the spreading
    /// factor of LoRa, or the coverage class of NB-IoT, starting at 0.
    pub fn airtime(&self, size: u32, variant: u32) -> Duration {
        let bytes = size.saturating_add(self.burst_overhead);
        match self.technique {
            Technique::Lora => self.chirps(variant).airtime(bytes),
            Technique::NbIot => self.nb_iot.airtime(Bytes(u64::from(bytes)), variant),
            _ => self.burst_rate.time_to_send(Bytes(u64::from(bytes))),
        }
    }

    fn chirps(&self, spreading_factor: u32) -> Chirps {
        Chirps {
            spreading_factor,
            bandwidth: self.lora_bandwidth,
            coding: self.lora_coding,
            preamble: self.lora_preamble,
            header: true,
            crc: true,
        }
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// The key that cannot be combined with others, and a message with its value and the fix.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        if self.technique == Technique::NbIot {
            return self.nb_iot.check();
        }
        let Some(scheme) = self.scheme() else { return Ok(()) };
        let replicas = scheme.replicas() as u32;
        if self.frame_slots < replicas {
            let message =
                format!("{} slots cannot hold the {replicas} replicas of a burst; add slots", self.frame_slots);
            return Err(("frame_slots", message));
        }
        if self.slot().is_zero() {
            return Err(("slot_size", "a slot takes no time; increase it, or reduce burst_rate".to_owned()));
        }
        let frame = self.slot() * u64::from(if replicas == 1 { 1 } else { self.frame_slots });
        if !self.passes.is_empty() && self.passes.shortest() < frame * 2 {
            let message = format!(
                "has a pass of {}, shorter than two frames of {frame}, so that none may fit completely; use longer \
                 passes or fewer frame_slots",
                self.passes.shortest()
            );
            return Err(("passes", message));
        }
        Ok(())
    }
}
