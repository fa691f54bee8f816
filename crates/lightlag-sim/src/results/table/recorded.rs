//! Tables that grow while a run goes on: each column is a vector of numbers.

use super::{About, ColumnHash, Kind, optional};

/// The names behind the numbers of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Names {
    /// It holds numbers.
    None,
    /// Those of flows.
    Flows,
    /// Those of link directions, and behind them of interfaces to media.
    Links,
    /// Those of nodes.
    Nodes,
    /// These.
    These(&'static [&'static str]),
}

/// The values of a recorded column.
#[derive(Clone, Debug)]
pub enum Data {
    /// Numbers; NaN where a value is missing.
    Numbers(Vec<f64>),
    /// Whole numbers.
    Counts(Vec<u64>),
    /// Whole numbers or the numbers of names.
    Words(Vec<u32>),
    /// The same in a byte.
    Bytes(Vec<u8>),
    /// True or false.
    Flags(Vec<bool>),
}

/// A recorded column with its values.
#[derive(Clone, Debug)]
pub struct Filled {
    /// Its name.
    pub name: &'static str,
    /// The names behind its numbers.
    pub names: Names,
    /// Its values.
    pub data: Data,
}

/// A type that the entries of a recorded column may have.
pub(crate) trait Entry: Copy + Send {
    const KIND: Kind;

    /// The number in the hash.
    fn bits(self) -> u64;

    fn data(column: Vec<Self>) -> Data;
}

macro_rules! entries {
    ($($type:ty: $kind:ident, |$at:ident| $bits:expr, |$column:ident| $data:expr;)+) => {$(
        impl Entry for $type {
            const KIND: $crate::results::table::Kind = $crate::results::table::Kind::$kind;

            fn bits(self) -> u64 {
                let $at = self;
                $bits
            }

            fn data($column: Vec<Self>) -> Data {
                $data
            }
        }
    )+};
}

pub(crate) use entries;

entries! {
    f64: Number, |at| optional((!at.is_nan()).then_some(at)), |column| Data::Numbers(column);
    u64: Count, |at| at, |column| Data::Counts(column);
    u32: Count, |at| at.into(), |column| Data::Words(column);
    u8: Count, |at| at.into(), |column| Data::Bytes(column);
    bool: Flag, |at| at.into(), |column| Data::Flags(column);
}

/// A table that grows while a run goes on.
pub trait Recorded: Clone + Default {
    /// The declarations of its columns.
    fn columns() -> Vec<About>;

    /// The meaning of a row.
    fn meaning() -> String;

    /// The columns with their values. An optional column without values is left out.
    fn filled(self) -> Vec<Filled>;
}

/// Recorded tables with a hash.
pub(crate) trait HashedColumns: Recorded {
    /// Adds every column.
    fn hash_into(&self, hash: &mut ColumnHash);

    /// Brings the rows into another order.
    fn reorder(&mut self, order: &[usize]);
}

/// The columns of a table that grows while a run goes on, `time_s` first. In brackets stand the unit, empty without one, and
/// whose names the numbers of a column stand for, or `optional` for a column that may have no values at all. `hashed by`
/// names the columns that the hash takes first; every other one follows.
macro_rules! recorded {
    ($(
        $(#[doc = $about:literal])+
        pub struct $table:ident $(, hashed by $($first:ident),+)? {
            $(
                $(#[doc = $doc:literal])+
                $column:ident: $type:ty [$unit:literal $(, $note:ident $(($names:expr))?)?]
            ),+ $(,)?
        }
    )+) => {$(
        $(#[doc = $about])+
        #[derive(Clone, Debug, Default)]
        pub struct $table {
            $(
                $(#[doc = $doc])+
                pub $column: Vec<$type>,
            )+
        }

        impl $table {
            /// Number of rows.
            pub fn rows(&self) -> usize {
                self.time_s.len()
            }

            /// A copy of the rows from `first` on.
            #[must_use]
            pub fn tail(&self, first: usize) -> Self {
                Self { $($column: self.$column.get(first..).unwrap_or_default().to_vec()),+ }
            }

            /// Appends some rows of another table.
            #[allow(dead_code, reason = "tables that are filled at the end of a run have no use for it")]
            pub(crate) fn append(&mut self, from: &Self, rows: std::ops::Range<usize>) {
                $(self.$column.extend_from_slice(from.$column.get(rows.clone()).unwrap_or_default());)+
            }

            /// Forgets all rows.
            #[allow(dead_code, reason = "tables that are filled at the end of a run have no use for it")]
            pub(crate) fn clear(&mut self) {
                $(self.$column.clear();)+
            }
        }

        impl $crate::results::table::Recorded for $table {
            fn columns() -> Vec<$crate::results::table::About> {
                use $crate::results::table::{About, Entry, Kind, Names, paragraph};
                vec![$({
                    let (names, optional) = $crate::results::table::note!($($note $(($names))?)?);
                    About {
                        name: stringify!($column).to_owned(),
                        keys: Vec::new(),
                        kind: if names == Names::None { <$type as Entry>::KIND } else { Kind::Text },
                        unit: $unit,
                        meaning: paragraph(concat!($($doc, "\n"),+)),
                        optional,
                        omitted: false,
                    }
                }),+]
            }

            fn meaning() -> String {
                $crate::results::table::paragraph(concat!($($about, "\n"),+))
            }

            fn filled(self) -> Vec<$crate::results::table::Filled> {
                use $crate::results::table::{Entry, Filled};
                let mut filled = Vec::new();
                $(
                    let (names, optional) = $crate::results::table::note!($($note $(($names))?)?);
                    if !(optional && self.$column.is_empty()) {
                        let data = <$type as Entry>::data(self.$column);
                        filled.push(Filled { name: stringify!($column), names, data });
                    }
                )+
                filled
            }
        }

        impl $crate::results::table::HashedColumns for $table {
            fn hash_into(&self, hash: &mut $crate::results::table::ColumnHash) {
                use $crate::results::table::Entry;
                const FIRST: &[&str] = &[$($(stringify!($first)),+)?];
                $($(hash.numbers(self.$first.iter().map(|at| Entry::bits(*at)));)+)?
                $(
                    if !FIRST.contains(&stringify!($column)) {
                        hash.numbers(self.$column.iter().map(|at| Entry::bits(*at)));
                    }
                )+
            }

            fn reorder(&mut self, order: &[usize]) {
                $(
                    if !self.$column.is_empty() {
                        self.$column = order.iter().map(|at| self.$column[*at]).collect();
                    }
                )+
            }
        }
    )+};
}

macro_rules! note {
    () => {
        ($crate::results::table::Names::None, false)
    };
    (optional) => {
        ($crate::results::table::Names::None, true)
    };
    (named($names:expr)) => {
        ($names, false)
    };
}

pub(crate) use {note, recorded};

#[cfg(test)]
mod tests {
    use super::*;

    recorded! {
        /// Rows.
        pub struct Rows, hashed by value {
            /// Time.
            time_s: f64 ["s"],
            /// Value.
            value: u64 ["B"],
            /// Name.
            name: u8 ["", named(Names::These(&["x", "y"]))],
            /// Leg.
            leg: u8 ["", optional],
        }
    }

    fn table() -> Rows {
        Rows { time_s: vec![2.0, f64::NAN], value: vec![7, 8], name: vec![1, 0], leg: Vec::new() }
    }

    #[test]
    fn every_column_is_in_the_hash() {
        let (mut ours, mut numbers) = (ColumnHash::default(), ColumnHash::default());
        table().hash_into(&mut ours);
        numbers.numbers([7, 8, 2.0_f64.to_bits(), u64::MAX, 1, 0]);
        assert_eq!(ours.finish(), numbers.finish());
    }

    #[test]
    fn an_optional_column_without_values_is_left_out() {
        let names: Vec<&str> = table().filled().iter().map(|filled| filled.name).collect();
        assert_eq!(names, ["time_s", "value", "name"]);
        let filled = Rows { leg: vec![1, 2], ..table() }.filled();
        assert_eq!((filled[3].name, filled[2].names), ("leg", Names::These(&["x", "y"])));
        assert!(matches!(&filled[3].data, Data::Bytes(legs) if *legs == [1, 2]));
    }

    #[test]
    fn rows_change_their_order_together() {
        let mut table = table();
        table.reorder(&[1, 0]);
        assert_eq!((table.value, table.name, table.time_s[1]), (vec![8, 7], vec![0, 1], 2.0));
    }

    #[test]
    fn names_are_texts_to_readers() {
        let kinds: Vec<Kind> = Rows::columns().iter().map(|about| about.kind).collect();
        assert_eq!(kinds, [Kind::Number, Kind::Count, Kind::Text, Kind::Count]);
        assert_eq!((table().rows(), table().tail(1).value), (2, vec![8]));
    }
}
