//! The wall clock and real packets.
//!
//! - [`emulation`]: real packets through a simulated network, between devices and simulated hosts.
//! - [`packet`]: the facts about a real packet that a link needs.
//! - [`statistics`]: the counters of an emulation, and its lateness.
//! - [`tun`]: TUN devices, in this network namespace or in another.
//! - [`clock`]: real time in the simulator's form, and waiting for a deadline or a packet.
//! - [`serve`]: simulated hosts with lightlag's TCP, and the applications of their connections.
//! - [`priority`]: the scheduling of a thread that must be on time.

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
