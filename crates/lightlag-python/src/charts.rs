//! The charts and the outcome of a run, calculated from data frames.

use arrow_array::ffi_stream::RecordBatchStreamReader;
use arrow_array::{Array, Float64Array, RecordBatch, StringViewArray};
use lightlag_analysis::account::AccountInput;
use lightlag_analysis::table::RecordedColumns;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};

/// Returns the charts of a run over time, as JSON. `run` is a JSON object with the run's flows, legs, links and end
/// time. `read` is a function that takes the name of a recorded table, names of columns, and a list of texts. It
/// returns a data frame with these columns, as 64-bit floating-point numbers or texts. The frame contains only the rows
/// whose second column is one of the texts, or all rows if the list is empty.
#[pyfunction]
pub(crate) fn timeline(run: &str, read: &Bound<'_, PyAny>) -> PyResult<String> {
    let run: AccountInput = serde_json::from_str(run).map_err(value_error)?;
    let charts = lightlag_analysis::timeline::timeline(&run, reader(read))?;
    serde_json::to_string(&charts).map_err(value_error)
}

/// Returns the data of a run that a comparison stores, its outcome and its curves, as JSON. The arguments are the same
/// as for [`timeline`].
#[pyfunction]
pub(crate) fn outcome(run: &str, read: &Bound<'_, PyAny>) -> PyResult<String> {
    let run: lightlag_analysis::outcome::OutcomeInput = serde_json::from_str(run).map_err(value_error)?;
    serde_json::to_string(&(run.outcome(), run.curves(reader(read))?)).map_err(value_error)
}

fn reader(read: &Bound<'_, PyAny>) -> impl Fn(&str, &[&str], &[&str]) -> PyResult<RecordedColumns> {
    |table, columns, only| table_of(&read.call1((table, columns.to_vec(), only.to_vec()))?)
}

/// Reads a data frame through the Arrow PyCapsule interface.
#[allow(unsafe_code, reason = "an Arrow stream is a C structure")]
fn table_of(frame: &Bound<'_, PyAny>) -> PyResult<RecordedColumns> {
    let capsule = frame.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
    let stream = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: a capsule of this name points at a stream, and transfers its ownership here.
    let batches = unsafe { RecordBatchStreamReader::from_raw(stream.as_ptr().cast()) }.map_err(value_error)?;
    let mut table = RecordedColumns::default();
    for batch in batches {
        add(&mut table, &batch.map_err(value_error)?)?;
    }
    Ok(table)
}

fn add(table: &mut RecordedColumns, batch: &RecordBatch) -> PyResult<()> {
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
        let name = field.name().clone();
        if let Some(values) = column.as_any().downcast_ref::<Float64Array>() {
            table.numbers.entry(name).or_default().extend(values.iter().map(|value| value.unwrap_or(f64::NAN)));
        } else if let Some(values) = column.as_any().downcast_ref::<StringViewArray>() {
            let texts = table.texts.entry(name).or_default();
            values.iter().for_each(|value| texts.push(value.unwrap_or("")));
        } else {
            return Err(PyValueError::new_err(format!(
                "{name}: {} is neither a number nor a string",
                column.data_type()
            )));
        }
    }
    Ok(())
}

fn value_error(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}
