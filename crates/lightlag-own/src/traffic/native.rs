//! Traffic behind the C interface.

// Functions are called through pointers that come from outside.
#![allow(unsafe_code)]

use super::{Body, bind};
use crate::recipe::Recipe;
use lightlag_core::own::{Facts, Origin, Outside};
use lightlag_plugin::{Sent, Source, TrafficTable};
use lightlag_scenario::own_traffic::{Application, Maker, Start};
use std::ffi::c_void;
use std::sync::Arc;

type Function = unsafe extern "C" fn(*mut c_void, *const Sent);

/// Traffic behind the C interface.
pub struct NativeTraffic {
    recipe: Recipe,
    next_message: Function,
    /// Keeps the code in memory.
    _code: Box<dyn Send + Sync>,
}

impl NativeTraffic {
    /// The traffic of a table. `keep` holds its code in memory.
    ///
    /// # Safety
    /// If the table is of this version of the interface, then what it points to has the types and sizes that it says, its function
    /// does what the interface asks, and all of that holds for as long as `keep` lives.
    ///
    /// # Errors
    /// If the table is of another version, or contradicts itself.
    pub unsafe fn new(
        table: *const TrafficTable,
        origin: Origin,
        code: String,
        keep: Box<dyn Send + Sync>,
    ) -> Result<Self, String> {
        // SAFETY: by the contract above; a table starts with its head.
        let recipe = unsafe { Recipe::read(table.cast(), size_of::<Source>(), origin, code)? };
        // SAFETY: by the contract above, and it is of this version.
        let TrafficTable { next_message, .. } = *unsafe { &*table };
        let next_message = next_message.ok_or("has no function next_message")?;
        Ok(Self { recipe, next_message, _code: keep })
    }
}

impl Outside for NativeTraffic {
    fn facts(&self) -> &Facts {
        &self.recipe.facts
    }
}

impl Maker for NativeTraffic {
    fn build(self: Arc<Self>, start: &Start, values: &[f64]) -> Box<dyn Application> {
        let record = self.recipe.record(values);
        bind(self.recipe.facts.name, Record { record, traffic: Arc::clone(&self) }, start)
    }
}

/// An application.
struct Record {
    record: Box<[u64]>,
    /// Has the function, and keeps it in memory.
    traffic: Arc<NativeTraffic>,
}

impl Body for Record {
    fn source(&self) -> Source {
        // SAFETY: a record starts with a source, whose fields take any bits, and has its alignment.
        unsafe { *self.record.as_ptr().cast::<Source>() }
    }

    fn set_source(&mut self, source: Source) {
        // SAFETY: as above.
        unsafe { *self.record.as_mut_ptr().cast::<Source>() = source };
    }

    fn next_message(&mut self, sent: &Sent) -> Result<(), String> {
        // SAFETY: by the contract of `NativeTraffic::new` the function takes the record of an application, which has the size and
        // the initial value of the table, and this progress; nothing else refers to them meanwhile.
        unsafe { (self.traffic.next_message)(self.record.as_mut_ptr().cast(), sent) };
        Ok(())
    }
}
