//! A class whose methods are machine code, behind the C interface.

// The addresses of the methods come from a compiler.
#![allow(unsafe_code)]

use super::class::Given;
use super::{Algorithm, Made, origin};
use lightlag_own::native::Native;
use lightlag_plugin::{Head, INTERFACE, Parameter, Table, kind};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::ffi::{CString, c_void};
use std::sync::Arc;

/// The texts and the code of a compiled class.
struct Kept {
    _texts: Vec<CString>,
    _code: Py<PyAny>,
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
    let mut texts = Vec::new();
    let mut text = |given: String| -> PyResult<*const std::ffi::c_char> {
        let text = CString::new(given).map_err(|_| PyValueError::new_err("a text has a zero in it"))?;
        let at = text.as_ptr();
        texts.push(text);
        Ok(at)
    };
    let name = text(name)?;
    let mut parameters = Vec::new();
    for ((key, what, _, least, most, unit, meaning), offset) in given.into_iter().zip(offsets) {
        let kind = match what.as_str() {
            "flag" => kind::FLAG,
            "whole" => kind::WHOLE,
            _ => kind::NUMBER,
        };
        let (name, unit, meaning) = (text(key)?, text(unit)?, text(meaning)?);
        parameters.push(Parameter { name, unit, meaning, offset, kind, least, most });
    }
    let address = |hook: &str| addresses.get(hook).copied().filter(|at| *at != 0);
    macro_rules! hook {
        ($name:literal) => {
            // SAFETY: the compiler made a function with this type for this method.
            address($name).map(|at| unsafe { std::mem::transmute::<usize, _>(at) })
        };
    }
    let table = Table {
        head: Head {
            interface: INTERFACE,
            size: u32::try_from(initial.len()).map_err(|_| PyValueError::new_err("the record is too long"))?,
            name,
            about: std::ptr::null(),
            initial: initial.as_ptr().cast::<c_void>(),
            parameters: parameters.as_ptr(),
            parameter_count: parameters.len() as u64,
        },
        needs,
        on_start: hook!("on_start"),
        on_ack: hook!("on_ack"),
        on_congestion: hook!("on_congestion"),
        on_undo: hook!("on_undo"),
        on_idle: hook!("on_idle"),
        on_recovered: hook!("on_recovered"),
    };
    let keep = Box::new(Kept { _texts: texts, _code: code_object });
    // SAFETY: the table lives during the call, which copies what it needs; the code is kept.
    let native = unsafe { Native::new(&raw const table, origin(file), code, keep) };
    native.map(|native| Made(Algorithm::Congestion(Arc::new(native)))).map_err(PyValueError::new_err)
}
