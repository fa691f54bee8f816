//! Traffic that implements the C interface.

// Functions are called through foreign pointers.
#![allow(unsafe_code)]

use super::{ApplicationCallbacks, bind};
use crate::recipe::Recipe;
use lightlag_core::custom::{Description, Factory, Origin};
use lightlag_plugin::{Sent, Source, TrafficTable};
use lightlag_traffic::custom::{Application, ApplicationInfo, TrafficFactory};
use std::ffi::c_void;
use std::sync::Arc;

type TrafficHook = unsafe extern "C" fn(*mut c_void, *const Sent);

/// Traffic that implements the C interface.
pub struct NativeTraffic {
    recipe: Recipe,
    next_message: TrafficHook,
    /// Owner of the code. The function stays loaded as long as it exists.
    _code: Box<dyn Send + Sync>,
}

impl NativeTraffic {
    /// Returns the traffic of a table. `keep` owns its code.
    ///
    /// # Safety
    /// If the table has this version of the interface, its pointers have targets of the declared types and sizes, its
    /// function fulfils the interface, and all of this remains true for as long as `keep` exists.
    ///
    /// # Errors
    /// If the table has another version, or is inconsistent.
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

impl Factory for NativeTraffic {
    fn facts(&self) -> &Description {
        &self.recipe.facts
    }
}

impl TrafficFactory for NativeTraffic {
    fn build(self: Arc<Self>, start: &ApplicationInfo, values: &[f64]) -> Box<dyn Application> {
        let record = self.recipe.record(values);
        bind(self.recipe.facts.name, ApplicationRecord { record, traffic: Arc::clone(&self) }, start)
    }
}

/// Record of an application, and its traffic.
struct ApplicationRecord {
    record: Box<[u64]>,
    /// The function of the traffic; holding the `Arc` keeps it loaded.
    traffic: Arc<NativeTraffic>,
}

impl ApplicationCallbacks for ApplicationRecord {
    fn source(&self) -> Source {
        // SAFETY: a record starts with a source, whose fields take any bits, and has its alignment.
        unsafe { *self.record.as_ptr().cast::<Source>() }
    }

    fn set_source(&mut self, source: Source) {
        // SAFETY: as above.
        unsafe { *self.record.as_mut_ptr().cast::<Source>() = source };
    }

    fn next_message(&mut self, sent: &Sent) -> Result<(), String> {
        // SAFETY: by the contract of `NativeTraffic::new` the function takes the record of an application, which has
        // the size and the initial value of the table, and this progress; no other reference to them exists during the
        // call.
        unsafe { (self.traffic.next_message)(self.record.as_mut_ptr().cast(), sent) };
        Ok(())
    }
}
