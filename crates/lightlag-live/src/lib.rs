//! The wall clock and real packets.
//!
//! - [`emulation`]: real packets through a simulated network.
//! - [`packet`]: what a link has to know of a real packet.
//! - [`statistics`]: what an emulation has done, and how late it was.
//! - [`tun`]: TUN devices, in this network namespace or in another.
//! - [`clock`]: real time as the simulator writes it, and waiting for a moment or a packet.
//! - [`serve`]: our TCP as a host on a TUN device.
//! - [`priority`]: what a thread may ask of the scheduler to be on time.

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
