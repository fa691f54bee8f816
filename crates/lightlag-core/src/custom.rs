//! Custom algorithms of any kind: their names in a scenario, their parameters, their failures.
//!
//! A crate that supports custom algorithms has a trait that builds them, which extends [`Factory`], and a static
//! [`Registry`] of its implementations. A scenario refers to an algorithm by a file, which the program's [`Loader`]
//! opens, or by its registered name.

use crate::Instant;
use crate::params::{Parameter, Plain};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// Builder of a custom algorithm. Each kind of algorithm extends this trait.
pub trait Factory: Send + Sync {
    /// Returns the name, the origin and the parameters of the algorithm.
    fn facts(&self) -> &Description;
}

/// Description of a custom algorithm, independent of its kind.
#[derive(Clone, Debug)]
pub struct Description {
    /// Name in results.
    pub name: &'static str,
    /// Reference by which a scenario selects the algorithm.
    pub origin: Origin,
    /// Digest of the code. Algorithms with equal digests produce equal results.
    pub code: String,
    /// Parameters with their defaults.
    pub parameters: Vec<Parameter>,
    /// Whether the algorithm runs in the Python interpreter, which is then locked for the entire run.
    pub holds_interpreter: bool,
}

/// Reference to a custom algorithm, as written in a scenario.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// By its name in this process's registry.
    Registered,
    /// `{ plugin = FILE }`: a library with the C interface.
    Plugin(String),
    /// `{ python = "FILE:CLASS" }`: a class.
    Python(String),
}

/// A custom algorithm with the values of its parameters. The factory `M` builds it.
pub struct Custom<M: ?Sized> {
    maker: Arc<M>,
    values: Vec<f64>,
}

impl<M: ?Sized> Clone for Custom<M> {
    fn clone(&self) -> Self {
        Self { maker: Arc::clone(&self.maker), values: self.values.clone() }
    }
}

impl<M: Factory + ?Sized> PartialEq for Custom<M> {
    fn eq(&self, other: &Self) -> bool {
        let identity = |custom: &Self| {
            let Description { name, origin, code, .. } = custom.maker.facts().clone();
            (name, origin, code)
        };
        self.values == other.values && identity(self) == identity(other)
    }
}

impl<M: Factory + ?Sized> fmt::Debug for Custom<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Custom").field("name", &self.name()).field("values", &self.values).finish_non_exhaustive()
    }
}

impl<M: Factory + ?Sized> Custom<M> {
    /// Returns an algorithm whose parameters have their defaults.
    pub fn of(maker: Arc<M>) -> Self {
        let values = maker.facts().parameters.iter().map(|parameter| parameter.default.as_number()).collect();
        Self { maker, values }
    }

    /// Returns the name in results.
    pub fn name(&self) -> &'static str {
        self.maker.facts().name
    }

    /// Returns true if the algorithm runs in the Python interpreter, which is then locked for the entire run.
    pub fn holds_interpreter(&self) -> bool {
        self.maker.facts().holds_interpreter
    }

    /// Returns the factory, and a value for each parameter.
    pub fn parts(&self) -> (&Arc<M>, &[f64]) {
        (&self.maker, &self.values)
    }

    /// Sets parameters to the values in a table, or returns all errors in the table.
    ///
    /// # Errors
    /// If the table has an unknown key, a value out of its range, or the digest of different code.
    pub fn with(mut self, mut table: BTreeMap<String, Plain>) -> Result<Self, String> {
        let Description { name, code, parameters, .. } = self.maker.facts();
        let mut errors = Vec::new();
        match table.remove("code") {
            Some(Plain::Text(other)) if other != *code => errors.push(format!(
                "code: the code of {name} was {other} and is now {code}; remove code to run the current version"
            )),
            Some(Plain::Text(_)) | None => {}
            Some(other) => errors.push(format!("code: {other} is not a valid digest in quotes; remove it")),
        }
        for (parameter, slot) in parameters.iter().zip(&mut self.values) {
            match table.remove(parameter.key).map(|value| parameter.read(&value)) {
                Some(Ok(value)) => *slot = value.as_number(),
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

    /// Returns the keys and values with which a scenario refers to the algorithm. `word` is the key that holds the name
    /// of a registered algorithm.
    pub fn entries<'a>(&'a self, word: &'a str) -> Vec<(&'a str, Plain)> {
        let Description { name, origin, code, parameters, .. } = self.maker.facts();
        let (key, source) = match origin {
            Origin::Registered => (word, (*name).to_owned()),
            Origin::Plugin(file) => ("plugin", file.clone()),
            Origin::Python(class) => ("python", class.clone()),
        };
        let mut entries = vec![(key, Plain::Text(source)), ("code", Plain::Text(code.clone()))];
        for (parameter, value) in parameters.iter().zip(&self.values) {
            if *value != parameter.default.as_number() {
                entries.push((parameter.key, parameter.plain(*value)));
            }
        }
        entries
    }
}

/// Function that opens an algorithm in a file: [`Origin::Plugin`] or [`Origin::Python`]. Its error describes the
/// problem.
pub type Loader<M> = fn(&Origin) -> Result<Arc<M>, String>;

/// Custom algorithms of one kind that are available in this process.
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
    /// Returns an empty registry.
    pub const fn new() -> Self {
        Self { loader: OnceLock::new(), registered: RwLock::new(Vec::new()) }
    }

    /// Sets the function that opens the files of algorithms. Only the first call has an effect.
    pub fn load_by(&self, loader: Loader<M>) {
        self.loader.get_or_init(|| loader);
    }
}

impl<M: Factory + ?Sized> Registry<M> {
    /// Registers an algorithm, replacing any algorithm of the same name.
    pub fn add(&self, maker: Arc<M>) {
        let mut registered = self.registered.write().unwrap_or_else(PoisonError::into_inner);
        registered.retain(|other| other.facts().name != maker.facts().name);
        registered.push(maker);
    }

    /// Returns the names of the registered algorithms.
    pub fn names(&self) -> Vec<&'static str> {
        let registered = self.registered.read().unwrap_or_else(PoisonError::into_inner);
        registered.iter().map(|maker| maker.facts().name).collect()
    }

    /// Returns the registered algorithm `name` with its defaults.
    pub fn named(&self, name: &str) -> Option<Custom<M>> {
        let registered = self.registered.read().unwrap_or_else(PoisonError::into_inner);
        registered.iter().find(|maker| maker.facts().name == name).cloned().map(Custom::of)
    }

    /// Returns the algorithm in a file, with its defaults.
    ///
    /// # Errors
    /// If there is none, or if the program cannot open files of algorithms.
    pub fn in_file(&self, origin: &Origin) -> Result<Custom<M>, String> {
        let loader = self.loader.get().ok_or("this program does not load algorithms from files; use a built-in one")?;
        loader(origin).map(Custom::of)
    }
}

/// Failure of a custom algorithm. The algorithm is not called again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Time of the failure.
    pub at: Instant,
    /// Description of the error, and of the last input of the algorithm.
    pub message: String,
}
