//! The tables that a result may have. Their names, their order, and the condition for their presence are declared once.

use super::{About, GrowingTable, Row, Value};

/// A column of a table of rows: its values, with its declaration.
pub struct Cells<'a> {
    /// Declaration of the column.
    pub about: About,
    /// Values of the column.
    pub values: Box<dyn Iterator<Item = Value<'a>> + 'a>,
}

/// The contents of a table of a result.
pub enum Contents<'a> {
    /// Rows of the summary, column by column.
    Rows(Vec<Cells<'a>>),
    /// Columns in packed form, for large networks in which plain columns would not fit into memory.
    Columns(Box<dyn GrowingTable>),
    /// Columns in packed form. In a large network, plain columns do not fit into memory.
    Packed(Box<dyn GrowingTable>),
}

impl<'a> Contents<'a> {
    pub(crate) fn rows<R: Row, I: IntoIterator<Item = &'a R, IntoIter: 'a> + Copy>(rows: I) -> Self {
        let columns = R::columns().into_iter().filter(|column| column.is_in(rows));
        let cells = columns.map(|column| Cells {
            about: column.about.clone(),
            values: Box::new(rows.into_iter().map(move |row| column.value(row))),
        });
        Self::Rows(cells.collect())
    }
}

/// Declares the tables of a `RunResult`. Each line has the name of a table, a short description, its form, its type,
/// its field in a result, and the condition for its presence. The form is `rows` for rows of the summary, `columns` for
/// columns that grow during a run, or `packed` for such columns in packed form. The hash takes rows before columns.
macro_rules! tables {
    (|$result:ident| $($name:literal, $about:literal: $form:ident $table:ty = $place:expr, if $is_there:expr;)+) => {
        /// Returns every table that a run may have, in the order of a results directory.
        pub fn dictionary() -> Vec<$crate::table::TableSpec> {
            vec![$($crate::table::tables!(@declared $form $table, $name, $about)),+]
        }

        impl RunResult {
            /// Returns the tables with their names, in the order of the [`dictionary`]. Columns are moved out of the
            /// result.
            pub fn tables(&mut self) -> impl Iterator<Item = (&'static str, $crate::table::Contents<'_>)> {
                let $result = self;
                let tables = [$(if $is_there {
                    Some(($name, $crate::table::tables!(@contents $form $place)))
                } else {
                    None
                }),+];
                tables.into_iter().flatten()
            }

            fn hash_tables(&self, hash: &mut $crate::table::ColumnHash) {
                let $result = self;
                $($crate::table::tables!(@hash_rows $form $place, hash);)+
                $($crate::table::tables!(@hash_columns $form $place, hash);)+
            }
        }
    };

    (@declared rows $row:ty, $name:literal, $about:literal) => {{
        let columns = <$row as $crate::table::Row>::columns().into_iter().map(|column| column.about).collect();
        $crate::table::TableSpec { name: $name, about: $about, meaning: <$row as $crate::table::Row>::meaning(), columns }
    }};
    (@declared $columns:ident $table:ty, $name:literal, $about:literal) => {{
        use $crate::table::GrowingTable;
        $crate::table::TableSpec { name: $name, about: $about, meaning: <$table>::meaning(), columns: <$table>::columns() }
    }};

    (@contents rows $place:expr) => { $crate::table::Contents::rows(&$place) };
    (@contents columns $place:expr) => { $crate::table::Contents::Columns(Box::new(std::mem::take(&mut $place))) };
    (@contents packed $place:expr) => { $crate::table::Contents::Packed(Box::new(std::mem::take(&mut $place))) };

    (@hash_rows rows $place:expr, $hash:ident) => { $crate::table::hash_rows(&$place, $hash) };
    (@hash_rows $columns:ident $place:expr, $hash:ident) => {};

    (@hash_columns rows $place:expr, $hash:ident) => {};
    (@hash_columns $columns:ident $place:expr, $hash:ident) => {
        $crate::table::HashedColumns::hash_into(&$place, $hash)
    };
}

pub(crate) use tables;
