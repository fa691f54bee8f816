//! Tables that are defined by descriptions of their columns. A column is declared once, with its name, type, unit and
//! meaning. The hash, the columns of result files, the keys of a summary and the data dictionary follow from the
//! declaration.
//!
//! - `rows`: the rows of a summary.
//! - `recorded`: columns that grow during a run; `packed`: columns of mostly repeated values.
//! - `list`: the tables that a result may have.

mod list;
mod packed;
mod recorded;
mod rows;

pub(crate) use list::tables;
pub use list::{Cells, Contents};
pub use packed::Packed;
pub(crate) use recorded::{ColumnEntry, Entries, HashedColumns, entries, is_hashed, note, recorded};
pub use recorded::{Data, Filled, GrowingTable, MISSING, NameTable};
pub use rows::{Column, Row, Value};
pub(crate) use rows::{
    Declared, Field, FieldHash, Hashed, HashedRow, hash_rows, hashed, of_group, optional_group, rows, within,
};

use serde::Serialize;
use xxhash_rust::xxh3::Xxh3;

/// The type of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnType {
    /// A string, such as a name.
    Text,
    /// An integer.
    Count,
    /// A floating-point number.
    Number,
    /// True or false.
    Flag,
}

/// The declaration of a column, for readers of results.
#[derive(Clone, Debug, Serialize)]
pub struct About {
    /// Name in tables.
    pub name: String,
    /// Keys of the value in an object of the summary, from the outermost to the innermost; empty if the summary does
    /// not contain it.
    pub keys: Vec<&'static str>,
    /// Type of the values.
    pub kind: ColumnType,
    /// Unit of the values; empty if there is none.
    pub unit: &'static str,
    /// Description of the values.
    pub meaning: String,
    /// Whether tables omit the column if no row has its group.
    pub optional: bool,
    /// Whether the value is null in objects if it is missing.
    pub nullable: bool,
    /// Whether objects omit the key if the value is missing.
    pub omitted: bool,
}

/// The declaration of a table.
#[derive(Clone, Debug, Serialize)]
pub struct TableSpec {
    /// Name of the table.
    pub name: &'static str,
    /// Short description of the table.
    pub about: &'static str,
    /// Description of its rows.
    pub meaning: String,
    /// The columns in order.
    pub columns: Vec<About>,
}

/// Returns a doc comment as one paragraph, without line breaks and link brackets.
pub(crate) fn paragraph(doc: &str) -> String {
    let words: Vec<&str> = doc.split_whitespace().collect();
    words.join(" ").replace("[`", "`").replace("`]", "`")
}

/// Returns the bits of a number. A missing number has bits that no number of a result has.
pub(crate) fn optional(value: Option<f64>) -> u64 {
    value.map_or(u64::MAX, f64::to_bits)
}

/// XXH3-128 hash of numbers (as little-endian bytes) and strings.
#[derive(Default)]
pub(crate) struct ColumnHash {
    state: Xxh3,
    block: Vec<u8>,
}

impl ColumnHash {
    pub(crate) fn text(&mut self, text: &str) {
        self.state.update(text.as_bytes());
        self.state.update(&[0]);
    }

    /// Adds numbers to the hash. They are added in blocks, because each call of the hash function has a cost.
    pub(crate) fn numbers(&mut self, numbers: impl IntoIterator<Item = u64>) {
        self.block.clear();
        for number in numbers {
            self.block.extend_from_slice(&number.to_le_bytes());
            if self.block.len() >= 1 << 14 {
                self.state.update(&self.block);
                self.block.clear();
            }
        }
        self.state.update(&self.block);
    }

    pub(crate) fn finish(self) -> String {
        format!("{:032x}", self.state.digest128())
    }
}
