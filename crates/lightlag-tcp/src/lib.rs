//! TCP without a network: what to send, and when.

pub mod congestion;
pub mod segment;
