//! Tables as descriptions of their columns. A column is declared once, with its name, type, unit and meaning; the hash, the
//! columns of result files, the keys of a summary and the data dictionary follow from the declaration.
//!
//! - `rows`: the rows of a summary.
//! - `recorded`: columns that grow while a run goes on; `packed`: those of them that mostly repeat themselves.

mod packed;
mod recorded;
mod rows;

pub use packed::Packed;
pub use recorded::{Data, Filled, MISSING, Names, Recorded};
pub(crate) use recorded::{Entries, Entry, HashedColumns, entries, note, recorded};
pub use rows::{Column, Row, Value};
pub(crate) use rows::{
    Declared, Field, Hashed, HashedRow, Part, hash_rows, hashed, of_group, optional_group, rows, within,
};

use serde::Serialize;
use xxhash_rust::xxh3::Xxh3;

/// The type of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A text or a name.
    Text,
    /// A whole number.
    Count,
    /// A number.
    Number,
    /// True or false.
    Flag,
}

/// The declaration of a column, for readers of results.
#[derive(Clone, Debug, Serialize)]
pub struct About {
    /// Its name in tables.
    pub name: String,
    /// Its keys in an object of the summary, from the outside in; none if it is not there.
    pub keys: Vec<&'static str>,
    /// Its type.
    pub kind: Kind,
    /// Its unit; empty if it has none.
    pub unit: &'static str,
    /// Its meaning.
    pub meaning: String,
    /// Whether tables leave the column out if no row has the group to which it belongs.
    pub optional: bool,
    /// Whether objects leave the value out if it is missing.
    pub omitted: bool,
}

/// The declaration of a table.
#[derive(Clone, Debug, Serialize)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Its rows.
    pub meaning: String,
    /// Its columns, in their order.
    pub columns: Vec<About>,
}

/// A doc comment as one paragraph.
pub(crate) fn paragraph(doc: &str) -> String {
    let words: Vec<&str> = doc.split_whitespace().collect();
    words.join(" ").replace("[`", "`").replace("`]", "`")
}

/// A missing number, as bits that no number of a result has.
pub(crate) fn optional(value: Option<f64>) -> u64 {
    value.map_or(u64::MAX, f64::to_bits)
}

/// XXH3-128 over numbers, little-endian, and texts.
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

    /// Adds numbers in blocks: the hash has a cost a call.
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
