//! A loss response behind the C interface.

// Functions are called through pointers that come from outside.
#![allow(unsafe_code)]

use super::{Body, bind};
use crate::recipe::Recipe;
use lightlag_control::congestion::Start;
use lightlag_control::congestion::response::{LossResponse, Maker};
use lightlag_core::own::{Facts, Origin, Outside};
use lightlag_plugin::{Ack, Loss, Response, ResponseTable};
use std::ffi::c_void;
use std::sync::Arc;

/// A loss response behind the C interface.
pub struct NativeResponse {
    recipe: Recipe,
    on_ack: Option<unsafe extern "C" fn(*mut c_void, *const Ack)>,
    on_loss: unsafe extern "C" fn(*mut c_void, *const Loss) -> i64,
    /// Keeps the code in memory.
    _code: Box<dyn Send + Sync>,
}

impl NativeResponse {
    /// The loss response of a table. `keep` holds its code in memory.
    ///
    /// # Safety
    /// If the table is of this version of the interface, then what it points to has the types and sizes that it says, its functions
    /// do what the interface asks, and all of that holds for as long as `keep` lives.
    ///
    /// # Errors
    /// If the table is of another version, or contradicts itself.
    pub unsafe fn new(
        table: *const ResponseTable,
        origin: Origin,
        code: String,
        keep: Box<dyn Send + Sync>,
    ) -> Result<Self, String> {
        // SAFETY: by the contract above; a table starts with its head.
        let recipe = unsafe { Recipe::read(table.cast(), size_of::<Response>(), origin, code)? };
        // SAFETY: by the contract above, and it is of this version.
        let ResponseTable { on_ack, on_loss, .. } = *unsafe { &*table };
        let on_loss = on_loss.ok_or("has no function on_loss")?;
        Ok(Self { recipe, on_ack, on_loss, _code: keep })
    }
}

impl Outside for NativeResponse {
    fn facts(&self) -> &Facts {
        &self.recipe.facts
    }
}

impl Maker for NativeResponse {
    fn build(self: Arc<Self>, start: &Start, values: &[f64]) -> Box<dyn LossResponse> {
        let record = self.recipe.record(values);
        bind(self.recipe.facts.name, Record { record, response: Arc::clone(&self) }, start)
    }
}

/// A sender.
struct Record {
    record: Box<[u64]>,
    /// Has the functions, and keeps them in memory.
    response: Arc<NativeResponse>,
}

impl Body for Record {
    fn head(&self) -> Response {
        // SAFETY: a record starts with this head, whose fields take any bits, and has its alignment.
        unsafe { *self.record.as_ptr().cast::<Response>() }
    }

    fn set_head(&mut self, head: Response) {
        // SAFETY: as above.
        unsafe { *self.record.as_mut_ptr().cast::<Response>() = head };
    }

    fn on_ack(&mut self, ack: &Ack) -> Result<(), String> {
        if let Some(on_ack) = self.response.on_ack {
            // SAFETY: by the contract of `NativeResponse::new` the function takes the record of a sender, which has the size and
            // the initial value of the table, and this ACK; nothing else refers to them meanwhile.
            unsafe { on_ack(self.record.as_mut_ptr().cast(), ack) };
        }
        Ok(())
    }

    fn on_loss(&mut self, loss: &Loss) -> Result<i64, String> {
        // SAFETY: as above, with this loss.
        Ok(unsafe { (self.response.on_loss)(self.record.as_mut_ptr().cast(), loss) })
    }
}
