//! The code point of differentiated services in the IP header.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// Differentiated services code point of a packet (RFC 2474 §3): six bits next to the ECN field.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Dscp(u8);

/// Code points that have a name (RFC 2474, 2597, 3246, 5865, 8622).
const NAMED: [(&str, u8); 23] = [
    ("CS0", 0),
    ("LE", 1),
    ("CS1", 8),
    ("AF11", 10),
    ("AF12", 12),
    ("AF13", 14),
    ("CS2", 16),
    ("AF21", 18),
    ("AF22", 20),
    ("AF23", 22),
    ("CS3", 24),
    ("AF31", 26),
    ("AF32", 28),
    ("AF33", 30),
    ("CS4", 32),
    ("AF41", 34),
    ("AF42", 36),
    ("AF43", 38),
    ("CS5", 40),
    ("VA", 44),
    ("EF", 46),
    ("CS6", 48),
    ("CS7", 56),
];

impl Dscp {
    /// Returns the code point with this number; `None` if the number is greater than 63.
    pub const fn new(number: u8) -> Option<Self> {
        if number < 64 { Some(Self(number)) } else { None }
    }

    /// Returns the code point of this name.
    pub fn named(name: &str) -> Option<Self> {
        NAMED.iter().find(|(of, _)| *of == name).map(|(_, number)| Self(*number))
    }

    /// Returns the number, from 0 to 63.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Returns the name, if it has one.
    pub fn name(self) -> Option<&'static str> {
        NAMED.iter().find(|(_, number)| *number == self.0).map(|(name, _)| *name)
    }

    /// Returns all names, in the order of their numbers.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMED.iter().map(|(name, _)| *name)
    }
}

impl fmt::Display for Dscp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => self.0.fmt(f),
        }
    }
}

/// Writes the name, or the number if the code point has no name.
impl Serialize for Dscp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.name() {
            Some(name) => serializer.serialize_str(name),
            None => serializer.serialize_u8(self.0),
        }
    }
}

impl JsonSchema for Dscp {
    fn schema_name() -> Cow<'static, str> {
        "Dscp".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "a code point of differentiated services, such as \"EF\" or 46",
            "anyOf": [
                { "enum": Self::names().collect::<Vec<_>>() },
                { "type": "integer", "minimum": 0, "maximum": 63 },
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_two_forms_of_one_value() {
        for name in Dscp::names() {
            let of = Dscp::named(name).unwrap();
            assert_eq!((of.to_string().as_str(), Dscp::new(of.number())), (name, Some(of)));
        }
        assert!(Dscp::names().count() == 23 && Dscp::new(64).is_none() && Dscp::named("ef").is_none());
        assert_eq!(Dscp::new(45).unwrap().to_string(), "45");
    }
}
