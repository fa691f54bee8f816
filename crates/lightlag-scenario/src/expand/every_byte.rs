//! Features that require reliable delivery of every byte, and therefore exclude partial reliability (BETS): dialogues,
//! messages, and proxies that split connections.

use super::layout::{Draft, Layout};
use crate::network::Split;
use crate::read::Errors;
use crate::spec::Transport;
use lightlag_tcp::Config;
use std::collections::BTreeSet;

fn is_partial(tcp: &Config) -> bool {
    tcp.scps.is_some_and(|scps| scps.bets.is_some())
}

/// Rejects partial reliability where it would lose required bytes, with one error for each path in the scenario.
pub(crate) fn check(layout: &Layout, splits: &[Split], errors: &mut Errors) {
    let mut refused = BTreeSet::new();
    let partial = |draft: &&Draft| {
        draft.transport == Transport::Tcp && [&draft.tcp, &draft.receiver_tcp].into_iter().any(|tcp| is_partial(tcp))
    };
    let mut refuse = |draft: &Draft, reason: String| {
        let path = draft.listed.map_or("topology.flow".to_owned(), |index| format!("flows[{index}]"));
        if refused.insert(path.clone()) {
            let message = format!("{reason}; set tcp = {{ scps = {{ bets = false }} }} for this flow");
            errors.push(format_args!("{path}.tcp.scps.bets"), message);
        }
    };
    for draft in layout.drafts.iter().filter(partial) {
        if draft.traffic.is_dialogue() {
            refuse(draft, "a dialogue needs every byte of its requests and responses".to_owned());
        } else if draft.traffic.collects().is_some() {
            refuse(draft, "messages that are collected must arrive complete".to_owned());
        }
    }
    let split = |split: &Split| &layout.drafts[split.flow as usize];
    for (draft, proxy) in splits.iter().map(|at| (split(at), at.proxy)).filter(|(draft, _)| partial(draft)) {
        let node = layout.nodes.name(layout.proxies[proxy as usize].node);
        refuse(draft, format!("the proxy at {node:?} forwards every byte"));
    }
    if !refused.is_empty() {
        return;
    }
    let used: BTreeSet<u32> = splits.iter().map(|split| split.proxy).collect();
    for index in used {
        let proxy = &layout.proxies[index as usize];
        for (end, tcp) in [("client", &proxy.client), ("server", &proxy.server)] {
            if is_partial(tcp) {
                let message = "a proxy forwards every byte; set scps = { bets = false } here";
                errors.push(format_args!("proxies[{index}].{end}.scps.bets"), message);
            }
        }
    }
}
