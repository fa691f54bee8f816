//! The settings of a medium, and of the radios on it.

use crate::class::{Class, Edca};
use crate::phy::{Band, Capabilities, ErrorModel, Guard, LONGEST_AGGREGATE, Mode, ModeError, Standard, Width};
use crate::propagation::Propagation;
use crate::rate::RateControl;
use lightlag_core::params::{Described, Setting, parameters};
use lightlag_core::{Duration, Unit};
use lightlag_mobility::Motion;

/// A channel, and the standard that the radios on it follow.
#[derive(Clone, PartialEq, Debug)]
pub struct MediumConfig {
    /// The amendment of 802.11.
    pub standard: Standard,
    /// The centre frequency, in hertz.
    pub frequency: f64,
    /// The width of the channel.
    pub width: Width,
    /// The guard interval of HT and VHT.
    pub guard: Guard,
    /// Spatial streams of HT and VHT.
    pub streams: u32,
    /// The model of errors.
    pub errors: ErrorModel,
    /// Propagation; scenarios give it beside these settings.
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
    /// The band of its frequency.
    pub fn band(&self) -> Band {
        Band::of(self.frequency).unwrap_or(Band::Ghz5)
    }

    /// The modes that its radios have.
    pub fn capabilities(&self) -> Capabilities {
        let Self { standard, width, guard, streams, .. } = *self;
        Capabilities { standard, band: self.band(), width, guard, streams: streams as u8 }
    }
}

impl Described for MediumConfig {
    const ABOUT: &'static str = "A channel of 802.11, and the standard that the radios on it follow.";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::word(
                "standard",
                "a standard",
                &Standard::NAMES,
                |c: &Self| Standard::ALL.iter().position(|of| *of == c.standard).unwrap_or_default(),
                |c, index| c.standard = Standard::ALL[index],
            )
            .about("The amendment of 802.11."),
            Setting::quantity("frequency", |c: &mut Self| &mut c.frequency, Unit::Hertz, 1e9, 1e10)
                .about("The centre frequency, in hertz.")
                .checked(|c| Band::refusal(c.standard, c.frequency)),
            Setting::word(
                "width",
                "a width",
                &Width::NAMES,
                |c: &Self| Width::ALL.iter().position(|of| *of == c.width).unwrap_or_default(),
                |c, index| c.width = Width::ALL[index],
            )
            .about("The width of the channel.")
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
            .about("The guard interval of HT and VHT.")
            .checked(|c| {
                let is_legacy = matches!(c.standard, Standard::A | Standard::G);
                (is_legacy && c.guard != Guard::Long)
                    .then_some("needs 802.11n or 802.11ac: OFDM has the long one alone")
            }),
            Setting::word(
                "errors",
                "a model of errors",
                &ErrorModel::NAMES,
                |c: &Self| ErrorModel::ALL.iter().position(|of| *of == c.errors).unwrap_or_default(),
                |c, index| c.errors = ErrorModel::ALL[index],
            )
            .about("The model of errors."),
            Setting::count("streams", |c: &mut Self| &mut c.streams, 4, "a number of streams", "")
                .about("Spatial streams of HT and VHT.")
                .checked(|c| {
                    let is_legacy = matches!(c.standard, Standard::A | Standard::G);
                    (is_legacy && c.streams > 1).then_some("needs 802.11n or 802.11ac: OFDM has one stream")
                }),
        ]
    }
}

/// The reaction to a block acknowledgement that did not come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MissingBlockAck {
    /// The packets are repeated, as Linux does.
    Repeat,
    /// The station asks for the acknowledgement in an exchange of its own, as ns-3 does.
    Ask,
}

/// The origin of agreements about block acknowledgements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockAckAgreement {
    /// They hold from the start, where packets can be aggregated.
    Aggregates,
    /// Stations negotiate them, at rates without aggregates, too, as ns-3 does.
    Ns3,
}

/// A radio: its power, its receiver and its MAC.
#[derive(Clone, PartialEq, Debug)]
pub struct Radio {
    /// Power that it sends, in dBm.
    pub power: f64,
    /// Gain of its antenna, both ways, in dB.
    pub gain: f64,
    /// Noise that its receiver adds, in dB.
    pub noise_figure: f64,
    /// The weakest signal that it notices at all, in dBm.
    pub sensitivity: f64,
    /// The weakest preamble that it detects, in dBm.
    pub detection: f64,
    /// The ratio of signal to interference and noise that a preamble needs, in dB.
    pub detection_snr: f64,
    /// The power of frames that makes the medium busy, whether or not they are understood, in dBm.
    pub carrier_sense: f64,
    /// The energy of any kind that makes the medium busy, in dBm.
    pub energy_detection: f64,
    /// Whether a much stronger frame takes the place of one that has just started.
    pub capture: bool,
    /// How much stronger it has to be, in dB.
    pub capture_margin: f64,
    /// The rate of data.
    pub rate: String,
    /// The way in which the rate of data is chosen; only a fixed one is `rate`. Scenarios give it beside the other settings.
    pub rate_control: RateControl,
    /// The rate of broadcasts.
    pub broadcast_rate: String,
    /// The transmissions of a frame after which it is given up.
    pub tries: u32,
    /// The frames longer than this ask for the medium first, in bytes.
    pub rts_threshold: u32,
    /// The most bytes of an A-MPDU; 0 for none.
    pub aggregation: f64,
    /// The reaction to a block acknowledgement that did not come.
    pub missing_block_ack: MissingBlockAck,
    /// The origin of agreements about block acknowledgements.
    pub block_ack_agreement: BlockAckAgreement,
    /// The access class of packets of flows, where the medium has classes.
    pub access_class: Class,
    /// The parameters of the classes, where the medium has classes.
    pub edca: Edca,
    /// The frames that may wait.
    pub queue: u32,
    /// How long a frame may wait.
    pub lifetime: Duration,
}

impl Default for Radio {
    /// As ns-3.37 has it.
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
            tries: 7,
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

/// A threshold that no signal would ever be near.
const BELOW: &str = "is below the sensitivity; raise it, or lower the sensitivity";

impl Described for Radio {
    const ABOUT: &'static str =
        "A radio of 802.11: its power, its receiver and its MAC. The defaults are those of ns-3.37.";

    fn settings() -> Vec<Setting<Self>> {
        let level = |key, at| Setting::quantity(key, at, Unit::Dbm, -150.0, 60.0);
        let ratio = |key, at, least, most| Setting::quantity(key, at, Unit::Decibel, least, most);
        vec![
            level("power", |c: &mut Self| &mut c.power).about("Power that it sends, in dBm."),
            ratio("gain", |c: &mut Self| &mut c.gain, -50.0, 60.0).about("Gain of its antenna, both ways, in dB."),
            ratio("noise_figure", |c: &mut Self| &mut c.noise_figure, 0.0, 50.0)
                .about("Noise that its receiver adds, in dB."),
            level("sensitivity", |c: &mut Self| &mut c.sensitivity)
                .about("The weakest signal that it notices at all, in dBm."),
            level("detection", |c: &mut Self| &mut c.detection)
                .about("The weakest preamble that it detects, in dBm.")
                .checked(|c| (c.detection < c.sensitivity).then_some(BELOW)),
            ratio("detection_snr", |c: &mut Self| &mut c.detection_snr, -50.0, 60.0)
                .about("The ratio of signal to interference and noise that a preamble needs, in dB."),
            level("carrier_sense", |c: &mut Self| &mut c.carrier_sense)
                .about("The power of frames that makes the medium busy, whether or not they are understood, in dBm.")
                .checked(|c| (c.carrier_sense < c.sensitivity).then_some(BELOW)),
            level("energy_detection", |c: &mut Self| &mut c.energy_detection)
                .about("The energy of any kind that makes the medium busy, in dBm.")
                .checked(|c| (c.energy_detection < c.sensitivity).then_some(BELOW)),
            Setting::flag("capture", |c: &mut Self| &mut c.capture)
                .about("Whether a much stronger frame takes the place of one that has just started."),
            ratio("capture_margin", |c: &mut Self| &mut c.capture_margin, 0.0, 60.0)
                .about("How much stronger it has to be, in dB."),
            Setting::text("rate", |c: &mut Self| &mut c.rate, "a rate").about("The rate of data."),
            Setting::text("broadcast_rate", |c: &mut Self| &mut c.broadcast_rate, "a rate")
                .about("The rate of broadcasts."),
            Setting::count("tries", |c: &mut Self| &mut c.tries, 255, "a number of transmissions", "")
                .about("The transmissions of a frame after which it is given up."),
            Setting::count("rts_threshold", |c: &mut Self| &mut c.rts_threshold, 65_535, "a number of bytes", "")
                .about("The frames longer than this ask for the medium first, in bytes."),
            Setting::number("aggregation", |c: &mut Self| &mut c.aggregation, 0, LONGEST_AGGREGATE.0 as f64)
                .about("The most bytes of an A-MPDU; 0 for none."),
            Setting::word(
                "missing_block_ack",
                "a way to go on",
                &["repeat", "ask"],
                |c: &Self| c.missing_block_ack as usize,
                |c, index| c.missing_block_ack = [MissingBlockAck::Repeat, MissingBlockAck::Ask][index],
            )
            .about("The reaction to a block acknowledgement that did not come."),
            Setting::word(
                "block_ack_agreement",
                "an origin of agreements",
                &["aggregates", "ns3"],
                |c: &Self| c.block_ack_agreement as usize,
                |c, index| c.block_ack_agreement = [BlockAckAgreement::Aggregates, BlockAckAgreement::Ns3][index],
            )
            .about(
                "Agreements about block acknowledgements: from the start where packets can be aggregated, or negotiated at every rate \
                 (as in ns-3, with 802.11n and 802.11ac).",
            ),
            Setting::word(
                "access_class",
                "an access class",
                &Class::NAMES,
                |c: &Self| c.access_class as usize,
                |c, index| c.access_class = Class::ALL[index],
            )
            .about("The access class of packets of flows, where the medium has classes."),
            Setting::table(
                "edca",
                |c: &mut Self| &mut c.edca,
                Edca::settings,
                || parameters(Edca::settings()),
                "{ voice = { cw_min = 3, cw_max = 7 } }",
            )
            .about("The parameters of the classes, where the medium has classes."),
            Setting::count("queue", |c: &mut Self| &mut c.queue, 1_000_000, "a number of frames", "")
                .about("The frames that may wait."),
            Setting::time("lifetime", |c: &mut Self| &mut c.lifetime).about("How long a frame may wait."),
        ]
    }
}

impl Radio {
    /// Whether a radio with these settings can be on such a medium.
    ///
    /// # Errors
    /// The key that does not fit, and the reason.
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

    /// The slowest and the fastest mode of data: one where the rate is fixed.
    ///
    /// # Errors
    /// If it is fixed at a rate that the medium does not have.
    pub fn data_modes(&self, medium: &MediumConfig) -> Result<[Mode; 2], ModeError> {
        let capabilities = medium.capabilities();
        if matches!(self.rate_control, RateControl::Fixed(_)) {
            return capabilities.mode(&self.rate).map(|mode| [mode; 2]);
        }
        let modes = self.rate_control.modes(capabilities);
        Ok([modes[0], modes[modes.len() - 1]])
    }

    /// The modes of data and of broadcasts.
    ///
    /// # Panics
    /// If [`Self::check`] refuses the radio.
    pub(crate) fn modes(&self, medium: &MediumConfig) -> [Mode; 2] {
        let capabilities = medium.capabilities();
        [&self.rate, &self.broadcast_rate].map(|name| capabilities.mode(name).expect("the radio was checked"))
    }
}

/// A station of a medium.
#[derive(Clone, Debug)]
pub struct StationConfig {
    /// Its name, for random streams.
    pub name: String,
    /// The way that it takes.
    pub motion: Motion,
    /// Its radio.
    pub radio: Radio,
}
