//! The description of an algorithm, with its functions.

use crate::queue::Packet;
use crate::records::{Ack, Congestion, Idle, Moment, Start};
use std::ffi::{c_char, c_void};

/// A function of a congestion control: it takes the record of a connection and a record that says what happened.
pub type Hook<T> = Option<unsafe extern "C" fn(*mut c_void, *const T)>;

/// A function of a queue discipline: it takes the record of a queue and a packet, and returns a number of
/// [`verdict`](crate::verdict).
pub type Judgement = Option<unsafe extern "C" fn(*mut c_void, *const Packet) -> i64>;

/// The description of an algorithm, at the start of its table. Everything that it points to stays as it is for as long as the
/// library is loaded.
#[repr(C)]
pub struct Head {
    /// [`INTERFACE`](crate::INTERFACE) of the algorithm.
    pub interface: u32,
    /// Bytes of its record, a multiple of 8, with the [`Control`](crate::Control) or the [`Queue`](crate::Queue) at its start.
    pub size: u32,
    /// The name of the algorithm in results, in ASCII.
    pub name: *const c_char,
    /// What it does, in a sentence.
    pub about: *const c_char,
    /// The record before the start, with the defaults of the parameters; null for zeros.
    pub initial: *const c_void,
    /// The parameters.
    pub parameters: *const Parameter,
    /// Number of the parameters.
    pub parameter_count: u64,
}

/// A congestion control.
#[repr(C)]
pub struct Table {
    /// Its description.
    pub head: Head,
    /// The sum of what it needs beyond its ACKs: numbers of [`needs`].
    pub needs: u64,
    /// A connection starts to send. Optional.
    pub on_start: Hook<Start>,
    /// New data was acknowledged or SACKed, in recovery or not.
    pub on_ack: Hook<Ack>,
    /// An episode of congestion started.
    pub on_congestion: Hook<Congestion>,
    /// The last reaction was to a spurious loss. Optional: without it window and threshold return to their values before the
    /// reaction, or more.
    pub on_undo: Hook<Moment>,
    /// The sender was idle, or did not use its window. Optional: without it the window is cut to what `Idle` says.
    pub on_idle: Hook<Idle>,
    /// The repair of losses ended. Optional.
    pub on_recovered: Hook<Moment>,
}

// SAFETY: a table is constant, and the functions in it take all they change as arguments.
unsafe impl Sync for Table {}

/// A queue discipline.
#[repr(C)]
pub struct QueueTable {
    /// Its description.
    pub head: Head,
    /// A packet comes. Optional: without it all pass.
    pub on_enqueue: Judgement,
    /// The packet at the head is about to leave. Optional: without it all pass.
    pub on_dequeue: Judgement,
}

// SAFETY: as above.
unsafe impl Sync for QueueTable {}

/// A parameter: a field of the record that a scenario can set.
#[repr(C)]
pub struct Parameter {
    /// Its key in a scenario, in ASCII.
    pub name: *const c_char,
    /// Its unit; empty for none.
    pub unit: *const c_char,
    /// Its effect, in a sentence.
    pub meaning: *const c_char,
    /// Bytes from the start of the record.
    pub offset: u64,
    /// Its type: a number of [`kind`].
    pub kind: u64,
    /// Its least value.
    pub least: f64,
    /// Its largest value.
    pub most: f64,
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

/// What an algorithm may need beyond its ACKs.
pub mod needs {
    /// The delivery rate of each ACK.
    pub const RATE: u64 = 1;
    /// Its pacing rate applies.
    pub const PACING: u64 = 2;
    /// Its window applies in fast recovery, too: no proportional rate reduction (RFC 6937).
    pub const OWN_RECOVERY: u64 = 4;
    /// All of them.
    pub const ALL: u64 = 7;
}
