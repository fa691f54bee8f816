//! The return link of DVB-RCS2 (ETSI EN 301 545-2): terminals that share the slots of a superframe, a network control
//! centre (NCC) that assigns them on demand, and the forward carrier.
//!
//! - [`config`]: settings of the beam and of its terminals, and their checks.
//! - [`adaptation`]: waveforms, and their adaptation to the weather.
//! - `capacity`: comparison of the slots with the terminals.
//! - `frame`: the positions of slots in a frame.
//! - `ncc`: requests at the NCC, and the assignment of a frame.
//! - `terminal`: the queue of a terminal, and its requests.
//! - `task`: events that are still to come.
//! - `medium`: the handling of events.
//! - `access`: random access: logon, requests and small messages.
//! - `seam`: the interface to a simulator.

mod access;
pub mod adaptation;
mod capacity;
pub mod config;
mod frame;
mod medium;
mod ncc;
mod seam;
mod task;
mod terminal;
#[cfg(test)]
mod tests;

pub use config::{Rcs2Config, Terminal};
pub use medium::Rcs2;
