//! Emulation: real packets and the wall clock.
//!
//! - [`emulation`]: real packets through a simulated network, between devices and simulated hosts.
//! - [`packet`]: the properties of a real packet that a link uses.
//! - [`statistics`]: the counters of an emulation, and its lateness.
//! - [`tun`]: TUN devices, in this network namespace or in another.
//! - [`clock`]: real time as the simulator counts it, and waiting for a deadline or a packet.
//! - [`serve`]: simulated hosts with lightlag's TCP, and the applications of their connections.
//! - [`priority`]: the scheduling of a thread that must be on time.
//!
//! All of it needs Linux. Elsewhere this crate is empty, and the package has no emulations.

#![cfg(target_os = "linux")]

pub mod clock;
pub mod emulation;
pub mod packet;
pub mod priority;
pub mod serve;
pub mod statistics;
pub mod tun;

pub use clock::Clock;
pub use emulation::Emulation;
pub use priority::Priority;
pub use tun::{Tun, TunConfig, TunError};
