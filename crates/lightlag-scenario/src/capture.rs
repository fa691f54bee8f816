//! Which packets a run writes into captures, and what addresses they show.

use super::error::{Errors, Path, nearest, shortened};
use super::layout::{Nodes, Stream, Wire};
use super::reader::{FromValue, Table, leaf, shown};
use lightlag_net::{LinkId, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;

/// The most places: each is a file that stays open.
const MOST_PLACES: usize = 500;

/// Packets as pcapng files, one for each place.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, default)]
pub struct Pcap {
    /// Nodes, and link directions as "from->to". Left out: both ends of every flow that is captured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<String>,
    /// Names of the flows to capture. Left out: all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<String>,
    /// Comments at packets: the state of the sender, and why a packet was dropped.
    pub comments: bool,
}

/// The version of IP.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum IpVersion {
    /// Headers of 20 bytes.
    #[default]
    V4,
    /// Headers of 40 bytes. Segments stay as long as `mss` says: 1,440 bytes fit packets of 1,500.
    V6,
}

impl IpVersion {
    /// Bytes of a header without options (RFC 791 §3.1) or extension headers (RFC 8200 §3).
    pub const fn header(self) -> u32 {
        match self {
            Self::V4 => 20,
            Self::V6 => 40,
        }
    }

    pub(super) fn is_v4(&self) -> bool {
        *self == Self::V4
    }
}

/// Where packets are captured.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CapturePlace {
    /// What a node sends, receives and forwards.
    Node(NodeId),
    /// What is given to a link direction.
    Link(LinkId),
}

/// What [`Pcap`] asks for, with numbers in place of names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CapturePlan {
    /// Each becomes a file.
    pub places: Vec<CapturePlace>,
    /// Whether each flow is captured.
    pub flows: Vec<bool>,
    /// Whether packets have comments.
    pub comments: bool,
}

impl Pcap {
    /// Finds what the names stand for.
    pub(super) fn plan(&self, nodes: &Nodes, wires: &[Wire], streams: &[Stream], errors: &mut Errors) -> CapturePlan {
        let mut flows = vec![self.flows.is_empty(); streams.len()];
        for (index, name) in self.flows.iter().enumerate() {
            match streams.iter().position(|stream| stream.name == *name) {
                Some(flow) => flows[flow] = true,
                None => {
                    let names: Vec<&str> = streams.iter().take(1_000).map(|stream| stream.name.as_str()).collect();
                    let guess = nearest(name, &names).map_or(String::new(), |near| format!("; did you mean {near:?}?"));
                    let message = format!("{:?} is not a flow{guess}", shortened(name));
                    errors.push(format_args!("record.pcap.flows[{index}]"), message);
                }
            }
        }
        let mut places = BTreeSet::new();
        for (index, name) in self.at.iter().enumerate() {
            places.extend(place(name, format_args!("record.pcap.at[{index}]"), nodes, wires, errors));
        }
        if self.at.is_empty() {
            let captured = streams.iter().zip(&flows).filter(|(_, is_captured)| **is_captured);
            places.extend(captured.flat_map(|(stream, _)| [stream.from, stream.to].map(CapturePlace::Node)));
        }
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

/// The node or link direction of this name.
fn place(
    name: &str,
    at: std::fmt::Arguments,
    nodes: &Nodes,
    wires: &[Wire],
    errors: &mut Errors,
) -> Option<CapturePlace> {
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

impl FromValue for Pcap {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        let mut table = Table::open(value, at, "a table such as { at = [\"a\", \"a->b\"], comments = true }", errors)?;
        let pcap = Self {
            at: table.optional("at", errors).unwrap_or_default(),
            flows: table.optional("flows", errors).unwrap_or_default(),
            comments: table.optional("comments", errors).unwrap_or_default(),
        };
        table.finish(errors);
        Some(pcap)
    }
}

/// A list of names.
impl FromValue for Vec<String> {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        match value {
            Value::Array(names) => {
                let read = |(index, name)| String::read(name, &Path::Index(at, index), errors);
                Some(names.iter().enumerate().filter_map(read).collect())
            }
            other => {
                errors.push(at, format!("{} is not a list of names; write [\"…\", \"…\"]", shown(other)));
                None
            }
        }
    }
}

impl FromValue for IpVersion {
    fn read(value: &Value, at: &Path, errors: &mut Errors) -> Option<Self> {
        leaf(value, at, errors)
    }
}
