//! Congestion control algorithms that implement the C interface.

// Functions are called through foreign pointers.
#![allow(unsafe_code)]

use crate::bound::{ConnectionCallbacks, bind};
use crate::recipe::Recipe;
use crate::records;
use lightlag_control::congestion::custom::{AlgorithmFactory, Description, Factory, Origin};
use lightlag_control::congestion::{CongestionControl, ConnectionStart, Needs};
use lightlag_plugin::{Ack, Congestion, Control, Idle, Moment, Table, needs};
use std::ffi::c_void;
use std::sync::Arc;

type AlgorithmHook<T> = unsafe extern "C" fn(*mut c_void, *const T);

/// The functions of an algorithm.
#[derive(Clone, Copy)]
struct Hooks {
    on_start: Option<AlgorithmHook<lightlag_plugin::Start>>,
    on_ack: AlgorithmHook<Ack>,
    on_congestion: AlgorithmHook<Congestion>,
    on_undo: Option<AlgorithmHook<Moment>>,
    on_idle: Option<AlgorithmHook<Idle>>,
    on_recovered: Option<AlgorithmHook<Moment>>,
}

/// An algorithm that implements the C interface.
pub struct Native {
    recipe: Recipe,
    needs: Needs,
    hooks: Hooks,
    /// Owner of the code. The functions stay loaded as long as it exists.
    _code: Box<dyn Send + Sync>,
}

impl Native {
    /// Returns the algorithm of a table. `keep` owns its code.
    ///
    /// # Safety
    /// If the table has this version of the interface, its pointers have targets of the declared types and sizes, its
    /// functions fulfil the interface, and all of this remains true for as long as `keep` exists.
    ///
    /// # Errors
    /// If the table has another version, or is inconsistent.
    pub unsafe fn new(
        table: *const Table,
        origin: Origin,
        code: String,
        keep: Box<dyn Send + Sync>,
    ) -> Result<Self, String> {
        // SAFETY: by the contract above; a table starts with its head.
        let recipe = unsafe { Recipe::read(table.cast(), size_of::<Control>(), origin, code)? };
        // SAFETY: by the contract above, and it is of this version.
        let table = unsafe { &*table };
        if table.needs & !needs::ALL != 0 {
            return Err(format!("needs {:#x}; this version of the interface supports {:#x}", table.needs, needs::ALL));
        }
        let missing = |hook: &str| format!("has no function {hook}");
        Ok(Self {
            recipe,
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

impl Factory for Native {
    fn facts(&self) -> &Description {
        &self.recipe.facts
    }
}

impl AlgorithmFactory for Native {
    fn needs(&self) -> Needs {
        self.needs
    }

    fn build(self: Arc<Self>, start: &ConnectionStart, values: &[f64]) -> Box<dyn CongestionControl> {
        let record = self.recipe.record(values);
        let (name, needs, hooks) = (self.recipe.facts.name, self.needs, self.hooks);
        bind(name, NativeConnection { record, hooks, _algorithm: self }, needs, start)
    }
}

/// Record of a connection, and its algorithm.
struct NativeConnection {
    record: Box<[u64]>,
    hooks: Hooks,
    /// The algorithm, which keeps the functions loaded.
    _algorithm: Arc<Native>,
}

impl NativeConnection {
    #[inline]
    fn call<T>(&mut self, function: AlgorithmHook<T>, record: &T) {
        // SAFETY: by the contract of `Native::new` the function takes the record of a connection, which has the size
        // and the initial value of the table, and this record; no other reference to them exists during the call.
        unsafe { function(self.record.as_mut_ptr().cast(), record) }
    }

    fn call_any<T>(&mut self, function: Option<AlgorithmHook<T>>, record: &T) -> bool {
        if let Some(function) = function {
            self.call(function, record);
        }
        function.is_some()
    }
}

impl ConnectionCallbacks for NativeConnection {
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
