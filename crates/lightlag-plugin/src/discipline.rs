//! Queue disciplines in Rust, and the table that exports one.

use crate::hooks::{AlgorithmRecord, hooks};
use crate::queue::{Packet, Queue, verdict};
use crate::table::{Parameter, QueueTable};
use std::ffi::CStr;

/// A queue discipline. A value of the type is the state of a queue; it is stored after the [`Queue`] that holds the
/// backlog.
///
/// Each field of the type has 8 bytes, without padding. To make runs repeatable, the behaviour may depend on nothing
/// but the arguments. A panic ends the run.
pub trait QueueDiscipline: Copy + Send + Sync + 'static {
    /// Name of the discipline in scenarios.
    const NAME: &'static CStr;
    /// Description in a sentence.
    const ABOUT: &'static CStr = c"";
    /// Parameters, each built by [`parameter!`](crate::parameter) with the keyword `queue`.
    const PARAMETERS: &'static [Parameter] = &[];
    /// State of a new queue, with the defaults of the parameters.
    const INITIAL: Self;

    /// Called when a packet arrives. Returns a number of [`verdict`].
    fn on_enqueue(&mut self, _queue: &mut Queue, _packet: &Packet) -> i64 {
        verdict::PASS
    }

    /// Called when the packet at the head is about to leave. Returns a number of [`verdict`].
    fn on_dequeue(&mut self, _queue: &mut Queue, _packet: &Packet) -> i64 {
        verdict::PASS
    }
}

/// Record of a queue: its [`Queue`], followed by the state of the discipline `A`.
pub type QueueRecord<A> = AlgorithmRecord<Queue, A>;

/// Returns the table of a discipline. New records are copies of `initial`.
pub const fn queue_table<A: QueueDiscipline>(initial: &'static QueueRecord<A>) -> QueueTable {
    QueueTable {
        head: AlgorithmRecord::describe(initial, A::NAME, A::ABOUT, A::PARAMETERS),
        on_enqueue: Some(on_enqueue::<A>),
        on_dequeue: Some(on_dequeue::<A>),
    }
}

hooks! {
    QueueDiscipline, Queue;
    on_enqueue(Packet) -> i64;
    on_dequeue(Packet) -> i64;
}

/// Exports a queue discipline from a library. A library exports one.
#[macro_export]
macro_rules! export_queue_discipline {
    ($discipline:ty) => {
        /// Returns the table of the discipline; called by lightlag.
        #[unsafe(no_mangle)]
        pub extern "C" fn lightlag_queue_discipline() -> *const $crate::QueueTable {
            static INITIAL: $crate::QueueRecord<$discipline> =
                $crate::AlgorithmRecord::new($crate::Queue::NONE, <$discipline as $crate::QueueDiscipline>::INITIAL);
            static TABLE: $crate::QueueTable = $crate::queue_table(&INITIAL);
            &TABLE
        }
    };
}
