//! Conversions between the fields of a model and the values of its settings.

use super::{Limit, Value};
use crate::{Bytes, Duration, Probability, Rate, Varied};

/// The type of a field that a setting reads and writes.
pub trait SettingField: Clone {
    /// Converts the field to a value.
    fn value(self) -> Value;

    /// Converts a value to the field.
    ///
    /// # Errors
    /// Returns the value, if it is of another type.
    fn of(value: Value) -> Result<Self, Value>;
}

/// `T` or `Option<T>`.
pub trait Optional<T>: SettingField + 'static {}

impl<T: SettingField + 'static> Optional<T> for T {}
impl<T: SettingField + 'static> Optional<T> for Option<T> {}

macro_rules! held {
    ($($type:ty, $kind:ident;)*) => {
        $(
            impl SettingField for $type {
                fn value(self) -> Value {
                    Value::$kind(self)
                }

                fn of(value: Value) -> Result<Self, Value> {
                    if let Value::$kind(value) = value { Ok(value) } else { Err(value) }
                }
            }
        )*
    };
}

held! {
    bool, Flag;
    u32, Count;
    f64, Number;
    Duration, Time;
    Probability, Probability;
    Bytes, Size;
    Rate, Rate;
    u64, Amount;
    Varied<Bytes>, DrawnSize;
    Varied<Duration>, DrawnTime;
    Varied<u64>, DrawnAmount;
    Limit, Limit;
    Vec<Duration>, Times;
    Vec<u64>, Packets;
    String, Text;
    Vec<Vec<f64>>, Rows;
    usize, Word;
    Vec<Value>, Table;
}

impl<T: SettingField> SettingField for Option<T> {
    fn value(self) -> Value {
        self.map_or(Value::Nothing, T::value)
    }

    fn of(value: Value) -> Result<Self, Value> {
        if value == Value::Nothing { Ok(None) } else { T::of(value).map(Some) }
    }
}
