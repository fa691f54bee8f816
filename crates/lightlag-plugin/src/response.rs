//! Loss responses: their records, their table, and the support for implementations in Rust.

use crate::hooks::{AlgorithmRecord, hooks};
use crate::records::{Ack, uniform};
use crate::table::{Head, Hook, Parameter};
use std::ffi::{CStr, c_void};

/// Start of the record of a loss response, which attributes the losses of one sender to causes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Response {
    /// State of the random numbers of this connection, derived from the seed of the run. lightlag sets it.
    pub random: u64,
    /// Error of the response; any value except 0 ends the run.
    pub fault: i64,
}

impl Response {
    /// An initial record.
    pub const NONE: Self = Self { random: 0, fault: 0 };

    /// Returns the next random number, at least 0 and below 1.
    pub fn uniform(&mut self) -> f64 {
        uniform(&mut self.random)
    }
}

/// A loss that the sender has detected: the start of a loss episode, whatever the number of lost segments, or a
/// timeout.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Loss {
    /// Time when the loss was detected.
    pub now_ns: i64,
    /// Sign of the loss: [`cause::LOSS`](crate::cause::LOSS) or [`cause::TIMEOUT`](crate::cause::TIMEOUT).
    pub cause: i64,
    /// Time when the lowest lost segment was sent; -1 if unknown.
    pub sent_ns: i64,
    /// Bytes in flight.
    pub inflight: i64,
    /// Congestion window in bytes.
    pub cwnd: i64,
    /// Latest round-trip sample; 0 before the first.
    pub rtt_ns: i64,
    /// SRTT (RFC 6298); 0 before the first sample.
    pub srtt_ns: i64,
    /// Minimum round-trip sample so far; 0 before the first.
    pub min_rtt_ns: i64,
}

/// Causes of a loss that a response can return.
pub mod blame {
    /// Congestion: the congestion control reacts.
    pub const CONGESTION: i64 = 0;
    /// Transmission error on a link: the segment is only retransmitted.
    pub const CORRUPTION: i64 = 1;
}

/// A function of a loss response. It takes the record and a loss, and returns a number of [`blame`].
pub type Blamer = Option<unsafe extern "C" fn(*mut c_void, *const Loss) -> i64>;

/// Table of a loss response.
#[repr(C)]
pub struct ResponseTable {
    /// Description. The record starts with a [`Response`].
    pub head: Head,
    /// Called for an ACK. Optional.
    pub on_ack: Hook<Ack>,
    /// Called for a detected loss. Returns its cause.
    pub on_loss: Blamer,
}

// SAFETY: a table is constant, and the functions in it take all they change as arguments.
unsafe impl Sync for ResponseTable {}

/// A loss response. A value of the type is the state of a sender; it is stored after the [`Response`].
///
/// Each field of the type has 8 bytes, without padding. To make runs repeatable, the behaviour may depend on nothing
/// but the arguments. A panic ends the run.
pub trait LossResponse: Copy + Send + Sync + 'static {
    /// Name of the response in scenarios.
    const NAME: &'static CStr;
    /// Behaviour, in a sentence.
    const ABOUT: &'static CStr = c"";
    /// Parameters, each built by [`parameter!`](crate::parameter) with the keyword `response`.
    const PARAMETERS: &'static [Parameter] = &[];
    /// State of a new sender, with the defaults of the parameters.
    const INITIAL: Self;

    /// Called for an ACK.
    fn on_ack(&mut self, _response: &mut Response, _ack: &Ack) {}

    /// Returns the cause of a loss: a number of [`blame`].
    fn on_loss(&mut self, response: &mut Response, loss: &Loss) -> i64;
}

/// Record of a sender: its [`Response`], followed by the state of the loss response `A`.
pub type ResponseRecord<A> = AlgorithmRecord<Response, A>;

/// Returns the table of a loss response. New records are copies of `initial`.
pub const fn response_table<A: LossResponse>(initial: &'static ResponseRecord<A>) -> ResponseTable {
    ResponseTable {
        head: AlgorithmRecord::describe(initial, A::NAME, A::ABOUT, A::PARAMETERS),
        on_ack: Some(on_ack::<A>),
        on_loss: Some(on_loss::<A>),
    }
}

hooks! {
    LossResponse, Response;
    on_ack(Ack);
    on_loss(Loss) -> i64;
}

/// Exports a loss response from a library. A library exports one.
#[macro_export]
macro_rules! export_loss_response {
    ($response:ty) => {
        /// Returns the table of the loss response; called by lightlag.
        #[unsafe(no_mangle)]
        pub extern "C" fn lightlag_loss_response() -> *const $crate::ResponseTable {
            static INITIAL: $crate::ResponseRecord<$response> =
                $crate::AlgorithmRecord::new($crate::Response::NONE, <$response as $crate::LossResponse>::INITIAL);
            static TABLE: $crate::ResponseTable = $crate::response_table(&INITIAL);
            &TABLE
        }
    };
}
