//! The rows of a summary: flows, links, proxies and legs, and the groups of fields in them.

use super::{About, ColumnHash, ColumnType, optional, paragraph};

/// The value of a column in a row.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value<'a> {
    /// Value of a column of [`ColumnType::Text`].
    Text(Option<&'a str>),
    /// Value of a column of [`ColumnType::Count`].
    Count(Option<u64>),
    /// Value of a column of [`ColumnType::Number`].
    Number(Option<f64>),
}

impl ColumnType {
    fn missing(self) -> Value<'static> {
        match self {
            Self::Text => Value::Text(None),
            Self::Count | Self::Flag => Value::Count(None),
            Self::Number => Value::Number(None),
        }
    }
}

/// A test whether a row has a group of fields.
type Test<R> = Box<dyn Fn(&R) -> bool>;

/// A column of a table of rows.
pub struct Column<R> {
    /// Declaration of the column.
    pub about: About,
    value: Box<dyn Fn(&R) -> Value<'_>>,
    /// Test whether a row has the group that the column belongs to; `None` for columns that every row has.
    has: Option<Test<R>>,
}

impl<R: 'static> Column<R> {
    /// Returns the value of the column in a row.
    pub fn value<'a>(&self, row: &'a R) -> Value<'a> {
        (self.value)(row)
    }

    /// Returns true if a table with these rows has the column.
    pub fn is_in<'a>(&self, rows: impl IntoIterator<Item = &'a R>) -> bool {
        self.has.as_ref().is_none_or(|has| rows.into_iter().any(has))
    }

    /// Converts a column of rows `R` to a column of rows that contain an `R`.
    fn of<Outer: 'static>(self, get: fn(&Outer) -> &R) -> Column<Outer> {
        let Self { about, value, has } = self;
        Column {
            about,
            value: Box::new(move |row| value(get(row))),
            has: has.map(|has| -> Test<Outer> { Box::new(move |row| has(get(row))) }),
        }
    }

    /// Converts the column to one of an optional group, which some rows do not have.
    fn optional(self) -> Column<Option<Box<R>>> {
        let Self { about, value, .. } = self;
        let kind = about.kind;
        Column {
            about: About { optional: true, ..about },
            value: Box::new(move |group| group.as_deref().map_or_else(|| kind.missing(), &value)),
            has: Some(Box::new(Option::is_some)),
        }
    }
}

/// Declaration of a field. For a group, `unit` is the pattern of the names of its columns, in which `*` stands for a
/// column's own name.
#[derive(Clone, Copy)]
pub(crate) struct Declared {
    pub(crate) key: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) meaning: &'static str,
}

/// A type that a field of a row may have.
pub(crate) trait Field: Sized + 'static {
    /// Returns the columns of a field: a single one, or all columns of a group.
    fn columns(declared: Declared) -> Vec<Column<Self>>;

    /// Adds the field to the hash.
    fn add(&self, hash: &mut ColumnHash);

    /// Returns true if the field is zero or missing.
    fn is_zero(&self) -> bool {
        false
    }
}

/// Whether the key of a field is present in an object of the summary.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Presence {
    /// The key always has a value.
    Always,
    /// The key is null if there is no value.
    Nullable,
    /// The key is omitted if there is no value.
    Omitted,
}

fn plain<F: 'static>(
    declared: Declared,
    kind: ColumnType,
    presence: Presence,
    value: impl Fn(&F) -> Value<'_> + 'static,
) -> Vec<Column<F>> {
    let Declared { key, unit, meaning } = declared;
    let about = About {
        name: key.to_owned(),
        keys: vec![key],
        kind,
        unit,
        meaning: paragraph(meaning),
        optional: false,
        nullable: presence == Presence::Nullable,
        omitted: presence == Presence::Omitted,
    };
    vec![Column { about, value: Box::new(value), has: None }]
}

macro_rules! plain_fields {
    ($($type:ty: $kind:ident, $presence:ident, |$at:ident| $value:expr, |$hash:ident| $add:expr, $is_zero:expr;)+) => {$(
        impl Field for $type {
            fn columns(declared: Declared) -> Vec<Column<Self>> {
                plain(declared, ColumnType::$kind, Presence::$presence, |$at: &Self| Value::$kind($value))
            }

            fn add(&self, $hash: &mut ColumnHash) {
                let $at = self;
                $add
            }

            fn is_zero(&self) -> bool {
                let $at = self;
                $is_zero
            }
        }
    )+};
}

plain_fields! {
    String: Text, Always, |at| Some(at), |hash| hash.text(at), at.is_empty();
    Option<String>: Text, Nullable, |at| at.as_deref(), |hash| hash.text(at.as_deref().unwrap_or_default()), at.is_none();
    Option<&'static str>: Text, Omitted, |at| *at, |hash| hash.text(at.unwrap_or_default()), at.is_none();
    u64: Count, Always, |at| Some(*at), |hash| hash.numbers([*at]), *at == 0;
    f64: Number, Always, |at| Some(*at), |hash| hash.numbers([at.to_bits()]), *at == 0.0;
    Option<f64>: Number, Nullable, |at| *at, |hash| hash.numbers([optional(*at)]), at.is_none();
}

/// Whether a field is included in the hash.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hashed {
    /// Always included.
    Always,
    /// Never included, because the field describes the scenario instead of a result, or because it was added later and
    /// hashes of earlier versions do not include it.
    Never,
    /// Included if any field of the set with this number counted an event. The hash of a row without such events thus
    /// stays the same when a field is added to the set.
    Rare(u8),
}

/// The contribution of one field to the hash of a row.
pub(crate) struct FieldHash<R> {
    pub(crate) key: &'static str,
    pub(crate) hashed: Hashed,
    pub(crate) add: fn(&R, &mut ColumnHash),
    pub(crate) is_zero: fn(&R) -> bool,
}

/// Type of the rows of a table of the summary, or of a group of fields in such rows.
pub trait Row: Sized + 'static {
    /// Returns the columns of a table with such rows.
    fn columns() -> Vec<Column<Self>>;

    /// Returns the description of a row of the table.
    fn meaning() -> String;
}

/// Rows that are included in the hash.
pub(crate) trait HashedRow: Row {
    /// All fields, in the order of their declaration.
    const PARTS: &'static [FieldHash<Self>];
    /// Keys of the fields that the hash includes first; the others follow in the order of their declaration.
    const FIRST: &'static [&'static str];

    /// Returns the fields in the order of the hash.
    fn in_order() -> Vec<&'static FieldHash<Self>> {
        let rank = |part: &&FieldHash<Self>| Self::FIRST.iter().position(|key| *key == part.key).unwrap_or(usize::MAX);
        let mut parts: Vec<_> = Self::PARTS.iter().filter(|part| part.hashed != Hashed::Never).collect();
        parts.sort_by_key(rank);
        parts
    }

    fn add_in(&self, order: &[&FieldHash<Self>], hash: &mut ColumnHash) {
        let is_there = |hashed| order.iter().any(|other| other.hashed == hashed && !(other.is_zero)(self));
        for part in order {
            if !matches!(part.hashed, Hashed::Rare(_)) || is_there(part.hashed) {
                (part.add)(self, hash);
            }
        }
    }
}

/// Adds every row to the hash.
pub(crate) fn hash_rows<'a, R: HashedRow>(rows: impl IntoIterator<Item = &'a R>, hash: &mut ColumnHash) {
    let order = R::in_order();
    rows.into_iter().for_each(|row| row.add_in(&order, hash));
}

/// Pattern of a group whose columns keep their own names, and whose keys are at the same level as the keys of the row.
const FLAT: &str = "*";

/// Returns the columns of a field whose type is a group.
pub(crate) fn of_group<G: HashedRow>(Declared { key, unit: pattern, .. }: Declared) -> Vec<Column<G>> {
    let renamed = |Column { about, value, has }: Column<G>| {
        let outer = Some(key).filter(|_| pattern != FLAT);
        let keys = outer.into_iter().chain(about.keys).collect();
        Column { about: About { name: pattern.replace('*', &about.name), keys, ..about }, value, has }
    };
    G::columns().into_iter().map(renamed).collect()
}

pub(crate) fn optional_group<G: Field>(declared: Declared) -> Vec<Column<Option<Box<G>>>> {
    G::columns(declared).into_iter().map(Column::optional).collect()
}

pub(crate) fn within<F: Field, R: 'static>(declared: Declared, get: fn(&R) -> &F) -> Vec<Column<R>> {
    F::columns(declared).into_iter().map(|column| column.of(get)).collect()
}

/// Declares the rows of a table of the summary. Each field is followed by brackets with its unit (empty if there is
/// none) and, unless it is always hashed, its role in the hash ([`Hashed`]): `label` for a field that describes the
/// scenario, `unhashed` for a count that was added later and leaves the hashes of earlier versions unchanged, `rare N`
/// for a member of a set of rare counts. A field whose type is a group has the pattern of its columns' names instead of
/// a unit. `hashed by` lists the fields that the hash includes first; all others follow, so that a new field is always
/// included.
macro_rules! rows {
    (
        $(#[doc = $about:literal])+
        $(#[derive($($derive:path),+)])?
        pub struct $row:ident $(, hashed by $($first:ident),+)? {
            $(
                $(#[doc = $doc:literal])+
                $(#[serde($($serde:tt)+)])?
                $field:ident: $type:ty [$unit:literal $(, $hashed:ident $($set:literal)?)?]
            ),+ $(,)?
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, serde::Serialize $(, $($derive),+)?)]
        pub struct $row {
            $(
                $(#[doc = $doc])+
                $(#[serde($($serde)+)])?
                pub $field: $type,
            )+
        }

        impl $crate::table::Row for $row {
            fn columns() -> Vec<$crate::table::Column<Self>> {
                use $crate::table::{Declared, within};
                let mut columns = Vec::new();
                $(
                    let declared =
                        Declared { key: stringify!($field), unit: $unit, meaning: concat!($($doc, "\n"),+) };
                    columns.extend(within::<$type, Self>(declared, |row| &row.$field));
                )+
                columns
            }

            fn meaning() -> String {
                $crate::table::paragraph(concat!($($about, "\n"),+))
            }
        }

        impl $crate::table::HashedRow for $row {
            const PARTS: &'static [$crate::table::FieldHash<Self>] = &[$(
                $crate::table::FieldHash {
                    key: stringify!($field),
                    hashed: $crate::table::hashed!($($hashed $($set)?)?),
                    add: |row, hash| $crate::table::Field::add(&row.$field, hash),
                    is_zero: |row| $crate::table::Field::is_zero(&row.$field),
                }
            ),+];
            const FIRST: &'static [&'static str] = &[$($({
                let _: fn(&Self) = |row| _ = &row.$first;
                stringify!($first)
            }),+)?];
        }

        impl $crate::table::Field for $row {
            fn columns(
                declared: $crate::table::Declared,
            ) -> Vec<$crate::table::Column<Self>> {
                $crate::table::of_group(declared)
            }

            fn add(&self, hash: &mut $crate::table::ColumnHash) {
                use $crate::table::HashedRow;
                self.add_in(&Self::in_order(), hash);
            }
        }

        impl $crate::table::Field for Option<Box<$row>> {
            fn columns(
                declared: $crate::table::Declared,
            ) -> Vec<$crate::table::Column<Self>> {
                $crate::table::optional_group(declared)
            }

            fn add(&self, hash: &mut $crate::table::ColumnHash) {
                if let Some(group) = self {
                    group.add(hash);
                }
            }
        }
    };
}

macro_rules! hashed {
    () => {
        $crate::table::Hashed::Always
    };
    (label) => {
        $crate::table::Hashed::Never
    };
    (unhashed) => {
        $crate::table::Hashed::Never
    };
    (rare $set:literal) => {
        $crate::table::Hashed::Rare($set)
    };
}

pub(crate) use {hashed, rows};

#[cfg(test)]
mod tests {
    use super::*;

    rows! {
        /// A group of two fields.
        #[derive(Copy)]
        pub struct Group, hashed by second {
            /// A count.
            first: u64 ["B"],
            /// An optional number.
            second: Option<f64> ["s"],
        }
    }

    rows! {
        /// A row
        /// of two lines.
        pub struct Line, hashed by count {
            /// A label, which is not in the hash.
            name: String ["", label],
            /// A count, which is in the hash.
            count: u64 [""],
            /// A rare count.
            seldom: u64 ["", rare 1],
            /// Another rare count of the same set.
            too: u64 ["", rare 1],
            /// A group that every row has.
            parts: Group ["part_*_s"],
            /// A group that some rows have.
            group: Option<Box<Group>> ["group_*"],
        }
    }

    fn line() -> Line {
        let group = Group { first: 4, second: None };
        Line { name: "a".into(), count: 1, seldom: 0, too: 0, parts: group, group: Some(Box::new(group)) }
    }

    fn hash(numbers: &[u64]) -> String {
        let mut hash = ColumnHash::default();
        hash.numbers(numbers.iter().copied());
        hash.finish()
    }

    fn hash_of(line: Line) -> String {
        let mut hash = ColumnHash::default();
        hash_rows(&[line], &mut hash);
        hash.finish()
    }

    #[test]
    fn a_field_is_in_the_hash_unless_it_is_a_label() {
        let missing = u64::MAX;
        assert_eq!(hash_of(line()), hash(&[1, missing, 4, missing, 4]));
        assert_eq!(hash_of(Line { name: "b".into(), ..line() }), hash_of(line()));
        assert_eq!(hash_of(Line { group: None, ..line() }), hash(&[1, missing, 4]));
    }

    #[test]
    fn a_rare_set_is_in_the_hash_where_one_of_it_counted() {
        let missing = u64::MAX;
        assert_eq!(hash_of(Line { too: 7, ..line() }), hash(&[1, 0, 7, missing, 4, missing, 4]));
    }

    #[test]
    fn columns_have_the_names_of_their_groups() {
        let columns = <Line as Row>::columns();
        let names: Vec<&str> = columns.iter().map(|column| column.about.name.as_str()).collect();
        let groups = ["part_first_s", "part_second_s", "group_first", "group_second"];
        assert_eq!(names, [&["name", "count", "seldom", "too"][..], &groups].concat());
        assert_eq!(columns[7].about.keys, ["group", "second"]);
        assert_eq!((columns[6].about.unit, columns[6].about.kind), ("B", ColumnType::Count));
        assert_eq!(Line::meaning(), "A row of two lines.");
    }

    #[test]
    fn columns_of_a_group_that_no_row_has_are_left_out() {
        let lines = [line(), Line { group: None, ..line() }];
        let is_in = |lines: &[Line]| <Line as Row>::columns().iter().filter(|column| column.is_in(lines)).count();
        assert_eq!((is_in(&lines), is_in(&lines[1..])), (8, 6));
        let columns = <Line as Row>::columns();
        assert_eq!(columns[6].value(&lines[0]), Value::Count(Some(4)));
        assert_eq!(columns[6].value(&lines[1]), Value::Count(None));
        assert_eq!(columns[7].value(&lines[1]), Value::Number(None));
        assert_eq!(columns[0].value(&lines[0]), Value::Text(Some("a")));
    }
}
