//! Counts of the notifications from stations and from media with `elfn`.

use crate::housekeeping::stations::NotificationCounts;
use crate::ids::FlowIndex;
use crate::table::rows;
use crate::tap::Tap;
use crate::world::World;

rows! {
    /// Counts of the notifications from stations and gateways about a flow. A duplicate made by a link counts as sent.
    #[derive(Copy, PartialEq, Eq)]
    pub struct SignalSummary {
        /// Notifications sent to an endpoint of the flow.
        sent: u64 [""],
        /// Notifications that arrived at an endpoint of the flow and were acted on.
        received: u64 [""],
        /// Notifications about links that arrived at an endpoint that did not negotiate SCPS-TP.
        ignored: u64 [""],
        /// Notifications dropped in transit.
        lost: u64 [""],
        /// Notifications that an endpoint's own node gave to it directly, without a message, and that it acted on.
        local: u64 [""],
    }
}

impl SignalSummary {
    /// Returns the summary of a flow; `None` if there are no stations.
    pub(super) fn of(world: &World<impl Tap>, flow: FlowIndex) -> Option<Self> {
        let NotificationCounts { sent, received, ignored, local } = world.clerks.stations.as_ref()?.counted(flow);
        Some(Self { sent, received, ignored, lost: world.recorder.lost_signals[flow.index()], local })
    }
}
