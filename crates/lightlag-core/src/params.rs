//! Parameters of models, declared once: from a declaration follow how a parameter is read, checked, written and described.
//!
//! A model lists its [`Setting`]s next to its code. The reader of a scenario checks a value against the setting's [`Range`] and
//! stores it as a [`Value`]; this module depends on no format. [`registry!`](crate::registry) declares a choice among models.

mod limit;
pub mod plain;
mod registry;

pub use limit::Limit;
pub use plain::Plain;
pub use registry::{Described, Registered};

use crate::{Bytes, Duration, Probability, Unit};
use std::rc::Rc;

/// The value of a parameter.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// True or false.
    Flag(bool),
    /// A whole number.
    Count(u32),
    /// A number.
    Number(f64),
    /// A time.
    Time(Duration),
    /// A probability.
    Probability(Probability),
    /// A size.
    Size(Bytes),
    /// A part of a queue.
    Limit(Limit),
    /// A word, by its index.
    Word(usize),
    /// Times, in any order.
    Times(Vec<Duration>),
    /// Numbers of packets, in any order.
    Packets(Vec<u64>),
    /// A table, by the values of its parameters.
    Table(Vec<Value>),
    /// A text.
    Text(String),
    /// Rows of numbers.
    Rows(Vec<Vec<f64>>),
}

/// The values that a parameter may have.
#[derive(Clone, Copy, Debug)]
pub enum Range {
    /// True or false.
    Flag,
    /// A whole number.
    Count {
        /// The smallest.
        least: u32,
        /// The largest.
        most: u32,
        /// The thing that is counted, after an article: "a number of queues".
        what: &'static str,
        /// An explanation for a message, after the range.
        note: &'static str,
    },
    /// A number.
    Number {
        /// The smallest.
        least: u32,
        /// The largest.
        most: f64,
    },
    /// A whole number that may be large or negative.
    Whole {
        /// The smallest, or minus infinity.
        least: f64,
        /// The largest, or infinity.
        most: f64,
    },
    /// A number without an upper bound.
    AtLeast {
        /// The smallest.
        least: u32,
        /// The thing that is counted, after an article: "a number of packets".
        what: &'static str,
    },
    /// A time.
    Time {
        /// The shortest.
        least: Duration,
        /// The longest, if there is one.
        most: Option<Duration>,
        /// The message for a shorter one, where the usual one says too little.
        refusal: Option<&'static str>,
    },
    /// A probability.
    Probability {
        /// Whether 0 is refused.
        above_zero: bool,
    },
    /// A size above zero.
    Size,
    /// A part of a queue.
    Limit,
    /// One of some words.
    Word {
        /// The thing that they name, after an article: "a mode".
        what: &'static str,
        /// The words.
        words: &'static [&'static str],
    },
    /// A list of times.
    Times,
    /// A list of packets, numbered from 1 on.
    Packets {
        /// The most that a list names.
        most: usize,
    },
    /// A table with parameters of its own.
    Table {
        /// These parameters.
        parameters: fn() -> Vec<Parameter>,
        /// Such a table, as text.
        example: &'static str,
    },
    /// A real number with a unit.
    Quantity {
        /// Its unit.
        unit: Unit,
        /// The smallest.
        least: f64,
        /// The largest.
        most: f64,
    },
    /// A text that is not empty.
    Text {
        /// The thing that it names, after an article: "a file".
        what: &'static str,
    },
    /// A list of rows of numbers.
    Rows {
        /// The columns, with units in their names.
        columns: &'static [&'static str],
        /// Such a list, as text.
        example: &'static str,
    },
}

/// The place of a value in the parameters `C` of a model.
type At<C, T> = fn(&mut C) -> &mut T;

enum Place<C> {
    Flag(At<C, bool>),
    Count(At<C, u32>),
    Number(At<C, f64>),
    Time(At<C, Duration>),
    Probability(At<C, Probability>),
    Size(At<C, Bytes>),
    Limit(At<C, Limit>),
    Word { read: fn(&C) -> usize, write: fn(&mut C, usize) },
    Times(At<C, Vec<Duration>>),
    Packets(At<C, Vec<u64>>),
    Table { read: Reading<C>, write: Writing<C> },
    Text(At<C, String>),
    Rows(At<C, Vec<Vec<f64>>>),
}

type Reading<C> = Rc<dyn Fn(&C) -> Vec<Value>>;
type Writing<C> = Rc<dyn Fn(&mut C, Vec<Value>)>;

/// A parameter among the parameters `C` of a model.
pub struct Setting<C> {
    /// Its key in a scenario.
    pub key: &'static str,
    /// Its meaning, with the unit of a plain number.
    pub about: &'static str,
    /// Unit of a plain number, or a word for its kind; may be empty.
    pub unit: &'static str,
    /// The values that it may have.
    pub range: Range,
    /// Its default in words, where that depends on other things.
    pub shown_default: Option<&'static str>,
    /// Completes "is missing; " where it must be given.
    pub required: Option<&'static str>,
    /// Whether it is left out of what is written while it has its default.
    pub is_quiet: bool,
    /// The reason for which it does not go with the settings before it, if there is one.
    pub check: fn(&C) -> Option<&'static str>,
    place: Place<C>,
}

// Not derived, which would ask that `C` can be cloned.
impl<C> Clone for Setting<C> {
    fn clone(&self) -> Self {
        Self { place: self.place.clone(), ..*self }
    }
}

impl<C> Clone for Place<C> {
    fn clone(&self) -> Self {
        match self {
            Self::Flag(at) => Self::Flag(*at),
            Self::Count(at) => Self::Count(*at),
            Self::Number(at) => Self::Number(*at),
            Self::Time(at) => Self::Time(*at),
            Self::Probability(at) => Self::Probability(*at),
            Self::Size(at) => Self::Size(*at),
            Self::Limit(at) => Self::Limit(*at),
            Self::Word { read, write } => Self::Word { read: *read, write: *write },
            Self::Times(at) => Self::Times(*at),
            Self::Packets(at) => Self::Packets(*at),
            Self::Table { read, write } => Self::Table { read: Rc::clone(read), write: Rc::clone(write) },
            Self::Text(at) => Self::Text(*at),
            Self::Rows(at) => Self::Rows(*at),
        }
    }
}

/// Shorter targets, intervals and updates are slips, and take long to simulate.
const SHORTEST: Duration = Duration::from_micros(1);

impl<C> Setting<C> {
    fn new(key: &'static str, range: Range, place: Place<C>) -> Self {
        Self {
            key,
            about: "",
            unit: "",
            range,
            shown_default: None,
            required: None,
            is_quiet: false,
            check: |_| None,
            place,
        }
    }

    /// True or false.
    pub fn flag(key: &'static str, at: At<C, bool>) -> Self {
        Self::new(key, Range::Flag, Place::Flag(at))
    }

    /// A whole number from 1 to `most` of `what`; `note` explains it in a message.
    pub fn count(key: &'static str, at: At<C, u32>, most: u32, what: &'static str, note: &'static str) -> Self {
        Self::new(key, Range::Count { least: 1, most, what, note }, Place::Count(at))
    }

    /// A whole number from 0 to `most` of `what`.
    pub fn count_or_zero(key: &'static str, at: At<C, u32>, most: u32, what: &'static str) -> Self {
        Self::new(key, Range::Count { least: 0, most, what, note: "" }, Place::Count(at))
    }

    /// A number from `least` to `most`.
    pub fn number(key: &'static str, at: At<C, f64>, least: u32, most: f64) -> Self {
        Self::new(key, Range::Number { least, most }, Place::Number(at))
    }

    /// A time of at least a microsecond.
    pub fn time(key: &'static str, at: At<C, Duration>) -> Self {
        Self::new(key, Range::Time { least: SHORTEST, most: None, refusal: None }, Place::Time(at))
    }

    /// A time that may be zero.
    pub fn time_or_zero(key: &'static str, at: At<C, Duration>) -> Self {
        Self::new(key, Range::Time { least: Duration::ZERO, most: None, refusal: None }, Place::Time(at))
    }

    /// A time from zero to `most`.
    pub fn time_up_to(key: &'static str, at: At<C, Duration>, most: Duration) -> Self {
        Self::new(key, Range::Time { least: Duration::ZERO, most: Some(most), refusal: None }, Place::Time(at))
    }

    /// A time above zero; `refusal` says so.
    pub fn time_above_zero(key: &'static str, at: At<C, Duration>, refusal: &'static str) -> Self {
        let range = Range::Time { least: Duration::from_nanos(1), most: None, refusal: Some(refusal) };
        Self::new(key, range, Place::Time(at))
    }

    /// A number from `least` on of `what`.
    pub fn at_least(key: &'static str, at: At<C, f64>, least: u32, what: &'static str) -> Self {
        Self::new(key, Range::AtLeast { least, what }, Place::Number(at))
    }

    /// A list of times.
    pub fn times(key: &'static str, at: At<C, Vec<Duration>>) -> Self {
        Self::new(key, Range::Times, Place::Times(at))
    }

    /// A list of at most so many packets, numbered from 1 on.
    pub fn packets(key: &'static str, at: At<C, Vec<u64>>, most: usize) -> Self {
        Self::new(key, Range::Packets { most }, Place::Packets(at))
    }

    /// A table with these settings; `parameters` are theirs, with the defaults of this table.
    pub fn table<S: Clone + 'static>(
        key: &'static str,
        at: At<C, S>,
        settings: fn() -> Vec<Setting<S>>,
        parameters: fn() -> Vec<Parameter>,
        example: &'static str,
    ) -> Self
    where
        C: Clone + 'static,
    {
        let read = move |config: &C| {
            let table = at(&mut config.clone()).clone();
            settings().iter().map(|setting| setting.get(&table)).collect()
        };
        let write = move |config: &mut C, values: Vec<Value>| {
            let table = at(config);
            settings().iter().zip(values).for_each(|(setting, value)| setting.set(table, value));
        };
        let place = Place::Table { read: Rc::new(read), write: Rc::new(write) };
        Self::new(key, Range::Table { parameters, example }, place)
    }

    /// A probability.
    pub fn probability(key: &'static str, at: At<C, Probability>) -> Self {
        Self::new(key, Range::Probability { above_zero: false }, Place::Probability(at))
    }

    /// A probability above zero.
    pub fn chance(key: &'static str, at: At<C, Probability>) -> Self {
        Self::new(key, Range::Probability { above_zero: true }, Place::Probability(at))
    }

    /// A size above zero.
    pub fn size(key: &'static str, at: At<C, Bytes>) -> Self {
        Self::new(key, Range::Size, Place::Size(at))
    }

    /// A part of a queue, in packets, bytes or bandwidth-delay products.
    pub fn limit(key: &'static str, at: At<C, Limit>) -> Self {
        Self::new(key, Range::Limit, Place::Limit(at))
    }

    /// One of `words`, by its index; `what` they name.
    pub fn word(
        key: &'static str,
        what: &'static str,
        words: &'static [&'static str],
        read: fn(&C) -> usize,
        write: fn(&mut C, usize),
    ) -> Self {
        Self::new(key, Range::Word { what, words }, Place::Word { read, write })
    }

    /// A real number of this unit, from `least` to `most`.
    pub fn quantity(key: &'static str, at: At<C, f64>, unit: Unit, least: f64, most: f64) -> Self {
        Self::new(key, Range::Quantity { unit, least, most }, Place::Number(at))
    }

    /// A text; `what` it names.
    pub fn text(key: &'static str, at: At<C, String>, what: &'static str) -> Self {
        Self::new(key, Range::Text { what }, Place::Text(at))
    }

    /// Rows of finite numbers, one for each of `columns`.
    pub fn rows(
        key: &'static str,
        at: At<C, Vec<Vec<f64>>>,
        columns: &'static [&'static str],
        example: &'static str,
    ) -> Self {
        Self::new(key, Range::Rows { columns, example }, Place::Rows(at))
    }

    /// Its meaning, a sentence with the unit of a plain number.
    #[must_use]
    pub fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    /// Its unit, for a number that is written without one.
    #[must_use]
    pub fn unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    /// Its default in words, where that depends on other things.
    #[must_use]
    pub fn by_default(self, shown: &'static str) -> Self {
        Self { shown_default: Some(shown), ..self }
    }

    /// It must be given; `remedy` completes "is missing; ".
    #[must_use]
    pub fn required(self, remedy: &'static str) -> Self {
        Self { required: Some(remedy), ..self }
    }

    /// It is left out of what is written while it has its default.
    #[must_use]
    pub fn quiet(self) -> Self {
        Self { is_quiet: true, ..self }
    }

    /// It has to go with the settings before it: `check` says why it does not.
    #[must_use]
    pub fn checked(self, check: fn(&C) -> Option<&'static str>) -> Self {
        Self { check, ..self }
    }

    /// Its value.
    pub fn get(&self, config: &C) -> Value
    where
        C: Clone,
    {
        let mut config = config.clone();
        match &self.place {
            Place::Flag(at) => Value::Flag(*at(&mut config)),
            Place::Count(at) => Value::Count(*at(&mut config)),
            Place::Number(at) => Value::Number(*at(&mut config)),
            Place::Time(at) => Value::Time(*at(&mut config)),
            Place::Probability(at) => Value::Probability(*at(&mut config)),
            Place::Size(at) => Value::Size(*at(&mut config)),
            Place::Limit(at) => Value::Limit(*at(&mut config)),
            Place::Word { read, .. } => Value::Word(read(&config)),
            Place::Times(at) => Value::Times(std::mem::take(at(&mut config))),
            Place::Packets(at) => Value::Packets(std::mem::take(at(&mut config))),
            Place::Table { read, .. } => Value::Table(read(&config)),
            Place::Text(at) => Value::Text(std::mem::take(at(&mut config))),
            Place::Rows(at) => Value::Rows(std::mem::take(at(&mut config))),
        }
    }

    /// Puts a value of its range in its place.
    ///
    /// # Panics
    /// If the value is of another kind than the setting.
    pub fn set(&self, config: &mut C, value: Value) {
        match (&self.place, value) {
            (Place::Flag(at), Value::Flag(value)) => *at(config) = value,
            (Place::Count(at), Value::Count(value)) => *at(config) = value,
            (Place::Number(at), Value::Number(value)) => *at(config) = value,
            (Place::Time(at), Value::Time(value)) => *at(config) = value,
            (Place::Probability(at), Value::Probability(value)) => *at(config) = value,
            (Place::Size(at), Value::Size(value)) => *at(config) = value,
            (Place::Limit(at), Value::Limit(value)) => *at(config) = value,
            (Place::Word { write, .. }, Value::Word(value)) => write(config, value),
            (Place::Times(at), Value::Times(value)) => *at(config) = value,
            (Place::Packets(at), Value::Packets(value)) => *at(config) = value,
            (Place::Table { write, .. }, Value::Table(values)) => write(config, values),
            (Place::Text(at), Value::Text(value)) => *at(config) = value,
            (Place::Rows(at), Value::Rows(value)) => *at(config) = value,
            (_, value) => panic!("{value:?} is no value of {}", self.key),
        }
    }
}

/// A parameter of a model, whichever that is.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its key in a scenario.
    pub key: &'static str,
    /// Its meaning, with the unit of a plain number.
    pub about: &'static str,
    /// Unit of a plain number, or a word for its kind; may be empty.
    pub unit: &'static str,
    /// The values that it may have.
    pub range: Range,
    /// Its value where nothing is said.
    pub default: Value,
    /// Completes "is missing; " where it must be given.
    pub required: Option<&'static str>,
    /// Whether it is left out of what is written while it has its default.
    pub is_quiet: bool,
}

/// The parameters that a model declares.
pub fn parameters<C: Clone + Default>(settings: Vec<Setting<C>>) -> Vec<Parameter> {
    parameters_of(settings, &C::default())
}

/// The parameters of a table with these defaults.
pub fn parameters_of<C: Clone>(settings: Vec<Setting<C>>, defaults: &C) -> Vec<Parameter> {
    let describe = |setting: Setting<C>| {
        let default = setting.get(defaults);
        let Setting { key, about, unit, range, required, is_quiet, .. } = setting;
        Parameter { key, about, unit, range, default, required, is_quiet }
    };
    settings.into_iter().map(describe).collect()
}
