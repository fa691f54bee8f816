//! What became of the messages of stations.

use super::ColumnHash;
use crate::clerks::stations::Counts;
use crate::tap::Tap;
use crate::world::World;
use serde::Serialize;

/// What became of the messages of stations about a flow. A copy that a link made counts like one that was sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct SignalSummary {
    /// Messages to an end of the flow that left.
    pub sent: u64,
    /// Those that arrived there and were heeded.
    pub received: u64,
    /// Those that arrived at an end that did not agree on SCPS-TP.
    pub ignored: u64,
    /// Those that were dropped on the way.
    pub lost: u64,
    /// News that an end heeded at its own node, without a message.
    pub local: u64,
}

impl SignalSummary {
    /// Of a flow, where there are stations.
    pub(super) fn of(world: &World<impl Tap>, flow: usize) -> Option<Self> {
        let Counts { sent, received, ignored, local } = world.clerks.stations.as_ref()?.counted(flow);
        Some(Self { sent, received, ignored, lost: world.recorder.lost_signals[flow], local })
    }

    /// Adds its numbers.
    pub(super) fn hash(&self, hash: &mut ColumnHash) {
        hash.numbers([self.sent, self.received, self.ignored, self.lost, self.local]);
    }
}
