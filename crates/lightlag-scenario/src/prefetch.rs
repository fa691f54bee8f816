//! The pairs of proxies that prefetch the objects of web pages.

use crate::network::{Flow, Network};
use lightlag_traffic::{Tls, Traffic};

/// Returns true if the traffic consists of pages with objects that name others.
pub(crate) fn loads_pages(traffic: &Traffic) -> bool {
    matches!(traffic, Traffic::Page(_) | Traffic::Web(_))
}

impl Flow {
    /// Returns true if a proxy can read the names of further objects in the responses: they are web pages without TLS.
    pub fn shows_objects(&self) -> bool {
        loads_pages(&self.traffic) && self.setup().is_none_or(|setup| setup.tls == Tls::None)
    }
}

impl Network {
    /// Returns the index in [`Network::splits`] of the proxy that prefetches the objects of a flow, if there is one.
    /// The next entry is the proxy that stores them.
    pub fn prefetching_split(&self, flow: u32) -> Option<usize> {
        if !self.flows[flow as usize].shows_objects() {
            return None;
        }
        let first = self.splits.partition_point(|split| split.flow < flow);
        let of_flow = self.splits[first..].iter().take_while(|split| split.flow == flow);
        let prefetches = |proxy: u32| self.proxies[proxy as usize].prefetch;
        of_flow.zip(first..).find(|(split, _)| prefetches(split.proxy)).map(|(_, index)| index)
    }
}
