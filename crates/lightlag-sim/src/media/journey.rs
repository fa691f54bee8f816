//! The ways of a flow's data over media, as far as its packets tell them.

use super::{Trail, Way};
use lightlag_net::NodeId;
use lightlag_scenario::Network;

/// A crossing of a medium by data of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Crossed {
    pub(crate) way: Way,
    pub(crate) trail: Trail,
    /// The node at which the data left the medium.
    pub(crate) exit: NodeId,
}

/// The journey of a flow's data.
#[derive(Clone, Debug)]
pub(crate) struct Journey {
    /// The node of its sender, those of the proxies on its way, and that of its receiver.
    pub(crate) stops: Vec<NodeId>,
    /// The last crossing over each way.
    crossed: Vec<Crossed>,
    /// The nodes of the way that was noted last.
    pub(crate) noted: Vec<NodeId>,
}

impl Journey {
    /// Those of all flows of a network.
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

    /// Its data has crossed a medium. Returns whether the last time it did so elsewhere.
    pub(crate) fn cross(&mut self, crossed: Crossed) -> bool {
        match self.crossed.iter_mut().find(|last| last.way == crossed.way) {
            Some(last) if *last == crossed => return false,
            Some(last) => *last = crossed,
            None => self.crossed.push(crossed),
        }
        true
    }

    /// The last crossing over a way.
    pub(crate) fn crossing(&self, way: Way) -> Option<&Crossed> {
        self.crossed.iter().find(|crossed| crossed.way == way)
    }
}
