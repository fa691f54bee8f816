//! A class whose methods are machine code, behind the C interface.

// The addresses of the methods come from a compiler.
#![allow(unsafe_code)]

use super::class::Given;
use super::{Algorithm, Made, origin};
use lightlag_own::native::Native;
use lightlag_own::queue::NativeQueue;
use lightlag_own::response::NativeResponse;
use lightlag_own::traffic::NativeTraffic;
use lightlag_plugin::{Head, INTERFACE, Parameter, QueueTable, ResponseTable, Table, TrafficTable, kind};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::ffi::{CString, c_char, c_void};
use std::sync::Arc;

/// What the pointers of a table's head lead to.
struct Described {
    initial: Vec<u8>,
    name: CString,
    parameters: Vec<Parameter>,
    _texts: Vec<CString>,
}

impl Described {
    /// `initial` is the record before the start, `offsets` has the place of each parameter in it.
    fn new(name: String, initial: Vec<u8>, given: Vec<Given>, offsets: Vec<u64>) -> PyResult<Self> {
        let text = |given: String| CString::new(given).map_err(|_| PyValueError::new_err("a text has a zero in it"));
        let mut texts = Vec::new();
        let mut kept = |given: String| -> PyResult<*const c_char> {
            let text = text(given)?;
            let at = text.as_ptr();
            texts.push(text);
            Ok(at)
        };
        let mut parameters = Vec::new();
        for ((key, what, _, least, most, unit, meaning), offset) in given.into_iter().zip(offsets) {
            let kind = match what.as_str() {
                "flag" => kind::FLAG,
                "whole" => kind::WHOLE,
                _ => kind::NUMBER,
            };
            let (name, unit, meaning) = (kept(key)?, kept(unit)?, kept(meaning)?);
            parameters.push(Parameter { name, unit, meaning, offset, kind, least, most });
        }
        Ok(Self { initial, name: text(name)?, parameters, _texts: texts })
    }

    /// The head, which points into this.
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

/// An algorithm whose methods are functions at addresses, by their names, with the types of the C interface. `initial` is the
/// record of a connection before its start, `offsets` has the place of each parameter in it, `code_object` keeps the functions in
/// memory.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "a record in Python's terms")]
pub(crate) fn compiled_algorithm(
    name: String,
    file: Option<String>,
    code: String,
    initial: Vec<u8>,
    given: Vec<Given>,
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
    // SAFETY: the table lives during the call, which copies what it needs; the code is kept.
    let native = unsafe { Native::new(&raw const table, origin(file), code, Box::new(code_object)) };
    native.map(|native| Made(Algorithm::Congestion(Arc::new(native)))).map_err(PyValueError::new_err)
}

/// The same of a queue discipline, whose record is that of a queue.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "a record in Python's terms")]
pub(crate) fn compiled_discipline(
    name: String,
    file: Option<String>,
    code: String,
    initial: Vec<u8>,
    given: Vec<Given>,
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

/// The same of a loss response, whose record is that of a sender.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "a record in Python's terms")]
pub(crate) fn compiled_response(
    name: String,
    file: Option<String>,
    code: String,
    initial: Vec<u8>,
    given: Vec<Given>,
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

/// The same of traffic, whose record is that of an application.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "a record in Python's terms")]
pub(crate) fn compiled_traffic(
    name: String,
    file: Option<String>,
    code: String,
    initial: Vec<u8>,
    given: Vec<Given>,
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
