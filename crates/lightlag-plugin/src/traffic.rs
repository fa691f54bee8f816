//! Traffic: its records, its table, and what one in Rust needs.

use crate::records::uniform;
use crate::table::{Head, Parameter};
use std::ffi::{CStr, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The start of the record of an application, which says its next message.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Source {
    /// From the last message, or the start of the flow, to the next one; between messages, 0 counts as 1.
    pub wait_ns: i64,
    /// Bytes of the next message; 0: there is none any more.
    pub size: i64,
    /// The state of the random numbers of this flow, which start from the seed of the run. lightlag sets it.
    pub random: u64,
    /// Anything but 0 ends the run: the application has failed.
    pub fault: i64,
}

impl Source {
    /// The record before the start.
    pub const NONE: Self = Self { wait_ns: 0, size: 0, random: 0, fault: 0 };

    /// The next random number, from 0 up to but not including 1.
    pub fn uniform(&mut self) -> f64 {
        uniform(&mut self.random)
    }
}

/// The progress of an application when it is asked for a message.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sent {
    /// When the flow starts, or the time of the last message, in nanoseconds since the start of the run.
    pub now_ns: i64,
    /// Messages so far.
    pub messages: i64,
    /// Their bytes.
    pub bytes: i64,
}

/// A function of traffic: it takes the record of an application and its progress, and leaves the next message in the record.
pub type Teller = Option<unsafe extern "C" fn(*mut c_void, *const Sent)>;

/// Traffic.
#[repr(C)]
pub struct TrafficTable {
    /// Its description. Its record starts with a [`Source`].
    pub head: Head,
    /// Says the next message.
    pub next_message: Teller,
}

// SAFETY: a table is constant, and the function in it takes all it changes as arguments.
unsafe impl Sync for TrafficTable {}

/// Traffic. A value is the state of one application, beside its [`Source`].
///
/// Its fields have 8 bytes each and no padding, and what it does depends on its arguments alone: the run could not be repeated
/// otherwise. A panic ends the run.
pub trait Traffic: Copy + Send + Sync + 'static {
    /// The name of the traffic in scenarios.
    const NAME: &'static CStr;
    /// What it does, in a sentence.
    const ABOUT: &'static CStr = c"";
    /// Its parameters: [`parameter!`](crate::parameter) with the word `traffic` at the start.
    const PARAMETERS: &'static [Parameter] = &[];
    /// The state before the start, with the defaults of the parameters.
    const INITIAL: Self;

    /// Sets the wait and the size of the next message.
    fn next_message(&mut self, source: &mut Source, sent: &Sent);
}

/// The record of an application of the traffic `T`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct OwnTraffic<T> {
    /// The next message.
    pub source: Source,
    /// The traffic's parameters and state.
    pub traffic: T,
}

impl<T: Traffic> OwnTraffic<T> {
    /// The record before the start.
    pub const INITIAL: Self = Self { source: Source::NONE, traffic: T::INITIAL };

    const IS_PLAIN: () = assert!(
        size_of::<T>().is_multiple_of(8)
            && align_of::<T>() <= 8
            && size_of::<Self>() == size_of::<Source>() + size_of::<T>(),
        "the fields of traffic have 8 bytes each"
    );
}

/// The table of traffic whose records start as `initial`.
pub const fn traffic_table<T: Traffic>(initial: &'static OwnTraffic<T>) -> TrafficTable {
    let () = OwnTraffic::<T>::IS_PLAIN;
    TrafficTable {
        head: Head {
            interface: crate::INTERFACE,
            size: size_of::<OwnTraffic<T>>() as u32,
            name: T::NAME.as_ptr(),
            about: T::ABOUT.as_ptr(),
            initial: std::ptr::from_ref(initial).cast(),
            parameters: T::PARAMETERS.as_ptr(),
            parameter_count: T::PARAMETERS.len() as u64,
        },
        next_message: Some(next_message::<T>),
    }
}

unsafe extern "C" fn next_message<T: Traffic>(own: *mut c_void, sent: *const Sent) {
    // SAFETY: lightlag gives the record of an application, which it made with the size and the initial value of the table, and
    // its progress, which lives during the call; nothing else refers to either.
    let (OwnTraffic { source, traffic }, sent) = unsafe { (&mut *own.cast::<OwnTraffic<T>>(), &*sent) };
    // A panic must not leave a function of C.
    if catch_unwind(AssertUnwindSafe(|| traffic.next_message(source, sent))).is_err() {
        source.fault = 1;
    }
}

/// Exports traffic from a library, which holds one kind.
#[macro_export]
macro_rules! export_traffic {
    ($traffic:ty) => {
        /// The table of the traffic, for lightlag.
        #[unsafe(no_mangle)]
        pub extern "C" fn lightlag_traffic() -> *const $crate::TrafficTable {
            static INITIAL: $crate::OwnTraffic<$traffic> = $crate::OwnTraffic::<$traffic>::INITIAL;
            static TABLE: $crate::TrafficTable = $crate::traffic_table(&INITIAL);
            &TABLE
        }
    };
}
