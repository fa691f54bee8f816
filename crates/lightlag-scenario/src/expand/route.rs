//! Connections with a configured route know their path from the scenario, as the operator of a mission would configure
//! them.

use super::place::flow_path;
use super::way::{Sizes, Way};
use crate::network::{Flow, Network};
use crate::read::Errors;
use lightlag_core::{Bytes, Rate};
use lightlag_net::{LinkId, NodeId};
use lightlag_tcp::Config;
use lightlag_tcp::config::PathParameters;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Two nodes that a connection joins.
type Pair = (u32, u32);

/// Known paths, by TCP, by whether the listener has the data, and by the pairs of nodes that it joins.
type Known = BTreeMap<(*const Config, bool, Vec<Pair>), Arc<Config>>;

/// A TCP that needs its path.
#[derive(Clone, Copy)]
struct Asked<'a> {
    tcp: &'a Arc<Config>,
    /// Whether the listener has the data, because it answers requests.
    answers: bool,
}

impl Network {
    /// Refuses token buckets that no packet with the headers of this version of IP fits into.
    pub(crate) fn check_buckets(&self, errors: &mut Errors) {
        let proxies = (0..).zip(&self.proxies).flat_map(|(index, proxy): (usize, _)| {
            let at = move |side| move || format!("proxies[{index}].{side}");
            [
                (&proxy.client, Box::new(at("client")) as Box<dyn Fn() -> String>),
                (&proxy.server, Box::new(at("server"))),
            ]
        });
        let flows = self.flows.iter().flat_map(|flow| {
            let at = move |table: &'static str| -> Box<dyn Fn() -> String> {
                Box::new(move || format!("{}.{table}", flow_path(flow)))
            };
            [(&flow.tcp, at("tcp")), (&flow.receiver_tcp, at(flow.receiver_table()))]
        });
        let mut checked = BTreeSet::new();
        for (tcp, at) in flows.chain(proxies) {
            let Some(control) = tcp.rate_control.filter(|_| checked.insert(Arc::as_ptr(tcp))) else { continue };
            let (size, packet) = (Bytes(control.size(tcp)), Sizes::of(tcp, self.ip).segment);
            if size < packet {
                let message = format!("{size} hold less than one packet of {packet}: make it larger, or mss smaller");
                errors.push(format_args!("{}.rate_control.bucket", at()), message);
            }
        }
    }

    /// Completes every TCP that needs its path. If one joins several pairs of nodes, as on both sides of a proxy, it
    /// gets the longest round trip and the lowest rates.
    pub(crate) fn configure_routes(&mut self, errors: &mut Errors) {
        let awaits = |config: &Arc<Config>| config.awaits_path();
        let in_proxies = self.proxies.iter().any(|proxy| awaits(&proxy.client) || awaits(&proxy.server));
        if !in_proxies && !self.flows.iter().any(|flow| flow.configs().any(awaits)) {
            return;
        }
        let parts: Vec<Vec<Pair>> = (0..).zip(&self.flows).map(|(index, flow)| self.parts(index, flow)).collect();
        let mut known = Known::new();
        for (index, parts) in parts.iter().enumerate() {
            let ends: Vec<Pair> = parts.first().into_iter().chain(parts[1..].last()).copied().collect();
            let flow = &self.flows[index];
            let mut end = |tcp, table| {
                let who = Asked { tcp, answers: flow.traffic.is_dialogue() };
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
            let asked = |tcp| Asked { tcp, answers: false };
            let client = asked(&proxy.client);
            let client = self.on_ways(client, before, || format!("proxies[{index}].client"), &mut known, errors);
            let server = asked(&proxy.server);
            let server = self.on_ways(server, after, || format!("proxies[{index}].server"), &mut known, errors);
            (self.proxies[index].client, self.proxies[index].server) = (client, server);
        }
    }

    /// Flows that a proxy splits.
    fn splits_of(&self, proxy: usize) -> impl Iterator<Item = usize> + '_ {
        self.splits.iter().filter(move |split| split.proxy as usize == proxy).map(|split| split.flow as usize)
    }

    /// The connections of a flow, from its sender to its receiver.
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
        Asked { tcp, answers }: Asked<'_>,
        pairs: Vec<Pair>,
        at: impl Fn() -> String,
        known: &mut Known,
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
        let told = known.entry((Arc::as_ptr(tcp), answers, pairs)).or_insert_with(|| {
            tcp.on_path(&path).map(Arc::new).unwrap_or_else(|error| {
                errors.push(format_args!("{}.{}", at(), error.key), error.message);
                tcp.clone()
            })
        });
        told.clone()
    }

    fn path_of(&self, tcp: &Config, (from, to): Pair) -> Option<PathParameters> {
        let sizes = Sizes::of(tcp, self.ip);
        let way = Way::between(self, NodeId(from), NodeId(to), sizes)?;
        // The rate left for IP packets beside the headers of the link.
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
