//! Algorithms behind the C interface.

// Functions are called through pointers that come from outside.
#![allow(unsafe_code)]

use crate::bound::{Body, bind};
use crate::records;
use lightlag_control::congestion::own::{Maker, Origin, OwnKind, OwnParameter};
use lightlag_control::congestion::{CongestionControl, Needs, Start};
use lightlag_plugin::{Ack, Congestion, Control, INTERFACE, Idle, Moment, Table, kind, needs};
use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;

/// The largest record of a connection, in bytes: a longer one is a mistake.
const LARGEST: usize = 1 << 24;

type Function<T> = unsafe extern "C" fn(*mut c_void, *const T);

/// The functions of an algorithm.
#[derive(Clone, Copy)]
struct Hooks {
    on_start: Option<Function<lightlag_plugin::Start>>,
    on_ack: Function<Ack>,
    on_congestion: Function<Congestion>,
    on_undo: Option<Function<Moment>>,
    on_idle: Option<Function<Idle>>,
    on_recovered: Option<Function<Moment>>,
}

/// An algorithm behind the C interface.
pub struct Native {
    name: &'static str,
    origin: Origin,
    code: String,
    /// The record of a connection before its start.
    initial: Box<[u64]>,
    parameters: Vec<OwnParameter>,
    /// The place of each parameter in the record, in units of 8 bytes.
    places: Vec<usize>,
    needs: Needs,
    hooks: Hooks,
    /// Keeps the code in memory.
    _code: Box<dyn Send + Sync>,
}

impl Native {
    /// The algorithm of a table. `keep` holds its code in memory.
    ///
    /// # Safety
    /// If the table is of this version of the interface, then what it points to has the types and sizes that it says, its functions
    /// do what the interface asks, and all of that holds for as long as `keep` lives.
    ///
    /// # Errors
    /// If the table is of another version, or contradicts itself.
    pub unsafe fn new(
        table: *const Table,
        origin: Origin,
        code: String,
        keep: Box<dyn Send + Sync>,
    ) -> Result<Self, String> {
        // SAFETY: all versions start with the number of the version.
        let version = unsafe { *table.cast::<u32>() };
        if version != INTERFACE {
            return Err(format!(
                "has version {version} of the interface, and this lightlag has {INTERFACE}; build it against \
                 lightlag-plugin of this version"
            ));
        }
        // SAFETY: by the contract above.
        let (table, name) = unsafe { (&*table, text((*table).name)?) };
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(format!("has the name {name:?}; give it letters, digits and signs"));
        }
        let size = table.size as usize;
        if size < size_of::<Control>() || !size.is_multiple_of(8) || size > LARGEST {
            return Err(format!(
                "has records of {size} B; they have a multiple of 8, from {} to {LARGEST}",
                size_of::<Control>()
            ));
        }
        if table.needs & !needs::ALL != 0 {
            return Err(format!("needs {:#x}; this version of the interface knows {:#x}", table.needs, needs::ALL));
        }
        let mut initial = vec![0_u64; size / 8].into_boxed_slice();
        if !table.initial.is_null() {
            // SAFETY: by the contract above the record has this size; it may lie at any address.
            unsafe { std::ptr::copy_nonoverlapping(table.initial.cast::<u8>(), initial.as_mut_ptr().cast(), size) };
        }
        let count = table.parameter_count as usize;
        let mut parameters = Vec::new();
        let mut places = Vec::new();
        for number in 0..count {
            // SAFETY: by the contract above there are so many.
            let given = unsafe { &*table.parameters.add(number) };
            // SAFETY: by the contract above these are texts.
            let [key, unit, meaning] = unsafe { [text(given.name)?, text(given.unit)?, text(given.meaning)?] };
            let place = given.offset as usize / 8;
            if !given.offset.is_multiple_of(8) || place < size_of::<Control>() / 8 || place >= initial.len() {
                return Err(format!("has the parameter {key} at byte {} of {size}", given.offset));
            }
            let (kind, default) = match given.kind {
                kind::NUMBER => (OwnKind::Number, f64::from_bits(initial[place])),
                kind::WHOLE => (OwnKind::Whole, initial[place].cast_signed() as f64),
                kind::FLAG => (OwnKind::Flag, initial[place].cast_signed() as f64),
                other => return Err(format!("has the parameter {key} of the type {other}; there are 0, 1 and 2")),
            };
            let (least, most) = (given.least, given.most);
            if !(least..=most).contains(&default) {
                return Err(format!("has the parameter {key} with the default {default}, out of {least} to {most}"));
            }
            parameters.push(OwnParameter {
                name: key.to_owned(),
                kind,
                default,
                least,
                most,
                unit: unit.to_owned(),
                meaning: meaning.to_owned(),
            });
            places.push(place);
        }
        let missing = |hook: &str| format!("has no function {hook}");
        Ok(Self {
            name: String::leak(name.to_owned()),
            origin,
            code,
            initial,
            parameters,
            places,
            needs: records::needs(table.needs),
            hooks: Hooks {
                on_start: table.on_start,
                on_ack: table.on_ack.ok_or_else(|| missing("on_ack"))?,
                on_congestion: table.on_congestion.ok_or_else(|| missing("on_congestion"))?,
                on_undo: table.on_undo,
                on_idle: table.on_idle,
                on_recovered: table.on_recovered,
            },
            _code: keep,
        })
    }
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

impl Maker for Native {
    fn name(&self) -> &'static str {
        self.name
    }

    fn origin(&self) -> &Origin {
        &self.origin
    }

    fn code(&self) -> &str {
        &self.code
    }

    fn parameters(&self) -> &[OwnParameter] {
        &self.parameters
    }

    fn needs(&self) -> Needs {
        self.needs
    }

    fn build(self: Arc<Self>, start: &Start, values: &[f64]) -> Box<dyn CongestionControl> {
        let mut record = self.initial.clone();
        for ((place, parameter), value) in self.places.iter().zip(&self.parameters).zip(values) {
            record[*place] = match parameter.kind {
                OwnKind::Number => value.to_bits(),
                OwnKind::Whole | OwnKind::Flag => (*value as i64).cast_unsigned(),
            };
        }
        let (name, needs, hooks) = (self.name, self.needs, self.hooks);
        bind(name, Connection { record, hooks, _algorithm: self }, needs, start)
    }
}

/// A connection.
struct Connection {
    record: Box<[u64]>,
    hooks: Hooks,
    /// Keeps the functions in memory.
    _algorithm: Arc<Native>,
}

impl Connection {
    #[inline]
    fn call<T>(&mut self, function: Function<T>, record: &T) {
        // SAFETY: by the contract of `Native::new` the function takes the record of a connection, which has the size and the
        // initial value of the table, and this record; nothing else refers to them meanwhile.
        unsafe { function(self.record.as_mut_ptr().cast(), record) }
    }

    fn call_any<T>(&mut self, function: Option<Function<T>>, record: &T) -> bool {
        if let Some(function) = function {
            self.call(function, record);
        }
        function.is_some()
    }
}

impl Body for Connection {
    #[inline]
    fn control(&self) -> Control {
        // SAFETY: a record starts with a control, whose fields take any bits, and has its alignment.
        unsafe { *self.record.as_ptr().cast::<Control>() }
    }

    #[inline]
    fn set_control(&mut self, control: Control) {
        // SAFETY: as above.
        unsafe { *self.record.as_mut_ptr().cast::<Control>() = control };
    }

    fn on_start(&mut self, start: &lightlag_plugin::Start) -> Result<(), String> {
        self.call_any(self.hooks.on_start, start);
        Ok(())
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack) -> Result<(), String> {
        self.call(self.hooks.on_ack, ack);
        Ok(())
    }

    fn on_congestion(&mut self, event: &Congestion) -> Result<(), String> {
        self.call(self.hooks.on_congestion, event);
        Ok(())
    }

    fn on_undo(&mut self, moment: &Moment) -> Result<bool, String> {
        Ok(self.call_any(self.hooks.on_undo, moment))
    }

    fn on_idle(&mut self, idle: &Idle) -> Result<bool, String> {
        Ok(self.call_any(self.hooks.on_idle, idle))
    }

    fn on_recovered(&mut self, moment: &Moment) -> Result<(), String> {
        self.call_any(self.hooks.on_recovered, moment);
        Ok(())
    }
}
