//! Queue disciplines that implement the C interface.

// Functions are called through foreign pointers.
#![allow(unsafe_code)]

use super::{QueueCallbacks, bind};
use crate::recipe::Recipe;
use lightlag_core::custom::{Description, Factory, Origin};
use lightlag_net::queue::custom::{DisciplineFactory, PacketPolicy, QueueInfo};
use lightlag_plugin::{Packet, Queue, QueueTable, verdict};
use std::ffi::c_void;
use std::sync::Arc;

type QueueHook = unsafe extern "C" fn(*mut c_void, *const Packet) -> i64;

/// A queue discipline that implements the C interface.
pub struct NativeQueue {
    recipe: Recipe,
    on_enqueue: Option<QueueHook>,
    on_dequeue: Option<QueueHook>,
    /// Owner of the code. The functions stay loaded as long as it exists.
    _code: Box<dyn Send + Sync>,
}

impl NativeQueue {
    /// Returns the discipline of a table. `keep` owns its code.
    ///
    /// # Safety
    /// If the table has this version of the interface, its pointers have targets of the declared types and sizes, its
    /// functions fulfil the interface, and all of this remains true for as long as `keep` exists.
    ///
    /// # Errors
    /// If the table has another version, or is inconsistent.
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

impl Factory for NativeQueue {
    fn facts(&self) -> &Description {
        &self.recipe.facts
    }
}

impl DisciplineFactory for NativeQueue {
    fn build(self: Arc<Self>, start: &QueueInfo, values: &[f64]) -> Box<dyn PacketPolicy> {
        let record = self.recipe.record(values);
        bind(self.recipe.facts.name, QueueRecord { record, discipline: Arc::clone(&self) }, start)
    }
}

/// Record of a queue, and its discipline.
struct QueueRecord {
    record: Box<[u64]>,
    /// The functions of the discipline; holding the `Arc` keeps them loaded.
    discipline: Arc<NativeQueue>,
}

impl QueueRecord {
    fn ask(&mut self, function: Option<QueueHook>, packet: &Packet) -> i64 {
        let Some(function) = function else { return verdict::PASS };
        // SAFETY: by the contract of `NativeQueue::new` the function takes the record of a queue, which has the size
        // and the initial value of the table, and this packet; no other reference to them exists during the call.
        unsafe { function(self.record.as_mut_ptr().cast(), packet) }
    }
}

impl QueueCallbacks for QueueRecord {
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
