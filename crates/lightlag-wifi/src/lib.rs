//! A shared radio medium: propagation, the physical layer and the MAC of 802.11.

pub mod class;
pub mod config;
pub mod medium;
pub mod phy;
pub mod propagation;
pub mod rate;

pub use class::{Class, Edca};
pub use config::{BlockAckAgreement, MediumConfig, MissingBlockAck, Radio, StationConfig};
pub use medium::{Aired, ClassCounters, FrameKind, Msdu, StationCounters, Wifi};
