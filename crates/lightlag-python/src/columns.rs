//! A run's tables as Arrow columns, based on the descriptions of the columns. Plain number vectors are moved without
//! copying; name columns are dictionary-encoded.

use arrow_array::types::{ArrowDictionaryKeyType, UInt8Type, UInt32Type};
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, PrimitiveArray, RecordBatch, RecordBatchIterator,
    RecordBatchReader, StringArray, UInt8Array, UInt32Array, UInt64Array,
};
use lightlag_sim::RunResult;
use lightlag_sim::table::{ColumnType, Contents, Data, Filled, GrowingTable, MISSING, NameTable, Value};
use std::sync::Arc;

/// A table and its name.
pub(crate) type Named = (&'static str, Rows);

/// Number of rows per batch when packed rows are unpacked.
const BATCH: usize = 1 << 20;

/// The rows of a table, as record batches.
#[derive(Clone)]
pub(crate) enum Rows {
    /// All rows in one batch.
    Whole(RecordBatch),
    /// Packed rows. Each batch is unpacked when it is read, because all unpacked rows of a large network would not fit
    /// into memory.
    Packed(Arc<dyn GrowingTable>, Dictionaries),
}

impl Rows {
    /// Returns the batches one after another; there is at least one.
    pub(crate) fn batches(&self) -> Box<dyn RecordBatchReader + Send> {
        match self {
            Self::Whole(batch) => Box::new(RecordBatchIterator::new([Ok(batch.clone())], batch.schema())),
            Self::Packed(table, names) => {
                let (table, names, rows) = (table.clone(), names.clone(), table.count());
                let schema = recorded(table.copied(0..0), &names).schema();
                let part = move |first| Ok(recorded(table.copied(first..rows.min(first + BATCH)), &names));
                Box::new(RecordBatchIterator::new((0..rows.max(1)).step_by(BATCH).map(part), schema))
            }
        }
    }
}

/// The names for columns that store indices.
#[derive(Clone)]
pub(crate) struct Dictionaries {
    pub(crate) flows: Arc<StringArray>,
    pub(crate) links: Arc<StringArray>,
    pub(crate) nodes: Arc<StringArray>,
    pub(crate) objects: Arc<StringArray>,
}

/// Converts a result into one record batch per table, in the order of the table descriptions. The summary stays in
/// place.
pub(crate) fn tables(result: &mut RunResult) -> Vec<Named> {
    let names = |values: Vec<&str>| Arc::new(StringArray::from(values));
    let dictionaries = Dictionaries {
        flows: names(result.flow_names()),
        links: names(result.link_names()),
        nodes: names(result.node_names()),
        objects: names(result.object_names()),
    };
    let rows = |contents| match contents {
        Contents::Rows(columns) => Rows::Whole(batch(columns.into_iter().map(|column| {
            let array = array(column.about.kind, column.values);
            (column.about.name, array)
        }))),
        Contents::Columns(mut table) => Rows::Whole(recorded(table.taken(), &dictionaries)),
        Contents::Packed(table) => Rows::Packed(table.into(), dictionaries.clone()),
    };
    result.tables().map(|(name, contents)| (name, rows(contents))).collect()
}

/// Returns a column for rows of the summary.
fn array<'a>(kind: ColumnType, values: impl Iterator<Item = Value<'a>>) -> ArrayRef {
    match kind {
        ColumnType::Text => Arc::new(StringArray::from_iter(values.map(|value| match value {
            Value::Text(text) => text,
            _ => None,
        }))),
        ColumnType::Number => Arc::new(Float64Array::from_iter(values.map(|value| match value {
            Value::Number(number) => number,
            _ => None,
        }))),
        ColumnType::Count | ColumnType::Flag => Arc::new(UInt64Array::from_iter(values.map(|value| match value {
            Value::Count(count) => count,
            _ => None,
        }))),
    }
}

/// Returns the record batch of the columns that were recorded during the run.
pub(crate) fn recorded(columns: Vec<Filled>, dictionaries: &Dictionaries) -> RecordBatch {
    batch(columns.into_iter().map(|Filled { name, names, data }| {
        let names = match names {
            NameTable::None => None,
            NameTable::Flows => Some(dictionaries.flows.clone()),
            NameTable::Links => Some(dictionaries.links.clone()),
            NameTable::Nodes => Some(dictionaries.nodes.clone()),
            NameTable::Objects => Some(dictionaries.objects.clone()),
            NameTable::These(names) => Some(Arc::new(StringArray::from_iter_values(names))),
        };
        let array: ArrayRef = match (data, names) {
            (Data::Numbers(values), _) => known(values),
            (Data::Counts(values), _) => Arc::new(UInt64Array::from(values)),
            (Data::Flags(values), _) => Arc::new(BooleanArray::from(values)),
            (Data::Words(values), None) => Arc::new(UInt32Array::from(values)),
            (Data::Words(values), Some(names)) => named::<UInt32Type>(values.into(), names),
            (Data::Bytes(values), None) => Arc::new(UInt8Array::from(values)),
            (Data::Bytes(values), Some(names)) => {
                let known = |value: u8| Some(value).filter(|value| *value != MISSING);
                named::<UInt8Type>(values.into_iter().map(known).collect(), names)
            }
        };
        (name, array)
    }))
}

fn batch(columns: impl IntoIterator<Item = (impl AsRef<str>, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).expect("the columns of a table have the same length")
}

/// Returns an index column as a dictionary column: readers see names, but each row takes only one integer.
fn named<K: ArrowDictionaryKeyType>(keys: PrimitiveArray<K>, names: Arc<StringArray>) -> ArrayRef {
    Arc::new(DictionaryArray::try_new(keys, names).expect("every index has a name"))
}

/// Returns a column in which NaN is replaced by a missing value.
fn known(values: Vec<f64>) -> ArrayRef {
    if values.iter().any(|value| value.is_nan()) {
        Arc::new(Float64Array::from_iter(values.into_iter().map(|value| (!value.is_nan()).then_some(value))))
    } else {
        Arc::new(Float64Array::from(values))
    }
}
