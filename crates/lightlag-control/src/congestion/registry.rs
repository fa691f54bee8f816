//! The algorithms by their names in a scenario, and their construction.

use super::about::{About, Deviation, Provenance, Signal};
use super::custom::{AlgorithmFactory, CUSTOM, CustomAlgorithm, Origin};
use super::{CongestionControl, ConnectionStart, Needs, Probes};
use lightlag_core::forms;
use lightlag_core::params::{Declared, Plain, PlainTable, Range, Setting, plain};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

/// Description of an algorithm.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct AlgorithmInfo {
    /// Name in a scenario.
    pub name: &'static str,
    /// Behaviour, in a paragraph.
    pub about: &'static str,
    /// Rules, one per line.
    pub equations: &'static [&'static str],
    /// Parameters.
    pub parameters: Vec<Parameter>,
    /// Publication that defines the algorithm.
    pub source: &'static str,
    /// Year of the first publication.
    pub year: u16,
    /// Signal that the algorithm reacts to.
    pub signal: Signal,
    /// Faithfulness of the model to the publication.
    pub provenance: Provenance,
    /// Functions of the connection that the algorithm needs with its default parameters.
    pub needs: Vec<&'static str>,
    /// Behaviour, constants and limits beyond the equations, as Markdown.
    pub details: &'static str,
    /// Variants: the value of the parameter that selects each, and its differences as Markdown.
    pub variants: &'static [(&'static str, &'static str)],
    /// Differences from the source.
    pub deviations: &'static [Deviation],
    /// Properties that tests compare with the source or with a closed form.
    pub checks: &'static str,
    /// Parts of the source that the model leaves out; empty if none is known.
    pub not_modelled: &'static str,
}

/// Description of a parameter.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Parameter {
    /// Key in a scenario.
    pub name: &'static str,
    /// Default value.
    pub default: String,
    /// Unit; empty for a number without a unit, a keyword or a switch.
    pub unit: &'static str,
    /// Effect of the parameter.
    pub meaning: &'static str,
    /// Allowed values.
    pub range: String,
}

impl Parameter {
    fn of<C: Algorithm>(setting: &Setting<C>) -> Self {
        Self {
            name: setting.key,
            default: setting.default_in_words(&C::default()),
            unit: if matches!(setting.range, Range::Time { .. }) { "time" } else { setting.unit },
            meaning: setting.about,
            range: setting.range.in_words(),
        }
    }
}

/// Configuration of an algorithm: declares its parameters and builds the algorithm.
pub(super) trait Algorithm: Declared + PartialEq {
    const ABOUT: About;
    const PROVENANCE: Provenance = Provenance::Established;

    /// Value of [`Choice::fixed_needs`].
    const NEEDS: Needs = Needs::NONE;

    /// Whether the window starts at the initial window of the connection.
    const STARTS_AS_TOLD: bool = true;

    /// Value of [`Choice::draws`]. If false, [`build`] gives the algorithm the same seed in every run.
    const DRAWS: bool = false;

    /// Returns this configuration with the kernel's defaults, for the profile `linux`.
    fn in_linux(&self) -> Self {
        self.clone()
    }

    /// Returns this configuration with the defaults of the kernels in ns-2's TCP-Linux, for the profile `ns2-linux`.
    fn in_linux26(&self) -> Self {
        in_variant(self, "linux-2.6")
    }

    /// Returns this configuration with the rules of ns-3, for the profile `ns3`.
    fn in_ns3(&self) -> Self {
        in_variant(self, "ns3")
    }

    /// Checks conditions that the ranges of single parameters cannot express.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// Value of [`Choice::needs`], for algorithms in which it depends on parameters or ECN.
    fn needs(&self, _ecn: bool) -> Needs {
        Self::NEEDS
    }

    fn build(&self, start: &ConnectionStart) -> Box<dyn CongestionControl>;
}

macro_rules! algorithms {
    ($($variant:ident, $name:literal, $($module:ident)::+;)*) => {
        algorithms!(@ $($variant, $name, super::$($module)::+::Config;)*);
    };
    (@ $($variant:ident, $name:literal, $config:ty;)*) => {
        /// An algorithm and its parameters. In a scenario it is a name, `"cubic"`, or a table, `{ algorithm = "cubic",
        /// variant = "rfc8312" }`.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Choice {
            $(#[doc = concat!("`", $name, "`")] $variant($config),)*
            /// A custom algorithm.
            Custom(CustomAlgorithm),
        }

        /// Names of the algorithms.
        const NAMES: &[&str] = &[$($name),*];

        impl Choice {
            /// Returns the name of the algorithm.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)*
                    Self::Custom(custom) => custom.name(),
                }
            }

            fn read(name: &str, table: BTreeMap<String, Plain>) -> Result<Self, String> {
                match built_in(name) {
                    $(Some($name) => read::<$config>(table).map(Self::$variant),)*
                    _ => match CUSTOM.named(name) {
                        Some(custom) => custom.with(table).map(Self::Custom),
                        None => Err(UnknownAlgorithm(name.to_owned()).to_string()),
                    },
                }
            }

            /// Returns the algorithm; parameters that are left to the profile get the kernel's values.
            #[must_use]
            pub fn in_linux(&self) -> Self {
                match self {
                    $(Self::$variant(config) => Self::$variant(config.in_linux()),)*
                    Self::Custom(custom) => Self::Custom(custom.clone()),
                }
            }

            /// Returns the algorithm; parameters that are left to the profile get the values of Linux 2.6.
            #[must_use]
            pub fn in_linux26(&self) -> Self {
                match self {
                    $(Self::$variant(config) => Self::$variant(config.in_linux26()),)*
                    Self::Custom(custom) => Self::Custom(custom.clone()),
                }
            }

            /// Returns the algorithm; parameters that are left to the profile get the rules of ns-3.
            #[must_use]
            pub fn in_ns3(&self) -> Self {
                match self {
                    $(Self::$variant(config) => Self::$variant(config.in_ns3()),)*
                    Self::Custom(custom) => Self::Custom(custom.clone()),
                }
            }

            fn differences(&self) -> Vec<(&'static str, Plain)> {
                match self {
                    $(Self::$variant(config) => plain::differences(&<$config>::settings(), config),)*
                    Self::Custom(_) => Vec::new(),
                }
            }

            /// Returns everything that the algorithm needs besides its ACKs. `ecn`: whether the endpoints negotiated
            /// ECN.
            pub fn needs(&self, ecn: bool) -> Needs {
                match self {
                    $(Self::$variant(config) => config.needs(ecn),)*
                    Self::Custom(custom) => custom.parts().0.needs(),
                }
            }

            /// Returns the part of [`Self::needs`] that depends neither on parameters nor on ECN.
            pub fn fixed_needs(&self) -> Needs {
                match self {
                    $(Self::$variant(_) => <$config as Algorithm>::NEEDS,)*
                    Self::Custom(custom) => custom.parts().0.needs(),
                }
            }

            /// Returns true if the algorithm makes random decisions, so that another seed gives another result. True
            /// for a custom algorithm, as it may.
            pub fn draws(&self) -> bool {
                match self {
                    $(Self::$variant(_) => <$config as Algorithm>::DRAWS,)*
                    Self::Custom(_) => true,
                }
            }

            fn starts_as_told(&self) -> bool {
                match self {
                    $(Self::$variant(_) => <$config as Algorithm>::STARTS_AS_TOLD,)*
                    Self::Custom(_) => true,
                }
            }

            fn schemas() -> Vec<Schema> {
                vec![$(plain::schema("algorithm", $name, &<$config>::settings())),*]
            }
        }

        impl std::str::FromStr for Choice {
            type Err = UnknownAlgorithm;

            fn from_str(name: &str) -> Result<Self, UnknownAlgorithm> {
                match built_in(name) {
                    $(Some($name) => Ok(Self::$variant(<$config>::default())),)*
                    _ => CUSTOM.named(name).map(Self::Custom).ok_or_else(|| UnknownAlgorithm(name.to_owned())),
                }
            }
        }

        /// Builds the chosen algorithm at the start of a connection.
        pub fn build(choice: &Choice, start: &ConnectionStart) -> Box<dyn CongestionControl> {
            // Only an algorithm that declares its draws gets the seed of the run.
            let start = &ConnectionStart { seed: if choice.draws() { start.seed } else { 0 }, ..*start };
            match choice {
                $(Choice::$variant(config) => config.build(start),)*
                Choice::Custom(custom) => {
                    let (maker, values) = custom.parts();
                    Arc::clone(maker).build(start, values)
                }
            }
        }

        /// Returns the descriptions of all algorithms.
        pub fn catalog() -> &'static [AlgorithmInfo] {
            static CATALOG: LazyLock<Vec<AlgorithmInfo>> = LazyLock::new(|| vec![$(entry::<$config>($name)),*]);
            &CATALOG
        }
    };
}

// One line per algorithm: its variant of `Choice`, its name in a scenario, and its module, whose `Config` has its
// parameters.
algorithms! {
    Tahoe, "tahoe", tahoe;
    Reno, "reno", reno;
    NewReno, "newreno", new_reno;
    Bic, "bic", bic;
    Cubic, "cubic", cubic;
    Suss, "suss", suss;
    HighSpeed, "highspeed", highspeed;
    Scalable, "scalable", scalable;
    Htcp, "htcp", htcp;
    Illinois, "illinois", illinois;
    Vegas, "vegas", vegas;
    Veno, "veno", veno;
    Westwood, "westwood", westwood;
    WestwoodPlus, "westwood+", westwood_plus;
    WestwoodBr, "westwoodbr", westwood_br;
    Jersey, "jersey", jersey;
    Star, "star", star;
    Noordwijk, "noordwijk", noordwijk;
    Wave, "wave", wave;
    Yeah, "yeah", yeah;
    Fast, "fast", fast;
    Compound, "compound", compound;
    Ledbat, "ledbat", ledbat;
    Dctcp, "dctcp", dctcp;
    Hybla, "hybla", hybla;
    Bbr, "bbr", bbr;
    Bbr3, "bbr3", bbr3;
    LeoCc, "leocc", bbr::leocc;
    SatPipe, "satpipe", bbr::satpipe;
    Copa, "copa", copa;
    Peach, "peach", peach;
    PeachPlus, "peach+", peach::plus;
    NoControl, "none", none;
}

/// Names used in the literature, in lower case, without "TCP" before or after them; and the names in a scenario.
const ALIASES: &[(&str, &str)] = &[
    ("new-reno", "newreno"),
    ("hs", "highspeed"),
    ("hstcp", "highspeed"),
    ("high-speed", "highspeed"),
    ("stcp", "scalable"),
    ("h", "htcp"),
    ("ctcp", "compound"),
    ("j", "jersey"),
    ("tcpw", "westwood"),
    ("tcpw-br", "westwoodbr"),
    ("westwood-br", "westwoodbr"),
    ("westwoodplus", "westwood+"),
    ("westwood-plus", "westwood+"),
    ("peachplus", "peach+"),
    ("peach-plus", "peach+"),
    ("bbrv1", "bbr"),
    ("bbrv3", "bbr3"),
];

/// Returns the name in a scenario for a name used in the literature. Accepts upper and lower case, "TCP" before or
/// after the name, aliases, and the names of registered custom algorithms. `None` if the name is unknown.
///
/// # Examples
/// ```
/// use lightlag_control::congestion::canonical;
///
/// assert_eq!(canonical("TCP Hybla"), Some("hybla"));
/// assert_eq!(canonical("HSTCP"), Some("highspeed"));
/// assert_eq!(canonical("qubic"), None);
/// ```
pub fn canonical(name: &str) -> Option<&'static str> {
    built_in(name).or_else(|| CUSTOM.names().into_iter().find(|registered| *registered == name))
}

/// Registers a custom algorithm. It replaces a registered algorithm of the same name.
///
/// # Errors
/// If one of lightlag's own algorithms has the name.
pub fn register(maker: Arc<dyn AlgorithmFactory>) -> Result<(), String> {
    let name = maker.facts().name;
    if let Some(taken) = built_in(name) {
        return Err(format!("{name:?} is the name of an algorithm of lightlag, {taken}; choose another"));
    }
    CUSTOM.add(maker);
    Ok(())
}

/// Returns the names of all algorithms; registered custom ones come last.
pub fn names() -> Vec<&'static str> {
    NAMES.iter().copied().chain(CUSTOM.names()).collect()
}

/// As [`canonical`], but without registered custom algorithms.
fn built_in(name: &str) -> Option<&'static str> {
    let lower = name.trim().to_ascii_lowercase().replace([' ', '_'], "-");
    let registered = |word: &str| {
        let alias = ALIASES.iter().find(|(alias, _)| *alias == word).map(|(_, name)| *name);
        alias.or_else(|| NAMES.iter().copied().find(|name| *name == word))
    };
    let bare = || lower.strip_prefix("tcp-").or_else(|| lower.strip_suffix("-tcp"));
    // A single letter is a name only next to the word TCP.
    registered(&lower).filter(|_| lower.len() > 1).or_else(|| bare().and_then(registered))
}

fn read<C: Algorithm>(table: BTreeMap<String, Plain>) -> Result<C, String> {
    let config: C = plain::read(&C::settings(), table)?;
    config.check()?;
    Ok(config)
}

/// Returns an algorithm whose rules are left to the profile with the variant `rules`, if it has this variant; otherwise
/// an unchanged copy.
pub(super) fn in_variant<C: Algorithm>(config: &C, rules: &str) -> C {
    plain::decided(&C::settings(), config, "profile", rules)
}

fn entry<C: Algorithm>(name: &'static str) -> AlgorithmInfo {
    let About { about, equations, source, year, signal, details, variants, deviations, checks, not_modelled } =
        C::ABOUT;
    let parameters = C::settings().iter().map(Parameter::of::<C>).collect();
    let (provenance, needs) = (C::PROVENANCE, needs_in_words(C::default().needs(true)));
    AlgorithmInfo {
        name,
        about,
        equations,
        parameters,
        source,
        year,
        signal,
        provenance,
        needs,
        details,
        variants,
        deviations,
        checks,
        not_modelled,
    }
}

/// Returns in words which functions of the connection an algorithm needs.
fn needs_in_words(needs: Needs) -> Vec<&'static str> {
    let Needs {
        rate,
        rate_as_ns3: _,
        pacing,
        controls_recovery,
        restart_on_loss,
        exact_marks,
        probes,
        bursts,
        bulk_repeat,
        patience,
    } = needs;
    let all = [
        (rate, "a delivery-rate sample with each ACK"),
        (pacing, "pacing at a rate that the algorithm sets"),
        (controls_recovery, "its own window during fast recovery, without proportional rate reduction"),
        (restart_on_loss, "slow start after a loss, with all outstanding data retransmitted"),
        (exact_marks, "the exact echo of congestion marks by the receiver (RFC 8257)"),
        (probes == Probes::Last, "segments of low priority that repeat the last data"),
        (probes == Probes::Outstanding, "segments of low priority that repeat outstanding data"),
        (bursts, "bursts on a timer instead of a window"),
        (bulk_repeat, "the retransmission of all outstanding data after a link error"),
        (patience, "a timeout that can be postponed"),
    ];
    all.into_iter().filter_map(|(is_needed, words)| is_needed.then_some(words)).collect()
}

/// The keys of a table that select an algorithm: a name, the library of a plugin, or a Python class.
const SOURCES: [&str; 3] = ["algorithm", "plugin", "python"];

impl Choice {
    fn from_table(mut table: PlainTable) -> Result<Self, String> {
        let named = table.take_name(&SOURCES, "an algorithm")?;
        let (key, name) = named.ok_or("missing field `algorithm`")?;
        let origin = match key {
            "plugin" => Origin::Plugin(name),
            "python" => Origin::Python(name),
            _ => return Self::read(&name, table.0),
        };
        CUSTOM.in_file(&origin)?.with(table.0).map(Self::Custom)
    }

    /// Returns the algorithm `name` with its defaults. The name has to be known.
    ///
    /// # Panics
    /// If there is no such algorithm. Names of custom algorithms have to be parsed instead.
    pub fn named(name: &str) -> Self {
        name.parse().expect("the name of an algorithm")
    }

    /// Returns true if the algorithm has a window that losses reduce and that starts at a given size. This excludes
    /// models of the path, and algorithms with probes or with a recovery of their own.
    pub fn is_window_based(&self) -> bool {
        let needs = self.needs(false);
        self.starts_as_told() && needs == Needs { exact_marks: needs.exact_marks, ..Needs::NONE }
    }
}

impl Default for Choice {
    fn default() -> Self {
        Self::Cubic(super::cubic::Config::default())
    }
}

/// Error: no algorithm has this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownAlgorithm(pub String);

impl fmt::Display for UnknownAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Serde's phrase for a value that is not in a list.
        let known: Vec<String> = names().iter().map(|name| format!("`{name}`")).collect();
        write!(f, "unknown variant `{}`, expected one of {}", self.0, known.join(", "))
    }
}

impl std::error::Error for UnknownAlgorithm {}

forms! {
    Choice, "the name of an algorithm, such as \"cubic\", or a table { algorithm = \"cubic\", … }";
    text str::parse;
    read PlainTable: Choice::from_table;
}

impl Serialize for Choice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Self::Custom(custom) = self {
            return serializer.collect_map(custom.entries("algorithm"));
        }
        let different = self.differences();
        if different.is_empty() {
            return serializer.serialize_str(self.name());
        }
        let mut map = serializer.serialize_map(Some(different.len() + 1))?;
        map.serialize_entry("algorithm", self.name())?;
        for (key, value) in &different {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl JsonSchema for Choice {
    fn schema_name() -> Cow<'static, str> {
        "Choice".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut forms = vec![json_schema!({ "type": "string", "enum": NAMES })];
        forms.extend(Self::schemas());
        let files = [
            ("plugin", "A library with lightlag's C interface.", "libmine.so"),
            ("python", "A class in a Python file, compiled or not.", "mine.py:Mine"),
        ];
        let custom = |(key, description, example): (&str, &str, &str)| {
            json_schema!({
                "type": "object",
                "title": key,
                "description": "A custom algorithm, with its parameters as further keys.",
                "properties": {
                    key: { "type": "string", "description": description, "examples": [example] },
                    "code": { "type": "string", "description": "Digest of the code; other code is rejected." }
                },
                "required": [key]
            })
        };
        forms.extend(files.map(custom));
        json_schema!({
            "title": "Congestion",
            "description": "A congestion control: its name, or a table with its parameters.",
            "anyOf": forms
        })
    }
}

#[cfg(test)]
mod tests;
