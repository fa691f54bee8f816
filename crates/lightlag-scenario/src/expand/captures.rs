//! Resolves the places and flows that captures name.

use super::joins::Nodes;
use super::layout::{Draft, Wire};
use super::media::Radios;
use crate::network::{CapturePlace, CapturePlan};
use crate::read::{Errors, nearest, not_one_of, shortened};
use crate::spec::Pcap;
use lightlag_net::{LinkId, NodeId};
use std::collections::BTreeSet;

/// The most places. Each is a file that stays open.
const MOST_PLACES: usize = 500;

impl Pcap {
    /// Resolves the names; `aloft` link directions stand between those of wires and the radios.
    pub(crate) fn plan(
        &self,
        nodes: &Nodes,
        wires: &[Wire],
        media: &[Radios],
        aloft: usize,
        drafts: &[Draft],
        errors: &mut Errors,
    ) -> CapturePlan {
        let radios: Vec<(NodeId, &str)> =
            media.iter().flat_map(|medium| medium.nodes().map(|node| (node, medium.name()))).collect();
        let first = 2 * wires.len() + aloft;
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
        let mut places = BTreeSet::new();
        for (index, name) in self.at.iter().enumerate() {
            places.extend(place(name, format_args!("record.pcap.at[{index}]"), nodes, wires, (first, &radios), errors));
        }
        if self.at.is_empty() {
            let captured = drafts.iter().zip(&flows).filter(|(_, is_captured)| **is_captured);
            places.extend(captured.flat_map(|(draft, _)| [draft.from, draft.to].map(CapturePlace::Node)));
        }
        let of_nodes = radios.iter().enumerate().filter(|(_, (node, _))| places.contains(&CapturePlace::Node(*node)));
        let of_nodes: Vec<_> = of_nodes.map(|(radio, _)| CapturePlace::Radio(LinkId((first + radio) as u32))).collect();
        places.extend(of_nodes);
        if places.len() > MOST_PLACES {
            let message = format!(
                "{} places are more files than {MOST_PLACES}; name some nodes with at, or some flows",
                places.len()
            );
            errors.push("record.pcap", message);
        }
        CapturePlan { places: places.into_iter().collect(), flows, comments: self.comments }
    }
}

/// The node, link direction or radio of this name.
fn place(
    name: &str,
    at: std::fmt::Arguments,
    nodes: &Nodes,
    wires: &[Wire],
    (first, radios): (usize, &[(NodeId, &str)]),
    errors: &mut Errors,
) -> Option<CapturePlace> {
    if let Some((node, medium)) = name.split_once('@').filter(|_| !nodes.has(name)) {
        let node = nodes.find(node.trim(), at, errors)?;
        let radio = radios.iter().position(|radio| *radio == (node, medium.trim()));
        if radio.is_none() {
            let own: Vec<&str> = radios.iter().filter(|radio| radio.0 == node).map(|radio| radio.1).collect();
            let message = if own.is_empty() {
                format!("{:?} has no radio; name the node alone", shortened(nodes.name(node)))
            } else {
                not_one_of(medium.trim(), "a medium of this node", &own)
            };
            errors.push(at, message);
        }
        return radio.map(|radio| CapturePlace::Radio(LinkId((first + radio) as u32)));
    }
    let Some((from, to)) = name.split_once("->") else {
        return nodes.find(name, at, errors).map(CapturePlace::Node);
    };
    let (from, to) = (nodes.find(from.trim(), at, errors)?, nodes.find(to.trim(), at, errors)?);
    let link = wires.iter().enumerate().find_map(|(index, wire)| match wire.ends {
        ends if ends == [from, to] => Some(2 * index),
        ends if ends == [to, from] => Some(2 * index + 1),
        _ => None,
    });
    if link.is_none() {
        errors.push(at, format!("{:?} is not a link: no link joins these nodes", shortened(name)));
    }
    link.map(|link| CapturePlace::Link(LinkId(link as u32)))
}
