//! Tables that grow during a run: each column is a vector of numbers.

use super::packed::{Packable, Packed};
use super::{About, ColumnHash, ColumnType, optional};
use std::ops::Range;

/// Index that stands for a missing name in an optional column.
pub const MISSING: u8 = u8::MAX;

/// The names that the indices in a column refer to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NameTable {
    /// No names: the column holds numbers.
    None,
    /// Names of flows.
    Flows,
    /// Names of link directions, followed by names of interfaces to media.
    Links,
    /// Names of nodes.
    Nodes,
    /// Ids of the objects of pages.
    Objects,
    /// The listed names.
    These(&'static [&'static str]),
}

/// The values of a recorded column.
#[derive(Clone, Debug)]
pub enum Data {
    /// Numbers; NaN where a value is missing.
    Numbers(Vec<f64>),
    /// Integers.
    Counts(Vec<u64>),
    /// Small integers, or indices of names.
    Words(Vec<u32>),
    /// Integers or indices of names that fit into a byte.
    Bytes(Vec<u8>),
    /// True or false.
    Flags(Vec<bool>),
}

/// A recorded column with its values.
#[derive(Clone, Debug)]
pub struct Filled {
    /// Name of the column.
    pub name: &'static str,
    /// Names that the indices in the column refer to.
    pub names: NameTable,
    /// Values of the column.
    pub data: Data,
}

/// Type of the values of a recorded column.
pub(crate) trait ColumnEntry: Copy + Send {
    const KIND: ColumnType;

    /// Returns the bits that represent the value in the hash.
    fn bits(self) -> u64;

    fn data(column: Vec<Self>) -> Data;
}

macro_rules! entries {
    ($($type:ty: $kind:ident, |$at:ident| $bits:expr, |$column:ident| $data:expr;)+) => {$(
        impl ColumnEntry for $type {
            const KIND: $crate::table::ColumnType = $crate::table::ColumnType::$kind;

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

/// The values of a column: a vector, or a packed column.
pub(crate) trait Entries: Default {
    const KIND: ColumnType;

    /// Returns the number of entries.
    fn count(&self) -> usize;

    /// Returns a copy of the values of these rows, as far as they exist.
    fn copied(&self, rows: Range<usize>) -> Self;

    /// Appends the values of these rows of another column, as far as they exist.
    fn append(&mut self, from: &Self, rows: Range<usize>);

    fn empty(&mut self);

    /// Returns the bits that represent the values in the hash.
    fn bits(&self) -> impl Iterator<Item = u64>;

    fn data(self) -> Data;

    fn reorder(&mut self, order: &[usize]);
}

/// Returns the part of `rows` that lies within a column with `count` values; an optional column may have none.
fn within(rows: Range<usize>, count: usize) -> Range<usize> {
    let end = rows.end.min(count);
    rows.start.min(end)..end
}

impl<T: ColumnEntry> Entries for Vec<T> {
    const KIND: ColumnType = T::KIND;

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
        self.iter().map(|entry| ColumnEntry::bits(*entry))
    }

    fn data(self) -> Data {
        T::data(self)
    }

    fn reorder(&mut self, order: &[usize]) {
        *self = order.iter().map(|at| self[*at]).collect();
    }
}

impl<T: ColumnEntry + Packable> Entries for Packed<T> {
    const KIND: ColumnType = T::KIND;

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
        self.iter().map(ColumnEntry::bits)
    }

    fn data(self) -> Data {
        T::data(self.unpacked(0..self.len()))
    }

    fn reorder(&mut self, order: &[usize]) {
        *self = order.iter().map(|at| self.get(*at)).collect();
    }
}

/// A table that grows during a run.
pub trait GrowingTable: Send + Sync {
    /// Returns the declarations of the columns.
    fn columns() -> Vec<About>
    where
        Self: Sized;

    /// Returns the description of a row of the table.
    fn meaning() -> String
    where
        Self: Sized;

    /// Returns the number of rows.
    fn count(&self) -> usize;

    /// Returns the columns with copies of their values in these rows. An optional column without values is omitted.
    fn copied(&self, rows: Range<usize>) -> Vec<Filled>;

    /// Moves the columns with all their values out of the table.
    fn taken(&mut self) -> Vec<Filled>;
}

/// Recorded tables that are included in the hash.
pub(crate) trait HashedColumns: GrowingTable {
    /// Adds every column to the hash.
    fn hash_into(&self, hash: &mut ColumnHash);

    /// Reorders the rows.
    fn reorder(&mut self, order: &[usize]);
}

/// Declares the columns of a table that grows during a run, as vectors or packed columns; the first is `time_s`. Each
/// column is followed by brackets with its unit (empty if there is none) and a note. The note is the list of names that
/// its indices refer to, `optional` for a column that may have no values at all, or `optional_named` for a column of
/// names that may include [`MISSING`], or `unhashed` for a column that the hash omits. `hashed by` lists the columns that the hash includes first; all others follow.
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
            /// Returns the number of rows.
            pub fn rows(&self) -> usize {
                self.time_s.len()
            }

            /// Appends some rows of another table.
            #[allow(dead_code, reason = "unused by tables that are filled at the end of a run")]
            pub(crate) fn append(&mut self, from: &Self, rows: std::ops::Range<usize>) {
                use $crate::table::Entries;
                $(Entries::append(&mut self.$column, &from.$column, rows.clone());)+
            }

            /// Removes all rows.
            #[allow(dead_code, reason = "unused by tables that are filled at the end of a run")]
            pub(crate) fn clear(&mut self) {
                use $crate::table::Entries;
                $(self.$column.empty();)+
            }
        }

        impl $crate::table::GrowingTable for $table {
            fn columns() -> Vec<$crate::table::About> {
                use $crate::table::{About, Entries, ColumnType, NameTable, paragraph};
                vec![$({
                    let (names, optional) = $crate::table::note!($($note $(($names))?)?);
                    About {
                        name: stringify!($column).to_owned(),
                        keys: Vec::new(),
                        kind: if names == NameTable::None { <$type as Entries>::KIND } else { ColumnType::Text },
                        unit: $unit,
                        meaning: paragraph(concat!($($doc, "\n"),+)),
                        optional,
                        nullable: false,
                        omitted: false,
                    }
                }),+]
            }

            fn meaning() -> String {
                $crate::table::paragraph(concat!($($about, "\n"),+))
            }

            fn count(&self) -> usize {
                self.rows()
            }

            fn copied(&self, rows: std::ops::Range<usize>) -> Vec<$crate::table::Filled> {
                use $crate::table::Entries;
                Self { $($column: Entries::copied(&self.$column, rows.clone())),+ }.taken()
            }

            fn taken(&mut self) -> Vec<$crate::table::Filled> {
                use $crate::table::{Entries, Filled};
                let mut filled = Vec::new();
                $(
                    let (names, optional) = $crate::table::note!($($note $(($names))?)?);
                    if !(optional && Entries::count(&self.$column) == 0) {
                        let data = Entries::data(std::mem::take(&mut self.$column));
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
                    if $crate::table::is_hashed!($($note)?) && !FIRST.contains(&stringify!($column)) {
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
        ($crate::table::NameTable::None, false)
    };
    (unhashed) => {
        ($crate::table::NameTable::None, false)
    };
    (optional) => {
        ($crate::table::NameTable::None, true)
    };
    (named($names:expr)) => {
        ($names, false)
    };
    (optional_named($names:expr)) => {
        ($names, true)
    };
}

/// Returns false for the note of a column that the hash omits.
macro_rules! is_hashed {
    (unhashed) => {
        false
    };
    ($($other:ident)?) => {
        true
    };
}

pub(crate) use {is_hashed, note, recorded};

#[cfg(test)]
mod tests {
    use super::*;

    recorded! {
        /// A table with one column of each kind.
        pub struct Rows, hashed by value {
            /// Time of the row.
            time_s: Vec<f64> ["s"],
            /// A packed number.
            value: Packed<u64> ["B"],
            /// Index of a name.
            name: Vec<u8> ["", named(NameTable::These(&["x", "y"]))],
            /// An optional index.
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
        let names: Vec<&str> = table().taken().iter().map(|filled| filled.name).collect();
        assert_eq!(names, ["time_s", "value", "name"]);
        let filled = Rows { leg: vec![1, 2], ..table() }.taken();
        assert_eq!((filled[3].name, filled[2].names), ("leg", NameTable::These(&["x", "y"])));
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
        let kinds: Vec<ColumnType> = Rows::columns().iter().map(|about| about.kind).collect();
        assert_eq!(kinds, [ColumnType::Number, ColumnType::Count, ColumnType::Text, ColumnType::Count]);
        let tail = table().copied(1..2);
        assert!(table().count() == 2 && matches!(&tail[1].data, Data::Counts(values) if *values == [8]));
    }

    #[test]
    fn rows_are_appended_and_an_optional_column_stays_empty() {
        let mut table = table();
        table.append(&table.clone(), 1..2);
        assert_eq!((table.value.unpacked(0..3), table.name, table.leg.len()), (vec![7, 8, 8], vec![1, 0, 0], 0));
    }
}
