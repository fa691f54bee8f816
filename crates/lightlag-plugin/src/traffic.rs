//! Traffic: its records, its table, and the support for implementations in Rust.

use crate::hooks::{AlgorithmRecord, hooks};
use crate::records::uniform;
use crate::table::{Head, Parameter};
use std::ffi::{CStr, c_void};

/// Start of the record of an application. It holds the next message.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Source {
    /// Time from the last message, or from the start of the flow, to the next one, in nanoseconds. After the first
    /// message, 0 counts as 1.
    pub wait_ns: i64,
    /// Size of the next message in bytes; 0: there are no more messages.
    pub size: i64,
    /// State of the random numbers of this flow, derived from the seed of the run. lightlag sets it.
    pub random: u64,
    /// Error of the application; any value except 0 ends the run.
    pub fault: i64,
}

impl Source {
    /// An initial record.
    pub const NONE: Self = Self { wait_ns: 0, size: 0, random: 0, fault: 0 };

    /// Returns the next random number, at least 0 and below 1.
    pub fn uniform(&mut self) -> f64 {
        uniform(&mut self.random)
    }
}

/// Progress of an application at the request for its next message.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sent {
    /// Time of the last message; before the first one, the start of the flow. In nanoseconds since the start of the
    /// run.
    pub now_ns: i64,
    /// Number of messages so far.
    pub messages: i64,
    /// Bytes of the messages so far.
    pub bytes: i64,
}

/// A function of traffic. It takes the record of an application and its progress, and stores the next message in the
/// record.
pub type Teller = Option<unsafe extern "C" fn(*mut c_void, *const Sent)>;

/// Table of traffic.
#[repr(C)]
pub struct TrafficTable {
    /// Description. The record starts with a [`Source`].
    pub head: Head,
    /// Called for the next message; stores it in the record.
    pub next_message: Teller,
}

// SAFETY: a table is constant, and the function in it takes all it changes as arguments.
unsafe impl Sync for TrafficTable {}

/// Traffic. A value of the type is the state of an application; it is stored after the [`Source`].
///
/// Each field of the type has 8 bytes, without padding. To make runs repeatable, the behaviour may depend on nothing
/// but the arguments. A panic ends the run.
pub trait Traffic: Copy + Send + Sync + 'static {
    /// Name of the traffic in scenarios.
    const NAME: &'static CStr;
    /// Description in a sentence.
    const ABOUT: &'static CStr = c"";
    /// Parameters, each built by [`parameter!`](crate::parameter) with the keyword `traffic`.
    const PARAMETERS: &'static [Parameter] = &[];
    /// State of a new application, with the defaults of the parameters.
    const INITIAL: Self;

    /// Sets the time until the next message, and its size.
    fn next_message(&mut self, source: &mut Source, sent: &Sent);
}

/// Record of an application: its [`Source`], followed by the state of the traffic `A`.
pub type TrafficRecord<A> = AlgorithmRecord<Source, A>;

/// Returns the table of traffic. New records are copies of `initial`.
pub const fn traffic_table<A: Traffic>(initial: &'static TrafficRecord<A>) -> TrafficTable {
    TrafficTable {
        head: AlgorithmRecord::describe(initial, A::NAME, A::ABOUT, A::PARAMETERS),
        next_message: Some(next_message::<A>),
    }
}

hooks! {
    Traffic, Source;
    next_message(Sent);
}

/// Exports traffic from a library. A library exports one kind.
#[macro_export]
macro_rules! export_traffic {
    ($traffic:ty) => {
        /// Returns the table of the traffic; called by lightlag.
        #[unsafe(no_mangle)]
        pub extern "C" fn lightlag_traffic() -> *const $crate::TrafficTable {
            static INITIAL: $crate::TrafficRecord<$traffic> =
                $crate::AlgorithmRecord::new($crate::Source::NONE, <$traffic as $crate::Traffic>::INITIAL);
            static TABLE: $crate::TrafficTable = $crate::traffic_table(&INITIAL);
            &TABLE
        }
    };
}
