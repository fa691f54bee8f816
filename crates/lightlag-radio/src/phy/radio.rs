//! A radio: powers, thresholds, and the modes that it can send.

use super::error_model::ErrorModel;
use super::mode::{Band, Capabilities, Guard, MOST_STREAMS, Standard, Width};
use crate::propagation::decibels::ratio;
use lightlag_core::Unit;
use lightlag_net::setting::{Described, Setting};

/// Parameters of a radio.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Radio {
    /// The amendment.
    pub standard: Standard,
    /// The centre of the channel, in hertz.
    pub frequency: f64,
    /// The width of the channel.
    pub width: Width,
    /// The guard interval of HT and VHT.
    pub guard: Guard,
    /// The most spatial streams.
    pub streams: u32,
    /// The power of the sender, in dBm.
    pub tx_power: f64,
    /// The gain of the antenna when it sends, in dB.
    pub tx_gain: f64,
    /// The gain of the antenna when it receives, in dB.
    pub rx_gain: f64,
    /// The noise that the receiver adds, in dB.
    pub noise_figure: f64,
    /// Weaker frames are not noticed, not even as interference, in dBm.
    pub sensitivity: f64,
    /// A stronger signal of any kind makes the medium busy, in dBm.
    pub energy_detection: f64,
    /// Whether a preamble must be strong and clear to be detected.
    pub preamble_detection: bool,
    /// The least power of a preamble, in dBm.
    pub preamble_power: f64,
    /// The least SINR of a preamble, in dB.
    pub preamble_snr: f64,
    /// Whether a much stronger newcomer takes the place of the frame that is being received.
    pub capture: bool,
    /// The least advantage of that newcomer, in dB.
    pub capture_margin: f64,
    /// The errors of frames.
    pub errors: ErrorModel,
}

impl Default for Radio {
    /// 802.11a as ns-3.30.1 has it, the last one before its helpers took other errors.
    fn default() -> Self {
        Self {
            standard: Standard::A,
            frequency: 5.18e9,
            width: Width::Mhz20,
            guard: Guard::Long,
            streams: 1,
            tx_power: 16.0206,
            tx_gain: 0.0,
            rx_gain: 0.0,
            noise_figure: 7.0,
            sensitivity: -101.0,
            energy_detection: -62.0,
            preamble_detection: true,
            preamble_power: -82.0,
            preamble_snr: 4.0,
            capture: false,
            capture_margin: 5.0,
            errors: ErrorModel::Nist,
        }
    }
}

/// The largest power of a sender, in dBm.
const MOST_POWER: f64 = 60.0;

impl Described for Radio {
    const ABOUT: &'static str = "A radio of 802.11a, g, n or ac. Its powers and thresholds have the defaults of ns-3; errors names the \
         model of errors: ns-3 took nist up to 3.32 and table-bcc or table-ldpc since.";

    fn settings() -> Vec<Setting<Self>> {
        let power = |key, at, most| Setting::<Self>::quantity(key, at, Unit::Dbm, -200.0, most);
        let ratio = |key, at, least| Setting::<Self>::quantity(key, at, Unit::Decibel, least, 60.0);
        vec![
            Setting::word(
                "standard",
                "an amendment of 802.11",
                &Standard::NAMES,
                |of: &Self| of.standard as usize,
                |of, index| of.standard = Standard::ALL[index],
            ),
            Setting::quantity("frequency", |of: &mut Self| &mut of.frequency, Unit::Hertz, 2.4e9, 5.925e9)
                .checked(Self::band_error),
            Setting::word(
                "width",
                "a width",
                &Width::NAMES,
                |of: &Self| of.width as usize,
                |of, index| of.width = Width::ALL[index],
            )
            .checked(Self::width_error),
            Setting::word(
                "guard",
                "a guard interval",
                &Guard::NAMES,
                |of: &Self| of.guard as usize,
                |of, index| of.guard = Guard::ALL[index],
            )
            .checked(Self::guard_error),
            Setting::count(
                "streams",
                |of: &mut Self| &mut of.streams,
                u32::from(MOST_STREAMS),
                "a number of streams",
                "",
            )
            .checked(Self::streams_error),
            power("tx_power", |of| &mut of.tx_power, MOST_POWER),
            ratio("tx_gain", |of| &mut of.tx_gain, -60.0),
            ratio("rx_gain", |of| &mut of.rx_gain, -60.0),
            ratio("noise_figure", |of| &mut of.noise_figure, 0.0),
            power("sensitivity", |of| &mut of.sensitivity, MOST_POWER),
            power("energy_detection", |of| &mut of.energy_detection, MOST_POWER).checked(|of| {
                (of.energy_detection < of.sensitivity)
                    .then_some("must not be below sensitivity: a signal that is not noticed makes nothing busy")
            }),
            Setting::flag("preamble_detection", |of| &mut of.preamble_detection),
            power("preamble_power", |of| &mut of.preamble_power, MOST_POWER).checked(|of| {
                (of.preamble_power < of.sensitivity)
                    .then_some("must not be below sensitivity: a weaker frame is not noticed at all")
            }),
            ratio("preamble_snr", |of| &mut of.preamble_snr, -60.0),
            Setting::flag("capture", |of| &mut of.capture),
            ratio("capture_margin", |of| &mut of.capture_margin, 0.0),
            Setting::word(
                "errors",
                "a model of errors",
                &ErrorModel::NAMES,
                |of: &Self| ErrorModel::ALL.iter().position(|model| *model == of.errors).expect("all models are there"),
                |of, index| of.errors = ErrorModel::ALL[index],
            ),
        ]
    }
}

impl Radio {
    fn band_error(&self) -> Option<&'static str> {
        match (self.standard, Band::of(self.frequency)) {
            (_, None) => Some("is in no band of 802.11: 2.4 to 2.5 GHz, or 4.9 to 5.925 GHz"),
            (Standard::G, Some(Band::Ghz5)) => {
                Some("must be from 2.4 to 2.5 GHz with standard = \"g\", such as \"2.412 GHz\"")
            }
            (Standard::A | Standard::Ac, Some(Band::Ghz2)) => {
                Some("must be from 4.9 to 5.925 GHz with standard = \"a\" or \"ac\", such as \"5.18 GHz\"")
            }
            _ => None,
        }
    }

    fn width_error(&self) -> Option<&'static str> {
        match (self.standard, self.width) {
            (Standard::A | Standard::G, Width::Mhz40 | Width::Mhz80) => {
                Some("must be \"20 MHz\" with standard = \"a\" or \"g\"; wider channels need \"n\" or \"ac\"")
            }
            (Standard::N, Width::Mhz80) => {
                Some("must be \"20 MHz\" or \"40 MHz\" with standard = \"n\"; 80 MHz needs \"ac\"")
            }
            _ => None,
        }
    }

    fn guard_error(&self) -> Option<&'static str> {
        let is_legacy = matches!(self.standard, Standard::A | Standard::G);
        (is_legacy && self.guard != Guard::Long)
            .then_some("must be \"long\" with standard = \"a\" or \"g\"; a short guard interval needs \"n\" or \"ac\"")
    }

    fn streams_error(&self) -> Option<&'static str> {
        let is_legacy = matches!(self.standard, Standard::A | Standard::G);
        (is_legacy && self.streams != 1)
            .then_some("must be 1 with standard = \"a\" or \"g\"; several streams need \"n\" or \"ac\"")
    }

    /// The modes that it can send.
    ///
    /// # Panics
    /// If its frequency is in no band, which its settings refuse.
    pub fn capabilities(&self) -> Capabilities {
        let band = Band::of(self.frequency).expect("a frequency in a band");
        Capabilities {
            standard: self.standard,
            band,
            width: self.width,
            guard: self.guard,
            streams: self.streams as u8,
        }
    }

    /// Its noise in mW over the width of its channel.
    pub fn noise(&self) -> f64 {
        noise_floor(self.width, self.noise_figure)
    }
}

/// k·T·B·F in mW, at the 290 K of ns-3.
pub fn noise_floor(width: Width, noise_figure: f64) -> f64 {
    const BOLTZMANN: f64 = 1.380_649e-23;
    const TEMPERATURE: f64 = 290.0;
    BOLTZMANN * TEMPERATURE * width.hertz() * 1e3 * ratio(noise_figure)
}

/// A release of ns-3 whose defaults a radio takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Release {
    /// 3.30.1: errors after NIST.
    Ns3_30,
    /// 3.37: errors from link simulations, with the binary convolutional code.
    Ns3_37,
}

impl Radio {
    /// A radio of this standard with the defaults of a release of ns-3. Its helpers for Wi-Fi chose other errors from
    /// 3.33 on; the powers and thresholds stayed.
    pub fn of_ns3(release: Release, standard: Standard) -> Self {
        let errors = match release {
            Release::Ns3_30 => ErrorModel::Nist,
            Release::Ns3_37 => ErrorModel::Table(super::Coding::Bcc),
        };
        let (frequency, width) = match standard {
            Standard::G => (2.412e9, Width::Mhz20),
            Standard::A | Standard::N => (5.18e9, Width::Mhz20),
            Standard::Ac => (5.21e9, Width::Mhz80),
        };
        Self { standard, frequency, width, errors, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::propagation::decibels::decibels;

    /// The key and the message of each setting that does not go with those before it.
    fn errors(radio: Radio) -> Vec<(&'static str, &'static str)> {
        let checks = Radio::settings().into_iter().filter_map(|of| Some((of.key, (of.check)(&radio)?)));
        checks.collect()
    }

    #[test]
    fn the_noise_floor_is_that_of_ns_3() {
        assert!((decibels(Radio::default().noise()) + 93.97).abs() < 0.01);
        let wide = Radio { width: Width::Mhz40, ..Radio::default() };
        assert!((wide.noise() / Radio::default().noise() - 2.0).abs() < 1e-12);
        // 44 m at the exponent 3: 16.0206 − 95.9813 + 93.97 = 14.01 dB
        assert!((16.0206 - 95.9813 - decibels(Radio::default().noise()) - 14.0).abs() < 0.02);
    }

    #[test]
    fn defaults_and_presets_go_together() {
        assert_eq!(errors(Radio::default()), []);
        for release in [Release::Ns3_30, Release::Ns3_37] {
            for standard in Standard::ALL {
                let radio = Radio::of_ns3(release, standard);
                assert_eq!(errors(radio), []);
                assert!(!radio.capabilities().modes().is_empty());
            }
        }
        assert_eq!(Radio::of_ns3(Release::Ns3_30, Standard::A), Radio::default());
    }

    #[test]
    fn bad_combinations_name_their_key_and_the_remedy() {
        let radio = Radio::default();
        let one = |radio| match errors(radio)[..] {
            [one] => one,
            ref all => panic!("{all:?}"),
        };
        let (key, message) = one(Radio { sensitivity: -50.0, preamble_power: -40.0, ..radio });
        assert!(key == "energy_detection" && message.contains("below sensitivity"));
        let (key, message) = one(Radio { guard: Guard::Short, ..radio });
        assert!(key == "guard" && message.contains("\"n\" or \"ac\""));
        let (key, message) = one(Radio { width: Width::Mhz40, ..radio });
        assert!(key == "width" && message.contains("20 MHz"));
        let (key, message) = one(Radio { standard: Standard::N, width: Width::Mhz80, ..radio });
        assert!(key == "width" && message.contains("\"ac\""));
        let (key, message) = one(Radio { standard: Standard::G, ..radio });
        assert!(key == "frequency" && message.contains("2.412 GHz"));
        let (key, _) = one(Radio { frequency: 3e9, ..radio });
        assert_eq!(key, "frequency");
        let (key, message) = one(Radio { streams: 2, ..radio });
        assert!(key == "streams" && message.contains("must be 1"));
        let (key, _) = one(Radio { preamble_power: -110.0, ..radio });
        assert_eq!(key, "preamble_power");
    }

    #[test]
    fn settings_refuse_powers_and_widths_that_no_radio_has() {
        use lightlag_net::setting::{Range, Value};
        let settings = Radio::settings();
        let power = settings.iter().find(|of| of.key == "tx_power").unwrap();
        assert!(matches!(power.range, Range::Quantity { unit: Unit::Dbm, most: 60.0, .. }));
        assert_eq!(power.get(&Radio::default()), Value::Number(16.0206));
        let mut radio = Radio::default();
        settings.iter().find(|of| of.key == "errors").unwrap().set(&mut radio, Value::Word(3));
        assert_eq!(radio.errors, ErrorModel::Table(crate::phy::Coding::Ldpc));
    }
}
