//! Fate of the messages of stations and of media with `elfn`.

use crate::clerks::stations::Counts;
use crate::ids::FlowIndex;
use crate::table::rows;
use crate::tap::Tap;
use crate::world::World;

rows! {
    /// Fates of the messages of stations and gateways about a flow. A copy that a link made counts like one that was sent.
    #[derive(Copy, PartialEq, Eq)]
    pub struct SignalSummary {
        /// Messages to an end of the flow that left.
        sent: u64 [""],
        /// Messages that arrived there and were heeded.
        received: u64 [""],
        /// Messages about links that arrived at an end that did not agree on SCPS-TP.
        ignored: u64 [""],
        /// Messages that were dropped on the way.
        lost: u64 [""],
        /// News that an end heeded at its own node, without a message.
        local: u64 [""],
    }
}

impl SignalSummary {
    /// Of a flow, where there are stations.
    pub(super) fn of(world: &World<impl Tap>, flow: FlowIndex) -> Option<Self> {
        let Counts { sent, received, ignored, local } = world.clerks.stations.as_ref()?.counted(flow);
        Some(Self { sent, received, ignored, lost: world.recorder.lost_signals[flow.index()], local })
    }
}
