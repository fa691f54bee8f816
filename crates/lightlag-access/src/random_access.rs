//! Sensors that send to a satellite without coordination: pure and slotted ALOHA, CRDSA, and LoRa.
//!
//! - [`config`]: settings and their checks.
//! - `receptions`: bursts without slots, and which of them survive.
//! - `medium`: the events.
//! - `seam`: the interface to a simulator.

pub mod config;
mod medium;
mod receptions;
mod seam;

pub use config::{RandomAccessConfig, Technique};
pub use medium::RandomAccess;
