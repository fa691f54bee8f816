//! Algorithms that are not part of lightlag: those of a user, from a library or in Python.
//!
//! This crate knows such an algorithm as a [`Maker`]. A scenario names it by a file, which the [`Loader`] of the program opens,
//! or by a name under which the program has [registered](super::register) it.

use super::parameters::Value;
use super::{CongestionControl, Needs, Start};
use lightlag_core::Instant;
use serde::ser::{SerializeMap, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// An algorithm from outside, which builds its connections.
pub trait Maker: Send + Sync {
    /// Its name in results.
    fn name(&self) -> &'static str;

    /// Its place in a scenario.
    fn origin(&self) -> &Origin;

    /// A digest of its code: equal digests mean equal results.
    fn code(&self) -> &str;

    /// Its parameters.
    fn parameters(&self) -> &[OwnParameter];

    /// Its needs beyond its ACKs.
    fn needs(&self) -> Needs;

    /// Whether it runs in an interpreter, which a run then holds.
    fn holds_interpreter(&self) -> bool {
        false
    }

    /// Builds it for a connection, with a value for each parameter.
    fn build(self: Arc<Self>, start: &Start, values: &[f64]) -> Box<dyn CongestionControl>;
}

/// The place of an algorithm in a scenario.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// `{ algorithm = NAME }`: registered in this process.
    Registered,
    /// `{ plugin = FILE }`: a library with the C interface.
    Plugin(String),
    /// `{ python = "FILE:CLASS" }`: a class.
    Python(String),
}

/// A parameter of an algorithm from outside.
#[derive(Clone, PartialEq, Debug)]
pub struct OwnParameter {
    /// Its key in a scenario.
    pub name: String,
    /// Its type.
    pub kind: OwnKind,
    /// Its default.
    pub default: f64,
    /// Its least value.
    pub least: f64,
    /// Its largest value.
    pub most: f64,
    /// Its unit; empty for none.
    pub unit: String,
    /// Its effect.
    pub meaning: String,
}

/// The type of a parameter, of which all values are kept as numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OwnKind {
    /// A number.
    Number,
    /// A whole number.
    Whole,
    /// True or false: 1 or 0.
    Flag,
}

impl OwnParameter {
    fn read(&self, value: &Value) -> Result<f64, String> {
        let found = match (self.kind, value) {
            (OwnKind::Flag, Value::Flag(on)) => Some(f64::from(u8::from(*on))),
            (OwnKind::Number, Value::Number(number)) => Some(*number),
            (OwnKind::Whole, Value::Number(number)) if number.fract() == 0.0 => Some(*number),
            _ => None,
        };
        found
            .filter(|number| (self.least..=self.most).contains(number))
            .ok_or_else(|| format!("{}: {value} is not {}", self.name, self.range()))
    }

    fn range(&self) -> String {
        let Self { least, most, .. } = self;
        let what = match self.kind {
            OwnKind::Flag => return "true or false".to_owned(),
            OwnKind::Number => "a number",
            OwnKind::Whole => "a whole number",
        };
        match (least.is_finite(), most.is_finite()) {
            (true, true) => format!("{what} from {least} to {most}"),
            (true, false) => format!("{what} from {least} on"),
            (false, true) => format!("{what} up to {most}"),
            (false, false) => what.to_owned(),
        }
    }

    fn value(&self, number: f64) -> Value {
        if self.kind == OwnKind::Flag { Value::Flag(number != 0.0) } else { Value::Number(number) }
    }
}

/// An algorithm from outside with the values of its parameters.
#[derive(Clone)]
pub struct Own {
    maker: Arc<dyn Maker>,
    values: Vec<f64>,
}

impl PartialEq for Own {
    fn eq(&self, other: &Self) -> bool {
        let identity = |own: &Self| (own.maker.name(), own.maker.origin().clone(), own.maker.code().to_owned());
        self.values == other.values && identity(self) == identity(other)
    }
}

impl fmt::Debug for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Own").field("name", &self.maker.name()).field("values", &self.values).finish_non_exhaustive()
    }
}

/// Opens an algorithm in a file: one of [`Origin::Plugin`] or [`Origin::Python`]. Errors say what is wrong with it.
pub type Loader = fn(&Origin) -> Result<Arc<dyn Maker>, String>;

static LOADER: OnceLock<Loader> = OnceLock::new();
static REGISTERED: RwLock<Vec<Arc<dyn Maker>>> = RwLock::new(Vec::new());

/// Lets scenarios name files of algorithms. The first loader stays.
pub fn load_by(loader: Loader) {
    LOADER.get_or_init(|| loader);
}

/// Makes an algorithm known by its name, in place of an earlier one with that name.
pub(super) fn add(maker: Arc<dyn Maker>) {
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    registered.retain(|other| other.name() != maker.name());
    registered.push(maker);
}

/// Names of the registered algorithms.
pub(super) fn registered() -> Vec<&'static str> {
    REGISTERED.read().unwrap_or_else(PoisonError::into_inner).iter().map(|maker| maker.name()).collect()
}

impl Own {
    /// The registered algorithm `name` with its defaults.
    pub(super) fn named(name: &str) -> Option<Self> {
        let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
        registered.iter().find(|maker| maker.name() == name).cloned().map(Self::of)
    }

    /// The algorithm in a file, with its defaults.
    pub(super) fn in_file(origin: &Origin) -> Result<Self, String> {
        let loader = LOADER.get().ok_or("this program opens no algorithms in files; use lightlag's")?;
        loader(origin).map(Self::of)
    }

    /// An algorithm with its defaults.
    pub fn of(maker: Arc<dyn Maker>) -> Self {
        let values = maker.parameters().iter().map(|parameter| parameter.default).collect();
        Self { maker, values }
    }

    /// Its name in results.
    pub fn name(&self) -> &'static str {
        self.maker.name()
    }

    /// [`Maker::holds_interpreter`].
    pub fn holds_interpreter(&self) -> bool {
        self.maker.holds_interpreter()
    }

    pub(super) fn needs(&self) -> Needs {
        self.maker.needs()
    }

    pub(super) fn build(&self, start: &Start) -> Box<dyn CongestionControl> {
        Arc::clone(&self.maker).build(start, &self.values)
    }

    /// The same with the values of a table, or all errors in it.
    pub(super) fn with(mut self, mut table: BTreeMap<String, Value>) -> Result<Self, String> {
        let mut errors = Vec::new();
        match table.remove("code") {
            Some(Value::Text(code)) if code != self.maker.code() => errors.push(format!(
                "code: the code of {} was {code} and is now {}; leave code out to run it as it is now",
                self.name(),
                self.maker.code()
            )),
            Some(Value::Text(_)) | None => {}
            Some(other) => errors.push(format!("code: {other} is no digest in quotes; leave it out")),
        }
        for (parameter, place) in self.maker.parameters().iter().zip(&mut self.values) {
            match table.remove(&parameter.name).map(|value| parameter.read(&value)) {
                Some(Ok(value)) => *place = value,
                Some(Err(error)) => errors.push(error),
                None => {}
            }
        }
        let known: Vec<String> =
            self.maker.parameters().iter().map(|parameter| format!("`{}`", parameter.name)).collect();
        for key in table.keys() {
            errors.push(match known.is_empty() {
                true => format!("unknown field `{key}`: {} has no parameters", self.name()),
                false => format!("unknown field `{key}`, expected one of {}", known.join(", ")),
            });
        }
        if errors.is_empty() { Ok(self) } else { Err(errors.join("; ")) }
    }

    pub(super) fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self.maker.origin() {
            Origin::Registered => map.serialize_entry("algorithm", self.name())?,
            Origin::Plugin(file) => map.serialize_entry("plugin", file)?,
            Origin::Python(class) => map.serialize_entry("python", class)?,
        }
        map.serialize_entry("code", self.maker.code())?;
        for (parameter, value) in self.maker.parameters().iter().zip(&self.values) {
            if *value != parameter.default {
                map.serialize_entry(&parameter.name, &parameter.value(*value))?;
            }
        }
        map.end()
    }
}

/// The failure of an algorithm from outside. From then on the window of its connection stays as it was.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Its time.
    pub at: Instant,
    /// What went wrong, and what the algorithm was told before.
    pub message: String,
}

#[cfg(test)]
mod tests;
