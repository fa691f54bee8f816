//! Initial record of an algorithm that implements the C interface, and the offsets of its parameters.

// It is read through foreign pointers.
#![allow(unsafe_code)]

use lightlag_core::Unit;
use lightlag_core::custom::{Description, Origin};
use lightlag_core::params::{Parameter, Range, Value};
use lightlag_plugin::{Head, INTERFACE, kind};
use std::ffi::{CStr, c_char};

/// Maximum size of a record in bytes; a larger one is an error.
const LARGEST: usize = 1 << 24;

/// Description of an algorithm, with its initial record.
pub(crate) struct Recipe {
    pub(crate) facts: Description,
    initial: Box<[u64]>,
    /// Offset of each parameter in the record, in units of 8 bytes.
    places: Vec<usize>,
}

impl Recipe {
    /// Reads the head of a table. Its records start with `floor` bytes that are shared with lightlag.
    ///
    /// # Safety
    /// If the head has this version of the interface, its pointers have targets of the declared types and sizes.
    ///
    /// # Errors
    /// If the head has another version, or is inconsistent.
    pub(crate) unsafe fn read(head: *const Head, floor: usize, origin: Origin, code: String) -> Result<Self, String> {
        // SAFETY: all versions start with the number of the version.
        let version = unsafe { *head.cast::<u32>() };
        if version != INTERFACE {
            return Err(format!(
                "has version {version} of the interface, but this lightlag has {INTERFACE}; build it against \
                 lightlag-plugin of this version"
            ));
        }
        // SAFETY: by the contract above.
        let (head, name) = unsafe { (&*head, text((*head).name)?) };
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(format!("has the invalid name {name:?}; use letters, digits and punctuation"));
        }
        let size = head.size as usize;
        if size < floor || !size.is_multiple_of(8) || size > LARGEST {
            return Err(format!(
                "has records of {size} B; the size must be a multiple of 8, from {floor} to {LARGEST}"
            ));
        }
        let mut initial = vec![0_u64; size / 8].into_boxed_slice();
        if !head.initial.is_null() {
            // SAFETY: by the contract above the record has this size; it may lie at any address.
            unsafe { std::ptr::copy_nonoverlapping(head.initial.cast::<u8>(), initial.as_mut_ptr().cast(), size) };
        }
        // Each parameter has eight bytes of the record, after lightlag's.
        let max_count = ((size - floor) / 8) as u64;
        if head.parameter_count > max_count || (head.parameters.is_null() && head.parameter_count > 0) {
            return Err(format!(
                "has {} parameters, but its record of {size} B holds {max_count}; check parameter_count, parameters \
                 and size",
                head.parameter_count
            ));
        }
        let mut parameters: Vec<Parameter> = Vec::new();
        let mut indices = Vec::new();
        for number in 0..head.parameter_count as usize {
            // SAFETY: by the contract above there are `parameter_count` of them, with such texts.
            let (parameter, index) = unsafe { read_parameter(&*head.parameters.add(number), floor, &initial)? };
            if parameters.iter().any(|other| other.key == parameter.key) || indices.contains(&index) {
                return Err(format!(
                    "has the parameter {:?} twice, or two parameters at one offset of the record",
                    parameter.key
                ));
            }
            parameters.push(parameter);
            indices.push(index);
        }
        let name = String::leak(name.to_owned());
        Ok(Self {
            facts: Description { name, origin, code, parameters, holds_interpreter: false },
            initial,
            places: indices,
        })
    }

    /// Returns a new record with these values of the parameters.
    pub(crate) fn record(&self, values: &[f64]) -> Box<[u64]> {
        let mut record = self.initial.clone();
        for ((place, parameter), value) in self.places.iter().zip(&self.facts.parameters).zip(values) {
            record[*place] = match parameter.range {
                Range::Whole { .. } | Range::Flag => (*value as i64).cast_unsigned(),
                _ => value.to_bits(),
            };
        }
        record
    }
}

/// Returns a parameter, and its offset in the record.
///
/// # Safety
/// The strings of the parameter are null or end with a zero byte.
unsafe fn read_parameter(
    given: &lightlag_plugin::Parameter,
    min_offset: usize,
    initial: &[u64],
) -> Result<(Parameter, usize), String> {
    // SAFETY: by the contract above.
    let [key, unit, meaning] = unsafe { [text(given.name)?, text(given.unit)?, text(given.meaning)?] };
    if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Err(format!("has a parameter with the invalid name {key:?}; use letters, digits and _"));
    }
    let index = given.offset as usize / 8;
    if !given.offset.is_multiple_of(8) || index < min_offset / 8 || index >= initial.len() {
        return Err(format!("has the parameter {key} at byte {} of {}", given.offset, 8 * initial.len()));
    }
    let (min, max) = (given.min, given.max);
    let (range, default) = match given.kind {
        kind::NUMBER => (Range::Quantity { unit: Unit::Plain, least: min, most: max }, f64::from_bits(initial[index])),
        kind::WHOLE => (Range::Whole { least: min, most: max }, initial[index].cast_signed() as f64),
        kind::FLAG => (Range::Flag, initial[index].cast_signed() as f64),
        other => return Err(format!("has the parameter {key} with the invalid type {other}; use 0, 1 or 2")),
    };
    if min > max || min.is_nan() || max.is_nan() {
        return Err(format!("has the parameter {key} with the empty range {min} to {max}"));
    }
    if !(min..=max).contains(&default) {
        return Err(format!("has the parameter {key} with the default {default}, outside {min} to {max}"));
    }
    let default = if matches!(range, Range::Flag) { Value::Flag(default != 0.0) } else { Value::Number(default) };
    let [key, unit, about] = [key, unit, meaning].map(|text| &*String::leak(text.to_owned()));
    Ok((Parameter { key, about, unit, range, default, required: None, is_quiet: false }, index))
}

/// Returns a C string; an empty one for null.
///
/// # Safety
/// The pointer is null or refers to a string that ends with a zero byte, and that lives for as long as the result is
/// used.
unsafe fn text<'a>(pointer: *const c_char) -> Result<&'a str, String> {
    if pointer.is_null() {
        return Ok("");
    }
    // SAFETY: by the contract above.
    unsafe { CStr::from_ptr(pointer) }.to_str().map_err(|_| "has a string that is not UTF-8".to_owned())
}
