//! Tables: the description of an algorithm, with its functions.

use crate::queue::Packet;
use crate::records::{Ack, Congestion, Idle, Moment, Start};
use std::ffi::{c_char, c_void};

/// A function of a congestion control. It takes the record of a connection and a record of the event.
pub type Hook<T> = Option<unsafe extern "C" fn(*mut c_void, *const T)>;

/// A function of a queue discipline. It takes the record of a queue and a packet, and returns a number of
/// [`verdict`](crate::verdict).
pub type Judgement = Option<unsafe extern "C" fn(*mut c_void, *const Packet) -> i64>;

/// Description of an algorithm, at the start of its table. Nothing that its pointers refer to changes while the library
/// is loaded.
#[repr(C)]
pub struct Head {
    /// Version of the interface for which the algorithm was built: [`INTERFACE`](crate::INTERFACE).
    pub interface: u32,
    /// Size of a record in bytes, including the [`Control`](crate::Control) or the [`Queue`](crate::Queue) at its
    /// start. A multiple of 8.
    pub size: u32,
    /// Name of the algorithm in results, in ASCII.
    pub name: *const c_char,
    /// Description in a sentence.
    pub about: *const c_char,
    /// Initial record, with the defaults of the parameters; null for zeros.
    pub initial: *const c_void,
    /// Parameters, as an array.
    pub parameters: *const Parameter,
    /// Number of parameters.
    pub parameter_count: u64,
}

/// Table of a congestion control algorithm.
#[repr(C)]
pub struct Table {
    /// Description. The record starts with a [`Control`](crate::Control).
    pub head: Head,
    /// Needs of the algorithm besides its ACKs, as a sum of the numbers in [`needs`].
    pub needs: u64,
    /// Called when a connection starts to send. Optional.
    pub on_start: Hook<Start>,
    /// Called when new data was acknowledged or SACKed, in recovery or not.
    pub on_ack: Hook<Ack>,
    /// Called when a congestion episode starts.
    pub on_congestion: Hook<Congestion>,
    /// Called when the last reaction was to a spurious loss. Optional: if absent, window and threshold return to at
    /// least their values before the reaction.
    pub on_undo: Hook<Moment>,
    /// Called when the sender was idle, or did not use its window. Optional: if absent, the window is reduced to the
    /// limits in `Idle`.
    pub on_idle: Hook<Idle>,
    /// Called when the repair of losses has ended. Optional.
    pub on_recovered: Hook<Moment>,
}

// SAFETY: a table is constant, and the functions in it take all they change as arguments.
unsafe impl Sync for Table {}

/// Table of a queue discipline.
#[repr(C)]
pub struct QueueTable {
    /// Description. The record starts with a [`Queue`](crate::Queue).
    pub head: Head,
    /// Called when a packet arrives. Optional: if absent, all packets pass.
    pub on_enqueue: Judgement,
    /// Called when the packet at the head is about to leave. Optional: if absent, all packets pass.
    pub on_dequeue: Judgement,
}

// SAFETY: as above.
unsafe impl Sync for QueueTable {}

/// A parameter: a field of the record that a scenario can set.
#[repr(C)]
pub struct Parameter {
    /// Key in a scenario, in ASCII.
    pub name: *const c_char,
    /// Unit; empty if there is none.
    pub unit: *const c_char,
    /// Effect, in a sentence.
    pub meaning: *const c_char,
    /// Offset of the field in the record, in bytes.
    pub offset: u64,
    /// Type of the field: a number of [`kind`].
    pub kind: u64,
    /// Minimum value.
    pub min: f64,
    /// Maximum value.
    pub max: f64,
}

// SAFETY: it is constant.
unsafe impl Sync for Parameter {}

/// Types of parameters.
pub mod kind {
    /// A number, `f64`.
    pub const NUMBER: u64 = 0;
    /// A whole number, `i64`.
    pub const WHOLE: u64 = 1;
    /// True or false, `i64` of 1 or 0.
    pub const FLAG: u64 = 2;
}

/// Optional needs of an algorithm besides its ACKs.
pub mod needs {
    /// The delivery rate at each ACK.
    pub const RATE: u64 = 1;
    /// The pacing rate that the algorithm sets is applied.
    pub const PACING: u64 = 2;
    /// The window also applies in fast recovery, without proportional rate reduction (RFC 6937).
    pub const CONTROLS_RECOVERY: u64 = 4;
    /// Sum of all needs.
    pub const ALL: u64 = 7;
}
