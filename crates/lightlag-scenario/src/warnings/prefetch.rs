//! Warnings of proxies that cannot prefetch.

use super::{Found, Kind, Warning};
use crate::network::Network;
use crate::prefetch::loads_pages;
use lightlag_core::params::Word;
use lightlag_traffic::Tls;

/// Warns of pages whose objects TLS hides from a proxy, and of proxies that no page passes.
pub(super) fn warn(network: &Network, findings: &mut Found) {
    for (index, proxy) in (0_u32..).zip(&network.proxies).filter(|(_, proxy)| proxy.prefetch) {
        let node = &network.nodes[proxy.node.0 as usize];
        let crossing = network.splits.iter().filter(|split| split.proxy == index);
        let crossing = crossing.map(|split| &network.flows[split.flow as usize]);
        let mut pages = crossing.clone().filter(|flow| loads_pages(&flow.traffic)).peekable();
        let path = format!("proxies[{index}]");
        if pages.peek().is_none() {
            let flow = crossing.map(|flow| flow.name.as_str()).next().unwrap_or_default();
            let message = format!(
                "no web page passes {node:?}, so it prefetches nothing: flows such as {flow:?} name no further objects; \
                 give a flow kind = \"page\" or \"web\", or remove it"
            );
            let warning = Warning { kind: Kind::NothingToPrefetch, path: format!("{path}.prefetch"), message };
            findings.warnings.push((warning, 0));
        }
        for flow in pages.filter(|flow| flow.part.connection() == 0 && !flow.shows_objects()) {
            let tls = flow.setup().map_or(Tls::None, |setup| setup.tls);
            findings.flow(Kind::HiddenObjects, &path, ".prefetch", || {
                format!(
                    "{node:?} prefetches nothing for {:?}: TLS {} hides the objects of its pages; remove it, or set \
                     setup = {{ tls = \"none\" }} to see its effect on pages in clear text",
                    flow.name,
                    tls.name()
                )
            });
        }
    }
}
