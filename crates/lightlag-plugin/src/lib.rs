//! The C interface between lightlag and algorithms that are not part of it, and the support for plug-ins in Rust.
//!
//! A congestion control algorithm consists of a record for each connection and a [`Table`] of functions. The record
//! starts with a [`Control`], which holds the window; parameters and state of the algorithm follow. lightlag creates
//! the record, and passes it to the functions: at the start of a connection, for each ACK and for each congestion
//! event. A compiled Python class, a library in C and one in Rust use the same records and the same functions, so they
//! give the same results.
//!
//! All fields have 8 bytes: integers or IEEE 754 numbers in the byte order of the machine. Times are in nanoseconds,
//! sizes in bytes of payload, and windows in segments, including fractions.
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
//! A queue discipline consists of a record that starts with a [`Queue`], and a [`QueueTable`] of functions that decide
//! what happens to packets:
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
//! Traffic consists of a record that starts with a [`Source`], and a [`TrafficTable`] with a function that provides the
//! next message:
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
//! A loss response consists of a record that starts with a [`Response`], and a [`ResponseTable`] of functions that
//! attribute losses to a cause:
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

// The functions of the table are called by external code, with pointers.
#![allow(unsafe_code)]

mod congestion;
mod discipline;
mod hooks;
mod queue;
mod records;
mod response;
mod table;
mod traffic;

pub use congestion::{CongestionControl, ConnectionRecord, table};
pub use discipline::{QueueDiscipline, QueueRecord, queue_table};
pub use hooks::AlgorithmRecord;
pub use queue::{Packet, Queue, verdict};
pub use records::{Ack, Congestion, Control, Idle, Moment, Start, cause, phase};
pub use response::{Blamer, Loss, LossResponse, Response, ResponseRecord, ResponseTable, blame, response_table};
pub use table::{Head, Parameter, QueueTable, Table, kind, needs};
pub use traffic::{Sent, Source, Traffic, TrafficRecord, TrafficTable, traffic_table};

/// Version of this interface. A table with another version is rejected.
pub const INTERFACE: u32 = 1;

/// Name of the entry point of a congestion control: a function of the library without arguments, which returns a
/// pointer to its [`Table`].
pub const ENTRY: &str = "lightlag_congestion_control";

/// Name of the entry point of a queue discipline, which returns a pointer to its [`QueueTable`].
pub const QUEUE_ENTRY: &str = "lightlag_queue_discipline";

/// Name of the entry point of a traffic source, which returns a pointer to its [`TrafficTable`].
pub const TRAFFIC_ENTRY: &str = "lightlag_traffic";

/// Name of the entry point of a loss response, which returns a pointer to its [`ResponseTable`].
pub const RESPONSE_ENTRY: &str = "lightlag_loss_response";
