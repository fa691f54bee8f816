//! The paths of a flow's data over media, as recorded by the packets.

use super::{HopRecord, MediumPath};
use lightlag_net::NodeId;
use lightlag_scenario::Network;

/// A crossing of a medium by data of a flow, with its path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Crossed {
    pub(crate) way: MediumPath,
    pub(crate) trail: HopRecord,
    /// Node where the data left the medium.
    pub(crate) exit: NodeId,
}

/// The current path of a flow's data.
#[derive(Clone, Debug)]
pub(crate) struct PathTracker {
    /// Nodes of the flow's sender, of the proxies on its path, and of its receiver.
    pub(crate) stops: Vec<NodeId>,
    /// Path of the last crossing of each medium.
    crossed: Vec<Crossed>,
    /// Nodes of the last recorded path.
    pub(crate) noted: Vec<NodeId>,
}

impl PathTracker {
    /// Returns the trackers of all flows of a network.
    pub(super) fn all(network: &Network) -> Vec<Self> {
        let mut splits = network.splits.iter().peekable();
        let journey = |(number, flow): (u32, &lightlag_scenario::Flow)| {
            let mut stops = vec![flow.from];
            while let Some(split) = splits.next_if(|split| split.flow == number) {
                stops.push(network.proxies[split.proxy as usize].node);
            }
            stops.push(flow.to);
            Self { stops, crossed: Vec::new(), noted: Vec::new() }
        };
        (0..).zip(&network.flows).map(journey).collect()
    }

    /// Records that data of the flow has crossed a medium. Returns true if the path of this crossing is new, or differs
    /// from the previous one.
    pub(crate) fn cross(&mut self, crossed: Crossed) -> bool {
        match self.crossed.iter_mut().find(|last| last.way == crossed.way) {
            Some(last) if *last == crossed => return false,
            Some(last) => *last = crossed,
            None => self.crossed.push(crossed),
        }
        true
    }

    /// Returns the last crossing between these ends of a medium.
    pub(crate) fn crossing(&self, way: MediumPath) -> Option<&Crossed> {
        self.crossed.iter().find(|crossed| crossed.way == way)
    }
}
