//! A shared radio medium: propagation, the physical layer and the MAC of 802.11.

pub mod phy;
pub mod propagation;
