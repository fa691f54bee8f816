//! Algorithms of users, whatever they decide about: how a scenario names them, their parameters, their failures.
//!
//! A crate that such an algorithm can serve has a trait that builds it, a [`Maker`](Outside) in its terms, and a static
//! [`Registry`] of makers. A scenario names one by a file, which the [`Loader`] of the program opens, or by the name under which the
//! program has added it.

use crate::Instant;
use crate::params::{Parameter, Plain};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// An algorithm from outside.
pub trait Outside: Send + Sync {
    /// Its name, its place, its parameters.
    fn facts(&self) -> &Facts;
}

/// The facts about an algorithm from outside that do not depend on what it decides about.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Its name in results.
    pub name: &'static str,
    /// Its place in a scenario.
    pub origin: Origin,
    /// A digest of its code: equal digests mean equal results.
    pub code: String,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// Whether it runs in an interpreter, which a run then holds.
    pub holds_interpreter: bool,
}

/// The place of an algorithm in a scenario.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// By its name: registered in this process.
    Registered,
    /// `{ plugin = FILE }`: a library with the C interface.
    Plugin(String),
    /// `{ python = "FILE:CLASS" }`: a class.
    Python(String),
}

/// An algorithm from outside with the values of its parameters. `M` builds it.
pub struct Own<M: ?Sized> {
    maker: Arc<M>,
    values: Vec<f64>,
}

impl<M: ?Sized> Clone for Own<M> {
    fn clone(&self) -> Self {
        Self { maker: Arc::clone(&self.maker), values: self.values.clone() }
    }
}

impl<M: Outside + ?Sized> PartialEq for Own<M> {
    fn eq(&self, other: &Self) -> bool {
        let identity = |own: &Self| {
            let Facts { name, origin, code, .. } = own.maker.facts().clone();
            (name, origin, code)
        };
        self.values == other.values && identity(self) == identity(other)
    }
}

impl<M: Outside + ?Sized> fmt::Debug for Own<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Own").field("name", &self.name()).field("values", &self.values).finish_non_exhaustive()
    }
}

impl<M: Outside + ?Sized> Own<M> {
    /// An algorithm with its defaults.
    pub fn of(maker: Arc<M>) -> Self {
        let values = maker.facts().parameters.iter().map(|parameter| parameter.default.as_number()).collect();
        Self { maker, values }
    }

    /// Its name in results.
    pub fn name(&self) -> &'static str {
        self.maker.facts().name
    }

    /// Whether it runs in an interpreter, which a run then holds.
    pub fn holds_interpreter(&self) -> bool {
        self.maker.facts().holds_interpreter
    }

    /// The maker, and a value for each parameter.
    pub fn parts(&self) -> (&Arc<M>, &[f64]) {
        (&self.maker, &self.values)
    }

    /// The same with the values of a table, or all errors in it.
    ///
    /// # Errors
    /// If the table has a key that is no parameter, a value out of its range, or the digest of another code.
    pub fn with(mut self, mut table: BTreeMap<String, Plain>) -> Result<Self, String> {
        let Facts { name, code, parameters, .. } = self.maker.facts();
        let mut errors = Vec::new();
        match table.remove("code") {
            Some(Plain::Text(other)) if other != *code => errors.push(format!(
                "code: the code of {name} was {other} and is now {code}; leave code out to run it as it is now"
            )),
            Some(Plain::Text(_)) | None => {}
            Some(other) => errors.push(format!("code: {other} is no digest in quotes; leave it out")),
        }
        for (parameter, place) in parameters.iter().zip(&mut self.values) {
            match table.remove(parameter.key).map(|value| parameter.read(&value)) {
                Some(Ok(value)) => *place = value.as_number(),
                Some(Err(error)) => errors.push(error),
                None => {}
            }
        }
        let known: Vec<String> = parameters.iter().map(|parameter| format!("`{}`", parameter.key)).collect();
        for key in table.keys() {
            errors.push(match known.is_empty() {
                true => format!("unknown field `{key}`: {name} has no parameters"),
                false => format!("unknown field `{key}`, expected one of {}", known.join(", ")),
            });
        }
        if errors.is_empty() { Ok(self) } else { Err(errors.join("; ")) }
    }

    /// The keys and values that name it in a scenario. `word` is the key of a registered name.
    pub fn entries<'a>(&'a self, word: &'a str) -> Vec<(&'a str, Plain)> {
        let Facts { name, origin, code, parameters, .. } = self.maker.facts();
        let (key, place) = match origin {
            Origin::Registered => (word, (*name).to_owned()),
            Origin::Plugin(file) => ("plugin", file.clone()),
            Origin::Python(class) => ("python", class.clone()),
        };
        let mut entries = vec![(key, Plain::Text(place)), ("code", Plain::Text(code.clone()))];
        for (parameter, value) in parameters.iter().zip(&self.values) {
            if *value != parameter.default.as_number() {
                entries.push((parameter.key, parameter.plain(*value)));
            }
        }
        entries
    }
}

/// Opens an algorithm in a file: one of [`Origin::Plugin`] or [`Origin::Python`]. Errors say what is wrong with it.
pub type Loader<M> = fn(&Origin) -> Result<Arc<M>, String>;

/// The algorithms from outside of one kind that this process knows.
pub struct Registry<M: ?Sized> {
    loader: OnceLock<Loader<M>>,
    registered: RwLock<Vec<Arc<M>>>,
}

impl<M: ?Sized> Default for Registry<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M: ?Sized> Registry<M> {
    /// One that knows none.
    pub const fn new() -> Self {
        Self { loader: OnceLock::new(), registered: RwLock::new(Vec::new()) }
    }

    /// Lets scenarios name files of algorithms. The first loader stays.
    pub fn load_by(&self, loader: Loader<M>) {
        self.loader.get_or_init(|| loader);
    }
}

impl<M: Outside + ?Sized> Registry<M> {
    /// Makes an algorithm known by its name, in place of an earlier one with that name.
    pub fn add(&self, maker: Arc<M>) {
        let mut registered = self.registered.write().unwrap_or_else(PoisonError::into_inner);
        registered.retain(|other| other.facts().name != maker.facts().name);
        registered.push(maker);
    }

    /// Names of the registered algorithms.
    pub fn names(&self) -> Vec<&'static str> {
        let registered = self.registered.read().unwrap_or_else(PoisonError::into_inner);
        registered.iter().map(|maker| maker.facts().name).collect()
    }

    /// The registered algorithm `name` with its defaults.
    pub fn named(&self, name: &str) -> Option<Own<M>> {
        let registered = self.registered.read().unwrap_or_else(PoisonError::into_inner);
        registered.iter().find(|maker| maker.facts().name == name).cloned().map(Own::of)
    }

    /// The algorithm in a file, with its defaults.
    ///
    /// # Errors
    /// If there is none, or if the program opens no files of algorithms.
    pub fn in_file(&self, origin: &Origin) -> Result<Own<M>, String> {
        let loader = self.loader.get().ok_or("this program opens no algorithms in files; use lightlag's")?;
        loader(origin).map(Own::of)
    }
}

/// The failure of an algorithm from outside. From then on it is not asked any more.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Its time.
    pub at: Instant,
    /// What went wrong, and what the algorithm was told before.
    pub message: String,
}
