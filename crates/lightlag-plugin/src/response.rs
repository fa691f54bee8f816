//! Loss responses: their records, their table, and what one in Rust needs.

use crate::records::{Ack, uniform};
use crate::table::{Head, Hook, Parameter};
use std::ffi::{CStr, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The start of the record of a loss response, which says for one sender what its losses come from.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Response {
    /// The state of the random numbers of this connection, which start from the seed of the run. lightlag sets it.
    pub random: u64,
    /// Anything but 0 ends the run: the response has failed.
    pub fault: i64,
}

impl Response {
    /// The record before the start.
    pub const NONE: Self = Self { random: 0, fault: 0 };

    /// The next random number, from 0 up to but not including 1.
    pub fn uniform(&mut self) -> f64 {
        uniform(&mut self.random)
    }
}

/// A loss that was found: the start of an episode, whatever the number of lost segments, or a timeout.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Loss {
    /// The time.
    pub now_ns: i64,
    /// The sign of it: [`cause::LOSS`](crate::cause::LOSS) or [`cause::TIMEOUT`](crate::cause::TIMEOUT).
    pub cause: i64,
    /// The time at which the lowest lost segment left; -1 if it is not known.
    pub sent_ns: i64,
    /// Bytes in flight.
    pub inflight: i64,
    /// The congestion window in bytes.
    pub cwnd: i64,
    /// The latest round-trip sample; 0 before the first.
    pub rtt_ns: i64,
    /// SRTT (RFC 6298); 0 before the first sample.
    pub srtt_ns: i64,
    /// The smallest sample so far; 0 before the first.
    pub min_rtt_ns: i64,
}

/// Causes that a response names.
pub mod blame {
    /// Too much traffic: the congestion control reacts.
    pub const CONGESTION: i64 = 0;
    /// An error of a link: the segment leaves again, and that is all.
    pub const CORRUPTION: i64 = 1;
}

/// A function of a loss response: it takes the record and a loss, and returns a number of [`blame`].
pub type Blamer = Option<unsafe extern "C" fn(*mut c_void, *const Loss) -> i64>;

/// A loss response.
#[repr(C)]
pub struct ResponseTable {
    /// Its description. Its record starts with a [`Response`].
    pub head: Head,
    /// An ACK came. Optional.
    pub on_ack: Hook<Ack>,
    /// A loss was found.
    pub on_loss: Blamer,
}

// SAFETY: a table is constant, and the functions in it take all they change as arguments.
unsafe impl Sync for ResponseTable {}

/// A loss response. A value is the state of one sender, beside its [`Response`].
///
/// Its fields have 8 bytes each and no padding, and what it does depends on its arguments alone: the run could not be repeated
/// otherwise. A panic ends the run.
pub trait LossResponse: Copy + Send + Sync + 'static {
    /// Its name in scenarios.
    const NAME: &'static CStr;
    /// Its behaviour, in a sentence.
    const ABOUT: &'static CStr = c"";
    /// Its parameters: [`parameter!`](crate::parameter) with the word `response` at the start.
    const PARAMETERS: &'static [Parameter] = &[];
    /// The state before the start, with the defaults of the parameters.
    const INITIAL: Self;

    /// An ACK came.
    fn on_ack(&mut self, _response: &mut Response, _ack: &Ack) {}

    /// The cause of a loss: a number of [`blame`].
    fn on_loss(&mut self, response: &mut Response, loss: &Loss) -> i64;
}

/// The record of a sender with the response `R`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct OwnResponse<R> {
    /// The part that belongs to lightlag.
    pub head: Response,
    /// The response's parameters and state.
    pub response: R,
}

impl<R: LossResponse> OwnResponse<R> {
    /// The record before the start.
    pub const INITIAL: Self = Self { head: Response::NONE, response: R::INITIAL };

    const IS_PLAIN: () = assert!(
        size_of::<R>().is_multiple_of(8)
            && align_of::<R>() <= 8
            && size_of::<Self>() == size_of::<Response>() + size_of::<R>(),
        "the fields of a loss response have 8 bytes each"
    );
}

/// The table of a loss response whose records start as `initial`.
pub const fn response_table<R: LossResponse>(initial: &'static OwnResponse<R>) -> ResponseTable {
    let () = OwnResponse::<R>::IS_PLAIN;
    ResponseTable {
        head: Head {
            interface: crate::INTERFACE,
            size: size_of::<OwnResponse<R>>() as u32,
            name: R::NAME.as_ptr(),
            about: R::ABOUT.as_ptr(),
            initial: std::ptr::from_ref(initial).cast(),
            parameters: R::PARAMETERS.as_ptr(),
            parameter_count: R::PARAMETERS.len() as u64,
        },
        on_ack: Some(on_ack::<R>),
        on_loss: Some(on_loss::<R>),
    }
}

/// Calls a method with the two parts of a record.
///
/// # Safety
/// `own` is the record of a sender, which lightlag made with the size and the initial value of the table of `R`; nothing else
/// refers to it.
unsafe fn with<R: LossResponse, A: Default>(own: *mut c_void, call: impl FnOnce(&mut R, &mut Response) -> A) -> A {
    // SAFETY: by the contract above.
    let OwnResponse { head, response } = unsafe { &mut *own.cast::<OwnResponse<R>>() };
    // A panic must not leave a function of C.
    catch_unwind(AssertUnwindSafe(|| call(response, head))).unwrap_or_else(|_| {
        head.fault = 1;
        A::default()
    })
}

unsafe extern "C" fn on_ack<R: LossResponse>(own: *mut c_void, ack: *const Ack) {
    // SAFETY: lightlag gives the record of a sender, and an ACK that lives during the call.
    unsafe { with(own, |response: &mut R, head| response.on_ack(head, &*ack)) }
}

unsafe extern "C" fn on_loss<R: LossResponse>(own: *mut c_void, loss: *const Loss) -> i64 {
    // SAFETY: as above.
    unsafe { with(own, |response: &mut R, head| response.on_loss(head, &*loss)) }
}

/// Exports a loss response from a library, which holds one.
#[macro_export]
macro_rules! export_loss_response {
    ($response:ty) => {
        /// The table of the loss response, for lightlag.
        #[unsafe(no_mangle)]
        pub extern "C" fn lightlag_loss_response() -> *const $crate::ResponseTable {
            static INITIAL: $crate::OwnResponse<$response> = $crate::OwnResponse::<$response>::INITIAL;
            static TABLE: $crate::ResponseTable = $crate::response_table(&INITIAL);
            &TABLE
        }
    };
}
