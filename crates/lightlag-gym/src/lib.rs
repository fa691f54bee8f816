//! Runs in steps, for learning policies: an agent sets the window or the rate of a flow once per monitor interval, and
//! observes the result.
//!
//! - [`interval`]: the data of a monitor interval, and its features.
//! - [`reward`]: published reward functions.
//! - [`episode`]: a run with its agents.
//! - [`batch`]: several episodes that are stepped in parallel on all cores.

pub mod batch;
pub mod episode;
pub mod interval;
pub mod reward;

pub use batch::{AgentEnd, Batch};
pub use episode::{Action, Agent, Episode, IntervalLength, Task};
pub use interval::{FEATURES, Feature, Interval};
pub use reward::Reward;
