//! The settings of a medium and of its radios.

use crate::class::{Class, Edca};
use crate::phy::{Band, Capabilities, ErrorModel, Guard, LONGEST_AGGREGATE, ModeError, PhyMode, Standard, Width};
use crate::propagation::Propagation;
use crate::rate::RateControl;
use lightlag_core::params::{Described, Setting, parameters};
use lightlag_core::{Duration, Unit};
use lightlag_mobility::Motion;

/// Settings of a medium: a channel, and the standard that its radios follow.
#[derive(Clone, PartialEq, Debug)]
pub struct MediumConfig {
    /// The amendment of 802.11 that radios follow.
    pub standard: Standard,
    /// The centre frequency, in hertz.
    pub frequency: f64,
    /// Width of the channel.
    pub width: Width,
    /// Guard interval, for 802.11n and 802.11ac.
    pub guard: Guard,
    /// Number of spatial streams, for 802.11n and 802.11ac.
    pub streams: u32,
    /// Model of frame errors.
    pub errors: ErrorModel,
    /// Propagation models. In scenarios, they are given next to these settings, not inside.
    pub propagation: Propagation,
}

impl Default for MediumConfig {
    fn default() -> Self {
        Self {
            standard: Standard::N,
            frequency: 5.18e9,
            width: Width::Mhz20,
            guard: Guard::Long,
            streams: 1,
            errors: ErrorModel::Nist,
            propagation: Propagation::default(),
        }
    }
}

impl MediumConfig {
    /// Returns the frequency band of the channel.
    pub fn band(&self) -> Band {
        Band::of(self.frequency).unwrap_or(Band::Ghz5)
    }

    /// Returns the modes that radios of this medium can send.
    pub fn capabilities(&self) -> Capabilities {
        let Self { standard, width, guard, streams, .. } = *self;
        Capabilities { standard, band: self.band(), width, guard, streams: streams as u8 }
    }
}

impl Described for MediumConfig {
    const ABOUT: &'static str = "An 802.11 channel, and the standard of its radios.";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::word(
                "standard",
                "a standard",
                &Standard::NAMES,
                |c: &Self| Standard::ALL.iter().position(|of| *of == c.standard).unwrap_or_default(),
                |c, index| c.standard = Standard::ALL[index],
            )
            .about("Amendment of 802.11."),
            Setting::quantity("frequency", |c: &mut Self| &mut c.frequency, Unit::Hertz, 1e9, 1e10)
                .about("Centre frequency.")
                .checked(|c| Band::refusal(c.standard, c.frequency)),
            Setting::word(
                "width",
                "a width",
                &Width::NAMES,
                |c: &Self| Width::ALL.iter().position(|of| *of == c.width).unwrap_or_default(),
                |c, index| c.width = Width::ALL[index],
            )
            .about("Width of the channel.")
            .checked(|c| match (c.standard, c.width) {
                (Standard::A | Standard::G, Width::Mhz40 | Width::Mhz80) => Some("needs 802.11n or 802.11ac"),
                (Standard::N, Width::Mhz80) => Some("needs 802.11ac"),
                _ => None,
            }),
            Setting::word(
                "guard",
                "a guard interval",
                &Guard::NAMES,
                |c: &Self| Guard::ALL.iter().position(|of| *of == c.guard).unwrap_or_default(),
                |c, index| c.guard = Guard::ALL[index],
            )
            .about("Guard interval of 802.11n and 802.11ac.")
            .checked(|c| {
                let is_legacy = matches!(c.standard, Standard::A | Standard::G);
                (is_legacy && c.guard != Guard::Long)
                    .then_some("needs 802.11n or 802.11ac: OFDM has only the long guard interval")
            }),
            Setting::word(
                "errors",
                "a model of errors",
                &ErrorModel::NAMES,
                |c: &Self| ErrorModel::ALL.iter().position(|of| *of == c.errors).unwrap_or_default(),
                |c, index| c.errors = ErrorModel::ALL[index],
            )
            .about("Error model."),
            Setting::count("streams", |c: &mut Self| &mut c.streams, 4, "a number of streams", "")
                .about("Spatial streams of 802.11n and 802.11ac.")
                .checked(|c| {
                    let is_legacy = matches!(c.standard, Standard::A | Standard::G);
                    (is_legacy && c.streams > 1).then_some("needs 802.11n or 802.11ac: OFDM has one stream")
                }),
        ]
    }
}

/// Reaction to a missing block acknowledgement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MissingBlockAck {
    /// Retransmits the packets, as Linux does.
    Repeat,
    /// Requests the acknowledgement in a separate exchange, as ns-3 does.
    Ask,
}

/// The origin of block acknowledgement agreements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockAckAgreement {
    /// Agreements are in place from the start, wherever packets can be aggregated.
    Aggregates,
    /// Stations negotiate agreements, even at rates without aggregation, as in ns-3.
    Ns3,
}

/// Settings of a radio: its power, its receiver and its MAC.
#[derive(Clone, PartialEq, Debug)]
pub struct Radio {
    /// Transmit power in dBm.
    pub power: f64,
    /// Antenna gain in dB, for transmission and reception.
    pub gain: f64,
    /// Noise figure of the receiver in dB.
    pub noise_figure: f64,
    /// Weakest signal that the receiver notices at all, in dBm.
    pub sensitivity: f64,
    /// Weakest preamble that the receiver detects, in dBm.
    pub detection: f64,
    /// Minimum ratio of signal to interference and noise for which a preamble is detected, in dB.
    pub detection_snr: f64,
    /// Minimum power of frames, whether decodable or not, that makes the medium busy, in dBm.
    pub carrier_sense: f64,
    /// Minimum energy of any kind that makes the medium busy, in dBm.
    pub energy_detection: f64,
    /// Whether a much stronger frame replaces one that has just started.
    pub capture: bool,
    /// Minimum power difference for capture, in dB.
    pub capture_margin: f64,
    /// Data rate, as a name.
    pub rate: String,
    /// Choice of the data rate: fixed at `rate`, or by a controller. In scenarios, it is given next to the other
    /// settings.
    pub rate_control: RateControl,
    /// Rate of broadcast frames.
    pub broadcast_rate: String,
    /// Maximum number of transmissions of a frame before it is dropped.
    pub max_attempts: u32,
    /// Maximum size in bytes of a frame that is sent without RTS and CTS.
    pub rts_threshold: u32,
    /// Maximum size of an A-MPDU in bytes; 0 disables aggregation.
    pub aggregation: f64,
    /// Reaction to a missing block acknowledgement.
    pub missing_block_ack: MissingBlockAck,
    /// The origin of block acknowledgement agreements.
    pub block_ack_agreement: BlockAckAgreement,
    /// Access class of packets from flows without a code point, if the medium has access classes.
    pub access_class: Class,
    /// Parameters of access classes that differ from the standard, such as `{ voice = { cw_min = 3, cw_max = 7 } }`;
    /// also `aifsn` and `txop`.
    pub edca: Edca,
    /// Maximum number of waiting frames per class.
    pub queue: u32,
    /// Maximum time that a frame may wait before it is dropped.
    pub lifetime: Duration,
}

impl Default for Radio {
    /// Returns the defaults of ns-3.37.
    fn default() -> Self {
        Self {
            power: 16.0206,
            gain: 0.0,
            noise_figure: 7.0,
            sensitivity: -101.0,
            detection: -82.0,
            detection_snr: 4.0,
            carrier_sense: -82.0,
            energy_detection: -62.0,
            capture: false,
            capture_margin: 5.0,
            rate: "24 Mbit/s".to_owned(),
            rate_control: RateControl::default(),
            broadcast_rate: "6 Mbit/s".to_owned(),
            max_attempts: 7,
            rts_threshold: 65_535,
            aggregation: LONGEST_AGGREGATE.0 as f64,
            missing_block_ack: MissingBlockAck::Ask,
            block_ack_agreement: BlockAckAgreement::Aggregates,
            access_class: Class::BestEffort,
            edca: Edca::default(),
            queue: 500,
            lifetime: Duration::from_millis(500),
        }
    }
}

/// Error message for a threshold below the sensitivity, which no received signal would be near.
const BELOW: &str = "is below the sensitivity; increase it, or reduce the sensitivity";

impl Described for Radio {
    const ABOUT: &'static str = "An 802.11 radio: power, receiver and MAC. The defaults are taken from ns-3.37.";

    fn settings() -> Vec<Setting<Self>> {
        let level = |key, at| Setting::quantity(key, at, Unit::Dbm, -150.0, 60.0);
        let ratio = |key, at, least, most| Setting::quantity(key, at, Unit::Decibel, least, most);
        vec![
            level("power", |c: &mut Self| &mut c.power).about("Transmit power."),
            ratio("gain", |c: &mut Self| &mut c.gain, -50.0, 60.0)
                .about("Antenna gain, for transmission and reception."),
            ratio("noise_figure", |c: &mut Self| &mut c.noise_figure, 0.0, 50.0).about("Noise figure of the receiver."),
            level("sensitivity", |c: &mut Self| &mut c.sensitivity)
                .about("Weakest signal that the receiver can notice."),
            level("detection", |c: &mut Self| &mut c.detection)
                .about("Weakest preamble that the receiver detects.")
                .checked(|c| (c.detection < c.sensitivity).then_some(BELOW)),
            ratio("detection_snr", |c: &mut Self| &mut c.detection_snr, -50.0, 60.0)
                .about("Minimum ratio of signal to interference and noise for a preamble."),
            level("carrier_sense", |c: &mut Self| &mut c.carrier_sense)
                .about("Minimum power of frames, decodable or not, that makes the medium busy.")
                .checked(|c| (c.carrier_sense < c.sensitivity).then_some(BELOW)),
            level("energy_detection", |c: &mut Self| &mut c.energy_detection)
                .about("Minimum energy of any kind that makes the medium busy.")
                .checked(|c| (c.energy_detection < c.sensitivity).then_some(BELOW)),
            Setting::flag("capture", |c: &mut Self| &mut c.capture)
                .about("Whether a much stronger frame replaces one that has just started."),
            ratio("capture_margin", |c: &mut Self| &mut c.capture_margin, 0.0, 60.0)
                .about("Minimum margin of the stronger frame for `capture`."),
            Setting::text("rate", |c: &mut Self| &mut c.rate, "a rate")
                .about("Data rate, `\"24 Mbit/s\"` or `\"HtMcs7\"`."),
            Setting::text("broadcast_rate", |c: &mut Self| &mut c.broadcast_rate, "a rate")
                .about("Rate of broadcasts."),
            Setting::count("max_attempts", |c: &mut Self| &mut c.max_attempts, 255, "a number of transmissions", "")
                .about("Maximum number of transmissions of a frame before it is dropped."),
            Setting::count("rts_threshold", |c: &mut Self| &mut c.rts_threshold, 65_535, "a number of bytes", "")
                .about("Maximum size in bytes of a frame without RTS and CTS."),
            Setting::number("aggregation", |c: &mut Self| &mut c.aggregation, 0, LONGEST_AGGREGATE.0 as f64)
                .about("Maximum size of an A-MPDU in bytes; 0 for none."),
            Setting::word(
                "missing_block_ack",
                "a reaction",
                &["repeat", "ask"],
                |c: &Self| c.missing_block_ack as usize,
                |c, index| c.missing_block_ack = [MissingBlockAck::Repeat, MissingBlockAck::Ask][index],
            )
            .about("Reaction to a missing block acknowledgement: request it (ask), or retransmit the frames (repeat)."),
            Setting::word(
                "block_ack_agreement",
                "an origin of agreements",
                &["aggregates", "ns3"],
                |c: &Self| c.block_ack_agreement as usize,
                |c, index| c.block_ack_agreement = [BlockAckAgreement::Aggregates, BlockAckAgreement::Ns3][index],
            )
            .about(
                "Block acknowledgement agreements: in place from the start where packets can be aggregated, or \
                 negotiated at every rate (as in ns-3, with 802.11n and 802.11ac).",
            ),
            Setting::word(
                "access_class",
                "an access class",
                &Class::NAMES,
                |c: &Self| c.access_class as usize,
                |c, index| c.access_class = Class::ALL[index],
            )
            .about("Access class of flows without a code point, if the medium has classes."),
            Setting::table(
                "edca",
                |c: &mut Self| &mut c.edca,
                Edca::settings,
                || parameters(Edca::settings()),
                "{ voice = { cw_min = 3, cw_max = 7 } }",
            )
            .about(
                "Parameters of access classes that differ from the standard, `{ voice = { cw_min = 3, cw_max = 7 } }`; \
                 also `aifsn` and `txop`.",
            ),
            Setting::count("queue", |c: &mut Self| &mut c.queue, 1_000_000, "a number of frames", "")
                .about("Maximum number of waiting frames."),
            Setting::time("lifetime", |c: &mut Self| &mut c.lifetime).about("Maximum waiting time of a frame."),
        ]
    }
}

impl Radio {
    /// Checks whether a radio with these settings can be used on the given medium.
    ///
    /// # Errors
    /// The key whose value is invalid, and the reason.
    pub fn check(&self, medium: &MediumConfig) -> Result<(), (&'static str, String)> {
        let capabilities = medium.capabilities();
        for (key, name) in [("rate", &self.rate), ("broadcast_rate", &self.broadcast_rate)] {
            capabilities.mode(name).map_err(|error| (key, error.to_string()))?;
        }
        if matches!(medium.standard, Standard::A | Standard::G) && self.edca != Edca::default() {
            return Err(("edca", format!("needs 802.11n or 802.11ac: {} has no access classes", medium.standard)));
        }
        self.edca.refusal().map_or(Ok(()), Err)
    }

    /// Returns the slowest and the fastest data mode. Both are the same if the rate is fixed.
    ///
    /// # Errors
    /// If the rate is fixed, and the medium does not support it.
    pub fn data_modes(&self, medium: &MediumConfig) -> Result<[PhyMode; 2], ModeError> {
        let capabilities = medium.capabilities();
        if matches!(self.rate_control, RateControl::Fixed(_)) {
            return capabilities.mode(&self.rate).map(|mode| [mode; 2]);
        }
        let modes = self.rate_control.modes(capabilities);
        Ok([modes[0], modes[modes.len() - 1]])
    }

    /// Returns the modes for the settings `rate` and `broadcast_rate`.
    ///
    /// # Panics
    /// If [`Self::check`] rejects the radio.
    pub(crate) fn modes(&self, medium: &MediumConfig) -> [PhyMode; 2] {
        let capabilities = medium.capabilities();
        [&self.rate, &self.broadcast_rate].map(|name| capabilities.mode(name).expect("the radio was checked"))
    }
}

/// Settings of a station on a medium.
#[derive(Clone, Debug)]
pub struct StationConfig {
    /// Name of the station, which selects its random streams.
    pub name: String,
    /// Movement of the station.
    pub motion: Motion,
    /// Settings of its radio.
    pub radio: Radio,
}
