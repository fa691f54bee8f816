//! Queue disciplines behind the C interface.

// Functions are called through pointers that come from outside.
#![allow(unsafe_code)]

use super::{Body, bind};
use crate::recipe::Recipe;
use lightlag_core::own::{Facts, Origin, Outside};
use lightlag_net::queue::own::{Judge, Maker, Start};
use lightlag_plugin::{Packet, Queue, QueueTable, verdict};
use std::ffi::c_void;
use std::sync::Arc;

type Function = unsafe extern "C" fn(*mut c_void, *const Packet) -> i64;

/// A discipline behind the C interface.
pub struct NativeQueue {
    recipe: Recipe,
    on_enqueue: Option<Function>,
    on_dequeue: Option<Function>,
    /// Keeps the code in memory.
    _code: Box<dyn Send + Sync>,
}

impl NativeQueue {
    /// The discipline of a table. `keep` holds its code in memory.
    ///
    /// # Safety
    /// If the table is of this version of the interface, then what it points to has the types and sizes that it says, its functions
    /// do what the interface asks, and all of that holds for as long as `keep` lives.
    ///
    /// # Errors
    /// If the table is of another version, or contradicts itself.
    pub unsafe fn new(
        table: *const QueueTable,
        origin: Origin,
        code: String,
        keep: Box<dyn Send + Sync>,
    ) -> Result<Self, String> {
        // SAFETY: by the contract above; a table starts with its head.
        let recipe = unsafe { Recipe::read(table.cast(), size_of::<Queue>(), origin, code)? };
        // SAFETY: by the contract above, and it is of this version.
        let QueueTable { on_enqueue, on_dequeue, .. } = *unsafe { &*table };
        if on_enqueue.is_none() && on_dequeue.is_none() {
            return Err("has neither a function on_enqueue nor on_dequeue".to_owned());
        }
        Ok(Self { recipe, on_enqueue, on_dequeue, _code: keep })
    }
}

impl Outside for NativeQueue {
    fn facts(&self) -> &Facts {
        &self.recipe.facts
    }
}

impl Maker for NativeQueue {
    fn build(self: Arc<Self>, start: &Start, values: &[f64]) -> Box<dyn Judge> {
        let record = self.recipe.record(values);
        bind(self.recipe.facts.name, Record { record, discipline: Arc::clone(&self) }, start)
    }
}

/// A queue.
struct Record {
    record: Box<[u64]>,
    /// Has the functions, and keeps them in memory.
    discipline: Arc<NativeQueue>,
}

impl Record {
    fn ask(&mut self, function: Option<Function>, packet: &Packet) -> i64 {
        let Some(function) = function else { return verdict::PASS };
        // SAFETY: by the contract of `NativeQueue::new` the function takes the record of a queue, which has the size and the
        // initial value of the table, and this packet; nothing else refers to them meanwhile.
        unsafe { function(self.record.as_mut_ptr().cast(), packet) }
    }
}

impl Body for Record {
    fn queue(&self) -> Queue {
        // SAFETY: a record starts with a queue, whose fields take any bits, and has its alignment.
        unsafe { *self.record.as_ptr().cast::<Queue>() }
    }

    fn set_queue(&mut self, queue: Queue) {
        // SAFETY: as above.
        unsafe { *self.record.as_mut_ptr().cast::<Queue>() = queue };
    }

    fn on_enqueue(&mut self, packet: &Packet) -> Result<i64, String> {
        Ok(self.ask(self.discipline.on_enqueue, packet))
    }

    fn on_dequeue(&mut self, packet: &Packet) -> Result<i64, String> {
        Ok(self.ask(self.discipline.on_dequeue, packet))
    }
}
