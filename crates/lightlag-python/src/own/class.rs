//! A class of a user whose methods the interpreter runs, whatever it decides about.

use super::origin;
use lightlag_core::Unit;
use lightlag_core::own::Facts;
use lightlag_core::params::{Parameter, Range, Value};
use pyo3::PyClass;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A parameter: its name, its kind ("number", "whole" or "flag"), its default, its range, its unit and its meaning.
pub(crate) type Given = (String, String, f64, f64, f64, String, String);

/// A class, and the facts about it.
pub(super) struct Class {
    pub(super) facts: Facts,
    class: Py<PyAny>,
}

impl Class {
    /// A class; `file` is "FILE:CLASS" for one in a file.
    pub(super) fn new(name: String, file: Option<String>, code: String, class: Py<PyAny>, given: Vec<Given>) -> Self {
        let (name, origin, parameters) = (String::leak(name), origin(file), parameters(given));
        Self { facts: Facts { name, origin, code, parameters, holds_interpreter: true }, class }
    }

    /// An object with these values of the parameters, or the reason why there is none.
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

/// Calls a method of an object with a record, and takes what it returns.
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

/// Fails for a coroutine or a generator, whose code never runs; other values that a method returns are ignored.
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

/// The traceback of an exception.
fn trace(py: Python<'_>, error: &PyErr) -> String {
    let lines = || -> PyResult<String> {
        let format = py.import("traceback")?.getattr("format_exception")?;
        let lines: Vec<String> = format.call1((error.get_type(py), error.value(py), error.traceback(py)))?.extract()?;
        Ok(lines.concat().trim_end().to_owned())
    };
    lines().unwrap_or_else(|_| error.to_string())
}

/// The parameters, as the engine describes them.
fn parameters(given: Vec<Given>) -> Vec<Parameter> {
    let parameter = |(name, kind, default, least, most, unit, meaning): Given| {
        let (range, default) = match kind.as_str() {
            "flag" => (Range::Flag, Value::Flag(default != 0.0)),
            "whole" => (Range::Whole { least, most }, Value::Number(default)),
            _ => (Range::Quantity { unit: Unit::Plain, least, most }, Value::Number(default)),
        };
        // As the name of an algorithm, they live as long as the process.
        let [key, unit, about] = [name, unit, meaning].map(|text| &*String::leak(text));
        Parameter { key, about, unit, range, default, required: None, is_quiet: false }
    };
    given.into_iter().map(parameter).collect()
}
