//! Answers: a head in JSON, and columns of numbers behind it.
//!
//! ```text
//! u32    length of the head
//! head   JSON; `tables` and `captures` say where in the columns they are
//! zeros  up to a multiple of eight bytes
//! data   columns, each from a multiple of eight bytes on
//! ```
//!
//! Numbers are little-endian. Counts are numbers of 64 bits with a fraction, which hold every count below 2^53.

use lightlag_sim::table::{Data, Filled, Names, Recorded};
use serde_json::{Map, Value, json};

/// An answer in the making.
pub struct Answer {
    head: Value,
    tables: Map<String, Value>,
    data: Vec<u8>,
}

impl Answer {
    /// An answer with this head, an object.
    pub fn of(head: Value) -> Self {
        Self { head, tables: Map::new(), data: Vec::new() }
    }

    /// An answer that says why there is none.
    pub fn refusal(message: String) -> Self {
        Self::of(json!({ "error": { "message": message } }))
    }

    /// Adds a table that a run has recorded.
    pub fn table(&mut self, name: &str, table: impl Recorded) {
        let columns = table.filled();
        self.add(name, columns);
    }

    /// Adds a table of plain numbers.
    pub fn numbers(&mut self, name: &str, columns: Vec<(&'static str, Data)>) {
        let filled = |(name, data)| Filled { name, names: Names::None, data };
        self.add(name, columns.into_iter().map(filled).collect());
    }

    /// Adds a key to the head.
    pub fn set(&mut self, key: &str, value: Value) {
        self.head[key] = value;
    }

    /// Adds bytes, and tells where they start.
    pub fn bytes(&mut self, bytes: &[u8]) -> usize {
        self.align();
        let at = self.data.len();
        self.data.extend_from_slice(bytes);
        at
    }

    fn add(&mut self, name: &str, columns: Vec<Filled>) {
        let mut rows = 0;
        let mut described = Vec::with_capacity(columns.len());
        for Filled { name, names, data } in columns {
            self.align();
            let at = self.data.len();
            let kind = match data {
                Data::Numbers(values) => {
                    rows = values.len();
                    self.data.extend(values.iter().flat_map(|value| value.to_le_bytes()));
                    "f64"
                }
                Data::Counts(values) => {
                    rows = values.len();
                    self.data.extend(values.iter().flat_map(|value| (*value as f64).to_le_bytes()));
                    "f64"
                }
                Data::Words(values) => {
                    rows = values.len();
                    self.data.extend(values.iter().flat_map(|value| value.to_le_bytes()));
                    "u32"
                }
                Data::Bytes(values) => {
                    rows = values.len();
                    self.data.extend_from_slice(&values);
                    "u8"
                }
                Data::Flags(values) => {
                    rows = values.len();
                    self.data.extend(values.iter().map(|value| u8::from(*value)));
                    "u8"
                }
            };
            let mut column = json!({ "name": name, "type": kind, "at": at });
            match names {
                Names::None => {}
                Names::Flows => column["names"] = "flows".into(),
                Names::Links => column["names"] = "links".into(),
                Names::Nodes => column["names"] = "nodes".into(),
                Names::These(names) => column["names"] = names.into(),
            }
            described.push(column);
        }
        self.tables.insert(name.to_owned(), json!({ "rows": rows, "columns": described }));
    }

    fn align(&mut self) {
        self.data.resize(self.data.len().next_multiple_of(8), 0);
    }

    /// The answer as bytes.
    ///
    /// # Panics
    /// If its head is no object or is longer than 4 GiB, which no answer is.
    pub fn into_bytes(mut self) -> Vec<u8> {
        if !self.tables.is_empty() {
            self.head["tables"] = self.tables.into();
        }
        let head = self.head.to_string();
        let length = u32::try_from(head.len()).expect("a head is shorter");
        let mut bytes = Vec::with_capacity(16 + head.len() + self.data.len());
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(head.as_bytes());
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes.extend_from_slice(&self.data);
        bytes
    }
}
