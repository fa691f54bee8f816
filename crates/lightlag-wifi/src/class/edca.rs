//! EDCA parameters of the access classes.

use super::Class;
use lightlag_core::Duration;
use lightlag_core::params::{Parameter, Setting, parameters_of};
use std::sync::Arc;

/// EDCA parameters of one class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parameters {
    /// Number of slots between SIFS and the first slot of a backoff.
    pub aifsn: u32,
    /// Minimum contention window.
    pub cw_min: u32,
    /// Maximum contention window.
    pub cw_max: u32,
    /// Maximum duration of a transmission opportunity; zero limits it to one exchange.
    pub txop: Duration,
}

/// EDCA parameters of all classes. The defaults are from table 9-155, for OFDM.
#[derive(Clone, Debug, Default)]
pub struct Edca {
    /// Parameters of all classes, if at least one differs from the default. Shared by all radios with the same
    /// settings.
    changed: Option<Arc<[Parameters; 4]>>,
}

/// Bounds of the fields of an EDCA parameter set (§9.4.2.28): ECWmin and ECWmax have 4 bits, AIFSN has 4 bits and is at
/// least 2, and the TXOP limit has 16 bits in units of 32 µs.
const WIDEST: u32 = (1 << 15) - 1;
const AIFSN: (u32, u32) = (2, 15);
const LONGEST_TXOP: Duration = Duration::from_micros(32 * 65_535);

const EXAMPLE: &str = "{ cw_min = 3, cw_max = 7 }";

impl PartialEq for Edca {
    fn eq(&self, other: &Self) -> bool {
        self.all() == other.all()
    }
}

impl Parameters {
    fn settings() -> Vec<Setting<Self>> {
        let window = |key, at| Setting::count(key, at, WIDEST, "a contention window", "");
        vec![
            Setting::count("aifsn", |of: &mut Self| &mut of.aifsn, AIFSN.1, "a number of slots", "")
                .about("Slots between SIFS and the first slot of a backoff."),
            window("cw_min", |of: &mut Self| &mut of.cw_min).about("Minimum contention window."),
            window("cw_max", |of: &mut Self| &mut of.cw_max).about("Maximum contention window."),
            Setting::time_or_zero("txop", |of: &mut Self| &mut of.txop).about(
                "Maximum transmission time of a station after it gained access to the medium; zero for one exchange.",
            ),
        ]
    }

    /// Returns the index in a row of `KEYS` of a parameter that is invalid, and a message with the valid range.
    fn refusal(self) -> Option<(usize, String)> {
        let Self { aifsn, cw_min, cw_max, txop } = self;
        if aifsn < AIFSN.0 {
            return Some((0, format!("{aifsn} is below {}, the minimum of a station; write {}", AIFSN.0, AIFSN.0)));
        }
        for (index, window) in [(1, cw_min), (2, cw_max)] {
            if !(window + 1).is_power_of_two() {
                let right = (window + 1).next_power_of_two() - 1;
                let message = format!("{window} is not one less than a power of two; write {right}, or {}", right / 2);
                return Some((index, message));
            }
        }
        if cw_max < cw_min {
            return Some((2, format!("{cw_max} is below cw_min = {cw_min}; write {cw_min} or more")));
        }
        (txop > LONGEST_TXOP).then(|| (3, format!("{txop} is above {LONGEST_TXOP}, the maximum TXOP limit")))
    }
}

/// Keys in the settings of a radio, by class and parameter.
const KEYS: [[&str; 4]; 4] = [
    ["edca.best-effort.aifsn", "edca.best-effort.cw_min", "edca.best-effort.cw_max", "edca.best-effort.txop"],
    ["edca.background.aifsn", "edca.background.cw_min", "edca.background.cw_max", "edca.background.txop"],
    ["edca.video.aifsn", "edca.video.cw_min", "edca.video.cw_max", "edca.video.txop"],
    ["edca.voice.aifsn", "edca.voice.cw_min", "edca.voice.cw_max", "edca.voice.txop"],
];

impl Edca {
    /// Returns the parameters of a class.
    pub fn of(&self, class: Class) -> Parameters {
        self.changed.as_ref().map_or_else(|| class.parameters(), |of| of[class.index()])
    }

    /// Returns these parameters, with the parameters of one class replaced.
    #[must_use]
    pub fn with(mut self, class: Class, parameters: Parameters) -> Self {
        self.all_mut()[class.index()] = parameters;
        self
    }

    fn all(&self) -> [Parameters; 4] {
        Class::ALL.map(|class| self.of(class))
    }

    fn all_mut(&mut self) -> &mut [Parameters; 4] {
        let usual = || Arc::new(Class::ALL.map(Class::parameters));
        Arc::make_mut(self.changed.get_or_insert_with(usual))
    }

    /// Returns the key of an invalid parameter of the radio, and a message with a valid value.
    pub(crate) fn refusal(&self) -> Option<(&'static str, String)> {
        self.all().iter().zip(KEYS).find_map(|(of, keys)| of.refusal().map(|(place, message)| (keys[place], message)))
    }

    pub(crate) fn settings() -> Vec<Setting<Self>> {
        let defaults: [fn() -> Vec<Parameter>; 4] = [
            || parameters_of(Parameters::settings(), &Class::ALL[0].parameters()),
            || parameters_of(Parameters::settings(), &Class::ALL[1].parameters()),
            || parameters_of(Parameters::settings(), &Class::ALL[2].parameters()),
            || parameters_of(Parameters::settings(), &Class::ALL[3].parameters()),
        ];
        let accessors: [fn(&mut Self) -> &mut Parameters; 4] = [
            |of: &mut Self| &mut of.all_mut()[0],
            |of: &mut Self| &mut of.all_mut()[1],
            |of: &mut Self| &mut of.all_mut()[2],
            |of: &mut Self| &mut of.all_mut()[3],
        ];
        let table = |class: usize| {
            Setting::table(Class::NAMES[class], accessors[class], Parameters::settings, defaults[class], EXAMPLE)
                .about("Parameters of this access class (802.11 §10.2.3.2).")
        };
        (0..4).map(table).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(change: impl Fn(&mut Parameters)) -> Option<(&'static str, String)> {
        let mut voice = Edca::default().of(Class::Voice);
        change(&mut voice);
        Edca::default().with(Class::Voice, voice).refusal()
    }

    #[test]
    fn parameters_have_the_bounds_of_their_fields() {
        assert_eq!(refused(|_| {}), None);
        assert_eq!(refused(|of| (of.cw_min, of.cw_max) = (1, WIDEST)), None);
        let refuses = |change: fn(&mut Parameters), key: &str, fragment: &str| {
            let (found, message) = refused(change).unwrap();
            assert!(found == key && message.contains(fragment), "{found}: {message} beside {key}: {fragment}");
        };
        refuses(|of| of.aifsn = 1, "edca.voice.aifsn", "1 is below 2");
        refuses(|of| of.cw_min = 4, "edca.voice.cw_min", "4 is not one less than a power of two; write 7, or 3");
        refuses(|of| of.cw_max = 8, "edca.voice.cw_max", "write 15, or 7");
        refuses(|of| of.cw_max = 1, "edca.voice.cw_max", "1 is below cw_min = 3; write 3 or more");
        refuses(|of| of.txop = Duration::from_secs(3), "edca.voice.txop", "3 s is above 2.09712 s");
    }

    #[test]
    fn keys_match_the_settings() {
        for (class, keys) in KEYS.iter().enumerate() {
            for (setting, key) in Parameters::settings().iter().zip(keys) {
                assert_eq!(*key, format!("edca.{}.{}", Class::NAMES[class], setting.key));
            }
        }
    }
}
