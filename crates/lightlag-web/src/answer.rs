//! Replies: a head in JSON, followed by columns of numbers.
//!
//! ```text
//! u32    length of the head
//! head   JSON object; its keys `tables` and `captures` contain offsets into the data
//! zeros  padding to a multiple of eight bytes
//! data   columns, each at a multiple of eight bytes
//! ```
//!
//! Numbers are little-endian. Counts are stored as 64-bit floating-point numbers, which are exact for counts below
//! 2^53.

use lightlag_sim::table::{Data, Filled, NameTable};
use serde_json::{Map, Value, json};

/// A reply under construction.
pub struct Reply {
    head: Value,
    tables: Map<String, Value>,
    data: Vec<u8>,
    /// Ids of the objects of pages, in the order of their indices in tables.
    object_names: Vec<String>,
}

impl Reply {
    /// Creates a reply with this head, which must be a JSON object.
    pub fn of(head: Value) -> Self {
        Self { head, tables: Map::new(), data: Vec::new(), object_names: Vec::new() }
    }

    /// Creates a reply that reports an error with a message.
    pub fn refusal(message: String) -> Self {
        Self::of(json!({ "error": { "message": message } }))
    }

    /// Adds a table whose columns are plain numbers.
    pub fn numbers(&mut self, name: &str, columns: Vec<(&'static str, Data)>) {
        let filled = |(name, data)| Filled { name, names: NameTable::None, data };
        self.table(name, columns.into_iter().map(filled).collect());
    }

    /// Sets the ids of the objects of pages, in the order of their indices in tables that are added later.
    pub fn name_objects(&mut self, names: Vec<String>) {
        self.object_names = names;
    }

    /// Adds a key to the head.
    pub fn set(&mut self, key: &str, value: Value) {
        self.head[key] = value;
    }

    /// Appends bytes to the data. Returns their offset.
    pub fn bytes(&mut self, bytes: &[u8]) -> usize {
        self.align();
        let offset = self.data.len();
        self.data.extend_from_slice(bytes);
        offset
    }

    /// Adds a table that was recorded in a run.
    pub fn table(&mut self, name: &str, columns: Vec<Filled>) {
        let mut rows = 0;
        let mut described = Vec::with_capacity(columns.len());
        for Filled { name, names, data } in columns {
            self.align();
            let offset = self.data.len();
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
            let mut column = json!({ "name": name, "type": kind, "at": offset });
            match names {
                NameTable::None => {}
                NameTable::Flows => column["names"] = "flows".into(),
                NameTable::Links => column["names"] = "links".into(),
                NameTable::Nodes => column["names"] = "nodes".into(),
                NameTable::Objects => column["names"] = self.object_names.clone().into(),
                NameTable::These(names) => column["names"] = names.into(),
            }
            described.push(column);
        }
        self.tables.insert(name.to_owned(), json!({ "rows": rows, "columns": described }));
    }

    fn align(&mut self) {
        self.data.resize(self.data.len().next_multiple_of(8), 0);
    }

    /// Returns the reply as bytes.
    ///
    /// # Panics
    /// If the head is not a JSON object, or is longer than 4 GiB; this does not happen.
    pub fn into_bytes(mut self) -> Vec<u8> {
        if !self.tables.is_empty() {
            self.head["tables"] = self.tables.into();
        }
        let head = self.head.to_string();
        let length = u32::try_from(head.len()).expect("a head is shorter than 4 GiB");
        let mut bytes = Vec::with_capacity(16 + head.len() + self.data.len());
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(head.as_bytes());
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes.extend_from_slice(&self.data);
        bytes
    }
}
