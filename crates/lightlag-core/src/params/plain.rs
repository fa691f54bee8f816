//! Parameters as plain values: a table of flags, numbers and strings, as in the options of a transport.

use super::{Parameter, Range, Setting, Value};
use crate::{Duration, Probability};
use schemars::{Schema, json_schema};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// A value as written in a scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Plain {
    /// True or false.
    Flag(bool),
    /// A number.
    Number(f64),
    /// A string.
    Text(String),
    /// A value of any other type, which no parameter accepts.
    #[serde(skip_serializing)]
    Other(IgnoredAny),
}

impl fmt::Display for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(value) => write!(f, "{value}"),
            Self::Number(value) => write!(f, "{value}"),
            Self::Text(value) => write!(f, "{value:?}"),
            Self::Other(_) => f.write_str("this table, list or nothing"),
        }
    }
}

impl Range {
    /// Returns the allowed values, in words.
    ///
    /// # Panics
    /// For values that have no plain form: limits, lists and tables.
    pub fn in_words(&self) -> String {
        match self {
            Self::Flag => "true or false".to_owned(),
            Self::Count { least, most, .. } => format!("a whole number from {least} to {most}"),
            Self::Number { least, most } => between("a number", f64::from(*least), *most),
            Self::AtLeast { least, .. } => format!("a number, at least {least}"),
            Self::Quantity { least, most, .. } => between("a number", *least, *most),
            Self::Whole { least, most } => between("a whole number", *least, *most),
            Self::Probability { .. } => "a probability from 0 to 1".to_owned(),
            Self::Time { most, .. } => {
                let up_to = most.map_or(String::new(), |most| format!(", up to {most}"));
                format!("a time with its unit{up_to}, such as \"20 ms\"")
            }
            Self::Word { words, .. } => {
                let quoted: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
                quoted.join(" or ")
            }
            other => panic!("{other:?} has no plain form"),
        }
    }

    /// Returns a plain value of this range; `None` for any other.
    fn read(&self, plain: &Plain) -> Option<Value> {
        match (self, plain) {
            (Self::Flag, Plain::Flag(on)) => Some(Value::Flag(*on)),
            (Self::Count { least, most, .. }, Plain::Number(number)) => {
                let whole = (number.fract() == 0.0).then_some(*number)?;
                (f64::from(*least)..=f64::from(*most)).contains(&whole).then_some(Value::Count(whole as u32))
            }
            (Self::Number { least, most }, Plain::Number(number)) => {
                (f64::from(*least)..=*most).contains(number).then_some(Value::Number(*number))
            }
            (Self::AtLeast { least, .. }, Plain::Number(number)) => {
                (f64::from(*least)..f64::INFINITY).contains(number).then_some(Value::Number(*number))
            }
            (Self::Whole { least, most }, Plain::Number(number)) if number.fract() == 0.0 => {
                (*least..=*most).contains(number).then_some(Value::Number(*number))
            }
            (Self::Quantity { least, most, .. }, Plain::Number(number)) => {
                (*least..=*most).contains(number).then_some(Value::Number(*number))
            }
            (Self::Probability { above_zero }, Plain::Number(number)) => {
                Probability::new(*number).filter(|is| !above_zero || *is != Probability::ZERO).map(Value::Probability)
            }
            (Self::Time { least, most, .. }, Plain::Text(text)) => {
                let time = text.parse::<Duration>().ok()?;
                (time >= *least && most.is_none_or(|most| time <= most)).then_some(Value::Time(time))
            }
            (Self::Word { words, .. }, Plain::Text(text)) => {
                words.iter().position(|word| word == text).map(Value::Word)
            }
            _ => None,
        }
    }

    /// Returns the plain form of a value of this range.
    fn plain(&self, value: &Value) -> Plain {
        match (value, self) {
            (Value::Flag(on), _) => Plain::Flag(*on),
            (Value::Count(count), _) => Plain::Number(f64::from(*count)),
            (Value::Number(number), _) => Plain::Number(*number),
            (Value::Probability(probability), _) => Plain::Number(probability.value()),
            (Value::Time(time), _) => Plain::Text(time.to_string()),
            (Value::Word(index), Self::Word { words, .. }) => Plain::Text(words[*index].to_owned()),
            (other, _) => panic!("{other:?} has no plain form"),
        }
    }

    fn schema(&self, description: &str) -> Schema {
        match self {
            Self::Flag => json_schema!({ "type": "boolean", "description": description }),
            Self::Count { least, most, .. } => {
                json_schema!({ "type": "integer", "minimum": least, "maximum": most, "description": description })
            }
            Self::Number { least, most } => {
                json_schema!({ "type": "number", "minimum": least, "maximum": most, "description": description })
            }
            Self::AtLeast { least, .. } => {
                json_schema!({ "type": "number", "minimum": least, "description": description })
            }
            Self::Whole { least, most } => {
                json_schema!({ "type": "integer", "minimum": least, "maximum": most, "description": description })
            }
            Self::Quantity { least, most, .. } => {
                json_schema!({ "type": "number", "minimum": least, "maximum": most, "description": description })
            }
            Self::Probability { .. } => {
                json_schema!({ "type": "number", "minimum": 0, "maximum": 1, "description": description })
            }
            Self::Time { .. } => {
                json_schema!({ "type": "string", "description": description, "examples": ["20 ms"] })
            }
            Self::Word { words, .. } => json_schema!({ "enum": words, "description": description }),
            other => panic!("{other:?} has no plain form"),
        }
    }
}

/// Returns a range of numbers in words, without infinite bounds.
fn between(what: &str, min: f64, max: f64) -> String {
    match (min.is_finite(), max.is_finite()) {
        (true, true) => format!("{what} from {min} to {max}"),
        (true, false) => format!("{what}, at least {min}"),
        (false, true) => format!("{what} up to {max}"),
        (false, false) => what.to_owned(),
    }
}

impl Parameter {
    /// Returns the value that a plain one represents.
    ///
    /// # Errors
    /// If it is not in the range.
    pub fn read(&self, plain: &Plain) -> Result<Value, String> {
        read_one(self.key, &self.range, plain)
    }

    /// Returns the plain form of a value that is stored as a number, as in custom algorithms: for a flag, 1 is true.
    pub fn plain(&self, number: f64) -> Plain {
        if matches!(self.range, Range::Flag) { Plain::Flag(number != 0.0) } else { Plain::Number(number) }
    }
}

impl Value {
    /// Returns a flag or a number as a number: true is 1.
    ///
    /// # Panics
    /// If it is of another kind.
    pub fn as_number(&self) -> f64 {
        match self {
            Self::Flag(on) => f64::from(u8::from(*on)),
            Self::Number(number) => *number,
            other => panic!("{other:?} is neither a flag nor a number"),
        }
    }
}

fn read_one(key: &str, range: &Range, plain: &Plain) -> Result<Value, String> {
    range.read(plain).ok_or_else(|| format!("{key}: {plain} is not {}", range.in_words()))
}

impl<C: Clone + 'static> Setting<C> {
    /// Returns the default in words: the declared one, or the value in `defaults`.
    pub fn default_in_words(&self, defaults: &C) -> String {
        match (self.shown_default, self.range.plain(&self.get(defaults))) {
            (Some(shown), _) => shown.to_owned(),
            (None, Plain::Text(text)) => text,
            (None, plain) => plain.to_string(),
        }
    }

    /// Sets the parameter to a plain value, or explains why the value is invalid.
    fn set_plain(&self, config: &mut C, plain: &Plain) -> Result<(), String> {
        self.set(config, read_one(self.key, &self.range, plain)?);
        Ok(())
    }
}

/// Reads the parameters in `table`. Omitted parameters have their defaults.
///
/// # Errors
/// The message lists every key that is not a parameter, and every value that is out of its range.
pub fn read<C: Clone + Default + 'static>(
    settings: &[Setting<C>],
    mut table: BTreeMap<String, Plain>,
) -> Result<C, String> {
    let mut config = C::default();
    let mut errors = Vec::new();
    // In the order of the settings, because a later one may depend on an earlier one.
    for setting in settings {
        if let Some(value) = table.remove(setting.key)
            && let Err(error) = setting.set_plain(&mut config, &value)
        {
            errors.push(error);
        }
    }
    for key in table.keys() {
        let known: Vec<String> = settings.iter().map(|setting| format!("`{}`", setting.key)).collect();
        errors.push(format!("unknown field `{key}`, expected one of {}", known.join(", ")));
    }
    if errors.is_empty() { Ok(config) } else { Err(errors.join("; ")) }
}

/// Returns the values of `config` that differ from the defaults, where a setting may change the defaults of later ones.
pub fn differences<C: Clone + Default + 'static>(settings: &[Setting<C>], config: &C) -> Vec<(&'static str, Plain)> {
    let mut base = C::default();
    let mut different = Vec::new();
    for setting in settings {
        let value = setting.get(config);
        if value != setting.get(&base) {
            different.push((setting.key, setting.range.plain(&value)));
            setting.set(&mut base, value);
        }
    }
    different
}

/// Returns `config` with a definite choice, if one of its parameters has the keyword `open`, which leaves the choice to
/// the caller: that parameter is set to `word`. Parameters that differ from their defaults are unchanged; the others
/// follow the choice.
pub fn decided<C: Clone + Default + 'static>(settings: &[Setting<C>], config: &C, open: &str, word: &str) -> C {
    let chosen_word = |setting: &Setting<C>| match (setting.range, setting.get(config)) {
        (Range::Word { words, .. }, Value::Word(index)) if words[index] == open => {
            words.iter().position(|known| *known == word)
        }
        _ => None,
    };
    let Some((setting, index)) = settings.iter().find_map(|setting| Some((setting, chosen_word(setting)?))) else {
        return config.clone();
    };
    let mut chosen = C::default();
    setting.set(&mut chosen, Value::Word(index));
    // Setting a parameter may change the defaults of those after it.
    let mut base = C::default();
    for setting in settings {
        let value = setting.get(config);
        if value != setting.get(&base) {
            setting.set(&mut base, value.clone());
            setting.set(&mut chosen, value);
        }
    }
    chosen
}

/// Returns the schema of a table with these settings, and with the key `word`, whose value is always `name`.
pub fn schema<C: Clone + Default + 'static>(word: &str, name: &str, settings: &[Setting<C>]) -> Schema {
    let mut properties = json_schema!({ word: { "const": name } });
    for setting in settings {
        let description = format!("{} Default: {}.", setting.about, setting.default_in_words(&C::default()));
        properties.insert(setting.key.to_owned(), setting.range.schema(&description).into());
    }
    json_schema!({
        "type": "object",
        "title": name,
        "properties": properties,
        "required": [word],
        "additionalProperties": false
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unit;

    #[derive(Clone, PartialEq, Debug)]
    struct Config {
        rules: usize,
        gain: f64,
        wait: Duration,
    }

    impl Default for Config {
        fn default() -> Self {
            Self { rules: 0, gain: 0.5, wait: Duration::from_millis(20) }
        }
    }

    const RULES: &[&str] = &["profile", "paper", "fast"];

    fn settings() -> Vec<Setting<Config>> {
        let set = |config: &mut Config, index| {
            config.rules = index;
            config.gain = if index == 2 { 0.9 } else { 0.5 };
        };
        vec![
            Setting::word("rules", "rules", RULES, |config: &Config| config.rules, set),
            Setting::quantity("gain", |config: &mut Config| &mut config.gain, Unit::Plain, 0.1, 1.0).about("Its gain."),
            Setting::time_up_to("wait", |config: &mut Config| &mut config.wait, Duration::from_secs(1)),
        ]
    }

    fn table(entries: &[(&str, Plain)]) -> BTreeMap<String, Plain> {
        entries.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect()
    }

    #[test]
    fn every_error_of_a_table_is_named() {
        let text = |text: &str| Plain::Text(text.to_owned());
        let wrong = [("gain", Plain::Number(2.0)), ("rules", text("slow")), ("wait", text("2 s")), ("rate", text("x"))];
        let expected = "rules: \"slow\" is not \"profile\" or \"paper\" or \"fast\"; gain: 2 is not a number from 0.1 to 1; \
                        wait: \"2 s\" is not a time with its unit, up to 1 s, such as \"20 ms\"; \
                        unknown field `rate`, expected one of `rules`, `gain`, `wait`";
        assert_eq!(read(&settings(), table(&wrong)), Err(expected.to_owned()));
    }

    #[test]
    fn only_what_differs_from_the_rules_is_written() {
        let config = Config { rules: 2, gain: 0.9, ..Config::default() };
        assert_eq!(differences(&settings(), &config), [("rules", Plain::Text("fast".to_owned()))]);
        assert_eq!(read(&settings(), table(&differences(&settings(), &config))), Ok(config));
    }

    #[test]
    fn a_profile_decides_what_is_left_open_and_nothing_else() {
        let open = Config { wait: Duration::ZERO, ..Config::default() };
        let decided_by = |config: &Config| decided(&settings(), config, "profile", "fast");
        assert_eq!(decided_by(&open), Config { rules: 2, gain: 0.9, wait: Duration::ZERO });
        let closed = Config { rules: 1, ..open };
        assert_eq!(decided_by(&closed), closed);
        assert_eq!(decided(&settings(), &open, "profile", "unheard of"), open);
    }
}
