//! A run's tables as Arrow columns, from the descriptions of their columns. Vectors of plain numbers move without a copy;
//! names are dictionaries.

use arrow_array::types::{ArrowDictionaryKeyType, UInt8Type, UInt32Type};
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, PrimitiveArray, RecordBatch, RecordBatchIterator,
    RecordBatchReader, StringArray, UInt8Array, UInt32Array, UInt64Array,
};
use lightlag_sim::results::{QueueSamples, RunResult};
use lightlag_sim::table::{Column, Data, Filled, Kind, MISSING, Names, Recorded, Row, Value};
use std::sync::Arc;

/// A table with its name.
pub(crate) type Named = (&'static str, Rows);

/// Rows of a batch that is unpacked.
const BATCH: usize = 1 << 20;

/// The rows of a table, as record batches.
#[derive(Clone)]
pub(crate) enum Rows {
    /// All of them.
    Whole(RecordBatch),
    /// Packed samples of queues, of which each batch is unpacked when it is read: of a large network they would not fit.
    Queue(Arc<QueueSamples>, Dictionaries),
}

impl Rows {
    /// The batches, one after the other; at least one.
    pub(crate) fn batches(&self) -> Box<dyn RecordBatchReader + Send> {
        match self {
            Self::Whole(batch) => Box::new(RecordBatchIterator::new([Ok(batch.clone())], batch.schema())),
            Self::Queue(samples, names) => {
                let (samples, names, rows) = (samples.clone(), names.clone(), samples.rows());
                let schema = recorded(samples.part(0..0), &names).schema();
                let part = move |first| Ok(recorded(samples.part(first..rows.min(first + BATCH)), &names));
                Box::new(RecordBatchIterator::new((0..rows.max(1)).step_by(BATCH).map(part), schema))
            }
        }
    }
}

/// Names to which columns refer by number.
#[derive(Clone)]
pub(crate) struct Dictionaries {
    pub(crate) flows: Arc<StringArray>,
    pub(crate) links: Arc<StringArray>,
    pub(crate) nodes: Arc<StringArray>,
}

/// Turns a result into one record batch a table, in the order of the dictionary. ACKs are missing if they were not recorded,
/// and so are responses, proxies, legs or interfaces if there are none. The summary stays in place.
pub(crate) fn tables(result: &mut RunResult, acks: bool) -> Vec<Named> {
    let names = |values: Vec<&str>| Arc::new(StringArray::from(values));
    let dictionaries = Dictionaries {
        flows: names(result.summary.flows.iter().map(|flow| flow.name.as_str()).collect()),
        links: names(result.link_names()),
        nodes: names(result.node_names()),
    };
    let mut tables = vec![
        ("flows", rows(&result.summary.flows)),
        ("links", rows(&result.summary.links)),
        ("trace", whole(std::mem::take(&mut result.trace), &dictionaries)),
        ("queue", Rows::Queue(Arc::new(std::mem::take(&mut result.queue)), dictionaries.clone())),
        ("drops", whole(std::mem::take(&mut result.drops), &dictionaries)),
    ];
    if acks {
        tables.push(("acks", whole(std::mem::take(&mut result.acks), &dictionaries)));
    }
    if result.summary.flows.iter().any(|flow| flow.responses.is_some() || flow.pages.is_some()) {
        tables.push(("responses", whole(std::mem::take(&mut result.responses), &dictionaries)));
    }
    if !result.summary.proxies.is_empty() {
        tables.push(("proxies", rows(&result.summary.proxies)));
        tables.push(("legs", rows(&result.summary.legs)));
    }
    if !result.summary.interfaces.is_empty() || result.paths.rows() > 0 {
        tables.push(("paths", whole(std::mem::take(&mut result.paths), &dictionaries)));
    }
    if !result.summary.interfaces.is_empty() {
        tables.push(("interfaces", rows(&result.summary.interfaces)));
        tables.push(("positions", whole(std::mem::take(&mut result.positions), &dictionaries)));
    }
    tables
}

/// A table of the summary.
fn rows<'a, R: Row>(rows: impl IntoIterator<Item = &'a R> + Copy) -> Rows {
    let columns = R::columns().into_iter().filter(|column| column.is_in(rows));
    Rows::Whole(batch(columns.map(|column| {
        let array = array(&column, rows);
        (column.about.name, array)
    })))
}

fn array<'a, R: Row>(column: &Column<R>, rows: impl IntoIterator<Item = &'a R>) -> ArrayRef {
    let values = rows.into_iter().map(|row| column.value(row));
    match column.about.kind {
        Kind::Text => Arc::new(StringArray::from_iter(values.map(|value| match value {
            Value::Text(text) => text,
            _ => None,
        }))),
        Kind::Number => Arc::new(Float64Array::from_iter(values.map(|value| match value {
            Value::Number(number) => number,
            _ => None,
        }))),
        Kind::Count | Kind::Flag => Arc::new(UInt64Array::from_iter(values.map(|value| match value {
            Value::Count(count) => count,
            _ => None,
        }))),
    }
}

fn whole(table: impl Recorded, dictionaries: &Dictionaries) -> Rows {
    Rows::Whole(recorded(table, dictionaries))
}

/// A table that grew during the run.
pub(crate) fn recorded(table: impl Recorded, dictionaries: &Dictionaries) -> RecordBatch {
    batch(table.filled().into_iter().map(|Filled { name, names, data }| {
        let names = match names {
            Names::None => None,
            Names::Flows => Some(dictionaries.flows.clone()),
            Names::Links => Some(dictionaries.links.clone()),
            Names::Nodes => Some(dictionaries.nodes.clone()),
            Names::These(names) => Some(Arc::new(StringArray::from_iter_values(names))),
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
    RecordBatch::try_from_iter(columns).expect("the columns of a table are equally long")
}

/// An index column as a dictionary: readers see names, and each row still costs an integer.
fn named<K: ArrowDictionaryKeyType>(keys: PrimitiveArray<K>, names: Arc<StringArray>) -> ArrayRef {
    Arc::new(DictionaryArray::try_new(keys, names).expect("every index has a name"))
}

/// A column in which NaN means that the value is missing.
fn known(values: Vec<f64>) -> ArrayRef {
    if values.iter().any(|value| value.is_nan()) {
        Arc::new(Float64Array::from_iter(values.into_iter().map(|value| (!value.is_nan()).then_some(value))))
    } else {
        Arc::new(Float64Array::from(values))
    }
}
