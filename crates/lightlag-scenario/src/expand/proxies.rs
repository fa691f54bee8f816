//! The flows that pass through each proxy.

use super::joins::Nodes;
use super::layout::Draft;
use super::quic::QuicResolver;
use super::tcp::Resolver;
use crate::network::{Proxy, Split};
use crate::prefetch::loads_pages;
use crate::read::{Errors, nearest, shortened};
use crate::spec::{ProxyKind, ProxySpec, Transport};
use lightlag_core::Instant;
use lightlag_net::{NodeId, RouteTable};
use lightlag_tcp::Options;
use lightlag_tcp::config::ReceiveBuffer;
use std::collections::BTreeSet;

impl ProxySpec {
    /// Returns the proxy with resolved node and TCP configurations.
    pub(crate) fn resolve(
        &self,
        key: &str,
        nodes: &Nodes,
        resolver: &mut Resolver,
        quic: &QuicResolver,
        errors: &mut Errors,
    ) -> Option<Proxy> {
        let node = nodes.find(&self.node, format_args!("{key}.node"), errors);
        let receive_buffer = self.client.receive_buffer.or(Some(ReceiveBuffer::Fixed(self.buffer)));
        let client = Options { receive_buffer, ..self.client.clone() };
        let client = resolver.resolve_at(&client, format_args!("{key}.client"), errors);
        let server = resolver.resolve_at(&self.server, format_args!("{key}.server"), errors);
        let quic = match self.kind {
            ProxyKind::Split => None,
            ProxyKind::Quic => Some(quic.of_proxy(&self.quic, key, errors)?),
        };
        Some(Proxy {
            node: node?,
            buffer: self.buffer,
            reads: self.reads,
            client: client?,
            server: server?,
            quic,
            opens: self.opens,
            pool: self.pool,
            prefetch: self.prefetch,
            crash: self.crash.map(|crash| Instant::ZERO + crash.at),
        })
    }
}

/// Returns every passage of a flow through a proxy that splits it, ordered by flow, and then by the position on the path
/// from sender to receiver. The second list contains the passages of QUIC flows through proxies of TCP.
pub(crate) fn splits(
    specs: &[ProxySpec],
    proxies: &[Proxy],
    drafts: &[Draft],
    routes: &RouteTable,
    errors: &mut Errors,
) -> (Vec<Split>, Vec<Split>) {
    if specs.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let named: Vec<Option<Vec<usize>>> =
        specs.iter().enumerate().map(|(index, spec)| spec.named_flows(index, drafts, errors)).collect();
    let (mut splits, mut passing): (Vec<Split>, Vec<Split>) = (Vec::new(), Vec::new());
    for (flow, draft) in drafts.iter().enumerate() {
        let is_named = |index: &usize| named[*index].as_ref().is_none_or(|flows| flows.binary_search(&flow).is_ok());
        // UDP is reported below if a proxy of any kind names it.
        let suits =
            |index: &usize| specs[*index].kind.transport() == draft.transport || draft.transport == Transport::Udp;
        let wanted = |index: &usize| is_named(index) && suits(index);
        let back = nodes_between(routes, draft.to, draft.from);
        let before = splits.len();
        for node in nodes_between(routes, draft.from, draft.to) {
            if draft.transport.has_connections() && back.contains(&node) {
                let passed = (0..proxies.len()).filter(|index| is_named(index) && !suits(index));
                let here = passed.filter(|index| proxies[*index].node == node);
                passing.extend(here.map(|proxy| Split { flow: flow as u32, proxy: proxy as u32 }));
            }
            let mut here = (0..proxies.len()).filter(wanted).filter(|index| proxies[*index].node == node);
            let Some(proxy) = here.next().filter(|_| back.contains(&node)) else { continue };
            splits.push(Split { flow: flow as u32, proxy: proxy as u32 });
            if let Some(second) = here.next() {
                let message = format!(
                    "proxies[{proxy}] already splits the flow {:?} at this node; assign each flow to one proxy",
                    shortened(&draft.name)
                );
                errors.push(format_args!("proxies[{second}].flows"), message);
            }
        }
        let are_named = |index: &usize| named[*index].is_some() && wanted(index);
        if draft.transport == Transport::Udp {
            // Datagrams pass as at any router, unless a proxy is configured to split them.
            if let Some(index) = (0..specs.len()).find(are_named) {
                let message = format!(
                    "the flow {:?} carries datagrams, and a proxy splits connections; remove it",
                    shortened(&draft.name)
                );
                errors.push(format_args!("proxies[{index}].flows"), message);
            }
            splits.truncate(before);
            continue;
        }
        for (index, spec) in specs.iter().enumerate().filter(|(index, _)| are_named(index)) {
            if !splits[before..].iter().any(|split| proxies[split.proxy as usize].node == proxies[index].node) {
                let message = format!(
                    "{:?} does not cross {:?} in both directions; name a node on its path, or remove the flow",
                    shortened(&draft.name),
                    spec.node
                );
                errors.push(format_args!("proxies[{index}].flows"), message);
            }
        }
    }
    for (index, spec) in specs.iter().enumerate().filter(|(_, spec)| spec.pool) {
        let is_used = |pair: &[Split]| {
            let both = pair.iter().all(|split| proxies[split.proxy as usize].pool);
            both && pair[0].flow == pair[1].flow && pair.iter().any(|split| split.proxy as usize == index)
        };
        let is_passed = passing.iter().any(|split| split.proxy as usize == index);
        if errors.len() == 0 && !is_passed && !splits.windows(2).any(is_used) {
            let message = format!(
                "true needs another proxy with pool = true next to {:?} on the path of a flow; add one, or remove it",
                shortened(&spec.node)
            );
            errors.push(format_args!("proxies[{index}].pool"), message);
        }
    }
    check_prefetch(specs, proxies, drafts, &splits, errors);
    let all_fit = errors.len() == 0;
    for (index, spec) in specs.iter().enumerate() {
        if all_fit && !splits.iter().chain(&passing).any(|split| split.proxy as usize == index) {
            let message = format!(
                "no {} connection crosses {:?} in both directions, so the proxy splits none; name a node between the \
                 endpoints of a flow",
                if spec.kind == ProxyKind::Quic { "QUIC" } else { "TCP" },
                shortened(&spec.node)
            );
            errors.push(format_args!("proxies[{index}].node"), message);
        }
    }
    let is_quic = |split: &Split| drafts[split.flow as usize].transport == Transport::Quic;
    passing.retain(is_quic);
    (splits, passing)
}

/// Rejects proxies that prefetch for a web page without another proxy towards the client, and pages that two proxies
/// prefetch.
fn check_prefetch(specs: &[ProxySpec], proxies: &[Proxy], drafts: &[Draft], splits: &[Split], errors: &mut Errors) {
    let mut rejected = BTreeSet::new();
    for of_flow in splits.chunk_by(|split, next| split.flow == next.flow) {
        let draft = &drafts[of_flow[0].flow as usize];
        if !loads_pages(&draft.traffic) {
            continue;
        }
        let mut prefetching = (0..of_flow.len()).filter(|at| proxies[of_flow[*at].proxy as usize].prefetch);
        let Some(first) = prefetching.next() else { continue };
        let mut reject = |at: usize, message: String| {
            let proxy = of_flow[at].proxy as usize;
            if rejected.insert(proxy) {
                errors.push(format_args!("proxies[{proxy}].prefetch"), message);
            }
        };
        let node = |at: usize| shortened(&specs[of_flow[at].proxy as usize].node);
        let flow = shortened(&draft.name);
        if let Some(second) = prefetching.next() {
            let message = format!("{:?} already prefetches the objects of {flow:?}; remove one of them", node(first));
            reject(second, message);
        } else if first + 1 == of_flow.len() {
            let message = format!(
                "true needs another proxy between {:?} and the client of {flow:?}, which stores the objects; add one, \
                 or remove it",
                node(first)
            );
            reject(first, message);
        }
    }
}

/// Returns the intermediate nodes of a path, in order. A medium or the constellation is crossed in one step, through
/// its hub.
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
    /// Returns the flows that the proxy lists, in the order of the flows; `None` if it takes all flows.
    fn named_flows(&self, index: usize, drafts: &[Draft], errors: &mut Errors) -> Option<Vec<usize>> {
        let mut flows = Vec::new();
        for (flow_index, name) in self.flows.as_ref()?.iter().enumerate() {
            let before = flows.len();
            flows.extend((0..drafts.len()).filter(|flow| drafts[*flow].is_of(name)));
            match flows.len() - before {
                1.. => {}
                0 => {
                    let names: Vec<&str> = drafts.iter().take(1_000).map(|draft| draft.name.as_str()).collect();
                    let guess = nearest(name, &names).map_or(String::new(), |near| format!("; did you mean {near:?}?"));
                    let message = format!("{:?} is not a flow{guess}", shortened(name));
                    errors.push(format_args!("proxies[{index}].flows[{flow_index}]"), message);
                }
            }
        }
        flows.sort_unstable();
        Some(flows)
    }
}
