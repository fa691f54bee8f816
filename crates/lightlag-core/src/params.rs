//! Parameters of models. One declaration determines how a parameter is read, checked, written and described.
//!
//! A model lists its [`Setting`]s next to its code. The reader of a scenario checks a value against the setting's
//! [`Range`] and stores it as a [`Value`]; this module depends on no format. [`registry!`](crate::registry) declares a
//! choice among models.

mod declared;
mod forms;
mod held;
mod limit;
pub mod overrides;
pub mod plain;
pub mod refusal;
mod registry;

pub use declared::Declared;
pub use forms::PlainTable;
pub use held::{Optional, SettingField};
pub use limit::Limit;
pub use plain::Plain;
pub use registry::{Described, Registered};

use crate::{Bytes, Duration, Probability, Rate, Unit, Varied};
use std::rc::Rc;

/// The value of a parameter.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// No value, for an optional parameter.
    Nothing,
    /// True or false.
    Flag(bool),
    /// An integer.
    Count(u32),
    /// A number.
    Number(f64),
    /// A time.
    Time(Duration),
    /// A probability.
    Probability(Probability),
    /// A size.
    Size(Bytes),
    /// A rate.
    Rate(Rate),
    /// A large integer.
    Amount(u64),
    /// A size, fixed or random.
    DrawnSize(Varied<Bytes>),
    /// A time, fixed or random.
    DrawnTime(Varied<Duration>),
    /// A large integer, fixed or random.
    DrawnAmount(Varied<u64>),
    /// A queue size in packets, bytes or bandwidth-delay products.
    Limit(Limit),
    /// A keyword, by its index.
    Word(usize),
    /// Times, in any order.
    Times(Vec<Duration>),
    /// Packet indices, in any order.
    Packets(Vec<u64>),
    /// A table, as the values of its parameters.
    Table(Vec<Value>),
    /// A string.
    Text(String),
    /// Rows of numbers.
    Rows(Vec<Vec<f64>>),
}

/// Valid values of a parameter.
#[derive(Clone, Copy, Debug)]
pub enum Range {
    /// True or false.
    Flag,
    /// An integer.
    Count {
        /// Minimum.
        least: u32,
        /// Maximum.
        most: u32,
        /// Noun for the count, with an article: "a number of queues".
        what: &'static str,
        /// Explanation for a message, after the range.
        note: &'static str,
    },
    /// A number.
    Number {
        /// Minimum.
        least: u32,
        /// Maximum.
        most: f64,
    },
    /// An integer that may be large or negative.
    Whole {
        /// Minimum, or minus infinity.
        least: f64,
        /// Maximum, or infinity.
        most: f64,
    },
    /// A number without an upper bound.
    AtLeast {
        /// Minimum.
        least: u32,
        /// Noun for the count, with an article: "a number of packets".
        what: &'static str,
    },
    /// A time.
    Time {
        /// Minimum.
        least: Duration,
        /// Maximum, if there is one.
        most: Option<Duration>,
        /// Message for a shorter time, if the default message is not sufficient.
        refusal: Option<&'static str>,
    },
    /// A probability.
    Probability {
        /// Whether 0 is invalid.
        above_zero: bool,
    },
    /// A size above zero.
    Size,
    /// A rate.
    Rate,
    /// An integer of at least 1.
    Amount {
        /// Message for 0.
        refusal: &'static str,
    },
    /// A size, fixed or random.
    DrawnSize,
    /// A time, fixed or random.
    DrawnTime {
        /// Minimum mean.
        least: Duration,
    },
    /// An integer of at least 1, fixed or random.
    DrawnAmount,
    /// A queue size in packets, bytes or bandwidth-delay products.
    Limit,
    /// One of several keywords.
    Word {
        /// Noun for the choice, with an article: "a mode".
        what: &'static str,
        /// The keywords.
        words: &'static [&'static str],
    },
    /// A list of times.
    Times,
    /// A list of packet indices, starting at 1.
    Packets {
        /// Maximum length of the list.
        most: usize,
    },
    /// A table with its own parameters.
    Table {
        /// Parameters of the table.
        parameters: fn() -> Vec<Parameter>,
        /// Example in TOML.
        example: &'static str,
    },
    /// A real number with a unit.
    Quantity {
        /// Unit of the value.
        unit: Unit,
        /// Minimum.
        least: f64,
        /// Maximum.
        most: f64,
    },
    /// A string that is not empty.
    Text {
        /// Noun for the string, with an article: "a file".
        what: &'static str,
    },
    /// A list of rows of numbers.
    Rows {
        /// Names of the columns, with units.
        columns: &'static [&'static str],
        /// Example in TOML.
        example: &'static str,
    },
}

/// A choice among keywords.
pub trait Word: Copy + PartialEq + 'static {
    /// All choices.
    const ALL: &'static [Self];
    /// Keywords of the choices, in the same order.
    const NAMES: &'static [&'static str];

    /// Returns the index in [`ALL`](Self::ALL).
    fn index(self) -> usize {
        Self::ALL.iter().position(|choice| *choice == self).expect("the list has all choices")
    }

    /// Returns the keyword.
    fn name(self) -> &'static str {
        Self::NAMES[self.index()]
    }
}

/// Accessor of a field of the parameters `C` of a model.
type At<C, T> = fn(&mut C) -> &mut T;
type Reader<C> = Rc<dyn Fn(&C) -> Value>;
type Writer<C> = Rc<dyn Fn(&mut C, Value)>;
type Check<C> = Rc<dyn Fn(&C) -> Option<&'static str>>;

/// One parameter of a model. `C` is the struct that holds all parameters of the model.
pub struct Setting<C> {
    /// Key in a scenario.
    pub key: &'static str,
    /// Description, with the unit of a plain number.
    pub about: &'static str,
    /// Unit of a plain number, or a noun for its kind; may be empty.
    pub unit: &'static str,
    /// Valid values.
    pub range: Range,
    /// Description of the default, if it depends on other parameters.
    pub shown_default: Option<&'static str>,
    /// Text that follows "is missing; " in the error message if the parameter is required; `None` if it is optional.
    pub required: Option<&'static str>,
    /// Whether the parameter is omitted from a written scenario while it has its default.
    pub is_quiet: bool,
    /// Returns the reason why the parameter cannot be combined with the settings before it, if there is one.
    pub check: Check<C>,
    read: Reader<C>,
    write: Writer<C>,
}

// Not derived, because a derived implementation would require `C: Clone`.
impl<C> Clone for Setting<C> {
    fn clone(&self) -> Self {
        let (read, write, check) = (Rc::clone(&self.read), Rc::clone(&self.write), Rc::clone(&self.check));
        Self { read, write, check, ..*self }
    }
}

/// Minimum time. Shorter targets, intervals and updates are probably typing errors, and would take long to simulate.
const SHORTEST: Duration = Duration::from_micros(1);

impl<C: Clone + 'static> Setting<C> {
    fn with(key: &'static str, range: Range, read: Reader<C>, write: Writer<C>) -> Self {
        let check = Rc::new(|_: &C| None);
        let (shown_default, required) = (None, None);
        Self { key, about: "", unit: "", range, shown_default, required, is_quiet: false, check, read, write }
    }

    fn new<T: SettingField + 'static>(key: &'static str, range: Range, field: At<C, T>) -> Self {
        let read = move |config: &C| field(&mut config.clone()).clone().value();
        let write = move |config: &mut C, value| *field(config) = T::of(value).expect("a value of the setting's kind");
        Self::with(key, range, Rc::new(read), Rc::new(write))
    }

    /// Declares a flag.
    pub fn flag(key: &'static str, field: At<C, bool>) -> Self {
        Self::new(key, Range::Flag, field)
    }

    /// Declares an integer from 1 to `max`. `what` is the noun for it in messages, and `note` an explanation.
    pub fn count<T: Optional<u32>>(
        key: &'static str,
        field: At<C, T>,
        max: u32,
        what: &'static str,
        note: &'static str,
    ) -> Self {
        Self::new(key, Range::Count { least: 1, most: max, what, note }, field)
    }

    /// Declares an integer from 0 to `max`; `what` is the noun for it in messages.
    pub fn count_or_zero(key: &'static str, field: At<C, u32>, max: u32, what: &'static str) -> Self {
        Self::new(key, Range::Count { least: 0, most: max, what, note: "" }, field)
    }

    /// Declares a number from `min` to `max`.
    pub fn number<T: Optional<f64>>(key: &'static str, field: At<C, T>, min: u32, max: f64) -> Self {
        Self::new(key, Range::Number { least: min, most: max }, field)
    }

    /// Declares a time of at least a microsecond.
    pub fn time(key: &'static str, field: At<C, Duration>) -> Self {
        Self::new(key, Range::Time { least: SHORTEST, most: None, refusal: None }, field)
    }

    /// Declares a time that may be zero.
    pub fn time_or_zero(key: &'static str, field: At<C, Duration>) -> Self {
        Self::new(key, Range::Time { least: Duration::ZERO, most: None, refusal: None }, field)
    }

    /// Declares a time from zero to `max`.
    pub fn time_up_to(key: &'static str, field: At<C, Duration>, max: Duration) -> Self {
        Self::new(key, Range::Time { least: Duration::ZERO, most: Some(max), refusal: None }, field)
    }

    /// Declares a time above zero; `refusal` is the message for zero.
    pub fn time_above_zero<T: Optional<Duration>>(key: &'static str, field: At<C, T>, refusal: &'static str) -> Self {
        let range = Range::Time { least: Duration::from_nanos(1), most: None, refusal: Some(refusal) };
        Self::new(key, range, field)
    }

    /// Declares a number of at least `min`; `what` is the noun for it in messages.
    pub fn at_least(key: &'static str, field: At<C, f64>, min: u32, what: &'static str) -> Self {
        Self::new(key, Range::AtLeast { least: min, what }, field)
    }

    /// Declares a list of times.
    pub fn times(key: &'static str, field: At<C, Vec<Duration>>) -> Self {
        Self::new(key, Range::Times, field)
    }

    /// Declares a list of up to `max` packet indices, starting at 1.
    pub fn packets(key: &'static str, field: At<C, Vec<u64>>, max: usize) -> Self {
        Self::new(key, Range::Packets { most: max }, field)
    }

    /// Declares a table with the given settings. `parameters` returns their descriptions with the defaults of this
    /// table.
    pub fn table<S: Clone + 'static>(
        key: &'static str,
        field: At<C, S>,
        settings: fn() -> Vec<Setting<S>>,
        parameters: fn() -> Vec<Parameter>,
        example: &'static str,
    ) -> Self {
        let read = move |config: &C| {
            let table = field(&mut config.clone()).clone();
            Value::Table(settings().iter().map(|setting| setting.get(&table)).collect())
        };
        let write = move |config: &mut C, value| {
            let (table, values) = (field(config), Vec::of(value).expect("the values of a table"));
            settings().iter().zip(values).for_each(|(setting, value): (_, Value)| setting.set(table, value));
        };
        Self::with(key, Range::Table { parameters, example }, Rc::new(read), Rc::new(write))
    }

    /// Declares a probability.
    pub fn probability(key: &'static str, field: At<C, Probability>) -> Self {
        Self::new(key, Range::Probability { above_zero: false }, field)
    }

    /// Declares a probability above zero.
    pub fn chance(key: &'static str, field: At<C, Probability>) -> Self {
        Self::new(key, Range::Probability { above_zero: true }, field)
    }

    /// Declares a size above zero.
    pub fn size(key: &'static str, field: At<C, Bytes>) -> Self {
        Self::new(key, Range::Size, field)
    }

    /// Declares a rate.
    pub fn rate<T: Optional<Rate>>(key: &'static str, field: At<C, T>) -> Self {
        Self::new(key, Range::Rate, field)
    }

    /// Declares an integer of at least 1; `refusal` is the message for 0.
    pub fn amount<T: Optional<u64>>(key: &'static str, field: At<C, T>, refusal: &'static str) -> Self {
        Self::new(key, Range::Amount { refusal }, field)
    }

    /// Declares a size, fixed or random.
    pub fn drawn_size(key: &'static str, field: At<C, Varied<Bytes>>) -> Self {
        Self::new(key, Range::DrawnSize, field)
    }

    /// Declares a time, fixed or random.
    pub fn drawn_time<T: Optional<Varied<Duration>>>(key: &'static str, field: At<C, T>) -> Self {
        Self::new(key, Range::DrawnTime { least: Duration::ZERO }, field)
    }

    /// Declares a time, fixed or random, with a mean of at least a microsecond.
    pub fn drawn_wait<T: Optional<Varied<Duration>>>(key: &'static str, field: At<C, T>) -> Self {
        Self::new(key, Range::DrawnTime { least: SHORTEST }, field)
    }

    /// Declares an integer of at least 1, fixed or random.
    pub fn drawn_amount(key: &'static str, field: At<C, Varied<u64>>) -> Self {
        Self::new(key, Range::DrawnAmount, field)
    }

    /// Declares a queue size in packets, bytes or bandwidth-delay products.
    pub fn limit(key: &'static str, field: At<C, Limit>) -> Self {
        Self::new(key, Range::Limit, field)
    }

    /// Declares a choice of one of `words`, stored as its index; `what` is the noun for the choice in messages.
    pub fn word(
        key: &'static str,
        what: &'static str,
        words: &'static [&'static str],
        read: fn(&C) -> usize,
        write: fn(&mut C, usize),
    ) -> Self {
        let write = move |config: &mut C, value| write(config, usize::of(value).expect("the index of a keyword"));
        let read = move |config: &C| read(config).value();
        Self::with(key, Range::Word { what, words }, Rc::new(read), Rc::new(write))
    }

    /// Declares a choice of one of the keywords of `W`; `what` is the noun for the choice in messages.
    pub fn choice<W: Word>(key: &'static str, field: At<C, W>, what: &'static str) -> Self {
        let read = move |config: &C| field(&mut config.clone()).index().value();
        let write =
            move |config: &mut C, value| *field(config) = W::ALL[usize::of(value).expect("the index of a keyword")];
        Self::with(key, Range::Word { what, words: W::NAMES }, Rc::new(read), Rc::new(write))
    }

    /// Converts the setting to one of a larger struct of parameters, which contains `C`.
    #[must_use]
    pub fn within<O: Clone + 'static>(self, field: At<O, C>) -> Setting<O> {
        let Self { key, about, unit, range, shown_default, required, is_quiet, check, read, write } = self;
        let read = move |outer: &O| read(field(&mut outer.clone()));
        let write = move |outer: &mut O, value| write(field(outer), value);
        let check = move |outer: &O| check(field(&mut outer.clone()));
        let (read, write, check) = (Rc::new(read), Rc::new(write), Rc::new(check));
        Setting { key, about, unit, range, shown_default, required, is_quiet, check, read, write }
    }

    /// Declares a real number with a unit, from `min` to `max`.
    pub fn quantity(key: &'static str, field: At<C, f64>, unit: Unit, min: f64, max: f64) -> Self {
        Self::new(key, Range::Quantity { unit, least: min, most: max }, field)
    }

    /// Declares a string; `what` is the noun for it in messages.
    pub fn text(key: &'static str, field: At<C, String>, what: &'static str) -> Self {
        Self::new(key, Range::Text { what }, field)
    }

    /// Declares rows of finite numbers, one for each of `columns`.
    pub fn rows(
        key: &'static str,
        field: At<C, Vec<Vec<f64>>>,
        columns: &'static [&'static str],
        example: &'static str,
    ) -> Self {
        Self::new(key, Range::Rows { columns, example }, field)
    }

    /// Sets the description, a sentence with the unit of a plain number.
    #[must_use]
    pub fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    /// Sets the unit of a number that is written without one.
    #[must_use]
    pub fn unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    /// Sets the description of a default that depends on other parameters.
    #[must_use]
    pub fn by_default(self, shown: &'static str) -> Self {
        Self { shown_default: Some(shown), ..self }
    }

    /// Makes the parameter required. `remedy` follows "is missing; " in the error message.
    #[must_use]
    pub fn required(self, remedy: &'static str) -> Self {
        Self { required: Some(remedy), ..self }
    }

    /// Omits the parameter from a written scenario while it has its default.
    #[must_use]
    pub fn quiet(self) -> Self {
        Self { is_quiet: true, ..self }
    }

    /// Adds a check against the settings before this one: `check` returns the reason why they cannot be combined.
    #[must_use]
    pub fn checked(self, check: fn(&C) -> Option<&'static str>) -> Self {
        Self { check: Rc::new(check), ..self }
    }

    /// Sets other parameters as well when this one is set: `change` assigns the matching values.
    #[must_use]
    pub fn implies(self, change: fn(&mut C)) -> Self {
        let write = Rc::clone(&self.write);
        let both = move |config: &mut C, value| {
            write(config, value);
            change(config);
        };
        Self { write: Rc::new(both), ..self }
    }

    /// Returns the value.
    pub fn get(&self, config: &C) -> Value {
        (self.read)(config)
    }

    /// Stores a value, which must be in the range of the setting.
    ///
    /// # Panics
    /// If the value is of another kind than the setting.
    pub fn set(&self, config: &mut C, value: Value) {
        (self.write)(config, value);
    }
}

/// Description of a parameter of any model.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Key in a scenario.
    pub key: &'static str,
    /// Description, with the unit of a plain number.
    pub about: &'static str,
    /// Unit of a plain number, or a noun for its kind; may be empty.
    pub unit: &'static str,
    /// Valid values.
    pub range: Range,
    /// Default value.
    pub default: Value,
    /// Text that follows "is missing; " in the error message if the parameter is required; `None` if it is optional.
    pub required: Option<&'static str>,
    /// Whether the parameter is omitted from a written scenario while it has its default.
    pub is_quiet: bool,
}

/// Returns the parameters that a model declares.
pub fn parameters<C: Clone + Default + 'static>(settings: Vec<Setting<C>>) -> Vec<Parameter> {
    parameters_of(settings, &C::default())
}

/// Returns the parameters of a table with these defaults.
pub fn parameters_of<C: Clone + 'static>(settings: Vec<Setting<C>>, defaults: &C) -> Vec<Parameter> {
    let describe = |setting: Setting<C>| {
        let default = setting.get(defaults);
        let Setting { key, about, unit, range, required, is_quiet, .. } = setting;
        Parameter { key, about, unit, range, default, required, is_quiet }
    };
    settings.into_iter().map(describe).collect()
}
