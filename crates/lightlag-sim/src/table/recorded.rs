//! Tables that grow while a run goes on: each column is a vector of numbers.

use super::packed::{Packable, Packed};
use super::{About, ColumnHash, Kind, optional};
use std::ops::Range;

/// The number of a missing name in an optional column.
pub const MISSING: u8 = u8::MAX;

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
            const KIND: $crate::table::Kind = $crate::table::Kind::$kind;

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

/// A column of entries: a vector, or a packed one.
pub(crate) trait Entries: Default {
    const KIND: Kind;

    /// Number of entries.
    fn count(&self) -> usize;

    /// A copy of the entries of these rows; of those that there are, if there are fewer.
    fn copied(&self, rows: Range<usize>) -> Self;

    /// Appends the entries of these rows of another column; of those that there are, if there are fewer.
    fn append(&mut self, from: &Self, rows: Range<usize>);

    fn empty(&mut self);

    /// The numbers in the hash.
    fn bits(&self) -> impl Iterator<Item = u64>;

    fn data(self) -> Data;

    fn reorder(&mut self, order: &[usize]);
}

/// Rows of a column with `count` entries: an optional column may have none.
fn within(rows: Range<usize>, count: usize) -> Range<usize> {
    let end = rows.end.min(count);
    rows.start.min(end)..end
}

impl<T: Entry> Entries for Vec<T> {
    const KIND: Kind = T::KIND;

    fn count(&self) -> usize {
        self.len()
    }

    fn copied(&self, rows: Range<usize>) -> Self {
        self[within(rows, self.len())].to_vec()
    }

    fn append(&mut self, from: &Self, rows: Range<usize>) {
        self.extend_from_slice(&from[within(rows, from.len())]);
    }

    fn empty(&mut self) {
        self.clear();
    }

    fn bits(&self) -> impl Iterator<Item = u64> {
        self.iter().map(|entry| Entry::bits(*entry))
    }

    fn data(self) -> Data {
        T::data(self)
    }

    fn reorder(&mut self, order: &[usize]) {
        *self = order.iter().map(|at| self[*at]).collect();
    }
}

impl<T: Entry + Packable> Entries for Packed<T> {
    const KIND: Kind = T::KIND;

    fn count(&self) -> usize {
        self.len()
    }

    fn copied(&self, rows: Range<usize>) -> Self {
        self.unpacked(within(rows, self.len())).into_iter().collect()
    }

    fn append(&mut self, from: &Self, rows: Range<usize>) {
        within(rows, from.len()).for_each(|row| self.push(from.get(row)));
    }

    fn empty(&mut self) {
        self.clear();
    }

    fn bits(&self) -> impl Iterator<Item = u64> {
        self.iter().map(Entry::bits)
    }

    fn data(self) -> Data {
        T::data(self.unpacked(0..self.len()))
    }

    fn reorder(&mut self, order: &[usize]) {
        *self = order.iter().map(|at| self.get(*at)).collect();
    }
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

/// The columns of a table that grows while a run goes on, `time_s` first, as vectors or packed. In brackets stand the unit, empty without one, and
/// whose names the numbers of a column stand for, or `optional` for a column that may have no values at all; `optional_named`
/// for one with names, of which some may be [`MISSING`]. `hashed by`
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
                pub $column: $type,
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
                self.part(first..self.rows())
            }

            /// A copy of these rows.
            #[must_use]
            pub fn part(&self, rows: std::ops::Range<usize>) -> Self {
                use $crate::table::Entries;
                Self { $($column: self.$column.copied(rows.clone())),+ }
            }

            /// Appends some rows of another table.
            #[allow(dead_code, reason = "tables that are filled at the end of a run have no use for it")]
            pub(crate) fn append(&mut self, from: &Self, rows: std::ops::Range<usize>) {
                use $crate::table::Entries;
                $(Entries::append(&mut self.$column, &from.$column, rows.clone());)+
            }

            /// Forgets all rows.
            #[allow(dead_code, reason = "tables that are filled at the end of a run have no use for it")]
            pub(crate) fn clear(&mut self) {
                use $crate::table::Entries;
                $(self.$column.empty();)+
            }
        }

        impl $crate::table::Recorded for $table {
            fn columns() -> Vec<$crate::table::About> {
                use $crate::table::{About, Entries, Kind, Names, paragraph};
                vec![$({
                    let (names, optional) = $crate::table::note!($($note $(($names))?)?);
                    About {
                        name: stringify!($column).to_owned(),
                        keys: Vec::new(),
                        kind: if names == Names::None { <$type as Entries>::KIND } else { Kind::Text },
                        unit: $unit,
                        meaning: paragraph(concat!($($doc, "\n"),+)),
                        optional,
                        omitted: false,
                    }
                }),+]
            }

            fn meaning() -> String {
                $crate::table::paragraph(concat!($($about, "\n"),+))
            }

            fn filled(self) -> Vec<$crate::table::Filled> {
                use $crate::table::{Entries, Filled};
                let mut filled = Vec::new();
                $(
                    let (names, optional) = $crate::table::note!($($note $(($names))?)?);
                    if !(optional && self.$column.count() == 0) {
                        let data = Entries::data(self.$column);
                        filled.push(Filled { name: stringify!($column), names, data });
                    }
                )+
                filled
            }
        }

        impl $crate::table::HashedColumns for $table {
            fn hash_into(&self, hash: &mut $crate::table::ColumnHash) {
                use $crate::table::Entries;
                const FIRST: &[&str] = &[$($(stringify!($first)),+)?];
                $($(hash.numbers(Entries::bits(&self.$first));)+)?
                $(
                    if !FIRST.contains(&stringify!($column)) {
                        hash.numbers(Entries::bits(&self.$column));
                    }
                )+
            }

            fn reorder(&mut self, order: &[usize]) {
                use $crate::table::Entries;
                $(
                    if self.$column.count() > 0 {
                        Entries::reorder(&mut self.$column, order);
                    }
                )+
            }
        }
    )+};
}

macro_rules! note {
    () => {
        ($crate::table::Names::None, false)
    };
    (optional) => {
        ($crate::table::Names::None, true)
    };
    (named($names:expr)) => {
        ($names, false)
    };
    (optional_named($names:expr)) => {
        ($names, true)
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
            time_s: Vec<f64> ["s"],
            /// Value.
            value: Packed<u64> ["B"],
            /// Name.
            name: Vec<u8> ["", named(Names::These(&["x", "y"]))],
            /// Leg.
            leg: Vec<u8> ["", optional],
        }
    }

    fn table() -> Rows {
        let value = [7, 8].into_iter().collect();
        Rows { time_s: vec![2.0, f64::NAN], value, name: vec![1, 0], leg: Vec::new() }
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
        assert_eq!((table.value.unpacked(0..2), table.name, table.time_s[1]), (vec![8, 7], vec![0, 1], 2.0));
    }

    #[test]
    fn names_are_texts_to_readers() {
        let kinds: Vec<Kind> = Rows::columns().iter().map(|about| about.kind).collect();
        assert_eq!(kinds, [Kind::Number, Kind::Count, Kind::Text, Kind::Count]);
        assert_eq!((table().rows(), table().tail(1).value.unpacked(0..1)), (2, vec![8]));
    }

    #[test]
    fn rows_are_appended_and_an_optional_column_stays_empty() {
        let mut table = table();
        table.append(&table.clone(), 1..2);
        assert_eq!((table.value.unpacked(0..3), table.name, table.leg.len()), (vec![7, 8, 8], vec![1, 0, 0], 0));
    }
}
