//! The record of an algorithm behind the C interface: how it starts, and where its parameters are.

// It is read through pointers that come from outside.
#![allow(unsafe_code)]

use lightlag_core::Unit;
use lightlag_core::own::{Facts, Origin};
use lightlag_core::params::{Parameter, Range, Value};
use lightlag_plugin::{Head, INTERFACE, kind};
use std::ffi::{CStr, c_char};

/// The largest record, in bytes: a longer one is a mistake.
const LARGEST: usize = 1 << 24;

/// The description of an algorithm, with its record before the start.
pub(crate) struct Recipe {
    pub(crate) facts: Facts,
    initial: Box<[u64]>,
    /// The place of each parameter in the record, in units of 8 bytes.
    places: Vec<usize>,
}

impl Recipe {
    /// Reads the head of a table. Its records start with `least` bytes of lightlag's.
    ///
    /// # Safety
    /// If it is of this version of the interface, then what it points to has the types and sizes that it says.
    ///
    /// # Errors
    /// If it is of another version, or contradicts itself.
    pub(crate) unsafe fn read(head: *const Head, least: usize, origin: Origin, code: String) -> Result<Self, String> {
        // SAFETY: all versions start with the number of the version.
        let version = unsafe { *head.cast::<u32>() };
        if version != INTERFACE {
            return Err(format!(
                "has version {version} of the interface, and this lightlag has {INTERFACE}; build it against \
                 lightlag-plugin of this version"
            ));
        }
        // SAFETY: by the contract above.
        let (head, name) = unsafe { (&*head, text((*head).name)?) };
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(format!("has the name {name:?}; give it letters, digits and signs"));
        }
        let size = head.size as usize;
        if size < least || !size.is_multiple_of(8) || size > LARGEST {
            return Err(format!("has records of {size} B; they have a multiple of 8, from {least} to {LARGEST}"));
        }
        let mut initial = vec![0_u64; size / 8].into_boxed_slice();
        if !head.initial.is_null() {
            // SAFETY: by the contract above the record has this size; it may lie at any address.
            unsafe { std::ptr::copy_nonoverlapping(head.initial.cast::<u8>(), initial.as_mut_ptr().cast(), size) };
        }
        // Each parameter has eight bytes of the record, behind lightlag's.
        let most = ((size - least) / 8) as u64;
        if head.parameter_count > most || (head.parameters.is_null() && head.parameter_count > 0) {
            return Err(format!(
                "has {} parameters, and its record of {size} B has room for {most}; check parameter_count, parameters and size",
                head.parameter_count
            ));
        }
        let mut parameters: Vec<Parameter> = Vec::new();
        let mut places = Vec::new();
        for number in 0..head.parameter_count as usize {
            // SAFETY: by the contract above there are so many, with such texts.
            let (parameter, place) = unsafe { read_parameter(&*head.parameters.add(number), least, &initial)? };
            if parameters.iter().any(|other| other.key == parameter.key) || places.contains(&place) {
                return Err(format!("has the parameter {:?} twice, or two at one place of the record", parameter.key));
            }
            parameters.push(parameter);
            places.push(place);
        }
        let name = String::leak(name.to_owned());
        Ok(Self { facts: Facts { name, origin, code, parameters, holds_interpreter: false }, initial, places })
    }

    /// A record with these values of the parameters.
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

/// A parameter, and its place in the record.
///
/// # Safety
/// Its texts are null or end with a zero.
unsafe fn read_parameter(
    given: &lightlag_plugin::Parameter,
    least: usize,
    initial: &[u64],
) -> Result<(Parameter, usize), String> {
    // SAFETY: by the contract above.
    let [key, unit, meaning] = unsafe { [text(given.name)?, text(given.unit)?, text(given.meaning)?] };
    if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Err(format!("has a parameter with the name {key:?}; give it letters, digits and _"));
    }
    let place = given.offset as usize / 8;
    if !given.offset.is_multiple_of(8) || place < least / 8 || place >= initial.len() {
        return Err(format!("has the parameter {key} at byte {} of {}", given.offset, 8 * initial.len()));
    }
    let (least, most) = (given.least, given.most);
    let (range, default) = match given.kind {
        kind::NUMBER => (Range::Quantity { unit: Unit::Plain, least, most }, f64::from_bits(initial[place])),
        kind::WHOLE => (Range::Whole { least, most }, initial[place].cast_signed() as f64),
        kind::FLAG => (Range::Flag, initial[place].cast_signed() as f64),
        other => return Err(format!("has the parameter {key} of the type {other}; there are 0, 1 and 2")),
    };
    if least > most || least.is_nan() || most.is_nan() {
        return Err(format!("has the parameter {key} from {least} to {most}, which no value is"));
    }
    if !(least..=most).contains(&default) {
        return Err(format!("has the parameter {key} with the default {default}, out of {least} to {most}"));
    }
    let default = if matches!(range, Range::Flag) { Value::Flag(default != 0.0) } else { Value::Number(default) };
    let [key, unit, about] = [key, unit, meaning].map(|text| &*String::leak(text.to_owned()));
    Ok((Parameter { key, about, unit, range, default, required: None, is_quiet: false }, place))
}

/// A text of C; null is an empty one.
///
/// # Safety
/// It is null or ends with a zero, and lives for as long as it is used.
unsafe fn text<'a>(at: *const c_char) -> Result<&'a str, String> {
    if at.is_null() {
        return Ok("");
    }
    // SAFETY: by the contract above.
    unsafe { CStr::from_ptr(at) }.to_str().map_err(|_| "has a text that is not UTF-8".to_owned())
}
