//! TCP connections whose configuration depends on their path: the scenario determines the path's parameters, as the
//! operator of a mission would configure them.

use super::connection_path::{ConnectionPath, Sizes};
use super::place::flow_path;
use crate::network::{Flow, Network};
use crate::read::Errors;
use lightlag_core::{Bytes, Rate};
use lightlag_net::{LinkId, NodeId};
use lightlag_tcp::Config;
use lightlag_tcp::config::PathParameters;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Indices of the two nodes that a connection joins.
type Pair = (u32, u32);

/// TCP configurations completed so far, by original configuration, by whether the listener has the data, and by the
/// pairs of nodes that the connections join.
type KnownPaths = BTreeMap<(*const Config, bool, Vec<Pair>), Arc<Config>>;

/// A TCP configuration that depends on the path.
#[derive(Clone, Copy)]
struct PathRequest<'a> {
    tcp: &'a Arc<Config>,
    /// Whether the listener has the data, because it answers requests.
    answers: bool,
}

impl Network {
    /// Rejects token buckets that are smaller than a packet with the headers of this IP version.
    pub(crate) fn check_buckets(&self, errors: &mut Errors) {
        let proxies = (0..).zip(&self.proxies).flat_map(|(index, proxy): (usize, _)| {
            let path_of = move |side| move || format!("proxies[{index}].{side}");
            [
                (&proxy.client, Box::new(path_of("client")) as Box<dyn Fn() -> String>),
                (&proxy.server, Box::new(path_of("server"))),
            ]
        });
        let flows = self.flows.iter().flat_map(|flow| {
            let path_of = move |table: &'static str| -> Box<dyn Fn() -> String> {
                Box::new(move || format!("{}.{table}", flow_path(flow)))
            };
            [(&flow.tcp, path_of("tcp")), (&flow.receiver_tcp, path_of(flow.receiver_table()))]
        });
        let mut checked = BTreeSet::new();
        for (tcp, path) in flows.chain(proxies) {
            let Some(control) = tcp.rate_control.filter(|_| checked.insert(Arc::as_ptr(tcp))) else { continue };
            let (size, packet) = (Bytes(control.size(tcp)), Sizes::of(tcp, self.ip).segment);
            if size < packet {
                let message = format!("{size} hold less than one packet of {packet}; increase it, or reduce mss");
                errors.push(format_args!("{}.rate_control.bucket", path()), message);
            }
        }
    }

    /// Completes every TCP configuration that depends on the path. If it is used between several pairs of nodes, as on
    /// both sides of a proxy, it gets the longest round-trip time and the lowest rates.
    pub(crate) fn configure_routes(&mut self, errors: &mut Errors) {
        let awaits = |config: &Arc<Config>| config.awaits_path();
        let in_proxies = self.proxies.iter().any(|proxy| awaits(&proxy.client) || awaits(&proxy.server));
        if !in_proxies && !self.flows.iter().any(|flow| flow.configs().any(awaits)) {
            return;
        }
        let parts: Vec<Vec<Pair>> = (0..).zip(&self.flows).map(|(index, flow)| self.parts(index, flow)).collect();
        let mut known = KnownPaths::new();
        for (index, parts) in parts.iter().enumerate() {
            let ends: Vec<Pair> = parts.first().into_iter().chain(parts[1..].last()).copied().collect();
            let flow = &self.flows[index];
            let mut end = |tcp, table| {
                let who = PathRequest { tcp, answers: flow.traffic.is_dialogue() };
                self.on_ways(who, ends.clone(), || format!("{}.{table}", flow_path(flow)), &mut known, errors)
            };
            let [tcp, receiver_tcp] = [end(&flow.tcp, "tcp"), end(&flow.receiver_tcp, flow.receiver_table())];
            (self.flows[index].tcp, self.flows[index].receiver_tcp) = (tcp, receiver_tcp);
        }
        for index in 0..self.proxies.len() {
            let node = self.proxies[index].node.0;
            let sides = |of: fn(&Pair) -> u32| {
                let mut pairs: Vec<Pair> = self.splits_of(index).flat_map(|flow| &parts[flow]).copied().collect();
                pairs.retain(|pair| of(pair) == node);
                pairs
            };
            let (before, after) = (sides(|(_, to)| *to), sides(|(from, _)| *from));
            let proxy = &self.proxies[index];
            // If all flows of a proxy are dialogues, its ends have the rates of ends that reply.
            let answers = self.splits_of(index).all(|flow| self.flows[flow].traffic.is_dialogue());
            let request_for = |tcp| PathRequest { tcp, answers };
            let client = request_for(&proxy.client);
            let client = self.on_ways(client, before, || format!("proxies[{index}].client"), &mut known, errors);
            let server = request_for(&proxy.server);
            let server = self.on_ways(server, after, || format!("proxies[{index}].server"), &mut known, errors);
            (self.proxies[index].client, self.proxies[index].server) = (client, server);
        }
    }

    /// Returns the indices of the flows that a proxy splits.
    fn splits_of(&self, proxy: usize) -> impl Iterator<Item = usize> + '_ {
        self.splits.iter().filter(move |split| split.proxy as usize == proxy).map(|split| split.flow as usize)
    }

    /// Returns the connections of a flow, in order from its sender to its receiver.
    fn parts(&self, index: u32, flow: &Flow) -> Vec<Pair> {
        let first = self.splits.partition_point(|split| split.flow < index);
        let between = self.splits[first..].iter().take_while(|split| split.flow == index);
        let mut from = flow.from.0;
        let mut parts = Vec::new();
        for to in between.map(|split| self.proxies[split.proxy as usize].node.0).chain([flow.to.0]) {
            parts.push((from, to));
            from = to;
        }
        parts
    }

    fn on_ways(
        &self,
        PathRequest { tcp, answers }: PathRequest<'_>,
        pairs: Vec<Pair>,
        key_path: impl Fn() -> String,
        known: &mut KnownPaths,
        errors: &mut Errors,
    ) -> Arc<Config> {
        if !tcp.awaits_path() {
            return tcp.clone();
        }
        let Some(path) = pairs.iter().filter_map(|pair| self.path_of(tcp, *pair)).reduce(worst) else {
            return tcp.clone();
        };
        // The answering end listens, and has the data.
        let path = if answers { PathParameters { rate: path.ack_rate, ack_rate: path.rate, ..path } } else { path };
        let resolved = known.entry((Arc::as_ptr(tcp), answers, pairs)).or_insert_with(|| {
            tcp.on_path(&path).map(Arc::new).unwrap_or_else(|error| {
                errors.push(format_args!("{}.{}", key_path(), error.key), error.message);
                tcp.clone()
            })
        });
        resolved.clone()
    }

    fn path_of(&self, tcp: &Config, (from, to): Pair) -> Option<PathParameters> {
        let sizes = Sizes::of(tcp, self.ip);
        let way = ConnectionPath::between(self, NodeId(from), NodeId(to), sizes)?;
        // The rate left for IP packets next to the headers of the link.
        let left = |rate: Rate, on: LinkId, size: Bytes| {
            let whole = u128::from(size.0 + self.links[on.0 as usize].header.0);
            let bps = u128::from(rate.as_bps()) * u128::from(size.0) / whole;
            Rate::from_bps(bps as u64).unwrap_or(rate)
        };
        let rate = left(way.rate, way.bottleneck, sizes.segment);
        let ack_rate = left(way.return_rate, way.return_bottleneck, sizes.ack);
        Some(PathParameters { rtt: way.round_trip, rate, ack_rate, data_rate: rate })
    }
}

fn worst(one: PathParameters, other: PathParameters) -> PathParameters {
    PathParameters {
        rtt: one.rtt.max(other.rtt),
        rate: one.rate.min(other.rate),
        ack_rate: one.ack_rate.min(other.ack_rate),
        data_rate: one.data_rate.min(other.data_rate),
    }
}
