//! The physical layer of 802.11: modes, durations, and frame errors.
//!
//! - [`mode`]: [`PhyMode`], which is a format, a rate and a width, and the number of bits per symbol.
//! - [`airtime`]: the duration of a PPDU, and the maximum size that fits into a duration.
//! - [`names`]: names of modes, in scenarios and in ns-3.
//! - [`basic`]: [`BasicRates`], and the rate of replies.
//! - [`check`]: messages about rates that cannot be combined.
//! - [`timing`]: [`Timing`], which has the slot and the interframe spaces.
//! - [`noise`]: the noise power of a receiver.
//! - [`error_model`]: [`ErrorModel`], the probability that bits survive at an SINR.

pub mod airtime;
pub mod basic;
pub mod check;
pub mod error_model;
pub mod mode;
pub mod names;
pub mod noise;
pub mod timing;

pub use airtime::{LONGEST_AGGREGATE, LONGEST_PPDU, PpduHeader};
pub use basic::BasicRates;
pub use error_model::{Coding, ErrorCurves, ErrorModel, Release};
pub use mode::{Band, Capabilities, CodeRate, Format, Guard, Modulation, PhyMode, Standard, Width};
pub use names::ModeError;
pub use noise::noise_floor;
pub use timing::Timing;
