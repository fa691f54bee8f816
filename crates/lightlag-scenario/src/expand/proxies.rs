//! The flows that pass through each proxy.

use super::joins::Nodes;
use super::layout::Draft;
use super::tcp::Resolver;
use crate::network::{Proxy, Split};
use crate::read::{Errors, nearest, shortened};
use crate::spec::{ProxySpec, Transport};
use lightlag_core::Instant;
use lightlag_net::{NodeId, RouteTable};
use lightlag_tcp::Options;
use lightlag_tcp::config::ReceiveBuffer;
use std::collections::BTreeSet;

impl ProxySpec {
    /// The proxy with its node found and its TCP complete.
    pub(crate) fn resolve(
        &self,
        at: &str,
        nodes: &Nodes,
        resolver: &mut Resolver,
        errors: &mut Errors,
    ) -> Option<Proxy> {
        let node = nodes.find(&self.node, format_args!("{at}.node"), errors);
        let receive_buffer = self.client.receive_buffer.or(Some(ReceiveBuffer::Fixed(self.buffer)));
        let client = Options { receive_buffer, ..self.client.clone() };
        let client = resolver.resolve_at(&client, format_args!("{at}.client"), errors);
        let server = resolver.resolve_at(&self.server, format_args!("{at}.server"), errors);
        Some(Proxy {
            node: node?,
            buffer: self.buffer,
            client: client?,
            server: server?,
            crash: self.crash.map(|crash| Instant::ZERO + crash.at),
        })
    }
}

/// Every flow that passes through a proxy, in the order of the flows, and then of the hops from sender to receiver.
pub(crate) fn splits(
    specs: &[ProxySpec],
    proxies: &[Proxy],
    drafts: &[Draft],
    routes: &RouteTable,
    errors: &mut Errors,
) -> Vec<Split> {
    if specs.is_empty() {
        return Vec::new();
    }
    let named: Vec<Option<Vec<usize>>> =
        specs.iter().enumerate().map(|(index, spec)| spec.named_flows(index, drafts, errors)).collect();
    let mut splits: Vec<Split> = Vec::new();
    for (flow, draft) in drafts.iter().enumerate() {
        let wanted = |index: &usize| named[*index].as_ref().is_none_or(|flows| flows.binary_search(&flow).is_ok());
        let back = nodes_between(routes, draft.to, draft.from);
        let before = splits.len();
        for node in nodes_between(routes, draft.from, draft.to) {
            let mut here = (0..proxies.len()).filter(wanted).filter(|index| proxies[*index].node == node);
            let Some(proxy) = here.next().filter(|_| back.contains(&node)) else { continue };
            splits.push(Split { flow: flow as u32, proxy: proxy as u32 });
            if let Some(second) = here.next() {
                let message = format!(
                    "proxies[{proxy}] splits the flow {:?} at this node already; give each its flows",
                    shortened(&draft.name)
                );
                errors.push(format_args!("proxies[{second}].flows"), message);
            }
        }
        let are_named = |index: &usize| named[*index].is_some() && wanted(index);
        if let Some(reason) = unsplit(draft) {
            // Datagrams pass by as at any router, unless a proxy is told to split them.
            let refused = (0..specs.len()).find(are_named);
            let crossed = splits[before..].first().map(|split| split.proxy as usize);
            if let Some(index) = refused.or(crossed.filter(|_| draft.transport == Transport::Tcp)) {
                let message = format!("the flow {:?} {reason}", shortened(&draft.name));
                errors.push(format_args!("proxies[{index}].flows"), message);
            }
            splits.truncate(before);
            continue;
        }
        for (index, spec) in specs.iter().enumerate().filter(|(index, _)| are_named(index)) {
            if !splits[before..].iter().any(|split| proxies[split.proxy as usize].node == proxies[index].node) {
                let message = format!(
                    "{:?} does not cross {:?} in both directions, or is no connection for data one way; name a node on its \
                     way, or leave the flow out",
                    shortened(&draft.name),
                    spec.node
                );
                errors.push(format_args!("proxies[{index}].flows"), message);
            }
        }
    }
    let all_fit = errors.len() == 0;
    for (index, spec) in specs.iter().enumerate() {
        if all_fit && !splits.iter().any(|split| split.proxy as usize == index) {
            let message = format!(
                "{:?} lies on the way of no connection, from its one end to its other and back, so it splits none; name a \
                 node between the ends of a flow",
                shortened(&spec.node)
            );
            errors.push(format_args!("proxies[{index}].node"), message);
        }
    }
    splits
}

/// The reason for which a proxy does not split a flow, if it does not.
fn unsplit(draft: &Draft) -> Option<&'static str> {
    if draft.transport == Transport::Udp {
        return Some("is of datagrams, and a proxy splits connections; leave it out");
    }
    let both =
        "asks one way and answers the other, and a proxy passes data on in one direction only; name the other flows";
    draft.traffic.is_dialogue().then_some(both)
}

/// The nodes of a way without its ends, in its order. Media and the sky are crossed in one step, by way of their hubs.
fn nodes_between(routes: &RouteTable, from: NodeId, to: NodeId) -> Vec<NodeId> {
    let mut nodes = Vec::new();
    let mut known = BTreeSet::from([from]);
    let mut node = from;
    while let Some(next) = routes.neighbour(node, to).filter(|next| *next != to && known.insert(*next)) {
        nodes.push(next);
        node = next;
    }
    nodes
}

impl ProxySpec {
    /// The flows that the proxy names, in their order; `None` if it takes all.
    fn named_flows(&self, index: usize, drafts: &[Draft], errors: &mut Errors) -> Option<Vec<usize>> {
        let mut flows = Vec::new();
        for (place, name) in self.flows.as_ref()?.iter().enumerate() {
            let before = flows.len();
            flows.extend((0..drafts.len()).filter(|flow| drafts[*flow].is_of(name)));
            match flows.len() - before {
                1.. => {}
                0 => {
                    let names: Vec<&str> = drafts.iter().take(1_000).map(|draft| draft.name.as_str()).collect();
                    let guess = nearest(name, &names).map_or(String::new(), |near| format!("; did you mean {near:?}?"));
                    let message = format!("{:?} is not a flow{guess}", shortened(name));
                    errors.push(format_args!("proxies[{index}].flows[{place}]"), message);
                }
            }
        }
        flows.sort_unstable();
        Some(flows)
    }
}
