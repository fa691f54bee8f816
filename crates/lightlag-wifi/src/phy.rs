//! The physical layer of 802.11: modes, times on the air, and the errors of frames.
//!
//! - [`mode`]: [`Mode`], a format, a rate and a width, and the bits that one symbol carries.
//! - [`airtime`]: the time that a PPDU takes, and the sizes that fit into a time.
//! - [`names`]: modes by the names that users and ns-3 give them.
//! - [`basic`]: [`BasicRates`], and the rate at which a frame is answered.
//! - [`check`]: messages about rates that do not go together.
//! - [`timing`]: [`Timing`], slots and spaces between frames.
//! - [`noise`]: the noise of a receiver.
//! - [`error_model`]: [`ErrorModel`], from the SINR to the success of some bits.

pub mod airtime;
pub mod basic;
pub mod check;
pub mod error_model;
pub mod mode;
pub mod names;
pub mod noise;
pub mod timing;

pub use airtime::{Header, LONGEST_AGGREGATE, LONGEST_PPDU};
pub use basic::BasicRates;
pub use error_model::{Coding, ErrorCurves, ErrorModel, Release};
pub use mode::{Band, Capabilities, CodeRate, Format, Guard, Mode, Modulation, Standard, Width};
pub use names::ModeError;
pub use noise::noise_floor;
pub use timing::Timing;
