//! Resolves the names of capture points and flows in the settings of captures.

use super::joins::Nodes;
use super::layout::{Draft, Wire};
use super::media::Radios;
use super::space::SpaceNetwork;
use crate::network::{CapturePlace, CapturePlan};
use crate::read::{Errors, nearest, not_one_of, shortened};
use crate::spec::Pcap;
use lightlag_net::{InterfaceId, LinkId, NodeId};
use std::collections::BTreeSet;

/// Maximum number of capture points. Each has a file that stays open during the run.
const MOST_PLACES: usize = 500;

impl Pcap {
    /// Resolves the names of capture points and flows.
    pub(crate) fn plan(
        &self,
        nodes: &Nodes,
        wires: &[Wire],
        media: &[Radios],
        space: Option<&SpaceNetwork>,
        drafts: &[Draft],
        errors: &mut Errors,
    ) -> CapturePlan {
        let radios: Vec<(NodeId, &str)> =
            media.iter().flat_map(|medium| medium.nodes().map(|node| (node, medium.name()))).collect();
        let mut flows = vec![self.flows.is_empty(); drafts.len()];
        for (index, name) in self.flows.iter().enumerate() {
            match drafts.iter().position(|draft| draft.name == *name) {
                Some(flow) => flows[flow] = true,
                None => {
                    let names: Vec<&str> = drafts.iter().take(1_000).map(|draft| draft.name.as_str()).collect();
                    let guess = nearest(name, &names).map_or(String::new(), |near| format!("; did you mean {near:?}?"));
                    let message = format!("{:?} is not a flow{guess}", shortened(name));
                    errors.push(format_args!("record.pcap.flows[{index}]"), message);
                }
            }
        }
        let mut points = BTreeSet::new();
        for (index, name) in self.at.iter().enumerate() {
            let at = format_args!("record.pcap.at[{index}]");
            points.extend(place(name, at, nodes, wires, space, &radios, errors));
        }
        if self.at.is_empty() {
            let captured = drafts.iter().zip(&flows).filter(|(_, is_captured)| **is_captured);
            points.extend(captured.flat_map(|(draft, _)| [draft.from, draft.to].map(CapturePlace::Node)));
        }
        let of_nodes = radios.iter().enumerate().filter(|(_, (node, _))| points.contains(&CapturePlace::Node(*node)));
        let of_nodes: Vec<_> = of_nodes.map(|(radio, _)| CapturePlace::Interface(InterfaceId::at(radio))).collect();
        points.extend(of_nodes);
        if points.len() > MOST_PLACES {
            let message = format!(
                "{} capture points are more than {MOST_PLACES}, the maximum number of files; select nodes with at, or \
                 select flows",
                points.len()
            );
            errors.push("record.pcap", message);
        }
        CapturePlan { places: points.into_iter().collect(), flows, comments: self.comments, qlog: self.qlog_schema }
    }
}

/// Returns the node, link direction or radio with this name.
fn place(
    name: &str,
    arguments: std::fmt::Arguments,
    nodes: &Nodes,
    wires: &[Wire],
    space: Option<&SpaceNetwork>,
    radios: &[(NodeId, &str)],
    errors: &mut Errors,
) -> Option<CapturePlace> {
    if let Some((node, medium)) = name.split_once('@').filter(|_| !nodes.has(name)) {
        let node = nodes.find(node.trim(), arguments, errors)?;
        let radio = radios.iter().position(|radio| *radio == (node, medium.trim()));
        if radio.is_none() {
            let own: Vec<&str> = radios.iter().filter(|radio| radio.0 == node).map(|radio| radio.1).collect();
            let message = if own.is_empty() {
                format!("{:?} has no radio; name the node alone", shortened(nodes.name(node)))
            } else {
                not_one_of(medium.trim(), "a medium of this node", &own)
            };
            errors.push(arguments, message);
        }
        return radio.map(|radio| CapturePlace::Interface(InterfaceId::at(radio)));
    }
    let aloft = |node: NodeId| space.filter(|space| space.concerns(node));
    let Some((from, to)) = name.split_once("->") else {
        let node = nodes.find(name, arguments, errors)?;
        if let Some(space) = aloft(node).filter(|space| space.stands_for_many(node)) {
            let message = format!(
                "{name:?} represents several nodes; name one of them, or a link: {}",
                listed(space, node, nodes)
            );
            errors.push(arguments, message);
            return None;
        }
        return Some(CapturePlace::Node(node));
    };
    let (from, to) = (nodes.find(from.trim(), arguments, errors)?, nodes.find(to.trim(), arguments, errors)?);
    let wire = wires.iter().enumerate().find_map(|(index, wire)| match wire.ends {
        ends if ends == [from, to] => Some(2 * index),
        ends if ends == [to, from] => Some(2 * index + 1),
        _ => None,
    });
    let link = wire.or_else(|| Some(2 * wires.len() + space?.direction(from, to)?));
    if link.is_none() {
        let possible = aloft(from).filter(|_| aloft(to).is_some()).map(|space| listed(space, from, nodes));
        let possible = possible.map_or(String::new(), |links| format!("; there is {links}"));
        errors.push(arguments, format!("{:?} is not a link: no link joins these nodes{possible}", shortened(name)));
    }
    link.map(|link| CapturePlace::Link(LinkId(link as u32)))
}

/// Lists link directions of the constellation that start at a node, or some of them, for an error message.
fn listed(space: &SpaceNetwork, from: NodeId, nodes: &Nodes) -> String {
    const SHOWN: usize = 8;
    let all = space.directions(from, nodes);
    let more = if all.len() > SHOWN { ", …" } else { "" };
    let some: Vec<String> = all.iter().take(SHOWN).map(|name| format!("{name:?}")).collect();
    format!("{}{more}", some.join(", "))
}
