//! The algorithms by name, as in a scenario, and their construction.

use super::own::{Maker, OUTSIDE, Origin, Own};
use super::{CongestionControl, Needs, Start};
use lightlag_core::params::{Plain, Setting, plain};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

/// The description of an algorithm.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Entry {
    /// Its name in a scenario.
    pub name: &'static str,
    /// Its behaviour, in a paragraph.
    pub about: &'static str,
    /// Its rules, one per line.
    pub equations: &'static [&'static str],
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// The publication.
    pub source: &'static str,
    /// The faithfulness of the model to that source.
    pub provenance: Provenance,
}

/// The description of a parameter.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Parameter {
    /// Its key in a scenario.
    pub name: &'static str,
    /// Its default.
    pub default: String,
    /// Its unit; empty for a number without one, a word or a switch.
    pub unit: &'static str,
    /// Its effect.
    pub meaning: &'static str,
    /// Its allowed values.
    pub range: String,
}

impl Parameter {
    fn of<C: Algorithm>(setting: &Setting<C>) -> Self {
        Self {
            name: setting.key,
            default: setting.default_in_words(&C::default()),
            unit: setting.unit,
            meaning: setting.about,
            range: setting.range.in_words(),
        }
    }
}

/// The faithfulness of a model to its publication.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// Rules and constants are those of a public text.
    Established,
    /// The public texts leave rules or constants open. Our own choices fill the gaps; the model's page names them.
    Reconstructed,
}

/// An algorithm's description of itself.
pub(super) struct About {
    pub about: &'static str,
    pub equations: &'static [&'static str],
    pub source: &'static str,
}

/// The configuration of an algorithm: it knows its parameters and builds it.
pub(super) trait Algorithm: Clone + Default + PartialEq {
    const ABOUT: About;
    const PROVENANCE: Provenance = Provenance::Established;

    /// [`Choice::fixed_needs`].
    const NEEDS: Needs = Needs::NONE;

    /// Whether its window starts at the initial window of the connection.
    const STARTS_AS_TOLD: bool = true;

    /// [`Choice::draws`]. Without it [`build`] gives the algorithm the same seed in every run.
    const DRAWS: bool = false;

    fn settings() -> Vec<Setting<Self>>;

    /// The kernel's defaults, used with the profile `linux`.
    fn in_linux(&self) -> Self {
        self.clone()
    }

    /// The defaults of the kernels in ns-2's TCP-Linux, used with the profile `ns2-linux`.
    fn in_linux26(&self) -> Self {
        in_variant(self, "linux-2.6")
    }

    /// The rules of ns-3, used with the profile `ns3`.
    fn in_ns3(&self) -> Self {
        in_variant(self, "ns3")
    }

    /// Checks conditions that the ranges of single parameters cannot express.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// [`Choice::needs`], if parameters or ECN affect it.
    fn needs(&self, _ecn: bool) -> Needs {
        Self::NEEDS
    }

    fn build(&self, start: &Start) -> Box<dyn CongestionControl>;
}

macro_rules! algorithms {
    ($($variant:ident, $name:literal, $($module:ident)::+;)*) => {
        algorithms!(@ $($variant, $name, super::$($module)::+::Config;)*);
    };
    (@ $($variant:ident, $name:literal, $config:ty;)*) => {
        /// A congestion control and its parameters. In a scenario it is a name, `"cubic"`, or a table,
        /// `{ algorithm = "cubic", variant = "rfc8312" }`.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Choice {
            $(#[doc = concat!("`", $name, "`")] $variant($config),)*
            /// One from outside.
            Own(Own),
        }

        /// The names of the algorithms.
        const NAMES: &[&str] = &[$($name),*];

        impl Choice {
            /// The algorithm's name.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)*
                    Self::Own(own) => own.name(),
                }
            }

            fn read(name: &str, table: BTreeMap<String, Plain>) -> Result<Self, String> {
                match built_in(name) {
                    $(Some($name) => read::<$config>(table).map(Self::$variant),)*
                    _ => match OUTSIDE.named(name) {
                        Some(own) => own.with(table).map(Self::Own),
                        None => Err(UnknownAlgorithm(name.to_owned()).to_string()),
                    },
                }
            }

            /// The algorithm with the kernel's values for parameters that are left to the profile.
            #[must_use]
            pub fn in_linux(&self) -> Self {
                match self {
                    $(Self::$variant(config) => Self::$variant(config.in_linux()),)*
                    Self::Own(own) => Self::Own(own.clone()),
                }
            }

            /// The algorithm with the values of Linux 2.6 for parameters that are left to the profile.
            #[must_use]
            pub fn in_linux26(&self) -> Self {
                match self {
                    $(Self::$variant(config) => Self::$variant(config.in_linux26()),)*
                    Self::Own(own) => Self::Own(own.clone()),
                }
            }

            /// The algorithm with the rules of ns-3 for parameters that are left to the profile.
            #[must_use]
            pub fn in_ns3(&self) -> Self {
                match self {
                    $(Self::$variant(config) => Self::$variant(config.in_ns3()),)*
                    Self::Own(own) => Self::Own(own.clone()),
                }
            }

            fn differences(&self) -> Vec<(&'static str, Plain)> {
                match self {
                    $(Self::$variant(config) => plain::differences(&<$config>::settings(), config),)*
                    Self::Own(_) => Vec::new(),
                }
            }

            /// All needs of the algorithm beyond its ACKs. `ecn`: the ends agreed on ECN.
            pub fn needs(&self, ecn: bool) -> Needs {
                match self {
                    $(Self::$variant(config) => config.needs(ecn),)*
                    Self::Own(own) => own.parts().0.needs(),
                }
            }

            /// The part of [`Self::needs`] that neither parameters nor ECN change.
            pub fn fixed_needs(&self) -> Needs {
                match self {
                    $(Self::$variant(_) => <$config as Algorithm>::NEEDS,)*
                    Self::Own(own) => own.parts().0.needs(),
                }
            }

            /// Whether it makes random decisions, so that another seed gives another result. A custom algorithm may.
            pub fn draws(&self) -> bool {
                match self {
                    $(Self::$variant(_) => <$config as Algorithm>::DRAWS,)*
                    Self::Own(_) => true,
                }
            }

            fn starts_as_told(&self) -> bool {
                match self {
                    $(Self::$variant(_) => <$config as Algorithm>::STARTS_AS_TOLD,)*
                    Self::Own(_) => true,
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
                    _ => OUTSIDE.named(name).map(Self::Own).ok_or_else(|| UnknownAlgorithm(name.to_owned())),
                }
            }
        }

        /// Builds the chosen algorithm at its start.
        pub fn build(choice: &Choice, start: &Start) -> Box<dyn CongestionControl> {
            // Only an algorithm that declares its draws gets the seed of the run.
            let start = &Start { seed: if choice.draws() { start.seed } else { 0 }, ..*start };
            match choice {
                $(Choice::$variant(config) => config.build(start),)*
                Choice::Own(own) => {
                    let (maker, values) = own.parts();
                    Arc::clone(maker).build(start, values)
                }
            }
        }

        /// The descriptions of all algorithms.
        pub fn catalog() -> &'static [Entry] {
            static CATALOG: LazyLock<Vec<Entry>> = LazyLock::new(|| vec![$(entry::<$config>($name)),*]);
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
    Copa, "copa", copa;
    Peach, "peach", peach;
    PeachPlus, "peach+", peach::plus;
    NoControl, "none", none;
}

/// Names used in the literature, in lower case and without a "TCP" before or after them.
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

/// The name in a scenario for a name used in the literature: in upper or lower case, with "TCP" before or after it, or an
/// alias; or the name of an algorithm from outside that is registered. None for an unknown name.
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
    built_in(name).or_else(|| OUTSIDE.names().into_iter().find(|registered| *registered == name))
}

/// Makes an algorithm from outside known by its name, in place of an earlier one with that name.
///
/// # Errors
/// If one of lightlag's own algorithms has the name.
pub fn register(maker: Arc<dyn Maker>) -> Result<(), String> {
    let name = maker.facts().name;
    if let Some(taken) = built_in(name) {
        return Err(format!("{name:?} is the name of an algorithm of lightlag, {taken}; choose another"));
    }
    OUTSIDE.add(maker);
    Ok(())
}

/// The names of all algorithms, those from outside that are registered at the end.
pub fn names() -> Vec<&'static str> {
    NAMES.iter().copied().chain(OUTSIDE.names()).collect()
}

/// As [`canonical`], of the algorithms of lightlag.
fn built_in(name: &str) -> Option<&'static str> {
    let lower = name.trim().to_ascii_lowercase().replace([' ', '_'], "-");
    let registered = |word: &str| {
        let alias = ALIASES.iter().find(|(alias, _)| *alias == word).map(|(_, name)| *name);
        alias.or_else(|| NAMES.iter().copied().find(|name| *name == word))
    };
    let bare = || lower.strip_prefix("tcp-").or_else(|| lower.strip_suffix("-tcp"));
    // A single letter is a name only beside the word TCP.
    registered(&lower).filter(|_| lower.len() > 1).or_else(|| bare().and_then(registered))
}

fn read<C: Algorithm>(table: BTreeMap<String, Plain>) -> Result<C, String> {
    let config: C = plain::read(&C::settings(), table)?;
    config.check()?;
    Ok(config)
}

/// An algorithm whose choice of rules is left to the profile, with the rules of this name, if it has them.
pub(super) fn in_variant<C: Algorithm>(config: &C, rules: &str) -> C {
    plain::decided(&C::settings(), config, "profile", rules)
}

fn entry<C: Algorithm>(name: &'static str) -> Entry {
    let About { about, equations, source } = C::ABOUT;
    let parameters = C::settings().iter().map(Parameter::of::<C>).collect();
    Entry { name, about, equations, parameters, source, provenance: C::PROVENANCE }
}

/// The keys of a table that name an algorithm: lightlag's or a registered one, the library of one, its Python class.
const SOURCES: [&str; 3] = ["algorithm", "plugin", "python"];

impl Choice {
    fn from(key: &str, name: String, table: BTreeMap<String, Plain>) -> Result<Self, String> {
        let origin = match key {
            "plugin" => Origin::Plugin(name),
            "python" => Origin::Python(name),
            _ => return Self::read(&name, table),
        };
        OUTSIDE.in_file(&origin)?.with(table).map(Self::Own)
    }

    /// The algorithm `name` with its defaults, for known names.
    ///
    /// # Panics
    /// If there is none. Names from outside must be parsed.
    pub fn named(name: &str) -> Self {
        name.parse().expect("the name of an algorithm")
    }

    /// Whether the algorithm has a window that losses reduce and that starts at a given size: no model of the path, no
    /// probes, no repair of its own.
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

/// A name that no algorithm has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownAlgorithm(pub String);

impl fmt::Display for UnknownAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Serde's phrase for a word that is not in a list.
        let known: Vec<String> = names().iter().map(|name| format!("`{name}`")).collect();
        write!(f, "unknown variant `{}`, expected one of {}", self.0, known.join(", "))
    }
}

impl std::error::Error for UnknownAlgorithm {}

impl<'de> Deserialize<'de> for Choice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameOrTable;
        impl<'de> Visitor<'de> for NameOrTable {
            type Value = Choice;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of an algorithm, such as \"cubic\", or a table { algorithm = \"cubic\", … }")
            }
            fn visit_str<E: Error>(self, name: &str) -> Result<Choice, E> {
                name.parse().map_err(E::custom)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Choice, A::Error> {
                let mut table = BTreeMap::new();
                while let Some((key, value)) = map.next_entry::<String, Plain>()? {
                    if table.insert(key.clone(), value).is_some() {
                        return Err(A::Error::custom(format_args!("the key {key:?} is there twice")));
                    }
                }
                let mut named = SOURCES.iter().filter_map(|key| Some((*key, table.remove(*key)?)));
                let (first, second) = (named.next(), named.next());
                drop(named);
                match (first, second) {
                    (Some((key, _)), Some((other, _))) => {
                        Err(A::Error::custom(format_args!("{key} and {other} both name an algorithm; keep one")))
                    }
                    (Some((key, Plain::Text(name))), None) => Choice::from(key, name, table).map_err(A::Error::custom),
                    (Some((key, other)), None) => {
                        Err(A::Error::custom(format_args!("{key}: {other} is not a name in quotes")))
                    }
                    (None, _) => Err(A::Error::missing_field("algorithm")),
                }
            }
        }
        deserializer.deserialize_any(NameOrTable)
    }
}

impl Serialize for Choice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Self::Own(own) = self {
            return serializer.collect_map(own.entries("algorithm"));
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
            ("plugin", "A library with the C interface of lightlag.", "libmine.so"),
            ("python", "A class in a file of Python, compiled or not.", "mine.py:Mine"),
        ];
        let own = |(key, description, example): (&str, &str, &str)| {
            json_schema!({
                "type": "object",
                "title": key,
                "description": "An algorithm from outside, with its parameters as further keys.",
                "properties": {
                    key: { "type": "string", "description": description, "examples": [example] },
                    "code": { "type": "string", "description": "A digest: another code is refused." }
                },
                "required": [key]
            })
        };
        forms.extend(files.map(own));
        json_schema!({
            "description": "A congestion control: its name, or a table with its parameters.",
            "anyOf": forms
        })
    }
}

#[cfg(test)]
mod tests;
