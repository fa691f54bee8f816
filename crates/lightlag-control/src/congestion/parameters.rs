//! Parameters of algorithms: one table defines how each is read, checked, written, described and explained.

use lightlag_core::Duration;
pub(super) use lightlag_core::own::Value;
use schemars::{Schema, json_schema};
use serde::Serialize;
use std::collections::BTreeMap;

/// The description of a parameter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parameter {
    /// Its key in a scenario.
    pub name: &'static str,
    /// Its default.
    pub default: &'static str,
    /// Its unit; empty for a number without one, a word or a switch.
    pub unit: &'static str,
    /// Its effect.
    pub meaning: &'static str,
    /// Its allowed values.
    pub range: String,
}

/// A parameter of the configuration `C`.
pub(super) struct Setting<C> {
    pub name: &'static str,
    pub default: &'static str,
    pub unit: &'static str,
    pub meaning: &'static str,
    pub place: Place<C>,
}

/// The type and range of a parameter, with access to its value.
pub(super) enum Place<C> {
    /// True or false.
    Flag(fn(&mut C) -> &mut bool),
    /// A number from `least` to `most`.
    Number { at: fn(&mut C) -> &mut f64, least: f64, most: f64 },
    /// A time up to `most`.
    Time { at: fn(&mut C) -> &mut Duration, most: Duration },
    /// One of `words`, by its index.
    Word { words: &'static [&'static str], read: fn(&C) -> usize, write: fn(&mut C, usize) },
}

impl<C> Clone for Setting<C> {
    fn clone(&self) -> Self {
        Self { place: self.place.clone(), ..*self }
    }
}

impl<C> Clone for Place<C> {
    fn clone(&self) -> Self {
        match *self {
            Self::Flag(at) => Self::Flag(at),
            Self::Number { at, least, most } => Self::Number { at, least, most },
            Self::Time { at, most } => Self::Time { at, most },
            Self::Word { words, read, write } => Self::Word { words, read, write },
        }
    }
}

impl<C: Clone> Setting<C> {
    /// The allowed values, in words.
    fn range(&self) -> String {
        match &self.place {
            Place::Flag(_) => "true or false".to_owned(),
            Place::Number { least, most, .. } => format!("a number from {least} to {most}"),
            Place::Time { most, .. } => format!("a time with its unit, up to {most}, such as \"20 ms\""),
            Place::Word { words, .. } => {
                let quoted: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
                quoted.join(" or ")
            }
        }
    }

    /// Sets the parameter to `value`, or explains why the value is invalid.
    fn set(&self, config: &mut C, value: &Value) -> Result<(), String> {
        let done = match (&self.place, value) {
            (Place::Flag(at), Value::Flag(on)) => {
                *at(config) = *on;
                true
            }
            (Place::Number { at, least, most }, Value::Number(number)) if (*least..=*most).contains(number) => {
                *at(config) = *number;
                true
            }
            (Place::Time { at, most }, Value::Text(text)) => match text.parse::<Duration>() {
                Ok(time) if time <= *most => {
                    *at(config) = time;
                    true
                }
                _ => false,
            },
            (Place::Word { words, write, .. }, Value::Text(text)) => match words.iter().position(|word| word == text) {
                Some(index) => {
                    write(config, index);
                    true
                }
                None => false,
            },
            _ => false,
        };
        if done { Ok(()) } else { Err(format!("{}: {value} is not {}", self.name, self.range())) }
    }

    fn value(&self, config: &C) -> Value {
        let mut config = config.clone();
        match &self.place {
            Place::Flag(at) => Value::Flag(*at(&mut config)),
            Place::Number { at, .. } => Value::Number(*at(&mut config)),
            Place::Time { at, .. } => Value::Text(at(&mut config).to_string()),
            Place::Word { words, read, .. } => Value::Text(words[read(&config)].to_owned()),
        }
    }

    pub(super) fn describe(&self) -> Parameter {
        let Self { name, default, unit, meaning, .. } = *self;
        Parameter { name, default, unit, meaning, range: self.range() }
    }

    fn schema(&self) -> Schema {
        let description = format!("{} Default: {}.", self.meaning, self.default);
        match &self.place {
            Place::Flag(_) => json_schema!({ "type": "boolean", "description": description }),
            Place::Number { least, most, .. } => {
                json_schema!({ "type": "number", "minimum": least, "maximum": most, "description": description })
            }
            Place::Time { .. } => json_schema!({ "type": "string", "description": description, "examples": ["20 ms"] }),
            Place::Word { words, .. } => json_schema!({ "enum": words, "description": description }),
        }
    }
}

/// The defaults overridden by the values of `table`, or all errors in it.
pub(super) fn read<C: Clone + Default>(
    settings: &[Setting<C>],
    mut table: BTreeMap<String, Value>,
) -> Result<C, String> {
    let mut config = C::default();
    let mut errors = Vec::new();
    // In the order of the settings, because a later one may depend on an earlier one.
    for setting in settings {
        if let Some(value) = table.remove(setting.name)
            && let Err(error) = setting.set(&mut config, &value)
        {
            errors.push(error);
        }
    }
    for key in table.keys() {
        let known: Vec<String> = settings.iter().map(|setting| format!("`{}`", setting.name)).collect();
        errors.push(format!("unknown field `{key}`, expected one of {}", known.join(", ")));
    }
    if errors.is_empty() { Ok(config) } else { Err(errors.join("; ")) }
}

/// The values of `config` that differ from those implied by the earlier settings.
pub(super) fn differences<C: Clone + Default>(settings: &[Setting<C>], config: &C) -> Vec<(&'static str, Value)> {
    let mut base = C::default();
    let mut different = Vec::new();
    for setting in settings {
        let value = setting.value(config);
        if value != setting.value(&base) {
            setting.set(&mut base, &value).expect("a value of a configuration is in its range");
            different.push((setting.name, value));
        }
    }
    different
}

/// `config` with `word` for a parameter that is left to the profile. Parameters that differ from their defaults stay.
pub(super) fn in_variant<C: Clone + Default>(settings: &[Setting<C>], config: &C, word: &str) -> C {
    let is_open = |setting: &&Setting<C>| match &setting.place {
        Place::Word { words, read, .. } => words.contains(&word) && words[read(config)] == "profile",
        _ => false,
    };
    let Some(open) = settings.iter().find(is_open) else { return config.clone() };
    let mut chosen = C::default();
    let set = |config: &mut C, setting: &Setting<C>, value: &Value| {
        setting.set(config, value).expect("a value of a configuration is in its range");
    };
    set(&mut chosen, open, &Value::Text(word.to_owned()));
    for (name, value) in differences(settings, config) {
        if let Some(setting) = settings.iter().find(|setting| setting.name == name) {
            set(&mut chosen, setting, &value);
        }
    }
    chosen
}

/// The schema of a table with these settings and the key `algorithm`.
pub(super) fn schema<C: Clone>(algorithm: &str, settings: &[Setting<C>]) -> Schema {
    let mut properties = json_schema!({ "algorithm": { "const": algorithm } });
    for setting in settings {
        properties.insert(setting.name.to_owned(), setting.schema().into());
    }
    json_schema!({
        "type": "object",
        "title": algorithm,
        "properties": properties,
        "required": ["algorithm"],
        "additionalProperties": false
    })
}
