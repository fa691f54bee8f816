//! Runs in steps, for policies that learn: an agent sets the window or the rate of a flow once each monitor interval, and sees what
//! came of it.
//!
//! - [`interval`]: what a monitor interval tells, and its features.
//! - [`reward`]: references for rewards.
//! - [`episode`]: a run with its agents.
//! - [`batch`]: several episodes, which step on all cores.

pub mod batch;
pub mod episode;
pub mod interval;
pub mod reward;

pub use batch::{Batch, End};
pub use episode::{Action, Agent, Episode, Length, Task};
pub use interval::{FEATURES, Feature, Interval};
pub use reward::Reward;
