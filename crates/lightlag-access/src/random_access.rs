//! Sensors that send to a satellite without coordination: pure and slotted ALOHA, CRDSA, LoRa, and the preambles of
//! NB-IoT, which obtains grants for data.
//!
//! - [`config`]: settings and their checks.
//! - `receptions`: bursts without slots, and which of them survive.
//! - [`nb_iot`]: preambles, resource units and transport blocks of NB-IoT.
//! - `uplink`, `grants`: the data carriers and the procedure of NB-IoT.
//! - `message`: packets of sensors in transit.
//! - `medium`: the events.
//! - `seam`: the interface to a simulator.

pub mod config;
mod grants;
mod medium;
mod message;
pub mod nb_iot;
mod receptions;
mod seam;
mod uplink;

pub use config::{RandomAccessConfig, Technique};
pub use medium::RandomAccess;
pub use nb_iot::NbIotConfig;
