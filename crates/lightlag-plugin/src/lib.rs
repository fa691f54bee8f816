//! The C interface between lightlag and an algorithm that is not part of it, and what a plug-in in Rust needs.
//!
//! A congestion control is a record and a [`Table`] of functions. The record of a connection starts with a [`Control`], which holds
//! the window; parameters and state of the algorithm follow. lightlag makes the record, and calls the functions with
//! it: at the start of a connection, for each ACK, for each congestion event. A compiled Python class, a library in C and one in
//! Rust use the same records and the same functions, so they give the same results.
//!
//! All fields have 8 bytes: integers and IEEE 754 numbers in the order of the machine. Times are nanoseconds, sizes are
//! bytes of payload, windows are segments and their fractions.
//!
//! # A plug-in in Rust
//!
//! A library (`crate-type = ["cdylib"]`) implements [`CongestionControl`] and exports it:
//!
//! ```
//! use lightlag_plugin::{Ack, CongestionControl, Congestion, Control, Parameter, cause, export_congestion_control, parameter};
//!
//! /// Additive increase, multiplicative decrease.
//! #[derive(Clone, Copy)]
//! struct Aimd {
//!     beta: f64,
//! }
//!
//! impl CongestionControl for Aimd {
//!     const NAME: &'static std::ffi::CStr = c"aimd";
//!     const ABOUT: &'static std::ffi::CStr = c"A segment more each round; a loss keeps beta of the flight.";
//!     const PARAMETERS: &'static [Parameter] =
//!         &[parameter!(Aimd, beta, 0.1..=0.99, c"", c"The fraction of the flight that a loss keeps.")];
//!     const INITIAL: Self = Self { beta: 0.5 };
//!
//!     fn on_ack(&mut self, control: &mut Control, ack: &Ack) {
//!         if ack.may_grow != 0 {
//!             let left = control.slow_start(ack.growth);
//!             control.cwnd += left / control.cwnd;
//!         }
//!     }
//!
//!     fn on_congestion(&mut self, control: &mut Control, event: &Congestion) {
//!         if event.cause != cause::REPEATED_TIMEOUT {
//!             control.ssthresh = (self.beta * event.flight as f64 / control.segment_size).max(2.0);
//!         }
//!         control.cwnd = if event.is_timeout() { 1.0 } else { control.ssthresh };
//!     }
//! }
//!
//! export_congestion_control!(Aimd);
//! ```
//!
//! A queue discipline is a record that starts with a [`Queue`] and a [`QueueTable`] of functions, which judge packets:
//!
//! ```
//! use lightlag_plugin::{Packet, Parameter, Queue, QueueDiscipline, export_queue_discipline, parameter, verdict};
//!
//! /// Marks packets that have waited too long.
//! #[derive(Clone, Copy)]
//! struct Late {
//!     target_ns: i64,
//! }
//!
//! impl QueueDiscipline for Late {
//!     const NAME: &'static std::ffi::CStr = c"late";
//!     const PARAMETERS: &'static [Parameter] =
//!         &[parameter!(queue Late, target_ns, whole 0..=1_000_000_000, c"ns", c"The longest wait without a mark.")];
//!     const INITIAL: Self = Self { target_ns: 5_000_000 };
//!
//!     fn on_dequeue(&mut self, _queue: &mut Queue, packet: &Packet) -> i64 {
//!         if packet.waited_ns > self.target_ns { verdict::MARK } else { verdict::PASS }
//!     }
//! }
//!
//! export_queue_discipline!(Late);
//! ```
//!
//! Traffic is a record that starts with a [`Source`] and a [`TrafficTable`] with a function, which says the next message:
//!
//! ```
//! use lightlag_plugin::{Parameter, Sent, Source, Traffic, export_traffic, parameter};
//!
//! /// Twenty messages at random times within a second of each other.
//! #[derive(Clone, Copy)]
//! struct Chatter {
//!     size: i64,
//! }
//!
//! impl Traffic for Chatter {
//!     const NAME: &'static std::ffi::CStr = c"chatter";
//!     const PARAMETERS: &'static [Parameter] =
//!         &[parameter!(traffic Chatter, size, whole 1..=1_000_000, c"B", c"Bytes of a message.")];
//!     const INITIAL: Self = Self { size: 200 };
//!
//!     fn next_message(&mut self, source: &mut Source, sent: &Sent) {
//!         source.wait_ns = (source.uniform() * 1e9) as i64;
//!         source.size = if sent.messages < 20 { self.size } else { 0 };
//!     }
//! }
//!
//! export_traffic!(Chatter);
//! ```
//!
//! A loss response is a record that starts with a [`Response`] and a [`ResponseTable`] of functions, which name the cause of a
//! loss:
//!
//! ```
//! use lightlag_plugin::{Loss, LossResponse, Parameter, Response, blame, export_loss_response, parameter};
//!
//! /// Takes losses for errors of a link while the queue is short.
//! #[derive(Clone, Copy)]
//! struct ShortQueue {
//!     most_ns: i64,
//! }
//!
//! impl LossResponse for ShortQueue {
//!     const NAME: &'static std::ffi::CStr = c"shortqueue";
//!     const PARAMETERS: &'static [Parameter] =
//!         &[parameter!(response ShortQueue, most_ns, whole 0..=1_000_000_000, c"ns", c"The longest queue without a reaction.")];
//!     const INITIAL: Self = Self { most_ns: 10_000_000 };
//!
//!     fn on_loss(&mut self, _response: &mut Response, loss: &Loss) -> i64 {
//!         if loss.rtt_ns - loss.min_rtt_ns <= self.most_ns { blame::CORRUPTION } else { blame::CONGESTION }
//!     }
//! }
//!
//! export_loss_response!(ShortQueue);
//! ```

// The functions of the table are called from outside, with pointers.
#![allow(unsafe_code)]

mod congestion;
mod discipline;
mod queue;
mod records;
mod response;
mod table;
mod traffic;

pub use congestion::{CongestionControl, Own, table};
pub use discipline::{OwnQueue, QueueDiscipline, queue_table};
pub use queue::{Packet, Queue, verdict};
pub use records::{Ack, Congestion, Control, Idle, Moment, Start, cause, phase};
pub use response::{Blamer, Loss, LossResponse, OwnResponse, Response, ResponseTable, blame, response_table};
pub use table::{Head, Parameter, QueueTable, Table, kind, needs};
pub use traffic::{OwnTraffic, Sent, Source, Traffic, TrafficTable, traffic_table};

/// The version of this interface. A table of another version is refused.
pub const INTERFACE: u32 = 1;

/// The name of the function that the library of a congestion control exports: it takes nothing and returns a pointer to its
/// [`Table`].
pub const ENTRY: &str = "lightlag_congestion_control";

/// The name of that of a queue discipline, which returns a pointer to its [`QueueTable`].
pub const QUEUE_ENTRY: &str = "lightlag_queue_discipline";

/// The name of that of traffic, which returns a pointer to its [`TrafficTable`].
pub const TRAFFIC_ENTRY: &str = "lightlag_traffic";

/// The name of that of a loss response, which returns a pointer to its [`ResponseTable`].
pub const RESPONSE_ENTRY: &str = "lightlag_loss_response";
