//! Names of modes, "24 Mbit/s" or "mcs7", and their names in ns-3, "OfdmRate24Mbps", "HtMcs7" and "VhtMcs8".

use super::mode::{Band, Capabilities, Format, Guard, LEGACY_MBPS, PhyMode, Standard, Width};
use std::fmt;

/// The reason why a text is not the name of a mode that a station can send, with a valid one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModeError(String);

impl fmt::Display for ModeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ModeError {}

impl fmt::Display for PhyMode {
    /// Writes the name of the mode in ns-3. For VHT with several streams, the number of streams follows.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let index = self.index();
        match (self.format(), self.band(), self.streams()) {
            (Format::Legacy, Band::Ghz5, _) => write!(f, "OfdmRate{}Mbps", LEGACY_MBPS[index]),
            (Format::Legacy, Band::Ghz2, _) => write!(f, "ErpOfdmRate{}Mbps", LEGACY_MBPS[index]),
            (Format::Ht, _, streams) => write!(f, "HtMcs{}", index as u32 + 8 * (streams - 1)),
            (Format::Vht, _, 1) => write!(f, "VhtMcs{index}"),
            (Format::Vht, _, streams) => write!(f, "VhtMcs{index}x{streams}"),
        }
    }
}

impl fmt::Display for Standard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::A => "802.11a",
            Self::G => "802.11g",
            Self::N => "802.11n",
            Self::Ac => "802.11ac",
        })
    }
}

impl Capabilities {
    /// Returns the mode with this name.
    ///
    /// An OFDM rate is "24 Mbit/s", "OfdmRate24Mbps" or "ErpOfdmRate24Mbps". An MCS is "mcs7", "HtMcs7" or "VhtMcs7";
    /// for VHT, the number of streams follows if it differs from the station's: "VhtMcs7x1".
    ///
    /// # Errors
    /// If no mode has this name, or the station cannot send it.
    pub fn mode(self, name: &str) -> Result<PhyMode, ModeError> {
        if let Some(number) = ["VhtMcs", "HtMcs", "mcs"].iter().find_map(|prefix| name.strip_prefix(prefix)) {
            return self.mcs(name, number);
        }
        let ns3 = |prefix| name.strip_prefix(prefix)?.strip_suffix("Mbps");
        let plain = || ["Mbit/s", "Mbps"].iter().find_map(|unit| name.strip_suffix(unit)).map(str::trim_end);
        let rate = ns3("ErpOfdmRate").or_else(|| ns3("OfdmRate")).or_else(plain);
        let mode = rate.and_then(|rate| rate.parse().ok()).and_then(|rate| PhyMode::legacy(rate, self.band));
        mode.ok_or_else(|| ModeError(format!("{name:?} is not a rate such as {}", self.examples())))
    }

    fn examples(self) -> &'static str {
        match self.standard {
            Standard::A | Standard::G => "\"24 Mbit/s\" (6, 9, 12, 18, 24, 36, 48, 54)",
            Standard::N => "\"HtMcs7\" or \"24 Mbit/s\"",
            Standard::Ac => "\"VhtMcs7\" or \"24 Mbit/s\"",
        }
    }

    /// Returns the mode of the MCS with this number; `name` is the entire name, for messages.
    fn mcs(self, name: &str, number: &str) -> Result<PhyMode, ModeError> {
        let Self { standard, band, width, guard, streams } = self;
        let error = |reason: &str| Err(ModeError(format!("{name:?} {reason}")));
        match standard {
            Standard::A | Standard::G => {
                return error(&format!(
                    "is not a valid rate of {standard}; use {}, or standard = \"802.11n\"",
                    self.examples()
                ));
            }
            Standard::N if name.starts_with("Vht") => {
                return error("needs standard = \"802.11ac\", or use \"HtMcs7\"");
            }
            Standard::Ac if name.starts_with("Ht") => {
                return error("needs standard = \"802.11n\", or use \"VhtMcs7\"");
            }
            Standard::N | Standard::Ac => {}
        }
        let (number, given) = match number.split_once('x') {
            Some((number, given)) => (number, given.parse::<u8>().ok()),
            None => (number, Some(streams)),
        };
        let max_mcs = if standard == Standard::Ac { 9 } else { 8 * streams - 1 };
        let (Ok(mcs), Some(given)) = (number.parse::<u8>(), given) else {
            return error(&format!("is not a rate such as {}", self.examples()));
        };
        if mcs > max_mcs || given > streams {
            return error(&format!(
                "is not a valid MCS of {standard} with streams = {streams}; the maximum is {max_mcs}"
            ));
        }
        let mode = match standard {
            Standard::Ac => PhyMode::vht(mcs, given, width, guard),
            _ => PhyMode::ht(mcs, width, guard, band),
        };
        mode.map_or_else(
            || {
                let streams = if given == 1 { "one stream".to_owned() } else { format!("{given} streams") };
                error(&format!("does not exist at {} MHz with {streams}; use MCS {}", width.mhz(), mcs - 1))
            },
            Ok,
        )
    }
}

impl Standard {
    /// Names of the standards in scenarios, in the order of [`Standard::ALL`].
    pub const NAMES: [&'static str; 4] = ["802.11a", "802.11g", "802.11n", "802.11ac"];
    /// All standards.
    pub const ALL: [Self; 4] = [Self::A, Self::G, Self::N, Self::Ac];
}

impl Width {
    /// Names of the widths in scenarios, in the order of [`Width::ALL`].
    pub const NAMES: [&'static str; 3] = ["20 MHz", "40 MHz", "80 MHz"];
}

impl Guard {
    /// Names of the guard intervals in scenarios, in the order of [`Guard::ALL`].
    pub const NAMES: [&'static str; 3] = ["long", "short", "short-unrounded"];
    /// All guard intervals.
    pub const ALL: [Self; 3] = [Self::Long, Self::Short, Self::ShortUnrounded];
}

#[cfg(test)]
mod tests {
    use super::*;

    fn station(standard: Standard, streams: u8) -> Capabilities {
        let band = if standard == Standard::G { Band::Ghz2 } else { Band::Ghz5 };
        Capabilities { standard, band, width: Width::Mhz20, guard: Guard::Long, streams }
    }

    #[test]
    fn every_mode_reads_back_from_its_name() {
        for standard in Standard::ALL {
            let station = station(standard, 1);
            for mode in station.modes() {
                assert_eq!(station.mode(&mode.to_string()), Ok(mode), "{mode}");
            }
        }
        let station = station(Standard::N, 3);
        assert!(station.modes().into_iter().all(|mode| station.mode(&mode.to_string()) == Ok(mode)));
    }

    #[test]
    fn several_names_mean_one_mode() {
        let n = station(Standard::N, 2);
        for name in ["24 Mbit/s", "24Mbit/s", "24 Mbps", "OfdmRate24Mbps", "ErpOfdmRate24Mbps"] {
            assert_eq!(n.mode(name), Ok(PhyMode::legacy(24, Band::Ghz5).unwrap()), "{name}");
        }
        assert_eq!(n.mode("mcs15"), n.mode("HtMcs15"));
        assert_eq!(n.mode("mcs15").unwrap().streams(), 2);
        let ac = station(Standard::Ac, 2);
        assert_eq!(ac.mode("VhtMcs8").unwrap().to_string(), "VhtMcs8x2");
        assert_eq!(ac.mode("VhtMcs8x1").unwrap().to_string(), "VhtMcs8");
    }

    #[test]
    fn wrong_names_are_reported_with_the_valid_ones() {
        let message = |standard, name: &str| station(standard, 1).mode(name).unwrap_err().to_string();
        assert!(message(Standard::A, "11 Mbit/s").contains("24 Mbit/s"));
        assert!(message(Standard::A, "HtMcs7").contains("standard = \"802.11n\""));
        assert!(message(Standard::N, "VhtMcs7").contains("standard = \"802.11ac\""));
        assert!(message(Standard::N, "HtMcs8").contains("the maximum is 7"));
        assert!(message(Standard::Ac, "VhtMcs9").contains("does not exist at 20 MHz"));
        assert!(message(Standard::Ac, "mcs10").contains("the maximum is 9"));
        assert!(message(Standard::N, "fast").contains("HtMcs7"));
        assert!(message(Standard::N, "mcs").contains("HtMcs7"));
    }
}
