//! A class whose methods are compiled to machine code and called through the C interface.

// The addresses of the methods come from a compiler.
#![allow(unsafe_code)]

use super::class::ParameterTuple;
use super::{Algorithm, Made, origin};
use lightlag_custom::native::Native;
use lightlag_custom::queue::NativeQueue;
use lightlag_custom::response::NativeResponse;
use lightlag_custom::traffic::NativeTraffic;
use lightlag_plugin::{Head, INTERFACE, Parameter, QueueTable, ResponseTable, Table, TrafficTable, kind};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::ffi::{CString, c_char, c_void};
use std::sync::Arc;

/// The data referenced by the pointers in the head of a table.
struct Described {
    initial: Vec<u8>,
    name: CString,
    parameters: Vec<Parameter>,
    _texts: Vec<CString>,
}

impl Described {
    /// Creates the data. `initial` is the record before the start; `offsets` has the offset of each parameter in it.
    fn new(name: String, initial: Vec<u8>, given: Vec<ParameterTuple>, offsets: Vec<u64>) -> PyResult<Self> {
        let text =
            |given: String| CString::new(given).map_err(|_| PyValueError::new_err("a string contains a null byte"));
        let mut texts = Vec::new();
        let mut kept = |given: String| -> PyResult<*const c_char> {
            let text = text(given)?;
            let pointer = text.as_ptr();
            texts.push(text);
            Ok(pointer)
        };
        let mut parameters = Vec::new();
        for ((key, what, _, min, max, unit, meaning), offset) in given.into_iter().zip(offsets) {
            let kind = match what.as_str() {
                "flag" => kind::FLAG,
                "integer" => kind::WHOLE,
                _ => kind::NUMBER,
            };
            let (name, unit, meaning) = (kept(key)?, kept(unit)?, kept(meaning)?);
            parameters.push(Parameter { name, unit, meaning, offset, kind, min, max });
        }
        Ok(Self { initial, name: text(name)?, parameters, _texts: texts })
    }

    /// Returns the head of the table, which points into this data.
    fn head(&self) -> PyResult<Head> {
        Ok(Head {
            interface: INTERFACE,
            size: u32::try_from(self.initial.len()).map_err(|_| PyValueError::new_err("the record is too long"))?,
            name: self.name.as_ptr(),
            about: std::ptr::null(),
            initial: self.initial.as_ptr().cast::<c_void>(),
            parameters: self.parameters.as_ptr(),
            parameter_count: self.parameters.len() as u64,
        })
    }
}

macro_rules! hook {
    ($addresses:ident, $name:literal) => {
        // SAFETY: the compiler made a function with this type for this method.
        $addresses.get($name).filter(|at| **at != 0).map(|at| unsafe { std::mem::transmute::<usize, _>(*at) })
    };
}

/// Creates a congestion control from the addresses of its functions, by the names of the methods. The functions have
/// the types of the C interface. `initial` is the record of a connection before its start, `offsets` has the offset of
/// each parameter in it, `code_object` keeps the functions in memory.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "a record in Python's terms")]
pub(crate) fn compiled_algorithm(
    name: String,
    file: Option<String>,
    code: String,
    initial: Vec<u8>,
    given: Vec<ParameterTuple>,
    offsets: Vec<u64>,
    needs: u64,
    addresses: BTreeMap<String, usize>,
    code_object: Py<PyAny>,
) -> PyResult<Made> {
    let described = Described::new(name, initial, given, offsets)?;
    let table = Table {
        head: described.head()?,
        needs,
        on_start: hook!(addresses, "on_start"),
        on_ack: hook!(addresses, "on_ack"),
        on_congestion: hook!(addresses, "on_congestion"),
        on_undo: hook!(addresses, "on_undo"),
        on_idle: hook!(addresses, "on_idle"),
        on_recovered: hook!(addresses, "on_recovered"),
    };
    // SAFETY: the table lives during the call, which copies its contents; `code_object` keeps the code alive.
    let native = unsafe { Native::new(&raw const table, origin(file), code, Box::new(code_object)) };
    native.map(|native| Made(Algorithm::Congestion(Arc::new(native)))).map_err(PyValueError::new_err)
}

/// Creates a queue discipline. Its record is the record of a queue; for the arguments see [`compiled_algorithm`].
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "a record in Python's terms")]
pub(crate) fn compiled_discipline(
    name: String,
    file: Option<String>,
    code: String,
    initial: Vec<u8>,
    given: Vec<ParameterTuple>,
    offsets: Vec<u64>,
    addresses: BTreeMap<String, usize>,
    code_object: Py<PyAny>,
) -> PyResult<Made> {
    let described = Described::new(name, initial, given, offsets)?;
    let table = QueueTable {
        head: described.head()?,
        on_enqueue: hook!(addresses, "on_enqueue"),
        on_dequeue: hook!(addresses, "on_dequeue"),
    };
    // SAFETY: as above.
    let native = unsafe { NativeQueue::new(&raw const table, origin(file), code, Box::new(code_object)) };
    native.map(|native| Made(Algorithm::Queue(Arc::new(native)))).map_err(PyValueError::new_err)
}

/// Creates a loss response. Its record is the record of a sender; for the arguments see [`compiled_algorithm`].
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "a record in Python's terms")]
pub(crate) fn compiled_response(
    name: String,
    file: Option<String>,
    code: String,
    initial: Vec<u8>,
    given: Vec<ParameterTuple>,
    offsets: Vec<u64>,
    addresses: BTreeMap<String, usize>,
    code_object: Py<PyAny>,
) -> PyResult<Made> {
    let described = Described::new(name, initial, given, offsets)?;
    let table = ResponseTable {
        head: described.head()?,
        on_ack: hook!(addresses, "on_ack"),
        on_loss: hook!(addresses, "on_loss"),
    };
    // SAFETY: as above.
    let native = unsafe { NativeResponse::new(&raw const table, origin(file), code, Box::new(code_object)) };
    native.map(|native| Made(Algorithm::Response(Arc::new(native)))).map_err(PyValueError::new_err)
}

/// Creates a traffic source. Its record is the record of an application; for the arguments see [`compiled_algorithm`].
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "a record in Python's terms")]
pub(crate) fn compiled_traffic(
    name: String,
    file: Option<String>,
    code: String,
    initial: Vec<u8>,
    given: Vec<ParameterTuple>,
    offsets: Vec<u64>,
    addresses: BTreeMap<String, usize>,
    code_object: Py<PyAny>,
) -> PyResult<Made> {
    let described = Described::new(name, initial, given, offsets)?;
    let table = TrafficTable { head: described.head()?, next_message: hook!(addresses, "next_message") };
    // SAFETY: as above.
    let native = unsafe { NativeTraffic::new(&raw const table, origin(file), code, Box::new(code_object)) };
    native.map(|native| Made(Algorithm::Traffic(Arc::new(native)))).map_err(PyValueError::new_err)
}
