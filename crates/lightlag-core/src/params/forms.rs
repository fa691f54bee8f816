//! Values that a scenario may write in several forms: a switch, a number, a keyword or a table.

use super::Plain;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;

/// A table of plain values without duplicate keys.
pub struct PlainTable(pub BTreeMap<String, Plain>);

impl<'de> Deserialize<'de> for PlainTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = PlainTable;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PlainTable, A::Error> {
                let mut table = BTreeMap::new();
                while let Some((key, value)) = map.next_entry::<String, Plain>()? {
                    if table.insert(key.clone(), value).is_some() {
                        return Err(A::Error::custom(format_args!("the key {key:?} is duplicated")));
                    }
                }
                Ok(PlainTable(table))
            }
        }
        deserializer.deserialize_map(Keys)
    }
}

impl PlainTable {
    /// Removes the one of `keys` that is present, and returns the key with its value, which is the name of a `what`.
    /// Returns `None` if no key is present.
    ///
    /// # Errors
    /// If several keys are present, or if the value is not a string.
    pub fn take_name(&mut self, keys: &[&'static str], what: &str) -> Result<Option<(&'static str, String)>, String> {
        let mut named = keys.iter().filter_map(|key| Some((*key, self.0.remove(*key)?)));
        match (named.next(), named.next()) {
            (Some((key, _)), Some((other, _))) => Err(format!("{key} and {other} both name {what}; remove one")),
            (Some((key, Plain::Text(name))), None) => Ok(Some((key, name))),
            (Some((key, other)), None) => Err(format!("{key}: {other} is not a name in quotes")),
            (None, _) => Ok(None),
        }
    }
}

/// Implements `Deserialize` for a type that can be written in some of these forms, which are given in this order.
/// `switch` converts a `bool`, and `number` a `u64`. `word` converts a string, or returns `None` for an unknown one;
/// alternatively, `text` converts a string, or returns an error message. `table` converts a type that is read from a
/// table; alternatively, `read` does so, or returns an error message.
#[macro_export]
macro_rules! forms {
    ($type:ty, $expected:expr; $(switch $switch:expr;)? $(number $number:expr;)? $(word $word:expr;)? $(text $text:expr;)?
        $(table $table:ty: $from_table:expr;)? $(read $read:ty: $from_read:expr;)?) => {
        impl<'de> serde::de::Deserialize<'de> for $type {
            fn deserialize<D: serde::de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Form;
                impl<'de> serde::de::Visitor<'de> for Form {
                    type Value = $type;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        write!(f, "{}", $expected)
                    }
                    $(fn visit_bool<E: serde::de::Error>(self, on: bool) -> Result<$type, E> {
                        Ok($switch(on))
                    })?
                    $(fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<$type, E> {
                        Ok($number(number))
                    }
                    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<$type, E> {
                        let refused = serde::de::Unexpected::Signed(number);
                        u64::try_from(number).map($number).map_err(|_| E::invalid_value(refused, &self))
                    })?
                    $(fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<$type, E> {
                        let refused = serde::de::Unexpected::Str(word);
                        $word(word).ok_or_else(|| E::invalid_value(refused, &self))
                    })?
                    $(fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$type, E> {
                        $text(text).map_err(E::custom)
                    })?
                    $(fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<$type, A::Error> {
                        let map = serde::de::value::MapAccessDeserializer::new(map);
                        Ok($from_table(<$table as serde::de::Deserialize>::deserialize(map)?))
                    })?
                    $(fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<$type, A::Error> {
                        let map = serde::de::value::MapAccessDeserializer::new(map);
                        let table = <$read as serde::de::Deserialize>::deserialize(map)?;
                        $from_read(table).map_err(serde::de::Error::custom)
                    })?
                }
                deserializer.deserialize_any(Form)
            }
        }
    };
}
