//! Loss responses that implement the C interface.

// Functions are called through foreign pointers.
#![allow(unsafe_code)]

use super::{ResponseCallbacks, bind};
use crate::recipe::Recipe;
use lightlag_control::congestion::ConnectionStart;
use lightlag_control::congestion::response::{LossResponse, ResponseFactory};
use lightlag_core::custom::{Description, Factory, Origin};
use lightlag_plugin::{Ack, Loss, Response, ResponseTable};
use std::ffi::c_void;
use std::sync::Arc;

/// A loss response that implements the C interface.
pub struct NativeResponse {
    recipe: Recipe,
    on_ack: Option<unsafe extern "C" fn(*mut c_void, *const Ack)>,
    on_loss: unsafe extern "C" fn(*mut c_void, *const Loss) -> i64,
    /// Owner of the code. The functions stay loaded as long as it exists.
    _code: Box<dyn Send + Sync>,
}

impl NativeResponse {
    /// Returns the loss response of a table. `keep` owns its code.
    ///
    /// # Safety
    /// If the table has this version of the interface, its pointers have targets of the declared types and sizes, its
    /// functions fulfil the interface, and all of this remains true for as long as `keep` exists.
    ///
    /// # Errors
    /// If the table has another version, or is inconsistent.
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

impl Factory for NativeResponse {
    fn facts(&self) -> &Description {
        &self.recipe.facts
    }
}

impl ResponseFactory for NativeResponse {
    fn build(self: Arc<Self>, start: &ConnectionStart, values: &[f64]) -> Box<dyn LossResponse> {
        let record = self.recipe.record(values);
        bind(self.recipe.facts.name, ResponseRecord { record, response: Arc::clone(&self) }, start)
    }
}

/// Record of a sender, and its loss response.
struct ResponseRecord {
    record: Box<[u64]>,
    /// The functions of the response; holding the `Arc` keeps them loaded.
    response: Arc<NativeResponse>,
}

impl ResponseCallbacks for ResponseRecord {
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
            // SAFETY: by the contract of `NativeResponse::new` the function takes the record of a sender, which has the
            // size and the initial value of the table, and this ACK; no other reference to them exists during the call.
            unsafe { on_ack(self.record.as_mut_ptr().cast(), ack) };
        }
        Ok(())
    }

    fn on_loss(&mut self, loss: &Loss) -> Result<i64, String> {
        // SAFETY: as above, with this loss.
        Ok(unsafe { (self.response.on_loss)(self.record.as_mut_ptr().cast(), loss) })
    }
}
