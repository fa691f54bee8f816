//! A queue discipline in Rust, and the table that offers it.

use crate::queue::{Packet, Queue, verdict};
use crate::table::{Head, Parameter, QueueTable};
use std::ffi::{CStr, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A queue discipline. A value is the state of one queue, beside the [`Queue`] with its backlog.
///
/// Its fields have 8 bytes each and no padding, and what it does depends on its arguments alone: the run could not be repeated
/// otherwise. A panic ends the run.
pub trait QueueDiscipline: Copy + Send + Sync + 'static {
    /// The name of the discipline in scenarios.
    const NAME: &'static CStr;
    /// What it does, in a sentence.
    const ABOUT: &'static CStr = c"";
    /// Its parameters: [`parameter!`](crate::parameter) with the word `queue` at the start.
    const PARAMETERS: &'static [Parameter] = &[];
    /// The state before the start, with the defaults of the parameters.
    const INITIAL: Self;

    /// A packet comes. Returns a number of [`verdict`].
    fn on_enqueue(&mut self, _queue: &mut Queue, _packet: &Packet) -> i64 {
        verdict::PASS
    }

    /// The packet at the head is about to leave. Returns a number of [`verdict`].
    fn on_dequeue(&mut self, _queue: &mut Queue, _packet: &Packet) -> i64 {
        verdict::PASS
    }
}

/// The record of a queue of the discipline `D`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct OwnQueue<D> {
    /// The backlog.
    pub queue: Queue,
    /// The discipline's parameters and state.
    pub discipline: D,
}

impl<D: QueueDiscipline> OwnQueue<D> {
    /// The record before the start.
    pub const INITIAL: Self = Self { queue: Queue::NONE, discipline: D::INITIAL };

    const IS_PLAIN: () = assert!(
        size_of::<D>().is_multiple_of(8)
            && align_of::<D>() <= 8
            && size_of::<Self>() == size_of::<Queue>() + size_of::<D>(),
        "the fields of a discipline have 8 bytes each"
    );
}

/// The table of a discipline, whose records start as `initial`.
pub const fn queue_table<D: QueueDiscipline>(initial: &'static OwnQueue<D>) -> QueueTable {
    let () = OwnQueue::<D>::IS_PLAIN;
    QueueTable {
        head: Head {
            interface: crate::INTERFACE,
            size: size_of::<OwnQueue<D>>() as u32,
            name: D::NAME.as_ptr(),
            about: D::ABOUT.as_ptr(),
            initial: std::ptr::from_ref(initial).cast(),
            parameters: D::PARAMETERS.as_ptr(),
            parameter_count: D::PARAMETERS.len() as u64,
        },
        on_enqueue: Some(on_enqueue::<D>),
        on_dequeue: Some(on_dequeue::<D>),
    }
}

macro_rules! judgements {
    ($($hook:ident)*) => {
        $(unsafe extern "C" fn $hook<D: QueueDiscipline>(own: *mut c_void, packet: *const Packet) -> i64 {
            // SAFETY: lightlag gives the record of a queue, which it made with the size and the initial value of the table,
            // and a packet that lives during the call; nothing else refers to either.
            let (OwnQueue { queue, discipline }, packet) = unsafe { (&mut *own.cast::<OwnQueue<D>>(), &*packet) };
            // A panic must not leave a function of C.
            catch_unwind(AssertUnwindSafe(|| discipline.$hook(queue, packet))).unwrap_or_else(|_| {
                queue.fault = 1;
                verdict::PASS
            })
        })*
    };
}

judgements! { on_enqueue on_dequeue }

/// Exports a queue discipline from a library, which holds one.
#[macro_export]
macro_rules! export_queue_discipline {
    ($discipline:ty) => {
        /// The table of the discipline, for lightlag.
        #[unsafe(no_mangle)]
        pub extern "C" fn lightlag_queue_discipline() -> *const $crate::QueueTable {
            static INITIAL: $crate::OwnQueue<$discipline> = $crate::OwnQueue::<$discipline>::INITIAL;
            static TABLE: $crate::QueueTable = $crate::queue_table(&INITIAL);
            &TABLE
        }
    };
}
