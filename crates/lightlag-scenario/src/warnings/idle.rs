//! TCP keys that have no effect in combination with others.
//!
//! Options that contradict each other are rejected when they are resolved; these warnings do not cover them. Only keys
//! that are given in the scenario are reported, with the path of the table that contains them. A key of `defaults.tcp`
//! is idle if it is idle for every flow.

use super::{Found, Kind, Warning};
use crate::expand::flow_path;
use crate::network::{Flow, Network};
use crate::spec::{Scenario, Transport, is_empty, is_plain};
use lightlag_tcp::config::{DelayedAckSwitch, Variance};
use lightlag_tcp::ecn::EcnMode;
use lightlag_tcp::{Config, Options, Scheme};
use std::collections::BTreeMap;

/// An idle key, and the reason with the fix.
type Idle = (&'static str, String);

impl Scenario {
    /// Warns of TCP keys that have no effect.
    pub(super) fn idle_keys(&self, network: &Network, findings: &mut Found) {
        self.idle_tables(network, findings);
        let is_tcp = |flow: &&Flow| flow.transport == Transport::Tcp;
        let mut defaults: Option<BTreeMap<&str, String>> = None;
        let mut idle_by_path: BTreeMap<String, Vec<Idle>> = BTreeMap::new();
        // Flows with one TCP share it.
        let mut last = None;
        for flow in network.flows.iter().filter(is_tcp) {
            let config = &*flow.tcp;
            if last.is_some_and(|last| std::ptr::eq(last, config)) && flow.listed.is_none() {
                continue;
            }
            last = Some(config);
            for (place, own, config) in self.tables(flow) {
                idle_by_path.entry(place).or_insert_with(|| idle(own, config));
            }
            let mut of_defaults: BTreeMap<&str, String> = idle(&self.defaults.tcp, config).into_iter().collect();
            if let Some(known) = defaults {
                of_defaults.retain(|key, _| known.contains_key(key));
            }
            defaults = Some(of_defaults);
        }
        let of_defaults = defaults.into_iter().flatten().map(|idle| ("defaults.tcp", idle));
        let of_flows =
            idle_by_path.iter().flat_map(|(place, idle)| idle.iter().map(move |one| (place.as_str(), one.clone())));
        for (place, (key, message)) in of_defaults.chain(of_flows) {
            findings.warnings.push((Warning { kind: Kind::IdleKey, path: format!("{place}.{key}"), message }, 0));
        }
    }
}

impl Scenario {
    /// Warns of tables of another transport than the flow's. They are valid, because a comparison of transports needs
    /// both.
    fn idle_tables(&self, network: &Network, findings: &mut Found) {
        for flow in network.flows.iter().filter(|flow| flow.transport.has_connections()) {
            let Some(spec) = flow.listed.and_then(|at| self.flows.get(at as usize)) else { continue };
            let tcp = Options { congestion: None, ..(*spec.tcp).clone() };
            let (path, is_quic) = (flow_path(flow), flow.transport == Transport::Quic);
            let tables = [
                ("tcp", is_quic && !is_empty(&tcp)),
                ("client", is_quic && !is_empty(&spec.client)),
                ("server", is_quic && !is_empty(&spec.server)),
                ("quic", !is_quic && !is_plain(&spec.quic)),
            ];
            for (key, _) in tables.into_iter().filter(|(_, is_idle)| *is_idle) {
                let (used, instead) = if is_quic { ("QUIC", "quic") } else { ("TCP", "tcp") };
                findings.flow(Kind::IdleTable, &path, &format!(".{key}"), || {
                    format!("has no effect: the flow uses {used}; write {instead}, or remove it")
                });
            }
        }
    }
}

impl Scenario {
    /// Returns the tables of a flow that contain TCP keys: the path, the given keys, and the resulting configuration.
    fn tables<'a>(&'a self, flow: &'a Flow) -> Vec<(String, &'a Options, &'a Config)> {
        let listed = flow.listed.and_then(|at| self.flows.get(at as usize));
        let given: Option<[&Options; 3]> = match listed {
            Some(spec) => Some([&spec.tcp, &spec.client, &spec.server]),
            None => self.template().map(|template| [&template.tcp, &template.client, &template.server]),
        };
        let (mut client, mut server) = (&*flow.tcp, &*flow.receiver_tcp);
        if flow.traffic.is_dialogue() {
            std::mem::swap(&mut client, &mut server);
        }
        let (path, configs) = (flow_path(flow), [&*flow.tcp, client, server]);
        let keys = ["tcp", "client", "server"];
        let tables = given.into_iter().flat_map(|given| keys.into_iter().zip(given).zip(configs));
        tables.map(|((key, own), config)| (format!("{path}.{key}"), own, config)).collect()
    }
}

/// Returns the given keys that have no effect in this configuration.
fn idle(given: &Options, config: &Config) -> Vec<Idle> {
    let mut keys = Vec::new();
    let is_on = |switch: Option<bool>| switch == Some(true);
    let mut add = |is_given: bool, key: &'static str, unmet: bool, reason: &str| {
        if is_given && unmet {
            keys.push((key, format!("has no effect: {reason}")));
        }
    };
    let no_sack = "it works with SACK, and sack is false; set sack = true";
    add(is_on(given.dsack), "dsack", !config.sack, no_sack);
    add(is_on(given.sack_compression), "sack_compression", !config.sack, no_sack);
    let repairs_by_sack = config.sack && matches!(config.recovery, Scheme::Sack | Scheme::Rack | Scheme::Fack);
    let not_newreno = "it applies to newreno, and SACK repairs losses; set recovery = \"newreno\"";
    add(given.partial_acks.is_some(), "partial_acks", repairs_by_sack, not_newreno);
    let no_dsack = "it needs reports of duplicates, and dsack is false; set dsack = true";
    add(is_on(given.dsack_undo), "dsack_undo", !config.dsack, no_dsack);
    let no_ecn = "ecn is off; set ecn = \"classic\" or \"accecn\"";
    add(is_on(given.abe), "abe", config.ecn == EcnMode::Off, no_ecn);
    add(given.ect.is_some(), "ect", config.ecn == EcnMode::Off, no_ecn);
    add(is_on(given.prr_marks), "prr_marks", config.ecn == EcnMode::Off, no_ecn);
    let no_accecn = "it is part of AccECN; set ecn = \"accecn\"";
    add(is_on(given.ect_control), "ect_control", config.ecn != EcnMode::Accecn, no_accecn);
    add(given.accecn_option.is_some(), "accecn_option", config.ecn != EcnMode::Accecn, no_accecn);
    add(is_on(given.minshall), "minshall", !config.nagle, "it changes nagle, which is off; set nagle = true");
    let paced = config.congestion.fixed_needs().pacing;
    add(is_on(given.pacing), "pacing", paced, "this congestion control paces its segments itself; remove it");
    let peak = config.rto.variance == Variance::Peak;
    let gain = given.rto.is_some_and(|rto| rto.variance_gain.is_some());
    add(gain, "rto.variance_gain", peak, "variance = \"peak\" has fixed gains; set variance = \"mean\"");
    keys.extend(delayed_acks(given, config));
    keys
}

/// Returns a key of delayed ACKs that has no effect.
fn delayed_acks(given: &Options, config: &Config) -> Option<Idle> {
    let given = given.delayed_ack?;
    if let Some(interval) = config.ack_interval {
        let is_on = !matches!(given, DelayedAckSwitch::Switch(false));
        return is_on.then(|| {
            (
                "delayed_ack",
                format!("has no effect: ack_interval sends an ACK every {interval} instead; remove one of them"),
            )
        });
    }
    let (DelayedAckSwitch::On(keys), Some(policy)) = (given, config.delayed_ack) else { return None };
    let segments = keys.segments.filter(|segments| *segments > USUAL && policy.adaptive)?;
    Some((
        "delayed_ack.segments",
        format!(
            "has almost no effect: adaptive = true acknowledges each segment while the window grows, regardless of \
             this count; set adaptive = false for an ACK every {segments} segments"
        ),
    ))
}

/// Default number of segments per ACK (RFC 9293 §3.8.6.3).
const USUAL: u16 = 2;
