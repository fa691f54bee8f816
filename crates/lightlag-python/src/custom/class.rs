//! A user's class whose methods are run by the interpreter, for any kind of algorithm.

use super::origin;
use lightlag_core::Unit;
use lightlag_core::custom::Description;
use lightlag_core::params::{Parameter, Range, Value};
use pyo3::PyClass;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A parameter: name, kind (`"number"`, `"integer"` or `"flag"`), default, minimum, maximum, unit and meaning.
pub(crate) type ParameterTuple = (String, String, f64, f64, f64, String, String);

/// A Python class and its description.
pub(super) struct Class {
    pub(super) facts: Description,
    class: Py<PyAny>,
}

impl Class {
    /// Creates a class; `file` is "FILE:CLASS" if the class is defined in a file.
    pub(super) fn new(
        name: String,
        file: Option<String>,
        code: String,
        class: Py<PyAny>,
        given: Vec<ParameterTuple>,
    ) -> Self {
        let (name, origin, parameters) = (String::leak(name), origin(file), parameters(given));
        Self { facts: Description { name, origin, code, parameters, holds_interpreter: true }, class }
    }

    /// Creates an object of the class with these parameter values, or returns the reason why that failed.
    pub(super) fn instance<T: PyClass>(&self, values: &[f64]) -> Result<Py<T>, String> {
        Python::attach(|py| self.call(py, values).map_err(|error| trace(py, &error)))
    }

    fn call<T: PyClass>(&self, py: Python<'_>, values: &[f64]) -> PyResult<Py<T>> {
        let arguments = PyDict::new(py);
        for (parameter, value) in self.facts.parameters.iter().zip(values) {
            match parameter.range {
                Range::Whole { .. } => arguments.set_item(parameter.key, *value as i64)?,
                Range::Flag => arguments.set_item(parameter.key, *value != 0.0)?,
                _ => arguments.set_item(parameter.key, value)?,
            }
        }
        let object = self.class.bind(py).call((), Some(&arguments))?;
        Ok(object.cast_into::<T>()?.unbind())
    }
}

/// Calls a method of an object with a record as argument, and converts the return value.
pub(super) fn call<O: PyClass, T, R>(
    object: &Py<O>,
    hook: &str,
    record: T,
    take: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<R>,
) -> Result<R, String>
where
    T: for<'py> IntoPyObject<'py>,
{
    Python::attach(|py| {
        let answer = object.bind(py).as_any().call_method1(hook, (record,)).and_then(|answer| take(&answer));
        answer.map_err(|error| trace(py, &error))
    })
}

/// Rejects a coroutine or a generator as return value, because its code would never run. Other return values are
/// ignored.
#[cold]
pub(super) fn check_ran(answer: &Bound<'_, PyAny>) -> PyResult<()> {
    if answer.hasattr("send")? && answer.hasattr("throw")? {
        let kind = answer.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "it returned a {kind}, whose code never runs; write def without yield"
        )));
    }
    Ok(())
}

/// Returns the traceback of an exception as text.
fn trace(py: Python<'_>, error: &PyErr) -> String {
    let lines = || -> PyResult<String> {
        let format = py.import("traceback")?.getattr("format_exception")?;
        let lines: Vec<String> = format.call1((error.get_type(py), error.value(py), error.traceback(py)))?.extract()?;
        Ok(lines.concat().trim_end().to_owned())
    };
    lines().unwrap_or_else(|_| error.to_string())
}

/// Returns the parameters in the form in which the engine describes them.
fn parameters(given: Vec<ParameterTuple>) -> Vec<Parameter> {
    let parameter = |(name, kind, default, min, max, unit, meaning): ParameterTuple| {
        let (range, default) = match kind.as_str() {
            "flag" => (Range::Flag, Value::Flag(default != 0.0)),
            "integer" => (Range::Whole { least: min, most: max }, Value::Number(default)),
            _ => (Range::Quantity { unit: Unit::Plain, least: min, most: max }, Value::Number(default)),
        };
        // As the name of an algorithm, they live as long as the process.
        let [key, unit, about] = [name, unit, meaning].map(|text| &*String::leak(text));
        Parameter { key, about, unit, range, default, required: None, is_quiet: false }
    };
    given.into_iter().map(parameter).collect()
}
